//! A client for tests, which encodes calls and decodes replies with the client side of `nfs3`. The
//! bytes stay in memory.

use std::net::SocketAddr;

use files::{FileSystem, Options, Time, Unstable};
use nfs3::request::{Arguments, MountArguments, MountResults, NfsArguments, NfsResults, Results};
use nfs3::rpc::{AuthSys, Credential, Gids, ReplyHeader, ReplyStatus, encode_call_head};
use nfs3::server::{Programs, Received, Server, ServerOptions};
use nfs3::types::{Handle, nfsstat3};
use nfs3::xdr::{Reader, Writer, Xdr};
use units::Bytes;
use volume::export_rules::ExportRules;
use volume::exports::{Export, Exports, VolumeIndex, fsid_of};
use volume::ids::EndpointId;
use volume::peer::Peer;
use volume::procedures::Performed;
use volume::reply::Reply;

use crate::outcome::{Outcome, outcome_of};

pub(crate) fn options(name: &str) -> Options {
    Options {
        fsid: fsid_of(name),
        instance: 0x1122_3344_5566_7788,
        quota: Bytes::gib(1),
        memory_max: Bytes::gib(1),
        inodes_max: 1_000_000,
        file_size_max: Bytes::gib(16 << 10),
        links_max: 1000,
        unstable: Unstable::MayBeLost { max: Bytes::mib(64) },
        transfer_max: 1 << 20,
        root: (0, 0, 0o777),
        made: Time { seconds: 1, nanoseconds: 0 },
    }
}

pub(crate) fn export(name: &str) -> Export {
    Export {
        name: name.to_owned(),
        files: FileSystem::new(options(name)),
        rules: ExportRules::default(),
        endpoints: None,
    }
}

/// A user of a Unix system.
pub(crate) fn user(uid: u32, gid: u32, gids: &[u32]) -> Credential<'static> {
    let gids = Gids::new(gids).unwrap();
    Credential::Sys(AuthSys { stamp: 7, machinename: b"client", uid, gid, gids })
}

pub(crate) fn root() -> Credential<'static> {
    user(0, 0, &[])
}

pub(crate) fn peer(remote: &str) -> Peer {
    Peer::new(remote.parse::<SocketAddr>().unwrap(), EndpointId::new(0), 2049)
}

/// Exported volumes, and a client of them.
pub(crate) struct Scene {
    pub(crate) exports: Exports,
    pub(crate) peer: Peer,
    pub(crate) credential: Credential<'static>,
    pub(crate) xid: u32,
    pub(crate) seconds: u32,
    /// The outcome of the last request.
    pub(crate) performed: Option<Performed>,
    /// The last reply as it is on the wire.
    pub(crate) reply: Reply,
}

/// One volume `vol1`, used by the superuser of 127.0.0.1.
pub(crate) fn scene() -> Scene {
    scene_of([export("vol1")])
}

pub(crate) fn scene_of(volumes: impl IntoIterator<Item = Export>) -> Scene {
    let mut exports = Exports::new();
    for volume in volumes {
        exports.add(volume).unwrap();
    }
    Scene {
        exports,
        peer: peer("127.0.0.1:1000"),
        credential: root(),
        xid: 100,
        seconds: 1000,
        performed: None,
        reply: Reply::new(),
    }
}

impl Scene {
    pub(crate) fn volume(&self, name: &str) -> VolumeIndex {
        self.exports.find(name).unwrap()
    }

    pub(crate) fn files(&mut self, name: &str) -> &mut FileSystem {
        let index = self.volume(name);
        &mut self.exports.get_mut(index).unwrap().files
    }

    /// Sends a call with a new xid and returns the bytes of its results.
    pub(crate) fn call(&mut self, arguments: &Arguments<'_>) -> Vec<u8> {
        self.xid += 1;
        self.send(arguments)
    }

    /// Sends a call with the last xid: it is encoded, decoded by the server, performed and answered.
    pub(crate) fn send(&mut self, arguments: &Arguments<'_>) -> Vec<u8> {
        let mut record = vec![0; 4];
        let mut writer = Writer::new(&mut record);
        let numbers = arguments.procedure().numbers();
        encode_call_head(&mut writer, self.xid, numbers, &self.credential);
        arguments.encode(&mut writer);
        let mark = 1 << 31 | (record.len() as u32 - 4);
        record[..4].copy_from_slice(&mark.to_be_bytes());
        self.receive(&record)
    }

    /// Sends a call's record and returns the bytes of its results.
    pub(crate) fn receive(&mut self, mut record: &[u8]) -> Vec<u8> {
        let mut server = Server::new(ServerOptions {
            programs: Programs { nfs: true, mount: true, portmap: true },
            max_call_bytes: 2 << 20,
            max_in_progress: 1,
        });
        let mut refusals = Vec::new();
        let received = server.receive(&mut record, &mut refusals).unwrap().expect("a whole call");
        let Received::Request(request) = received else { panic!("{received:?}") };
        self.seconds += 1;
        let now = Time { seconds: self.seconds, nanoseconds: 0 };
        let performed = self.exports.perform(&request, &self.peer, now, &mut self.reply);
        assert_eq!(performed.procedure, request.arguments.procedure());
        self.performed = Some(performed);
        let bytes = self.reply.to_vec();
        assert_eq!(bytes.len(), self.reply.len());
        let mark = u32::from_be_bytes(bytes[..4].try_into().unwrap());
        assert_eq!(mark, 1 << 31 | (bytes.len() as u32 - 4), "the record mark has the length");
        let mut reader = Reader::new(&bytes[4..]);
        let header = ReplyHeader::decode(&mut reader).unwrap();
        assert_eq!((header.xid, header.status), (request.xid, ReplyStatus::Success));
        reader.rest().to_vec()
    }

    /// Calls a procedure of NFS and passes its results to `inspect`.
    pub(crate) fn nfs<T>(
        &mut self,
        arguments: NfsArguments<'_>,
        inspect: impl FnOnce(&NfsResults<'_>) -> T,
    ) -> T {
        let arguments = Arguments::Nfs(arguments);
        let body = self.call(&arguments);
        match Results::decode(arguments.procedure(), &body).expect("a client can decode it") {
            Results::Nfs(results) => inspect(&results),
            other => panic!("{other:?}"),
        }
    }

    /// Calls a procedure of NFS and returns the status of its results.
    pub(crate) fn status(&mut self, arguments: NfsArguments<'_>) -> nfsstat3 {
        self.outcome(arguments).status
    }

    /// Calls a procedure of NFS and returns the status and the attributes in its results.
    pub(crate) fn outcome(&mut self, arguments: NfsArguments<'_>) -> Outcome {
        let outcome = self.nfs(arguments, outcome_of);
        let performed = self.performed.unwrap();
        assert_eq!(performed.failed, outcome.status != nfsstat3::NFS3_OK);
        outcome
    }

    /// Calls a procedure of MOUNT and passes its results to `inspect`.
    pub(crate) fn mount<T>(
        &mut self,
        arguments: MountArguments<'_>,
        inspect: impl FnOnce(&MountResults<'_>) -> T,
    ) -> T {
        let arguments = Arguments::Mount(arguments);
        let body = self.call(&arguments);
        match Results::decode(arguments.procedure(), &body).expect("a client can decode it") {
            Results::Mount(results) => inspect(&results),
            other => panic!("{other:?}"),
        }
    }

    /// Mounts a volume and returns the handle of its root.
    pub(crate) fn root_of(&mut self, path: &str) -> Handle {
        let path = nfs3::mount::dirpath(path.as_bytes());
        self.mount(MountArguments::MNT(path), |results| match results {
            MountResults::MNT(Ok(ok)) => Handle::from(ok.fhandle),
            other => panic!("{other:?}"),
        })
    }
}
