//! Counts with their noun.

use crate::thousands;

/// `1 pool`, `3 volumes`, `2,000 hosts`, for nouns whose plural takes an `s`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_others_are_plural() {
        assert_eq!(counted(1, "connection"), "1 connection");
        assert_eq!(counted(0, "host"), "0 hosts");
        assert_eq!(counted(1_000, "slot"), "1,000 slots");
    }
}
