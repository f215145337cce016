//! `volumes.toml`: what it says, and every mistake in it at once.

use std::num::NonZeroU64;

use cloud::catalog::Catalog;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;
use volume::config::{Config, parse};
use volume::delay::{Distance, Distribution};
use volume::export_rules::{ExportAccess, ExportRule, ExportRules, NOBODY, Squash};
use volume::qos::Limits;

const HISTOGRAM: &str = "Value Percentile TotalCount\n 100 0.0 1\n 500 1.0 9\n";

fn open(path: &str) -> Result<String, String> {
    match path {
        "far.hgrm" => Ok(HISTOGRAM.to_owned()),
        "broken.hgrm" => Ok("fast 0.5\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn read(text: &str) -> Result<Config, Vec<String>> {
    let parsed = parse(text, "v.toml", &Catalog::embedded(), &mut open);
    parsed.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect())
}

fn good(text: &str) -> Config {
    read(text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
}

fn mistakes(text: &str) -> Vec<String> {
    read(text).err().unwrap_or_default()
}

const SMALL: &str = "\
[[pool]]
name = \"pool1\"
service_level = \"premium\"
size = \"4TiB\"

[[volume]]
name = \"vol1\"
pool = \"pool1\"
quota = \"1TiB\"
";

#[test]
fn the_least_configuration_is_a_pool_and_a_volume() {
    let config = good(SMALL);
    let catalog = Catalog::embedded();
    let volume = &config.account.volumes[0];
    assert_eq!(config.account.throughput_limit(&catalog, volume), KibPerSec::from_mib(64));
    assert_eq!((config.account.pools[0].qos, volume.kind), (QosType::Auto, VolumeKind::Regular));
    assert_eq!(config.account.capacity_quota, Bytes::gib(25 << 10));
    assert_eq!(config.account.cool_down_s, 24 * 3600);
    assert_eq!(config.endpoints.len(), 1);
    assert!(config.endpoints[0].address.ip().is_loopback());
    assert_eq!(volume.endpoints, [config.endpoints[0].name.clone()]);
    assert_eq!(config.limits.outstanding_per_connection, 128);
    assert_eq!(config.limits.flow(), Limits::default());
    assert_eq!(config.delay.read, Distribution::Constant { ns: 0 });
}

#[test]
fn everything_that_can_be_said_is_read() {
    let config = good(
        r#"
        [account]
        name = "lab"
        capacity_quota = "100TiB"
        cool_down = "7d"

        [[endpoint]]
        name = "ep1"
        address = "127.0.0.1:2049"
        throughput = "9088MiB/s"
        ops = "600k/s"
        [[endpoint]]
        name = "ep2"
        address = "[::1]:2049"
        distance = "far"

        [[pool]]
        name = "m"
        service_level = "ultra"
        size = "10TiB"
        qos = "manual"
        [[pool]]
        name = "f"
        service_level = "flexible"
        size = "2TiB"
        throughput = "1280MiB/s"

        [[volume]]
        name = "data"
        pool = "m"
        quota = "4TiB"
        throughput = "704MiB/s"
        endpoints = "ep1"
        ops = "50k/s"
        network = "basic"
        [[volume]]
        name = "log"
        pool = "f"
        quota = "512GiB"
        throughput = "6.25MiB/s"
        endpoints = ["ep2"]

        [limits]
        flow_throughput = "1500MiB/s"
        flow_ops = "65k/s"
        refill_interval = "20ms"
        outstanding_per_connection = 64

        [delay]
        seed = 7
        read = "500us"
        write = { median = "300us", p99 = "2ms" }
        far_read = { histogram = "far.hgrm", unit = "us" }
        "#,
    );
    assert_eq!(config.account.cool_down_s, 7 * 24 * 3600);
    assert_eq!(config.account.pools[1].level, ServiceLevel::Flexible);
    assert_eq!(config.account.pools[1].qos, QosType::Manual, "the only type of the level");
    assert_eq!(config.account.volumes[1].throughput, Some(KibPerSec::new(6400)));
    assert_eq!(config.ops, [NonZeroU64::new(50_000), None]);
    assert_eq!(config.endpoints[1].distance, Distance::Far);
    let flow = config.limits.flow().bytes.unwrap();
    // 150 % of the refill interval may go at once.
    assert_eq!((flow.per_s.get(), flow.burst_ns), (1500 << 20, 30_000_000));
    assert_eq!(config.delay.seed, 7);
    assert_eq!(config.delay.write, Distribution::lognormal(300_000, 2_000_000).unwrap());
    assert_eq!(config.delay.far_write, config.delay.write);
    assert_eq!(config.delay.far_read.mean_ns(), 300_000.0);
}

#[test]
fn every_mistake_is_told_at_once_with_its_line_and_column() {
    let text = r#"
[[pool]]
name = "pool1"
service_level = "extreme"
size = "4TiB"
colour = "red"

[[pool]]
name = "pool2"
service_level = "premium"
size = "1536GiB"

[[volume]]
name = "vol1"
pool = "pool1"
quota = "1TiB"

[[volume]]
name = "vol2"
pool = "pool2"
quota = "2TiB"
throughput = "64MiB/s"

[[volume]]
pool = "elsewhere"
quota = "much"
endpoints = "ep9"

[limits]
flow_throughput = "100B/s"
"#;
    assert_eq!(
        mistakes(text),
        [
            "v.toml:4:17: wrong value for `service_level` (`standard`, `premium`, `ultra`, \
         `flexible`)",
            "v.toml:6:1: unknown key `colour` in [[pool]] (known: `name`, `service_level`, `size`, \
         `qos`, `throughput`)",
            "v.toml:11:8: a size of 1.50 TiB, a pool has a multiple of 1 TiB (round `size` \
             up or down)",
            "v.toml:11:8: the quotas of its volumes are 2 TiB, the pool has 1.50 TiB (make \
             the pool \
         larger, or volumes smaller)",
            "v.toml:22:14: a throughput for a volume in an auto pool, which has it by its quota \
         (leave `throughput` out, or use a manual pool)",
            "v.toml:24:1: [[volume]] lacks `name`",
            "v.toml:26:9: wrong value for `quota` (a size such as `100GiB` or `4TiB`)",
            "v.toml:27:13: no endpoint is called `ep9` (name one of the [[endpoint]]s)",
            "v.toml:30:19: wrong value for `flow_throughput` (a throughput of whole KiB/s above 0, \
         such as `64MiB/s`)",
        ]
    );
}

#[test]
fn export_rules_say_who_may_use_a_volume_and_as_whom() {
    let config = good(&format!(
        "{SMALL}rules = [{{ clients = \"10.0.0.0/24\" }}, {{ clients = [\"10.1.2.3\", \
         \"fd00::/8\"], access = \"read-only\", squash = \"root\", anonymous_uid = 7 }}]\n"
    ));
    let networks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(
        config.rules[0].rules(),
        [
            ExportRule {
                clients: networks(&["10.0.0.0/24"]),
                access: ExportAccess::ReadWrite,
                squash: Squash::None,
                anonymous: (NOBODY, NOBODY),
            },
            ExportRule {
                clients: networks(&["10.1.2.3/32", "fd00::/8"]),
                access: ExportAccess::ReadOnly,
                squash: Squash::Root,
                anonymous: (7, NOBODY),
            },
        ]
    );
    assert_eq!(good(SMALL).rules, [ExportRules::default()]);
}

#[test]
fn mistakes_in_export_rules_are_told_with_what_is_right() {
    let rules = |rules: &str| mistakes(&format!("{SMALL}rules = {rules}\n"));
    let one = "{ clients = \"10.0.0.0/24\" }";
    assert!(rules(&format!("[{}]", [one; 5].join(", "))).is_empty());
    for (text, said) in [
        (format!("[{}]", [one; 6].join(", ")), "6 rules, a volume has at most 5 (put networks"),
        ("[]".into(), "there is no rule in `rules`: nobody could mount it (leave `rules` out"),
        ("\"10.0.0.0/24\"".into(), "`rules` is a list of tables (write `rules = [{"),
        ("[5]".into(), "this is not a table"),
        ("[{}]".into(), "a rule lacks `clients`"),
        ("[{ clients = 5.5 }]".into(), "wrong value for `clients`"),
        (
            "[{ clients = [\"::1\", \"10.0.0.5/24\"] }]".into(),
            "`10.0.0.5/24` has bits behind its prefix (the network is `10.0.0.0/24`)",
        ),
        (
            "[{ clients = \"host1\" }]".into(),
            "`host1` is no network (an address or a network such as `10.0.0.0/24`",
        ),
        (
            "[{ clients = \"::1\", access = \"rw\" }]".into(),
            "wrong value for `access` (`read-write`, `read-only`)",
        ),
        (
            "[{ clients = \"::1\", squash = \"me\" }]".into(),
            "wrong value for `squash` (`none`, `root`, `all`)",
        ),
        ("[{ clients = \"::1\", anonymous_uid = -1 }]".into(), "wrong value for `anonymous_uid`"),
        (
            "[{ clients = \"::1\", mode = 1 }]".into(),
            "unknown key `mode` in a rule (known: `clients`, `access`, `squash`",
        ),
    ] {
        let found = rules(&text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert!(found[0].contains(said), "{found:#?}");
        assert!(found[0].starts_with("v.toml:10:"), "{found:#?}");
    }
}

#[test]
fn an_empty_file_is_told_what_it_lacks() {
    assert_eq!(
        mistakes(""),
        [
            "v.toml:1:1: there is no [[pool]] (at least one)",
            "v.toml:1:1: there is no [[volume]] (at least one)",
        ]
    );
}

#[test]
fn a_broken_line_is_one_mistake_and_the_rest_is_read_all_the_same() {
    let text = SMALL.replace("size = \"4TiB\"", "size = 4TiB").replace("\"1TiB\"", "\"49GiB\"");
    let found = mistakes(&text);
    assert!(found[0].starts_with("v.toml:4:"), "{found:#?}");
    assert!(found[0].contains("this is not TOML"), "{found:#?}");
    assert!(found.iter().any(|mistake| mistake.contains("a quota of 49 GiB")), "{found:#?}");
}

#[test]
fn the_regions_capacity_is_a_rule_that_the_account_can_lift() {
    let large = SMALL.replace("4TiB", "26TiB");
    assert!(mistakes(&large)[0].contains("all pools have 26 TiB"));
    good(&format!("[account]\ncapacity_quota = \"26TiB\"\n{large}"));
}

#[test]
fn endpoints_differ_and_a_choice_among_several_has_to_be_made() {
    let endpoint = "[[endpoint]]\nname = \"a\"\naddress = \"127.0.0.1:2049\"\n";
    let found = mistakes(&format!("{endpoint}{endpoint}{SMALL}"));
    assert!(found.iter().any(|mistake| mistake.contains("5:8: this name stands twice")));
    assert!(found.iter().any(|mistake| mistake.contains("6:11: this address stands twice")));
    assert!(found.iter().any(|mistake| mistake.contains("0 endpoints")), "{found:#?}");
}

#[test]
fn a_delay_has_one_of_three_forms() {
    let with = |value: &str| mistakes(&format!("{SMALL}[delay]\nread = {value}\n"));
    for (value, said) in [
        ("500", "wrong value for `read`"),
        ("[]", "wrong value for `read`"),
        ("{ median = \"3ms\", p99 = \"2ms\" }", "the median is 0 or above the p99"),
        ("{ median = \"3ms\" }", "`read` is none of the three forms"),
        ("{ histogram = \"none.hgrm\", unit = \"us\" }", "read histogram none.hgrm: no such file"),
        ("{ histogram = \"broken.hgrm\", unit = \"us\" }", "line 1: the value is no number"),
        ("{ histogram = \"far.hgrm\", unit = \"days\" }", "wrong value for `unit`"),
        ("{ median = \"1ms\", p98 = \"2ms\" }", "unknown key `p98` in `read`"),
    ] {
        let found = with(value);
        assert_eq!(found.len(), 1, "{value}: {found:#?}");
        assert!(found[0].contains(said), "{found:#?}");
        assert!(found[0].starts_with("v.toml:11:"), "{found:#?}");
    }
}

#[test]
fn what_is_no_table_is_told() {
    let told = |text: &str, said: &str| {
        let found = mistakes(text);
        assert!(found.iter().any(|mistake| mistake.contains(said)), "{found:#?}");
    };
    told("pool = 5\n", "v.toml:1:8: `pool` is a list of tables (write [[pool]])");
    told("pool = [5]\n", "v.toml:1:9: this is not a table");
    told("limits = 5\n", "v.toml:1:10: `limits` is a table (write [limits])");
}

#[test]
fn the_example_in_the_documentation_is_right() {
    let source = include_str!("../src/config.rs");
    let lines = source.lines().skip_while(|line| *line != "//! ```toml").skip(1);
    let example: Vec<&str> = lines
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//!").trim_start())
        .collect();
    let config = good(&example.join("\n"));
    assert_eq!(config.account.name, "lab");
    assert_eq!(config.delay.far_read.mean_ns(), 300_000.0);
    assert_eq!(config.ops, [None]);
}
