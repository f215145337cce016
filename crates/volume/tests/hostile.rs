//! Malicious and broken peers: none of them stops the service, makes it allocate more than their
//! bytes justify, or starves a working client. A separate test program that runs one test at a time,
//! because it measures the memory of the process.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nfs3::record::mark;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use volume::counters::Procedure;
use volume::shell::Running;

#[expect(dead_code, reason = "the tests of the shell use more of it")]
#[path = "shell/harness.rs"]
mod harness;

use harness::{Connection, configured, options, pattern, read, wait_until, write};

/// Hostile connections.
const HOSTILE: usize = 10_000;

/// Calls of the working client, each a WRITE or a READ.
const CALLS: usize = 2000;

/// How many times longer the working client may take with hostile connections than without. A turn
/// of the service serves up to 512 sockets, each once, so a call waits for at most 512 others, none
/// of which costs more than a call. A starved client would wait for all hostile connections.
const SLOWDOWN_MAX: u32 = 512;

/// Memory of the service for a connection that sent almost nothing, without socket buffers of the
/// kernel.
const BYTES_EACH_MAX: u64 = 16 * 1024;

/// Lets one test run at a time.
fn one_test_at_a_time() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Raises the limit of open files to at least `count`.
fn allow_files(count: u64) {
    let now = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= count);
    if enough(now.current) {
        return;
    }
    let maximum = if enough(now.maximum) { now.maximum } else { Some(count) };
    setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum })
        .unwrap_or_else(|error| panic!("this test needs {count} open files: {error}"));
}

fn service() -> Running {
    allow_files(HOSTILE as u64 + 1000);
    let config = configured("3000MiB/s", "[limits]\nenforced = false\n");
    let (mut options, _) = options(config);
    options.connections_max = HOSTILE + 100;
    Running::start(options).expect("start the service")
}

/// A client that writes, and verifies what it reads.
struct WorkingClient {
    client: Connection,
    file: Vec<u8>,
}

impl WorkingClient {
    fn new(address: SocketAddr) -> WorkingClient {
        let mut client = Connection::to(address);
        let root = client.mount("/vol1");
        let file = client.filled(&root, "file", 1 << 20);
        WorkingClient { client, file }
    }

    /// Writes and reads, one call after the other, and returns the time taken. Fails after `max`.
    fn work_within(&mut self, max: Duration) -> Duration {
        let data = pattern(8192);
        let start = Instant::now();
        for call in 0..CALLS / 2 {
            let offset = (call % 128 * 8192) as u64;
            self.client.call(write(&self.file, offset, &data));
            assert_eq!(self.client.call(read(&self.file, offset, 8192)).data(), data);
            assert!(start.elapsed() <= max, "starved after {call} of {} calls", CALLS / 2);
        }
        start.elapsed()
    }

    /// The time without other connections.
    fn work(&mut self) -> Duration {
        self.work_within(Duration::MAX)
    }

    /// Its READs and WRITEs that the service counted.
    fn counted(&self, running: &Running) -> u64 {
        let address = self.client.stream.local_addr().expect("the local address");
        let snapshot = running.snapshot().expect("the service is running");
        let mut flows = snapshot.counters.flows();
        let flow = flows.find(|(name, _)| name.starts_with(&format!("{address}-")));
        let (_, counters) = flow.expect("the client's flow");
        counters.of(Procedure::Read) + counters.of(Procedure::Write)
    }
}

/// Memory of this process, the service included.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("read /proc/self/status");
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok()).expect("a number of kB") * 1024
}

/// The start of a WRITE of 1 MiB, which is never completed.
fn incomplete_call() -> Vec<u8> {
    const DATA: u32 = 1 << 20;
    // A call of WRITE with an empty handle, no credential, offset 0, and data that is UNSTABLE.
    let head = [1, 0, 2, 100_003, 3, 7, 0, 0, 0, 0, 0, 0, 0, DATA, 0, DATA];
    let mut bytes = mark(4 * head.len() + DATA as usize).to_be_bytes().to_vec();
    head.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    bytes.extend_from_slice(&[0; 60]);
    bytes
}

/// A process with the hostile connections. In the process of the service they might exceed its limit
/// of open files.
struct HostileProcess(Child);

impl HostileProcess {
    fn start(address: SocketAddr) -> HostileProcess {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture", "child_process_with_hostile_connections"])
            .env(ADDRESS, address.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("start this program again");
        HostileProcess(child)
    }

    /// Closes all connections.
    fn stop(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("wait for the process").success(), "it did not fail");
    }
}

impl Drop for HostileProcess {
    fn drop(&mut self) {
        // Does nothing after `stop`.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The environment variable with the service's address.
const ADDRESS: &str = "HOSTILE_ADDRESS";

/// Not a test: the program of [`HostileProcess`]. Returns immediately without the environment
/// variable.
#[test]
fn child_process_with_hostile_connections() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let address: SocketAddr = address.parse().expect("an address");
    allow_files(HOSTILE as u64 + 100);
    let incomplete = incomplete_call();
    let mut streams: Vec<TcpStream> = (0..HOSTILE)
        .map(|number| {
            let mut stream = TcpStream::connect(address).expect("connect");
            // A third sends an incomplete call, a third sends it byte by byte below, and a third
            // sends nothing.
            if number % 3 == 1 {
                stream.write_all(&incomplete).expect("send an incomplete call");
            }
            stream
        })
        .collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Ends when the parent process closes it.
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("wait for the end");
            done.store(true, Ordering::Relaxed);
        });
        for byte in incomplete.chunks(1) {
            for stream in streams.iter_mut().skip(2).step_by(3) {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                stream.write_all(byte).expect("send one byte");
            }
        }
    });
}

#[test]
fn ten_thousand_idle_or_incomplete_connections_do_not_starve_a_working_client() {
    let _lock = one_test_at_a_time();
    let running = service();
    let mut client = WorkingClient::new(running.addresses()[0]);
    let unloaded = client.work();
    let (before, counted) = (resident_bytes(), client.counted(&running));

    let hostile = HostileProcess::start(running.addresses()[0]);
    wait_until(&running, |now| now.connections == HOSTILE + 1);
    let loaded = client.work_within(unloaded * SLOWDOWN_MAX);
    println!("{unloaded:?} without hostile connections, {loaded:?} with them");
    assert_eq!(client.counted(&running) - counted, CALLS as u64);
    let now = running.snapshot().expect("the service is running");
    assert_eq!(now.connections, HOSTILE + 1, "all were open until the end");
    let each = resident_bytes().saturating_sub(before) / HOSTILE as u64;
    assert!(each <= BYTES_EACH_MAX, "{each} bytes per hostile connection");

    hostile.stop();
    let now = wait_until(&running, |now| now.connections == 1);
    assert_eq!((now.connections, now.deferred), (1, 0));
    client.work_within(unloaded * SLOWDOWN_MAX);
    running.stop().expect("the service is running");
}

/// Invalid input, after which the peer closes its sending side.
fn invalid_input() -> Vec<(&'static str, Vec<u8>)> {
    let call = |words: &[u32]| {
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut bytes = mark(body.len()).to_be_bytes().to_vec();
        bytes.extend(body);
        bytes
    };
    let words = |mark: u32| mark.to_be_bytes().to_vec();
    vec![
        ("another protocol", b"GET / HTTP/1.1\r\nHost: volume\r\n\r\n".to_vec()),
        ("the longest record", words(u32::MAX)),
        ("the longest fragment that is not the last", words(0x7fff_ffff)),
        ("empty fragments without end", [0; 4].repeat(50_000)),
        ("an empty record", words(0x8000_0000)),
        ("a reply", call(&[1, 1, 0, 0, 0, 0])),
        ("another RPC version", call(&[1, 0, 3, 100_003, 3, 1, 0, 0, 0, 0])),
        ("a credential of 4 GiB", call(&[1, 0, 2, 100_003, 3, 1, 1, u32::MAX])),
        ("a handle of 4 GiB", call(&[1, 0, 2, 100_003, 3, 1, 0, 0, 0, 0, u32::MAX])),
        ("a path of 2 GiB", call(&[1, 0, 2, 100_005, 3, 1, 0, 0, 0, 0, 0x7fff_ffff])),
        // A READ of 4 GiB with an empty handle.
        ("a READ of 4 GiB", call(&[1, 0, 2, 100_003, 3, 6, 0, 0, 0, 0, 0, 0, 0, u32::MAX])),
        ("a repeated byte", vec![0xa5; 100_000]),
    ]
}

/// Sends bytes, and reads until the service closes the connection.
fn exchange(address: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(harness::TIMEOUT)).expect("set a timeout");
    // The service may close the connection while bytes are sent.
    let closed = |kind| matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
    match stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write)) {
        Ok(()) => {}
        Err(error) if closed(error.kind()) || error.kind() == ErrorKind::NotConnected => return,
        Err(error) => panic!("send: {error}"),
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if closed(error.kind()) => return,
        Err(error) => panic!("a connection with invalid input stays open: {error}"),
    }
    assert!(answer.len() <= 4096, "{} bytes in answer to invalid input", answer.len());
}

#[test]
fn invalid_input_closes_its_connection_uses_bounded_memory_and_does_not_starve_a_client() {
    let _lock = one_test_at_a_time();
    let running = service();
    let address = running.addresses()[0];
    let mut client = WorkingClient::new(address);
    let unloaded = client.work();
    let before = resident_bytes();
    for _ in 0..5 {
        for (input, bytes) in invalid_input() {
            exchange(address, &bytes);
            let grown = resident_bytes().saturating_sub(before);
            assert!(grown < 64 << 20, "{grown} bytes more after {input}");
        }
    }
    client.work_within(unloaded * SLOWDOWN_MAX);
    assert_eq!(wait_until(&running, |now| now.connections == 1).connections, 1);
    running.stop().expect("the service is running");
}
