//! A sizing as JSON: units in the names of fields, money in dollars.

use std::io::{self, Write};

use cloud::figure::Access;
use cloud::price::ReservationTerm;
use cloud::reason::RowRef;
use cloud::row::Status;
use cloud::service_level::ServiceLevel;
use serde::Serialize;
use sizing::assumption::Assumption;
use sizing::claim::Claim;
use sizing::design::Design;
use sizing::need::{Demand, Need, Part};
use sizing::pool::{Pool, Volumes};
use sizing::resource_use::{Resource, Use};
use sizing::shortfall::Shortfall;
use sizing::solve::Verdict;
use units::Share;

use super::{assumptions, business, names, shortfalls, statements, trade_offs};
use crate::number::exported;

/// Changes when a reader of the old form would misread the new one.
pub const SCHEMA_VERSION: u32 = 3;

/// Writes everything, indented, with a line break at the end.
///
/// # Errors
/// Writing to `out` fails.
pub fn write(
    need: &Need,
    verdict: &Verdict,
    assumptions: &[Assumption],
    out: &mut dyn Write,
) -> io::Result<()> {
    let (designs, of_each, cautions, shortfalls, nearest) = match verdict {
        Verdict::Feasible { designs, of_each, cautions } => (
            designs.iter().map(design).collect(),
            of_each.iter().map(design).collect(),
            cautions.iter().map(claim).collect(),
            vec![],
            vec![],
        ),
        Verdict::Infeasible(why) => (
            vec![],
            vec![],
            vec![],
            why.shortfalls.iter().map(shortfall).collect(),
            why.nearest
                .iter()
                .map(|(change, d)| NearestJson {
                    what: shortfalls::relaxation(*change, d),
                    design: design(d),
                })
                .collect(),
        ),
    };
    let document = Document {
        schema_version: SCHEMA_VERSION,
        feasible: matches!(verdict, Verdict::Feasible { .. }),
        need: need_json(need),
        assumptions: assumptions::sentences(assumptions),
        cautions,
        designs,
        cheapest_of_each_kind: of_each,
        shortfalls,
        nearest,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    feasible: bool,
    need: NeedJson<'a>,
    assumptions: Vec<String>,
    cautions: Vec<ClaimJson<'a>>,
    designs: Vec<DesignJson<'a>>,
    cheapest_of_each_kind: Vec<DesignJson<'a>>,
    shortfalls: Vec<ShortfallJson<'a>>,
    nearest: Vec<NearestJson<'a>>,
}

#[derive(Serialize)]
struct NeedJson<'a> {
    region: &'a str,
    protocol: &'static str,
    parts: Vec<PartJson<'a>>,
    growth_fraction: f64,
    headroom_fraction: f64,
    response_time_ns: Option<u64>,
    hosts: Option<u32>,
    vm: Option<&'a str>,
    levels: Vec<&'static str>,
    previews: bool,
    hours_per_month: u32,
    pools_max: u64,
    mean_fraction: f64,
    peered_fraction: f64,
    cool_fraction: f64,
    cool_moved_fraction: f64,
    backup_gib: u64,
    snapshot_fraction: f64,
    replication: Option<ReplicationJson<'a>>,
    reserved: Option<&'static str>,
    /// The units of a business metric that the demands are of, if they are.
    business: Option<business::BusinessJson<'a>>,
}

#[derive(Serialize)]
struct ReplicationJson<'a> {
    to: &'a str,
    interval: &'static str,
    daily_change_fraction: f64,
    level: Option<&'static str>,
}

#[derive(Serialize)]
struct PartJson<'a> {
    name: &'a str,
    capacity_gib: u64,
    inodes: u64,
    demands: Vec<DemandJson>,
}

#[derive(Serialize)]
struct DemandJson {
    throughput_kib_s: u64,
    transfer_size_bytes: u64,
    ops_per_s: f64,
    read_fraction: f64,
    pattern: &'static str,
    /// Operations on names with a published rate.
    names_per_s: u64,
}

fn fraction(share: Share) -> f64 {
    exported(share.fraction())
}

fn need_json(need: &Need) -> NeedJson<'_> {
    let demand = |d: &Demand| DemandJson {
        throughput_kib_s: d.throughput.get(),
        transfer_size_bytes: d.transfer_bytes,
        ops_per_s: exported(d.rate().get()),
        read_fraction: fraction(d.read),
        pattern: match d.access {
            Access::Sequential => "sequential",
            Access::Random => "random",
        },
        names_per_s: d.names_per_s,
    };
    fn part<'a>(part: &'a Part, demand: &dyn Fn(&Demand) -> DemandJson) -> PartJson<'a> {
        PartJson {
            name: &part.name,
            capacity_gib: part.capacity_gib,
            inodes: part.inodes,
            demands: part.demands.iter().map(demand).collect(),
        }
    }
    NeedJson {
        region: &need.region,
        protocol: need.protocol.name(),
        parts: need.parts.iter().map(|one| part(one, &demand)).collect(),
        growth_fraction: fraction(need.growth),
        headroom_fraction: fraction(need.headroom),
        response_time_ns: need.response_time.map(|time| time.0 as u64),
        hosts: need.hosts,
        vm: need.vm.as_deref(),
        levels: need.levels.iter().map(|level| level.name()).collect(),
        previews: need.previews,
        hours_per_month: need.hours_per_month,
        pools_max: need.pools_max,
        mean_fraction: fraction(need.charges.mean),
        peered_fraction: fraction(need.charges.crossing),
        cool_fraction: fraction(need.charges.cool),
        cool_moved_fraction: fraction(need.charges.cool_moved),
        backup_gib: need.charges.backup_gib,
        snapshot_fraction: fraction(need.charges.snapshots),
        replication: need.charges.replication.as_ref().map(|one| ReplicationJson {
            to: &one.to,
            interval: one.interval.name(),
            daily_change_fraction: fraction(one.daily_change),
            level: one.level.map(ServiceLevel::name),
        }),
        reserved: need.charges.reserved.map(ReservationTerm::name),
        business: need.business.as_ref().map(business::json),
    }
}

#[derive(Serialize)]
struct DesignJson<'a> {
    /// `mixed` if pools differ.
    level: &'static str,
    /// The same.
    qos: &'static str,
    volume_kind: &'static str,
    pools: Vec<PoolJson<'a>>,
    hosts: Option<HostsJson<'a>>,
    mount_options: Option<&'a str>,
    commands: Vec<String>,
    month_usd: f64,
    costs: Vec<CostJson>,
    not_in_cost: Vec<String>,
    cost_notes: Vec<String>,
    sized_by: &'static str,
    binding: Option<&'static str>,
    spare_fraction: f64,
    things: u64,
    uses: Vec<UseJson>,
    cheaper: Option<String>,
    notes: Vec<ClaimJson<'a>>,
    contradicted: bool,
    response_time_ns: Option<f64>,
    /// Evidence for the hosts and the response time.
    hosts_kind: &'static str,
    reasons: Vec<ClaimJson<'a>>,
}

#[derive(Serialize)]
struct PoolJson<'a> {
    level: &'static str,
    qos: &'static str,
    size_gib: u64,
    throughput_kib_s: u64,
    volumes: Vec<VolumesJson<'a>>,
}

#[derive(Serialize)]
struct VolumesJson<'a> {
    part: &'a str,
    count: u64,
    kind: &'static str,
    quota_gib: u64,
    throughput_kib_s: u64,
}

#[derive(Serialize)]
struct HostsJson<'a> {
    vm: &'a str,
    vcpu: u64,
    count: u32,
    connections: u64,
    endpoints: u64,
    attached: &'static str,
    connections_total: u64,
    slots: Option<u64>,
    outstanding: Option<u64>,
    /// Whether they are part of the cost.
    in_cost: bool,
}

#[derive(Serialize)]
struct CostJson {
    item: &'static str,
    month_usd: f64,
}

#[derive(Serialize)]
struct UseJson {
    resource: &'static str,
    kind: &'static str,
    unit: &'static str,
    used: u64,
    limit: u64,
    used_fraction: f64,
}

#[derive(Serialize)]
struct ClaimJson<'a> {
    kind: &'static str,
    text: String,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct ReasonJson<'a> {
    text: String,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct RowJson<'a> {
    file: &'static str,
    row: &'a str,
    source: &'a str,
    date: &'a str,
    status: &'static str,
}

#[derive(Serialize)]
struct ShortfallJson<'a> {
    constraint: &'static str,
    kind: &'static str,
    tried: String,
    text: String,
    required: u64,
    max: u64,
    short_fraction: f64,
    rows: Vec<RowJson<'a>>,
}

#[derive(Serialize)]
struct NearestJson<'a> {
    what: String,
    design: DesignJson<'a>,
}

fn design(design: &Design) -> DesignJson<'_> {
    let all = design.reasons.iter().chain(&design.settings.reasons);
    let levels = design.levels();
    DesignJson {
        level: if levels.len() > 1 { "mixed" } else { design.level.name() },
        qos: if levels.len() > 1 { "mixed" } else { design.qos.name() },
        volume_kind: design.kind.name(),
        pools: design.pools.iter().map(pool).collect(),
        hosts: hosts(design),
        mount_options: design.settings.mount_options.as_deref(),
        commands: design.settings.commands(),
        month_usd: exported(design.cost.month().as_dollars()),
        costs: (design.cost.items.iter())
            .map(|(item, amount)| CostJson {
                item: names::item(*item),
                month_usd: exported(amount.as_dollars()),
            })
            .collect(),
        not_in_cost: design.cost.missing.iter().map(statements::missing_price).collect(),
        cost_notes: design.cost.notes.iter().map(statements::cost_note).collect(),
        sized_by: names::sized_by(design.sized_by),
        binding: design.binding().map(|one| names::resource(one.resource)),
        spare_fraction: fraction(design.spare()),
        things: design.things(),
        uses: design.uses.iter().map(use_json).collect(),
        cheaper: design.trade_off.as_ref().map(trade_offs::sentence),
        notes: design.notes.iter().map(claim).collect(),
        contradicted: design.contradicted,
        response_time_ns: design.response.map(|r| exported(r.mean.0)),
        hosts_kind: names::claim_kind(design.basis()),
        reasons: all.map(claim).collect(),
    }
}

fn pool(pool: &Pool) -> PoolJson<'_> {
    fn volumes(v: &Volumes) -> VolumesJson<'_> {
        VolumesJson {
            part: &v.part,
            count: v.count,
            kind: v.kind.name(),
            quota_gib: v.quota_gib,
            throughput_kib_s: v.throughput.get(),
        }
    }
    PoolJson {
        level: pool.level.name(),
        qos: pool.qos.name(),
        size_gib: pool.size_gib,
        throughput_kib_s: pool.throughput.get(),
        volumes: pool.volumes.iter().map(volumes).collect(),
    }
}

fn hosts(design: &Design) -> Option<HostsJson<'_>> {
    let hosts = design.hosts.as_ref()?;
    Some(HostsJson {
        vm: &hosts.vm,
        vcpu: hosts.vcpu,
        count: hosts.count,
        connections: hosts.connections,
        endpoints: hosts.endpoints,
        attached: hosts.attached.name(),
        connections_total: hosts.connections_total(),
        slots: hosts.slots,
        outstanding: hosts.outstanding,
        in_cost: hosts.is_charged,
    })
}

fn use_json(one: &Use) -> UseJson {
    UseJson {
        resource: names::resource(one.resource),
        kind: names::claim_kind(one.kind),
        unit: match one.resource {
            Resource::Capacity | Resource::RegionalQuota => "GiB",
            Resource::Slots => "requests",
            Resource::VolumeNames => "ops/s",
            Resource::Inodes => "inodes",
            _ => "KiB/s",
        },
        used: one.used,
        limit: one.limit,
        used_fraction: fraction(one.share()),
    }
}

fn claim(claim: &Claim) -> ClaimJson<'_> {
    ClaimJson {
        kind: names::claim_kind(claim.kind),
        text: statements::claim(claim),
        rows: claim.rows.iter().map(row).collect(),
    }
}

pub(super) fn reason(text: String, rows: &[RowRef]) -> ReasonJson<'_> {
    ReasonJson { text, rows: rows.iter().map(row).collect() }
}

fn row(row: &RowRef) -> RowJson<'_> {
    RowJson {
        file: row.file,
        row: &row.row,
        source: &row.source,
        date: &row.date,
        status: match row.status {
            Status::Current => "current",
            Status::Superseded => "superseded",
        },
    }
}

fn shortfall(one: &Shortfall) -> ShortfallJson<'_> {
    let (required, max) = one.lack.amounts();
    ShortfallJson {
        constraint: names::constraint(one.lack.constraint()),
        kind: names::claim_kind(one.kind),
        tried: shortfalls::tried(&one.tried),
        text: shortfalls::lack(one),
        required,
        max,
        short_fraction: fraction(one.missing()),
        rows: one.rows.iter().map(row).collect(),
    }
}
