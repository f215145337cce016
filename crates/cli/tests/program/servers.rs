//! Servers of NFS that keep a user waiting, go away in the middle of a run, and come back: what is
//! said, and that Ctrl-C ends it. A program that did not would be killed when the harness's time is
//! over, which is the least that any call may wait.

use std::net::TcpListener;

use crate::harness::{Running, TestDir};
use crate::runs::TINY;

/// The emulated service in a separate process, which can be stopped and killed.
pub(crate) struct Service {
    running: Running,
    port: String,
}

impl Service {
    /// Volumes are stored in a directory, so that another service finds them.
    pub(crate) fn start(dir: &TestDir, address: &str) -> Service {
        Service::start_with(dir, address, &[])
    }

    fn start_with(dir: &TestDir, address: &str, more: &[&str]) -> Service {
        let data = dir.path().join("volumes");
        let data = data.to_str().expect("the test's path is text");
        let arguments =
            ["volume", "serve", "--metrics", "none", "--address", address, "--data", data];
        let running = dir.start(&[&arguments, more].concat());
        let url = running.wait_for("nfs://");
        let port = url.trim().rsplit('=').next().expect("a port in the URL").to_owned();
        running.wait_for("Ctrl-C ends the service");
        Service { running, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", self.port)
    }

    pub(crate) fn kill(self) {
        self.running.signal("KILL");
        assert_eq!(self.running.end().code, None, "it was killed");
    }
}

/// A run that only Ctrl-C ends.
fn start_long_run(dir: &TestDir, url: &str, more: &[&str]) -> Running {
    dir.file("tiny.toml", TINY);
    let fixed = ["run", url, "-w", "tiny.toml", "-v", "--no-report", "--measure", "60s"];
    dir.start(&[&fixed, more].concat())
}

#[test]
fn a_server_that_does_not_answer_is_named_after_a_second_and_ctrl_c_ends_the_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}");
    let dir = TestDir::new();
    let fleet = ["run", "--hosts", "local:2"];
    for command in [&["run"], &["plan"], &["clean"], &fleet[..]] {
        let running = dir.start(&[command, &[url.as_str()]].concat());
        running.wait_for("waiting for NFS server 127.0.0.1: no reply to MNT for 1 s");
        running.signal("INT");
        let ended = running.end();
        // Without anything to clean up the default handling of the signal applies.
        let code = if command[0] == "run" { Some(1) } else { None };
        assert_eq!(ended.code, code, "{command:?}: {}", ended.stderr);
        assert!(!dir.store().exists(), "{command:?}: nothing was begun");
    }
}

#[test]
fn ctrl_c_ends_a_fill_whose_server_does_not_answer() {
    for hosts in [&[][..], &["--hosts", "local:2"]] {
        let dir = TestDir::new();
        let service = Service::start(&dir, "127.0.0.1:0");
        let more = ["--set", "file_size=8GiB", "--events", "jsonl"];
        let running = start_long_run(&dir, &service.url(), &[&more, hosts].concat());
        running.wait_for("prepare_progress");
        service.running.signal("STOP");
        running.signal("INT");
        let ended = running.end();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("interrupted; nothing was measured"), "{}", ended.stderr);
        let last = ended.stdout.lines().last().expect("there are events");
        assert!(last.contains(r#""verdict":"interrupted","exit_code":1"#), "{last}");
        service.kill();
    }
}

#[test]
fn ctrl_c_ends_a_run_whose_server_does_not_answer_and_keeps_the_results() {
    let dir = TestDir::new();
    let service = Service::start(&dir, "127.0.0.1:0");
    let running = start_long_run(&dir, &service.url(), &[]);
    running.wait_for(" measure ");
    running.wait_for(" measure ");
    service.running.signal("STOP");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("IOPS"), "the table is shown: {}", ended.stdout);
    service.kill();
}

#[test]
fn a_restarted_service_is_reported_and_the_run_continues() {
    let dir = TestDir::new();
    let service = Service::start(&dir, "127.0.0.1:0");
    let address = format!("127.0.0.1:{}", service.port);
    let running = start_long_run(&dir, &service.url(), &["-o", "nconnect=2"]);
    running.wait_for(" measure ");
    service.kill();
    let lost = running.wait_for("connection refused, retrying (");
    assert!(lost.contains(&format!("2 of 2 connections to {address} lost")), "{lost}");
    let service = Service::start(&dir, &address);
    running.wait_for("connected again after ");
    running.wait_for(" measure ");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let outage: Vec<&str> = ended
        .stderr
        .lines()
        .skip_while(|line| !line.contains("connection refused"))
        .take_while(|line| !line.contains("connected again"))
        .collect();
    let zeros = outage.iter().filter(|line| line.contains(" measure main ")).count();
    assert_eq!(zeros, 0, "{outage:#?}");
    let shown: serde_json::Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    let connections = shown["load_points"][0]["runs"][0]["connections"].as_array();
    for connection in connections.expect("there are two") {
        // The kernel may close a killed process's listening socket after its connections, and then
        // one more connection is made and lost.
        let reconnects = connection["reconnects"].as_u64();
        assert!(matches!(reconnects, Some(1 | 2)), "{connection}");
        assert!(connection["down_ns"].as_u64() > Some(0), "{connection}");
    }
    service.kill();
}

#[test]
fn ctrl_c_ends_a_run_that_waits_for_a_service_that_is_gone() {
    let dir = TestDir::new();
    let service = Service::start(&dir, "127.0.0.1:0");
    let running = start_long_run(&dir, &service.url(), &[]);
    running.wait_for(" measure ");
    service.kill();
    running.wait_for("connection refused, retrying (");
    running.signal("INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let shown = dir.ok(&["show", "last", "--json"]);
    assert!(shown.contains("no connection to 127.0.0.1:"), "{shown}");
    assert!(shown.contains("connection refused"), "{shown}");
}

#[test]
fn a_path_that_is_not_exported_is_refused_with_the_exports() {
    let dir = TestDir::new();
    let service = Service::start(&dir, "127.0.0.1:0");
    let ended = dir.run(&["run", &service.url().replace("/vol1", "/vol2")]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("it exports /vol1; did you mean /vol1?"), "{said}");
    service.kill();
}

#[test]
fn existing_files_on_a_slow_server_are_verified_in_parallel() {
    let dir = TestDir::new();
    let service = Service::start_with(&dir, "127.0.0.1:0", &["--read-delay", "10ms"]);
    let more = ["--set", "files=16", "--events", "jsonl"];
    let begin = |first: &str| {
        let began = std::time::Instant::now();
        let running = start_long_run(&dir, &service.url(), &more);
        running.wait_for(first);
        let took = began.elapsed();
        running.signal("INT");
        running.end();
        took
    };
    begin(r#""event":"run_started""#);
    let first_interval = begin(r#""event":"interval""#);
    // 66 pages of each file are read before and after the directory is claimed: one after the other
    // they would take 21 s.
    assert!(first_interval.as_secs() < 10, "the first interval ended after {first_interval:?}");
    service.kill();
}
