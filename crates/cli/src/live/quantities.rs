//! Which quantities measure the streams of a run or a plan: what operations per second are called, and
//! whether there is a throughput.

use report::results::rate_unit;
use workload::plan::Stream;

/// The quantities of some streams together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantities {
    /// Some of their operations are on names.
    pub(super) are_on_names: bool,
    /// Some of their operations move data.
    pub(super) move_data: bool,
}

impl Quantities {
    /// Those of these streams.
    pub(super) fn of<'a>(streams: impl IntoIterator<Item = &'a Stream>) -> Quantities {
        let none = Quantities { are_on_names: false, move_data: false };
        streams.into_iter().fold(none, |all, stream| Quantities {
            are_on_names: all.are_on_names || stream.is_on_names(),
            move_data: all.move_data || stream.moves_data(),
        })
    }

    /// What their operations per second are called.
    pub(super) const fn rate_unit(self) -> &'static str {
        rate_unit(self.are_on_names)
    }
}
