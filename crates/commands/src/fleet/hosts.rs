//! Connected agents of hosts of which some may not be reached: each request has an answer for every host.

use std::ops::ControlFlow;
use std::time::Duration;

use cluster::controller::{Event, Lost};
use cluster::links::Links;
use record::frame::Frame;
use serde::de::DeserializeOwned;

use super::reply;
use super::request::Request;

/// Longest wait between two looks at deadlines and at the request to stop.
const TURN: Duration = Duration::from_millis(50);

/// A host that reads its spools for longer without a result is given up: its storage does not respond.
const ANSWERS_WITHIN: Duration = Duration::from_secs(60);

/// Ends a wait when the user does.
pub(super) type Observe<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// The agents of several hosts.
pub(super) struct Hosts {
    links: Box<dyn Links>,
    /// Why a host is not reached, or no longer.
    lost: Vec<Option<String>>,
}

impl Hosts {
    /// Waits until every agent runs, or its host is known not to be reached.
    pub(super) fn connect(mut links: Box<dyn Links>, observe: Observe<'_>) -> Hosts {
        let count = links.names().len();
        let mut lost = vec![None; count];
        let mut has_answered = vec![false; count];
        while has_answered.contains(&false) {
            links.turn(TURN);
            if observe().is_break() {
                links.controller().interrupt();
            }
            while let Some(event) = links.controller().next_event() {
                match event {
                    Event::Connected { host } => has_answered[host] = true,
                    Event::Lost { host, why } => {
                        has_answered[host] = true;
                        lost[host] = Some(why.to_string());
                    }
                    _ => {}
                }
            }
        }
        Hosts { links, lost }
    }

    /// The names of the hosts.
    pub(super) fn names(&self) -> Vec<String> {
        self.links.names()
    }

    /// Why a host is not reached.
    pub(super) fn lost(&self, host: usize) -> Option<&str> {
        self.lost[host].as_deref()
    }

    /// The time of the links, in nanoseconds.
    pub(super) fn now_ns(&self) -> u64 {
        self.links.now_ns()
    }

    /// Waits without a request.
    pub(super) fn wait(&mut self, time: Duration) {
        // A turn ends with the first bytes of any host.
        let until_ns = self.links.now_ns() + time.as_nanos() as u64;
        loop {
            let left = Duration::from_nanos(until_ns.saturating_sub(self.links.now_ns()));
            self.links.turn(left);
            while let Some(event) = self.links.controller().next_event() {
                if let Event::Lost { host, why } = event {
                    self.lost[host] = Some(why.to_string());
                }
            }
            if left.is_zero() {
                return;
            }
        }
    }

    /// Sends a request to one host and waits for its answer.
    ///
    /// * `take` - gets the frames that the host sends meanwhile, until it fails
    ///
    /// # Errors
    /// Why there is none, or why `take` failed. A host from which nothing comes for long is lost.
    pub(super) fn ask<A: DeserializeOwned>(
        &mut self,
        host: usize,
        request: &Request,
        take: &mut dyn FnMut(Frame) -> Result<(), String>,
        observe: Observe<'_>,
    ) -> Result<A, String> {
        if let Some(why) = &self.lost[host] {
            return Err(why.clone());
        }
        let asked = self.links.controller().request(host, request.to_bytes());
        let mut heard_ns = self.links.now_ns();
        let mut not_taken = None;
        loop {
            self.links.turn(TURN);
            if observe().is_break() {
                self.links.controller().interrupt();
            }
            while let Some(event) = self.links.controller().next_event() {
                match event {
                    Event::Reply { host: of, number, result } if (of, number) == (host, asked) => {
                        let answer = reply::read(result).map_err(|failed| failed.in_words());
                        return not_taken.map_or(answer, Err);
                    }
                    Event::Frame { host: of, kind, payload } if of == host => {
                        heard_ns = self.links.now_ns();
                        // The host sends the rest before it answers.
                        if not_taken.is_none() {
                            let frame = Frame::decode(kind, &payload);
                            let frame = frame.map_err(|malformed| malformed.0.to_owned());
                            not_taken = frame.and_then(&mut *take).err();
                        }
                    }
                    Event::Lost { host: of, why } => {
                        self.lost[of] = Some(why.to_string());
                        if of == host {
                            return Err(why.to_string());
                        }
                    }
                    _ => {}
                }
            }
            let silent_ns = self.links.now_ns() - heard_ns;
            if Duration::from_nanos(silent_ns) > ANSWERS_WITHIN {
                let why = format!(
                    "its agent is alive, but did not answer within {} s; check the storage of its \
                     spools",
                    ANSWERS_WITHIN.as_secs()
                );
                self.links.controller().lose(host, Lost::Failed(why));
            }
        }
    }
}
