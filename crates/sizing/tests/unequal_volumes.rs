//! No cheaper pools exist, including unequal ones: exhaustive search over every size and throughput
//! of every pool for hundreds of small needs, with independent arithmetic on prices and limits.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::service_level::{QosType, ServiceLevel};
use cloud::throughput::KibPerSec;
use sizing::cost::Item;
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Demand, Need};
use sizing::solve::{Verdict, solve};
use units::Share;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

/// Hours in the month of these needs.
const HOURS: u128 = 730;
/// Most Flexible pools in the search, as many as the solver may use.
const POOLS: usize = 4;
/// Largest total size of Flexible pools in the search, in TiB.
const TIB: usize = 8;
/// The largest throughput of a need in MiB/s.
const MIB_S: usize = 600;
/// The largest pool of the other levels: 600 MiB/s of Standard are 37.5 TiB.
const TIB_BY_SIZE: u64 = 40;

fn need(kib_s: u64, gib: u64) -> Need {
    let demand = Demand {
        throughput: KibPerSec::new(kib_s),
        transfer_bytes: 64 << 10,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    };
    needs::of(demand, gib)
}

fn cheapest(need: &Need) -> Design {
    match solve(need, &FACTS).expect("a need") {
        Verdict::Feasible { designs, .. } => designs.into_iter().next().expect("a design"),
        Verdict::Infeasible(why) => panic!("{why:?}\nfor {need:?}"),
    }
}

/// Pools and their bought throughput, in millionths of a dollar.
fn storage_micros(design: &Design) -> u64 {
    design.cost.of(Item::Capacity).micros() + design.cost.of(Item::Throughput).micros()
}

/// 5 TiB in three pools of 2, 2 and 1 TiB: each includes 128 MiB/s, together 384,
/// which is more than 320. 5,120 GiB x $0.000216 x 730 h = $807.32. Three equal volumes need three
/// pools of 2 TiB: 6,144 GiB x $0.000216 x 730 h = $968.79.
#[test]
fn five_tib_at_320_mib_s_cost_807_dollars_in_west_europe() {
    let levels = vec![ServiceLevel::Flexible];
    let region = "westeurope".to_owned();
    let design = cheapest(&Need { levels, region, ..need(320 << 10, 5 << 10) });
    assert_eq!(5_120 * 216 * 730, 807_321_600);
    assert_eq!(design.cost.month().micros(), 807_321_600);
    assert_eq!(design.pool_gib(), 5_120);
}

/// 10 TiB in four pools of 3, 3, 2 and 2 TiB with 1,125 MiB/s each, of which 512 are included:
/// 10,240 GiB x $0.000151 x 730 h + 3,988 MiB/s x $0.003082 x 730 h = $1,128.76 + $8,972.44 =
/// $10,101.20. Four equal volumes of 2.5 TiB need 12 TiB and cost $10,326.95.
#[test]
fn ten_tib_at_4_500_mib_s_cost_10_101_dollars_in_east_us() {
    let levels = vec![ServiceLevel::Flexible];
    let design = cheapest(&Need { levels, ..need(4_500 << 10, 10 << 10) });
    assert_eq!(10_240 * 151 * 730 + 3_988 * 3_082 * 730, 10_101_196_880u64);
    assert_eq!(storage_micros(&design), 10_101_196_880);
    let sizes: Vec<u64> = design.pools.iter().map(|pool| pool.size_gib >> 10).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 10);
    assert_eq!(sizes.len(), 4);
}

/// More pools than the default include more throughput: seven of 1 TiB include 896 MiB/s, eight
/// 1,024. 8,192 GiB x $0.000151 x 730 h = $903.00.
#[test]
fn more_pools_are_used_if_allowed_and_cheaper() {
    let levels = vec![ServiceLevel::Flexible];
    let few = Need { levels, ..need(950 << 10, 4 << 10) };
    assert_eq!(cheapest(&few).pools.len(), 4);
    let many = cheapest(&Need { pools_max: 25, ..few });
    assert_eq!(many.pools.len(), 8);
    assert_eq!(storage_micros(&many), 8_192 * 151 * 730);
}

/// Least cost in millionths of a dollar per hour by number of pools, least TiB and least MiB/s.
type Table = Vec<Vec<u128>>;

/// Every size and every throughput of each of up to four Flexible pools.
fn flexible_table(region: &str) -> Table {
    let prices = FACTS.prices.storage(region).expect("prices");
    let gib = u128::from(prices.capacity(ServiceLevel::Flexible).expect("a price").micros());
    let mib = u128::from(prices.flexible.expect("a price").throughput.micros());
    // A pool of `tib` includes 128 MiB/s and may have 640 per TiB.
    let pool = |tib: usize, mib_s: usize| {
        tib as u128 * 1024 * gib + (mib_s.saturating_sub(128)) as u128 * mib
    };
    let none = u128::MAX / 2;
    // By pools, TiB and MiB/s: the least cost of exactly those.
    let mut exact: Vec<Vec<Vec<u128>>> = vec![vec![vec![none; MIB_S + 1]; TIB + 1]; POOLS + 1];
    exact[0][0][0] = 0;
    for pools in 1..=POOLS {
        for tib in 1..=TIB {
            for own_tib in 1..=tib {
                // A pool without throughput would have no volume, and a volume has at least 1.
                for own_mib in 1..=MIB_S.min(640 * own_tib) {
                    let own = pool(own_tib, own_mib);
                    let (before, after) = exact.split_at_mut(pools);
                    let rest = &before[pools - 1][tib - own_tib];
                    let best = &mut after[0][tib];
                    for mib_s in own_mib..=MIB_S {
                        best[mib_s] = best[mib_s].min(rest[mib_s - own_mib] + own);
                    }
                }
            }
        }
    }
    let mut least = vec![vec![none; MIB_S + 1]; TIB + 1];
    for tib in 0..=TIB {
        for mib_s in 0..=MIB_S {
            least[tib][mib_s] =
                (1..=POOLS).map(|pools| exact[pools][tib][mib_s]).min().expect("pools");
        }
    }
    // More capacity or throughput is sufficient too.
    for tib in (0..=TIB).rev() {
        for mib_s in (0..=MIB_S).rev() {
            let larger = least.get(tib + 1).map_or(none, |row| row[mib_s]);
            let faster = least[tib].get(mib_s + 1).copied().unwrap_or(none);
            least[tib][mib_s] = least[tib][mib_s].min(larger).min(faster);
        }
    }
    least
}

/// The most throughput in KiB/s of up to four volumes whose quotas, in steps of 512 GiB, fill a
/// pool, over all divisions.
fn most_by_quota(steps: u64, largest: u64, volumes: u64, limit: &dyn Fn(u64) -> u64) -> u64 {
    let alone = if steps <= largest { limit(steps) } else { 0 };
    if volumes == 1 {
        return alone;
    }
    let with = |own: u64| limit(own) + most_by_quota(steps - own, own, volumes - 1, limit);
    (1..steps.min(largest + 1)).map(with).chain([alone]).max().unwrap_or(0)
}

/// The most throughput of a pool of each size by quotas, by level.
fn by_quota(level: ServiceLevel) -> Vec<u64> {
    let rate = FACTS.catalog.level(level).throughput.expect("by size").kib_per_sec_per_gib();
    // Regular volumes: up to 4,500 MiB/s, at Standard 1,600.
    let ceiling = if level == ServiceLevel::Standard { 1_600 << 10 } else { 4_500 << 10 };
    let limit = |steps: u64| (steps * 512 * rate).min(ceiling);
    (0..=TIB_BY_SIZE).map(|tib| most_by_quota(tib * 2, tib * 2, 3, &limit)).collect()
}

/// The cheapest storage per hour at one level.
fn brute(need: &Need, level: ServiceLevel, flexible: &Table, by_quota: &[u64]) -> u128 {
    let part = &need.parts[0];
    let (kib_s, gib) = (part.throughput().get(), part.capacity_gib);
    let mib_s = kib_s.div_ceil(1024);
    if level == ServiceLevel::Flexible {
        return flexible[gib.div_ceil(1024) as usize][mib_s as usize];
    }
    let prices = FACTS.prices.storage(&need.region).expect("prices");
    let rate = FACTS.catalog.level(level).throughput.expect("by size").kib_per_sec_per_gib();
    let can = |tib: &u64| {
        let is_manual = FACTS.catalog.level(level).qos.contains(&QosType::Manual);
        let manual = is_manual && tib * 1024 * rate >= mib_s * 1024;
        tib * 1024 >= gib && (manual || by_quota[*tib as usize] >= kib_s)
    };
    let tib = (1..=TIB_BY_SIZE).find(can).expect("the largest pool is enough");
    u128::from(tib * 1024) * u128::from(prices.capacity(level).expect("a price").micros())
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[test]
fn the_cheapest_design_costs_what_an_exhaustive_search_finds_to_the_cent() {
    let regions = ["eastus", "westeurope"];
    let tables = regions.map(flexible_table);
    let limits = ServiceLevel::ALL.map(|level| match level {
        ServiceLevel::Flexible => Vec::new(),
        _ => by_quota(level),
    });
    let vm = "Standard_D32s_v5";
    let mut state = 2026;
    let mut unequal = 0;
    for case in 0..400usize {
        let kib_s = 1 + next(&mut state) % ((MIB_S as u64) << 10);
        let gib = 1 + next(&mut state) % (6 << 10);
        let region_index = case % 2;
        let levels = match next(&mut state) % 6 {
            one @ 0..4 => vec![ServiceLevel::ALL[one as usize]],
            _ => ServiceLevel::ALL.to_vec(),
        };
        let region = regions[region_index].to_owned();
        let fixed = Need { vm: Some(vm.to_owned()), hosts: Some(1), ..need(kib_s, gib) };
        let need = Need { levels: levels.clone(), region, ..fixed };
        let of_level = |level: &ServiceLevel| {
            let index = ServiceLevel::ALL.iter().position(|one| one == level).expect("a level");
            brute(&need, *level, &tables[region_index], &limits[index])
        };
        let hour = levels.iter().map(of_level).min().expect("a level");
        // Hosts have a price in East US only.
        let host = FACTS.prices.vm(vm, &need.region).map_or(0, |price| price.hour.micros());
        let month = (hour + u128::from(host)) * HOURS;
        let design = cheapest(&need);
        assert_eq!(
            u128::from(design.cost.month().micros()),
            month,
            "{kib_s} KiB/s and {gib} GiB at {levels:?} in {}: {:#?}",
            need.region,
            design.pools
        );
        let sizes: Vec<u64> = design.pools.iter().map(|pool| pool.size_gib).collect();
        unequal += usize::from(sizes.iter().any(|size| *size != sizes[0]));
    }
    assert!(unequal > 20, "only {unequal} of 400 designs have unequal pools");
}

/// The bound of a larger need: no layout of `pools` Flexible pools costs less than the least sum of
/// their sizes and the throughput beyond what all of them include.
fn bound(kib_s: u64, gib: u64, gib_price: u64, mib_price: u64) -> u128 {
    let mib_s = kib_s.div_ceil(1024);
    let of = |pools: u64| {
        let tib = gib.div_ceil(1024).max(mib_s.div_ceil(640)).max(pools);
        let bought = mib_s.saturating_sub(pools * 128);
        u128::from(tib * 1024) * u128::from(gib_price) + u128::from(bought) * u128::from(mib_price)
    };
    (1..=POOLS as u64).map(of).min().expect("there are pools")
}

#[test]
fn larger_needs_cost_the_lower_bound_of_all_divisions() {
    let prices = FACTS.prices.storage("eastus").expect("prices");
    let gib_price = prices.capacity(ServiceLevel::Flexible).expect("a price").micros();
    let mib_price = prices.flexible.expect("a price").throughput.micros();
    let mut state = 7;
    for _ in 0..200 {
        let kib_s = 1 + next(&mut state) % (12_000 << 10);
        let gib = 1 + next(&mut state) % (300 << 10);
        let levels = vec![ServiceLevel::Flexible];
        let vm = Some("Standard_D32s_v5".to_owned());
        let design = cheapest(&Need { levels, vm, ..need(kib_s, gib) });
        let least = bound(kib_s, gib, gib_price, mib_price) * HOURS;
        assert_eq!(u128::from(storage_micros(&design)), least, "{kib_s} KiB/s and {gib} GiB");
    }
}
