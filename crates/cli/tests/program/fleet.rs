//! `--hosts`: agents on several hosts, through real sshd in network namespaces and through stand-ins for
//! srun and kubectl. Requires root, as in CI.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fleet_runs::{SHORT, events};
use crate::harness::{Ended, TestDir};
use crate::ssh_hosts::{Hub, PROGRAM, path_with_scripts, script};

/// Runs the program with the scripts of the test first in PATH.
fn with_scripts(dir: &TestDir, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = dir.command(arguments);
    command.env("PATH", path_with_scripts(dir));
    command.envs(variables.iter().copied());
    ended(&mut command)
}

/// Runs a command to its end.
fn ended(command: &mut Command) -> Ended {
    let output = command.output().expect("start the program");
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", ended.stdout, ended.stderr))
}

fn host<'a>(checked: &'a Value, name: &str) -> &'a Value {
    let hosts = checked["hosts"].as_array().expect("hosts are a list");
    hosts.iter().find(|host| host["name"] == name).unwrap_or_else(|| panic!("no {name}: {checked}"))
}

#[test]
fn agents_on_this_host_agree_and_their_clock_is_this_one() {
    let dir = TestDir::new();
    let ended = dir.run(&["check", "target", "--hosts", "local:3", "--json"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let checked = json(&ended);
    assert_eq!(checked["hosts"].as_array().map(Vec::len), Some(3));
    assert_eq!(checked["differences"], Value::Array(Vec::new()));
    for name in ["local-1", "local-2", "local-3"] {
        let host = host(&checked, name);
        assert_eq!(host["error"], Value::Null);
        let ahead = host["clock_ahead_s"].as_f64().expect("a number");
        let error = host["clock_error_s"].as_f64().expect("a number");
        // The wall clock may be adjusted meanwhile, by far less than this.
        assert!(ahead.abs() <= error + 0.01, "{ahead} +- {error}");
        assert_eq!(host["check"]["subject"], "target");
    }
    let text = dir.run(&["check", "--hosts", "local:2"]).stdout;
    assert!(text.starts_with("2 hosts: ") && text.contains("equal settings"), "{text}");
}

#[test]
fn a_host_that_does_not_answer_is_named_with_the_reason() {
    let dir = TestDir::new();
    let arguments =
        ["check", "--hosts", "local:1", "--hosts", "exec:false", "--hosts", "exec:echo hello"];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    for words in ["3 hosts: 2 not reached", "false: its agent ended", "login script must not"] {
        let unwrapped = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(words), "`{words}` in\n{}", ended.stdout);
    }
    // A path that does not exist on the hosts is their answer, and equal answers are one.
    let ended = dir.run(&["check", "/no/such/path", "--hosts", "local:2"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stdout.contains("local-1, local-2: "), "{}", ended.stdout);
    assert!(!ended.stdout.contains("no problems"), "nothing was checked: {}", ended.stdout);
}

#[test]
fn lists_that_are_no_hosts_are_refused_before_anything_is_started() {
    let dir = TestDir::new();
    for (hosts, words) in [
        ("shs:vm1", "is not a way to start agents"),
        ("ssh:vm[3-1]", "is not a list of hosts"),
        ("local:0", "from 1 to 1,000"),
        ("slurm", "needs an allocation"),
        ("@missing.txt", "read the hosts in missing.txt"),
        ("ssh:a,b,a", "`a` is given twice"),
        ("exec:docker exec -i {host}", "needs the names of the hosts"),
    ] {
        let ended = dir.run(&["check", "--hosts", hosts]);
        assert_eq!(ended.code, Some(2), "{hosts}: {}", ended.stdout);
        assert!(ended.stderr.contains(words), "{hosts}: {}", ended.stderr);
    }
    let ended = dir.run(&["check", "--hosts", "local:2", "--root", "captured"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("a captured host has no agent"), "{}", ended.stderr);
    let ended = dir.run(&["check", "--hosts", "local:2", "--format", "md"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("use text or json"), "{}", ended.stderr);
}

#[test]
fn a_closed_pipe_ends_an_agent_and_other_input_is_refused() {
    let dir = TestDir::new();
    // Standard input is /dev/null.
    assert_eq!(dir.run(&["agent"]).code, Some(0));
    dir.file("text", "hello, agent\n");
    let mut command = dir.command(&["agent"]);
    command.stdin(fs::File::open(dir.path().join("text")).expect("open the input"));
    let output = command.output().expect("start the agent");
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("hello, agent"), "{words}");
}

#[test]
fn srun_and_kubectl_get_their_arguments_and_commands_their_host() {
    let dir = TestDir::new();
    let log = dir.path().join("log").display().to_string();
    // Options end where the program begins.
    let srun = format!(
        "#!/bin/sh\necho \"srun $*\" >> {log}\nwhile [ \"${{1#--}}\" != \"$1\" ]; do shift; done\nexec \"$@\"\n"
    );
    script(&dir, "srun", &srun);
    let kubectl = format!(
        "#!/bin/sh\necho \"kubectl $*\" >> {log}\n\
         case \" $* \" in *\" get pods \"*) echo pod/load-0; echo pod/load-1; exit;; esac\n\
         while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n"
    );
    script(&dir, "kubectl", &kubectl);
    let relay = format!("#!/bin/sh\necho \"relay $1\" >> {log}\nshift\nexec \"$@\"\n");
    script(&dir, "relay", &relay);
    let arguments = [
        "check",
        "--json",
        "--agent",
        PROGRAM,
        "--hosts",
        "slurm",
        "--hosts",
        "kubectl:-n load -l app=load",
        "--hosts",
        "exec:relay {host}",
        "--hosts",
        "a,b",
    ];
    let ended = with_scripts(&dir, &arguments, &[("SLURM_JOB_NODELIST", "n[1-2]")]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}\n{}", ended.stdout, ended.stderr);
    let checked = json(&ended);
    for name in ["n1", "n2", "load-0", "load-1", "a", "b"] {
        assert_eq!(host(&checked, name)["error"], Value::Null);
    }
    let log = fs::read_to_string(log).expect("the scripts were called");
    for line in [
        "kubectl get pods -n load -l app=load --field-selector=status.phase=Running -o name"
            .to_owned(),
        format!("kubectl -n load exec -i load-1 -- {PROGRAM} agent"),
        format!(
            "srun --nodes=1 --ntasks=1 --overlap --quiet --unbuffered --nodelist=n2 {PROGRAM} agent"
        ),
        "relay b".to_owned(),
    ] {
        assert!(log.lines().any(|logged| logged == line), "`{line}` in\n{log}");
    }
}

/// A real controller and three daemons of Slurm.
#[test]
fn an_allocation_of_slurm_is_a_fleet() {
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let nodes = dir.path().join("slurm");
    fs::create_dir(&nodes).expect("make a folder");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "sh"]);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/slurm.sh")).arg(&nodes);
    let script = "\"$0\" check --json --hosts slurm --agent \"$0\" > check.json; \"$0\" run \"$1\" -w short.toml \
         --hosts slurm --agent \"$0\" --events jsonl";
    command.args(["sh", "-c", script, PROGRAM]).arg(dir.target());
    command.current_dir(dir.path()).env("HOME", dir.path()).stdin(Stdio::null());
    command.env("FOURCORNERS_STORE", dir.store());
    let ended = ended(&mut command);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    let checked = fs::read_to_string(dir.path().join("check.json")).expect("`check` was started");
    let checked: Value = serde_json::from_str(&checked).expect("JSON");
    for name in ["n1", "n2", "n3"] {
        assert_eq!(host(&checked, name)["error"], Value::Null);
    }
    assert_eq!(checked["differences"], Value::Array(Vec::new()));
    assert!(ended.stderr.contains("3 hosts, started within"), "{}", ended.stderr);
    let started = events(&ended.stdout);
    let started = started.iter().filter(|event| event["event"] == "host_started");
    assert_eq!(started.count(), 3, "{}", ended.stdout);
}

#[test]
fn the_program_is_copied_once_and_a_damaged_copy_is_replaced() {
    let dir = TestDir::new();
    for host in ["a", "b"] {
        fs::create_dir(dir.path().join(host)).expect("make a home");
    }
    // Each host has a separate home.
    let home = format!("exec:env -u XDG_CACHE_HOME HOME={}/{{host}}", dir.path().display());
    let arguments = ["check", "--json", "--push", "--hosts", &home, "--hosts", "a,b"];
    let copies = |host: &str| {
        let folder = dir.path().join(host).join(".cache/fourcorners");
        let files = fs::read_dir(folder).expect("the program's folder");
        files.map(|file| file.expect("an entry").path()).collect::<Vec<_>>()
    };
    let file = |path: &Path| fs::metadata(path).expect("a file");
    for round in 0..3 {
        let before = (round > 0).then(|| file(&copies("a")[0]).ino());
        if round == 2 {
            fs::write(&copies("b")[0], "damaged").expect("damage the copy");
        }
        let ended = dir.run(&arguments);
        assert!(matches!(ended.code, Some(0 | 1)), "{}\n{}", ended.stdout, ended.stderr);
        let checked = json(&ended);
        for name in ["a", "b"] {
            assert_eq!(host(&checked, name)["error"], Value::Null);
            let [copy] = &copies(name)[..] else { panic!("{:?}", copies(name)) };
            assert_eq!(file(copy).len(), file(Path::new(PROGRAM)).len());
        }
        if let Some(before) = before {
            assert_eq!(file(&copies("a")[0]).ino(), before, "it was there");
        }
    }
}

#[test]
fn another_build_of_the_same_version_is_refused() {
    let dir = TestDir::new();
    let other = dir.path().join("other");
    let mut program = fs::read(PROGRAM).expect("read the program");
    // The header of the note with the build ID (elf(5), `NT_GNU_BUILD_ID`), which follows it.
    let header = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let start = &program[..1 << 16];
    let at = start.windows(header.len()).position(|bytes| bytes == header).expect("a build ID");
    program[at + header.len()] ^= 1;
    fs::write(&other, program).expect("write the copy");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("make it executable");
    let other = other.display().to_string();
    let hosts = ["--hosts", "exec:env NAME={host}", "--hosts", "a", "--agent", &other];
    let ended = dir.run(&[&["run", "null:", "--hosts", "local:1"][..], &hosts].concat());
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("error: a: it runs another build of fourcorners "), "{words}");
    assert!(words.contains("or copy it with --push"), "{words}");
    assert!(!dir.store().join("runs").exists(), "nothing was measured");
}

/// The program with these limits of open files (`prlimit` of util-linux).
fn with_open_files(dir: &TestDir, limits: &str, arguments: &[&str]) -> Ended {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={limits}")).arg(PROGRAM).args(arguments);
    ended(command.current_dir(dir.path()).env("HOME", dir.path()).stdin(Stdio::null()))
}

#[test]
fn the_limit_of_open_files_is_raised_for_the_hosts_or_they_are_refused() {
    let dir = TestDir::new();
    let arguments = ["check", "--json", "--hosts", "local:10"];
    let refused = with_open_files(&dir, "80:80", &arguments);
    assert_eq!(refused.code, Some(2), "{}\n{}", refused.stdout, refused.stderr);
    let words = refused.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("10 hosts need 94 open files"), "{words}");
    assert!(words.contains("ulimit -n 94"), "{words}");
    let raised = with_open_files(&dir, "80:4096", &arguments);
    let checked = json(&raised);
    assert_eq!(host(&checked, "local-10")["error"], Value::Null, "{}", raised.stderr);
}

/// Bound for the whole command: ssh gives up after 8 s, and nothing is silent for longer than 10 s.
const ALL_NAMED_WITHIN: Duration = Duration::from_secs(25);

#[test]
fn over_ssh_differences_are_found_and_every_fault_is_named_with_its_host() {
    let mut dir = TestDir::new();
    let hub = Hub::new(&mut dir, "check", 5, "");
    let hosts = hub.hosts("check", [1, 2, 5], "keys");
    let [_first, second, frozen] = &hosts[..] else { panic!("three hosts") };
    let _refusing = hub.hosts("check", [3], "other_keys");
    // Per namespace, as on a host.
    let mut sysctl = second.command("sysctl");
    let changed = sysctl.args(["-q", "-w", "net.ipv4.tcp_window_scaling=0"]).status();
    assert!(changed.expect("start sysctl").success());
    frozen.freeze();

    let begun = Instant::now();
    let arguments = ["check", "--json", "--agent", PROGRAM, "--hosts", "ssh:h[1-5]"];
    let ended = with_scripts(&dir, &arguments, &[]);
    let took = begun.elapsed();
    assert_eq!(ended.code, Some(3), "{}\n{}", ended.stdout, ended.stderr);
    assert!(took < ALL_NAMED_WITHIN, "{took:?}");
    let checked = json(&ended);
    for name in ["h1", "h2"] {
        assert_eq!(host(&checked, name)["error"], Value::Null);
    }
    let error = |name: &str| host(&checked, name)["error"].as_str().expect("an error").to_owned();
    assert!(error("h3").contains("Permission denied"), "{}", error("h3"));
    assert!(error("h3").contains("ssh-copy-id"), "{}", error("h3"));
    // There is no host at this address.
    let unreachable =
        ["No route to host", "timed out"].iter().any(|words| error("h4").contains(words));
    assert!(unreachable, "{}", error("h4"));
    // A frozen sshd accepts the connection and says nothing.
    assert!(error("h5").contains("timed out"), "{}", error("h5"));
    let differences = checked["differences"].as_array().expect("a list");
    let found = differences.iter().find(|one| one["fact"] == "tcp.window_scaling");
    let values = &found.unwrap_or_else(|| panic!("{checked}"))["values"];
    let hosts_with = |value: &str| {
        let values = values.as_array().expect("a list").iter();
        let one = values.clone().find(|one| one["value"] == value);
        one.map(|one| one["hosts"].clone())
    };
    assert_eq!(hosts_with("1"), Some(serde_json::json!(["h1"])));
    assert_eq!(hosts_with("0"), Some(serde_json::json!(["h2"])));
}
