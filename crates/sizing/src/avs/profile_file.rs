//! Reads a profile of loads from TOML.
//!
//! For: parsing text into a [`Profile`] and reporting all mistakes with their positions. Not for:
//! reading files; the caller passes the text.
//!
//! ```toml
//! name = "our estate"             # optional
//!
//! [[class]]                       # the first match applies
//! name = "databases"
//! vm = ["sql*", "*-ora-??"]       # any of these; `*` any characters, `?` one; case-insensitive
//! folder = "*/Production/*"       # and this; also resource_pool, datacenter, cluster, host,
//! os = "*Windows*"                # os, annotation
//! column = { Environment = "prod*" }   # any other column of vInfo, such as an attribute or tag
//! iops_per_vcpu = 100             # or iops_per_vm, iops_per_gib (in use on datastores)
//! transfer_size = "16KiB"
//! read = "80%"
//!
//! [default]                       # machines that no class matches
//! throughput_per_vm = "2MiB/s"    # or throughput_per_vcpu, throughput_per_gib
//! ```

use settings::{Diagnostic, Node, Problems, TableReader, text_list};
use toml::de::{DeTable, DeValue};
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

use crate::avs::class_load::{ClassLoad, Each, Rate};
use crate::avs::machine::Label;
use crate::avs::profile::{Class, Condition, Profile};
use crate::avs::statement::{Reason, Statement};

/// Far above the load of any machine.
const RATE_MAX: f64 = 1e12;
/// Keys that match labels.
const LABELS: &[(&str, Label)] = &[
    ("vm", Label::Vm),
    ("folder", Label::Folder),
    ("resource_pool", Label::ResourcePool),
    ("datacenter", Label::Datacenter),
    ("cluster", Label::Cluster),
    ("host", Label::Host),
    ("os", Label::Os),
    ("annotation", Label::Annotation),
];
const COLUMN: &str = "column";
const OPS: &[(&str, Each)] =
    &[("iops_per_vm", Each::Vm), ("iops_per_vcpu", Each::Vcpu), ("iops_per_gib", Each::Gib)];
const THROUGHPUT: &[(&str, Each)] = &[
    ("throughput_per_vm", Each::Vm),
    ("throughput_per_vcpu", Each::Vcpu),
    ("throughput_per_gib", Each::Gib),
];
/// The table and the name of the default class.
const DEFAULT: &str = "default";

/// Reads a profile.
///
/// * `file` — its name as the user gave it
///
/// # Errors
/// All mistakes, in the order of the text.
pub fn parse(text: &str, file: &str) -> Result<Profile, Vec<Diagnostic>> {
    let columns = Vec::new();
    settings::parse(text, file, |tree, problems| {
        ProfileReader { problems, columns }.profile(tree, file)
    })
}

struct ProfileReader<'a, 't> {
    problems: &'a mut Problems<'t>,
    columns: Vec<String>,
}

impl ProfileReader<'_, '_> {
    fn profile(mut self, tree: &DeTable<'_>, file: &str) -> Profile {
        let mut top = TableReader::root(tree);
        let name = top.text("name", self.problems).unwrap_or_else(|| file.to_owned());
        let classes = self.classes(&mut top);
        let default = top.table(DEFAULT, self.problems).map(|fields| self.default(fields));
        if classes.is_empty() && default.is_none() && self.problems.is_empty() {
            let hint = "add `[[class]]` or `[default]`";
            self.problems.add(0..0, "the profile has no class", hint);
        }
        top.finish(self.problems);
        Profile { name, classes, default, columns: self.columns }
    }

    fn classes(&mut self, top: &mut TableReader<'_, '_>) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        for mut fields in top.tables("class", self.problems) {
            let whole = fields.span.clone();
            let name = fields.required_text("name", self.problems).unwrap_or_default();
            let is_taken = name == DEFAULT || classes.iter().any(|class| class.name == name);
            if is_taken && !name.is_empty() {
                let message = format!("the name `{name}` is used twice");
                self.problems.add(fields.span_of("name"), message, "names must differ");
            }
            let conditions = self.conditions(&mut fields);
            let labels = LABELS.iter().map(|(key, _)| *key);
            if !labels.chain([COLUMN]).any(|key| fields.has(key)) {
                let labels: Vec<&str> = LABELS.iter().map(|(key, _)| *key).collect();
                let hint = format!(
                    "give {} or `{COLUMN}`; `[default]` is for machines that no class matches",
                    labels.join(", ")
                );
                self.problems.add(whole, "the class has no patterns", hint);
            }
            let load = self.load(&mut fields);
            fields.finish(self.problems);
            let reason = class_reason(&name, load);
            classes.push(Class { name, conditions, load, reason });
        }
        classes
    }

    fn default(&mut self, mut fields: TableReader<'_, '_>) -> Class {
        for key in LABELS.iter().map(|(key, _)| *key).chain([COLUMN]) {
            if fields.has(key) {
                // Reading the key avoids a second report as unknown.
                fields.node(key);
                let hint = "`[default]` is for all machines that no class matches";
                self.problems.add(
                    fields.span_of(key),
                    format!("`{key}` does not belong here"),
                    hint,
                );
            }
        }
        let load = self.load(&mut fields);
        fields.finish(self.problems);
        let reason = class_reason(DEFAULT, load);
        Class { name: DEFAULT.to_owned(), conditions: Vec::new(), load, reason }
    }

    /// The conditions of a class.
    fn conditions(&mut self, fields: &mut TableReader<'_, '_>) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for &(key, label) in LABELS {
            if let Some(node) = fields.node(key) {
                conditions
                    .extend(self.patterns(node).map(|patterns| Condition { label, patterns }));
            }
        }
        let Some(node) = fields.node(COLUMN) else { return conditions };
        let DeValue::Table(table) = node.get_ref() else {
            let hint = "write `column = { Environment = \"prod*\" }`";
            self.problems.add(node.span(), "`column` is a table of headings and patterns", hint);
            return conditions;
        };
        for (heading, node) in table.iter() {
            let heading = heading.get_ref().trim();
            let known = self.columns.iter().position(|column| column == heading);
            let at = known.unwrap_or(self.columns.len());
            if known.is_none() {
                self.columns.push(heading.to_owned());
            }
            let label = Label::Column(at);
            conditions.extend(self.patterns(node).map(|patterns| Condition { label, patterns }));
        }
        conditions
    }

    /// A pattern or a list of patterns.
    fn patterns(&mut self, node: &Node<'_>) -> Option<Vec<String>> {
        let patterns = text_list(node);
        if patterns.is_none() {
            let hint = "allowed: a pattern such as `\"sql*\"`, or a list of patterns";
            self.problems.add(node.span(), "this is not a pattern", hint);
        }
        Some(patterns?.into_iter().map(|(pattern, _)| pattern).collect())
    }

    fn load(&mut self, fields: &mut TableReader<'_, '_>) -> ClassLoad {
        let ops = self.rate(fields, OPS, "a rate such as `50/s`, or 0", |text| {
            text.parse::<OpsPerSec>().ok().map(OpsPerSec::get)
        });
        let bytes = self.rate(fields, THROUGHPUT, "a throughput such as `2MiB/s`, or 0", |text| {
            text.parse::<BytesPerSec>().ok().map(BytesPerSec::get)
        });
        let has = |keys: &[(&str, Each)]| keys.iter().any(|(key, _)| fields.has(key));
        let (has_ops, has_bytes) = (has(OPS), has(THROUGHPUT));
        let transfer_bytes = fields.bytes("transfer_size", self.problems).map(Bytes::get);
        let read = fields.share("read", self.problems);
        if !has_ops && !has_bytes {
            let hint = format!(
                "give one of {}; for no load `iops_per_vm = 0`",
                OPS.iter().chain(THROUGHPUT).map(|(key, _)| *key).collect::<Vec<_>>().join(", ")
            );
            self.problems.add(fields.span.clone(), "the class has no load", hint);
        }
        if has_ops && has_bytes && transfer_bytes.is_some() {
            let span = fields.span_of("transfer_size");
            let message = "`transfer_size` in addition to operations and throughput";
            let hint = "operations and throughput already give the size: remove one of the three";
            self.problems.add(span, message, hint);
        }
        ClassLoad { ops, bytes, transfer_bytes, read: read.map(Share::from) }
    }

    /// One of several mutually exclusive keys.
    fn rate(
        &mut self,
        fields: &mut TableReader<'_, '_>,
        keys: &'static [(&'static str, Each)],
        allowed: &str,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Option<Rate> {
        let mut found: Option<(&str, Option<Rate>)> = None;
        for &(key, each) in keys {
            let rate = fields.read(key, self.problems, allowed, |text| {
                read(text).filter(|rate| (0.0..=RATE_MAX).contains(rate))
            });
            if !fields.has(key) {
                continue;
            }
            if let Some((other, _)) = found {
                let message = format!("`{key}` contradicts `{other}`");
                self.problems.add(fields.span_of(key), message, "give one of them");
            }
            let rate = rate.map(|rate| Rate { milli: thousandths(rate), each });
            found = found.or(Some((key, rate)));
        }
        found.and_then(|(_, rate)| rate)
    }
}

/// Rounds up, so that a load never shrinks, except for floating-point noise.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
fn thousandths(rate: f64) -> u64 {
    let milli = rate * 1000.0;
    let near = milli.round();
    if (milli - near).abs() < 1e-6 { near as u64 } else { milli.ceil() as u64 }
}

fn class_reason(name: &str, load: ClassLoad) -> Reason {
    let class = name.to_owned();
    Reason::given(Statement::ClassLoad { class, load, built_in: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_rounded_up_unless_the_excess_is_noise() {
        // As a floating-point number, 2.007 times 1,000 is above 2,007.
        assert_eq!([2.007, 2.0071, 2.0069, 0.0].map(thousandths), [2007, 2008, 2007, 0]);
    }

    const WHOLE: &str = r#"
name = "our estate"

[[class]]
name = "databases"
vm = ["sql*", "*-ora-??"]
folder = "*/Production/*"
column = { Environment = "prod*", Tier = ["gold", "silver"] }
iops_per_vcpu = 100
transfer_size = "16KiB"
read = "80%"

[[class]]
name = "files"
os = "*Server*"
column = { Tier = "bronze" }
iops_per_gib = 0.1
throughput_per_vm = "2MiB/s"

[default]
iops_per_vm = "25/s"
"#;

    fn mistakes(from: &str, to: &str) -> Vec<String> {
        assert!(WHOLE.contains(from), "{from}");
        let mistakes = parse(&WHOLE.replacen(from, to, 1), "p.toml").expect_err(to);
        mistakes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_profile_is_read() {
        let profile = parse(WHOLE, "p.toml").unwrap();
        assert_eq!(profile.name, "our estate");
        assert_eq!(profile.columns, ["Environment", "Tier"]);
        let [databases, files] = &profile.classes[..] else { panic!("two classes") };
        assert_eq!(databases.conditions.len(), 4);
        assert_eq!(databases.load.ops, Some(Rate { milli: 100_000, each: Each::Vcpu }));
        assert_eq!(databases.load.transfer_bytes, Some(16_384));
        assert_eq!(databases.load.read, Some(Share::from_percent(80)));
        let expected = class_reason("databases", databases.load);
        assert_eq!(databases.reason, expected);
        assert_eq!(files.conditions[1].label, Label::Column(1));
        assert_eq!(files.load.ops, Some(Rate { milli: 100, each: Each::Gib }));
        assert_eq!(files.load.bytes, Some(Rate { milli: 2_097_152_000, each: Each::Vm }));
        assert_eq!(profile.default.unwrap().load.ops.unwrap().milli, 25_000);
    }

    #[test]
    fn mistakes_are_reported_with_position_and_suggestion() {
        for (from, to, expected) in [
            ("iops_per_vcpu = 100", "iops_per_cpu = 100", "did you mean `iops_per_vcpu`?"),
            ("iops_per_vcpu = 100", "iops_per_vcpu = -1", "p.toml:9:17: wrong value"),
            ("iops_per_vcpu = 100", "iops_per_vcpu = \"1MiB/s\"", "a rate such as `50/s`"),
            (
                "iops_per_vcpu = 100",
                "iops_per_vcpu = 100\niops_per_vm = 5",
                "`iops_per_vcpu` contradicts `iops_per_vm`",
            ),
            ("iops_per_vcpu = 100\n", "", "p.toml:4:1: the class has no load"),
            (
                "iops_per_vcpu = 100",
                "iops_per_vcpu = 100\nthroughput_per_vm = \"2MiB/s\"",
                "`transfer_size` in addition to operations and throughput",
            ),
            ("\"16KiB\"", "\"0\"", "wrong value for `transfer_size`"),
            ("\"80%\"", "\"180%\"", "a share from `0%` to `100%`"),
            ("name = \"files\"", "name = \"databases\"", "the name `databases` is used twice"),
            ("name = \"files\"\n", "", "[[class]] lacks `name`"),
            (
                "os = \"*Server*\"\ncolumn = { Tier = \"bronze\" }\n",
                "",
                "the class has no patterns",
            ),
            ("os = \"*Server*\"", "os = 5", "this is not a pattern"),
            ("os = \"*Server*\"", "oss = \"*\"", "did you mean `os`?"),
            ("column = { Tier = \"bronze\" }", "column = \"Tier\"", "headings and patterns"),
            ("[default]", "[default]\nvm = \"*\"", "`vm` does not belong here"),
            ("[default]", "[defaults]", "did you mean `default`?"),
            ("[default]", "[[default]]", "`default` is a table"),
            ("[[class]]", "[class]", "not TOML"),
            ("name = \"files\"", "name = files", "this is not TOML"),
        ] {
            let reported = mistakes(from, to);
            assert!(reported.iter().any(|one| one.contains(expected)), "{to}: {reported:#?}");
        }
        let empty = parse("", "p.toml").expect_err("no class");
        assert!(empty[0].to_string().contains("the profile has no class"));
        let list = parse("class = 5\n[default]\niops_per_vm = 1\n", "p.toml").expect_err("a list");
        assert!(list[0].to_string().contains("`class` is a list of tables"));
    }
}
