//! The throughput limit of a volume, and its inverse: the least quota for a throughput.
//!
//! For: everything that states, enforces, predicts or sizes such a limit; no other code turns a
//! quota into one (`tidy: quota-arithmetic`). Not for: what a pool has (`pool_throughput.rs`), nor
//! enforcing a limit, which is the volume service's.
//!
//! With auto QoS the limit is the quota times the service level's rate, up to a ceiling; with
//! manual QoS it is what was assigned. Volumes with cool access have the limit of their service
//! level like any other (AD:azure-netapp-files-service-levels.md, 2026-01-29), so there is no
//! variant for them.

use units::{Bytes, thousands};

use crate::catalog::Catalog;
use crate::reason::{Reason, RowRef};
use crate::row::LimitName;
use crate::service_level::{QosType, ServiceLevel, VolumeKind};
use crate::throughput::KibPerSec;

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// Everything that the throughput limit of a volume depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeSettings {
    /// The service level of the volume's pool.
    pub level: ServiceLevel,
    /// What the volume is built as.
    pub kind: VolumeKind,
    /// The QoS type of the volume's pool.
    pub qos: QosType,
    /// The volume's size.
    pub quota: Bytes,
    /// The throughput assigned to the volume: required with manual QoS, not allowed with auto QoS.
    pub assigned: Option<KibPerSec>,
}

/// The throughput limit of a volume, and why it is that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeLimit {
    /// The limit for reads and writes together; `None` where the service states none.
    pub throughput: Option<KibPerSec>,
    /// What the quota or the assignment gives before any ceiling. For volumes without a stated
    /// limit this is what a plan can count on, because it is what is paid for.
    pub granted: KibPerSec,
    /// What decides the limit.
    pub set_by: LimitSetBy,
    /// The arithmetic, with the rows of data that it rests on.
    pub reason: Reason,
}

/// What decides a throughput limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitSetBy {
    /// Quota times the service level's rate.
    Quota,
    /// The most that a volume of its kind gets; the quota alone would give more.
    Ceiling,
    /// The throughput assigned under manual QoS.
    Assignment,
    /// Nothing: the service states no limit for volumes of its kind.
    Nothing,
}

/// A setting of a volume that the service does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
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

/// The setting that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The QoS type, or the service level that does not have it.
    Qos,
    /// The quota.
    Quota,
    /// The assigned throughput.
    Assigned,
}

/// Why no quota gives a throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what its fields are")]
pub enum NoQuota {
    #[error("the throughput of {level} is bought apart from the quota")]
    BoughtApart { level: ServiceLevel },
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

    /// A volume in a manual QoS pool, where its throughput is `assigned`.
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

    /// The least quota whose throughput limit is at least `required`, for a volume with auto QoS:
    /// the inverse of [`Catalog::volume_limit`].
    ///
    /// # Errors
    /// No quota gives it: the most of a volume of this kind and level is lower, or its limit does
    /// not follow from a quota.
    pub fn least_quota(
        &self,
        level: ServiceLevel,
        kind: VolumeKind,
        required: KibPerSec,
    ) -> Result<Bytes, NoQuota> {
        let rate = self.level(level).throughput.ok_or(NoQuota::BoughtApart { level })?;
        let ceiling =
            self.volume_ceiling(level, QosType::Auto, kind).ok_or(NoQuota::NoLimit { kind })?;
        let (least_gib, most_gib) = self.quota_range(kind);
        let most = rate.throughput(most_gib).min(ceiling);
        if required > most {
            return Err(NoQuota::AboveMost { level, kind, most });
        }
        Ok(Bytes::gib(rate.size_gib(required).max(least_gib)))
    }

    /// The most throughput of a volume, whatever its quota or assignment; `None` where the service
    /// states no limit.
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

    /// The row of that ceiling.
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

    /// The most throughput that the service states for any volume.
    pub fn highest_volume_ceiling(&self) -> KibPerSec {
        let all = ServiceLevel::ALL.into_iter().flat_map(|level| {
            VolumeKind::ALL.into_iter().filter_map(move |kind| self.ceiling(level, kind))
        });
        all.max().expect("the catalogue has a ceiling of some kind of volume")
    }

    /// The throughput that can be assigned to a volume in a manual QoS pool: the least, and the
    /// most, which is `None` where the service states no limit.
    pub fn assignable(
        &self,
        level: ServiceLevel,
        kind: VolumeKind,
    ) -> (KibPerSec, Option<KibPerSec>) {
        let least = KibPerSec::new(self.limit(LimitName::ManualThroughputMin));
        (least, self.volume_ceiling(level, QosType::Manual, kind))
    }

    /// The kind of a volume that is described by its quota alone: regular while one may be as
    /// large, and a large volume beyond.
    pub fn usual_kind(&self, quota: Bytes) -> VolumeKind {
        match quota > Bytes::gib(self.quota_range(VolumeKind::Regular).1) {
            true => VolumeKind::Large,
            false => VolumeKind::Regular,
        }
    }

    /// Everything about a quota that the service does not allow.
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

    /// What is wrong with an assigned throughput, or with its absence.
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

    /// What the service allows in place of a setting that is wrong: `allowed: 50 GiB to 100 TiB`.
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
                let may_have_it = |kind: &VolumeKind| self.quota_errors(*kind, quota).is_empty();
                match VolumeKind::ALL.into_iter().find(may_have_it) {
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
        let text = format!("{assigned} assigned, with manual QoS");
        let rows = self.volume_ceiling_row(level, QosType::Manual, kind);
        VolumeLimit {
            throughput: Some(assigned),
            granted: assigned,
            set_by: LimitSetBy::Assignment,
            reason: Reason::from_rows(text, rows),
        }
    }

    fn limit_by_quota(&self, volume: &VolumeSettings) -> VolumeLimit {
        let VolumeSettings { level, kind, quota, .. } = *volume;
        let rate = self.level(level).throughput;
        let rate = rate.expect("`parse` demands a rate of levels with auto QoS");
        let gib = quota.get() / GIB;
        let granted = rate.throughput(gib);
        let mut text = format!("{} GiB x {rate} = {granted}", thousands(gib));
        let mut rows = vec![self.level_row(level)];
        let (throughput, set_by) = match self.volume_ceiling(level, QosType::Auto, kind) {
            None => {
                text.push_str(&format!(
                    "; the service states no limit for {} volumes",
                    kind.name()
                ));
                (None, LimitSetBy::Nothing)
            }
            Some(ceiling) if ceiling < granted => {
                text.push_str(&format!("; a {} volume has at most {ceiling}", kind.name()));
                rows.extend(self.volume_ceiling_row(level, QosType::Auto, kind));
                (Some(ceiling), LimitSetBy::Ceiling)
            }
            Some(_) => (Some(granted), LimitSetBy::Quota),
        };
        VolumeLimit { throughput, granted, set_by, reason: Reason::from_rows(text, rows) }
    }
}
