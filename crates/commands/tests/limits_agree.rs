//! A volume has the same throughput limit in every command: `--known`, `predict`, `volume serve`,
//! `size`, the quotas of `tune`, and the emulated volume of `run`.

use analysis::tune::limit::quotas;
use cloud::catalog::Catalog;
use cloud::price::ReplicationInterval;
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel::{Flexible, Premium, Standard, Ultra};
use cloud::service_level::VolumeKind::{Breakthrough, Large, Regular};
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use commands::emulated_volume;
use commands::measure::known_limit;
use commands::size::{self, Options, Sized};
use predict::topology_file;
use sizing::facts::Facts;
use sizing::need::{POOLS_MAX, Protocol};
use sizing::schedule::{self, Phase, Schedule, WEEK};
use sizing::solve::Verdict;
use store::Store;
use units::{Bytes, BytesPerSec, Percent, Share};
use volume::config;
use volume::delay::Distribution;
use volume::one_volume::OneVolume;

/// A volume as a user describes it.
#[derive(Clone, Copy, Debug)]
struct Described {
    gib: u64,
    level: ServiceLevel,
    kind: VolumeKind,
    assigned_mib: Option<u64>,
}

impl Described {
    const fn auto(gib: u64, level: ServiceLevel, kind: VolumeKind) -> Described {
        Described { gib, level, kind, assigned_mib: None }
    }

    const fn manual(gib: u64, level: ServiceLevel, kind: VolumeKind, mib: u64) -> Described {
        Described { gib, level, kind, assigned_mib: Some(mib) }
    }

    /// Bytes per second that `--known` stores; `None` if it is refused.
    fn known(&self) -> Option<f64> {
        let Described { gib, level, kind, assigned_mib } = *self;
        let assigned = assigned_mib.map_or(String::new(), |mib| format!("@{mib}MiB/s"));
        let text = format!("volume={gib}GiB:{level}:{}{assigned}", kind.name());
        known_limit::parse(&text).ok().map(|stated| stated.value)
    }

    /// The limit in `predict`; `None` for no limit.
    fn predicted(&self) -> Result<Option<f64>, String> {
        let Described { gib, level, kind, assigned_mib } = *self;
        let assigned = assigned_mib.map_or(String::new(), |m| format!("throughput = \"{m}MiB/s\""));
        let text = format!(
            "[[host]]\n[[volume]]\nkind = \"{}\"\nlevel = \"{level}\"\nquota = \"{gib}GiB\"\n\
             {assigned}\n[[workload]]\ntransfer_size = \"8KiB\"\nread = \"70%\"\n",
            kind.name()
        );
        let topology = topology_file::parse(&text, "t.toml").map_err(|problems| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        })?;
        Ok(topology.volumes[0].limit.map(BytesPerSec::get))
    }

    /// The limit that `volume serve --config` enforces; `None` for no limit.
    fn served(&self) -> Result<Option<f64>, String> {
        let Described { gib, level, kind, assigned_mib } = *self;
        let catalog = Catalog::embedded();
        let required = assigned_mib.and_then(KibPerSec::from_mib).unwrap_or(KibPerSec::new(0));
        let pool_tib = catalog.least_size_gib(level, required).max(gib).div_ceil(1024);
        let bought = match level {
            Flexible => format!("throughput = \"{}KiB/s\"", catalog.least_purchase(required).get()),
            _ => String::new(),
        };
        let qos = if assigned_mib.is_some() { "manual" } else { "auto" };
        let assigned = assigned_mib.map_or(String::new(), |m| format!("throughput = \"{m}MiB/s\""));
        let names: Vec<String> = match kind {
            Breakthrough => (1..=6).map(|number| format!("ep{number}")).collect(),
            Regular | Large => vec!["ep1".to_owned()],
        };
        let endpoints: String = names
            .iter()
            .map(|name| format!("[[endpoint]]\nname = \"{name}\"\naddress = \"127.0.0.1:0\"\n"))
            .collect();
        let text = format!(
            "[account]\ncapacity_quota = \"{pool_tib}TiB\"\n{endpoints}[[pool]]\nname = \"pool\"\n\
             service_level = \"{level}\"\nsize = \"{pool_tib}TiB\"\nqos = \"{qos}\"\n{bought}\n\
             [[volume]]\nname = \"vol\"\npool = \"pool\"\nquota = \"{gib}GiB\"\nkind = \"{}\"\n\
             endpoints = {names:?}\n{assigned}\n",
            kind.name()
        );
        let config = config::parse(&text, "v.toml", &catalog, &mut |_| Err("none".to_owned()))
            .map_err(|problems| {
                problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            })?;
        let limit = config.account.throughput_limit(&catalog, &config.account.volumes[0]);
        Ok(limit.map(|limit| limit.bytes_per_s() as f64))
    }

    /// The limit that `volume serve` with flags enforces on a volume with one endpoint.
    fn served_by_flags(&self) -> Option<f64> {
        let nothing = Distribution::Constant { ns: 0 };
        let one = OneVolume {
            name: "vol".to_owned(),
            kind: self.kind,
            quota: Bytes::gib(self.gib),
            level: self.level,
            throughput: self.assigned_mib.and_then(KibPerSec::from_mib),
            address: "127.0.0.1:0".parse().expect("an address"),
            flow_throughput: None,
            enforced: true,
            read: nothing.clone(),
            write: nothing,
        };
        let catalog = Catalog::embedded();
        let account = one.config(&catalog).expect("the service allows it").account;
        let limit = account.throughput_limit(&catalog, &account.volumes[0]);
        limit.map(|limit| limit.bytes_per_s() as f64)
    }

    /// The limit of a phase of `size --schedule` with this quota.
    fn scheduled(&self) -> f64 {
        let schedule = Schedule {
            phases: vec![Phase {
                name: "always".to_owned(),
                quota_gib: self.gib,
                level: self.level,
            }],
            hours: vec![0; WEEK],
            stored_gib: 0,
            throughput: None,
            cool_down_s: None,
            region: "eastus".to_owned(),
            hours_per_month: 730,
        };
        let plan = schedule::plan(&schedule, &Facts::embedded()).expect("the service allows it");
        plan.steps[0].throughput.bytes_per_s() as f64
    }

    /// The limit of the least quota that `tune` recommends for a throughput.
    fn of_proposed_quota(&self, bytes_per_s: f64) -> f64 {
        let all = quotas(BytesPerSec::new(bytes_per_s));
        let of_level = all.iter().find(|one| one.level == self.level.name());
        let quota = of_level.and_then(|one| one.quota).expect("this volume's quota is enough");
        let gib = quota.get() >> 30;
        assert!(gib <= self.gib, "{self:?}: a larger quota is recommended: {all:?}");
        let least = Described { gib, ..*self };
        least.known().expect("a volume may have the quota")
    }
}

/// Volumes on both sides of every boundary, with their limits in KiB/s, calculated by hand.
const VOLUMES: [(Described, u64); 20] = [
    (Described::auto(50, Standard, Regular), 800),
    (Described::auto(100 << 10, Standard, Regular), 1600 << 10),
    (Described::auto(100, Premium, Regular), 6400),
    (Described::auto(1 << 10, Premium, Regular), 64 << 10),
    (Described::auto(71_999, Premium, Regular), 4_607_936),
    (Described::auto(72_000, Premium, Regular), 4500 << 10),
    (Described::auto(72_001, Premium, Regular), 4500 << 10),
    (Described::auto(1 << 10, Ultra, Regular), 128 << 10),
    (Described::auto(36_001, Ultra, Regular), 4500 << 10),
    (Described::auto(100 << 10, Ultra, Regular), 4500 << 10),
    (Described::auto(50 << 10, Standard, Large), 800 << 10),
    (Described::auto(50 << 10, Ultra, Large), 6400 << 10),
    (Described::auto(100 << 10, Ultra, Large), 12_800 << 10),
    (Described::auto(1 << 20, Standard, Large), 12_800 << 10),
    (Described::auto(101 << 10, Ultra, Large), 12_800 << 10),
    (Described::manual(1 << 10, Flexible, Regular, 200), 200 << 10),
    (Described::manual(50, Premium, Regular, 1), 1 << 10),
    (Described::manual(1 << 10, Standard, Regular, 4500), 4500 << 10),
    (Described::manual(50 << 10, Flexible, Large, 12_800), 12_800 << 10),
    (Described::manual(2400, Ultra, Breakthrough, 20_480), 20_480 << 10),
];

#[test]
fn a_volume_has_the_same_limit_in_every_command() {
    for (volume, kib) in VOLUMES {
        let limit = (kib << 10) as f64;
        assert_eq!(volume.known(), Some(limit), "--known: {volume:?}");
        assert_eq!(volume.predicted(), Ok(Some(limit)), "predict: {volume:?}");
        assert_eq!(volume.served(), Ok(Some(limit)), "volume serve --config: {volume:?}");
        if volume.kind != Breakthrough {
            assert_eq!(volume.served_by_flags(), Some(limit), "volume serve: {volume:?}");
        }
        // A schedule has auto QoS, and large volumes above 100 TiB.
        let is_usual = Catalog::embedded().usual_kind(Bytes::gib(volume.gib)) == volume.kind;
        if volume.assigned_mib.is_none() && is_usual {
            assert_eq!(volume.scheduled(), limit, "size --schedule: {volume:?}");
        }
        if volume.assigned_mib.is_none() && volume.kind == Regular {
            assert_eq!(volume.of_proposed_quota(limit), limit, "tune: {volume:?}");
        }
    }
}

#[test]
fn a_volume_without_a_documented_limit_has_none_in_every_command() {
    let volume = Described::auto(2400, Ultra, Breakthrough);
    assert_eq!((volume.predicted(), volume.served()), (Ok(None), Ok(None)));
    assert_eq!(volume.known(), None, "there is no limit to store");
}

#[test]
fn a_volume_that_the_service_does_not_allow_is_refused_in_every_command() {
    for volume in [
        Described::auto(49, Ultra, Regular),
        Described::auto(101 << 10, Ultra, Regular),
        Described::auto(49 << 10, Ultra, Large),
        Described::auto(1 << 10, Flexible, Regular),
        Described::manual(1 << 10, Ultra, Regular, 4501),
    ] {
        assert_eq!(volume.known(), None, "--known: {volume:?}");
        assert!(volume.predicted().is_err(), "predict: {volume:?}");
        assert!(volume.served().is_err(), "volume serve: {volume:?}");
    }
}

/// The defaults of `size`, for a throughput in MiB/s and a capacity in GiB.
fn options(mib: u64, capacity: u64) -> Options {
    Options {
        profile: None,
        metric: None,
        throughput: KibPerSec::from_mib(mib),
        capacity: Some(capacity),
        iops: None,
        transfer_size: None,
        read: Percent::ALL,
        response_time: None,
        part: Vec::new(),
        from_run: None,
        cool_down: None,
        growth: Share::ZERO,
        headroom: "0%".parse().expect("a share"),
        region: None,
        require: Vec::new(),
        protocol: Protocol::Nfs3,
        clients: None,
        vm: None,
        level: Vec::new(),
        previews: false,
        pools: POOLS_MAX,
        hours: 730,
        peered: "0%".parse().expect("a share"),
        mean: Percent::ALL,
        cool: "0%".parse().expect("a share"),
        cool_moved: Share::ZERO,
        backup: None,
        snapshots: Share::ZERO,
        replicate_to: None,
        replicate_every: ReplicationInterval::Hour,
        daily_change: None,
        replica_level: None,
        reserved: None,
    }
}

/// A need without a record does not read the store.
fn empty_store() -> Store {
    Store::existing(std::path::Path::new("/nonexistent"))
}

#[test]
fn volumes_of_a_design_have_the_limits_of_the_other_commands() {
    let mut seen = Vec::new();
    for (mib, tib) in [(950, 4), (100, 100), (9 << 10, 1)] {
        let options = options(mib, tib << 10);
        let Sized { verdict, .. } = size::size(&options, &empty_store()).expect("a need");
        let Verdict::Feasible { designs, of_each, .. } = verdict else {
            panic!("no design for {mib} MiB/s and {tib} TiB")
        };
        let pools = designs.iter().chain(&of_each).flat_map(|design| &design.pools);
        for (pool, volumes) in pools.flat_map(|pool| pool.volumes.iter().map(move |v| (pool, v))) {
            let volume = Described {
                gib: volumes.quota_gib,
                level: pool.level,
                kind: volumes.kind,
                assigned_mib: (pool.qos == QosType::Manual).then(|| volumes.throughput.get() >> 10),
            };
            let limit = volumes.throughput.bytes_per_s() as f64;
            assert_eq!(volume.known(), Some(limit), "{volume:?}");
            seen.push((pool.level, pool.qos, volumes.kind));
        }
    }
    for kind in [Regular, Large] {
        for level in ServiceLevel::ALL {
            let has = |qos| seen.contains(&(level, qos, kind));
            assert!(has(QosType::Auto) || has(QosType::Manual), "{level} {kind:?}: {seen:?}");
        }
    }
}

#[test]
fn the_emulated_volume_has_the_limit_of_the_other_commands() {
    let emulated = emulated_volume::volume();
    let level = ServiceLevel::named(&emulated.service_level.to_lowercase()).expect("a level");
    let volume = Described::auto(emulated.quota_bytes >> 30, level, Regular);
    let limit = emulated.throughput_limit_bytes_per_s as f64;
    assert_eq!(volume.known(), Some(limit));
    // Its service has these settings.
    assert_eq!(volume.served_by_flags(), Some(limit));
}

#[test]
fn the_default_slots_of_a_connection_are_the_limit_of_the_service() {
    let most = Catalog::embedded().limit(LimitName::OutstandingPerConnectionMax);
    assert_eq!(u64::from(target::nfs::url::SLOTS), most);
}
