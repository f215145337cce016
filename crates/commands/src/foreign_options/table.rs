//! Options of fio and Vdbench, and their equivalents.
//!
//! Sources: fio 3.36, HOWTO ("Job file parameters", "Command line options"); Vdbench 5.04.07 users
//! guide, "Workload Definition" and "Run Definition".

use units::{Bytes, Percent, parse_duration, print_duration};
use workload::value::Value;

/// An option of another load generator.
#[derive(Debug)]
pub struct ForeignOption {
    /// Its names, without leading dashes and with `_`, the usual one first.
    pub names: &'static [&'static str],
    /// The tool it belongs to.
    pub tool: Tool,
    /// It requires a value.
    pub takes_value: bool,
    /// A value that has an equivalent; every row is tested with it.
    pub example: &'static str,
    /// The equivalent of a value, or why there is none. Without a value it gets `1`.
    pub translate: fn(&str, &Given<'_>) -> Result<Equivalent, String>,
}

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// fio.
    Fio,
    /// Vdbench.
    Vdbench,
}

impl Tool {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Fio => "fio",
            Tool::Vdbench => "Vdbench",
        }
    }
}

/// What to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equivalent {
    /// `--set KEY=VALUE` for each.
    Set(Vec<(&'static str, String)>),
    /// An option, with its value if it takes one.
    Option(&'static str, Option<String>),
    /// The target.
    Target(String),
    /// Nothing, for this reason.
    LeaveOut(&'static str),
}

impl Equivalent {
    /// The arguments, each option with its value.
    pub fn arguments(&self) -> Vec<Vec<String>> {
        match self {
            Equivalent::Set(settings) => settings
                .iter()
                .map(|(key, value)| vec!["--set".to_owned(), format!("{key}={value}")])
                .collect(),
            Equivalent::Option(flag, value) => {
                vec![std::iter::once((*flag).to_owned()).chain(value.clone()).collect()]
            }
            Equivalent::Target(_) | Equivalent::LeaveOut(_) => Vec::new(),
        }
    }

    /// For the list: `--set transfer_size=8KiB`.
    pub fn in_words(&self) -> String {
        match self {
            Equivalent::Target(target) => format!("{target} (the target)"),
            Equivalent::LeaveOut(why) => format!("leave it out: {why}"),
            _ => self.arguments().concat().join(" "),
        }
    }
}

/// All foreign options of a command line; the meaning of some depends on others.
#[derive(Debug)]
pub struct Given<'a>(Vec<(&'static str, Option<&'a str>)>);

impl<'a> Given<'a> {
    /// Options by their first name, with their values.
    pub fn new(options: impl Iterator<Item = (&'static str, Option<&'a str>)>) -> Self {
        Given(options.collect())
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(known, _)| *known == name)?.1
    }

    fn count(&self, name: &str) -> Result<u64, String> {
        self.value(name).map_or(Ok(1), count)
    }
}

impl ForeignOption {
    /// Whether `word` is one of its names: `--rate-iops`.
    pub fn is_called(&self, word: &str) -> bool {
        let name = word.trim_start_matches('-').to_ascii_lowercase().replace('-', "_");
        self.names.contains(&name.as_str())
    }
}

const fn fio(
    names: &'static [&'static str],
    example: &'static str,
    translate: fn(&str, &Given<'_>) -> Result<Equivalent, String>,
) -> ForeignOption {
    ForeignOption { names, tool: Tool::Fio, takes_value: true, example, translate }
}

/// An option of fio without a value.
const fn fio_flag(
    names: &'static [&'static str],
    translate: fn(&str, &Given<'_>) -> Result<Equivalent, String>,
) -> ForeignOption {
    ForeignOption { names, tool: Tool::Fio, takes_value: false, example: "1", translate }
}

const fn vdbench(
    names: &'static [&'static str],
    example: &'static str,
    translate: fn(&str, &Given<'_>) -> Result<Equivalent, String>,
) -> ForeignOption {
    ForeignOption { names, tool: Tool::Vdbench, takes_value: true, example, translate }
}

/// The known options, fio's first.
pub const OPTIONS: &[ForeignOption] = &[
    fio(&["bs", "blocksize"], "8k", |value, _| set("transfer_size", size(value)?)),
    fio(&["iodepth"], "32", |value, _| set("queue_depth", count(value)?.to_string())),
    fio(&["rw", "readwrite"], "randread", operations),
    fio(&["rwmixread"], "70", |value, given| mix(share(value)?, given)),
    fio(&["rwmixwrite"], "30", |value, given| mix(complement(value)?, given)),
    fio(&["size"], "10g", files),
    fio(&["filesize"], "1g", |value, _| set("file_size", size(value)?)),
    fio(&["nrfiles"], "4", |value, given| {
        set("files", (count(value)? * given.count("numjobs")?).to_string())
    }),
    fio(&["runtime"], "60", |value, _| option("--measure", time(value)?)),
    fio(&["ramp_time"], "5s", |value, _| option("--warm-up", time(value)?)),
    fio_flag(&["time_based"], |_, _| leave_out("every run lasts as long as --measure says")),
    fio(&["ioengine"], "libaio", |value, _| match value {
        "io_uring" | "libaio" => option("--engine", "io_uring".to_owned()),
        "psync" | "sync" | "pvsync" | "pvsync2" | "vsync" => option("--engine", "psync".to_owned()),
        _ => {
            Err("none: --engine is auto, io_uring or psync; an nfs:// target needs none".to_owned())
        }
    }),
    fio(&["numjobs"], "4", |value, _| set("workers", count(value)?.to_string())),
    fio(&["direct"], "1", |value, _| direct(value == "1")),
    fio(&["buffered"], "0", |value, _| direct(value == "0")),
    fio(&["filename"], "/mnt/vol1/file", |value, _| match value.rsplit_once('/') {
        Some((directory, _)) if !directory.is_empty() && !value.contains(':') => {
            Ok(Equivalent::Target(directory.to_owned()))
        }
        _ => Err("none: the target is a directory, in which the files are created".to_owned()),
    }),
    fio(&["directory"], "/mnt/vol1", |value, _| Ok(Equivalent::Target(value.to_owned()))),
    fio(&["name"], "job", |_, _| leave_out("the experiment file (-w) has the name")),
    fio(&["rate_iops"], "1000", |value, given| arrival(count(value)?, given)),
    fio(&["rate_process"], "linear", |value, given| match (value, given.value("rate_iops")) {
        ("linear", _) | ("poisson", Some(_)) => leave_out("it is part of the arrival"),
        _ => Err("none without --rate_iops".to_owned()),
    }),
    fio(&["rate"], "8m", |value, given| {
        // 4 KiB is fio's default.
        let (rate, transfer) = (bytes(value)?, bytes(given.value("bs").unwrap_or("4k"))?);
        match transfer > 0 && rate.is_multiple_of(transfer) {
            true => arrival(rate / transfer, given),
            false => Err("none: a rate is in whole operations per second".to_owned()),
        }
    }),
    fio_flag(&["group_reporting"], |_, _| leave_out("results always combine all workers")),
    fio(&["output_format"], "json", |value, _| match value {
        "json" | "json+" => Ok(Equivalent::Option("--json", None)),
        "normal" => leave_out("a table is the default"),
        _ => Err("none: afterwards, fourcorners export last --format csv".to_owned()),
    }),
    fio(&["output"], "out.json", |_, _| leave_out("redirect the output with `>`")),
    fio(&["fsync", "fdatasync"], "8", |value, _| set("fsync_every", count(value)?.to_string())),
    fio(&["sync"], "dsync", |value, _| match value {
        "1" | "sync" | "dsync" => set("dsync", "true".to_owned()),
        "0" | "none" => leave_out("that is the default"),
        _ => Err("none: dsync is true or false".to_owned()),
    }),
    fio(&["thinktime"], "100", |value, _| {
        let time = if value.bytes().all(|b| b.is_ascii_digit()) {
            format!("{value}us")
        } else {
            time(value)?
        };
        set("arrival.closed.think_time", time)
    }),
    fio(&["random_distribution"], "zipf:1.1", |value, _| match value.split_once(':') {
        None if value == "random" => set("pattern", "random".to_owned()),
        Some(("zipf", skew)) if skew.parse::<f64>().is_ok() => set("pattern.zipf", skew.to_owned()),
        _ => Err("none: --set pattern.zipf=SKEW or pattern.hot_set={...}".to_owned()),
    }),
    fio(&["percentage_random"], "25", |value, _| match value {
        "100" => set("pattern", "random".to_owned()),
        "0" => set("pattern", "sequential".to_owned()),
        value => set("pattern.seek", share(value)?),
    }),
    fio(&["randseed"], "7", |value, _| option("--seed", count(value)?.to_string())),
    fio(&["loops"], "3", |value, _| option("--repeats", count(value)?.to_string())),
    fio(&["status_interval"], "1", |value, _| option("--interval", time(value)?)),
    fio(&["verify"], "crc32c", |value, _| match value {
        "0" => leave_out("nothing is verified without --verify"),
        _ => Ok(Equivalent::Option("--verify", None)),
    }),
    fio(&["buffer_compress_percentage"], "50", |value, _| set("compressible", share(value)?)),
    fio(&["dedupe_percentage"], "25", |value, _| set("duplicate", share(value)?)),
    fio_flag(&["thread"], |_, _| leave_out("workers are threads")),
    fio_flag(&["norandommap"], |_, _| leave_out("every random offset is drawn independently")),
    fio_flag(&["randrepeat"], |_, _| leave_out("the same --seed gives the same operations")),
    vdbench(&["xfersize"], "8k", |value, _| set("transfer_size", size(value)?)),
    vdbench(&["rdpct"], "70", |value, _| set("read", share(value)?)),
    vdbench(&["seekpct"], "100", |value, _| match value {
        "100" | "rand" | "random" => set("pattern", "random".to_owned()),
        "0" | "seq" | "eof" | "sequential" => set("pattern", "sequential".to_owned()),
        value => set("pattern.seek", share(value)?),
    }),
    vdbench(&["threads"], "32", |value, _| set("queue_depth", count(value)?.to_string())),
    vdbench(&["iorate"], "1000", |value, given| match value {
        "max" => leave_out("without an arrival, the load is closed"),
        _ => arrival(count(value)?, given),
    }),
    vdbench(&["elapsed"], "60", |value, _| option("--measure", time(value)?)),
    vdbench(&["warmup"], "10", |value, _| option("--warm-up", time(value)?)),
    vdbench(&["interval"], "1", |value, _| option("--interval", time(value)?)),
    vdbench(&["anchor"], "/mnt/vol1", |value, _| Ok(Equivalent::Target(value.to_owned()))),
];

fn set(key: &'static str, value: String) -> Result<Equivalent, String> {
    Ok(Equivalent::Set(vec![(key, value)]))
}

fn option(flag: &'static str, value: String) -> Result<Equivalent, String> {
    Ok(Equivalent::Option(flag, Some(value)))
}

fn leave_out(why: &'static str) -> Result<Equivalent, String> {
    Ok(Equivalent::LeaveOut(why))
}

fn direct(is_direct: bool) -> Result<Equivalent, String> {
    match is_direct {
        true => leave_out("direct I/O is the default"),
        false => Ok(Equivalent::Option("--buffered", None)),
    }
}

/// Pattern and share of reads; the share may be in a separate option.
fn operations(value: &str, given: &Given<'_>) -> Result<Equivalent, String> {
    let pattern = if value.starts_with("rand") { "random" } else { "sequential" };
    let read = match value {
        "read" | "randread" => "100%".to_owned(),
        "write" | "randwrite" => "0%".to_owned(),
        "rw" | "readwrite" | "randrw" => {
            match (given.value("rwmixread"), given.value("rwmixwrite")) {
                (Some(read), _) => share(read)?,
                (None, Some(write)) => complement(write)?,
                // fio's default.
                (None, None) => "50%".to_owned(),
            }
        }
        _ => return Err("none: operations are reads and writes".to_owned()),
    };
    Ok(Equivalent::Set(vec![("pattern", pattern.to_owned()), ("read", read)]))
}

/// The share of reads, which only applies to mixed operations.
fn mix(read: String, given: &Given<'_>) -> Result<Equivalent, String> {
    match given.value("rw") {
        None | Some("rw" | "readwrite" | "randrw") => set("read", read),
        Some(_) => leave_out("`rw` is not a mix"),
    }
}

/// In fio `size` is the data of each job over all its files; a named file is shared by all jobs.
fn files(value: &str, given: &Given<'_>) -> Result<Equivalent, String> {
    let of_job = given.count("nrfiles")?;
    let jobs = if given.value("filename").is_some() { 1 } else { given.count("numjobs")? };
    let each = bytes(value)? / of_job.max(1);
    Ok(Equivalent::Set(vec![
        ("files", (of_job * jobs).to_string()),
        ("file_size", Value::Bytes(each).to_string()),
    ]))
}

/// In fio the rate is that of each job; here it is that of the stream.
fn arrival(of_each: u64, given: &Given<'_>) -> Result<Equivalent, String> {
    let rate = of_each.checked_mul(given.count("numjobs")?).ok_or("none: the rate is too high")?;
    let key = match given.value("rate_process") {
        Some("poisson") => "arrival.poisson",
        _ => "arrival.constant",
    };
    set(key, format!("{rate}/s"))
}

fn count(value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("none: `{value}` is not a whole number"))
}

fn bytes(value: &str) -> Result<u64, String> {
    let bytes: Result<Bytes, _> = value.parse();
    bytes.map(Bytes::get).map_err(|_| format!("none: `{value}` is not one size"))
}

fn size(value: &str) -> Result<String, String> {
    bytes(value).map(|bytes| Value::Bytes(bytes).to_string())
}

fn permille(value: &str) -> Result<u16, String> {
    let number = value.trim_end_matches('%');
    let share: Result<Percent, _> = format!("{number}%").parse();
    share.map(Percent::permille).map_err(|_| format!("none: `{value}` is not a share"))
}

fn share(value: &str) -> Result<String, String> {
    permille(value).map(|share| Value::Share(share).to_string())
}

fn complement(value: &str) -> Result<String, String> {
    permille(value).map(|share| Value::Share(1000u16.saturating_sub(share)).to_string())
}

/// A number without a unit is in seconds, in both tools.
fn time(value: &str) -> Result<String, String> {
    let seconds = value.bytes().all(|byte| byte.is_ascii_digit());
    let text = if seconds { format!("{value}s") } else { value.to_owned() };
    let time = parse_duration(&text).map_err(|_| format!("none: `{value}` is not a duration"))?;
    Ok(print_duration(time))
}
