//! `plan`: what a run would find at its target and write there. Writes nothing.

use std::sync::Arc;
use std::time::Duration;

use report::plan::Property;
use target::existing::ExistingSet;
use target::inventory::{RequiredFiles, ToWrite};
use target::nfs::Observer;
use target::refusal::Overrides;
use target::survey::{self, Survey};
use units::{Bytes, counted, print_duration};
use workload::plan::{EmulatedVolume, Plan, TargetSpec};

use crate::outcome::Failure;
use crate::{named_target, refusal};

/// The files that exist, the data that `run` would fill, and the free space.
///
/// # Errors
/// Why `run` would refuse the target.
pub fn inspect(
    plan: &Plan,
    overrides: Overrides,
    observer: Observer,
) -> Result<Vec<Property>, Failure> {
    let mut properties = Vec::new();
    for (at, target) in plan.targets.iter().enumerate() {
        if let TargetSpec::Emulated { volume, .. } = target {
            properties.extend(emulated(plan, at, volume));
        }
        let Some(location) = named_target::location(target, Arc::clone(&observer))? else {
            continue;
        };
        let survey = survey::survey(location, RequiredFiles::of(plan, at), overrides);
        let survey = survey.and_then(Survey::inspect).map_err(refusal::failure)?;
        properties.extend(space(&survey)?);
    }
    Ok(properties)
}

/// The emulated volume, and the time to fill it.
fn emulated(plan: &Plan, target: usize, volume: &EmulatedVolume) -> [Property; 2] {
    let time = |ns| print_duration(Duration::from_nanos(ns));
    let limit = Bytes::new(volume.throughput_limit_bytes_per_s);
    let (read, write) = (time(volume.read_delay_ns), time(volume.write_delay_ns));
    let needed = plan.bytes_needed_on(target);
    let name = plan.target_names.get(target).map_or(String::new(), |name| format!("{name}: "));
    let seconds = needed.get().div_ceil(volume.throughput_limit_bytes_per_s.max(1));
    [
        ("volume", format!("{name}limit {limit}/s, reads take {read}, writes {write}")),
        ("fill", format!("{name}{needed} to write into memory, about {seconds} s at the limit")),
    ]
}

/// The directory, the file sets in it, and what is missing.
fn space(survey: &Survey) -> Result<Vec<Property>, Failure> {
    let path = survey.directory.as_path();
    let created = if survey.is_new { " (will be created)" } else { "" };
    let mut properties = vec![("directory", format!("{}{created}", path.display()))];
    let sets = survey.existing_sets().map_err(refusal::failure)?;
    properties.extend(sets.iter().map(|existing| ("existing", existing_words(existing))));
    let part_words = |part: &ToWrite| {
        let files = counted(part.files.into(), "file");
        let words = format!("{} in {files}", Bytes::new(part.bytes));
        if survey.to_write.len() > 1 { format!("{}: {words}", part.set.stream) } else { words }
    };
    let mut to_write: Vec<String> = survey.to_write.iter().map(part_words).collect();
    to_write.extend(survey.new_trees().map(|tree| {
        let names = counted(tree.names_at_start(), "name");
        format!("{}: {} in {names}", tree.stream, Bytes::new(tree.bytes()))
    }));
    let fill = match to_write.as_slice() {
        [] => "nothing to write, the files exist".to_owned(),
        parts => format!("{} to write", parts.join(", ")),
    };
    properties.push(("fill", format!("{fill}; {} free", Bytes::new(survey.free_bytes))));
    Ok(properties)
}

/// `corner: 3 of 4 files of 256 MiB, 768 MiB valid`
fn existing_words(existing: &ExistingSet) -> String {
    let ExistingSet { set, files, bytes, is_required } = existing;
    let (size, bytes) = (Bytes::new(set.file_size_bytes), Bytes::new(*bytes));
    let all = counted(set.files.into(), "file");
    match is_required {
        true => format!("{}: {files} of {all} of {size}, {bytes} valid", set.stream),
        false => format!("{}: {all} of {size}, {bytes} written; not needed", set.stream),
    }
}
