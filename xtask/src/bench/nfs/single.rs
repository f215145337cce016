//! What stands alone: rest, memory, and replies that were held back, beside a bare process.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::client::{self, FILE_BYTES, Shape};
use super::judge::{BARE_CORES, BARE_P99, Measured, ORDINARY_CORES, ORDINARY_P99};
use super::trials::{Call, Place};
use super::{example, servers};
use crate::bench::process::{CLIENT_PROCESSOR, Running, SERVER_PROCESSOR};

type Measure = fn(&Place, &mut Measured) -> Result<()>;

/// All of them, by the name under which they are asked for.
pub(crate) const ALL: &[(&str, Measure)] = &[("rest", rest), ("memory", memory), ("held", held)];

/// How long a resting process is watched.
const REST: Duration = Duration::from_secs(5);

/// A service with a client that is connected and has one call in a second.
fn rest(place: &Place, measured: &mut Measured) -> Result<()> {
    let mut server = servers::ours_telling(&place.root, &place.scratch)?;
    let text = "name = \"rest\"\n[run]\nwarm_up = \"0s\"\nmeasure = \"12s\"\ninterval = \"1s\"\n\
        repeats = 1\nseed = 1\n[stream.rest]\ntransfer_size = \"8k\"\nread = \"100%\"\n\
        pattern = \"random\"\nfiles = 1\nfile_size = \"1MiB\"\nqueue_depth = 1\n\
        arrival = { constant = \"1/s\" }\n";
    let experiment = place.scratch.join("rest.toml");
    std::fs::write(&experiment, text)?;
    let target = server.url(4);
    let (experiment, store) =
        (experiment.display().to_string(), place.scratch.join("store").display().to_string());
    let words = [
        "run",
        &target,
        "--workload",
        &experiment,
        "--store",
        &store,
        "--no-report",
        "--no-progress",
    ];
    let program = place.root.join("target/release/fourcorners");
    let mut client = Running::start(Path::new(&program), &words, CLIENT_PROCESSOR, &place.scratch)?;
    // By then it has filled its file and measures.
    std::thread::sleep(Duration::from_secs(4));
    let reads = |place: &Place| -> Result<f64> {
        let stat = told(place)?;
        let reads = stat["volumes"][0]["operations"]["read"].as_f64();
        reads.with_context(|| format!("the service does not tell of reads: {stat}"))
    };
    let before = (client.cpu_seconds()?, server.process.cpu_seconds()?, reads(place)?);
    std::thread::sleep(REST);
    let after = (client.cpu_seconds()?, server.process.cpu_seconds()?, reads(place)?);
    client.must_run().context("the client was to be there all the time")?;
    server.process.must_run()?;
    let calls = after.2 - before.2;
    let wanted = REST.as_secs_f64();
    ensure!((calls - wanted).abs() <= 1.0, "{calls} calls came in {wanted} s, not one each second");
    let each_second = |from: f64, to: f64| (to - from) * 1e3 / wanted;
    measured.add_alone("rest", "client CPU ms per second", each_second(before.0, after.0));
    measured.add_alone("rest", "service CPU ms per second", each_second(before.1, after.1));
    Ok(())
}

/// What the service tells of itself.
fn told(place: &Place) -> Result<Value> {
    let stat = Command::new(place.root.join("target/release/fourcorners"))
        .args(["volume", "stat", "--format", "json", servers::OURS_METRICS])
        .output()?;
    serde_json::from_slice(&stat.stdout).context("read what the service saw")
}

/// 256 connections with 64 outstanding each.
fn memory(place: &Place, measured: &mut Measured) -> Result<()> {
    let server = servers::ours(&place.root, &place.scratch)?;
    let shape = Shape {
        call: Call::Read,
        transfer: 8192,
        sequential: false,
        connections: 256,
        outstanding: 256 * 64,
        seconds: 4,
    };
    let finished = client::run(place, &server, &shape)?;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    measured.add_alone("memory", "client MiB", mib(finished.resident_max_bytes));
    let service = mib(server.process.memory_bytes("VmHWM")?);
    let beside = service - mib(FILE_BYTES);
    measured.add_alone("memory", "service MiB without the data", beside);
    Ok(())
}

/// Connections of [`held`], with as many outstanding on each as the service takes.
const HELD_CONNECTIONS: u32 = 800;
const HELD_EACH: u32 = 128;
const HELD: f64 = (HELD_CONNECTIONS * HELD_EACH) as f64;
const TRANSFER: u64 = 8192;
/// 64 MiB/s (1 TiB of Premium) in such transfers.
const RELEASES_PER_S: f64 = 8192.0;

/// Lets all threads of a process run before those of strangers: how long the scheduler gives to
/// whoever else there is, 3 ms at a time, is no lateness of ours.
fn prefer(pid: &str) -> Result<()> {
    let done = Command::new("chrt").args(["-a", "-f", "-p", "10", pid]).output()?;
    let why = String::from_utf8_lossy(&done.stderr).into_owned();
    ensure!(done.status.success(), "`chrt` failed: {why}");
    Ok(())
}

/// Keeps idle processors from halting for as long as it is held, as `cyclictest` does (kernel's
/// `Documentation/power/pm_qos_interface.rst`): how long a hypervisor takes to bring one back, some
/// 100 us in one of a hundred cases, is no lateness of ours either.
fn stay_awake() -> Result<std::fs::File> {
    let path = "/dev/cpu_dma_latency";
    let mut device = std::fs::File::options().write(true).open(path).context(path)?;
    device.write_all(&0_i32.to_ne_bytes()).context(path)?;
    Ok(device)
}

/// Has the kernel give back what it keeps of files. A virtual machine may have to ask its
/// hypervisor again for what it touched a second ago, 130 us each time, and the more often the more
/// memory it uses: of 8,192 pages 458 to 928 before this, 75 to 123 after it (`floor touch`).
pub(super) fn give_back_caches() -> Result<()> {
    ensure!(Command::new("sync").status()?.success(), "`sync` failed");
    let path = "/proc/sys/vm/drop_caches";
    std::fs::write(path, "3").context(path)
}

/// Rounds of [`held`], after one that does not count: it brings the programs back into memory.
const HELD_ROUNDS: usize = 7;

/// 102,400 reads at once of a volume with a throughput limit, which lets one go every 122 us: how
/// late they leave, and the processor time of the service from the first call to the last reply;
/// in turns with a bare process, and with the service as users start it.
fn held(place: &Place, measured: &mut Measured) -> Result<()> {
    give_back_caches()?;
    for round in 0..=HELD_ROUNDS {
        let ordinary = held_once(place, Priority::Ordinary)?;
        let _awake = stay_awake()?;
        let ours = held_once(place, Priority::RealTime)?;
        let bare = bare_release(&place.root, FILE_BYTES, HELD_CONNECTIONS)?;
        if round == 0 {
            continue;
        }
        let cached = bare_release(&place.root, TRANSFER, 1)?;
        let mut add = |what, value| measured.add_alone("held", what, value);
        add("late by p99, us", ours.late_p99_us);
        add(ORDINARY_P99, ordinary.late_p99_us);
        add(ORDINARY_CORES, ordinary.cores);
        add(BARE_P99, bare.late_p99_us);
        add("late by p99 beyond a bare process, us", ours.late_p99_us - bare.late_p99_us);
        add("late by p50, us", ours.late_p50_us);
        add("a bare process: late by p50, us", bare.late_p50_us);
        add("late by p99.9, us", ours.late_p999_us);
        add("a bare process: late by p99.9, us", bare.late_p999_us);
        add("service cores", ours.cores);
        add(BARE_CORES, bare.cores);
        add("a bare process, one transfer over and over: late by p99, us", cached.late_p99_us);
        add("a bare process, one transfer over and over: cores", cached.cores);
    }
    Ok(())
}

/// How the service is scheduled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Priority {
    /// The default; idle processors halt.
    Ordinary,
    /// See [`prefer`].
    RealTime,
}

/// One round of the service.
fn held_once(place: &Place, priority: Priority) -> Result<Release> {
    let server = servers::ours_limited(&place.root, &place.scratch)?;
    let pid = server.process.pid().to_string();
    if priority == Priority::RealTime {
        prefer(&pid)?;
    }
    let arguments = [
        "read",
        "--address",
        &server.address,
        "--export",
        &server.export,
        "--server-pid",
        &pid,
        "--cpu",
        CLIENT_PROCESSOR,
        "--connections",
        &HELD_CONNECTIONS.to_string(),
        "--depth",
        &HELD_EACH.to_string(),
        "--once",
        "1",
    ];
    let before_s = server.process.cpu_seconds()?;
    let ended = Command::new(example(&place.root, "load")).args(arguments).output()?;
    let why = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.success(), "the generator failed: {why}");
    let spent_s = server.process.cpu_seconds()? - before_s;
    let stat = told(place)?;
    let late = |what: &str| {
        let value = stat["late"][what].as_f64();
        value.with_context(|| format!("the service does not tell late.{what}: {}", stat["late"]))
    };
    ensure!(late("count")? >= HELD * 0.95, "not all were held back: {}", stat["late"]);
    Ok(Release {
        late_p50_us: late("p50_ns")? / 1e3,
        late_p99_us: late("p99_ns")? / 1e3,
        late_p999_us: late("p999_ns")? / 1e3,
        cores: spent_s / (HELD / RELEASES_PER_S),
    })
}

/// How late replies left, and what that took.
struct Release {
    late_p50_us: f64,
    late_p99_us: f64,
    late_p999_us: f64,
    cores: f64,
}

/// The floor of [`held`]: a process of the same priority that sleeps until each reply is due and
/// sends as many bytes on the same processors, from somewhere in as much data, over as many
/// connections. What it is late by is this machine's doing.
fn bare_release(root: &Path, data_bytes: u64, connections: u32) -> Result<Release> {
    let (replies, each_second) = (HELD.to_string(), RELEASES_PER_S.to_string());
    let program = example(root, "floor");
    let ended = Command::new("chrt")
        .args(["-f", "10"])
        .arg(&program)
        .args(["release", "--cpu", SERVER_PROCESSOR, "--receiver-cpu", CLIENT_PROCESSOR])
        .args(["--reply", &TRANSFER.to_string(), "--replies", &replies])
        .args(["--each-second", &each_second, "--data", &data_bytes.to_string()])
        .args(["--connections", &connections.to_string()])
        .output()?;
    let why = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.success(), "the bare process failed: {why}");
    let line = String::from_utf8_lossy(&ended.stdout).into_owned();
    let figure = |name: &str| {
        let mut pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
        let text = pairs.find(|(key, _)| *key == name).map(|(_, value)| value);
        let value = text.and_then(|text| text.parse::<f64>().ok());
        value.with_context(|| format!("the bare process does not tell {name}: {line}"))
    };
    Ok(Release {
        late_p50_us: figure("late_p50_us")?,
        late_p99_us: figure("late_p99_us")?,
        late_p999_us: figure("late_p999_us")?,
        cores: figure("cpu_s")? / (HELD / RELEASES_PER_S),
    })
}
