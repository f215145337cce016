//! The words of checks of TCP.

use analysis::host_check::finding::{
    Direction, NeededWindow, ProgramBuffers, RateOrigin, TcpWindow,
};
use analysis::host_check::window;
use units::thousands;

use super::words::{Words, bytes, mib_s, source, time};

pub(super) fn tcp_window(found: &TcpWindow) -> Words {
    let (title, why, sysctl) = match found.direction {
        Direction::Read => (
            "receive window, for reads",
            "MiB/s of reads: a connection carries at most one window per round trip",
            "tcp_rmem",
        ),
        Direction::Write => (
            "send buffer, for writes",
            "MiB/s of writes: data stays in the buffer until it is acknowledged",
            "tcp_wmem",
        ),
    };
    let words = Words::new(title, "throughput x round-trip time", why);
    let Some(buffer) = found.buffer else {
        return words.found(format!("/proc/sys/net/ipv4/{sysctl} is missing"));
    };
    let (window, largest) = (bytes(buffer.window_bytes), bytes(buffer.buffer_bytes));
    let buffers = match found.direction {
        Direction::Read => format!("{sysctl} up to {largest}, window {window}"),
        Direction::Write => format!("{sysctl} up to {largest}"),
    };
    let Some(throughput) = &found.throughput else {
        return words.found(format!(
            "{buffers}; the throughput depends on the round-trip time: give --rtt"
        ));
    };
    let rtt = time(throughput.round_trip.seconds);
    let words = words.found(format!(
        "{buffers}; {window} / {rtt} ({}) = {} per connection",
        source(&throughput.round_trip.source),
        mib_s(throughput.per_connection)
    ));
    let Some(needed) = &found.needed else {
        return words
            .recommended("more than the required throughput per connection: give --target-rate");
    };
    let sizes = match found.direction {
        Direction::Read => "4096 131072",
        Direction::Write => "4096 16384",
    };
    words
        .recommended(format!("{} x {rtt} = {}", per_connection(needed), bytes(needed.window_bytes)))
        .change(format!("sudo sysctl -w net.ipv4.{sysctl}=\"{sizes} {}\"", needed.buffer_bytes))
}

/// The required throughput of one connection, as a calculation.
fn per_connection(needed: &NeededWindow) -> String {
    let origin = match needed.origin {
        RateOrigin::Required => "required",
        RateOrigin::PublishedFlow => "published for one flow",
        RateOrigin::InterfaceSpeed => "speed of the interface",
    };
    let total = mib_s(needed.total);
    match needed.connections {
        1 => format!("{total} ({origin})"),
        connections => format!("{total} ({origin}) / {connections} connections"),
    }
}

pub(super) fn scaling(value: Option<&str>) -> Words {
    let why = format!(
        "MiB/s: without it a window has at most {}, which is 63 MiB/s per connection at 1 ms",
        bytes(window::UNSCALED_MAX_BYTES)
    );
    switch(Words::new("window scaling", "1 (on)", why), value, "tcp_window_scaling")
}

pub(super) fn growth(value: Option<&str>) -> Words {
    let words = Words::new(
        "growth of the receive buffer",
        "1 (on)",
        "MiB/s of reads: without it the window stays at the second number of tcp_rmem",
    );
    switch(words, value, "tcp_moderate_rcvbuf")
}

/// A sysctl of `net.ipv4` that should be 1.
fn switch(words: Words, value: Option<&str>, sysctl: &str) -> Words {
    words
        .found_or(value.map(on_or_off), &format!("/proc/sys/net/ipv4/{sysctl} is missing"))
        .change(format!("sudo sysctl -w net.ipv4.{sysctl}=1; then remount"))
}

fn on_or_off(value: &str) -> String {
    match value {
        "0" => "0 (off)".to_owned(),
        value => format!("{value} (on)"),
    }
}

pub(super) fn congestion(name: Option<&str>) -> Words {
    Words::new(
        "congestion control",
        "cubic, bbr or dctcp",
        "MiB/s after a lost packet: older algorithms recover slowly",
    )
    .found_or(name, "/proc/sys/net/ipv4/tcp_congestion_control is missing")
    .change("sudo sysctl -w net.ipv4.tcp_congestion_control=cubic")
}

pub(super) fn after_idle(value: Option<&str>) -> Words {
    Words::new(
        "slow start after a pause",
        "0 (off)",
        "latency of bursts: with it a connection restarts slowly after each pause",
    )
    .found_or(value.map(on_or_off), "/proc/sys/net/ipv4/tcp_slow_start_after_idle is missing")
    .change("sudo sysctl -w net.ipv4.tcp_slow_start_after_idle=0")
}

pub(super) fn program_buffers(found: Option<ProgramBuffers>) -> Words {
    let found = found.map(|ProgramBuffers { read, write }| {
        format!("rmem_max {}, wmem_max {}", thousands(read), thousands(write))
    });
    Words::new(
        "buffer limits for programs",
        "any",
        "no figure: net.core.rmem_max and wmem_max apply to programs that set their buffers, which \
         neither the kernel's NFS client nor this program does",
    )
    .found_or(found, "/proc/sys/net/core is missing")
}
