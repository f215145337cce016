//! Notes of an observation, and what an experiment does not express, in words.

use observe::TimeUnit;
use observe::observation::{Damage, Note, Source};
use observe::profile::LeftOut;
use units::{Bytes, counted};

use crate::number::{percent, plain, thousands};

/// Printed for figures that a format does not have.
pub(super) const NOT_IN_TRACE: &str = "not in this trace";

/// How many records are damaged, after the number of all: `, none damaged`.
pub(super) fn damaged(notes: &[Note]) -> String {
    let count = notes.iter().find_map(damaged_count);
    match count {
        Some(count) => format!(", {} damaged", thousands(count.into())),
        None => ", none damaged".to_owned(),
    }
}

/// How many records are damaged, if the note is about them.
pub(super) fn damaged_count(note: &Note) -> Option<u64> {
    match note {
        Note::Damaged { count, .. } => Some(*count),
        _ => None,
    }
}

/// The unit that was assumed for the times.
pub(super) fn assumed_unit(source: &Source) -> Option<String> {
    let unit = match source.assumed_unit? {
        TimeUnit::Milli => "milliseconds",
        TimeUnit::Micro => "microseconds",
        TimeUnit::Nano => "nanoseconds",
    };
    Some(format!(
        "Times are taken as {unit}, as fio 3.33 writes them; other versions differ. If the duration is \
         wrong, give the unit with `--iolog-unit`."
    ))
}

/// A note, as a sentence.
pub(super) fn note(note: &Note) -> String {
    let count = |number: &u64, noun: &str| counted(*number, noun);
    match note {
        Note::Damaged { count: all, first, why } => {
            let why = match why {
                Damage::Malformed => "it is not of the format",
                Damage::TooLarge => "its size is above 4 GiB or its offset above 1 EiB",
                Damage::Cut => "the file ends within it",
                Damage::Header => "its headers contradict its length",
                Damage::Length => "its length is impossible, and reading ended there",
                Damage::Message => "its call cannot be decoded",
            };
            let records = count(all, "damaged record");
            format!("{records} left out; the first is {first}: {why}.")
        }
        Note::NoTimes => "The trace has no times: no rate, concurrency or response time is known. \
                          For strace, use `-ttt -T`."
            .to_owned(),
        Note::NoEnds { operations } => format!(
            "{} without an end (strace without `-T`, or a fio I/O log): concurrency is not known.",
            count(operations, "operation")
        ),
        Note::Unsorted { operations } => format!(
            "{} far out of order: the maximum in flight and the run lengths may be wrong.",
            count(operations, "operation")
        ),
        Note::AssumedPositions { descriptors } => format!(
            "{} opened before the trace: the first position is taken as 0, so the working set may be \
             wrong.",
            count(descriptors, "descriptor")
        ),
        Note::NotVisible { call, calls } => format!(
            "{} of `{call}`: what is read and written through it is not in the trace of strace; \
             capture the network traffic instead.",
            count(calls, "call")
        ),
        Note::EndOfFile { reads } => {
            format!("{} at the end of a file returned nothing; not counted.", count(reads, "read"))
        }
        Note::Outside { operations } => {
            format!("{} on files elsewhere left out.", count(operations, "operation"))
        }
        Note::Nameless { operations } => format!(
            "{} left out because the names of their files are not in the trace.",
            count(operations, "operation")
        ),
        Note::TooManyFiles { operations, files_max } => format!(
            "{} left out because they are on further files than {}.",
            count(operations, "operation"),
            thousands(*files_max as i128)
        ),
        Note::RoundedSizes { operations } => format!(
            "{} of rare sizes counted as the next power of two.",
            count(operations, "operation")
        ),
        Note::OtherNfs { calls } => {
            format!("{} of another NFS version than 3 not read.", count(calls, "call"))
        }
        Note::Unanswered { calls } => {
            format!("{} without an end in the trace not counted.", count(calls, "call"))
        }
        Note::Unmatched { replies } => format!(
            "{} without a call in the capture: the calls were sent before it began or are missing.",
            match replies {
                1 => "1 reply".to_owned(),
                many => format!("{} replies", thousands((*many).into())),
            }
        ),
        Note::Gaps { gaps } => format!(
            "{} in TCP streams: the capture lost packets, and calls are missing.",
            count(gaps, "gap")
        ),
        Note::NotTcp { packets } => format!(
            "{} of fragments or of NFS over UDP not read; only TCP is.",
            count(packets, "packet")
        ),
    }
}

/// What an experiment does not express, as a sentence.
pub(super) fn left_out(left_out: &LeftOut) -> String {
    match left_out {
        LeftOut::Others { operations, names } => format!(
            "{} that neither read nor write ({}): an experiment reads, writes and syncs only.",
            counted(*operations, "operation"),
            names.join(", ")
        ),
        LeftOut::Bursts { dispersion, peak } => format!(
            "Bursts: the operations per second have {} times the variance of Poisson arrivals, and the \
             busiest second has {} times the mean rate. The experiment has the mean rate.",
            plain(*dispersion),
            plain(*peak)
        ),
        LeftOut::Load => {
            "The rate and the concurrency are not in the trace. The experiment has a queue \
                          depth of 1; set `queue_depth` or `arrival`."
                .to_owned()
        }
        LeftOut::ClosedStreams { in_flight } => format!(
            "The application keeps {} operations in flight and issues the next when one ends. Several \
             streams with queue depths would not keep their shares, so they have rates.",
            plain(*in_flight)
        ),
        LeftOut::Concurrency => {
            "The concurrency is not in the trace. `queue_depth` is only an upper \
                                 bound of the operations in flight."
                .to_owned()
        }
        LeftOut::Sizes { share } => format!(
            "Rare transfer sizes: {} of the operations have another size than the experiment.",
            percent(*share)
        ),
        LeftOut::RunLength { operations, bytes } => format!(
            "Run lengths: the application reads or writes {} operations ({}) in a row on average, a \
             sequential stream does not stop.",
            plain(*operations),
            Bytes::new(*bytes as u64)
        ),
        LeftOut::SmallClass { share } => format!(
            "{} of the operations have another access pattern, too few for a stream.",
            percent(*share)
        ),
        LeftOut::SharedFiles { files } => format!(
            "{} with sequential and random operations: streams have separate files, so their working \
             sets add up.",
            counted(*files, "file")
        ),
        LeftOut::FileSizes { max_bytes, mean_bytes } => format!(
            "File sizes: every file has the mean size, {}; the largest has {}.",
            Bytes::new(*mean_bytes),
            Bytes::new(*max_bytes)
        ),
        LeftOut::Files { files, max } => format!(
            "The number of files: {} instead of {}, with the same size in total.",
            thousands(*max as i128),
            thousands(*files as i128)
        ),
        LeftOut::Popularity { accesses_per_block } => format!(
            "Popular blocks: with {} accesses of a block on average, they cannot be distinguished from chance. \
             Record for longer.",
            plain(*accesses_per_block)
        ),
        LeftOut::Data => {
            "How compressible the data is: it is not in the trace. Set `compressible`.".to_owned()
        }
    }
}
