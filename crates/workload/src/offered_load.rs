//! What a run offers per second: operations by kind, and the bytes that they move.
//!
//! For: predictions and designs from a workload that was not run. Not for: what was measured (`analysis`).

use crate::arrival::Arrival;
use crate::names::{FileSizes, NameLoad};
use crate::op::OpKind;
use crate::pattern::AccessPattern;
use crate::random;
use crate::run::{Run, Stream, WeightedSize};

/// Draws of file sizes for their mean: its standard error is below 1 % for a lognormal of sigma 1.
const SIZE_DRAWS: u64 = 1 << 15;
/// Files of at least this mean size are read and written in order; a smaller one is one small operation.
const ORDERED_BYTES: f64 = 262_144.0;

/// Operations of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedKind {
    /// The kind.
    pub kind: OpKind,
    /// Operations per second.
    pub rate: f64,
    /// Mean bytes that one of them moves; 0 for operations on names that move none.
    pub bytes: f64,
    /// They write.
    pub is_write: bool,
    /// They are at random positions, or on small files.
    pub is_random: bool,
}

impl OfferedKind {
    /// It moves data.
    pub fn moves_data(&self) -> bool {
        self.bytes > 0.0
    }
}

/// A stream whose rate is not a constant mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMeanRate {
    /// Its name.
    pub stream: String,
}

/// What the streams of a run offer together.
///
/// # Errors
/// The first stream that is a closed loop, replays a list, has users, or follows a schedule.
pub fn offered(run: &Run) -> Result<Vec<OfferedKind>, NoMeanRate> {
    let mut all = Vec::new();
    for stream in &run.streams {
        let rate = match (&stream.arrival, &stream.replay) {
            (Arrival::Constant { offered_rate } | Arrival::Poisson { offered_rate }, None) => {
                *offered_rate
            }
            _ => return Err(NoMeanRate { stream: stream.name.clone() }),
        };
        match &stream.names {
            Some(names) => all.extend(of_names(names, rate)),
            None => all.extend(of_transfers(stream, rate)),
        }
    }
    all.retain(|one| one.rate > 0.0);
    Ok(all)
}

fn of_transfers(stream: &Stream, rate: f64) -> Vec<OfferedKind> {
    let weights: u64 = stream.transfer_sizes.iter().map(|one| u64::from(one.weight)).sum();
    let weighted = |one: &WeightedSize| one.size_bytes as f64 * f64::from(one.weight);
    let bytes = stream.transfer_sizes.iter().map(weighted).sum::<f64>() / weights.max(1) as f64;
    let is_random = !matches!(
        stream.access_pattern,
        AccessPattern::Sequential | AccessPattern::PartlySequential { .. }
    );
    let read = f64::from(stream.read_permille) / 1000.0;
    let of = |kind, rate, is_write| OfferedKind { kind, rate, bytes, is_write, is_random };
    vec![of(OpKind::Read, rate * read, false), of(OpKind::Write, rate * (1.0 - read), true)]
}

/// Mean bytes of an operation of a load on names, as they are counted: a copy moves its file once.
pub(crate) fn bytes_of_names(load: &NameLoad) -> f64 {
    let is_counted = |one: &OfferedKind| one.kind != OpKind::Copy || one.is_write;
    of_names(load, 1.0).iter().filter(|one| is_counted(one)).map(|one| one.rate * one.bytes).sum()
}

fn of_names(names: &NameLoad, rate: f64) -> Vec<OfferedKind> {
    let sizes = FileSizes::new(&names.tree.sizes);
    let draw = |index| f64::from(sizes.size_bytes(random::at(0, index)));
    let mean = (0..SIZE_DRAWS).map(draw).sum::<f64>() / SIZE_DRAWS as f64;
    let of_kind = |kind: OpKind| {
        let rate = rate * names.mix.permille(kind) as f64 / f64::from(names.mix.block().max(1));
        let of = |bytes: f64, is_write| OfferedKind {
            kind,
            rate,
            bytes,
            is_write,
            is_random: bytes > 0.0 && bytes < ORDERED_BYTES,
        };
        match kind {
            OpKind::ReadFile => vec![of(mean, false)],
            OpKind::WriteFile => vec![of(mean, true)],
            OpKind::Append => vec![of(f64::from(names.append_bytes), true)],
            // The operation on the name, and the content.
            OpKind::Create => vec![of(0.0, false), of(mean, true)],
            OpKind::Copy => vec![of(0.0, false), of(mean, false), of(mean, true)],
            _ => vec![of(0.0, false)],
        }
    };
    names.mix.kinds().flat_map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::profile;

    fn of(name: &str) -> Vec<OfferedKind> {
        let plan = profile(name).expect("the profile exists").plan();
        let run = plan.known_runs().next().expect("a run");
        offered(run).expect("its rates are constant")
    }

    #[test]
    fn a_job_set_offers_450_operations_and_7_26_mb_per_second() {
        let all = of("eda-like");
        let rate = |is: fn(&OfferedKind) -> bool| -> f64 {
            all.iter().filter(|one| is(one)).map(|one| one.rate).sum()
        };
        let creates = rate(|one| one.kind == OpKind::Create && one.moves_data());
        assert!((rate(|_| true) - creates - 450.0).abs() < 1e-9);
        let bytes: f64 = all.iter().map(|one| one.rate * one.bytes).sum();
        assert!((bytes / 7.26e6 - 1.0).abs() < 0.01, "{bytes}");
        let names = rate(|one| !one.moves_data());
        assert!((names / 180.0 - 1.0).abs() < 0.01, "{names}");
    }

    #[test]
    fn a_stream_without_a_constant_rate_is_named() {
        let plan = profile("epic-like").expect("the profile exists").plan();
        let run = plan.known_runs().next().expect("a run");
        assert_eq!(offered(run), Err(NoMeanRate { stream: "flush".to_owned() }));
    }
}
