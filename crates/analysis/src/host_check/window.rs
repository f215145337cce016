//! The TCP window that a throughput requires, and the throughput of a window.
//!
//! A connection carries at most one window per round trip (RFC 9293, RFC 7323), which is Little's
//! law for bytes: `window = throughput x round-trip time`. Section 11 of the NetApp white paper
//! (2019) has the same formulas, but misprinted (one divides a time by 8 bytes).

/// Bytes in flight for a throughput: `throughput x round-trip time`.
///
/// * `bytes_per_s` — throughput of one connection
/// * `round_trip_s` — round-trip time of the network, without the server's own time
pub fn needed_bytes(bytes_per_s: f64, round_trip_s: f64) -> f64 {
    bytes_per_s * round_trip_s
}

/// Throughput of a window on one connection, in bytes per second: `window / round-trip time`.
pub fn carried_bytes_per_s(window_bytes: f64, round_trip_s: f64) -> f64 {
    window_bytes / round_trip_s
}

/// The window that the kernel advertises for a receive buffer; the rest is overhead.
///
/// * `buffer_bytes` — the largest buffer (third number of `net.ipv4.tcp_rmem`)
/// * `adv_win_scale` — `net.ipv4.tcp_adv_win_scale`, default 1; `None` for half (since Linux 6.6
///   the
///   kernel measures the overhead, starting with half)
///
/// Source: Documentation/networking/ip-sysctl.rst of Linux, `tcp_win_from_space`.
pub fn offered_bytes(buffer_bytes: u64, adv_win_scale: Option<i64>) -> u64 {
    match adv_win_scale.unwrap_or(1) {
        scale @ 1..=31 => buffer_bytes - (buffer_bytes >> scale),
        scale @ -31..=0 => buffer_bytes >> -scale,
        _ => buffer_bytes / 2,
    }
}

/// The largest window without window scaling: 16 bits of the header (RFC 9293, 3.1).
pub const UNSCALED_MAX_BYTES: u64 = 65_535;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_throughput_times_round_trip() {
        // 1,500 MiB/s over 1 ms: 1.5 MiB, and a thousandth of that for 1 us.
        let mib = f64::from(1 << 20);
        assert_eq!(needed_bytes(1500.0 * mib, 1e-3), 1.5 * mib);
        // 10 Gbit/s over 2 ms, the usual example: 2.5 MB.
        assert_eq!(needed_bytes(10e9 / 8.0, 2e-3), 2_500_000.0);
        // The functions are inverse.
        assert_eq!(carried_bytes_per_s(needed_bytes(123_456_789.0, 4e-3), 4e-3), 123_456_789.0);
        // The default of 6 MiB, half of it window, carries 1,500 MiB/s over at most 2 ms.
        assert_eq!(carried_bytes_per_s(offered_bytes(6 << 20, None) as f64, 2e-3), 1500.0 * mib);
    }

    #[test]
    fn a_part_of_the_buffer_is_overhead() {
        for (scale, offered) in
            [(None, 512), (Some(1), 512), (Some(2), 768), (Some(0), 1024), (Some(-2), 256)]
        {
            assert_eq!(offered_bytes(1024, scale), offered, "{scale:?}");
        }
        assert_eq!(offered_bytes(1024, Some(i64::MIN)), 512, "invalid scales do not shift");
    }
}
