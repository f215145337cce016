//! Tests of binary sequences for random order.

use crate::randomness::statistics::{assert_plausible, assert_standard_normal, chi_square};

/// The largest lag between two compared draws.
const LAG_MAX: usize = 64;
/// Draws in a word; all patterns of a word are counted.
const WORD: usize = 8;
/// Steps between the draws of a word, so that a word fits a block; 32 is half the width of a network
/// that permutes 1,024 numbers.
const WORD_STRIDES: [usize; 4] = [1, 10, 32, 125];
/// Draws in a block; [`Law::ExactInBlocks`] fixes the number of yes in each.
const BLOCK: usize = 1000;

/// The expected distribution of a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    /// Each draw is yes with this probability, independent of the others.
    Independent(f64),
    /// Exactly this share of each [`BLOCK`] is yes, in any order with equal probability (sampling
    /// without replacement).
    ExactInBlocks(f64),
}

impl Law {
    /// The share of yes.
    fn share(self) -> f64 {
        match self {
            Law::Independent(share) | Law::ExactInBlocks(share) => share,
        }
    }

    fn variance(self) -> f64 {
        self.share() * (1.0 - self.share())
    }

    /// The probability that `yes` particular draws of a block are yes and `no` others are no.
    fn probability(self, yes: usize, no: usize) -> f64 {
        match self {
            Law::Independent(share) => share.powi(yes as i32) * (1.0 - share).powi(no as i32),
            Law::ExactInBlocks(share) => {
                let ones = share * BLOCK as f64;
                let of_yes = (0..yes).map(|drawn| ones - drawn as f64);
                let of_no = (0..no).map(|drawn| BLOCK as f64 - ones - drawn as f64);
                let all = (0..yes + no).map(|drawn| (BLOCK - drawn) as f64).product::<f64>();
                of_yes.chain(of_no).product::<f64>() / all
            }
        }
    }

    /// The expected sum of `(x[i] - share) * (x[i + lag] - share)` over `count` draws.
    fn covariance_sum(self, count: usize, lag: usize) -> f64 {
        match self {
            Law::Independent(_) => 0.0,
            // Draws of one block have a correlation of -1 / (BLOCK - 1); others are uncorrelated.
            Law::ExactInBlocks(_) => {
                let pairs = (count / BLOCK * BLOCK.saturating_sub(lag)) as f64;
                -pairs * self.variance() / (BLOCK as f64 - 1.0)
            }
        }
    }

    /// Mean and variance of the number of a block's pairs `lag` apart that are both yes.
    fn joint_count(self, lag: usize) -> (f64, f64) {
        let of = |draws| self.probability(draws, 0);
        let pairs = (BLOCK - lag) as f64;
        // Ordered choices of two different pairs that share a draw: i, i + lag and i + 2 lag.
        let sharing = 2.0 * BLOCK.saturating_sub(2 * lag) as f64;
        let mean = pairs * of(2);
        let square = mean + sharing * of(3) + (pairs * pairs - pairs - sharing) * of(4);
        (mean, square - mean * mean)
    }
}

/// A binary sequence, 64 draws per word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    /// Zero after the end.
    words: Vec<u64>,
    len: usize,
    ones: u64,
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(draws: I) -> Bits {
        let mut bits = Bits::default();
        for draw in draws {
            if bits.len.is_multiple_of(64) {
                bits.words.push(0);
            }
            *bits.words.last_mut().expect("pushed above") |= u64::from(draw) << (bits.len % 64);
            bits.len += 1;
            bits.ones += u64::from(draw);
        }
        bits
    }
}

impl Bits {
    fn is_set(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// The 64 draws from `index` on; zero after the end.
    fn word_at(&self, index: usize) -> u64 {
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let low = word(index / 64) >> (index % 64);
        if index.is_multiple_of(64) {
            return low;
        }
        low | word(index / 64 + 1) << (64 - index % 64)
    }

    /// Up to `len` draws from `start` on.
    pub(crate) fn slice(&self, start: usize, len: usize) -> Bits {
        let len = len.min(self.len - start);
        let mut words: Vec<u64> =
            (0..len.div_ceil(64)).map(|at| self.word_at(start + 64 * at)).collect();
        if let Some(last) = words.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last &= (1 << (len % 64)) - 1;
        }
        let ones = words.iter().map(|word| u64::from(word.count_ones())).sum();
        Bits { words, len, ones }
    }

    /// Number of draws that are yes and whose counterpart in `other`, `lag` draws later, is yes.
    fn joint(&self, other: &Bits, lag: usize) -> u64 {
        let both = |(at, word): (usize, &u64)| word & other.word_at(64 * at + lag);
        self.words.iter().enumerate().map(both).map(|both| u64::from(both.count_ones())).sum()
    }

    /// The sum of `(self[i] - share) * (other[i + lag] - other_share)`.
    fn covariance_sum(&self, share: f64, other: &Bits, other_share: f64, lag: usize) -> f64 {
        let pairs = self.len - lag;
        let first = self.ones - self.slice(pairs, lag).ones;
        let second = other.ones - other.slice(0, lag).ones;
        self.joint(other, lag) as f64 - other_share * first as f64 - share * second as f64
            + share * other_share * pairs as f64
    }

    /// Mean length of runs of yes, and of runs of no.
    pub(crate) fn mean_runs(&self) -> [f64; 2] {
        // A run of yes ends at each yes that is not followed by a yes; likewise for no.
        let (ones, joint) = (self.ones, self.joint(self, 1));
        let zeros = self.len as u64 - ones;
        let followed = self.slice(0, self.len - 1).ones + self.slice(1, self.len).ones;
        let neither = self.len as u64 - 1 - (followed - joint);
        [ones as f64 / (ones - joint) as f64, zeros as f64 / (zeros - neither) as f64]
    }
}

/// Asserts that sequences follow `law`, by the correlation at lags 1 to 64 and by the frequency of each
/// pattern of eight draws at several strides.
pub(crate) fn assert_random_order(sequences: &[Bits], law: Law, what: &str) {
    let mut scores = Vec::new();
    for bits in sequences {
        for lag in 1..=LAG_MAX {
            let share = law.share();
            let found = bits.covariance_sum(share, bits, share, lag);
            let correlation = found / (bits.len - lag) as f64 / law.variance();
            let deviation = found - law.covariance_sum(bits.len, lag);
            scores.push(deviation / law.variance() / ((bits.len - lag) as f64).sqrt());
            // Ten standard deviations of a million draws.
            let most = 0.01 * (1e6 / bits.len as f64).max(1.0).sqrt();
            assert!(correlation.abs() < most, "{what}, lag {lag}: correlation {correlation}");
        }
    }
    assert_standard_normal(scores, &format!("{what}, correlation at lags 1 to {LAG_MAX}"));

    // A fixed sum per block leaves fewer degrees of freedom than chi-square is given here, so the
    // probability is too large, never too small.
    let probability = |word: usize| {
        let ones = word.count_ones() as usize;
        law.probability(ones, WORD - ones)
    };
    let probabilities: Vec<f64> = (0..1 << WORD).map(probability).collect();
    for stride in WORD_STRIDES {
        let mut observed = vec![0u64; 1 << WORD];
        for bits in sequences {
            for start in word_starts(bits.len, stride) {
                let draw = |bit: usize| usize::from(bits.is_set(start + bit * stride)) << bit;
                observed[(0..WORD).map(draw).sum::<usize>()] += 1;
            }
        }
        let what = format!("{what}, words of {WORD} draws that are {stride} apart");
        assert_plausible(chi_square(&observed, &probabilities), &what);
    }
}

/// The starts of words with draws `stride` apart, without overlap and within blocks.
fn word_starts(len: usize, stride: usize) -> impl Iterator<Item = usize> {
    let span = WORD * stride;
    let spans = (0..len / BLOCK)
        .flat_map(move |block| (0..BLOCK / span).map(move |number| block * BLOCK + number * span));
    spans.flat_map(move |start| start..start + stride)
}

/// Asserts that the number of pairs `lag` apart that are both yes varies between blocks as `law`
/// predicts. At lag 1 this is the runs test (Wald and Wolfowitz, "On a test whether two samples are
/// from the same population", 1940).
pub(crate) fn assert_blocks_vary(sequences: &[Bits], law: Law, lags: &[usize], what: &str) {
    let blocks: Vec<Bits> = sequences
        .iter()
        .flat_map(|bits| (0..bits.len / BLOCK).map(|block| bits.slice(block * BLOCK, BLOCK)))
        .collect();
    let count = blocks.len() as f64;
    let mut scores = Vec::new();
    for lag in lags {
        let (mean, variance) = law.joint_count(*lag);
        let deviations = blocks.iter().map(|block| block.joint(block, *lag) as f64 - mean);
        let squares: f64 = deviations.map(|deviation| deviation * deviation).sum();
        // The variance of a squared standard normal is 2.
        scores.push((squares / variance - count) / (2.0 * count).sqrt());
    }
    assert_plausible(
        crate::randomness::statistics::largest_score(&scores),
        &format!("{what}: {scores:?}"),
    );
}

/// Asserts that the sequences of a pair are uncorrelated, up to a lag of `lag_max` in both directions.
pub(crate) fn assert_independent<'a>(
    pairs: impl IntoIterator<Item = (&'a Bits, Law, &'a Bits, Law)>,
    lag_max: usize,
    what: &str,
) {
    let mut scores = Vec::new();
    for (first, first_law, second, second_law) in pairs {
        let deviation = (first_law.variance() * second_law.variance()).sqrt();
        let mut score = |(a, of_a): (&Bits, Law), (b, of_b): (&Bits, Law), lag: usize| {
            let found = a.covariance_sum(of_a.share(), b, of_b.share(), lag);
            scores.push(found / deviation / ((a.len - lag) as f64).sqrt());
        };
        for lag in 0..=lag_max {
            score((first, first_law), (second, second_law), lag);
            if lag > 0 {
                score((second, second_law), (first, first_law), lag);
            }
        }
    }
    assert_standard_normal(scores, what);
}
