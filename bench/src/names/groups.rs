//! The groups of programs that do the same work, and what is required of their ratios.

use anyhow::Result;

use super::results::Sample;
use super::{Bench, exports, fourcorners, local};
use crate::nfs::servers::{self, BackEnd, Server};

/// Where the files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSystem {
    Tmpfs,
    /// The file system of the repository.
    Disk,
}

/// A server of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// The emulated volume, in memory, without limits.
    Volume,
    /// nfs-ganesha with files in memory.
    GaneshaMem,
}

impl Service {
    pub(crate) fn start(self, bench: &Bench) -> Result<Server> {
        match self {
            Service::Volume => servers::volume(&bench.paths),
            Service::GaneshaMem => servers::ganesha(&bench.paths.scratch, BackEnd::Mem),
        }
    }
}

/// What is done with the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Reads attributes; on an export GETATTR.
    Stat,
    /// Looks a name up.
    Lookup,
    /// Creates empty files and removes them, in equal parts.
    CreateEmpty,
    /// The same with 4 KiB of data in each.
    CreateWrite,
}

/// Where the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Directory(FileSystem),
    Export(Service),
}

/// A program that does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// As a user runs it, with queue depth 16 on a directory and 32 on an export.
    Fourcorners,
    /// Debian's fio with 16 jobs.
    Fio,
    /// Threads that only make the system calls (`bench/examples/floor`).
    Threads(u32),
    /// libnfs's asynchronous interface (`bench/comparison/libnfs_names.c`).
    Libnfs,
    /// The call generator, which blocks in its socket and only checks each reply's status
    /// (`bench/examples/load`).
    Load,
}

impl Program {
    pub(crate) fn measure(self, group: &Group, bench: &Bench) -> Result<Sample> {
        match (self, group.storage) {
            (Program::Fourcorners, storage) => fourcorners::measure(group.work, storage, bench),
            (Program::Fio, Storage::Directory(on)) => {
                local::fio(group.work, bench.directory(on), bench.seconds)
            }
            (Program::Threads(threads), Storage::Directory(on)) => {
                local::threads(group.work, bench.directory(on), threads)
            }
            (Program::Libnfs, Storage::Export(service)) => {
                exports::libnfs(group.work, service, bench)
            }
            (Program::Load, Storage::Export(service)) => exports::load(group.work, service, bench),
            (program, storage) => anyhow::bail!("{program:?} cannot use {storage:?}"),
        }
    }
}

/// A program, and the highest ratio of the CPU time of fourcorners to its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    /// `None` if the ratio is only shown.
    pub(crate) ratio_max: Option<f64>,
}

/// Programs that do the same work; the first is fourcorners.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    pub(crate) storage: Storage,
    pub(crate) sides: Vec<Side>,
}

/// The ratio to fio, whose engines for names are the peer that Debian has; it has no elbencho.
const TO_FIO: f64 = 0.9;
/// The ratio to libnfs.
const TO_LIBNFS: f64 = 0.6;

const OURS: Side = Side { name: "fourcorners", program: Program::Fourcorners, ratio_max: None };
const FIO: Side = Side { name: "fio", program: Program::Fio, ratio_max: Some(TO_FIO) };
const LIBNFS: Side = Side { name: "libnfs", program: Program::Libnfs, ratio_max: Some(TO_LIBNFS) };
/// The floor on exports: the calls of one connection without an operation stream, times or results.
const LOAD: Side = Side { name: "floor", program: Program::Load, ratio_max: None };
/// The floor: nothing but the system calls. With as many threads as elbencho has at this queue depth,
/// it does what elbencho does, without its statistics.
const FLOOR: Side = Side { name: "floor", program: Program::Threads(16), ratio_max: None };

/// All groups.
pub(crate) fn groups() -> Vec<Group> {
    use FileSystem::{Disk, Tmpfs};
    use Service::{GaneshaMem, Volume};
    let local = |name, on, work| Group {
        name,
        work,
        storage: Storage::Directory(on),
        sides: vec![OURS, FIO, FLOOR],
    };
    let export = |name, service, work| Group {
        name,
        work,
        storage: Storage::Export(service),
        sides: vec![OURS, LIBNFS, LOAD],
    };
    vec![
        local("tmpfs-stat", Tmpfs, Work::Stat),
        local("tmpfs-create-unlink", Tmpfs, Work::CreateEmpty),
        local("tmpfs-create-write-unlink", Tmpfs, Work::CreateWrite),
        local("disk-stat", Disk, Work::Stat),
        local("disk-create-unlink", Disk, Work::CreateEmpty),
        local("disk-create-write-unlink", Disk, Work::CreateWrite),
        export("volume-getattr", Volume, Work::Stat),
        export("volume-lookup", Volume, Work::Lookup),
        export("volume-create-remove", Volume, Work::CreateEmpty),
        export("ganesha-getattr", GaneshaMem, Work::Stat),
        export("ganesha-lookup", GaneshaMem, Work::Lookup),
        export("ganesha-create-remove", GaneshaMem, Work::CreateEmpty),
    ]
}
