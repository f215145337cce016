//! READ, WRITE and COMMIT: data, stability, and counted bytes.

use files::{FileSystem, Options, Time, Unstable};
use nfs3::arguments::*;
use nfs3::request::{NfsArguments as A, NfsResults as R};
use nfs3::results::*;
use nfs3::types::*;
use units::Bytes;
use volume::exports::Export;
use volume::procedures::Shortage;

use crate::calls;
use crate::scene::{Scene, export, options, scene, scene_of};

fn write(scene: &mut Scene, file: &Handle, offset: u64, data: &[u8]) -> WRITE3res {
    let arguments = calls::write(file, offset, stable_how::UNSTABLE, data);
    scene.nfs(arguments, |results| match results {
        R::WRITE(result) => *result,
        other => panic!("{other:?}"),
    })
}

fn read(scene: &mut Scene, file: &Handle, offset: u64, count: u32) -> (Vec<u8>, bool) {
    scene.nfs(calls::read(file, offset, count), |results| match results {
        R::READ(Res3::Ok(ok)) => {
            assert_eq!(ok.count as usize, ok.data.0.len());
            assert!(ok.file_attributes.is_some());
            (ok.data.0.to_vec(), ok.eof)
        }
        other => panic!("{other:?}"),
    })
}

#[test]
fn written_data_is_read_and_bytes_are_counted() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    let text: Vec<u8> = (0..100_001u32).map(|at| at as u8).collect();
    let Res3::Ok(written) = write(&mut scene, &file, 5, &text) else { panic!() };
    assert_eq!((written.count, written.committed), (100_001, stable_how::UNSTABLE));
    let (before, after) = (written.file_wcc.before.unwrap(), written.file_wcc.after.unwrap());
    assert_eq!((before.size, after.size), (0, 100_006));
    assert_eq!(scene.performed.unwrap().bytes, 100_001);
    let (data, eof) = read(&mut scene, &file, 5, 100_000);
    assert!(data == text[..100_000] && !eof);
    assert_eq!(scene.performed.unwrap().bytes, 100_000);
    let (data, eof) = read(&mut scene, &file, 0, 1 << 20);
    assert!(data[5..] == text && data[..5] == [0; 5] && eof);
    assert_eq!(scene.performed.unwrap().bytes, 100_006, "fewer than requested");
    for (offset, count, is_end) in
        [(0, 0, false), (100_006, 0, true), (100_006, 9, true), (u64::MAX, 9, true)]
    {
        let (data, eof) = read(&mut scene, &file, offset, count);
        assert_eq!((data.len(), eof), (0, is_end), "{count} bytes at {offset}");
    }
    assert_eq!(scene.attributes(&file).size, 100_006);
}

#[test]
fn data_of_every_length_is_padded() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    let text: Vec<u8> = (0..70_000u32).map(|at| (at * 7) as u8).collect();
    write(&mut scene, &file, 0, &text);
    for length in (0..9).chain(1020..1030).chain(65_530..65_545) {
        for offset in [0, 1, 4095] {
            let (data, _) = read(&mut scene, &file, offset as u64, length as u32);
            assert!(data == text[offset..offset + length], "{length} bytes at {offset}");
            assert!(scene.reply.parts().all(|part| !part.is_empty()));
        }
    }
}

#[test]
fn a_reply_keeps_its_data_while_the_file_changes() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    write(&mut scene, &file, 0, &[1; 8192]);
    read(&mut scene, &file, 0, 8192);
    let first = std::mem::take(&mut scene.reply);
    write(&mut scene, &file, 0, &[2; 8192]);
    assert_eq!(scene.status(calls::remove(&root, "file")), nfsstat3::NFS3_OK);
    let bytes = first.to_vec();
    assert!(bytes[bytes.len() - 8192..].iter().all(|byte| *byte == 1));
}

#[test]
fn a_transfer_larger_than_the_maximum_is_performed_in_part() {
    let transfer_max = 8192;
    let files = FileSystem::new(Options { transfer_max, ..options("vol1") });
    let mut scene = scene_of([Export { files, ..export("vol1") }]);
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    let Res3::Ok(written) = write(&mut scene, &file, 0, &[3; 10_000]) else { panic!() };
    assert_eq!(written.count, 8192);
    assert_eq!(scene.performed.unwrap().bytes, 8192);
    write(&mut scene, &file, 8192, &[3; 1808]);
    let (data, eof) = read(&mut scene, &file, 0, u32::MAX);
    assert_eq!((data.len(), eof), (8192, false));
}

#[test]
fn writes_are_as_stable_as_requested_and_a_restart_changes_the_verifier() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    let write = |scene: &mut Scene, stable| {
        let arguments = calls::write(&file, 0, stable, b"data");
        scene.nfs(arguments, |results| match results {
            R::WRITE(Res3::Ok(ok)) => (ok.committed, ok.verf),
            other => panic!("{other:?}"),
        })
    };
    let commit = |scene: &mut Scene| {
        scene.nfs(calls::commit(&file), |results| match results {
            R::COMMIT(Res3::Ok(ok)) => {
                assert!(ok.file_wcc.before.is_some() && ok.file_wcc.after.is_some());
                ok.verf
            }
            other => panic!("{other:?}"),
        })
    };
    let (committed, verifier) = write(&mut scene, stable_how::UNSTABLE);
    assert_eq!(committed, stable_how::UNSTABLE);
    assert!(write(&mut scene, stable_how::DATA_SYNC).0 >= stable_how::DATA_SYNC);
    assert_eq!(write(&mut scene, stable_how::FILE_SYNC).0, stable_how::FILE_SYNC);
    assert_eq!(commit(&mut scene), verifier);
    write(&mut scene, stable_how::UNSTABLE);
    scene.files("vol1").restart(Time { seconds: 5000, nanoseconds: 0 });
    assert_ne!(commit(&mut scene), verifier, "the client must rewrite its data");
}

#[test]
fn a_volume_that_never_loses_unstable_writes_reports_them_as_unstable_too() {
    let files = FileSystem::new(Options { unstable: Unstable::Kept, ..options("vol1") });
    let mut scene = scene_of([Export { files, ..export("vol1") }]);
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    let Res3::Ok(written) = write(&mut scene, &file, 0, b"data") else { panic!() };
    assert_eq!(written.committed, stable_how::UNSTABLE);
    assert_eq!(scene.status(calls::commit(&file)), nfsstat3::NFS3_OK);
}

#[test]
fn an_empty_write_changes_nothing() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    let before = scene.attributes(&file);
    let Res3::Ok(written) = write(&mut scene, &file, 77, b"") else { panic!() };
    assert_eq!((written.count, scene.attributes(&file)), (0, before));
    let wrong_count = WRITE3args {
        file: file.fh(),
        offset: 0,
        count: 0,
        stable: stable_how::UNSTABLE,
        data: Data(b"data"),
    };
    assert_eq!(scene.status(A::WRITE(wrong_count)), nfsstat3::NFS3ERR_INVAL);
    assert_eq!(scene.attributes(&file), before);
}

#[test]
fn a_write_beyond_the_quota_is_dquot_and_one_beyond_the_memory_is_nospc() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = scene.file(&root, "file", 0o666);
    scene.files("vol1").set_quota(Bytes::kib(64));
    assert!(matches!(write(&mut scene, &file, 0, &[1; 65_536]), Res3::Ok(_)));
    let Res3::Fail(status, fail) = write(&mut scene, &file, 65_536, &[1; 1]) else { panic!() };
    assert_eq!(status, nfsstat3::NFS3ERR_DQUOT);
    let (before, after) = (fail.file_wcc.before.unwrap(), fail.file_wcc.after.unwrap());
    assert_eq!((before.size, before.mtime, before.ctime), (after.size, after.mtime, after.ctime));
    let performed = scene.performed.unwrap();
    assert_eq!((performed.bytes, performed.failed), (0, true));
    assert_eq!(performed.shortage, Some(Shortage::Quota));

    let memory_max = Bytes::kib(8);
    let files = FileSystem::new(Options { memory_max, ..options("small") });
    let mut scene = scene_of([Export { files, ..export("small") }]);
    let root = scene.root_of("/small");
    let file = scene.file(&root, "file", 0o666);
    let Res3::Fail(status, _) = write(&mut scene, &file, 0, &[1; 65_536]) else { panic!() };
    assert_eq!(status, nfsstat3::NFS3ERR_NOSPC);
    assert_eq!(scene.performed.unwrap().shortage, Some(Shortage::Memory));
}
