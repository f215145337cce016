//! The arguments and the results of all procedures, as one enum each.

use crate::arguments::*;
use crate::directory::{READDIR3res, READDIRPLUS3res};
use crate::mount::{dirpath, exports, mountlist, mountres3};
use crate::portmap::{mapping, pmaplist};
use crate::procedure::{MountProcedure, NfsProcedure, PortmapProcedure, Procedure};
use crate::results::*;
use crate::xdr::{Reader, Writer, Xdr, XdrError};

/// Defines the two enums of a program from a table: procedure, arguments, results.
macro_rules! program {
    ($procedures:ident, $arguments:ident, $results:ident, $doc:literal;
     $($procedure:ident($args:ty) -> $res:ty;)*) => {
        #[doc = concat!("The arguments of a procedure of ", $doc, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the procedures' names")]
        pub enum $arguments<'a> {
            $($procedure($args),)*
        }

        #[doc = concat!("The results of a procedure of ", $doc, ".")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "the procedures' names")]
        pub enum $results<'a> {
            $($procedure($res),)*
        }

        impl<'a> $arguments<'a> {
            fn decode(
                procedure: $procedures,
                reader: &mut Reader<'a>,
            ) -> Result<$arguments<'a>, XdrError> {
                Ok(match procedure {
                    $($procedures::$procedure => {
                        $arguments::$procedure(Xdr::decode(reader)?)
                    })*
                })
            }

            fn encode(&self, writer: &mut Writer<'_>) {
                match self {
                    $($arguments::$procedure(args) => args.encode(writer),)*
                }
            }

            /// The procedure.
            #[must_use]
            pub fn procedure(&self) -> $procedures {
                match self {
                    $($arguments::$procedure(_) => $procedures::$procedure,)*
                }
            }
        }

        impl<'a> $results<'a> {
            fn decode(
                procedure: $procedures,
                reader: &mut Reader<'a>,
            ) -> Result<$results<'a>, XdrError> {
                Ok(match procedure {
                    $($procedures::$procedure => {
                        $results::$procedure(Xdr::decode(reader)?)
                    })*
                })
            }

            fn encode(&self, writer: &mut Writer<'_>) {
                match self {
                    $($results::$procedure(results) => results.encode(writer),)*
                }
            }

            /// The procedure.
            #[must_use]
            pub fn procedure(&self) -> $procedures {
                match self {
                    $($results::$procedure(_) => $procedures::$procedure,)*
                }
            }
        }
    };
}

program! {
    NfsProcedure, NfsArguments, NfsResults, "NFS";
    NULL(()) -> ();
    GETATTR(GETATTR3args<'a>) -> GETATTR3res;
    SETATTR(SETATTR3args<'a>) -> SETATTR3res;
    LOOKUP(LOOKUP3args<'a>) -> LOOKUP3res<'a>;
    ACCESS(ACCESS3args<'a>) -> ACCESS3res;
    READLINK(READLINK3args<'a>) -> READLINK3res<'a>;
    READ(READ3args<'a>) -> READ3res<'a>;
    WRITE(WRITE3args<'a>) -> WRITE3res;
    CREATE(CREATE3args<'a>) -> CREATE3res<'a>;
    MKDIR(MKDIR3args<'a>) -> MKDIR3res<'a>;
    SYMLINK(SYMLINK3args<'a>) -> SYMLINK3res<'a>;
    MKNOD(MKNOD3args<'a>) -> MKNOD3res<'a>;
    REMOVE(REMOVE3args<'a>) -> REMOVE3res;
    RMDIR(RMDIR3args<'a>) -> RMDIR3res;
    RENAME(RENAME3args<'a>) -> RENAME3res;
    LINK(LINK3args<'a>) -> LINK3res;
    READDIR(READDIR3args<'a>) -> READDIR3res<'a>;
    READDIRPLUS(READDIRPLUS3args<'a>) -> READDIRPLUS3res<'a>;
    FSSTAT(FSSTAT3args<'a>) -> FSSTAT3res;
    FSINFO(FSINFO3args<'a>) -> FSINFO3res;
    PATHCONF(PATHCONF3args<'a>) -> PATHCONF3res;
    COMMIT(COMMIT3args<'a>) -> COMMIT3res;
}

program! {
    MountProcedure, MountArguments, MountResults, "MOUNT";
    NULL(()) -> ();
    MNT(dirpath<'a>) -> mountres3<'a>;
    DUMP(()) -> mountlist<'a>;
    UMNT(dirpath<'a>) -> ();
    UMNTALL(()) -> ();
    EXPORT(()) -> exports<'a>;
}

/// The arguments of a procedure of the portmapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the procedures' names")]
pub enum PortmapArguments {
    NULL,
    SET(mapping),
    UNSET(mapping),
    GETPORT(mapping),
    DUMP,
}

/// The results of a procedure of the portmapper.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the procedures' names")]
pub enum PortmapResults {
    NULL,
    /// Whether the mapping was added.
    SET(bool),
    /// Whether a mapping was removed.
    UNSET(bool),
    /// The port, or 0.
    GETPORT(u32),
    DUMP(pmaplist),
}

/// The arguments of any procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the programs' names")]
pub enum Arguments<'a> {
    Nfs(NfsArguments<'a>),
    Mount(MountArguments<'a>),
    Portmap(PortmapArguments),
}

impl<'a> Arguments<'a> {
    /// Decodes the arguments of `procedure`, which must consist of all `bytes`.
    ///
    /// # Errors
    /// They are invalid (GARBAGE_ARGS).
    pub fn decode(procedure: Procedure, bytes: &'a [u8]) -> Result<Arguments<'a>, XdrError> {
        let mut reader = Reader::new(bytes);
        let arguments = match procedure {
            Procedure::Nfs(p) => Arguments::Nfs(NfsArguments::decode(p, &mut reader)?),
            Procedure::Mount(p) => Arguments::Mount(MountArguments::decode(p, &mut reader)?),
            Procedure::Portmap(p) => Arguments::Portmap(match p {
                PortmapProcedure::NULL => PortmapArguments::NULL,
                PortmapProcedure::SET => PortmapArguments::SET(mapping::decode(&mut reader)?),
                PortmapProcedure::UNSET => PortmapArguments::UNSET(mapping::decode(&mut reader)?),
                PortmapProcedure::GETPORT => {
                    PortmapArguments::GETPORT(mapping::decode(&mut reader)?)
                }
                PortmapProcedure::DUMP => PortmapArguments::DUMP,
            }),
        };
        reader.finish()?;
        Ok(arguments)
    }

    /// Appends the arguments.
    pub fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Arguments::Nfs(arguments) => arguments.encode(writer),
            Arguments::Mount(arguments) => arguments.encode(writer),
            Arguments::Portmap(PortmapArguments::NULL | PortmapArguments::DUMP) => {}
            Arguments::Portmap(
                PortmapArguments::SET(mapping)
                | PortmapArguments::UNSET(mapping)
                | PortmapArguments::GETPORT(mapping),
            ) => mapping.encode(writer),
        }
    }

    /// The procedure.
    #[must_use]
    pub fn procedure(&self) -> Procedure {
        match self {
            Arguments::Nfs(arguments) => Procedure::Nfs(arguments.procedure()),
            Arguments::Mount(arguments) => Procedure::Mount(arguments.procedure()),
            Arguments::Portmap(arguments) => Procedure::Portmap(match arguments {
                PortmapArguments::NULL => PortmapProcedure::NULL,
                PortmapArguments::SET(_) => PortmapProcedure::SET,
                PortmapArguments::UNSET(_) => PortmapProcedure::UNSET,
                PortmapArguments::GETPORT(_) => PortmapProcedure::GETPORT,
                PortmapArguments::DUMP => PortmapProcedure::DUMP,
            }),
        }
    }
}

/// The results of any procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the programs' names")]
#[expect(clippy::large_enum_variant, reason = "almost all replies are NFS replies")]
pub enum Results<'a> {
    Nfs(NfsResults<'a>),
    Mount(MountResults<'a>),
    Portmap(PortmapResults),
}

impl<'a> Results<'a> {
    /// Decodes the results of `procedure`, which must consist of all `bytes`.
    ///
    /// # Errors
    /// They are invalid.
    pub fn decode(procedure: Procedure, bytes: &'a [u8]) -> Result<Results<'a>, XdrError> {
        let mut reader = Reader::new(bytes);
        let results = match procedure {
            Procedure::Nfs(p) => Results::Nfs(NfsResults::decode(p, &mut reader)?),
            Procedure::Mount(p) => Results::Mount(MountResults::decode(p, &mut reader)?),
            Procedure::Portmap(p) => Results::Portmap(match p {
                PortmapProcedure::NULL => PortmapResults::NULL,
                PortmapProcedure::SET => PortmapResults::SET(reader.bool()?),
                PortmapProcedure::UNSET => PortmapResults::UNSET(reader.bool()?),
                PortmapProcedure::GETPORT => PortmapResults::GETPORT(reader.u32()?),
                PortmapProcedure::DUMP => PortmapResults::DUMP(pmaplist::decode(&mut reader)?),
            }),
        };
        reader.finish()?;
        Ok(results)
    }

    /// Appends the results.
    pub fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Results::Nfs(results) => results.encode(writer),
            Results::Mount(results) => results.encode(writer),
            Results::Portmap(results) => match results {
                PortmapResults::NULL => {}
                PortmapResults::SET(done) | PortmapResults::UNSET(done) => writer.bool(*done),
                PortmapResults::GETPORT(port) => writer.u32(*port),
                PortmapResults::DUMP(list) => list.encode(writer),
            },
        }
    }
}
