//! A scripted server: it keeps files in memory and asks the test's script how to handle each
//! request. MOUNT and NFS share one port.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use nfs3::arguments::{Data, stable_how};
use nfs3::directory::{READDIR3resok, dirlist3, entry3};
use nfs3::mount::{dirpath, exportnode, exports, mountres3_ok, mountstat3};
use nfs3::procedure::NfsProcedure;
use nfs3::request::{Arguments, MountArguments, MountResults, NfsArguments, NfsResults, Results};
use nfs3::results::{
    COMMIT3resok, CREATE3resok, FSINFO3resfail, FSINFO3resok, LOOKUP3resok, READ3resfail,
    READ3resok, Res3, WRITE3resfail, WRITE3resok,
};
use nfs3::server::{Programs, Received, Request, Server, ServerOptions, reply};
use nfs3::types::{Handle, filename3, nfs_fh3, nfsstat3, nfstime3, wcc_data};
use target::nfs::{NfsAccess, NfsFiles, NfsUrl, Session};
use workload::plan::WriteStability;

/// How to handle an NFS request. Unless stated otherwise, the request is performed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Reply.
    Answer,
    /// Reply in several fragments, the first bytes one by one.
    Fragments,
    /// Reply when this many such replies are pending on the connection, the last first.
    Reversed(usize),
    /// Reply when this many such replies are pending on all connections.
    Together(usize),
    /// Perform at most this many bytes of it.
    Short(u32),
    /// Reply with this status without performing it.
    Fail(nfsstat3),
    /// Close the connection instead of replying.
    DoAndClose,
    /// Close the connection without performing it.
    Close,
    /// Do not reply.
    Silence,
    /// Reply with bytes that are not a reply.
    Garbage,
    /// Reply, followed by bytes that are not a reply.
    GarbageBehind,
    /// Reply endlessly to a call that was not made.
    Flood,
    /// Reply that written data is UNSTABLE.
    Unsafe,
    /// Announce this many bytes.
    Announce(u32),
    /// READ: reply without data and without end of file. CREATE: reply without a handle.
    Nothing,
    /// Reply with fewer bytes than the results have.
    Truncated,
    /// READDIR: reply with this many entries, the first with this number in its name and this
    /// cookie, and without end.
    List { entries: u64, name: u64, cookie: u64 },
    /// READDIR: reply with the end of the listing.
    ListEnd,
}

/// A request that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) connection: usize,
    pub(crate) xid: u32,
    pub(crate) procedure: NfsProcedure,
    pub(crate) offset: u64,
    pub(crate) count: u32,
    pub(crate) stable: Option<stable_how>,
}

type Script = Box<dyn FnMut(&Seen, &mut World) -> Act + Send>;

/// The state of the server.
pub(crate) struct World {
    pub(crate) files: Vec<Vec<u8>>,
    /// The content of the files after a restart.
    pub(crate) durable: Vec<Vec<u8>>,
    pub(crate) verifier: [u8; 8],
    pub(crate) seen: Vec<Seen>,
    /// Connections that the client has reset.
    pub(crate) resets: usize,
    /// How many FSINFOs are still answered NFS3ERR_JUKEBOX.
    pub(crate) busy: usize,
    /// The paths that MNT accepts; if empty, all.
    pub(crate) exports: Vec<&'static str>,
    together: Vec<(TcpStream, Vec<u8>)>,
    connections: usize,
}

impl World {
    /// Loses uncommitted data.
    pub(crate) fn restart(&mut self) {
        self.files.clone_from(&self.durable);
        self.verifier[0] += 1;
    }

    pub(crate) fn count(&self, procedure: NfsProcedure) -> usize {
        self.seen.iter().filter(|seen| seen.procedure == procedure).count()
    }
}

pub(crate) struct Scripted {
    address: SocketAddr,
    pub(crate) world: Arc<Mutex<World>>,
}

impl Scripted {
    /// Starts a server with `files` files of `bytes` bytes; it ends with the test process.
    pub(crate) fn start(
        (files, bytes): (usize, usize),
        script: impl FnMut(&Seen, &mut World) -> Act + Send + 'static,
    ) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let content = |file: usize| (0..bytes).map(|at| byte_of(file, at)).collect();
        let files: Vec<Vec<u8>> = (0..files).map(content).collect();
        let world = Arc::new(Mutex::new(World {
            durable: files.clone(),
            files,
            verifier: *b"\0verifie",
            seen: Vec::new(),
            resets: 0,
            busy: 0,
            exports: Vec::new(),
            together: Vec::new(),
            connections: 0,
        }));
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(Box::new(script)));
        let shared = Arc::clone(&world);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (world, script) = (Arc::clone(&shared), Arc::clone(&script));
                // Errors of a connection are caused by the test.
                std::thread::spawn(move || drop(serve(stream, &world, &script)));
            }
        });
        Scripted { address, world }
    }

    /// Mounts the export with additional options and opens all files over `nconnect` connections.
    pub(crate) fn open(
        &self,
        options: &str,
        depth: u32,
        change: impl Fn(&mut NfsAccess),
    ) -> NfsFiles {
        NfsFiles::open(&self.access(options, change), depth).unwrap()
    }

    /// Mounts the export with additional options.
    pub(crate) fn session(&self, options: &str) -> Session {
        Session::open(&self.url(options)).unwrap()
    }

    /// The URL of the only export with additional options.
    pub(crate) fn url(&self, options: &str) -> NfsUrl {
        let port = self.address.port();
        format!("nfs://127.0.0.1:{port}/x?mountport={port}&{options}").parse().unwrap()
    }

    /// What [`Scripted::open`] opens.
    pub(crate) fn access(&self, options: &str, change: impl Fn(&mut NfsAccess)) -> NfsAccess {
        let session = self.session(options);
        let files = self.world.lock().unwrap().files.len();
        let mut access = NfsAccess {
            mounted: Arc::clone(session.mounted()),
            connections: 0..session.mounted().url.nconnect.unwrap_or(1),
            files: (0..files).map(|file| Handle::new(&[b'f', file as u8]).unwrap()).collect(),
            stability: WriteStability::Unstable,
            transfer_size_max_bytes: 64 << 10,
            keep_read_data: true,
            rewrite: None,
            uncommitted_max: target::nfs::files::UNCOMMITTED_MAX,
        };
        change(&mut access);
        self.world.lock().unwrap().seen.clear();
        access
    }
}

/// The initial content of a file.
pub(crate) fn byte_of(file: usize, at: usize) -> u8 {
    (at / 512 * 7 + at + file * 31) as u8
}

fn serve(
    mut stream: TcpStream,
    world: &Mutex<World>,
    script: &Mutex<Script>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut server = Server::new(ServerOptions {
        programs: Programs { nfs: true, mount: true, portmap: false },
        max_call_bytes: 2 << 20,
        max_in_progress: usize::MAX,
    });
    let connection = {
        let mut world = world.lock().unwrap();
        world.connections += 1;
        world.connections - 1
    };
    let mut reversed: Vec<Vec<u8>> = Vec::new();
    let mut memory = vec![0; 256 << 10];
    loop {
        let bytes = stream.read(&mut memory).inspect_err(|error| {
            let is_reset = error.kind() == std::io::ErrorKind::ConnectionReset;
            world.lock().unwrap().resets += usize::from(is_reset);
        })?;
        if bytes == 0 {
            return Ok(());
        }
        let mut input = &memory[..bytes];
        let mut refused = Vec::new();
        while let Some(received) = server.receive(&mut input, &mut refused).unwrap() {
            let Received::Request(request) = received else { panic!("{received:?}") };
            let mut answer = Vec::new();
            let mut world = world.lock().unwrap();
            let act = match seen(connection, &request) {
                Some(seen) => {
                    world.seen.push(seen);
                    script.lock().unwrap()(&seen, &mut world)
                }
                None => Act::Answer,
            };
            if act == Act::Close {
                return Ok(());
            }
            perform(&mut world, &request, act, &mut answer);
            if act == Act::Truncated {
                answer.truncate(answer.len() - 8);
                let length = (answer.len() - 4) as u32 | 1 << 31;
                answer[..4].copy_from_slice(&length.to_be_bytes());
            }
            match act {
                Act::DoAndClose => return Ok(()),
                Act::Silence => {}
                Act::Garbage => stream.write_all(&[0xff; 64])?,
                Act::GarbageBehind => {
                    answer.extend([0xff; 64]);
                    stream.write_all(&answer)?;
                }
                Act::Flood => {
                    drop(world);
                    answer[4] ^= 0x80;
                    loop {
                        stream.write_all(&answer)?;
                    }
                }
                Act::Reversed(count) => {
                    reversed.push(answer);
                    if reversed.len() == count {
                        for answer in reversed.drain(..).rev() {
                            stream.write_all(&answer)?;
                        }
                    }
                }
                Act::Together(count) => {
                    world.together.push((stream.try_clone()?, answer));
                    if world.together.len() == count {
                        for (mut stream, answer) in world.together.drain(..) {
                            stream.write_all(&answer)?;
                        }
                    }
                }
                Act::Fragments => {
                    drop(world);
                    let body = &answer[4..];
                    let (first, last) = body.split_at(body.len() / 2);
                    let mut whole = (first.len() as u32).to_be_bytes().to_vec();
                    whole.extend(first);
                    whole.extend((last.len() as u32 | 1 << 31).to_be_bytes());
                    whole.extend(last);
                    for byte in &whole[..16] {
                        stream.write_all(&[*byte])?;
                    }
                    stream.write_all(&whole[16..])?;
                }
                _ => stream.write_all(&answer)?,
            }
        }
    }
}

fn seen(connection: usize, request: &Request<'_>) -> Option<Seen> {
    let Arguments::Nfs(arguments) = request.arguments else { return None };
    let (procedure, xid) = (arguments.procedure(), request.xid);
    let (offset, count, stable) = match arguments {
        NfsArguments::READ(args) => (args.offset, args.count, None),
        NfsArguments::WRITE(args) => (args.offset, args.count, Some(args.stable)),
        NfsArguments::COMMIT(_) => (0, 0, None),
        NfsArguments::READDIR(args) => (args.cookie, args.count, None),
        NfsArguments::CREATE(_) | NfsArguments::LOOKUP(_) => (0, 0, None),
        _ => return None,
    };
    Some(Seen { connection, xid, procedure, offset, count, stable })
}

fn perform(world: &mut World, request: &Request<'_>, act: Act, answer: &mut Vec<u8>) {
    let max = if let Act::Short(max) = act { max } else { u32::MAX };
    let names: Vec<String>;
    let fail = if let Act::Fail(status) = act { Some(status) } else { None };
    let results = match request.arguments {
        Arguments::Mount(MountArguments::MNT(path)) => {
            let ok = mountres3_ok { fhandle: nfs_fh3(b"root"), auth_flavors: vec![1] };
            let is_known = world.exports.is_empty()
                || world.exports.iter().any(|known| known.as_bytes() == path.0);
            let found = if is_known { Ok(ok) } else { Err(mountstat3::MNT3ERR_NOENT) };
            Results::Mount(MountResults::MNT(found))
        }
        Arguments::Mount(MountArguments::EXPORT(())) => {
            let node = |path: &&'static str| exportnode {
                ex_dir: dirpath(path.as_bytes()),
                ex_groups: Vec::new(),
            };
            Results::Mount(MountResults::EXPORT(exports(world.exports.iter().map(node).collect())))
        }
        Arguments::Nfs(NfsArguments::FSINFO(_)) if world.busy > 0 => {
            world.busy -= 1;
            let failed = FSINFO3resfail { obj_attributes: None };
            let results = Res3::Fail(nfsstat3::NFS3ERR_JUKEBOX, failed);
            Results::Nfs(NfsResults::FSINFO(results))
        }
        Arguments::Nfs(NfsArguments::FSINFO(_)) => {
            Results::Nfs(NfsResults::FSINFO(Res3::Ok(info())))
        }
        Arguments::Nfs(NfsArguments::READDIR(_)) if fail.is_some() => {
            let failed = READ3resfail { obj_attributes: None };
            Results::Nfs(NfsResults::READDIR(Res3::Fail(fail.unwrap(), failed)))
        }
        Arguments::Nfs(NfsArguments::READDIR(_)) => {
            let (entries, name, cookie) = match act {
                Act::List { entries, name, cookie } => (entries, name, cookie),
                Act::ListEnd => (0, 0, 0),
                other => panic!("{other:?} of READDIR"),
            };
            names = (name..name + entries).map(|number| format!("n{number}")).collect();
            let names = names.iter().map(|name| filename3(name.as_bytes()));
            let numbered = names.zip(cookie..);
            let entries = numbered.map(|(name, cookie)| entry3 { fileid: 7, name, cookie });
            let reply = dirlist3 { entries: entries.collect(), eof: act == Act::ListEnd };
            let ok = READDIR3resok { dir_attributes: None, cookieverf: [0; 8], reply };
            Results::Nfs(NfsResults::READDIR(Res3::Ok(ok)))
        }
        Arguments::Nfs(NfsArguments::READ(args)) => {
            let file = &world.files[args.file.0[1] as usize];
            let start = file.len().min(args.offset as usize);
            let end = file.len().min(start + args.count.min(max) as usize);
            let data = Data(&file[start..end]);
            let eof = end == file.len();
            let count = (end - start) as u32;
            let mut ok = READ3resok { file_attributes: None, count, eof, data };
            match act {
                Act::Announce(count) => ok.count = count,
                Act::Nothing => (ok.count, ok.eof, ok.data) = (0, false, Data(&[])),
                _ => {}
            }
            Results::Nfs(NfsResults::READ(match fail {
                Some(status) => Res3::Fail(status, READ3resfail { obj_attributes: None }),
                None => Res3::Ok(ok),
            }))
        }
        Arguments::Nfs(NfsArguments::WRITE(args)) => {
            let index = args.file.0[1] as usize;
            let count = args.count.min(max);
            if fail.is_none() {
                let data = &args.data.0[..count as usize];
                let range = args.offset as usize..args.offset as usize + data.len();
                world.files[index][range.clone()].copy_from_slice(data);
                if args.stable != stable_how::UNSTABLE {
                    world.durable[index][range].copy_from_slice(data);
                }
            }
            let committed = if act == Act::Unsafe { stable_how::UNSTABLE } else { args.stable };
            let file_wcc = wcc_data::default();
            let count = if let Act::Announce(count) = act { count } else { count };
            let ok = WRITE3resok { file_wcc, count, committed, verf: world.verifier };
            Results::Nfs(NfsResults::WRITE(match fail {
                Some(status) => Res3::Fail(status, WRITE3resfail { file_wcc }),
                None => Res3::Ok(ok),
            }))
        }
        Arguments::Nfs(NfsArguments::COMMIT(args)) => {
            let index = args.file.0[1] as usize;
            let file_wcc = wcc_data::default();
            Results::Nfs(NfsResults::COMMIT(match fail {
                Some(status) => Res3::Fail(status, WRITE3resfail { file_wcc }),
                None => {
                    world.durable[index] = world.files[index].clone();
                    Res3::Ok(COMMIT3resok { file_wcc, verf: world.verifier })
                }
            }))
        }
        Arguments::Nfs(NfsArguments::CREATE(_)) => {
            let obj = (act != Act::Nothing).then_some(nfs_fh3(b"f\0"));
            let dir_wcc = wcc_data::default();
            let ok = CREATE3resok { obj, obj_attributes: None, dir_wcc };
            Results::Nfs(NfsResults::CREATE(Res3::Ok(ok)))
        }
        Arguments::Nfs(NfsArguments::LOOKUP(_)) => {
            let object = nfs_fh3(b"f\0");
            let ok = LOOKUP3resok { object, obj_attributes: None, dir_attributes: None };
            Results::Nfs(NfsResults::LOOKUP(Res3::Ok(ok)))
        }
        other => panic!("{other:?} is not used by any test"),
    };
    reply(answer, request.xid, &results);
}

fn info() -> FSINFO3resok {
    FSINFO3resok {
        obj_attributes: None,
        rtmax: 1 << 20,
        rtpref: 64 << 10,
        rtmult: 512,
        wtmax: 1 << 20,
        wtpref: 64 << 10,
        wtmult: 512,
        dtpref: 1 << 20,
        maxfilesize: u64::MAX,
        time_delta: nfstime3 { seconds: 0, nseconds: 1 },
        properties: 0,
    }
}
