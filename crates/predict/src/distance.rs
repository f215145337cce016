//! How far a published figure is from a configuration: a sum over what differs.
//!
//! The weights are a judgement, not a measurement: a doubling of anything counts a half, what a
//! source does not say counts one, another kind of thing counts more. They order figures, and
//! intervals of predictions grow with the distance to the nearest figure; how fast is fitted
//! ([`crate::spread`]). `docs/method.md`, section Expectations, has them.

use cloud::figure::{Figure, Mix};
use cloud::row::Status;
use cloud::service_level::VolumeKind;
use units::Bytes;

use crate::expect::{
    Configuration, endpoints_of, hosts_of, is_esxi, is_of_endpoint, read_of, size_of,
};

/// Of each doubling.
const DOUBLING: f64 = 0.5;
/// Of something that the source does not say.
const NOT_STATED: f64 = 1.0;
/// Of another protocol: nothing else makes up for it.
const PROTOCOL: f64 = 16.0;
/// Of random instead of sequential.
const PATTERN: f64 = 6.0;
/// Of all reads instead of all writes.
const MIX: f64 = 6.0;
/// Of VMware's client instead of Linux's.
const CLIENT: f64 = 4.0;
/// Of another kind of volume.
const KIND: f64 = 3.0;
/// Of machines of another size that have as many processors.
const SIZE: f64 = 0.2;
/// Of a year.
const YEAR: f64 = 0.05;
/// Of caching that was let take part.
const CACHING: f64 = 0.5;
/// Of a figure that a newer one has taken the place of.
const SUPERSEDED: f64 = 0.5;

/// What differs, in words, and what it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What: `connections`.
    pub field: &'static str,
    /// What the figure has, and what the configuration has.
    pub words: String,
    /// What it counts.
    pub weight: f64,
}

impl Difference {
    /// Whether the model can weigh it; what it cannot is a word to the reader and no factor.
    pub fn is_modelled(&self) -> bool {
        !["protocol", "caching", "age", "superseded"].contains(&self.field)
    }
}

/// All differences, in a fixed order.
pub(crate) fn differences(mine: &Configuration, figure: &Figure, year: u64) -> Vec<Difference> {
    let mut all = Vec::new();
    each(mine, figure, &mut |field, weight, words| {
        all.push(Difference { field, words: words(), weight });
    });
    let mut add = |field, weight: f64, words: String| {
        if weight > 0.0 {
            all.push(Difference { field, words, weight });
        }
    };
    match figure.caching {
        Some(true) => add("caching", CACHING, "caches took part".to_owned()),
        Some(false) => {}
        None => add("caching", CACHING / 2.0, "caching is not stated".to_owned()),
    }
    let then: u64 = figure.origin.date.get(..4).and_then(|y| y.parse().ok()).unwrap_or(year);
    let age = year.saturating_sub(then);
    add("age", YEAR * age as f64, format!("of {then}, {age} years old"));
    if figure.origin.status == Status::Superseded {
        add("superseded", SUPERSEDED, "a newer figure has taken its place".to_owned());
    }
    all
}

/// How far a configuration is from the nearest of some figures, by the configurations alone:
/// neither age nor caching counts. `None` where there are none.
pub(crate) fn to_nearest<'a>(
    mine: &Configuration,
    figures: impl Iterator<Item = &'a Figure>,
) -> Option<f64> {
    let of = |figure: &Figure| {
        let mut sum = 0.0;
        each(mine, figure, &mut |_, weight, _| sum += weight);
        sum
    };
    figures.map(of).min_by(f64::total_cmp)
}

/// What takes a difference: its field, what it counts, and its words.
type Add<'f> = dyn FnMut(&'static str, f64, &dyn Fn() -> String) + 'f;

/// Every difference between a configuration and that of a figure.
fn each(mine: &Configuration, figure: &Figure, add: &mut Add<'_>) {
    let mut add = |field, weight: f64, words: &dyn Fn() -> String| {
        if weight > 0.0 {
            add(field, weight, words);
        }
    };
    if figure.protocol != mine.protocol {
        let words = || format!("{}, not {}", figure.protocol.name(), mine.protocol.name());
        add("protocol", PROTOCOL, &words);
    }
    if let Some(pattern) = figure.pattern.filter(|pattern| *pattern != mine.access) {
        let words = || format!("{}, not {}", pattern.name(), mine.access.name());
        add("pattern", PATTERN, &words);
    }
    match (read_of(figure), figure.read) {
        (Some(read), _) => {
            let words = || format!("{} of reads, not {}", percent(read), percent(mine.read));
            add("read", MIX * (read - mine.read).abs(), &words);
        }
        (None, Mix::Peak) => add("read", NOT_STATED, &|| "the best share of reads".to_owned()),
        (None, Mix::Average) => {
            add("read", NOT_STATED, &|| "a mean over shares of reads".to_owned())
        }
        (None, _) => add("read", NOT_STATED, &|| "the share of reads is not stated".to_owned()),
    }
    match figure.transfer_bytes {
        Some(bytes) => {
            let own = Bytes::new(mine.transfer_bytes);
            let words = || format!("transfers of {}, not {own}", Bytes::new(bytes));
            add("transfer_size", doublings(bytes, mine.transfer_bytes), &words);
        }
        None => add("transfer_size", NOT_STATED, &|| "the transfer size is not stated".to_owned()),
    }
    if is_esxi(figure) != mine.esxi {
        let name = |esxi| if esxi { "VMware's client" } else { "Linux's client" };
        add("client", CLIENT, &|| format!("{}, not {}", name(!mine.esxi), name(mine.esxi)));
    }
    hosts(mine, figure, &mut add);
    match (figure.nconnect.filter(|_| !is_esxi(figure)), mine.esxi) {
        (_, true) => {}
        (Some(nconnect), false) => {
            let words = || format!("nconnect {nconnect}, not {}", mine.nconnect);
            add("nconnect", doublings(nconnect, mine.nconnect), &words);
        }
        (None, false) if is_esxi(figure) => {}
        (None, false) => add("nconnect", NOT_STATED, &|| "nconnect is not stated".to_owned()),
    }
    match is_of_endpoint(figure) {
        true => add("volume", NOT_STATED, &|| "of an endpoint, whatever its volumes".to_owned()),
        false => {
            let kind = figure.volume.unwrap_or(VolumeKind::Regular);
            if kind != mine.kind {
                let words = || format!("a {} volume, not a {} one", kind.name(), mine.kind.name());
                add("volume", KIND, &words);
            }
            let words = || format!("{} volumes, not {}", figure.volumes, mine.volumes);
            add("volumes", doublings(figure.volumes, mine.volumes), &words);
            let endpoints = endpoints_of(figure);
            let words = || format!("{endpoints} endpoints, not {}", mine.endpoints);
            add("endpoints", doublings(endpoints, mine.endpoints), &words);
        }
    }
}

fn hosts(
    mine: &Configuration,
    figure: &Figure,
    add: &mut impl FnMut(&'static str, f64, &dyn Fn() -> String),
) {
    match hosts_of(figure) {
        Some(hosts) => {
            let words = || format!("{hosts} hosts, not {}", mine.hosts);
            add("hosts", doublings(hosts, mine.hosts), &words);
        }
        None => add("hosts", NOT_STATED, &|| "the number of hosts is not stated".to_owned()),
    }
    if mine.esxi || is_esxi(figure) {
        return;
    }
    let name = mine.vm.as_ref().map(|own| own.name.as_str());
    match (size_of(figure), mine.vcpu) {
        (Some(size), Some(own)) if name != Some(size.name.as_str()) => {
            let words = || match name {
                Some(name) => format!("{}, not {name}", size.name),
                None => format!("{}, not {own} processors", size.name),
            };
            add("vm", SIZE + doublings(size.vcpu, own), &words);
        }
        (None, Some(_)) => add("vm", NOT_STATED, &|| "the VM size is not stated".to_owned()),
        (Some(_), _) | (None, None) => {}
    }
}

fn doublings(one: u64, other: u64) -> f64 {
    DOUBLING * (one.max(1) as f64 / other.max(1) as f64).log2().abs()
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
