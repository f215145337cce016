//! Hosts for `--hosts ssh:`: real sshd in network namespaces on one bridge. Requires root, as in CI.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::TestDir;
use crate::private_network::{Network, ip};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");
/// The address of the bridge, where the controller and services are.
pub(crate) const HUB: &str = "10.215.0.254";

/// Writes a program that a test puts first in PATH.
pub(crate) fn script(dir: &TestDir, name: &str, text: &str) -> PathBuf {
    fs::create_dir_all(dir.path().join("bin")).expect("make a folder");
    let path = dir.file(&format!("bin/{name}"), text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("make it executable");
    path
}

/// The scripts of the test first in PATH.
pub(crate) fn path_with_scripts(dir: &TestDir) -> String {
    let path = std::env::var("PATH").expect("there is a PATH");
    format!("{}:{path}", dir.path().join("bin").display())
}

/// A bridge, the keys, and the configuration of ssh.
pub(crate) struct Hub {
    pub(crate) network: Network,
    root: PathBuf,
}

/// A network namespace with an sshd at 10.215.0.NUMBER; everything in it ends with this.
pub(crate) struct SshHost {
    // Ends before the network, which its processes keep alive.
    _sshd: Daemon,
    network: Network,
}

/// A daemon that ends with the test, together with all processes of its namespace.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // SIGKILL also ends a stopped process.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Hub {
    /// For `h1` to `h{count}`. The program of `dir` is started on the bridge from now on, and its ssh uses
    /// this configuration.
    ///
    /// * `name` - differs between the tests of this process
    /// * `more` - more of ssh's configuration, for example other names of the hosts
    pub(crate) fn new(dir: &mut TestDir, name: &str, count: u8, more: &str) -> Hub {
        let root = dir.path().to_owned();
        fs::create_dir_all("/run/sshd").expect("make sshd's folder");
        for name in ["host_key", "user_key", "other_key"] {
            key(&root.join(name));
        }
        let public = |name: &str| fs::read_to_string(root.join(name)).expect("a public key");
        dir.file("keys", &public("user_key.pub"));
        dir.file("other_keys", &public("other_key.pub"));
        let known = |n| format!("10.215.0.{n} {}", public("host_key.pub"));
        dir.file("known_hosts", &(1..=count).map(known).collect::<String>());
        let host = |n| format!("Host h{n}\n  HostName 10.215.0.{n}\n");
        let hosts: String = (1..=count).map(host).collect();
        let config = dir.file(
            "ssh_config",
            &format!(
                "{hosts}{more}Host *\n  User root\n  IdentitiesOnly yes\n  IdentityFile \
                 {0}/user_key\n  UserKnownHostsFile {0}/known_hosts\n  StrictHostKeyChecking yes\n",
                root.display()
            ),
        );
        // ssh reads the configuration of the user's real home.
        script(
            dir,
            "ssh",
            &format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", config.display()),
        );
        let network = Network::new(&format!("{name}-hub"));
        ip(&format!("-n {} link add bridge0 type bridge", network.name));
        ip(&format!("-n {} address add {HUB}/24 dev bridge0", network.name));
        ip(&format!("-n {} link set bridge0 up", network.name));
        // A shell starts background jobs with SIGINT ignored, which the program would inherit.
        let mut starter = network.command("env");
        starter.args([
            "--default-signal=INT",
            &format!("PATH={}", path_with_scripts(dir)),
            PROGRAM,
        ]);
        dir.enter(starter);
        Hub { network, root }
    }

    /// Starts the hosts `numbers`, whose sshd accepts the keys in this file, and waits until they listen.
    pub(crate) fn hosts(
        &self,
        name: &str,
        numbers: impl IntoIterator<Item = u8>,
        keys: &str,
    ) -> Vec<SshHost> {
        let numbers: Vec<u8> = numbers.into_iter().collect();
        let hosts = numbers.iter().map(|number| self.host(name, *number, keys)).collect();
        for number in numbers {
            wait_until_it_listens(&self.log(number));
        }
        hosts
    }

    fn log(&self, number: u8) -> PathBuf {
        self.root.join(format!("sshd-{number}.log"))
    }

    fn host(&self, name: &str, number: u8, keys: &str) -> SshHost {
        let network = Network::new(&format!("{name}-h{number}"));
        let (hub, of_host) = (&self.network.name, &network.name);
        ip(&format!("link add e0 netns {of_host} type veth peer name p{number} netns {hub}"));
        ip(&format!("-n {hub} link set p{number} master bridge0 up"));
        ip(&format!("-n {of_host} address add 10.215.0.{number}/24 dev e0"));
        ip(&format!("-n {of_host} link set e0 up"));
        let keys = self.root.join(keys).display().to_string();
        let key = self.root.join("host_key").display().to_string();
        // The namespace of processes ends every agent with its sshd, also where a network is cut.
        let mut sshd = network.command("unshare");
        sshd.args(["--pid", "--fork", "--kill-child", "--mount-proc", "/usr/sbin/sshd"]);
        sshd.args(["-f", "/dev/null", "-D", "-e", "-p", "22", "-h", &key]);
        for option in ["StrictModes=no", "UsePAM=no", "PidFile=none", "UseDNS=no", "MaxStartups=99"]
        {
            sshd.args(["-o", option]);
        }
        // A separate home: the shell of a connection executes the start files there, and those of the
        // user who runs the tests may take seconds.
        let home = self.root.join(format!("h{number}"));
        fs::create_dir_all(&home).expect("make a home");
        let variables = format!("SetEnv=FLEET_HOST=h{number} HOME={}", home.display());
        sshd.args(["-o", &variables]);
        sshd.args(["-o", &format!("AuthorizedKeysFile={keys}")]);
        let errors = fs::File::create(self.log(number)).expect("make a log");
        sshd.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let sshd = sshd.spawn().expect("start sshd (`cargo xtask check --install`)");
        SshHost { _sshd: Daemon(sshd), network }
    }
}

impl SshHost {
    /// A program on the host.
    pub(crate) fn command(&self, program: &str) -> Command {
        self.network.command(program)
    }

    /// The processes on the host whose command line ends with this word.
    fn processes(&self, last: &str) -> Vec<String> {
        let listed = Command::new("ip").args(["netns", "pids", &self.network.name]).output();
        let listed = listed.expect("start ip");
        let processes = String::from_utf8_lossy(&listed.stdout).into_owned();
        let is_it = |process: &&str| {
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let last_word = line.split(|byte| *byte == 0).rfind(|word| !word.is_empty());
            last.is_empty() || last_word == Some(last.as_bytes())
        };
        processes.lines().filter(is_it).map(str::to_owned).collect()
    }

    /// Sends a signal by its name to the agent.
    pub(crate) fn signal_agent(&self, name: &str) {
        let agents = self.processes("agent");
        // The shell of sshd execs the agent.
        let [agent] = &agents[..] else { panic!("one agent runs on the host: {agents:?}") };
        signal(agent, name);
    }

    /// Stops every process.
    pub(crate) fn freeze(&self) {
        for process in self.processes("") {
            signal(&process, "STOP");
        }
    }

    /// Takes the network away.
    pub(crate) fn cut(&self) {
        ip(&format!("-n {} link set e0 down", self.network.name));
    }

    /// Discards every packet to and from the host, as a firewall does: nothing is refused or reset.
    pub(crate) fn firewall(&self) {
        for chain in ["INPUT", "OUTPUT"] {
            let mut rule = self.command("iptables");
            let status = rule.args(["-A", chain, "-j", "DROP"]).status();
            let status = status.expect("start iptables (`cargo xtask check --install`)");
            assert!(status.success(), "{chain}");
        }
    }
}

fn signal(process: &str, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), process]).status();
    assert!(status.expect("start kill").success());
}

/// Waits until a daemon has written that it listens.
fn wait_until_it_listens(log: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    while !fs::read_to_string(log).unwrap_or_default().contains("Server listening") {
        assert!(Instant::now() < until, "{}", fs::read_to_string(log).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Makes a key without a passphrase.
fn key(path: &Path) {
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path);
    assert!(keygen.status().expect("start ssh-keygen").success());
}
