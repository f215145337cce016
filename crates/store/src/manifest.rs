//! `manifest.json`: what was to be done, where, and when it began. Written once, before anything is
//! measured.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use workload::plan::Plan;

use crate::Error;

/// Version of the manifest's format. A field that old readers may ignore is added without raising
/// it; old readers refuse a higher version; a manifest is never rewritten.
pub(crate) const VERSION: u32 = 2;
/// The version that is written where a plan needs nothing newer: what can be read by older tools
/// stays readable for them.
const VERSION_WITHOUT_SEARCHES: u32 = 1;

/// What a manifest says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) started_unix_ms: u64,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) plan_hash: String,
    pub(crate) plan: Plan,
}

/// The file. The plan stands in it byte for byte as it was hashed.
#[derive(Serialize, Deserialize)]
struct ManifestFile {
    schema_version: u32,
    id: String,
    started_unix_ms: u64,
    environment: Vec<(String, String)>,
    plan_hash: String,
    plan: Box<RawValue>,
}

#[derive(Deserialize)]
struct VersionOnly {
    schema_version: u32,
}

/// SHA-256 of the plan's JSON as it stands in the manifest, in hexadecimal.
pub fn plan_hash(plan: &Plan) -> String {
    hash(plan_json(plan).get())
}

fn plan_json(plan: &Plan) -> Box<RawValue> {
    serde_json::value::to_raw_value(plan).expect("a plan is numbers, texts and lists")
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Older tools know no searches, and refuse a plan with one by its version.
fn version_of(plan: &Plan) -> u32 {
    if plan.searches().next().is_some() { VERSION } else { VERSION_WITHOUT_SEARCHES }
}

/// Writes the manifest of record `id` durably.
pub(crate) fn write(
    path: &Path,
    id: &str,
    plan: &Plan,
    environment: &[(String, String)],
    started_unix_ms: u64,
) -> Result<(), Error> {
    let schema_version = version_of(plan);
    let plan = plan_json(plan);
    let file = ManifestFile {
        schema_version,
        id: id.to_owned(),
        started_unix_ms,
        environment: environment.to_vec(),
        plan_hash: hash(plan.get()),
        plan,
    };
    let mut text = serde_json::to_string_pretty(&file).expect("a manifest is numbers and texts");
    text.push('\n');
    let write = || {
        let mut file = File::create_new(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|source| Error::CreateRunDirectory { path: path.to_owned(), source })
}

/// Reads a manifest.
pub(crate) fn read(path: &Path) -> Result<Manifest, Error> {
    let bytes =
        fs::read(path).map_err(|source| Error::ReadFile { path: path.to_owned(), source })?;
    let damaged = |reason: String| Error::DamagedManifest { path: path.to_owned(), reason };
    let version: VersionOnly =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let found = version.schema_version;
    if found > VERSION {
        return Err(Error::NewerVersion { path: path.to_owned(), found, known: VERSION });
    }
    let file: ManifestFile =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if hash(file.plan.get()) != file.plan_hash {
        return Err(damaged("the plan does not have the hash that stands beside it".to_owned()));
    }
    let plan = serde_json::from_str(file.plan.get()).map_err(|error| damaged(error.to_string()))?;
    Ok(Manifest {
        started_unix_ms: file.started_unix_ms,
        environment: file.environment,
        plan_hash: file.plan_hash,
        plan,
    })
}
