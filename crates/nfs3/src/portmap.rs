//! The portmapper, version 2, which returns the port of a program.
//!
//! Only what NFS needs, without versions 3 and 4 (rpcbind). Source: RFC 1833, section 3.

use crate::xdr::{Reader, Writer, Xdr, XdrError, xdr_struct};

/// The portmapper's port.
pub const PMAP_PORT: u32 = 111;
/// `prot` of a [`mapping`] for TCP.
pub const IPPROTO_TCP: u32 = 6;
/// `prot` of a [`mapping`] for UDP.
pub const IPPROTO_UDP: u32 = 17;

xdr_struct! {
    /// Argument of SET, UNSET and GETPORT, and item of DUMP. GETPORT ignores the port, and UNSET
    /// also the protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(non_camel_case_types, reason = "the name of RFC 1833")]
    pub struct mapping {
        /// Program.
        prog: u32,
        /// Its version.
        vers: u32,
        /// [`IPPROTO_TCP`] or [`IPPROTO_UDP`].
        prot: u32,
        /// Port; 0 in the result of GETPORT means not registered.
        port: u32,
    }
}

/// `pmaplist`: the result of DUMP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the name of RFC 1833")]
pub struct pmaplist(pub Vec<mapping>);

impl<'a> Xdr<'a> for pmaplist {
    fn decode(reader: &mut Reader<'a>) -> Result<pmaplist, XdrError> {
        Ok(pmaplist(reader.list()?))
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.list(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn a_dump_has_the_bytes_of_the_rfc() {
        let list = pmaplist(vec![mapping { prog: 100_003, vers: 3, prot: 6, port: 2049 }]);
        let words = [1u32, 100_003, 3, 6, 2049, 0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(encoded(&list), bytes);
        assert_eq!(decode_whole(&bytes), Ok(list));
    }
}
