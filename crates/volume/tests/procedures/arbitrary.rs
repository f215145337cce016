//! Random calls: whatever the arguments are, the reply can be decoded and the volume stays
//! consistent.

use files::{FileSystem, Options};
use nfs3::procedure::{MountProcedure, NfsProcedure, PortmapProcedure, Procedure};
use nfs3::request::{Arguments, Results};
use nfs3::types::Handle;
use nfs3::xdr::decode_whole;
use proptest::prelude::*;
use units::Bytes;
use volume::exports::Export;

use crate::calls::translated;
use crate::draw::Draw;
use crate::scene::{export, options, scene_of, user};

/// A procedure of any program.
fn procedure(number: u32) -> Procedure {
    match number % 33 {
        number @ 0..22 => {
            Procedure::Nfs(decode_whole::<NfsProcedure>(&number.to_be_bytes()).unwrap())
        }
        number @ 22..28 => {
            let number = number - 22;
            Procedure::Mount(decode_whole::<MountProcedure>(&number.to_be_bytes()).unwrap())
        }
        number => {
            let number = number - 28;
            Procedure::Portmap(decode_whole::<PortmapProcedure>(&number.to_be_bytes()).unwrap())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_arguments_get_a_reply_that_can_be_decoded(
        calls in proptest::collection::vec(
            (any::<u32>(), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..300)), 1..40)
    ) {
        let (quota, memory_max) = (Bytes::mib(1), Bytes::mib(2));
        let files = FileSystem::new(Options { quota, memory_max, ..options("vol1") });
        let mut scene = scene_of([Export { files, ..export("vol1") }, export("vol2")]);
        let tree = scene.tree();
        let handles: Vec<Handle> = vec![
            tree.root,
            tree.file,
            tree.dir,
            tree.full,
            tree.private,
            tree.secret,
            tree.link,
            tree.fifo,
            scene.root_of("/vol2"),
        ];
        for (number, choice, random) in calls {
            scene.credential = user(u32::from(choice % 2) * 1000, 0, &[]);
            let procedure = procedure(number);
            // Index 9 leaves the drawn handle, which is invalid.
            let mut picks =
                [choice % 10, choice / 10 % 10].map(|pick| handles.get(usize::from(pick)));
            let arguments = match Draw::new(&random).arguments(procedure) {
                Arguments::Nfs(arguments) => {
                    Arguments::Nfs(translated(arguments, |drawn| {
                        picks.rotate_left(1);
                        picks[0].map_or(drawn, Handle::fh)
                    }))
                }
                other => other,
            };
            let body = scene.call(&arguments);
            let decoded = Results::decode(procedure, &body);
            prop_assert!(decoded.is_ok(), "{arguments:?}: {decoded:?}");
        }
        scene.files("vol1").check();
        scene.files("vol2").check();
        prop_assert!(scene.files("vol1").used() <= quota);
    }
}
