//! The words of a sizing.

use cloud::service_level::{QosType, ServiceLevel};
use sizing::claim::{Claim, ClaimKind};
use sizing::design::{Design, Pool, Resource, Use};
use sizing::hosts::Hosts;
use sizing::need::{Need, Part, Protocol};
use sizing::shortfall::{Constraint, Shortfall};
use units::{Bytes, Nanos, counted, percent, thousands};

use crate::number::{NONE, ms, plain};
use crate::sheet::with_rows;

/// A time that is longer by more than this, in thousandths, is told without saying by how much.
const LONGER_MAX: u64 = 100_000;

/// Columns of a line that is typed, without its indentation.
const COMMAND_WIDTH: usize = 74;

/// A command in lines that a shell takes for one.
pub(super) fn broken(command: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in command.split(' ') {
        let last = lines.last_mut().expect("there is one from the beginning");
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
    let grown = match need.growth_permille {
        0 => String::new(),
        growth => format!(", growing by {}", percent(growth)),
    };
    format!("{}{grown} in {}", parts.join("; "), need.region)
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

/// `Standard_D32s_v5` as people say it.
pub(super) fn short_vm(name: &str) -> &str {
    name.strip_prefix("Standard_").unwrap_or(name)
}

/// `premium auto`, or `premium+standard` of pools of several levels.
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

/// What a design is, in a line.
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
    let hosts = match &design.hosts {
        Some(hosts) => format!(", {} x {}", hosts.count, short_vm(&hosts.vm)),
        None => String::new(),
    };
    format!("{pools}, {volumes}{hosts}")
}

/// `premium, auto QoS`.
pub(super) fn pool(pool: &Pool) -> String {
    format!("{}, {} QoS", pool.level, pool.qos.name())
}

/// A claim with its kind behind it.
pub(super) fn claim(claim: &Claim) -> String {
    format!("{} ({})", claim.text.trim_end_matches('.'), claim.kind.name())
}

/// A claim with its kind before it and its rows behind it.
pub(super) fn claim_with_rows(claim: &Claim) -> String {
    format!("{}: {}", claim.kind.name(), with_rows(&claim.text, &claim.rows))
}

/// The response time that is expected, in milliseconds; marked where a published figure contradicts
/// the design.
pub(super) fn response(design: &Design) -> String {
    let mark = if design.contradicted { "?" } else { "" };
    match &design.response {
        Some(response) => format!("{}{mark}", ms(response.mean_ns)),
        None if design.hosts.is_some() => format!("more{mark}"),
        None => NONE.to_owned(),
    }
}

/// What to buy, in a sentence or two.
pub(super) fn verdict(design: &Design) -> String {
    let bound = match design.binding() {
        Some(one) => {
            format!(" First exhausted: {} ({} used).", one.resource.name(), percent(one.permille()))
        }
        None => String::new(),
    };
    let unknown = match design.cost.unknown.is_empty() {
        true => String::new(),
        false => format!(" Not in it: {}.", design.cost.unknown.join("; ")),
    };
    format!(
        "The cheapest is {}: {} a month.{unknown} Its size comes from the {}.{bound}",
        name(design),
        design.cost.month(),
        design.decides.name()
    )
}

/// Which design no published figure contradicts, where one does the cheapest.
pub(super) fn without_contradiction(designs: &[Design]) -> Option<String> {
    if !designs[0].contradicted {
        return None;
    }
    let sure = designs.iter().position(|design| !design.contradicted);
    Some(match sure {
        Some(place) => format!(
            "Published figures disagree on whether its volumes can do it; the newest says that \
             they can. The cheapest that no figure contradicts is design {}: {}, {} a month.",
            place + 1,
            name(&designs[place]),
            designs[place].cost.month()
        ),
        None => "Every design is contradicted by some published figure.".to_owned(),
    })
}

/// What the marks in a table mean, if there are any.
pub(super) fn marks<'a>(mut designs: impl Iterator<Item = &'a Design>) -> Option<String> {
    let words = "time: mean response time at the wanted throughput, as the model of `predict` \
                 expects it; `?`: an older published figure says that the volumes do less; more: the model \
                 does not reach the throughput.";
    designs.any(|design| design.contradicted || design.response.is_some()).then(|| words.to_owned())
}

/// How hosts are and how they reach the volumes, with what their number rests on.
fn hosts(design: &Design, hosts: &Hosts) -> String {
    let (processors, path) = match hosts.attached {
        Protocol::Datastores => ("cores", "datastore"),
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => ("vCPU", "endpoint"),
    };
    let outstanding = match hosts.outstanding {
        Some(count) => format!(", {} operations outstanding on each", thousands(count)),
        None => String::new(),
    };
    format!(
        "{} x {} ({} {processors}) with {} to each of {}{outstanding} ({})",
        hosts.count,
        hosts.vm,
        hosts.vcpu,
        counted(hosts.connections, "connection"),
        counted(hosts.paths, path),
        design.basis().name()
    )
}

/// A design in points.
pub(super) fn facts(need: &Need, design: &Design) -> Vec<String> {
    let mut points = Vec::new();
    let derived = ClaimKind::Derived.name();
    points.push(format!("{} a month ({derived})", design.cost.month()));
    let items = design.cost.items.iter();
    points.extend(items.map(|(item, amount)| format!("{}: {amount} a month", item.name())));
    points.extend(design.cost.unknown.iter().map(|what| format!("not in it: {what}")));
    points.extend(design.cost.notes.iter().cloned());
    points.extend(design.hosts.as_ref().map(|one| hosts(design, one)));
    if let Some(response) = &design.response {
        let headroom = match need.response_time_ns {
            Some(wanted) => {
                let left = 1.0 - response.mean_ns / wanted as f64;
                format!("; {:.0} % less than the {} wanted", left * 100.0, Nanos(wanted as f64))
            }
            None => String::new(),
        };
        points.push(format!(
            "mean response time at that throughput, as the model expects it: {}, with {} \
             operations outstanding{headroom} ({})",
            Nanos(response.mean_ns),
            thousands(response.outstanding.ceil() as u64),
            design.basis().name()
        ));
    }
    let decides = design.decides.name();
    points.push(match design.binding() {
        Some(one) => format!(
            "sized by: {decides}; first exhausted: {}, with {} spare ({})",
            one.resource.name(),
            percent(design.spare_permille()),
            one.kind.name()
        ),
        None => format!("sized by: {decides}"),
    });
    points.push(format!("{} ({})", design.cheaper, design.basis().name()));
    points.extend(design.notes.iter().map(claim));
    points
}

/// What is used of what, in a unit.
pub(super) fn amounts(one: &Use) -> (String, String, String) {
    let mib = |kib: u64| plain(kib as f64 / 1024.0);
    match one.resource {
        Resource::Capacity | Resource::RegionalQuota => {
            (thousands(one.used), thousands(one.limit), "GiB".to_owned())
        }
        Resource::Slots => (thousands(one.used), thousands(one.limit), "requests".to_owned()),
        _ => (mib(one.used), mib(one.limit), "MiB/s".to_owned()),
    }
}

/// Which constraint, and by how much.
pub(super) fn shortfall(one: &Shortfall) -> String {
    let by = match one.constraint {
        // A time is too long where a rate is too small.
        Constraint::ResponseTime => {
            let over = u128::from(one.wanted.saturating_sub(one.most)) * 1000;
            match u64::try_from(over / u128::from(one.most.max(1))) {
                Ok(over) if over <= LONGER_MAX => format!("too long by {}", percent(over.max(1))),
                _ => "too long".to_owned(),
            }
        }
        _ => format!("short by {}", percent(one.lack_permille().max(1))),
    };
    let kind = one.kind.name();
    format!("{}: {} ({by}; tried: {}; {kind})", one.constraint.name(), one.text, one.tried)
}
