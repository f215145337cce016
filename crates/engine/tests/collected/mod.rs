//! Collects what a worker hands over.

use std::cell::RefCell;
use std::rc::Rc;

use engine::worker::Handover;
use metrics::interval::StreamInterval;
use metrics::recorder::Tally;

/// Collects the intervals that a worker hands over.
pub(crate) struct Collected(pub(crate) Rc<RefCell<Vec<StreamInterval>>>);

impl Handover for Collected {
    fn empty(&mut self) -> Option<Box<Tally>> {
        Some(Box::default())
    }

    fn full(&mut self, mut tally: Box<Tally>, _end_ns: u64) {
        let mut interval = StreamInterval::default();
        tally.drain_into(&mut interval);
        self.0.borrow_mut().push(interval);
    }
}
