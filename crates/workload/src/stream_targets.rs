//! Which of a plan's targets a stream uses, and which target each worker sends to.
//!
//! A target sees the stream as if it were measured alone: with its own share of the workers and of an
//! offered rate, and with operations that are a function of the seed, the target, and the worker's number
//! among the target's workers. Not for: opening targets (`target`), results (`metrics::interval`).

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::file_use::FileUse;
use crate::run::Stream;
use crate::scenario::Users;

/// How the workers of a stream are spread over its targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// Every host sends to every target, with the stream's workers for each.
    #[default]
    All,
    /// Each host sends to one target; the hosts use the targets in turn.
    Host,
    /// Each worker sends to one target; the workers use the targets in turn.
    Worker,
}

impl Spread {
    /// The names in an experiment, in the order of the variants.
    pub const NAMES: [&'static str; 3] = ["all", "host", "worker"];

    /// The spread with this name.
    pub fn named(name: &str) -> Option<Spread> {
        let all = [Spread::All, Spread::Host, Spread::Worker];
        all.into_iter().find(|spread| spread.name() == name)
    }

    /// Its name in an experiment.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The targets of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTargets {
    /// Their positions in the plan, in the order of use; at least one.
    pub positions: Vec<u32>,
    /// How workers are spread over them.
    pub spread: Spread,
}

impl Default for StreamTargets {
    /// The first target of the plan.
    fn default() -> StreamTargets {
        StreamTargets::only(0)
    }
}

/// A worker's target, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetLane {
    /// The target's position in the plan.
    pub target: u32,
    /// The worker's number among those of this target, over all hosts, from 0.
    pub lane: u32,
}

impl StreamTargets {
    /// One target.
    pub fn only(position: u32) -> StreamTargets {
        StreamTargets { positions: vec![position], spread: Spread::All }
    }

    /// Whether it is only the first target of the plan, as in experiments with one target.
    pub fn is_first(&self) -> bool {
        self.positions == [0]
    }

    /// Number of targets.
    pub fn count(&self) -> u32 {
        u32::try_from(self.positions.len()).expect("a plan has few targets")
    }

    /// Workers on all `hosts` if the experiment gives a host this many; `None` if they are too many.
    pub fn workers(&self, of_host: u32, hosts: u32) -> Option<u32> {
        let of_all = of_host.checked_mul(hosts)?;
        match self.spread {
            Spread::All => of_all.checked_mul(self.count()),
            Spread::Host | Spread::Worker => Some(of_all),
        }
    }
}

impl StreamTargets {
    /// Pairs of a host and a target that each have the same workers: fewer workers leave some idle.
    pub fn parts(&self, hosts: u32) -> u32 {
        match self.spread {
            Spread::All => hosts.max(1).saturating_mul(self.count()),
            Spread::Host | Spread::Worker => hosts.max(1),
        }
    }
}

impl Stream {
    /// The target of the worker `lane` in a run on `hosts` hosts.
    pub fn target_lane(&self, hosts: u32, lane: u32) -> TargetLane {
        let StreamTargets { positions, spread } = &self.targets;
        let count = self.targets.count();
        let (nth, lane) = match spread {
            // With `all` there are as many workers for each target.
            Spread::All | Spread::Worker => (lane % count, lane / count),
            Spread::Host => {
                let of_host = (self.workers / hosts.max(1)).max(1);
                let host = (lane / of_host).min(hosts.max(1) - 1);
                (host % count, host / count * of_host + lane - host * of_host)
            }
        };
        TargetLane { target: positions[nth as usize], lane }
    }

    /// The stream as `target`, a position in the plan, sees it in a run on `hosts` hosts: with its workers
    /// and its part of an offered rate.
    #[must_use]
    pub fn on_target(&self, hosts: u32, target: u32) -> Stream {
        if self.targets.count() == 1 {
            return self.clone();
        }
        let is_there = |lane: &u32| self.target_lane(hosts, *lane).target == target;
        let workers = (0..self.workers).filter(is_there).count() as u32;
        let part = f64::from(workers) / f64::from(self.workers.max(1));
        let arrival = match self.arrival.users() {
            // A worker has the same users here as in the whole stream.
            Some(users) => {
                let lanes = (0..self.workers).filter(is_there);
                let count = lanes.map(|lane| users.of_worker(lane, self.workers)).sum();
                Arrival::Users(Users { count, ..*users })
            }
            None => self.arrival.scaled(part),
        };
        let hosts = match self.targets.spread {
            Spread::All | Spread::Worker => self.file_use.hosts,
            // Each of its hosts has all its workers there.
            Spread::Host => (workers * hosts.max(1) / self.workers.max(1)).max(1),
        };
        Stream {
            workers,
            arrival,
            file_use: FileUse { hosts, ..self.file_use },
            targets: StreamTargets::only(target),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::active_time::ActiveTime;
    use crate::arrival::Arrival;
    use crate::data::DataPattern;
    use crate::pattern::AccessPattern;
    use crate::run::WorkingSet;
    use crate::search::QueueDepthLadder;

    fn stream(positions: &[u32], spread: Spread, of_host: u32, hosts: u32) -> Stream {
        let targets = StreamTargets { positions: positions.to_vec(), spread };
        Stream {
            name: "main".to_owned(),
            read_permille: 1000,
            transfer_sizes: Vec::new(),
            access_pattern: AccessPattern::Uniform,
            working_set: WorkingSet { files: 1, file_size_bytes: 4096, area_bytes: 4096 },
            file_use: FileUse::ALL,
            queue_depth: 1,
            workers: targets.workers(of_host, hosts).expect("few workers"),
            arrival: Arrival::Constant { offered_rate: 1200.0 },
            active: ActiveTime::WHOLE_RUN,
            direct: true,
            dsync: false,
            write_stability: None,
            fsync_every_writes: None,
            data: DataPattern::default(),
            targets,
            names: None,
            replay: None,
        }
    }

    #[test]
    fn a_search_loads_all_hosts_and_targets_equally() {
        let parts = |spread, hosts| stream(&[0, 1, 2], spread, 2, hosts).targets.parts(hosts);
        assert_eq!([parts(Spread::All, 1), parts(Spread::All, 2)], [3, 6]);
        assert_eq!([parts(Spread::Host, 2), parts(Spread::Worker, 2)], [2, 2]);
        let ladder = QueueDepthLadder {
            queue_depth_max: 16,
            step: 2,
            gain_min_permille: 50,
            response_time_max_ns: None,
            refine_max: 0,
        };
        assert_eq!(ladder.depths(3), [3, 6, 12, 15]);
        assert_eq!(ladder.depths(20), [20], "at least one operation on each");
        assert_eq!(ladder.depths(1), [1, 2, 4, 8, 16]);
    }

    fn lanes(stream: &Stream, hosts: u32) -> Vec<(u32, u32)> {
        let at = |lane| stream.target_lane(hosts, lane);
        (0..stream.workers).map(at).map(|at| (at.target, at.lane)).collect()
    }

    #[test]
    fn all_hosts_use_all_targets_with_all_their_workers() {
        let stream = stream(&[4, 7], Spread::All, 2, 2);
        let first = [(4, 0), (7, 0), (4, 1), (7, 1)];
        let second = [(4, 2), (7, 2), (4, 3), (7, 3)];
        assert_eq!(lanes(&stream, 2), [first, second].concat());
        let part = stream.on_target(2, 7);
        assert_eq!(
            (part.workers, part.arrival.offered_rate(0, 1).map(|rate| rate.get())),
            (4, Some(600.0))
        );
    }

    #[test]
    fn hosts_use_targets_in_turn() {
        let stream = stream(&[0, 1], Spread::Host, 2, 3);
        let expected = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3)];
        assert_eq!(lanes(&stream, 3), expected);
        assert_eq!(stream.on_target(3, 0).workers, 4);
        assert_eq!(stream.on_target(3, 1).workers, 2);
    }

    #[test]
    fn workers_use_targets_in_turn() {
        let stream = stream(&[0, 1, 2], Spread::Worker, 4, 1);
        assert_eq!(lanes(&stream, 1), [(0, 0), (1, 0), (2, 0), (0, 1)]);
    }

    #[test]
    fn a_stream_with_one_target_is_unchanged() {
        let stream = stream(&[0], Spread::All, 3, 2);
        assert_eq!(lanes(&stream, 2), [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
        assert_eq!(stream.on_target(2, 0), stream);
    }

    #[test]
    fn the_first_target_has_the_seed_of_a_single_one_and_others_have_their_own() {
        let stream = stream(&[0, 1, 2], Spread::All, 1, 1);
        let seeds: BTreeSet<u64> =
            (0..3).map(|target| stream.on_target(1, target).seed(9)).collect();
        assert_eq!(seeds.len(), 3);
        assert_eq!(
            stream.on_target(1, 0).seed(9),
            super::tests::stream(&[0], Spread::All, 1, 1).seed(9)
        );
    }

    proptest! {
        #[test]
        fn the_workers_of_a_target_are_numbered_without_gaps(
            count in 1u32..8, of_host in 1u32..7, hosts in 1u32..7, spread in 0usize..3,
        ) {
            let spread = [Spread::All, Spread::Host, Spread::Worker][spread];
            let positions: Vec<u32> = (0..count).collect();
            let stream = stream(&positions, spread, of_host, hosts);
            let mut total = 0;
            for target in positions {
                let workers = stream.on_target(hosts, target).workers;
                let mut own: Vec<u32> = lanes(&stream, hosts)
                    .into_iter()
                    .filter_map(|(at, lane)| (at == target).then_some(lane))
                    .collect();
                own.sort_unstable();
                prop_assert_eq!(own, (0..workers).collect::<Vec<_>>());
                total += workers;
            }
            prop_assert_eq!(total, stream.workers);
        }
    }
}
