//! Which operations are reads and which are writes: exact in every thousand, in random order.

use crate::random;

/// Multipliers coprime to 1,000, so that `place * m + c mod 1000` visits every number once.
const MULTIPLIERS: [u16; 16] = [7, 11, 13, 17, 19, 23, 27, 29, 31, 33, 37, 41, 43, 47, 49, 51];

/// The read/write mix of a stream. Of every thousand consecutive data operations of a worker,
/// exactly `read_permille` are reads; which ones is drawn anew for each thousand.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    read_permille: u32,
    seed: u64,
}

impl Mix {
    /// A mix of `read_permille` reads in a thousand, its order drawn from `seed`.
    pub fn new(read_permille: u16, seed: u64) -> Mix {
        assert!(read_permille <= 1000, "a share is at most 1,000 thousandths");
        Mix { read_permille: u32::from(read_permille), seed: random::derive(seed, 0x313) }
    }

    /// Whether data operation `step` of worker `lane` is a read.
    #[inline]
    pub fn is_read(&self, lane: u32, step: u64) -> bool {
        if self.read_permille == 1000 {
            return true;
        }
        if self.read_permille == 0 {
            return false;
        }
        let (thousand, place) = (step / 1000, (step % 1000) as u32);
        let bits = random::at(self.seed ^ (u64::from(lane) << 40), thousand);
        let multiplier = u32::from(MULTIPLIERS[(bits & 15) as usize]);
        let shift = ((bits >> 32) & 0x3ff) as u32;
        (place * multiplier + shift) % 1000 < self.read_permille
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thousand_holds_the_mix_exactly() {
        for read_permille in [1, 100, 333, 500, 700, 999] {
            let mix = Mix::new(read_permille, 42);
            for thousand in 0..20u64 {
                let reads = (0..1000).filter(|p| mix.is_read(3, thousand * 1000 + p)).count();
                assert_eq!(reads, usize::from(read_permille));
            }
        }
    }
}
