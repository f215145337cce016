//! A service with few file descriptors: connections that only cost do not take those of data
//! files, and where there are none at all a request waits, and nothing else does.
//!
//! The service runs in this program started again, so that the limit is its own.

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

use harness::{Connected, PATIENCE, described, getattr, options, pattern, read};

const FOLDER: &str = "FOURCORNERS_DESCRIPTORS_FOLDER";

/// Of the service.
const LIMIT: u64 = 256;

/// More than the limit, and than the service has files for.
const CROWD: usize = 300;

/// More than may be open at once.
const FILES: usize = 200;

/// No test of anything: the service that the others start. It answers each line of its input.
#[test]
fn child_process_that_serves() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let limit = Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) };
    setrlimit(Resource::Nofile, limit).expect("lower the limit");
    let (mut options, _lines) = options(described("3000MiB/s", "[limits]\nenforced = false\n"));
    options.data = Some(folder.into());
    let running = Running::start(options).expect("start the service");
    println!("address {}", running.addresses()[0]);
    let mut taken = Vec::new();
    for line in std::io::stdin().lines() {
        match &*line.expect("a line") {
            "take all" => {
                taken.extend(std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()))
            }
            "give back" => taken.clear(),
            other => panic!("{other}"),
        }
        println!("done");
    }
    running.stop().expect("the service is alive");
}

/// A service in a process of its own.
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
        Service { child, input, output, address: address.expect("it tells where it listens") }
    }

    fn ask(&mut self, what: &str) {
        let input = self.input.as_mut().expect("it runs");
        writeln!(input, "{what}").expect("ask the service's program");
        let done = self.output.find(|line| line.as_ref().is_ok_and(|line| line == "done"));
        assert!(done.is_some(), "it ended");
    }

    fn stop(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("wait for the service").success(), "it ended well");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // After a good end there is nobody left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A stable write, and what it came to.
fn written(client: &mut Connected, file: &[u8], data: &[u8]) -> nfsstat3 {
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

/// Many files with data, each with other data.
fn many_files(client: &mut Connected, name: &str) -> Vec<Vec<u8>> {
    let root = client.mount("/vol1");
    let make = |number: usize| {
        let file = client.create(&root, &format!("{name}{number}"));
        assert_eq!(written(client, &file, &pattern(1000 + number)), nfsstat3::NFS3_OK);
        file
    };
    (0..FILES).map(make).collect()
}

fn all_are_right(client: &mut Connected, files: &[Vec<u8>]) {
    for (number, file) in files.iter().enumerate() {
        assert_eq!(client.call(read(file, 0, 4096)).data(), pattern(1000 + number));
    }
}

#[test]
fn a_crowd_that_does_nothing_takes_no_descriptor_that_a_volume_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::start(folder.path());
    let mut client = Connected::to(service.address);
    let root = client.mount("/vol1");
    let mut crowd: Vec<TcpStream> = (0..CROWD)
        .map(|_| TcpStream::connect(service.address).expect("one of the crowd connects"))
        .collect();
    // The last ones are refused, so all before them were taken or refused too.
    let last = crowd.last_mut().expect("there is a crowd");
    last.set_read_timeout(Some(PATIENCE)).expect("set a timeout");
    let refused = last.read(&mut [0]);
    assert!(
        matches!(refused, Ok(0))
            || refused.is_err_and(|error| { error.kind() == std::io::ErrorKind::ConnectionReset })
    );
    let files = many_files(&mut client, "beside the crowd ");
    all_are_right(&mut client, &files);
    drop(crowd);
    // A connection is refused until the service has seen the crowd go.
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        let mut other = Connected::to(service.address);
        let (slot, bytes) = other.begin(&Arguments::Nfs(getattr(&root)));
        // It may be refused before the call is sent; then there is no reply.
        let _ = other.stream.write_all(&bytes);
        match other.try_receive() {
            Some(reply) => {
                assert_eq!(reply.slot, slot);
                all_are_right(&mut other, &files);
                break;
            }
            None => assert!(std::time::Instant::now() < until, "it never took another one"),
        }
    }
    assert_eq!(client.mount("/vol1"), root);
    service.stop();
}

#[test]
fn without_any_descriptor_a_request_is_to_be_tried_again_and_later_succeeds() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = Service::start(folder.path());
    let mut client = Connected::to(service.address);
    let files = many_files(&mut client, "file ");
    let root = client.mount("/vol1");
    for _ in 0..2 {
        service.ask("take all");
        let mut refused = 0;
        for (number, file) in files.iter().enumerate() {
            // Files that are open are closed for those that are needed, so most succeed.
            match written(&mut client, file, &pattern(1000 + number)) {
                nfsstat3::NFS3_OK => {}
                nfsstat3::NFS3ERR_JUKEBOX => refused += 1,
                other => panic!("{other:?}"),
            }
            let attributes = client.call(getattr(file));
            assert!(matches!(attributes.nfs(), NfsResults::GETATTR(Res3::Ok(_))));
        }
        assert!(refused < FILES, "some are open");
        client.create(&root, "a name needs no descriptor");
        service.ask("give back");
        all_are_right(&mut client, &files);
        for (number, file) in files.iter().enumerate() {
            let data = pattern(1000 + number);
            assert_eq!(written(&mut client, file, &data), nfsstat3::NFS3_OK);
        }
    }
    service.stop();
}
