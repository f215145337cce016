//! What a server can do to a fill and to a run: refuse, be full, start anew, forget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use files::FileSystem;
use nfs3::request::NfsArguments;
use target::directory::{self, TargetDirectory};
use target::fill::FillError;
use target::nfs::NfsUrl;
use target::nfs::Session;
use target::refusal::{Override, Overrides, Refusal};
use units::Bytes;
use volume::export_rules::{ExportAccess, ExportRule, ExportRules, Network, Squash};
use workload::data::TileFound;

use crate::plans::{DATA_SEED, FILE_BYTES, fill, set, wanted};
use crate::served::Served;

fn open(url: &NfsUrl) -> Result<TargetDirectory, Refusal> {
    directory::open(url, wanted(2), Overrides::default())
}

fn filled(server: &Served) -> TargetDirectory {
    let mut ours = open(&server.url()).unwrap();
    fill(&mut ours, &set(2));
    ours
}

/// Reads every tile of both files.
fn every_tile_is_ours(ours: &TargetDirectory) {
    let mut session = Session::of(ours.mounted().unwrap());
    let maker = set(2).tile_maker(DATA_SEED);
    let (mut tile, mut scratch) = (vec![0; 4096], vec![0; 4096]);
    for (index, file) in (0..).zip(ours.handles(&set(2)).unwrap()) {
        for offset in (0..FILE_BYTES).step_by(4096) {
            session.read(&file, offset, &mut tile).unwrap();
            let found = maker.inspect(index, offset, &tile, &mut scratch);
            assert_eq!(found, TileFound::Good { generation: 0 }, "file {index} at {offset}");
        }
    }
}

#[test]
fn what_a_server_lost_because_it_was_started_anew_is_written_again() {
    // In the middle of the writes; just before what was written is committed.
    type Moment = fn(&NfsArguments<'_>) -> bool;
    let moments: [(Moment, u32); 2] = [
        (|arguments| matches!(arguments, NfsArguments::WRITE(_)), 30),
        (|arguments| matches!(arguments, NfsArguments::COMMIT(_)), 2),
    ];
    for (is_counted, wanted_count) in moments {
        let server = Served::start();
        let mut ours = open(&server.url()).unwrap();
        let mut count = 0;
        let restarts = Arc::new(AtomicU32::new(0));
        let told = Arc::clone(&restarts);
        server.before_each(move |arguments, files: &mut FileSystem, now| {
            count += u32::from(is_counted(arguments));
            if is_counted(arguments) && count == wanted_count {
                files.restart(now);
                told.fetch_add(1, Ordering::SeqCst);
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
fn a_server_that_loses_everything_again_and_again_ends_the_fill() {
    let server = Served::start();
    let mut ours = open(&server.url()).unwrap();
    server.before_each(|arguments, files: &mut FileSystem, now| {
        if matches!(arguments, NfsArguments::COMMIT(_)) {
            files.restart(now);
        }
    });
    let ended = ours.fill(&set(2), &|| false, &mut |_, _| {}).unwrap_err();
    assert!(ended.to_string().contains("started anew again and again"), "{ended}");
    server.before_each(|_, _, _| ());
    fill(&mut ours, &set(2));
    every_tile_is_ours(&ours);
}

#[test]
fn a_quota_that_is_used_up_in_the_middle_ends_the_fill_and_a_larger_one_lets_it_go_on() {
    let server = Served::start();
    let mut ours = open(&server.url()).unwrap();
    let set_quota = |quota| {
        let (mut exports, volume) = server.exports();
        exports.get_mut(volume).unwrap().files.set_quota(quota);
    };
    set_quota(Bytes::mib(3));
    let ended = ours.fill(&set(2), &|| false, &mut |_, _| {}).unwrap_err();
    let FillError::NoSpace { path, written_bytes, .. } = &ended else { panic!("{ended}") };
    assert!(path.to_str().unwrap().starts_with("nfs://127.0.0.1:"), "{ended}");
    assert!(*written_bytes < 2 * FILE_BYTES, "{ended}");
    drop(ours);

    // The survey asks before a byte is written.
    let refusal = open(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLittleSpace { .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), Some(Override::IgnoreFreeSpace));
    set_quota(Bytes::mib(64));
    let mut ours = open(&server.url()).unwrap();
    let kept_bytes: u64 = (0..2).map(|index| ours.kept_bytes(&set(2), index)).sum();
    assert_eq!(fill(&mut ours, &set(2)), 2 * FILE_BYTES - kept_bytes);
    every_tile_is_ours(&ours);
}

#[test]
fn a_volume_needs_a_hundredth_and_a_mebibyte_beyond_the_files() {
    let needed_bytes = 2 * FILE_BYTES + 2 * FILE_BYTES / 100 + (1 << 20);
    let server = Served::start();
    let set_free = |free_bytes| {
        let (mut exports, volume) = server.exports();
        let files = &mut exports.get_mut(volume).unwrap().files;
        let used = files.used();
        files.set_quota(Bytes::new(used.get() + free_bytes));
    };
    let survey = || directory::survey(&server.url(), wanted(2), Overrides::default());
    set_free(needed_bytes);
    assert_eq!(survey().unwrap().free_bytes, needed_bytes);
    set_free(needed_bytes - 1);
    let refusal = survey().unwrap_err();
    assert!(
        matches!(refusal, Refusal::TooLittleSpace { needed_bytes: needed, free_bytes, .. }
            if needed == needed_bytes && free_bytes == needed_bytes - 1),
        "{refusal}"
    );
    // What is there already needs no reserve.
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
fn an_export_that_is_read_only_is_refused() {
    let server = Served::start();
    drop(filled(&server));
    with_rules(&server, rule(ExportAccess::ReadOnly, Squash::None));
    let refusal = open(&server.url()).unwrap_err();
    assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
    assert!(refusal.to_string().contains("nfs://127.0.0.1:"), "{refusal}");
}

#[test]
fn an_export_that_does_not_let_us_write_is_refused_with_who_asked() {
    let server = Served::start();
    with_rules(&server, rule(ExportAccess::ReadWrite, Squash::Root));
    for (options, who) in [("", "uid 0"), ("&uid=1000&gid=100", "uid 1000 and gid 100")] {
        let refusal = open(&server.url_with(options)).unwrap_err();
        assert!(matches!(refusal, Refusal::Io { .. }), "{refusal}");
        assert!(refusal.to_string().contains(who), "{refusal}");
        assert!(refusal.remedy().contains("`uid=`"), "{}", refusal.remedy());
    }
    // Nothing was made.
    with_rules(&server, ExportRules::default());
    let mut session = Session::open(&server.url()).unwrap();
    let root = session.root();
    let names = session.readdir(&root).unwrap();
    assert!(names.iter().all(|entry| entry.name.starts_with(b".")), "{names:?}");
}

#[test]
fn a_volume_that_is_taken_away_under_a_run_is_told_with_the_file() {
    let server = Served::start();
    let ours = filled(&server);
    {
        let (mut exports, volume) = server.exports();
        exports.remove(volume).unwrap();
    }
    let refusal = ours.check(&set(2)).unwrap_err();
    let said = refusal.to_string();
    assert!(said.contains("NFS3ERR_STALE") && said.contains(".data"), "{said}");
    assert!(refusal.remedy().contains("server"), "{}", refusal.remedy());
}

#[test]
fn a_file_that_is_removed_while_it_is_filled_ends_the_fill_with_its_name() {
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
    let ended = ours.fill(&set(2), &stop, &mut |_, _| {}).unwrap_err();
    assert!(ended.to_string().contains(&name), "{ended}");
    assert!(ended.to_string().contains("NFS3ERR_STALE"), "{ended}");
    // The first file was begun before the second, and is kept.
    assert_eq!(fill(&mut ours, &set(2)), FILE_BYTES);
    every_tile_is_ours(&ours);
}

#[test]
fn after_a_fill_the_run_is_alone_but_for_one_connection_and_its_lock() {
    let server = Served::start();
    let ours = filled(&server);
    let until = Instant::now() + Duration::from_secs(60);
    // The server sees the end of a connection a moment later.
    while server.clients() > 2 {
        assert!(Instant::now() < until, "{} clients", server.clients());
        std::thread::yield_now();
    }
    ours.refuse_changed().unwrap();
    assert_eq!(server.clients(), 2);
}
