//! The demand of a number of units of a business metric, such as job sets or users, by part.
//!
//! For: showing which part of a need comes from where. Not for: the arithmetic of designs, which use
//! the demands of the need.

use units::{Bytes, BytesPerSec, OpsPerSec};

/// What a number of units requires.
#[derive(Clone, Debug, PartialEq)]
pub struct BusinessDemand {
    /// The profile, or the experiment file.
    pub profile: String,
    /// Whether the profile is built in.
    pub is_built_in: bool,
    /// The number of units.
    pub units: u64,
    /// The name of the metric, in the plural.
    pub metric: String,
    /// Each workload variant, which the design must carry separately.
    pub variants: Vec<VariantDemand>,
    /// What one unit stores; `None` if the profile does not state it.
    pub unit_capacity: Option<Bytes>,
    /// Files and directories of one unit; `None` if the profile does not state them.
    pub unit_inodes: Option<u64>,
    /// The response time of a passing load point is a percentile, which is not predicted.
    pub percentile_max: Option<&'static str>,
}

/// The operations of a workload variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantDemand {
    /// Its name.
    pub name: String,
    /// Its operations by kind, the most frequent first.
    pub kinds: Vec<KindDemand>,
}

/// Operations of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindDemand {
    /// The name in experiments.
    pub name: String,
    /// Operations per second of all units.
    pub rate: OpsPerSec,
    /// Bytes that they read.
    pub reads: BytesPerSec,
    /// Bytes that they write.
    pub writes: BytesPerSec,
    /// Whether they count in the design: they move data, or a rate of their kind is published.
    pub is_counted: bool,
}

impl KindDemand {
    /// Bytes that they read and write.
    pub fn bytes(&self) -> BytesPerSec {
        BytesPerSec::new(self.reads.get() + self.writes.get())
    }
}

impl VariantDemand {
    /// Operations per second, bytes read and bytes written of all kinds together.
    pub fn totals(&self) -> (OpsPerSec, BytesPerSec, BytesPerSec) {
        let sum = |of: fn(&KindDemand) -> f64| self.kinds.iter().map(of).sum::<f64>();
        (
            OpsPerSec::new(sum(|kind| kind.rate.get())),
            BytesPerSec::new(sum(|kind| kind.reads.get())),
            BytesPerSec::new(sum(|kind| kind.writes.get())),
        )
    }

    /// Operations per second that move no data.
    pub fn on_names(&self) -> OpsPerSec {
        let names = self.kinds.iter().filter(|kind| kind.bytes().get() <= 0.0);
        OpsPerSec::new(names.map(|kind| kind.rate.get()).sum())
    }
}

impl BusinessDemand {
    /// The variant with most bytes.
    pub fn largest(&self) -> Option<&VariantDemand> {
        let bytes = |one: &VariantDemand| {
            let (_, reads, writes) = one.totals();
            reads.get() + writes.get()
        };
        self.variants.iter().max_by(|a, b| bytes(a).total_cmp(&bytes(b)))
    }

    /// The rate of the kinds without a published rate together.
    pub fn not_counted_rate(&self) -> OpsPerSec {
        OpsPerSec::new(self.not_counted().iter().map(|(_, rate)| rate.get()).sum())
    }

    /// The kinds without a published rate, with their rates; the largest rate of all variants.
    pub fn not_counted(&self) -> Vec<(&str, OpsPerSec)> {
        let mut all: Vec<(&str, OpsPerSec)> = Vec::new();
        let kinds = self.variants.iter().flat_map(|variant| &variant.kinds);
        for kind in kinds.filter(|kind| !kind.is_counted) {
            match all.iter_mut().find(|(name, _)| *name == kind.name) {
                Some((_, rate)) if rate.get() >= kind.rate.get() => {}
                Some(one) => one.1 = kind.rate,
                None => all.push((&kind.name, kind.rate)),
            }
        }
        all
    }
}
