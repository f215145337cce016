//! Validates a need: ranges, names, and what its region offers.

use cloud::row::LimitName;
use units::{Bytes, BytesPerSec, Share};

use crate::facts::Facts;
use crate::host_kind;
use crate::need::{Need, NeedError, Part};
use crate::region_need;

/// Far above any regional capacity; sums of larger throughputs could overflow 64 bits.
const THROUGHPUT_MAX_KIB: u64 = 1 << 50;
/// 1 EiB, for the same reason.
const CAPACITY_MAX_GIB: u64 = 1 << 30;
/// Hours in the longest month.
const HOURS_MAX: u32 = 744;
/// Most hosts of one design.
const HOSTS_MAX: u32 = 10_000;
/// Largest headroom: a tenth of what is bought is used.
const HEADROOM_MAX: Share = Share::from_percent(90);
/// Largest growth.
const GROWTH_MAX: Share = Share::from_percent(10_000);

impl Need {
    /// Validates the need.
    ///
    /// # Errors
    /// The first violation found.
    pub fn check(&self, facts: &Facts) -> Result<(), NeedError> {
        let is_some = |part: &Part| part.capacity_gib > 0 || part.throughput().get() > 0;
        if !self.parts.iter().any(is_some) {
            return Err(NeedError::Nothing);
        }
        let range = |what: &'static str, found: String, allowed: &str| {
            Err(NeedError::OutOfRange { what, found, allowed: allowed.to_owned() })
        };
        for (index, part) in self.parts.iter().enumerate() {
            if self.parts[..index].iter().any(|other| other.name == part.name) {
                return Err(NeedError::SameName { name: part.name.clone() });
            }
            let throughput = part.throughput();
            if throughput.get() > THROUGHPUT_MAX_KIB {
                let found = BytesPerSec::from(throughput).to_string();
                return range("the throughput", found, "less than 1 EiB/s");
            }
            if part.capacity_gib > CAPACITY_MAX_GIB {
                let found = Bytes::gib(part.capacity_gib.min(1 << 33)).to_string();
                return range("the capacity", found, "at most 1 EiB");
            }
            if part.demands.iter().any(|demand| demand.transfer_bytes == 0) {
                return range("the transfer size", "0".to_owned(), "a size above 0");
            }
            let reads = part.demands.iter().map(|demand| demand.read).max();
            if let Some(reads) = reads.filter(|reads| *reads > Share::WHOLE) {
                return range("the share of reads", reads.to_string(), "at most 100%");
            }
        }
        if self.headroom > HEADROOM_MAX {
            return range("the headroom", self.headroom.to_string(), "0% to 90%");
        }
        if self.growth > GROWTH_MAX {
            return range("the growth", self.growth.to_string(), "at most 10000%");
        }
        if !(1..=HOURS_MAX).contains(&self.hours_per_month) {
            let found = format!("{} hours", self.hours_per_month);
            return range("the month", found, "1 to 744 hours");
        }
        if self.hosts.is_some_and(|hosts| !(1..=HOSTS_MAX).contains(&hosts)) {
            let found = self.hosts.unwrap_or_default().to_string();
            return range("the number of clients", found, "1 to 10,000");
        }
        let pools_most = facts.catalog.limit(LimitName::PoolsPerAccountMax);
        if !(1..=pools_most).contains(&self.pools_max) {
            let allowed = format!("1 to {pools_most}");
            return range("the number of pools", self.pools_max.to_string(), &allowed);
        }
        if self.response_time.is_some_and(|time| time.0 <= 0.0) {
            return range("the response time", "0".to_owned(), "a duration above 0");
        }
        let charges = &self.charges;
        for (what, share) in [
            ("the mean throughput", charges.mean),
            ("the share of traffic that crosses a peering", charges.crossing),
            ("the share of data in the cool tier", charges.cool),
        ] {
            if share > Share::WHOLE {
                return range(what, share.to_string(), "at most 100%");
            }
        }
        if charges.backup_gib > CAPACITY_MAX_GIB {
            let found = format!("{} GiB", charges.backup_gib);
            return range("the size of retained backups", found, "at most 1 EiB");
        }
        region_need::check(self, facts)?;
        match &self.vm {
            Some(name) if host_kind::named(name, self.protocol, facts).is_none() => {
                Err(NeedError::UnknownVm { name: name.clone() })
            }
            _ => Ok(()),
        }
    }
}
