//! `size`: from requirements to designs; a schedule of quotas; Azure VMware Solution.

pub mod avs;
mod business_metric;
mod from_run;
mod inventory;
mod need;
pub mod profile;
pub mod schedule_text;

use cloud::service_level::ServiceLevel;
use report::sizing::schedule::Planned;
use sizing::assumption::Assumption;
use sizing::cost_by_level::{LevelCost, cost_by_level};
use sizing::facts::Facts;
use sizing::need::Need;
use sizing::region_need::demand_level;
use sizing::schedule::{Phase, Schedule, plan};
use sizing::solve::{Verdict, solve};
use store::Store;

use crate::outcome::Failure;
pub use need::Options;
use need::{need, refused, region};
use schedule_text::{WrittenPhase, WrittenSchedule};

/// A sizing: the need, the designs for it, and what was assumed.
#[derive(Clone, Debug)]
pub struct Sized {
    /// The need.
    pub need: Need,
    /// The designs, or why there are none.
    pub verdict: Verdict,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
}

impl Sized {
    /// What more or less throughput would cost with each level; none without a design.
    pub fn costs(&self) -> Vec<LevelCost> {
        match &self.verdict {
            Verdict::Feasible { .. } => cost_by_level(&self.need, &Facts::embedded()),
            Verdict::Infeasible(_) => Vec::new(),
        }
    }
}

/// Schedules of quotas, and what was assumed.
#[derive(Debug)]
pub struct Scheduled {
    /// One schedule as it is written, or one for each level if it names none.
    pub planned: Vec<Planned>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
}

/// Finds designs for the requirements.
///
/// # Errors
/// The requirements contradict each other or the facts, or the record cannot be read.
pub fn size(options: &Options, store: &Store) -> Result<Sized, Failure> {
    let facts = Facts::embedded();
    let mut assumptions = Vec::new();
    let need = need(options, store, &facts, &mut assumptions)?;
    let verdict = solve(&need, &facts).map_err(|error| refused(error, need.protocol, &facts))?;
    Ok(Sized { need, verdict, assumptions })
}

/// Computes quota and level over the week.
///
/// # Errors
/// The requirements contradict each other or the facts.
pub fn schedule(options: &Options, written: &WrittenSchedule) -> Result<Scheduled, Failure> {
    let facts = &Facts::embedded();
    let mut assumptions = Vec::new();
    let refused = |error| refused(error, options.protocol, facts);
    let region = region(options, facts, &mut assumptions).map_err(refused)?;
    for level in written.phases.iter().filter_map(|phase| phase.level).chain(options.level.clone())
    {
        demand_level(level, region, facts).map_err(refused)?;
    }
    let levels: Vec<ServiceLevel> = match written.phases.iter().all(|p| p.level.is_some()) {
        true => vec![ServiceLevel::Premium],
        false if options.level.is_empty() => {
            let by_quota = |level: &ServiceLevel| facts.catalog.level(*level).throughput.is_some();
            facts.levels_of(&region.name).into_iter().filter(by_quota).collect()
        }
        false => options.level.clone(),
    };
    if options.capacity.is_none() {
        assumptions.push(Assumption::DataFitsPhases);
    }
    assumptions.extend([Assumption::OnlyVolume, Assumption::ImmediateChanges]);
    let planned: Vec<Planned> = levels
        .into_iter()
        .map(|level| {
            let phase = |written: &WrittenPhase| Phase {
                name: written.name.clone(),
                quota_gib: written.quota_gib,
                level: written.level.unwrap_or(level),
            };
            let schedule = Schedule {
                phases: written.phases.iter().map(phase).collect(),
                hours: written.hours.clone(),
                stored_gib: options.capacity.unwrap_or(0),
                throughput: options.throughput,
                cool_down_s: options.cool_down,
                region: region.name.clone(),
                hours_per_month: options.hours,
            };
            let result = plan(&schedule, facts);
            (schedule, result)
        })
        .collect();
    Ok(Scheduled { planned, assumptions })
}
