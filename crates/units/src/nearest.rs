//! Spelling suggestions for unknown names.

/// The word of `known` that is nearest to `word`, if at most a third of its letters differ. Case and
/// spaces are ignored, and `-` equals `_`.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    known
        .into_iter()
        .map(|other| (distance(&word, &plain(other)), other))
        .min()
        .filter(|(distance, other)| *distance <= other.chars().count().max(3) / 3)
        .map(|(_, other)| other)
}

/// The known words and the nearest one: `there are AV36, AV64; did you mean `AV36`?`.
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
    // No known name is longer than this, so the rest of a longer word cannot matter.
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
    fn a_misspelled_name_is_recognised_and_an_unrelated_word_is_not() {
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
    fn an_unknown_word_is_answered_with_the_known_words_and_the_nearest_one() {
        let known = ["standard", "premium"];
        assert_eq!(
            unknown("premum", &known),
            "there are standard, premium; did you mean `premium`?"
        );
        assert_eq!(unknown("gold", &known), "there are standard, premium");
    }

    #[test]
    fn the_distance_is_levenshteins() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
