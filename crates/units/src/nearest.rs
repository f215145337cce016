//! The name that may have been meant where an unknown one was written.

/// The word of `known` that is nearest to `word`, if one is near enough to be a slip: at most a
/// third of its letters differ. Case, blanks, and whether words are joined by `-` or `_`, make no
/// difference.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(word);
    known
        .into_iter()
        .map(|other| (distance(&wanted, &plain(other)), other))
        .min()
        .filter(|(distance, other)| *distance <= other.chars().count().max(3) / 3)
        .map(|(_, other)| other)
}

/// What there is, and what may have been meant: `there are AV36, AV64; did you mean `AV36`?`.
pub fn unknown(word: &str, known: &[&str]) -> String {
    let meant = nearest(word, known.iter().copied());
    let meant = meant.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    format!("there are {}{meant}", known.join(", "))
}

fn plain(word: &str) -> String {
    let letters = word.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase);
    letters.map(|c| if c == '-' { '_' } else { c }).collect()
}

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    // What is longer than any name is no slip; no time is spent on it.
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_is_recognised_and_a_stranger_is_not() {
        let known = ["nconnect", "transfer_size", "Standard_D32s_v3", "In Use MiB", "Powerstate"];
        assert_eq!(nearest("nconect", known), Some("nconnect"));
        assert_eq!(nearest("transfer-size", known), Some("transfer_size"));
        assert_eq!(nearest("standard_d32_v3", known), Some("Standard_D32s_v3"));
        assert_eq!(nearest("Power state", known), Some("Powerstate"));
        assert_eq!(nearest("inusemb", known), Some("In Use MiB"));
        assert_eq!(nearest("Datacenter", known), None);
        assert_eq!(nearest("elephant", known), None);
        assert_eq!(nearest("raed", ["queue_depth", "read", "pattern"]), None);
    }

    #[test]
    fn an_unknown_word_is_answered_with_what_there_is_and_what_may_have_been_meant() {
        let known = ["standard", "premium"];
        assert_eq!(
            unknown("premum", &known),
            "there are standard, premium; did you mean `premium`?"
        );
        assert_eq!(unknown("gold", &known), "there are standard, premium");
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
