//! When failed operations end a run, and the reason given.

use metrics::interval::Interval;
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
}

impl Tolerance {
    /// Counters at 0. The run ends when more than `tolerated` operations fail; `is_export`: they
    /// use the built-in NFS client.
    pub const fn new(tolerated: u64, is_export: bool) -> Tolerance {
        Tolerance { tolerated, is_export, failed: [[0; ErrorKind::COUNT]; OpKind::COUNT] }
    }

    /// Counts an interval's failures of all streams. Fails with a reason to end the run when more
    /// failed than are tolerated.
    pub fn count(&mut self, interval: &Interval) -> Result<(), String> {
        for stream in &interval.streams {
            for (sums, kind) in self.failed.iter_mut().zip(&stream.kinds) {
                for (sum, count) in sums.iter_mut().zip(&kind.failed) {
                    *sum += count;
                }
            }
        }
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
            "{failed} {operations} failed, {} tolerated: {}; {remedy}",
            self.tolerated,
            list.join(", ")
        )
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
    use metrics::interval::StreamInterval;

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
        let mut tolerance = Tolerance::new(3, false);
        let two = interval(&[(OpKind::Read, ErrorKind::InputOutput, 2)]);
        let one = interval(&[(OpKind::Write, ErrorKind::NoSpace, 1)]);
        assert_eq!(tolerance.count(&two), Ok(()));
        assert_eq!(tolerance.count(&one), Ok(()));
        assert!(tolerance.count(&one).is_err());
    }

    #[test]
    fn the_reason_lists_errors_and_counts_and_a_remedy_for_the_most_frequent() {
        let mut tolerance = Tolerance::new(0, false);
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
            let mut tolerance = Tolerance::new(0, false);
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
            let mut tolerance = Tolerance::new(0, true);
            let reason = tolerance.count(&interval(&[(OpKind::Read, error, 1)])).unwrap_err();
            assert!(!reason.contains("dmesg"), "{reason}");
        }
        let mut tolerance = Tolerance::new(0, true);
        let broken = interval(&[(OpKind::Write, ErrorKind::Protocol, 1)]);
        assert_eq!(
            tolerance.count(&broken).unwrap_err(),
            "1 operation failed, 0 tolerated: 1 write (the server violated the protocol, EPROTO); \
             report it to the server's vendor with the exchange below"
        );
    }

    #[test]
    fn operations_abandoned_by_a_stop_are_not_failures_of_the_storage() {
        let mut tolerance = Tolerance::new(0, false);
        let abandoned = interval(&[(OpKind::Write, ErrorKind::Abandoned, 3)]);
        assert_eq!(tolerance.count(&abandoned), Ok(()));
    }
}
