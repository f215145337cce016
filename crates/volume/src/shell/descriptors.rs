//! Divides the process's file descriptors before the first connection is accepted.
//!
//! For: keeping connections, however many and however idle, from using the descriptors that data
//! files need. Not for: choosing which data files are open; crate `disk` closes the least recently
//! used ones.

use std::os::fd::RawFd;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::poll::Waker;

/// Descriptors for epoll, two eventfds, connections accepted only to be refused, and files open
/// during one call; and a few for other parts of the program.
const SPARE: u64 = 24;

/// Data files get at least one part in so many of the free descriptors.
const DATA_SHARE: u64 = 4;

/// Two descriptors for each of 1024 data files and its checksums; more do not help.
const DATA_MAX: u64 = 2048;

/// Requested numbers of descriptors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Most NFS connections.
    pub(super) connections: usize,
    /// Listening sockets.
    pub(super) listeners: usize,
    /// Most HTTP connections, and their listening socket.
    pub(super) http: usize,
    /// Volumes on disk; `None` if volumes are in memory.
    pub(super) volumes: Option<usize>,
}

/// Assigned numbers of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) connections: usize,
    /// For data files of all volumes together.
    pub(super) data: u64,
    /// All of them, with those that were open before.
    pub(super) all: u64,
}

impl Budget {
    /// * `limit` — the process's limit of descriptors
    /// * `open` — descriptors that are open already
    pub(super) fn divide(limit: u64, open: u64, needs: &Needs) -> Budget {
        let each_volume = disk::DESCRIPTORS_PER_VOLUME as u64;
        let volumes = needs.volumes.map_or(0, |volumes| volumes as u64 * each_volume);
        let fixed = open + SPARE + volumes + (needs.listeners + needs.http) as u64;
        let free = limit.saturating_sub(fixed);
        let requested = needs.connections as u64;
        let data = match needs.volumes {
            Some(_) => (free / DATA_SHARE).max(free.saturating_sub(requested)).min(DATA_MAX),
            None => 0,
        };
        let connections = requested.min(free - data).max(1);
        let all = fixed + data + connections;
        Budget { connections: connections as usize, data, all }
    }

    /// A log line if there are fewer connections than requested.
    pub(super) fn shortage(&self, limit: u64, needs: &Needs) -> Option<String> {
        (self.connections < needs.connections).then(|| {
            format!(
                "serving at most {} connections instead of {}, because this process is limited to \
                 {limit} open files; to serve more, raise the limit (ulimit -n)",
                self.connections, needs.connections
            )
        })
    }
}

/// Raises this process's limit of descriptors to the hard limit, unless `wanted` are allowed already.
/// Returns the limit.
pub fn raise_limit(wanted: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if let Some(limit) = current.filter(|limit| *limit >= wanted) {
        return limit;
    }
    let raised = Rlimit { current: maximum, maximum };
    // If this is refused, the caller has fewer.
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    now.unwrap_or(u64::MAX)
}

/// The number of open descriptors.
pub(super) fn count_open() -> u64 {
    /// An estimate if /proc cannot be read: standard streams and files opened by the program.
    const ESTIMATE: u64 = 40;
    std::fs::read_dir("/proc/self/fd").map_or(ESTIMATE, |open| open.count() as u64)
}

/// Makes the kernel grow the process's file table to its final size now, by duplicating a descriptor
/// to the highest number. Later growth would stall the serving thread for milliseconds: the kernel
/// waits for all processors (`expand_fdtable`, Linux fs/file.c; measured by `floor files` in xtask).
pub(super) fn grow_file_table(any: &Waker, descriptors: u64) {
    let highest = RawFd::try_from(descriptors.saturating_sub(1)).unwrap_or(RawFd::MAX);
    // If this fails, the table grows later.
    drop(rustix::io::fcntl_dupfd_cloexec(any.fd(), highest));
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs { connections: 1024, listeners: 2, http: 0, volumes: Some(1) };

    #[test]
    fn with_few_descriptors_data_files_get_a_quarter_and_connections_the_rest() {
        let budget = Budget::divide(1024, 10, &NEEDS);
        // 1024 - 10 - 24 - 8 - 2 are free.
        assert_eq!((budget.data, budget.connections, budget.all), (245, 735, 1024));
        let line = budget.shortage(1024, &NEEDS).expect("there are fewer than requested");
        assert!(line.contains("735 connections") && line.contains("ulimit -n"), "{line}");
    }

    #[test]
    fn with_many_descriptors_every_request_is_met() {
        let budget = Budget::divide(1 << 20, 10, &NEEDS);
        assert_eq!((budget.data, budget.connections), (DATA_MAX, 1024));
        assert_eq!(budget.shortage(1 << 20, &NEEDS), None);
        let in_memory = Needs { volumes: None, ..NEEDS };
        let budget = Budget::divide(1024, 10, &in_memory);
        assert_eq!((budget.data, budget.connections), (0, 988));
    }

    #[test]
    fn the_shares_never_exceed_the_limit() {
        for limit in (40..5000).step_by(13) {
            for connections in [1, 100, 10_000] {
                let budget = Budget::divide(limit, 10, &Needs { connections, ..NEEDS });
                assert!(budget.connections >= 1 && budget.connections <= connections);
                assert!(budget.all <= limit.max(10 + SPARE + 8 + 2 + 1), "{limit}: {budget:?}");
            }
        }
    }
}
