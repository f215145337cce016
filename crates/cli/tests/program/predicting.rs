//! `predict` on topologies with known answers.

use crate::harness::TestDir;

/// A volume with a limit and nothing else, so that every number can be written down.
const KNOWN: &str = r#"
name = "known"
floor = "2ms"
floor_spread = 0
[[host]]
name = "h"
[[volume]]
name = "v"
throughput = "32MiB/s"
[[workload]]
transfer_size = "64KiB"
read = "100%"
pattern = "sequential"
outstanding = 4
"#;

#[test]
fn coverage_is_printed_and_smb_is_reported_first_as_not_modelled() {
    let dir = TestDir::new();
    let file = dir.path().join("smb.toml");
    let predicted = |text: &str| {
        std::fs::write(&file, text).unwrap();
        dir.ok(&["predict", file.to_str().unwrap(), "--full"])
    };
    let words = |shown: &str| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words(&predicted(KNOWN));
    assert!(shown.contains("84 of 93 (90 %) rates and 9 of 10 (90 %) response times"), "{shown}");
    assert!(
        shown.contains("operations on names over NFSv3") && !shown.contains("Not modelled"),
        "{shown}"
    );
    let shown = words(&predicted(&KNOWN.replace("[[host]]", "[[host]]\nprotocol = \"smb\"")));
    let (said, first) = (shown.find("Not modelled: SMB."), shown.find("Expect "));
    assert!(said.is_some() && said < first, "{shown}");
}

#[test]
fn every_example_is_predicted_in_every_form() {
    let dir = TestDir::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/topologies");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = dir.path().join(format!("{seen}.html"));
        let arguments = ["predict", path.to_str().unwrap(), "--full"];
        let report = ["--report", page.to_str().unwrap()];
        let shown = dir.ok(&[&arguments[..], &report[..]].concat());
        assert!(shown.contains("Bounds") && shown.contains("published.toml"), "{shown}");
        let wide = shown.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{}", path.display());
        assert!(std::fs::read_to_string(page).unwrap().contains("<h1>Prediction of"));
        seen += 1;
    }
    assert!(seen >= 4);
    let file = format!("{folder}/vmware.toml");
    let shown = dir.ok(&["predict", &file, "--against", "published"]);
    assert!(shown.contains("A33") && shown.contains("A21 and A33 contradict"), "{shown}");
}

#[test]
fn a_known_limit_and_floor_are_predicted_exactly() {
    let dir = TestDir::new();
    let file = dir.file("known.toml", KNOWN);
    let shown = dir.ok(&["predict", file.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
    // 4 outstanding at 2 ms are 2,000 in a second; the limit is 512.
    assert_eq!(json["requested"]["ops_per_s"]["value"], 512.0);
    assert_eq!(json["requested"]["response_s"]["value"], 4.0 / 512.0);
    assert_eq!(json["requested"]["bounded_by"]["kind"], "volume_limit");
    assert_eq!(json["knee_outstanding"]["value"], 1.024);
}

#[test]
fn problems_of_a_topology_are_reported_with_line_and_suggestion() {
    let dir = TestDir::new();
    let wrong = KNOWN
        .replace("[[host]]", "[[host]]\nvm = \"D32s_v55\"\nnconect = 4")
        .replace("\"64KiB\"", "-5");
    let file = dir.file("wrong.toml", &wrong);
    let ended = dir.run(&["predict", file.to_str().unwrap()]);
    assert_eq!(ended.code, Some(2));
    for said in
        ["did you mean `Standard_D32s_v5`", "did you mean `nconnect`", "transfer_size", ":6:"]
    {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    let ended = dir.run(&["predict", "nowhere.toml"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("read topology nowhere.toml"), "{}", ended.stderr);
}

#[test]
fn an_offered_rate_above_a_limit_is_a_negative_verdict() {
    let dir = TestDir::new();
    let text = KNOWN.replace("outstanding = 4", "offered = \"600/s\"");
    let file = dir.file("much.toml", &text);
    let ended = dir.run(&["predict", file.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("The offered rate exceeds a limit"), "{}", ended.stdout);
}

/// The blocks of a guide that begin with this fence.
fn blocks<'g>(guide: &'g str, fence: &str) -> Vec<&'g str> {
    let begun = guide.split(fence).skip(1);
    begun.map(|rest| rest.split("\n```").next().expect("a block ends")).collect()
}

#[test]
fn the_commands_of_the_guide_run_as_they_are_written() {
    let dir = TestDir::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/predict.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let [topology, ..] = blocks(&guide, "```toml\n")[..] else { panic!("a topology") };
    dir.file("topology.toml", topology);
    let mut run = 0;
    for line in blocks(&guide, "```sh\n").iter().flat_map(|block| block.lines()) {
        let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
        let shown = dir.ok(&arguments);
        assert_eq!(shown.lines().find(|line| line.chars().count() > 80), None, "{line}");
        run += 1;
    }
    assert!(run >= 6);
    // The page has its charts embedded and loads nothing.
    let page = std::fs::read_to_string(dir.path().join("prediction.html")).unwrap();
    assert_eq!(page.matches("data-chart=").count(), 2);
    assert!(page.contains("limited by few outstanding"), "the charts");
}

#[test]
fn keys_in_the_guide_are_those_of_a_topology() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/predict.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let whole = "[[endpoint]]\nname = \"e\"\ncount = 1\nthroughput = \"1GiB/s\"\nzzzzzzzz = 1\n\
                 [[host]]\nzzzzzzzz = 1\n[[volume]]\nzzzzzzzz = 1\n[[workload]]\nzzzzzzzz = 1\n";
    let dir = TestDir::new();
    let file = dir.file("wrong.toml", whole);
    let ended = dir.run(&["predict", file.to_str().unwrap()]);
    assert_eq!(ended.code, Some(2));
    // Each table lists its keys, because none is near to the unknown one.
    let listed: Vec<&str> = ended.stderr.split("allowed: ").skip(1).collect();
    assert_eq!(listed.len(), 4, "{}", ended.stderr);
    for keys in listed {
        let keys = keys.lines().next().unwrap_or_default();
        for key in keys.split(", ").map(str::trim).filter(|key| !key.is_empty()) {
            assert!(guide.contains(&format!("`{key}`")), "`{key}` is not in the guide");
        }
    }
}

#[test]
fn job_sets_of_a_profile_are_predicted_and_kinds_without_a_rate_come_first() {
    let dir = TestDir::new();
    let file = dir.path().join("sets.toml");
    let topology = |workload: &str| {
        let text = format!(
            "[[host]]\ncount = 10\nnconnect = 8\nvm = \"D32s_v5\"\n[[volume]]\nkind = \"large\"\n\
             level = \"ultra\"\nquota = \"100TiB\"\n[[workload]]\n{workload}\n"
        );
        std::fs::write(&file, text).unwrap();
        dir.run(&["predict", file.to_str().unwrap(), "--json"])
    };
    let ended = topology("profile = \"eda-like\"\nmetric = 1000");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["not_counted"], serde_json::json!([]));
    // More than the largest published result, 1,760 job sets at 12,188 of 12,800 MiB/s, exceeds a limit.
    let over = topology("profile = \"eda-like\"\nmetric = 2000");
    assert_eq!(over.code, Some(1), "{}", over.stdout);
    let others: serde_json::Value =
        serde_json::from_str(&topology("profile = \"software-build\"\nmetric = 5").stdout).unwrap();
    let words = "Not enough data for readdir, lookup_missing: no rate";
    let not_counted = others["not_counted"][0].as_str().unwrap();
    assert!(not_counted.starts_with(words), "{not_counted}");
    for (workload, words) in [
        ("profile = \"kafka-like\"\nmetric = 5", "it has no business metric"),
        (
            "profile = \"vdi-like\"\nmetric = 5",
            "give `variant`, one of in use, sign-in, boot storm",
        ),
        ("profile = \"eda-like\"\nmetric = 0", "wrong value for `metric`"),
    ] {
        let ended = topology(workload);
        assert_eq!(ended.code, Some(2), "{workload}: {}", ended.stdout);
        let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words) && said.contains("sets.toml:"), "{workload}: {said}");
    }
}
