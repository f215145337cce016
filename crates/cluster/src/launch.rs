//! How an agent is started on a host: the command whose standard input and output are the pipe.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::host_list::Host;

/// Seconds after which ssh gives up connecting, and after which it gives up a host that does not answer.
const SSH_CONNECT_S: u32 = 8;
/// Seconds between two signs of life of ssh; three may be missed.
const SSH_ALIVE_S: u32 = 2;

/// What starts an agent on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// The system's ssh, with the user's configuration. Never asks for a password.
    Ssh,
    /// `srun` in the current allocation.
    Slurm,
    /// `kubectl exec`.
    Kubectl {
        /// Arguments that select the cluster and the namespace: `-n load`.
        arguments: Vec<String>,
    },
    /// Any command that runs a program on the host with a pipe: `docker exec -i {host}`.
    Exec {
        /// The command as in a shell; `{host}` is the host's name.
        command: String,
    },
    /// This host.
    Local,
}

/// The program that agents are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProgram {
    /// Its path on the hosts, or a name that is looked up there.
    pub on_hosts: String,
    /// Its path on this host.
    pub here: String,
    /// Copied to the hosts first, instead of `on_hosts`.
    pub copy: Option<Copy>,
}

/// The program as a file that is copied to hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Its content.
    pub bytes: Arc<[u8]>,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// What the script of a copy prints before the agent starts, if the file is on the host.
pub(crate) const PRESENT: &str = "fourcorners: present";
/// The same, if the content has to be sent.
pub(crate) const SEND: &str = "fourcorners: send";

impl Copy {
    /// A POSIX shell script that keeps the file in the user's cache and starts the agent. The content
    /// arrives on standard input, before the first message.
    fn script(&self) -> String {
        let (sha256, size_bytes) = (&self.sha256, self.bytes.len());
        let name = &sha256[..sha256.len().min(16)];
        format!(
            "d=${{XDG_CACHE_HOME:-$HOME/.cache}}/fourcorners; f=$d/agent-{name}; \
             same() {{ [ \"$(sha256sum < \"$1\" | cut -c1-64)\" = {sha256} ]; }}; \
             if [ -x \"$f\" ] && same \"$f\"; then echo '{PRESENT}'; \
             else mkdir -p \"$d\" && echo '{SEND}' && head -c {size_bytes} > \"$f.$$\" && \
             same \"$f.$$\" && chmod 700 \"$f.$$\" && mv \"$f.$$\" \"$f\" || \
             {{ rm -f \"$f.$$\"; echo 'the copy of fourcorners is incomplete' >&2; exit 1; }}; fi; \
             exec \"$f\" agent"
        )
    }
}

impl AgentProgram {
    /// The command on the host, as words.
    fn words(&self) -> Vec<String> {
        match &self.copy {
            None => [self.on_hosts.as_str(), "agent"].map(owned).to_vec(),
            Some(copy) => ["sh", "-c", &copy.script()].map(owned).to_vec(),
        }
    }

    /// The same as a line of a shell.
    fn line(&self) -> String {
        self.words().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

impl Launcher {
    /// The program to execute and its arguments.
    pub fn command(&self, host: &Host, agent: &AgentProgram) -> Vec<String> {
        let name = host.name.as_str();
        match self {
            Launcher::Ssh => {
                let alive = format!("ServerAliveInterval={SSH_ALIVE_S}");
                let connect = format!("ConnectTimeout={SSH_CONNECT_S}");
                let remote = format!("exec {}", agent.line());
                let options = ["BatchMode=yes", &connect, &alive, "ServerAliveCountMax=3"];
                let options = options.iter().flat_map(|option| ["-o", option]);
                ["ssh", "-T"].into_iter().chain(options).chain([name, &remote]).map(owned).collect()
            }
            Launcher::Slurm => {
                let node = format!("--nodelist={name}");
                let fixed =
                    ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet", "--unbuffered"];
                let srun = fixed.into_iter().chain([node.as_str()]).map(owned);
                srun.chain(agent.words()).collect()
            }
            Launcher::Kubectl { arguments } => {
                let exec = ["exec", "-i", name, "--"].map(owned);
                let kubectl = [owned("kubectl")].into_iter().chain(arguments.iter().cloned());
                kubectl.chain(exec).chain(agent.words()).collect()
            }
            Launcher::Exec { command } => {
                let command = command.replace("{host}", &quoted(name));
                let line = format!("exec {command} {}", agent.line());
                ["sh", "-c", &line].map(owned).to_vec()
            }
            Launcher::Local => [agent.here.as_str(), "agent", "--same-file"].map(owned).to_vec(),
        }
    }

    /// Whether `agent` is copied to such a host.
    pub fn copies(&self, agent: &AgentProgram) -> bool {
        agent.copy.is_some() && *self != Launcher::Local
    }

    /// What to do about a command that ended with `code` and these last words on standard error, before its
    /// agent sent a hello.
    pub fn remedy(&self, host: &str, code: Option<i32>, last_words: &str) -> Option<String> {
        let has = |part: &str| last_words.contains(part);
        Some(match self {
            Launcher::Ssh if has("Permission denied") => {
                format!(
                    "let `ssh {host}` work without a password: a key and an agent, or ssh-copy-id"
                )
            }
            Launcher::Ssh if has("Host key verification failed") => {
                format!("run `ssh {host}` once and accept the host's key")
            }
            Launcher::Ssh if has("Could not resolve") => {
                "check the name, or define it in ~/.ssh/config".to_owned()
            }
            Launcher::Ssh if code == Some(255) => format!("check that `ssh {host} true` works"),
            _ if code == Some(127) || has("not found") => {
                "install fourcorners on the host, name its path there with --agent, or copy it with \
                 --push"
                    .to_owned()
            }
            _ => return None,
        })
    }

    /// What the user can do about a command that ended after its agent had connected. `None` if its last
    /// words are reason enough.
    pub fn remedy_when_connected(
        &self,
        host: &str,
        code: Option<i32>,
        last_words: &str,
    ) -> Option<String> {
        // ssh ends with 255 if a signal ended the remote command, without a word, and if the connection broke.
        match (self, code) {
            (Launcher::Ssh, Some(255)) if last_words.trim().is_empty() => Some(format!(
                "its agent was killed: look for the kernel's out-of-memory killer with `ssh {host} dmesg`"
            )),
            (Launcher::Ssh, Some(255)) => Some(format!(
                "check the network to the host, and whether it restarted: `ssh {host} uptime`"
            )),
            _ => None,
        }
    }
}

impl fmt::Display for Launcher {
    /// As it is stored with a record; [`Launcher::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Launcher::Ssh => f.write_str("ssh"),
            Launcher::Slurm => f.write_str("slurm"),
            Launcher::Local => f.write_str("local"),
            Launcher::Kubectl { arguments } => write!(f, "kubectl:{}", arguments.join(" ")),
            Launcher::Exec { command } => write!(f, "exec:{command}"),
        }
    }
}

/// A stored launcher that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a launcher that this version of fourcorners knows")]
pub struct UnknownLauncher(String);

impl FromStr for Launcher {
    type Err = UnknownLauncher;

    fn from_str(text: &str) -> Result<Launcher, UnknownLauncher> {
        Ok(match (text, text.split_once(':')) {
            ("ssh", _) => Launcher::Ssh,
            ("slurm", _) => Launcher::Slurm,
            ("local", _) => Launcher::Local,
            (_, Some(("kubectl", arguments))) => {
                Launcher::Kubectl { arguments: arguments.split_whitespace().map(owned).collect() }
            }
            (_, Some(("exec", command))) => Launcher::Exec { command: command.to_owned() },
            _ => return Err(UnknownLauncher(text.to_owned())),
        })
    }
}

fn owned(word: &str) -> String {
    word.to_owned()
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-@:+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(launcher: Launcher, name: &str, program: &str) -> String {
        let host = Host { name: name.to_owned(), launcher: launcher.clone() };
        let here = "/here/fourcorners".to_owned();
        let agent = AgentProgram { on_hosts: program.to_owned(), here, copy: None };
        launcher.command(&host, &agent).join("|")
    }

    #[test]
    fn each_launcher_runs_the_agent_with_a_pipe() {
        assert_eq!(
            line(Launcher::Ssh, "vm01", "fourcorners"),
            "ssh|-T|-o|BatchMode=yes|-o|ConnectTimeout=8|-o|ServerAliveInterval=2|-o|\
             ServerAliveCountMax=3|vm01|exec fourcorners agent"
        );
        assert_eq!(
            line(Launcher::Slurm, "n1", "/opt/fourcorners"),
            "srun|--nodes=1|--ntasks=1|--overlap|--quiet|--unbuffered|--nodelist=n1|\
             /opt/fourcorners|agent"
        );
        let arguments = vec!["-n".to_owned(), "load".to_owned()];
        assert_eq!(
            line(Launcher::Kubectl { arguments }, "load-7", "fourcorners"),
            "kubectl|-n|load|exec|-i|load-7|--|fourcorners|agent"
        );
        let command = "docker exec -i {host}".to_owned();
        assert_eq!(
            line(Launcher::Exec { command }, "a;b", "/opt/my tools/fourcorners"),
            "sh|-c|exec docker exec -i 'a;b' '/opt/my tools/fourcorners' agent"
        );
        // Many agents on one host need not hash the file that they share with the controller.
        let local = line(Launcher::Local, "local-1", "x");
        assert_eq!(local, "/here/fourcorners|agent|--same-file");
    }

    #[test]
    fn a_copy_is_started_by_a_script_that_checks_its_content() {
        let copy = Copy { bytes: Arc::from(&b"12345"[..]), sha256: "ab".repeat(32) };
        let agent = AgentProgram {
            on_hosts: "fourcorners".to_owned(),
            here: "/here/fourcorners".to_owned(),
            copy: Some(copy),
        };
        let host = Host { name: "vm01".to_owned(), launcher: Launcher::Ssh };
        let command = host.launcher.command(&host, &agent);
        let remote = command.last().expect("a command");
        assert!(remote.starts_with("exec sh -c 'd=") && remote.ends_with(" agent'"), "{remote}");
        assert!(remote.contains("head -c 5 ") && remote.contains(&"ab".repeat(32)), "{remote}");
        assert!(Launcher::Ssh.copies(&agent) && !Launcher::Local.copies(&agent));
    }

    #[test]
    fn every_launcher_reads_back_as_it_is_stored() {
        for launcher in [
            Launcher::Ssh,
            Launcher::Slurm,
            Launcher::Local,
            Launcher::Kubectl { arguments: ["-n", "load"].map(str::to_owned).to_vec() },
            Launcher::Kubectl { arguments: Vec::new() },
            Launcher::Exec { command: "docker exec -i {host}: x".to_owned() },
        ] {
            assert_eq!(launcher.to_string().parse(), Ok(launcher));
        }
        assert!("pigeon".parse::<Launcher>().is_err());
    }

    #[test]
    fn known_failures_have_a_remedy() {
        let ssh = |code, words| Launcher::Ssh.remedy("vm1", Some(code), words).expect("a remedy");
        assert!(ssh(255, "root@vm1: Permission denied (publickey).").contains("ssh-copy-id"));
        assert!(ssh(255, "Host key verification failed.").contains("accept"));
        assert!(ssh(255, "Connection refused").contains("`ssh vm1 true`"));
        assert!(ssh(127, "fourcorners: command not found").contains("--agent"));
        assert_eq!(Launcher::Local.remedy("local-1", Some(3), ""), None);
    }

    #[test]
    fn an_end_after_the_connection_worked_is_not_blamed_on_ssh() {
        let remedy = |launcher: Launcher, code, words| {
            launcher.remedy_when_connected("vm1", Some(code), words)
        };
        let killed = remedy(Launcher::Ssh, 255, "").expect("a remedy");
        assert!(killed.contains("`ssh vm1 dmesg`"), "{killed}");
        let cut = remedy(Launcher::Ssh, 255, "Timeout, server vm1 not responding.\r\n");
        assert!(cut.as_ref().is_some_and(|cut| cut.contains("`ssh vm1 uptime`")), "{cut:?}");
        assert_eq!(remedy(Launcher::Ssh, 101, "thread 'main' panicked"), None);
        assert_eq!(remedy(Launcher::Local, 255, ""), None);
    }
}
