//! The volumes of the server: exports and their files, as the configuration defines them.

use cloud::row::LimitName;
use cloud::service_level::VolumeKind;
use files::{Options, Unstable};
use units::Bytes;

use super::Server;
use crate::exports::{Export, VolumeIndex, fsid_of};
use crate::ids::EndpointId;
use crate::model::Volume;

/// Largest READ or WRITE: what most servers offer and Linux requests.
pub(super) const TRANSFER_BYTES: u32 = 1 << 20;

/// Most links of a file: a count that every client can represent.
const LINKS_MAX: u32 = 32_000;

/// Owner, group and mode of the root directory. All users may write to it, because most load
/// generators do not run as root.
const ROOT: (u32, u32, u32) = (0, 0, 0o777);

impl Server {
    /// Creates, changes and removes volumes according to the account. Returns the failures.
    pub(super) fn apply_account(&mut self, now_ns: u64) -> Vec<String> {
        let mut problems = Vec::new();
        let config = self.service.config().clone();
        let account = &config.account;
        let if_removed = |(index, export): (VolumeIndex, &Export)| {
            account.volume(&export.name).is_none().then_some(index)
        };
        let removed: Vec<VolumeIndex> = self.exports.iter().filter_map(if_removed).collect();
        for index in removed {
            self.exports.remove(index);
            self.volumes[index.get()] = None;
        }
        for (volume, rules) in account.volumes.iter().zip(&config.rules) {
            let ids = config.endpoints.iter().enumerate().filter_map(|(index, endpoint)| {
                volume.endpoints.contains(&endpoint.name).then_some(EndpointId::new(index))
            });
            let endpoints = Some(ids.collect());
            if let Some(index) = self.exports.find(&volume.name)
                && let Some(export) = self.exports.get_mut(index)
            {
                export.files.set_quota(volume.quota);
                (export.endpoints, export.rules) = (endpoints, rules.clone());
                continue;
            }
            let options = self.options_of(now_ns, volume);
            let files = match (self.open_files)(&volume.name, options) {
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
                    self.volumes[index.get()] = self.service.volume_id(&volume.name);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        self.share_memory();
        problems
    }

    /// Syncs volumes that are on disk, and divides the free memory anew.
    pub(super) fn sync_volumes(&mut self) {
        let mut failed = Vec::new();
        for (index, export) in self.exports.iter_mut() {
            if !self.failed.contains(&index)
                && let Err(error) = export.files.sync()
            {
                failed.push((index, format!("sync volume `{}`: {error:?}", export.name)));
            }
        }
        for (index, line) in failed {
            // Pending replies may acknowledge lost data, so they are discarded: clients repeat their
            // requests on another connection and get errors.
            self.failed.push(index);
            self.notices.log(&format!("{line}; all connections are closed"));
            for id in self.connections.ids() {
                if let Some(connection) = self.connections.get_mut(id) {
                    connection.is_broken = true;
                }
                self.mark_ready(id);
            }
        }
        if self.volumes.len() > 1 {
            self.share_memory();
        }
    }

    /// Lets each volume use the memory that no volume uses.
    fn share_memory(&mut self) {
        let used = |export: &Export| export.files.memory().get();
        let all: u64 = self.exports.iter().map(|(_, export)| used(export)).sum();
        let free = self.options.memory.get().saturating_sub(all);
        for (_, export) in self.exports.iter_mut() {
            let max = used(export).saturating_add(free);
            export.files.set_memory_max(Bytes::new(max));
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
