//! Any bytes as arguments or results of an NFS procedure: they are refused, or decode to a value
//! that encodes to as many bytes and decodes again to the same value.
//!
//! Included by the fuzz target and by the test that replays the corpus.

use nfs3::procedure::{NfsProcedure, Procedure};
use nfs3::request::{Arguments, Results};
use nfs3::xdr::{Writer, decode_whole};

/// Tests one input. The first byte selects the procedure, the second arguments or results.
pub(crate) fn try_procedures(data: &[u8]) {
    let [number, side, body @ ..] = data else { return };
    let number = u32::from(*number) % 22;
    let procedure = decode_whole::<NfsProcedure>(&number.to_be_bytes()).expect("there are 22");
    try_body(Procedure::Nfs(procedure), *side % 2 == 0, body);
}

fn try_body(procedure: Procedure, are_arguments: bool, body: &[u8]) {
    let mut again = Vec::new();
    if are_arguments {
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
