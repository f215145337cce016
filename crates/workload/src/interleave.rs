//! The order of an interleaved comparison: each run of a plan is executed on two targets, as a block
//! of two runs. This module decides which target is first in each block.
//!
//! Half of the blocks of a load point start with one side and half with the other (an odd one by
//! chance), in random order from the plan's seed, so that neither a drift of the host nor an
//! advantage of the first position favours a side (Fisher, "The Design of Experiments", 1935).

use crate::plan::Plan;
use crate::random;
use crate::run::Run;

const ORDER_SEED: u64 = 0xAB;

/// One of the two sides of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedSide {
    /// The target named first.
    A,
    /// The target named second.
    B,
}

impl ComparedSide {
    /// Both sides, in the user's order.
    pub const BOTH: [ComparedSide; 2] = [ComparedSide::A, ComparedSide::B];

    /// The label in text and files.
    pub const fn label(self) -> char {
        match self {
            ComparedSide::A => 'A',
            ComparedSide::B => 'B',
        }
    }

    /// The position in an array of both.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other one.
    pub const fn other(self) -> ComparedSide {
        match self {
            ComparedSide::A => ComparedSide::B,
            ComparedSide::B => ComparedSide::A,
        }
    }

    /// The side with this label.
    pub fn labelled(label: char) -> Option<ComparedSide> {
        ComparedSide::BOTH.into_iter().find(|side| side.label() == label)
    }
}

/// `order[position]`: the side that is measured first for the fixed run at this position of the plan.
pub fn order(plan: &Plan) -> Vec<ComparedSide> {
    let runs: Vec<&Run> = plan.known_runs().collect();
    let same = |a: &Run, b: &Run| a.variant == b.variant && a.parameters == b.parameters;
    let mut order = vec![ComparedSide::A; runs.len()];
    for (position, run) in runs.iter().enumerate() {
        if runs[..position].iter().any(|earlier| same(earlier, run)) {
            continue;
        }
        let blocks: Vec<usize> = (position..runs.len()).filter(|i| same(runs[*i], run)).collect();
        let seed = random::derive(random::derive(plan.seed, ORDER_SEED), position as u64);
        // With an odd number of blocks, one side starts once more; the seed picks it.
        let sides = match seed & 1 {
            0 => ComparedSide::BOTH,
            _ => [ComparedSide::B, ComparedSide::A],
        };
        for (turn, block) in random::shuffled(seed, blocks.len()).into_iter().enumerate() {
            order[blocks[block]] = sides[turn % 2];
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::TargetSpec;
    use crate::resolve::{ResolveOptions, resolve};

    fn plan(repeats: u32, seed: u64) -> Plan {
        let text = format!(
            "name = \"turns\"\n[run]\nrepeats = {repeats}\nseed = {seed}\n[stream.data]\n\
             read = \"100%\"\npattern = \"random\"\ntransfer_size = \"8KiB\"\n\
             file_size = \"1MiB\"\nqueue_depth = [1, 2]\n"
        );
        let experiment = crate::experiment::parse_with(&text, "test", &[]).expect("it is valid");
        let options = ResolveOptions::LOCAL;
        resolve(&experiment, "test", TargetSpec::Null, &options).expect("it is possible")
    }

    #[test]
    fn each_side_is_first_in_half_of_the_blocks_of_every_load_point() {
        for (repeats, seed) in [(4, 1), (5, 2), (10, 3), (1, 4)] {
            let plan = plan(repeats, seed);
            let order = order(&plan);
            for depth in ["1", "2"] {
                let of_point = plan.known_runs().zip(&order);
                let firsts: Vec<ComparedSide> = of_point
                    .filter(|(run, _)| run.parameters[0].1 == depth)
                    .map(|(_, first)| *first)
                    .collect();
                let a = firsts.iter().filter(|side| **side == ComparedSide::A).count() as u32;
                assert_eq!(firsts.len() as u32, repeats);
                assert!(a == repeats / 2 || a == repeats.div_ceil(2), "{firsts:?}");
            }
        }
    }

    #[test]
    fn the_order_is_random_and_depends_on_the_seed() {
        assert_eq!(order(&plan(6, 1)), order(&plan(6, 1)));
        let orders: std::collections::BTreeSet<String> = (1..=100)
            .map(|seed| order(&plan(6, seed))[..6].iter().map(|side| side.label()).collect())
            .collect();
        // Of the 20 orders of three A and three B, 100 seeds miss one with a probability of
        // 20 * 0.95^100 = 12 %, and more than three with less than 1 in 10,000.
        assert!(orders.len() >= 17, "{orders:?}");
    }
}
