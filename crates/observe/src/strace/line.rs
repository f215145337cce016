//! The parts of a line: `[pid 12] 1700000000.123456 read(3</f>, "..", 4096) = 4096 <0.000123>`.

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;
/// Smaller times are relative to the line before (`-r`) and give no order between threads.
const EPOCH_S_MIN: u64 = 100_000_000;
/// Seconds in a day.
const S_PER_DAY: u64 = 86_400;

/// A line of a trace.
#[derive(Debug, PartialEq)]
pub(super) struct Line<'a> {
    /// The thread's ID; without -f the trace has one thread.
    pub(super) thread: Option<u64>,
    /// Its time, since 1970 or since midnight.
    pub(super) time_ns: Option<u64>,
    /// The rest.
    pub(super) part: Part<'a>,
}

/// What a line has.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    /// A call from begin to end.
    Whole(Call<'a>),
    /// The text of a call that is interrupted.
    Begin(&'a str),
    /// The rest of such a call.
    End(&'a str),
    /// A signal or the end of a process.
    Event,
    /// Something else.
    Unknown,
}

/// A call with its arguments and result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    /// Empty if the trace ends within the line.
    pub(super) result: &'a str,
    pub(super) duration_ns: Option<u64>,
}

impl<'a> Line<'a> {
    pub(super) fn parse(text: &'a str) -> Line<'a> {
        let (thread, rest) = thread(text);
        let (time_ns, rest) = time(rest);
        Line { thread, time_ns, part: part(rest) }
    }
}

impl<'a> Call<'a> {
    /// Whether the line has a result.
    pub(super) fn is_complete(&self) -> bool {
        !self.result.is_empty()
    }

    /// The number that the call returns; `None` for `?` and addresses.
    pub(super) fn returned(&self) -> Option<i64> {
        let end = self.result.find(|c: char| !(c.is_ascii_digit() || c == '-'));
        self.result[..end.unwrap_or(self.result.len())].parse().ok()
    }

    /// The arguments, split at commas outside of strings, brackets and paths.
    pub(super) fn split(&self) -> Vec<&'a str> {
        let (text, bytes) = (self.arguments, self.arguments.as_bytes());
        let (mut parts, mut start, mut depth, mut at) = (Vec::new(), 0, 0i32, 0);
        while at < bytes.len() {
            match bytes[at] {
                b'"' => at = end_of_string(bytes, at),
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b'<' if at > 0 && bytes[at - 1].is_ascii_alphanumeric() => {
                    at += path_length(&bytes[at..]);
                }
                b',' if depth == 0 => {
                    parts.push(text[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        let last = text.get(start..).unwrap_or_default().trim();
        if !last.is_empty() {
            parts.push(last);
        }
        parts
    }
}

/// The index of the quote that ends the string that begins at `at`.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    at
}

/// Bytes up to the `>` that ends the path of a descriptor; paths of devices have another pair within.
fn path_length(bytes: &[u8]) -> usize {
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            // The arrow in `TCP:[a->b]`.
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// A descriptor with its path, if the trace has it: `3</data/f>`.
pub(super) fn descriptor(argument: &str) -> Option<(i64, Option<&str>)> {
    let (number, rest) = match argument.find('<') {
        Some(at) => argument.split_at(at),
        None => (argument, ""),
    };
    let number = match number {
        "AT_FDCWD" => -100,
        number => number.parse().ok()?,
    };
    let path = rest.strip_prefix('<').map(|path| &path[..path_length(rest.as_bytes()) - 1]);
    Some((number, path.map(|path| path.strip_suffix(" (deleted)").unwrap_or(path))))
}

fn thread(text: &str) -> (Option<u64>, &str) {
    if let Some(rest) = text.strip_prefix("[pid") {
        if let Some((number, rest)) = rest.split_once(']') {
            return (number.trim().parse().ok(), rest.trim_start());
        }
        return (None, text);
    }
    match text.split_once(' ') {
        Some((number, rest)) if !number.is_empty() => match number.parse() {
            Ok(number) => (Some(number), rest.trim_start()),
            Err(_) => (None, text),
        },
        _ => (None, text),
    }
}

fn time(text: &str) -> (Option<u64>, &str) {
    let Some((word, rest)) = text.split_once(' ') else { return (None, text) };
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return (None, text);
    }
    let clock: Vec<&str> = word.split(':').collect();
    match clock.as_slice() {
        [seconds] => match nanoseconds(seconds) {
            Some(ns) => (Some(ns).filter(|ns| ns / NS_PER_S >= EPOCH_S_MIN), rest.trim_start()),
            None => (None, text),
        },
        [hours, minutes, seconds] => {
            let whole = |text: &str| text.parse::<u64>().ok().filter(|number| *number < 60);
            let ns = || {
                let minutes = whole(hours)? * 60 + whole(minutes)?;
                Some(minutes * 60 * NS_PER_S + nanoseconds(seconds)?)
            };
            match ns().filter(|ns| *ns < S_PER_DAY * NS_PER_S) {
                Some(ns) => (Some(ns), rest.trim_start()),
                None => (None, text),
            }
        }
        _ => (None, text),
    }
}

/// Seconds with a fraction as nanoseconds, exactly.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.get(..fraction.len().min(9))?;
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos: u64 = format!("{digits:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(NS_PER_S)?.checked_add(nanos)
}

fn part(text: &str) -> Part<'_> {
    if text.starts_with("+++") || text.starts_with("---") || text.starts_with("strace: ") {
        return Part::Event;
    }
    if let Some(rest) = text.strip_prefix("<... ") {
        return match rest.split_once(" resumed>") {
            Some((_, rest)) => Part::End(rest),
            None => Part::Unknown,
        };
    }
    // A call that lasts while strace detaches has no end in the trace.
    let begins = ["<unfinished ...>", "<detached ...>"];
    if let Some(begin) = begins.into_iter().find_map(|end| text.strip_suffix(end)) {
        return Part::Begin(begin);
    }
    let Some((name, rest)) = text.split_once('(') else { return Part::Unknown };
    if !is_name(name) {
        return Part::Unknown;
    }
    let (rest, duration_ns) = duration(rest);
    // Data may contain `) = ` as well; the result is the last one. Short calls are padded before it.
    let mut signs = rest.rmatch_indices(" = ");
    let found = signs.find_map(|(at, _)| {
        let arguments = rest[..at].trim_end().strip_suffix(')')?;
        Some((arguments, rest[at + 3..].trim()))
    });
    let (arguments, result) = found.unwrap_or((rest, ""));
    Part::Whole(Call { name, arguments, result, duration_ns })
}

/// Whether a word can be the name of a call.
pub(super) fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The time of a call at the end of its line: `<0.000123>`.
fn duration(text: &str) -> (&str, Option<u64>) {
    let found = || {
        let (rest, seconds) = text.strip_suffix('>')?.rsplit_once('<')?;
        Some((rest.trim_end(), nanoseconds(seconds)?))
    };
    found().map_or((text, None), |(rest, ns)| (rest, Some(ns)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Call<'_> {
        match Line::parse(text).part {
            Part::Whole(call) => call,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_has_thread_time_call_result_and_duration() {
        let line = Line::parse(
            "[pid  77] 1700000000.000123 pread64(3</a, b>, \"x) = 7\\\"\"..., 8192, 4096) = 8192 <0.000011>",
        );
        assert_eq!((line.thread, line.time_ns), (Some(77), Some(1_700_000_000_000_123_000)));
        let Part::Whole(call) = line.part else { panic!("{:?}", line.part) };
        assert_eq!(
            (call.name, call.returned(), call.duration_ns),
            ("pread64", Some(8192), Some(11_000))
        );
        assert_eq!(call.split(), ["3</a, b>", "\"x) = 7\\\"\"...", "8192", "4096"]);
        assert_eq!(descriptor(call.split()[0]), Some((3, Some("/a, b"))));
    }

    #[test]
    fn threads_and_times_are_optional() {
        let line = Line::parse("12    10:00:01.5 close(3) = 0");
        assert_eq!((line.thread, line.time_ns), (Some(12), Some(36_001_500_000_000)));
        let line = Line::parse("close(3)                                = 0");
        assert_eq!((line.thread, line.time_ns), (None, None));
        assert_eq!(call("close(3)                    = 0").returned(), Some(0));
        // Relative times.
        assert_eq!(Line::parse("     0.000100 close(3) = 0".trim_start()).time_ns, None);
    }

    #[test]
    fn interrupted_calls_events_and_cut_lines_are_distinguished() {
        assert_eq!(Line::parse("7 read(3, <unfinished ...>").part, Part::Begin("read(3, "));
        assert_eq!(Line::parse("7 read(3, <detached ...>").part, Part::Begin("read(3, "));
        assert_eq!(
            Line::parse("7 <... read resumed>\"a\", 1) = 1").part,
            Part::End("\"a\", 1) = 1")
        );
        assert_eq!(Line::parse("+++ exited with 0 +++").part, Part::Event);
        assert_eq!(Line::parse("hello world").part, Part::Unknown);
        assert!(!call("7 pread64(3</f>, \"ab").is_complete());
    }

    #[test]
    fn descriptors_have_paths_of_files_and_names_of_sockets() {
        let of = |text| descriptor(text).unwrap();
        assert_eq!(of("0</dev/pts/0<char 136:0>>"), (0, Some("/dev/pts/0<char 136:0>")));
        assert_eq!(of("5<TCP:[1.2.3.4:5->6.7.8.9:80]>"), (5, Some("TCP:[1.2.3.4:5->6.7.8.9:80]")));
        assert_eq!(of("3</tmp/x (deleted)>"), (3, Some("/tmp/x")));
        assert_eq!(of("AT_FDCWD</tmp>"), (-100, Some("/tmp")));
        assert_eq!(of("4"), (4, None));
        assert_eq!(descriptor("NULL"), None);
    }
}
