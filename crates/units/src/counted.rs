//! Counts with their noun.

use crate::thousands;

/// `1 pool`, `3 volumes`, `2,000 hosts`, for nouns whose plural takes an `s`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// The first `most` of some names, and how many more there are: `a and b`, `a, b and 3 more`.
pub fn listed<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let mut words: Vec<String> =
        names.iter().take(most).map(|name| name.as_ref().to_owned()).collect();
    if names.len() > most {
        words.push(format!("{} more", thousands((names.len() - most) as u64)));
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
        assert_eq!(listed::<&str>(&[], 8), "");
        assert_eq!(listed(&["a"], 2), "a");
        assert_eq!(listed(&["a", "b"], 2), "a and b");
        assert_eq!(listed(&["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(listed(&["a"; 1_002], 1), "a and 1,001 more");
    }

    #[test]
    fn one_is_singular_and_all_others_are_plural() {
        assert_eq!(counted(1, "connection"), "1 connection");
        assert_eq!(counted(0, "host"), "0 hosts");
        assert_eq!(counted(1_000, "slot"), "1,000 slots");
    }
}
