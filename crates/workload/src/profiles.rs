//! The built-in experiments: files below `profiles/`, and what each requires of a target.
//!
//! Not for: reading an experiment (`experiment.rs`), nor its target on the command line (`commands`).

use std::time::Duration;

use units::Bytes;

use crate::experiment::parse;
use crate::plan::{Plan, TargetSpec};
use crate::resolve::{PlanTargets, ResolveOptions, resolve};

/// A built-in experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name, which is also that of its file.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// The experiment file.
    pub text: &'static str,
}

/// What profiles are about, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Loads that show a limit of the target and are not those of an application.
    Synthetic,
    /// Databases.
    Databases,
    /// Logs whose writers wait until they are durable, and message queues.
    Logs,
    /// Builds, chip design, home directories: mostly operations on names.
    Files,
    /// Desktops and virtual machines.
    Machines,
    /// Backup and restore.
    Backup,
    /// Media, training and its checkpoints: large transfers.
    Streaming,
    /// Several loads that disturb each other.
    Neighbours,
}

impl Group {
    /// All of them, in order.
    pub const ALL: [Group; 8] = [
        Group::Synthetic,
        Group::Databases,
        Group::Logs,
        Group::Files,
        Group::Machines,
        Group::Backup,
        Group::Streaming,
        Group::Neighbours,
    ];

    /// Its heading in lists.
    pub const fn title(self) -> &'static str {
        match self {
            Group::Synthetic => "Synthetic",
            Group::Databases => "Databases",
            Group::Logs => "Logs and queues",
            Group::Files => "Builds, EDA and home directories",
            Group::Machines => "Desktops and virtual machines",
            Group::Backup => "Backup and restore",
            Group::Streaming => "Streaming and AI",
            Group::Neighbours => "Neighbours",
        }
    }
}

/// What a profile requires of its target, or of all its targets together, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// The size of all files.
    pub bytes: Bytes,
    /// Files, directories and links.
    pub inodes: u64,
    /// Time of all runs without the fill; with searches, the maximum.
    pub time: Duration,
    /// Number of load points, or of searches for them.
    pub load_points: usize,
    /// Volumes that its streams use.
    pub volumes: usize,
}

/// A row of [`PROFILES`]: the name is that of the file.
macro_rules! profile {
    ($group:ident, $name:literal) => {
        Profile {
            name: $name,
            group: Group::$group,
            text: include_str!(concat!("../profiles/", $name, ".toml")),
        }
    };
}

/// The built-in experiments, by group.
pub const PROFILES: &[Profile] = &[
    profile!(Synthetic, "four-corners"),
    profile!(Synthetic, "four-corners-quick"),
    profile!(Synthetic, "curve"),
    profile!(Synthetic, "curve-quick"),
    profile!(Synthetic, "ranges"),
    profile!(Synthetic, "ranges-quick"),
    profile!(Databases, "oltp"),
    profile!(Databases, "oracle-slob-like"),
    profile!(Databases, "oracle-dnfs-like"),
    profile!(Databases, "sql-server-like"),
    profile!(Databases, "mysql-like"),
    profile!(Databases, "postgres-like"),
    profile!(Databases, "hana-like"),
    profile!(Databases, "hana-kpi-like"),
    profile!(Databases, "epic-like"),
    profile!(Databases, "meditech-like"),
    profile!(Logs, "etcd"),
    profile!(Logs, "kafka-like"),
    profile!(Files, "eda-like"),
    profile!(Files, "software-build"),
    profile!(Files, "home-directories"),
    profile!(Machines, "vdi-like"),
    profile!(Machines, "avs-vmdk-like"),
    profile!(Backup, "backup"),
    profile!(Backup, "restore"),
    profile!(Streaming, "media-streaming"),
    profile!(Streaming, "ai-training"),
    profile!(Streaming, "ai-training-unet3d"),
    profile!(Streaming, "checkpoint"),
    profile!(Neighbours, "neighbour"),
];

/// The end of the name of a built-in experiment's quick form.
pub const QUICK: &str = "-quick";

/// The built-in experiment of this name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

/// The quick form of a built-in experiment, if there is one.
pub fn quick_profile(name: &str) -> Option<&'static str> {
    let names = PROFILES.iter().map(|profile| profile.name);
    names.into_iter().find(|quick| quick.strip_suffix(QUICK) == Some(name))
}

impl Profile {
    /// What it measures: the first paragraph of comments in its file.
    pub fn purpose(&self) -> String {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("# "));
        lines.collect::<Vec<&str>>().join(" ")
    }

    /// Its plan, for a target without I/O, or for a directory for each target that it names.
    ///
    /// # Panics
    /// The file has problems; a test reads all of them.
    pub fn plan(&self) -> Plan {
        let experiment = parse(self.text, self.name).expect("a test reads every profile");
        let names: Vec<String> = experiment.targets.iter().map(|one| one.name.clone()).collect();
        let directory = |name: &String| TargetSpec::Directory { path: name.into() };
        let targets = match names.is_empty() {
            true => PlanTargets::from(TargetSpec::Null),
            false => PlanTargets { specs: names.iter().map(directory).collect(), names },
        };
        let source = format!("profile:{}", self.name);
        resolve(&experiment, &source, targets, &ResolveOptions::LOCAL)
            .expect("a test resolves every profile")
    }

    /// What it requires of a target.
    ///
    /// # Panics
    /// As [`Profile::plan`].
    pub fn requirements(&self) -> Requirements {
        let plan = self.plan();
        let all = 0..plan.targets.len();
        let files = all.clone().flat_map(|target| plan.file_sets(target));
        let trees = all.flat_map(|target| plan.name_sets(target));
        Requirements {
            bytes: plan.bytes_needed(),
            inodes: files.map(|set| u64::from(set.files)).sum::<u64>()
                + trees.map(|set| set.inodes()).sum::<u64>(),
            time: plan.time_max(),
            load_points: plan.steps.len(),
            volumes: plan.targets.len(),
        }
    }
}
