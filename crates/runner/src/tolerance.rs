//! When failed operations end a run, and the reason given, with the hosts of a fleet on which they failed.

use metrics::interval::{Interval, KindInterval, StreamInterval};
use units::listed;
use workload::op::OpKind;
use workload::outcome::ErrorKind;

/// Failed operations of a run so far.
#[derive(Clone, Debug)]
pub struct Tolerance {
    tolerated: u64,
    /// Operations use the built-in NFS client, so that this host's kernel log has no entries on
    /// them.
    is_export: bool,
    /// `failed[OpKind][ErrorKind]`.
    failed: [[u64; ErrorKind::COUNT]; OpKind::COUNT],
    /// Each host of a fleet with its number of failed operations.
    hosts: Vec<(String, u64)>,
    /// `(host, interval, failed operations)` of intervals that are not part of `failed` yet.
    ahead: Vec<(usize, u32, u64)>,
}

impl Tolerance {
    /// Counters at 0. The run ends when more than `tolerated` operations fail; `is_export`: they
    /// use the built-in NFS client.
    ///
    /// * `hosts` - the names of a fleet's hosts; empty without a fleet
    pub fn new(tolerated: u64, is_export: bool, hosts: Vec<String>) -> Tolerance {
        let failed = [[0; ErrorKind::COUNT]; OpKind::COUNT];
        let hosts = hosts.into_iter().map(|name| (name, 0)).collect();
        Tolerance { tolerated, is_export, failed, hosts, ahead: Vec::new() }
    }

    /// Takes an interval of one host, before that of all hosts with the same number.
    pub fn count_on_host(&mut self, host: u32, interval: &Interval) {
        let of_stream = |stream: &StreamInterval| -> u64 {
            let abandoned = |kind: &KindInterval| kind.failed[ErrorKind::Abandoned as usize];
            stream.kinds.iter().map(|kind| kind.failed_total() - abandoned(kind)).sum()
        };
        let failed = interval.streams.iter().map(of_stream).sum();
        if failed > 0 {
            self.ahead.push((host as usize, interval.index, failed));
        }
    }

    /// Counts an interval's failures of all streams. Fails with a reason to end the run when more
    /// failed than are tolerated.
    pub fn count(&mut self, interval: &Interval) -> Result<(), String> {
        for stream in &interval.streams {
            for (of, kind) in stream.kinds.entries() {
                for (sum, count) in self.failed[of as usize].iter_mut().zip(&kind.failed) {
                    *sum += count;
                }
            }
        }
        let hosts = &mut self.hosts;
        self.ahead.retain(|(host, index, failed)| {
            let is_ahead = *index > interval.index;
            if let Some((_, sum)) = hosts.get_mut(*host).filter(|_| !is_ahead) {
                *sum += failed;
            }
            is_ahead
        });
        // Operations abandoned by a stop are not failures of the storage.
        let abandoned = |kind: &[u64; ErrorKind::COUNT]| kind[ErrorKind::Abandoned as usize];
        let failed: u64 =
            self.failed.iter().map(|kind| kind.iter().sum::<u64>() - abandoned(kind)).sum();
        if failed > self.tolerated { Err(self.reason(failed)) } else { Ok(()) }
    }

    /// What failed, how often, and what to do about the most frequent error.
    fn reason(&self, failed: u64) -> String {
        let mut kinds: Vec<(u64, OpKind, ErrorKind)> = Vec::new();
        for op in OpKind::ALL {
            for error in ErrorKind::ALL {
                let count = self.failed[op as usize][error as usize];
                if count > 0 {
                    kinds.push((count, op, error));
                }
            }
        }
        kinds.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        let list: Vec<String> = kinds
            .iter()
            .map(|(count, op, error)| format!("{count} {} ({})", op.name(), meaning(*error)))
            .collect();
        let operations = if failed == 1 { "operation" } else { "operations" };
        let remedy_of = if self.is_export { export_remedy } else { remedy };
        let remedy = kinds.first().map_or("", |(_, _, error)| remedy_of(*error));
        format!(
            "{failed} {operations} failed{}, {} tolerated: {}; {remedy}",
            self.on_hosts(),
            self.tolerated,
            list.join(", ")
        )
    }

    /// The hosts on which operations failed, in words, most failures first; empty without a fleet.
    fn on_hosts(&self) -> String {
        let mut hosts: Vec<&(String, u64)> =
            self.hosts.iter().filter(|(_, failed)| *failed > 0).collect();
        hosts.sort_by_key(|(_, failed)| std::cmp::Reverse(*failed));
        let named = |(name, failed): &&(String, u64)| format!("{name} ({failed})");
        match hosts.as_slice() {
            [] => String::new(),
            [(only, _)] => format!(" on {only}"),
            all => {
                let named: Vec<String> = all.iter().map(named).collect();
                format!(" on {}", listed(&named))
            }
        }
    }
}

/// The error in words.
const fn meaning(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::InputOutput => "I/O error, EIO",
        ErrorKind::NoSpace => "no space left, ENOSPC",
        ErrorKind::ReadOnly => "not writable, EROFS or EACCES",
        ErrorKind::Gone => "file gone, ENOENT or ESTALE",
        ErrorKind::Short => "short transfer",
        ErrorKind::Corrupt => "data is not what was written",
        ErrorKind::Deadline => "not completed within the deadline",
        ErrorKind::Interrupted => "interrupted, EINTR or EAGAIN",
        ErrorKind::Invalid => "refused as invalid, EINVAL",
        ErrorKind::Other => "another error",
        ErrorKind::Abandoned => "not completed when the run was stopped",
        ErrorKind::Protocol => "the server violated the protocol, EPROTO",
    }
}

/// What to do about an error.
const fn remedy(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::InputOutput => "check the kernel's log (`dmesg`) for the device or the server",
        ErrorKind::NoSpace => "free some space or a quota, or use a smaller working set",
        ErrorKind::ReadOnly => {
            "the file system may have been remounted read-only after an error: see `dmesg`"
        }
        ErrorKind::Gone => "the files were removed or replaced during the run; run again",
        ErrorKind::Short => "the files were truncated during the run; run again with `--refill`",
        ErrorKind::Corrupt => {
            "the storage returned wrong data, or another program writes to these files"
        }
        ErrorKind::Deadline => "the storage does not respond: see `dmesg` and the server",
        ErrorKind::Interrupted => "signals disturb this host; run without debuggers or tracers",
        ErrorKind::Invalid => {
            "the file system may require another alignment for direct I/O; try `--buffered`"
        }
        ErrorKind::Abandoned => "check what the storage was doing then",
        ErrorKind::Other | ErrorKind::Protocol => "check the kernel's log (`dmesg`)",
    }
}

/// What to do about an error of the built-in NFS client, which does not involve this host's kernel.
const fn export_remedy(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::InputOutput => "check the server's log: its storage failed or it lost data",
        ErrorKind::ReadOnly => {
            "check the export's rules and the file's owner on the server; `uid=` and `gid=` in the \
             URL set the caller"
        }
        ErrorKind::Short => {
            "the file was truncated during the run, or the server reports its end too early (READ, \
             RFC 1813, section 3.3.6); run again with `--refill`"
        }
        ErrorKind::Deadline => "check the server and the network to it",
        ErrorKind::Invalid => "the server refuses such a transfer; try other `rsize=` and `wsize=`",
        ErrorKind::Protocol => "report it to the server's vendor with the exchange below",
        ErrorKind::Interrupted | ErrorKind::Other => "check the server's log",
        ErrorKind::NoSpace | ErrorKind::Gone | ErrorKind::Corrupt | ErrorKind::Abandoned => {
            remedy(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(failures: &[(OpKind, ErrorKind, u64)]) -> Interval {
        let mut stream = StreamInterval::default();
        for (op, error, count) in failures {
            stream.kinds[*op as usize].failed[*error as usize] = *count;
        }
        Interval { streams: vec![stream], ..Interval::default() }
    }

    #[test]
    fn tolerated_failures_do_not_end_a_run() {
        let mut tolerance = Tolerance::new(3, false, Vec::new());
        let two = interval(&[(OpKind::Read, ErrorKind::InputOutput, 2)]);
        let one = interval(&[(OpKind::Write, ErrorKind::NoSpace, 1)]);
        assert_eq!(tolerance.count(&two), Ok(()));
        assert_eq!(tolerance.count(&one), Ok(()));
        assert!(tolerance.count(&one).is_err());
    }

    #[test]
    fn the_reason_lists_errors_and_counts_and_a_remedy_for_the_most_frequent() {
        let mut tolerance = Tolerance::new(0, false, Vec::new());
        let failures =
            [(OpKind::Read, ErrorKind::Short, 2), (OpKind::Write, ErrorKind::NoSpace, 40)];
        assert_eq!(
            tolerance.count(&interval(&failures)).unwrap_err(),
            "42 operations failed, 0 tolerated: 40 write (no space left, ENOSPC), \
             2 read (short transfer); \
             free some space or a quota, or use a smaller working set"
        );
    }

    #[test]
    fn every_error_has_a_meaning_and_a_remedy() {
        for error in ErrorKind::ALL {
            let mut tolerance = Tolerance::new(0, false, Vec::new());
            if error == ErrorKind::Abandoned {
                continue;
            }
            let reason = tolerance.count(&interval(&[(OpKind::Read, error, 1)])).unwrap_err();
            assert!(reason.starts_with("1 operation failed, 0 tolerated: 1 read ("), "{reason}");
            assert!(reason.contains(meaning(error)) && reason.ends_with(remedy(error)));
        }
    }

    #[test]
    fn failures_on_an_export_do_not_refer_to_this_hosts_kernel() {
        for error in ErrorKind::ALL.into_iter().filter(|error| *error != ErrorKind::Abandoned) {
            let mut tolerance = Tolerance::new(0, true, Vec::new());
            let reason = tolerance.count(&interval(&[(OpKind::Read, error, 1)])).unwrap_err();
            assert!(!reason.contains("dmesg"), "{reason}");
        }
        let mut tolerance = Tolerance::new(0, true, Vec::new());
        let broken = interval(&[(OpKind::Write, ErrorKind::Protocol, 1)]);
        assert_eq!(
            tolerance.count(&broken).unwrap_err(),
            "1 operation failed, 0 tolerated: 1 write (the server violated the protocol, EPROTO); \
             report it to the server's vendor with the exchange below"
        );
    }

    #[test]
    fn operations_abandoned_by_a_stop_are_not_failures_of_the_storage() {
        let mut tolerance = Tolerance::new(0, false, Vec::new());
        let abandoned = interval(&[(OpKind::Write, ErrorKind::Abandoned, 3)]);
        assert_eq!(tolerance.count(&abandoned), Ok(()));
    }

    #[test]
    fn the_reason_names_the_hosts_with_failures_most_first_up_to_the_interval_of_the_total() {
        let full = |index, count| Interval {
            index,
            ..interval(&[(OpKind::Write, ErrorKind::NoSpace, count)])
        };
        let names = || ["vm1", "vm2", "vm3"].map(str::to_owned).to_vec();
        let mut tolerance = Tolerance::new(4, false, names());
        tolerance.count_on_host(1, &full(0, 3));
        // A host that is ahead of the others.
        tolerance.count_on_host(2, &full(1, 9));
        assert_eq!(tolerance.count(&full(0, 3)), Ok(()));
        tolerance.count_on_host(1, &full(1, 2));
        let reason = tolerance.clone().count(&full(1, 11)).unwrap_err();
        let of_both =
            "14 operations failed on vm3 (9) and vm2 (5), 4 tolerated: 14 write (no space";
        assert!(reason.starts_with(of_both), "{reason}");
        let mut one = Tolerance::new(0, false, names());
        one.count_on_host(1, &full(0, 3));
        one.count_on_host(0, &interval(&[(OpKind::Read, ErrorKind::Abandoned, 1)]));
        let reason = one.count(&full(0, 3)).unwrap_err();
        assert!(reason.starts_with("3 operations failed on vm2, 0 tolerated: "), "{reason}");
    }

    #[test]
    fn a_reason_names_eight_hosts_and_counts_the_others() {
        let names: Vec<String> = (0..20).map(|host| format!("h{host}")).collect();
        let mut tolerance = Tolerance::new(0, false, names);
        let one = interval(&[(OpKind::Read, ErrorKind::InputOutput, 1)]);
        (0..20).for_each(|host| tolerance.count_on_host(host, &one));
        let reason = tolerance.count(&one).unwrap_err();
        assert!(reason.contains(" on h0 (1), h1 (1), "), "{reason}");
        assert!(reason.contains(", h7 (1) and 12 more, 0 tolerated"), "{reason}");
    }
}
