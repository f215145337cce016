//! The agent of a simulated host: the requests, signals, spools and runs of the product, and a model of the
//! target and of the engine.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use cluster::message::{Build, Hello, Message, PROTOCOL};
use cluster::outbox::Outbox;
use engine::drive::Stop;
use engine::operations::LaneEnd;
use metrics::fleet::SpoolOwner;
use metrics::run_record::{ChosenIoMethod, Outcome, Prepared};
use metrics::tree_comparison::{ComparedTree, NotCompared, TreeComparison, TreeResult};
use sim::fleet::{Fault, HostTime, Phase, Program, Random};
use target::manifest::{DurableBytes, MANIFEST_VERSION, Manifest};
use target::shared_directory::SharedDirectory;
use target::storage::{DirectIo, Storage};
use workload::plan::{FileSet, IoMethodUsed, Plan, Run};

use super::disk::{Disk, ROOT};
use super::share::{Share, ShareContext};
use crate::fleet::reply;
use crate::fleet::request::{
    FillBegun, FillPart, LaneDone, Opened, PartFilled, Report, Request, SetToFill, Signal,
    SignalKind, TreesCompared,
};
use crate::fleet::signals::Signals;
use crate::fleet::spool::{self, Spool, SpoolItem, SpoolList, SpoolRequest};
use crate::fleet::station::send_report;
use crate::outcome::Failure;

const MS_NS: u64 = 1_000_000;
/// Time between two reports of what was written.
const WRITES_EVERY_NS: u64 = 300 * MS_NS;
/// Time for the work to end after the controller is gone.
const RELEASE_WITHIN_NS: u64 = 5_000 * MS_NS;

/// What an agent is doing.
enum Work {
    /// It answers at this time.
    Answer(u64, Vec<u8>),
    Fill(Fill),
    Run(Box<Share>),
}

/// A part of a fill.
struct Fill {
    sequence: u32,
    stop: Arc<Stop>,
    /// The sets with the numbers of files.
    files: Vec<(FileSet, Vec<u32>)>,
    has_claimed: bool,
    /// Reports so far, and until the part is complete.
    written: u64,
    writes: u64,
    next_ns: u64,
}

/// The agent of a host.
pub(super) struct SimulatedAgent {
    hello: Hello,
    host: usize,
    disk: Disk,
    outbox: Outbox,
    signals: Arc<Signals>,
    spool: Box<Spool>,
    plan: Option<Plan>,
    /// Bytes of each file that were recorded as durable.
    durable: Vec<DurableBytes>,
    queue: VecDeque<(u32, Vec<u8>)>,
    doing: Option<(u32, Work)>,
    phases: Vec<Phase>,
    random: Random,
    /// The files take this long to be opened for a run.
    opens_ns: u64,
    /// When it ends although it has not released what it has.
    released_ns: Option<u64>,
}

impl SimulatedAgent {
    pub(super) fn new(
        host: usize,
        version: &str,
        disk: Disk,
        outbox: Outbox,
        mut random: Random,
    ) -> SimulatedAgent {
        let hello = Hello {
            protocol: PROTOCOL,
            build: Build { version: version.to_owned(), ..Build::default() },
            host_name: format!("h{host}"),
            boot_id: format!("boot{host}"),
            namespaces: String::new(),
            process: 1 + random.below(30_000) as u32,
        };
        SimulatedAgent {
            hello,
            host,
            disk,
            outbox,
            signals: Arc::default(),
            spool: Box::default(),
            plan: None,
            durable: Vec::new(),
            queue: VecDeque::new(),
            doing: None,
            phases: Vec::new(),
            // Some hosts open many files.
            opens_ns: match random.below(10) {
                0 => random.below(50_000 * MS_NS),
                _ => random.below(2_000 * MS_NS),
            },
            random,
            released_ns: None,
        }
    }

    fn begin_next(&mut self, now_ns: u64) {
        while self.doing.is_none()
            && let Some((number, work)) = self.queue.pop_front()
        {
            let request = Request::parse(&work).expect("the controller sends requests");
            let work = self.begin(request, now_ns);
            self.doing = Some((number, work));
            self.step(now_ns);
        }
    }

    fn begin(&mut self, request: Request, now_ns: u64) -> Work {
        let soon_ns = now_ns + self.random.below(20 * MS_NS);
        let answer = match request {
            Request::Facts { .. } => unreachable!("it is not asked"),
            Request::TakeList { .. } => reply::done(&()),
            Request::Open(open) => {
                self.phases.push(Phase::Open);
                let is_first = open.join.is_none();
                let shared = || {
                    // What the first host sends; no directory exists.
                    let lease = serde_json::json!({"format": "", "host": "", "process": 1,
                        "began_unix_ms": 0, "token": 1});
                    let shared = serde_json::json!({"below": "fourcorners", "lease": lease});
                    let shared: SharedDirectory =
                        serde_json::from_value(shared).expect("it has these fields");
                    let direct = DirectIo::Supported { offset_align_bytes: 512 };
                    let filesystem = "nfs".to_owned();
                    let storage = Storage { filesystem, in_memory: false, direct };
                    (shared, storage)
                };
                self.plan = Some(open.plan);
                let opened = Opened {
                    paths: vec!["target".to_owned()],
                    shared: is_first.then(|| vec![shared()]),
                    environment: Vec::new(),
                };
                let at_ns = now_ns + self.random.below(500 * MS_NS);
                return Work::Answer(at_ns, reply::done(&opened));
            }
            Request::BeginFill { sequence, .. } => {
                self.signals.stop(sequence);
                let missing = |set: FileSet| {
                    let files = (0..set.files).map(|file| (file, set.file_size_bytes));
                    SetToFill { missing: files.collect(), set }
                };
                let sets = self.file_sets().into_iter().map(missing).collect();
                reply::done(&FillBegun { sets, manifest: manifest() })
            }
            Request::FillPart { sequence, part, .. } => {
                self.phases.push(Phase::Fill);
                let FillPart { manifest, files } = *part;
                return Work::Fill(Fill {
                    sequence,
                    stop: self.signals.stop(sequence),
                    files: self.file_sets().into_iter().zip(files).collect(),
                    has_claimed: manifest.is_none(),
                    written: 0,
                    // Some hosts write slowly.
                    writes: match self.random.below(10) {
                        0 => 1 + self.random.below(60),
                        _ => 5,
                    },
                    next_ns: now_ns + WRITES_EVERY_NS,
                });
            }
            Request::EndFill { .. } => match self.is_filled() {
                true => reply::done(&manifest()),
                false => failed("a file is not recorded as complete"),
            },
            Request::UseFiles { .. } => reply::done(&()),
            Request::MakeTrees { sequence, .. } => {
                self.signals.stop(sequence);
                let stream = "home".to_owned();
                let made = Prepared { stream, written_bytes: 0, took_ns: 1 };
                return Work::Answer(now_ns + self.random.below(500 * MS_NS), reply::done(&[made]));
            }
            Request::RestoreTrees { sequence, .. } => {
                self.signals.stop(sequence);
                return Work::Answer(now_ns + self.random.below(500 * MS_NS), reply::done(&()));
            }
            Request::CompareTrees { sequence, run, lanes } => {
                self.signals.stop(sequence);
                let answer = reply::done(&compared(&run, lanes));
                return Work::Answer(now_ns + self.random.below(500 * MS_NS), answer);
            }
            Request::ChooseIoMethod => {
                let reason = "simulated".to_owned();
                reply::done(&ChosenIoMethod { io_method: IoMethodUsed::Psync, reason })
            }
            Request::Left { sequence } => {
                self.signals.stop(sequence);
                reply::done(&vec![Some((1_u64, 1_u64))])
            }
            Request::Spool(request) => self.answer_about_spools(request),
            Request::Run { sequence, assignment, .. } => {
                self.phases.push(Phase::Prepare);
                let context = ShareContext {
                    spool: std::mem::take(&mut self.spool),
                    signals: &self.signals,
                    outbox: &self.outbox,
                    disk: &self.disk,
                    opens_ns: self.opens_ns,
                };
                let share = Share::begin(sequence, *assignment, context, &mut self.random, now_ns);
                return Work::Run(Box::new(share));
            }
        };
        Work::Answer(soon_ns, answer)
    }

    fn file_sets(&self) -> Vec<FileSet> {
        self.plan.as_ref().expect("a target was opened").file_sets(0)
    }

    /// Whether every byte of every file was reported as durable.
    fn is_filled(&self) -> bool {
        self.file_sets().iter().all(|set| {
            let is_durable = |file: u32| {
                let name = set.file_name(file);
                let recorded = self.durable.iter().filter(|one| one.name == name);
                recorded.map(|one| one.bytes).max() == Some(set.file_size_bytes)
            };
            (0..set.files).all(is_durable)
        })
    }

    fn answer_about_spools(&mut self, request: SpoolRequest) -> Vec<u8> {
        match request {
            SpoolRequest::Begin { record, host, host_name } => {
                let owner = SpoolOwner {
                    record,
                    host,
                    host_name,
                    boot_id: self.hello.boot_id.clone(),
                    process: self.hello.process,
                    begun_unix_ms: 0,
                };
                let created = self.disk.create(&owner);
                self.spool.begun(owner, created, &PathBuf::from(ROOT));
                reply::done(&())
            }
            SpoolRequest::End => {
                if self.spool.is_kept() {
                    self.spool.end().expect("it is in memory");
                }
                reply::done(&())
            }
            SpoolRequest::List => {
                self.phases.push(Phase::Collect);
                let item = |name: &String| Some(SpoolItem::of(name, &self.disk.read(name)?));
                reply::done(&SpoolList {
                    directory: ROOT.to_owned(),
                    identity: (self.hello.boot_id.clone(), 0, self.host as u64),
                    spools: self.disk.names().iter().filter_map(item).collect(),
                })
            }
            SpoolRequest::Send { name, have } => {
                let Some(content) = self.disk.read(&name) else { return failed("it is gone") };
                match spool::send_content(&content, &have, &self.outbox) {
                    Ok(()) => reply::done(&SpoolItem::of(&name, &content)),
                    Err(why) => failed(&why),
                }
            }
            SpoolRequest::Remove { name } => match self.disk.remove(&name) {
                Ok(()) => reply::done(&()),
                Err(why) => failed(&why),
            },
        }
    }

    /// Does what is due.
    fn step(&mut self, now_ns: u64) {
        let Some((_, work)) = &mut self.doing else { return };
        let answer = match work {
            Work::Answer(at_ns, answer) if *at_ns <= now_ns => Some(std::mem::take(answer)),
            Work::Answer(..) => None,
            Work::Fill(_) => self.fill(now_ns),
            Work::Run(share) => share.step(now_ns, &mut self.phases),
        };
        let Some(answer) = answer else { return };
        if let Some((number, work)) = self.doing.take() {
            if let Work::Run(share) = work {
                self.spool = share.into_spool();
            }
            // If the controller is gone, the end of the input shows it.
            let _gone = self.outbox.send(&Message::Reply { number, result: Ok(answer) });
        }
        self.begin_next(now_ns);
    }

    /// Writes the next part of each file; the answer once all are written.
    fn fill(&mut self, now_ns: u64) -> Option<Vec<u8>> {
        let Some((_, Work::Fill(fill))) = &mut self.doing else { return None };
        if fill.has_claimed {
            self.durable.extend(self.signals.take_durable());
        }
        if fill.stop.is_requested() {
            return Some(failed("it was stopped"));
        }
        while fill.written < fill.writes && fill.next_ns <= now_ns {
            fill.written += 1;
            fill.next_ns += WRITES_EVERY_NS;
            let share = |bytes: u64| bytes * fill.written / fill.writes;
            let mut durable = Vec::new();
            for (set, (of, files)) in (0..).zip(&fill.files) {
                let bytes = share(of.file_size_bytes);
                let written_bytes = bytes * files.len() as u64;
                send_report(&self.outbox, &Report::Filling { set, written_bytes });
                let name = |file: &u32| DurableBytes { name: of.file_name(*file), bytes };
                durable.extend(files.iter().map(name));
            }
            match fill.has_claimed {
                true => self.durable.extend(durable),
                false => send_report(&self.outbox, &Report::Durable { files: durable }),
            }
        }
        let others_have_ended = !fill.has_claimed || self.signals.others_have_ended(fill.sequence);
        if fill.written < fill.writes || !others_have_ended {
            return None;
        }
        let filled = (0..).zip(&fill.files).map(|(set, (of, files))| PartFilled {
            set,
            written_bytes: of.file_size_bytes * files.len() as u64,
            took_ns: 1,
        });
        Some(reply::done(&filled.collect::<Vec<PartFilled>>()))
    }
}

impl Program for SimulatedAgent {
    fn hello(&self) -> Hello {
        self.hello.clone()
    }

    fn work(&mut self, number: u32, work: Vec<u8>, time: HostTime) {
        self.queue.push_back((number, work));
        self.begin_next(time.monotonic_ns);
    }

    fn signal(&mut self, signal: &[u8], time: HostTime) {
        self.signals.take(signal);
        let signal: Signal = serde_json::from_slice(signal).expect("the controller signals");
        if let (SignalKind::EndAt { end_ns }, Some((_, Work::Run(share)))) =
            (signal.kind, &mut self.doing)
        {
            share.end_at(end_ns);
        }
        self.step(time.monotonic_ns);
    }

    fn input_ended(&mut self, time: HostTime) {
        self.signals.end();
        self.queue.clear();
        self.released_ns = Some(time.monotonic_ns + RELEASE_WITHIN_NS);
        self.step(time.monotonic_ns);
    }

    fn wake(&mut self, time: HostTime) {
        self.step(time.monotonic_ns);
        if self.released_ns.is_some_and(|at_ns| at_ns <= time.monotonic_ns) {
            match self.signals.is_finishing() {
                true => self.released_ns = Some(time.monotonic_ns + RELEASE_WITHIN_NS),
                false => self.doing = None,
            }
        }
    }

    fn wakes_at_ns(&self) -> Option<u64> {
        let work_ns = self.doing.as_ref().and_then(|(_, work)| match work {
            Work::Run(share) => share.wakes_at_ns(),
            Work::Answer(at_ns, _) => Some(*at_ns),
            Work::Fill(fill) => (fill.written < fill.writes).then_some(fill.next_ns),
        });
        let released_ns = self.released_ns.filter(|_| self.doing.is_some());
        work_ns.into_iter().chain(released_ns).min()
    }

    fn take_phases(&mut self) -> Vec<Phase> {
        std::mem::take(&mut self.phases)
    }

    fn has_ended(&self) -> bool {
        self.released_ns.is_some() && self.doing.is_none()
    }

    fn storage_failed(&mut self, fault: Fault, time: HostTime) {
        match (fault, &mut self.doing) {
            (Fault::SpoolFull, _) => self.disk.fill(),
            (_, Some((_, Work::Run(share)))) => share.storage_failed(fault, time.monotonic_ns),
            _ => {}
        }
    }
}

/// The comparison of the tree of a run: possible with the steps of all lanes. Its files are the steps.
fn compared(run: &Run, lanes: Vec<LaneDone>) -> TreesCompared {
    let lanes: Vec<LaneEnd> = lanes.into_iter().map(LaneEnd::from).collect();
    let workers = run.streams.iter().filter(|stream| stream.names.is_some()).map(|s| s.workers);
    let numbers: BTreeSet<u32> = lanes.iter().map(|lane| lane.lane).collect();
    assert_eq!(numbers.len(), lanes.len(), "each lane is of one host");
    let result = match numbers.len() as u32 == workers.sum::<u32>() {
        true => TreeResult::Compared(ComparedTree {
            files: lanes.iter().flat_map(|lane| &lane.steps).map(|steps| steps.end).sum(),
            ..ComparedTree::default()
        }),
        false => TreeResult::NotCompared(NotCompared::HostLost),
    };
    let trees = vec![TreeComparison { stream: "home".to_owned(), target: 0, result }];
    TreesCompared { outcome: Outcome::Done, mismatches: Vec::new(), trees }
}

fn failed(why: &str) -> Vec<u8> {
    reply::failed(&Failure::target(anyhow!(why.to_owned())))
}

fn manifest() -> Manifest {
    Manifest {
        format: String::new(),
        version: MANIFEST_VERSION,
        tool_version: String::new(),
        created_unix_ms: 0,
        filesystem_id: String::new(),
        files: Default::default(),
        trees: Default::default(),
    }
}
