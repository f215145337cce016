//! Workloads of a topology that a profile states: reads and writes in random and in sequential order, and
//! operations on names.

use cloud::figure::{self, Access};
use predict::topology::NameLoad;
use predict::topology_file::{ProfileLoad, ProfileUnits};
use units::OpsPerSec;
use workload::offered_load::OfferedKind;

use crate::outcome::{Failure, Reason};
use crate::units_load::{Transfers, Units, is_known, load};

/// The loads of a number of units of a profile.
///
/// # Errors
/// Why there are none, and what to do.
pub(super) fn loads(of: &ProfileUnits<'_>) -> Result<Vec<ProfileLoad>, String> {
    let units = Units { count: of.units, metric: None };
    let found = load(of.profile, &units).map_err(words)?;
    let names = || found.variants.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    let kinds = match (of.variant, &found.variants[..]) {
        (None, [(_, kinds)]) => kinds,
        (None, _) => return Err(format!("give `variant`, one of {}", names().join(", "))),
        (Some(wanted), all) => {
            let found = all.iter().find(|(name, _)| name == wanted);
            let unknown =
                || format!("there is no variant `{wanted}`; there are {}", names().join(", "));
            &found.ok_or_else(unknown)?.1
        }
    };
    let loads = of_kinds(kinds);
    match loads.is_empty() {
        true => Err("not enough data: no rate of its operations is published".to_owned()),
        false => Ok(loads),
    }
}

fn of_kinds(kinds: &[OfferedKind]) -> Vec<ProfileLoad> {
    let mut loads = Vec::new();
    for (name, access, is_random) in
        [("random", Access::Random, true), ("sequential", Access::Sequential, false)]
    {
        let all = Transfers::of(kinds.iter().filter(|one| one.is_random == is_random));
        if all.transfers > 0.0 {
            loads.push(ProfileLoad {
                name,
                transfer_bytes: (all.bytes / all.transfers).round() as u64,
                read: all.read / all.bytes,
                access,
                rate: OpsPerSec::new(all.transfers),
                names: None,
            });
        }
    }
    let figures = figure::all();
    let known = figure::name_kinds(&figures);
    let on_names = kinds.iter().filter(|one| !one.moves_data());
    let (counted, others): (Vec<_>, Vec<_>) = on_names.partition(|one| is_known(one, &known));
    let rate = |of: &[&OfferedKind]| of.iter().map(|one| one.rate).sum::<f64>();
    if rate(&counted) > 0.0 {
        let names = NameLoad {
            not_counted: others.iter().map(|one| one.kind.name().to_owned()).collect(),
            not_counted_share: rate(&others) / (rate(&others) + rate(&counted)),
        };
        loads.push(ProfileLoad {
            name: "names",
            transfer_bytes: 0,
            read: 1.0,
            access: Access::Random,
            rate: OpsPerSec::new(rate(&counted)),
            names: Some(names),
        });
    }
    loads
}

/// A failure in a hint of a topology.
fn words(failure: Failure) -> String {
    let reason = match failure.reason {
        Reason::Error(error) => format!("{error:#}"),
        Reason::Problems { problems, .. } => {
            let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
            all.join("; ")
        }
    };
    match failure.remedy {
        Some(remedy) => format!("{reason}: {remedy}"),
        None => reason,
    }
}
