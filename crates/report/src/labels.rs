//! Labels of several records side by side: a letter, and what distinguishes the record.

use analysis::Findings;

use crate::number::date;

/// Longer labels do not fit in a legend.
const LABEL_MAX: usize = 48;

/// `A (nfs://near/vol1)`, `B (nfs://far/vol1)`: by the first that differs of target, experiment and
/// time.
pub(crate) fn labels(records: &[&Findings]) -> Vec<String> {
    let differ = |of: fn(&Findings) -> String| {
        let all: Vec<String> = records.iter().map(|record| of(record)).collect();
        (1..all.len()).all(|index| !all[..index].contains(&all[index])).then_some(all)
    };
    let details = differ(|record| record.target.clone())
        .or_else(|| differ(|record| record.name.clone()))
        .or_else(|| same_day(records).then(|| differ(|r| time(r.started_unix_ms))).flatten())
        .or_else(|| differ(|record| date(record.started_unix_ms)))
        .unwrap_or_else(|| records.iter().map(|record| record.id.clone()).collect());
    let label = |(index, detail): (usize, &String)| format!("{} ({})", letter(index), cut(detail));
    details.iter().enumerate().map(label).collect()
}

/// The length of the day in `2026-11-21 06:15:33 UTC`.
const DAY_CHARS: usize = 10;

fn same_day(records: &[&Findings]) -> bool {
    let day = |record: &&Findings| date(record.started_unix_ms)[..DAY_CHARS].to_owned();
    records.iter().map(day).collect::<Vec<_>>().windows(2).all(|pair| pair[0] == pair[1])
}

/// `06:15:33 UTC`
fn time(unix_ms: u64) -> String {
    date(unix_ms)[DAY_CHARS..].trim().to_owned()
}

/// `A` to `Z`, then `27` and so on.
fn letter(index: usize) -> String {
    let letter = u8::try_from(index).ok().filter(|index| *index < 26).map(|index| b'A' + index);
    letter.map_or_else(|| (index + 1).to_string(), |letter| char::from(letter).to_string())
}

/// The end of a long text, because targets differ at their end.
fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= LABEL_MAX {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - LABEL_MAX + 1).collect();
    format!("…{kept}")
}
