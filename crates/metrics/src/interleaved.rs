//! The environment facts by which a record of an interleaved comparison (`run A B --interleave`)
//! names its partner and the order of its blocks.
//!
//! They are stored among the environment's facts, so that every output shows them and older
//! versions can read the record. The pairs are analysed in `analysis::compare`.

use workload::interleave::ComparedSide;

/// The names of these facts begin with this.
const INTERLEAVED: &str = "interleaved.";
const PARTNER: &str = "interleaved.partner";
const SIDE: &str = "interleaved.side";
const ORDER: &str = "interleaved.order";

/// A record's part in an interleaved comparison. Runs of the two records with the same index form
/// one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interleaved {
    /// The ID of the other side's record, in the same store.
    pub partner: String,
    /// The side of this record.
    pub side: ComparedSide,
    /// `first[run index]`: the side that was measured first in that block.
    pub first: Vec<ComparedSide>,
}

impl Interleaved {
    /// Whether a fact of this name is stored for a comparison.
    pub fn is_about(name: &str) -> bool {
        name.starts_with(INTERLEAVED)
    }

    /// As stored, `(name, value)`.
    pub(crate) fn pairs(&self) -> Vec<(String, String)> {
        let order: String = self.first.iter().map(|side| side.label()).collect();
        vec![
            (ORDER.to_owned(), order),
            (PARTNER.to_owned(), self.partner.clone()),
            (SIDE.to_owned(), self.side.label().to_string()),
        ]
    }

    /// From stored facts; `None` if the record is not a side of an interleaved comparison.
    pub(crate) fn of(facts: &[(String, String)]) -> Option<Interleaved> {
        let value =
            |key: &str| facts.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
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
    fn the_facts_of_an_interleaved_record_parse_to_the_original() {
        let written = Interleaved {
            partner: "20261121-061500-oltp-3f2a".to_owned(),
            side: ComparedSide::B,
            first: vec![ComparedSide::B, ComparedSide::A, ComparedSide::A],
        };
        let facts = written.pairs();
        assert!(facts.iter().all(|(name, _)| Interleaved::is_about(name)));
        assert!(facts.is_sorted());
        assert_eq!(facts[0].1, "BAA");
        assert_eq!(Interleaved::of(&facts), Some(written));
        assert_eq!(Interleaved::of(&facts[1..]), None);
        assert_eq!(Interleaved::of(&[]), None);
    }
}
