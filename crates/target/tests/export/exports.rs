//! What exports report, and tests that need an export.

use std::fs;
use std::os::unix::fs::symlink;

use target::clean::clean;
use target::inventory::RequiredFiles;
use target::manifest::{FileState, Manifest};
use target::nfs::NfsUrl;
use target::refusal::{Override, Overrides, Refusal};
use target::survey;
use workload::data::TileFound;

use crate::plans::{DATA_SEED, FILE_BYTES, fill, required, set};
use crate::test_volume::TestVolume;
use crate::verification::{refused_then_refilled, writable};

#[test]
fn an_export_that_reports_no_free_space_is_used_only_with_the_flag() {
    let volume = TestVolume::new();
    let url: NfsUrl = volume.server.mem("").parse().unwrap();
    let mut set = set(1);
    set.file_size_bytes = 1 << 20;
    let required = || RequiredFiles { file_sets: vec![set.clone()], ..required(1) };
    let refusal = survey::open(&url, required(), Overrides::default()).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLittleSpace { free_bytes: 0, .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), Some(Override::IgnoreFreeSpace));

    let overrides = Overrides { ignore_free_space: true, ..Overrides::default() };
    let mut ours = survey::open(&url, required(), overrides).unwrap();
    assert_eq!(fill(&mut ours, &set), 1 << 20);
    ours.check(&set).unwrap();
    ours.refuse_changed().unwrap();
    drop(ours);
    assert!(clean(&url).unwrap().removed_directory);
}

#[test]
fn handles_are_those_of_the_files_in_order() {
    let volume = TestVolume::filled();
    let opened = volume.open().unwrap();
    let mut session = target::nfs::Session::of(opened.mounted().expect("it is on an export"));
    let maker = set(2).tile_maker(DATA_SEED);
    let (mut tile, mut scratch) = (vec![0; 4096], vec![0; 4096]);
    let files = opened.handles(&set(2)).unwrap();
    assert_eq!(files.len(), 2);
    for (index, file) in (0..).zip(&files) {
        session.read(file, 4096, &mut tile).unwrap();
        let found = maker.inspect(index, 4096, &tile, &mut scratch);
        assert_eq!(found, TileFound::Good { generation: 0 });
        assert_eq!(file.path, volume.displayed(&volume.file(index)).to_str().unwrap());
    }
}

#[test]
fn a_file_that_was_replaced_or_removed_during_a_run_is_reported_at_its_end() {
    let volume = TestVolume::filled();
    let ours = volume.open().unwrap();
    ours.refuse_changed().unwrap();
    fs::rename(volume.file(1), volume.path().join("away")).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::Gone { .. }), "{refusal}");
    fs::write(volume.file(1), fs::read(volume.path().join("away")).unwrap()).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
    assert!(ours.handles(&set(2)).is_err());
    fs::rename(volume.path().join("away"), volume.file(1)).unwrap();
    ours.refuse_changed().unwrap();
    fs::hard_link(volume.file(1), volume.path().join("second")).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
}

#[test]
fn files_are_identified_by_their_handles() {
    let volume = TestVolume::filled();
    let manifest = Manifest::load(&volume.our_directory()).unwrap().unwrap();
    assert!(manifest.filesystem_id.starts_with("nfs-"), "{}", manifest.filesystem_id);
    for record in manifest.files.values() {
        let identity = record.identity.expect("the fill records it");
        assert!(identity.handle.is_some() && identity.inode.is_some(), "{identity:?}");
    }
}

#[test]
fn a_sparse_file_is_found_by_the_zeroes_in_its_samples() {
    let volume = TestVolume::filled();
    let file = writable(&volume.file(0));
    file.set_len(1 << 20).unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(
        matches!(refusal, Refusal::Zero { offset_bytes, .. } if offset_bytes >= 1 << 20),
        "{refusal}"
    );
}

#[test]
fn an_export_whose_root_is_ours_is_removed_by_clean() {
    let volume = TestVolume::filled();
    // Its root is removed through the directory above it.
    let cleaned = clean(volume.location(&volume.our_directory())).unwrap();
    assert!(cleaned.removed_directory);
    assert_eq!(cleaned.directory, volume.displayed(&volume.our_directory()));
}

#[test]
fn a_link_in_the_path_of_the_folder_is_not_followed() {
    let volume = TestVolume::filled();
    symlink("fourcorners", volume.path().join("link")).unwrap();
    let refusal = survey::survey(
        volume.location(&volume.path().join("link")),
        required(2),
        Overrides::default(),
    )
    .unwrap_err();
    assert!(matches!(refusal, Refusal::NotADirectory { .. }), "{refusal}");
}

#[test]
fn an_unreachable_server_is_reported_with_a_remedy() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}&timeo=1ms");
    let url: NfsUrl = url.parse().unwrap();
    let refusal = survey::survey(&url, required(1), Overrides::default()).unwrap_err();
    assert!(matches!(refusal, Refusal::NoExport { .. }), "{refusal}");
    assert!(refusal.to_string().contains(&format!("nfs://127.0.0.1:{port}/vol1")), "{refusal}");
    assert!(refusal.to_string().contains("refused"), "{refusal}");
    assert!(refusal.remedy().contains("that the server runs"), "{}", refusal.remedy());
}

#[test]
fn a_stopped_fill_on_an_export_is_completed_by_the_next() {
    let volume = TestVolume::new();
    let mut ours = volume.open().unwrap();
    let calls = std::sync::atomic::AtomicU32::new(0);
    // The first file has three chunks.
    let stop = || calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 3;
    ours.fill(&set(2), &stop, &mut |_, _| {}).unwrap_err();
    drop(ours);
    assert!(
        !volume.our_directory().join(".fourcorners.lock").exists(),
        "the lock ends with the run"
    );
    let manifest = Manifest::load(&volume.our_directory()).unwrap().unwrap();
    let states: Vec<FileState> = manifest.files.values().map(|file| file.state).collect();
    assert_eq!(states, [FileState::Complete, FileState::Filling]);
    let mut ours = volume.open().unwrap();
    assert_eq!(fill(&mut ours, &set(2)), FILE_BYTES);
    ours.check(&set(2)).unwrap();
}
