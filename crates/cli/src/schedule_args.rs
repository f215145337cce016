//! `--schedule`: phases of the week, as `peak=5TiB@08-18,off=4TiB`.

use cloud::service_level::ServiceLevel;
use sizing::schedule::WEEK;
use units::Bytes;

/// What is written for a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPhase {
    pub(crate) name: String,
    pub(crate) quota_gib: u64,
    pub(crate) level: Option<ServiceLevel>,
}

/// What is written: phases, and which of them holds in each hour of the week from Monday 00:00 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenSchedule {
    pub(crate) phases: Vec<WrittenPhase>,
    pub(crate) hours: Vec<usize>,
}

const WANTED: &str = "phases such as `peak=5TiB@08-18,off=4TiB` or `week=8TiB:ultra@mon-fri,\
                      weekend=4TiB:premium`: NAME=SIZE[:LEVEL][@[DAY-DAY/]HH-HH]";
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Reads phases. One may be without hours: it has the rest of the week.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn parse(text: &str) -> Result<WrittenSchedule, String> {
    let mut phases = Vec::new();
    let mut hours: Vec<Option<usize>> = vec![None; WEEK];
    let mut rest = None;
    for (place, item) in text.split(',').enumerate() {
        let (phase, when) = match item.split_once('@') {
            Some((phase, when)) => (phase, Some(when)),
            None => (item, None),
        };
        phases.push(written(phase)?);
        match when {
            Some(when) => claim(&mut hours, place, &phases, when)?,
            None if rest.is_some() => {
                return Err("two phases are without hours; only one has the rest".to_owned());
            }
            None => rest = Some(place),
        }
    }
    if let Some(hour) = hours.iter().position(Option::is_none)
        && rest.is_none()
    {
        let (day, hour) = (DAYS[hour / 24], hour % 24);
        return Err(format!("{day} {hour:02}:00 is in no phase; leave one without hours"));
    }
    let taken = |place: usize| rest == Some(place) || hours.contains(&Some(place));
    if let Some(place) = (0..phases.len()).find(|place| !taken(*place)) {
        return Err(format!("{} has no hours", phases[place].name));
    }
    let hours = hours.iter().map(|hour| hour.or(rest).unwrap_or_default()).collect();
    Ok(WrittenSchedule { phases, hours })
}

fn written(text: &str) -> Result<WrittenPhase, String> {
    let (name, amount) = text.split_once('=').ok_or_else(|| format!("wanted {WANTED}"))?;
    let (size, level) = match amount.split_once(':') {
        Some((size, level)) => (size, Some(crate::size_args::level(level)?)),
        None => (amount, None),
    };
    let size: Bytes = size.parse().map_err(|error: units::ParseError| error.to_string())?;
    match (name.trim(), size.get().div_ceil(1 << 30)) {
        ("", _) => Err(format!("wanted {WANTED}")),
        (name, 0) => Err(format!("{name} has no size")),
        (name, quota_gib) => Ok(WrittenPhase { name: name.to_owned(), quota_gib, level }),
    }
}

/// Gives the hours of `when` to the phase at `place`.
fn claim(
    hours: &mut [Option<usize>],
    place: usize,
    phases: &[WrittenPhase],
    when: &str,
) -> Result<(), String> {
    let wrong = || format!("`{when}` is no time; wanted `08-18`, `mon-fri` or `mon-fri/08-18`");
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
    // From 22 to 06 goes on into the next day.
    let length = if to > from { to - from } else { to + 24 - from };
    for day in days {
        for after in 0..length {
            let hour = (day * 24 + from + after) % WEEK;
            match hours[hour] {
                Some(other) if other != place => {
                    return Err(format!(
                        "{} {:02}:00 is in {} and in {}",
                        DAYS[hour / 24],
                        hour % 24,
                        phases[other].name,
                        phases[place].name
                    ));
                }
                _ => hours[hour] = Some(place),
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
            .map(|place| written.hours.iter().filter(|hour| **hour == place).count())
            .collect()
    }

    #[test]
    fn phases_have_their_hours_and_one_the_rest() {
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
    fn what_is_no_week_is_refused_with_its_hour() {
        for (text, words) in [
            ("peak", "wanted phases such as"),
            ("peak=fast", "a size such as"),
            ("peak=0@08-18,off=1TiB", "peak has no size"),
            ("peak=5TiB@08-18", "mon 00:00 is in no phase"),
            ("a=5TiB,b=4TiB", "two phases are without hours"),
            ("a=5TiB@08-18,b=4TiB@17-08", "mon 17:00 is in a and in b"),
            ("a=5TiB@8am,b=4TiB", "no time"),
            ("a=5TiB@08-08,b=4TiB", "no time"),
            ("a=5TiB@08-25,b=4TiB", "no time"),
            ("a=5TiB@00-24,b=4TiB@00-24", "is in a and in b"),
            ("a=5TiB@00-24,b=4TiB", "never"),
            ("a=5TiB:gold@08-18,b=4TiB", "there are standard"),
        ] {
            match parse(text) {
                Ok(written) => assert_eq!((words, written.hours.contains(&1)), ("never", false)),
                Err(said) => assert!(said.contains(words), "{text}: {said}"),
            }
        }
    }
}
