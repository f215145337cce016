//! Requests to agents of which all must answer, and the failure if one does not.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use cluster::controller::{Event, Lost};
use runner::fleet::FleetError;
use runner::overdue::{self, NAMED_AFTER_NS, WaitReports};
use serde::de::DeserializeOwned;
use target::refusal::Refusal;

use super::RemoteFleet;
use crate::fleet::reply::{self, RequestFailed};
use crate::fleet::request::{Report, Request, SignalKind};
use crate::outcome::Failure;

/// Longest wait for the answer to a request that a command can do without, and for any answer after the user
/// has stopped. A host without one is lost.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// The same for a request that a command can do without, after the user has stopped.
const ANSWERS_WITHIN_AFTER_STOP: Duration = Duration::from_secs(1);

/// Why a request was not done by every host.
pub(super) enum NotDone {
    /// The user stopped it.
    Stopped,
    /// A host is lost; with the reason, and what to do on the next line.
    Lost(usize, String),
    /// A host could not.
    Failed(usize, RequestFailed),
}

/// A host whose answer is awaited.
pub(super) struct Awaited {
    pub(super) host: usize,
    /// Of the request.
    pub(super) number: u32,
    /// What it does, in words.
    doing: &'static str,
    /// When it was asked, or last reported progress.
    pub(super) heard_ns: u64,
    reports: WaitReports,
}

impl Awaited {
    /// A host that was just asked.
    pub(super) fn new(host: usize, number: u32, request: &Request, now_ns: u64) -> Awaited {
        let (doing, reports) = (request.doing(), WaitReports::default());
        Awaited { host, number, doing, heard_ns: now_ns, reports }
    }
}

impl RemoteFleet {
    /// Asks for what a command can do without: the answers, if all hosts give them soon.
    pub(super) fn ask_briefly<A: DeserializeOwned>(
        &mut self,
        requests: Vec<(usize, Request)>,
    ) -> Option<Vec<(usize, A)>> {
        let within = match self.observer.is_cancelled() {
            true => ANSWERS_WITHIN_AFTER_STOP,
            false => ANSWERS_WITHIN,
        };
        self.ask_within(requests, Some(within), &|| false, &mut |_, _| ()).ok()
    }

    /// Sends requests and waits for their answers, however long they take: hosts that take long are named. If the user stops, each gets a signal, and the answers are
    /// still awaited for some time.
    pub(super) fn ask<A: DeserializeOwned>(
        &mut self,
        requests: Vec<(usize, Request)>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<(usize, A)>, NotDone> {
        self.ask_within(requests, None, is_stopped, &mut |_, _| ())
    }

    /// Like [`RemoteFleet::ask`], of one host; `take_report` gets the reports of its progress.
    pub(super) fn ask_one<A: DeserializeOwned>(
        &mut self,
        host: usize,
        request: Request,
        is_stopped: &dyn Fn() -> bool,
        take_report: &mut dyn FnMut(usize, Report),
    ) -> Result<A, NotDone> {
        let mut answers = self.ask_within(vec![(host, request)], None, is_stopped, take_report)?;
        Ok(answers.pop().expect("the host answered").1)
    }

    /// Like [`RemoteFleet::ask`]. Hosts that have not answered after the longest time are lost.
    fn ask_within<A: DeserializeOwned>(
        &mut self,
        requests: Vec<(usize, Request)>,
        longest: Option<Duration>,
        is_stopped: &dyn Fn() -> bool,
        take_report: &mut dyn FnMut(usize, Report),
    ) -> Result<Vec<(usize, A)>, NotDone> {
        let mut deadline_ns = longest.map(|longest| self.after(longest));
        let mut missing = Vec::new();
        for (host, request) in requests {
            if let Some(why) = &self.lost[host] {
                return Err(NotDone::Lost(host, why.clone()));
            }
            let number = self.links.controller().request(host, request.to_bytes());
            missing.push(Awaited::new(host, number, &request, self.links.now_ns()));
        }
        let mut answers = Vec::new();
        let mut is_signalled = false;
        while !missing.is_empty() {
            if is_stopped() && !is_signalled {
                is_signalled = true;
                deadline_ns = Some(self.after(ANSWERS_WITHIN));
                for awaited in &missing {
                    self.signal(awaited.host, SignalKind::Stop);
                }
            }
            if deadline_ns.is_some_and(|deadline_ns| self.links.now_ns() >= deadline_ns) {
                for awaited in &missing {
                    let why = "its agent is alive, but does not answer; check its storage";
                    self.links.controller().lose(awaited.host, Lost::Failed(why.to_owned()));
                }
                deadline_ns = None;
            }
            self.report_overdue(&mut missing);
            let mut failure = None;
            // All events count, also those after a failure: each is seen once.
            for event in self.turn() {
                match event {
                    Event::Reply { host, number, result } => {
                        let is_missing = |one: &Awaited| (one.host, one.number) == (host, number);
                        let Some(at) = missing.iter().position(is_missing) else { continue };
                        missing.swap_remove(at);
                        match reply::read(result) {
                            Ok(answer) => answers.push((host, answer)),
                            Err(_) if is_stopped() => failure = failure.or(Some(NotDone::Stopped)),
                            Err(failed) => {
                                failure = failure.or(Some(NotDone::Failed(host, failed)));
                            }
                        }
                    }
                    Event::Report { host, report } => {
                        let now_ns = self.links.now_ns();
                        let of_host = missing.iter_mut().filter(|one| one.host == host);
                        of_host.for_each(|one| one.heard_ns = now_ns);
                        self.report(host, &report, take_report);
                    }
                    Event::Lost { host, why } => {
                        self.lost[host] = Some(why.to_string());
                        failure = failure.or(Some(match is_signalled {
                            true => NotDone::Stopped,
                            false => NotDone::Lost(host, why.to_string()),
                        }));
                    }
                    Event::Connected { .. } | Event::ClockSampled { .. } | Event::Frame { .. } => {}
                }
            }
            if let Some(failure) = failure {
                return Err(failure);
            }
        }
        answers.sort_by_key(|(host, _)| *host);
        Ok(answers)
    }

    /// Names the hosts that have made no progress for long.
    pub(super) fn report_overdue<'a>(&self, awaited: impl IntoIterator<Item = &'a mut Awaited>) {
        let now_ns = self.links.now_ns();
        let overdue = awaited.into_iter().filter_map(|one| {
            let waited_ns = now_ns.saturating_sub(one.heard_ns);
            let is_due = one.reports.is_due(waited_ns, NAMED_AFTER_NS);
            is_due.then(|| (one.host, overdue::no_progress(one.doing, waited_ns)))
        });
        self.report_waits(overdue.collect());
    }

    /// The time of the links after `time`.
    fn after(&self, time: Duration) -> u64 {
        self.links.now_ns() + time.as_nanos() as u64
    }

    pub(super) fn failure(&self, why: NotDone) -> Failure {
        match why {
            NotDone::Stopped => Failure {
                is_interrupted: true,
                ..Failure::input(anyhow!("interrupted by the user"))
            },
            NotDone::Lost(host, why) => {
                let (why, remedy) = split_remedy(&why);
                let failure = Failure::input(anyhow!("{}: {why}", self.hosts[host].name));
                Failure { remedy: remedy.map(str::to_owned), ..failure }
            }
            NotDone::Failed(host, failed) => failed.failure(&self.hosts[host].name),
        }
    }

    pub(super) fn error(&self, why: NotDone) -> FleetError {
        match why {
            NotDone::Stopped => FleetError::Refused(Refusal::Io {
                action: "use",
                path: self.paths.first().map(PathBuf::from).unwrap_or_default(),
                source: io::ErrorKind::Interrupted.into(),
            }),
            NotDone::Lost(host, why) => {
                let (why, remedy) = split_remedy(&why);
                let reason = format!("{}: {why}", self.hosts[host].name);
                FleetError::Host { reason, remedy: remedy.map(str::to_owned) }
            }
            NotDone::Failed(host, failed) => failed.fleet_error(&self.hosts[host].name),
        }
    }
}

/// The reason and what to do, which is on the next line if it is known.
fn split_remedy(why: &str) -> (&str, Option<&str>) {
    why.split_once('\n').map_or((why, None), |(why, remedy)| (why, Some(remedy)))
}
