//! What a record lacks of its hosts, and what completes it: a core without I/O.
//!
//! It is given the record and then the frames of each host's spool, and returns what is appended to the
//! record. Nothing in the record is changed; totals follow from it as from any other.

use metrics::fleet::HostEvent;
use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, Outcome, RunRecord};
use metrics::warning::Warning;
use record::frame::Frame;
use serde::Serialize;
use workload::plan::Run;

/// What is appended to the record.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Addition {
    RunStarted { run: Box<Run>, started_unix_ms: u64 },
    Interval { host: u32, run_index: u32, interval: Box<Interval> },
    HostEvent { host: u32, run_index: u32, event: HostEvent },
    Warning { run_index: u32, warning: Warning },
    RunFinished { run_index: u32, outcome: Outcome },
    Finished { outcome: Outcome },
}

/// A record while it is completed.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    /// The names of all hosts.
    hosts: Vec<String>,
    runs: Vec<CollectedRun>,
    /// The number of runs, if the plan fixes it.
    runs_planned: Option<usize>,
    has_finished: bool,
}

#[derive(Clone, Debug)]
struct CollectedRun {
    run_index: u32,
    interval_ns: u64,
    shares: Vec<Share>,
    /// `None` if the record has no end of it.
    outcome: Option<Outcome>,
}

/// One host's share of a run in the record.
#[derive(Clone, Debug, Default)]
struct Share {
    intervals: u32,
    /// Those before the first that was cut short.
    whole: u32,
    has_started: bool,
    has_ended: bool,
    /// The reason, and whether the others continued.
    lost: Option<(String, bool)>,
    /// How it ended, from its spool.
    collected: Option<Outcome>,
    added: u32,
    left_out: u32,
}

/// Planned runs that no host started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NeverStarted {
    /// Their number.
    pub missing: usize,
    /// All planned runs.
    pub planned: usize,
}

/// A share that is not complete in the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Incomplete {
    /// The host's name.
    pub host: String,
    /// The run's position in the plan.
    pub run_index: u32,
    /// Complete intervals in the record.
    pub intervals: u32,
    /// Why the host was lost; `None` if the record does not say so.
    pub why: Option<String>,
}

impl Share {
    fn of(record: &RunRecord, host: usize) -> Share {
        let Some(of_host) = record.hosts.get(host) else { return Share::default() };
        let interval_ns = record.run.phases.interval_ns;
        let is_whole = |one: &&Interval| is_whole(one, interval_ns);
        let whole = of_host.intervals.iter().take_while(is_whole).count() as u32;
        let intervals = of_host.intervals.len() as u32;
        let mut share = Share { intervals, whole, ..Share::default() };
        for event in &of_host.events {
            match event {
                HostEvent::Started { .. } => share.has_started = true,
                HostEvent::Ended => share.has_ended = true,
                HostEvent::Lost { why, others_continued, .. } => {
                    share.lost = Some((why.clone(), *others_continued));
                }
                HostEvent::Collected { outcome } => {
                    (share.lost, share.collected) = (None, Some(outcome.clone()));
                }
            }
        }
        share
    }

    /// Whether the record has all of it; the end of a run that was not recorded needs the share's.
    fn is_whole(&self, run_has_ended: bool) -> bool {
        self.collected.is_some() || (self.has_ended && run_has_ended)
    }
}

impl CollectedRun {
    /// Hosts were stopped before the planned end, which a host that was cut off does not know.
    fn is_cut_short(&self) -> bool {
        let is_hard_loss = |share: &Share| {
            matches!(share.lost, Some((_, false))) || share.collected == Some(Outcome::Interrupted)
        };
        self.outcome.as_ref().is_some_and(|outcome| *outcome != Outcome::Done)
            || self.shares.iter().any(is_hard_loss)
    }

    /// Intervals of a host from this number on are not part of the run: another host was stopped before or
    /// in it, so that the total would lack some of that host.
    fn first_left_out(&self, host: usize) -> Option<u32> {
        if !self.is_cut_short() || self.shares[host].lost.is_none() {
            return None;
        }
        let others = self.shares.iter().filter(|share| share.lost.is_none());
        let ended = others.filter(|share| share.has_ended || share.collected.is_some());
        ended.map(|share| share.whole).min()
    }

    /// How the run ended, once it is known of every host.
    fn end(&self, hosts: &[String]) -> Option<Outcome> {
        let is_known = |share: &Share| match &share.lost {
            Some((_, others_continued)) => *others_continued,
            None => share.collected.is_some(),
        };
        if !self.shares.iter().all(is_known) {
            return None;
        }
        let collected = || self.shares.iter().map(|share| share.collected.as_ref());
        let reasons: Vec<String> = collected()
            .zip(hosts)
            .filter_map(|(outcome, host)| match outcome? {
                Outcome::Failed { reason } => Some(format!("{host}: {reason}")),
                _ => None,
            })
            .collect();
        match () {
            () if !reasons.is_empty() => Some(Outcome::Failed { reason: reasons.join("\n") }),
            () if collected().flatten().any(|one| *one == Outcome::Interrupted) => {
                Some(Outcome::Interrupted)
            }
            () => collected().flatten().next().map(|_| Outcome::Done),
        }
    }
}

impl Collection {
    /// * `hosts` - the names of all hosts, also if the record ends before it lists them
    pub(super) fn of(record: &ExperimentRecord, hosts: &[String]) -> Collection {
        let run = |of: &RunRecord| CollectedRun {
            run_index: of.run.index,
            interval_ns: of.run.phases.interval_ns,
            shares: (0..of.hosts.len()).map(|host| Share::of(of, host)).collect(),
            outcome: (of.outcome != Outcome::Aborted).then(|| of.outcome.clone()),
        };
        let is_fixed = record.plan.searches().next().is_none();
        Collection {
            hosts: hosts.to_vec(),
            runs: record.runs.iter().map(run).collect(),
            runs_planned: is_fixed.then(|| record.plan.runs_max() as usize),
            has_finished: record.outcome != Outcome::Aborted,
        }
    }

    /// For each run that the record knows, its number of intervals of a host.
    pub(super) fn have(&self, host: usize) -> Vec<(u32, u32)> {
        let share = |run: &CollectedRun| Some((run.run_index, run.shares.get(host)?.intervals));
        self.runs.iter().filter_map(share).collect()
    }

    /// Whether a host was lost in a run. Its spool is taken after those of the others, which say when a
    /// run that ended early did.
    pub(super) fn was_lost(&self, host: usize) -> bool {
        self.runs.iter().filter_map(|run| run.shares.get(host)).any(|share| share.lost.is_some())
    }

    /// Takes a frame of a host's spool.
    ///
    /// # Errors
    /// The frame does not follow from the record: it is of another host, or intervals are missing.
    pub(super) fn take(&mut self, host: usize, frame: Frame) -> Result<Option<Addition>, String> {
        let number = host as u32;
        match frame {
            Frame::RunStarted { run, started_unix_ms } => {
                Ok(self.run_started(run, started_unix_ms))
            }
            Frame::HostInterval { host: of, run_index, interval } => {
                check_owner(of, number)?;
                self.interval(host, run_index, interval)
            }
            Frame::HostEvent { host: of, run_index, event } => {
                check_owner(of, number)?;
                let Some((share, _)) = self.open_share(host, run_index)? else { return Ok(None) };
                let is_new = matches!(event, HostEvent::Started { .. }) && !share.has_started;
                share.has_started |= is_new;
                Ok(is_new.then_some(Addition::HostEvent { host: number, run_index, event }))
            }
            Frame::Warning { run_index: Some(run_index), warning } => {
                let hosts = vec![self.hosts[host].clone()];
                let is_open = self.open_share(host, run_index)?.is_some();
                let run = self.runs.iter().find(|run| run.run_index == run_index);
                let of = run.map_or(0, |run| run.shares.len() as u32);
                let warning = Warning::OnHosts { hosts, of, warning: Box::new(warning) };
                Ok(is_open.then_some(Addition::Warning { run_index, warning }))
            }
            Frame::RunFinished { run_index, outcome } => {
                let Some((share, _)) = self.open_share(host, run_index)? else { return Ok(None) };
                (share.lost, share.collected) = (None, Some(outcome.clone()));
                let event = HostEvent::Collected { outcome };
                Ok(Some(Addition::HostEvent { host: number, run_index, event }))
            }
            _ => Err("its spool contains a frame that does not belong there".to_owned()),
        }
    }

    fn run_started(&mut self, run: Box<Run>, started_unix_ms: u64) -> Option<Addition> {
        if self.runs.iter().any(|known| known.run_index == run.index) {
            return None;
        }
        let shares = self.hosts.len().min(run.hosts as usize);
        self.runs.push(CollectedRun {
            run_index: run.index,
            interval_ns: run.phases.interval_ns,
            shares: vec![Share::default(); shares],
            outcome: None,
        });
        Some(Addition::RunStarted { run, started_unix_ms })
    }

    fn interval(
        &mut self,
        host: usize,
        run_index: u32,
        interval: Box<Interval>,
    ) -> Result<Option<Addition>, String> {
        let run = self.runs.iter().find(|run| run.run_index == run_index);
        let interval_ns = run.map_or(0, |run| run.interval_ns);
        let Some((share, first_left_out)) = self.open_share(host, run_index)? else {
            return Ok(None);
        };
        if interval.index < share.intervals {
            return Ok(None);
        }
        if first_left_out.is_some_and(|first| interval.index >= first) {
            share.left_out += 1;
            return Ok(None);
        }
        if interval.index > share.intervals {
            return Err(format!(
                "run {}: the record ends at interval {}, and the spool continues at {}",
                run_index + 1,
                share.intervals,
                interval.index
            ));
        }
        let is_next_whole = share.whole == share.intervals && is_whole(&interval, interval_ns);
        share.whole += u32::from(is_next_whole);
        share.intervals += 1;
        share.added += 1;
        Ok(Some(Addition::Interval { host: host as u32, run_index, interval }))
    }

    /// A host's share of a run that is not whole, and the first interval that does not belong to it.
    fn open_share(
        &mut self,
        host: usize,
        run_index: u32,
    ) -> Result<Option<(&mut Share, Option<u32>)>, String> {
        let run = self.runs.iter_mut().find(|run| run.run_index == run_index);
        let run = run.ok_or("its spool contains a run that was not started")?;
        if host >= run.shares.len() {
            return Err(format!("it takes no part in run {}", run_index + 1));
        }
        let first_left_out = run.first_left_out(host);
        let run_has_ended = run.outcome.is_some();
        let share = &mut run.shares[host];
        Ok((!share.is_whole(run_has_ended)).then_some((share, first_left_out)))
    }

    /// After all spools: what is known now of hosts that remain lost, runs and the experiment.
    pub(super) fn settle(&mut self) -> Vec<Addition> {
        let mut additions = Vec::new();
        for run in &mut self.runs {
            let run_index = run.run_index;
            for (share, host) in run.shares.iter().zip(0..) {
                if let Some((why, others_continued)) =
                    share.lost.clone().filter(|_| share.added > 0)
                {
                    let at_ns = u64::from(share.intervals) * run.interval_ns;
                    let event = HostEvent::Lost { at_ns, why, others_continued };
                    additions.push(Addition::HostEvent { host, run_index, event });
                }
            }
            if run.outcome.is_none()
                && let Some(outcome) = run.end(&self.hosts)
            {
                run.outcome = Some(outcome.clone());
                additions.push(Addition::RunFinished { run_index, outcome });
            }
        }
        if !self.has_finished
            && let Some(outcome) = self.end()
        {
            self.has_finished = true;
            additions.push(Addition::Finished { outcome });
        }
        additions
    }

    /// How the experiment ended, if every planned run has.
    fn end(&self) -> Option<Outcome> {
        let outcomes: Option<Vec<&Outcome>> =
            self.runs.iter().map(|run| run.outcome.as_ref()).collect();
        let outcomes = outcomes.filter(|all| Some(all.len()) == self.runs_planned)?;
        let first = outcomes.into_iter().find(|outcome| **outcome != Outcome::Done);
        Some(first.cloned().unwrap_or(Outcome::Done))
    }

    /// Planned runs that were never started; `None` if there are none, or if the plan does not fix their
    /// number.
    pub(super) fn never_started(&self) -> Option<NeverStarted> {
        let planned = self.runs_planned.filter(|_| !self.has_finished)?;
        let missing = planned.saturating_sub(self.runs.len());
        (missing > 0).then_some(NeverStarted { missing, planned })
    }

    /// Intervals of a host that were added, and that were left out because the others had been stopped.
    pub(super) fn counts(&self, host: usize) -> (u32, u32) {
        let shares = self.runs.iter().filter_map(|run| run.shares.get(host));
        shares.fold((0, 0), |(added, left_out), share| {
            (added + share.added, left_out + share.left_out)
        })
    }

    /// Shares that are not complete in the record.
    pub(super) fn incomplete(&self) -> Vec<Incomplete> {
        let of_run = |run: &CollectedRun| {
            let has_ended = run.outcome.is_some();
            let shares = run.shares.iter().zip(&self.hosts);
            let open = shares.filter(move |(share, _)| !share.is_whole(has_ended));
            let run_index = run.run_index;
            open.map(move |(share, host)| Incomplete {
                host: host.clone(),
                run_index,
                intervals: share.intervals,
                why: share.lost.as_ref().map(|(why, _)| why.clone()),
            })
            .collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of_run).collect()
    }
}

/// Whether an interval was not cut off: workers close a whole one within one percent of its edge.
fn is_whole(interval: &Interval, interval_ns: u64) -> bool {
    let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
    u128::from(length_ns) * 100 >= u128::from(interval_ns) * 99
}

fn check_owner(found: u32, expected: u32) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err("its spool contains intervals of another host".to_owned()),
    }
}

#[cfg(test)]
mod tests;
