//! What a controller asks its agents to do, and their answers, as JSON. Both ends have the same version of
//! the program, so the documents have none.

use std::time::Duration;

use analysis::host_check::{Facts, RoundTrip, RoundTripSource};
use serde::{Deserialize, Serialize};
use units::BytesPerSec;

use crate::check;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// Read the facts that `check` judges.
    Facts {
        target: Option<String>,
        option: Vec<String>,
        target_rate_bytes_per_s: Option<f64>,
        round_trip_ns: Option<u64>,
    },
}

/// The answer to [`Request::Facts`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct HostFacts {
    facts: Vec<(String, String)>,
    round_trip: Option<Measured>,
}

/// A round-trip time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Source {
    Given,
    Connects { count: usize, address: String },
    GetattrMean { calls: u64 },
}

impl Request {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a request is numbers, texts and lists")
    }

    pub(super) fn of_check(options: &check::Options) -> Request {
        Request::Facts {
            target: options.target.clone(),
            option: options.option.clone(),
            target_rate_bytes_per_s: options.target_rate.map(BytesPerSec::get),
            round_trip_ns: options.round_trip.map(|time| time.as_nanos() as u64),
        }
    }

    /// The options of the check that it requests.
    pub(super) fn check_options(self) -> check::Options {
        let Request::Facts { target, option, target_rate_bytes_per_s, round_trip_ns } = self;
        check::Options {
            target,
            option,
            target_rate: target_rate_bytes_per_s.map(BytesPerSec::new),
            round_trip: round_trip_ns.map(Duration::from_nanos),
            root: None,
        }
    }
}

impl HostFacts {
    pub(super) fn of(checked: check::Checked) -> HostFacts {
        let round_trip = checked.options.round_trip.map(|time| Measured {
            seconds: time.seconds,
            source: match time.source {
                RoundTripSource::Given => Source::Given,
                RoundTripSource::Connects { count, address } => Source::Connects { count, address },
                RoundTripSource::GetattrMean { calls } => Source::GetattrMean { calls },
            },
        });
        HostFacts { facts: checked.facts.0, round_trip }
    }

    pub(super) fn into_parts(self) -> (Facts, Option<RoundTrip>) {
        let round_trip = self.round_trip.map(|time| RoundTrip {
            seconds: time.seconds,
            source: match time.source {
                Source::Given => RoundTripSource::Given,
                Source::Connects { count, address } => RoundTripSource::Connects { count, address },
                Source::GetattrMean { calls } => RoundTripSource::GetattrMean { calls },
            },
        });
        (Facts(self.facts), round_trip)
    }
}
