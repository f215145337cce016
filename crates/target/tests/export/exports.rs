//! What exports say of themselves, and what only an export can be.

use std::fs;
use std::os::unix::fs::symlink;

use target::clean::clean;
use target::directory::{self, Wanted};
use target::manifest::{FileState, Manifest};
use target::nfs::NfsUrl;
use target::refusal::{Override, Overrides, Refusal};
use workload::data::TileFound;

use crate::place::Place;
use crate::plans::{DATA_SEED, FILE_BYTES, fill, set, wanted};
use crate::truths::{refused_and_mended, writable};

#[test]
fn an_export_that_says_it_has_no_space_is_used_only_if_the_user_insists() {
    let place = Place::new();
    let url: NfsUrl = place.server.mem("").parse().unwrap();
    let mut set = set(1);
    set.file_size_bytes = 1 << 20;
    let wanted = || Wanted { file_sets: vec![set.clone()], ..wanted(1) };
    let refusal = directory::open(&url, wanted(), Overrides::default()).unwrap_err();
    assert!(matches!(refusal, Refusal::TooLittleSpace { free_bytes: 0, .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), Some(Override::IgnoreFreeSpace));

    let overrides = Overrides { ignore_free_space: true, ..Overrides::default() };
    let mut ours = directory::open(&url, wanted(), overrides).unwrap();
    assert_eq!(fill(&mut ours, &set), 1 << 20);
    ours.check(&set).unwrap();
    ours.refuse_changed().unwrap();
    drop(ours);
    assert!(clean(&url).unwrap().removed_directory);
}

#[test]
fn handles_lead_to_the_files_in_order() {
    let place = Place::filled();
    let ours = place.open().unwrap();
    let mut session = target::nfs::Session::of(ours.mounted().expect("it is on an export"));
    let maker = set(2).tile_maker(DATA_SEED);
    let (mut tile, mut scratch) = (vec![0; 4096], vec![0; 4096]);
    let files = ours.handles(&set(2)).unwrap();
    assert_eq!(files.len(), 2);
    for (index, file) in (0..).zip(&files) {
        session.read(file, 4096, &mut tile).unwrap();
        let found = maker.inspect(index, 4096, &tile, &mut scratch);
        assert_eq!(found, TileFound::Good { generation: 0 });
        assert_eq!(file.path, place.said(&place.file(index)).to_str().unwrap());
    }
}

#[test]
fn a_file_that_was_replaced_or_removed_during_a_run_is_told_at_its_end() {
    let place = Place::filled();
    let ours = place.open().unwrap();
    ours.refuse_changed().unwrap();
    fs::rename(place.file(1), place.path().join("away")).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::Gone { .. }), "{refusal}");
    fs::write(place.file(1), fs::read(place.path().join("away")).unwrap()).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
    assert!(ours.handles(&set(2)).is_err());
    fs::rename(place.path().join("away"), place.file(1)).unwrap();
    ours.refuse_changed().unwrap();
    fs::hard_link(place.file(1), place.path().join("second")).unwrap();
    let refusal = ours.refuse_changed().unwrap_err();
    assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
}

#[test]
fn files_are_known_by_their_handles() {
    let place = Place::filled();
    let manifest = Manifest::load(&place.ours()).unwrap().unwrap();
    assert!(manifest.filesystem_id.starts_with("nfs-"), "{}", manifest.filesystem_id);
    for record in manifest.files.values() {
        let identity = record.identity.expect("the fill keeps it");
        assert!(identity.handle.is_some() && identity.inode.is_some(), "{identity:?}");
    }
}

#[test]
fn a_sparse_file_is_found_by_the_zeroes_in_its_samples() {
    let place = Place::filled();
    let file = writable(&place.file(0));
    file.set_len(1 << 20).unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(
        matches!(refusal, Refusal::Zero { offset_bytes, .. } if offset_bytes >= 1 << 20),
        "{refusal}"
    );
}

#[test]
fn an_export_whose_root_is_ours_is_cleaned_as_far_as_its_own_directory() {
    let place = Place::filled();
    // Named itself, it is removed through the directory above it.
    let cleaned = clean(place.at(&place.ours())).unwrap();
    assert!(cleaned.removed_directory);
    assert_eq!(cleaned.directory, place.said(&place.ours()));
}

#[test]
fn a_link_on_the_way_to_the_folder_is_not_followed() {
    let place = Place::filled();
    symlink("fourcorners", place.path().join("link")).unwrap();
    let refusal =
        directory::survey(place.at(&place.path().join("link")), wanted(2), Overrides::default())
            .unwrap_err();
    assert!(matches!(refusal, Refusal::NotADirectory { .. }), "{refusal}");
}

#[test]
fn a_server_that_is_not_there_is_told_with_what_to_do() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}&timeo=1ms");
    let url: NfsUrl = url.parse().unwrap();
    let refusal = directory::survey(&url, wanted(1), Overrides::default()).unwrap_err();
    assert!(matches!(refusal, Refusal::NoExport { .. }), "{refusal}");
    assert!(refusal.to_string().contains(&format!("nfs://127.0.0.1:{port}/vol1")), "{refusal}");
    assert!(refusal.to_string().contains("refused"), "{refusal}");
    assert!(refusal.remedy().contains("that the server runs"), "{}", refusal.remedy());
}

#[test]
fn a_fill_on_an_export_is_completed_after_it_was_stopped_in_the_middle() {
    let place = Place::new();
    let mut ours = place.open().unwrap();
    let asked = std::sync::atomic::AtomicU32::new(0);
    // The first file has three chunks.
    let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 3;
    ours.fill(&set(2), &stop, &mut |_, _| {}).unwrap_err();
    drop(ours);
    assert!(!place.ours().join(".fourcorners.lock").exists(), "the lock ends with the run");
    let manifest = Manifest::load(&place.ours()).unwrap().unwrap();
    let states: Vec<FileState> = manifest.files.values().map(|file| file.state).collect();
    assert_eq!(states, [FileState::Complete, FileState::Filling]);
    let mut ours = place.open().unwrap();
    assert_eq!(fill(&mut ours, &set(2)), FILE_BYTES);
    ours.check(&set(2)).unwrap();
}
