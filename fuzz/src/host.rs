//! Any bytes as files of `/proc` from another host: they are parsed without a panic, and the result
//! has no more entries than the text has lines.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use std::path::Path;

use ::host::cpu::{CpuTimes, ProcessorCounters};
use ::host::{missing_mount, mounts, mountstats, nfs};

/// Tests one input; panics if a property is violated.
pub(crate) fn try_host(data: &[u8]) {
    let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
    let all = mounts::parse(data);
    assert!(all.len() <= lines);
    let below = Path::new("/mnt/vol1/fourcorners");
    if let Some(mount) = mounts::covering(&all, below) {
        assert!(below.starts_with(&mount.point));
    }
    for mount in &all {
        let _ = nfs::server(mount);
        let _ = nfs::nconnect_option(&mount.super_options);
    }
    let stats = mountstats::parse(data);
    let transports: usize = stats.iter().map(|stats| stats.transports.len()).sum();
    let procedures: usize = stats.iter().map(|stats| stats.procedures.len()).sum();
    assert!(stats.len() + transports + procedures <= lines);
    let text = String::from_utf8_lossy(data);
    assert!(ProcessorCounters::parse(&text).processors.len() <= lines);
    if let Some(times) = CpuTimes::parse(&text) {
        let share = times.steal_since(&CpuTimes::default());
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
    let _ = missing_mount::missing_mount(below, data, true, |_| false);
}
