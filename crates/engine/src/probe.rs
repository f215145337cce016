//! Chooses between io_uring and blocking calls by a short trial before the first run.

use std::time::{Duration, Instant};

use metrics::run_record::ChosenIoMethod;
use target::posix::FileAccess;
use target::posix::names::RingNames;
use target::posix::psync::Psync;
use target::posix::ring::RingFiles;
use target::{Completion, Target, TargetError, Wait};
use workload::op::{Op, OpKind};
use workload::plan::{IoMethod, IoMethodUsed};
use workload::random;

use crate::request::THREADS_MAX;

/// Maximum duration of one method's trial in a round.
const TRIAL_MAX: Duration = Duration::from_millis(20);
/// A trial with at least [`TRIAL_READS`] ends after this time.
const TRIAL_MIN: Duration = Duration::from_millis(4);
/// Reads of a trial whose rate is precise to some percent.
const TRIAL_READS: u64 = 100;
/// Maximum number of rounds with both methods; the best result of each counts.
const ROUNDS_MAX: usize = 6;
/// If the first so many rounds have the same result, it decides. The best results have it, too.
const ROUNDS_ALIKE: usize = 3;
/// The same if one method is faster by [`CLEAR`] in each of them. One round is not enough, because a
/// busy system may have used the processor during a trial.
const ROUNDS_CLEAR: usize = 2;
/// Trials differ by less than this factor between rounds on an idle system.
const CLEAR: f64 = 1.5;
/// One thread with io_uring sustains any queue depth, so blocking calls must be faster by this
/// factor to be chosen.
const PSYNC_GAIN: f64 = 1.15;

/// The input of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The files of the plan's first stream, which must be filled. They are only read.
    pub access: FileAccess,
    /// Size of each file, in bytes.
    pub file_size_bytes: u64,
    /// The largest queue depth of the plan.
    pub queue_depth: u32,
    /// Maximum number of threads that the plan needs with blocking calls.
    pub blocking_threads: u64,
    /// Processors that this process can use concurrently, if known.
    pub processors: Option<u32>,
}

/// Chooses the I/O method: the requested one, or the better one in trial reads of the first
/// stream's files, whose data is discarded.
///
/// # Errors
/// The files cannot be opened or read by either method.
pub fn choose(requested: IoMethod, trial: &Trial) -> Result<ChosenIoMethod, TargetError> {
    let depth = trial.queue_depth.clamp(1, 64);
    if requested != IoMethod::Auto {
        if requested == IoMethod::IoUring {
            RingFiles::open(&trial.access, depth).map_err(ring_refused)?;
        }
        return Ok(ChosenIoMethod {
            io_method: requested.into(),
            reason: "requested by the user".to_owned(),
        });
    }
    let (mut ring_best, mut psync_best) = (0.0f64, 0.0f64);
    let mut rounds = Rounds::default();
    while !rounds.are_enough() {
        let ring = match RingFiles::open(&trial.access, depth).and_then(|t| rate(t, depth, trial)) {
            Ok(rate) => rate,
            Err(TargetError::Drive { source, .. }) => {
                return Ok(ChosenIoMethod {
                    io_method: IoMethodUsed::Psync,
                    reason: format!("io_uring is not allowed here: {source}"),
                });
            }
            Err(error) => return Err(error),
        };
        let psync = rate(Psync::open(&trial.access)?, 1, trial)?;
        rounds.add(ring, psync);
        (ring_best, psync_best) = (ring_best.max(ring), psync_best.max(psync));
    }
    let result = format!(
        "probe: {ring_best:.0} reads/s with io_uring at queue depth {depth}, \
         {psync_best:.0}/s with one blocking thread"
    );
    Ok(faster(ring_best, psync_best, trial, result))
}

/// Chooses the I/O method of a plan that has only operations on names. The kernel performs those of
/// io_uring in its own threads, so blocking calls cost less for each operation, as long as the plan
/// needs no more threads than are allowed. With users, who rarely have an operation in flight, one
/// thread with io_uring sends for all of a worker; blocking calls would divide them among threads.
pub fn choose_for_names(
    requested: IoMethod,
    blocking_threads: u64,
    has_users: bool,
) -> ChosenIoMethod {
    let (io_method, reason) = match requested {
        IoMethod::Auto if has_users && RingNames::is_available() => (
            IoMethodUsed::IoUring,
            "users: one thread keeps operations of any of them in flight".to_owned(),
        ),
        IoMethod::Auto if blocking_threads <= THREADS_MAX => (
            IoMethodUsed::Psync,
            "operations on names: the kernel performs those of io_uring in its own threads"
                .to_owned(),
        ),
        IoMethod::Auto => {
            (IoMethodUsed::IoUring, format!("blocking calls would need {blocking_threads} threads"))
        }
        requested => (requested.into(), "requested by the user".to_owned()),
    };
    ChosenIoMethod { io_method, reason }
}

/// The rounds so far.
#[derive(Debug, Default)]
struct Rounds {
    count: usize,
    /// Rounds in which blocking calls were faster by more than [`PSYNC_GAIN`].
    for_psync: usize,
    /// Rounds that were far from that threshold.
    clear: usize,
}

impl Rounds {
    /// Adds a round with these rates.
    fn add(&mut self, ring_rate: f64, psync_rate: f64) {
        let threshold = ring_rate * PSYNC_GAIN;
        let is_clear = psync_rate > threshold * CLEAR || threshold > psync_rate * CLEAR;
        self.count += 1;
        self.for_psync += usize::from(psync_rate > threshold);
        self.clear += usize::from(is_clear);
    }

    /// Whether no further round is needed: the choice is certain, or the last one was made.
    fn are_enough(&self) -> bool {
        let needed = if self.clear == self.count { ROUNDS_CLEAR } else { ROUNDS_ALIKE };
        let are_alike = self.for_psync == 0 || self.for_psync == self.count;
        self.count >= ROUNDS_MAX || (are_alike && self.count >= needed)
    }
}

/// The better method for the plan, given the rates of both. If blocking threads outnumber the
/// processors they wait for each other, which the trial with one thread does not show.
fn faster(ring_rate: f64, psync_rate: f64, trial: &Trial, result: String) -> ChosenIoMethod {
    if psync_rate <= ring_rate * PSYNC_GAIN {
        return ChosenIoMethod { io_method: IoMethodUsed::IoUring, reason: result };
    }
    match trial.processors.filter(|count| trial.blocking_threads > u64::from(*count)) {
        None => ChosenIoMethod { io_method: IoMethodUsed::Psync, reason: result },
        Some(processors) => ChosenIoMethod {
            io_method: IoMethodUsed::IoUring,
            reason: format!(
                "{result}; io_uring nevertheless, because {} blocking threads would share \
                 {processors} processor{}",
                trial.blocking_threads,
                if processors == 1 { "" } else { "s" },
            ),
        },
    }
}

/// The error for a requested ring that cannot be opened.
fn ring_refused(error: TargetError) -> TargetError {
    match error {
        TargetError::Drive { source, .. } => TargetError::RingRefused { source },
        other => other,
    }
}

/// Reads per second of a short closed loop at uniformly random offsets.
fn rate(mut target: impl Target, depth: u32, trial: &Trial) -> Result<f64, TargetError> {
    let size = trial.access.transfer_size_max_bytes.min(trial.file_size_bytes);
    let offsets = (trial.file_size_bytes / size.max(1)).max(1);
    let files = trial.access.paths.len() as u64;
    let mut free: Vec<u32> = (0..depth).collect();
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (mut index, mut completed) = (0u64, 0u64);
    let mut refused = None;
    let began = Instant::now();
    let is_over = |completed| {
        let elapsed = began.elapsed();
        elapsed >= TRIAL_MAX || (elapsed >= TRIAL_MIN && completed >= TRIAL_READS)
    };
    while !is_over(completed) {
        while let Some(tag) = free.pop() {
            let bits = random::at(0x70_0BE, index);
            let op = Op {
                index,
                offset_bytes: random::below(bits, offsets) * size,
                size_bytes: size as u32,
                file: random::below(random::mix64(bits), files) as u32,
                kind: OpKind::Read,
            };
            target.submit(tag, &op)?;
            index += 1;
        }
        target.reap(Wait::Precise(TRIAL_MAX), &mut done)?;
        let succeeded = done.iter().filter(|completion| completion.result == size as i32);
        completed += succeeded.count() as u64;
        let errno = done.iter().map(|completion| -completion.result).find(|number| *number > 0);
        refused = refused.or(errno);
        free.extend(done.drain(..).map(|completion| completion.tag));
    }
    let rate = completed as f64 / began.elapsed().as_secs_f64();
    while free.len() < depth as usize {
        target.reap(Wait::Precise(TRIAL_MAX), &mut done)?;
        if done.is_empty() && began.elapsed() > Duration::from_secs(60) {
            break;
        }
        free.extend(done.drain(..).map(|completion| completion.tag));
    }
    if completed == 0
        && let Some(errno) = refused
    {
        let source = std::io::Error::from_raw_os_error(errno);
        return Err(TargetError::Drive { target: "trial reads".to_owned(), source });
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(psync_rate: f64, blocking_threads: u64, processors: Option<u32>) -> ChosenIoMethod {
        let access = FileAccess {
            paths: Vec::new(),
            write: false,
            direct: true,
            dsync: false,
            transfer_size_max_bytes: 4096,
        };
        let trial = Trial {
            access,
            file_size_bytes: 1 << 20,
            queue_depth: 32,
            blocking_threads,
            processors,
        };
        faster(1000.0, psync_rate, &trial, "probe".to_owned())
    }

    #[test]
    fn blocking_threads_are_chosen_if_clearly_faster_and_each_has_a_processor() {
        assert_eq!(chosen(1150.0, 2, Some(2)).io_method, IoMethodUsed::IoUring);
        assert_eq!(chosen(1151.0, 2, Some(2)).io_method, IoMethodUsed::Psync);
        assert_eq!(chosen(1151.0, 32, None).io_method, IoMethodUsed::Psync);
    }

    /// The number of rounds until the choice is certain, with these rates of blocking calls.
    fn rounds_needed(ring_rate: f64, psync_rates: &[f64]) -> usize {
        let mut rounds = Rounds::default();
        for psync_rate in psync_rates.iter().cycle() {
            if rounds.are_enough() {
                break;
            }
            rounds.add(ring_rate, *psync_rate);
        }
        rounds.count
    }

    #[test]
    fn two_rounds_decide_if_the_rates_are_far_from_the_threshold() {
        let threshold = 1000.0 * PSYNC_GAIN;
        assert_eq!(rounds_needed(1000.0, &[threshold * 1.51]), ROUNDS_CLEAR);
        assert_eq!(rounds_needed(1000.0, &[threshold / 1.51]), ROUNDS_CLEAR);
        assert_eq!(rounds_needed(1000.0, &[threshold * 1.49]), ROUNDS_ALIKE);
        assert_eq!(rounds_needed(1000.0, &[threshold * 1.51, threshold * 1.49]), ROUNDS_ALIKE);
        assert_eq!(rounds_needed(0.0, &[0.0]), ROUNDS_ALIKE);
    }

    #[test]
    fn rounds_with_the_same_result_decide_and_others_do_not() {
        let threshold = 1000.0 * PSYNC_GAIN;
        let (faster, slower) = (threshold * 1.01, threshold / 1.01);
        assert_eq!(rounds_needed(1000.0, &[faster]), ROUNDS_ALIKE);
        assert_eq!(rounds_needed(1000.0, &[slower]), ROUNDS_ALIKE);
        assert_eq!(rounds_needed(1000.0, &[faster, slower]), ROUNDS_MAX);
        assert_eq!(rounds_needed(1000.0, &[slower, slower, faster]), ROUNDS_MAX);
        // One trial during which a busy system used the processor.
        assert_eq!(rounds_needed(1000.0, &[faster * 3.0, slower]), ROUNDS_MAX);
    }

    #[test]
    fn io_uring_is_chosen_if_blocking_threads_would_outnumber_the_processors() {
        let used = chosen(5000.0, 32, Some(1));
        assert_eq!(used.io_method, IoMethodUsed::IoUring);
        let reason = "probe; io_uring nevertheless, because 32 blocking threads would share 1 \
                      processor";
        assert_eq!(used.reason, reason);
        assert_eq!(chosen(5000.0, 3, Some(2)).io_method, IoMethodUsed::IoUring);
    }
}
