//! The process's file descriptors, divided before the first connection is accepted.
//!
//! For: connections that can never take the descriptors that data files need, however many there
//! are and however idle. Not for: which data files are open; crate `disk` closes those that were
//! not used longest.

use std::os::fd::RawFd;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::poll::Waker;

/// What the service opens once (epoll, two eventfds), accepts only to refuse, or opens for the
/// length of one call; and a few for other parts of the program.
const SPARE: u64 = 24;

/// Data files get at least this part of what is free: 1/4.
const DATA_SHARE: u64 = 4;

/// More open data files than 1024, with their checksums, save nothing worth having.
const DATA_MAX: u64 = 2048;

/// What the service would like to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// Connections that it may serve.
    pub(super) connections: usize,
    /// Sockets that it listens at.
    pub(super) listeners: usize,
    /// Connections to the address of metrics, and the socket that listens there.
    pub(super) conversations: usize,
    /// Volumes that are kept on disk; `None` if they are in memory.
    pub(super) volumes: Option<usize>,
}

/// What each gets, in descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) connections: usize,
    /// For data files of all volumes together.
    pub(super) data: u64,
    /// Everything together, with what was open before.
    pub(super) all: u64,
}

impl Budget {
    /// * `limit` — descriptors that the process may have
    /// * `taken` — those that it has already
    pub(super) fn divide(limit: u64, taken: u64, needs: &Needs) -> Budget {
        let each_volume = disk::DESCRIPTORS_PER_VOLUME as u64;
        let volumes = needs.volumes.map_or(0, |volumes| volumes as u64 * each_volume);
        let fixed = taken + SPARE + volumes + (needs.listeners + needs.conversations) as u64;
        let free = limit.saturating_sub(fixed);
        let wanted = needs.connections as u64;
        let data = match needs.volumes {
            Some(_) => (free / DATA_SHARE).max(free.saturating_sub(wanted)).min(DATA_MAX),
            None => 0,
        };
        let connections = wanted.min(free - data).max(1);
        let all = fixed + data + connections;
        Budget { connections: connections as usize, data, all }
    }

    /// A line for the operator, where there are fewer connections than were asked for.
    pub(super) fn shortage(&self, limit: u64, needs: &Needs) -> Option<String> {
        (self.connections < needs.connections).then(|| {
            format!(
                "at most {} connections are served, not {}: this process may have {limit} open \
                 files; raise the limit (ulimit -n) for more",
                self.connections, needs.connections
            )
        })
    }
}

/// Lets the process have as many descriptors as it may, and returns how many that are.
pub(super) fn raise_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    // Where it is refused, there are fewer connections.
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    now.unwrap_or(u64::MAX)
}

/// Descriptors that the process has.
pub(super) fn open_now() -> u64 {
    /// Where the system does not tell: standard streams, and what a program opens at its start.
    const USUAL: u64 = 40;
    std::fs::read_dir("/proc/self/fd").map_or(USUAL, |open| open.count() as u64)
}

/// Has the kernel make the process' table of files as large as it may become, now. It doubles the
/// table when it is full, and where the process has several threads it waits until all processors
/// have seen that (`expand_fdtable`, Linux fs/file.c): milliseconds (`floor files` in xtask), in
/// which nothing that is due would leave.
pub(super) fn make_room(any: &Waker, descriptors: u64) {
    let highest = RawFd::try_from(descriptors.saturating_sub(1)).unwrap_or(RawFd::MAX);
    // The table then grows when it must, as it would have, so a refusal is no reason not to serve.
    drop(rustix::io::fcntl_dupfd_cloexec(any.fd(), highest));
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs =
        Needs { connections: 1024, listeners: 2, conversations: 0, volumes: Some(1) };

    #[test]
    fn a_quarter_of_few_descriptors_is_kept_for_data_and_connections_get_the_rest() {
        let budget = Budget::divide(1024, 10, &NEEDS);
        // 1024 - 10 - 24 - 8 - 2 are free.
        assert_eq!((budget.data, budget.connections, budget.all), (245, 735, 1024));
        let line = budget.shortage(1024, &NEEDS).expect("there are fewer than asked for");
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
