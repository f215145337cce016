//! Whether TCP's windows are large enough for the wanted throughput, and what else bounds them.

use cloud::client::SettingName;
use cloud::row::LimitName;
use units::thousands;

use super::figures::{bytes, mib_s, time};
use super::{Check, Look, Status, Subject, window};

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    if !look.is_over_network() || look.facts.get("nic.name") == Some("lo") {
        return Vec::new();
    }
    vec![
        receive_window(look),
        send_window(look),
        scaling(look),
        growth(look),
        congestion(look),
        after_idle(look),
        fixed_buffers(look),
    ]
}

/// The throughput that one connection is to carry, and how that is reckoned.
struct Share {
    bytes_per_s: f64,
    reckoned: String,
}

/// The wanted throughput, spread over the connections; without one, on Azure, what a network flow
/// was seen to give, and elsewhere the interface's speed.
fn share(look: &Look<'_>) -> Option<Share> {
    let connections = look.connections().unwrap_or(1);
    let of = |total: f64, what: &str| Share {
        bytes_per_s: total / connections as f64,
        reckoned: match connections {
            1 => format!("{} ({what})", mib_s(total)),
            _ => format!("{} ({what}) / {connections} connections", mib_s(total)),
        },
    };
    if let Some(want) = look.asked.want_bytes_per_s {
        return Some(of(want, "wanted"));
    }
    if look.facts.is_azure() {
        let flow = look.catalog.limit(LimitName::FlowThroughput) as f64 * 1024.0;
        let reckoned = format!("{} (what one flow was seen to give)", mib_s(flow));
        return Some(Share { bytes_per_s: flow, reckoned });
    }
    let speed = look.facts.number("nic.speed_mbit_s")? as f64 * 1e6 / 8.0;
    Some(of(speed, "the interface's speed"))
}

/// Judges the window out of a buffer of `offered` bytes.
fn judge(look: &Look<'_>, check: Check, offered: u64, said: String, sysctl: &str) -> Check {
    let Some(round_trip) = &look.asked.round_trip else {
        return check.not_known(format!(
            "{said}; which throughput that is, only the round-trip time tells: give --rtt"
        ));
    };
    let rtt = round_trip.seconds;
    let carried = window::carried_bytes_per_s(offered as f64, rtt);
    let found = format!(
        "{said}; {} / {} ({}) = {} on a connection",
        bytes(offered),
        time(rtt),
        round_trip.how,
        mib_s(carried)
    );
    let Some(share) = share(look) else {
        return check
            .wanted("more than is wanted of a connection: give --want to have it judged")
            .not_known(found);
    };
    let needed = window::needed_bytes(share.bytes_per_s, rtt);
    let check = check.found(found).wanted(format!(
        "{} x {} = {}",
        share.reckoned,
        time(rtt),
        bytes(needed.ceil() as u64)
    ));
    let most = look.client.setting(SettingName::TcpBufferMaxWanted);
    // What is offered is at least a half of the buffer.
    let buffer = most.max((2.0 * needed).ceil() as u64);
    let status = match needed > offered as f64 {
        false => Status::Ok,
        // The network's part alone may well be short enough.
        true if round_trip.is_upper_bound => Status::Warning,
        true => Status::Problem,
    };
    check.status(status, format!("sudo sysctl -w net.ipv4.{sysctl} {buffer}\""))
}

fn receive_window(look: &Look<'_>) -> Check {
    let check = Check::new("tcp.receive_window", Subject::Tcp, "receive window, for reads")
        .wanted("throughput x round-trip time")
        .why("MiB/s of reads: of one connection at most a window is under way in each round trip");
    let Some(buffer) = look.facts.last_number("tcp.rmem") else {
        return check.not_known("/proc/sys/net/ipv4/tcp_rmem is not there");
    };
    let scale = look.facts.get("tcp.adv_win_scale").and_then(|scale| scale.parse().ok());
    let offered = match look.facts.get("tcp.window_scaling") {
        Some("0") => window::UNSCALED_MAX_BYTES,
        _ => window::offered_bytes(buffer, scale),
    };
    let said = format!("tcp_rmem up to {}, of which {} are window", bytes(buffer), bytes(offered));
    judge(look, check, offered, said, "tcp_rmem=\"4096 131072")
}

fn send_window(look: &Look<'_>) -> Check {
    let check = Check::new("tcp.send_window", Subject::Tcp, "send buffer, for writes")
        .wanted("throughput x round-trip time")
        .why("MiB/s of writes: what is sent stays in the buffer until it is acknowledged");
    let Some(buffer) = look.facts.last_number("tcp.wmem") else {
        return check.not_known("/proc/sys/net/ipv4/tcp_wmem is not there");
    };
    let offered = match look.facts.get("tcp.window_scaling") {
        Some("0") => window::UNSCALED_MAX_BYTES.min(buffer),
        _ => buffer,
    };
    let said = format!("tcp_wmem up to {}", bytes(buffer));
    judge(look, check, offered, said, "tcp_wmem=\"4096 16384")
}

fn scaling(look: &Look<'_>) -> Check {
    let check = Check::new("tcp.window_scaling", Subject::Tcp, "window scaling")
        .wanted("1 (on)")
        .why(format!(
            "MiB/s: without it a window has at most {}, 63 MiB/s on a connection at 1 ms",
            bytes(window::UNSCALED_MAX_BYTES)
        ));
    switch(look, check, "tcp.window_scaling", "tcp_window_scaling", Status::Problem)
}

fn growth(look: &Look<'_>) -> Check {
    let check = Check::new("tcp.receive_growth", Subject::Tcp, "growth of the receive buffer")
        .wanted("1 (on)")
        .why("MiB/s of reads: without it a window stays at the second number of tcp_rmem");
    switch(look, check, "tcp.moderate_rcvbuf", "tcp_moderate_rcvbuf", Status::Problem)
}

/// A sysctl of `net.ipv4` that should be 1.
fn switch(look: &Look<'_>, check: Check, fact: &str, sysctl: &str, worst: Status) -> Check {
    match look.facts.get(fact) {
        None => check.not_known(format!("/proc/sys/net/ipv4/{sysctl} is not there")),
        Some("0") => check
            .found("0 (off)")
            .status(worst, format!("sudo sysctl -w net.ipv4.{sysctl}=1; then mount anew")),
        Some(value) => check.found(format!("{value} (on)")).ok(),
    }
}

fn congestion(look: &Look<'_>) -> Check {
    let check = Check::new("tcp.congestion", Subject::Tcp, "congestion control")
        .wanted("cubic, bbr or dctcp")
        .why("MiB/s after a lost packet: older ones grow back slowly");
    match look.facts.get("tcp.congestion_control") {
        None => check.not_known("/proc/sys/net/ipv4/tcp_congestion_control is not there"),
        Some(name @ ("cubic" | "bbr" | "bbr2" | "bbr3" | "dctcp" | "htcp")) => {
            check.found(name).ok()
        }
        Some(name) => check
            .found(name)
            .status(Status::Hint, "sudo sysctl -w net.ipv4.tcp_congestion_control=cubic"),
    }
}

fn after_idle(look: &Look<'_>) -> Check {
    let check = Check::new("tcp.after_idle", Subject::Tcp, "slow start after a pause")
        .wanted("0 (off)")
        .why("response time of bursts: with it a connection begins anew after each pause");
    match look.facts.get("tcp.slow_start_after_idle") {
        None => check.not_known("/proc/sys/net/ipv4/tcp_slow_start_after_idle is not there"),
        Some("0") => check.found("0 (off)").ok(),
        Some(value) => check
            .found(format!("{value} (on)"))
            .status(Status::Hint, "sudo sysctl -w net.ipv4.tcp_slow_start_after_idle=0"),
    }
}

fn fixed_buffers(look: &Look<'_>) -> Check {
    let check =
        Check::new("tcp.core_buffers", Subject::Tcp, "buffers that programs set themselves")
            .wanted("anything")
            .why(
                "nothing: net.core.rmem_max and wmem_max bound programs that fix their buffers; \
             neither the kernel's NFS client nor this program does",
            );
    match (look.facts.number("core.rmem_max"), look.facts.number("core.wmem_max")) {
        (Some(read), Some(write)) => {
            let found = format!("rmem_max {}, wmem_max {}", thousands(read), thousands(write));
            check.found(found).ok()
        }
        _ => check.not_known("/proc/sys/net/core is not there"),
    }
}
