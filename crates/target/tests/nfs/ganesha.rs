//! nfs-ganesha with a MEM and a VFS export on its own ports, stopped when dropped.
//!
//! It requires an rpcbind at start, and gets one that listens only on a socket in a private `/run`,
//! so that tests can run in parallel. Both run in a process namespace that ends with its first
//! process. Needs root, as in CI.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to start.
const START: Duration = Duration::from_secs(60);

const SCRIPT: &str = r#"
set -e
mount -t tmpfs none /run
mkdir -p /run/ganesha /run/rpcbind
grep '^local' /etc/netconfig > /run/netconfig
mount --bind /run/netconfig /etc/netconfig
rpcbind -f &
until [ -S /run/rpcbind.sock ]; do sleep 0.01; done
umount /etc/netconfig
exec ganesha.nfsd -F -L "$1/log" -f "$1/ganesha.conf" -p /run/ganesha/pid
"#;

/// A running server.
pub(crate) struct Ganesha {
    child: Child,
    directory: tempfile::TempDir,
    address: String,
    nfs_port: u16,
    mount_port: u16,
}

/// Ports that are currently free.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
    listeners.map(|listener| listener.local_addr().expect("it has an address").port())
}

impl Ganesha {
    /// Starts it and waits until it accepts connections.
    pub(crate) fn start() -> Ganesha {
        Ganesha::start_at("127.0.0.1", Command::new("unshare"))
    }

    /// The same at an address of a network namespace.
    ///
    /// * `unshare` - starts that program in the namespace
    pub(crate) fn start_at(address: &str, mut unshare: Command) -> Ganesha {
        let directory = tempfile::tempdir().expect("make a directory");
        std::fs::create_dir(directory.path().join("vfs")).expect("make the exported folder");
        let [nfs_port, mount_port, nlm_port, quota_port] = free_ports();
        let here = directory.path().display();
        let config = format!(
            "NFS_CORE_PARAM {{ NFS_Protocols = 3; NFS_Port = {nfs_port}; MNT_Port = {mount_port};
               NLM_Port = {nlm_port}; Rquota_Port = {quota_port}; Enable_NLM = false;
               Enable_RQUOTA = false; Enable_UDP = False; Bind_addr = {address};
               mount_path_pseudo = false; }}
             NFSV4 {{ Graceless = true; }}
             EXPORT_DEFAULTS {{ Access_Type = RW; Squash = None; SecType = sys; Protocols = 3;
               Transports = TCP; PrivilegedPort = false; }}
             EXPORT {{ Export_Id = 1; Path = /mem; Pseudo = /mem; FSAL {{ Name = MEM; }} }}
             EXPORT {{ Export_Id = 2; Path = {here}/vfs; Pseudo = /vfs;
               FSAL {{ Name = VFS; }} Attr_Expiration_Time = 0; }}
             MEM {{ Inode_Size = 2097152; }}
             LOG {{ Default_Log_Level = EVENT; }}\n"
        );
        std::fs::write(directory.path().join("ganesha.conf"), config)
            .expect("write the configuration");
        let child = unshare
            .args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
            .args(["sh", "-c", SCRIPT, "sh"])
            .arg(directory.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("unshare runs; `cargo xtask check --install` installs what the tests need");
        let address = address.to_owned();
        let mut server = Ganesha { child, directory, address, nfs_port, mount_port };
        server.wait();
        server
    }

    fn wait(&mut self) {
        let until = Instant::now() + START;
        for port in [self.nfs_port, self.mount_port] {
            while !self.listens(port) {
                let ended = self.child.try_wait().expect("poll a child");
                let log = std::fs::read_to_string(self.directory.path().join("log"));
                assert!(ended.is_none(), "nfs-ganesha ended: {ended:?} {log:?}");
                assert!(Instant::now() < until, "nfs-ganesha does not listen: {log:?}");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Whether a socket in its network namespace listens at the port.
    fn listens(&self, port: u16) -> bool {
        let (port, listening) = (format!(":{port:04X}"), "0A");
        ["tcp", "tcp6"].iter().any(|family| {
            let path = format!("/proc/{}/net/{family}", self.child.id());
            let sockets = std::fs::read_to_string(path).unwrap_or_default();
            sockets.lines().any(|line| {
                // Number, local address, remote address, state.
                let words: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
                matches!(words[..], [_, local, _, state] if local.ends_with(&port) && state == listening)
            })
        })
    }

    /// The URL of `path` on the export in memory, which keeps 2 MiB of each file.
    pub(crate) fn mem(&self, path: &str) -> String {
        self.url(&format!("/mem{path}"))
    }

    /// The URL of `path` on the export of a local folder.
    pub(crate) fn vfs(&self, path: &str) -> String {
        self.url(&format!("{}{path}", self.folder().display()))
    }

    /// The exported local folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.directory.path().join("vfs")
    }

    fn url(&self, path: &str) -> String {
        format!("nfs://{}:{}{path}?mountport={}", self.address, self.nfs_port, self.mount_port)
    }
}

impl Drop for Ganesha {
    fn drop(&mut self) {
        // This kills the first process of the namespace, and with it all others.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
