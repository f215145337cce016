//! `size`: from what is needed to what to buy.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use cloud::avs::AvsLimit;
use cloud::figure::Access;
use cloud::region::{Feature, Region};
use cloud::service_level::ServiceLevel;
use cloud::vm_size;
use report::sheet::Sheet;
use report::sizing::schedule::{self, Planned};
use report::sizing::{Shown, json, sheet};
use sizing::facts::Facts;
use sizing::host_kind;
use sizing::layout::PARTS_MAX;
use sizing::need::{Charges, Demand, Need, NeedError, PERMILLE, Part, Protocol, Replication};
use sizing::region_need::{demand, demand_level};
use sizing::schedule::{Phase, Schedule, plan};
use sizing::solve::{Verdict, solve};
use units::{Bytes, Percent};

use crate::commands::output::{self, WIDTH};
use crate::commands::size_from_run;
use crate::exit::{Exit, Failure, Outcome};
use crate::schedule_args::{WrittenPhase, WrittenSchedule};
use crate::size_args::SizeArguments;

/// Where prices are taken from unless a region is named.
const REGION: &str = "eastus";
/// Days in a week.
const DAYS_PER_WEEK: u64 = 7;
/// Transfers of a throughput that is wanted, as `tune` takes them.
const TRANSFER_OF_THROUGHPUT: u64 = 64 << 10;
/// Transfers of operations that are wanted: what databases do.
const TRANSFER_OF_RATE: u64 = 8 << 10;

pub(crate) fn run(arguments: &SizeArguments) -> Outcome {
    let page = match arguments.report.as_deref() {
        Some(path) => Some((path, page_of(path)?)),
        None => None,
    };
    if let Some((path, _)) = page {
        output::refuse_unwritable(path)?;
    }
    let facts = Facts::embedded();
    let mut assumptions = Vec::new();
    if let Some(written) = &arguments.schedule {
        return scheduled(arguments, written, page, &facts);
    }
    let need = need(arguments, &facts, &mut assumptions)?;
    let verdict = solve(&need, &facts).map_err(|error| said(error, need.protocol, &facts))?;
    let shown = Shown { designs: arguments.top as usize, explained: arguments.explain };
    if let Some((path, page)) = page {
        let whole = Shown { explained: true, ..shown };
        page(&sheet(&need, &verdict, &assumptions, whole), path)?;
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        json::write(&need, &verdict, &assumptions, &mut out)?;
    } else {
        let text = sheet(&need, &verdict, &assumptions, shown).text(WIDTH);
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(match verdict {
        Verdict::Feasible { .. } => Exit::Done,
        Verdict::Infeasible(_) => Exit::Negative,
    })
}

/// Schedules: one as it is written, or one for each level where it names none.
fn scheduled(
    arguments: &SizeArguments,
    written: &WrittenSchedule,
    page: Option<(&Path, Page)>,
    facts: &Facts,
) -> Outcome {
    let mut assumptions = Vec::new();
    let refused = |error| said(error, arguments.protocol, facts);
    let region = region(arguments, facts, &mut assumptions).map_err(refused)?;
    for level in
        written.phases.iter().filter_map(|phase| phase.level).chain(arguments.level.clone())
    {
        demand_level(level, region, facts).map_err(refused)?;
    }
    let levels: Vec<ServiceLevel> = match written.phases.iter().all(|p| p.level.is_some()) {
        true => vec![ServiceLevel::Premium],
        false if arguments.level.is_empty() => {
            let by_quota = |level: &ServiceLevel| facts.catalog.level(*level).throughput.is_some();
            facts.levels_of(&region.name).into_iter().filter(by_quota).collect()
        }
        false => arguments.level.clone(),
    };
    if arguments.capacity.is_none() {
        assumptions.push("what is stored fits into every phase (--capacity)".to_owned());
    }
    assumptions.push("the volume is alone in its pool, with auto QoS".to_owned());
    assumptions.push("times are of one time zone, and a change takes no time".to_owned());
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
                stored_gib: arguments.capacity.unwrap_or(0),
                throughput: arguments.throughput,
                cool_down_s: arguments.cool_down,
                region: region.name.clone(),
                hours_per_month: arguments.hours,
            };
            let result = plan(&schedule, facts);
            (schedule, result)
        })
        .collect();
    if let Some((path, page)) = page {
        page(&schedule::sheet(&planned, &assumptions, true), path)?;
    }
    let mut out = std::io::stdout().lock();
    match arguments.json {
        true => schedule::write_json(&planned, &assumptions, &mut out)?,
        false => {
            let sheet = schedule::sheet(&planned, &assumptions, arguments.explain);
            out.write_all(sheet.text(WIDTH).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(match planned.iter().any(|(_, result)| result.is_ok()) {
        true => Exit::Done,
        false => Exit::Negative,
    })
}

/// The region, or where prices are taken from without one.
fn region<'a>(
    arguments: &SizeArguments,
    facts: &'a Facts,
    assumptions: &mut Vec<String>,
) -> Result<&'a Region, NeedError> {
    if arguments.region.is_none() {
        assumptions.push(format!("prices of {REGION}, for no --region was given"));
    }
    let name = arguments.region.as_deref().unwrap_or(REGION);
    let unknown = || NeedError::UnknownRegion { name: name.to_owned() };
    let region = facts.regions.find(name).ok_or_else(unknown)?;
    for feature in &arguments.require {
        demand(*feature, region, &facts.regions)?;
    }
    if region.features.is_none() {
        assumptions.push(format!(
            "the vendor's list of features does not have {}: only regular volumes of the levels \
             with a price are considered",
            region.display_name
        ));
    } else if !region.has(Feature::LargeVolumes) {
        assumptions.push(format!("{} has no large volumes", region.display_name));
    }
    Ok(region)
}

type Page = fn(&Sheet, &Path) -> Result<(), Failure>;

/// What writes the page, by the file's ending.
fn page_of(path: &Path) -> Result<Page, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => Ok(|sheet, path| {
            let page = sheet.html().context("lay out the page").map_err(Failure::bug)?;
            output::to_file(path, |out| out.write_all(page.as_bytes()))
        }),
        Some("md") => Ok(|sheet, path| {
            let text = sheet.markdown();
            output::to_file(path, |out| out.write_all(text.as_bytes()))
        }),
        _ => Err(Failure::input(anyhow!(
            "write {}: the ending says which form is wanted, .html or .md",
            path.display()
        ))),
    }
}

/// What the arguments ask for, and what is assumed where they say nothing.
pub(crate) fn need(
    arguments: &SizeArguments,
    facts: &Facts,
    assumptions: &mut Vec<String>,
) -> Result<Need, Failure> {
    let refused = |error| said(error, arguments.protocol, facts);
    let region = region(arguments, facts, assumptions).map_err(refused)?;
    assumptions.push(format!(
        "list prices{}, for {} hours a month; hosts run all of them",
        if arguments.reserved.is_none() { ", pay as you go" } else { "" },
        arguments.hours
    ));
    let parts = match (&arguments.from_run, arguments.part.is_empty()) {
        (Some(id), _) => {
            let capacity = arguments.capacity;
            vec![size_from_run::part(id, &arguments.store, capacity, assumptions)?]
        }
        (None, true) => vec![only_part(arguments, assumptions)],
        (None, false) => {
            let mut parts = arguments.part.clone();
            let demands = parts.iter_mut().flat_map(|part| &mut part.demands);
            demands.for_each(|demand| {
                demand.read_permille = u64::from(arguments.read.permille());
            });
            parts
        }
    };
    if arguments.read == Percent::ALL && arguments.from_run.is_none() {
        let words = "reads only: what hosts receive is not metered, so their egress bounds \
                     nothing (--read)";
        assumptions.push(words.to_owned());
    }
    assumptions.push(
        "the load is spread over the volumes of a part in proportion to their limits, and over \
         hosts and connections evenly"
            .to_owned(),
    );
    assumptions.push(
        "what one volume and one host can do is that of the newest published figure for it; \
         connections, endpoints and other loads follow by the model of `predict`"
            .to_owned(),
    );
    let levels = levels_allowed(arguments, region, facts, assumptions);
    if levels.contains(&ServiceLevel::Flexible) {
        assumptions.push(format!(
            "at most {} Flexible pools share the load of a part (--pools), and the volumes of a \
             part are of one level",
            arguments.pools
        ));
    }
    let by_processors = "what a host can do grows with its processors: extrapolated where it \
                         has fewer or more than the hosts that figures were published of";
    match arguments.protocol {
        Protocol::Nfs3 | Protocol::Nfs41 => assumptions.push(by_processors.to_owned()),
        Protocol::Smb => {
            assumptions.push(by_processors.to_owned());
            let words = "volumes do over SMB what they do over NFS, as the vendor's scale-out \
                         tests found; one host does no more than was published of one SMB host";
            assumptions.push(words.to_owned());
        }
        Protocol::Datastores => {
            let words = "every host of Azure VMware Solution does what was published of AV36; \
                         what it may send at most is not known, nor what it costs";
            assumptions.push(words.to_owned());
        }
    }
    if parts.len() > PARTS_MAX && levels.len() > 1 {
        assumptions.push(format!(
            "all parts are of one level: levels are mixed of {PARTS_MAX} parts at most"
        ));
    }
    let need = Need {
        parts,
        growth_permille: arguments.growth,
        headroom_permille: u64::from(arguments.headroom.permille()),
        response_time_ns: arguments.response_time,
        region: region.name.clone(),
        protocol: arguments.protocol,
        hosts: arguments.clients,
        vm: arguments.vm.clone(),
        levels,
        previews: arguments.previews,
        hours_per_month: arguments.hours,
        charges: charges(arguments, facts, assumptions),
        pools_max: arguments.pools,
    };
    Ok(need.with_snapshots(arguments.snapshots))
}

/// The levels that the user allows: all that the region has unless some are named.
fn levels_allowed(
    arguments: &SizeArguments,
    region: &Region,
    facts: &Facts,
    assumptions: &mut Vec<String>,
) -> Vec<ServiceLevel> {
    if !arguments.level.is_empty() {
        return arguments.level.clone();
    }
    let levels = facts.levels_of(&region.name);
    let lacking = ServiceLevel::ALL.into_iter().filter(|level| !levels.contains(level));
    let lacking: Vec<&str> = lacking.map(ServiceLevel::name).collect();
    if !lacking.is_empty() {
        let name = &region.display_name;
        assumptions.push(format!("without {}, which {name} lacks", lacking.join(", ")));
    }
    levels
}

/// What is paid by use, and what is taken for granted of it.
fn charges(arguments: &SizeArguments, facts: &Facts, assumptions: &mut Vec<String>) -> Charges {
    let of = |share: Percent| u64::from(share.permille());
    let charges = Charges {
        mean_permille: of(arguments.mean),
        crossing_permille: of(arguments.peered),
        cool_permille: of(arguments.cool),
        cool_moved_permille: arguments.cool_moved,
        backup_gib: arguments.backup.unwrap_or(0),
        snapshot_permille: 0,
        replication: replication(arguments, facts, assumptions),
        reserved: arguments.reserved,
    };
    if charges.crossing_permille > 0 && arguments.mean == Percent::ALL {
        let words = "the whole throughput is moved at all hours, which makes traffic through a \
                     peering as expensive as it can be (--mean)";
        assumptions.push(words.to_owned());
    }
    if charges.cool_permille > 0 {
        let words = "limits are those of the hot tier; what lies in the cool tier stays there \
                     (--cool), and of it the share of --cool-moved is paid for as traffic";
        assumptions.push(words.to_owned());
    }
    charges
}

/// The replica, and what is assumed about it.
fn replication(
    arguments: &SizeArguments,
    facts: &Facts,
    assumptions: &mut Vec<String>,
) -> Option<Replication> {
    let to = arguments.replicate_to.as_ref()?;
    let daily_change_permille = arguments.daily_change.unwrap_or_else(|| {
        let week = facts.avs.limit(AvsLimit::DatastoreHeadroom);
        let day = (week * PERMILLE / 100).div_ceil(DAYS_PER_WEEK);
        assumptions.push(format!(
            "{} of the data changes in a day and is replicated: the vendor's rule of {week} % for \
             a week of snapshots (--daily-change)",
            units::percent(day)
        ));
        day
    });
    if arguments.replica_level.is_none() {
        let words = "the replica's pools have the size and the level of the pools that they \
                     replicate (--replica-level); a Flexible one has the baseline throughput";
        assumptions.push(words.to_owned());
    }
    Some(Replication {
        // Regions that are not known are refused with all the others.
        to: facts.regions.find(to).map_or(to, |region| &region.name).clone(),
        interval: arguments.replicate_every,
        daily_change_permille,
        level: arguments.replica_level,
    })
}

/// What is wanted without `--part`.
fn only_part(arguments: &SizeArguments, assumptions: &mut Vec<String>) -> Part {
    let read_permille = u64::from(arguments.read.permille());
    let mut demands = Vec::new();
    if let Some(throughput) = arguments.throughput {
        let own = arguments.transfer_size.filter(|_| arguments.iops.is_none());
        let transfer_bytes = own.unwrap_or(TRANSFER_OF_THROUGHPUT);
        if own.is_none() {
            let size = Bytes::new(transfer_bytes);
            assumptions.push(format!("the throughput is made of transfers of {size}"));
        }
        let access = Access::Sequential;
        demands.push(Demand { throughput, transfer_bytes, read_permille, access });
    }
    if let Some(rate) = arguments.iops {
        let transfer_bytes = arguments.transfer_size.unwrap_or(TRANSFER_OF_RATE);
        if arguments.transfer_size.is_none() {
            assumptions.push(format!("operations move {} each", Bytes::new(transfer_bytes)));
        }
        demands.push(Demand::of_rate(rate, transfer_bytes, read_permille));
    }
    let capacity_gib = arguments.capacity.unwrap_or(0);
    Part { name: "data".to_owned(), capacity_gib, demands }
}

/// What is wrong with the need, with what there is instead.
fn said(error: NeedError, protocol: Protocol, facts: &Facts) -> Failure {
    let there_is = match &error {
        NeedError::UnknownRegion { name } => Some(match facts.regions.meant(name) {
            Some(region) => format!("did you mean `{}`?", region.name),
            None => format!("there are {}", facts.prices.regions().join(", ")),
        }),
        NeedError::UnknownVm { name } => {
            let kinds = host_kind::all(protocol, facts);
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
            let is_vm = protocol != Protocol::Datastores;
            let near = match is_vm {
                true => vm_size::meant(name).map_or_else(|near| near, |size| Some(size.name)),
                false => units::nearest(name, names.iter().copied()).map(str::to_owned),
            };
            // There are too many to name them all beside the one that may be meant.
            Some(match near {
                _ if is_vm && facts.avs.host(name).is_some() => {
                    "hosts of Azure VMware Solution are for --protocol datastores".to_owned()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            })
        }
        _ => None,
    };
    Failure::input(match there_is {
        Some(words) => anyhow!("size: {error}; {words}"),
        None => anyhow!("size: {error}"),
    })
}
