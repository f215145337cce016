//! The CPU time per READ or WRITE over NFS in the client, next to a bare TCP pair that moves the
//! same bytes, against a server that replies immediately.
//!
//! `nfs_reads serve` prints its port and serves until it is killed. `nfs_reads PORT MODE DEPTH
//! CONNECTIONS SIZE SECONDS [OPTIONS]` with MODE `floor`, `read`, `keep` (data into the slot's
//! memory) or `write` measures. It is meant for profiling.

#![expect(clippy::unwrap_used, reason = "an example may stop at any error")]
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nfs3::mount::mountres3_ok;
use nfs3::request::{Arguments, MountArguments, MountResults, NfsArguments, NfsResults, Results};
use nfs3::results::{COMMIT3resok, FSINFO3resok, Res3, WRITE3resok};
use nfs3::server::{Programs, Received, Server, ServerOptions, reply, reply_read_head};
use nfs3::types::{Handle, fattr3, ftype3, nfs_fh3, nfstime3, specdata3, wcc_data};
use rustix::time::{ClockId, clock_gettime};
use target::nfs::{NfsAccess, NfsFiles, NfsUrl, Session};
use target::{Target, Wait};
use workload::op::{Op, OpKind};
use workload::plan::WriteStability;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments[0] == "serve" {
        return serve();
    }
    let number = |index: usize| arguments[index].parse::<u64>().unwrap();
    let (port, mode) = (number(0) as u16, arguments[1].as_str());
    let (depth, connections, size) = (number(2) as usize, number(3) as u32, number(4) as u32);
    let time = Duration::from_secs_f64(arguments[5].parse().unwrap());
    let options = arguments.get(6).map_or("", String::as_str);
    let cpu = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let mut measured = match mode {
        "floor" => floor(port, depth, size),
        _ => client(port, mode, depth, connections, size, options),
    };
    let warm = Instant::now();
    while warm.elapsed() < time / 4 {
        measured();
    }
    let (begun, cpu_before, mut ops) = (Instant::now(), cpu(), 0);
    while begun.elapsed() < time {
        ops += measured();
    }
    let (elapsed, cpu) = (begun.elapsed(), cpu() - cpu_before);
    println!(
        "{mode} depth {depth} connections {connections} size {size}: {:.0} ops/s, \
         {:.0} ns of CPU time per operation",
        ops as f64 / elapsed.as_secs_f64(),
        cpu.as_nanos() as f64 / ops as f64
    );
}

/// Returns a closure that runs some turns of the loop through the target and returns the number of
/// completed operations.
fn client(
    port: u16,
    mode: &str,
    depth: usize,
    connections: u32,
    size: u32,
    options: &str,
) -> Box<dyn FnMut() -> u64> {
    let url = format!("nfs://127.0.0.1:{port}/null?mountport={port}&{options}");
    let url: NfsUrl = url.parse().unwrap();
    let session = Session::open(&url).unwrap();
    let access = NfsAccess {
        mounted: Arc::clone(session.mounted()),
        connections: 0..connections,
        files: vec![Handle::new(b"a file with a handle of 32 bytes").unwrap()],
        stability: WriteStability::Unstable,
        transfer_size_max_bytes: u64::from(size),
        keep_read_data: mode == "keep",
        rewrite: None,
        uncommitted_max: target::nfs::files::UNCOMMITTED_MAX,
    };
    let mut target = NfsFiles::open(&access, depth as u32).unwrap();
    let kind = if mode == "write" { OpKind::Write } else { OpKind::Read };
    let op = Op { index: 0, offset_bytes: 0, size_bytes: size, file: 0, kind };
    for tag in 0..depth {
        target.submit(tag as u32, &op).unwrap();
    }
    let mut done = Vec::with_capacity(depth);
    Box::new(move || {
        let mut ops = 0;
        for _ in 0..1000 {
            target.reap(Wait::Coarse(Duration::from_millis(100)), &mut done).unwrap();
            ops += done.len() as u64;
            for completion in done.drain(..) {
                assert_eq!(completion.result, size as i32);
                target.submit(completion.tag, &op).unwrap();
            }
        }
        ops
    })
}

/// The same bytes without NFS: calls with the size of a READ, replies counted by their size.
fn floor(port: u16, depth: usize, size: u32) -> Box<dyn FnMut() -> u64> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_nodelay(true).unwrap();
    let call = read_call(size);
    let calls = call.repeat(depth);
    stream.write_all(&calls).unwrap();
    let reply_bytes = 4 + 24 + 4 + 88 + 12 + size as usize;
    let mut memory = vec![0; 256 << 10];
    let mut left_over = 0;
    Box::new(move || {
        let mut ops = 0;
        for _ in 0..1000 {
            let bytes = left_over + stream.read(&mut memory).unwrap();
            let replies = bytes / reply_bytes;
            left_over = bytes % reply_bytes;
            if replies > 0 {
                stream.write_all(&calls[..replies * call.len()]).unwrap();
            }
            ops += replies as u64;
        }
        ops
    })
}

fn read_call(count: u32) -> Vec<u8> {
    let handle = b"a file with a handle of 32 bytes";
    let mut body: Vec<u8> = Vec::new();
    let words = |body: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| body.extend(word.to_be_bytes()));
    };
    words(&mut body, &[1, 0, 2, 100_003, 3, 6, 1, 24, 0, 4]);
    body.extend(b"host");
    words(&mut body, &[0, 0, 0, 0, 0, 32]);
    body.extend(handle);
    words(&mut body, &[0, 0, count]);
    let mut call = ((body.len() as u32) | 1 << 31).to_be_bytes().to_vec();
    call.extend(body);
    call
}

fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    for stream in listener.incoming().flatten() {
        // The thread ends when its client disconnects.
        std::thread::spawn(move || drop(answer(stream)));
    }
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut server = Server::new(ServerOptions {
        programs: Programs { nfs: true, mount: true, portmap: false },
        max_call_bytes: 2 << 20,
        max_in_progress: usize::MAX,
    });
    let data = vec![7; 1 << 20];
    let time = nfstime3 { seconds: 1, nseconds: 1 };
    let attributes = fattr3 {
        ftype: ftype3::NF3REG,
        mode: 0o644,
        nlink: 1,
        uid: 0,
        gid: 0,
        size: 1 << 30,
        used: 1 << 30,
        rdev: specdata3::default(),
        fsid: 1,
        fileid: 1,
        atime: time,
        mtime: time,
        ctime: time,
    };
    let mut memory = vec![0; 256 << 10];
    let mut replies = Vec::new();
    loop {
        let bytes = stream.read(&mut memory)?;
        if bytes == 0 {
            return Ok(());
        }
        let mut input = &memory[..bytes];
        replies.clear();
        let mut refused = Vec::new();
        while let Some(received) = server.receive(&mut input, &mut refused).unwrap() {
            let Received::Request(request) = received else { continue };
            let file_wcc = wcc_data { before: None, after: Some(attributes) };
            let results = match request.arguments {
                Arguments::Nfs(NfsArguments::READ(args)) => {
                    reply_read_head(
                        &mut replies,
                        request.xid,
                        &Some(attributes),
                        args.count,
                        false,
                    );
                    replies.extend_from_slice(&data[..args.count as usize]);
                    continue;
                }
                Arguments::Nfs(NfsArguments::WRITE(args)) => {
                    let (count, committed) = (args.count, args.stable);
                    let ok = WRITE3resok { file_wcc, count, committed, verf: [1; 8] };
                    Results::Nfs(NfsResults::WRITE(Res3::Ok(ok)))
                }
                Arguments::Nfs(NfsArguments::COMMIT(_)) => {
                    Results::Nfs(NfsResults::COMMIT(Res3::Ok(COMMIT3resok {
                        file_wcc,
                        verf: [1; 8],
                    })))
                }
                Arguments::Nfs(NfsArguments::FSINFO(_)) => {
                    Results::Nfs(NfsResults::FSINFO(Res3::Ok(FSINFO3resok {
                        obj_attributes: None,
                        rtmax: 1 << 20,
                        rtpref: 1 << 20,
                        rtmult: 512,
                        wtmax: 1 << 20,
                        wtpref: 1 << 20,
                        wtmult: 512,
                        dtpref: 8192,
                        maxfilesize: u64::MAX,
                        time_delta: time,
                        properties: 0,
                    })))
                }
                Arguments::Mount(MountArguments::MNT(_)) => {
                    let ok = mountres3_ok { fhandle: nfs_fh3(b"root"), auth_flavors: vec![1] };
                    Results::Mount(MountResults::MNT(Ok(ok)))
                }
                other => panic!("{other:?} is not served here"),
            };
            reply(&mut replies, request.xid, &results);
        }
        stream.write_all(&replies)?;
    }
}
