//! The hosts of `--hosts`: `ssh:vm[01-24]`, `@hosts.txt`, `slurm`, `kubectl:-l app=load`,
//! `exec:'docker exec -i {host}'`, `local:4`.
//!
//! The ranges in brackets are those of Slurm and of pdsh: `vm[01-03,7]` is vm01, vm02, vm03, vm7. Reads no
//! file itself: the caller passes the text of `@FILE` and the nodes of a Slurm allocation.

use std::collections::HashSet;

use crate::launch::Launcher;

/// More hosts are refused: a typing error in a range, not a fleet.
pub const HOSTS_MAX: usize = 10_000;

/// One host of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name, unique in the fleet, as messages and results show it.
    pub name: String,
    /// How its agent is started.
    pub launcher: Launcher,
}

/// One value of `--hosts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Hosts that are known by name.
    Hosts(Vec<Host>),
    /// The pods that `kubectl get pods ARGUMENTS` lists.
    Pods {
        /// The arguments, separated by blanks: `-n load -l app=load`.
        arguments: Vec<String>,
    },
}

/// What the caller knows about its surroundings.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Returns the text of a file.
    pub read_file: &'a dyn Fn(&str) -> Result<String, String>,
    /// The nodes of the Slurm allocation (`SLURM_JOB_NODELIST`), if there is one.
    pub slurm_nodes: Option<&'a str>,
}

/// Why a list of hosts is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    /// The word before the colon is not a launcher.
    #[error(
        "`{0}:` is not a way to start agents; use ssh:, slurm, kubectl:, exec: or local:, or @FILE \
         for a file with one of these on each line"
    )]
    UnknownLauncher(String),
    /// A name is empty, or a bracket is not closed or contains no range.
    #[error("`{0}` is not a list of hosts: write names and ranges as in vm[01-24],db1")]
    Malformed(String),
    /// `local:` without a number.
    #[error("`local:{0}` is not a number of agents from 1 to 1,000: write for example local:4")]
    LocalCount(String),
    /// `exec:` without names for `{host}`, or names that the command does not use.
    #[error(
        "`exec:{0}`: a command with {{host}} needs the names of the hosts: `--hosts 'exec:{0}' \
         --hosts a,b`"
    )]
    ExecWithoutNames(String),
    /// `slurm` outside of an allocation.
    #[error(
        "`slurm` needs an allocation: run fourcorners below `salloc` or `sbatch` (SLURM_JOB_NODELIST \
         is not set)"
    )]
    NoAllocation,
    /// A file cannot be read.
    #[error("read the hosts in {path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A host is named twice.
    #[error("host `{0}` is given twice; each host runs one agent")]
    Twice(String),
    /// Too many hosts.
    #[error("more than {HOSTS_MAX} hosts")]
    TooMany,
    /// No host.
    #[error("no hosts are given")]
    None,
}

/// Reads the values of `--hosts`.
///
/// # Errors
/// See [`HostListError`]; nothing was started.
pub fn parse(
    values: &[String],
    surroundings: Surroundings<'_>,
) -> Result<Vec<Entry>, HostListError> {
    let mut reader = Reader { surroundings, launcher: Launcher::Ssh, entries: Vec::new() };
    for value in values {
        reader.value(value)?;
    }
    reader.refuse_unused_exec()?;
    match reader.entries.is_empty() {
        true => Err(HostListError::None),
        false => Ok(reader.entries),
    }
}

/// Refuses hosts that occur twice, and too many.
///
/// # Errors
/// [`HostListError::Twice`], [`HostListError::TooMany`], [`HostListError::None`].
pub fn refuse_twice(hosts: &[Host]) -> Result<(), HostListError> {
    if hosts.is_empty() {
        return Err(HostListError::None);
    }
    if hosts.len() > HOSTS_MAX {
        return Err(HostListError::TooMany);
    }
    let mut names = HashSet::new();
    match hosts.iter().find(|host| !names.insert(host.name.as_str())) {
        Some(twice) => Err(HostListError::Twice(twice.name.clone())),
        None => Ok(()),
    }
}

struct Reader<'a> {
    surroundings: Surroundings<'a>,
    /// Starts the agents of names without a launcher.
    launcher: Launcher,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn value(&mut self, value: &str) -> Result<(), HostListError> {
        let value = value.trim();
        if let Some(path) = value.strip_prefix('@') {
            return self.file(path);
        }
        if value == "slurm" {
            let nodes = self.surroundings.slurm_nodes.ok_or(HostListError::NoAllocation)?;
            return self.hosts(nodes, &Launcher::Slurm);
        }
        let Some((word, rest)) = value.split_once(':') else {
            return self.hosts(value, &self.launcher.clone());
        };
        match word {
            "ssh" => {
                self.launcher = Launcher::Ssh;
                self.hosts(rest, &Launcher::Ssh)
            }
            "local" => self.local(rest),
            "exec" => self.exec(rest),
            "kubectl" => {
                let arguments = rest.split_whitespace().map(str::to_owned).collect();
                self.entries.push(Entry::Pods { arguments });
                Ok(())
            }
            // An IPv6 address, or a name with brackets that contain a colon.
            _ if !word.is_empty()
                && word.chars().all(|c| c.is_ascii_alphabetic())
                && !is_hex(word) =>
            {
                Err(HostListError::UnknownLauncher(word.to_owned()))
            }
            _ => self.hosts(value, &self.launcher.clone()),
        }
    }

    fn file(&mut self, path: &str) -> Result<(), HostListError> {
        let text = (self.surroundings.read_file)(path)
            .map_err(|reason| HostListError::File { path: path.to_owned(), reason })?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        for line in lines.filter(|line| !line.is_empty()) {
            if line.starts_with('@') {
                let reason = format!("`{line}`: a file of hosts cannot name another file");
                return Err(HostListError::File { path: path.to_owned(), reason });
            }
            self.value(line)?;
        }
        Ok(())
    }

    fn local(&mut self, count: &str) -> Result<(), HostListError> {
        let number: u32 = count
            .parse()
            .ok()
            .filter(|number| (1..=1_000).contains(number))
            .ok_or_else(|| HostListError::LocalCount(count.to_owned()))?;
        let host = |number| Host { name: format!("local-{number}"), launcher: Launcher::Local };
        self.entries.push(Entry::Hosts((1..=number).map(host).collect()));
        Ok(())
    }

    fn exec(&mut self, command: &str) -> Result<(), HostListError> {
        self.refuse_unused_exec()?;
        let launcher = Launcher::Exec { command: command.to_owned() };
        if command.trim().is_empty() {
            return Err(HostListError::Malformed("exec:".to_owned()));
        }
        if command.contains("{host}") {
            self.launcher = launcher;
            return Ok(());
        }
        self.entries.push(Entry::Hosts(vec![Host { name: command.to_owned(), launcher }]));
        Ok(())
    }

    /// A command with `{host}` whose names did not follow.
    fn refuse_unused_exec(&self) -> Result<(), HostListError> {
        let Launcher::Exec { command } = &self.launcher else { return Ok(()) };
        let uses = |host: &Host| host.launcher == self.launcher;
        let is_used = self.entries.iter().any(|entry| match entry {
            Entry::Hosts(hosts) => hosts.iter().any(uses),
            Entry::Pods { .. } => false,
        });
        match is_used {
            true => Ok(()),
            false => Err(HostListError::ExecWithoutNames(command.clone())),
        }
    }

    fn hosts(&mut self, list: &str, launcher: &Launcher) -> Result<(), HostListError> {
        let names = expand(list)?;
        let host = |name| Host { name, launcher: launcher.clone() };
        self.entries.push(Entry::Hosts(names.into_iter().map(host).collect()));
        Ok(())
    }
}

fn is_hex(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_hexdigit())
}

/// The names of a list with ranges: `vm[01-03],db1`.
///
/// # Errors
/// [`HostListError::Malformed`], [`HostListError::TooMany`].
pub fn expand(list: &str) -> Result<Vec<String>, HostListError> {
    let malformed = || HostListError::Malformed(list.to_owned());
    let mut names = Vec::new();
    for item in outside_brackets(list).ok_or_else(malformed)? {
        let before = names.len();
        let mut parts = vec![String::new()];
        let mut rest = item.as_str();
        while let Some((text, bracket)) = rest.split_once('[') {
            let (ranges, after) = bracket.split_once(']').ok_or_else(malformed)?;
            let values = range_values(ranges).ok_or_else(malformed)?;
            if parts.len().saturating_mul(values.len()) > HOSTS_MAX {
                return Err(HostListError::TooMany);
            }
            parts = parts
                .iter()
                .flat_map(|part| values.iter().map(move |value| format!("{part}{text}{value}")))
                .collect();
            rest = after;
        }
        names.extend(parts.into_iter().map(|part| part + rest));
        let is_name = |name: &String| {
            !name.is_empty()
                && !name.starts_with('-')
                && !name.chars().any(|c| c.is_whitespace() || c.is_control() || "[]'\"".contains(c))
        };
        if !names[before..].iter().all(is_name) {
            return Err(malformed());
        }
        if names.len() > HOSTS_MAX {
            return Err(HostListError::TooMany);
        }
    }
    Ok(names)
}

/// The items between commas that are not in brackets; `None` if brackets are not balanced.
fn outside_brackets(list: &str) -> Option<Vec<String>> {
    let mut items = vec![String::new()];
    let mut is_open = false;
    for c in list.chars() {
        match c {
            '[' if is_open => return None,
            '[' => is_open = true,
            ']' if !is_open => return None,
            ']' => is_open = false,
            ',' if !is_open => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut()?.push(c);
    }
    (!is_open).then(|| items.into_iter().map(|item| item.trim().to_owned()).collect())
}

/// `01-03,7` is 01, 02, 03, 7; numbers keep the width of the range's first.
fn range_values(ranges: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        if !is_number(first) || !is_number(last) {
            return None;
        }
        let (low, high): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if low > high || high - low >= HOSTS_MAX as u64 {
            return None;
        }
        let width = first.len();
        values.extend((low..=high).map(|number| format!("{number:0width$}")));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Result<Vec<Entry>, HostListError> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let read_file = |path: &str| match path {
            "hosts.txt" => Ok("# the fleet\nssh:vm[1-2]\n\nvm9  # added later\n".to_owned()),
            "loop.txt" => Ok("@hosts.txt\n".to_owned()),
            _ => Err("No such file".to_owned()),
        };
        parse(&values, Surroundings { read_file: &read_file, slurm_nodes: Some("n[1-3]") })
    }

    fn hosts(values: &[&str]) -> Vec<(String, Launcher)> {
        let entries = read(values).unwrap_or_else(|error| panic!("{values:?}: {error}"));
        let hosts = entries.into_iter().flat_map(|entry| match entry {
            Entry::Hosts(hosts) => hosts,
            Entry::Pods { .. } => Vec::new(),
        });
        hosts.map(|host| (host.name, host.launcher)).collect()
    }

    fn names(values: &[&str]) -> Vec<String> {
        hosts(values).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn ranges_keep_their_width_and_multiply() {
        assert_eq!(names(&["ssh:vm[08-11]"]), ["vm08", "vm09", "vm10", "vm11"]);
        assert_eq!(names(&["ssh:r[1-2]n[1,3]x,db1"]), ["r1n1x", "r1n3x", "r2n1x", "r2n3x", "db1"]);
        assert_eq!(
            names(&["root@vm[1-2].example.com"]),
            ["root@vm1.example.com", "root@vm2.example.com"]
        );
        assert_eq!(names(&["slurm"]), ["n1", "n2", "n3"]);
        assert_eq!(names(&["local:2"]), ["local-1", "local-2"]);
        assert_eq!(names(&["fe80::1"]), ["fe80::1"]);
    }

    #[test]
    fn a_file_has_one_value_on_each_line_with_comments() {
        assert_eq!(names(&["@hosts.txt"]), ["vm1", "vm2", "vm9"]);
        assert!(matches!(read(&["@loop.txt"]), Err(HostListError::File { .. })));
        let missing = read(&["@none"]).unwrap_err().to_string();
        assert_eq!(missing, "read the hosts in none: No such file");
    }

    #[test]
    fn names_belong_to_the_last_command_that_needs_them() {
        let exec = Launcher::Exec { command: "docker exec -i {host}".to_owned() };
        assert_eq!(
            hosts(&["exec:docker exec -i {host}", "a,b"]),
            [("a".to_owned(), exec.clone()), ("b".to_owned(), exec)]
        );
        assert_eq!(hosts(&["vm1"]), [("vm1".to_owned(), Launcher::Ssh)]);
        let whole = Launcher::Exec { command: "chroot /srv/a".to_owned() };
        assert_eq!(hosts(&["exec:chroot /srv/a"]), [("chroot /srv/a".to_owned(), whole)]);
        let arguments = ["-n", "load", "-l", "app=load"].map(str::to_owned).to_vec();
        assert_eq!(read(&["kubectl:-n load -l app=load"]), Ok(vec![Entry::Pods { arguments }]));
    }

    #[test]
    fn what_is_not_a_list_is_refused() {
        for (value, part) in [
            ("shs:vm1", "`shs:` is not a way"),
            ("ssh:vm[1-", "is not a list"),
            ("ssh:vm[3-1]", "is not a list"),
            ("ssh:vm[a-c]", "is not a list"),
            ("ssh:a,,b", "is not a list"),
            ("ssh:", "is not a list"),
            ("ssh:-oProxyCommand=x", "is not a list"),
            ("local:0", "1 to 1,000"),
            ("local:x", "1 to 1,000"),
            ("exec:docker exec -i {host}", "needs the names"),
            ("exec: ", "is not a list"),
            ("ssh:a[1-200]b[1-200]", "more than 10000"),
        ] {
            let text = read(&[value]).expect_err(value).to_string();
            assert!(text.contains(part), "{value}: {text}");
        }
        assert_eq!(read(&[]), Err(HostListError::None));
        let outside = Surroundings { read_file: &|_| Ok(String::new()), slurm_nodes: None };
        assert_eq!(parse(&["slurm".to_owned()], outside), Err(HostListError::NoAllocation));
        let host = |name: &str| Host { name: name.to_owned(), launcher: Launcher::Ssh };
        let twice = refuse_twice(&[host("a"), host("b"), host("a")]);
        assert_eq!(twice, Err(HostListError::Twice("a".to_owned())));
    }
}
