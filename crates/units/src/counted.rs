//! Counts with their noun.

use crate::thousands;

/// `1 pool`, `3 volumes`, `2,000 hosts`, for nouns whose plural takes an `s`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// How many names [`listed`] gives.
const LISTED_MAX: usize = 8;

/// Some names, the first eight and how many more there are: `a and b`, `a, b, ... and 3 more`.
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let mut words: Vec<String> =
        names.iter().take(LISTED_MAX).map(|name| name.as_ref().to_owned()).collect();
    if names.len() > LISTED_MAX {
        words.push(format!("{} more", thousands((names.len() - LISTED_MAX) as u64)));
    }
    match words.pop() {
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} and {last}", words.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_ends_with_the_number_of_the_others() {
        assert_eq!(listed::<&str>(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        assert_eq!(listed(&many[..8]), "a, b, c, d, e, f, g and h");
        assert_eq!(listed(&many), "a, b, c, d, e, f, g, h and 1 more");
        assert!(listed(&["a"; 1_009]).ends_with(", a and 1,001 more"));
    }

    #[test]
    fn one_is_singular_and_all_others_are_plural() {
        assert_eq!(counted(1, "connection"), "1 connection");
        assert_eq!(counted(0, "host"), "0 hosts");
        assert_eq!(counted(1_000, "slot"), "1,000 slots");
    }
}
