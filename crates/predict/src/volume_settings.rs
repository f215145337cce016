//! The throughput limit of a volume that a topology describes by level and quota.
//!
//! For: reporting settings that the service does not allow at the keys that hold them. Not for: the
//! arithmetic, which is `cloud`'s.

use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::{Setting, SettingsError, VolumeSettings};
use units::diagnostic::Mistakes;
use units::{Bytes, BytesPerSec};

use crate::facts;
use crate::fields::Fields;
use crate::topology::VolumeGroup;

/// Reports a quota that no volume of this kind may have.
pub(crate) fn check_quota(
    kind: VolumeKind,
    quota: Bytes,
    fields: &Fields<'_, '_>,
    mistakes: &mut Mistakes<'_>,
) {
    add(facts::of().catalog.quota_errors(kind, quota), fields, mistakes);
}

/// Gives a volume the limit of its settings, or reports those that the service does not allow;
/// [`check_quota`] reports the quota. A volume that has a throughput too is in a manual QoS pool.
pub(crate) fn set_limit(
    volume: &mut VolumeGroup,
    level: ServiceLevel,
    quota: Bytes,
    fields: &Fields<'_, '_>,
    mistakes: &mut Mistakes<'_>,
) {
    let settings = match volume.limit_bytes_per_s {
        None => VolumeSettings::auto(level, volume.kind, quota),
        Some(given) => match KibPerSec::whole(BytesPerSec::new(given)) {
            Some(assigned) => VolumeSettings::manual(level, volume.kind, quota, assigned),
            None => {
                let hint = "whole KiB/s, such as `64MiB/s`";
                let message = "no volume of a level is assigned this throughput";
                return mistakes.add(fields.place("throughput"), message, hint);
            }
        },
    };
    match facts::of().catalog.volume_limit(&settings) {
        Ok(limit) => {
            volume.limit_bytes_per_s = limit.throughput.map(|limit| limit.bytes_per_s() as f64);
            volume.reasons.push(limit.reason);
        }
        Err(errors) => {
            let others = errors.into_iter().filter(|error| error.setting() != Setting::Quota);
            add(others, fields, mistakes);
        }
    }
}

fn add(
    errors: impl IntoIterator<Item = SettingsError>,
    fields: &Fields<'_, '_>,
    mistakes: &mut Mistakes<'_>,
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
        mistakes.add(fields.place(key), error.to_string(), hint);
    }
}
