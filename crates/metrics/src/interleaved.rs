//! How a record of one side of an interleaved comparison (`run A B --interleave`) names its partner
//! and the order of its blocks.
//!
//! For: pairing the runs of two records. It is kept among the facts of the environment, so that
//! every output shows it and older versions read the record. Not for: the analysis of the pairs
//! (`analysis::compare`).

use workload::interleave::ComparedSide;

/// Leading part of the names of these facts.
pub const INTERLEAVED: &str = "interleaved.";
const PARTNER: &str = "interleaved.partner";
const SIDE: &str = "interleaved.side";
const ORDER: &str = "interleaved.order";

/// What a record knows of the comparison it is one side of. Runs of the two records with the same
/// index are one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interleaved {
    /// The ID of the other side's record, in the same store.
    pub partner: String,
    /// Which side this record is.
    pub side: ComparedSide,
    /// `first[run index]`: the side that was measured first in that block.
    pub first: Vec<ComparedSide>,
}

impl Interleaved {
    /// As facts of the environment, `(name, value)`.
    pub fn facts(&self) -> Vec<(String, String)> {
        let order: String = self.first.iter().map(|side| side.label()).collect();
        vec![
            (ORDER.to_owned(), order),
            (PARTNER.to_owned(), self.partner.clone()),
            (SIDE.to_owned(), self.side.label().to_string()),
        ]
    }

    /// From the facts of a record; `None` where it is no side of an interleaved comparison.
    pub fn of(environment: &[(String, String)]) -> Option<Interleaved> {
        let value = |wanted: &str| {
            environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        Some(Interleaved {
            partner: value(PARTNER)?.to_owned(),
            side: ComparedSide::labelled(value(SIDE)?.chars().next()?)?,
            first: value(ORDER)?.chars().map(ComparedSide::labelled).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_an_interleaved_record_read_back_as_they_were_written() {
        let written = Interleaved {
            partner: "20261121-061500-oltp-3f2a".to_owned(),
            side: ComparedSide::B,
            first: vec![ComparedSide::B, ComparedSide::A, ComparedSide::A],
        };
        let facts = written.facts();
        assert!(facts.iter().all(|(name, _)| name.starts_with(INTERLEAVED)));
        assert!(facts.is_sorted());
        assert_eq!(facts[0].1, "BAA");
        assert_eq!(Interleaved::of(&facts), Some(written));
        assert_eq!(Interleaved::of(&facts[1..]), None);
        assert_eq!(Interleaved::of(&[]), None);
    }
}
