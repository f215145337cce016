//! How a fill and a run react to a server that refuses, is full, restarts, or loses data.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use files::FileSystem;
use nfs3::request::NfsArguments;
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::nfs::NfsUrl;
use target::nfs::Session;
use target::refusal::{Override, Overrides, Refusal};
use target::survey;
use units::Bytes;
use volume::export_rules::{ExportAccess, ExportRule, ExportRules, Network, Squash};
use workload::data::TileFound;

use crate::plans::{DATA_SEED, FILE_BYTES, fill, required, set};
use crate::served::Served;

fn open(url: &NfsUrl) -> Result<TargetDirectory, Refusal> {
    survey::open(url, required(2), Overrides::default())
}

fn filled(server: &Served) -> TargetDirectory {
    let mut ours = open(&server.url()).unwrap();
    fill(&mut ours, &set(2));
    ours
}

/// Reads every tile of both files.
fn every_tile_is_ours(directory: &TargetDirectory) {
    let mut session = Session::of(directory.mounted().unwrap());
    let maker = set(2).tile_maker(DATA_SEED);
    let (mut tile, mut scratch) = (vec![0; 4096], vec![0; 4096]);
    for (index, file) in (0..).zip(directory.handles(&set(2)).unwrap()) {
        for offset in (0..FILE_BYTES).step_by(4096) {
            session.read(&file, offset, &mut tile).unwrap();
            let found = maker.inspect(index, offset, &tile, &mut scratch);
            assert_eq!(found, TileFound::Good { generation: 0 }, "file {index} at {offset}");
        }
    }
}

#[test]
fn data_that_a_restarted_server_lost_is_written_again() {
    // In the middle of the writes, and just before a COMMIT.
    type IsCounted = fn(&NfsArguments<'_>) -> bool;
    let moments: [(IsCounted, u32); 2] = [
        (|arguments| matches!(arguments, NfsArguments::WRITE(_)), 30),
        (|arguments| matches!(arguments, NfsArguments::COMMIT(_)), 2),
    ];
    for (is_counted, restart_at) in moments {
        let server = Served::start();
        let mut ours = open(&server.url()).unwrap();
        let mut count = 0;
        let restarts = Arc::new(AtomicU32::new(0));
        let counted_restarts = Arc::clone(&restarts);
        server.before_each(move |arguments, files: &mut FileSystem, now| {
            count += u32::from(is_counted(arguments));
            if is_counted(arguments) && count == restart_at {
                files.restart(now);
                counted_restarts.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut seen = Vec::new();
        let written =
            ours.fill(&set(2), &|| false, &mut |now, total| seen.push((now, total))).unwrap();
        assert_eq!(restarts.load(Ordering::SeqCst), 1);
        assert_eq!(written, 2 * FILE_BYTES);
        assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "{seen:?}");
        assert_eq!(seen.last(), Some(&(written, written)));
        every_tile_is_ours(&ours);
        ours.check(&set(2)).unwrap();
    }
}

#[test]
fn a_server_that_loses_everything_repeatedly_fails_the_fill() {
    let server = Served::start();
    let mut ours = open(&server.url()).unwrap();
    server.before_each(|arguments, files: &mut FileSystem, now| {
        if matches!(arguments, NfsArguments::COMMIT(_)) {
            files.restart(now);
        }
    });
    let error = ours.fill(&set(2), &|| false, &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("restarted repeatedly"), "{error}");
    server.before_each(|_, _, _| ());
    fill(&mut ours, &set(2));
    every_tile_is_ours(&ours);
}

#[test]
fn a_fill_that_exhausts_the_quota_fails_and_continues_with_a_larger_one() {
    let server = Served::start();
    let mut ours = open(&server.url()).unwrap();
    let set_quota = |quota| {
        let (mut exports, volume) = server.exports();
        exports.get_mut(volume).unwrap().files.set_quota(quota);
    };
    set_quota(Bytes::mib(3));
    let error = ours.fill(&set(2), &|| false, &mut |_, _| {}).unwrap_err();
    let FillError::NoSpace { path, written_bytes, .. } = &error else { panic!("{error}") };
    assert!(path.to_str().unwrap().starts_with("nfs://127.0.0.1:"), "{error}");
    assert!(*written_bytes < 2 * FILE_BYTES, "{error}");
    drop(ours);

    // The survey checks the space before a byte is written.
    let refusal = open(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLittleSpace { .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), Some(Override::IgnoreFreeSpace));
    set_quota(Bytes::mib(64));
    let mut ours = open(&server.url()).unwrap();
    let durable_bytes: u64 = (0..2).map(|index| ours.durable_bytes(&set(2), index)).sum();
    assert_eq!(fill(&mut ours, &set(2)), 2 * FILE_BYTES - durable_bytes);
    every_tile_is_ours(&ours);
}

#[test]
fn the_reserve_of_a_volume_is_one_percent_and_a_mebibyte() {
    let needed_bytes = 2 * FILE_BYTES + 2 * FILE_BYTES / 100 + (1 << 20);
    let server = Served::start();
    let set_free = |free_bytes| {
        let (mut exports, volume) = server.exports();
        let files = &mut exports.get_mut(volume).unwrap().files;
        let used = files.used();
        files.set_quota(Bytes::new(used.get() + free_bytes));
    };
    let survey = || survey::survey(&server.url(), required(2), Overrides::default());
    set_free(needed_bytes);
    assert_eq!(survey().unwrap().free_bytes, needed_bytes);
    set_free(needed_bytes - 1);
    let refusal = survey().unwrap_err();
    assert!(
        matches!(refusal, Refusal::TooLittleSpace { needed_bytes: needed, free_bytes, .. }
            if needed == needed_bytes && free_bytes == needed_bytes - 1),
        "{refusal}"
    );
    // Complete files need no reserve.
    set_free(needed_bytes);
    drop(filled(&server));
    set_free(0);
    assert_eq!(survey().unwrap().needed_bytes, 0);
}

fn rule(access: ExportAccess, squash: Squash) -> ExportRules {
    let everybody = Network::new("0.0.0.0".parse().unwrap(), 0).unwrap();
    let anonymous = (65_534, 65_534);
    ExportRules::new(vec![ExportRule { clients: vec![everybody], access, squash, anonymous }])
}

fn with_rules(server: &Served, rules: ExportRules) {
    let (mut exports, volume) = server.exports();
    exports.get_mut(volume).unwrap().rules = rules;
}

#[test]
fn a_read_only_export_is_refused() {
    let server = Served::start();
    drop(filled(&server));
    with_rules(&server, rule(ExportAccess::ReadOnly, Squash::None));
    let refusal = open(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
    assert!(refusal.to_string().contains("nfs://127.0.0.1:"), "{refusal}");
}

#[test]
fn an_export_without_write_access_is_refused_with_the_caller() {
    let server = Served::start();
    with_rules(&server, rule(ExportAccess::ReadWrite, Squash::Root));
    for (options, who) in [("", "uid 0"), ("&uid=1000&gid=100", "uid 1000 and gid 100")] {
        let refusal = open(&server.url_with(options)).unwrap_err();
        assert!(matches!(refusal, Refusal::Io { .. }), "{refusal}");
        assert!(refusal.to_string().contains(who), "{refusal}");
        assert!(refusal.remedy().contains("`uid=`"), "{}", refusal.remedy());
    }
    // Nothing was created.
    with_rules(&server, ExportRules::default());
    let mut session = Session::open(&server.url()).unwrap();
    let root = session.root();
    let names = session.readdir(&root).unwrap();
    assert!(names.iter().all(|entry| entry.name.starts_with(b".")), "{names:?}");
}

#[test]
fn a_volume_that_is_removed_during_a_run_is_reported_with_the_file() {
    let server = Served::start();
    let ours = filled(&server);
    {
        let (mut exports, volume) = server.exports();
        exports.remove(volume).unwrap();
    }
    let refusal = ours.check(&set(2)).unwrap_err();
    let message = refusal.to_string();
    assert!(message.contains("NFS3ERR_STALE") && message.contains(".data"), "{message}");
    assert!(refusal.remedy().contains("server"), "{}", refusal.remedy());
}

#[test]
fn a_file_that_is_removed_during_its_fill_fails_the_fill_with_its_name() {
    let server = Served::start();
    let mut ours = open(&server.url()).unwrap();
    let name = set(2).file_name(1);
    let (mut session, removed) = (Session::open(&server.url()).unwrap(), AtomicU32::new(0));
    let root = session.root();
    let directory = session.lookup(&root, b"fourcorners").unwrap().0;
    let session = std::sync::Mutex::new(session);
    let stop = || {
        // Once the first writes are done, the second file exists.
        if removed.fetch_add(1, Ordering::SeqCst) == 1 {
            session.lock().unwrap().remove(&directory, name.as_bytes()).unwrap();
        }
        false
    };
    let error = ours.fill(&set(2), &stop, &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
    assert!(error.to_string().contains("NFS3ERR_STALE"), "{error}");
    // The first file is kept.
    assert_eq!(fill(&mut ours, &set(2)), FILE_BYTES);
    every_tile_is_ours(&ours);
}

#[test]
fn after_a_fill_only_one_connection_and_the_lock_remain() {
    let server = Served::start();
    let ours = filled(&server);
    let until = Instant::now() + Duration::from_secs(60);
    // The server notices closed connections with a delay.
    while server.clients() > 2 {
        assert!(Instant::now() < until, "{} clients", server.clients());
        std::thread::yield_now();
    }
    ours.refuse_changed().unwrap();
    assert_eq!(server.clients(), 2);
}
