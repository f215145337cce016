//! A schedule as the user writes it: phases of the week, `peak=5TiB@08-18,off=4TiB`.

use cloud::service_level::ServiceLevel;
use sizing::schedule::WEEK;
use units::{Bytes, unknown};

/// A phase as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPhase {
    /// Its name.
    pub name: String,
    /// The quota in GiB.
    pub quota_gib: u64,
    /// The service level, if the phase names one.
    pub level: Option<ServiceLevel>,
}

/// A schedule as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSchedule {
    /// The phases.
    pub phases: Vec<WrittenPhase>,
    /// The index of the phase in each hour of the week, from Monday 00:00 on.
    pub hours: Vec<usize>,
}

const EXPECTED: &str = "phases such as `peak=5TiB@08-18,off=4TiB` or `week=8TiB:ultra@mon-fri,\
                      weekend=4TiB:premium`: NAME=SIZE[:LEVEL][@[DAY-DAY/]HH-HH]";
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Parses phases. One may have no hours: it gets the rest of the week.
///
/// # Errors
/// What is wrong.
pub fn parse(text: &str) -> Result<WrittenSchedule, String> {
    let mut phases = Vec::new();
    let mut hours: Vec<Option<usize>> = vec![None; WEEK];
    let mut rest = None;
    for (index, item) in text.split(',').enumerate() {
        let (phase, when) = match item.split_once('@') {
            Some((phase, when)) => (phase, Some(when)),
            None => (item, None),
        };
        phases.push(written(phase)?);
        match when {
            Some(when) => assign(&mut hours, index, &phases, when)?,
            None if rest.is_some() => {
                return Err(
                    "two phases have no hours; only one can get the rest of the week".to_owned()
                );
            }
            None => rest = Some(index),
        }
    }
    if let Some(hour) = hours.iter().position(Option::is_none)
        && rest.is_none()
    {
        let (day, hour) = (DAYS[hour / 24], hour % 24);
        return Err(format!("{day} {hour:02}:00 is in no phase; leave one without hours"));
    }
    let taken = |index: usize| rest == Some(index) || hours.contains(&Some(index));
    if let Some(index) = (0..phases.len()).find(|index| !taken(*index)) {
        return Err(format!("{} has no hours", phases[index].name));
    }
    let hours = hours.iter().map(|hour| hour.or(rest).unwrap_or_default()).collect();
    Ok(WrittenSchedule { phases, hours })
}

/// The service level of this name, in any case.
///
/// # Errors
/// The names that there are.
pub fn level_named(text: &str) -> Result<ServiceLevel, String> {
    let names = ServiceLevel::ALL.map(ServiceLevel::name);
    ServiceLevel::named(&text.to_ascii_lowercase()).ok_or_else(|| unknown(text, &names))
}

fn written(text: &str) -> Result<WrittenPhase, String> {
    let (name, amount) = text.split_once('=').ok_or_else(|| format!("expected {EXPECTED}"))?;
    let (size, level) = match amount.split_once(':') {
        Some((size, level)) => (size, Some(level_named(level)?)),
        None => (amount, None),
    };
    let size: Bytes = size.parse().map_err(|error: units::ParseError| error.to_string())?;
    match (name.trim(), size.get().div_ceil(1 << 30)) {
        ("", _) => Err(format!("expected {EXPECTED}")),
        (name, 0) => Err(format!("{name} has no size")),
        (name, quota_gib) => Ok(WrittenPhase { name: name.to_owned(), quota_gib, level }),
    }
}

/// Assigns the hours of `when` to a phase.
fn assign(
    hours: &mut [Option<usize>],
    index: usize,
    phases: &[WrittenPhase],
    when: &str,
) -> Result<(), String> {
    let wrong =
        || format!("`{when}` is not a time; expected `08-18`, `mon-fri` or `mon-fri/08-18`");
    let (days, times) = match when.split_once('/') {
        Some((days, times)) => (Some(days), Some(times)),
        None if when.starts_with(|c: char| c.is_ascii_digit()) => (None, Some(when)),
        None => (Some(when), None),
    };
    let day = |text: &str| DAYS.iter().position(|d| *d == text.trim().to_ascii_lowercase());
    let days: Vec<usize> = match days {
        None => (0..7).collect(),
        Some(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (day(first).ok_or_else(wrong)?, day(last).ok_or_else(wrong)?);
            (0..=(last + 7 - first) % 7).map(|after| (first + after) % 7).collect()
        }
    };
    let (from, to) = match times {
        None => (0, 24),
        Some(text) => {
            let (from, to) = text.split_once('-').ok_or_else(wrong)?;
            let hour = |text: &str| text.trim().parse::<usize>().ok().filter(|hour| *hour <= 24);
            (hour(from).ok_or_else(wrong)?, hour(to).ok_or_else(wrong)?)
        }
    };
    if from == to {
        return Err(wrong());
    }
    // 22-06 ends on the next day.
    let length = if to > from { to - from } else { to + 24 - from };
    for day in days {
        for after in 0..length {
            let hour = (day * 24 + from + after) % WEEK;
            match hours[hour] {
                Some(other) if other != index => {
                    return Err(format!(
                        "{} {:02}:00 is in {} and in {}",
                        DAYS[hour / 24],
                        hour % 24,
                        phases[other].name,
                        phases[index].name
                    ));
                }
                _ => hours[hour] = Some(index),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(text: &str) -> Vec<usize> {
        let written = parse(text).unwrap();
        (0..written.phases.len())
            .map(|phase| written.hours.iter().filter(|hour| **hour == phase).count())
            .collect()
    }

    #[test]
    fn one_phase_without_hours_gets_the_rest_of_the_week() {
        assert_eq!(hours("peak=5TiB@08-18,off=4TiB"), [70, 98]);
        assert_eq!(hours("week=8TiB:ultra@mon-fri,weekend=4TiB:premium"), [120, 48]);
        assert_eq!(hours("day=5TiB@mon-fri/08-18,off=4TiB"), [50, 118]);
        assert_eq!(hours("night=5TiB@22-06,day=4TiB@06-22"), [56, 112]);
        assert_eq!(hours("weekend=1TiB@sat-sun/00-24,week=2TiB@mon-fri"), [48, 120]);
        let written = parse("peak=5TiB:Ultra@08-18,off=4TiB").unwrap();
        assert_eq!(written.phases[0].level, Some(ServiceLevel::Ultra));
        assert_eq!((written.hours[7], written.hours[8], written.hours[18]), (1, 0, 1));
    }

    #[test]
    fn an_incomplete_or_contradictory_week_is_refused_with_the_hour() {
        for (text, words) in [
            ("peak", "expected phases such as"),
            ("peak=fast", "a size such as"),
            ("peak=0@08-18,off=1TiB", "peak has no size"),
            ("peak=5TiB@08-18", "mon 00:00 is in no phase"),
            ("a=5TiB,b=4TiB", "two phases have no hours"),
            ("a=5TiB@08-18,b=4TiB@17-08", "mon 17:00 is in a and in b"),
            ("a=5TiB@8am,b=4TiB", "not a time"),
            ("a=5TiB@08-08,b=4TiB", "not a time"),
            ("a=5TiB@08-25,b=4TiB", "not a time"),
            ("a=5TiB@00-24,b=4TiB@00-24", "is in a and in b"),
            ("a=5TiB@00-24,b=4TiB", "never"),
            ("a=5TiB:gold@08-18,b=4TiB", "there are standard"),
        ] {
            match parse(text) {
                Ok(written) => assert_eq!((words, written.hours.contains(&1)), ("never", false)),
                Err(error) => assert!(error.contains(words), "{text}: {error}"),
            }
        }
    }
}
