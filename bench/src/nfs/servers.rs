//! The three servers: the bare one, nfs-ganesha, and the emulated volume.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Paths;
use crate::process::{Running, SERVER_PROCESSOR};
use crate::product::example;

/// Ports of nfs-ganesha; nothing else uses them in the namespace.
const GANESHA: &str = "127.0.0.1:22049";
const GANESHA_MOUNT_PORT: &str = "22048";
/// Address of the emulated volume.
const VOLUME: &str = "127.0.0.1:2049";
/// Address of its metrics.
pub(crate) const VOLUME_METRICS: &str = "127.0.0.1:20490";

/// A running server.
pub(crate) struct Server {
    pub(crate) process: Running,
    /// The portmapper of nfs-ganesha.
    _portmapper: Option<Running>,
    pub(crate) address: String,
    pub(crate) mount_port: Option<&'static str>,
    pub(crate) export: String,
}

impl Server {
    /// Its URL for the built-in client. The emulated volume serves MOUNT on the NFS port.
    pub(crate) fn url(&self, connections: u32) -> String {
        let Server { address, export, .. } = self;
        let port = address.rsplit(':').next().unwrap_or_default();
        let mount_port = self.mount_port.unwrap_or(port);
        format!("nfs://{address}{export}?nconnect={connections}&mountport={mount_port}")
    }
}

/// Starts the bare server, for requests and replies of these sizes.
pub(crate) fn floor(scratch: &Path, request: u64, reply: u64) -> Result<Server> {
    let (request, reply) = (request.to_string(), reply.to_string());
    let arguments = ["server", "--request", &request, "--reply", &reply];
    let program = example("floor")?;
    let mut process = Running::start(&program, &arguments, SERVER_PROCESSOR, scratch)?;
    let address = process.first_line()?;
    Ok(Server { process, _portmapper: None, address, mount_port: None, export: String::new() })
}

/// Where nfs-ganesha stores files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackEnd {
    /// In memory.
    Mem,
    /// In a folder below the repository, in the page cache.
    Vfs,
}

/// Its version, such as `nfs-ganesha 4.3 (Debian 4.3-2)`.
pub(crate) fn ganesha_version() -> Result<String> {
    let output = Command::new("ganesha.nfsd").arg("-v").output().context("start nfs-ganesha")?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = output.split_whitespace().find_map(|word| word.strip_prefix('V'));
    let package = Command::new("dpkg-query")
        .args(["--show", "--showformat", "Debian ${Version}", "nfs-ganesha"])
        .output()
        .context("start dpkg-query")?;
    let package = String::from_utf8_lossy(&package.stdout).into_owned();
    Ok(format!("nfs-ganesha {} ({package})", version.unwrap_or("(unknown version)")))
}

/// Starts nfs-ganesha with NFSv3 only.
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
    // MEM stores at most 2 MiB per file. The listening address is omitted because nfs-ganesha
    // cannot look it up by name in a new namespace.
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
    // nfs-ganesha does not start without a portmapper.
    let program = Path::new("/usr/sbin/rpcbind");
    let mut portmapper = Running::start(program, &["-f", "-w"], SERVER_PROCESSOR, scratch)?;
    portmapper.wait_for("127.0.0.1:111")?;
    let arguments = ["-F", "-f", &path, "-L", &log, "-p", "/run/ganesha/pid"];
    let program = Path::new("/usr/bin/ganesha.nfsd");
    let mut process = Running::start(program, &arguments, SERVER_PROCESSOR, scratch)?;
    process.wait_for(GANESHA)?;
    Ok(Server {
        process,
        _portmapper: Some(portmapper),
        address: GANESHA.to_owned(),
        mount_port: Some(GANESHA_MOUNT_PORT),
        export,
    })
}

/// Starts the emulated volume in memory without limits, as a user would.
pub(crate) fn volume(paths: &Paths) -> Result<Server> {
    start_volume(paths, &["--no-limits", "--metrics", "none"])
}

/// The same, with metrics.
pub(crate) fn volume_with_metrics(paths: &Paths) -> Result<Server> {
    start_volume(paths, &["--no-limits", "--metrics", VOLUME_METRICS])
}

/// The same, with the throughput limit of 1 TiB of Premium, 64 MiB/s.
pub(crate) fn limited_volume(paths: &Paths) -> Result<Server> {
    start_volume(paths, &["--quota", "1TiB", "--metrics", VOLUME_METRICS])
}

fn start_volume(paths: &Paths, flags: &[&str]) -> Result<Server> {
    let arguments = [&["volume", "serve", "--address", VOLUME], flags].concat();
    let Paths { fourcorners, scratch } = paths;
    let mut process = Running::start(fourcorners, &arguments, SERVER_PROCESSOR, scratch)?;
    process.wait_for(VOLUME)?;
    Ok(Server {
        process,
        _portmapper: None,
        address: VOLUME.to_owned(),
        mount_port: None,
        export: "/vol1".to_owned(),
    })
}
