//! Short constructors for arguments, and a tree with objects of each kind.

use nfs3::arguments::*;
use nfs3::request::{NfsArguments as A, NfsResults as R};
use nfs3::results::*;
use nfs3::types::*;

use crate::scene::Scene;

pub(crate) fn at<'a>(dir: &'a Handle, name: &'a str) -> diropargs3<'a> {
    diropargs3 { dir: dir.fh(), name: filename3(name.as_bytes()) }
}

pub(crate) fn mode(mode: u32) -> sattr3 {
    sattr3 { mode: Some(mode), ..sattr3::UNCHANGED }
}

pub(crate) fn getattr(object: &Handle) -> A<'_> {
    A::GETATTR(GETATTR3args { object: object.fh() })
}

pub(crate) fn setattr(object: &Handle, new_attributes: sattr3) -> A<'_> {
    A::SETATTR(SETATTR3args { object: object.fh(), new_attributes, guard: None })
}

pub(crate) fn lookup<'a>(dir: &'a Handle, name: &'a str) -> A<'a> {
    A::LOOKUP(LOOKUP3args { what: at(dir, name) })
}

pub(crate) fn access(object: &Handle, access: u32) -> A<'_> {
    A::ACCESS(ACCESS3args { object: object.fh(), access })
}

pub(crate) fn readlink(link: &Handle) -> A<'_> {
    A::READLINK(READLINK3args { symlink: link.fh() })
}

pub(crate) fn read(file: &Handle, offset: u64, count: u32) -> A<'_> {
    A::READ(READ3args { file: file.fh(), offset, count })
}

pub(crate) fn write<'a>(
    file: &'a Handle,
    offset: u64,
    stable: stable_how,
    data: &'a [u8],
) -> A<'a> {
    let (count, data) = (data.len() as u32, Data(data));
    A::WRITE(WRITE3args { file: file.fh(), offset, count, stable, data })
}

pub(crate) fn commit(file: &Handle) -> A<'_> {
    A::COMMIT(COMMIT3args { file: file.fh(), offset: 0, count: 0 })
}

pub(crate) fn create<'a>(dir: &'a Handle, name: &'a str, how: createhow3) -> A<'a> {
    A::CREATE(CREATE3args { r#where: at(dir, name), how })
}

pub(crate) fn mkdir<'a>(dir: &'a Handle, name: &'a str, attributes: sattr3) -> A<'a> {
    A::MKDIR(MKDIR3args { r#where: at(dir, name), attributes })
}

pub(crate) fn symlink<'a>(dir: &'a Handle, name: &'a str, text: &'a str) -> A<'a> {
    let (symlink_attributes, symlink_data) = (sattr3::UNCHANGED, filename3(text.as_bytes()));
    let symlink = symlinkdata3 { symlink_attributes, symlink_data };
    A::SYMLINK(SYMLINK3args { r#where: at(dir, name), symlink })
}

pub(crate) fn mknod<'a>(dir: &'a Handle, name: &'a str, what: mknoddata3) -> A<'a> {
    A::MKNOD(MKNOD3args { r#where: at(dir, name), what })
}

pub(crate) fn remove<'a>(dir: &'a Handle, name: &'a str) -> A<'a> {
    A::REMOVE(REMOVE3args { object: at(dir, name) })
}

pub(crate) fn rmdir<'a>(dir: &'a Handle, name: &'a str) -> A<'a> {
    A::RMDIR(RMDIR3args { object: at(dir, name) })
}

pub(crate) fn rename<'a>(from: diropargs3<'a>, to: diropargs3<'a>) -> A<'a> {
    A::RENAME(RENAME3args { from, to })
}

pub(crate) fn link<'a>(file: &'a Handle, link: diropargs3<'a>) -> A<'a> {
    A::LINK(LINK3args { file: file.fh(), link })
}

pub(crate) fn readdir(dir: &Handle, cookie: u64, cookieverf: [u8; 8], count: u32) -> A<'_> {
    A::READDIR(READDIR3args { dir: dir.fh(), cookie, cookieverf, count })
}

pub(crate) fn readdirplus(
    dir: &Handle,
    (cookie, cookieverf): (u64, [u8; 8]),
    dircount: u32,
    maxcount: u32,
) -> A<'_> {
    A::READDIRPLUS(READDIRPLUS3args { dir: dir.fh(), cookie, cookieverf, dircount, maxcount })
}

pub(crate) fn fsstat(fsroot: &Handle) -> A<'_> {
    A::FSSTAT(FSSTAT3args { fsroot: fsroot.fh() })
}

pub(crate) fn fsinfo(fsroot: &Handle) -> A<'_> {
    A::FSINFO(FSINFO3args { fsroot: fsroot.fh() })
}

pub(crate) fn pathconf(object: &Handle) -> A<'_> {
    A::PATHCONF(PATHCONF3args { object: object.fh() })
}

/// Every procedure with `object` as its first handle, and with names that do not exist.
pub(crate) fn one_of_each(object: &Handle) -> Vec<A<'_>> {
    vec![
        getattr(object),
        setattr(object, sattr3::UNCHANGED),
        lookup(object, "x"),
        access(object, 0x3f),
        readlink(object),
        read(object, 0, 10),
        write(object, 0, stable_how::UNSTABLE, b"data"),
        create(object, "new", createhow3::UNCHECKED(sattr3::UNCHANGED)),
        mkdir(object, "new directory", sattr3::UNCHANGED),
        symlink(object, "new link", "text"),
        mknod(object, "new fifo", mknoddata3::NF3FIFO(sattr3::UNCHANGED)),
        remove(object, "x"),
        rmdir(object, "x"),
        rename(at(object, "x"), at(object, "y")),
        link(object, at(object, "z")),
        readdir(object, 0, [0; 8], 4096),
        readdirplus(object, (0, [0; 8]), 4096, 4096),
        fsstat(object),
        fsinfo(object),
        pathconf(object),
        commit(object),
    ]
}

/// The same call with other handles.
pub(crate) fn translated<'a>(
    arguments: A<'a>,
    mut fh: impl FnMut(nfs_fh3<'a>) -> nfs_fh3<'a>,
) -> A<'a> {
    let mut all = arguments;
    match &mut all {
        A::NULL(()) => {}
        A::GETATTR(args) => args.object = fh(args.object),
        A::SETATTR(args) => args.object = fh(args.object),
        A::LOOKUP(args) => args.what.dir = fh(args.what.dir),
        A::ACCESS(args) => args.object = fh(args.object),
        A::READLINK(args) => args.symlink = fh(args.symlink),
        A::READ(args) => args.file = fh(args.file),
        A::WRITE(args) => args.file = fh(args.file),
        A::CREATE(args) => args.r#where.dir = fh(args.r#where.dir),
        A::MKDIR(args) => args.r#where.dir = fh(args.r#where.dir),
        A::SYMLINK(args) => args.r#where.dir = fh(args.r#where.dir),
        A::MKNOD(args) => args.r#where.dir = fh(args.r#where.dir),
        A::REMOVE(args) => args.object.dir = fh(args.object.dir),
        A::RMDIR(args) => args.object.dir = fh(args.object.dir),
        A::RENAME(args) => {
            args.from.dir = fh(args.from.dir);
            args.to.dir = fh(args.to.dir);
        }
        A::LINK(args) => {
            args.file = fh(args.file);
            args.link.dir = fh(args.link.dir);
        }
        A::READDIR(args) => args.dir = fh(args.dir),
        A::READDIRPLUS(args) => args.dir = fh(args.dir),
        A::FSSTAT(args) => args.fsroot = fh(args.fsroot),
        A::FSINFO(args) => args.fsroot = fh(args.fsroot),
        A::PATHCONF(args) => args.object = fh(args.object),
        A::COMMIT(args) => args.file = fh(args.file),
    }
    all
}

/// The objects that [`Scene::tree`] creates.
pub(crate) struct Tree {
    pub(crate) root: Handle,
    /// Mode 0666, owned by the superuser, with the text "hello".
    pub(crate) file: Handle,
    /// Mode 0777, empty, called `dir`.
    pub(crate) dir: Handle,
    /// Mode 0777, with the file `inside`.
    pub(crate) full: Handle,
    /// A directory of mode 0700 with the file `inside` of mode 0600.
    pub(crate) private: Handle,
    pub(crate) secret: Handle,
    /// A symbolic link to "file".
    pub(crate) link: Handle,
    pub(crate) fifo: Handle,
}

impl Scene {
    /// Creates an object and returns its handle.
    pub(crate) fn create(&mut self, arguments: A<'_>) -> Handle {
        self.nfs(arguments, |results| match results {
            R::CREATE(Res3::Ok(ok))
            | R::MKDIR(Res3::Ok(ok))
            | R::SYMLINK(Res3::Ok(ok))
            | R::MKNOD(Res3::Ok(ok)) => Handle::from(ok.obj.unwrap()),
            other => panic!("{other:?}"),
        })
    }

    pub(crate) fn file(&mut self, dir: &Handle, name: &str, bits: u32) -> Handle {
        self.create(create(dir, name, createhow3::GUARDED(mode(bits))))
    }

    /// The attributes of an existing object.
    pub(crate) fn attributes(&mut self, object: &Handle) -> fattr3 {
        self.nfs(getattr(object), |results| match results {
            R::GETATTR(Res3::Ok(ok)) => ok.obj_attributes,
            other => panic!("{other:?}"),
        })
    }

    pub(crate) fn tree(&mut self) -> Tree {
        let root = self.root_of("/vol1");
        let file = self.file(&root, "file", 0o666);
        assert_eq!(
            self.status(write(&file, 0, stable_how::FILE_SYNC, b"hello")),
            nfsstat3::NFS3_OK
        );
        let dir = self.create(mkdir(&root, "dir", mode(0o777)));
        let full = self.create(mkdir(&root, "full", mode(0o777)));
        self.file(&full, "inside", 0o666);
        let private = self.create(mkdir(&root, "private", mode(0o700)));
        let secret = self.file(&private, "inside", 0o600);
        let link = self.create(symlink(&root, "link", "file"));
        let fifo = self.create(mknod(&root, "fifo", mknoddata3::NF3FIFO(mode(0o666))));
        Tree { root, file, dir, full, private, secret, link, fifo }
    }
}
