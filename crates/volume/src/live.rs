//! An account that runs, and what may change while it does.
//!
//! For: resizing, moving between service levels and assigning throughput with I/O going on. Every
//! change is a step from one account to another: it must be allowed as a step, and its result must
//! be allowed as an account (`rules.rs`); otherwise nothing changes. A configuration that was read
//! again is such a step too. Not for: doing it to the limits in force; the caller does, with
//! [`LiveAccount::throughput_limit`].

use std::collections::BTreeMap;
use std::time::Duration;

use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::{QosType, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;

use crate::model::{Account, Pool, Volume};
use crate::rules::{Breach, Rule, Subject, check};

const NS_PER_S: u64 = 1_000_000_000;

/// An account with what is remembered of each volume.
#[derive(Clone, Debug)]
pub struct LiveAccount {
    catalog: Catalog,
    account: Account,
    history: BTreeMap<String, History>,
}

/// What a volume's next change depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct History {
    /// Logical bytes that it holds.
    used: Bytes,
    /// The lowest quota it ever had.
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

    /// The rows that the account's rules are made of.
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The account as it is now.
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// The limit of a volume as it is now; `None` where the service states none.
    pub fn throughput_limit(&self, volume: &Volume) -> Option<KibPerSec> {
        self.account.throughput_limit(&self.catalog, volume)
    }

    /// Notes what a volume holds; its quota cannot go below.
    pub fn set_used(&mut self, volume: &str, used: Bytes) {
        if let Some(history) = self.history.get_mut(volume) {
            history.used = used;
        }
    }

    /// Changes a volume's quota.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn resize_volume(
        &mut self,
        now_ns: u64,
        volume: &str,
        quota: Bytes,
    ) -> Result<(), Vec<Breach>> {
        self.edit_volume(now_ns, volume, |_, found| found.quota = quota)
    }

    /// Assigns throughput to a volume in a manual pool.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn assign_throughput(
        &mut self,
        now_ns: u64,
        volume: &str,
        throughput: KibPerSec,
    ) -> Result<(), Vec<Breach>> {
        self.edit_volume(now_ns, volume, |_, found| found.throughput = Some(throughput))
    }

    /// Moves a volume to another pool, and so perhaps to another service level. Into a manual pool
    /// it takes the number of its limit along; in an auto pool its quota decides.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn move_volume(
        &mut self,
        now_ns: u64,
        volume: &str,
        pool: &str,
    ) -> Result<(), Vec<Breach>> {
        self.edit_volume(now_ns, volume, |live, found| {
            let before = live.throughput_limit(found);
            pool.clone_into(&mut found.pool);
            let manual = live.account.pool(pool).is_some_and(|pool| pool.qos == QosType::Manual);
            found.throughput = before.filter(|_| manual);
        })
    }

    /// Changes a pool's size.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn resize_pool(&mut self, now_ns: u64, pool: &str, size: Bytes) -> Result<(), Vec<Breach>> {
        self.edit_pool(now_ns, pool, |found| found.size = size)
    }

    /// Changes the throughput of a pool of the level Flexible.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn set_pool_throughput(
        &mut self,
        now_ns: u64,
        pool: &str,
        throughput: KibPerSec,
    ) -> Result<(), Vec<Breach>> {
        self.edit_pool(now_ns, pool, |found| found.throughput = Some(throughput))
    }

    /// Makes an auto pool manual, for ever. Its volumes keep the numbers of their limits, within
    /// what can be assigned.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn make_manual(&mut self, now_ns: u64, pool: &str) -> Result<(), Vec<Breach>> {
        let mut wanted = self.account.clone();
        let Some(found) = wanted.pools.iter_mut().find(|found| found.name == pool) else {
            return Err(vec![unknown_pool(pool)]);
        };
        found.qos = QosType::Manual;
        let level = found.level;
        for volume in wanted.volumes.iter_mut().filter(|volume| volume.pool == pool) {
            let (least, most) = self.catalog.assignable(level, volume.kind);
            let limit = self.account.throughput_limit(&self.catalog, volume);
            volume.throughput = limit.map(|limit| most.map_or(limit, |m| limit.min(m)).max(least));
        }
        self.change(now_ns, wanted)
    }

    /// Steps to another account: volumes are the same where their names are. What is not in
    /// `wanted` is gone, what is new is empty.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn change(&mut self, now_ns: u64, wanted: Account) -> Result<(), Vec<Breach>> {
        let mut broken = check(&self.catalog, &wanted);
        for (index, pool) in wanted.pools.iter().enumerate() {
            let before = self.account.pool(&pool.name);
            for (key, rule) in before.into_iter().flat_map(|before| check_pool_step(before, pool)) {
                let (subject, name) = (Subject::Pool(index), pool.name.clone());
                broken.push(Breach { subject, name, key, rule });
            }
        }
        let mut history = BTreeMap::new();
        for (index, volume) in wanted.volumes.iter().enumerate() {
            let (Some(before), Some(past)) =
                (self.account.volume(&volume.name), self.history.get(&volume.name))
            else {
                history.extend([new_history(volume)]);
                continue;
            };
            for (key, rule) in self.check_volume_step(now_ns, &wanted, before, volume, past) {
                let (subject, name) = (Subject::Volume(index), volume.name.clone());
                broken.push(Breach { subject, name, key, rule });
            }
            let lowest = past.lowest.min(volume.quota);
            let rises = self.rises(&wanted, before, volume) == Some(true);
            let moved_up_ns = if rises { Some(now_ns) } else { past.moved_up_ns };
            let used = past.used;
            history.insert(volume.name.clone(), History { used, lowest, moved_up_ns });
        }
        if !broken.is_empty() {
            return Err(broken);
        }
        (self.account, self.history) = (wanted, history);
        Ok(())
    }

    fn edit_volume(
        &mut self,
        now_ns: u64,
        name: &str,
        edit: impl FnOnce(&LiveAccount, &mut Volume),
    ) -> Result<(), Vec<Breach>> {
        let mut wanted = self.account.clone();
        match wanted.volumes.iter_mut().find(|volume| volume.name == name) {
            Some(volume) => edit(self, volume),
            None => {
                let (subject, name) = (Subject::Unknown, name.to_owned());
                return Err(vec![Breach { subject, name, key: "name", rule: Rule::NoSuchVolume }]);
            }
        }
        self.change(now_ns, wanted)
    }

    fn edit_pool(
        &mut self,
        now_ns: u64,
        name: &str,
        edit: impl FnOnce(&mut Pool),
    ) -> Result<(), Vec<Breach>> {
        let mut wanted = self.account.clone();
        match wanted.pools.iter_mut().find(|pool| pool.name == name) {
            Some(pool) => edit(pool),
            None => return Err(vec![unknown_pool(name)]),
        }
        self.change(now_ns, wanted)
    }

    fn check_volume_step(
        &self,
        now_ns: u64,
        wanted: &Account,
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
        if self.rises(wanted, before, after) == Some(false)
            && let Some(moved_up_ns) = past.moved_up_ns
            && let (Some(from), Some(to)) =
                (self.account.pool(&before.pool), wanted.pool(&after.pool))
        {
            let free_ns = moved_up_ns.saturating_add(wanted.cool_down_s.saturating_mul(NS_PER_S));
            if now_ns < free_ns {
                // Whole seconds, rounded up: whoever waits so long has waited enough.
                let wait = Duration::from_secs((free_ns - now_ns).div_ceil(NS_PER_S));
                let (from, to) = (from.level, to.level);
                broken.push(("pool", Rule::CoolDown { from, to, wait }));
            }
        }
        broken
    }

    /// Whether a volume comes to a higher or a lower level; `None` where neither, or where the
    /// levels cannot be compared because one has its throughput apart from its size.
    fn rises(&self, wanted: &Account, before: &Volume, after: &Volume) -> Option<bool> {
        let rate = |pool: &Pool| self.catalog.level(pool.level).throughput;
        let from = rate(self.account.pool(&before.pool)?)?;
        let to = rate(wanted.pool(&after.pool)?)?;
        (from != to).then_some(to > from)
    }
}

fn new_history(volume: &Volume) -> (String, History) {
    let history = History { used: Bytes::ZERO, lowest: volume.quota, moved_up_ns: None };
    (volume.name.clone(), history)
}

fn unknown_pool(name: &str) -> Breach {
    let rule = Rule::NoSuchPool { pool: name.to_owned() };
    Breach { subject: Subject::Unknown, name: name.to_owned(), key: "name", rule }
}

fn check_pool_step(before: &Pool, after: &Pool) -> Vec<(&'static str, Rule)> {
    let mut broken = Vec::new();
    if before.level != after.level {
        broken.push(("service_level", Rule::LevelFixed { from: before.level, to: after.level }));
    }
    if before.qos == QosType::Manual && after.qos == QosType::Auto {
        broken.push(("qos", Rule::ManualIsPermanent));
    }
    broken
}
