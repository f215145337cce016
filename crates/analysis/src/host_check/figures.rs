//! Numbers in the sentences of checks.

use units::{Nanos, thousands};

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// `1,907.3 MiB/s`.
pub(super) fn mib_s(bytes_per_s: f64) -> String {
    let mib = bytes_per_s / MIB;
    if mib < 10.0 {
        return format!("{mib:.2} MiB/s");
    }
    let tenths = (mib * 10.0).round() as u64;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{} MiB/s", thousands(whole)),
        (whole, tenth) => format!("{}.{tenth} MiB/s", thousands(whole)),
    }
}

/// `262,144 bytes`.
pub(super) fn bytes(count: u64) -> String {
    format!("{} bytes", thousands(count))
}

/// `310 us`.
pub(super) fn time(seconds: f64) -> String {
    Nanos(seconds * 1e9).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_a_reader_wants_them() {
        assert_eq!(mib_s(2e9), "1,907.3 MiB/s");
        assert_eq!(mib_s(MIB * 64.0), "64 MiB/s");
        assert_eq!(mib_s(MIB * 1.25), "1.25 MiB/s");
        assert_eq!(bytes(262_144), "262,144 bytes");
        assert_eq!(time(0.00031), "310 us");
    }
}
