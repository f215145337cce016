//! The words of a sizing.

use sizing::design::{Design, Pool, Resource, Use};
use sizing::need::{Need, Part};
use sizing::shortfall::Shortfall;
use units::{Bytes, Nanos, thousands};

use crate::number::{NONE, ms, plain};

/// Thousandths as percent.
pub(super) fn permille(permille: u64) -> String {
    format!("{} %", plain_share(permille))
}

fn plain_share(permille: u64) -> String {
    match permille % 10 {
        0 => (permille / 10).to_string(),
        rest => format!("{}.{rest}", permille / 10),
    }
}

/// `1 pool`, `3 volumes`.
pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// `950 MiB/s and 4 TiB in eastus`.
pub(super) fn need(need: &Need) -> String {
    let parts: Vec<String> = need.parts.iter().map(part).collect();
    let grown = match need.growth_permille {
        0 => String::new(),
        growth => format!(", growing by {}", permille(growth)),
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

/// `Premium auto`.
pub(super) fn level(design: &Design) -> String {
    format!("{} {}", design.level, design.qos.name())
}

/// `2 regular`.
pub(super) fn volumes(design: &Design) -> String {
    format!("{} {}", thousands(design.volume_count()), design.kind.name())
}

/// What a design is, in a line.
pub(super) fn name(design: &Design) -> String {
    let size = Bytes::gib(design.pool_gib());
    let volumes = counted(design.volume_count(), &format!("{} volume", design.kind.name()));
    let hosts = match &design.hosts {
        Some(hosts) => format!(", {} x {}", hosts.count, short_vm(&hosts.vm)),
        None => String::new(),
    };
    format!("{size} {}, {} QoS, {volumes}{hosts}", design.level, design.qos.name())
}

/// `premium, auto QoS`.
pub(super) fn pool(pool: &Pool) -> String {
    format!("{}, {} QoS", pool.level, pool.qos.name())
}

/// The response time that is expected, in milliseconds; marked where the figures leave doubt.
pub(super) fn response(design: &Design) -> String {
    let mark = if design.doubtful { "?" } else { "" };
    match &design.response {
        Some(response) => format!("{}{mark}", ms(response.mean_ns)),
        None if design.hosts.is_some() => format!("more{mark}"),
        None => NONE.to_owned(),
    }
}

/// What to buy, in a sentence or two.
pub(super) fn verdict(design: &Design) -> String {
    let bound = match design.binding() {
        Some(one) => format!(
            " First exhausted: {} ({} used).",
            one.resource.name(),
            permille(one.permille())
        ),
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

/// Which design the figures leave no doubt of, where they do of the cheapest.
pub(super) fn without_doubt(designs: &[Design]) -> Option<String> {
    if !designs[0].doubtful {
        return None;
    }
    let sure = designs.iter().position(|design| !design.doubtful);
    Some(match sure {
        Some(place) => format!(
            "Whether its volumes can do it is in doubt: that is their limit, not what they \
             were measured to do. The cheapest without that doubt is design {}: {}, {} a month.",
            place + 1,
            name(&designs[place]),
            designs[place].cost.month()
        ),
        None => "Whether volumes can do it is in doubt with every design.".to_owned(),
    })
}

/// What the marks in a table mean, if there are any.
pub(super) fn marks<'a>(mut designs: impl Iterator<Item = &'a Design>) -> Option<String> {
    let words = "time: mean response time at the wanted throughput, as the model of `predict` \
                 expects it; `?`: published figures lead to less than is wanted of the volumes; more: the \
                 model does not reach the throughput.";
    designs.any(|design| design.doubtful || design.response.is_some()).then(|| words.to_owned())
}

/// A design in points.
pub(super) fn facts(design: &Design) -> Vec<String> {
    let mut points = Vec::new();
    let items = design.cost.items.iter().map(|(item, amount)| format!("{} {amount}", item.name()));
    let items: Vec<String> = items.collect();
    points.push(format!("{} a month: {}", design.cost.month(), items.join(", ")));
    points.extend(design.cost.unknown.iter().map(|what| format!("not in it: {what}")));
    if let Some(hosts) = &design.hosts {
        let outstanding = match design.outstanding_each() {
            Some(count) => format!(", {} operations outstanding on each", thousands(count)),
            None => String::new(),
        };
        points.push(format!(
            "{} x {} ({} vCPU) with {} to each of {}{outstanding}",
            hosts.count,
            hosts.vm,
            hosts.vcpu,
            counted(hosts.connections, "connection"),
            counted(hosts.endpoints, "endpoint"),
        ));
    }
    if let Some(response) = &design.response {
        points.push(format!(
            "mean response time at that throughput, as the model expects it: {}, with {} \
             operations outstanding",
            Nanos(response.mean_ns),
            thousands(response.outstanding.round() as u64)
        ));
    }
    let decides = design.decides.name();
    points.push(match design.binding() {
        Some(one) => format!(
            "sized by: {decides}; first exhausted: {}, with {} spare",
            one.resource.name(),
            permille(design.spare_permille())
        ),
        None => format!("sized by: {decides}"),
    });
    points.push(design.cheaper.clone());
    points.extend(design.notes.iter().cloned());
    points
}

/// What is used of what, in a unit.
pub(super) fn amounts(one: &Use) -> (String, String, String) {
    let mib = |kib: u64| plain(kib as f64 / 1024.0);
    match one.resource {
        Resource::Capacity => (thousands(one.used), thousands(one.limit), "GiB".to_owned()),
        Resource::Slots => (thousands(one.used), thousands(one.limit), "requests".to_owned()),
        _ => (mib(one.used), mib(one.limit), "MiB/s".to_owned()),
    }
}

/// Which constraint, and by how much.
pub(super) fn shortfall(one: &Shortfall) -> String {
    format!(
        "{}: {} (short by {}; tried: {})",
        one.constraint.name(),
        one.text,
        permille(one.lack_permille().max(1)),
        one.tried
    )
}
