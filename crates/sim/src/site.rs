//! The environment of a simulated run on an export: the service with its volumes, their files, and
//! the access of every worker.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use cloud::catalog::Catalog;
use engine::tiles::{Generations, Tiles};
use files::{Caller, FileSystem, How, Options, SetAttributes, Stability, Time, Unstable};
use nfs3::results::FSINFO3resok;
use nfs3::types::{Handle, nfstime3};
use target::nfs::dial::Caller as ClientIdentity;
use target::nfs::files::UNCOMMITTED_MAX;
use target::nfs::{Mounted, NfsAccess, NfsFile, NfsUrl, Rewrite};
use units::Bytes;
use volume::exports::fsid_of;
use volume::server::{Server, ServerOptions};
use workload::data::TileMaker;
use workload::plan::{Run, Stream, WriteStability};
use workload::random;

use crate::nfs_setup::{Data, Setup};

pub(crate) const NFS_PORT: u16 = 2049;
/// The time of day at which a run starts: 1 January 2026.
pub(crate) const EPOCH_NS: u64 = 1_767_225_600 * NS_PER_S;
const NS_PER_S: u64 = 1_000_000_000;
/// Memory of all volumes.
const MEMORY: Bytes = Bytes::gib(2);
/// Maximum of a READ or WRITE of the service.
const TRANSFER_BYTES: u32 = 1 << 20;
/// Bytes per write when a file is filled.
const FILL_BYTES: usize = 1 << 20;
/// The caller that creates the files.
const ROOT: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };

/// The service and the streams' files.
pub(crate) struct Site {
    pub(crate) server: Server,
    pub(crate) files: Vec<StreamFiles>,
}

pub(crate) struct StreamFiles {
    /// The endpoint's number in the service's configuration.
    pub(crate) endpoint: usize,
    pub(crate) files: Vec<Handle>,
    pub(crate) maker: Option<Arc<TileMaker>>,
    pub(crate) generations: Option<Arc<Generations>>,
}

/// The time of day at `now_ns` of the run.
pub(crate) fn time_of_day(now_ns: u64) -> Time {
    let ns = EPOCH_NS + now_ns;
    Time { seconds: (ns / NS_PER_S) as u32, nanoseconds: (ns % NS_PER_S) as u32 }
}

impl Site {
    /// Starts the service and creates the files of the run.
    pub(crate) fn new(setup: &Setup, run: &Run, seed: u64) -> Site {
        let mut config = setup.config.clone();
        config.delay.seed = random::derive(seed, config.delay.seed);
        let options =
            ServerOptions { memory: MEMORY, connections_max: usize::MAX, epoch_ns: EPOCH_NS };
        let log = Box::new(|_: &str| {});
        let mut server = Server::start(0, Catalog::embedded(), config, options, log)
            .unwrap_or_else(|broken| panic!("the configuration is valid: {broken:?}"));
        if setup.unstable != Unstable::Kept {
            forget_uncommitted(&mut server, setup.unstable);
        }
        let files = |(index, stream)| StreamFiles::new(setup, index, stream, &mut server);
        let files = run.streams.iter().enumerate().map(files).collect();
        if let Some(quota) = setup.quota {
            let all: Vec<_> = server.exports().iter().map(|(index, _)| index).collect();
            for index in all {
                let export = server.exports_mut().get_mut(index).expect("it is in the list");
                export.files.set_quota(quota);
            }
        }
        Site { server, files }
    }
}

/// Replaces the service's file systems by ones that lose uncommitted data at a restart.
fn forget_uncommitted(server: &mut Server, unstable: Unstable) {
    let volumes = server.config().account.volumes.clone();
    for volume in volumes {
        let index = server.exports().find(&volume.name).expect("each volume is exported");
        let export = server.exports_mut().get_mut(index).expect("it was just found");
        export.files = FileSystem::new(Options {
            fsid: fsid_of(&volume.name),
            instance: EPOCH_NS,
            quota: volume.quota,
            memory_max: MEMORY,
            inodes_max: 1 << 20,
            file_size_max: Bytes::gib(1 << 10),
            links_max: 1000,
            unstable,
            transfer_max: TRANSFER_BYTES,
            root: (0, 0, 0o777),
            made: time_of_day(0),
        });
    }
}

impl StreamFiles {
    fn new(setup: &Setup, index: usize, stream: &Stream, server: &mut Server) -> StreamFiles {
        let name = &setup.volumes[index % setup.volumes.len()];
        let set = stream.file_set();
        let maker = match setup.data {
            Data::None => None,
            Data::Filled { seed } | Data::Verified { seed } => Some(Arc::new(set.tile_maker(seed))),
        };
        let export = server.exports().find(name).unwrap_or_else(|| panic!("no volume `{name}`"));
        let export = server.exports_mut().get_mut(export).expect("it was just found");
        let endpoint = export.endpoints.as_ref().map_or(0, |all| all[0].index());
        let size = setup.file_bytes.unwrap_or(set.file_size_bytes);
        let create_file = |file: u32| {
            let name = set.file_name(file);
            create(&mut export.files, &name, file, size, maker.as_deref())
        };
        let files = (0..set.files).map(create_file).collect();
        let generations = matches!(setup.data, Data::Verified { .. }).then(|| {
            Arc::new(Generations::new(set.files, set.file_size_bytes, u64::from(set.tile_bytes)))
        });
        StreamFiles { endpoint, files, maker, generations }
    }

    /// The data path of one worker.
    pub(crate) fn tiles(&self, run: &Run, stream: &Stream) -> Tiles {
        let maker = Arc::clone(self.maker.as_ref().expect("there is data"));
        match &self.generations {
            None => Tiles::filling(maker, run.seed),
            Some(generations) => Tiles::verifying(
                maker,
                run.seed,
                Arc::clone(generations),
                stream.queue_depth,
                stream.transfer_size_max_bytes(),
            ),
        }
    }

    /// The access of a worker with these connections.
    pub(crate) fn access(
        &self,
        setup: &Setup,
        run: &Run,
        stream: &Stream,
        connections: std::ops::Range<u32>,
    ) -> NfsAccess {
        let maker = self.maker.clone();
        let rewrite = |maker| Arc::new(Tiles::rewriting(maker, run.seed)) as Rewrite;
        NfsAccess {
            mounted: Arc::new(self.mounted(setup)),
            connections,
            files: self.files.clone(),
            stability: stream.write_stability.unwrap_or(WriteStability::Unstable),
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
            keep_read_data: self.generations.is_some(),
            rewrite: maker.map(rewrite),
            uncommitted_max: UNCOMMITTED_MAX.min(1 << 14),
        }
    }

    /// The result of mounting.
    fn mounted(&self, setup: &Setup) -> Mounted {
        let client = &setup.client;
        let server = server_address(self.endpoint);
        let mut url = NfsUrl::new(&server.ip().to_string(), "/");
        url.nconnect = client.nconnect;
        url.slots = client.slots;
        url.policy = client.policy;
        url.timeo = Duration::from_nanos(client.timeo_ns);
        let max = TRANSFER_BYTES;
        Mounted {
            url,
            servers: vec![server],
            caller: ClientIdentity::named("simulated", 1000, 1000),
            root: NfsFile { handle: self.files[0], path: "/".to_owned() },
            rsize_bytes: Mounted::transfer_bytes(Some(client.rsize_bytes), max, max),
            wsize_bytes: Mounted::transfer_bytes(Some(client.wsize_bytes), max, max),
            info: FSINFO3resok {
                obj_attributes: None,
                rtmax: max,
                rtpref: max,
                rtmult: 1,
                wtmax: max,
                wtpref: max,
                wtmult: 1,
                dtpref: max,
                maxfilesize: u64::MAX,
                time_delta: nfstime3 { seconds: 0, nseconds: 1 },
                properties: 0,
            },
            monitor: Arc::default(),
        }
    }
}

pub(crate) fn server_address(endpoint: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, endpoint as u8)), NFS_PORT)
}

/// Creates a file, filled if there is a maker of its data.
fn create(
    files: &mut FileSystem,
    name: &str,
    number: u32,
    size: u64,
    maker: Option<&TileMaker>,
) -> Handle {
    let attributes =
        SetAttributes { mode: Some(0o666), size: Some(size), ..SetAttributes::default() };
    let (root, how, now) = (files.root(), How::Unchecked(attributes), time_of_day(0));
    let created = files.create(root, name.as_bytes(), how, &ROOT, now);
    let handle = created.result.expect("an empty volume has room for files").handle;
    if let Some(maker) = maker {
        let mut bytes = vec![0; FILL_BYTES];
        let mut at = 0;
        while at < size {
            let count = (size - at).min(FILL_BYTES as u64);
            let data = &mut bytes[..count as usize];
            maker.fill(number, at, 0, data);
            let written = files.write(handle, at, data, Stability::FileSync, &ROOT, now);
            written.result.expect("the volume has room for its files");
            at += count;
        }
    }
    Handle::new(&handle.to_bytes()).expect("the service's handles have a valid size")
}
