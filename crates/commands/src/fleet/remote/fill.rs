//! The fill of a plan's files, split by file over all hosts.
//!
//! File *f* is filled by host *f* modulo the number of hosts, so that the writer of a file does not depend
//! on which files exist already. The first host creates the missing files and keeps the manifest; what the
//! others have written durably is passed on to it, so that an interrupted fill is resumed where it ended.

use std::time::Duration;

use cluster::controller::{Event, Lost};
use engine::drive::Stop;
use metrics::fleet::FleetHost;
use metrics::run_record::{Prepared, PreparedAmount};
use runner::announce::Announcer;
use runner::event::Event as PlanEvent;
use target::manifest::{DurableBytes, FilledBy, Manifest};
use workload::plan::FileSet;

use super::ask::Awaited;
use super::{NotDone, RemoteFleet};
use crate::fleet::reply::{self, RequestFailed};
use crate::fleet::request::{
    FillBegun, FillPart, PartFilled, Report, Request, SetToFill, SignalKind,
};

/// Shortest time between two progress events.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Once a part has failed, hosts that do not end theirs within this time are given up; the first, which
/// ends after the others, within twice this time.
const PART_ENDS_WITHIN: Duration = Duration::from_secs(10);
/// The same when the user has stopped the fill; what was written is made durable meanwhile.
const STOPPED_PART_ENDS_WITHIN: Duration = Duration::from_secs(30);

impl RemoteFleet {
    /// Makes the files ready on all hosts, one target after the other.
    pub(super) fn fill(
        &mut self,
        stop: &Stop,
        announcer: &mut Announcer<'_>,
    ) -> Result<(), NotDone> {
        (0..self.paths.len()).try_for_each(|target| self.fill_target(target, stop, announcer))
    }

    fn fill_target(
        &mut self,
        target: usize,
        stop: &Stop,
        announcer: &mut Announcer<'_>,
    ) -> Result<(), NotDone> {
        let is_stopped = || stop.is_requested();
        // A host can be lost before, when only what can be done without was asked of it.
        let mut lost = self.lost.iter().enumerate();
        if let Some((host, Some(why))) = lost.find(|(_, why)| why.is_some()) {
            return Err(NotDone::Lost(host, why.clone()));
        }
        let writer =
            |host: &FleetHost| FilledBy { host: host.name.clone(), boot_id: host.boot_id.clone() };
        let writers = self.hosts.iter().map(writer).collect();
        self.sequence += 1;
        let begin = Request::BeginFill { sequence: self.sequence, target, writers };
        let FillBegun { sets, manifest } = self.ask_first(begin, &is_stopped)?;
        let mut fill = SplitFill::new(target, sets, self.hosts.len());
        if fill.is_needed() {
            self.fill_parts(&mut fill, &manifest, stop, announcer)?;
        }
        for prepared in fill.prepared() {
            announcer.send(&PlanEvent::PrepareFinished(prepared));
        }
        let manifest: Manifest = self.ask_first(Request::EndFill { target }, &is_stopped)?;
        let use_files =
            |host| (host, Request::UseFiles { target, manifest: Box::new(manifest.clone()) });
        let requests = (1..self.hosts.len()).map(use_files).collect();
        self.ask::<()>(requests, &is_stopped).map(drop)
    }

    /// Asks the host that claimed the directory.
    fn ask_first<A: serde::de::DeserializeOwned>(
        &mut self,
        request: Request,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<A, NotDone> {
        let mut answers = self.ask(vec![(0, request)], is_stopped)?;
        Ok(answers.pop().expect("the first host answered").1)
    }

    /// Has every host fill its part. After a failure the others stop, and what was written is recorded.
    fn fill_parts(
        &mut self,
        fill: &mut SplitFill,
        manifest: &Manifest,
        stop: &Stop,
        announcer: &mut Announcer<'_>,
    ) -> Result<(), NotDone> {
        self.sequence += 1;
        let mut parts = Parts { missing: self.request_parts(fill, manifest), ..Parts::default() };
        let mut is_first_released = false;
        let mut shown_ns: Option<u64> = None;
        while !parts.missing.is_empty() {
            let is_cancelled = stop.is_requested() || announcer.failure().is_some();
            if parts.stopped_ns.is_none() && (is_cancelled || parts.has_failed) {
                parts.stopped_ns = Some(self.links.now_ns());
                if !parts.has_failed {
                    parts.failure = Some(NotDone::Stopped);
                }
                for part in &parts.missing {
                    self.signal(part.host, SignalKind::Stop);
                }
            }
            for host in parts.late(self.links.now_ns()) {
                let why = "it did not end its part of the fill when asked to stop".to_owned();
                self.links.controller().lose(host, Lost::Failed(why));
            }
            if !is_first_released && parts.missing.iter().all(|part| part.host == 0) {
                is_first_released = true;
                self.signal(0, SignalKind::OthersFilled);
                parts.heard(0, self.links.now_ns());
            }
            // The first may have filled its part, and wait for the others.
            let waits = |host: usize| host == 0 && !is_first_released && fill.is_filled(0);
            self.report_overdue(parts.missing.iter_mut().filter(|part| !waits(part.host)));
            for event in self.turn() {
                self.take_fill_event(event, fill, &mut parts);
            }
            let files = std::mem::take(&mut parts.durable);
            if !files.is_empty() && self.lost[0].is_none() {
                self.signal(0, SignalKind::Durable { files });
            }
            let now_ns = self.links.now_ns();
            let every_ns = PROGRESS_EVERY.as_nanos() as u64;
            if shown_ns.is_none_or(|shown_ns| now_ns - shown_ns >= every_ns) {
                shown_ns = Some(now_ns);
                fill.take_progress().iter().for_each(|event| announcer.send(event));
            }
        }
        fill.take_progress().iter().for_each(|event| announcer.send(event));
        match parts.failure {
            Some(why) => Err(why),
            None if parts.has_failed => {
                let why = "its part of the fill failed, and it does not answer".to_owned();
                Err(NotDone::Failed(0, RequestFailed::of_target(why)))
            }
            None => Ok(()),
        }
    }

    /// Sends each host its part; returns the hosts that have one.
    fn request_parts(&mut self, fill: &SplitFill, manifest: &Manifest) -> Vec<Awaited> {
        let mut missing = Vec::new();
        for (host, files) in fill.parts.iter().enumerate() {
            // The first records what the others write.
            if host > 0 && files.iter().all(Vec::is_empty) {
                continue;
            }
            let manifest = (host > 0).then(|| fill.part_of(manifest, files));
            let part = Box::new(FillPart { manifest, files: files.clone() });
            let request = Request::FillPart { sequence: self.sequence, target: fill.target, part };
            let number = self.links.controller().request(host, request.to_bytes());
            missing.push(Awaited::new(host, number, &request, self.links.now_ns()));
        }
        missing
    }

    fn take_fill_event(&mut self, event: Event, fill: &mut SplitFill, parts: &mut Parts) {
        match event {
            Event::Reply { host, number, result } => {
                let is_awaited = |one: &Awaited| (one.host, one.number) == (host, number);
                let Some(at) = parts.missing.iter().position(is_awaited) else { return };
                parts.missing.swap_remove(at);
                match reply::read::<Vec<PartFilled>>(result) {
                    Ok(filled) => fill.filled.extend(filled),
                    Err(failed) => parts.fail(host, failed),
                }
            }
            Event::Report { host, report } => {
                parts.heard(host, self.links.now_ns());
                self.report(host, &report, &mut |host, report| match report {
                    Report::Filling { set, written_bytes } => {
                        fill.take_written(host, set, written_bytes);
                    }
                    Report::Durable { files } => parts.durable.extend(files),
                    Report::PartFailed => parts.has_failed = true,
                    Report::MakingTree { .. }
                    | Report::TreeWalked
                    | Report::Ready { .. }
                    | Report::Warned { .. }
                    | Report::Measured
                    | Report::Waiting { .. } => {}
                })
            }
            Event::Lost { host, why } => {
                let why = why.to_string();
                self.lost[host] = Some(why.clone());
                // The other hosts may take long to end their parts.
                let news =
                    format!("{}; the other hosts are being stopped", why.replace('\n', "; "));
                self.report_wait(host, &news);
                parts.missing.retain(|part| part.host != host);
                parts.has_failed = true;
                // Later it follows from the failure, whose reason the first host says last.
                if parts.stopped_ns.is_none() || host == 0 {
                    parts.failure.get_or_insert(NotDone::Lost(host, why));
                }
            }
            Event::Connected { .. } | Event::ClockSampled { .. } | Event::Frame { .. } => {}
        }
    }
}

/// The parts of a fill that hosts are doing.
#[derive(Default)]
struct Parts {
    /// Hosts whose part has not ended.
    missing: Vec<Awaited>,
    /// What was reported as durable and is not passed on yet.
    durable: Vec<DurableBytes>,
    /// A part has failed.
    has_failed: bool,
    /// Why the fill is not done; known only when the reason has arrived.
    failure: Option<NotDone>,
    /// When the hosts were asked to stop.
    stopped_ns: Option<u64>,
}

impl Parts {
    /// Takes an error of a host. Once the hosts were asked to stop, their errors follow from that, except
    /// that of the first, which answers last.
    fn fail(&mut self, host: usize, why: RequestFailed) {
        if self.stopped_ns.is_none() || (host == 0 && self.failure.is_none()) {
            self.has_failed = true;
            self.failure.get_or_insert(NotDone::Failed(host, why));
        }
    }

    /// A host reports progress, or may make some from now on.
    fn heard(&mut self, host: usize, now_ns: u64) {
        let of_host = self.missing.iter_mut().filter(|part| part.host == host);
        of_host.for_each(|part| part.heard_ns = now_ns);
    }

    /// Hosts that do not end although they were asked to stop.
    fn late(&self, now_ns: u64) -> Vec<usize> {
        let stopped = self.stopped_ns.map(|since_ns| Duration::from_nanos(now_ns - since_ns));
        let within = match self.has_failed {
            true => PART_ENDS_WITHIN,
            false => STOPPED_PART_ENDS_WITHIN,
        };
        let limit = |host: usize| if host == 0 { 2 * within } else { within };
        let missing = self.missing.iter().map(|part| part.host);
        missing.filter(|host| stopped.is_some_and(|time| time > limit(*host))).collect()
    }
}

/// A fill by several hosts: who fills what, and how far they are.
struct SplitFill {
    /// The target's position in the plan.
    target: usize,
    sets: Vec<SetToFill>,
    /// `parts[host][set]`: numbers of files.
    parts: Vec<Vec<Vec<u32>>>,
    /// `part_bytes[host]`: to be written, of all sets.
    part_bytes: Vec<u64>,
    /// `written[host][set]`, in bytes.
    written: Vec<Vec<u64>>,
    /// `is_changed[set]`: progress is not shown yet.
    is_changed: Vec<bool>,
    filled: Vec<PartFilled>,
}

impl SplitFill {
    fn new(target: usize, sets: Vec<SetToFill>, hosts: usize) -> SplitFill {
        let mut parts = vec![vec![Vec::new(); sets.len()]; hosts];
        let mut part_bytes = vec![0; hosts];
        for (number, set) in sets.iter().enumerate() {
            for (index, bytes) in &set.missing {
                let host = FileSet::filling_host(*index, hosts);
                parts[host][number].push(*index);
                part_bytes[host] += bytes;
            }
        }
        let written = vec![vec![0; sets.len()]; hosts];
        let is_changed = vec![false; sets.len()];
        SplitFill { target, sets, parts, part_bytes, written, is_changed, filled: Vec::new() }
    }

    /// The records of the files of one part.
    fn part_of(&self, manifest: &Manifest, files: &[Vec<u32>]) -> Manifest {
        let sets = self.sets.iter().zip(files);
        let names = sets.flat_map(|(one, files)| files.iter().map(|file| one.set.file_name(*file)));
        let record = |name: String| Some((name.clone(), manifest.files.get(&name)?.clone()));
        Manifest { files: names.filter_map(record).collect(), ..manifest.clone() }
    }

    fn is_needed(&self) -> bool {
        self.sets.iter().any(|set| !set.missing.is_empty())
    }

    fn take_written(&mut self, host: usize, set: u32, bytes: u64) {
        if let Some(written) = self.written[host].get_mut(set as usize) {
            *written = bytes;
            self.is_changed[set as usize] = true;
        }
    }

    /// Whether a host has written its part.
    fn is_filled(&self, host: usize) -> bool {
        self.written[host].iter().sum::<u64>() >= self.part_bytes[host]
    }

    /// The progress of all hosts together, of each set that has some since the last call.
    fn take_progress(&mut self) -> Vec<PlanEvent> {
        let mut events = Vec::new();
        for (number, set) in self.sets.iter().enumerate() {
            if std::mem::take(&mut self.is_changed[number]) {
                events.push(PlanEvent::PrepareProgress {
                    stream: set.set.stream.clone(),
                    done: PreparedAmount::of_bytes(
                        self.written.iter().map(|sets| sets[number]).sum(),
                    ),
                    total: PreparedAmount::of_bytes(
                        set.missing.iter().map(|(_, bytes)| bytes).sum(),
                    ),
                });
            }
        }
        events
    }

    /// What all hosts wrote of each set, and the time of the one that took longest.
    fn prepared(&self) -> Vec<Prepared> {
        let of = |(number, set): (usize, &SetToFill)| {
            let filled = || self.filled.iter().filter(|part| part.set as usize == number);
            Prepared {
                stream: set.set.stream.clone(),
                written_bytes: filled().map(|part| part.written_bytes).sum(),
                took_ns: filled().map(|part| part.took_ns).max().unwrap_or(0),
            }
        };
        self.sets.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use workload::data::DataPattern;

    use super::*;

    #[test]
    fn every_missing_file_is_filled_by_one_host_and_progress_adds_up() {
        let set = |stream: &str, missing: &[(u32, u64)]| SetToFill {
            set: FileSet {
                stream: stream.to_owned(),
                files: 5,
                file_size_bytes: 4096,
                data: DataPattern::default(),
                tile_bytes: 4096,
            },
            missing: missing.to_vec(),
        };
        let sets = vec![set("a", &[(0, 10), (1, 10), (4, 7)]), set("b", &[(2, 5)])];
        let mut fill = SplitFill::new(0, sets, 3);
        assert_eq!(fill.parts[0], [vec![0], vec![]]);
        assert_eq!(fill.parts[1], [vec![1, 4], vec![]]);
        assert_eq!(fill.parts[2], [vec![], vec![2]]);
        assert_eq!(fill.take_progress(), []);
        fill.take_written(0, 0, 4);
        fill.take_written(1, 0, 6);
        fill.take_written(1, 0, 9);
        fill.take_written(0, 7, 1);
        let of = |stream: &str, done, total| PlanEvent::PrepareProgress {
            stream: stream.to_owned(),
            done: PreparedAmount::of_bytes(done),
            total: PreparedAmount::of_bytes(total),
        };
        assert_eq!(fill.take_progress(), [of("a", 13, 27)]);
        assert_eq!(fill.take_progress(), []);
        fill.take_written(2, 1, 5);
        assert_eq!([0, 1, 2].map(|host| fill.is_filled(host)), [false, false, true]);
        for (set, written_bytes, took_ns) in [(0, 10, 3), (0, 17, 8), (1, 5, 1)] {
            fill.filled.push(PartFilled { set, written_bytes, took_ns });
        }
        let prepared = fill.prepared();
        let sums = |of: &Prepared| (of.written_bytes, of.took_ns);
        assert_eq!(prepared.iter().map(sums).collect::<Vec<_>>(), [(27, 8), (5, 1)]);
    }
}
