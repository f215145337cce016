//! MOUNT 3: RFC 1813, section 5. From the path of a volume, or of a directory in it, to a handle.

use files::{Caller, Error, Handle, Kind};
use nfs3::mount::{
    FLAVOR_SYS, dirpath, exportnode, exports, mountbody, mountlist, mountres3_ok, mountstat3, name,
};
use nfs3::request::{MountArguments, MountResults, Results};
use nfs3::server::{Request, reply as encode};
use nfs3::types::nfs_fh3;

use super::performed::Performed;
use crate::exports::{Exports, VolumeIndex};
use crate::peer::Peer;
use crate::reply::Reply;

/// Most symbolic links in one path, as in Linux (`MAXSYMLINKS`). MOUNT has no ELOOP: a path with
/// more, or with a link that leads out of its export, is MNT3ERR_ACCES, as Linux's mountd answers.
const LINKS_MAX: usize = 40;

/// Paths are resolved with the superuser's permissions: a client mounts for all its users, and a
/// handle gives no rights by itself.
const MOUNTER: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: true };

pub(super) fn perform(
    all: &mut Exports,
    request: &Request<'_>,
    arguments: &MountArguments<'_>,
    peer: &Peer,
    reply: &mut Reply,
) -> Performed {
    let mut performed = Performed::of(request);
    match arguments {
        MountArguments::NULL(()) => answer(reply, request.xid, MountResults::NULL(())),
        MountArguments::MNT(path) => {
            let found = find(all, path.0, peer);
            performed.failed = found.is_err();
            if let Ok((index, _)) = found {
                performed.volume = Some(index);
                all.mounts.add(peer.address(), path.0);
            }
            let bytes = found.map(|(_, handle)| handle.to_bytes());
            let result = match &bytes {
                // AUTH_NONE is accepted too, as the anonymous user, but not listed: clients take
                // it for "credentials are ignored".
                Ok(bytes) => {
                    Ok(mountres3_ok { fhandle: nfs_fh3(bytes), auth_flavors: vec![FLAVOR_SYS] })
                }
                Err(status) => Err(*status),
            };
            answer(reply, request.xid, MountResults::MNT(result));
        }
        MountArguments::DUMP(()) => {
            let mounts = all.mounts.iter().map(|mount| mountbody {
                ml_hostname: name(mount.hostname.as_bytes()),
                ml_directory: dirpath(&mount.path),
            });
            answer(reply, request.xid, MountResults::DUMP(mountlist(mounts.collect())));
        }
        MountArguments::UMNT(path) => {
            all.mounts.remove(peer.address(), path.0);
            answer(reply, request.xid, MountResults::UMNT(()));
        }
        MountArguments::UMNTALL(()) => {
            all.mounts.remove_all_of(peer.address());
            answer(reply, request.xid, MountResults::UMNTALL(()));
        }
        MountArguments::EXPORT(()) => answer_exports(all, request, peer, reply),
    }
    performed
}

fn answer(reply: &mut Reply, xid: u32, results: MountResults<'_>) {
    encode(reply.head(), xid, &Results::Mount(results));
}

fn answer_exports(all: &Exports, request: &Request<'_>, peer: &Peer, reply: &mut Reply) {
    let listed: Vec<(String, Vec<String>)> = all
        .volumes()
        .filter(|(_, volume)| volume.is_served_at(peer.endpoint()))
        .map(|(_, volume)| (format!("/{}", volume.export.name), volume.export.rules.clients()))
        .collect();
    let nodes = listed.iter().map(|(path, clients)| exportnode {
        ex_dir: dirpath(path.as_bytes()),
        ex_groups: clients.iter().map(|client| name(client.as_bytes())).collect(),
    });
    answer(reply, request.xid, MountResults::EXPORT(exports(nodes.collect())));
}

/// The volume of a path, and the handle of the directory at the path.
fn find(all: &Exports, path: &[u8], peer: &Peer) -> Result<(VolumeIndex, Handle), mountstat3> {
    let (index, rest) = volume_of(all, path, peer).ok_or(mountstat3::MNT3ERR_NOENT)?;
    let export = all.get(index).ok_or(mountstat3::MNT3ERR_NOENT)?;
    if export.rules.access_of(peer.address()).is_none() {
        return Err(mountstat3::MNT3ERR_ACCES);
    }
    let files = &export.files;
    let root = files.root();
    let mut at = root;
    // The remaining names of the path, the next one last.
    let mut names: Vec<&[u8]> = split(rest).rev().collect();
    let mut links = 0;
    while let Some(part) = names.pop() {
        if part == b".." && at == root {
            return Err(mountstat3::MNT3ERR_ACCES);
        }
        let found = files.lookup(at, part, &MOUNTER).map_err(status)?;
        match found.attributes.kind {
            Kind::Directory => at = found.handle,
            Kind::Symlink => {
                links += 1;
                if links > LINKS_MAX {
                    return Err(mountstat3::MNT3ERR_ACCES);
                }
                let mut target = files.readlink(found.handle).map_err(status)?;
                if target.starts_with(b"/") {
                    let below = volume_of(all, target, peer).filter(|(other, _)| *other == index);
                    (_, target) = below.ok_or(mountstat3::MNT3ERR_ACCES)?;
                    at = root;
                }
                names.extend(split(target).rev());
            }
            _ => return Err(mountstat3::MNT3ERR_NOTDIR),
        }
    }
    Ok((index, at))
}

/// The names of a path.
fn split(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty())
}

fn status(error: Error) -> mountstat3 {
    match error {
        Error::NotDir => mountstat3::MNT3ERR_NOTDIR,
        Error::NameTooLong => mountstat3::MNT3ERR_NAMETOOLONG,
        Error::Inval => mountstat3::MNT3ERR_INVAL,
        _ => mountstat3::MNT3ERR_NOENT,
    }
}

/// The volume of a path at the client's endpoint, and the rest of the path.
fn volume_of<'p>(all: &Exports, path: &'p [u8], peer: &Peer) -> Option<(VolumeIndex, &'p [u8])> {
    let served = all.volumes().filter(|(_, volume)| volume.is_served_at(peer.endpoint()));
    served
        .filter_map(|(index, volume)| {
            let volume = &volume.export.name;
            Some((index, volume.len(), below(path, volume)?))
        })
        // Names may contain "/": the longest match is the volume.
        .max_by_key(|(_, length, _)| *length)
        .map(|(index, _, rest)| (index, rest))
}

/// The rest of a path that begins with the volume's name.
fn below<'p>(path: &'p [u8], volume: &str) -> Option<&'p [u8]> {
    let start = path.iter().position(|byte| *byte != b'/')?;
    let rest = path[start..].strip_prefix(volume.as_bytes())?;
    (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
}
