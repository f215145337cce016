//! Peers that mean harm, or are broken beyond repair: none of them ends the service, takes memory
//! that its bytes do not justify, or keeps a good client from its answers. A test program of its
//! own, one test at a time, for the memory that is looked at is the process's.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nfs3::record::mark;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use volume::shell::Running;
use volume::witness::Procedure;

#[expect(dead_code, reason = "the tests of the shell use more of it")]
#[path = "shell/harness.rs"]
mod harness;

use harness::{Connected, described, options, pattern, read, settled, write};

/// Connections of the crowd.
const CROWD: usize = 10_000;

/// Calls of the good client, each a WRITE or a READ.
const CALLS: usize = 2000;

/// How much longer the good client's work may take beside others than alone, at most. A turn of
/// the service serves up to 512 sockets, each once, so a call waits for as many others; none of
/// those here costs more than a call does. What starves it makes it wait for all of the crowd, or
/// for ever.
const SLOWER: u32 = 512;

/// For a connection that has sent next to nothing. Sockets' buffers are the kernel's.
const BYTES_EACH_MAX: u64 = 16 * 1024;

/// Held by the test that looks at memory.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn allow_files(count: u64) {
    let now = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= count);
    if enough(now.current) {
        return;
    }
    let maximum = if enough(now.maximum) { now.maximum } else { Some(count) };
    setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum })
        .unwrap_or_else(|error| panic!("this test wants {count} open files: {error}"));
}

fn service_for_a_crowd() -> Running {
    allow_files(CROWD as u64 + 1000);
    let config = described("3000MiB/s", "[limits]\nenforced = false\n");
    let (mut options, _) = options(config);
    options.connections_max = CROWD + 100;
    Running::start(options).expect("start the service")
}

/// A client that does its work and looks at what it gets.
struct Good {
    client: Connected,
    file: Vec<u8>,
}

impl Good {
    fn new(address: SocketAddr) -> Good {
        let mut client = Connected::to(address);
        let root = client.mount("/vol1");
        let file = client.filled(&root, "good", 1 << 20);
        Good { client, file }
    }

    /// Writes and reads, one call after the other. Gives the time that it took: at most
    /// `most`.
    fn work_within(&mut self, most: Duration) -> Duration {
        let data = pattern(8192);
        let begun = Instant::now();
        for call in 0..CALLS / 2 {
            let offset = (call % 128 * 8192) as u64;
            self.client.call(write(&self.file, offset, &data));
            assert_eq!(self.client.call(read(&self.file, offset, 8192)).data(), data);
            assert!(begun.elapsed() <= most, "starved: only {call} of {} are done", CALLS / 2);
        }
        begun.elapsed()
    }

    /// The same with nobody beside it.
    fn work(&mut self) -> Duration {
        self.work_within(Duration::MAX)
    }

    /// What the service has seen of its READs and WRITEs.
    fn seen(&self, running: &Running) -> u64 {
        let address = self.client.stream.local_addr().expect("our address");
        let snapshot = running.snapshot().expect("the service is alive");
        let mut flows = snapshot.witness.flows();
        let flow = flows.find(|(name, _)| name.starts_with(&format!("{address}-")));
        let (_, counters) = flow.expect("our flow");
        counters.of(Procedure::Read) + counters.of(Procedure::Write)
    }
}

/// Memory of this process, the service included.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("read our status");
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB"));
    kib.and_then(|kib| kib.trim().parse::<u64>().ok()).expect("a number of kB") * 1024
}

/// The beginning of a call, as long as the service takes them, of which no more comes.
fn half_a_call() -> Vec<u8> {
    let mut bytes = mark(1 << 20).to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0; 60]);
    bytes
}

/// The crowd in a process of its own: one process may not have so many files in all places.
struct Crowd(Child);

impl Crowd {
    fn gather(address: SocketAddr) -> Crowd {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture", "the_crowd_is_this_program_again"])
            .env(ADDRESS, address.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("start this program again");
        Crowd(child)
    }

    /// All go at once.
    fn disperse(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("wait for the crowd").success(), "the crowd was sent away");
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // After a good end there is nobody left.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where the crowd goes.
const ADDRESS: &str = "HOSTILE_ADDRESS";

/// No test of anything: what the one below starts, and done at once where it was not that.
#[test]
fn the_crowd_is_this_program_again() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let address: SocketAddr = address.parse().expect("an address");
    allow_files(CROWD as u64 + 100);
    let half = half_a_call();
    let mut crowd: Vec<TcpStream> = (0..CROWD)
        .map(|number| {
            let mut stream = TcpStream::connect(address).expect("one of the crowd connects");
            // The others say nothing, or have their call come one byte at a time, below.
            if number % 3 == 1 {
                stream.write_all(&half).expect("send half a call");
            }
            stream
        })
        .collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Ends when the other process closes it.
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("wait for the end");
            done.store(true, Ordering::Relaxed);
        });
        for byte in half.chunks(1) {
            for stream in crowd.iter_mut().skip(2).step_by(3) {
                if done.load(Ordering::Relaxed) {
                    return;
                }
                stream.write_all(byte).expect("send one byte");
            }
        }
    });
}

#[test]
fn ten_thousand_connections_that_only_cost_neither_end_the_service_nor_starve_a_good_client() {
    let _alone = alone();
    let running = service_for_a_crowd();
    let mut good = Good::new(running.addresses()[0]);
    let alone = good.work();
    let (before, seen) = (resident_bytes(), good.seen(&running));

    let crowd = Crowd::gather(running.addresses()[0]);
    settled(&running, |now| now.connections == CROWD + 1);
    let beside = good.work_within(alone * SLOWER);
    println!("{alone:?} alone, {beside:?} beside the crowd");
    assert_eq!(good.seen(&running) - seen, CALLS as u64);
    let now = running.snapshot().expect("the service is alive");
    assert_eq!(now.connections, CROWD + 1, "all of the crowd were there until the end");
    let each = resident_bytes().saturating_sub(before) / CROWD as u64;
    assert!(each <= BYTES_EACH_MAX, "{each} bytes for each of the crowd");

    crowd.disperse();
    let now = settled(&running, |now| now.connections == 1);
    assert_eq!((now.connections, now.held), (1, 0));
    good.work_within(alone * SLOWER);
    running.stop().expect("the service is alive");
}

/// What comes on a connection before the peer gives up.
fn nonsense() -> Vec<(&'static str, Vec<u8>)> {
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
        ("fragments of nothing for ever", [0; 4].repeat(50_000)),
        ("a record of nothing", words(0x8000_0000)),
        ("a reply", call(&[1, 1, 0, 0, 0, 0])),
        ("RPC of another version", call(&[1, 0, 3, 100_003, 3, 1, 0, 0, 0, 0])),
        ("a credential of 4 GiB", call(&[1, 0, 2, 100_003, 3, 1, 1, u32::MAX])),
        ("a handle of 4 GiB", call(&[1, 0, 2, 100_003, 3, 1, 0, 0, 0, 0, u32::MAX])),
        ("a path of 2 GiB", call(&[1, 0, 2, 100_005, 3, 1, 0, 0, 0, 0, 0x7fff_ffff])),
        // A READ of a handle of nothing, and all the bytes there are.
        ("4 GiB of nothing", call(&[1, 0, 2, 100_003, 3, 6, 0, 0, 0, 0, 0, 0, 0, u32::MAX])),
        ("the same byte", vec![0xa5; 100_000]),
    ]
}

/// Sends and reads until the service has had enough or nothing more comes.
fn talk(address: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(harness::PATIENCE)).expect("set a timeout");
    // The service may close in the middle of it.
    let gone = |kind| matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset);
    match stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write)) {
        Ok(()) => {}
        Err(error) if gone(error.kind()) || error.kind() == ErrorKind::NotConnected => return,
        Err(error) => panic!("send: {error}"),
    }
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) if gone(error.kind()) => return,
        Err(error) => panic!("a connection with nonsense stays open: {error}"),
    }
    assert!(answer.len() <= 4096, "{} bytes in answer to nonsense", answer.len());
}

#[test]
fn nonsense_is_refused_or_answered_shortly_and_harms_nobody() {
    let _alone = alone();
    let running = service_for_a_crowd();
    let address = running.addresses()[0];
    let mut good = Good::new(address);
    let alone = good.work();
    let before = resident_bytes();
    for _ in 0..5 {
        for (what, bytes) in nonsense() {
            talk(address, &bytes);
            let grown = resident_bytes().saturating_sub(before);
            assert!(grown < 64 << 20, "{grown} bytes more after {what}");
        }
    }
    good.work_within(alone * SLOWER);
    assert_eq!(settled(&running, |now| now.connections == 1).connections, 1);
    running.stop().expect("the service is alive");
}
