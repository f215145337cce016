//! Figures without a counterpart in another trial: idle CPU time, memory, and the lateness of
//! delayed replies next to that of a bare process.

use std::io::Write;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::client::{self, FILE_BYTES, Shape};
use super::judge::{
    BARE_CORES, BARE_P99, DEFAULT_CORES, DEFAULT_P99, EXCESS_P99, LATENESS_P99, Measurements,
    SERVICE_CORES,
};
use super::trials::Call;
use super::{Paths, servers};
use crate::process::{CLIENT_PROCESSOR, Running, SERVER_PROCESSOR};
use crate::product::example;

type Measure = fn(&Paths, &mut Measurements) -> Result<()>;

/// All groups, by their name on the command line.
pub(crate) const ALL: &[(&str, Measure)] =
    &[("rest", rest), ("memory", memory), ("delayed", delayed)];

/// How long CPU time is measured at rest.
const REST: Duration = Duration::from_secs(5);

/// CPU time of client and service at one call per second.
fn rest(paths: &Paths, measurements: &mut Measurements) -> Result<()> {
    let mut server = servers::volume_with_metrics(paths)?;
    let text = "name = \"rest\"\n[run]\nwarm_up = \"0s\"\nmeasure = \"12s\"\ninterval = \"1s\"\n\
        repeats = 1\nseed = 1\n[stream.rest]\ntransfer_size = \"8k\"\nread = \"100%\"\n\
        pattern = \"random\"\nfiles = 1\nfile_size = \"1MiB\"\nqueue_depth = 1\n\
        arrival = { constant = \"1/s\" }\n";
    let Paths { fourcorners, scratch } = paths;
    let experiment = scratch.join("rest.toml");
    std::fs::write(&experiment, text)?;
    let target = server.url(4);
    let (experiment, store) =
        (experiment.display().to_string(), scratch.join("store").display().to_string());
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
    let mut client = Running::start(fourcorners, &words, CLIENT_PROCESSOR, scratch)?;
    // After 4 s the client has filled its file and measures.
    std::thread::sleep(Duration::from_secs(4));
    let reads = || -> Result<f64> {
        let stat = volume_stat(paths)?;
        let reads = stat["volumes"][0]["operations"]["read"].as_f64();
        reads.with_context(|| format!("no count of reads in {stat}"))
    };
    let before = (client.cpu_seconds()?, server.process.cpu_seconds()?, reads()?);
    std::thread::sleep(REST);
    let after = (client.cpu_seconds()?, server.process.cpu_seconds()?, reads()?);
    client.check_running()?;
    server.process.check_running()?;
    let calls = after.2 - before.2;
    let seconds = REST.as_secs_f64();
    ensure!(
        (calls - seconds).abs() <= 1.0,
        "{calls} calls in {seconds} s instead of one per second"
    );
    let ms_per_second = |from: f64, to: f64| (to - from) * 1e3 / seconds;
    let mut add = |name, from, to| measurements.add_unpaired("rest", name, ms_per_second(from, to));
    add("client CPU ms per second", before.0, after.0);
    add("service CPU ms per second", before.1, after.1);
    Ok(())
}

/// The output of `volume stat`.
fn volume_stat(paths: &Paths) -> Result<Value> {
    let stat = Command::new(&paths.fourcorners)
        .args(["volume", "stat", "--format", "json", servers::VOLUME_METRICS])
        .output()?;
    serde_json::from_slice(&stat.stdout).context("parse the output of `volume stat`")
}

/// Peak memory with 256 connections and 64 outstanding calls on each.
fn memory(paths: &Paths, measurements: &mut Measurements) -> Result<()> {
    let server = servers::volume(paths)?;
    let shape = Shape {
        call: Call::Read,
        transfer: 8192,
        sequential: false,
        connections: 256,
        outstanding: 256 * 64,
        seconds: 4,
    };
    let finished = client::run(paths, &server, &shape)?;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    measurements.add_unpaired("memory", "client MiB", mib(finished.resident_max_bytes));
    let service = mib(server.process.memory_bytes("VmHWM")?);
    let without_data = service - mib(FILE_BYTES);
    measurements.add_unpaired("memory", "service MiB without the data", without_data);
    Ok(())
}

/// Connections of [`delayed`].
const CONNECTIONS: u32 = 800;
/// Outstanding calls per connection: the most that the service accepts.
const CALLS_EACH: u32 = 128;
const REPLIES: f64 = (CONNECTIONS * CALLS_EACH) as f64;
const TRANSFER: u64 = 8192;
/// Replies per second: 64 MiB/s (1 TiB of Premium) in transfers of [`TRANSFER`].
const REPLIES_PER_S: f64 = 8192.0;

/// Gives all threads of a process real-time priority. Otherwise other processes take the processor
/// for 3 ms at a time, which would count as lateness of the service.
fn set_real_time(pid: &str) -> Result<()> {
    let done = Command::new("chrt").args(["-a", "-f", "-p", "10", pid]).output()?;
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    ensure!(done.status.success(), "`chrt` failed: {stderr}");
    Ok(())
}

/// Keeps idle processors from halting until the file is closed, as `cyclictest` does (kernel's
/// `Documentation/power/pm_qos_interface.rst`). Otherwise a hypervisor takes some 100 us to resume
/// a halted processor in 1 % of cases, which would count as lateness of the service.
fn keep_processors_awake() -> Result<std::fs::File> {
    let path = "/dev/cpu_dma_latency";
    let mut device = std::fs::File::options().write(true).open(path).context(path)?;
    device.write_all(&0_i32.to_ne_bytes()).context(path)?;
    Ok(device)
}

/// Drops the kernel's file caches. The more memory a virtual machine uses, the more often the
/// hypervisor must map a page again that was used a second ago, which takes 130 us: 458 to 928 of
/// 8,192 pages with full caches, 75 to 123 after dropping them (`floor touch`).
pub(super) fn drop_caches() -> Result<()> {
    ensure!(Command::new("sync").status()?.success(), "`sync` failed");
    let path = "/proc/sys/vm/drop_caches";
    std::fs::write(path, "3").context(path)
}

/// Rounds of [`delayed`], after one that does not count: it brings the programs back into memory.
const ROUNDS: usize = 7;

/// Sends 102,400 READs at the same time to a volume whose throughput limit allows a reply every
/// 122 us. Measures how late the replies are sent, and the CPU time of the service from the first
/// call to the last reply, alternating with a bare process and with the service under default
/// scheduling.
fn delayed(paths: &Paths, measurements: &mut Measurements) -> Result<()> {
    drop_caches()?;
    for round in 0..=ROUNDS {
        let default = release_by_service(paths, Scheduling::Default)?;
        let _awake = keep_processors_awake()?;
        let service = release_by_service(paths, Scheduling::RealTime)?;
        let bare = release_by_bare_process(FILE_BYTES, CONNECTIONS)?;
        if round == 0 {
            continue;
        }
        let cached = release_by_bare_process(TRANSFER, 1)?;
        let mut add = |name, value| measurements.add_unpaired("delayed", name, value);
        add(LATENESS_P99, service.late_p99_us);
        add(DEFAULT_P99, default.late_p99_us);
        add(DEFAULT_CORES, default.cores);
        add(BARE_P99, bare.late_p99_us);
        add(EXCESS_P99, service.late_p99_us - bare.late_p99_us);
        add("lateness p50, us", service.late_p50_us);
        add("bare process: lateness p50, us", bare.late_p50_us);
        add("lateness p99.9, us", service.late_p999_us);
        add("bare process: lateness p99.9, us", bare.late_p999_us);
        add(SERVICE_CORES, service.cores);
        add(BARE_CORES, bare.cores);
        add("bare process, same transfer every time: lateness p99, us", cached.late_p99_us);
        add("bare process, same transfer every time: cores", cached.cores);
    }
    Ok(())
}

/// How the service is scheduled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheduling {
    /// As a user starts it; idle processors halt.
    Default,
    /// See [`set_real_time`].
    RealTime,
}

/// How late replies were sent, and the CPU time for it.
struct Release {
    late_p50_us: f64,
    late_p99_us: f64,
    late_p999_us: f64,
    cores: f64,
}

/// One round of the service.
fn release_by_service(paths: &Paths, scheduling: Scheduling) -> Result<Release> {
    let server = servers::limited_volume(paths)?;
    let pid = server.process.pid().to_string();
    if scheduling == Scheduling::RealTime {
        set_real_time(&pid)?;
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
        &CONNECTIONS.to_string(),
        "--depth",
        &CALLS_EACH.to_string(),
        "--once",
        "1",
    ];
    let before_s = server.process.cpu_seconds()?;
    let ended = Command::new(example("load")?).args(arguments).output()?;
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.success(), "the call generator failed: {stderr}");
    let cpu_s = server.process.cpu_seconds()? - before_s;
    let stat = volume_stat(paths)?;
    let late = |name: &str| {
        let value = stat["lateness"][name].as_f64();
        value.with_context(|| format!("no lateness.{name} in {}", stat["lateness"]))
    };
    ensure!(late("count")? >= REPLIES * 0.95, "not all replies were delayed: {}", stat["lateness"]);
    Ok(Release {
        late_p50_us: late("p50_ns")? / 1e3,
        late_p99_us: late("p99_ns")? / 1e3,
        late_p999_us: late("p999_ns")? / 1e3,
        cores: cpu_s / (REPLIES / REPLIES_PER_S),
    })
}

/// The floor of [`delayed`]: a process with the same priority on the same processors that sleeps
/// until each reply is due and sends as many bytes, from random offsets of as much data, over as
/// many connections. Its lateness is that of the machine.
fn release_by_bare_process(data_bytes: u64, connections: u32) -> Result<Release> {
    let (replies, each_second) = (REPLIES.to_string(), REPLIES_PER_S.to_string());
    let ended = Command::new("chrt")
        .args(["-f", "10"])
        .arg(example("floor")?)
        .args(["release", "--cpu", SERVER_PROCESSOR, "--receiver-cpu", CLIENT_PROCESSOR])
        .args(["--reply", &TRANSFER.to_string(), "--replies", &replies])
        .args(["--each-second", &each_second, "--data", &data_bytes.to_string()])
        .args(["--connections", &connections.to_string()])
        .output()?;
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.success(), "the bare process failed: {stderr}");
    let line = String::from_utf8_lossy(&ended.stdout).into_owned();
    let figure = |name: &str| {
        let mut pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
        let text = pairs.find(|(key, _)| *key == name).map(|(_, value)| value);
        let value = text.and_then(|text| text.parse::<f64>().ok());
        value.with_context(|| format!("no {name} in `{line}`"))
    };
    Ok(Release {
        late_p50_us: figure("late_p50_us")?,
        late_p99_us: figure("late_p99_us")?,
        late_p999_us: figure("late_p999_us")?,
        cores: figure("cpu_s")? / (REPLIES / REPLIES_PER_S),
    })
}
