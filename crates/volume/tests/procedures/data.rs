//! READ, WRITE and COMMIT.

use nfs3::arguments::*;
use nfs3::request::{NfsArguments as A, NfsResults as R};
use nfs3::results::*;
use nfs3::types::*;

use files::{FileSystem, Options};
use units::Bytes;
use volume::exports::{Export, Shortage};

use crate::scene::{Scene, export, options, scene, scene_of};

pub(crate) fn create(scene: &mut Scene, dir: Handle, name: &str) -> Handle {
    let at = diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) };
    let set = sattr3 { mode: Some(0o666), ..sattr3::UNCHANGED };
    let how = createhow3::GUARDED(set);
    scene.nfs(A::CREATE(CREATE3args { r#where: at, how }), |results| match results {
        R::CREATE(Res3::Ok(ok)) => Handle::from(ok.obj.unwrap()),
        other => panic!("{other:?}"),
    })
}

pub(crate) fn write(scene: &mut Scene, file: Handle, offset: u64, data: &[u8]) -> WRITE3res {
    let (count, stable, data) = (data.len() as u32, stable_how::UNSTABLE, Data(data));
    let args = WRITE3args { file: file.fh(), offset, count, stable, data };
    scene.nfs(A::WRITE(args), |results| match results {
        R::WRITE(result) => *result,
        other => panic!("{other:?}"),
    })
}

pub(crate) fn read(scene: &mut Scene, file: Handle, offset: u64, count: u32) -> (Vec<u8>, bool) {
    let args = READ3args { file: file.fh(), offset, count };
    scene.nfs(A::READ(args), |results| match results {
        R::READ(Res3::Ok(ok)) => {
            assert_eq!(ok.count as usize, ok.data.0.len());
            assert!(ok.file_attributes.is_some());
            (ok.data.0.to_vec(), ok.eof)
        }
        other => panic!("{other:?}"),
    })
}

#[test]
fn what_was_written_is_read_and_counted() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = create(&mut scene, root, "file");
    let text: Vec<u8> = (0..100_001u32).map(|at| at as u8).collect();
    let Res3::Ok(written) = write(&mut scene, file, 5, &text) else { panic!() };
    assert_eq!((written.count, written.committed), (100_001, stable_how::UNSTABLE));
    assert_eq!(scene.performed.unwrap().bytes, 100_001);
    let (data, eof) = read(&mut scene, file, 5, 100_000);
    assert!(data == text[..100_000] && !eof);
    assert_eq!(scene.performed.unwrap().bytes, 100_000);
    let (data, eof) = read(&mut scene, file, 0, 1 << 20);
    assert!(data[5..] == text && data[..5] == [0; 5] && eof);
    assert_eq!(scene.performed.unwrap().bytes, 100_006, "what was really read");
    let by_name =
        A::LOOKUP(LOOKUP3args { what: diropargs3 { dir: root.fh(), name: filename3(b"file") } });
    scene.nfs(by_name, |results| match results {
        R::LOOKUP(Res3::Ok(ok)) => {
            assert_eq!(Handle::from(ok.object), file);
            assert_eq!(ok.obj_attributes.unwrap().size, 100_006);
        }
        other => panic!("{other:?}"),
    });
    scene.nfs(A::GETATTR(GETATTR3args { object: file.fh() }), |results| match results {
        R::GETATTR(Res3::Ok(ok)) => assert_eq!(ok.obj_attributes.size, 100_006),
        other => panic!("{other:?}"),
    });
}

#[test]
fn a_write_beyond_the_quota_is_refused_whole_and_told_from_one_beyond_the_memory() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let file = create(&mut scene, root, "file");
    scene.files("vol1").set_quota(Bytes::kib(64));
    assert!(matches!(write(&mut scene, file, 0, &[1; 65_536]), Res3::Ok(_)));
    let Res3::Fail(status, fail) = write(&mut scene, file, 65_536, &[1; 1]) else { panic!() };
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
    let file = create(&mut scene, root, "file");
    let Res3::Fail(status, _) = write(&mut scene, file, 0, &[1; 65_536]) else { panic!() };
    assert_eq!(status, nfsstat3::NFS3ERR_NOSPC);
    assert_eq!(scene.performed.unwrap().shortage, Some(Shortage::Memory));
}
