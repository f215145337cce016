//! How an agent is started on a host: the command whose standard input and output are the pipe.

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
}

impl Launcher {
    /// The program to execute and its arguments.
    pub fn command(&self, host: &Host, agent: &AgentProgram) -> Vec<String> {
        let program = agent.on_hosts.as_str();
        let name = host.name.as_str();
        let words: Vec<String> = match self {
            Launcher::Ssh => {
                let alive = format!("ServerAliveInterval={SSH_ALIVE_S}");
                let connect = format!("ConnectTimeout={SSH_CONNECT_S}");
                let remote = format!("exec {} agent", quoted(program));
                let options = ["BatchMode=yes", &connect, &alive, "ServerAliveCountMax=3"];
                let options = options.iter().flat_map(|option| ["-o", option]);
                ["ssh", "-T"].into_iter().chain(options).chain([name, &remote]).map(owned).collect()
            }
            Launcher::Slurm => {
                let node = format!("--nodelist={name}");
                let fixed =
                    ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet", "--unbuffered"];
                fixed.into_iter().chain([node.as_str(), program, "agent"]).map(owned).collect()
            }
            Launcher::Kubectl { arguments } => {
                let arguments = arguments.iter().map(String::as_str);
                let exec = ["exec", "-i", name, "--", program, "agent"];
                ["kubectl"].into_iter().chain(arguments).chain(exec).map(owned).collect()
            }
            Launcher::Exec { command } => {
                let command = command.replace("{host}", &quoted(name));
                let line = format!("exec {command} {} agent", quoted(program));
                ["sh", "-c", &line].map(owned).to_vec()
            }
            Launcher::Local => [agent.here.as_str(), "agent"].map(owned).to_vec(),
        };
        words
    }

    /// What to do about a command that ended with `code` and these last words on standard error.
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
                "install fourcorners on the host, or name its path there with --agent".to_owned()
            }
            _ => return None,
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
        let agent =
            AgentProgram { on_hosts: program.to_owned(), here: "/here/fourcorners".to_owned() };
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
        assert_eq!(line(Launcher::Local, "local-1", "x"), "/here/fourcorners|agent");
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
}
