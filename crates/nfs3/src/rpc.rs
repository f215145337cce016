//! ONC RPC version 2: the header of a call with its credential, and the header of a reply.
//!
//! Not for: framing (see [`crate::record`]), and procedures, which are bytes here. Source: RFC
//! 5531.

use crate::xdr::{Reader, Writer, Xdr, XdrError, xdr_enum};

/// The version of ONC RPC.
pub const RPC_VERSION: u32 = 2;
/// Maximum length of the body of a credential or verifier in bytes.
///
//= https://www.rfc-editor.org/rfc/rfc5531#section-8.2
//# opaque body<400>;
pub const MAX_AUTH_BYTES: usize = 400;
/// Maximum length of the machine name in AUTH_SYS in bytes.
pub const MAX_MACHINE_NAME: usize = 255;
/// Maximum number of supplementary groups in AUTH_SYS.
pub const MAX_GIDS: usize = 16;

const CALL: u32 = 0;
const REPLY: u32 = 1;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;

/// The supplementary groups of a caller, at most sixteen.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Gids {
    gids: [u32; MAX_GIDS],
    len: usize,
}

impl Gids {
    /// The groups; `None` if there are more than [`MAX_GIDS`].
    #[must_use]
    pub fn new(gids: &[u32]) -> Option<Gids> {
        let mut all = Gids { len: gids.len(), ..Gids::default() };
        all.gids.get_mut(..gids.len())?.copy_from_slice(gids);
        Some(all)
    }

    /// The groups in order.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.gids[..self.len]
    }
}

impl std::fmt::Debug for Gids {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// The claimed identity of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSys<'a> {
    /// Chosen by the caller.
    pub stamp: u32,
    /// The caller's host name.
    pub machinename: &'a [u8],
    /// Effective user ID.
    pub uid: u32,
    /// Effective group ID.
    pub gid: u32,
    /// Supplementary groups.
    pub gids: Gids,
}

impl<'a> Xdr<'a> for AuthSys<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<AuthSys<'a>, XdrError> {
        let stamp = reader.u32()?;
        let machinename = reader.opaque("the machine's name", MAX_MACHINE_NAME)?;
        let (uid, gid) = (reader.u32()?, reader.u32()?);
        let mut gids =
            Gids { len: reader.count("the list of groups", MAX_GIDS)?, ..Gids::default() };
        for gid in &mut gids.gids[..gids.len] {
            *gid = reader.u32()?;
        }
        Ok(AuthSys { stamp, machinename, uid, gid, gids })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.stamp);
        writer.opaque(self.machinename, MAX_MACHINE_NAME);
        writer.u32(self.uid);
        writer.u32(self.gid);
        writer.count(self.gids.len, MAX_GIDS);
        self.gids.as_slice().iter().for_each(|gid| writer.u32(*gid));
    }
}

/// `opaque_auth`: a flavour, and a body whose format depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpaqueAuth<'a> {
    /// The flavour's number.
    pub flavor: u32,
    /// Its body.
    pub body: &'a [u8],
}

impl OpaqueAuth<'_> {
    /// AUTH_NONE, the verifier of all sent messages.
    pub const NONE: OpaqueAuth<'static> = OpaqueAuth { flavor: AUTH_NONE, body: &[] };
}

impl<'a> Xdr<'a> for OpaqueAuth<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<OpaqueAuth<'a>, XdrError> {
        let flavor = reader.u32()?;
        Ok(OpaqueAuth { flavor, body: reader.opaque("an authenticator", MAX_AUTH_BYTES)? })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.flavor);
        writer.opaque(self.body, MAX_AUTH_BYTES);
    }
}

/// The credential of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential<'a> {
    /// AUTH_NONE.
    None,
    /// AUTH_SYS: a user of a UNIX system.
    Sys(AuthSys<'a>),
    /// Another flavour, which is not decoded.
    Other(OpaqueAuth<'a>),
}

impl<'a> Credential<'a> {
    /// Decodes a credential.
    ///
    /// # Errors
    /// AUTH_SYS with an invalid body.
    pub fn decode(auth: OpaqueAuth<'a>) -> Result<Credential<'a>, XdrError> {
        match auth.flavor {
            AUTH_NONE if auth.body.is_empty() => Ok(Credential::None),
            AUTH_SYS => Ok(Credential::Sys(crate::xdr::decode_whole(auth.body)?)),
            _ => Ok(Credential::Other(auth)),
        }
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Credential::None => OpaqueAuth::NONE.encode(writer),
            Credential::Other(auth) => auth.encode(writer),
            Credential::Sys(sys) => {
                // The body's length is computed, which saves a second buffer.
                let name = sys.machinename.len();
                let fixed = 5 * 4 + 4 * sys.gids.len;
                let body = fixed + name + crate::xdr::padding(name).len();
                writer.u32(AUTH_SYS);
                writer.count(body, MAX_AUTH_BYTES);
                sys.encode(writer);
            }
        }
    }
}

/// The header of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallHeader<'a> {
    /// Identifies the call; its reply has the same xid.
    pub xid: u32,
    /// The program, for example [`crate::procedure::NFS_PROGRAM`].
    pub program: u32,
    /// The program's version.
    pub version: u32,
    /// The procedure's number.
    pub procedure: u32,
    /// The claimed identity of the caller.
    pub credential: OpaqueAuth<'a>,
    /// Proof of the credential; none for AUTH_SYS.
    pub verifier: OpaqueAuth<'a>,
}

/// Why the header of a call cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// Not an RPC message, or a reply. There is no answer to it.
    NotACall,
    /// Another version of RPC.
    RpcMismatch {
        /// The call's xid.
        xid: u32,
    },
    /// The credential or the verifier is malformed.
    BadAuth {
        /// The call's xid.
        xid: u32,
        /// The reason to return.
        stat: auth_stat,
    },
}

impl<'a> CallHeader<'a> {
    /// Decodes the header of a call; the arguments follow in `reader`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn decode(reader: &mut Reader<'a>) -> Result<CallHeader<'a>, CallError> {
        let not_a_call = |_: XdrError| CallError::NotACall;
        let xid = reader.u32().map_err(not_a_call)?;
        if reader.u32().map_err(not_a_call)? != CALL {
            return Err(CallError::NotACall);
        }
        if reader.u32().map_err(not_a_call)? != RPC_VERSION {
            return Err(CallError::RpcMismatch { xid });
        }
        let program = reader.u32().map_err(not_a_call)?;
        let version = reader.u32().map_err(not_a_call)?;
        let procedure = reader.u32().map_err(not_a_call)?;
        let bad = |stat| move |_: XdrError| CallError::BadAuth { xid, stat };
        let credential = OpaqueAuth::decode(reader).map_err(bad(auth_stat::AUTH_BADCRED))?;
        let verifier = OpaqueAuth::decode(reader).map_err(bad(auth_stat::AUTH_BADVERF))?;
        Ok(CallHeader { xid, program, version, procedure, credential, verifier })
    }
}

/// Writes the header of a call without a verifier.
pub fn encode_call_head(
    writer: &mut Writer<'_>,
    xid: u32,
    (program, version, procedure): (u32, u32, u32),
    credential: &Credential<'_>,
) {
    for word in [xid, CALL, RPC_VERSION, program, version, procedure] {
        writer.u32(word);
    }
    credential.encode(writer);
    OpaqueAuth::NONE.encode(writer);
}

xdr_enum! {
    /// Why a credential was refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(non_camel_case_types, reason = "the names of RFC 5531")]
    pub enum auth_stat {
        /// Success, which no refusal contains.
        AUTH_OK = 0,
        /// Bad credential (seal broken).
        AUTH_BADCRED = 1,
        /// Client must begin new session.
        AUTH_REJECTEDCRED = 2,
        /// Bad verifier (seal broken).
        AUTH_BADVERF = 3,
        /// Verifier expired or replayed.
        AUTH_REJECTEDVERF = 4,
        /// Rejected for security reasons.
        AUTH_TOOWEAK = 5,
        /// Bogus response verifier.
        AUTH_INVALIDRESP = 6,
        /// Reason unknown.
        AUTH_FAILED = 7,
        /// Kerberos generic error.
        AUTH_KERB_GENERIC = 8,
        /// Time of credential expired.
        AUTH_TIMEEXPIRE = 9,
        /// Problem with ticket file.
        AUTH_TKT_FILE = 10,
        /// Cannot decode authenticator.
        AUTH_DECODE = 11,
        /// Wrong network address in ticket.
        AUTH_NET_ADDR = 12,
        /// No credentials for user.
        RPCSEC_GSS_CREDPROBLEM = 13,
        /// Problem with context.
        RPCSEC_GSS_CTXPROBLEM = 14,
    }
}

/// The RPC status of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyStatus {
    /// Accepted and performed; the results follow.
    Success,
    /// Accepted, but the server does not have the program.
    ProgUnavail,
    /// Accepted, but the server has only other versions of the program.
    ProgMismatch {
        /// The lowest available version.
        low: u32,
        /// The highest available version.
        high: u32,
    },
    /// Accepted, but the program has no such procedure.
    ProcUnavail,
    /// Accepted, but the arguments cannot be decoded.
    GarbageArgs,
    /// Accepted, but the server failed, for example because it is out of memory.
    SystemErr,
    /// Denied: the server supports other versions of RPC.
    RpcMismatch {
        /// The lowest supported version.
        low: u32,
        /// The highest supported version.
        high: u32,
    },
    /// Denied: the credential is not accepted.
    AuthError(auth_stat),
}

/// The header of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHeader<'a> {
    /// The call's xid.
    pub xid: u32,
    /// Status of the call.
    pub status: ReplyStatus,
    /// The server's verifier; a denied reply has none.
    pub verifier: OpaqueAuth<'a>,
}

impl<'a> Xdr<'a> for ReplyHeader<'a> {
    fn decode(reader: &mut Reader<'a>) -> Result<ReplyHeader<'a>, XdrError> {
        let wrong = |what, value| Err(XdrError::NoSuchValue { what, value });
        let xid = reader.u32()?;
        match reader.u32()? {
            REPLY => {}
            value => return wrong("the type of a reply", value),
        }
        let denied = match reader.u32()? {
            0 => false,
            1 => true,
            value => return wrong("reply_stat", value),
        };
        if denied {
            let status = match reader.u32()? {
                0 => ReplyStatus::RpcMismatch { low: reader.u32()?, high: reader.u32()? },
                1 => ReplyStatus::AuthError(auth_stat::decode(reader)?),
                value => return wrong("reject_stat", value),
            };
            return Ok(ReplyHeader { xid, status, verifier: OpaqueAuth::NONE });
        }
        let verifier = OpaqueAuth::decode(reader)?;
        let status = match reader.u32()? {
            0 => ReplyStatus::Success,
            1 => ReplyStatus::ProgUnavail,
            2 => ReplyStatus::ProgMismatch { low: reader.u32()?, high: reader.u32()? },
            3 => ReplyStatus::ProcUnavail,
            4 => ReplyStatus::GarbageArgs,
            5 => ReplyStatus::SystemErr,
            value => return wrong("accept_stat", value),
        };
        Ok(ReplyHeader { xid, status, verifier })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        if (self.status, self.verifier) == (ReplyStatus::Success, OpaqueAuth::NONE) {
            // The header of almost every reply: accepted, no verifier, success.
            return writer.words([self.xid, REPLY, 0, AUTH_NONE, 0, 0]);
        }
        writer.u32(self.xid);
        writer.u32(REPLY);
        let (denied, stat, versions) = match self.status {
            ReplyStatus::Success => (0, 0, None),
            ReplyStatus::ProgUnavail => (0, 1, None),
            ReplyStatus::ProgMismatch { low, high } => (0, 2, Some((low, high))),
            ReplyStatus::ProcUnavail => (0, 3, None),
            ReplyStatus::GarbageArgs => (0, 4, None),
            ReplyStatus::SystemErr => (0, 5, None),
            ReplyStatus::RpcMismatch { low, high } => (1, 0, Some((low, high))),
            ReplyStatus::AuthError(_) => (1, 1, None),
        };
        writer.u32(denied);
        if denied == 0 {
            self.verifier.encode(writer);
        }
        writer.u32(stat);
        if let Some((low, high)) = versions {
            writer.u32(low);
            writer.u32(high);
        }
        if let ReplyStatus::AuthError(why) = self.status {
            why.encode(writer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdr::{decode_whole, encoded};

    #[test]
    fn a_call_with_auth_sys_has_the_bytes_of_the_rfc() {
        let sys = AuthSys {
            stamp: 0x01020304,
            machinename: b"host1",
            uid: 1000,
            gid: 100,
            gids: Gids::new(&[10, 20]).unwrap(),
        };
        let mut bytes = Vec::new();
        let procedure = (100_003, 3, 6);
        encode_call_head(&mut Writer::new(&mut bytes), 0xaabb, procedure, &Credential::Sys(sys));
        #[rustfmt::skip]
        let expected = [
            0, 0, 0xaa, 0xbb, // xid
            0, 0, 0, 0, // CALL
            0, 0, 0, 2, // RPC version
            0, 1, 0x86, 0xa3, // NFS
            0, 0, 0, 3, // version
            0, 0, 0, 6, // READ
            0, 0, 0, 1, 0, 0, 0, 36, // AUTH_SYS, 36 bytes
            1, 2, 3, 4, 0, 0, 0, 5, b'h', b'o', b's', b't', b'1', 0, 0, 0,
            0, 0, 3, 0xe8, 0, 0, 0, 100, 0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0, 20,
            0, 0, 0, 0, 0, 0, 0, 0, // verifier AUTH_NONE
        ];
        assert_eq!(bytes, expected);
        let mut reader = Reader::new(&bytes);
        let header = CallHeader::decode(&mut reader).unwrap();
        assert_eq!(reader.finish(), Ok(()));
        assert_eq!((header.xid, header.program, header.procedure), (0xaabb, 100_003, 6));
        assert_eq!(Credential::decode(header.credential), Ok(Credential::Sys(sys)));
    }

    #[test]
    fn more_than_sixteen_groups_are_refused() {
        assert_eq!(Gids::new(&[0; 17]), None);
        let mut body = vec![0; 16];
        body.extend([0xff; 4]);
        let refused = Credential::decode(OpaqueAuth { flavor: AUTH_SYS, body: &body });
        assert!(matches!(refused, Err(XdrError::TooLong { max: 16, .. })), "{refused:?}");
    }

    #[test]
    fn every_reply_status_has_the_bytes_of_the_rfc() {
        let accepted = |tail: &[u32]| [&[7, 1, 0, 0, 0], tail].concat();
        let denied = |tail: &[u32]| [&[7, 1, 1], tail].concat();
        for (status, words) in [
            (ReplyStatus::Success, accepted(&[0])),
            (ReplyStatus::ProgUnavail, accepted(&[1])),
            (ReplyStatus::ProgMismatch { low: 3, high: 3 }, accepted(&[2, 3, 3])),
            (ReplyStatus::ProcUnavail, accepted(&[3])),
            (ReplyStatus::GarbageArgs, accepted(&[4])),
            (ReplyStatus::SystemErr, accepted(&[5])),
            (ReplyStatus::RpcMismatch { low: 2, high: 2 }, denied(&[0, 2, 2])),
            (ReplyStatus::AuthError(auth_stat::AUTH_TOOWEAK), denied(&[1, 5])),
        ] {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            let header = ReplyHeader { xid: 7, status, verifier: OpaqueAuth::NONE };
            assert_eq!(encoded(&header), bytes, "{status:?}");
            assert_eq!(decode_whole(&bytes), Ok(header));
        }
    }

    #[test]
    fn messages_that_are_not_calls_are_distinguished_from_invalid_calls() {
        let error = |words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            CallHeader::decode(&mut Reader::new(&bytes)).unwrap_err()
        };
        assert_eq!(error(&[9]), CallError::NotACall);
        assert_eq!(error(&[9, 1, 0, 0, 0, 0]), CallError::NotACall);
        assert_eq!(error(&[9, 0, 3]), CallError::RpcMismatch { xid: 9 });
        let bad = CallError::BadAuth { xid: 9, stat: auth_stat::AUTH_BADCRED };
        assert_eq!(error(&[9, 0, 2, 100_003, 3, 0, 1, 401]), bad);
    }
}
