//! Tells every listener everything, in order, and remembers who could not take it.

use crate::event::{Event, Listener, ListenerError};

/// The listeners of a plan. One that failed is told nothing more; the others hear the plan's end.
pub struct Announcer<'a> {
    listeners: Vec<&'a mut dyn Listener>,
    /// `broken[listener]`: it failed.
    broken: Vec<bool>,
    failure: Option<ListenerError>,
}

impl<'a> Announcer<'a> {
    /// Nobody has failed yet.
    pub fn new(listeners: &'a mut [&mut dyn Listener]) -> Announcer<'a> {
        let listeners: Vec<&'a mut dyn Listener> =
            listeners.iter_mut().map(|listener| &mut **listener as &mut dyn Listener).collect();
        let broken = vec![false; listeners.len()];
        Announcer { listeners, broken, failure: None }
    }

    /// Tells `event` to all, the store first. An event that the store could not keep is not shown
    /// by the others.
    pub fn tell(&mut self, event: &Event) {
        for (listener, broken) in self.listeners.iter_mut().zip(&mut self.broken) {
            if *broken {
                continue;
            }
            if let Err(error) = listener.on_event(event) {
                *broken = true;
                self.failure.get_or_insert(error);
                if matches!(event, Event::Interval { .. }) {
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
