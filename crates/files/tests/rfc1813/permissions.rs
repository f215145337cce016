//! Permissions: ACCESS, mode bits, groups, the superuser, read-only exports.

use files::{Access, Caller, Error, FileSystem, Handle, How, SetAttributes, SetTime, Stability};

use crate::scene::*;

const ALL: Access = Access(0x3f);

/// A file of user 1000 and group 8 with this mode.
fn owned(fs: &mut FileSystem, name: &str, bits: u32) -> Handle {
    let set = SetAttributes { uid: Some(1000), gid: Some(8), ..mode(bits) };
    fs.create(fs.root(), name.as_bytes(), How::Guarded(set), &ROOT, at(2)).result.unwrap().handle
}

fn stranger() -> Caller<'static> {
    Caller { uid: 9999, gid: 9999, gids: &[], read_only: false }
}

#[test]
fn access_uses_the_bits_of_owner_then_group_then_others() {
    let mut fs = fs();
    let file = owned(&mut fs, "f", 0o640);
    let read = Access::READ;
    let write = Access::MODIFY | Access::EXTEND;
    assert_eq!(fs.access(file, ALL, &ALICE), Ok(read | write));
    assert_eq!(fs.access(file, ALL, &BOB), Ok(read), "by a supplementary group");
    assert_eq!(fs.access(file, ALL, &stranger()), Ok(Access::default()));
    assert_eq!(fs.access(file, ALL, &ROOT), Ok(read | write), "it has no execute bit");
    assert_eq!(fs.access(file, Access::READ, &ALICE), Ok(read), "only the requested bits");
    // The owner's bits apply to the owner even if others have more.
    let odd = owned(&mut fs, "odd", 0o077);
    assert_eq!(fs.access(odd, ALL, &ALICE), Ok(Access::default()));
    assert!(fs.access(odd, ALL, &stranger()).unwrap().contains(Access::EXECUTE));
    assert!(fs.access(odd, ALL, &ROOT).unwrap().contains(Access::EXECUTE));
}

#[test]
fn access_to_a_directory_is_lookup_and_delete_and_never_execute() {
    let fs = fs();
    let root = fs.root();
    let all = Access::READ | Access::LOOKUP | Access::MODIFY | Access::EXTEND | Access::DELETE;
    assert_eq!(fs.access(root, ALL, &ALICE), Ok(all));
    assert_eq!(fs.access(root, ALL, &READER), Ok(Access::READ | Access::LOOKUP));
}

#[test]
fn the_owner_reads_and_writes_a_file_whatever_its_mode() {
    let mut fs = fs();
    let file = owned(&mut fs, "f", 0o000);
    assert!(fs.read(file, 0, 1, &ALICE).is_ok());
    assert!(fs.write(file, 0, b"x", Stability::FileSync, &ALICE, at(3)).result.is_ok());
    assert_eq!(fs.read(file, 0, 1, &BOB).err(), Some(Error::Acces));
    let refused = fs.write(file, 0, b"x", Stability::FileSync, &BOB, at(3)).result;
    assert_eq!(refused.err(), Some(Error::Acces));
    let program = owned(&mut fs, "program", 0o711);
    assert!(fs.read(program, 0, 1, &BOB).is_ok(), "an executable file is readable");
}

#[test]
fn a_directory_requires_execute_to_search_read_to_list_and_write_and_execute_to_change() {
    let mut fs = fs();
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    file_in(&mut fs, inner, "f");
    let try_all = |fs: &mut FileSystem| {
        (
            fs.lookup(inner, b"f", &ALICE).err(),
            fs.readdir(inner, 0, [0; 8], 4096, &ALICE).err(),
            fs.create(inner, b"g", How::Guarded(mode(0o600)), &ALICE, at(5)).result.err(),
        )
    };
    let refused = Some(Error::Acces);
    for (bits, expected) in [
        (0o704, (refused, None, refused)),
        (0o701, (None, refused, refused)),
        (0o702, (refused, refused, refused)),
        (0o703, (None, refused, None)),
    ] {
        fs.setattr(inner, &mode(bits), None, &ROOT, at(4)).result.unwrap();
        assert_eq!(try_all(&mut fs), expected, "{bits:o}");
    }
    fs.setattr(inner, &mode(0o704), None, &ROOT, at(4)).result.unwrap();
    let page = fs.readdirplus(inner, 0, [0; 8], 4096, 4096, &ALICE).unwrap();
    assert!(page.entries.iter().all(|entry| entry.object.is_none()));
}

#[test]
fn only_the_owner_changes_the_mode_and_only_the_superuser_changes_the_owner() {
    let mut fs = fs();
    let file = owned(&mut fs, "f", 0o666);
    let uid = |uid| SetAttributes { uid: Some(uid), ..SetAttributes::default() };
    let gid = |gid| SetAttributes { gid: Some(gid), ..SetAttributes::default() };
    for (set, caller, expected) in [
        (mode(0o600), &BOB, Err(Error::Perm)),
        (mode(0o666), &ALICE, Ok(())),
        (uid(1001), &ALICE, Err(Error::Perm)),
        (uid(1000), &ALICE, Ok(())),
        (uid(1000), &BOB, Err(Error::Perm)),
        (gid(7), &ALICE, Ok(())),
        (gid(55), &ALICE, Err(Error::Perm)),
        (gid(101), &BOB, Err(Error::Perm)),
        (uid(1001), &ROOT, Ok(())),
    ] {
        assert_eq!(fs.setattr(file, &set, None, caller, at(4)).result, expected, "{set:?}");
    }
}

#[test]
fn a_user_with_write_permission_sets_the_time_to_now_and_only_the_owner_to_any_other() {
    let mut fs = fs();
    let file = owned(&mut fs, "f", 0o622);
    let now = SetAttributes { mtime: SetTime::Now, ..SetAttributes::default() };
    let other = SetAttributes { mtime: SetTime::To(at(1)), ..SetAttributes::default() };
    assert_eq!(fs.setattr(file, &now, None, &BOB, at(4)).result, Ok(()));
    assert_eq!(fs.setattr(file, &other, None, &BOB, at(4)).result, Err(Error::Perm));
    assert_eq!(fs.setattr(file, &other, None, &ALICE, at(4)).result, Ok(()));
    fs.setattr(file, &mode(0o600), None, &ALICE, at(4)).result.unwrap();
    assert_eq!(fs.setattr(file, &now, None, &BOB, at(4)).result, Err(Error::Acces));
    assert_eq!(fs.setattr(file, &size(0), None, &BOB, at(4)).result, Err(Error::Acces));
}

#[test]
fn a_change_by_another_user_clears_set_user_id_and_set_group_id() {
    let mut fs = fs();
    let bits = |fs: &FileSystem, file| fs.getattr(file).unwrap().mode;
    let file = owned(&mut fs, "f", 0o6777);
    fs.write(file, 0, b"x", Stability::FileSync, &ROOT, at(3)).result.unwrap();
    assert_eq!(bits(&fs, file), 0o6777);
    fs.write(file, 0, b"x", Stability::FileSync, &BOB, at(3)).result.unwrap();
    assert_eq!(bits(&fs, file), 0o777);
    fs.setattr(file, &mode(0o6755), None, &ROOT, at(4)).result.unwrap();
    let group = SetAttributes { gid: Some(7), ..SetAttributes::default() };
    fs.setattr(file, &group, None, &ALICE, at(5)).result.unwrap();
    assert_eq!(bits(&fs, file), 0o755);
    fs.setattr(file, &mode(0o6777), None, &ROOT, at(5)).result.unwrap();
    fs.setattr(file, &size(9), None, &BOB, at(5)).result.unwrap();
    assert_eq!(bits(&fs, file), 0o777);
    // The owner is not a member of the group.
    let away = SetAttributes { gid: Some(55), ..SetAttributes::default() };
    fs.setattr(file, &away, None, &ROOT, at(6)).result.unwrap();
    fs.setattr(file, &mode(0o2755), None, &ALICE, at(7)).result.unwrap();
    assert_eq!(bits(&fs, file), 0o755);
}

#[test]
fn in_a_sticky_directory_only_owners_remove_entries() {
    let mut fs = fs();
    let root = fs.root();
    fs.setattr(root, &mode(0o1777), None, &ROOT, at(2)).result.unwrap();
    owned(&mut fs, "f", 0o666);
    owned(&mut fs, "g", 0o666);
    assert_eq!(fs.remove(root, b"f", &BOB, at(3)).result, Err(Error::Acces));
    let moved = fs.rename((root, b"f"), (root, b"h"), &BOB, at(3)).result;
    assert_eq!(moved, Err(Error::Acces));
    fs.create(root, b"bobs", How::Guarded(mode(0o600)), &BOB, at(3)).result.unwrap();
    let over = fs.rename((root, b"bobs"), (root, b"f"), &BOB, at(3)).result;
    assert_eq!(over, Err(Error::Acces));
    assert_eq!(fs.remove(root, b"f", &ALICE, at(3)).result, Ok(()));
    assert_eq!(fs.remove(root, b"g", &ROOT, at(3)).result, Ok(()));
}

#[test]
fn objects_in_a_directory_with_set_group_id_get_its_group() {
    let mut fs = fs();
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    let set = SetAttributes { gid: Some(55), ..mode(0o2777) };
    fs.setattr(inner, &set, None, &ROOT, at(2)).result.unwrap();
    let how = How::Guarded(mode(0o600));
    let file = fs.create(inner, b"f", how, &ALICE, at(3)).result.unwrap().attributes;
    assert_eq!((file.gid, file.mode), (55, 0o600));
    let deeper = fs.mkdir(inner, b"e", &mode(0o700), &ALICE, at(3)).result.unwrap().attributes;
    assert_eq!((deeper.gid, deeper.mode), (55, 0o2700));
    let foreign = SetAttributes { uid: Some(1001), ..mode(0o600) };
    let refused = fs.create(inner, b"x", How::Guarded(foreign), &ALICE, at(3)).result;
    assert_eq!(refused, Err(Error::Perm));
}

#[test]
fn a_read_only_caller_changes_nothing_and_reads_everything() {
    let mut fs = fs();
    let root = fs.root();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, b"abc");
    let none = SetAttributes::default();
    let inner = directory(&mut fs, root, "d");
    let before = fs.getattr(root);
    let refused = Err(Error::RoFs);
    let now = at(9);
    assert_eq!(fs.setattr(file, &size(0), None, &READER, now).result, refused);
    let written = fs.write(file, 0, b"x", Stability::FileSync, &READER, now).result;
    assert_eq!(written.err(), Some(Error::RoFs));
    let how = How::Guarded(none);
    assert_eq!(fs.create(root, b"x", how, &READER, now).result.err(), Some(Error::RoFs));
    assert_eq!(fs.mkdir(root, b"x", &none, &READER, now).result.err(), Some(Error::RoFs));
    let link = fs.symlink(root, b"x", b"y", &none, &READER, now).result;
    assert_eq!(link.err(), Some(Error::RoFs));
    assert_eq!(fs.remove(root, b"f", &READER, now).result, refused);
    assert_eq!(fs.rmdir(root, b"d", &READER, now).result, refused);
    assert_eq!(fs.rename((root, b"f"), (inner, b"g"), &READER, now).result, refused);
    assert_eq!(fs.link(file, root, b"g", &READER, now).result, refused);
    assert_eq!(fs.read(file, 0, 10, &READER).unwrap().count, 3);
    assert_eq!(fs.getattr(root), before);
}

#[test]
fn moving_a_directory_to_another_parent_requires_write_permission_in_it() {
    let mut fs = fs();
    let root = fs.root();
    directory(&mut fs, root, "to");
    let to = find(&fs, root, "to").unwrap();
    let moved = directory(&mut fs, root, "d");
    fs.setattr(moved, &mode(0o755), None, &ROOT, at(3)).result.unwrap();
    let refused = fs.rename((root, b"d"), (to, b"d"), &ALICE, at(4)).result;
    assert_eq!(refused, Err(Error::Acces));
    assert_eq!(fs.rename((root, b"d"), (root, b"e"), &ALICE, at(5)).result, Ok(()));
    assert_eq!(fs.rename((root, b"e"), (to, b"d"), &ROOT, at(6)).result, Ok(()));
}

#[test]
fn an_unchecked_create_truncates_only_a_file_that_the_caller_may_write() {
    let mut fs = fs();
    let root = fs.root();
    let file = owned(&mut fs, "f", 0o644);
    write(&mut fs, file, 0, b"abc");
    let how = How::Unchecked(size(0));
    assert_eq!(fs.create(root, b"f", how, &BOB, at(4)).result.err(), Some(Error::Acces));
    assert_eq!(text(&fs, file), b"abc");
    let found = fs.create(root, b"f", How::Unchecked(mode(0)), &BOB, at(4)).result.unwrap();
    assert_eq!(found.handle, file);
    assert!(fs.create(root, b"f", how, &ALICE, at(4)).result.is_ok());
    assert_eq!(text(&fs, file), b"");
}
