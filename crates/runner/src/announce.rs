//! Sends every event to every listener, in order, and records which listeners failed.

use crate::event::{Event, Listener, ListenerError};

/// The listeners of a plan. A failed listener gets no further events; the others do.
pub struct Announcer<'a> {
    listeners: Vec<&'a mut dyn Listener>,
    /// `broken[listener]`: it failed.
    broken: Vec<bool>,
    failure: Option<ListenerError>,
}

impl<'a> Announcer<'a> {
    /// Sends to `listeners`, none of which has failed.
    pub fn new(listeners: &'a mut [&mut dyn Listener]) -> Announcer<'a> {
        let listeners: Vec<&'a mut dyn Listener> =
            listeners.iter_mut().map(|listener| &mut **listener as &mut dyn Listener).collect();
        let broken = vec![false; listeners.len()];
        Announcer { listeners, broken, failure: None }
    }

    /// Sends `event` to all, the store first. An interval that the store could not write is not
    /// shown by the others.
    pub fn send(&mut self, event: &Event) {
        for (listener, broken) in self.listeners.iter_mut().zip(&mut self.broken) {
            if *broken {
                continue;
            }
            if let Err(error) = listener.on_event(event) {
                *broken = true;
                self.failure.get_or_insert(error);
                if matches!(event, Event::Interval { .. } | Event::HostInterval { .. }) {
                    return;
                }
            }
        }
    }

    /// The first failure of a listener, if there was one: the plan must end.
    pub fn failure(&self) -> Option<&ListenerError> {
        self.failure.as_ref()
    }

    /// The same, as a value.
    pub fn into_failure(self) -> Option<ListenerError> {
        self.failure
    }
}

/// The reason of a plan or run that ended because of a failed listener.
pub(crate) fn not_kept(failure: &ListenerError) -> String {
    format!("results cannot be kept: {failure}")
}
