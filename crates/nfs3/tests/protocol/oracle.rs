//! Comparison with the third-party codec of `nfs3_types`: it decodes and re-encodes what this crate
//! encodes, and this crate decodes the result to the original value.

use nfs3::procedure::{MountProcedure, NfsProcedure, PortmapProcedure, Procedure};
use nfs3::request::{Arguments, NfsArguments, Results};
use nfs3::rpc::{AuthSys, Credential, Gids, ReplyHeader, ReplyStatus, encode_call_head};
use nfs3::xdr::{Writer, Xdr, decode_whole};
use nfs3_types::xdr_codec::{Pack, Unpack};
use nfs3_types::{mount, nfs3 as theirs, portmap, rpc};
use proptest::prelude::*;

use crate::draw::Draw;

/// Decodes all bytes with the third-party codec and encodes them again.
fn through<T: Pack + Unpack>(bytes: &[u8]) -> Vec<u8> {
    let mut input = bytes;
    let (value, taken) = T::unpack(&mut input).expect("the third-party codec decodes the bytes");
    assert_eq!((taken, input.len()), (bytes.len(), 0), "all bytes are decoded");
    let mut again = Vec::new();
    value.pack(&mut again).expect("the third-party codec encodes its value");
    assert_eq!(value.packed_size(), again.len());
    again
}

fn arguments_through(procedure: Procedure, bytes: &[u8]) -> Vec<u8> {
    use NfsProcedure as P;
    match procedure {
        Procedure::Nfs(procedure) => match procedure {
            P::NULL => bytes.to_vec(),
            P::GETATTR => through::<theirs::GETATTR3args>(bytes),
            P::SETATTR => through::<theirs::SETATTR3args>(bytes),
            P::LOOKUP => through::<theirs::LOOKUP3args<'_>>(bytes),
            P::ACCESS => through::<theirs::ACCESS3args>(bytes),
            P::READLINK => through::<theirs::READLINK3args>(bytes),
            P::READ => through::<theirs::READ3args>(bytes),
            P::WRITE => through::<theirs::WRITE3args<'_>>(bytes),
            P::CREATE => through::<theirs::CREATE3args<'_>>(bytes),
            P::MKDIR => through::<theirs::MKDIR3args<'_>>(bytes),
            P::SYMLINK => through::<theirs::SYMLINK3args<'_>>(bytes),
            P::MKNOD => through::<theirs::MKNOD3args<'_>>(bytes),
            P::REMOVE => through::<theirs::REMOVE3args<'_>>(bytes),
            P::RMDIR => through::<theirs::RMDIR3args<'_>>(bytes),
            P::RENAME => through::<theirs::RENAME3args<'_, '_>>(bytes),
            P::LINK => through::<theirs::LINK3args<'_>>(bytes),
            P::READDIR => through::<theirs::READDIR3args>(bytes),
            P::READDIRPLUS => through::<theirs::READDIRPLUS3args>(bytes),
            P::FSSTAT => through::<theirs::FSSTAT3args>(bytes),
            P::FSINFO => through::<theirs::FSINFO3args>(bytes),
            P::PATHCONF => through::<theirs::PATHCONF3args>(bytes),
            P::COMMIT => through::<theirs::COMMIT3args>(bytes),
        },
        Procedure::Mount(MountProcedure::MNT | MountProcedure::UMNT) => {
            through::<mount::dirpath<'_>>(bytes)
        }
        Procedure::Mount(_) => bytes.to_vec(),
        Procedure::Portmap(PortmapProcedure::NULL | PortmapProcedure::DUMP) => bytes.to_vec(),
        Procedure::Portmap(_) => through::<portmap::mapping>(bytes),
    }
}

fn results_through(procedure: Procedure, bytes: &[u8]) -> Vec<u8> {
    use NfsProcedure as P;
    match procedure {
        Procedure::Nfs(procedure) => match procedure {
            P::NULL => bytes.to_vec(),
            P::GETATTR => through::<theirs::GETATTR3res>(bytes),
            P::SETATTR => through::<theirs::SETATTR3res>(bytes),
            P::LOOKUP => through::<theirs::LOOKUP3res>(bytes),
            P::ACCESS => through::<theirs::ACCESS3res>(bytes),
            P::READLINK => through::<theirs::READLINK3res<'_>>(bytes),
            P::READ => through::<theirs::READ3res<'_>>(bytes),
            P::WRITE => through::<theirs::WRITE3res>(bytes),
            P::CREATE => through::<theirs::CREATE3res>(bytes),
            P::MKDIR => through::<theirs::MKDIR3res>(bytes),
            P::SYMLINK => through::<theirs::SYMLINK3res>(bytes),
            P::MKNOD => through::<theirs::MKNOD3res>(bytes),
            P::REMOVE => through::<theirs::REMOVE3res>(bytes),
            P::RMDIR => through::<theirs::RMDIR3res>(bytes),
            P::RENAME => through::<theirs::RENAME3res>(bytes),
            P::LINK => through::<theirs::LINK3res>(bytes),
            P::READDIR => through::<theirs::READDIR3res<'_>>(bytes),
            P::READDIRPLUS => through::<theirs::READDIRPLUS3res<'_>>(bytes),
            P::FSSTAT => through::<theirs::FSSTAT3res>(bytes),
            P::FSINFO => through::<theirs::FSINFO3res>(bytes),
            P::PATHCONF => through::<theirs::PATHCONF3res>(bytes),
            P::COMMIT => through::<theirs::COMMIT3res>(bytes),
        },
        Procedure::Mount(procedure) => match procedure {
            MountProcedure::MNT => through::<mount::mountres3<'_>>(bytes),
            MountProcedure::DUMP => through::<mount::mountlist<'_, '_>>(bytes),
            MountProcedure::EXPORT => through::<mount::exports<'_, '_>>(bytes),
            MountProcedure::NULL | MountProcedure::UMNT | MountProcedure::UMNTALL => bytes.to_vec(),
        },
        Procedure::Portmap(procedure) => match procedure {
            PortmapProcedure::NULL => bytes.to_vec(),
            PortmapProcedure::SET | PortmapProcedure::UNSET => through::<bool>(bytes),
            PortmapProcedure::GETPORT => through::<u32>(bytes),
            PortmapProcedure::DUMP => through::<portmap::pmaplist>(bytes),
        },
    }
}

proptest! {
    #[test]
    fn a_third_party_codec_agrees_on_arguments(
        stock in proptest::collection::vec(any::<u8>(), 0..2_000),
    ) {
        let mut draw = Draw::new(&stock);
        let procedure = draw.procedure();
        let arguments = draw.arguments(procedure);
        let mut bytes = Vec::new();
        arguments.encode(&mut Writer::new(&mut bytes));
        if let Arguments::Nfs(NfsArguments::MKNOD(mknod)) = arguments {
            // It has a single value for types that MKNOD does not create, and cannot encode it.
            use nfs3::arguments::mknoddata3::{NF3DIR, NF3LNK, NF3REG};
            prop_assume!(!matches!(mknod.what, NF3REG | NF3DIR | NF3LNK));
        }
        let theirs = arguments_through(procedure, &bytes);
        prop_assert_eq!(Arguments::decode(procedure, &theirs), Ok(arguments));
    }

    #[test]
    fn a_third_party_codec_agrees_on_results(
        stock in proptest::collection::vec(any::<u8>(), 0..2_000),
    ) {
        let mut draw = Draw::new(&stock);
        let procedure = draw.procedure();
        let results = draw.results(procedure);
        let mut bytes = Vec::new();
        results.encode(&mut Writer::new(&mut bytes));
        let theirs = results_through(procedure, &bytes);
        prop_assert_eq!(Results::decode(procedure, &theirs), Ok(results));
    }
}

#[test]
fn a_third_party_codec_agrees_on_headers_of_calls_and_replies() {
    let gids = Gids::new(&[1, 2, 3]).unwrap();
    let sys = AuthSys { stamp: 5, machinename: b"a-host", uid: 6, gid: 7, gids };
    let mut bytes = Vec::new();
    encode_call_head(&mut Writer::new(&mut bytes), 77, (100_003, 3, 1), &Credential::Sys(sys));
    assert_eq!(through::<rpc::rpc_msg<'_, '_>>(&bytes), bytes);
    for status in [
        ReplyStatus::Success,
        ReplyStatus::ProgUnavail,
        ReplyStatus::ProgMismatch { low: 2, high: 4 },
        ReplyStatus::ProcUnavail,
        ReplyStatus::GarbageArgs,
        ReplyStatus::SystemErr,
        ReplyStatus::RpcMismatch { low: 2, high: 2 },
        ReplyStatus::AuthError(nfs3::rpc::auth_stat::AUTH_BADCRED),
    ] {
        let header = ReplyHeader { xid: 78, status, verifier: nfs3::rpc::OpaqueAuth::NONE };
        let mut bytes = Vec::new();
        header.encode(&mut Writer::new(&mut bytes));
        let theirs = through::<rpc::rpc_msg<'_, '_>>(&bytes);
        assert_eq!(decode_whole(&theirs), Ok(header));
    }
}
