//! Round trips: encoded values are decoded to the same values, and truncated or extended bytes are
//! refused.

use nfs3::request::{Arguments, Results};
use nfs3::rpc::{CallHeader, Credential, encode_call_head};
use nfs3::xdr::{Reader, Writer};
use proptest::prelude::*;

use crate::draw::Draw;

fn stock() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..2_000)
}

proptest! {
    #[test]
    fn arguments_of_all_procedures_survive_a_round_trip(stock in stock()) {
        let mut draw = Draw::new(&stock);
        let procedure = draw.procedure();
        let arguments = draw.arguments(procedure);
        prop_assert_eq!(arguments.procedure(), procedure);
        let mut bytes = Vec::new();
        arguments.encode(&mut Writer::new(&mut bytes));
        prop_assert_eq!(Arguments::decode(procedure, &bytes), Ok(arguments));
        for end in 0..bytes.len() {
            prop_assert!(Arguments::decode(procedure, &bytes[..end]).is_err(), "cut at {}", end);
        }
        bytes.push(0);
        prop_assert!(Arguments::decode(procedure, &bytes).is_err());
    }

    #[test]
    fn results_of_all_procedures_survive_a_round_trip(stock in stock()) {
        let mut draw = Draw::new(&stock);
        let procedure = draw.procedure();
        let results = draw.results(procedure);
        let mut bytes = Vec::new();
        results.encode(&mut Writer::new(&mut bytes));
        prop_assert_eq!(Results::decode(procedure, &bytes), Ok(results));
        for end in 0..bytes.len() {
            prop_assert!(Results::decode(procedure, &bytes[..end]).is_err(), "cut at {}", end);
        }
        bytes.push(0);
        prop_assert!(Results::decode(procedure, &bytes).is_err());
    }

    #[test]
    fn headers_of_calls_survive_a_round_trip(stock in stock(), xid: u32) {
        let mut draw = Draw::new(&stock);
        let (numbers, credential) = (draw.procedure().numbers(), draw.credential());
        let mut bytes = Vec::new();
        encode_call_head(&mut Writer::new(&mut bytes), xid, numbers, &credential);
        let mut reader = Reader::new(&bytes);
        let header = CallHeader::decode(&mut reader).unwrap();
        prop_assert!(reader.finish().is_ok());
        prop_assert_eq!((header.program, header.version, header.procedure), numbers);
        prop_assert_eq!(header.xid, xid);
        prop_assert_eq!(Credential::decode(header.credential), Ok(credential));
    }
}
