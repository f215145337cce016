//! The account in force, and the rules for changing it while the service runs.
//!
//! For: resizing, moving between service levels and assigning throughput during I/O. A change replaces
//! the whole account. Both the change and the new account (`rules.rs`) must be allowed; otherwise
//! nothing changes. Not for: applying the new limits; the caller does that with
//! [`LiveAccount::throughput_limit`].

use std::collections::BTreeMap;
use std::time::Duration;

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::{QosType, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;

use crate::model::{Account, Pool, Volume};
use crate::rules::{Breach, ConfigItem, Rule, check};

const NS_PER_S: u64 = 1_000_000_000;

/// The account in force, with the history of each volume.
#[derive(Clone, Debug)]
pub struct LiveAccount {
    catalog: Catalog,
    account: Account,
    history: BTreeMap<String, History>,
}

/// The past of a volume, on which the next change depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct History {
    /// Logical bytes that the volume stores.
    used: Bytes,
    /// The lowest quota so far.
    lowest: Bytes,
    /// When it last moved to a higher service level.
    moved_up_ns: Option<u64>,
}

impl LiveAccount {
    /// Starts an account whose volumes are empty.
    ///
    /// # Errors
    /// All rules that it breaks.
    pub fn start(catalog: Catalog, account: Account) -> Result<LiveAccount, Vec<Breach>> {
        let broken = check(&catalog, &account);
        if !broken.is_empty() {
            return Err(broken);
        }
        let history = account.volumes.iter().map(new_history).collect();
        Ok(LiveAccount { catalog, account, history })
    }

    /// The facts that the rules use.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The account in force.
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// The limit of a volume; `None` if the service states none.
    pub fn throughput_limit(&self, volume: &Volume) -> Option<KibPerSec> {
        self.account.throughput_limit(&self.catalog, volume)
    }

    /// Records the bytes that a volume stores; its quota cannot shrink below them.
    pub fn set_used(&mut self, volume: &str, used: Bytes) {
        if let Some(history) = self.history.get_mut(volume) {
            history.used = used;
        }
    }

    /// Replaces the account. Pools and volumes are identified by their names; new volumes are empty.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn change(&mut self, now_ns: u64, new: Account) -> Result<(), Vec<Breach>> {
        let mut broken = check(&self.catalog, &new);
        for (index, pool) in new.pools.iter().enumerate() {
            let before = self.account.pool(&pool.name);
            let rules = before.into_iter().flat_map(|before| check_pool_change(before, pool));
            for (key, rule) in rules {
                let (item, name) = (ConfigItem::Pool(index), pool.name.clone());
                broken.push(Breach { item, name, key, rule });
            }
        }
        let mut history = BTreeMap::new();
        for (index, volume) in new.volumes.iter().enumerate() {
            let (Some(before), Some(past)) =
                (self.account.volume(&volume.name), self.history.get(&volume.name))
            else {
                history.extend([new_history(volume)]);
                continue;
            };
            for (key, rule) in self.check_volume_change(now_ns, &new, before, volume, past) {
                let (item, name) = (ConfigItem::Volume(index), volume.name.clone());
                broken.push(Breach { item, name, key, rule });
            }
            let lowest = past.lowest.min(volume.quota);
            let moves_up = self.moves_up(&new, before, volume) == Some(true);
            let moved_up_ns = if moves_up { Some(now_ns) } else { past.moved_up_ns };
            let used = past.used;
            history.insert(volume.name.clone(), History { used, lowest, moved_up_ns });
        }
        if !broken.is_empty() {
            return Err(broken);
        }
        (self.account, self.history) = (new, history);
        Ok(())
    }

    fn check_volume_change(
        &self,
        now_ns: u64,
        new: &Account,
        before: &Volume,
        after: &Volume,
        past: &History,
    ) -> Vec<(&'static str, Rule)> {
        let mut broken = Vec::new();
        let quota = after.quota;
        if quota < past.used {
            broken.push(("quota", Rule::QuotaBelowUsed { quota, used: past.used }));
        }
        if before.kind != after.kind {
            broken.push(("kind", Rule::KindFixed { from: before.kind, to: after.kind }));
        }
        if after.kind != VolumeKind::Regular && quota > before.quota {
            let percent = self.catalog.limit(LimitName::LargeVolumeGrowthMax);
            let most = u128::from(past.lowest.get()) * u128::from(100 + percent) / 100;
            let limit = Bytes::new(u64::try_from(most).unwrap_or(u64::MAX));
            if quota > limit {
                let lowest = past.lowest;
                broken.push(("quota", Rule::GrowthTooLarge { quota, lowest, percent, limit }));
            }
        }
        if self.moves_up(new, before, after) == Some(false)
            && let Some(moved_up_ns) = past.moved_up_ns
            && let (Some(from), Some(to)) = (self.account.pool(&before.pool), new.pool(&after.pool))
        {
            let allowed_ns = moved_up_ns.saturating_add(new.cool_down_s.saturating_mul(NS_PER_S));
            if now_ns < allowed_ns {
                // Rounded up, so that waiting this long is enough.
                let wait = Duration::from_secs((allowed_ns - now_ns).div_ceil(NS_PER_S));
                let (from, to) = (from.level, to.level);
                broken.push(("pool", Rule::CoolDown { from, to, wait }));
            }
        }
        broken
    }

    /// Whether a volume moves to a higher level (true) or a lower one (false); `None` if neither, or
    /// if throughput at one of the levels does not follow from size.
    fn moves_up(&self, new: &Account, before: &Volume, after: &Volume) -> Option<bool> {
        let rate = |pool: &Pool| self.catalog.level(pool.level).throughput;
        let from = rate(self.account.pool(&before.pool)?)?;
        let to = rate(new.pool(&after.pool)?)?;
        (from != to).then_some(to > from)
    }
}

fn new_history(volume: &Volume) -> (String, History) {
    let history = History { used: Bytes::ZERO, lowest: volume.quota, moved_up_ns: None };
    (volume.name.clone(), history)
}

fn check_pool_change(before: &Pool, after: &Pool) -> Vec<(&'static str, Rule)> {
    let mut broken = Vec::new();
    if before.level != after.level {
        broken.push(("service_level", Rule::LevelFixed { from: before.level, to: after.level }));
    }
    if before.qos == QosType::Manual && after.qos == QosType::Auto {
        broken.push(("qos", Rule::ManualIsPermanent));
    }
    broken
}
