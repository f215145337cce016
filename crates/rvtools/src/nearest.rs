//! The name that may have been meant.

/// Of `names` the one that `wanted` is fewest edits away from, if those are few for its length.
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = plain(wanted);
    let most = (wanted.chars().count() / 3).clamp(1, 4);
    names
        .into_iter()
        .map(|name| (edits(&wanted, &plain(name)), name))
        .filter(|(edits, _)| *edits <= most)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// Without case and blanks: how headings are compared.
pub(crate) fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_whitespace() && *c != '\u{feff}')
        .flat_map(char::to_lowercase)
        .collect()
}

/// Insertions, removals and exchanges of letters that lead from one word to the other
/// (Levenshtein's distance, by Wagner and Fischer's table kept in one row).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (place, other) in to.iter().enumerate() {
            let exchanged = diagonal + usize::from(letter != *other);
            diagonal = row[place + 1];
            row[place + 1] = exchanged.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_found_and_a_far_one_is_not() {
        let names = ["VM", "Powerstate", "Provisioned MiB", "In Use MiB"];
        assert_eq!(nearest("Provisioned MiB", ["Provisoned MiB"]), Some("Provisoned MiB"));
        assert_eq!(nearest("Power state", names), Some("Powerstate"));
        assert_eq!(nearest("Datacenter", names), None);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
    }
}
