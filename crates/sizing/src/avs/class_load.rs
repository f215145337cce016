//! The load that a class of a profile assumes for each of its machines.

use units::{Bytes, Share};

/// Thousandths in one.
const MILLI: u128 = 1000;
/// Bytes in a GiB.
const GIB: u128 = 1 << 30;

/// The load of each machine of a class; `None` for the general options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassLoad {
    /// Operations per second.
    pub ops: Option<Rate>,
    /// Bytes per second.
    pub bytes: Option<Rate>,
    /// Bytes of one operation.
    pub transfer_bytes: Option<u64>,
    /// The share of reads.
    pub read: Option<Share>,
}

/// A rate per unit of something that a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Thousandths of operations or bytes per second.
    pub milli: u64,
    /// The unit.
    pub each: Each,
}

/// Units of a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// The machine.
    Vm,
    /// A virtual processor.
    Vcpu,
    /// A GiB in use on datastores, or of the chosen storage figure if that is unknown.
    Gib,
}

impl Rate {
    /// The rate of a machine with these processors and used space, rounded up.
    pub fn of(self, vcpus: u64, used: Bytes) -> u64 {
        let milli = u128::from(self.milli);
        let rate = match self.each {
            Each::Vm => milli.div_ceil(MILLI),
            Each::Vcpu => (milli * u128::from(vcpus)).div_ceil(MILLI),
            // Thousandths times bytes fit in 128 bits.
            Each::Gib => (milli * u128::from(used.get())).div_ceil(MILLI * GIB),
        };
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_exact_and_rounded_up() {
        let rate = |milli, each| Rate { milli, each }.of(4, Bytes::gib(100));
        assert_eq!(rate(50_000, Each::Vm), 50);
        assert_eq!(rate(40_000, Each::Vcpu), 160);
        assert_eq!(rate(1074, Each::Gib), 108);
        assert_eq!(rate(1, Each::Vm), 1);
        assert_eq!(rate(u64::MAX, Each::Vcpu), u64::MAX / 250 + 1);
        assert_eq!(Rate { milli: 500, each: Each::Gib }.of(4, Bytes::ZERO), 0);
    }
}
