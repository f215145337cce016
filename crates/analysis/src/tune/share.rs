//! Divides a whole number as evenly as possible: outstanding operations over hosts and files.

/// A number of holders with equal shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of holders.
    pub holders: u64,
    /// Share of each.
    pub each: u64,
}

/// Divides `total` among `holders`: at most two sizes of share, which differ by one, the larger one
/// first. Holders without a share are left out.
///
/// Source: division with remainder, `total = each * holders + rest`: `rest` of them get one more.
pub fn shares(total: u64, holders: u64) -> Vec<Share> {
    let holders = holders.max(1);
    let (each, rest) = (total / holders, total % holders);
    [Share { holders: rest, each: each + 1 }, Share { holders: holders - rest, each }]
        .into_iter()
        .filter(|share| share.holders > 0 && share.each > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_differ_by_one_at_most() {
        for total in 0..200 {
            for holders in 1..20 {
                let shares = shares(total, holders);
                assert_eq!(shares.iter().map(|s| s.holders * s.each).sum::<u64>(), total);
                assert!(shares.iter().map(|s| s.holders).sum::<u64>() <= holders);
                if let [larger, smaller] = shares[..] {
                    assert_eq!(larger.each, smaller.each + 1);
                }
            }
        }
        assert_eq!(shares(7, 3), [Share { holders: 1, each: 3 }, Share { holders: 2, each: 2 }]);
        assert_eq!(shares(2, 3), [Share { holders: 2, each: 1 }]);
    }
}
