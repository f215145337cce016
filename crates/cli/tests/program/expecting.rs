//! `expect`: published figures near a configuration.

use serde_json::Value;

use crate::harness::Place;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_figures_of_the_documents_are_found_for_their_own_configuration() {
    let place = Place::new();
    let arguments = ["expect", "--vm", "D32s_v3", "--protocol", "nfsv3", "--nconnect", "16"];
    let shown = place.ok(&arguments);
    for said in ["A61", "A13", "200,000 ops/s", "135,000 ops/s", "3,500 MiB/s", "1,500 MiB/s"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(shown.contains("A59 and A14 contradict each other"), "{shown}");
    assert_eq!(shown.lines().find(|line| line.chars().count() > 80), None);

    let one = ["--transfer-size", "4KiB", "--read", "0%", "--json", "--top", "1"];
    let json = parsed(&place.ok(&[&arguments[..], &one[..]].concat()));
    let nearest = &json["expectations"][0]["figures"][0];
    assert_eq!((&nearest["id"], number(&nearest["value"])), (&"A62".into(), 135_000.0));
    // Nothing differs that the model would feel.
    assert_eq!(number(&nearest["here_ops_per_s"]), 135_000.0);
}

#[test]
fn a_figure_of_vmwares_hosts_and_one_of_smb_are_found() {
    let place = Place::new();
    let esxi = ["expect", "--client", "esxi", "--clients", "4", "--volumes", "4", "--explain"];
    let shown = place.ok(&esxi);
    for said in ["585,000 ops/s", "10,500 MiB/s", "published.toml"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let smb = ["expect", "--protocol", "smb", "--pattern", "sequential", "--read", "100%"];
    let shown = place.ok(&smb);
    assert!(shown.contains("A65") && shown.contains("knows nothing of smb"), "{shown}");
}

#[test]
fn a_vm_size_that_does_not_exist_is_refused_with_the_nearest() {
    let ended = Place::new().run(&["expect", "--vm", "D32s_v33"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("Standard_D32s_v3"), "{}", ended.stderr);
}

#[test]
fn a_wrong_argument_is_told_with_what_is_wanted() {
    let place = Place::new();
    for (arguments, said) in [
        (["--limit", "-5MiB/s"], "-5MiB/s"),
        (["--transfer-size", "-8KiB"], "-8KiB"),
        (["--clients", "-1"], "-1 is not in 1..=10000"),
        (["--read", "0.7"], "`70%`"),
        (["--read", "170%"], "from `0%` to `100%`"),
        (["--vm", "Z99"], "without --vm"),
    ] {
        let ended = place.run(&[&["expect"], &arguments[..]].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        assert!(!ended.stderr.contains("unexpected argument"), "{}", ended.stderr);
    }
}
