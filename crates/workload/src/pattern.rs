//! Where operations go: the access pattern over a working set.

use rand_distr::{Distribution, Zipf};
use serde::{Deserialize, Serialize};

use crate::random::{self, CounterRng};

/// The access pattern of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessPattern {
    /// Each worker walks through the working set from a starting point of its own and wraps at the
    /// end.
    Sequential,
    /// Every place is equally likely, each time anew (with replacement).
    Uniform,
    /// The k-th most popular place is chosen in proportion to `k^-theta`; popular places are
    /// scattered.
    Zipf {
        /// The skew, above 0.
        theta: f64,
    },
    /// `accesses_permille` of the operations go to the first `area_permille` of each file's area.
    HotSet {
        /// Size of the hot part, in thousandths of the area.
        area_permille: u16,
        /// Share of the operations that go there, in thousandths.
        accesses_permille: u16,
    },
}

/// Chooses a place out of `places` equal places, as a pure function of random bits or of the step.
#[derive(Clone, Debug)]
pub(crate) enum Places {
    Sequential { places: u64, lanes: u64 },
    Uniform { places: u64 },
    Zipf { places: u64, popular: Zipf<f64>, multiplier: u64 },
    HotSet { hot: u64, cold: u64, accesses_permille: u64 },
}

impl Places {
    /// Prepares `pattern` for a working set of `places` places walked by `lanes` workers.
    pub(crate) fn new(pattern: AccessPattern, places: u64, lanes: u32) -> Places {
        assert!(places > 0, "a working set has at least one place");
        match pattern {
            AccessPattern::Sequential => Places::Sequential { places, lanes: u64::from(lanes) },
            AccessPattern::Uniform => Places::Uniform { places },
            AccessPattern::Zipf { theta } => Places::Zipf {
                places,
                popular: Zipf::new(places as f64, theta).expect("the plan allows theta > 0 only"),
                multiplier: scatter_multiplier(places),
            },
            AccessPattern::HotSet { area_permille, accesses_permille } => {
                let hot = (places as u128 * u128::from(area_permille) / 1000) as u64;
                let hot = hot.clamp(1, places);
                let cold = places - hot;
                // Where everything is hot there is no cold place to send the rest to.
                let accesses_permille = if cold == 0 { 1000 } else { u64::from(accesses_permille) };
                Places::HotSet { hot, cold, accesses_permille }
            }
        }
    }

    /// The place of step `step` of worker `lane`; `bits` are 64 random bits of this operation.
    #[inline]
    pub(crate) fn place(&self, lane: u32, step: u64, bits: u64) -> u64 {
        match self {
            Places::Uniform { places } => random::below(bits, *places),
            Places::Sequential { places, lanes } => {
                let start = (u128::from(lane) * u128::from(*places) / u128::from(*lanes)) as u64;
                (start + step) % places
            }
            Places::Zipf { places, popular, multiplier } => {
                let rank = popular.sample(&mut Adapter(CounterRng::new(bits))) as u64;
                let rank = rank.clamp(1, *places) - 1;
                ((u128::from(rank) * u128::from(*multiplier)) % u128::from(*places)) as u64
            }
            Places::HotSet { hot, cold, accesses_permille } => {
                let coin = random::below(random::mix64(bits), 1000);
                if coin < *accesses_permille {
                    random::below(bits, *hot)
                } else {
                    hot + random::below(bits, *cold)
                }
            }
        }
    }
}

/// A multiplier coprime to `places`, near the golden section of it: `rank * multiplier mod places`
/// is a bijection that puts neighbouring ranks far apart.
fn scatter_multiplier(places: u64) -> u64 {
    let mut multiplier = ((places as f64 * 0.618_033_988_749_894_8) as u64).max(1);
    while greatest_common_divisor(multiplier, places) != 1 {
        multiplier += 1;
    }
    multiplier
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The counter generator in the form that `rand_distr` takes.
struct Adapter(CounterRng);

impl rand_core::TryRng for Adapter {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok((self.0.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.0.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}
