//! The rows of the bench: which work, against what, and what must be reached.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::ours::{self, Ours};
use super::table::{Bound, Figure, Outcome, Pair, Sample};
use super::{Options, fio};

/// Where the rows find their files.
pub(crate) struct Place {
    ours: Ours,
    /// A directory on the disk under test.
    disk: PathBuf,
    /// A directory in memory (tmpfs), removed at the end.
    memory: MemoryDirectory,
    root: PathBuf,
}

struct MemoryDirectory(PathBuf);

impl Drop for MemoryDirectory {
    fn drop(&mut self) {
        // Left over it would only hold memory; the next run makes its own.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Place {
    pub(crate) fn new(program: &Path, disk: &Path) -> Result<Place> {
        let memory = PathBuf::from(format!("/dev/shm/fourcorners-bench-{}", std::process::id()));
        std::fs::create_dir_all(&memory).context("make a directory in /dev/shm")?;
        let scratch = disk.join("scratch");
        std::fs::create_dir_all(&scratch)?;
        let target = disk.join("target");
        std::fs::create_dir_all(&target)?;
        Ok(Place {
            ours: Ours { program: program.to_path_buf(), scratch },
            disk: target,
            memory: MemoryDirectory(memory),
            root: super::super::root(),
        })
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// Against fio in pairs.
    Paired(Paired),
    /// Resident memory at queue depth 256 with 4 workers.
    Memory,
    /// Arrivals of an open loop against the declared process.
    Arrivals,
    /// The report of an hour.
    HourReport,
}

/// A row that is measured against fio in pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paired {
    name: &'static str,
    storage: Storage,
    stream: &'static str,
    engine: &'static str,
    fio: &'static [&'static str],
    bounds: &'static [Bound],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
    Nothing,
    DiskCached,
    Disk,
    Memory,
}

const CACHED: &str = "transfer_size = \"4k\"\nread = \"100%\"\npattern = \"random\"\nfiles = 1\n\
    file_size = \"1GiB\"\nqueue_depth = 32\nworkers = 1\ndirect = false";
const CACHED_1: &str = "transfer_size = \"4k\"\nread = \"100%\"\npattern = \"random\"\nfiles = 1\n\
    file_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = false";
const DIRECT_1: &str = "transfer_size = \"8k\"\nread = \"100%\"\npattern = \"random\"\nfiles = 1\n\
    file_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = true";
const DIRECT_32: &str = "transfer_size = \"8k\"\nread = \"100%\"\npattern = \"random\"\nfiles = 1\n\
    file_size = \"1GiB\"\nqueue_depth = 32\nworkers = 1\ndirect = true";
const NULL: &str = "transfer_size = \"4k\"\nread = \"70%\"\npattern = \"random\"\nfiles = 1\n\
    file_size = \"1GiB\"\nqueue_depth = 32\nworkers = 1\ndirect = false";

const WRITE_CACHED_8K: &str = "transfer_size = \"8k\"\nread = \"0%\"\npattern = \"random\"\n\
    files = 1\nfile_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = false";
const WRITE_CACHED_64K: &str = "transfer_size = \"64k\"\nread = \"0%\"\npattern = \"random\"\n\
    files = 1\nfile_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = false";
const WRITE_DIRECT_8K: &str = "transfer_size = \"8k\"\nread = \"0%\"\npattern = \"random\"\n\
    files = 1\nfile_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = true";
const WRITE_DIRECT_64K: &str = "transfer_size = \"64k\"\nread = \"0%\"\npattern = \"random\"\n\
    files = 1\nfile_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = true";

const WRITES_CACHED: [Bound; 2] =
    [Bound::within(Figure::TotalMean, 0.12), Bound::within(Figure::TotalP50, 0.12)];
const WRITES_DIRECT: [Bound; 2] =
    [Bound::within(Figure::TotalMean, 0.12), Bound::within(Figure::TotalP50, 0.12)];

const PAIRED: [Paired; 12] = [
    Paired {
        name: "null",
        storage: Storage::Nothing,
        stream: NULL,
        engine: "auto",
        fio: &[
            "--ioengine=null",
            "--rw=randrw",
            "--rwmixread=70",
            "--bs=4k",
            "--iodepth=32",
            "--size=1g",
        ],
        bounds: &[Bound::at_most(Figure::CpuPerOp, 0.33, 0.2)],
    },
    Paired {
        name: "cached-default",
        storage: Storage::DiskCached,
        stream: CACHED,
        engine: "io_uring",
        fio: &["--ioengine=io_uring", "--rw=randread", "--bs=4k", "--iodepth=32"],
        bounds: &[Bound::at_most(Figure::CpuPerOp, 0.65, 0.55)],
    },
    Paired {
        name: "cached-tuned",
        storage: Storage::DiskCached,
        stream: CACHED,
        engine: "io_uring",
        fio: &[
            "--ioengine=io_uring",
            "--rw=randread",
            "--bs=4k",
            "--iodepth=32",
            "--fixedbufs",
            "--registerfiles",
            "--iodepth_batch=32",
            "--iodepth_batch_complete_min=1",
            "--iodepth_batch_complete_max=32",
            "--norandommap",
        ],
        bounds: &[Bound::at_most(Figure::CpuPerOp, 1.0, 0.93)],
    },
    Paired {
        name: "tmpfs",
        storage: Storage::Memory,
        // One operation at a time, as psync of fio does whatever its depth; where more are
        // outstanding than there are processors, the probe prefers the ring.
        stream: CACHED_1,
        // What the probe chooses there; the row checks that it does.
        engine: "psync",
        fio: &["--ioengine=psync", "--rw=randread", "--bs=4k", "--iodepth=1"],
        bounds: &[Bound::at_most(Figure::CpuPerOp, 0.95, 0.88)],
    },
    Paired {
        name: "direct-depth-1",
        storage: Storage::Disk,
        stream: DIRECT_1,
        engine: "io_uring",
        fio: &["--ioengine=io_uring", "--rw=randread", "--bs=8k", "--iodepth=1", "--direct=1"],
        bounds: &[Bound::at_least(Figure::OpsPerSec, 0.98)],
    },
    Paired {
        name: "direct-depth-32",
        storage: Storage::Disk,
        stream: DIRECT_32,
        engine: "io_uring",
        fio: &["--ioengine=io_uring", "--rw=randread", "--bs=8k", "--iodepth=32", "--direct=1"],
        bounds: &[
            Bound::at_least(Figure::OpsPerSec, 0.98),
            Bound::at_most(Figure::CpuPerOp, 0.8, 0.7),
        ],
    },
    // A blocking call is all completion: fio's clat is the whole call, which is our service time.
    Paired {
        name: "accuracy-psync",
        storage: Storage::Disk,
        stream: DIRECT_1,
        engine: "psync",
        fio: &["--ioengine=psync", "--rw=randread", "--bs=8k", "--direct=1"],
        bounds: &[
            Bound::within(Figure::ServiceMean, 0.03),
            Bound::within(Figure::ServiceP99, 0.05),
        ],
    },
    // Through io_uring fio's clat leaves out the system call that submits; its lat has both, as our
    // service time has.
    Paired {
        name: "accuracy-io_uring",
        storage: Storage::Disk,
        stream: DIRECT_1,
        engine: "io_uring",
        fio: &["--ioengine=io_uring", "--rw=randread", "--bs=8k", "--iodepth=1", "--direct=1"],
        bounds: &[Bound::within(Figure::TotalMean, 0.03), Bound::within(Figure::TotalP99, 0.05)],
    },
    Paired {
        name: "accuracy-write-tmpfs-8k",
        storage: Storage::Memory,
        stream: WRITE_CACHED_8K,
        engine: "psync",
        fio: &["--ioengine=psync", "--rw=randwrite", "--bs=8k", "--norandommap"],
        bounds: &WRITES_CACHED,
    },
    Paired {
        name: "accuracy-write-tmpfs-64k",
        storage: Storage::Memory,
        stream: WRITE_CACHED_64K,
        engine: "psync",
        fio: &["--ioengine=psync", "--rw=randwrite", "--bs=64k", "--norandommap"],
        bounds: &WRITES_CACHED,
    },
    Paired {
        name: "accuracy-write-direct-8k",
        storage: Storage::Disk,
        stream: WRITE_DIRECT_8K,
        engine: "psync",
        fio: &["--ioengine=psync", "--rw=randwrite", "--bs=8k", "--norandommap", "--direct=1"],
        bounds: &WRITES_DIRECT,
    },
    Paired {
        name: "accuracy-write-direct-64k",
        storage: Storage::Disk,
        stream: WRITE_DIRECT_64K,
        engine: "psync",
        fio: &["--ioengine=psync", "--rw=randwrite", "--bs=64k", "--norandommap", "--direct=1"],
        bounds: &WRITES_DIRECT,
    },
];

/// All rows.
pub(crate) fn rows() -> Vec<Row> {
    let paired = PAIRED.iter().copied().map(Row::Paired);
    paired.chain([Row::Arrivals, Row::Memory, Row::HourReport]).collect()
}

impl Row {
    /// The name by which it is asked for.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Row::Paired(paired) => paired.name,
            Row::Memory => "memory",
            Row::Arrivals => "arrivals",
            Row::HourReport => "hour-report",
        }
    }

    /// Measures it.
    pub(crate) fn measure(&self, place: &Place, options: &Options) -> Result<Outcome> {
        match self {
            Row::Paired(paired) => paired.measure(place, options),
            Row::Memory => memory(place, options),
            Row::Arrivals => arrivals(place),
            Row::HourReport => hour_report(place),
        }
    }
}

impl Paired {
    fn measure(&self, place: &Place, options: &Options) -> Result<Outcome> {
        let directory = match self.storage {
            Storage::Nothing => None,
            Storage::Memory => Some(&place.memory.0),
            Storage::Disk | Storage::DiskCached => Some(&place.disk),
        };
        let target = directory.map_or("null:".to_owned(), |path| path.display().to_string());
        let ours = |seconds| place.ours.measure(&target, self.stream, self.engine, seconds, true);
        let mut peer_arguments = self.fio.to_vec();
        // Our fill makes the file; both sides then read the same one.
        let mut file = String::new();
        if let Some(directory) = directory {
            ours(1)?;
            let mut data = data_file(directory)?;
            if self.fio.contains(&"--rw=randwrite") {
                data = copy_for_peer(&data, directory)?;
            }
            file = format!("--filename={}", data.display());
            peer_arguments.extend([file.as_str(), "--size=1g"]);
        }
        if self.storage == Storage::DiskCached {
            read_whole(Path::new(&file["--filename=".len()..]))?;
        }
        // With larger operations the two differ by less than the probe asks of psync.
        if self.stream == CACHED_1 {
            check_choice(place, &target, self.stream)?;
        }
        let mut pairs = Vec::new();
        for number in 0..options.pairs {
            let pair = if number.is_multiple_of(2) {
                let ours = ours(options.seconds)?;
                Pair { ours, peer: fio::measure(&peer_arguments, options.seconds)? }
            } else {
                let peer = fio::measure(&peer_arguments, options.seconds)?;
                Pair { ours: ours(options.seconds)?, peer }
            };
            pairs.push(pair);
        }
        Ok(Outcome::paired(self.name, format!("fio {}", self.fio.join(" ")), self.bounds, pairs))
    }
}

/// The file of 1 GiB of the stream `bench` below a target directory.
fn data_file(directory: &Path) -> Result<PathBuf> {
    let path = directory.join("fourcorners/bench-1073741824-0000.data");
    if !path.is_file() {
        bail!("our fill left no {}", path.display());
    }
    Ok(path)
}

/// What the peer writes: a copy, because what we fill holds our data and is refused with another's.
fn copy_for_peer(data: &Path, directory: &Path) -> Result<PathBuf> {
    let copy = directory.join("peer.data");
    std::fs::copy(data, &copy).with_context(|| format!("make {}", copy.display()))?;
    std::fs::File::open(&copy)?.sync_all().context("bring the copy to the disk")?;
    Ok(copy)
}

/// Brings a file into the page cache.
fn read_whole(path: &Path) -> Result<()> {
    let mut file = std::fs::File::open(path).with_context(|| format!("open {}", path.display()))?;
    std::io::copy(&mut file, &mut std::io::sink())?;
    Ok(())
}

/// The probe must choose psync on tmpfs by itself.
fn check_choice(place: &Place, target: &str, stream: &str) -> Result<()> {
    let chosen = place.ours.engine_chosen(target, stream)?;
    if chosen != "psync" {
        bail!("the probe chose {chosen} on tmpfs, where psync is faster");
    }
    Ok(())
}

fn memory(place: &Place, options: &Options) -> Result<Outcome> {
    let stream = "transfer_size = \"4k\"\nread = \"70%\"\npattern = \"random\"\nfiles = 4\n\
        file_size = \"64MiB\"\nqueue_depth = 256\nworkers = 4\ndirect = true";
    let directory = place.disk.with_file_name("memory");
    std::fs::create_dir_all(&directory)?;
    let target = directory.display().to_string();
    place.ours.measure(&target, stream, "io_uring", 1, false)?;
    let sample = place.ours.measure(&target, stream, "io_uring", options.seconds, false)?;
    let mib = sample.resident_max_bytes as f64 / f64::from(1 << 20);
    Ok(Outcome::single(
        "memory",
        "largest resident memory, MiB, queue depth 256 x 4 workers",
        &[("resident MiB", mib, 64.0, Some(32.0))],
    ))
}

fn arrivals(place: &Place) -> Result<Outcome> {
    let output = example(place, "engine", "arrivals")?;
    let mut figures = Vec::new();
    for line in output.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(name), Some(value), Some(limit)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        figures.push((name.to_owned(), value.parse::<f64>()?, limit.parse::<f64>()?));
    }
    if figures.is_empty() {
        bail!("the arrivals example printed nothing");
    }
    let figures: Vec<(&str, f64, f64, Option<f64>)> =
        figures.iter().map(|(name, value, limit)| (name.as_str(), *value, *limit, None)).collect();
    Ok(Outcome::single("arrivals", "declared process, 10,000/s for 10 s", &figures))
}

fn hour_report(place: &Place) -> Result<Outcome> {
    let output = example(place, "report", "hour_report")?;
    let figure = |name: &str| -> Result<f64> {
        let word = output.split_ascii_whitespace().find_map(|word| word.strip_prefix(name));
        Ok(word.with_context(|| format!("no {name} in: {output}"))?.parse()?)
    };
    Ok(Outcome::single(
        "hour-report",
        "report of one hour, 4 streams, 1 s intervals",
        &[
            ("seconds", figure("total_ms=")? / 1e3, 2.0, None),
            ("megabytes", figure("size_bytes=")? / 1e6, 4.0, None),
        ],
    ))
}

/// Runs an example of one of our packages and returns what it prints.
fn example(place: &Place, package: &str, name: &str) -> Result<String> {
    let arguments = ["build", "--release", "--package", package, "--example", name];
    ours::cargo(&place.root, &arguments)?;
    let program = place.root.join("target/release/examples").join(name);
    Ok(super::child::run(&program.display().to_string(), &[], true)?.stdout)
}

/// A sample's figure.
pub(crate) fn figure(sample: &Sample, figure: Figure) -> f64 {
    match figure {
        Figure::CpuPerOp => sample.cpu_us_per_op,
        Figure::OpsPerSec => sample.ops_per_sec,
        Figure::ServiceMean => sample.service_mean_ns,
        Figure::ServiceP99 => sample.service_p99_ns,
        Figure::TotalMean => sample.total_mean_ns,
        Figure::TotalP50 => sample.total_p50_ns,
        Figure::TotalP99 => sample.total_p99_ns,
    }
}
