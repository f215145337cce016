//! What records are called where several are side by side: a letter, and what tells it from the
//! others.

use analysis::Findings;

use crate::number::date;

/// Longer labels have no room in a legend.
const LABEL_MAX: usize = 48;

/// `A (nfs://near/vol1)`, `B (nfs://far/vol1)`: by what differs among target, experiment and time.
pub fn labels(records: &[&Findings]) -> Vec<String> {
    let differ = |of: fn(&Findings) -> String| {
        let all: Vec<String> = records.iter().map(|record| of(record)).collect();
        (1..all.len()).all(|place| !all[..place].contains(&all[place])).then_some(all)
    };
    let apart = differ(|record| record.target.clone())
        .or_else(|| differ(|record| record.name.clone()))
        .or_else(|| same_day(records).then(|| differ(|r| time(r.started_unix_ms))).flatten())
        .or_else(|| differ(|record| date(record.started_unix_ms)))
        .unwrap_or_else(|| records.iter().map(|record| record.id.clone()).collect());
    let label = |(place, apart): (usize, &String)| format!("{} ({})", letter(place), cut(apart));
    apart.iter().enumerate().map(label).collect()
}

/// `2026-11-21`, of `2026-11-21 06:15:33 UTC`.
const DAY: usize = 10;

fn same_day(records: &[&Findings]) -> bool {
    let day = |record: &&Findings| date(record.started_unix_ms)[..DAY].to_owned();
    records.iter().map(day).collect::<Vec<_>>().windows(2).all(|pair| pair[0] == pair[1])
}

/// `06:15:33 UTC`
fn time(unix_ms: u64) -> String {
    date(unix_ms)[DAY..].trim().to_owned()
}

/// `A` to `Z`, then `27` and so on.
fn letter(place: usize) -> String {
    let letter = u8::try_from(place).ok().filter(|place| *place < 26).map(|place| b'A' + place);
    letter.map_or_else(|| (place + 1).to_string(), |letter| char::from(letter).to_string())
}

/// The end of a long target tells more than its beginning.
fn cut(words: &str) -> String {
    let count = words.chars().count();
    if count <= LABEL_MAX {
        return words.to_owned();
    }
    let kept: String = words.chars().skip(count - LABEL_MAX + 1).collect();
    format!("…{kept}")
}
