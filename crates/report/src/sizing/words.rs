//! A sizing in words: needs, designs and their key results.

use cloud::service_level::{QosType, ServiceLevel};
use sizing::claim::{Claim, ClaimKind};
use sizing::design::Design;
use sizing::hosts::Hosts;
use sizing::need::{Need, Part, Protocol};
use sizing::pool::Pool;
use sizing::resource_use::{Resource, Use};
use units::{Bytes, Share, counted, thousands};

use super::{business, names, statements, trade_offs};
use crate::number::{NONE, ms, plain};
use crate::sheet::with_rows;

/// Columns of a command line without its indentation.
const COMMAND_WIDTH: usize = 74;

/// A command wrapped with backslashes.
pub(super) fn broken(command: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in command.split(' ') {
        let last = lines.last_mut().expect("lines starts with one");
        match last.len() + 1 + word.len() {
            _ if last.is_empty() => last.push_str(word),
            length if length <= COMMAND_WIDTH => {
                last.push(' ');
                last.push_str(word);
            }
            _ => {
                last.push_str(" \\");
                lines.push(format!("  {word}"));
            }
        }
    }
    lines
}

/// `950 MiB/s and 4 TiB in eastus`.
pub(super) fn need(need: &Need) -> String {
    let named = |one: &Part| match need.parts.len() {
        1 => part(one),
        _ => format!("{} {}", one.name, part(one)),
    };
    let parts: Vec<String> = need.parts.iter().map(named).collect();
    let grown = match need.growth {
        Share::ZERO => String::new(),
        growth => format!(", growing by {growth}"),
    };
    let parts = match &need.business {
        Some(of) => format!("{} ({})", business::units(of), parts.join("; ")),
        None => parts.join("; "),
    };
    format!("{parts}{grown} in {}", need.region)
}

fn part(part: &Part) -> String {
    let throughput = part.throughput();
    let mut words = Vec::new();
    if throughput.get() > 0 {
        words.push(format!("{} MiB/s", plain(throughput.as_mib())));
    }
    if part.capacity_gib > 0 {
        words.push(Bytes::gib(part.capacity_gib).to_string());
    }
    words.join(" and ")
}

/// `D32s_v5` for `Standard_D32s_v5`.
pub(super) fn short_vm(name: &str) -> &str {
    name.strip_prefix("Standard_").unwrap_or(name)
}

/// `premium auto`, or `premium+standard` for pools of several levels.
pub(super) fn level(design: &Design) -> String {
    match design.levels().len() {
        0 | 1 => format!("{} {}", design.level, design.qos.name()),
        _ => design.level_names().join("+"),
    }
}

/// `2 regular`.
pub(super) fn volumes(design: &Design) -> String {
    format!("{} {}", thousands(design.volume_count()), design.kind.name())
}

/// A design in one line.
pub(super) fn name(design: &Design) -> String {
    let of_level = |(level, qos): &(ServiceLevel, QosType)| {
        let pools = design.pools.iter().filter(|pool| (pool.level, pool.qos) == (*level, *qos));
        let count = match pools.clone().count() {
            1 => String::new(),
            several => format!(" in {several} pools"),
        };
        let size = Bytes::gib(pools.map(|pool| pool.size_gib).sum());
        format!("{size} {level}{count}, {} QoS", qos.name())
    };
    let pools: Vec<String> = design.levels().iter().map(of_level).collect();
    let pools = pools.join(" + ");
    let volumes = counted(design.volume_count(), &format!("{} volume", design.kind.name()));
    let hosts = match design.hosts.as_ref().filter(|hosts| hosts.is_charged) {
        Some(hosts) => format!(", {} x {}", hosts.count, short_vm(&hosts.vm)),
        None => String::new(),
    };
    format!("{pools}, {volumes}{hosts}")
}

/// `premium, auto QoS`.
pub(super) fn pool(pool: &Pool) -> String {
    format!("{}, {} QoS", pool.level, pool.qos.name())
}

/// A claim followed by its kind.
pub(super) fn claim(claim: &Claim) -> String {
    let text = statements::claim(claim);
    format!("{} ({})", text.trim_end_matches('.'), names::claim_kind(claim.kind))
}

/// A claim preceded by its kind and followed by its rows.
pub(super) fn claim_with_rows(claim: &Claim) -> String {
    let text = statements::claim(claim);
    format!("{}: {}", names::claim_kind(claim.kind), with_rows(&text, &claim.rows))
}

/// The predicted response time in milliseconds, marked if a published figure contradicts the
/// design.
pub(super) fn response(design: &Design) -> String {
    let mark = if design.contradicted { "?" } else { "" };
    match &design.response {
        Some(response) => format!("{}{mark}", ms(response.mean.0)),
        None if design.hosts.is_some() => format!("not met{mark}"),
        None => NONE.to_owned(),
    }
}

/// The recommendation in a sentence, and what limits it.
pub(super) fn recommendation(need: &Need, design: &Design) -> String {
    let bound = match design.binding() {
        Some(one) => {
            format!(
                " First limit reached: {} ({} used).",
                names::resource(one.resource),
                one.share()
            )
        }
        None => String::new(),
    };
    let missing: Vec<String> = design.cost.missing.iter().map(statements::missing_price).collect();
    let missing = match missing.is_empty() {
        true => String::new(),
        false => format!(" Not included: {}.", missing.join("; ")),
    };
    format!(
        "Buy {}: {} per month for {}.{missing}{bound}",
        name(design),
        design.cost.month(),
        self::need(need)
    )
}

/// The clients that can carry the load, if they are not in the cost.
pub(super) fn clients(need: &Need, design: &Design) -> Option<String> {
    let hosts = design.hosts.as_ref().filter(|hosts| !hosts.is_charged)?;
    Some(format!(
        "Clients, not in the cost (`--vm` or `--clients` adds them): {} x {} or larger with {}, {} MiB/s \
         each ({}).",
        hosts.count,
        short_vm(&hosts.vm),
        counted(hosts.connections_total() / u64::from(hosts.count).max(1), "connection"),
        plain(hosts.each_of(need.throughput()).as_mib()),
        names::claim_kind(design.basis())
    ))
}

/// The cheapest design that no published figure contradicts, if one contradicts the cheapest.
pub(super) fn without_contradiction(designs: &[Design]) -> Option<String> {
    if !designs[0].contradicted {
        return None;
    }
    let uncontradicted = designs.iter().position(|design| !design.contradicted);
    Some(match uncontradicted {
        Some(index) => format!(
            "Published figures disagree on whether its volumes reach this throughput; the newest says \
             that they do. The cheapest design that no figure contradicts is design {}: {}, {} per \
             month.",
            index + 1,
            name(&designs[index]),
            designs[index].cost.month()
        ),
        None => "Each design is contradicted by some published figure.".to_owned(),
    })
}

/// That the cheapest design reaches the throughput by its limits but not in the model of latency, which
/// the tables mark as not met.
pub(super) fn beyond_the_model(need: &Need, designs: &[Design]) -> Option<String> {
    let best = &designs[0];
    if best.hosts.is_none() || best.response.is_some() {
        return None;
    }
    let limits = best.pools.iter().flat_map(|pool| &pool.volumes).map(|one| one.throughput.get());
    let for_equal_parts = limits.min().unwrap_or(0).saturating_mul(best.volume_count());
    // Of several parts, each has its own volumes.
    let cause = match need.parts.len() == 1 && for_equal_parts < need.throughput().get() {
        true => {
            ": it divides the load equally over the volumes, and the limits suffice only for a load in \
             proportion to them"
        }
        false => "",
    };
    let other = match designs.iter().position(|design| design.response.is_some()) {
        Some(index) => format!(
            "The cheapest design for which it does is design {}: {}, {} per month.",
            index + 1,
            name(&designs[index]),
            designs[index].cost.month()
        ),
        None => "It does for no design.".to_owned(),
    };
    Some(format!(
        "The limits of this design suffice, but the model of latency does not reach the throughput \
         (not met){cause}. {other}"
    ))
}

/// The meaning of the marks in a table, if any.
pub(super) fn marks<'a>(mut designs: impl Iterator<Item = &'a Design>) -> Option<String> {
    let words = "latency: predicted mean response time at the required throughput; `?`: an older \
                 published figure says that the volumes are too slow; not met: the model does not \
                 reach the throughput.";
    designs.any(|design| design.contradicted || design.response.is_some()).then(|| words.to_owned())
}

/// Hosts and their connections, with the evidence for their number.
fn hosts(design: &Design, hosts: &Hosts) -> String {
    let (processors, path) = match hosts.attached {
        Protocol::Datastores => ("cores", "datastore"),
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => ("vCPU", "endpoint"),
    };
    let outstanding = match hosts.outstanding {
        Some(count) => format!(", {} outstanding operations each", thousands(count)),
        None => String::new(),
    };
    let paths = match hosts.paths {
        1 => format!("the {path}"),
        several => format!("each of {}", counted(several, path)),
    };
    format!(
        "{} x {} ({} {processors}) with {} to {paths}{outstanding} ({})",
        hosts.count,
        hosts.vm,
        hosts.vcpu,
        counted(hosts.connections, "connection"),
        names::claim_kind(design.basis())
    )
}

/// Key results of a design as a list.
pub(super) fn facts(need: &Need, design: &Design) -> Vec<String> {
    let mut points = Vec::new();
    let (cost, basis) = (&design.cost, names::claim_kind(design.basis()));
    points.push(format!("{} per month ({})", cost.month(), names::claim_kind(ClaimKind::Derived)));
    let items = cost.items.iter();
    points
        .extend(items.map(|(item, amount)| format!("{}: {amount} per month", names::item(*item))));
    let missing = cost.missing.iter().map(statements::missing_price);
    points.extend(missing.map(|what| format!("not included: {what}")));
    points.extend(cost.notes.iter().map(statements::cost_note));
    let charged = design.hosts.as_ref().filter(|hosts| hosts.is_charged);
    points.extend(charged.map(|one| hosts(design, one)));
    if let Some(response) = &design.response {
        let headroom = match need.response_time {
            Some(required) => {
                let left = 1.0 - response.mean.0 / required.0;
                format!("; {:.0} % less than the required {required}", left * 100.0)
            }
            None => String::new(),
        };
        points.push(format!(
            "predicted mean response time at that throughput: {}, with {} outstanding \
             operations{headroom} ({basis})",
            response.mean,
            thousands(response.outstanding.ceil() as u64),
        ));
    }
    let set_by = names::pool_size_set_by(design.sized_by);
    points.push(match design.binding() {
        Some(one) => format!(
            "pool size set by {set_by}; first limit reached: {}, with {} spare ({})",
            names::resource(one.resource),
            design.spare(),
            names::claim_kind(one.kind)
        ),
        None => format!("pool size set by {set_by}"),
    });
    points.extend(
        design.trade_off.iter().map(|one| format!("{} ({basis})", trade_offs::sentence(one))),
    );
    points.extend(design.notes.iter().map(claim));
    points
}

/// Used amount, limit and unit.
pub(super) fn amounts(one: &Use) -> (String, String, String) {
    let mib = |kib: u64| plain(kib as f64 / 1024.0);
    match one.resource {
        Resource::Capacity | Resource::RegionalQuota => {
            (thousands(one.used), thousands(one.limit), "GiB".to_owned())
        }
        Resource::Slots => (thousands(one.used), thousands(one.limit), "requests".to_owned()),
        Resource::VolumeNames => (thousands(one.used), thousands(one.limit), "ops/s".to_owned()),
        Resource::Inodes => (thousands(one.used), thousands(one.limit), "inodes".to_owned()),
        _ => (mib(one.used), mib(one.limit), "MiB/s".to_owned()),
    }
}
