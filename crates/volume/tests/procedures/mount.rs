//! MOUNT 3 and the portmapper.

use nfs3::mount::{FLAVOR_SYS, dirpath, mountstat3};
use nfs3::portmap::{IPPROTO_TCP, IPPROTO_UDP, mapping};
use nfs3::procedure::{MOUNT_PROGRAM, NFS_PROGRAM, PMAP_PROG};
use nfs3::request::{
    Arguments, MountArguments, MountResults, PortmapArguments, PortmapResults, Results,
};
use nfs3::types::Handle;
use volume::exports::{Export, ExportError};
use volume::ids::EndpointId;

use crate::calls::*;
use crate::scene::{Scene, export, options, peer, scene, scene_of};

fn mount(scene: &mut Scene, path: &str) -> Result<(Handle, Vec<u32>), mountstat3> {
    scene.mount(MountArguments::MNT(dirpath(path.as_bytes())), |results| match results {
        MountResults::MNT(Ok(ok)) => Ok((Handle::from(ok.fhandle), ok.auth_flavors.clone())),
        MountResults::MNT(Err(status)) => Err(*status),
        other => panic!("{other:?}"),
    })
}

/// (host, path) of every mount.
fn mounts(scene: &mut Scene) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    scene.mount(MountArguments::DUMP(()), |results| match results {
        MountResults::DUMP(list) => list
            .0
            .iter()
            .map(|mount| (text(mount.ml_hostname.0), text(mount.ml_directory.0)))
            .collect(),
        other => panic!("{other:?}"),
    })
}

#[test]
fn a_volume_and_its_directories_are_mounted_by_path() {
    let mut scene = scene_of([export("vol1"), export("vol1/nested"), export("vol")]);
    let tree = scene.tree();
    let below = scene.create(mkdir(&tree.dir, "below", mode(0o700)));
    for (path, handle) in [
        ("/vol1", &tree.root),
        ("vol1", &tree.root),
        ("//vol1//", &tree.root),
        ("/vol1/dir", &tree.dir),
        ("/vol1/dir/below/", &below),
        ("/vol1/dir/below/..", &tree.dir),
    ] {
        assert_eq!(mount(&mut scene, path), Ok((*handle, vec![FLAVOR_SYS])), "{path}");
        assert_eq!(scene.performed.unwrap().volume, Some(scene.volume("vol1")));
    }
    mount(&mut scene, "/vol1/nested").unwrap();
    assert_eq!(scene.performed.unwrap().volume, Some(scene.volume("vol1/nested")));
    let long = format!("/vol1/{}", "n".repeat(256));
    for (path, status) in [
        ("", mountstat3::MNT3ERR_NOENT),
        ("/", mountstat3::MNT3ERR_NOENT),
        ("/vol2", mountstat3::MNT3ERR_NOENT),
        ("/vol11", mountstat3::MNT3ERR_NOENT),
        ("/vol1/none", mountstat3::MNT3ERR_NOENT),
        ("/vol1/file", mountstat3::MNT3ERR_NOTDIR),
        ("/vol1/file/x", mountstat3::MNT3ERR_NOTDIR),
        ("/vol1/link", mountstat3::MNT3ERR_NOTDIR),
        (&long, mountstat3::MNT3ERR_NAMETOOLONG),
        ("/vol1/a\0b", mountstat3::MNT3ERR_INVAL),
    ] {
        assert_eq!(mount(&mut scene, path), Err(status), "{path}");
        assert!(scene.performed.unwrap().failed);
    }
}

#[test]
fn symbolic_links_are_followed_inside_an_export() {
    let mut scene = scene_of([export("vol1"), export("vol1/nested"), export("vol2")]);
    let tree = scene.tree();
    let below = scene.create(mkdir(&tree.dir, "below", mode(0o700)));
    for (directory, name, text) in [
        (&tree.root, "to-dir", "dir"),
        (&tree.root, "to-link", "./to-dir//below/"),
        (&tree.root, "absolute", "/vol1/dir"),
        (&tree.dir, "up", "../dir/below"),
        (&below, "up", "../../dir"),
        (&tree.root, "self", "self"),
        (&tree.root, "out", "dir/../.."),
        (&tree.root, "host", "/etc"),
        (&tree.root, "other", "/vol2"),
        (&tree.root, "nested-export", "/vol1/nested"),
        (&tree.root, "nowhere", "none"),
    ] {
        scene.create(symlink(directory, name, text));
    }
    for (path, handle) in [
        ("/vol1/to-dir", &tree.dir),
        ("/vol1/to-dir/below", &below),
        ("/vol1/to-link", &below),
        ("/vol1/to-link/..", &tree.dir),
        ("/vol1/absolute", &tree.dir),
        ("/vol1/absolute/up/up", &tree.dir),
    ] {
        assert_eq!(mount(&mut scene, path), Ok((*handle, vec![FLAVOR_SYS])), "{path}");
    }
    for (path, status) in [
        ("/vol1/self", mountstat3::MNT3ERR_ACCES),
        ("/vol1/out", mountstat3::MNT3ERR_ACCES),
        ("/vol1/..", mountstat3::MNT3ERR_ACCES),
        ("/vol1/../vol2", mountstat3::MNT3ERR_ACCES),
        ("/vol1/host", mountstat3::MNT3ERR_ACCES),
        ("/vol1/other", mountstat3::MNT3ERR_ACCES),
        ("/vol1/nested-export", mountstat3::MNT3ERR_ACCES),
        ("/vol1/nowhere", mountstat3::MNT3ERR_NOENT),
    ] {
        assert_eq!(mount(&mut scene, path), Err(status), "{path}");
    }
}

#[test]
fn a_path_may_have_at_most_forty_symbolic_links() {
    let mut scene = scene();
    let tree = scene.tree();
    scene.create(symlink(&tree.root, "link0", "dir"));
    for number in 1..41 {
        let (name, text) = (format!("link{number}"), format!("link{}", number - 1));
        scene.create(symlink(&tree.root, &name, &text));
    }
    assert_eq!(mount(&mut scene, "/vol1/link39"), Ok((tree.dir, vec![FLAVOR_SYS])));
    assert_eq!(mount(&mut scene, "/vol1/link40"), Err(mountstat3::MNT3ERR_ACCES));
}

#[test]
fn dump_lists_mounts_until_they_are_unmounted() {
    let mut scene = scene_of([export("vol1"), export("vol2")]);
    let pair = |host: &str, path: &str| (host.to_owned(), path.to_owned());
    for path in ["/vol1", "/vol2", "/vol1"] {
        mount(&mut scene, path).unwrap();
    }
    scene.peer = peer("10.0.0.7:33");
    mount(&mut scene, "/vol1").unwrap();
    let (here, there) = ("127.0.0.1", "10.0.0.7");
    assert_eq!(
        mounts(&mut scene),
        [pair(here, "/vol1"), pair(here, "/vol2"), pair(there, "/vol1")]
    );
    scene.mount(MountArguments::UMNT(dirpath(b"/vol1")), |_| ());
    assert_eq!(mounts(&mut scene), [pair(here, "/vol1"), pair(here, "/vol2")]);
    scene.peer = peer("127.0.0.1:999");
    scene.mount(MountArguments::UMNTALL(()), |_| ());
    assert_eq!(mounts(&mut scene), []);
    for client in 0..3000u32 {
        scene.peer = peer(&format!("10.1.{}.{}:1", client >> 8, client & 255));
        mount(&mut scene, "/vol1").unwrap();
    }
    let listed = mounts(&mut scene);
    assert_eq!(listed.len(), 1024, "bounded");
    assert_eq!(listed.last().unwrap().0, "10.1.11.183", "the oldest are forgotten");
}

#[test]
fn export_lists_volumes_with_the_clients_that_may_mount_them() {
    let rules = volume::export_rules::ExportRules::new(vec![volume::export_rules::ExportRule {
        clients: vec!["10.0.0.0/24".parse().unwrap(), "fd00::/8".parse().unwrap()],
        access: volume::export_rules::ExportAccess::ReadOnly,
        squash: volume::export_rules::Squash::All,
        anonymous: (1, 1),
    }]);
    let elsewhere = Export { endpoints: Some(vec![EndpointId::new(3)]), ..export("elsewhere") };
    let mut scene = scene_of([export("open"), Export { rules, ..export("closed") }, elsewhere]);
    scene.mount(MountArguments::EXPORT(()), |results| match results {
        MountResults::EXPORT(list) => {
            let paths: Vec<&[u8]> = list.0.iter().map(|node| node.ex_dir.0).collect();
            assert_eq!(paths, [&b"/open"[..], b"/closed"]);
            let groups: Vec<&[u8]> = list.0[1].ex_groups.iter().map(|group| group.0).collect();
            assert_eq!(groups, [&b"10.0.0.0/24"[..], b"fd00::/8"]);
            assert_eq!(list.0[0].ex_groups[0].0, b"127.0.0.0/8");
        }
        other => panic!("{other:?}"),
    });
    scene.mount(MountArguments::NULL(()), |results| {
        assert_eq!(*results, MountResults::NULL(()));
    });
}

#[test]
fn names_fsids_and_indices_of_volumes_are_unique() {
    let mut scene = scene();
    let taken = |name: &str| ExportError::NameTaken(name.to_owned());
    assert_eq!(scene.exports.add(export("vol1")), Err(taken("vol1")));
    let files = files::FileSystem::new(options("vol1"));
    let same = scene.exports.add(Export { files, ..export("vol2") });
    assert!(matches!(same, Err(ExportError::FsidTaken { other, .. }) if other == "vol1"));
    let long = "n".repeat(256);
    for name in ["", "/a", "a/", "a\nb", &long] {
        let refused = scene.exports.add(export(name));
        assert_eq!(refused, Err(ExportError::InvalidName(name.to_owned())));
    }
    // Indices are not reused, so tables by index never refer to another volume.
    let first = scene.volume("vol1");
    assert_eq!(scene.exports.remove(first).unwrap().name, "vol1");
    assert!(scene.exports.remove(first).is_none() && scene.exports.get(first).is_none());
    let again = scene.exports.add(export("vol1")).unwrap();
    assert_ne!(first, again);
    assert_eq!(scene.exports.iter().map(|(index, _)| index).collect::<Vec<_>>(), [again]);
}

#[test]
fn the_portmapper_returns_the_port_of_the_service_and_accepts_no_registrations() {
    let mut scene = scene();
    let mut query = |arguments| {
        let arguments = Arguments::Portmap(arguments);
        let body = scene.call(&arguments);
        let Results::Portmap(results) = Results::decode(arguments.procedure(), &body).unwrap()
        else {
            panic!()
        };
        results
    };
    let of = |prog, vers, prot| mapping { prog, vers, prot, port: 0 };
    for (requested, port) in [
        (of(NFS_PROGRAM, 3, IPPROTO_TCP), 2049),
        (of(MOUNT_PROGRAM, 3, IPPROTO_TCP), 2049),
        (of(PMAP_PROG, 2, IPPROTO_TCP), 2049),
        (mapping { port: 77, ..of(NFS_PROGRAM, 3, IPPROTO_TCP) }, 2049),
        (of(NFS_PROGRAM, 4, IPPROTO_TCP), 0),
        (of(NFS_PROGRAM, 3, IPPROTO_UDP), 0),
        (of(100_227, 3, IPPROTO_TCP), 0),
    ] {
        let results = query(PortmapArguments::GETPORT(requested));
        assert_eq!(results, PortmapResults::GETPORT(port), "{requested:?}");
    }
    let other = mapping { port: 5, ..of(400_000, 1, IPPROTO_TCP) };
    assert_eq!(query(PortmapArguments::SET(other)), PortmapResults::SET(false));
    assert_eq!(query(PortmapArguments::UNSET(other)), PortmapResults::UNSET(false));
    assert_eq!(query(PortmapArguments::NULL), PortmapResults::NULL);
    let PortmapResults::DUMP(list) = query(PortmapArguments::DUMP) else { panic!() };
    assert_eq!(list.0.len(), 3);
    assert!(list.0.iter().all(|known| known.port == 2049));
}
