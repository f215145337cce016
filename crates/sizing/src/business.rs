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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, numbers: [f64; 3], is_counted: bool) -> KindDemand {
        let [rate, reads, writes] = numbers;
        KindDemand {
            name: name.to_owned(),
            rate: OpsPerSec::new(rate),
            reads: BytesPerSec::new(reads),
            writes: BytesPerSec::new(writes),
            is_counted,
        }
    }

    fn variant(name: &str, kinds: Vec<KindDemand>) -> VariantDemand {
        VariantDemand { name: name.to_owned(), kinds }
    }

    /// Of the second variant the bytes are more, and the largest of either direction is less.
    fn demand() -> BusinessDemand {
        let copy = kind("copy", [3.0, 20.0, 30.0], true);
        let frontend =
            vec![copy, kind("stat", [7.0, 0.0, 0.0], true), kind("lock", [2.0; 3], false)];
        let backend = vec![
            kind("read", [4.0, 50.0, 0.0], true),
            kind("lock", [5.0, 0.0, 0.0], false),
            kind("watch", [1.0, 0.0, 6.0], false),
        ];
        BusinessDemand {
            profile: "p".to_owned(),
            is_built_in: true,
            units: 1,
            metric: "users".to_owned(),
            variants: vec![variant("frontend", frontend), variant("backend", backend)],
            unit_capacity: None,
            unit_inodes: None,
            percentile_max: None,
        }
    }

    #[test]
    fn a_variant_adds_its_kinds_and_those_without_bytes_are_on_names() {
        let demand = demand();
        let totals = demand.variants[0].totals();
        let totals = (totals.0.get(), totals.1.get(), totals.2.get());
        assert_eq!(totals, (12.0, 22.0, 32.0));
        assert_eq!(demand.variants[0].kinds[0].bytes().get(), 50.0);
        let on_names = demand.variants.iter().map(|one| one.on_names().get());
        assert_eq!(on_names.collect::<Vec<_>>(), [7.0, 5.0]);
    }

    #[test]
    fn the_largest_variant_has_most_bytes_read_and_written_together() {
        let largest = |numbers: [[f64; 3]; 2]| {
            let [first, second] = numbers.map(|one| vec![kind("copy", one, true)]);
            let variants = vec![variant("first", first), variant("second", second)];
            BusinessDemand { variants, ..demand() }.largest().map(|one| one.name.clone())
        };
        // By their sum 9 and 8, by their difference 1 and 8, by their product 20 and 0.
        assert_eq!(largest([[1.0, 5.0, 4.0], [1.0, 8.0, 0.0]]).as_deref(), Some("first"));
        // By their sum 9 and 10, by their product 20 and 9.
        assert_eq!(largest([[9.0, 5.0, 4.0], [1.0, 9.0, 1.0]]).as_deref(), Some("second"));
        assert_eq!(BusinessDemand { variants: Vec::new(), ..demand() }.largest(), None);
    }

    #[test]
    fn a_kind_that_is_not_counted_is_listed_once_with_its_largest_rate() {
        let mut demand = demand();
        let expected = [("lock", 5.0), ("watch", 1.0)];
        for _ in 0..2 {
            let all = demand.not_counted();
            let all: Vec<_> = all.iter().map(|(name, rate)| (*name, rate.get())).collect();
            assert_eq!(all, expected);
            assert_eq!(demand.not_counted_rate().get(), 6.0);
            // In the other order of variants the larger rate comes first.
            let (first, rest) = demand.variants.split_at_mut(1);
            let (first, second) = (&mut first[0].kinds, &mut rest[0].kinds);
            std::mem::swap(&mut first[2].rate, &mut second[1].rate);
        }
    }
}
