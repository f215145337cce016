//! The sentences of a sizing: arithmetic, costs, settings, notes and cautions.

use cloud::reason::RowRef;
use sizing::claim::Claim;
use sizing::statement::{
    Caution, Contradiction, CostNote, CostStatement, HostStatement, Hourly, MissingPrice, Note,
    PathKind, Paths, PoolNeed, ReservedUnits, SettingStatement, Statement, StorageStatement,
    VolumeMost,
};
use units::{Bytes, BytesPerSec, counted, part_of, thousands};

use crate::model::words as prediction;

/// The sentence of a claim, without a full stop unless it consists of several.
pub(super) fn claim(claim: &Claim) -> String {
    match &claim.statement {
        Statement::Growth { growth, throughput, capacity_gib } => format!(
            "growth of {growth}: {} become {}, {} GiB become {} GiB",
            throughput.0,
            throughput.1,
            thousands(capacity_gib.0),
            thousands(capacity_gib.1)
        ),
        Statement::Storage(of) => storage(of),
        Statement::Hosts(of) => hosts(of),
        Statement::Cost(of) => cost(of),
        Statement::Setting(of) => setting(of),
        Statement::Note(of) => note(of),
        Statement::Caution(of) => caution(of),
        Statement::Calibration(of) => prediction::statement(of),
    }
}

fn storage(of: &StorageStatement) -> String {
    match of {
        StorageStatement::Part { name, throughput, capacity_gib } => {
            format!("{name}: {throughput} and {} GiB", thousands(*capacity_gib))
        }
        StorageStatement::Spare { required, spare, bought } => {
            format!("{required} / (1 - {spare} spare) = {bought} to buy")
        }
        StorageStatement::Capability { kind, throughput, transfer, read, by } => format!(
            "one {} volume can do {} with {transfer} transfers and {read} reads, {}",
            kind.name(),
            whole_mib(*throughput),
            source(by)
        ),
        StorageStatement::Names { kind, required, each, by } => format!(
            "one {} volume carried {each} on names, {}; no higher rate is published, and {required} are \
             required",
            kind.name(),
            source(std::slice::from_ref(by))
        ),
        StorageStatement::QuotaForThroughput { throughput, rate, quota_gib, level } => format!(
            "{throughput} = {} KiB/s; / {rate} = {} GiB of {level} quota",
            thousands(throughput.get()),
            thousands(*quota_gib)
        ),
        StorageStatement::Volumes { count, kind, quota_gib, most } => format!(
            "{} of {} to {} GiB, {}",
            counted(*count, &format!("{} volume", kind.name())),
            thousands(quota_gib.0),
            thousands(quota_gib.1),
            match most {
                VolumeMost::Ceiling(ceiling) => format!("at most {ceiling} each"),
                VolumeMost::Mentioned(most) =>
                    format!("no documented throughput limit (the vendor mentions up to {most})"),
            }
        ),
        StorageStatement::Quota { quota_gib, capacity_gib } => format!(
            "quota: {} GiB for a capacity of {} GiB",
            thousands(*quota_gib),
            thousands(*capacity_gib)
        ),
        StorageStatement::Pool { size_gib, quotas_gib, throughput } => {
            let size = size_gib >> 10;
            let throughput = match throughput {
                PoolNeed::Nothing => String::new(),
                PoolNeed::Bought { bought, most } => {
                    format!("; {bought} bought of at most {most} for {size} TiB")
                }
                PoolNeed::Assigned { assigned, rate, throughput } => format!(
                    " and {assigned} assigned; {} GiB x {rate} = {throughput}",
                    thousands(*size_gib)
                ),
            };
            format!("pool: {size} TiB for quotas of {} GiB{throughput}", thousands(*quotas_gib))
        }
    }
}

/// `by figure B09 of 2024-10-31`, or by the model.
fn source(by: &[RowRef]) -> String {
    let names: Vec<String> = by.iter().map(|row| format!("{} of {}", row.row, row.date)).collect();
    match names.is_empty() {
        true => "by the model fitted to all published figures".to_owned(),
        false => format!("by {}", names.join(" and ")),
    }
}

fn hosts(of: &HostStatement) -> String {
    match of {
        HostStatement::Egress { writes, throughput, hosts, vm, mbit_s, limit } => format!(
            "writes: {writes} of {throughput}; {hosts} x {} Mbit/s egress of {vm} = {limit:.1}",
            thousands(*mbit_s)
        ),
        HostStatement::Capability { hosts, vcpu, limit, extrapolated_from } => {
            let machines = match vcpu {
                Some(vcpu) => format!("{} x {vcpu} processors", counted(*hosts, "host")),
                None => counted(*hosts, "host"),
            };
            let extrapolated = vcpu.zip(*extrapolated_from).map(extrapolation);
            let extrapolated = extrapolated.map_or(String::new(), |words| format!(", {words}"));
            format!("{machines} can do {limit:.0}{extrapolated}")
        }
        HostStatement::Connections { hosts, connections, paths, limit } => format!(
            "{} x {} x {} can do {limit:.0}",
            counted(*hosts, "host"),
            counted(*connections, "connection"),
            path_count(*paths)
        ),
        HostStatement::LittlesLaw { rate, reached, response_time, outstanding, of_each_host } => {
            format!(
                "Little's law: {} IOPS ({reached} of the required rate, which counts as reached) x \
                 {response_time} predicted = {} outstanding, {of_each_host} per host",
                thousands(rate.get().round() as u64),
                thousands(*outstanding)
            )
        }
        HostStatement::LittlesLawOfParts { outstanding, of_each_host } => format!(
            "Little's law for the most demanding load of each part: {} outstanding, {of_each_host} \
             per host",
            thousands(*outstanding)
        ),
        HostStatement::Slots { hosts, paths, each, slots, used } => format!(
            "slots: {} x {} x {each} = {}, of which {} are used",
            counted(*hosts, "host"),
            path_count(*paths),
            thousands(*slots),
            thousands(*used)
        ),
    }
}

/// `2 endpoints`
pub(super) fn path_count(paths: Paths) -> String {
    let noun = match paths.kind {
        PathKind::Endpoint => "endpoint",
        PathKind::Datastore => "datastore",
    };
    counted(paths.count, noun)
}

/// `extrapolated 16-fold down from 32 processors`
pub(super) fn extrapolation((vcpu, from): (u64, u64)) -> String {
    let (small, large) = (vcpu.min(from), vcpu.max(from));
    let fold = format!("{:.1}", large as f64 / small.max(1) as f64);
    let fold = fold.strip_suffix(".0").unwrap_or(&fold);
    let direction = if vcpu < from { "down" } else { "up" };
    format!("extrapolated {fold}-fold {direction} from {from} processors")
}

/// `5,120 GiB x $0.000403 x 730 h = $1,506`
fn hourly(of: Hourly, unit: &str) -> String {
    format!(
        "{}{unit} x {} x {} h = {}",
        thousands(of.quantity),
        of.price.exact(),
        of.hours,
        of.amount
    )
}

fn cost(of: &CostStatement) -> String {
    match of {
        CostStatement::Capacity(cost) => format!("capacity: {}", hourly(*cost, " GiB")),
        CostStatement::Snapshots(cost) => format!("snapshots: {}", hourly(*cost, " GiB")),
        CostStatement::Reserved { term, level, units, price, hours, amount } => {
            let one = |units: &ReservedUnits| {
                let size = Bytes::gib(units.size_gib);
                let (count, discount, price) = (units.count, units.discount, price.exact());
                format!("{count} x {size} x {price} less {discount} x {hours} h")
            };
            let units: Vec<String> = units.iter().map(one).collect();
            let term = term.name();
            format!("reserved capacity for {term}, {level}: {} = {amount}", units.join(" + "))
        }
        CostStatement::Throughput(cost) => {
            format!("throughput above the baseline: {}", hourly(*cost, " MiB/s"))
        }
        CostStatement::Hosts { vm, cost } => {
            format!("hosts: {}", hourly(*cost, &format!(" {vm}")))
        }
        CostStatement::CoolCapacity { cool, cost, transfer } => format!(
            "cool tier: {cool} of the capacity, {}; moving the data there costs {transfer} once",
            hourly(*cost, " GiB")
        ),
        CostStatement::CoolTraffic { moved, capacity_gib, price, amount } => format!(
            "cool tier traffic: {moved} of {} GiB per month x {} = {amount}",
            thousands(*capacity_gib),
            price.exact()
        ),
        CostStatement::Backups { kept_gib, price, amount } => {
            let gib = thousands(*kept_gib);
            format!("backups: {gib} GiB x {} per month = {amount}", price.exact())
        }
        CostStatement::Replication {
            to,
            interval,
            daily_change,
            data_gib,
            changed_gib,
            hours,
            price,
            amount,
            first_copy,
        } => format!(
            "replication to {to} every {}: {daily_change} of {} GiB change per day, {} GiB in {hours} \
             h x {} = {amount}; the first copy costs {first_copy} once",
            interval.name(),
            thousands(*data_gib),
            thousands(*changed_gib),
            price.exact()
        ),
        CostStatement::Replicas { to, level, cost } => {
            format!("replicas in {to}, {level}: {}", hourly(*cost, " GiB"))
        }
        CostStatement::Peering { throughput, mean, crossing, hours, gb, price, amount } => format!(
            "peering: a mean of {mean} of {throughput}, of which {crossing} cross, over {hours} h = \
             {} GB x {} for both directions = {amount}",
            thousands(*gb),
            price.exact()
        ),
    }
}

/// A part of the cost without a known price.
pub(super) fn missing_price(of: &MissingPrice) -> String {
    match of {
        MissingPrice::Hosts { vm, region } => format!("hosts: no price of {vm} in {region}"),
        MissingPrice::Replication { from, to } => {
            format!("replication: no price from {from} to {to}")
        }
        MissingPrice::Replicas { region } => format!("replicas: no prices in {region}"),
        MissingPrice::ReplicasOfLevel { level, region } => {
            format!("replicas: no price of {level} in {region}")
        }
    }
}

/// What a reader of the cost must know.
pub(super) fn cost_note(of: &CostNote) -> String {
    match of {
        CostNote::UnverifiedPrice { vm } => {
            format!("the price of {vm} is unverified: its source cannot be retrieved")
        }
        CostNote::SnapshotsReserved { size_gib } => {
            format!("{} GiB of snapshots are in the reserved capacity", thousands(*size_gib))
        }
        CostNote::NotReservable { level } => {
            format!("{level} capacity cannot be reserved; it is pay as you go")
        }
        CostNote::NothingReserved { level, required_gib, unit_gib, term } => format!(
            "no {level} capacity is reserved: for {}, pay as you go costs less than {} reserved for \
             {}",
            Bytes::gib(*required_gib),
            Bytes::gib(*unit_gib),
            term.name()
        ),
    }
}

fn setting(of: &SettingStatement) -> String {
    match of {
        SettingStatement::Multichannel { connections } => {
            format!("Multichannel with {}", counted(*connections, "connection"))
        }
        SettingStatement::DatastoreConnections => {
            "each host opens one connection to each datastore; mount options cannot be set"
                .to_owned()
        }
        SettingStatement::Mount { transfer, connections } => {
            format!("rsize and wsize of {transfer}, {}", counted(*connections, "connection"))
        }
        SettingStatement::Slots { slots } => {
            format!("the service processes {slots} requests per connection at a time")
        }
        SettingStatement::SessionSlots { slots } => format!(
            "the service grants {slots} slots per session, shared by all connections of a mount; the \
             kernel module reads the option when it is loaded"
        ),
        SettingStatement::TcpWindow { throughput, response_time, window } => format!(
            "TCP window: {throughput:.1} per connection x {response_time} = {:.1} MiB",
            window.get() as f64 / (1u64 << 20) as f64
        ),
        SettingStatement::ReadAhead { size } => format!(
            "read-ahead of {size} for sequential reads through the page cache; it does not affect \
             direct I/O"
        ),
    }
}

fn note(of: &Note) -> String {
    match of {
        Note::Contradicted { contradiction, is_short } => contradicted(contradiction, *is_short),
        Note::RequestQuota { required_gib, default_gib } => format!(
            "request a regional capacity quota of at least {} from the vendor: the default for a \
             subscription is {}, shared with its other pools in the region",
            Bytes::gib(*required_gib),
            Bytes::gib(*default_gib)
        ),
        Note::Endpoints { count } => format!(
            "the volumes must be on at least {count} endpoints: check their addresses, because the \
             service may place several volumes on one"
        ),
        Note::FreeBaseline { level, baseline, pools_max } => format!(
            "each {level} pool includes {baseline} free of charge, which is why there are several (at \
             most {pools_max}, --pools)"
        ),
        Note::Breakthrough => {
            "breakthrough mode is in preview and requires dedicated capacity; no figure is published, \
             so each endpoint is assumed to perform like a large volume"
                .to_owned()
        }
        Note::FewDatastores { recommended } => format!(
            "the vendor recommends at least {recommended} datastores: each adds a connection per host \
             and lets machines be distributed"
        ),
        Note::ManyDatastores { default } => {
            format!("more than {default} datastores require a support request")
        }
        Note::CoolTier => {
            "operations on data in the cool tier are slower than predicted: the model covers the hot \
             tier only"
                .to_owned()
        }
    }
}

/// Two figures that disagree about one volume; the newest decides.
fn contradicted(one: &Contradiction, is_short: bool) -> String {
    let row = |row: &RowRef| format!("{} ({})", row.row, row.date);
    format!(
        "contradicted: one volume is assumed to reach the {} of {}; by {} it reaches {}, so {}",
        whole_mib(one.decides_throughput),
        row(&one.decides),
        row(&one.other),
        whole_mib(one.other_throughput),
        match is_short {
            true => "there would be too few volumes",
            false => "fewer volumes would suffice",
        }
    )
}

fn caution(of: &Caution) -> String {
    match of {
        Caution::BeyondPublished { required, published, id, hosts } => {
            let floor = |rate: BytesPerSec| thousands(rate.as_mib() as u64);
            let hosts = hosts.map_or(String::new(), |(count, most)| {
                format!(
                    "; no published figure has more than {most} hosts, and the cheapest design has {}",
                    thousands(count)
                )
            });
            format!(
                "Beyond published figures: {} MiB/s is {} the highest published throughput, {} MiB/s \
                 ({id}). The designs assume that volumes and hosts scale linearly{hosts}. Ask the \
                 vendor before you rely on them.",
                floor(*required),
                part_of(required.get() / published.get()),
                floor(*published),
            )
        }
        Caution::BeyondRegion { pools_gib, default_gib } => format!(
            "The cheapest design's pools of {} exceed the default capacity of a subscription in a \
             region, {}: request a higher capacity quota first.",
            Bytes::gib(*pools_gib),
            Bytes::gib(*default_gib)
        ),
    }
}

/// `3,600 MiB/s`
fn whole_mib(rate: BytesPerSec) -> String {
    format!("{} MiB/s", thousands(rate.as_mib().round() as u64))
}
