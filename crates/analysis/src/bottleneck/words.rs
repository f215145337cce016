//! What was seen and what to change, in sentences with numbers.

use units::{Bytes, BytesPerSec, Nanos, OpsPerSec};

use super::groups::{Group, State};
use super::known::Known;
use super::{Candidate, Evidence, Experiment, Limit, judge, predict, scale};
use crate::warnings::BUSY_MAX;

/// What speaks for the answer, or what was seen at all.
pub(crate) fn evidence(limit: Limit, group: &Group, all: &[Group], known: &Known) -> Vec<Evidence> {
    let mut evidence = vec![shape(group)];
    let load_points = || vec![group.top().load_point];
    let mut add = |seen: String, load_points: Vec<usize>| {
        evidence.push(Evidence { seen, load_points });
    };
    if let Some(busy) = busy_as_well(limit, group, known) {
        add(busy, load_points());
    }
    if let Some(seen) = known_amount(limit, group, known) {
        add(seen, load_points());
    }
    for other in all {
        if let Some(seen) = compared(limit, group, other) {
            add(seen, vec![group.top().load_point, other.top().load_point]);
        }
    }
    if let Some(busy) = judge::busy(group, known).filter(|_| limit == Limit::ClientCpu) {
        add(
            format!("{:.0} % of the processors that the workers have are busy", 100.0 * busy),
            load_points(),
        );
    }
    if let Some((slots, _)) = judge::slots_in_use(group).filter(|_| limit == Limit::ServerSlots) {
        add(
            format!(
                "the rate is that of {slots:.0} calls at a time on each connection, each as fast \
                 as one alone"
            ),
            load_points(),
        );
    }
    let network = matches!(limit, Limit::NetworkFlow | Limit::VmEgress | Limit::Link);
    if let Some(share) = judge::waits_in_network(group).filter(|share| network && *share > 0.5) {
        add(
            format!(
                "{:.0} % of the time that operations wait is round-trip time of the network",
                100.0 * share.min(1.0)
            ),
            vec![group.points[0].load_point, group.last().load_point],
        );
    }
    let evenly =
        matches!(limit, Limit::VolumeThroughput | Limit::NetworkFlow | Limit::OperationsPerSecond);
    if let Some(dispersion) = group.top().dispersion.filter(|d| evenly && *d < judge::EVEN_MAX) {
        add(
            format!(
                "operations complete evenly, as a limit lets them pass: variance over mean of \
                 their counts is {dispersion:.3}, by chance it would be 1"
            ),
            load_points(),
        );
    }
    evidence
}

/// That this host is near a limit of its own where another is named: the warning of it would
/// otherwise contradict the answer.
fn busy_as_well(limit: Limit, group: &Group, known: &Known) -> Option<String> {
    let busy = judge::busy(group, known).filter(|busy| *busy > BUSY_MAX)?;
    (limit != Limit::ClientCpu).then(|| {
        format!(
            "{:.0} % of the processors that the workers have are busy as well, which speaks for \
             this host as the limit and is counted in the probabilities",
            100.0 * busy
        )
    })
}

/// The curve's shape in numbers.
fn shape(group: &Group) -> Evidence {
    let (first, top, last) = (group.points[0], group.top(), group.last());
    let rate = format!("{} ({})", OpsPerSec::new(top.rate), BytesPerSec::new(top.throughput));
    let asked = |depth: f64| match group.work.closed {
        true if depth < 1.5 => "1 operation at a time".to_owned(),
        true => format!("{depth:.0} operations at a time"),
        false => format!("{} offered", OpsPerSec::new(depth)),
    };
    let seen = match group.state {
        State::Flat if group.points.len() > 1 => {
            // From the first point that is in the flat part.
            let flat = group.points.iter().find(|point| point.rate >= 0.9 * group.level);
            let from = flat.filter(|from| from.depth < last.depth).unwrap_or(&first);
            format!(
                "flat at {rate}: from {} to {} the rate went {:.2} times as high, and the \
                 service time from {} to {}",
                asked(from.depth),
                asked(last.depth),
                last.rate / from.rate,
                Nanos(from.service_s * 1e9),
                Nanos(last.service_s * 1e9)
            )
        }
        State::Flat => format!(
            "{rate} with {}, each of which takes {} instead of {}",
            asked(top.depth),
            Nanos(top.service_s * 1e9),
            Nanos(group.floor_s.unwrap_or(top.service_s) * 1e9)
        ),
        State::Rising if !group.work.closed => {
            format!("every offered rate was met, the last {}", OpsPerSec::new(last.depth))
        }
        State::Rising => format!(
            "{rate} with {}: what {} for each operation allow, and more still gives more",
            asked(last.depth),
            Nanos(last.service_s * 1e9)
        ),
        State::Bent => {
            format!("{rate} with {}: the rate has bent, and is not flat yet", asked(last.depth))
        }
        State::Alone => {
            format!("{rate} with {}, and no other load point to hold it against", asked(top.depth))
        }
    };
    let mut load_points: Vec<usize> = group.points.iter().map(|p| p.load_point).collect();
    load_points.sort_unstable();
    Evidence { seen, load_points }
}

/// The ceiling beside the amount that is known.
fn known_amount(limit: Limit, group: &Group, known: &Known) -> Option<String> {
    let known = known.limit(limit)?;
    let share = |amount: f64| 100.0 * amount / known.value;
    let top = group.top();
    let by_bytes = |amount: f64, what: &str| {
        format!(
            "{} {what} are {:.1} % of the {} that {} gives",
            BytesPerSec::new(amount),
            share(amount),
            BytesPerSec::new(known.value),
            known.origin
        )
    };
    let level_bytes = group.level * group.work.transfer_bytes;
    match limit {
        Limit::VolumeThroughput | Limit::Endpoint => {
            Some(by_bytes(level_bytes, "of reads and writes together"))
        }
        Limit::NetworkFlow => {
            let connections = f64::from(group.work.connections.unwrap_or(1).max(1));
            Some(by_bytes(level_bytes / connections, "on each connection"))
        }
        Limit::VmEgress | Limit::Link => {
            let prediction = predict::prediction(limit, group, f64::INFINITY)?;
            let predict::Prediction::Amount(forms) = prediction else { return None };
            let sent = forms.first()?.need.exp() * group.level;
            Some(by_bytes(sent, "on the wire, headers included,"))
        }
        Limit::OperationsPerSecond => Some(format!(
            "{} are {:.1} % of the {} that {} gives",
            OpsPerSec::new(top.rate),
            share(group.level),
            OpsPerSec::new(known.value),
            known.origin
        )),
        _ => None,
    }
}

/// What another group says of the answer.
fn compared(limit: Limit, group: &Group, other: &Group) -> Option<String> {
    let (here, there) = (&group.work, &other.work);
    if std::ptr::eq(group, other) || group.state != State::Flat || other.state != State::Flat {
        return None;
    }
    let times = other.level / group.level;
    let same_kind = here.kind == there.kind;
    let factor = |a: u32, b: u32| f64::from(b.max(1)) / f64::from(a.max(1));
    match limit {
        Limit::NetworkFlow | Limit::ServerSlots if same_kind => {
            let connections = factor(here.connections?, there.connections?);
            (connections != 1.0).then(|| {
                format!(
                    "{} times the connections give {times:.2} times the rate",
                    number(connections)
                )
            })
        }
        Limit::ClientCpu if same_kind => {
            let workers = factor(here.workers, there.workers);
            (workers != 1.0).then(|| {
                format!("{} times the workers give {times:.2} times the rate", number(workers))
            })
        }
        Limit::VolumeThroughput | Limit::Endpoint | Limit::OperationsPerSecond => {
            let size = there.transfer_bytes / here.transfer_bytes;
            let reads = there.read_share - here.read_share;
            let differs = (size - 1.0).abs() > 0.01 || reads.abs() > 0.01;
            let bytes = other.top().throughput / group.top().throughput;
            let (what, unit) = match limit {
                Limit::OperationsPerSecond => (times, "operations per second"),
                _ => (bytes, "bytes per second"),
            };
            (differs && (what - 1.0).abs() < 0.05)
                .then(|| format!("{} has the same {unit} ({what:.3} times)", other.name))
        }
        Limit::VmEgress => (there.read_share > here.read_share && times > 1.1)
            .then(|| format!("{} reaches {times:.2} times as much", other.name)),
        _ => None,
    }
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// What to change: the white paper's section 11, with the arithmetic where its numbers are known.
pub(crate) fn remedy(limit: Limit, group: &Group, known: &Known) -> Vec<String> {
    let words: &[&str] = match limit {
        Limit::VolumeThroughput => {
            let mut remedy = vec![
                "Give the volume a larger quota, or a higher service level: throughput limit = \
                 quota x MiB/s per TiB of the level (in a manual QoS pool, the throughput that is \
                 assigned)."
                    .to_owned(),
            ];
            if let Some(per_quota) = known.throughput_per_quota {
                let quota = Bytes::new((2.0 * group.top().throughput / per_quota).round() as u64);
                remedy.push(format!(
                    "Twice this, {}, wants a quota of {quota} at this level.",
                    BytesPerSec::new(2.0 * group.top().throughput)
                ));
            }
            remedy.push("More concurrency or connections only lengthen the response time.".into());
            return remedy;
        }
        Limit::NetworkFlow => &[
            "Spread the load over more connections: `nconnect=8` on the mount (`?nconnect=8` in an \
             `nfs://` target), SMB Multichannel, or Oracle dNFS.",
            "Or over more clients, each with connections of its own.",
        ],
        Limit::Endpoint => &[
            "Put volumes on another address: a volume of its own endpoint, or in a peered network \
             with a delegated subnet of its own.",
            "Quota, connections and clients at the same address give nothing more.",
        ],
        Limit::VmEgress => &[
            "Take a larger VM size: what a VM may send grows with its size; more network \
             interfaces do not help.",
            "Or write from several VMs. Reads are not bounded by this.",
        ],
        Limit::Link => &[
            "Take a faster link, or use several hosts: headers and data fill this one.",
            "Check that accelerated networking is on, if the speed is below the published one.",
        ],
        Limit::ClientCpu => &[
            "Use more workers where processors are idle, larger transfers, or more hosts: the \
             target may be able to do more.",
            "Until then this is a figure of this host, not of the target.",
        ],
        Limit::ServerSlots => &[
            "Open more connections (`nconnect`): each has requests of its own.",
            "Where the client's table is smaller than the server's, raise it: \
             `sunrpc.tcp_max_slot_table_entries` up to 128 on a mount, `slots=` in an `nfs://` \
             target.",
        ],
        Limit::Disk => &[
            "The storage does this much of this kind of operation: larger or sequential transfers, \
             more volumes, or a faster class of storage give more.",
            "More outstanding operations only wait longer.",
        ],
        Limit::OperationsPerSecond => &[
            "Use larger transfers: each operation counts the same whatever its size.",
            "Or spread over more volumes, if the limit is each volume's.",
        ],
        Limit::NotReached => &[
            "Ask for more at a time: rate = outstanding operations / response time (Little's \
             law).",
            "Or shorten the response time: place the client nearer to the storage.",
        ],
        Limit::Unknown => &[
            "Do the experiment that tells the candidates apart, let `run --explain` do it and what \
             follows from it, or say what you know beforehand, such as the volume's quota and \
             level (`--known volume=1TiB:premium`).",
        ],
    };
    words.iter().map(|sentence| (*sentence).to_owned()).collect()
}

/// What to change where a cache answered.
pub(crate) fn past_the_cache() -> Vec<String> {
    vec![
        "Measure the storage instead of this host's memory: with direct I/O (the default, without \
         `--buffered`), or with files that are larger than the memory."
            .to_owned(),
    ]
}

/// What would tell the candidates apart, where the answer is open.
pub(crate) fn experiment(
    limit: Limit,
    candidates: &[Candidate],
    group: &Group,
    known: &Known,
) -> Option<Experiment> {
    match limit {
        Limit::Unknown => scale::experiment(group, candidates, known.own_client),
        _ => None,
    }
}
