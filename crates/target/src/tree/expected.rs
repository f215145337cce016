//! What a tree must contain, by the arithmetic of its operations.

use std::collections::BTreeSet;

use workload::names::{Expected, Name, NameClass, NameState, NameStream};

/// The steps of one lane that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneSteps {
    /// Every step before this one is done.
    pub prefix: u64,
    /// No step from this one on has begun. Of those between, each may be done.
    pub end: u64,
    /// Steps that failed: what they changed is not known.
    pub failed: Vec<u64>,
}

/// What a tree must contain.
#[derive(Debug)]
pub struct TreeState {
    stream: NameStream,
    lanes: Vec<LaneSteps>,
    /// Names that failed operations used.
    unknown: BTreeSet<Name>,
}

/// A [`TreeState`] that is prepared for looking up names.
pub(crate) struct Lookup<'a> {
    state: &'a TreeState,
    /// The names of each lane after its prefix, and at its end if that is later.
    lanes: Vec<(NameState<'a>, Option<NameState<'a>>)>,
}

/// What is expected of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It must not exist.
    Nothing,
    /// It must be this.
    Exactly(Expected),
    /// It must be one of these; `None` is that it does not exist.
    Either(Option<Expected>, Option<Expected>),
    /// Nothing is known of it, because an operation on it failed.
    Unknown,
}

impl TreeState {
    /// The tree before the first step of any lane.
    pub fn at_start(stream: NameStream) -> TreeState {
        let lanes = vec![LaneSteps::default(); stream.lanes() as usize];
        TreeState::after(stream, lanes)
    }

    /// The tree after these steps of each lane.
    pub fn after(stream: NameStream, lanes: Vec<LaneSteps>) -> TreeState {
        let failed = lanes
            .iter()
            .zip(0..)
            .flat_map(|(lane, number)| lane.failed.iter().map(move |step| (number, *step)));
        let unknown = failed
            .map(|(lane, step)| stream.op(lane, step))
            .flat_map(|op| [Some(op.name), op.other])
            .flatten()
            .filter(|name| name.class != NameClass::Directory)
            .collect();
        TreeState { stream, lanes, unknown }
    }

    /// The operations.
    pub fn stream(&self) -> &NameStream {
        &self.stream
    }

    pub(crate) fn lookup(&self) -> Lookup<'_> {
        let of = |(lane, steps): (u32, &LaneSteps)| {
            let later =
                (steps.end > steps.prefix).then(|| NameState::new(&self.stream, lane, steps.end));
            (NameState::new(&self.stream, lane, steps.prefix), later)
        };
        Lookup { state: self, lanes: (0..).zip(&self.lanes).map(of).collect() }
    }
}

impl Lookup<'_> {
    /// What is expected of a name.
    pub(crate) fn find(&self, name: Name) -> Wanted {
        if let Some(original) = self.state.stream.original(name) {
            return Wanted::Exactly(original);
        }
        if self.state.unknown.contains(&name) {
            return Wanted::Unknown;
        }
        let lane = self.state.stream.lane_of(name).and_then(|lane| self.lanes.get(lane as usize));
        let Some((first, last)) = lane else { return Wanted::Nothing };
        let found = first.find(name);
        match last.as_ref().map(|last| last.find(name)) {
            Some(later) if later != found => Wanted::Either(found, later),
            _ => found.map_or(Wanted::Nothing, Wanted::Exactly),
        }
    }

    /// The names that must exist. Originals, which links refer to, come first.
    pub(crate) fn names(&self) -> impl Iterator<Item = (Name, Expected)> + '_ {
        let originals = (0..self.state.stream.population().originals).filter_map(|number| {
            let name = Name { class: NameClass::Original, number };
            Some((name, self.state.stream.original(name)?))
        });
        let of_lanes = self.lanes.iter().flat_map(|(first, _)| first.names());
        let certain = of_lanes.filter(|(name, _)| matches!(self.find(*name), Wanted::Exactly(_)));
        originals.chain(certain)
    }

    /// How many names must exist, if no step is uncertain.
    pub(crate) fn count(&self) -> u64 {
        let of_lanes: u64 = self.lanes.iter().map(|(first, _)| first.count()).sum();
        self.state.stream.population().originals + of_lanes
    }
}
