//! A service with few file descriptors: idle connections do not use those of data files, and without
//! any free descriptor only requests that need one are refused.
//!
//! The service runs in another process of this program, so that the limit applies to it only.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use nfs3::arguments::*;
use nfs3::request::{Arguments, NfsArguments, NfsResults};
use nfs3::results::Res3;
use nfs3::types::*;
use rustix::process::{Resource, Rlimit, setrlimit};
use volume::shell::Running;

#[expect(dead_code, reason = "the tests of the shell use more of it")]
#[path = "shell/harness.rs"]
mod harness;

use harness::{Connection, TIMEOUT, configured, getattr, options, pattern, read};

/// The environment variable with the directory of the volumes.
const FOLDER: &str = "FOURCORNERS_DESCRIPTORS_FOLDER";

/// The service's limit of open files.
const LIMIT: u64 = 256;

/// Idle connections: more than the limit.
const IDLE: usize = 300;

/// More data files than can be open together.
const FILES: usize = 200;

/// Not a test: the process of [`Service`]. It executes each line of its input. Returns immediately
/// without the environment variable.
#[test]
fn child_process_that_serves() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let limit = Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) };
    setrlimit(Resource::Nofile, limit).expect("lower the limit");
    let (mut options, _lines) = options(configured("3000MiB/s", "[limits]\nenforced = false\n"));
    options.data = Some(folder.into());
    let running = Running::start(options).expect("start the service");
    println!("address {}", running.addresses()[0]);
    let mut files = Vec::new();
    for line in std::io::stdin().lines() {
        match &*line.expect("a line") {
            "open all" => {
                files.extend(std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()))
            }
            "close all" => files.clear(),
            other => panic!("{other}"),
        }
        println!("done");
    }
    running.stop().expect("the service is running");
}

/// A service in another process.
struct Service {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl Service {
    fn start(folder: &Path) -> Service {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "--nocapture", "child_process_that_serves"])
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start this program again");
        let mut output = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = output.find_map(|line| {
            let line = line.expect("a line");
            Some(line.split_once("address ")?.1.parse().expect("an address"))
        });
        let input = child.stdin.take();
        Service { child, input, output, address: address.expect("it prints its address") }
    }

    fn execute(&mut self, command: &str) {
        let input = self.input.as_mut().expect("the process is running");
        writeln!(input, "{command}").expect("send a command");
        let done = self.output.find(|line| line.as_ref().is_ok_and(|line| line == "done"));
        assert!(done.is_some(), "the process ended");
    }

    fn stop(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("wait for the process").success(), "it did not fail");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Does nothing after `stop`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status of a stable WRITE.
fn write(client: &mut Connection, file: &[u8], data: &[u8]) -> nfsstat3 {
    let reply = client.call(NfsArguments::WRITE(WRITE3args {
        file: nfs_fh3(file),
        offset: 0,
        count: data.len() as u32,
        stable: stable_how::FILE_SYNC,
        data: Data(data),
    }));
    match reply.nfs() {
        NfsResults::WRITE(Res3::Ok(_)) => nfsstat3::NFS3_OK,
        NfsResults::WRITE(Res3::Fail(status, _)) => status,
        other => panic!("{other:?}"),
    }
}

/// Creates files with different data.
fn create_files(client: &mut Connection) -> Vec<Vec<u8>> {
    let root = client.mount("/vol1");
    let create = |number: usize| {
        let file = client.create(&root, &format!("file {number}"));
        assert_eq!(write(client, &file, &pattern(1000 + number)), nfsstat3::NFS3_OK);
        file
    };
    (0..FILES).map(create).collect()
}

/// Checks the data of files of [`create_files`].
fn check_files(client: &mut Connection, files: &[Vec<u8>]) {
    for (number, file) in files.iter().enumerate() {
        assert_eq!(client.call(read(file, 0, 4096)).data(), pattern(1000 + number));
    }
}

#[test]
fn idle_connections_use_no_descriptor_that_a_volume_needs() {
    let folder = tempfile::tempdir().expect("a directory");
    let service = Service::start(folder.path());
    let mut client = Connection::to(service.address);
    let root = client.mount("/vol1");
    let mut idle: Vec<TcpStream> =
        (0..IDLE).map(|_| TcpStream::connect(service.address).expect("connect")).collect();
    // The last one is refused. All before it were accepted or refused by then.
    let last = idle.last_mut().expect("idle connections");
    last.set_read_timeout(Some(TIMEOUT)).expect("set a timeout");
    let refused = last.read(&mut [0]);
    assert!(
        matches!(refused, Ok(0))
            || refused.is_err_and(|error| { error.kind() == std::io::ErrorKind::ConnectionReset })
    );
    let files = create_files(&mut client);
    check_files(&mut client, &files);
    drop(idle);
    // Connections are refused until the service has closed the idle ones.
    let deadline = std::time::Instant::now() + TIMEOUT;
    loop {
        let mut other = Connection::to(service.address);
        let (slot, bytes) = other.begin(&Arguments::Nfs(getattr(&root)));
        // The connection may be closed before the call is sent; then there is no reply.
        let _ = other.stream.write_all(&bytes);
        match other.try_receive() {
            Some(reply) => {
                assert_eq!(reply.slot, slot);
                check_files(&mut other, &files);
                break;
            }
            None => assert!(std::time::Instant::now() < deadline, "connections are still refused"),
        }
    }
    assert_eq!(client.mount("/vol1"), root);
    service.stop();
}

#[test]
fn without_a_free_descriptor_a_request_gets_jukebox_and_succeeds_later() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut service = Service::start(folder.path());
    let mut client = Connection::to(service.address);
    let files = create_files(&mut client);
    let root = client.mount("/vol1");
    for _ in 0..2 {
        service.execute("open all");
        let mut refused = 0;
        for (number, file) in files.iter().enumerate() {
            // Open data files are closed for those that are needed, so most requests succeed.
            match write(&mut client, file, &pattern(1000 + number)) {
                nfsstat3::NFS3_OK => {}
                nfsstat3::NFS3ERR_JUKEBOX => refused += 1,
                other => panic!("{other:?}"),
            }
            let attributes = client.call(getattr(file));
            assert!(matches!(attributes.nfs(), NfsResults::GETATTR(Res3::Ok(_))));
        }
        assert!(refused < FILES, "some are open");
        client.create(&root, "a name needs no descriptor");
        service.execute("close all");
        check_files(&mut client, &files);
        for (number, file) in files.iter().enumerate() {
            let data = pattern(1000 + number);
            assert_eq!(write(&mut client, file, &data), nfsstat3::NFS3_OK);
        }
    }
    service.stop();
}
