//! Which workers use which files of a working set: a pure function of the worker's number, so that every
//! host computes the same split.
//!
//! Host `h` of `H` has the files `h`, `h + H`, `h + 2 H`, and so on; its workers divide them in the same
//! way. The fill assigns files to hosts by the same rule ([`crate::run::FileSet::filling_host`]), so that
//! every host has written its own part if all hosts fill.

use serde::{Deserialize, Serialize};

/// How the workers of a stream share its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Every worker uses all files.
    #[default]
    All,
    /// Each host has a separate part, which its workers share.
    Host,
    /// Each worker has a separate part.
    Worker,
}

impl Sharing {
    /// All values, in the order of the table of keys.
    pub const ALL: [Sharing; 3] = [Sharing::All, Sharing::Host, Sharing::Worker];

    /// The name in an experiment.
    pub const fn name(self) -> &'static str {
        match self {
            Sharing::All => "all",
            Sharing::Host => "host",
            Sharing::Worker => "worker",
        }
    }
}

/// The files that the workers of a stream use. By default every worker uses all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUse {
    /// How workers share files.
    pub sharing: Sharing,
    /// Hosts that the workers are distributed over.
    pub hosts: u32,
    /// A host reads only files that another host filled; the number of hosts that fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_by_others: Option<u32>,
}

impl Default for FileUse {
    fn default() -> FileUse {
        FileUse::ALL
    }
}

/// The files of one worker: `first + n * stride`, or all but those of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    first: u32,
    stride: u32,
    /// Every `stride`-th file from `first` on is left out.
    is_inverted: bool,
    /// Number of files.
    pub(crate) files: u32,
    /// The worker's number among those that use the part together.
    pub(crate) lane: u32,
    /// Workers that use the part together.
    pub(crate) lanes: u32,
}

impl FileUse {
    /// Every worker uses all files.
    pub const ALL: FileUse = FileUse { sharing: Sharing::All, hosts: 1, filled_by_others: None };

    /// Whether it need not be stored.
    pub fn is_default(&self) -> bool {
        *self == FileUse::ALL
    }

    /// Whether every worker uses all files.
    pub fn is_all(&self) -> bool {
        self.sharing == Sharing::All && self.filled_by_others.is_none()
    }

    /// Whether each file is used by one host only, however many there are.
    pub fn is_separate(&self) -> bool {
        self.sharing != Sharing::All
    }

    /// The smallest number of files that gives every part one, for `workers` workers over all hosts.
    pub fn files_min(&self, workers: u32) -> u32 {
        match (self.sharing, self.filled_by_others) {
            (Sharing::All, None) => 1,
            (Sharing::All, Some(_)) => 2,
            (Sharing::Host, _) => self.hosts,
            (Sharing::Worker, _) => workers.max(self.hosts),
        }
    }

    /// The files of worker `lane` of `lanes`, of `files` files.
    #[inline]
    pub(crate) fn part(&self, lane: u32, lanes: u32, files: u32) -> Part {
        let (host, own_lane, own_lanes) = host_of(lane, lanes, self.hosts.max(1));
        if self.sharing == Sharing::All {
            let Some(filling) = self.filled_by_others else {
                return Part { first: 0, stride: 1, is_inverted: false, files, lane, lanes };
            };
            let own = count(files, host, filling);
            let files = files - own;
            return Part { first: host, stride: filling, is_inverted: true, files, lane, lanes };
        }
        // Host `h` reads the part of host `h + 1`.
        let of_host = match self.filled_by_others {
            Some(_) => (host + 1) % self.hosts.max(1),
            None => host,
        };
        let (lane, lanes, first, stride) = match self.sharing {
            Sharing::Worker => (0, 1, of_host + self.hosts * own_lane, self.hosts * own_lanes),
            Sharing::Host | Sharing::All => (own_lane, own_lanes, of_host, self.hosts),
        };
        let files = count(files, first, stride);
        Part { first, stride, is_inverted: false, files, lane, lanes }
    }
}

/// The host of a worker, the worker's number there, and the workers there: the inverse of
/// [`crate::run::Run::split`].
#[inline]
fn host_of(lane: u32, lanes: u32, hosts: u32) -> (u32, u32, u32) {
    let (lanes, hosts) = (u64::from(lanes.max(1)), u64::from(hosts));
    let host = ((u64::from(lane) + 1) * hosts - 1) / lanes;
    let (begin, end) = (lanes * host / hosts, lanes * (host + 1) / hosts);
    (host as u32, lane - begin as u32, (end - begin) as u32)
}

/// How many of the numbers below `files` are `first`, `first + stride`, and so on.
const fn count(files: u32, first: u32, stride: u32) -> u32 {
    if first >= files { 0 } else { (files - first).div_ceil(stride) }
}

impl Part {
    /// The number of the part's `index`-th file in the file set.
    #[inline]
    pub(crate) const fn file(&self, index: u32) -> u32 {
        if !self.is_inverted {
            return self.first + index * self.stride;
        }
        // Of each group of `stride` files, `stride - 1` are in the part.
        let (group, within) = (index / (self.stride - 1), index % (self.stride - 1));
        group * self.stride + within + (within >= self.first) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_of(file_use: FileUse, lane: u32, lanes: u32, files: u32) -> Vec<u32> {
        let part = file_use.part(lane, lanes, files);
        (0..part.files).map(|index| part.file(index)).collect()
    }

    #[test]
    fn hosts_and_workers_have_separate_parts_that_are_all_files_together() {
        for (hosts, per_host, files) in [(1, 1, 1), (2, 1, 5), (3, 2, 6), (3, 2, 20), (4, 3, 13)] {
            let lanes = hosts * per_host;
            for sharing in [Sharing::Host, Sharing::Worker] {
                let file_use = FileUse { sharing, hosts, filled_by_others: None };
                let each = match sharing {
                    Sharing::Worker => (0..lanes).collect::<Vec<u32>>(),
                    _ => (0..hosts).map(|host| host * per_host).collect(),
                };
                let mut all: Vec<u32> =
                    each.iter().flat_map(|lane| files_of(file_use, *lane, lanes, files)).collect();
                all.sort_unstable();
                assert_eq!(all, (0..files).collect::<Vec<u32>>(), "{hosts} {per_host} {sharing:?}");
                for lane in 0..lanes {
                    let of_host = |file: &u32| file % hosts == lane / per_host;
                    assert!(files_of(file_use, lane, lanes, files).iter().all(of_host));
                }
            }
        }
    }

    #[test]
    fn the_host_of_a_worker_is_the_one_that_a_split_gives_it_to() {
        for (lanes, hosts) in [(1, 1), (6, 3), (5, 3), (2, 5), (7, 2), (1000, 7)] {
            for host in 0..hosts {
                let (begin, end) = (lanes * host / hosts, lanes * (host + 1) / hosts);
                for lane in begin..end {
                    assert_eq!(host_of(lane, lanes, hosts), (host, lane - begin, end - begin));
                }
            }
        }
    }

    #[test]
    fn files_of_others_are_all_that_another_host_filled() {
        for (hosts, filling, files) in [(2, 2, 2), (3, 3, 10), (2, 4, 7), (3, 5, 23)] {
            let file_use = FileUse { hosts, filled_by_others: Some(filling), ..FileUse::ALL };
            for host in 0..hosts {
                let expected: Vec<u32> = (0..files).filter(|file| file % filling != host).collect();
                assert_eq!(files_of(file_use, host, hosts, files), expected);
            }
        }
        for sharing in [Sharing::Host, Sharing::Worker] {
            // Eight hosts filled, four read.
            let file_use = FileUse { sharing, hosts: 4, filled_by_others: Some(8) };
            let mut all = Vec::new();
            for lane in 0..4 {
                let files = files_of(file_use, lane, 4, 19);
                assert!(files.iter().all(|file| file % 8 != lane), "{lane}: {files:?}");
                all.extend(files);
            }
            all.sort_unstable();
            assert_eq!(all, (0..19).collect::<Vec<u32>>());
        }
    }
}
