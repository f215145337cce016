//! The portmapper, version 2: RFC 1833, section 3. It lists only this service and accepts no
//! registrations.

use nfs3::portmap::{IPPROTO_TCP, IPPROTO_UDP, mapping, pmaplist};
use nfs3::procedure::{MOUNT_PROGRAM, MOUNT_V3, NFS_PROGRAM, NFS_V3, PMAP_PROG, PMAP_VERS};
use nfs3::request::{PortmapArguments, PortmapResults, Results};
use nfs3::server::{Request, reply as encode};

use super::performed::Performed;
use crate::peer::Peer;
use crate::reply::Reply;

pub(super) fn perform(
    request: &Request<'_>,
    arguments: &PortmapArguments,
    peer: &Peer,
    reply: &mut Reply,
) -> Performed {
    let port = u32::from(peer.nfs_port());
    let over_tcp = [(NFS_PROGRAM, NFS_V3), (MOUNT_PROGRAM, MOUNT_V3), (PMAP_PROG, PMAP_VERS)]
        .map(|(prog, vers)| mapping { prog, vers, prot: IPPROTO_TCP, port });
    let over_udp = peer.portmapper_udp().map(|port| mapping {
        prog: PMAP_PROG,
        vers: PMAP_VERS,
        prot: IPPROTO_UDP,
        port: u32::from(port),
    });
    let served: Vec<mapping> = over_tcp.into_iter().chain(over_udp).collect();
    let (results, failed) = match arguments {
        PortmapArguments::NULL => (PortmapResults::NULL, false),
        PortmapArguments::SET(_) => (PortmapResults::SET(false), true),
        PortmapArguments::UNSET(_) => (PortmapResults::UNSET(false), true),
        PortmapArguments::GETPORT(requested) => {
            let same = |known: &&mapping| mapping { port: known.port, ..*requested } == **known;
            let known = served.iter().find(same);
            (PortmapResults::GETPORT(known.map_or(0, |known| known.port)), false)
        }
        PortmapArguments::DUMP => (PortmapResults::DUMP(pmaplist(served)), false),
    };
    encode(reply.head(), request.xid, &Results::Portmap(results));
    Performed { failed, ..Performed::of(request) }
}
