//! Names in a legend, without the parts that all of them share and cut if they are long. The caption
//! has the full names.

use crate::drawing::Chart;

/// Longer names are cut.
const NAME_MAX: usize = 56;

/// Shortens the names of a chart's measured series. Panels with titles keep theirs, which are the
/// same.
pub(super) fn shorten(chart: &mut Chart) {
    if chart.panels.iter().any(|panel| !panel.title.is_empty()) {
        return;
    }
    let mut names: Vec<String> = Vec::new();
    for series in chart.panels.iter().flat_map(|panel| &panel.series) {
        if series.is_measured() && !names.contains(&series.name) {
            names.push(series.name.clone());
        }
    }
    let short = shortened(&names);
    for (name, _) in &mut chart.colours {
        if let Some(index) = names.iter().position(|known| known == name) {
            name.clone_from(&short[index]);
        }
    }
    for series in chart.panels.iter_mut().flat_map(|panel| &mut panel.series) {
        if let Some(index) = names.iter().position(|name| *name == series.name) {
            series.name.clone_from(&short[index]);
        }
    }
}

/// The names without the parts that all have in common; unchanged if that would make one of them
/// empty, or two equal.
fn shortened(names: &[String]) -> Vec<String> {
    let parts = |name: &String| -> Vec<String> {
        name.split(", ").flat_map(|part| part.split(": ")).map(str::to_owned).collect()
    };
    let all: Vec<Vec<String>> = names.iter().map(parts).collect();
    let shared = |part: &String| all.len() > 1 && all.iter().all(|parts| parts.contains(part));
    let differing = all.iter().map(|parts| {
        let own: Vec<&str> = parts.iter().filter(|p| !shared(p)).map(String::as_str).collect();
        own.join(", ")
    });
    let differing: Vec<String> = differing.collect();
    let are_distinct = |names: &[String]| {
        (0..names.len()).all(|n| !names[n].is_empty() && !names[..n].contains(&names[n]))
    };
    let full = if are_distinct(&differing) { differing } else { names.to_vec() };
    let cut: Vec<String> = full.iter().map(|name| without_middle(name)).collect();
    if are_distinct(&cut) { cut } else { full }
}

/// A long name without its middle, because names differ at their beginning and end.
fn without_middle(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME_MAX {
        return name.to_owned();
    }
    let (from, to) = (NAME_MAX / 2, count - NAME_MAX / 2 + 1);
    let kept = |range: std::ops::Range<usize>| -> String {
        name.chars().skip(range.start).take(range.len()).collect()
    };
    format!("{}…{}", kept(0..from).trim_end(), kept(to..count).trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str]) -> Vec<String> {
        shortened(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn parts_that_all_names_share_are_left_out() {
        assert_eq!(
            short(&["read, workers=1, nconnect=4", "read, workers=2, nconnect=4"]),
            ["workers=1", "workers=2"]
        );
        assert_eq!(
            short(&["A (near): read 8 KiB", "B (far): read 8 KiB"]),
            ["A (near)", "B (far)"]
        );
        assert_eq!(short(&["only one"]), ["only one"]);
        assert_eq!(short(&["read", "read, workers=2"]), ["read", "read, workers=2"]);
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let long = |end: &str| format!("{} {end}", "random read of 8 KiB with a name ".repeat(3));
        let short = short(&[&long("x"), &long("y")]);
        assert!(short.iter().all(|name| name.chars().count() <= NAME_MAX), "{short:?}");
        assert!(short[0].starts_with("random read") && short[0].ends_with(" x"), "{short:?}");
    }
}
