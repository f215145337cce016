//! The floor of `bench names`: threads that only make the system calls of operations on names, as C
//! programs such as elbencho do. Each thread creates all files of its directory, with data if they
//! have any, then reads the attributes of all, then removes all. No choice of names at random, no
//! times, no statistics.

use std::ffi::CString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

/// What the threads do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    /// Files of each thread.
    pub(crate) files: usize,
    /// Bytes in each file.
    pub(crate) size_bytes: usize,
    pub(crate) rounds: usize,
}

/// Calls for each of a thread's names.
type Call = fn(&OwnedFd, &CString, &[u8]) -> rustix::io::Result<()>;

fn create(folder: &OwnedFd, name: &CString, data: &[u8]) -> rustix::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name.as_c_str(), flags, Mode::from_raw_mode(0o644))?;
    if !data.is_empty() {
        rustix::io::pwrite(&file, data, 0)?;
    }
    Ok(())
}

fn stat(folder: &OwnedFd, name: &CString, _: &[u8]) -> rustix::io::Result<()> {
    rustix::fs::statat(folder, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW).map(|_| ())
}

fn unlink(folder: &OwnedFd, name: &CString, _: &[u8]) -> rustix::io::Result<()> {
    rustix::fs::unlinkat(folder, name.as_c_str(), AtFlags::empty())
}

/// Runs the plan and prints the operations of each kind and their CPU time, in µs for all.
pub(crate) fn run(directory: &Path, plan: &Plan) -> Result<()> {
    let mut folders = Vec::new();
    for thread in 0..plan.threads {
        let path = directory.join(format!("t{thread:02}"));
        std::fs::create_dir_all(&path).with_context(|| format!("make {}", path.display()))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        folders.push(rustix::fs::openat(CWD, &path, flags, Mode::empty())?);
    }
    let names: Vec<CString> = (0..plan.files)
        .map(|file| CString::new(format!("f{file:011}")).expect("no zero in it"))
        .collect();
    let data = vec![0xa5_u8; plan.size_bytes];
    let mut used_us = [0.0; 3];
    for _ in 0..plan.rounds {
        for (index, call) in [create as Call, stat, unlink].into_iter().enumerate() {
            let before_us = cpu_us()?;
            std::thread::scope(|scope| {
                let begin = |folder| {
                    let (names, data) = (&names, &data);
                    scope.spawn(move || names.iter().try_for_each(|name| call(folder, name, data)))
                };
                let threads: Vec<_> = folders.iter().map(begin).collect();
                threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
            })?;
            used_us[index] += cpu_us()? - before_us;
        }
    }
    let operations = plan.rounds * plan.threads * plan.files;
    let [create_us, stat_us, unlink_us] = used_us;
    writeln!(
        std::io::stdout(),
        "operations={operations} create_us={create_us:.0} stat_us={stat_us:.0} \
         unlink_us={unlink_us:.0}"
    )?;
    Ok(())
}

/// User and system time of this process.
fn cpu_us() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let us = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64;
    Ok(us(usage.user_time()) + us(usage.system_time()))
}
