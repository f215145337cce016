//! `nfs://host[:port]/export[/path]?key=value&...`: the location of an export and how it is
//! accessed.
//!
//! All mistakes of a URL are reported together, each with what is allowed. A printed URL parses to
//! the same value. The form is RFC 2224's; the keys are named like the options of mount.nfs where
//! those exist.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use units::{Bytes, parse_duration, print_duration};

use super::url_text::{decode, encode};

/// How a worker's operations are distributed over its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// To each connection in turn, skipping those with more outstanding calls than the mean.
    #[default]
    RoundRobin,
    /// All operations of a file to one connection.
    PerFile,
    /// To the connection with the fewest outstanding calls.
    LeastOutstanding,
}

impl Policy {
    const ALL: [Policy; 3] = [Policy::RoundRobin, Policy::PerFile, Policy::LeastOutstanding];

    /// The name in a URL and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::RoundRobin => "round-robin",
            Policy::PerFile => "per-file",
            Policy::LeastOutstanding => "least-outstanding",
        }
    }
}

/// Default maximum of outstanding calls per connection. Our choice: at most what the emulated
/// service processes on one (`outstanding_per_connection_max` in `data/service_levels.toml`; a test
/// of `cli` compares the two).
pub const SLOTS: u32 = 128;
/// Maximum number of connections of a process to an export.
pub const CONNECTIONS_MAX: u32 = 1024;
/// A connection with outstanding calls that is silent for this long is replaced: the timeout of
/// mount.nfs for TCP.
pub const TIMEO: Duration = Duration::from_secs(60);
/// Default time limit for connecting: a server that is up and not overloaded replies to a SYN
/// within milliseconds, or within seconds if the first ones are lost. Our choice.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Allowed values of rsize and wsize.
const TRANSFER_BYTES: std::ops::RangeInclusive<u64> = 512..=16 << 20;

/// An export or a folder on it, and how it is accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NfsUrl {
    /// A name, or an address without brackets.
    pub host: String,
    /// The NFS port; if absent, the portmapper is asked.
    pub port: Option<u16>,
    /// The MOUNT port; if absent, the portmapper is asked.
    pub mount_port: Option<u16>,
    /// Export and path, beginning with `/`.
    pub path: String,
    /// Connections of the process to the export.
    pub nconnect: Option<u32>,
    /// User of every call; by default the process's.
    pub uid: Option<u32>,
    /// Group of every call; by default the process's.
    pub gid: Option<u32>,
    /// Supplementary groups of every call, at most 16.
    pub gids: Vec<u32>,
    /// Maximum of a READ in bytes; by default the server's preference.
    pub rsize_bytes: Option<u32>,
    /// Maximum of a WRITE in bytes; by default the server's preference.
    pub wsize_bytes: Option<u32>,
    /// Maximum number of outstanding calls per connection.
    pub slots: u32,
    /// How operations are distributed over connections.
    pub policy: Policy,
    /// Whether connections use source ports below 1024, as some exports require.
    pub privileged: bool,
    /// Addresses of the server over which connections are distributed in turn; if empty, `host`.
    pub addresses: Vec<IpAddr>,
    /// How long a connection with outstanding calls may be silent before it is replaced.
    pub timeo: Duration,
    /// Time limit for connecting, and for resolving a name.
    pub connect_timeout: Duration,
}

/// All mistakes in a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{url} is not a target: {}", mistakes.join("; "))]
pub struct NfsUrlError {
    /// The URL as written.
    pub url: String,
    /// Each mistake: what was found and what is allowed.
    pub mistakes: Vec<String>,
}

/// The beginning of every export's URL.
pub const SCHEME: &str = "nfs://";

impl NfsUrl {
    /// The URL of `path` on `host` with default options.
    pub fn new(host: &str, path: &str) -> NfsUrl {
        NfsUrl {
            host: host.to_owned(),
            port: None,
            mount_port: None,
            path: path.to_owned(),
            nconnect: None,
            uid: None,
            gid: None,
            gids: Vec::new(),
            rsize_bytes: None,
            wsize_bytes: None,
            slots: SLOTS,
            policy: Policy::default(),
            privileged: false,
            addresses: Vec::new(),
            timeo: TIMEO,
            connect_timeout: CONNECT_TIMEOUT,
        }
    }

    /// Host and port in the form of a URL, for messages.
    pub fn authority(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }
}

/// The URL and the mistakes found so far.
struct Parser {
    url: NfsUrl,
    mistakes: Vec<String>,
}

impl FromStr for NfsUrl {
    type Err = NfsUrlError;

    fn from_str(text: &str) -> Result<NfsUrl, NfsUrlError> {
        let mut parser = Parser { url: NfsUrl::new("", "/"), mistakes: Vec::new() };
        parser.read(text);
        if parser.mistakes.is_empty() {
            Ok(parser.url)
        } else {
            Err(NfsUrlError { url: text.to_owned(), mistakes: parser.mistakes })
        }
    }
}

impl Parser {
    fn wrong(&mut self, mistake: String) {
        self.mistakes.push(mistake);
    }

    fn read(&mut self, text: &str) {
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return self.wrong(format!("it does not begin with {SCHEME}"));
        };
        if rest.contains('#') {
            self.wrong("`#` is not supported; write %23 if it is part of a name".to_owned());
        }
        let (location, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = location.split_at(location.find('/').unwrap_or(location.len()));
        self.authority(authority);
        match decode(path) {
            Ok(path) if path.is_empty() || path == "/" => {
                self.wrong("the export is missing; write nfs://host/export".to_owned());
            }
            Ok(path) if path.split('/').any(|part| part == "..") => {
                self.wrong("`..` is not allowed in the path".to_owned());
            }
            Ok(path) => self.url.path = path,
            Err(mistake) => self.wrong(format!("the path {path}: {mistake}")),
        }
        let mut seen: Vec<&str> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if seen.contains(&key) {
                self.wrong(format!("{key} is given twice"));
                continue;
            }
            seen.push(key);
            match decode(value) {
                Ok(value) => self.option(key, &value),
                Err(mistake) => self.wrong(format!("{key}={value}: {mistake}")),
            }
        }
    }

    fn authority(&mut self, authority: &str) {
        let (user, authority) = authority.rsplit_once('@').unwrap_or(("", authority));
        if !user.is_empty() {
            self.wrong("a user before the host is not supported; use ?uid=...&gid=...".to_owned());
        }
        let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
            match rest.split_once(']') {
                Some((host, rest)) => (host, rest.strip_prefix(':')),
                None => return self.wrong("`[` without `]` around an address".to_owned()),
            }
        } else {
            match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            }
        };
        if host.is_empty() {
            self.wrong("the host is missing; write nfs://host/export".to_owned());
        }
        self.url.host = host.to_owned();
        if let Some(port) = port {
            self.url.port = self.number("the port", port, 1, u64::from(u16::MAX)).map(|n| n as u16);
        }
    }

    fn number(&mut self, what: &str, value: &str, min: u64, max: u64) -> Option<u64> {
        match value.parse() {
            Ok(number) if (min..=max).contains(&number) => Some(number),
            _ => {
                self.wrong(format!("{what} is `{value}`; allowed is {min} to {max}"));
                None
            }
        }
    }

    fn u32(&mut self, what: &str, value: &str, min: u32, max: u32) -> Option<u32> {
        self.number(what, value, u64::from(min), u64::from(max)).map(|number| number as u32)
    }

    fn bytes(&mut self, what: &str, value: &str) -> Option<u32> {
        let bytes = match value.parse::<u64>() {
            Ok(bytes) => Some(bytes),
            Err(_) => value.parse::<Bytes>().ok().map(Bytes::get),
        };
        match bytes {
            Some(bytes) if TRANSFER_BYTES.contains(&bytes) && bytes % 512 == 0 => {
                Some(bytes as u32)
            }
            _ => {
                self.wrong(format!(
                    "{what} is `{value}`; allowed are multiples of 512 B from 512 B to 16 MiB, \
                     for example 64KiB"
                ));
                None
            }
        }
    }

    /// A duration, or `default` if it is wrong.
    fn time(&mut self, key: &str, value: &str, default: Duration) -> Duration {
        match parse_duration(value) {
            Ok(time) if time >= Duration::from_millis(1) => time,
            _ => {
                let example = print_duration(default);
                self.wrong(format!(
                    "{key} is `{value}`; allowed are times from 1ms, for example {example}"
                ));
                default
            }
        }
    }

    fn option(&mut self, key: &str, value: &str) {
        match key {
            "port" => {
                let port = self.number(key, value, 1, u64::from(u16::MAX)).map(|n| n as u16);
                match self.url.port {
                    Some(other) if port.is_some_and(|port| port != other) => self.wrong(format!(
                        "the port is {other} after the host but {value} in `port`; give one"
                    )),
                    _ => self.url.port = port,
                }
            }
            "mountport" => {
                self.url.mount_port =
                    self.number(key, value, 1, u64::from(u16::MAX)).map(|n| n as u16);
            }
            "nconnect" => self.url.nconnect = self.u32(key, value, 1, CONNECTIONS_MAX),
            "uid" => self.url.uid = self.u32(key, value, 0, u32::MAX),
            "gid" => self.url.gid = self.u32(key, value, 0, u32::MAX),
            "gids" => {
                let gids: Vec<&str> = value.split(',').filter(|gid| !gid.is_empty()).collect();
                if gids.len() > nfs3::rpc::MAX_GIDS {
                    self.wrong(format!("gids has {}; AUTH_SYS allows at most 16", gids.len()));
                }
                self.url.gids =
                    gids.iter().filter_map(|gid| self.u32(key, gid, 0, u32::MAX)).collect();
            }
            "rsize" => self.url.rsize_bytes = self.bytes(key, value),
            "wsize" => self.url.wsize_bytes = self.bytes(key, value),
            "slots" => self.url.slots = self.u32(key, value, 1, 1 << 16).unwrap_or(SLOTS),
            "policy" => match Policy::ALL.into_iter().find(|policy| policy.name() == value) {
                Some(policy) => self.url.policy = policy,
                None => self.wrong(format!(
                    "policy is `{value}`; allowed are round-robin, per-file, least-outstanding"
                )),
            },
            "privileged" => match value {
                "true" => self.url.privileged = true,
                "false" => self.url.privileged = false,
                _ => self.wrong(format!("privileged is `{value}`; allowed are true and false")),
            },
            "addr" => {
                for address in value.split(',') {
                    match address.trim_matches(['[', ']']).parse() {
                        Ok(address) => self.url.addresses.push(address),
                        Err(_) => self.wrong(format!(
                            "addr has `{address}`, which is not an address; give addresses like \
                             10.0.0.4,10.0.0.5"
                        )),
                    }
                }
            }
            "timeo" => self.url.timeo = self.time(key, value, TIMEO),
            "connect_timeout" => {
                self.url.connect_timeout = self.time(key, value, CONNECT_TIMEOUT);
            }
            _ => self.wrong(format!(
                "`{key}` is not an option; use port, mountport, nconnect, uid, gid, gids, rsize, \
                 wsize, slots, policy, privileged, addr, timeo, connect_timeout"
            )),
        }
    }
}

impl fmt::Display for NfsUrl {
    /// The shortest URL that parses to this value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}{}", self.authority(), encode(&self.path))?;
        let mut options: Vec<(&str, String)> = Vec::new();
        let mut number = |key, value: Option<u32>| {
            options.extend(value.map(|value| (key, value.to_string())));
        };
        number("mountport", self.mount_port.map(u32::from));
        number("nconnect", self.nconnect);
        number("uid", self.uid);
        number("gid", self.gid);
        let list = |gids: &[u32]| gids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        if !self.gids.is_empty() {
            options.push(("gids", list(&self.gids)));
        }
        for (key, value) in [("rsize", self.rsize_bytes), ("wsize", self.wsize_bytes)] {
            options.extend(value.map(|value| (key, value.to_string())));
        }
        if self.slots != SLOTS {
            options.push(("slots", self.slots.to_string()));
        }
        if self.policy != Policy::default() {
            options.push(("policy", self.policy.name().to_owned()));
        }
        if self.privileged {
            options.push(("privileged", "true".to_owned()));
        }
        if !self.addresses.is_empty() {
            let all: Vec<String> = self.addresses.iter().map(IpAddr::to_string).collect();
            options.push(("addr", all.join(",")));
        }
        if self.timeo != TIMEO {
            options.push(("timeo", print_duration(self.timeo)));
        }
        if self.connect_timeout != CONNECT_TIMEOUT {
            options.push(("connect_timeout", print_duration(self.connect_timeout)));
        }
        for (index, (key, value)) in options.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}
