//! Any bytes as arguments or results of a procedure of MOUNT or of the portmapper: they are
//! refused, or decode to a value that encodes to as many bytes and decodes again to the same value.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use nfs3::procedure::{MountProcedure, PortmapProcedure, Procedure};
use nfs3::request::{Arguments, Results};
use nfs3::xdr::{Writer, decode_whole};

/// Tests one input. The first byte selects the procedure (MOUNT has 6, the portmapper 5), the
/// second arguments or results.
pub(crate) fn try_mount(data: &[u8]) {
    let [number, side, body @ ..] = data else { return };
    let procedure = match u32::from(*number) % 11 {
        number @ 0..6 => Procedure::Mount(
            decode_whole::<MountProcedure>(&number.to_be_bytes()).expect("there are 6"),
        ),
        number => Procedure::Portmap(
            decode_whole::<PortmapProcedure>(&(number - 6).to_be_bytes()).expect("there are 5"),
        ),
    };
    let mut again = Vec::new();
    if *side % 2 == 0 {
        let Ok(arguments) = Arguments::decode(procedure, body) else { return };
        arguments.encode(&mut Writer::new(&mut again));
        assert_eq!(Arguments::decode(procedure, &again), Ok(arguments));
    } else {
        let Ok(results) = Results::decode(procedure, body) else { return };
        results.encode(&mut Writer::new(&mut again));
        assert_eq!(Results::decode(procedure, &again), Ok(results));
    }
    // The bytes of padding may differ.
    assert_eq!(again.len(), body.len());
}
