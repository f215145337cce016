//! `volumes.toml`: its values, and its mistakes, which are reported together.

use std::num::NonZeroU64;

use cloud::catalog::Catalog;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Bytes;
use volume::config::{Config, parse};
use volume::delay::{Distance, Distribution};
use volume::export_rules::{ANONYMOUS, ExportAccess, ExportRule, ExportRules, Squash};
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

fn valid(text: &str) -> Config {
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
fn a_pool_and_a_volume_suffice_for_a_configuration() {
    let config = valid(SMALL);
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
fn every_key_is_read() {
    let config = valid(
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
    // The burst is 150 % of the refill interval.
    assert_eq!((flow.per_s.get(), flow.burst_ns), (1500 << 20, 30_000_000));
    assert_eq!(config.delay.seed, 7);
    assert_eq!(config.delay.write, Distribution::lognormal(300_000, 2_000_000).unwrap());
    assert_eq!(config.delay.far_write, config.delay.write);
    assert_eq!(config.delay.far_read.mean_ns(), 300_000.0);
}

#[test]
fn all_mistakes_are_reported_together_with_line_and_column() {
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
            "v.toml:4:17: wrong value for `service_level`, found `\"extreme\"`, allowed: \
             `standard`, `premium`, `ultra`, `flexible`",
            "v.toml:6:1: unknown key in [[pool]], found `colour`, allowed: name, service_level, \
             size, qos, throughput",
            "v.toml:11:8: size 1.50 TiB is not a multiple of 1 TiB (round `size` up or down)",
            "v.toml:11:8: the quotas of its volumes add up to 2 TiB; the pool has 1.50 TiB (make \
             the pool larger, or volumes smaller)",
            "v.toml:22:14: a throughput for a volume in an auto pool, which has it by its quota \
         (remove `throughput`, or use a manual pool)",
            "v.toml:24:1: [[volume]] lacks `name`",
            "v.toml:26:9: wrong value for `quota`, found `\"much\"`, allowed: a size above 0 such as \
             `8KiB` or `4TiB`",
            "v.toml:27:13: there is no endpoint `ep9` (use the name of an [[endpoint]])",
            "v.toml:30:19: wrong value for `flow_throughput`, found `\"100B/s\"`, allowed: a \
             throughput of whole KiB/s above 0, such as `64MiB/s`",
        ]
    );
}

#[test]
fn export_rules_have_clients_access_squash_and_the_anonymous_user() {
    let config = valid(&format!(
        "{SMALL}rules = [{{ clients = \"10.0.0.0/24\" }}, {{ clients = [\"10.1.2.3\", \
         \"fd00::/8\"], access = \"read-only\", squash = \"root\", anonymous_uid = 7 }}]\n"
    ));
    let networks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(
        config.rules[0],
        ExportRules::new(vec![
            ExportRule {
                clients: networks(&["10.0.0.0/24"]),
                access: ExportAccess::ReadWrite,
                squash: Squash::None,
                anonymous: (ANONYMOUS, ANONYMOUS),
            },
            ExportRule {
                clients: networks(&["10.1.2.3/32", "fd00::/8"]),
                access: ExportAccess::ReadOnly,
                squash: Squash::Root,
                anonymous: (7, ANONYMOUS),
            },
        ])
    );
    assert_eq!(valid(SMALL).rules, [ExportRules::default()]);
}

#[test]
fn mistakes_in_export_rules_are_reported_with_the_allowed_values() {
    let rules = |rules: &str| mistakes(&format!("{SMALL}rules = {rules}\n"));
    let one = "{ clients = \"10.0.0.0/24\" }";
    assert!(rules(&format!("[{}]", [one; 5].join(", "))).is_empty());
    for (text, message) in [
        (
            format!("[{}]", [one; 6].join(", ")),
            "the volume has 6 rules; the maximum is 5 (list networks",
        ),
        ("[]".into(), "`rules` is empty: no client could mount the volume (remove `rules`"),
        ("\"10.0.0.0/24\"".into(), "`rules` is a list of tables (write `rules = [{"),
        ("[5]".into(), "this is not a table"),
        ("[{}]".into(), "a rule lacks `clients`"),
        ("[{ clients = 5.5 }]".into(), "wrong value for `clients`"),
        (
            "[{ clients = [\"::1\", \"10.0.0.5/24\"] }]".into(),
            "`10.0.0.5/24` has bits after its prefix (the network is `10.0.0.0/24`)",
        ),
        (
            "[{ clients = \"host1\" }]".into(),
            "`host1` is not a network (allowed: an address or a network such as `10.0.0.0/24`",
        ),
        (
            "[{ clients = \"::1\", access = \"rw\" }]".into(),
            "wrong value for `access`, found `\"rw\"`, allowed: `read-write`, `read-only`",
        ),
        (
            "[{ clients = \"::1\", squash = \"me\" }]".into(),
            "wrong value for `squash`, found `\"me\"`, allowed: `none`, `root`, `all`",
        ),
        ("[{ clients = \"::1\", anonymous_uid = -1 }]".into(), "wrong value for `anonymous_uid`"),
        (
            "[{ clients = \"::1\", mode = 1 }]".into(),
            "unknown key in a rule, found `mode`, allowed: clients, access, squash, anonymous_uid",
        ),
    ] {
        let found = rules(&text);
        assert_eq!(found.len(), 1, "{text}: {found:#?}");
        assert!(found[0].contains(message), "{found:#?}");
        assert!(found[0].starts_with("v.toml:10:"), "{found:#?}");
    }
}

#[test]
fn the_missing_tables_of_an_empty_file_are_reported() {
    assert_eq!(
        mistakes(""),
        [
            "v.toml:1:1: there is no [[pool]] (at least one is required)",
            "v.toml:1:1: there is no [[volume]] (at least one is required)",
        ]
    );
}

#[test]
fn a_syntax_error_is_one_mistake_and_the_rest_of_the_file_is_checked() {
    let text = SMALL.replace("size = \"4TiB\"", "size = 4TiB").replace("\"1TiB\"", "\"49GiB\"");
    let found = mistakes(&text);
    assert!(found[0].starts_with("v.toml:4:"), "{found:#?}");
    assert!(found[0].contains("this is not TOML"), "{found:#?}");
    assert!(found.iter().any(|mistake| mistake.contains("a quota of 49 GiB")), "{found:#?}");
}

#[test]
fn the_regions_capacity_quota_can_be_raised_in_the_account() {
    let large = SMALL.replace("4TiB", "26TiB");
    assert!(mistakes(&large)[0].contains("the pools have 26 TiB in total"));
    valid(&format!("[account]\ncapacity_quota = \"26TiB\"\n{large}"));
}

#[test]
fn endpoints_are_unique_and_a_volume_must_choose_among_several() {
    let endpoint = "[[endpoint]]\nname = \"a\"\naddress = \"127.0.0.1:2049\"\n";
    let found = mistakes(&format!("{endpoint}{endpoint}{SMALL}"));
    assert!(found.iter().any(|mistake| mistake.contains("5:8: this name is used twice")));
    assert!(found.iter().any(|mistake| mistake.contains("6:11: this address is used twice")));
    assert!(found.iter().any(|mistake| mistake.contains("has 0 endpoints")), "{found:#?}");
}

#[test]
fn a_delay_has_one_of_three_forms() {
    let with = |value: &str| mistakes(&format!("{SMALL}[delay]\nread = {value}\n"));
    for (value, message) in [
        ("500", "wrong value for `read`"),
        ("[]", "wrong value for `read`"),
        ("{ median = \"3ms\", p99 = \"2ms\" }", "the median is 0 or above the p99"),
        ("{ median = \"3ms\" }", "`read` has none of the three forms"),
        ("{ histogram = \"none.hgrm\", unit = \"us\" }", "read histogram none.hgrm: no such file"),
        ("{ histogram = \"broken.hgrm\", unit = \"us\" }", "line 1: the value is not a number"),
        ("{ histogram = \"far.hgrm\", unit = \"days\" }", "wrong value for `unit`"),
        ("{ median = \"1ms\", p98 = \"2ms\" }", "unknown key in `read`, found `p98`"),
    ] {
        let found = with(value);
        assert_eq!(found.len(), 1, "{value}: {found:#?}");
        assert!(found[0].contains(message), "{found:#?}");
        assert!(found[0].starts_with("v.toml:11:"), "{found:#?}");
    }
}

#[test]
fn a_value_in_place_of_a_table_is_reported() {
    for (text, message) in [
        ("pool = 5\n", "v.toml:1:8: `pool` is a list of tables (write `[[pool]]`)"),
        ("pool = [5]\n", "v.toml:1:9: this is not a table"),
        ("limits = 5\n", "v.toml:1:10: `limits` is a table (write `[limits]`)"),
    ] {
        let found = mistakes(text);
        assert!(found.iter().any(|mistake| mistake.contains(message)), "{found:#?}");
    }
}

#[test]
fn the_example_in_the_documentation_is_valid() {
    let source = include_str!("../../src/config.rs");
    let lines = source.lines().skip_while(|line| *line != "//! ```toml").skip(1);
    let example: Vec<&str> = lines
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//!").trim_start())
        .collect();
    let config = valid(&example.join("\n"));
    assert_eq!(config.account.name, "lab");
    assert_eq!(config.delay.far_read.mean_ns(), 300_000.0);
    assert_eq!(config.ops, [None]);
}
