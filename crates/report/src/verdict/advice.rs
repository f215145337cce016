//! What to do: recommendations for each limit, and the command that would tell more.

use analysis::Findings;
use analysis::curve::plateau::Inconclusive;
use analysis::tune::limit::least_quota;
use analysis::verdict::experiment::{Change, Experiment, fewer};
use analysis::verdict::{Answer, Gap, Limit, Verdict};
use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::volume_limit::NoQuota;
use units::{Bytes, BytesPerSec};

use crate::number::mib;

/// Recommendations of a verdict, the most helpful first; nothing where nothing is known.
pub(crate) fn advice(findings: &Findings, verdict: &Verdict) -> Vec<String> {
    match &verdict.answer {
        Answer::Limited { by, .. } => {
            by.iter().flat_map(|limit| of_limit(findings, verdict, *limit, by.len())).collect()
        }
        Answer::NotReached if !verdict.signature.closed => vec![
            "More throughput needs a higher offered rate; a closed loop (`run -p curve`) finds the \
             limit."
                .to_owned(),
        ],
        Answer::NotReached => vec![
            "More throughput needs more concurrency (throughput = outstanding operations / \
             latency) or lower latency: place the client nearer to the storage."
                .to_owned(),
        ],
        Answer::NotEnoughData(Gap::Cached) => vec![
            "Measure the storage instead of this host's memory: with direct I/O (the default, \
             without `--buffered`), or with files larger than memory."
                .to_owned(),
        ],
        Answer::NotEnoughData(_) => Vec::new(),
    }
}

/// The command that would tell more, in a sentence; nothing where the answer is known.
pub(crate) fn next_command(findings: &Findings, verdict: &Verdict) -> Option<String> {
    if verdict.answer == Answer::NotEnoughData(Gap::Cached) {
        return advice(findings, verdict).into_iter().next();
    }
    if !matches!(verdict.answer, Answer::NotEnoughData(_)) {
        return None;
    }
    let (why, arguments) = next_step(verdict)?;
    let command = &findings.repeat_command;
    // A flag or a key that the command has already would be given twice.
    let is_given = |word: &str| match word.split_once('=') {
        Some((key, _)) => command.contains(&format!("{key}=")),
        None => word.starts_with("--") && word != "--set" && command.contains(word),
    };
    Some(match arguments.split(' ').any(is_given) {
        _ if arguments.is_empty() => why,
        _ if findings.tune.is_some() => format!("To find out, {}", in_run("measure", &arguments)),
        true => format!("To find out, change the command: `{arguments}`."),
        false => format!("To find out: `{command} {arguments}`"),
    })
}

/// The next experiment of [`next_step`] in a sentence.
pub(crate) fn next_in_words(findings: &Findings, why: String, arguments: &str) -> String {
    match findings.tune.is_some() {
        _ if arguments.is_empty() => why,
        true => format!("{why} {}", in_run("Measure", arguments)),
        false => format!("{why} Add to the command: `{arguments}`"),
    }
}

/// `tune` chooses workers, queue depth and repeats itself, so it refuses such arguments.
fn in_run(measure: &str, arguments: &str) -> String {
    format!("{measure} the load with `fourcorners run` and `{arguments}`.")
}

/// The first advice for one of several limits, all of it for a single one.
fn of_limit(findings: &Findings, verdict: &Verdict, limit: Limit, count: usize) -> Vec<String> {
    let mut advice = match limit {
        Limit::VolumeThroughput => volume(findings, verdict),
        other if findings.load_points[verdict.top()].merged.total.is_on_names() => {
            on_names(other).iter().map(|sentence| (*sentence).to_owned()).collect()
        }
        other => words(other).iter().map(|sentence| (*sentence).to_owned()).collect(),
    };
    if count > 1 {
        advice.truncate(1);
    }
    advice
}

fn volume(findings: &Findings, verdict: &Verdict) -> Vec<String> {
    let mut advice = vec![
        "Raise the volume's quota or its service level (in a pool with manual QoS, the throughput \
         assigned to it)."
            .to_owned(),
    ];
    let top = &findings.load_points[verdict.top()];
    let throughput = top.merged.total.data.throughput.map(|throughput| 2.0 * throughput.value);
    if let (Some(emulated), Some(twice)) = (&findings.emulated, throughput) {
        let level = ServiceLevel::named(&emulated.volume.service_level.to_lowercase());
        let quota = Bytes::new(emulated.volume.quota_bytes);
        advice.splice(0..0, level.map(|level| twice_the_throughput(level, quota, twice)));
    }
    advice.push("More concurrency or connections only raise latency.".to_owned());
    advice
}

/// The quota for `twice_bytes_per_s`, or what to do if no quota reaches it.
fn twice_the_throughput(level: ServiceLevel, quota: Bytes, twice_bytes_per_s: f64) -> String {
    let catalog = Catalog::embedded();
    let kind = catalog.usual_kind(quota);
    let twice = format!("{} MiB/s", mib(twice_bytes_per_s));
    let least = |kind| least_quota(&catalog, level, kind, BytesPerSec::new(twice_bytes_per_s));
    let why = match least(kind) {
        Ok(quota) => {
            return format!("For twice the throughput ({twice}), raise the quota to {quota}.");
        }
        Err(why) => why,
    };
    let others = VolumeKind::ALL.into_iter().filter(|other| *other != kind);
    let other = others.filter_map(|other| Some((other, least(other).ok()?))).next();
    let instead = match other {
        _ if matches!(why, NoQuota::BoughtSeparately { .. }) => "Buy more for its pool.".to_owned(),
        Some((other, quota)) => {
            format!("Use several volumes, or a {} volume with a quota of {quota}.", other.name())
        }
        None => "Spread the load over several volumes.".to_owned(),
    };
    format!("No quota gives twice the throughput ({twice}): {why}. {instead}")
}

/// The words for operations on names, which have neither transfer size nor order.
const fn on_names(limit: Limit) -> &'static [&'static str] {
    match limit {
        Limit::ClientCpu => &[
            "Free processors of this host, use more workers where processors are idle, or more \
             hosts: the target may be capable of more.",
            "Until then the result describes this host, not the target.",
        ],
        Limit::ServerSlots => {
            &["Open more connections (`nconnect`): most servers have request slots for each \
             connection."]
        }
        Limit::ServerCpu => &[
            "Use a server with more processors, or spread the load over several.",
            "More concurrency only raises latency.",
        ],
        Limit::Disk => &[
            "Use more volumes, or a faster class of storage.",
            "More concurrency only raises latency.",
        ],
        Limit::OperationsPerSecond => {
            &["Spread the load over more volumes, if the limit is each volume's."]
        }
        other => words(other),
    }
}

const fn words(limit: Limit) -> &'static [&'static str] {
    match limit {
        Limit::VolumeThroughput => &[],
        Limit::Endpoint => &[
            "Put volumes on another address: a volume with its own endpoint, or in a peered \
             network with its own delegated subnet.",
            "More quota, connections or clients at the same address do not help.",
        ],
        Limit::NetworkFlow => &[
            "Spread the load over more connections: `nconnect=8` on the mount (`?nconnect=8` in an \
             `nfs://` target), SMB Multichannel, or Oracle dNFS.",
            "Or over more clients, each with its own connections.",
        ],
        Limit::VmEgress => &[
            "Use a larger VM size, which has a higher egress limit; more network interfaces do \
             not help.",
            "Or write from several VMs. Reads do not count against this limit.",
        ],
        Limit::Link => &[
            "Use a faster link, or several hosts if each has a separate one: headers and data use \
             the full bandwidth of this one.",
            "If it is slower than published, check that accelerated networking is on.",
        ],
        Limit::ClientCpu => &[
            "Free processors of this host, use more workers where processors are idle, larger \
             transfers, or more hosts: the target may be capable of more.",
            "Until then the result describes this host, not the target.",
        ],
        Limit::ClientSlots => &[
            "Raise the client's request slots: `slots=` in an `nfs://` target, \
             `sunrpc.tcp_max_slot_table_entries` on a mount.",
            "Or open more connections (`nconnect`): each has its own slots.",
        ],
        Limit::ServerSlots => &[
            "Open more connections (`nconnect`): most servers have request slots for each \
             connection.",
            "Or use larger transfers: each slot then moves more bytes.",
        ],
        Limit::ServerCpu => &[
            "Use larger transfers, or a server with more processors.",
            "More concurrency only raises latency.",
        ],
        Limit::Disk => &[
            "Use larger or sequential transfers, more volumes, or a faster class of storage.",
            "More concurrency only raises latency.",
        ],
        Limit::OperationsPerSecond => &[
            "Use larger transfers: each operation counts the same whatever its size.",
            "Or spread the load over more volumes, if the limit is each volume's.",
        ],
    }
}

/// Why the next experiment would tell more, and what to add to the command for it; an empty
/// addition where it takes more than that.
pub(crate) fn next_step(verdict: &Verdict) -> Option<(String, String)> {
    let added = |why: &str, arguments: String| Some((why.to_owned(), arguments));
    if let Answer::NotEnoughData(Gap::End(Inconclusive::BacklogStood(_))) = verdict.answer {
        // More slots are no more load.
        let why = "Lower offered rates show which one is met without waiting; a closed loop (`run -p \
                   curve`) finds the limit.";
        return added(why, String::new());
    }
    match verdict.next? {
        Experiment::MoreLoad { queue_depth, workers } => {
            let most = (queue_depth / u64::from(workers)).max(1);
            let rungs = std::iter::successors(Some(1u64), |depth| depth.checked_mul(4));
            let mut depths: Vec<String> =
                rungs.take_while(|depth| *depth < most).map(|depth| depth.to_string()).collect();
            depths.push(most.to_string());
            added(
                "More load shows where throughput stops rising.",
                format!("--set queue_depth={}", depths.join(",")),
            )
        }
        Experiment::Repeat => added(
            "Longer windows and repeats show whether the difference is real.",
            "--measure 30s --repeats 3".to_owned(),
        ),
        Experiment::Change { change, transfer_size, workers, volumes, hosts, own_client } => {
            let resized = |factor: f64| (transfer_size as f64 * factor).round();
            match change {
                Change::Connections if !own_client => added(
                    "More connections raise throughput only if each connection is the limit. On \
                     a mount their number is set when it is mounted: mount again with \
                     `nconnect=8`, or measure the export itself \
                     (`nfs://SERVER/EXPORT?nconnect=8`).",
                    String::new(),
                ),
                Change::Connections => added(
                    "More connections raise throughput only if each connection is the limit.",
                    "--set run.nconnect=1,4,16".to_owned(),
                ),
                Change::LargerTransfers => {
                    added(SIZES, format!("--set transfer_size={transfer_size},{}", resized(4.0)))
                }
                Change::SmallerTransfers => added(
                    SIZES,
                    format!("--set transfer_size={transfer_size},{}", resized(0.125).max(512.0)),
                ),
                Change::Order => added(
                    "A configured limit does not depend on the access pattern; the speed of \
                     storage does.",
                    "--set pattern=sequential,random".to_owned(),
                ),
                Change::Workers => added(
                    "More workers raise throughput only if one processor of this host is the \
                     limit.",
                    format!("--set workers={workers},{}", 2 * workers),
                ),
                Change::Mix | Change::Direction => added(
                    "A volume's limit counts reads and writes together, a link each direction \
                     separately, and a VM's egress limit only writes.",
                    "--set read=0%,50%,100%".to_owned(),
                ),
                Change::Volumes if volumes > 1 => added(
                    "Fewer volumes lower throughput if they are the limit, and not if their \
                     address or the hosts are.",
                    format!("--set run.targets={},{volumes}", fewer(volumes).unwrap_or(volumes)),
                ),
                Change::Hosts => added(
                    "Fewer hosts lower throughput if they, or the links of each, are the limit, \
                     and not if the storage is.",
                    format!("--set run.hosts={},{hosts}", fewer(hosts).unwrap_or(hosts)),
                ),
                Change::Volumes => added(
                    "A second volume at the same address raises the limit of the volumes but not \
                     that of the address: run the same load on both at the same time, and add \
                     the rates.",
                    String::new(),
                ),
            }
        }
    }
}

const SIZES: &str = "A limit on bytes per second does not depend on the transfer size; with a \
                     limit on operations, larger transfers move more bytes.";

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    #[test]
    fn operations_on_names_are_not_advised_to_use_larger_or_sequential_transfers() {
        for limit in Limit::ALL {
            let sentences = on_names(limit);
            assert!(!sentences.iter().any(|one| one.contains("transfers")), "{sentences:?}");
        }
    }

    #[test]
    fn twice_the_throughput_takes_the_least_quota_that_gives_it() {
        let ultra =
            |mib: f64| twice_the_throughput(ServiceLevel::Ultra, Bytes::gib(1 << 10), mib * MIB);
        // 256 x 1,024 KiB/s over 128 KiB/s per GiB.
        assert_eq!(ultra(256.0), "For twice the throughput (256 MiB/s), raise the quota to 2 TiB.");
        assert!(ultra(4500.0).starts_with("For twice the throughput"), "{}", ultra(4500.0));
    }

    #[test]
    fn no_quota_above_the_ceiling_of_the_volume_is_proposed() {
        for (level, gib, mib, expected) in [
            (
                ServiceLevel::Ultra,
                40 << 10,
                9000.0,
                "(9,000 MiB/s): a regular volume of ultra gets at most 4,500 MiB/s, whatever its \
                 quota. Use several volumes, or a large volume with a quota of 70.31 TiB.",
            ),
            (
                ServiceLevel::Ultra,
                200 << 10,
                25_600.0,
                "(25,600 MiB/s): a large volume of ultra gets at most 12,800 MiB/s, whatever its \
                 quota. Spread the load over several volumes.",
            ),
            (
                ServiceLevel::Flexible,
                1 << 10,
                256.0,
                "(256 MiB/s): the throughput of flexible is bought separately from the quota. Buy more \
                 for its pool.",
            ),
        ] {
            let found = twice_the_throughput(level, Bytes::gib(gib), mib * MIB);
            assert_eq!(found, format!("No quota gives twice the throughput {expected}"));
        }
    }
}
