//! `manifest.json`: the plan, the environment and the start time. It is written once, before
//! anything is measured.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use metrics::environment::Environment;
use metrics::fleet::Reach;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use workload::plan::Plan;

use crate::Error;

/// The file's name in the run directory.
pub(crate) const NAME: &str = "manifest.json";

/// Version of the manifest's format. Fields that older versions may ignore are added without
/// raising it. Older versions refuse a higher number. A manifest is never rewritten.
const VERSION: u32 = 2;
/// The version written for plans without searches, which older versions can read.
const VERSION_WITHOUT_SEARCHES: u32 = 1;

/// The contents of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) started_unix_ms: u64,
    pub(crate) environment: Environment,
    pub(crate) plan_hash: String,
    pub(crate) plan: Plan,
    /// How the hosts of a fleet were reached.
    pub(crate) fleet: Option<Reach>,
}

/// The file. It contains the plan byte for byte as it was hashed.
#[derive(Serialize, Deserialize)]
struct ManifestFile {
    schema_version: u32,
    id: String,
    started_unix_ms: u64,
    environment: Vec<(String, String)>,
    /// Only of a fleet; older versions ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fleet: Option<Reach>,
    plan_hash: String,
    plan: Box<RawValue>,
}

#[derive(Deserialize)]
struct VersionOnly {
    schema_version: u32,
}

/// SHA-256 of the plan's JSON as stored in the manifest, in hexadecimal.
pub fn plan_hash(plan: &Plan) -> String {
    hash(plan_json(plan).get())
}

fn plan_json(plan: &Plan) -> Box<RawValue> {
    serde_json::value::to_raw_value(plan).expect("a plan is numbers, texts and lists")
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn version_of(plan: &Plan) -> u32 {
    if plan.searches().next().is_some() { VERSION } else { VERSION_WITHOUT_SEARCHES }
}

/// Writes the manifest of record `id` durably.
pub(crate) fn write(
    path: &Path,
    id: &str,
    plan: &Plan,
    environment: &Environment,
    fleet: Option<&Reach>,
    started_unix_ms: u64,
) -> Result<(), Error> {
    let schema_version = version_of(plan);
    let plan = plan_json(plan);
    let file = ManifestFile {
        schema_version,
        id: id.to_owned(),
        started_unix_ms,
        environment: environment.pairs(),
        fleet: fleet.cloned(),
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
        return Err(damaged("the plan does not match its stored hash".to_owned()));
    }
    let plan = serde_json::from_str(file.plan.get()).map_err(|error| damaged(error.to_string()))?;
    Ok(Manifest {
        started_unix_ms: file.started_unix_ms,
        environment: file.environment.into_iter().collect(),
        plan_hash: file.plan_hash,
        plan,
        fleet: file.fleet,
    })
}
