//! TCP windows for the required throughput, and other TCP settings.

use cloud::client::SettingName;
use units::BytesPerSec;

use super::finding::{
    Direction, Finding, NeededWindow, ProgramBuffers, RateOrigin, TcpBuffer, TcpWindow,
    WindowThroughput,
};
use super::network::speed_of;
use super::{Check, Look, Status, window};

pub(super) fn checks(look: &Look<'_>) -> Vec<Check> {
    if !look.is_over_network() || look.facts.get("nic.name") == Some("lo") {
        return Vec::new();
    }
    vec![
        tcp_window(look, Direction::Read, receive_buffer(look)),
        tcp_window(look, Direction::Write, send_buffer(look)),
        scaling(look),
        growth(look),
        congestion(look),
        after_idle(look),
        program_buffers(look),
    ]
}

/// The required throughput, its origin, and the connections that share it.
///
/// Without a required throughput, it is on Azure the published throughput of one network flow, and
/// elsewhere the speed of the interface.
fn required(look: &Look<'_>) -> Option<(BytesPerSec, RateOrigin, u64)> {
    let connections = look.connections().unwrap_or(1);
    if let Some(required) = look.options.required {
        return Some((required, RateOrigin::Required, connections));
    }
    if look.facts.is_azure() {
        return Some((look.flow(), RateOrigin::PublishedFlow, 1));
    }
    let speed = speed_of(look.facts.number("nic.speed_mbit_s")?);
    Some((speed, RateOrigin::InterfaceSpeed, connections))
}

/// Compares a window with the required one.
fn tcp_window(look: &Look<'_>, direction: Direction, buffer: Option<TcpBuffer>) -> Check {
    let throughput = buffer.zip(look.options.round_trip.clone()).map(|(buffer, round_trip)| {
        let rate = window::carried_bytes_per_s(buffer.window_bytes as f64, round_trip.seconds);
        WindowThroughput { round_trip, per_connection: BytesPerSec::new(rate) }
    });
    let mut found = TcpWindow { direction, buffer, throughput, needed: None };
    let (Some(TcpBuffer { window_bytes, .. }), Some(throughput), Some(required)) =
        (found.buffer, &found.throughput, required(look))
    else {
        return Check::new(Status::NotKnown, Finding::TcpWindow(found));
    };
    let (total, origin, connections) = required;
    let per_connection = total.get() / connections as f64;
    let needed = window::needed_bytes(per_connection, throughput.round_trip.seconds);
    let status = match needed > window_bytes as f64 {
        false => Status::Ok,
        // The network's part of the round-trip time may be short enough.
        true if throughput.round_trip.is_upper_bound() => Status::Warning,
        true => Status::Problem,
    };
    let most = look.client.setting(SettingName::TcpBufferMaxRecommended);
    found.needed = Some(NeededWindow {
        total,
        origin,
        connections,
        window_bytes: needed.ceil() as u64,
        // The window is at least half of the buffer.
        buffer_bytes: most.max((2.0 * needed).ceil() as u64),
    });
    Check::new(status, Finding::TcpWindow(found))
}

fn receive_buffer(look: &Look<'_>) -> Option<TcpBuffer> {
    let buffer_bytes = look.facts.last_number("tcp.rmem")?;
    let scale = look.facts.get("tcp.adv_win_scale").and_then(|scale| scale.parse().ok());
    let window_bytes = match look.facts.get("tcp.window_scaling") {
        Some("0") => window::UNSCALED_MAX_BYTES,
        _ => window::offered_bytes(buffer_bytes, scale),
    };
    Some(TcpBuffer { buffer_bytes, window_bytes })
}

fn send_buffer(look: &Look<'_>) -> Option<TcpBuffer> {
    let buffer_bytes = look.facts.last_number("tcp.wmem")?;
    let window_bytes = match look.facts.get("tcp.window_scaling") {
        Some("0") => window::UNSCALED_MAX_BYTES.min(buffer_bytes),
        _ => buffer_bytes,
    };
    Some(TcpBuffer { buffer_bytes, window_bytes })
}

fn scaling(look: &Look<'_>) -> Check {
    let value = look.text("tcp.window_scaling");
    Check::new(switch_status(value.as_deref()), Finding::WindowScaling(value))
}

fn growth(look: &Look<'_>) -> Check {
    let value = look.text("tcp.moderate_rcvbuf");
    Check::new(switch_status(value.as_deref()), Finding::ReceiveBufferGrowth(value))
}

/// The result of a sysctl that should not be 0.
fn switch_status(value: Option<&str>) -> Status {
    match value {
        None => Status::NotKnown,
        Some("0") => Status::Problem,
        Some(_) => Status::Ok,
    }
}

fn congestion(look: &Look<'_>) -> Check {
    let status = match look.facts.get("tcp.congestion_control") {
        None => Status::NotKnown,
        Some("cubic" | "bbr" | "bbr2" | "bbr3" | "dctcp" | "htcp") => Status::Ok,
        Some(_) => Status::Hint,
    };
    Check::new(status, Finding::CongestionControl(look.text("tcp.congestion_control")))
}

fn after_idle(look: &Look<'_>) -> Check {
    let status = match look.facts.get("tcp.slow_start_after_idle") {
        None => Status::NotKnown,
        Some("0") => Status::Ok,
        Some(_) => Status::Hint,
    };
    Check::new(status, Finding::SlowStartAfterIdle(look.text("tcp.slow_start_after_idle")))
}

fn program_buffers(look: &Look<'_>) -> Check {
    let read = look.facts.number("core.rmem_max");
    let found = read.zip(look.facts.number("core.wmem_max"));
    let status = if found.is_some() { Status::Ok } else { Status::NotKnown };
    let buffers = found.map(|(read, write)| ProgramBuffers { read, write });
    Check::new(status, Finding::ProgramBuffers(buffers))
}
