//! Why a profile differs from its application by more than the tolerance, where the profile is not
//! corrected.

use Profile::{Differs, Higher, Lower};

use super::record::Row;

/// Which difference a reason explains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    /// The profile's figure is higher.
    Higher,
    /// The profile's figure is lower.
    Lower,
    /// Either, or one side has none.
    Differs,
}

/// Figures of an application, and why they differ.
struct Reason {
    application: &'static str,
    profile: Profile,
    /// Names of figures, or their beginnings.
    figures: &'static [&'static str],
    why: &'static str,
}

const CACHED: &str = "Most of these operations end in the page cache (see p50), which the limit does not delay: the time \
                      is that of strace, of the call and of waiting for a processor, and not that of storage.";
const CLIENTS: &str = "The application has clients that wait for their operations. The profile offers a rate whatever is \
                       in flight, so operations add up while the limit delays others; `queue_depth` bounds them.";
const PIECES: &str = "The compiler, the assembler and git read and write a file in pieces of their buffers (4 KiB and \
                      more), the profile in one piece. Fewer and larger operations move each file, as behind the \
                      cache of an NFS client.";
const NO_NAMES: &str = "An experiment that `observe` writes has reads, writes and fsyncs only, and states this in its \
                        comments. Its own operations on names are those of opening its files.";
const STREAMS: &str = "The application's threads wait for each operation. The experiment has several streams with rates, \
                       which `observe` states in its comments: their operations overlap, and wait for each other at \
                       the limit.";
const SECTORS: &str = "An experiment has transfer sizes in whole sectors of 512 B and leaves out rare ones, which \
                       `observe` states in its comments.";
const NEW_FILES: &str = "Likely: the application syncs files that it has just made or extended, so that the file system \
                         writes its own data too; the experiment changes files of a fixed size.";
const BURSTS: &str = "Likely: the application sends in bursts, and operations of a burst wait for each other at \
                      the limit of operations per second. The profile sends at random times with a \
                      constant mean rate. Outstanding operations follow from the latency by Little's law.";
const GAPS_OF_CLIENTS: &str = "The application has few clients, each of which sends the operations of a transaction one \
                               after the other. The profile's arrivals are random at a mean rate, as are those of many \
                               independent clients together (Palm-Khintchine theorem).";
const GAPS_OF_STREAMS: &str = "The application sends the operations of a transaction one after the other, and computes between \
                               them. The arrivals of the experiment's streams are random at mean rates.";
const APART: &str = "Likely: the operations of a burst follow each other while processor and disk are awake, and most of them \
                     do not exceed the limit. Those of the profile are a millisecond apart, and each wakes an idle \
                     processor.";

const REASONS: &[Reason] = &[
    Reason {
        application: "build",
        profile: Differs,
        figures: &["operations on names", "data:", "read size", "write size"],
        why: PIECES,
    },
    Reason {
        application: "build",
        profile: Differs,
        figures: &["names: readlink"],
        why: "git and make resolve links in paths; the profile has no links.",
    },
    Reason {
        application: "build",
        profile: Differs,
        figures: &["names: stat", "names: missing name", "names: setattr", "names: access"],
        why: "The shares of the kinds are those of a library of 40 sources, and the clone has a part in them.",
    },
    Reason {
        application: "build",
        profile: Differs,
        figures: &["outstanding"],
        why: "make runs two compilers, which wait for their operations; the profile has a constant rate.",
    },
    Reason {
        application: "build",
        profile: Differs,
        figures: &["read latency", "write latency", "stat latency"],
        why: CACHED,
    },
    Reason { application: "fdatasync", profile: Differs, figures: &["write latency"], why: CACHED },
    Reason {
        application: "fdatasync",
        profile: Higher,
        figures: &["outstanding, mean"],
        why: "Little's law: the profile's rate and the mean latency of its writes are higher.",
    },
    Reason {
        application: "fdatasync",
        profile: Lower,
        figures: &["fsync latency"],
        why: NEW_FILES,
    },
    Reason {
        application: "fdatasync",
        profile: Differs,
        figures: &["arrival gaps"],
        why: "A write follows the fsync before it, so the gaps vary with the latency of fsync, which differs.",
    },
    Reason {
        application: "build",
        profile: Lower,
        figures: &["arrival gaps"],
        why: "A compiler reads its sources and headers one after the other and then computes. The profile's arrivals are random at a \
              mean rate.",
    },
    Reason {
        application: "postgres",
        profile: Differs,
        figures: &["write size"],
        why: "A sequential stream has one transfer size, the application's log many: 8 KiB to 128 KiB.",
    },
    Reason {
        application: "postgres",
        profile: Differs,
        figures: &["outstanding, maximum"],
        why: CLIENTS,
    },
    Reason {
        application: "postgres",
        profile: Higher,
        figures: &["read latency", "outstanding, mean"],
        why: "The tables had just been written through the page cache, so that PostgreSQL reads them from it (see p50). \
              The profile's files are filled directly: its first read of a page goes to the disk, at its limit.",
    },
    Reason { application: "postgres", profile: Lower, figures: &["read latency"], why: CACHED },
    Reason {
        application: "postgres",
        profile: Lower,
        figures: &["outstanding, mean"],
        why: "Little's law: the latencies of the application are higher.",
    },
    Reason { application: "postgres", profile: Differs, figures: &["write latency"], why: CACHED },
    Reason {
        application: "postgres",
        profile: Differs,
        figures: &["arrival gaps"],
        why: GAPS_OF_CLIENTS,
    },
    Reason { application: "postgres", profile: Lower, figures: &["fsync latency"], why: NEW_FILES },
    Reason {
        application: "postgres",
        profile: Higher,
        figures: &["fsync latency"],
        why: "The fsyncs of the profile wait for the disk together with the reads that miss the page cache.",
    },
    Reason {
        application: "mariadb",
        profile: Lower,
        figures: &["read latency", "write latency", "fsync latency", "outstanding"],
        why: BURSTS,
    },
    Reason {
        application: "mariadb",
        profile: Higher,
        figures: &["read latency", "write latency", "fsync latency"],
        why: APART,
    },
    Reason {
        application: "mariadb",
        profile: Differs,
        figures: &["arrival gaps"],
        why: GAPS_OF_CLIENTS,
    },
    Reason {
        application: "sqlite",
        profile: Differs,
        figures: &["operations on names", "names:", "stat"],
        why: NO_NAMES,
    },
    Reason {
        application: "sqlite",
        profile: Differs,
        figures: &["data: fsync"],
        why: "An experiment syncs after a whole number of writes (`fsync_every`), SQLite after two or three.",
    },
    Reason {
        application: "sqlite",
        profile: Differs,
        figures: &["data:", "read size", "write size"],
        why: SECTORS,
    },
    Reason {
        application: "sqlite",
        profile: Differs,
        figures: &["outstanding", "read latency", "write latency"],
        why: STREAMS,
    },
    Reason { application: "sqlite", profile: Lower, figures: &["fsync latency"], why: NEW_FILES },
    Reason {
        application: "sqlite",
        profile: Lower,
        figures: &["arrival gaps"],
        why: GAPS_OF_STREAMS,
    },
    Reason {
        application: "dbench",
        profile: Differs,
        figures: &["operations on names", "names:", "stat"],
        why: NO_NAMES,
    },
    Reason {
        application: "dbench",
        profile: Differs,
        figures: &["data:", "read size", "write size"],
        why: SECTORS,
    },
    Reason {
        application: "dbench",
        profile: Differs,
        figures: &["outstanding", "read latency", "write latency"],
        why: STREAMS,
    },
    Reason { application: "dbench", profile: Differs, figures: &["fsync latency"], why: NEW_FILES },
    Reason {
        application: "dbench",
        profile: Lower,
        figures: &["arrival gaps"],
        why: GAPS_OF_STREAMS,
    },
];

/// The reason for the difference of a figure.
pub(crate) fn reason(application: &str, row: &Row) -> Option<&'static str> {
    let differs = match row.difference_percent() {
        Some(percent) if percent > 0.0 => Higher,
        Some(_) => Lower,
        None => Differs,
    };
    let is_of = |reason: &&Reason| {
        reason.application == application
            && (reason.profile == Differs || reason.profile == differs)
            && reason.figures.iter().any(|start| row.figure.starts_with(start))
    };
    REASONS.iter().find(is_of).map(|reason| reason.why)
}
