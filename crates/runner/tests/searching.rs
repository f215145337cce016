//! A search by the runner: each run is determined by the previous ones; also the ways in which it
//! ends early, with a fleet whose target is calculated instead of I/O.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::ops::ControlFlow;
use std::sync::Arc;

use engine::drive::Stop;
use engine::run::RunEnd;
use metrics::interval::{Interval, StreamInterval};
use metrics::run_record::{ChosenIoMethod, Outcome};
use runner::conduct::{Host, conduct_with};
use runner::event::{Event, Listener, ListenerError};
use runner::fleet::{Fleet, FleetError, OnProgress, Progress};
use target::directory::TargetDirectory;
use workload::experiment::parse;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::{IoMethodUsed, Plan, Run, Step, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const SECOND: u64 = 1_000_000_000;

/// 1 ms per operation, at most 4,000 per second: the knee is at 4.
struct Known {
    stop: Arc<Stop>,
    /// At this queue depth the user presses Ctrl-C, or operations fail.
    interrupted_at: Option<u32>,
    failing_at: Option<u32>,
}

impl Known {
    fn interval(&self, index: u32, depth: u32) -> Interval {
        let completed = u64::from((depth * 1000).min(4000));
        let mut stream = StreamInterval { issued: completed, ..StreamInterval::default() };
        let kind = &mut stream.kinds[OpKind::Read as usize];
        kind.completed = completed;
        if self.failing_at == Some(depth) {
            kind.failed[ErrorKind::InputOutput as usize] = 1;
        }
        let start_ns = u64::from(index) * SECOND;
        let end_ns = start_ns + SECOND;
        Interval { index, start_ns, end_ns, streams: vec![stream], ..Interval::default() }
    }
}

impl Fleet for Known {
    fn choose_io_method(
        &mut self,
        _plan: &Plan,
        _directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError> {
        Ok(ChosenIoMethod { io_method: IoMethodUsed::Psync, reason: String::new() })
    }

    fn run(
        &mut self,
        run: &Run,
        _stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError> {
        let ended = |outcome| Ok(RunEnd::of(outcome));
        let depth = run.streams[0].queue_depth;
        for index in 0..run.phases.window().1 {
            if self.interrupted_at == Some(depth) {
                self.stop.finish_interval();
                return ended(Outcome::Interrupted);
            }
            if let ControlFlow::Break(reason) =
                on_progress(Progress::Interval(self.interval(index, depth)))
            {
                return ended(Outcome::Failed { reason });
            }
        }
        ended(Outcome::Done)
    }
}

/// Records `(index, queue depth)` of the started runs.
#[derive(Default)]
struct Begun(Vec<(u32, u32)>);

impl Listener for Begun {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        if let Event::RunStarted { run, .. } = event {
            self.0.push((run.index, run.streams[0].queue_depth));
        }
        Ok(())
    }
}

/// A search up to queue depth 16, then a fixed run.
fn plan() -> Plan {
    let text = "name = 's'\n[run]\nwarm_up = '0s'\nmeasure = '2s'\n[search]\n\
                method = 'queue-depth'\n[stream.main]\nread = '100%'\ntransfer_size = '4k'\n\
                pattern = 'random'\nfile_size = '1MiB'\nqueue_depth = 16\n";
    let experiment = parse(text, "s").unwrap();
    let options = ResolveOptions::LOCAL;
    let mut plan = resolve(&experiment, "s", TargetSpec::Null, &options).unwrap();
    let Step::Search(search) = &plan.steps[0] else { panic!("a search") };
    let after = Run { index: search.runs_max, ..search.template.clone() };
    plan.steps.push(Step::Fixed(after));
    plan
}

fn begun(interrupted_at: Option<u32>, failing_at: Option<u32>) -> (Outcome, Vec<(u32, u32)>) {
    let stop = Arc::new(Stop::new());
    let mut fleet = Known { stop: Arc::clone(&stop), interrupted_at, failing_at };
    let host = Host {
        memory_bytes: None,
        processors: None,
        available_processors: None,
        steal_since_last: &mut || None,
    };
    let mut begun = Begun::default();
    let ended = conduct_with(&mut fleet, &plan(), &mut [], host, &stop, &mut [&mut begun]).unwrap();
    (ended, begun.0)
}

#[test]
fn a_search_continues_until_more_concurrency_gives_no_more_and_then_the_next_step_follows() {
    let (ended, begun) = begun(None, None);
    assert_eq!(ended, Outcome::Done);
    // 8 and 16 give no more than 4. The last one is the run after the search.
    let last = plan().runs_max() - 1;
    assert_eq!(begun, [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (last, 16)]);
}

#[test]
fn an_interruption_ends_the_search_and_the_plan() {
    let (ended, begun) = begun(Some(4), None);
    assert_eq!(ended, Outcome::Interrupted);
    assert_eq!(begun, [(0, 1), (1, 2), (2, 4)]);
}

#[test]
fn a_failed_run_ends_its_search_but_not_the_plan() {
    let (ended, begun) = begun(None, Some(2));
    let Outcome::Failed { reason } = ended else { panic!("{ended:?}") };
    assert!(reason.starts_with("s, queue_depth=2: 1 operation failed"), "{reason}");
    let last = plan().runs_max() - 1;
    assert_eq!(begun, [(0, 1), (1, 2), (last, 16)]);
}
