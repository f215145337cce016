//! Directories and journals that were changed while no service used them.

use std::fs;

use disk::Error;
use files::{How, SetAttributes, Stability};

use crate::scene::*;

#[test]
fn a_directory_with_foreign_files_is_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "x").unwrap();
    let refused = directory(folder.path(), |_| {}).err().unwrap();
    assert!(matches!(&refused, Error::Foreign { entry, .. } if entry == "thesis.tex"));
    assert!(refused.to_string().contains("use an empty or new directory"), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_foreign_file_in_a_volume_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path(), options()));
    for name in ["notes.txt", "alpha/notes.txt", "alpha/data/notes.txt"] {
        let path = folder.path().join(name);
        fs::write(&path, "x").unwrap();
        let opened = directory(folder.path(), |_| {});
        let refused = opened.and_then(|volumes| volumes.volume("alpha", later()));
        assert!(matches!(refused, Err(Error::Foreign { .. })), "{name}");
        fs::remove_file(path).unwrap();
    }
    open(folder.path(), later()).check();
}

#[test]
fn a_second_service_can_use_a_directory_only_after_the_first_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let volume = open(folder.path(), options());
    let refused = directory(folder.path(), |_| {}).err().unwrap();
    assert!(matches!(refused, Error::InUse { .. }), "{refused}");
    drop(volume);
    open(folder.path(), later()).check();
}

#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let volumes = directory(folder.path(), |_| {}).unwrap();
    for name in ["", ".", "..", "a/b", ".hidden", "-x", "a b", "\u{e4}"] {
        let refused = volumes.volume(name, options());
        assert!(matches!(refused, Err(Error::Name { .. })), "{name:?}");
    }
}

#[test]
fn a_damaged_journal_is_refused_with_its_path_and_position_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let root = volume.root();
    for name in [b"a", b"b", b"c"] {
        volume.mkdir(root, name, &SetAttributes::default(), &ROOT, at(2)).result.unwrap();
        volume.sync().unwrap();
    }
    drop(volume);
    let path = folder.path().join("alpha/journal");
    let good = fs::read(&path).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&path, &bad).unwrap();
    let volumes = directory(folder.path(), |_| {}).unwrap();
    let refused = volumes.volume("alpha", later()).err().unwrap();
    let Error::Damaged { path: named, offset, .. } = &refused else { panic!("{refused}") };
    assert_eq!(named, &path);
    assert!(*offset > 0 && *offset <= good.len() as u64 / 2);
    assert_eq!(fs::read(&path).unwrap(), bad);
    fs::write(&path, good).unwrap();
    volumes.volume("alpha", later()).unwrap().check();
}

#[test]
fn data_without_a_journal_and_unknown_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path(), options()));
    let path = folder.path().join("alpha/journal");
    fs::write(&path, "fourcorners journal 9\n").unwrap();
    let volumes = directory(folder.path(), |_| {}).unwrap();
    let refused = volumes.volume("alpha", later());
    assert!(matches!(refused, Err(Error::Version { .. })));
    fs::remove_file(&path).unwrap();
    fs::write(folder.path().join("alpha/data/0000000000000003-00000001"), "x").unwrap();
    let refused = volumes.volume("alpha", later());
    assert!(matches!(refused, Err(Error::NoJournal { .. })));
    drop(volumes);
    fs::write(folder.path().join(".fourcorners-volumes"), "fourcorners volumes 2\n").unwrap();
    let refused = directory(folder.path(), |_| {});
    assert!(matches!(refused, Err(Error::Version { .. })));
}

#[test]
fn an_end_that_was_acknowledged_and_is_missing_is_refused_and_one_that_was_not_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let root = volume.root();
    let path = folder.path().join("alpha/journal");
    let length = || fs::metadata(&path).unwrap().len() as usize;
    let mut edges = vec![length()];
    for name in [b"a", b"b", b"c"] {
        volume.mkdir(root, name, &SetAttributes::default(), &ROOT, at(2)).result.unwrap();
        volume.sync().unwrap();
        edges.push(length());
    }
    let acknowledged = everything(&volume);
    let file = volume.create(root, b"f", How::Guarded(SetAttributes::default()), &ROOT, at(2));
    let file = file.result.unwrap().handle;
    volume.sync().unwrap();
    edges.push(length());
    let with_file = everything(&volume);
    // This write is not acknowledged as durable.
    volume.write(file, 0, b"unstable", Stability::Unstable, &ROOT, at(3)).result.unwrap();
    volume.sync().unwrap();
    drop(volume);
    let journal = fs::read(&path).unwrap();
    assert!(journal.len() > edges[4] && edges[4] > edges[3]);
    let lengths = (edges[0]..journal.len()).rev().step_by(7);
    let logged = LoggedLines::default();
    let volumes = directory(folder.path(), logged.log()).unwrap();
    for length in lengths.chain(edges[..4].iter().copied()).filter(|length| *length < edges[4]) {
        fs::write(&path, &journal[..length]).unwrap();
        let refused = volumes.volume("alpha", later()).err().unwrap();
        let Error::JournalCut { extent, .. } = &refused else { panic!("{length}: {refused}") };
        assert!(extent.contains(&format!("acknowledged up to byte {}", edges[4])), "{extent}");
        assert_eq!(fs::read(&path).unwrap().len(), length, "nothing is changed");
    }
    drop(volumes);
    // Batches that were not acknowledged may be missing or incomplete.
    for length in [edges[4], edges[4] + 1, journal.len() - 1] {
        let copy = tempfile::tempdir().unwrap();
        copied(folder.path(), copy.path());
        fs::write(copy.path().join("alpha/journal"), &journal[..length]).unwrap();
        let logged = LoggedLines::default();
        let volumes = directory(copy.path(), logged.log()).unwrap();
        let seen = everything(&volumes.volume("alpha", later()).unwrap());
        assert!(seen == with_file, "{length}");
        assert_eq!(logged.any("a crash left incomplete"), length != edges[4], "{length}");
    }
    // The operator continues without the missing changes.
    fs::write(&path, &journal[..edges[3]]).unwrap();
    fs::remove_file(folder.path().join("alpha/acknowledged")).unwrap();
    let volumes = directory(folder.path(), logged.log()).unwrap();
    let volume = volumes.volume("alpha", later()).unwrap();
    assert!(everything(&volume) == acknowledged);
    assert!(logged.any("moved the data to") && logged.any("alpha/lost"), "{logged:?}");
    let lost = fs::read_dir(folder.path().join("alpha/lost")).unwrap();
    let lost: Vec<_> = lost.map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    assert!(lost.iter().any(|data| data == b"unstable"));
}

#[test]
fn a_journal_truncated_after_a_batch_is_refused_naming_the_data_of_the_missing_part() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let path = folder.path().join("alpha/journal");
    let edge = fs::metadata(&path).unwrap().len();
    let file = filled(&mut volume, b"f", &[7; 12_288]);
    drop(volume);
    fs::File::options().write(true).open(&path).unwrap().set_len(edge).unwrap();
    let volumes = directory(folder.path(), |_| {}).unwrap();
    let refused = volumes.volume("alpha", later()).err().unwrap().to_string();
    let data = data_path(folder.path(), file);
    let name = data.file_name().unwrap().to_str().unwrap();
    for part in [
        "missing records: 1 (",
        name,
        "12288 bytes",
        "Restore the volume's directory",
        "delete",
        "acknowledged",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert_eq!(fs::read(data).unwrap(), [7; 12_288], "the data still exists");
}

#[test]
fn an_emptied_journal_and_an_older_copy_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let path = folder.path().join("alpha/journal");
    let older = fs::read(&path).unwrap();
    filled(&mut volume, b"f", b"data");
    drop(volume);
    drop(open(folder.path(), later()));
    for bad in [Vec::new(), older] {
        fs::write(&path, &bad).unwrap();
        let volumes = directory(folder.path(), |_| {}).unwrap();
        let refused = volumes.volume("alpha", later()).err().unwrap();
        assert!(matches!(refused, Error::JournalCut { .. } | Error::Damaged { .. }), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), bad);
    }
}

#[test]
fn symbolic_links_are_refused_by_name_and_their_targets_do_not_change() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    for name in ["alpha/journal", "alpha/acknowledged", "data", "sums", "alpha/data", "alpha"] {
        let folder = tempfile::tempdir().unwrap();
        let mut volume = open(folder.path(), options());
        let file = filled(&mut volume, b"f", &[7; 5000]);
        drop(volume);
        let path = match name {
            "data" => data_path(folder.path(), file),
            "sums" => sums_path(folder.path(), file),
            _ => folder.path().join(name),
        };
        // The target is valid, so the link is the only problem.
        fs::rename(&path, &target).unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let before = bytes_below(&target);
        let opened = directory(folder.path(), |_| {});
        let refused = opened.and_then(|volumes| volumes.volume("alpha", later()));
        let refused = refused.err().unwrap_or_else(|| panic!("{name} was followed")).to_string();
        assert!(refused.contains(path.to_str().unwrap()), "{name}: {refused}");
        assert!(bytes_below(&target) == before, "{name}");
        if target.is_dir() {
            fs::remove_dir_all(&target).unwrap();
        } else {
            fs::remove_file(&target).unwrap();
        }
    }
}

#[test]
fn links_at_the_paths_of_new_files_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("target");
    fs::write(&target, "of others").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    for name in ["journal.new", "acknowledged.new"] {
        std::os::unix::fs::symlink(&target, folder.path().join("alpha").join(name)).unwrap();
    }
    // Inode numbers ascend by one.
    let first = filled(&mut volume, b"f", b"x");
    let next = files::Handle { fileid: first.fileid + 1, ..first };
    std::os::unix::fs::symlink(&target, data_path(folder.path(), next)).unwrap();
    let created =
        volume.create(volume.root(), b"g", How::Guarded(SetAttributes::default()), &ROOT, at(2));
    let created = created.result.unwrap().handle;
    assert_eq!(created, next);
    let written = volume.write(created, 0, b"secret", Stability::FileSync, &ROOT, at(2));
    assert_eq!(written.result.err(), Some(files::Error::Io));
    drop(volume);
    fs::remove_file(data_path(folder.path(), next)).unwrap();
    open(folder.path(), later()).check();
    assert_eq!(fs::read(&target).unwrap(), b"of others");
}

#[test]
fn files_and_directories_are_private_and_a_wider_directory_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("volumes");
    let logged = LoggedLines::default();
    let volumes = directory(&folder, logged.log()).unwrap();
    let mut volume = volumes.volume("alpha", options()).unwrap();
    filled(&mut volume, b"f", b"data");
    let mut pending = vec![folder.clone()];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let mode = if found.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(found.permissions().mode() & 0o7777, mode, "{}", path.display());
        seen += 1;
        if found.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(seen >= 9, "{seen}");
    assert!(!logged.any("chmod"));
    drop((volume, volumes));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    drop(directory(&folder, logged.log()).unwrap());
    assert!(logged.any(&format!("chmod 700 {}", folder.display())), "{logged:?}");
}
