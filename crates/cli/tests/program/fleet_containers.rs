//! `--hosts kubectl:` with the real client, against a stand-in for the API, and `--hosts exec:` with real containers
//! of podman. Requires root, as in CI.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::{Value, json};

use crate::fleet_runs::{SHORT, events, number, sums};
use crate::harness::TestDir;
use crate::ssh_hosts::PROGRAM;
use crate::volumes::Served;

/// Why the stand-in starts nothing.
const REASON: &str = "the stand-in has no containers";

/// An API of Kubernetes with two pods, in which nothing can be started.
struct StandIn {
    port: u16,
    /// Method and target of each request.
    requests: Receiver<String>,
}

impl StandIn {
    /// Its threads end with the test program.
    fn start() -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
        let port = listener.local_addr().expect("an address").port();
        let (send, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let send = send.clone();
                thread::spawn(move || serve(&stream, &send));
            }
        });
        StandIn { port, requests }
    }
}

/// Answers the requests of a connection until the client closes it.
fn serve(stream: &TcpStream, log: &Sender<String>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim_end().to_ascii_lowercase();
            match header.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().ok()?,
                None if header.is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request = first.rsplit_once(' ')?.0;
        log.send(request.to_owned()).ok()?;
        let (_, target) = request.split_once(' ')?;
        let (status, answer) = answer(target.split('?').next()?);
        let body = answer.to_string();
        let mut stream = stream;
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: \
             {}\r\n\r\n{body}",
            body.len()
        )
        .ok()?;
    }
}

/// Status and body for the path of a request.
fn answer(path: &str) -> (&'static str, Value) {
    let failure = |code: u16| {
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": REASON,
            "reason": "Forbidden", "code": code})
    };
    let pod = |name: &str| {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "load"},
            "spec": {"containers": [{"name": "agent"}]}, "status": {"phase": "Running"}})
    };
    let answer = match path {
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/apis" => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}),
        "/api/v1" => json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
            {"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod",
                "verbs": ["get", "list"]},
        ]}),
        "/api/v1/namespaces/load/pods" => json!({"kind": "PodList", "apiVersion": "v1",
            "metadata": {}, "items": [pod("load-0"), pod("load-1")]}),
        _ => match path.strip_prefix("/api/v1/namespaces/load/pods/") {
            Some(name) if !name.contains('/') => pod(name),
            Some(_) => return ("403 Forbidden", failure(403)),
            None => return ("404 Not Found", failure(404)),
        },
    };
    ("200 OK", answer)
}

#[test]
fn the_real_kubectl_lists_the_pods_and_starts_the_agent_with_its_pipe() {
    let dir = TestDir::new();
    let api = StandIn::start();
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nusers: [{{name: u, user: {{}}}}]\n\
         clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n\
         contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n",
        api.port
    );
    let config = dir.file("kubeconfig", &config);
    let mut command = dir.command(&["check", "--json", "--agent", PROGRAM]);
    command.args(["--hosts", "kubectl:-n load -l app=load"]).env("KUBECONFIG", config);
    let output = command.output().expect("start the program");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{stdout}\n{stderr}");
    let checked: Value = serde_json::from_str(&stdout).expect("JSON");
    let hosts = checked["hosts"].as_array().expect("a list");
    assert_eq!(hosts.len(), 2, "{checked}");
    for (host, name) in hosts.iter().zip(["load-0", "load-1"]) {
        assert_eq!(host["name"], name);
        let error = host["error"].as_str().expect("the reason");
        assert!(error.contains(REASON), "{error}");
    }
    let requests: Vec<String> = api.requests.try_iter().collect();
    let list = "GET /api/v1/namespaces/load/pods?fieldSelector=status.phase%3DRunning&labelSelector=app%3Dload&limit=500";
    assert!(requests.iter().any(|request| request == list), "{requests:#?}");
    // One word of the command in each parameter, standard input open, and no terminal.
    let program = PROGRAM.replace('/', "%2F");
    let exec = format!(
        "POST /api/v1/namespaces/load/pods/load-1/exec?command={program}&command=agent&container=agent&stderr=true&stdin=true&stdout=true"
    );
    assert!(requests.contains(&exec), "{exec}\n{requests:#?}");
}

/// A container that shows the file system and the network of this host; removed when dropped.
struct Container {
    name: String,
}

/// podman without systemd.
fn podman() -> Command {
    let mut podman = Command::new("podman");
    podman.args(["--cgroup-manager", "cgroupfs"]).stdin(Stdio::null());
    podman
}

impl Container {
    /// # Errors
    /// What podman prints where it cannot start containers.
    fn start(name: &str) -> Result<Container, String> {
        let container = Container { name: format!("fourcorners-{}-{name}", std::process::id()) };
        let mut run = podman();
        run.args(["run", "--detach", "--runtime", "runc", "--network", "host"]);
        // The default limits are above those of a process inside another container.
        run.args(["--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"]);
        // An overlay, so that nothing is written to this host.
        run.args(["--name", &container.name, "--rootfs", "/:O", "sleep", "120"]);
        let output = run.output().expect("start podman (`cargo xtask check --install`)");
        match output.status.success() {
            true => Ok(container),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let mut remove = podman();
        let _ = remove.args(["rm", "--force", "--time", "0", &self.name]).output();
    }
}

#[test]
fn containers_of_podman_are_a_fleet() {
    let containers: Result<Vec<Container>, String> =
        ["one", "two"].into_iter().map(Container::start).collect();
    let containers = match containers {
        Ok(containers) => containers,
        Err(error) => {
            // Past the capture of the test runner, which hides it otherwise.
            let _ = writeln!(
                std::io::stderr(),
                "containers_of_podman_are_a_fleet: NOT RUN, podman cannot start containers here: \
                 {error}"
            );
            return;
        }
    };
    let dir = TestDir::new();
    dir.file("short.toml", SHORT);
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", served.port);
    let names: Vec<&str> = containers.iter().map(|one| one.name.as_str()).collect();
    let launcher =
        "exec:podman --cgroup-manager cgroupfs exec -i {host} env FOURCORNERS_SPOOL=/tmp/spool";
    let arguments = ["run", &url, "-w", "short.toml", "--events", "jsonl", "--agent", PROGRAM];
    let hosts = ["--hosts", launcher, "--hosts", &names.join(",")];
    let ended = dir.run(&[&arguments[..], &hosts].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("2 hosts, started within"), "{}", ended.stderr);
    let events = events(&ended.stdout);
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let hosts: u64 = of("host_interval").iter().map(|one| number(one, "completed")).sum();
    let totals: u64 = of("interval").iter().map(|one| sums(one).0).sum();
    assert!(totals > 0 && totals == hosts, "{totals} {hosts}");
    assert_eq!(served.end().code, Some(0));
}
