//! Which engine serves a target better: a short trial of both, before the first run.

use std::time::{Duration, Instant};

use metrics::run_record::EngineUsed;
use target::posix::FileAccess;
use target::psync::Psync;
use target::ring::RingFiles;
use target::{Completion, Target, TargetError, Wait};
use workload::op::{Op, OpKind};
use workload::plan::EngineChoice;
use workload::random;

/// Time given to each engine in each of the rounds.
const TRIAL: Duration = Duration::from_millis(60);
/// Rounds, alternating, of which each engine's best counts.
const ROUNDS: usize = 3;
/// io_uring keeps a queue depth with one thread, so it is left only for a clear gain of one
/// blocking thread.
const PSYNC_GAIN: f64 = 1.15;

/// What is tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The files of the plan's first stream, which exist and are filled. They are only read.
    pub access: FileAccess,
    /// Size of each file, in bytes.
    pub file_size_bytes: u64,
    /// The largest queue depth of the plan.
    pub queue_depth: u32,
    /// Threads that the plan would need with blocking calls, at most.
    pub blocking_threads: u64,
    /// Processors that the threads of this process can use at a time, where that is known.
    pub processors: Option<u32>,
}

/// Settles the engine: as forced, or by trying both on the first stream's files with reads that are
/// thrown away.
///
/// # Errors
/// The files cannot be opened or read by either engine.
pub fn choose(wanted: EngineChoice, trial: &Trial) -> Result<EngineUsed, TargetError> {
    let depth = trial.queue_depth.clamp(1, 64);
    if wanted != EngineChoice::Auto {
        if wanted == EngineChoice::IoUring {
            RingFiles::open(&trial.access, depth).map_err(ring_refused)?;
        }
        return Ok(EngineUsed { engine: wanted, reason: "forced by the user".to_owned() });
    }
    let (mut ring_best, mut psync_best) = (0.0f64, 0.0f64);
    for _ in 0..ROUNDS {
        match RingFiles::open(&trial.access, depth).and_then(|t| rate(t, depth, trial)) {
            Ok(rate) => ring_best = ring_best.max(rate),
            Err(TargetError::Drive { source, .. }) => {
                return Ok(EngineUsed {
                    engine: EngineChoice::Psync,
                    reason: format!("io_uring is refused here: {source}"),
                });
            }
            Err(error) => return Err(error),
        }
        psync_best = psync_best.max(rate(Psync::open(&trial.access)?, 1, trial)?);
    }
    let seen = format!(
        "probe: {ring_best:.0} reads/s through io_uring at queue depth {depth}, \
         {psync_best:.0}/s through one blocking thread"
    );
    Ok(faster(ring_best, psync_best, trial, seen))
}

/// The engine that serves the plan better, by the rates of both. Blocking threads that outnumber
/// the processors wait for each other, which the trial with one of them does not show.
fn faster(ring_rate: f64, psync_rate: f64, trial: &Trial, seen: String) -> EngineUsed {
    if psync_rate <= ring_rate * PSYNC_GAIN {
        return EngineUsed { engine: EngineChoice::IoUring, reason: seen };
    }
    match trial.processors.filter(|count| trial.blocking_threads > u64::from(*count)) {
        None => EngineUsed { engine: EngineChoice::Psync, reason: seen },
        Some(processors) => EngineUsed {
            engine: EngineChoice::IoUring,
            reason: format!(
                "{seen}; io_uring nevertheless, because {} blocking threads would share \
                 {processors} processor{}",
                trial.blocking_threads,
                if processors == 1 { "" } else { "s" },
            ),
        },
    }
}

/// Why a ring that was forced cannot be opened.
fn ring_refused(error: TargetError) -> TargetError {
    match error {
        TargetError::Drive { source, .. } => TargetError::RingRefused { source },
        other => other,
    }
}

/// Reads per second of a short closed loop at uniformly random places.
fn rate(mut target: impl Target, depth: u32, trial: &Trial) -> Result<f64, TargetError> {
    let size = trial.access.transfer_size_max_bytes.min(trial.file_size_bytes);
    let places = (trial.file_size_bytes / size.max(1)).max(1);
    let files = trial.access.paths.len() as u64;
    let mut free: Vec<u32> = (0..depth).collect();
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (mut index, mut completed) = (0u64, 0u64);
    let mut refused = None;
    let began = Instant::now();
    while began.elapsed() < TRIAL {
        while let Some(tag) = free.pop() {
            let bits = random::at(0x70_0BE, index);
            let op = Op {
                index,
                offset_bytes: random::below(bits, places) * size,
                size_bytes: size as u32,
                file: random::below(random::mix64(bits), files) as u32,
                kind: OpKind::Read,
            };
            target.submit(tag, &op)?;
            index += 1;
        }
        target.reap(Wait::Precise(TRIAL), &mut done)?;
        let succeeded = done.iter().filter(|completion| completion.result == size as i32);
        completed += succeeded.count() as u64;
        let errno = done.iter().map(|completion| -completion.result).find(|number| *number > 0);
        refused = refused.or(errno);
        free.extend(done.drain(..).map(|completion| completion.tag));
    }
    let rate = completed as f64 / began.elapsed().as_secs_f64();
    while free.len() < depth as usize {
        target.reap(Wait::Precise(TRIAL), &mut done)?;
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

    fn chosen(psync_rate: f64, blocking_threads: u64, processors: Option<u32>) -> EngineUsed {
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
    fn blocking_threads_are_chosen_for_a_clear_gain_if_each_has_a_processor() {
        assert_eq!(chosen(1150.0, 2, Some(2)).engine, EngineChoice::IoUring);
        assert_eq!(chosen(1151.0, 2, Some(2)).engine, EngineChoice::Psync);
        assert_eq!(chosen(1151.0, 32, None).engine, EngineChoice::Psync);
    }

    #[test]
    fn io_uring_is_chosen_where_blocking_threads_would_outnumber_the_processors() {
        let used = chosen(5000.0, 32, Some(1));
        assert_eq!(used.engine, EngineChoice::IoUring);
        let reason = "probe; io_uring nevertheless, because 32 blocking threads would share 1 \
                      processor";
        assert_eq!(used.reason, reason);
        assert_eq!(chosen(5000.0, 3, Some(2)).engine, EngineChoice::IoUring);
    }
}
