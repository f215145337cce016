//! Export rules: which clients may use a volume, with which identity, and what others get.

use nfs3::arguments::*;
use nfs3::mount::mountstat3;
use nfs3::request::{MountArguments, MountResults};
use nfs3::rpc::Credential;
use nfs3::types::nfsstat3 as S;
use nfs3::types::*;
use volume::export_rules::{ANONYMOUS, ExportAccess, ExportRule, ExportRules, Squash};
use volume::exports::Export;
use volume::ids::EndpointId;
use volume::peer::Peer;

use crate::calls::*;
use crate::scene::{Scene, export, peer, scene, scene_of, user};

fn rule(clients: &str, access: ExportAccess, squash: Squash) -> ExportRule {
    let clients = vec![clients.parse().unwrap()];
    ExportRule { clients, access, squash, anonymous: (ANONYMOUS, ANONYMOUS) }
}

fn mounted(scene: &mut Scene, path: &str) -> Result<Handle, mountstat3> {
    let path = nfs3::mount::dirpath(path.as_bytes());
    scene.mount(MountArguments::MNT(path), |results| match results {
        MountResults::MNT(Ok(ok)) => Ok(Handle::from(ok.fhandle)),
        MountResults::MNT(Err(status)) => Err(*status),
        other => panic!("{other:?}"),
    })
}

#[test]
fn a_client_without_a_rule_can_neither_mount_nor_use_a_handle() {
    let mut scene = scene();
    let tree = scene.tree();
    scene.peer = peer("8.8.8.8:700");
    assert_eq!(mounted(&mut scene, "/vol1"), Err(mountstat3::MNT3ERR_ACCES));
    let performed = scene.performed.unwrap();
    assert!(performed.failed && performed.volume.is_none());
    for object in [&tree.root, &tree.file, &tree.dir] {
        for arguments in one_of_each(object) {
            let outcome = scene.outcome(arguments);
            assert_eq!(outcome.status, S::NFS3ERR_ACCES, "{arguments:?}");
            assert!(outcome.attributes.iter().all(Option::is_none), "no attributes");
            assert!(outcome.wcc.iter().all(|wcc| *wcc == wcc_data::default()));
        }
    }
    let index = scene.volume("vol1");
    let rules = vec![rule("8.8.8.8", ExportAccess::ReadWrite, Squash::None)];
    scene.exports.get_mut(index).unwrap().rules = ExportRules::new(rules);
    assert_eq!(mounted(&mut scene, "/vol1"), Ok(tree.root));
    scene.peer = peer("127.0.0.1:1");
    // With rules, loopback has no access by default.
    assert_eq!(scene.status(getattr(&tree.file)), S::NFS3ERR_ACCES);
}

#[test]
fn a_read_only_client_gets_rofs_for_every_change_and_may_read() {
    let mut scene = scene();
    let tree = scene.tree();
    let index = scene.volume("vol1");
    let rules = vec![rule("127.0.0.0/8", ExportAccess::ReadOnly, Squash::None)];
    scene.exports.get_mut(index).unwrap().rules = ExportRules::new(rules);
    let before = scene.attributes(&tree.dir);
    for arguments in [
        setattr(&tree.file, mode(0)),
        write(&tree.file, 0, stable_how::UNSTABLE, b"x"),
        create(&tree.dir, "x", createhow3::GUARDED(sattr3::UNCHANGED)),
        mkdir(&tree.dir, "x", sattr3::UNCHANGED),
        symlink(&tree.dir, "x", "text"),
        mknod(&tree.dir, "x", mknoddata3::NF3FIFO(sattr3::UNCHANGED)),
        remove(&tree.full, "inside"),
        rmdir(&tree.root, "dir"),
        rename(at(&tree.root, "file"), at(&tree.dir, "x")),
        link(&tree.file, at(&tree.dir, "x")),
    ] {
        let outcome = scene.outcome(arguments);
        assert_eq!(outcome.status, S::NFS3ERR_ROFS, "{arguments:?}");
        assert!(outcome.wcc.iter().all(|wcc| wcc.before.is_some() && wcc.after.is_some()));
    }
    assert_eq!(scene.attributes(&tree.dir), before);
    for arguments in [
        lookup(&tree.root, "file"),
        access(&tree.file, 0x3f),
        readlink(&tree.link),
        read(&tree.file, 0, 5),
        readdir(&tree.root, 0, [0; 8], 4096),
        readdirplus(&tree.root, (0, [0; 8]), 4096, 4096),
        fsstat(&tree.root),
        fsinfo(&tree.root),
        pathconf(&tree.root),
    ] {
        assert_eq!(scene.status(arguments), S::NFS3_OK, "{arguments:?}");
    }
}

#[test]
fn a_squashed_user_creates_files_with_the_identity_and_rights_of_the_anonymous_user() {
    let mut scene = scene();
    let tree = scene.tree();
    let index = scene.volume("vol1");
    for (squash, user, owner) in [
        (Squash::None, user(0, 0, &[]), (0, 0)),
        (Squash::Root, user(0, 0, &[0]), (ANONYMOUS, ANONYMOUS)),
        (Squash::Root, user(1000, 100, &[]), (1000, 100)),
        (Squash::All, user(1000, 100, &[]), (ANONYMOUS, ANONYMOUS)),
        (Squash::None, Credential::None, (ANONYMOUS, ANONYMOUS)),
    ] {
        let rules = vec![rule("127.0.0.1", ExportAccess::ReadWrite, squash)];
        scene.exports.get_mut(index).unwrap().rules = ExportRules::new(rules);
        scene.credential = user;
        let name = format!("{}", scene.xid);
        let created = scene.file(&tree.dir, &name, 0o600);
        let attributes = scene.attributes(&created);
        assert_eq!((attributes.uid, attributes.gid), owner, "{squash:?} {user:?}");
        let can_read = scene.status(read(&tree.secret, 0, 1)) == S::NFS3_OK;
        assert_eq!(can_read, owner.0 == 0, "{squash:?} {user:?}");
    }
}

#[test]
fn a_volume_is_visible_only_at_its_endpoints() {
    let second = EndpointId::new(1);
    let mut scene =
        scene_of([export("vol1"), Export { endpoints: Some(vec![second]), ..export("vol2") }]);
    assert_eq!(mounted(&mut scene, "/vol2"), Err(mountstat3::MNT3ERR_NOENT));
    scene.peer = Peer::new("127.0.0.1:5".parse().unwrap(), second, 2050);
    let root = mounted(&mut scene, "/vol2").unwrap();
    assert_eq!(scene.status(getattr(&root)), S::NFS3_OK);
    assert!(mounted(&mut scene, "/vol1").is_ok(), "served at all endpoints");
    scene.peer = peer("127.0.0.1:5");
    assert_eq!(scene.status(getattr(&root)), S::NFS3ERR_STALE);
}
