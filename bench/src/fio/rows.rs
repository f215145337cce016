//! The rows of the bench: a workload, the fio job it is compared with, and the required result.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{Advice, fadvise};

use super::fourcorners::Fourcorners;
use super::table::{Bound, Figure, Outcome, Pair, Sample};
use super::{Options, peer};
use crate::{child, product};

/// The program and the directories that rows use.
pub(crate) struct Directories {
    fourcorners: Fourcorners,
    /// On the disk under test.
    disk: PathBuf,
    /// In memory (tmpfs); removed at the end.
    memory: MemoryDirectory,
    root: PathBuf,
}

struct MemoryDirectory(PathBuf);

impl Drop for MemoryDirectory {
    fn drop(&mut self) {
        // If this fails, only memory is lost: the next run makes another directory.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Directories {
    pub(crate) fn new(root: &Path, program: &Path, disk: &Path) -> Result<Directories> {
        let memory = PathBuf::from(format!("/dev/shm/fourcorners-bench-{}", std::process::id()));
        std::fs::create_dir_all(&memory).context("make a directory in /dev/shm")?;
        let scratch = disk.join("scratch");
        std::fs::create_dir_all(&scratch)?;
        let target = disk.join("target");
        std::fs::create_dir_all(&target)?;
        Ok(Directories {
            fourcorners: Fourcorners { program: program.to_path_buf(), scratch },
            disk: target,
            memory: MemoryDirectory(memory),
            root: root.to_path_buf(),
        })
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// Compared with fio in pairs.
    Paired(Paired),
    /// Cached reads that are verified.
    Verified(Verified),
    /// Filling a file in memory, compared with fio.
    Fill,
    /// Resident memory at queue depth 256 with 4 workers.
    Memory,
    /// Arrivals of an open loop compared with the declared arrival process.
    Arrivals,
    /// Time and size of the report of a one-hour run.
    HourReport,
}

/// A row that is compared with fio in pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paired {
    name: &'static str,
    storage: Storage,
    stream: &'static str,
    engine: &'static str,
    fio: &'static [&'static str],
    bounds: &'static [Bound],
}

/// A row with cached reads that are verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verified {
    name: &'static str,
    stream: &'static str,
    peer: VerifyPeer,
    bounds: &'static [Bound],
}

#[derive(Clone, Copy, Debug)]
enum VerifyPeer {
    /// The same reads without verification.
    Plain,
    /// fio with checksums in blocks of this size (`--bs`).
    Fio(&'static str),
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

/// Of writes: both programs generate the data of each (fio with `--refill_buffers`).
const WRITES: [Bound; 4] = [
    Bound::at_least(Figure::OpsPerSec, 0.98),
    Bound::at_most(Figure::CpuPerOp, 1.0, 0.9),
    Bound::within(Figure::TotalMean, 0.03),
    Bound::within(Figure::TotalP99, 0.05),
];

const CACHED_64K: &str = "transfer_size = \"64k\"\nread = \"100%\"\npattern = \"random\"\n\
    files = 1\nfile_size = \"1GiB\"\nqueue_depth = 1\nworkers = 1\ndirect = false";

/// What verification may cost, compared with reads without it.
const TO_PLAIN: [Bound; 1] = [Bound::at_most(Figure::CpuPerOp, 1.8, 1.5)];
/// The same compared with fio, which verifies a checksum.
const TO_FIO_VERIFY: [Bound; 1] = [Bound::at_most(Figure::CpuPerOp, 1.0, 0.8)];

const VERIFIED: [Row; 4] = [
    Row::Verified(Verified {
        name: "verify-4k-plain",
        stream: CACHED_1,
        peer: VerifyPeer::Plain,
        bounds: &TO_PLAIN,
    }),
    Row::Verified(Verified {
        name: "verify-64k-plain",
        stream: CACHED_64K,
        peer: VerifyPeer::Plain,
        bounds: &TO_PLAIN,
    }),
    Row::Verified(Verified {
        name: "verify-4k-fio",
        stream: CACHED_1,
        peer: VerifyPeer::Fio("--bs=4k"),
        bounds: &TO_FIO_VERIFY,
    }),
    Row::Verified(Verified {
        name: "verify-64k-fio",
        stream: CACHED_64K,
        peer: VerifyPeer::Fio("--bs=64k"),
        bounds: &TO_FIO_VERIFY,
    }),
];

/// Of a fill: bytes per second and CPU time per byte.
const FILL: [Bound; 2] =
    [Bound::at_least(Figure::OpsPerSec, 1.0), Bound::at_most(Figure::CpuPerOp, 1.2, 1.0)];

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
        // One operation at a time, as fio's psync does at any depth; with more outstanding than
        // processors, the probe prefers io_uring.
        stream: CACHED_1,
        // The probe must choose psync on tmpfs; `check_probe` verifies it.
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
    // For a blocking call, fio's clat covers the whole call, as our service time does.
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
    // For io_uring, fio's clat excludes the submitting system call. Its lat includes it, as our
    // service time does.
    Paired {
        name: "accuracy-io_uring",
        storage: Storage::Disk,
        stream: DIRECT_1,
        engine: "io_uring",
        fio: &["--ioengine=io_uring", "--rw=randread", "--bs=8k", "--iodepth=1", "--direct=1"],
        bounds: &[Bound::within(Figure::TotalMean, 0.03), Bound::within(Figure::TotalP99, 0.05)],
    },
    Paired {
        name: "write-tmpfs-8k",
        storage: Storage::Memory,
        stream: WRITE_CACHED_8K,
        engine: "psync",
        fio: &[
            "--ioengine=psync",
            "--rw=randwrite",
            "--bs=8k",
            "--norandommap",
            "--refill_buffers",
        ],
        bounds: &WRITES,
    },
    Paired {
        name: "write-tmpfs-64k",
        storage: Storage::Memory,
        stream: WRITE_CACHED_64K,
        engine: "psync",
        fio: &[
            "--ioengine=psync",
            "--rw=randwrite",
            "--bs=64k",
            "--norandommap",
            "--refill_buffers",
        ],
        bounds: &WRITES,
    },
    Paired {
        name: "write-direct-8k",
        storage: Storage::Disk,
        stream: WRITE_DIRECT_8K,
        engine: "psync",
        fio: &[
            "--ioengine=psync",
            "--rw=randwrite",
            "--bs=8k",
            "--norandommap",
            "--refill_buffers",
            "--direct=1",
        ],
        bounds: &WRITES,
    },
    Paired {
        name: "write-direct-64k",
        storage: Storage::Disk,
        stream: WRITE_DIRECT_64K,
        engine: "psync",
        fio: &[
            "--ioengine=psync",
            "--rw=randwrite",
            "--bs=64k",
            "--norandommap",
            "--refill_buffers",
            "--direct=1",
        ],
        bounds: &WRITES,
    },
];

/// Bounds of all rows in which an older build of fourcorners is the peer.
const NO_WORSE: [Bound; 2] =
    [Bound::at_most(Figure::CpuPerOp, 1.03, 1.0), Bound::at_least(Figure::OpsPerSec, 0.97)];

/// The rows of performance, compared with an older build of fourcorners. Rows about accuracy are
/// comparisons with fio.
pub(crate) fn rows_before() -> Vec<Row> {
    let is_performance = |paired: &Paired| !paired.name.starts_with("accuracy");
    let paired = PAIRED.into_iter().filter(is_performance);
    paired.map(|paired| Row::Paired(Paired { bounds: &NO_WORSE, ..paired })).collect()
}

pub(crate) fn rows() -> Vec<Row> {
    let paired = PAIRED.iter().copied().map(Row::Paired);
    paired.chain(VERIFIED).chain([Row::Fill, Row::Arrivals, Row::Memory, Row::HourReport]).collect()
}

impl Row {
    /// Its name on the command line.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Row::Paired(paired) => paired.name,
            Row::Verified(verified) => verified.name,
            Row::Fill => "fill-tmpfs",
            Row::Memory => "memory",
            Row::Arrivals => "arrivals",
            Row::HourReport => "hour-report",
        }
    }

    pub(crate) fn measure(&self, directories: &Directories, options: &Options) -> Result<Outcome> {
        match self {
            Row::Paired(paired) => paired.measure(directories, options),
            Row::Verified(verified) => verified.measure(directories, options),
            Row::Fill => fill(directories, options),
            Row::Memory => memory(directories, options),
            Row::Arrivals => arrivals(directories),
            Row::HourReport => hour_report(directories),
        }
    }
}

impl Paired {
    fn measure(&self, directories: &Directories, options: &Options) -> Result<Outcome> {
        let fourcorners = &directories.fourcorners;
        let directory = match self.storage {
            Storage::Nothing => None,
            Storage::Memory => Some(&directories.memory.0),
            Storage::Disk | Storage::DiskCached => Some(&directories.disk),
        };
        let target = directory.map_or("null:".to_owned(), |path| path.display().to_string());
        let ours = |seconds| fourcorners.measure(&target, self.stream, self.engine, seconds, true);
        let mut peer_arguments = self.fio.to_vec();
        // fourcorners fills the file; both programs then use it.
        let mut file = String::new();
        if let Some(directory) = directory {
            ours(1)?;
            let mut data = data_file(directory)?;
            if self.fio.contains(&"--rw=randwrite") {
                data = copy_for_fio(&data, directory)?;
            }
            file = format!("--filename={}", data.display());
            peer_arguments.extend([file.as_str(), "--size=1g"]);
        }
        if self.storage == Storage::DiskCached {
            read_whole(Path::new(&file["--filename=".len()..]))?;
        }
        // With larger operations the probe's rates differ by less than its threshold for psync.
        if self.stream == CACHED_1 {
            check_probe(fourcorners, &target, self.stream)?;
        }
        let before = options.before.as_ref().map(|program| Fourcorners {
            program: program.clone(),
            scratch: fourcorners.scratch.clone(),
        });
        // The older build may not accept the files of this one, so it fills its own.
        let folder_before = directory.map(|directory| directory.join("before"));
        let target_before =
            folder_before.as_ref().map_or("null:".to_owned(), |path| path.display().to_string());
        if let (Some(before), Some(folder)) = (&before, &folder_before) {
            std::fs::create_dir_all(folder)?;
            before.measure(&target_before, self.stream, self.engine, 1, true)?;
            if self.storage == Storage::DiskCached {
                read_whole(&data_file(folder)?)?;
            }
        }
        let peer = || match &before {
            Some(before) => {
                before.measure(&target_before, self.stream, self.engine, options.seconds, true)
            }
            None => peer::measure(&peer_arguments, options.seconds),
        };
        let pairs = pairs(options, || ours(options.seconds), peer)?;
        let against = match before {
            Some(_) => "an older build".to_owned(),
            None => format!("fio {}", self.fio.join(" ")),
        };
        Ok(Outcome::paired(self.name, against, self.bounds, pairs))
    }
}

/// Measures pairs, every other one in reverse order.
fn pairs(
    options: &Options,
    mut ours: impl FnMut() -> Result<Sample>,
    mut peer: impl FnMut() -> Result<Sample>,
) -> Result<Vec<Pair>> {
    let pair = |number: u32| {
        if number.is_multiple_of(2) {
            let ours = ours()?;
            return Ok(Pair { ours, peer: peer()? });
        }
        let peer = peer()?;
        Ok(Pair { ours: ours()?, peer })
    };
    (0..options.pairs).map(pair).collect()
}

impl Verified {
    /// One operation at a time with blocking calls: then neither the generator's own work nor waiting
    /// hides what verification costs.
    fn measure(&self, directories: &Directories, options: &Options) -> Result<Outcome> {
        let Directories { fourcorners, memory, .. } = directories;
        let target = memory.0.display().to_string();
        let run = |flags: &[&str], seconds| {
            fourcorners.measure_with(flags, &target, self.stream, "psync", seconds, true)
        };
        // Fills the file.
        run(&[], 1)?;
        let ours = || run(&["--verify"], options.seconds);
        let block_size = match self.peer {
            VerifyPeer::Plain => {
                let pairs = pairs(options, ours, || run(&[], options.seconds))?;
                let against = "the same without `--verify`".to_owned();
                return Ok(Outcome::paired(self.name, against, self.bounds, pairs));
            }
            VerifyPeer::Fio(block_size) => block_size,
        };
        let file = format!("--filename={}", memory.0.join("verify.data").display());
        // Without a file with its state in the current folder.
        let no_state = "--verify_state_save=0";
        let job = ["--ioengine=psync", "--verify=crc32c", no_state, block_size, "--size=1g"];
        peer::run_once(&[&job[..], &[&file, "--rw=write", "--do_verify=0"]].concat())?;
        let reads = [&job[..], &["--rw=randread", "--norandommap"]].concat();
        let against = format!("fio {}", reads.join(" "));
        let fio = || peer::measure(&[&reads[..], &[&file]].concat(), options.seconds);
        let pairs = pairs(options, ours, fio)?;
        Ok(Outcome::paired(self.name, against, self.bounds, pairs))
    }
}

/// Fills 2 GiB on tmpfs and writes as much with fio, each on all processors. An operation is 1 MiB.
fn fill(directories: &Directories, options: &Options) -> Result<Outcome> {
    const MIB: u64 = 2048;
    let directory = directories.memory.0.join("fill");
    let file = directories.memory.0.join("fill.data");
    let remove = || -> Result<()> {
        for path in [&directory, &file] {
            if path.is_dir() {
                std::fs::remove_dir_all(path).context("remove the filled directory")?;
            } else if path.exists() {
                std::fs::remove_file(path).context("remove fio's file")?;
            }
        }
        Ok(())
    };
    let ours = || {
        remove()?;
        std::fs::create_dir_all(&directory)?;
        directories.fourcorners.fill(&directory.display().to_string(), MIB)
    };
    let filename = format!("--filename={}", file.display());
    let size = format!("--size={MIB}m");
    // Without `--fallocate=none` fio allocates the file before it measures; our fill includes that.
    let job = ["--ioengine=psync", "--rw=write", "--bs=1m", "--refill_buffers", "--fallocate=none"];
    let fio = || {
        remove()?;
        peer::run_once(&[&job[..], &[&filename, &size]].concat())
    };
    let pairs = pairs(options, ours, fio)?;
    remove()?;
    let against = format!("fio {} {size}", job.join(" "));
    Ok(Outcome::paired("fill-tmpfs", against, &FILL, pairs))
}

/// The 1 GiB file of the stream `bench` in a target directory.
fn data_file(directory: &Path) -> Result<PathBuf> {
    let path = directory.join("fourcorners/bench-1073741824-0000.data");
    if !path.is_file() {
        bail!("fourcorners did not fill {}", path.display());
    }
    Ok(path)
}

/// A copy for fio to write to: fourcorners refuses a file whose data is not its own. Like the original
/// on a disk, it is not in the page cache: a direct write would first have to remove its pages from it.
fn copy_for_fio(data: &Path, directory: &Path) -> Result<PathBuf> {
    let copy = directory.join("peer.data");
    std::fs::copy(data, &copy).with_context(|| format!("make {}", copy.display()))?;
    let file = std::fs::File::open(&copy)?;
    file.sync_all().context("sync the copy")?;
    fadvise(&file, 0, None, Advice::DontNeed).context("remove the copy from the page cache")?;
    Ok(copy)
}

/// Reads a file into the page cache.
fn read_whole(path: &Path) -> Result<()> {
    let mut file = std::fs::File::open(path).with_context(|| format!("open {}", path.display()))?;
    std::io::copy(&mut file, &mut std::io::sink())?;
    Ok(())
}

/// Verifies that the probe chooses psync on tmpfs.
fn check_probe(fourcorners: &Fourcorners, target: &str, stream: &str) -> Result<()> {
    let chosen = fourcorners.io_method_chosen(target, stream)?;
    if chosen != "psync" {
        bail!("the probe chose {chosen} on tmpfs, where psync is faster");
    }
    Ok(())
}

fn memory(directories: &Directories, options: &Options) -> Result<Outcome> {
    let Directories { fourcorners, disk, .. } = directories;
    let stream = "transfer_size = \"4k\"\nread = \"70%\"\npattern = \"random\"\nfiles = 4\n\
        file_size = \"64MiB\"\nqueue_depth = 256\nworkers = 4\ndirect = true";
    let directory = disk.with_file_name("memory");
    std::fs::create_dir_all(&directory)?;
    let target = directory.display().to_string();
    fourcorners.measure(&target, stream, "io_uring", 1, false)?;
    let sample = fourcorners.measure(&target, stream, "io_uring", options.seconds, false)?;
    let mib = sample.resident_max_bytes as f64 / f64::from(1 << 20);
    Ok(Outcome::single(
        "memory",
        "peak resident memory, MiB, queue depth 256 x 4 workers",
        &[("resident MiB", mib, 64.0, Some(32.0))],
    ))
}

fn arrivals(directories: &Directories) -> Result<Outcome> {
    let output = run_example(directories, "engine", "arrivals")?;
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

fn hour_report(directories: &Directories) -> Result<Outcome> {
    let output = run_example(directories, "report", "hour_report")?;
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

/// Builds and runs an example of a package; returns its output.
fn run_example(directories: &Directories, package: &str, name: &str) -> Result<String> {
    let program = product::build_example(&directories.root, package, name)?;
    Ok(child::run(&program.display().to_string(), &[], true)?.stdout)
}
