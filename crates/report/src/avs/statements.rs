//! The sentences of a sizing for Azure VMware Solution: arithmetic, shortages, assumptions,
//! warnings.

use sizing::avs::class_load::{ClassLoad, Each, Rate};
use sizing::avs::profile_text::decimal;
use sizing::avs::ratio::RatioSource;
use sizing::avs::statement::{
    Assumption, Capacity, EachLoad, LoadRate, Reason, SpreadOps, SpreadThroughput, Statement,
    VsanUsable, Warning,
};
use units::{Bytes, BytesPerSec, Share, counted, thousands};

use crate::model::words::resource_label;
use crate::sheet;

/// A reason in the form that sheets list.
pub(super) fn reason(of: &Reason) -> sheet::Reason {
    sheet::Reason { text: text(of), rows: of.rows.clone() }
}

const fn ratio_source(of: RatioSource) -> &'static str {
    match of {
        RatioSource::Given => "--vcpus-per-core",
        RatioSource::Hosts => "sheet vHost",
        RatioSource::HostMean => "mean over the sheet vHost",
        RatioSource::RunningMachines => "running machines and the sheet vCluster",
    }
}

/// One line of arithmetic, or a shortage, without a full stop.
pub(super) fn text(of: &Reason) -> String {
    match &of.statement {
        Statement::HostsByProcessors { vcpus, ratio, cores, hosts } => format!(
            "{} vCPUs / ({} vCPUs on {} cores x {cores} cores per host) = {} ({})",
            thousands(*vcpus),
            thousands(ratio.vcpus),
            thousands(ratio.cores),
            counted(*hosts, "host"),
            ratio_source(ratio.source)
        ),
        Statement::ProcessorsUnknown { vcpus } => format!(
            "{} vCPUs: the number per core is unknown, so processors are not considered",
            thousands(*vcpus)
        ),
        Statement::HostsByMemory { memory, each, hosts } => {
            format!("{memory} / {each} per host = {}", counted(*hosts, "host"))
        }
        Statement::HostsByStorage { stored, each, hosts, usable } => format!(
            "{stored} / {each} of vSAN per host = {} ({})",
            counted(*hosts, "host"),
            vsan_usable(usable)
        ),
        Statement::SmallestCluster { hosts, policy, hosts_of_policy } => format!(
            "a cluster has at least {hosts} hosts; with storage policy {policy} at least \
             {hosts_of_policy}"
        ),
        Statement::SpareHosts { busy, spare, cluster_max, hosts } => match spare {
            0 => format!("{} for processors and memory, none spare", counted(*hosts, "host")),
            spare => format!(
                "{} for processors and memory, and {spare} spare (in each cluster of at most \
                 {cluster_max} hosts) = {}",
                counted(*busy, "host"),
                counted(*hosts, "host")
            ),
        },
        Statement::LargestOf { candidates, hosts, spare } => largest_of(candidates, *hosts, *spare),
        Statement::HostsOfCloud { hosts, excess } => format!(
            "{} hosts are {} more than a private cloud can have",
            thousands(*hosts),
            thousands(*excess)
        ),
        Statement::FewHosts { hosts, missing } => format!("{hosts} hosts are {missing} too few"),
        Statement::OnVsan { hosts, usable, machines, stored } => format!(
            "vSAN of {} has {usable}: {} with the least load for their size, {stored} together, stay \
             there",
            counted(*hosts, "host"),
            counted(*machines, "machine")
        ),
        Statement::AllOnVsan => {
            "vSAN of the hosts required by processors and memory holds everything".to_owned()
        }
        Statement::ManyDatastores { datastores, default } => {
            format!("{datastores} datastores: more than {default} require a support request")
        }
        Statement::FewDatastores { datastores, missing } => {
            format!("{datastores} datastores are {missing} too few for the load")
        }
        Statement::RecommendedDatastores { recommended } => format!(
            "at least {recommended} datastores: each adds a connection per host, and in published \
             tests four carried more than one"
        ),
        Statement::AsManyAsMachines { level, machines } => {
            format!("{level}: no more datastores than machines, {machines}")
        }
        Statement::LargeMachine { stored, excess } => {
            format!("a machine stores {stored}, {excess} more than a datastore can hold")
        }
        Statement::BusyMachine { level, mib_per_s, excess } => format!(
            "a machine needs {} MiB/s, {} MiB/s more than a {level} volume provides",
            thousands(*mib_per_s),
            thousands(*excess)
        ),
        Statement::DatastoresRequired { level, required, allowed } => format!(
            "capacity and throughput require at least {} {level} datastores; {} are allowed",
            thousands(*required),
            thousands(*allowed)
        ),
        Statement::Placement { level, datastores, stored, headroom, load } => {
            let load = load.map_or(String::new(), |(busiest, bound)| {
                format!("; the busiest moves {} (lower bound {})", mib(busiest), mib(bound))
            });
            format!(
                "{level}: {}; the fullest stores {} (lower bound {}), plus {headroom} for snapshots{load}",
                counted(*datastores, "datastore"),
                stored.0,
                stored.1
            )
        }
        Statement::Carried { load, hosts, datastores, capacity, endpoints } => {
            let endpoints = match endpoints {
                1 => String::new(),
                several => format!(
                    "; they must be on {several} storage endpoints, which the service assigns"
                ),
            };
            format!(
                "{} from {}: {} can carry {}{endpoints}",
                rate(*load),
                counted(*hosts, "host"),
                counted(*datastores, "datastore"),
                predicted(capacity)
            )
        }
        Statement::NotCarried { load, hosts, excess, capacity } => format!(
            "{} from {}: {} more than {}",
            rate(*load),
            counted(*hosts, "host"),
            rate(*excess),
            predicted(capacity)
        ),
        Statement::Unpredictable(error) => error.to_string(),
        Statement::Pool { level, quotas_gib, throughput, rate, gib_for_throughput, size_gib } => {
            let by = if gib_for_throughput > quotas_gib { "throughput" } else { "capacity" };
            format!(
                "{level}: quotas of {} GiB; {throughput} / {rate:#} = {} GiB; pool size {} TiB, set by \
                 {by}",
                thousands(*quotas_gib),
                thousands(*gib_for_throughput),
                thousands(size_gib / 1024)
            )
        }
        Statement::LargePool { level, size_gib, excess_gib } => format!(
            "a {level} pool of {} TiB is {} TiB larger than the largest",
            thousands(size_gib / 1024),
            thousands(excess_gib / 1024)
        ),
        Statement::PoolPrice { size_gib, price, above_baseline, hours, month } => {
            let above = above_baseline.map_or(String::new(), |(mib_per_s, price)| {
                format!(
                    " + {} MiB/s above the baseline x {} per MiB/s and hour x {hours} h",
                    thousands(mib_per_s),
                    price.exact()
                )
            });
            let (gib, price) = (thousands(*size_gib), price.exact());
            format!("{gib} GiB x {price} per GiB and hour x {hours} h{above} = {month} per month")
        }
        Statement::Spread { ops, throughput } => spread(*ops, *throughput),
        Statement::RawDevice => {
            "a raw device cannot be on a datastore: mount the volume in the guest".to_owned()
        }
        Statement::LargeDisk { size, most } => {
            format!("{size} is larger than the largest file, {most}")
        }
        Statement::ClassLoad { class, load, built_in } => {
            let source = built_in
                .as_ref()
                .map_or(String::new(), |(about, arithmetic)| format!(" ({about}; {arithmetic})"));
            format!("{class}: {}{source}", class_load(load))
        }
    }
}

/// `15,200 GB raw x 1/2 for RAID-1 x 75 % usable`
fn vsan_usable(of: &VsanUsable) -> String {
    let (raw, policy) = (thousands(of.raw_gb), &of.policy);
    let mut text =
        format!("{raw} GB raw x {}/{} for {policy} x {} usable", of.data, of.parts, of.used);
    if of.format > Share::ZERO {
        text.push_str(&format!(" less {} for the on-disk format", of.format));
    }
    if of.saving != Share::WHOLE {
        text.push_str(&format!(" x {} data reduction", decimal(of.saving.permille())));
    }
    text
}

fn largest_of(candidates: &[u64; 3], hosts: u64, spare: u64) -> String {
    let shown = candidates.map(thousands).join(", ");
    let with_spare = match candidates.iter().max() {
        Some(most) if hosts > *most => format!(", with spare hosts {}", thousands(hosts)),
        _ => String::new(),
    };
    let spare = match spare {
        0 => String::new(),
        spare => format!("; {} of {} spare", thousands(spare), thousands(hosts)),
    };
    format!("the largest of {shown} hosts{with_spare}{spare}")
}

/// `74,505 IOPS of 8 KiB (predicted; bottleneck: connections)`
fn predicted(of: &Capacity) -> String {
    format!("{} (predicted; bottleneck: {})", rate(of.load), resource_label(&of.bottleneck))
}

fn rate(of: LoadRate) -> String {
    let whole = |rate: f64| thousands(rate.ceil() as u64);
    match of {
        LoadRate::Operations { rate, transfer } => {
            format!("{} IOPS of {transfer}", whole(rate.get()))
        }
        LoadRate::Throughput(rate) => format!("{} MiB/s", whole(rate.as_mib())),
    }
}

fn spread(ops: Option<SpreadOps>, throughput: Option<SpreadThroughput>) -> String {
    let mut parts = Vec::new();
    if let Some(SpreadOps { ops, each, most }) = ops {
        let datastores = ops.div_ceil(each);
        let (shown, each) = (thousands(ops), thousands(each));
        parts.push(format!("{shown} IOPS / {each} IOPS = {datastores} datastores"));
        let exceeded = |most| format!("no published machine exceeds {} IOPS", thousands(most));
        parts.extend(most.map(exceeded));
    }
    if let Some(SpreadThroughput { bytes_per_s, each, most }) = throughput {
        let datastores = bytes_per_s.div_ceil(each.bytes_per_s());
        let shown = mib(BytesPerSec::new(bytes_per_s as f64));
        parts.push(format!("{shown} / {each} = {datastores} datastores"));
        parts.extend(most.map(|most| format!("no published machine exceeds {most}")));
    }
    parts.join("; ")
}

/// `100 IOPS per vCPU, transfers of 16 KiB, 80 % reads`
fn class_load(load: &ClassLoad) -> String {
    let mut parts = Vec::new();
    if let Some(rate) = load.ops {
        parts.push(format!("{} IOPS per {}", decimal(rate.milli), each(rate)));
    }
    if let Some(rate) = load.bytes {
        parts.push(format!("{} per {}", BytesPerSec::new(rate.milli as f64 / 1000.0), each(rate)));
    }
    parts.extend(load.transfer_bytes.map(|bytes| format!("transfers of {}", Bytes::new(bytes))));
    let read = load.read;
    parts.extend(read.map(|read| format!("{read} reads")));
    parts.join(", ")
}

const fn each(rate: Rate) -> &'static str {
    match rate.each {
        Each::Vm => "machine",
        Each::Vcpu => "vCPU",
        Each::Gib => "GiB in use",
    }
}

/// Whole MiB/s, rounded up.
fn mib(rate: BytesPerSec) -> String {
    format!("{} MiB/s", thousands(rate.as_mib().ceil() as u64))
}

/// An assumption as a sentence.
pub(super) fn assumption(of: &Assumption) -> String {
    match of {
        Assumption::WithoutStorage { machines } => format!(
            "{} without a figure for storage count as storing nothing.",
            counted(*machines, "machine")
        ),
        Assumption::NoLoad => {
            "No load is known, so pools are sized for capacity only. Give --profile, --iops-per-vm or \
             --throughput-per-vm, or a Live Optics workbook with --live-optics."
                .to_owned()
        }
        Assumption::LoadSources { all, measured, of_profile, profile, each, unknown } => {
            let counts = [
                (*measured, "measured".to_owned()),
                (*of_profile, format!("assumed by profile {profile}")),
                (each.machines, format!("assumed for each ({})", each_load(each))),
                (*unknown, "unknown".to_owned()),
            ];
            let counts = counts.iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> =
                counts.map(|(count, source)| format!("{} {source}", thousands(*count))).collect();
            format!("Loads of {} machines: {}.", thousands(*all), counts.join(", "))
        }
        Assumption::Reads(read) => {
            format!("{read} of operations are reads, and all loads occur at the same time.")
        }
        Assumption::WithoutLoad { machines, all } => format!(
            "{} of {} machines have no known load and count as idle.",
            thousands(*machines),
            thousands(*all)
        ),
        Assumption::ProcessorsUnknown => {
            "The number of vCPUs per core is unknown, so processors are not considered. Give \
             --vcpus-per-core, or an export with the sheet vHost."
                .to_owned()
        }
        Assumption::HostUsage { is_reduced, policy, management_memory } => format!(
            "All memory of a host is available to machines. vSAN data are {} and protected by \
             storage policy {policy}. The service's own machines, which reserve \
             {management_memory} in the first cluster, are not counted.",
            if *is_reduced { "reduced as given" } else { "not reduced" }
        ),
        Assumption::SpareHosts { per_cluster: 0, .. } => {
            "No host is spare: if one fails, the others take over its load.".to_owned()
        }
        Assumption::SpareHosts { per_cluster, vsan_free } => format!(
            "{} per cluster spare: processors and memory stay free for failures, while vSAN is used, of \
             which {vsan_free} stay free.",
            counted(*per_cluster, "host")
        ),
        Assumption::Prices { region, date, hours_per_month } => format!(
            "List prices in {region} ({date}), without reservations or discounts, for months of \
             {hours_per_month} hours."
        ),
        Assumption::NoPrices => "Without a region there are no prices.".to_owned(),
        Assumption::NoHostPrice => {
            "The price of a host is unknown. Give --host-price for total costs and savings.".to_owned()
        }
    }
}

fn each_load(of: &EachLoad) -> String {
    let throughput = |bytes: u64| mib(BytesPerSec::new(bytes as f64));
    match (of.ops, of.bytes_per_s) {
        (Some(ops), Some(bytes)) => format!("{} IOPS, {}", thousands(ops), throughput(bytes)),
        (Some(ops), None) => format!("{} IOPS of {}", thousands(ops), of.transfer),
        (None, Some(bytes)) => throughput(bytes),
        (None, None) => "nothing".to_owned(),
    }
}

/// A warning as a sentence.
pub(super) fn warning(of: &Warning) -> String {
    match of {
        Warning::UnmatchedClass { class } => format!(
            "Class `{class}` of the profile matches no machine: each machine fails one of its \
             patterns or belongs to an earlier class."
        ),
        Warning::ClassLeftOut { class, machines } => format!(
            "Class `{class}` of the profile matches only {} left out.",
            counted(*machines, "machine")
        ),
        Warning::ClassMeasured { class } => format!(
            "Class `{class}` of the profile has no effect: all of its machines have measured loads."
        ),
        Warning::EachLoadUnused => {
            "--iops-per-vm and --throughput-per-vm have no effect: all machines have a measured load or \
             a class."
                .to_owned()
        }
    }
}
