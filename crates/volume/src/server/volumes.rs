//! The volumes of the server: what the account says is what clients see.

use cloud::row::LimitName;
use cloud::service_level::VolumeKind;
use files::{Options, Unstable};
use units::Bytes;

use super::Server;
use crate::exports::{Export, VolumeIndex, fsid_of};
use crate::model::Volume;

/// Most bytes of one READ or WRITE: what most servers offer and Linux asks for.
pub(super) const TRANSFER_BYTES: u32 = 1 << 20;

/// What a directory entry's link count can hold in every client.
const LINKS_MAX: u32 = 32_000;

/// Everybody may use the root directory: whoever measures seldom is the superuser.
const ROOT: (u32, u32, u32) = (0, 0, 0o777);

impl Server {
    /// Makes volumes that are new, changes those that are there, takes away those that are gone.
    /// Gives what did not succeed.
    pub(super) fn bring_volumes_to_the_account(&mut self, now_ns: u64) -> Vec<String> {
        let mut problems = Vec::new();
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
            let options = self.options_of(now_ns, volume);
            let files = match (self.open)(&volume.name, options) {
                Ok(files) => files,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            self.is_on_disk |= files.has_storage();
            let (name, rules) = (volume.name.clone(), rules.clone());
            let added = self.exports.add(Export { name, files, rules, endpoints });
            match added {
                Ok(index) => {
                    self.volumes.resize(index.get() + 1, None);
                    self.volumes[index.get()] = self.service.volume_key(&volume.name);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        self.share_memory();
        problems
    }

    /// Makes safe what was performed, where volumes are kept, and lets each volume have what memory
    /// the others leave.
    pub(super) fn make_safe(&mut self) {
        let mut failed = Vec::new();
        for (index, export) in self.exports.iter_mut() {
            if !self.failed.contains(&index)
                && let Err(error) = export.files.sync()
            {
                failed.push((index, format!("keep volume `{}`: {error:?}", export.name)));
            }
        }
        for (index, line) in failed {
            // Replies may promise what is not kept. They are never sent: clients ask again on
            // another connection, and are told that the volume fails.
            self.failed.push(index);
            self.notices.say(&format!("{line}; all connections are closed"));
            for place in self.connections.places() {
                if let Some(connection) = self.connections.get_mut(place) {
                    connection.is_broken = true;
                }
                self.note(place);
            }
        }
        if self.volumes.len() > 1 {
            self.share_memory();
        }
    }

    fn share_memory(&mut self) {
        let used = |export: &Export| export.files.memory().get();
        let all: u64 = self.exports.iter().map(|(_, export)| used(export)).sum();
        let left = self.options.memory.get().saturating_sub(all);
        for (_, export) in self.exports.iter_mut() {
            let most = used(export).saturating_add(left);
            export.files.set_memory_max(Bytes::new(most));
        }
    }

    fn options_of(&self, now_ns: u64, volume: &Volume) -> Options {
        let catalog = self.service.catalog();
        Options {
            fsid: fsid_of(&volume.name),
            instance: self.options.epoch_ns + now_ns,
            quota: volume.quota,
            memory_max: self.options.memory,
            inodes_max: catalog.limit(match volume.kind {
                VolumeKind::Regular => LimitName::RegularVolumeInodesMax,
                VolumeKind::Large | VolumeKind::Breakthrough => LimitName::LargeVolumeInodesMax,
            }),
            file_size_max: Bytes::gib(catalog.limit(LimitName::FileSizeMax)),
            links_max: LINKS_MAX,
            unstable: Unstable::Kept,
            transfer_max: TRANSFER_BYTES,
            root: ROOT,
            made: self.time_of_day(now_ns),
        }
    }
}
