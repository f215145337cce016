//! The byte and operation limits of one flow, volume or endpoint.

use crate::gcra::{Gcra, Rate};

/// The limits of one flow, volume or endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes read and written.
    pub bytes: Option<Rate>,
    /// Operations of all procedures.
    pub ops: Option<Rate>,
}

/// The buckets of the limits of one flow, volume or endpoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Meters {
    bytes: Option<Gcra>,
    ops: Option<Gcra>,
}

impl Meters {
    pub(super) fn new(limits: Limits) -> Meters {
        Meters { bytes: limits.bytes.map(Gcra::new), ops: limits.ops.map(Gcra::new) }
    }

    pub(super) fn set(&mut self, now_ns: u64, limits: Limits) {
        for (meter, rate) in [(&mut self.bytes, limits.bytes), (&mut self.ops, limits.ops)] {
            match (meter.as_mut(), rate) {
                (Some(gcra), Some(rate)) => gcra.set_rate(now_ns, rate),
                _ => *meter = rate.map(Gcra::new),
            }
        }
    }

    pub(super) const fn limits_nothing(&self) -> bool {
        self.bytes.is_none() && self.ops.is_none()
    }

    pub(super) const fn limits_operations(&self) -> bool {
        self.ops.is_some()
    }

    /// The bytes that can be sent in the time of one operation, up to `max`: 0 if operations are not
    /// limited, `max` if only they are.
    pub(super) fn operation_bytes(&self, max: u64) -> u64 {
        match (&self.bytes, &self.ops) {
            (_, None) => 0,
            (None, Some(_)) => max,
            (Some(bytes), Some(ops)) => {
                (bytes.rate().per_s.get() / ops.rate().per_s.get()).min(max)
            }
        }
    }

    /// The first instant at which both limits have room: the later of the two, because waiting only
    /// drains.
    pub(super) fn conforms_at_ns(&self, now_ns: u64, bytes: u64) -> u64 {
        let at = |meter: &Option<Gcra>, cost| {
            meter.as_ref().map_or(now_ns, |gcra| gcra.conforms_at_ns(now_ns, cost))
        };
        at(&self.bytes, bytes).max(at(&self.ops, 1))
    }

    pub(super) fn charge(&mut self, now_ns: u64, bytes: u64) {
        for (meter, cost) in [(&mut self.bytes, bytes), (&mut self.ops, 1)] {
            if let Some(gcra) = meter {
                gcra.charge(now_ns, cost);
            }
        }
    }
}
