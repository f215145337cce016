//! `expect`: published figures near a configuration.

use serde_json::Value;
use workload::pattern::AccessPattern;
use workload::plan::Stream;

use crate::comparing::kept;
use crate::harness::TestDir;
use crate::records::{done, experiment, reads, run, stream};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn published_figures_are_found_for_their_own_configuration() {
    let dir = TestDir::new();
    let arguments = ["expect", "--vm", "D32s_v3", "--protocol", "nfsv3", "--nconnect", "16"];
    let shown = dir.ok(&arguments);
    assert!(shown.starts_with("Expect ") && shown.lines().count() <= 40, "{shown}");
    assert!(shown.contains("; published: 200,000\non D32s_v3 with 4 KiB (A61)"), "{shown}");
    let shown = dir.ok(&[&arguments[..], &["--full"]].concat());
    for said in ["A61", "A13", "200,000 IOPS", "135,000 IOPS", "3,500 MiB/s", "1,500 MiB/s"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(shown.contains("A59 and A14 contradict each other"), "{shown}");
    assert_eq!(shown.lines().find(|line| line.chars().count() > 80), None);

    let one = ["--transfer-size", "4KiB", "--read", "0%", "--json", "--top", "1"];
    let json = parsed(&dir.ok(&[&arguments[..], &one[..]].concat()));
    let nearest = &json["expectations"][0]["figures"][0];
    assert_eq!((&nearest["id"], number(&nearest["value"])), (&"A62".into(), 135_000.0));
    // Nothing differs that the model would feel.
    assert_eq!(number(&nearest["here_ops_per_s"]), 135_000.0);
}

#[test]
fn figures_of_vmware_hosts_and_of_smb_are_found() {
    let dir = TestDir::new();
    let esxi = ["expect", "--client", "esxi", "--clients", "4", "--volumes", "4", "--full"];
    let shown = dir.ok(&esxi);
    for said in ["585,000 IOPS", "10,500 MiB/s", "published.toml"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let smb = ["expect", "--protocol", "smb", "--pattern", "sequential", "--read", "100%"];
    let shown = dir.ok(&smb);
    let first = shown.lines().position(|line| line.contains("Not modelled: SMB."));
    let figure = shown.lines().position(|line| line.contains("A65"));
    assert!(first == Some(0) && figure.is_some(), "{shown}");
}

#[test]
fn derived_figures_are_marked_and_come_after_all_published_ones() {
    let load = ["--transfer-size", "4KiB", "--read", "100%", "--pattern", "random"];
    let arguments = ["expect", "--vm", "D32s_v3", "--nconnect", "1", "--top", "100"];
    let shown = TestDir::new().ok(&[&arguments[..], &load[..]].concat());
    let derived = shown.find("66,700 IOPS (derived)").expect("A71 is derived");
    for published in ["60,000 IOPS", "65,000 IOPS", "709,000 IOPS", "147,000 IOPS"] {
        assert!(shown.find(published).is_some_and(|at| at < derived), "{shown}");
    }
}

#[test]
fn a_vm_size_that_does_not_exist_is_refused_with_the_nearest() {
    let ended = TestDir::new().run(&["expect", "--vm", "D32s_v33"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("Standard_D32s_v3"), "{}", ended.stderr);
}

#[test]
fn an_invalid_argument_is_reported_with_what_is_allowed() {
    let dir = TestDir::new();
    for (arguments, said) in [
        (["--limit", "-5MiB/s"], "-5MiB/s"),
        (["--transfer-size", "-8KiB"], "-8KiB"),
        (["--clients", "-1"], "-1 is not in 1..=10000"),
        (["--read", "0.7"], "`70%`"),
        (["--read", "170%"], "from `0%` to `100%`"),
        (["--vm", "Z99"], "without --vm"),
    ] {
        let ended = dir.run(&[&["expect"], &arguments[..]].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        assert!(!ended.stderr.contains("unexpected argument"), "{}", ended.stderr);
    }
}

/// The report of the last record in this form.
fn shown_with(dir: &TestDir, form: &str, more: &[&str]) -> String {
    let output = dir.path().join(format!("published-{form}"));
    let path = output.to_str().expect("UTF-8");
    let arguments = ["report", "last", "--format", form, "--output", path];
    let written = dir.ok(&[&arguments[..], more].concat());
    std::fs::read_to_string(written.trim()).expect("it was written")
}

#[test]
fn invalid_arguments_are_refused_with_a_hint() {
    let dir = TestDir::new();
    for (arguments, hint) in [
        (&["--vm", "x"][..], "sizes are written as"),
        (&["--vm", "D32sv3"], "did you mean `Standard_D32s_v3`?"),
        (&["--protocol", "nfsv5"], "for other versions of NFS use nfsv3"),
        (&["--protocol", "iscsi"], "there are nfsv3 and smb"),
        (&["--nconnect", "0"], "0 is not in 1..=16"),
        (&["--clients", "0"], "0 is not in 1..="),
        (&["--transfer-size", "0"], "expected a size above 0"),
        (&["--limit", "0"], "expected a throughput above 0"),
        (&["--client", "esxi", "--nconnect", "8"], "one connection to each volume"),
        (&["--client", "esxi", "--protocol", "smb"], "datastores of VMware hosts use NFS"),
        (&["--run", "20200101"], "20200101"),
        (&["--run", "last", "--read", "0%"], "cannot be used with"),
        (&["--report", "page.txt"], "must end in .html or .md"),
    ] {
        let ended = dir.run(&[&["expect"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stdout);
        assert!(ended.stderr.contains(hint), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

/// Two variants that only write, one at an offered rate.
const WRITES: &str = r#"
name = "writes"
[run]
warm_up = "0s"
measure = "400ms"
interval = "100ms"
[stream.log]
read = "0%"
transfer_size = "8KiB"
pattern = "random"
files = 1
file_size = "1MiB"
queue_depth = [1, 4]
[[variant]]
name = "as fast `as` it <goes>"
[[variant]]
name = "offered"
arrival = { poisson = "500/s" }
"#;

#[test]
fn a_record_of_writes_has_a_comparison_for_each_variant() {
    let dir = TestDir::new();
    let file = dir.file("writes.toml", WRITES);
    let file = file.to_str().expect("UTF-8");
    dir.measured(&["run", "null:", "-w", file, "--no-report", "--no-progress"]);
    let json = parsed(&dir.ok(&["expect", "--run", "last", "--json", "--nconnect", "4"]));
    let expectations = json["expectations"].as_array().expect("there are loads");
    assert_eq!(expectations.len(), 2);
    for one in expectations {
        assert_eq!((number(&one["read_fraction"]), number(&one["nconnect"])), (0.0, 4.0));
        assert!(number(&one["figures"][0]["measured_over_published"]) > 0.0, "{one}");
    }
    let notes = expectations[1]["measured"]["notes"].to_string();
    assert!(notes.contains("The offered rate was 500 IOPS"), "{notes}");
    let text = dir.ok(&["expect", "--run", "last", "--full"]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["the null target, which performs no I/O", "0 % reads", "set it with `--vm`"] {
        assert!(flat.contains(words), "{words}: {text}");
    }
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None);
}

/// A record's own report has the figures of `expect --run` if a flag requests them, and not
/// otherwise: the target is not a cloud volume.
#[test]
fn a_records_own_report_has_the_same_figures_on_request() {
    let dir = TestDir::new();
    let file = dir.file("writes.toml", WRITES);
    let file = file.to_str().expect("UTF-8");
    let measured = parsed(&dir.measured(&["run", "null:", "-w", file, "--json", "--no-progress"]));
    assert!(measured.get("published").is_none());
    let expected = parsed(&dir.ok(&["expect", "--run", "last", "--vm", "D32s_v3", "--json"]));
    let asked = parsed(&dir.ok(&["show", "last", "--vm", "d32s_v3", "--json"]));
    assert_eq!(asked["published"]["expectations"], expected["expectations"]);
    assert_eq!(asked["published"]["basis"], expected["basis"]);
    let exported = ["export", "last", "--format", "json", "--published"];
    let exported = parsed(&dir.ok(&exported));
    assert_eq!(exported["published"]["expectations"][0]["vm"], Value::Null);

    let nearest = &expected["expectations"][0]["figures"][0];
    let share = units::part_of(number(&nearest["measured_over_published"]));
    let reached = format!("You reach {share} the published figure");
    let said = shown_with(&dir, "md", &["--vm", "D32s_v3"]);
    assert!(
        said.contains("## Comparison with published figures") && said.contains(&reached),
        "{said}"
    );
    let page = shown_with(&dir, "html", &["--published"]);
    assert!(page.contains("id=\"published\"") && !page.contains("<goes>"));
    let usual = shown_with(&dir, "html", &[]);
    assert!(!usual.contains("id=\"published\"") && usual.contains("data-theme=\"auto\""));
    assert!(shown_with(&dir, "html", &["--theme", "dark"]).contains("data-theme=\"dark\""));
    let table = dir.ok(&["show", "last", "--published"]);
    assert!(table.contains("Comparison with published figures"), "{table}");
    // A path is not broken.
    let mut lines = table.lines().filter(|line| !line.starts_with("report "));
    assert_eq!(lines.find(|line| line.chars().count() > 80), None);
    assert!(!dir.ok(&["show", "last"]).contains("Comparison with published figures"));
}

/// Scaling experiments change the order, so a variant's best load point may differ from its first.
#[test]
fn a_load_point_is_compared_by_its_own_load() {
    let dir = TestDir::new();
    let random = run("files", vec![stream("data", 4)], 0, 4);
    let in_order = Stream { access_pattern: AccessPattern::Sequential, ..stream("data", 8) };
    let in_order = run("files", vec![in_order], 0, 4);
    let each = |completed, bytes| (0..4).map(|_| reads(completed, bytes, 100_000)).collect();
    let record =
        experiment(vec![done(random, each(10_000, 8192)), done(in_order, each(20_000, 8192))]);
    let id = kept(&dir, &record, 1_795_241_733_000);
    let json = parsed(&dir.ok(&["expect", "--run", &id, "--json"]));
    assert_eq!(json["expectations"][0]["pattern"], "sequential");
}

#[test]
fn values_that_the_user_gave_are_not_called_assumed() {
    let dir = TestDir::new();
    let file = dir.file("writes.toml", WRITES);
    dir.measured(&["run", "null:", "-w", file.to_str().expect("UTF-8"), "--no-report"]);
    let basis = |more: &[&str]| {
        let json = parsed(&dir.ok(&[&["expect", "--run", "last", "--json"], more].concat()));
        json["basis"].to_string()
    };
    let nothing = basis(&[]);
    assert!(nothing.contains("From the record: 1 machine, 1 volume."), "{nothing}");
    assert!(nothing.contains("Assumed: regular volumes, no throughput limit"), "{nothing}");
    assert!(!nothing.contains("As given"), "{nothing}");
    let volumes = basis(&["--volumes", "4", "--kind", "large"]);
    assert!(volumes.contains("As given: 4 large volumes."), "{volumes}");
    assert!(volumes.contains("From the record: 1 machine."), "{volumes}");
    assert!(volumes.contains("Assumed: no throughput limit"), "{volumes}");
    let counts = ["--clients", "4", "--volumes", "2"];
    let all = basis(&[&counts[..], &["--kind", "regular", "--limit", "64MiB/s"]].concat());
    assert!(all.contains("As given: 4 machines, 2 regular volumes."), "{all}");
    assert!(all.contains("Throughput limit of each volume: 64.00 MiB/s, as given."), "{all}");
    assert!(!all.contains("Assumed: "), "{all}");
}
