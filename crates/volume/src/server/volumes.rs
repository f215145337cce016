//! The volumes of the server: what the account says is what clients see.

use files::{FileSystem, Options, Unstable};
use units::Bytes;

use super::Server;
use crate::exports::{Export, VolumeIndex, fsid_of};
use crate::model::Volume;

/// Most bytes of one READ or WRITE: what most servers offer and Linux asks for.
pub(super) const TRANSFER_BYTES: u32 = 1 << 20;

/// The service's largest file (`resource-limits` of its documentation, June 2025).
const FILE_SIZE_MAX: Bytes = Bytes::gib(16 << 10);

/// What a directory entry's link count can hold in every client.
const LINKS_MAX: u32 = 32_000;

/// The number of inodes that regular volumes may have at most, by the same document.
const INODES_MAX: u64 = 2_147_483_632;

/// Everybody may use the root directory: whoever measures seldom is the superuser.
const ROOT: (u32, u32, u32) = (0, 0, 0o777);

impl Server {
    /// Makes volumes that are new, changes those that are there, takes away those that are gone.
    pub(super) fn bring_volumes_to_the_account(&mut self, now_ns: u64) {
        let config = self.service.config().clone();
        let wanted = &config.account;
        let gone = |(index, export): (VolumeIndex, &Export)| {
            wanted.volume(&export.name).is_none().then_some(index)
        };
        let gone: Vec<VolumeIndex> = self.exports.iter().filter_map(gone).collect();
        for index in gone {
            self.exports.remove(index);
            self.volumes[index.get()] = None;
        }
        for (volume, rules) in wanted.volumes.iter().zip(&config.rules) {
            let at = |(index, name): (usize, &str)| {
                volume.endpoints.iter().any(|endpoint| endpoint == name).then_some(index)
            };
            let names = config.endpoints.iter().map(|endpoint| &*endpoint.name);
            let endpoints = Some(names.enumerate().filter_map(at).collect());
            if let Some(index) = self.exports.find(&volume.name)
                && let Some(export) = self.exports.get_mut(index)
            {
                export.files.set_quota(volume.quota);
                (export.endpoints, export.rules) = (endpoints, rules.clone());
                continue;
            }
            let files = FileSystem::new(self.options_of(now_ns, volume));
            let (name, rules) = (volume.name.clone(), rules.clone());
            let added = self.exports.add(Export { name, files, rules, endpoints });
            match added {
                Ok(index) => {
                    self.volumes.resize(index.get() + 1, None);
                    self.volumes[index.get()] = self.service.volume_key(&volume.name);
                }
                Err(error) => self.notices.say(&error.to_string()),
            }
        }
    }

    fn options_of(&self, now_ns: u64, volume: &Volume) -> Options {
        Options {
            fsid: fsid_of(&volume.name),
            instance: self.options.epoch_ns + now_ns,
            quota: volume.quota,
            memory_max: self.options.memory,
            inodes_max: INODES_MAX,
            file_size_max: FILE_SIZE_MAX,
            links_max: LINKS_MAX,
            unstable: Unstable::Kept,
            transfer_max: TRANSFER_BYTES,
            root: ROOT,
            made: self.time_of_day(now_ns),
        }
    }
}
