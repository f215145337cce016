//! Why something is not possible: which constraint, how much is wanted, how much there is.

use cloud::reason::RowRef;

use crate::claim::ClaimKind;
use crate::need::PERMILLE;

/// What a design ran against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constraint {
    /// More volumes than may be made.
    VolumeCount,
    /// More or larger pools than may be made.
    PoolCount,
    /// What the given hosts can send.
    Egress,
    /// What the given hosts' connections carry.
    Connections,
    /// What the volumes' addresses give.
    Endpoints,
    /// What an address lets be outstanding.
    Outstanding,
    /// What the hosts can do.
    Hosts,
    /// How long operations take.
    ResponseTime,
}

impl Constraint {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Constraint::VolumeCount => "number of volumes",
            Constraint::PoolCount => "number and size of pools",
            Constraint::Egress => "VM egress",
            Constraint::Connections => "connections of the hosts",
            Constraint::Endpoints => "throughput of an endpoint",
            Constraint::Outstanding => "requests outstanding at an endpoint",
            Constraint::Hosts => "what the hosts can do",
            Constraint::ResponseTime => "response time",
        }
    }

    /// What its number rests on, unless the shortfall knows more.
    pub const fn kind(self) -> ClaimKind {
        match self {
            Constraint::VolumeCount
            | Constraint::PoolCount
            | Constraint::Egress
            | Constraint::Outstanding => ClaimKind::DocumentedLimit,
            Constraint::Connections
            | Constraint::Endpoints
            | Constraint::Hosts
            | Constraint::ResponseTime => ClaimKind::Derived,
        }
    }
}

/// A constraint that a design does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// Which.
    pub constraint: Constraint,
    /// What its number rests on.
    pub kind: ClaimKind,
    /// What was tried: `premium, auto QoS, regular volumes`.
    pub tried: String,
    /// The arithmetic, with what is wanted and what there is.
    pub text: String,
    /// What is wanted, in the constraint's unit.
    pub wanted: u64,
    /// The most that there is, in the same unit.
    pub most: u64,
    /// The facts in it.
    pub rows: Vec<RowRef>,
}

impl Shortfall {
    /// What is missing, as thousandths of what is wanted.
    pub fn lack_permille(&self) -> u64 {
        let lack = u128::from(self.wanted.saturating_sub(self.most)) * u128::from(PERMILLE);
        u64::try_from(lack / u128::from(self.wanted.max(1))).unwrap_or(PERMILLE)
    }
}
