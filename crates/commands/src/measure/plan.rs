//! `plan`: what a run would find at its target and write there. Writes nothing.

use std::time::Duration;

use report::plan::Property;
use target::inventory::RequiredFiles;
use target::nfs::Observer;
use target::refusal::Overrides;
use target::survey::{self, Survey};
use units::{Bytes, counted, print_duration};
use workload::plan::{EmulatedVolume, Plan, TargetSpec};

use crate::outcome::Failure;
use crate::{named_target, refusal};

/// The data that `run` would fill, and the free space.
///
/// # Errors
/// Why `run` would refuse the target.
pub fn inspect(
    plan: &Plan,
    overrides: Overrides,
    observer: Observer,
) -> Result<Vec<Property>, Failure> {
    let location = named_target::location(plan.target(), observer)?;
    let inspected = location.map(|location| {
        survey::survey(location, RequiredFiles::of(plan), overrides).and_then(Survey::inspect)
    });
    let inspected = inspected.transpose().map_err(refusal::failure)?;
    let mut properties = Vec::new();
    if let TargetSpec::Emulated { volume, .. } = plan.target() {
        properties.extend(emulated(plan, volume));
    }
    properties.extend(inspected.iter().flat_map(space));
    Ok(properties)
}

/// The emulated volume, and the time to fill it.
fn emulated(plan: &Plan, volume: &EmulatedVolume) -> [Property; 2] {
    let time = |ns| print_duration(Duration::from_nanos(ns));
    let limit = Bytes::new(volume.throughput_limit_bytes_per_s);
    let (read, write) = (time(volume.read_delay_ns), time(volume.write_delay_ns));
    let needed = plan.bytes_needed();
    let seconds = needed.get().div_ceil(volume.throughput_limit_bytes_per_s.max(1));
    [
        ("volume", format!("limit {limit}/s, reads take {read}, writes {write}")),
        ("fill", format!("{needed} to write into memory, about {seconds} s at the limit")),
    ]
}

/// The directory, and what is missing in it.
fn space(survey: &Survey) -> [Property; 2] {
    let path = survey.directory.as_path();
    let created = if survey.is_new { " (will be created)" } else { "" };
    let bytes: u64 = survey.to_write.iter().map(|part| part.bytes).sum();
    let files: u32 = survey.to_write.iter().map(|part| part.files).sum();
    let free = Bytes::new(survey.free_bytes);
    let fill = match files {
        0 => format!("nothing to write, the files exist; {free} free"),
        files => {
            let files = counted(files.into(), "file");
            format!("{} in {files} to write; {free} free", Bytes::new(bytes))
        }
    };
    [("directory", format!("{}{created}", path.display())), ("fill", fill)]
}
