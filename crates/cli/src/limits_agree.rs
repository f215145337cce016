//! The same volume has the same throughput limit wherever a user reads one: in `--known`,
//! `predict`, `volume serve`, `size`, the quotas of `tune`, and the emulated volume of `run`.

use analysis::tune::limit::quotas;
use clap::{CommandFactory, Parser};
use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel::{Flexible, Premium, Standard, Ultra};
use cloud::service_level::VolumeKind::{Breakthrough, Large, Regular};
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use cloud::volume_limit::VolumeSettings;
use predict::topology_file;
use sizing::facts::Facts;
use sizing::schedule::{self, Phase, Schedule, WEEK};
use sizing::solve::{Verdict, solve};
use units::Bytes;
use volume::config;
use volume::delay::Distribution;
use volume::one_volume::OneVolume;

use crate::args::{Arguments, Command};
use crate::commands::size;
use crate::{emulated, known};

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

    /// Bytes per second that `--known` keeps; `None` where it is refused.
    fn known(&self) -> Option<f64> {
        let Described { gib, level, kind, assigned_mib } = *self;
        let assigned = assigned_mib.map_or(String::new(), |mib| format!("@{mib}MiB/s"));
        let text = format!("volume={gib}GiB:{level}:{}{assigned}", kind.name());
        let kept = known::parse(&text).ok()?.value;
        let (bytes_per_s, _) = kept.split_once(' ').expect("a number with its unit");
        Some(bytes_per_s.parse().expect("a number"))
    }

    /// What `predict` takes for a volume of a topology; `None` for no limit.
    fn predicted(&self) -> Result<Option<f64>, String> {
        let Described { gib, level, kind, assigned_mib } = *self;
        let assigned = assigned_mib.map_or(String::new(), |m| format!("throughput = \"{m}MiB/s\""));
        let text = format!(
            "[[host]]\n[[volume]]\nkind = \"{}\"\nlevel = \"{level}\"\nquota = \"{gib}GiB\"\n\
             {assigned}\n[[workload]]\ntransfer_size = \"8KiB\"\nread = \"70%\"\n",
            kind.name()
        );
        let topology = topology_file::parse(&text, "t.toml").map_err(|mistakes| {
            mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        })?;
        Ok(topology.volumes[0].limit_bytes_per_s)
    }

    /// What `volume serve --config` enforces; `None` for no limit.
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
            .map_err(|mistakes| {
                mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            })?;
        let limit = config.account.throughput_limit(&catalog, &config.account.volumes[0]);
        Ok(limit.map(|limit| limit.bytes_per_s() as f64))
    }

    /// What `volume serve` enforces by its flags, which make volumes of one endpoint.
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

    /// What `size --schedule` says of a phase with this quota.
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

    /// The limit of the least quota that `tune` proposes for this limit.
    fn of_proposed_quota(&self, bytes_per_s: f64) -> f64 {
        let all = quotas(bytes_per_s);
        let of_level = all.iter().find(|one| one.level == self.level.name());
        let bytes = of_level.and_then(|one| one.quota_bytes).expect("this volume's quota does it");
        assert!(bytes >> 30 <= self.gib, "{self:?}: a larger quota is proposed: {all:?}");
        let least = Described { gib: bytes >> 30, ..*self };
        least.known().expect("a volume may have the quota")
    }
}

/// Volumes on both sides of every edge, with their limits in KiB/s worked out by hand.
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
        // A schedule has auto QoS, and says regular volumes up to 100 TiB and large ones beyond.
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
fn help_texts_have_the_quotas_and_rates_of_the_catalogue() {
    let catalog = Catalog::embedded();
    let mut command = Arguments::command();
    command.build();
    let help_of = |path: &[&str], flag: &str| {
        let found = path.iter().fold(&command, |command, name| {
            command.find_subcommand(name).expect("a command of this name")
        });
        let mut flags = found.get_arguments();
        let flag = flags.find(|one| one.get_long() == Some(flag)).expect("a flag of this name");
        let help = flag.get_long_help().expect("it has a long help").to_string();
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let most = Bytes::gib(catalog.quota_range(Regular).1);
    let usual = format!("regular up to {most} and large beyond");
    for (path, flag) in [(&["run"][..], "known"), (&["volume", "serve"], "kind")] {
        let help = help_of(path, flag);
        assert!(help.contains(&usual), "--{flag}: `{usual}` is not in: {help}");
    }
    let per_tib = |level: ServiceLevel| {
        let settings = VolumeSettings::auto(level, Regular, Bytes::gib(1 << 10));
        let limit = catalog.volume_limit(&settings).expect("the service allows it").throughput;
        limit.expect("a regular volume has a limit").bytes_per_s() >> 20
    };
    let [standard, premium, ultra] = [Standard, Premium, Ultra].map(per_tib);
    let rates = format!("{standard}, {premium} or {ultra} MiB/s for each TiB");
    let help = help_of(&["volume", "serve"], "level");
    assert!(help.contains(&rates), "--level: `{rates}` is not in: {help}");
    let flexible = Described { gib: 1 << 10, level: Flexible, kind: Regular, assigned_mib: None };
    let included = flexible.served_by_flags().expect("it has a limit") / 1_048_576.0;
    let words = format!("flexible has {included} MiB/s");
    assert!(help.contains(&words), "--level: `{words}` is not in: {help}");
}

#[test]
fn a_volume_without_a_stated_limit_has_none_in_every_command() {
    let volume = Described::auto(2400, Ultra, Breakthrough);
    assert_eq!((volume.predicted(), volume.served()), (Ok(None), Ok(None)));
    assert_eq!(volume.known(), None, "there is no number to keep");
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

#[test]
fn volumes_that_sizing_proposes_have_the_limits_that_the_other_commands_give() {
    let mut seen = Vec::new();
    for (throughput, capacity) in [("950MiB/s", "4TiB"), ("100MiB/s", "100TiB"), ("9GiB/s", "1TiB")]
    {
        let arguments = ["fourcorners", "size", "--throughput", throughput, "--capacity", capacity];
        let parsed = Arguments::try_parse_from(arguments).expect("arguments of `size`");
        let Command::Size(arguments) = parsed.command else { panic!("another command") };
        let need = size::need(&arguments, &Facts::embedded(), &mut Vec::new()).expect("a need");
        let verdict = solve(&need, &Facts::embedded()).expect("the need is one");
        let Verdict::Feasible { designs, of_each, .. } = verdict else { panic!("nothing does it") };
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
fn the_emulated_volume_of_run_has_the_limit_that_the_other_commands_give() {
    let emulated = emulated::volume();
    let level = ServiceLevel::named(&emulated.service_level.to_lowercase()).expect("a level");
    let volume = Described::auto(emulated.quota_bytes >> 30, level, Regular);
    let limit = emulated.throughput_limit_bytes_per_s as f64;
    assert_eq!(volume.known(), Some(limit));
    // Its service is started with these settings.
    assert_eq!(volume.served_by_flags(), Some(limit));
}

#[test]
fn a_client_has_by_default_as_many_calls_on_a_connection_as_the_service_has_in_progress() {
    let most = Catalog::embedded().limit(LimitName::OutstandingPerConnectionMax);
    assert_eq!(u64::from(target::nfs::url::SLOTS), most);
}
