//! Derives values of all types from a stock of bytes. Property tests and fuzzers vary the stock, so
//! their findings shrink with it. When the stock is used up, all further values are zero.

use nfs3::arguments::*;
use nfs3::directory::*;
use nfs3::mount::*;
use nfs3::portmap::{mapping, pmaplist};
use nfs3::procedure::{MountProcedure, NfsProcedure, PortmapProcedure, Procedure};
use nfs3::request::*;
use nfs3::results::*;
use nfs3::rpc::{AuthSys, Credential, Gids};
use nfs3::types::*;
use nfs3::xdr::decode_whole;

pub(crate) struct Draw<'a> {
    stock: &'a [u8],
}

impl<'a> Draw<'a> {
    pub(crate) fn new(stock: &'a [u8]) -> Draw<'a> {
        Draw { stock }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.stock.split_first() else { return 0 };
        self.stock = rest;
        *first
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_be_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        u32::from(self.byte()) % bound
    }

    fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    fn eight(&mut self) -> [u8; 8] {
        self.u64().to_be_bytes()
    }

    fn bytes(&mut self, max: u32) -> &'a [u8] {
        let length = self.below(max + 1) as usize;
        let (bytes, rest) = self.stock.split_at(length.min(self.stock.len()));
        self.stock = rest;
        bytes
    }

    fn option<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.bool() { Some(value(self)) } else { None }
    }

    fn several<T>(&mut self, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(5)).map(|_| value(self)).collect()
    }

    fn fh(&mut self) -> nfs_fh3<'a> {
        nfs_fh3(self.bytes(64))
    }

    fn name(&mut self) -> filename3<'a> {
        filename3(self.bytes(200))
    }

    fn time(&mut self) -> nfstime3 {
        nfstime3 { seconds: self.u32(), nseconds: self.u32() }
    }

    fn ftype(&mut self) -> ftype3 {
        decode_whole(&(1 + self.below(7)).to_be_bytes()).unwrap()
    }

    fn stable(&mut self) -> stable_how {
        decode_whole(&self.below(3).to_be_bytes()).unwrap()
    }

    fn fattr(&mut self) -> fattr3 {
        fattr3 {
            ftype: self.ftype(),
            mode: self.u32(),
            nlink: self.u32(),
            uid: self.u32(),
            gid: self.u32(),
            size: self.u64(),
            used: self.u64(),
            rdev: self.rdev(),
            fsid: self.u64(),
            fileid: self.u64(),
            atime: self.time(),
            mtime: self.time(),
            ctime: self.time(),
        }
    }

    fn rdev(&mut self) -> specdata3 {
        specdata3 { specdata1: self.u32(), specdata2: self.u32() }
    }

    fn attributes(&mut self) -> post_op_attr {
        self.option(Draw::fattr)
    }

    fn wcc(&mut self) -> wcc_data {
        let before = self.option(|draw| wcc_attr {
            size: draw.u64(),
            mtime: draw.time(),
            ctime: draw.time(),
        });
        wcc_data { before, after: self.attributes() }
    }

    fn set_time(&mut self) -> set_time {
        match self.below(3) {
            0 => set_time::DONT_CHANGE,
            1 => set_time::SET_TO_SERVER_TIME,
            _ => set_time::SET_TO_CLIENT_TIME(self.time()),
        }
    }

    fn sattr(&mut self) -> sattr3 {
        sattr3 {
            mode: self.option(Draw::u32),
            uid: self.option(Draw::u32),
            gid: self.option(Draw::u32),
            size: self.option(Draw::u64),
            atime: self.set_time(),
            mtime: self.set_time(),
        }
    }

    fn entry_of(&mut self) -> diropargs3<'a> {
        diropargs3 { dir: self.fh(), name: self.name() }
    }

    fn how(&mut self) -> createhow3 {
        match self.below(3) {
            0 => createhow3::UNCHECKED(self.sattr()),
            1 => createhow3::GUARDED(self.sattr()),
            _ => createhow3::EXCLUSIVE(self.eight()),
        }
    }

    fn device(&mut self) -> devicedata3 {
        devicedata3 { dev_attributes: self.sattr(), spec: self.rdev() }
    }

    fn node(&mut self) -> mknoddata3 {
        match self.ftype() {
            ftype3::NF3BLK => mknoddata3::NF3BLK(self.device()),
            ftype3::NF3CHR => mknoddata3::NF3CHR(self.device()),
            ftype3::NF3SOCK => mknoddata3::NF3SOCK(self.sattr()),
            ftype3::NF3FIFO => mknoddata3::NF3FIFO(self.sattr()),
            ftype3::NF3REG => mknoddata3::NF3REG,
            ftype3::NF3DIR => mknoddata3::NF3DIR,
            ftype3::NF3LNK => mknoddata3::NF3LNK,
        }
    }

    pub(crate) fn procedure(&mut self) -> Procedure {
        let number = |draw: &mut Self, bound| draw.below(bound).to_be_bytes();
        match self.below(4) {
            0 => Procedure::Mount(decode_whole::<MountProcedure>(&number(self, 6)).unwrap()),
            1 => Procedure::Portmap(decode_whole::<PortmapProcedure>(&number(self, 5)).unwrap()),
            _ => Procedure::Nfs(decode_whole::<NfsProcedure>(&number(self, 22)).unwrap()),
        }
    }

    pub(crate) fn credential(&mut self) -> Credential<'a> {
        if self.bool() {
            return Credential::None;
        }
        let (stamp, machinename) = (self.u32(), self.bytes(255));
        let (uid, gid) = (self.u32(), self.u32());
        let gids: Vec<u32> = (0..self.below(17)).map(|_| self.u32()).collect();
        let gids = Gids::new(&gids).unwrap();
        Credential::Sys(AuthSys { stamp, machinename, uid, gid, gids })
    }

    pub(crate) fn nfs_arguments(&mut self, procedure: NfsProcedure) -> NfsArguments<'a> {
        use NfsArguments as A;
        use NfsProcedure as P;
        match procedure {
            P::NULL => A::NULL(()),
            P::GETATTR => A::GETATTR(GETATTR3args { object: self.fh() }),
            P::SETATTR => A::SETATTR(SETATTR3args {
                object: self.fh(),
                new_attributes: self.sattr(),
                guard: self.option(Draw::time),
            }),
            P::LOOKUP => A::LOOKUP(LOOKUP3args { what: self.entry_of() }),
            P::ACCESS => A::ACCESS(ACCESS3args { object: self.fh(), access: self.u32() }),
            P::READLINK => A::READLINK(READLINK3args { symlink: self.fh() }),
            P::READ => {
                A::READ(READ3args { file: self.fh(), offset: self.u64(), count: self.u32() })
            }
            P::WRITE => A::WRITE(WRITE3args {
                file: self.fh(),
                offset: self.u64(),
                count: self.u32(),
                stable: self.stable(),
                data: Data(self.bytes(200)),
            }),
            P::CREATE => A::CREATE(CREATE3args { r#where: self.entry_of(), how: self.how() }),
            P::MKDIR => A::MKDIR(MKDIR3args { r#where: self.entry_of(), attributes: self.sattr() }),
            P::SYMLINK => {
                let r#where = self.entry_of();
                let symlink =
                    symlinkdata3 { symlink_attributes: self.sattr(), symlink_data: self.name() };
                A::SYMLINK(SYMLINK3args { r#where, symlink })
            }
            P::MKNOD => A::MKNOD(MKNOD3args { r#where: self.entry_of(), what: self.node() }),
            P::REMOVE => A::REMOVE(REMOVE3args { object: self.entry_of() }),
            P::RMDIR => A::RMDIR(RMDIR3args { object: self.entry_of() }),
            P::RENAME => A::RENAME(RENAME3args { from: self.entry_of(), to: self.entry_of() }),
            P::LINK => A::LINK(LINK3args { file: self.fh(), link: self.entry_of() }),
            P::READDIR => A::READDIR(READDIR3args {
                dir: self.fh(),
                cookie: self.u64(),
                cookieverf: self.eight(),
                count: self.u32(),
            }),
            P::READDIRPLUS => A::READDIRPLUS(READDIRPLUS3args {
                dir: self.fh(),
                cookie: self.u64(),
                cookieverf: self.eight(),
                dircount: self.u32(),
                maxcount: self.u32(),
            }),
            P::FSSTAT => A::FSSTAT(FSSTAT3args { fsroot: self.fh() }),
            P::FSINFO => A::FSINFO(FSINFO3args { fsroot: self.fh() }),
            P::PATHCONF => A::PATHCONF(PATHCONF3args { object: self.fh() }),
            P::COMMIT => {
                A::COMMIT(COMMIT3args { file: self.fh(), offset: self.u64(), count: self.u32() })
            }
        }
    }

    pub(crate) fn arguments(&mut self, procedure: Procedure) -> Arguments<'a> {
        let mapping = |draw: &mut Self| mapping {
            prog: draw.u32(),
            vers: draw.u32(),
            prot: draw.u32(),
            port: draw.u32(),
        };
        match procedure {
            Procedure::Nfs(procedure) => Arguments::Nfs(self.nfs_arguments(procedure)),
            Procedure::Mount(procedure) => Arguments::Mount(match procedure {
                MountProcedure::NULL => MountArguments::NULL(()),
                MountProcedure::MNT => MountArguments::MNT(dirpath(self.bytes(255))),
                MountProcedure::DUMP => MountArguments::DUMP(()),
                MountProcedure::UMNT => MountArguments::UMNT(dirpath(self.bytes(255))),
                MountProcedure::UMNTALL => MountArguments::UMNTALL(()),
                MountProcedure::EXPORT => MountArguments::EXPORT(()),
            }),
            Procedure::Portmap(procedure) => Arguments::Portmap(match procedure {
                PortmapProcedure::NULL => PortmapArguments::NULL,
                PortmapProcedure::SET => PortmapArguments::SET(mapping(self)),
                PortmapProcedure::UNSET => PortmapArguments::UNSET(mapping(self)),
                PortmapProcedure::GETPORT => PortmapArguments::GETPORT(mapping(self)),
                PortmapProcedure::DUMP => PortmapArguments::DUMP,
            }),
        }
    }

    /// Success, or one of the failures.
    fn union<Ok, Fail>(
        &mut self,
        ok: impl FnOnce(&mut Self) -> Ok,
        fail: impl FnOnce(&mut Self) -> Fail,
    ) -> Res3<Ok, Fail> {
        if self.bool() {
            return Res3::Ok(ok(self));
        }
        let failures = &nfsstat3::ALL[1..];
        let status = failures[self.below(failures.len() as u32) as usize];
        Res3::Fail(status, fail(self))
    }

    fn failed(&mut self) -> READ3resfail {
        READ3resfail { obj_attributes: self.attributes() }
    }

    fn created(&mut self) -> CREATE3res<'a> {
        self.union(
            |draw| CREATE3resok {
                obj: draw.option(Draw::fh),
                obj_attributes: draw.attributes(),
                dir_wcc: draw.wcc(),
            },
            |draw| CREATE3resfail { dir_wcc: draw.wcc() },
        )
    }

    fn removed(&mut self) -> REMOVE3res {
        let result = |draw: &mut Self| REMOVE3resok { dir_wcc: draw.wcc() };
        self.union(result, result)
    }

    pub(crate) fn nfs_results(&mut self, procedure: NfsProcedure) -> NfsResults<'a> {
        use NfsProcedure as P;
        use NfsResults as R;
        match procedure {
            P::NULL => R::NULL(()),
            P::GETATTR => R::GETATTR(
                self.union(|draw| GETATTR3resok { obj_attributes: draw.fattr() }, |_| ()),
            ),
            P::SETATTR => {
                let result = |draw: &mut Self| SETATTR3resok { obj_wcc: draw.wcc() };
                R::SETATTR(self.union(result, result))
            }
            P::LOOKUP => R::LOOKUP(self.union(
                |draw| LOOKUP3resok {
                    object: draw.fh(),
                    obj_attributes: draw.attributes(),
                    dir_attributes: draw.attributes(),
                },
                |draw| LOOKUP3resfail { dir_attributes: draw.attributes() },
            )),
            P::ACCESS => R::ACCESS(self.union(
                |draw| ACCESS3resok { obj_attributes: draw.attributes(), access: draw.u32() },
                Draw::failed,
            )),
            P::READLINK => R::READLINK(self.union(
                |draw| READLINK3resok { symlink_attributes: draw.attributes(), data: draw.name() },
                Draw::failed,
            )),
            P::READ => R::READ(self.union(
                |draw| READ3resok {
                    file_attributes: draw.attributes(),
                    count: draw.u32(),
                    eof: draw.bool(),
                    data: Data(draw.bytes(200)),
                },
                Draw::failed,
            )),
            P::WRITE => R::WRITE(self.union(
                |draw| WRITE3resok {
                    file_wcc: draw.wcc(),
                    count: draw.u32(),
                    committed: draw.stable(),
                    verf: draw.eight(),
                },
                |draw| WRITE3resfail { file_wcc: draw.wcc() },
            )),
            P::CREATE => R::CREATE(self.created()),
            P::MKDIR => R::MKDIR(self.created()),
            P::SYMLINK => R::SYMLINK(self.created()),
            P::MKNOD => R::MKNOD(self.created()),
            P::REMOVE => R::REMOVE(self.removed()),
            P::RMDIR => R::RMDIR(self.removed()),
            P::RENAME => {
                let result = |draw: &mut Self| RENAME3resok {
                    fromdir_wcc: draw.wcc(),
                    todir_wcc: draw.wcc(),
                };
                R::RENAME(self.union(result, result))
            }
            P::LINK => {
                let result = |draw: &mut Self| LINK3resok {
                    file_attributes: draw.attributes(),
                    linkdir_wcc: draw.wcc(),
                };
                R::LINK(self.union(result, result))
            }
            P::READDIR => R::READDIR(self.union(Draw::directory, Draw::failed)),
            P::READDIRPLUS => R::READDIRPLUS(self.union(Draw::directory_plus, Draw::failed)),
            P::FSSTAT => R::FSSTAT(self.union(
                |draw| FSSTAT3resok {
                    obj_attributes: draw.attributes(),
                    tbytes: draw.u64(),
                    fbytes: draw.u64(),
                    abytes: draw.u64(),
                    tfiles: draw.u64(),
                    ffiles: draw.u64(),
                    afiles: draw.u64(),
                    invarsec: draw.u32(),
                },
                Draw::failed,
            )),
            P::FSINFO => R::FSINFO(self.union(
                |draw| FSINFO3resok {
                    obj_attributes: draw.attributes(),
                    rtmax: draw.u32(),
                    rtpref: draw.u32(),
                    rtmult: draw.u32(),
                    wtmax: draw.u32(),
                    wtpref: draw.u32(),
                    wtmult: draw.u32(),
                    dtpref: draw.u32(),
                    maxfilesize: draw.u64(),
                    time_delta: draw.time(),
                    properties: draw.u32(),
                },
                Draw::failed,
            )),
            P::PATHCONF => R::PATHCONF(self.union(
                |draw| PATHCONF3resok {
                    obj_attributes: draw.attributes(),
                    linkmax: draw.u32(),
                    name_max: draw.u32(),
                    no_trunc: draw.bool(),
                    chown_restricted: draw.bool(),
                    case_insensitive: draw.bool(),
                    case_preserving: draw.bool(),
                },
                Draw::failed,
            )),
            P::COMMIT => R::COMMIT(self.union(
                |draw| COMMIT3resok { file_wcc: draw.wcc(), verf: draw.eight() },
                |draw| WRITE3resfail { file_wcc: draw.wcc() },
            )),
        }
    }

    fn directory(&mut self) -> READDIR3resok<'a> {
        let (dir_attributes, cookieverf) = (self.attributes(), self.eight());
        let entries = self.several(|draw| entry3 {
            fileid: draw.u64(),
            name: draw.name(),
            cookie: draw.u64(),
        });
        let reply = dirlist3 { entries, eof: self.bool() };
        READDIR3resok { dir_attributes, cookieverf, reply }
    }

    fn directory_plus(&mut self) -> READDIRPLUS3resok<'a> {
        let (dir_attributes, cookieverf) = (self.attributes(), self.eight());
        let entries = self.several(|draw| entryplus3 {
            fileid: draw.u64(),
            name: draw.name(),
            cookie: draw.u64(),
            name_attributes: draw.attributes(),
            name_handle: draw.option(Draw::fh),
        });
        let reply = dirlistplus3 { entries, eof: self.bool() };
        READDIRPLUS3resok { dir_attributes, cookieverf, reply }
    }

    pub(crate) fn mount_results(&mut self, procedure: MountProcedure) -> MountResults<'a> {
        match procedure {
            MountProcedure::NULL => MountResults::NULL(()),
            MountProcedure::MNT => MountResults::MNT(if self.bool() {
                Err(mountstat3::MNT3ERR_ACCES)
            } else {
                Ok(mountres3_ok { fhandle: self.fh(), auth_flavors: self.several(Draw::u32) })
            }),
            MountProcedure::DUMP => MountResults::DUMP(mountlist(self.several(|draw| mountbody {
                ml_hostname: name(draw.bytes(255)),
                ml_directory: dirpath(draw.bytes(255)),
            }))),
            MountProcedure::UMNT => MountResults::UMNT(()),
            MountProcedure::UMNTALL => MountResults::UMNTALL(()),
            MountProcedure::EXPORT => {
                MountResults::EXPORT(exports(self.several(|draw| exportnode {
                    ex_dir: dirpath(draw.bytes(255)),
                    ex_groups: draw.several(|draw| name(draw.bytes(255))),
                })))
            }
        }
    }

    pub(crate) fn results(&mut self, procedure: Procedure) -> Results<'a> {
        match procedure {
            Procedure::Nfs(procedure) => Results::Nfs(self.nfs_results(procedure)),
            Procedure::Mount(procedure) => Results::Mount(self.mount_results(procedure)),
            Procedure::Portmap(procedure) => Results::Portmap(match procedure {
                PortmapProcedure::NULL => PortmapResults::NULL,
                PortmapProcedure::SET => PortmapResults::SET(self.bool()),
                PortmapProcedure::UNSET => PortmapResults::UNSET(self.bool()),
                PortmapProcedure::GETPORT => PortmapResults::GETPORT(self.u32()),
                PortmapProcedure::DUMP => {
                    PortmapResults::DUMP(pmaplist(self.several(|draw| mapping {
                        prog: draw.u32(),
                        vers: draw.u32(),
                        prot: draw.u32(),
                        port: draw.u32(),
                    })))
                }
            }),
        }
    }
}
