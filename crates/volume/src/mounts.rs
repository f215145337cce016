//! The mounts that clients reported, for MOUNT's DUMP. Nothing else uses them.

use std::collections::VecDeque;
use std::net::IpAddr;

/// Most mounts that are kept; beyond it the oldest are forgotten.
const MOUNTS_MAX: usize = 1024;

/// A mount by a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    client: IpAddr,
    /// The client's address as text.
    pub(crate) hostname: String,
    pub(crate) path: Vec<u8>,
}

/// All mounts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Mounts(VecDeque<Mount>);

impl Mounts {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    pub(crate) fn add(&mut self, client: IpAddr, path: &[u8]) {
        let mount = Mount { client, hostname: client.to_string(), path: path.to_vec() };
        if self.0.contains(&mount) {
            return;
        }
        if self.0.len() >= MOUNTS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(mount);
    }

    pub(crate) fn remove(&mut self, client: IpAddr, path: &[u8]) {
        self.0.retain(|mount| mount.client != client || mount.path != path);
    }

    pub(crate) fn remove_all_of(&mut self, client: IpAddr) {
        self.0.retain(|mount| mount.client != client);
    }
}
