//! What follows a result on the terminal: where it is stored, and the commands for more.

use std::io::IsTerminal;
use std::path::Path;

use commands::keep::record_name::{previous, short_name};
use commands::refusal::quoted;

use crate::record_args::StoreArguments;

/// The name of a line is padded to this width.
const NAME_WIDTH: usize = 9;

/// A line of the footer: `record   20261122-192154-four-corners-4ab5`.
pub(super) fn line(name: &str, value: &str) -> String {
    format!("{name:<NAME_WIDTH$}{value}")
}

/// Lines that these take on a terminal, which breaks longer ones.
pub(super) fn height(lines: &[String], width: usize) -> usize {
    lines.iter().map(|line| line.chars().count().div_ceil(width).max(1)).sum()
}

/// The commands that show everything about a record and compare it with the one before, on one line
/// if there is room.
pub(super) fn commands(arguments: &StoreArguments, id: &str, width: usize) -> Vec<String> {
    let store = arguments.open();
    let name = short_name(&store, id);
    let option = store_option();
    let full = line("more", &format!("fourcorners show {name} --full{option}"));
    let previous = previous(&store, id)
        .map(|previous| line("compare", &format!("fourcorners compare {previous} {name}{option}")));
    joined([Some(full), previous].into_iter().flatten().collect(), width)
}

/// The command that shows all figures of a comparison.
pub(super) fn full_comparison(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
    line("more", &format!("fourcorners compare {} --full{}", ids.join(" "), store_option()))
}

/// All on one line if there is room.
fn joined(lines: Vec<String>, width: usize) -> Vec<String> {
    let one = lines.join("    ");
    if one.chars().count() <= width { vec![one] } else { lines }
}

/// ` --store DIR` if it was given on this command line, where the user may not see the default.
fn store_option() -> String {
    let words: Vec<String> = std::env::args().collect();
    let after = |index: usize| words.get(index + 1).cloned();
    let given = words.iter().enumerate().find_map(|(index, word)| match word.as_str() {
        "--store" => after(index),
        other => other.strip_prefix("--store=").map(str::to_owned),
    });
    given.map_or(String::new(), |directory| format!(" --store {}", quoted(&directory)))
}

/// A path with `~` for the home directory, if a shell would expand it. A program that reads the
/// output would not, so only on a terminal.
pub(super) fn short_path(path: &Path) -> String {
    let whole = path.display().to_string();
    if !std::io::stdout().is_terminal() {
        return whole;
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty() && home != "/");
    let below = home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf));
    match below {
        Some(below) if quoted(&whole) == whole => format!("~/{}", below.display()),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_share_a_line_if_there_is_room() {
        let lines = || vec!["more     a".to_owned(), "compare  b".to_owned()];
        assert_eq!(joined(lines(), 24), ["more     a    compare  b"]);
        assert_eq!(joined(lines(), 23), lines());
        assert_eq!(height(&lines(), 9), 4);
    }
}
