//! The three servers: the bare one, nfs-ganesha, ours.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::example;
use crate::bench::process::{Running, SERVER_PROCESSOR};

/// A port of nfs-ganesha's; the namespace has nobody else in it.
const GANESHA: &str = "127.0.0.1:22049";
const GANESHA_MOUNT_PORT: &str = "22048";
/// Ours.
const OURS: &str = "127.0.0.1:2049";
/// Where it tells what it saw.
pub(crate) const OURS_METRICS: &str = "127.0.0.1:20490";

/// A server that a client can be pointed at.
pub(crate) struct Server {
    pub(crate) process: Running,
    /// What must run beside it.
    _beside: Option<Running>,
    pub(crate) address: String,
    pub(crate) mount_port: Option<&'static str>,
    pub(crate) export: String,
}

impl Server {
    /// How our client is told of it. Our service has MOUNT at the port of NFS.
    pub(crate) fn url(&self, connections: u32) -> String {
        let Server { address, export, .. } = self;
        let port = address.rsplit(':').next().unwrap_or_default();
        let mount_port = self.mount_port.unwrap_or(port);
        format!("nfs://{address}{export}?nconnect={connections}&mountport={mount_port}")
    }
}

/// The bare server, for requests and replies of this size.
pub(crate) fn floor(root: &Path, scratch: &Path, request: u64, reply: u64) -> Result<Server> {
    let (request, reply) = (request.to_string(), reply.to_string());
    let arguments = ["server", "--request", &request, "--reply", &reply];
    let program = example(root, "floor");
    let mut process = Running::start(&program, &arguments, SERVER_PROCESSOR, scratch)?;
    let address = process.first_line()?;
    Ok(Server { process, _beside: None, address, mount_port: None, export: String::new() })
}

/// What nfs-ganesha keeps files in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackEnd {
    /// Its own memory.
    Mem,
    /// A folder, here of the disk under the checkout, in the page cache.
    Vfs,
}

/// `nfs-ganesha 4.3 (Debian 4.3-2)`.
pub(crate) fn ganesha_version() -> Result<String> {
    let said = Command::new("ganesha.nfsd").arg("-v").output().context("start nfs-ganesha")?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let version = said.split_whitespace().find_map(|word| word.strip_prefix('V'));
    let package = Command::new("dpkg-query")
        .args(["--show", "--showformat", "Debian ${Version}", "nfs-ganesha"])
        .output()
        .context("start dpkg-query")?;
    let package = String::from_utf8_lossy(&package.stdout).into_owned();
    Ok(format!("nfs-ganesha {} ({package})", version.unwrap_or("of no version that it tells")))
}

/// nfs-ganesha without what NFSv3 alone does not need.
pub(crate) fn ganesha(scratch: &Path, back_end: BackEnd) -> Result<Server> {
    let export = match back_end {
        BackEnd::Mem => "/mem".to_owned(),
        BackEnd::Vfs => scratch.join("vfs").display().to_string(),
    };
    let fsal = match back_end {
        BackEnd::Mem => "MEM",
        BackEnd::Vfs => {
            std::fs::create_dir_all(&export)?;
            "VFS"
        }
    };
    // 2 MiB for each file is the most that MEM keeps. Its listening address is left out: in a
    // fresh namespace it finds none by name.
    let configuration = format!(
        "NFS_CORE_PARAM {{ NFS_Port = 22049; MNT_Port = {GANESHA_MOUNT_PORT}; Protocols = 3; \
         Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; \
         mount_path_pseudo = false; }}\n\
         NFSv4 {{ Graceless = true; }}\n\
         EXPORT_DEFAULTS {{ Access_Type = RW; Squash = No_Root_Squash; SecType = sys; \
         Protocols = 3; Transports = TCP; }}\n\
         MEM {{ Inode_Size = 2097152; }}\n\
         LOG {{ Default_Log_Level = EVENT; }}\n\
         EXPORT {{ Export_Id = 1; Path = {export}; Pseudo = /bench; FSAL {{ Name = {fsal}; }} }}\n"
    );
    let path = scratch.join("ganesha.conf");
    std::fs::write(&path, configuration).context("write nfs-ganesha's configuration")?;
    let path = path.display().to_string();
    let log = scratch.join("ganesha.log").display().to_string();
    // It ends unless it can register with a portmapper.
    let program = Path::new("/usr/sbin/rpcbind");
    let mut beside = Running::start(program, &["-f", "-w"], SERVER_PROCESSOR, scratch)?;
    beside.wait_for("127.0.0.1:111")?;
    let arguments = ["-F", "-f", &path, "-L", &log, "-p", "/run/ganesha/pid"];
    let program = Path::new("/usr/bin/ganesha.nfsd");
    let mut process = Running::start(program, &arguments, SERVER_PROCESSOR, scratch)?;
    process.wait_for(GANESHA)?;
    Ok(Server {
        process,
        _beside: Some(beside),
        address: GANESHA.to_owned(),
        mount_port: Some(GANESHA_MOUNT_PORT),
        export,
    })
}

/// Our service with one volume in memory and without limits, as a user starts it.
pub(crate) fn ours(root: &Path, scratch: &Path) -> Result<Server> {
    our_service(root, scratch, &["--no-limits", "--metrics", "none"])
}

/// The same, and it tells what it saw.
pub(crate) fn ours_telling(root: &Path, scratch: &Path) -> Result<Server> {
    our_service(root, scratch, &["--no-limits", "--metrics", OURS_METRICS])
}

/// The same with the limits of 1 TiB of Premium, 64 MiB/s.
pub(crate) fn ours_limited(root: &Path, scratch: &Path) -> Result<Server> {
    our_service(root, scratch, &["--quota", "1TiB", "--metrics", OURS_METRICS])
}

fn our_service(root: &Path, scratch: &Path, more: &[&str]) -> Result<Server> {
    let arguments = [&["volume", "serve", "--address", OURS], more].concat();
    let program = root.join("target/release/fourcorners");
    let mut process = Running::start(&program, &arguments, SERVER_PROCESSOR, scratch)?;
    process.wait_for(OURS)?;
    Ok(Server {
        process,
        _beside: None,
        address: OURS.to_owned(),
        mount_port: None,
        export: "/vol1".to_owned(),
    })
}
