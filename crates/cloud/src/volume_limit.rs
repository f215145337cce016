//! The throughput limit of a volume, and its inverse: the smallest quota for a throughput.
//!
//! No other code converts a quota to a limit (`tidy: quota-arithmetic`). Not for: the throughput of a
//! pool (`pool_throughput.rs`), or enforcing a limit (`volume`).
//!
//! With auto QoS the limit is the quota times the service level's rate, up to a ceiling; with
//! manual QoS it is the assigned throughput. Volumes with cool access have the same limit
//! (AD:azure-netapp-files-service-levels.md, 2026-01-29).

use units::Bytes;

use crate::catalog::Catalog;
use crate::reason::RowRef;
use crate::row::LimitName;
use crate::service_level::{KibPerSecPerGib, QosType, ServiceLevel, VolumeKind};
use crate::throughput::KibPerSec;

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// The settings of a volume that determine its throughput limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeSettings {
    /// The service level of the volume's pool.
    pub level: ServiceLevel,
    /// The kind of volume.
    pub kind: VolumeKind,
    /// The QoS type of the volume's pool.
    pub qos: QosType,
    /// The volume's size.
    pub quota: Bytes,
    /// The throughput assigned to the volume: required with manual QoS, not allowed with auto QoS.
    pub assigned: Option<KibPerSec>,
}

/// The throughput limit of a volume, and how it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeLimit {
    /// The limit for reads and writes together; `None` if the service states none.
    pub throughput: Option<KibPerSec>,
    /// The throughput by quota or assignment, before any ceiling. Volumes without a stated limit can be
    /// planned with this, because it is what is paid for.
    pub granted: KibPerSec,
    /// What determines the limit.
    pub set_by: LimitSetBy,
    /// How it is computed.
    pub derivation: LimitDerivation,
    /// The rows used.
    pub rows: Vec<RowRef>,
}

/// How a throughput limit is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitDerivation {
    /// The throughput assigned under manual QoS.
    Assigned(KibPerSec),
    /// `quota x rate = granted`, up to the ceiling of the volume's kind.
    Quota {
        /// The quota in GiB.
        quota_gib: u64,
        /// The service level's rate.
        rate: KibPerSecPerGib,
        /// Their product.
        granted: KibPerSec,
        /// The kind of volume.
        kind: VolumeKind,
        /// Its ceiling.
        ceiling: Ceiling,
    },
}

/// The ceiling of a kind of volume, compared with the throughput by quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ceiling {
    /// It is lower.
    Lower(KibPerSec),
    /// It is not lower.
    NotLower,
    /// The service states none.
    NotStated,
}

/// What determines a throughput limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSetBy {
    /// Quota times the service level's rate.
    Quota,
    /// The maximum of the volume's kind; the quota would give more.
    Ceiling,
    /// The throughput assigned under manual QoS.
    Assignment,
    /// Nothing: the service states no limit for volumes of its kind.
    Nothing,
}

/// A setting of a volume that the service does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the fields")]
pub enum SettingsError {
    #[error("the level {level} has no {} QoS", .qos.name())]
    QosType { level: ServiceLevel, qos: QosType },
    #[error("a quota of {quota}, a {} volume has at least {least}", .kind.name())]
    QuotaTooSmall { kind: VolumeKind, quota: Bytes, least: Bytes },
    #[error("a quota of {quota}, a {} volume has at most {most}", .kind.name())]
    QuotaTooLarge { kind: VolumeKind, quota: Bytes, most: Bytes },
    #[error("a quota of {quota}, a volume has a multiple of {step}")]
    QuotaStep { quota: Bytes, step: Bytes },
    #[error("no throughput, in a manual pool each volume is assigned one")]
    ThroughputMissing { level: ServiceLevel, kind: VolumeKind },
    #[error("a throughput for a volume in an auto pool, which has it by its quota")]
    ThroughputByQuota,
    #[error("a throughput of {throughput}, a volume is assigned at least {least}")]
    ThroughputTooLow {
        level: ServiceLevel,
        kind: VolumeKind,
        throughput: KibPerSec,
        least: KibPerSec,
    },
    #[error("a throughput of {throughput}, a {} volume is assigned at most {most}", .kind.name())]
    ThroughputTooHigh {
        level: ServiceLevel,
        kind: VolumeKind,
        throughput: KibPerSec,
        most: KibPerSec,
    },
}

/// The setting that an error concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The QoS type, or a service level without it.
    Qos,
    /// The quota.
    Quota,
    /// The assigned throughput.
    Assigned,
}

/// Why a throughput cannot be reached by quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the fields")]
pub enum NoQuota {
    #[error("the throughput of {level} is bought separately from the quota")]
    BoughtSeparately { level: ServiceLevel },
    #[error("the service states no throughput limit for {} volumes", .kind.name())]
    NoLimit { kind: VolumeKind },
    #[error("a {} volume of {level} gets at most {most}, whatever its quota", .kind.name())]
    AboveMost { level: ServiceLevel, kind: VolumeKind, most: KibPerSec },
}

impl VolumeSettings {
    /// A volume in an auto QoS pool.
    pub const fn auto(level: ServiceLevel, kind: VolumeKind, quota: Bytes) -> VolumeSettings {
        VolumeSettings { level, kind, qos: QosType::Auto, quota, assigned: None }
    }

    /// A volume in a manual QoS pool, with `assigned` throughput.
    pub const fn manual(
        level: ServiceLevel,
        kind: VolumeKind,
        quota: Bytes,
        assigned: KibPerSec,
    ) -> VolumeSettings {
        VolumeSettings { level, kind, qos: QosType::Manual, quota, assigned: Some(assigned) }
    }
}

impl SettingsError {
    /// The setting that is wrong.
    pub const fn setting(&self) -> Setting {
        match self {
            SettingsError::QosType { .. } => Setting::Qos,
            SettingsError::QuotaTooSmall { .. }
            | SettingsError::QuotaTooLarge { .. }
            | SettingsError::QuotaStep { .. } => Setting::Quota,
            SettingsError::ThroughputMissing { .. }
            | SettingsError::ThroughputByQuota
            | SettingsError::ThroughputTooLow { .. }
            | SettingsError::ThroughputTooHigh { .. } => Setting::Assigned,
        }
    }
}

impl Catalog {
    /// The throughput limit of a volume.
    ///
    /// Source: "16/64/128 KiB/s per GiB" (NetApp white paper, 2019), equal to the MiB/s per TiB of
    /// the service's documentation; the ceilings are those of large-volumes.md.
    ///
    /// # Errors
    /// Every setting that the service does not allow.
    pub fn volume_limit(&self, volume: &VolumeSettings) -> Result<VolumeLimit, Vec<SettingsError>> {
        let errors = self.settings_errors(volume);
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(match volume.assigned {
            Some(assigned) => self.limit_by_assignment(volume, assigned),
            None => self.limit_by_quota(volume),
        })
    }

    /// The smallest quota with a throughput limit of at least `required`, for a volume with auto QoS: the
    /// inverse of [`Catalog::volume_limit`].
    ///
    /// # Errors
    /// The maximum of this kind and level is lower, or the limit does not follow from a quota.
    pub fn least_quota(
        &self,
        level: ServiceLevel,
        kind: VolumeKind,
        required: KibPerSec,
    ) -> Result<Bytes, NoQuota> {
        let rate = self.level(level).throughput.ok_or(NoQuota::BoughtSeparately { level })?;
        let ceiling =
            self.volume_ceiling(level, QosType::Auto, kind).ok_or(NoQuota::NoLimit { kind })?;
        let (least_gib, most_gib) = self.quota_range(kind);
        let most = rate.throughput(most_gib).min(ceiling);
        if required > most {
            return Err(NoQuota::AboveMost { level, kind, most });
        }
        Ok(Bytes::gib(rate.size_gib(required).max(least_gib)))
    }

    /// The maximum throughput of a volume, for any quota or assignment; `None` if the service states no
    /// limit.
    pub fn volume_ceiling(
        &self,
        level: ServiceLevel,
        qos: QosType,
        kind: VolumeKind,
    ) -> Option<KibPerSec> {
        match (qos, kind) {
            (QosType::Manual, VolumeKind::Regular) => {
                Some(KibPerSec::new(self.limit(LimitName::ManualThroughputMax)))
            }
            _ => self.ceiling(level, kind),
        }
    }

    /// The row of this ceiling.
    pub fn volume_ceiling_row(
        &self,
        level: ServiceLevel,
        qos: QosType,
        kind: VolumeKind,
    ) -> Option<RowRef> {
        match (qos, kind) {
            (QosType::Manual, VolumeKind::Regular) => {
                Some(self.limit_row(LimitName::ManualThroughputMax))
            }
            _ => self.ceiling_row(level, kind),
        }
    }

    /// The highest stated throughput limit of any volume.
    pub fn highest_volume_ceiling(&self) -> KibPerSec {
        let all = ServiceLevel::ALL.into_iter().flat_map(|level| {
            VolumeKind::ALL.into_iter().filter_map(move |kind| self.ceiling(level, kind))
        });
        all.max().expect("the catalogue has a ceiling of some kind of volume")
    }

    /// Minimum and maximum throughput that can be assigned to a volume in a manual QoS pool. The maximum
    /// is `None` if the service states no limit.
    pub fn assignable(
        &self,
        level: ServiceLevel,
        kind: VolumeKind,
    ) -> (KibPerSec, Option<KibPerSec>) {
        let least = KibPerSec::new(self.limit(LimitName::ManualThroughputMin));
        (least, self.volume_ceiling(level, QosType::Manual, kind))
    }

    /// The default kind for a quota: regular up to its maximum size, large above.
    pub fn usual_kind(&self, quota: Bytes) -> VolumeKind {
        match quota > Bytes::gib(self.quota_range(VolumeKind::Regular).1) {
            true => VolumeKind::Large,
            false => VolumeKind::Regular,
        }
    }

    /// Why the service does not allow a quota.
    pub fn quota_errors(&self, kind: VolumeKind, quota: Bytes) -> Vec<SettingsError> {
        let (least, most) = self.quota_range(kind);
        let (least, most) = (Bytes::gib(least), Bytes::gib(most));
        let step = Bytes::gib(self.limit(LimitName::VolumeSizeStep));
        let mut errors = Vec::new();
        if quota < least {
            errors.push(SettingsError::QuotaTooSmall { kind, quota, least });
        }
        if quota > most {
            errors.push(SettingsError::QuotaTooLarge { kind, quota, most });
        }
        if !quota.get().is_multiple_of(step.get()) {
            errors.push(SettingsError::QuotaStep { quota, step });
        }
        errors
    }

    /// Why the service does not allow an assigned throughput, or requires one.
    pub fn assignment_error(&self, volume: &VolumeSettings) -> Option<SettingsError> {
        let VolumeSettings { level, kind, .. } = *volume;
        let throughput = match (volume.qos, volume.assigned) {
            (QosType::Auto, None) => return None,
            (QosType::Auto, Some(_)) => return Some(SettingsError::ThroughputByQuota),
            (QosType::Manual, None) => {
                return Some(SettingsError::ThroughputMissing { level, kind });
            }
            (QosType::Manual, Some(throughput)) => throughput,
        };
        match self.assignable(level, kind) {
            (least, _) if throughput < least => {
                Some(SettingsError::ThroughputTooLow { level, kind, throughput, least })
            }
            (_, Some(most)) if throughput > most => {
                Some(SettingsError::ThroughputTooHigh { level, kind, throughput, most })
            }
            _ => None,
        }
    }

    /// What the service allows instead of a wrong setting: `allowed: 50 GiB to 100 TiB`.
    pub fn allowed(&self, error: &SettingsError) -> String {
        match *error {
            SettingsError::QosType { level, .. } => {
                let names: Vec<_> = self.level(level).qos.iter().map(|qos| qos.name()).collect();
                format!("allowed: {} QoS", names.join(" or "))
            }
            SettingsError::QuotaStep { step, .. } => format!("allowed: multiples of {step}"),
            SettingsError::QuotaTooSmall { kind, quota, .. }
            | SettingsError::QuotaTooLarge { kind, quota, .. } => {
                let (least, most) = self.quota_range(kind);
                let range = format!("allowed: {} to {}", Bytes::gib(least), Bytes::gib(most));
                let allows_it = |kind: &VolumeKind| self.quota_errors(*kind, quota).is_empty();
                match VolumeKind::ALL.into_iter().find(allows_it) {
                    Some(kind) => format!("{range}; a {} volume may have it", kind.name()),
                    None => range,
                }
            }
            SettingsError::ThroughputByQuota => "allowed: none with auto QoS".to_owned(),
            SettingsError::ThroughputMissing { level, kind }
            | SettingsError::ThroughputTooLow { level, kind, .. }
            | SettingsError::ThroughputTooHigh { level, kind, .. } => {
                match self.assignable(level, kind) {
                    (least, Some(most)) => format!("allowed: {least} to {most}"),
                    (least, None) => format!("allowed: {least} or more"),
                }
            }
        }
    }

    fn settings_errors(&self, volume: &VolumeSettings) -> Vec<SettingsError> {
        let VolumeSettings { level, kind, qos, quota, .. } = *volume;
        let mut errors = Vec::new();
        if !self.level(level).qos.contains(&qos) {
            errors.push(SettingsError::QosType { level, qos });
        }
        errors.extend(self.quota_errors(kind, quota));
        errors.extend(self.assignment_error(volume));
        errors
    }

    fn limit_by_assignment(&self, volume: &VolumeSettings, assigned: KibPerSec) -> VolumeLimit {
        let VolumeSettings { level, kind, .. } = *volume;
        let rows = self.volume_ceiling_row(level, QosType::Manual, kind);
        VolumeLimit {
            throughput: Some(assigned),
            granted: assigned,
            set_by: LimitSetBy::Assignment,
            derivation: LimitDerivation::Assigned(assigned),
            rows: rows.into_iter().collect(),
        }
    }

    fn limit_by_quota(&self, volume: &VolumeSettings) -> VolumeLimit {
        let VolumeSettings { level, kind, quota, .. } = *volume;
        let rate = self.level(level).throughput;
        let rate = rate.expect("`parse` requires a rate for levels with auto QoS");
        let quota_gib = quota.get() / GIB;
        let granted = rate.throughput(quota_gib);
        let mut rows = vec![self.level_row(level)];
        let most = self.volume_ceiling(level, QosType::Auto, kind);
        let (throughput, set_by, ceiling) = match most {
            None => (None, LimitSetBy::Nothing, Ceiling::NotStated),
            Some(most) if most < granted => {
                rows.extend(self.volume_ceiling_row(level, QosType::Auto, kind));
                (Some(most), LimitSetBy::Ceiling, Ceiling::Lower(most))
            }
            Some(_) => (Some(granted), LimitSetBy::Quota, Ceiling::NotLower),
        };
        let derivation = LimitDerivation::Quota { quota_gib, rate, granted, kind, ceiling };
        VolumeLimit { throughput, granted, set_by, derivation, rows }
    }
}
