//! Sizes of files: a pure function of random bits.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::random;
use crate::value::exact_bytes;

/// More sizes are not listed in a description.
const SIZES_LISTED_MAX: usize = 4;

/// The distribution of file sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameSize {
    /// Sizes with weights: a constant, a list, or the contents of a file.
    Weighted {
        /// At least one, with a sum of weights above 0.
        sizes: Vec<WeightedFileSize>,
    },
    /// The logarithm of the size is normally distributed.
    Lognormal {
        /// Half of the files are smaller.
        median_bytes: u64,
        /// Standard deviation of the natural logarithm of the size.
        sigma: f64,
        /// Larger sizes are cut to this.
        max_bytes: u64,
    },
}

/// A file size and its share of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightedFileSize {
    /// The size, below 4 GiB.
    pub size_bytes: u64,
    /// Share of the files: this weight over the sum of weights.
    pub weight: u64,
}

impl fmt::Display for NameSize {
    /// `4KiB`, `70% 4KiB + 30% 64KiB` or `lognormal, median 16KiB, sigma 1.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameSize::Weighted { sizes } => match sizes.as_slice() {
                [only] => f.write_str(&exact_bytes(only.size_bytes)),
                [first, .., last] if sizes.len() > SIZES_LISTED_MAX => {
                    let (first, last) =
                        (exact_bytes(first.size_bytes), exact_bytes(last.size_bytes));
                    write!(f, "{} sizes from {first} to {last}", sizes.len())
                }
                _ => {
                    let sum: u64 = sizes.iter().map(|size| size.weight).sum();
                    for (at, size) in sizes.iter().enumerate() {
                        let plus = if at == 0 { "" } else { " + " };
                        let percent = (size.weight as f64 / sum as f64 * 1000.0).round() / 10.0;
                        write!(f, "{plus}{percent}% {}", exact_bytes(size.size_bytes))?;
                    }
                    Ok(())
                }
            },
            NameSize::Lognormal { median_bytes, sigma, .. } => {
                write!(f, "lognormal, median {}, sigma {sigma}", exact_bytes(*median_bytes))
            }
        }
    }
}

impl NameSize {
    /// All files of one size.
    pub fn constant(size_bytes: u64) -> NameSize {
        NameSize::Weighted { sizes: vec![WeightedFileSize { size_bytes, weight: 1 }] }
    }

    /// The largest possible size, in bytes.
    pub fn max_bytes(&self) -> u64 {
        match self {
            NameSize::Weighted { sizes } => {
                sizes.iter().map(|size| size.size_bytes).max().unwrap_or(0)
            }
            NameSize::Lognormal { max_bytes, .. } => *max_bytes,
        }
    }
}

/// A distribution that is prepared for drawing.
#[derive(Clone, Debug)]
pub struct FileSizes {
    kind: Prepared,
}

#[derive(Clone, Debug)]
enum Prepared {
    Constant(u32),
    /// Sizes with the sum of the weights up to each.
    Weighted(Box<[(u64, u32)]>),
    Lognormal {
        log_median: f64,
        sigma: f64,
        max_bytes: f64,
    },
}

impl FileSizes {
    /// Prepares a distribution. Sizes from 4 GiB on, which no plan has, are cut.
    pub fn new(sizes: &NameSize) -> FileSizes {
        let cut = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let kind = match sizes {
            NameSize::Weighted { sizes } if sizes.len() == 1 => {
                Prepared::Constant(cut(sizes[0].size_bytes))
            }
            NameSize::Weighted { sizes } => {
                let mut to_here = 0;
                let summed = sizes.iter().map(|size| {
                    to_here += size.weight;
                    (to_here, cut(size.size_bytes))
                });
                Prepared::Weighted(summed.collect())
            }
            NameSize::Lognormal { median_bytes, sigma, max_bytes } => Prepared::Lognormal {
                log_median: (*median_bytes as f64).ln(),
                sigma: *sigma,
                max_bytes: f64::from(cut(*max_bytes)),
            },
        };
        FileSizes { kind }
    }

    /// The size, in bytes, that 64 random bits select.
    #[inline]
    pub fn size_bytes(&self, bits: u64) -> u32 {
        match &self.kind {
            Prepared::Constant(bytes) => *bytes,
            Prepared::Weighted(sizes) => {
                let Some((sum, _)) = sizes.last() else { return 0 };
                let draw = random::below(bits, *sum);
                let found = sizes.partition_point(|(to_here, _)| *to_here <= draw);
                sizes.get(found).map_or(0, |(_, bytes)| *bytes)
            }
            Prepared::Lognormal { log_median, sigma, max_bytes } => {
                let size = (log_median + sigma * standard_normal(bits)).exp();
                size.round().clamp(0.0, *max_bytes) as u32
            }
        }
    }
}

/// A number of the standard normal distribution from 64 random bits.
///
/// Source: Box, Muller, "A note on the generation of random normal deviates", Annals of Mathematical
/// Statistics 29(2), 1958.
fn standard_normal(bits: u64) -> f64 {
    // Not 0, whose logarithm is infinite.
    let radius = (-2.0 * (1.0 - random::unit(bits)).ln()).sqrt();
    radius * (std::f64::consts::TAU * random::unit(random::mix64(bits))).cos()
}
