//! A profile as an experiment file, with comments on what it does not express.

use std::io::{self, Write};
use std::time::Duration;

use observe::profile::{ArrivalProfile, Pattern, StreamProfile};
use observe::{Observation, Profile};
use units::print_duration;

use super::{answer, words};
use crate::prose::wrap;

/// Columns of comments.
const COLUMNS: usize = 100;
/// The rates that an experiment may have.
const RATE_MIN: f64 = 0.001;
const RATE_MAX: f64 = 1e9;
/// The longest think time, in nanoseconds.
const THINK_TIME_MAX_NS: u64 = 3_600_000_000_000;

/// Writes the file.
///
/// * `name` - the experiment's name, up to 100 characters
///
/// # Errors
/// Those of `out`.
pub fn write(
    observation: &Observation,
    profile: &Profile,
    name: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = String::new();
    let comment = |sentence: &str, text: &mut String| {
        wrap(&one_line(sentence), "# ", "# ", COLUMNS, text);
    };
    let bullet = |sentence: &str, text: &mut String| {
        wrap(&one_line(sentence), "# - ", "#   ", COLUMNS, text);
    };
    comment("Offers the load that `fourcorners observe` found in a trace.", &mut text);
    for sentence in answer(observation) {
        comment(&sentence, &mut text);
    }
    if !profile.left_out.is_empty() {
        text.push_str("#\n");
        comment("Not expressed by this file:", &mut text);
        for one in &profile.left_out {
            bullet(&words::left_out(one), &mut text);
        }
    }
    let name: String = name.chars().filter(|c| !c.is_control() && !"\"\\".contains(*c)).collect();
    text.push_str(&format!("name = \"{name}\"\n"));
    for stream in &profile.streams {
        write_stream(stream, &mut text);
    }
    out.write_all(text.as_bytes())
}

/// Comments end with their line.
pub(super) fn one_line(sentence: &str) -> String {
    sentence.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn write_stream(stream: &StreamProfile, text: &mut String) {
    text.push_str(&format!("\n[stream.{}]\n", stream.name));
    let mut key = |name: &str, value: String| text.push_str(&format!("{name} = {value}\n"));
    let sizes: Vec<String> = stream
        .sizes
        .iter()
        .map(|(size, share)| format!("\"{}\" = \"{}\"", size_text(*size), share_text(*share)))
        .collect();
    key("read", format!("\"{}\"", share_text(stream.read_permille)));
    key(
        "transfer_size",
        match stream.sizes.as_slice() {
            [(size, _)] => format!("\"{}\"", size_text(*size)),
            _ => format!("{{ {} }}", sizes.join(", ")),
        },
    );
    key(
        "pattern",
        match stream.pattern {
            Pattern::Sequential => "\"sequential\"".to_owned(),
            Pattern::Random => "\"random\"".to_owned(),
            Pattern::Seek { permille } => format!("{{ seek = \"{}\" }}", share_text(permille)),
            Pattern::HotTenth { accesses_permille } => format!(
                "{{ hot_set = {{ area = \"10%\", accesses = \"{}\" }} }}",
                share_text(accesses_permille)
            ),
        },
    );
    key("files", stream.files.to_string());
    key("file_size", format!("\"{}\"", size_text(stream.file_size_bytes)));
    if let Some(area) = stream.area_bytes {
        key("area", format!("\"{}\"", size_text(area)));
    }
    key("queue_depth", stream.queue_depth.to_string());
    key("arrival", arrival(stream.arrival));
    if let Some(direct) = stream.direct {
        key("direct", direct.to_string());
    }
    if stream.dsync {
        key("dsync", "true".to_owned());
    }
    if let Some(every) = stream.fsync_every {
        key("fsync_every", every.to_string());
    }
}

fn arrival(arrival: ArrivalProfile) -> String {
    let rate = |per_s: f64| format!("\"{:.3}/s\"", per_s.clamp(RATE_MIN, RATE_MAX));
    match arrival {
        ArrivalProfile::Closed { think_time_ns: 0 } => "\"closed\"".to_owned(),
        ArrivalProfile::Closed { think_time_ns } => {
            let micros = think_time_ns.min(THINK_TIME_MAX_NS).div_ceil(1000);
            let time = print_duration(Duration::from_micros(micros));
            format!("{{ closed = {{ think_time = \"{time}\" }} }}")
        }
        ArrivalProfile::Constant { per_s } => format!("{{ constant = {} }}", rate(per_s)),
        ArrivalProfile::Poisson { per_s } => format!("{{ poisson = {} }}", rate(per_s)),
    }
}

/// Thousandths as percent: `70%`, `33.4%`.
fn share_text(permille: u16) -> String {
    format!("{}%", f64::from(permille) / 10.0)
}

/// Bytes in the largest unit that divides them: `8KiB`, `1536`.
fn size_text(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}
