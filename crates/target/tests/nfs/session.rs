//! Every procedure of a session with nfs-ganesha, in memory and on a local file system, and those
//! that another third-party server supports.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use nfs3::arguments::{ACCESS3_MODIFY, ACCESS3_READ, createhow3, mknoddata3, stable_how};
use nfs3::procedure::NfsProcedure;
use nfs3::types::{Handle, ftype3, nfsstat3, nfstime3, sattr3};
use target::nfs::{NfsUrl, Session};

use crate::ganesha::Ganesha;
use crate::memfs::Memfs;
use crate::scripted::{Act, Scripted};

const PLAIN: sattr3 = sattr3 { mode: Some(0o640), ..sattr3::UNCHANGED };

fn open(url: &str) -> Session {
    let url: NfsUrl = url.parse().unwrap();
    Session::open(&url).unwrap()
}

#[test]
fn every_procedure_works_on_an_export_in_memory() {
    let server = Ganesha::start();
    let mut session = open(&server.mem(""));
    names(&mut session);
    data(&mut session);
    listings(&mut session, &[b".", b".."]);
}

#[test]
fn every_procedure_works_on_an_exported_folder() {
    let server = Ganesha::start();
    let mut session = open(&server.vfs(""));
    names(&mut session);
    data(&mut session);
    listings(&mut session, &[b".", b".."]);
    let seen = std::fs::read(server.folder().join("data")).unwrap();
    assert_eq!(seen.len(), 300_000);
    assert!(session.fsstat(&session.root()).unwrap().tbytes > 0);
    path_below_the_export(&server);
    privileged_ports(&server);
}

fn names(session: &mut Session) {
    let root = session.root();
    assert_eq!(session.getattr(&root).unwrap().ftype, ftype3::NF3DIR);
    let dir = session.mkdir(&root, b"names", sattr3 { mode: Some(0o755), ..PLAIN }).unwrap().0;

    let (file, attributes) = session.create(&dir, b"a", createhow3::UNCHECKED(PLAIN)).unwrap();
    assert_eq!(attributes.unwrap().mode & 0o777, 0o640);
    session.create(&dir, b"a", createhow3::UNCHECKED(PLAIN)).unwrap();
    let again = session.create(&dir, b"a", createhow3::GUARDED(PLAIN)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    assert!(again.to_string().starts_with("CREATE 127.0.0.1:"), "{again}");
    assert!(again.to_string().contains("/names/a: File exists"), "{again}");
    let exclusive = createhow3::EXCLUSIVE(*b"verifier");
    let once = session.create(&dir, b"once", exclusive).unwrap().0;
    assert_eq!(session.create(&dir, b"once", exclusive).unwrap().0.handle, once.handle);
    let other = session.create(&dir, b"once", createhow3::EXCLUSIVE(*b"another!")).unwrap_err();
    assert!(other.is_status(nfsstat3::NFS3ERR_EXIST), "{other}");

    let new = sattr3 { mode: Some(0o600), size: Some(5), ..sattr3::UNCHANGED };
    session.setattr(&file, new, None).unwrap();
    let attributes = session.getattr(&file).unwrap();
    assert_eq!((attributes.mode & 0o777, attributes.size), (0o600, 5));
    let guard = Some(nfstime3 { seconds: 1, nseconds: 0 });
    let guarded = session.setattr(&file, new, guard).unwrap_err();
    assert!(guarded.is_status(nfsstat3::NFS3ERR_NOT_SYNC), "{guarded}");
    let allowed = session.access(&file, ACCESS3_READ | ACCESS3_MODIFY).unwrap();
    assert_eq!(allowed, ACCESS3_READ | ACCESS3_MODIFY);

    let link = session.symlink(&dir, b"soft", sattr3::UNCHANGED, b"to/where").unwrap().0;
    assert_eq!(session.readlink(&link).unwrap(), b"to/where");
    let pipe = session.mknod(&dir, b"pipe", mknoddata3::NF3FIFO(PLAIN)).unwrap().0;
    assert_eq!(session.getattr(&pipe).unwrap().ftype, ftype3::NF3FIFO);
    session.link(&file, &dir, b"hard").unwrap();
    assert_eq!(session.lookup(&dir, b"hard").unwrap().0.handle, file.handle);
    assert_eq!(session.getattr(&file).unwrap().nlink, 2);
    session.rename((&dir, b"hard"), (&root, b"moved")).unwrap();
    let gone = session.lookup(&dir, b"hard").unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    session.remove(&root, b"moved").unwrap();

    let full = session.rmdir(&root, b"names").unwrap_err();
    assert_eq!(full.kind(), ErrorKind::DirectoryNotEmpty);
    for name in [&b"a"[..], b"once", b"soft", b"pipe"] {
        session.remove(&dir, name).unwrap();
    }
    session.rmdir(&root, b"names").unwrap();
    let stale = session.getattr(&dir).unwrap_err();
    assert_eq!(stale.errno(), 116, "{stale}");

    // The export in memory reports a size of 0 bytes.
    session.fsstat(&root).unwrap();
    assert!(session.fsinfo(&root).unwrap().rtmax >= 4096);
    assert!(session.pathconf(&root).unwrap().name_max >= 255);
}

fn data(session: &mut Session) {
    let root = session.root();
    let file = session.create(&root, b"data", createhow3::GUARDED(PLAIN)).unwrap().0;
    let data: Vec<u8> = (0..300_000u32).map(|offset| (offset / 7) as u8).collect();
    let mut written = 0;
    let mut verifier = None;
    while written < data.len() {
        let piece = &data[written..data.len().min(written + 50_001)];
        let done = session.write(&file, written as u64, piece, stable_how::UNSTABLE).unwrap();
        verifier = Some(done.verifier);
        written += done.bytes as usize;
    }
    assert_eq!(Some(session.commit(&file).unwrap()), verifier);
    let mut seen = vec![0; data.len() + 10];
    let mut read = 0;
    loop {
        let end = seen.len().min(read + 60_000);
        let (bytes, eof) = session.read(&file, read as u64, &mut seen[read..end]).unwrap();
        read += bytes;
        if eof {
            break;
        }
    }
    assert_eq!(read, data.len());
    assert!(seen[..read] == data);
    let sync = session.write(&file, 0, &data[..10], stable_how::FILE_SYNC).unwrap();
    assert_eq!(sync.committed, stable_how::FILE_SYNC);
}

fn listings(session: &mut Session, always: &[&[u8]]) {
    let root = session.root();
    let dir = session.mkdir(&root, b"many", sattr3 { mode: Some(0o755), ..PLAIN }).unwrap().0;
    let mut expected: BTreeSet<Vec<u8>> = always.iter().map(|name| name.to_vec()).collect();
    for number in 0..1500 {
        let name = format!("a file with a rather long name, number {number:06}");
        session.create(&dir, name.as_bytes(), createhow3::UNCHECKED(PLAIN)).unwrap();
        expected.insert(name.into_bytes());
    }
    let plain = session.readdir(&dir).unwrap();
    let full = session.readdirplus(&dir).unwrap();
    for entries in [&plain, &full] {
        let names: BTreeSet<Vec<u8>> = entries.iter().map(|entry| entry.name.clone()).collect();
        assert_eq!(names.len(), entries.len(), "every name is listed once");
        assert!(names == expected);
    }
    let one = full.iter().find(|entry| entry.name.starts_with(b"a file")).unwrap();
    let looked_up = session.lookup(&dir, &one.name).unwrap().0;
    assert_eq!(one.handle, Some(looked_up.handle));
    assert_eq!(one.attributes.unwrap().ftype, ftype3::NF3REG);
}

fn path_below_the_export(server: &Ganesha) {
    std::fs::create_dir_all(server.folder().join("one/two")).unwrap();
    std::fs::write(server.folder().join("one/two/three"), "text").unwrap();
    let mut session = open(&server.vfs("/one/two"));
    let root = session.root();
    assert!(root.path.ends_with("/vfs/one/two"), "{}", root.path);
    let three = session.lookup(&root, b"three").unwrap();
    assert_eq!(three.1.unwrap().size, 4);
    assert!(three.0.path.ends_with("/vfs/one/two/three"), "{}", three.0.path);

    let missing: NfsUrl = server.vfs("/one/four").parse().unwrap();
    let error = Session::open(&missing).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("/vfs/one/four"), "{error}");
}

fn privileged_ports(server: &Ganesha) {
    let url: NfsUrl = format!("{}&privileged=true", server.vfs("")).parse().unwrap();
    let mut session = Session::open(&url).unwrap();
    let mut another = session.another();
    let root = session.root();
    assert_eq!(session.getattr(&root).unwrap(), another.getattr(&root).unwrap());
}

#[test]
fn a_third_party_server_performs_what_it_supports_and_rejects_the_rest() {
    let server = Memfs::start();
    let mut session = open(&server.url(""));
    let root = session.root();
    let dir = session.mkdir(&root, b"dir", sattr3 { mode: Some(0o755), ..PLAIN }).unwrap().0;
    let file = session.create(&dir, b"a", createhow3::GUARDED(PLAIN)).unwrap().0;
    let again = session.create(&dir, b"a", createhow3::GUARDED(PLAIN)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    let exclusive = createhow3::EXCLUSIVE(*b"verifier");
    let once = session.create(&dir, b"once", exclusive).unwrap().0;
    assert_eq!(session.create(&dir, b"once", exclusive).unwrap().0.handle, once.handle);
    session.setattr(&file, sattr3 { size: Some(5), ..sattr3::UNCHANGED }, None).unwrap();
    assert_eq!(session.getattr(&file).unwrap().size, 5);
    session.rename((&dir, b"a"), (&root, b"moved")).unwrap();
    let gone = session.lookup(&dir, b"a").unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert_eq!(session.lookup(&root, b"moved").unwrap().0.handle, file.handle);
    let full = session.rmdir(&root, b"dir").unwrap_err();
    assert_eq!(full.kind(), ErrorKind::DirectoryNotEmpty);

    let linked = session.link(&file, &root, b"hard").unwrap_err();
    assert_eq!(linked.kind(), ErrorKind::Unsupported, "{linked}");
    let soft = session.symlink(&root, b"soft", sattr3::UNCHANGED, b"to").unwrap_err();
    assert_eq!(soft.kind(), ErrorKind::Unsupported, "{soft}");

    session.remove(&root, b"moved").unwrap();
    session.remove(&dir, b"once").unwrap();
    session.rmdir(&root, b"dir").unwrap();
    data(&mut session);
    listings(&mut session, &[]);
    assert_eq!(session.fsstat(&root).unwrap().tbytes, 1 << 40);
    let mut below = open(&server.url("/many"));
    let many = below.root();
    let name = b"a file with a rather long name, number 000007";
    assert_eq!(below.lookup(&many, name).unwrap().1.unwrap().size, 0);
}

#[test]
fn a_new_file_is_looked_up_only_if_the_server_gives_no_handle() {
    let create = |gives_handle: bool| {
        let server = Scripted::start((1, 8192), move |seen, _| match seen.procedure {
            NfsProcedure::CREATE if !gives_handle => Act::Nothing,
            _ => Act::Answer,
        });
        let mut session = server.session("");
        let how = createhow3::UNCHECKED(PLAIN);
        let (file, _) = session.create(&session.root(), b"a", how).unwrap();
        assert_eq!(file.handle, Handle::new(b"f\0").unwrap());
        let world = server.world.lock().unwrap();
        world.seen.iter().map(|seen| seen.procedure).collect::<Vec<_>>()
    };
    assert_eq!(create(true), [NfsProcedure::CREATE]);
    assert_eq!(create(false), [NfsProcedure::CREATE, NfsProcedure::LOOKUP]);
}

#[test]
fn transfers_are_multiples_of_pages_unless_smaller_than_one() {
    use target::nfs::Mounted;
    let sizes = [
        (Some(10_000), 0, 0, 8192),
        (Some(1 << 20), 0, 65_000, 61_440),
        (None, 12_000, 1 << 20, 8192),
        (Some(3584), 65_536, 1 << 20, 3584),
        (None, 0, 0, 1 << 20),
    ];
    for (configured, preferred, max, expected) in sizes {
        assert_eq!(Mounted::transfer_bytes(configured, preferred, max), expected, "{configured:?}");
    }
}
