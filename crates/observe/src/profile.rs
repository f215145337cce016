//! The experiment that offers the load of an observation, as far as the keys of an experiment can
//! express it; everything else is listed.

use crate::observation::{
    Arrival, BLOCK_BYTES, Concurrency, Direction, FileFigures, Observation, OtherFigures, SizeCount,
};

/// A class of operations with a smaller share is offered as part of the other one.
const CLASS_SHARE_MIN: f64 = 0.02;
/// Sequential operations are a class if there are this many times as many as by chance, and as many
/// standard deviations of a Poisson count more.
const CHANCE_FACTOR: f64 = 1.5;
const CHANCE_DEVIATIONS: f64 = 5.0;
/// A file is part of a class if this share of its operations is.
const FILE_SHARE_MIN: f64 = 0.1;
/// A transfer size with a smaller share of its class is left out.
const SIZE_SHARE_MIN: f64 = 0.01;
/// Sizes of a stream; sequential ones need a stream each.
const SIZES_MAX: [usize; 2] = [4, 8];
/// Transfer sizes of an experiment are multiples of this, up to the largest.
const SECTOR_BYTES: u64 = 512;
const TRANSFER_MAX_BYTES: u64 = 64 << 20;
/// Files of a stream.
const FILES_MAX: usize = 10_000;
/// The largest file.
const FILE_MAX_BYTES: u64 = 1 << 50;
/// The deepest queue.
const QUEUE_DEPTH_MAX: u64 = 4096;
/// Operations in flight of an open stream whose concurrency is not known.
const QUEUE_DEPTH_OPEN: u64 = 64;
/// Requests are issued when others end if the mean in flight is at least this share of the number that
/// is not exceeded for 99 % of the time.
const FULL_QUEUE_MIN: f64 = 0.75;
/// One operation at a time for at least this share of the time is one thread: independent arrivals would
/// overlap.
const ONE_THREAD_MIN: f64 = 0.1;
/// Arrivals whose times between begins vary less are offered at a constant rate.
const CONSTANT_MAX: f64 = 0.5;
/// A higher variance over mean of the operations of a second is bursts: Poisson arrivals have 1.
const BURSTS_MIN: f64 = 2.0;
/// Blocks are accessed often enough to judge which are popular, and whether all of them were seen.
const ACCESSES_MIN: f64 = 4.0;
/// The most accessed tenth gets this much more of the accesses than with equal probability.
const HOT_EXCESS_MIN: f64 = 0.1;
/// A working set below this share of the files is an area.
const AREA_MAX: f64 = 0.9;
/// Shares of operations that an experiment key sets for all of a stream.
const MOST: f64 = 0.5;
/// Files of different sizes become files of one size; a larger ratio of the largest to the mean is
/// listed.
const EVEN_SIZES_MAX: f64 = 1.5;

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its streams, which run concurrently.
    pub streams: Vec<StreamProfile>,
    /// What it does not express.
    pub left_out: Vec<LeftOut>,
}

/// A stream with the keys of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamProfile {
    /// Its name.
    pub name: String,
    /// The share of reads in thousandths.
    pub read_permille: u16,
    /// Transfer sizes and their shares in thousandths, whose sum is 1,000.
    pub sizes: Vec<(u64, u16)>,
    /// The order of offsets.
    pub pattern: Pattern,
    /// Number of files.
    pub files: usize,
    /// Size of each.
    pub file_size_bytes: u64,
    /// The part of all files that is accessed, if not all.
    pub area_bytes: Option<u64>,
    /// Operations in flight, at most.
    pub queue_depth: u64,
    /// When operations become due.
    pub arrival: ArrivalProfile,
    /// Whether the page cache is bypassed; `None` if the trace does not show it.
    pub direct: Option<bool>,
    /// Whether writes are durable when they end.
    pub dsync: bool,
    /// Writes before each fsync.
    pub fsync_every: Option<u64>,
}

/// The order of offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// From the start of the files to their end.
    Sequential,
    /// Every offset is equally likely.
    Random,
    /// In order, but this share of the operations, in thousandths, moves to a random offset.
    Seek {
        /// The share.
        permille: u16,
    },
    /// A tenth of the area gets this share of the operations, in thousandths.
    HotTenth {
        /// The share.
        accesses_permille: u16,
    },
}

/// When operations become due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalProfile {
    /// When one ends, after a think time in nanoseconds.
    Closed {
        /// The time.
        think_time_ns: u64,
    },
    /// At a constant rate.
    Constant {
        /// Operations per second, with fsyncs.
        per_s: f64,
    },
    /// At random times.
    Poisson {
        /// Operations per second, with fsyncs.
        per_s: f64,
    },
}

/// What a profile does not express.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftOut {
    /// Operations that are neither read, write nor fsync.
    Others {
        /// How many.
        operations: u64,
        /// The most frequent.
        names: Vec<String>,
    },
    /// The arrivals come in bursts.
    Bursts {
        /// Variance over mean of the operations of a second.
        dispersion: f64,
        /// The busiest second over the mean.
        peak: f64,
    },
    /// Neither times nor concurrency are known; a queue depth of 1 is assumed.
    Load,
    /// Operations are issued when others end, but several streams with their own queue depth would not keep
    /// their shares, so they have rates.
    ClosedStreams {
        /// The mean in flight.
        in_flight: f64,
    },
    /// The maximum in flight is not known.
    Concurrency,
    /// Transfer sizes with small shares, or not a multiple of a sector.
    Sizes {
        /// The share of the operations that have another size.
        share: f64,
    },
    /// Runs end; a sequential stream does not.
    RunLength {
        /// Operations of a run, on average.
        operations: f64,
        /// Bytes of a run, on average.
        bytes: f64,
    },
    /// A few operations of a class are offered as the other one.
    SmallClass {
        /// Their share.
        share: f64,
    },
    /// Files that both streams use are created for each.
    SharedFiles {
        /// How many.
        files: u64,
    },
    /// Files of different sizes become files of their mean size.
    FileSizes {
        /// The largest.
        max_bytes: u64,
        /// The mean.
        mean_bytes: u64,
    },
    /// More files than a stream may have.
    Files {
        /// How many there are.
        files: usize,
        /// How many the stream has.
        max: usize,
    },
    /// Too few accesses to judge which blocks are popular.
    Popularity {
        /// Accesses of a touched block.
        accesses_per_block: f64,
    },
    /// How compressible the data is.
    Data,
}

/// The sequential operations, the other ones, or all of an application that seeks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Sequential,
    Random,
    Seek,
}

impl Class {
    /// Whether its offsets are in order, so that each size is a stream.
    const fn is_ordered(self) -> bool {
        matches!(self, Class::Sequential | Class::Seek)
    }
}

/// Operations of a class by direction, and by size.
struct Share {
    class: Class,
    by_direction: [u64; 2],
    sizes: Vec<OfSize>,
}

/// Operations of a class with a rounded size.
#[derive(Clone, Copy)]
struct OfSize {
    size_bytes: u64,
    by_direction: [u64; 2],
}

impl OfSize {
    fn operations(&self) -> u64 {
        self.by_direction.iter().sum()
    }
}

impl Share {
    fn operations(&self) -> u64 {
        self.by_direction.iter().sum()
    }
}

impl Profile {
    /// The profile of an observation.
    pub fn of(observation: &Observation) -> Profile {
        let mut left_out = Vec::new();
        let classes = classes(observation, &mut left_out);
        let mut streams = Vec::new();
        let total = observation.operations() as f64;
        for class in &classes {
            for sized in split_by_size(class, &mut left_out, total) {
                let share = sized.share;
                streams.push((stream(observation, class, sized, &mut left_out), share));
            }
        }
        set_arrival(observation, &mut streams, &mut left_out);
        add_left_out(observation, &classes, &mut left_out);
        Profile { streams: streams.into_iter().map(|(stream, _)| stream).collect(), left_out }
    }
}

/// The classes with enough operations.
fn classes(observation: &Observation, left_out: &mut Vec<LeftOut>) -> Vec<Share> {
    let total = observation.operations() as f64;
    let sequential = observation.runs.sequential as f64 / total;
    let by_chance = observation.runs.by_chance;
    let beyond_chance = CHANCE_FACTOR * by_chance + CHANCE_DEVIATIONS * by_chance.max(1.0).sqrt();
    let minimum = CLASS_SHARE_MIN.max(beyond_chance / total);
    // The first operation of every run counts as random.
    let first = observation.runs.runs as f64 / total;
    let all = |class| share(observation, class, |size| size.operations);
    if sequential < minimum {
        if observation.runs.sequential as f64 > beyond_chance {
            left_out.push(LeftOut::SmallClass { share: sequential });
        }
        return vec![all(Class::Random)];
    }
    if first < CLASS_SHARE_MIN {
        if observation.runs.runs > 1 {
            left_out.push(LeftOut::SmallClass { share: first });
        }
        return vec![all(Class::Sequential)];
    }
    if is_seeking(observation) {
        return vec![all(Class::Seek)];
    }
    vec![
        share(observation, Class::Sequential, |size| size.sequential),
        share(observation, Class::Random, |size| size.operations - size.sequential),
    ]
}

/// Whether operations seek and continue from there, so that runs of one operation are at most as frequent
/// among the runs as seeks among the operations. Random operations next to sequential ones are runs of
/// one operation, nearly all of them. The limit is half-way.
fn is_seeking(observation: &Observation) -> bool {
    let runs = observation.runs.runs as f64;
    let seeks = runs / observation.operations() as f64;
    observation.runs.single as f64 <= runs * (1.0 + seeks) / 2.0
}

/// The share of operations that move to a random offset, in thousandths: runs begin there, except those
/// that happen to continue another run.
fn seek_permille(observation: &Observation) -> u16 {
    let operations = observation.operations() as f64;
    let by_chance = (observation.runs.by_chance / operations).min(MOST);
    let seeks = observation.runs.runs as f64 / operations / (1.0 - by_chance);
    (seeks * 1000.0).round().clamp(1.0, 999.0) as u16
}

fn share(observation: &Observation, class: Class, count: impl Fn(&SizeCount) -> u64) -> Share {
    let mut sizes: Vec<OfSize> = Vec::new();
    let mut by_direction = [0; 2];
    for direction in Direction::ALL {
        for size in &observation.data[direction.index()].sizes {
            let operations = count(size);
            by_direction[direction.index()] += operations;
            let rounded = rounded_size(size.size_bytes);
            let known = sizes.iter().position(|known| known.size_bytes == rounded);
            let at = known.unwrap_or_else(|| {
                sizes.push(OfSize { size_bytes: rounded, by_direction: [0; 2] });
                sizes.len() - 1
            });
            sizes[at].by_direction[direction.index()] += operations;
        }
    }
    sizes.retain(|size| size.operations() > 0);
    sizes.sort_by_key(|size| (std::cmp::Reverse(size.operations()), size.size_bytes));
    Share { class, by_direction, sizes }
}

/// The nearest size that an experiment may have.
fn rounded_size(bytes: u64) -> u64 {
    let sectors = (bytes + SECTOR_BYTES / 2) / SECTOR_BYTES;
    (sectors.max(1) * SECTOR_BYTES).min(TRANSFER_MAX_BYTES)
}

/// The operations of a stream.
struct SizedStream {
    name: String,
    /// Sizes with their shares in thousandths.
    sizes: Vec<(u64, u16)>,
    by_direction: [u64; 2],
    /// Their share in all operations.
    share: f64,
}

/// The streams of a class.
fn split_by_size(class: &Share, left_out: &mut Vec<LeftOut>, total: f64) -> Vec<SizedStream> {
    let of_class = class.operations();
    let is_common = |operations: u64| operations as f64 >= SIZE_SHARE_MIN * of_class as f64;
    let most = SIZES_MAX[usize::from(!class.class.is_ordered())];
    let common = class.sizes.iter().copied().filter(|size| is_common(size.operations()));
    let kept: Vec<OfSize> = common.take(most).collect();
    // Every size may be rare; the commonest represents them.
    let kept = match kept.is_empty() {
        true => class.sizes.iter().copied().take(1).collect(),
        false => kept,
    };
    let sum: u64 = kept.iter().map(OfSize::operations).sum();
    if sum < of_class {
        left_out.push(LeftOut::Sizes { share: (of_class - sum) as f64 / total });
    }
    let share = of_class as f64 / total;
    let class_name = match class.class {
        Class::Random => {
            let kept: Vec<(u64, u64)> =
                kept.iter().map(|size| (size.size_bytes, size.operations())).collect();
            let (name, sizes) = ("random".to_owned(), permille(&kept, sum));
            return vec![SizedStream { name, sizes, by_direction: class.by_direction, share }];
        }
        Class::Sequential => "sequential",
        Class::Seek => "seeking",
    };
    let one = |size: &OfSize| SizedStream {
        name: match kept.len() {
            1 => class_name.to_owned(),
            _ => format!("{class_name}-{}", size_name(size.size_bytes)),
        },
        sizes: vec![(size.size_bytes, 1000)],
        // A program often reads and writes by different sizes.
        by_direction: size.by_direction,
        share: share * size.operations() as f64 / sum as f64,
    };
    kept.iter().map(one).collect()
}

/// A size in the name of a stream: `8k`, `1m`.
fn size_name(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        bytes => format!("{bytes}b"),
    }
}

/// Shares in thousandths whose sum is 1,000: rounded down, and the rest to the largest remainders.
fn permille(sizes: &[(u64, u64)], sum: u64) -> Vec<(u64, u16)> {
    let exact = |operations: u64| operations as f64 * 1000.0 / sum as f64;
    let mut shares: Vec<(u64, u16)> =
        sizes.iter().map(|(size, operations)| (*size, exact(*operations) as u16)).collect();
    let mut rest: Vec<usize> = (0..sizes.len()).collect();
    rest.sort_by(|a, b| exact(sizes[*b].1).fract().total_cmp(&exact(sizes[*a].1).fract()));
    let missing = 1000 - shares.iter().map(|(_, share)| *share).sum::<u16>();
    for at in rest.into_iter().cycle().take(usize::from(missing)) {
        shares[at].1 += 1;
    }
    shares
}

/// A stream of a class, without its load.
fn stream(
    observation: &Observation,
    class: &Share,
    sized: SizedStream,
    left_out: &mut Vec<LeftOut>,
) -> StreamProfile {
    let SizedStream { name, sizes, by_direction: [reads, writes], .. } = sized;
    let of_file = |file: &&FileFigures| {
        let (own, other) = match class.class {
            Class::Sequential => (file.sequential, file.random),
            Class::Random => (file.random, file.sequential),
            Class::Seek => (file.sequential + file.random, 0),
        };
        own as f64 >= FILE_SHARE_MIN * (own + other) as f64
    };
    let set = &observation.working_set;
    let mut files: Vec<&FileFigures> = set.files.iter().filter(of_file).collect();
    if files.is_empty() {
        files = set.files.iter().collect();
    }
    let bytes = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size_bytes));
    let count = files.len().min(FILES_MAX);
    if files.len() > count && !left_out.iter().any(|one| matches!(one, LeftOut::Files { .. })) {
        left_out.push(LeftOut::Files { files: files.len(), max: FILES_MAX });
    }
    let largest = sizes.iter().map(|(size, _)| *size).max().unwrap_or(SECTOR_BYTES);
    let each = bytes.div_ceil(count.max(1) as u64).max(largest);
    let file_size_bytes = each.next_multiple_of(BLOCK_BYTES).min(FILE_MAX_BYTES);
    let read_permille = permille(&[(0, reads), (1, writes)], reads + writes)[0].1;
    let writes_all = &observation.data[Direction::Write.index()];
    let is_most =
        |part: Option<u64>, of: u64| part.is_some_and(|part| part as f64 > MOST * of as f64);
    let direct: Vec<u64> = observation.data.iter().filter_map(|data| data.direct).collect();
    let syncs = observation.syncs();
    let fsync_every = (syncs > 0 && read_permille < 1000).then(|| {
        ((writes_all.operations as f64 / syncs as f64).round() as u64).clamp(1, 1_000_000)
    });
    StreamProfile {
        name,
        read_permille,
        pattern: pattern(observation, class),
        files: count,
        file_size_bytes,
        area_bytes: area(observation, count as u64, file_size_bytes, largest),
        sizes,
        queue_depth: 1,
        arrival: ArrivalProfile::Closed { think_time_ns: 0 },
        direct: (!direct.is_empty())
            .then(|| is_most(Some(direct.iter().sum()), observation.operations())),
        dsync: read_permille < 1000 && is_most(writes_all.durable, writes_all.operations),
        fsync_every,
    }
}

fn pattern(observation: &Observation, class: &Share) -> Pattern {
    let set = &observation.working_set;
    let is_hot = set.accesses_per_block >= ACCESSES_MIN
        && set.hottest_tenth > set.hottest_tenth_uniform + HOT_EXCESS_MIN;
    match class.class {
        Class::Sequential => Pattern::Sequential,
        Class::Seek => Pattern::Seek { permille: seek_permille(observation) },
        Class::Random if is_hot => {
            let permille = (set.hottest_tenth * 1000.0).round().clamp(1.0, 999.0);
            Pattern::HotTenth { accesses_permille: permille as u16 }
        }
        Class::Random => Pattern::Random,
    }
}

/// The accessed part of the files, if all of it was seen and it is smaller.
fn area(observation: &Observation, files: u64, file_size: u64, largest: u64) -> Option<u64> {
    let set = &observation.working_set;
    let whole = set.file_bytes();
    let share = set.touched_bytes as f64 / whole.max(1) as f64;
    if set.accesses_per_block < ACCESSES_MIN || share >= AREA_MAX {
        return None;
    }
    let of_each = (file_size as f64 * share) as u64;
    let of_each = of_each.next_multiple_of(BLOCK_BYTES).max(largest.next_multiple_of(BLOCK_BYTES));
    (of_each < file_size).then_some(of_each.saturating_mul(files))
}

/// Sets arrivals and queue depths. The second part of a stream is its share of the operations.
fn set_arrival(
    observation: &Observation,
    streams: &mut [(StreamProfile, f64)],
    left_out: &mut Vec<LeftOut>,
) {
    let known = observation.concurrency;
    let closed = known.and_then(|found| closed(&found, observation.arrival.as_ref()));
    match (closed, observation.arrival, streams) {
        (Some((queue_depth, think_time_ns)), _, [(only, _)]) => {
            only.queue_depth = queue_depth;
            only.arrival = ArrivalProfile::Closed { think_time_ns };
        }
        (closed, Some(arrival), streams) => {
            if let (Some(_), Some(found)) = (closed, known) {
                left_out.push(LeftOut::ClosedStreams { in_flight: found.mean });
            }
            let depth = known.map_or(QUEUE_DEPTH_OPEN, |found| (2 * found.max).next_power_of_two());
            for (stream, share) in streams {
                stream.queue_depth = depth.clamp(1, QUEUE_DEPTH_MAX);
                stream.arrival = open(&arrival, stream, *share);
            }
            if known.is_none() {
                left_out.push(LeftOut::Concurrency);
            }
        }
        (_, None, _) => left_out.push(LeftOut::Load),
    }
}

/// Queue depth and think time of an application that issues operations when others end.
fn closed(found: &Concurrency, arrival: Option<&Arrival>) -> Option<(u64, u64)> {
    if found.mean >= FULL_QUEUE_MIN * found.p99 as f64 && found.p99 > 0 {
        return Some(((found.mean.round() as u64).clamp(1, QUEUE_DEPTH_MAX), 0));
    }
    let is_one_thread = found.max == 1 && found.mean >= ONE_THREAD_MIN;
    let rate = arrival.filter(|_| is_one_thread)?.mean_per_s;
    Some((1, ((1.0 - found.mean) / rate * 1e9).round() as u64))
}

/// The rate of a stream; fsyncs are part of it.
fn open(arrival: &Arrival, stream: &StreamProfile, share: f64) -> ArrivalProfile {
    let writes = 1.0 - f64::from(stream.read_permille) / 1000.0;
    let syncs = stream.fsync_every.map_or(0.0, |every| writes / every as f64);
    let per_s = arrival.mean_per_s * share * (1.0 + syncs);
    match arrival.gap_variation {
        Some(variation) if variation < CONSTANT_MAX => ArrivalProfile::Constant { per_s },
        _ => ArrivalProfile::Poisson { per_s },
    }
}

fn add_left_out(observation: &Observation, classes: &[Share], left_out: &mut Vec<LeftOut>) {
    let set = &observation.working_set;
    let is_sync = |name: &str| ["fsync", "fdatasync", "sync", "datasync", "COMMIT"].contains(&name);
    let others: Vec<&OtherFigures> =
        observation.others.iter().filter(|other| !is_sync(&other.name)).collect();
    let operations = others.iter().map(|other| other.operations).sum();
    if operations > 0 {
        let names = others.iter().take(3).map(|other| other.name.clone()).collect();
        left_out.push(LeftOut::Others { operations, names });
    }
    if let Some(arrival) = observation.arrival
        && let (Some(dispersion), Some(peak)) = (arrival.dispersion, arrival.peak_per_s)
        && dispersion >= BURSTS_MIN
    {
        let peak = peak as f64 / arrival.mean_per_s;
        left_out.push(LeftOut::Bursts { dispersion, peak });
    }
    let has_sequential = classes.iter().any(|one| one.class == Class::Sequential);
    if has_sequential && observation.runs.runs > 1 {
        let runs = observation.runs.runs as f64;
        left_out.push(LeftOut::RunLength {
            operations: observation.operations() as f64 / runs,
            bytes: observation.bytes() as f64 / runs,
        });
    }
    if classes.len() > 1 {
        let is_shared = |file: &&FileFigures| {
            let all = (file.sequential + file.random) as f64 * FILE_SHARE_MIN;
            file.sequential as f64 >= all && file.random as f64 >= all
        };
        let files = set.files.iter().filter(is_shared).count() as u64;
        if files > 0 {
            left_out.push(LeftOut::SharedFiles { files });
        }
    }
    let max_bytes = set.files.iter().map(|file| file.size_bytes).max().unwrap_or(0);
    let mean_bytes = set.file_bytes() / set.files.len().max(1) as u64;
    if max_bytes as f64 > EVEN_SIZES_MAX * mean_bytes as f64 {
        left_out.push(LeftOut::FileSizes { max_bytes, mean_bytes });
    }
    let has_random = classes.iter().any(|one| one.class == Class::Random);
    if has_random && set.accesses_per_block < ACCESSES_MIN {
        left_out.push(LeftOut::Popularity { accesses_per_block: set.accesses_per_block });
    }
    if observation.data[Direction::Write.index()].operations > 0 {
        left_out.push(LeftOut::Data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_sizes_add_up_to_the_whole() {
        assert_eq!(permille(&[(1, 1), (2, 1), (3, 1)], 3), [(1, 334), (2, 333), (3, 333)]);
        assert_eq!(permille(&[(1, 999_999), (2, 1)], 1_000_000), [(1, 1000), (2, 0)]);
    }

    #[test]
    fn sizes_are_rounded_to_sectors() {
        assert_eq!([1, 511, 700, 8192].map(rounded_size), [512, 512, 512, 8192]);
        assert_eq!(rounded_size(768), 1024);
        assert_eq!([512, 8192, 1 << 20].map(size_name), ["512b", "8k", "1m"]);
    }

    #[test]
    fn a_full_queue_is_closed_and_overlapping_arrivals_are_not() {
        let arrival = Arrival {
            mean_per_s: 100.0,
            seconds: 10,
            dispersion: None,
            peak_per_s: None,
            gap_variation: Some(1.0),
        };
        let of = |mean, max, p99| closed(&Concurrency { mean, max, p99 }, Some(&arrival));
        assert_eq!(of(15.6, 16, 16), Some((16, 0)));
        assert_eq!(of(0.5, 6, 3), None);
        // One operation at a time, 40 % of the time: 6 ms between end and begin at 100/s.
        assert_eq!(of(0.4, 1, 1), Some((1, 6_000_000)));
    }
}
