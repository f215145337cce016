//! Replays calls that the Linux client sent to nfs-ganesha, with our handles instead of ganesha's, and
//! compares the results of both servers.
//!
//! The captures are described in `crates/nfs3/tests/captures/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nfs3::procedure::{NFS_PROGRAM, NfsProcedure, Procedure};
use nfs3::record::RecordReader;
use nfs3::request::{Arguments, MountArguments, MountResults, NfsResults as R, Results};
use nfs3::results::*;
use nfs3::rpc::{CallHeader, Credential, ReplyHeader};
use nfs3::types::*;
use nfs3::xdr::{Reader, Xdr, decode_whole};
use volume::exports::Export;

use crate::calls::translated;
use crate::outcome::outcome_of;
use crate::pcap::{End, Stream, streams};
use crate::scene::{Scene, export, options, scene_of, user};

/// The path mounted in the captures, which is the name of our volume.
const EXPORT: &str = "tmp/kvmtest/ganesha/export";
const MOUNT_PORT: u16 = 12048;
const NFS_PORT: u16 = 12049;

/// Our handles by ganesha's handles of the same objects.
#[derive(Default)]
struct Handles(BTreeMap<Handle, Handle>);

impl Handles {
    fn ours(&self, foreign: nfs_fh3<'_>) -> &Handle {
        let known = self.0.get(&Handle::from(foreign));
        known.unwrap_or_else(|| panic!("an unknown handle: {foreign:?}"))
    }
}

/// The attributes that must be equal on both servers. Sizes of directories, inode numbers and times
/// may differ.
fn comparable(attributes: &fattr3) -> (ftype3, u32, u32, u32, u32, Option<u64>, specdata3) {
    let fattr3 { ftype, mode, nlink, uid, gid, size, rdev, .. } = *attributes;
    (ftype, mode, nlink, uid, gid, (ftype != ftype3::NF3DIR).then_some(size), rdev)
}

/// Compares the results of a call, and returns the pairs of handles in them.
fn compare(call: &str, foreign: &R<'_>, own: &R<'_>) -> Vec<(Handle, Handle)> {
    let outcomes = (outcome_of(foreign), outcome_of(own));
    assert_eq!(outcomes.0.status, outcomes.1.status, "{call}");
    let foreign_after = outcomes.0.wcc.iter().map(|wcc| wcc.after);
    let own_after = outcomes.1.wcc.iter().map(|wcc| wcc.after);
    let pairs = outcomes.0.attributes.iter().copied().chain(foreign_after);
    for (foreign, own) in pairs.zip(outcomes.1.attributes.iter().copied().chain(own_after)) {
        // A server may omit attributes; ours omits none that it has.
        if let Some(foreign) = foreign {
            let own = own.unwrap_or_else(|| panic!("{call}: attributes are missing"));
            assert_eq!(comparable(&foreign), comparable(&own), "{call}");
        }
    }
    let pair = |foreign: nfs_fh3<'_>, own: nfs_fh3<'_>| (foreign.into(), own.into());
    match (foreign, own) {
        (R::LOOKUP(Res3::Ok(foreign)), R::LOOKUP(Res3::Ok(own))) => {
            vec![pair(foreign.object, own.object)]
        }
        (R::CREATE(Res3::Ok(foreign)), R::CREATE(Res3::Ok(own)))
        | (R::MKDIR(Res3::Ok(foreign)), R::MKDIR(Res3::Ok(own)))
        | (R::SYMLINK(Res3::Ok(foreign)), R::SYMLINK(Res3::Ok(own)))
        | (R::MKNOD(Res3::Ok(foreign)), R::MKNOD(Res3::Ok(own))) => {
            vec![pair(foreign.obj.unwrap(), own.obj.unwrap())]
        }
        (R::ACCESS(Res3::Ok(foreign)), R::ACCESS(Res3::Ok(own))) => {
            assert_eq!(foreign.access, own.access, "{call}");
            vec![]
        }
        (R::READLINK(Res3::Ok(foreign)), R::READLINK(Res3::Ok(own))) => {
            assert_eq!(foreign.data, own.data, "{call}");
            vec![]
        }
        (R::READ(Res3::Ok(foreign)), R::READ(Res3::Ok(own))) => {
            assert!(foreign.data == own.data, "{call}: different data");
            assert_eq!((foreign.count, foreign.eof), (own.count, own.eof), "{call}");
            vec![]
        }
        (R::WRITE(Res3::Ok(foreign)), R::WRITE(Res3::Ok(own))) => {
            assert_eq!(foreign.count, own.count, "{call}");
            assert_eq!(foreign.committed, own.committed, "{call}");
            vec![]
        }
        (R::READDIRPLUS(Res3::Ok(foreign)), R::READDIRPLUS(Res3::Ok(own))) => {
            let names = |ok: &nfs3::directory::READDIRPLUS3resok<'_>| -> BTreeSet<Vec<u8>> {
                ok.reply.entries.iter().map(|entry| entry.name.0.to_vec()).collect()
            };
            assert_eq!(names(foreign), names(own), "{call}");
            assert_eq!(foreign.reply.eof, own.reply.eof, "{call}");
            let find = |name| own.reply.entries.iter().find(|entry| entry.name == name).unwrap();
            foreign
                .reply
                .entries
                .iter()
                .filter_map(|entry| {
                    let own = find(entry.name).name_handle.unwrap();
                    Some(pair(entry.name_handle?, own))
                })
                .collect()
        }
        _ => vec![],
    }
}

/// The records of one direction, by xid.
fn records(stream: &Stream) -> Vec<(u32, Vec<u8>)> {
    let mut reader = RecordReader::new(1 << 21);
    let mut rest = &stream.bytes[..];
    let mut records = Vec::new();
    while let Some(record) = reader.next(&mut rest).unwrap() {
        let xid = u32::from_be_bytes(record[..4].try_into().unwrap());
        records.push((xid, record.to_vec()));
    }
    records
}

/// The results in a reply.
fn results(procedure: Procedure, reply: &[u8]) -> Results<'_> {
    let mut reader = Reader::new(reply);
    ReplyHeader::decode(&mut reader).unwrap();
    Results::decode(procedure, reader.rest()).unwrap()
}

struct Replay {
    scene: Scene,
    handles: Handles,
    /// NFS calls with equal results.
    compared: BTreeMap<NfsProcedure, usize>,
}

impl Replay {
    fn call(&mut self, call: &[u8], foreign_reply: &[u8]) {
        let mut reader = Reader::new(call);
        let header = CallHeader::decode(&mut reader).unwrap();
        let number = header.procedure.to_be_bytes();
        self.scene.credential = match Credential::decode(header.credential).unwrap() {
            Credential::Sys(sys) => user(sys.uid, sys.gid, sys.gids.as_slice()),
            _ => Credential::None,
        };
        if header.program != NFS_PROGRAM {
            let procedure = Procedure::Mount(decode_whole(&number).unwrap());
            let arguments = Arguments::decode(procedure, reader.rest()).unwrap();
            let Arguments::Mount(arguments) = arguments else { panic!("{arguments:?}") };
            self.mount(arguments, &results(procedure, foreign_reply));
            return;
        }
        let procedure = Procedure::Nfs(decode_whole(&number).unwrap());
        let arguments = Arguments::decode(procedure, reader.rest()).unwrap();
        let Arguments::Nfs(arguments) = arguments else { panic!("{arguments:?}") };
        let Results::Nfs(theirs) = results(procedure, foreign_reply) else { panic!() };
        let call = format!("{arguments:?}");
        let translated = translated(arguments, |foreign| self.handles.ours(foreign).fh());
        let pairs = self.scene.nfs(translated, |ours| compare(&call, &theirs, ours));
        self.handles.0.extend(pairs);
        *self.compared.entry(arguments.procedure()).or_default() += 1;
    }

    fn mount(&mut self, arguments: MountArguments<'_>, theirs: &Results<'_>) {
        let ours = self.scene.mount(arguments, |results| match results {
            MountResults::MNT(Ok(ok)) => Some(Handle::from(ok.fhandle)),
            _ => None,
        });
        if let Results::Mount(MountResults::MNT(theirs)) = theirs {
            match theirs {
                Ok(ok) => {
                    self.handles.0.insert(ok.fhandle.into(), ours.unwrap());
                }
                Err(_) => assert_eq!(ours, None, "both refuse; their statuses may differ"),
            }
        }
    }
}

/// Replays a capture, and returns how many calls of each procedure were compared.
fn replay(name: &str) -> BTreeMap<NfsProcedure, usize> {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nfs3/tests/captures");
    let file = std::fs::read(captures.join(name)).unwrap();
    let streams = streams(&file);
    let root = (0, 0, 0o755);
    let files = files::FileSystem::new(files::Options { root, ..options(EXPORT) });
    let scene = scene_of([Export { files, ..export(EXPORT) }]);
    let mut replay = Replay { scene, handles: Handles::default(), compared: BTreeMap::new() };
    // The client mounts first, and uses one NFS connection.
    for port in [MOUNT_PORT, NFS_PORT] {
        let of_port = |((_, to), _): &(&(End, End), &Stream)| to.1 == port;
        for ((client, server), there) in streams.iter().filter(of_port) {
            let replies: BTreeMap<u32, Vec<u8>> =
                records(&streams[&(*server, *client)]).into_iter().collect();
            for (xid, call) in records(there) {
                let program = u32::from_be_bytes(call[12..16].try_into().unwrap());
                // NFSACL is not a program of this service; `nfs3::server` answers it.
                if program != 100_227 {
                    replay.call(&call, &replies[&xid]);
                }
            }
        }
    }
    replay.scene.files(EXPORT).check();
    replay.compared
}

#[test]
fn calls_of_the_linux_client_on_names_have_the_same_results_as_on_ganesha() {
    use NfsProcedure as P;
    let compared = replay("names.pcap");
    for (procedure, count) in [
        (P::ACCESS, 14),
        (P::MKDIR, 2),
        (P::LOOKUP, 8),
        (P::CREATE, 2),
        (P::SETATTR, 6),
        (P::SYMLINK, 1),
        (P::MKNOD, 2),
        (P::LINK, 1),
        (P::RENAME, 3),
        (P::READDIRPLUS, 1),
        (P::READLINK, 1),
        (P::FSSTAT, 1),
        (P::FSINFO, 2),
        (P::PATHCONF, 1),
        (P::REMOVE, 5),
        (P::RMDIR, 2),
    ] {
        assert_eq!(compared.get(&procedure), Some(&count), "{procedure:?}");
    }
}

#[test]
fn reads_and_writes_of_the_linux_client_have_the_same_results_as_on_ganesha() {
    use NfsProcedure as P;
    let compared = replay("data.pcap");
    for (procedure, count) in [(P::CREATE, 4), (P::WRITE, 6), (P::READ, 10), (P::REMOVE, 4)] {
        assert_eq!(compared.get(&procedure), Some(&count), "{procedure:?}");
    }
}

#[test]
fn calls_of_the_linux_client_that_ganesha_refused_are_refused_alike() {
    let compared = replay("errors.pcap");
    assert!(compared.values().sum::<usize>() > 60, "{compared:?}");
}
