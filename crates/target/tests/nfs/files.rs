//! Files on third-party servers, written and read over several connections, and compared.

use std::sync::Arc;

use nfs3::arguments::createhow3;
use nfs3::types::sattr3;
use target::Target;
use target::nfs::{NfsAccess, NfsFiles, NfsUrl, Session};
use workload::op::{Op, OpKind};
use workload::plan::WriteStability;

use crate::drive::{all, fill, fsync, read, write};
use crate::ganesha::Ganesha;
use crate::memfs::Memfs;

const FILES: u32 = 4;
const FILE_BYTES: u64 = 1 << 20;

fn is_as_written(op: &Op, memory: &[u8]) -> bool {
    let mut expected = vec![0; memory.len()];
    fill(&Op { index: op.offset_bytes / 16384 + u64::from(op.file), ..*op }, &mut expected);
    expected == memory
}

/// How servers differ.
struct Server {
    /// The size with which files are created, for servers that cannot write beyond the end of a
    /// file.
    new_bytes: Option<u64>,
    /// The error for the handle of a removed file.
    gone: i32,
}

const GANESHA: Server = Server { new_bytes: None, gone: -116 };
const MEMFS: Server = Server { new_bytes: Some(FILE_BYTES), gone: -2 };

fn written_data_is_read_back(server: Server, url: &str, options: &str, stability: WriteStability) {
    let url: NfsUrl = format!("{url}&{options}").parse().unwrap();
    let mut session = Session::open(&url).unwrap();
    let root = session.root();
    let new = createhow3::UNCHECKED(sattr3 {
        mode: Some(0o600),
        size: server.new_bytes,
        ..sattr3::UNCHANGED
    });
    let files: Vec<_> = (0..FILES)
        .map(|file| session.create(&root, format!("f{file}").as_bytes(), new).unwrap().0)
        .collect();
    let access = NfsAccess {
        mounted: Arc::clone(session.mounted()),
        connections: 0..url.nconnect.unwrap(),
        files: files.iter().map(|file| file.handle).collect(),
        stability,
        transfer_size_max_bytes: 16384,
        keep_read_data: true,
        rewrite: Some(Arc::new(|op: &Op, memory: &mut [u8]| fill(op, memory))),
        uncommitted_max: target::nfs::files::UNCOMMITTED_MAX,
    };
    let mut target = NfsFiles::open(&access, 32).unwrap();
    let ranges = || (0..FILE_BYTES / 16384).flat_map(|range| (0..FILES).map(move |f| (range, f)));
    let mut writes: Vec<Op> = ranges()
        .map(|(range, file)| Op {
            index: range + u64::from(file),
            file,
            ..write(range * 16384, 16384)
        })
        .collect();
    writes.extend((0..FILES).map(|file| Op { file, ..fsync() }));
    let results = all(&mut target, &writes, 32, |_, _| {});
    for (op, result) in writes.iter().zip(&results) {
        assert_eq!(*result, op.size_bytes as i32, "{op:?}");
    }
    let reads: Vec<Op> =
        ranges().map(|(range, file)| Op { file, ..read(range * 16384, 16384) }).collect();
    let results = all(&mut target, &reads, 32, |op, memory| assert!(is_as_written(op, memory)));
    assert!(results.iter().all(|result| *result == 16384));
    assert_eq!(all(&mut target, &[read(FILE_BYTES, 8192)], 1, |_, _| {}), [0]);

    let moved: u64 = target.connections().iter().map(|one| one.kinds[0].bytes).sum();
    assert_eq!(moved, u64::from(FILES) * FILE_BYTES);
    let over = target.connections().iter().filter(|one| one.kinds[0].calls > 0).count();
    assert_eq!(over, url.nconnect.unwrap() as usize);

    session.remove(&root, b"f0").unwrap();
    let gone = all(&mut target, &[read(0, 4096)], 1, |_, _| {});
    assert_eq!(gone, [server.gone], "the handle of a removed file is invalid");
    assert_eq!(target.connections()[0].kinds[OpKind::Read as usize].bytes % 4096, 0);
}

#[test]
fn data_written_to_an_export_in_memory_is_read_back() {
    let server = Ganesha::start();
    let read_back = |options, stability| {
        written_data_is_read_back(GANESHA, &server.mem(""), options, stability);
    };
    read_back("nconnect=1", WriteStability::Unstable);
    read_back("nconnect=4&rsize=4096", WriteStability::FileSync);
}

#[test]
fn data_written_to_an_exported_folder_is_read_back() {
    let server = Ganesha::start();
    let (one, four) = ("nconnect=1&policy=least-outstanding", "nconnect=4&policy=per-file");
    written_data_is_read_back(GANESHA, &server.vfs(""), one, WriteStability::DataSync);
    written_data_is_read_back(GANESHA, &server.vfs(""), four, WriteStability::Unstable);
}

#[test]
fn data_written_to_a_third_party_server_is_read_back() {
    let stabilities =
        [WriteStability::Unstable, WriteStability::DataSync, WriteStability::FileSync];
    let options =
        ["nconnect=1", "nconnect=4&rsize=4096&wsize=8192", "nconnect=8&policy=least-outstanding"];
    for (stability, options) in stabilities.into_iter().zip(options) {
        let server = Memfs::start();
        written_data_is_read_back(MEMFS, &server.url(""), options, stability);
    }
}
