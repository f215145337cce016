//! Connections to a server: source ports, time limits, and the caller's identity.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nfs3::rpc::{AuthSys, Credential, Gids};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::url::NfsUrl;
use super::waiting::POLL;

/// Privileged source ports, the same as mount.nfs uses.
const PRIVILEGED_PORTS: std::ops::RangeInclusive<u16> = 512..=1023;

/// The identity in every call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// This host's name.
    machine_name: Vec<u8>,
    uid: u32,
    gid: u32,
    gids: Gids,
}

impl Caller {
    /// The identity that the URL specifies; by default the process's user and group.
    pub fn of(url: &NfsUrl) -> Caller {
        let mut machine_name = rustix::system::uname().nodename().to_bytes().to_vec();
        machine_name.truncate(nfs3::rpc::MAX_MACHINE_NAME);
        Caller {
            machine_name,
            uid: url.uid.unwrap_or_else(|| rustix::process::geteuid().as_raw()),
            gid: url.gid.unwrap_or_else(|| rustix::process::getegid().as_raw()),
            gids: Gids::new(&url.gids).expect("a URL has at most 16 groups"),
        }
    }

    /// An identity without supplementary groups.
    pub fn named(machine_name: &str, uid: u32, gid: u32) -> Caller {
        let mut machine_name = machine_name.as_bytes().to_vec();
        machine_name.truncate(nfs3::rpc::MAX_MACHINE_NAME);
        Caller { machine_name, uid, gid, gids: Gids::default() }
    }

    /// Size of the credential in a call, in bytes.
    pub(super) fn bytes(&self) -> usize {
        32 + self.machine_name.len() + 4 * self.gids.as_slice().len()
    }

    /// The credential in a call.
    pub fn credential(&self) -> Credential<'_> {
        Credential::Sys(AuthSys {
            stamp: 0,
            machinename: &self.machine_name,
            uid: self.uid,
            gid: self.gid,
            gids: self.gids,
        })
    }
}

/// Starts to connect. When the non-blocking socket becomes writable, [`outcome`] returns the
/// result.
///
/// # Errors
/// The kernel refuses immediately.
pub(super) fn begin(address: SocketAddr, privileged: bool) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let open = || -> io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        sockopt::set_socket_keepalive(&socket, true)?;
        Ok(socket)
    };
    let connect = |socket: &OwnedFd| match rustix::net::connect(socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(()),
        Err(refused) => Err(refused),
    };
    if !privileged {
        let socket = open()?;
        connect(&socket)?;
        return Ok(socket);
    }
    let any: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Skips ports that are in use, and those that this server may still associate with an earlier
    // connection.
    for port in PRIVILEGED_PORTS.rev() {
        let socket = open()?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        let bound = rustix::net::bind(&socket, &SocketAddr::new(any, port));
        match bound.and_then(|()| connect(&socket)) {
            Ok(()) => return Ok(socket),
            Err(Errno::ADDRINUSE | Errno::ADDRNOTAVAIL) => {}
            Err(Errno::ACCESS) => {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "`privileged=true` requires a source port below 1024, for which root or \
                     CAP_NET_BIND_SERVICE is needed",
                ));
            }
            Err(refused) => return Err(refused.into()),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AddrInUse,
        "all source ports from 512 to 1023 are in use; use fewer connections or leave out \
         `privileged=true`",
    ))
}

/// The result of [`begin`], once the socket is writable.
///
/// # Errors
/// Connecting failed.
pub(super) fn outcome(socket: &OwnedFd) -> io::Result<()> {
    Ok(sockopt::socket_error(socket)??)
}

/// Connects within `allowed` and returns a blocking socket. Calls `check_wait` every [`POLL`] and
/// fails with its error.
///
/// # Errors
/// Connecting failed.
pub(super) fn connect(
    address: SocketAddr,
    privileged: bool,
    allowed: Duration,
    check_wait: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<TcpStream> {
    let until = Instant::now() + allowed;
    let socket = begin(address, privileged)?;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut polled = [PollFd::new(&socket, PollFlags::OUT)];
        match poll(&mut polled, Some(&timespec(left.min(POLL)))) {
            Ok(0) if left.is_zero() => {
                let seconds = allowed.as_secs_f64();
                let reason = format!("no connection within {seconds} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            Ok(0) | Err(Errno::INTR) => check_wait()?,
            Ok(_) => break,
            Err(refused) => return Err(refused.into()),
        }
    }
    outcome(&socket)?;
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// A duration in the kernel's format.
pub(super) fn timespec(wait: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: wait.subsec_nanos().into(),
    }
}
