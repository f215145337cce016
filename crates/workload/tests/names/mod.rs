//! Operations on names, compared with a model that remembers every name, and with formulas.

mod model;
mod order;
mod sizes;
mod tree;

use workload::names::{NameLoad, NameMix, NameProblem, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;

/// A load with as many files as it needs for `lanes` lanes, and `more` for each.
fn load(mix: &[(OpKind, u16)], lanes: u32, queue_depth: u32, more: u64) -> NameLoad {
    let mut load = NameLoad {
        tree: TreeShape {
            files: 1,
            depth: 2,
            width: 4,
            directories: 13,
            name_length: 9,
            spread: NameSpread::RoundRobin,
            sizes: NameSize::Lognormal { median_bytes: 4096, sigma: 1.5, max_bytes: 1 << 20 },
        },
        mix: NameMix::of(mix),
        append_bytes: 512,
        scenario: None,
    };
    if let Some(NameProblem::TooFewFiles { files_min }) = load.problem(lanes, queue_depth) {
        load.tree.files = files_min;
    }
    load.tree.files += more;
    assert_eq!(load.problem(lanes, queue_depth), None);
    load
}
