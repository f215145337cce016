//! One request to each host of a fleet, and their answers: the core of commands that only ask.

use crate::clock::ClockOffset;
use crate::controller::{Controller, Event, Lost};
use crate::message::Hello;

/// What a host answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Who its agent is.
    pub hello: Hello,
    /// Its clock.
    pub clock: ClockOffset,
    /// The result of the request.
    pub result: Vec<u8>,
}

/// A request to all hosts, and what has come of it.
#[derive(Debug)]
pub struct Ask {
    work: Vec<u8>,
    answers: Vec<Option<Result<Answer, Lost>>>,
}

impl Ask {
    /// Asks `hosts` hosts to do `work`.
    pub fn new(hosts: usize, work: Vec<u8>) -> Ask {
        Ask { work, answers: vec![None; hosts] }
    }

    /// Handles all events of `controller`.
    pub fn handle_events(&mut self, controller: &mut Controller) {
        while let Some(event) = controller.next_event() {
            match event {
                Event::Connected { host } => {
                    controller.request(host, self.work.clone());
                }
                Event::Reply { host, result, .. } => match answer(controller, host, result) {
                    Ok(answer) => {
                        self.answers[host] = Some(Ok(answer));
                        controller.finish(host);
                    }
                    Err(why) => controller.lose(host, why),
                },
                Event::ClockSampled { host }
                | Event::Report { host, .. }
                | Event::Frame { host, .. } => controller.lose(host, Lost::Unexpected),
                Event::Lost { host, why } => {
                    self.answers[host].get_or_insert(Err(why));
                }
            }
        }
    }

    /// Hosts that have answered or are lost.
    pub fn ended(&self) -> usize {
        self.answers.iter().flatten().count()
    }

    /// Hosts that have neither answered nor been lost.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        let hosts = self.answers.iter().enumerate();
        hosts.filter(|(_, answer)| answer.is_none()).map(|(host, _)| host)
    }

    /// Whether all hosts have answered or are lost.
    pub fn is_done(&self) -> bool {
        self.ended() == self.answers.len()
    }

    /// The answers, in the order of the hosts.
    ///
    /// # Panics
    /// A host has neither answered nor been lost.
    pub fn into_answers(self) -> Vec<Result<Answer, Lost>> {
        self.answers.into_iter().map(|answer| answer.expect("every host has ended")).collect()
    }
}

fn answer(
    controller: &Controller,
    host: usize,
    result: Result<Vec<u8>, String>,
) -> Result<Answer, Lost> {
    let result = result.map_err(Lost::Failed)?;
    match (controller.hello(host), controller.clock(host)) {
        (Some(hello), Some(clock)) => Ok(Answer { hello: hello.clone(), clock, result }),
        _ => Err(Lost::Unexpected),
    }
}
