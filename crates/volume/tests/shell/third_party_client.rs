//! A third-party NFS 3 client (crate `nfs3_client`) mounts, lists, writes, reads, renames and removes
//! files on the service.
//!
//! The client has no timeouts, and retries forever if its connection is closed, so each test limits
//! its time.

use nfs3_client::nfs3_types::nfs3::{
    COMMIT3args, CREATE3args, FSINFO3args, FSSTAT3args, GETATTR3args, LINK3args, LOOKUP3args,
    MKDIR3args, Nfs3Option, Nfs3Result, READ3args, READDIR3args, READDIRPLUS3args, READLINK3args,
    REMOVE3args, RENAME3args, RMDIR3args, SETATTR3args, SYMLINK3args, WRITE3args, cookieverf3,
    createhow3, diropargs3, filename3, nfs_fh3, nfspath3, nfsstat3, sattr3, stable_how,
    symlinkdata3,
};
use nfs3_client::nfs3_types::rpc::{auth_unix, opaque_auth};
use nfs3_client::nfs3_types::xdr_codec::Opaque;
use nfs3_client::tokio::{TokioConnector, TokioIo};
use nfs3_client::{Nfs3Connection, Nfs3ConnectionBuilder, PortmapperClient};
use tokio::net::TcpStream;
use volume::counters::Procedure;
use volume::shell::Running;

use crate::harness::{TIMEOUT, configured, options, pattern, service};

type Connection = Nfs3Connection<TokioIo<TcpStream>>;

/// The largest WRITE and READ that the service takes.
const TRANSFER_BYTES: usize = 1 << 20;

/// Odd, so that the last piece is short and needs padding.
const FILE_BYTES: usize = 3 * TRANSFER_BYTES + 12_345;

/// Runs the client, for at most [`TIMEOUT`].
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("start a runtime");
    let limited = async { tokio::time::timeout(TIMEOUT, work).await };
    runtime.block_on(limited).expect("the client is stuck")
}

fn builder(path: &str) -> Nfs3ConnectionBuilder<TokioConnector> {
    let machinename = Opaque::borrowed(b"third-party");
    let sys = auth_unix { stamp: 7, machinename, uid: 0, gid: 0, gids: vec![4, 24] };
    Nfs3ConnectionBuilder::new(TokioConnector, "127.0.0.1", path)
        .connect_from_privileged_port(false)
        .credential(opaque_auth::auth_unix(&sys))
}

async fn mount(running: &Running) -> Connection {
    let port = running.addresses()[0].port();
    let builder = builder("/vol1").mount_port(port).nfs3_port(port);
    builder.mount().await.expect("mount")
}

fn at<'a>(dir: &nfs_fh3, name: &'a str) -> diropargs3<'a> {
    diropargs3 { dir: dir.clone(), name: filename3(Opaque::borrowed(name.as_bytes())) }
}

/// The status of a result.
fn status<T, E>(result: Nfs3Result<T, E>) -> nfsstat3 {
    match result {
        Nfs3Result::Ok(_) => nfsstat3::NFS3_OK,
        Nfs3Result::Err((status, _)) => status,
    }
}

/// Lists a directory in small replies.
async fn names(client: &mut Connection, dir: &nfs_fh3) -> Vec<String> {
    let (mut cookie, mut cookieverf, mut names) = (0, cookieverf3::default(), Vec::new());
    loop {
        let args = READDIR3args { dir: dir.clone(), cookie, cookieverf, count: 512 };
        let page = client.readdir(&args).await.expect("a reply").unwrap();
        cookieverf = page.cookieverf;
        for entry in page.reply.entries.into_inner() {
            cookie = entry.cookie;
            names.push(String::from_utf8_lossy(entry.name.0.as_ref()).into_owned());
        }
        if page.reply.eof {
            names.sort();
            return names;
        }
    }
}

async fn create(client: &mut Connection, dir: &nfs_fh3, name: &str) -> nfs_fh3 {
    let attributes = sattr3 { mode: Nfs3Option::Some(0o640), ..sattr3::default() };
    let args = CREATE3args { where_: at(dir, name), how: createhow3::GUARDED(attributes) };
    let made = client.create(&args).await.expect("a reply").unwrap();
    match made.obj {
        Nfs3Option::Some(handle) => handle,
        Nfs3Option::None => panic!("a file without a handle"),
    }
}

#[test]
fn a_third_party_client_writes_commits_and_reads_a_file() {
    let running = service("64MiB/s", "[limits]\nenforced = false\n");
    let data = pattern(FILE_BYTES);
    run(async {
        let mut client = mount(&running).await;
        let root = client.root_nfs_fh3();
        let info = client.fsinfo(&FSINFO3args { fsroot: root.clone() }).await.expect("a reply");
        let info = info.unwrap();
        assert_eq!((info.rtmax, info.wtmax), (TRANSFER_BYTES as u32, TRANSFER_BYTES as u32));
        let space = client.fsstat(&FSSTAT3args { fsroot: root.clone() }).await.expect("a reply");
        assert_eq!(space.unwrap().tbytes, 1 << 40, "the volume's quota");

        let file = create(&mut client, &root, "file").await;
        let mut verifier = None;
        for (index, piece) in data.chunks(TRANSFER_BYTES).enumerate() {
            let write = WRITE3args {
                file: file.clone(),
                offset: (index * TRANSFER_BYTES) as u64,
                count: piece.len() as u32,
                stable: stable_how::UNSTABLE,
                data: Opaque::borrowed(piece),
            };
            let done = client.write(&write).await.expect("a reply").unwrap();
            assert_eq!((done.count as usize, done.committed), (piece.len(), stable_how::UNSTABLE));
            verifier = Some(done.verf);
        }
        let commit = COMMIT3args { file: file.clone(), offset: 0, count: 0 };
        let committed = client.commit(&commit).await.expect("a reply").unwrap();
        assert_eq!(Some(committed.verf), verifier);

        let mut seen = Vec::new();
        loop {
            let offset = seen.len() as u64;
            let read = READ3args { file: file.clone(), offset, count: TRANSFER_BYTES as u32 };
            let piece = client.read(&read).await.expect("a reply").unwrap();
            assert_eq!(piece.count as usize, piece.data.len());
            seen.extend_from_slice(piece.data.as_ref());
            if piece.eof {
                break;
            }
            assert!(piece.count > 0, "neither data nor an end");
        }
        assert!(seen == data, "different data");
        client.unmount().await.expect("unmount");
    });
    let last = running.stop().expect("the service is running");
    let (_, counters) = last.counters.volumes().next().expect("a volume");
    assert_eq!(counters.written_bytes, FILE_BYTES as u64);
    assert_eq!(counters.read_bytes, FILE_BYTES as u64);
    assert_eq!(counters.of(Procedure::Write), 4);
    assert_eq!(counters.outstanding, 0);
}

#[test]
fn a_third_party_client_lists_renames_links_and_removes_files() {
    let running = service("64MiB/s", "[limits]\nenforced = false\n");
    run(async {
        let mut client = mount(&running).await;
        let root = client.root_nfs_fh3();
        let attributes = sattr3 { mode: Nfs3Option::Some(0o755), ..sattr3::default() };
        let mkdir = MKDIR3args { where_: at(&root, "dir"), attributes };
        let made = client.mkdir(&mkdir).await.expect("a reply").unwrap();
        let Nfs3Option::Some(dir) = made.obj else { panic!("a directory without a handle") };
        let mut expected: Vec<String> = vec![".".to_owned(), "..".to_owned()];
        for number in 0..100 {
            let name = format!("a rather long name of a file, {number:03}");
            create(&mut client, &dir, &name).await;
            expected.push(name);
        }
        assert_eq!(names(&mut client, &dir).await, expected);
        let (cookieverf, dircount, maxcount) = (cookieverf3::default(), 65536, 65536);
        let plus = READDIRPLUS3args { dir: dir.clone(), cookie: 0, cookieverf, dircount, maxcount };
        let plus = client.readdirplus(&plus).await.expect("a reply").unwrap();
        let all = plus.reply.entries.into_inner();
        assert!(plus.reply.eof && all.len() == expected.len());
        let whole = all.iter().all(|one| {
            matches!(one.name_handle, Nfs3Option::Some(_))
                && matches!(one.name_attributes, Nfs3Option::Some(_))
        });
        assert!(whole, "an entry without handle or attributes");

        let first = at(&dir, &expected[2]);
        let looked = client.lookup(&LOOKUP3args { what: first }).await.expect("a reply").unwrap();
        let file = looked.object;
        let size = sattr3 { size: Nfs3Option::Some(5), ..sattr3::default() };
        let guard = Nfs3Option::None;
        let args = SETATTR3args { object: file.clone(), new_attributes: size, guard };
        client.setattr(&args).await.expect("a reply").unwrap();

        let rename = RENAME3args { from: at(&dir, &expected[2]), to: at(&root, "moved") };
        client.rename(&rename).await.expect("a reply").unwrap();
        let gone = LOOKUP3args { what: at(&dir, &expected[2]) };
        let gone = client.lookup(&gone).await.expect("a reply");
        assert_eq!(status(gone), nfsstat3::NFS3ERR_NOENT);
        let link = LINK3args { file: file.clone(), link: at(&root, "hard") };
        client.link(&link).await.expect("a reply").unwrap();
        let symlink = SYMLINK3args {
            where_: at(&root, "soft"),
            symlink: symlinkdata3 {
                symlink_attributes: sattr3::default(),
                symlink_data: nfspath3(Opaque::borrowed(b"to/where")),
            },
        };
        let made = client.symlink(&symlink).await.expect("a reply").unwrap();
        let Nfs3Option::Some(symlink) = made.obj else { panic!("a link without a handle") };
        let text = client.readlink(&READLINK3args { symlink }).await.expect("a reply").unwrap();
        assert_eq!(text.data.0.as_ref(), b"to/where");
        let seen = client.getattr(&GETATTR3args { object: file.clone() }).await.expect("a reply");
        let seen = seen.unwrap().obj_attributes;
        assert_eq!((seen.size, seen.nlink, seen.mode & 0o777), (5, 2, 0o640));

        let full = client.rmdir(&RMDIR3args { object: at(&root, "dir") }).await.expect("a reply");
        assert_eq!(status(full), nfsstat3::NFS3ERR_NOTEMPTY);
        for name in &expected[3..] {
            let args = REMOVE3args { object: at(&dir, name) };
            client.remove(&args).await.expect("a reply").unwrap();
        }
        client.rmdir(&RMDIR3args { object: at(&root, "dir") }).await.expect("a reply").unwrap();
        for name in ["moved", "hard", "soft"] {
            let args = REMOVE3args { object: at(&root, name) };
            client.remove(&args).await.expect("a reply").unwrap();
        }
        let stale = client.getattr(&GETATTR3args { object: file }).await.expect("a reply");
        assert_eq!(status(stale), nfsstat3::NFS3ERR_STALE);
        assert_eq!(names(&mut client, &root).await, [".", ".."]);
    });
    running.stop().expect("the service is running");
}

#[test]
fn a_third_party_client_finds_both_programs_through_the_portmapper() {
    let (mut options, _lines) = options(configured("64MiB/s", ""));
    options.portmapper = Some(0);
    let running = Running::start(options).expect("start the service");
    let (portmapper, nfs) = (running.portmappers()[0], running.addresses()[0]);
    assert_ne!(portmapper.port(), nfs.port());
    run(async {
        let builder = builder("/vol1").portmapper_port(portmapper.port());
        let mut client = builder.mount().await.expect("mount");
        assert_eq!((client.mount_port, client.nfs3_port), (nfs.port(), nfs.port()));
        client.null().await.expect("a reply");
        let exports = client.mount_client.export().await.expect("a reply").into_inner();
        let paths: Vec<&[u8]> = exports.iter().map(|node| node.ex_dir.0.as_ref()).collect();
        assert_eq!(paths, [&b"/vol1"[..]]);

        let stream = TcpStream::connect(portmapper).await.expect("connect");
        let all = PortmapperClient::new(TokioIo::new(stream)).dump().await.expect("a reply");
        let programs: Vec<(u32, u32)> = all.iter().map(|one| (one.prog, one.vers)).collect();
        for program in [(100_000, 2), (100_003, 3), (100_005, 3)] {
            assert!(programs.contains(&program), "no {program:?} in {programs:?}");
        }
    });
    running.stop().expect("the service is running");
}
