//! Export rules: which clients may use a volume, and with which identity.
//!
//! The first rule whose clients contain an address decides. An address in no rule is refused. File
//! permissions are checked by crate `files`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use files::Caller;
use nfs3::rpc::{Credential, Gids};

/// Default user and group number of squashed (anonymous) users.
pub const ANONYMOUS: u32 = 65_534;

/// Addresses with a common prefix: `10.0.0.0/24`, `fd00::/8`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is not a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Neither an address nor an address with a prefix length.
    #[error("not a network")]
    Malformed,
    /// Bits are set after the prefix.
    #[error("the address has bits after its prefix; the network is {0}")]
    HostBits(Network),
}

impl Network {
    /// All addresses with the same first `prefix` bits as `address`.
    ///
    /// # Errors
    /// The prefix is longer than the address, or bits after it are set.
    pub fn new(address: IpAddr, prefix: u8) -> Result<Network, NetworkError> {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        if prefix > bits {
            return Err(NetworkError::Malformed);
        }
        let whole = Network { address: masked(address, prefix), prefix };
        if whole.address == address { Ok(whole) } else { Err(NetworkError::HostBits(whole)) }
    }

    /// Whether the network contains the address. IPv4 networks contain no IPv6 address, and vice
    /// versa.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && masked(address, self.prefix) == self.address
    }
}

/// The address with zeros after its first `prefix` bits.
fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    let prefix = u32::from(prefix);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Network, NetworkError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NetworkError::Malformed)?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(all), str::parse).map_err(|_| NetworkError::Malformed)?;
        Network::new(address, prefix)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

/// Whether clients may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportAccess {
    /// Clients may read and write.
    ReadWrite,
    /// Clients may only read; changes are answered NFS3ERR_ROFS.
    ReadOnly,
}

/// Which users are mapped to the anonymous user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squash {
    /// None: the client's superuser is the volume's superuser.
    None,
    /// The superuser, and group 0 of every user.
    Root,
    /// All users.
    All,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRule {
    /// The clients it applies to.
    pub clients: Vec<Network>,
    /// Whether they may write.
    pub access: ExportAccess,
    /// Which of their users become the anonymous user.
    pub squash: Squash,
    /// User and group of the anonymous user, which calls with AUTH_NONE are too.
    pub anonymous: (u32, u32),
}

/// The rules of a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportRules(Vec<ExportRule>);

/// The access of a client to a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAccess {
    access: ExportAccess,
    squash: Squash,
    anonymous: (u32, u32),
}

impl ExportRules {
    /// Rules in order of precedence. Without any, clients on loopback and in private networks (RFC
    /// 1918, unique local, link local) may read and write and all others are refused, so that a test
    /// volume is not open to the world.
    #[must_use]
    pub fn new(rules: Vec<ExportRule>) -> ExportRules {
        ExportRules(rules)
    }

    /// The access granted by the first rule for this address; `None` if it is refused.
    #[must_use]
    pub fn access_of(&self, address: IpAddr) -> Option<ClientAccess> {
        if self.0.is_empty() {
            let (access, squash) = (ExportAccess::ReadWrite, Squash::None);
            let client = ClientAccess { access, squash, anonymous: (ANONYMOUS, ANONYMOUS) };
            return is_private(address).then_some(client);
        }
        let contains = |rule: &&ExportRule| rule.clients.iter().any(|net| net.contains(address));
        let rule = self.0.iter().find(contains)?;
        let ExportRule { access, squash, anonymous, .. } = *rule;
        Some(ClientAccess { access, squash, anonymous })
    }

    /// The clients that may mount, for MOUNT's EXPORT.
    pub(crate) fn clients(&self) -> Vec<String> {
        if self.0.is_empty() {
            return PRIVATE.map(str::to_owned).to_vec();
        }
        self.0.iter().flat_map(|rule| &rule.clients).map(Network::to_string).collect()
    }
}

/// Loopback, link local, RFC 1918 and RFC 4193: the networks of [`is_private`].
const PRIVATE: [&str; 8] = [
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "::1/128",
    "fc00::/7",
    "fe80::/10",
];

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

/// The identity a call is performed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    uid: u32,
    gid: u32,
    gids: Gids,
    read_only: bool,
}

impl Identity {
    pub(crate) fn caller(&self) -> Caller<'_> {
        let Identity { uid, gid, gids, read_only } = self;
        Caller { uid: *uid, gid: *gid, gids: gids.as_slice(), read_only: *read_only }
    }
}

impl ClientAccess {
    /// The identity of the caller after squashing.
    pub(crate) fn identity(&self, credential: &Credential<'_>) -> Identity {
        let read_only = self.access == ExportAccess::ReadOnly;
        let (uid, gid) = self.anonymous;
        match (self.squash, credential) {
            (Squash::None, Credential::Sys(sys)) => {
                Identity { uid: sys.uid, gid: sys.gid, gids: sys.gids, read_only }
            }
            (Squash::Root, Credential::Sys(sys)) => Identity {
                uid: if sys.uid == 0 { uid } else { sys.uid },
                gid: if sys.gid == 0 { gid } else { sys.gid },
                gids: without_root(sys.gids, gid),
                read_only,
            },
            (Squash::All, _) | (_, Credential::None | Credential::Other(_)) => {
                Identity { uid, gid, gids: Gids::default(), read_only }
            }
        }
    }
}

/// Supplementary groups with group 0 squashed too; otherwise root squash would be incomplete.
fn without_root(gids: Gids, anonymous: u32) -> Gids {
    if !gids.as_slice().contains(&0) {
        return gids;
    }
    let mut squashed = [0; nfs3::rpc::MAX_GIDS];
    let squashed = &mut squashed[..gids.as_slice().len()];
    for (to, from) in squashed.iter_mut().zip(gids.as_slice()) {
        *to = if *from == 0 { anonymous } else { *from };
    }
    Gids::new(squashed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs3::rpc::AuthSys;

    fn net(text: &str) -> Network {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn rule(clients: &str, access: ExportAccess, squash: Squash) -> ExportRule {
        ExportRule { clients: vec![net(clients)], access, squash, anonymous: (77, 78) }
    }

    fn sys(uid: u32, gid: u32, gids: &[u32]) -> Credential<'static> {
        let gids = Gids::new(gids).unwrap();
        Credential::Sys(AuthSys { stamp: 0, machinename: b"", uid, gid, gids })
    }

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix_of_its_address_family() {
        for (network, inside, outside) in [
            ("10.0.0.0/24", "10.0.0.255", "10.0.1.0"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("fd00::/8", "fdff::1", "fe00::1"),
            ("::/0", "::1", "127.0.0.1"),
        ] {
            assert!(net(network).contains(ip(inside)), "{network} {inside}");
            assert!(!net(network).contains(ip(outside)), "{network} {outside}");
        }
        assert_eq!(net("10.1.2.3").to_string(), "10.1.2.3/32");
    }

    #[test]
    fn a_network_with_host_bits_or_a_long_prefix_is_refused() {
        let refused = "10.0.0.5/24".parse::<Network>().unwrap_err();
        assert_eq!(refused, NetworkError::HostBits(net("10.0.0.0/24")));
        for text in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x", "host"] {
            assert_eq!(text.parse::<Network>(), Err(NetworkError::Malformed), "{text}");
        }
    }

    #[test]
    fn the_first_rule_that_contains_the_address_decides() {
        let rules = ExportRules::new(vec![
            rule("10.0.0.7", ExportAccess::ReadOnly, Squash::All),
            rule("10.0.0.0/24", ExportAccess::ReadWrite, Squash::None),
        ]);
        let access = |address| rules.access_of(ip(address)).map(|client| client.access);
        assert_eq!(access("10.0.0.7"), Some(ExportAccess::ReadOnly));
        assert_eq!(access("10.0.0.8"), Some(ExportAccess::ReadWrite));
        assert_eq!(access("127.0.0.1"), None);
    }

    #[test]
    fn without_rules_only_loopback_and_private_networks_have_access() {
        let rules = ExportRules::default();
        for address in
            ["127.0.0.1", "10.9.9.9", "172.31.0.1", "192.168.1.1", "169.254.1.1", "::1", "fd00::1"]
        {
            assert!(rules.access_of(ip(address)).is_some(), "{address}");
            let listed = PRIVATE.map(net);
            assert!(listed.iter().any(|network| network.contains(ip(address))), "{address}");
        }
        for address in ["8.8.8.8", "172.32.0.1", "11.0.0.1", "2001:db8::1"] {
            assert!(rules.access_of(ip(address)).is_none(), "{address}");
        }
    }

    #[test]
    fn squashing_maps_user_and_groups() {
        let identity = |squash, credential: &Credential<'_>| {
            let rules = ExportRules::new(vec![rule("::1", ExportAccess::ReadOnly, squash)]);
            let identity = rules.access_of(ip("::1")).unwrap().identity(credential);
            assert!(identity.caller().read_only);
            (identity.uid, identity.gid, identity.gids.as_slice().to_vec())
        };
        let (root, user) = (sys(0, 0, &[5, 0]), sys(1000, 100, &[6]));
        assert_eq!(identity(Squash::None, &root), (0, 0, vec![5, 0]));
        assert_eq!(identity(Squash::Root, &root), (77, 78, vec![5, 78]));
        assert_eq!(identity(Squash::Root, &user), (1000, 100, vec![6]));
        assert_eq!(identity(Squash::All, &user), (77, 78, vec![]));
        assert_eq!(identity(Squash::None, &Credential::None), (77, 78, vec![]));
    }
}
