//! The jobs of a run's threads: one for each worker or, with blocking calls, for each outstanding
//! operation, with what it sends and to what.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use target::names::{NameOpener, NameWork};
use target::nfs::Rewrite;
use target::run_target::{Opener, RunTarget, WorkerShare};
use workload::data::TileMaker;
use workload::plan::{Assignment, Capabilities, IoMethodUsed, Stream};
use workload::replay::{LaneReplay, ReplayList};

use crate::lane_window::LaneWindow;
use crate::operations::changes_names;
use crate::replay::ReplayData;
use crate::request::{EngineError, Request, THREADS_MAX};
use crate::tiles::{Generations, Tiles};
use crate::worker::Assigned;

/// The work of one thread.
pub(crate) struct Job {
    pub(crate) stream_index: usize,
    /// The worker's number in the whole stream; [`Assigned`] has that on its target.
    pub(crate) lane: u32,
    /// The target's position in the plan.
    pub(crate) target: u32,
    /// The stream on this target.
    pub(crate) stream: Stream,
    pub(crate) assigned: Assigned,
    /// The counter from which the threads of a shared lane take steps.
    pub(crate) shared_steps: Option<Arc<AtomicU64>>,
    /// Its number among the threads of its lane.
    pub(crate) thread: u32,
    /// The number of threads of its lane.
    pub(crate) threads: u32,
    pub(crate) run_seed: u64,
    pub(crate) work: Work,
    pub(crate) processor: Option<usize>,
}

/// What a thread sends, and to what.
#[derive(Clone)]
pub(crate) enum Work {
    /// Reads and writes of files that are open.
    Data { opener: Opener, maker: Option<Arc<TileMaker>>, generations: Option<Arc<Generations>> },
    /// Operations on names.
    Names(NameJob),
    /// Operations of a list, on files that are open.
    Replay { opener: Opener, lane: LaneReplay, data: Option<ReplayData>, verify: bool },
}

/// Operations on names of one lane, which several threads may share.
#[derive(Clone)]
pub(crate) struct NameJob {
    pub(crate) opener: NameOpener,
    pub(crate) work: NameWork,
    pub(crate) window: Arc<LaneWindow>,
    pub(crate) verify: bool,
}

impl Work {
    /// The number of connections that the thread opens.
    pub(crate) fn connections(&self) -> usize {
        match self {
            Work::Data { opener, .. } | Work::Replay { opener, .. } => opener.connections(),
            Work::Names(names) => names.opener.connections(),
        }
    }
}

/// One job for each thread.
pub(crate) fn jobs(request: &Request<'_>) -> Result<Vec<Job>, EngineError> {
    let run = &request.assignment.run;
    let processors = if request.pin { crate::processor::processors() } else { Vec::new() };
    let can = request.targets.first().map_or(Capabilities::NULL, |first| first.capabilities());
    // A blocking call handles one outstanding operation, so a lane needs a thread for each.
    let blocking = can.local_files && request.io_method == IoMethodUsed::Psync;
    let mut jobs: Vec<Job> = Vec::new();
    let mut workers = WorkersOfTargets::of(request.assignment);
    for (stream_index, stream) in run.streams.iter().enumerate() {
        let parts = StreamParts::of(request, stream, can.moves_data);
        let threads_per_lane = stream.threads_of_worker(blocking);
        for lane in request.assignment.lanes[stream_index].clone() {
            let counter = blocking.then(|| Arc::new(AtomicU64::new(0)));
            let requested = jobs.len() as u64 + u64::from(threads_per_lane);
            if requested > THREADS_MAX {
                return Err(EngineError::TooManyThreads { requested: run.threads(blocking) });
            }
            let processor = (!processors.is_empty())
                .then(|| processors[jobs.len() / threads_per_lane as usize % processors.len()]);
            let at = stream.target_lane(run.hosts, lane);
            let part = parts.on(at.target);
            let rewrite = |maker| Arc::new(Tiles::rewriting(maker, run.seed)) as Rewrite;
            let (number, of_target) = workers.next(at.target);
            let share = WorkerShare {
                stream: &part.stream,
                number,
                workers: of_target,
                connections: run.connections,
                io_method: request.io_method,
                verify: request.verify,
                rewrite: match &part.replay {
                    Some(replay) => replay.data.as_ref().map(ReplayData::rewriting),
                    None => part.maker.clone().map(rewrite),
                },
            };
            let target = request.targets.get(at.target as usize);
            let missing = || EngineError::NoFiles { stream: stream.name.clone() };
            let work = target.and_then(|target| part.work(target.as_ref(), &share, lane));
            let work = work.ok_or_else(missing)?;
            for thread in 0..threads_per_lane {
                jobs.push(Job {
                    stream_index,
                    lane,
                    target: at.target,
                    stream: part.stream.clone(),
                    assigned: Assigned {
                        lane: at.lane,
                        queue_depth: if blocking { 1 } else { stream.queue_depth },
                        interval_ns: run.phases.interval_ns,
                        end_ns: stream.active.range_ns(&run.phases).end,
                        operation_deadline_ns: run.operation_deadline_ns,
                    },
                    shared_steps: counter.clone(),
                    thread,
                    threads: threads_per_lane,
                    run_seed: run.seed,
                    work: work.clone(),
                    processor,
                });
            }
        }
    }
    Ok(jobs)
}

/// A stream on each of its targets, with what its workers there share.
struct StreamParts(Vec<StreamPart>);

struct StreamPart {
    target: u32,
    stream: Stream,
    maker: Option<Arc<TileMaker>>,
    generations: Option<Arc<Generations>>,
    names: Option<NameWork>,
    replay: Option<ReplayPart>,
}

/// A list that the workers of a stream replay together.
struct ReplayPart {
    list: Arc<ReplayList>,
    /// Each worker's part of it.
    numbers: Vec<Arc<[u32]>>,
    /// The data of its writes, if the target stores data.
    data: Option<ReplayData>,
}

impl ReplayPart {
    /// The list of a stream that replays one.
    ///
    /// * `numbers` - the parts of all workers of the stream, on all its targets
    fn of(
        request: &Request<'_>,
        stream: &Stream,
        moves_data: bool,
        numbers: &[Arc<[u32]>],
    ) -> Option<ReplayPart> {
        let list = Arc::clone(stream.replay.as_ref()?.source()?);
        let (run_seed, verify) = (request.assignment.run.seed, request.verify);
        let has_data = moves_data && (stream.read_permille < 1000 || verify);
        Some(ReplayPart {
            numbers: numbers.to_vec(),
            data: has_data.then(|| ReplayData::new(stream, request.data_seed, run_seed, verify)),
            list,
        })
    }
}

impl StreamPart {
    /// What a worker sends to `target`; `None` if the target does not have its files.
    ///
    /// * `of_stream` - its number in the whole stream, as a list is divided among all its workers
    fn work(
        &self,
        target: &dyn RunTarget,
        share: &WorkerShare<'_>,
        of_stream: u32,
    ) -> Option<Work> {
        if let Some(replay) = &self.stream.replay {
            // A plan that was stored lacks the list.
            let part = self.replay.as_ref()?;
            let numbers = Arc::clone(part.numbers.get(of_stream as usize)?);
            return Some(Work::Replay {
                opener: target.opener(share)?,
                lane: LaneReplay::new(replay, Arc::clone(&part.list), numbers),
                data: part.data.clone(),
                verify: share.verify,
            });
        }
        let Some(work) = self.names.clone() else {
            return Some(Work::Data {
                opener: target.opener(share)?,
                maker: self.maker.clone(),
                generations: self.generations.clone(),
            });
        };
        // Operations of users do not overlap.
        let window = match work.kinds.iter().copied().any(changes_names)
            && work.stream.window_steps() > 0
        {
            true => LaneWindow::new(u32::try_from(work.stream.window_steps()).unwrap_or(u32::MAX)),
            false => LaneWindow::unlimited(),
        };
        Some(Work::Names(NameJob {
            opener: target.name_opener(share, work.clone())?,
            work,
            window: Arc::new(window),
            verify: share.verify,
        }))
    }
}

impl StreamParts {
    fn of(request: &Request<'_>, stream: &Stream, moves_data: bool) -> StreamParts {
        let set = stream.file_set();
        let at_offsets = stream.names.is_none() && stream.replay.is_none();
        let data = at_offsets && moves_data && (stream.read_permille < 1000 || request.verify);
        let maker = data.then(|| Arc::new(set.tile_maker(request.data_seed)));
        let generations = || {
            let tile_bytes = u64::from(set.tile_bytes);
            Arc::new(Generations::new(set.files, set.file_size_bytes, tile_bytes))
        };
        let list = stream.replay.as_ref().and_then(|replay| replay.source());
        let numbers = list.map_or_else(Vec::new, |list| list.split(stream.workers));
        let part = |target: &u32| {
            let stream = stream.on_target(request.assignment.run.hosts, *target);
            StreamPart {
                target: *target,
                names: NameWork::of(
                    &stream,
                    request.assignment.run.seed,
                    request.data_seed,
                    request.verify,
                ),
                replay: ReplayPart::of(request, &stream, moves_data, &numbers),
                stream,
                maker: maker.clone(),
                generations: (data && request.verify).then(generations),
            }
        };
        StreamParts(stream.targets.positions.iter().map(part).collect())
    }

    fn on(&self, target: u32) -> &StreamPart {
        let part = self.0.iter().find(|part| part.target == target);
        part.expect("a worker sends to a target of its stream")
    }
}

/// Numbers the workers of this process on each target, in the order of the jobs.
struct WorkersOfTargets(BTreeMap<u32, (u32, u32)>);

impl WorkersOfTargets {
    fn of(assignment: &Assignment) -> WorkersOfTargets {
        let mut counts: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (stream, lanes) in assignment.run.streams.iter().zip(&assignment.lanes) {
            for lane in lanes.clone() {
                let target = stream.target_lane(assignment.run.hosts, lane).target;
                counts.entry(target).or_default().1 += 1;
            }
        }
        WorkersOfTargets(counts)
    }

    /// The number of the next worker on `target`, and how many there are.
    fn next(&mut self, target: u32) -> (u32, u32) {
        let (next, all) = self.0.entry(target).or_default();
        *next += 1;
        (*next - 1, *all)
    }
}
