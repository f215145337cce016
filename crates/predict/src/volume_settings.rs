//! The throughput limit of a volume with a service level and a quota in a topology.
//!
//! For: reporting settings that the service does not allow, at their keys. Not for: the arithmetic;
//! see `cloud`.

use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::{Setting, SettingsError, VolumeSettings};
use settings::{Problems, TableReader};
use units::{Bytes, BytesPerSec};

use crate::facts;
use crate::statement::{Reason, Statement};
use crate::topology::VolumeGroup;

/// Reports a quota that is not allowed for a volume of this kind.
pub(crate) fn check_quota(
    kind: VolumeKind,
    quota: Bytes,
    fields: &TableReader<'_, '_>,
    problems: &mut Problems<'_>,
) {
    add(facts::of().catalog.quota_errors(kind, quota), fields, problems);
}

/// Sets a volume's limit from its settings, or reports settings that the service does not allow;
/// [`check_quota`] reports the quota. A volume with an assigned throughput is in a manual QoS pool.
pub(crate) fn set_limit(
    volume: &mut VolumeGroup,
    level: ServiceLevel,
    quota: Bytes,
    fields: &TableReader<'_, '_>,
    problems: &mut Problems<'_>,
) {
    let settings = match volume.limit {
        None => VolumeSettings::auto(level, volume.kind, quota),
        Some(given) => match KibPerSec::whole(given) {
            Some(assigned) => VolumeSettings::manual(level, volume.kind, quota, assigned),
            None => {
                let hint = "whole KiB/s, such as `64MiB/s`";
                let message = "no volume of a level is assigned this throughput";
                return problems.add(fields.span_of("throughput"), message, hint);
            }
        },
    };
    match facts::of().catalog.volume_limit(&settings) {
        Ok(limit) => {
            volume.limit = limit.throughput.map(BytesPerSec::from);
            let statement = Statement::VolumeLimit(limit.derivation);
            volume.reasons.push(Reason { statement, rows: limit.rows });
        }
        Err(errors) => {
            let others = errors.into_iter().filter(|error| error.setting() != Setting::Quota);
            add(others, fields, problems);
        }
    }
}

fn add(
    errors: impl IntoIterator<Item = SettingsError>,
    fields: &TableReader<'_, '_>,
    problems: &mut Problems<'_>,
) {
    for error in errors {
        let key = match error.setting() {
            Setting::Qos => "level",
            Setting::Quota => "quota",
            Setting::Assigned => "throughput",
        };
        let hint = match error {
            SettingsError::QosType { .. } => "give its `throughput`".to_owned(),
            _ => facts::of().catalog.allowed(&error),
        };
        problems.add(fields.span_of(key), error.to_string(), hint);
    }
}
