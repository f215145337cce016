//! Reads a profile of loads from TOML.
//!
//! For: turning text into a [`Profile`], with every mistake at once, each with its place. Not for:
//! reading files; the caller gives the text.
//!
//! ```toml
//! name = "our estate"             # may be left out
//!
//! [[class]]                       # the first that matches counts
//! name = "databases"
//! vm = ["sql*", "*-ora-??"]       # any of these; `*` any letters, `?` one; case does not matter
//! folder = "*/Production/*"       # and this too; also resource_pool, datacenter, cluster, host,
//! os = "*Windows*"                # os, annotation
//! column = { Environment = "prod*" }   # any other column of vInfo, such as an attribute or tag
//! iops_per_vcpu = 100             # or iops_per_vm, iops_per_gib (held on datastores)
//! transfer_size = "16KiB"
//! read = "80%"
//!
//! [default]                       # machines that no class matches
//! throughput_per_vm = "2MiB/s"    # or throughput_per_vcpu, throughput_per_gib
//! ```

use cloud::reason::Reason;
use predict::fields::{self, Fields};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::diagnostic::{Diagnostic, Mistakes};
use units::{BytesPerSec, OpsPerSec};

use crate::avs::profile::{Class, ClassLoad, Each, Label, Profile, Rate, Wanted};
use crate::avs::profile_text;

/// More than any machine does, and far from where sums no longer fit.
const RATE_MAX: f64 = 1e12;
/// What a machine can be told by.
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
/// The name of the class of machines that no other matches.
const DEFAULT: &str = "default";

/// Reads a profile.
///
/// * `file` — its name as the user gave it
///
/// # Errors
/// Every mistake, in the order of the text.
pub fn parse(text: &str, file: &str) -> Result<Profile, Vec<Diagnostic>> {
    let columns = Vec::new();
    fields::read(text, file, |tree, mistakes| Walk { mistakes, columns }.profile(tree, file))
}

struct Walk<'a, 't> {
    mistakes: &'a mut Mistakes<'t>,
    columns: Vec<String>,
}

impl Walk<'_, '_> {
    fn profile(mut self, tree: &DeTable<'_>, file: &str) -> Profile {
        let mut top = Fields::new(tree, 0..0, "the profile");
        let name = top.text("name", self.mistakes).unwrap_or_else(|| file.to_owned());
        let classes = self.classes(&mut top);
        let default = top.node(DEFAULT).and_then(|node| match node.get_ref() {
            DeValue::Table(table) => Some(self.default(table, node)),
            _ => {
                self.mistakes.add(node.span(), "`default` is a table", "write `[default]`");
                None
            }
        });
        if classes.is_empty() && default.is_none() && self.mistakes.is_empty() {
            let hint = "add `[[class]]` or `[default]`";
            self.mistakes.add(0..0, "the profile has no class", hint);
        }
        top.finish(self.mistakes);
        Profile { name, classes, default, columns: self.columns }
    }

    fn classes(&mut self, top: &mut Fields<'_, '_>) -> Vec<Class> {
        let mut classes: Vec<Class> = Vec::new();
        for mut fields in top.tables("class", "a class", self.mistakes) {
            let whole = fields.span.clone();
            let name = fields.text("name", self.mistakes).unwrap_or_else(|| {
                if !fields.has("name") {
                    self.mistakes.add(whole.clone(), "a class lacks `name`", "give it a name");
                }
                String::new()
            });
            let is_taken = name == DEFAULT || classes.iter().any(|class| class.name == name);
            if is_taken && !name.is_empty() {
                let hint = "every class has another name";
                self.mistakes.add(fields.place("name"), format!("a second `{name}`"), hint);
            }
            let wanted = self.wanted(&mut fields);
            let labels = LABELS.iter().map(|(key, _)| *key);
            if !labels.chain([COLUMN]).any(|key| fields.has(key)) {
                let labels: Vec<&str> = LABELS.iter().map(|(key, _)| *key).collect();
                let hint = format!(
                    "give {} or `{COLUMN}`; machines that no class matches are for `[default]`",
                    labels.join(", ")
                );
                self.mistakes.add(whole, "a class that says no machines", hint);
            }
            let load = self.load(&mut fields);
            fields.finish(self.mistakes);
            let reason = Reason::asked(profile_text::said(&name, &load));
            classes.push(Class { name, wanted, load, reason });
        }
        classes
    }

    fn default(&mut self, table: &DeTable<'_>, node: &Spanned<DeValue<'_>>) -> Class {
        let mut fields = Fields::new(table, node.span(), "the default");
        for key in LABELS.iter().map(|(key, _)| *key).chain([COLUMN]) {
            if fields.has(key) {
                // Known, so that it is not told twice.
                fields.node(key);
                let hint = "`[default]` is for all machines that no class matches";
                self.mistakes.add(fields.place(key), format!("`{key}` does not belong here"), hint);
            }
        }
        let load = self.load(&mut fields);
        fields.finish(self.mistakes);
        let reason = Reason::asked(profile_text::said(DEFAULT, &load));
        Class { name: DEFAULT.to_owned(), wanted: Vec::new(), load, reason }
    }

    /// What must match.
    fn wanted(&mut self, fields: &mut Fields<'_, '_>) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for &(key, label) in LABELS {
            if let Some(node) = fields.node(key) {
                wanted.extend(self.patterns(node).map(|patterns| Wanted { label, patterns }));
            }
        }
        let Some(node) = fields.node(COLUMN) else { return wanted };
        let DeValue::Table(table) = node.get_ref() else {
            let hint = "write `column = { Environment = \"prod*\" }`";
            self.mistakes.add(node.span(), "`column` is a table of headings and patterns", hint);
            return wanted;
        };
        for (heading, node) in table.iter() {
            let heading = heading.get_ref().trim();
            let known = self.columns.iter().position(|column| column == heading);
            let at = known.unwrap_or(self.columns.len());
            if known.is_none() {
                self.columns.push(heading.to_owned());
            }
            let label = Label::Column(at);
            wanted.extend(self.patterns(node).map(|patterns| Wanted { label, patterns }));
        }
        wanted
    }

    /// A pattern or a list of patterns.
    fn patterns(&mut self, node: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let one = |node: &Spanned<DeValue<'_>>| match node.get_ref() {
            DeValue::String(text) => Some(text.trim().to_owned()),
            _ => None,
        };
        let patterns: Option<Vec<String>> = match node.get_ref() {
            DeValue::Array(items) => items.iter().map(one).collect(),
            _ => one(node).map(|pattern| vec![pattern]),
        };
        let patterns = patterns.filter(|patterns| !patterns.is_empty());
        if patterns.is_none() {
            let hint = "allowed: a pattern such as `\"sql*\"`, or a list of patterns";
            self.mistakes.add(node.span(), "this is no pattern", hint);
        }
        patterns
    }

    fn load(&mut self, fields: &mut Fields<'_, '_>) -> ClassLoad {
        let ops = self.rate(fields, OPS, "a rate such as `50/s`, or 0", |text| {
            text.parse::<OpsPerSec>().ok().map(OpsPerSec::get)
        });
        let bytes = self.rate(fields, THROUGHPUT, "a throughput such as `2MiB/s`, or 0", |text| {
            text.parse::<BytesPerSec>().ok().map(BytesPerSec::get)
        });
        let has = |keys: &[(&str, Each)]| keys.iter().any(|(key, _)| fields.has(key));
        let (has_ops, has_bytes) = (has(OPS), has(THROUGHPUT));
        let transfer_bytes = fields.bytes("transfer_size", self.mistakes);
        let read = fields.read("read", self.mistakes, "a share from `0%` to `100%`", |text| {
            text.parse::<units::Percent>().ok()
        });
        if !has_ops && !has_bytes {
            let hint = format!(
                "give one of {}; `iops_per_vm = 0` where there is none",
                OPS.iter().chain(THROUGHPUT).map(|(key, _)| *key).collect::<Vec<_>>().join(", ")
            );
            self.mistakes.add(fields.span.clone(), "a class without a load", hint);
        }
        if has_ops && has_bytes && transfer_bytes.is_some() {
            let place = fields.place("transfer_size");
            let message = "`transfer_size` beside operations and throughput";
            let hint = "throughput over operations is the size already: leave one of the three out";
            self.mistakes.add(place, message, hint);
        }
        let read_permille = read.map(|read| u64::from(read.permille()));
        ClassLoad { ops, bytes, transfer_bytes, read_permille }
    }

    /// One of several keys that contradict each other.
    fn rate(
        &mut self,
        fields: &mut Fields<'_, '_>,
        keys: &'static [(&'static str, Each)],
        allowed: &str,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Option<Rate> {
        let mut found: Option<(&str, Option<Rate>)> = None;
        for &(key, each) in keys {
            let rate = fields.read(key, self.mistakes, allowed, |text| {
                read(text).filter(|rate| (0.0..=RATE_MAX).contains(rate))
            });
            if !fields.has(key) {
                continue;
            }
            if let Some((other, _)) = found {
                let message = format!("`{key}` contradicts `{other}`");
                self.mistakes.add(fields.place(key), message, "give one of them");
            }
            let rate = rate.map(|rate| Rate { milli: thousandths(rate), each });
            found = found.or(Some((key, rate)));
        }
        found.and_then(|(_, rate)| rate)
    }
}

/// Upwards, so that a load is never made smaller; not for what floating point adds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within limits")]
fn thousandths(rate: f64) -> u64 {
    let milli = rate * 1000.0;
    let near = milli.round();
    if (milli - near).abs() < 1e-6 { near as u64 } else { milli.ceil() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(databases.wanted.len(), 4);
        assert_eq!(databases.load.ops, Some(Rate { milli: 100_000, each: Each::Vcpu }));
        assert_eq!(databases.load.transfer_bytes, Some(16_384));
        assert_eq!(databases.load.read_permille, Some(800));
        assert_eq!(
            databases.reason.text,
            "databases: 100 ops/s of each vCPU, 16 KiB each, 80 % reads"
        );
        assert_eq!(files.wanted[1].label, Label::Column(1));
        assert_eq!(files.load.ops, Some(Rate { milli: 100, each: Each::Gib }));
        assert_eq!(files.load.bytes, Some(Rate { milli: 2_097_152_000, each: Each::Vm }));
        assert_eq!(profile.default.unwrap().load.ops.unwrap().milli, 25_000);
    }

    #[test]
    fn every_mistake_says_where_and_what_may_have_been_meant() {
        for (from, to, said) in [
            ("iops_per_vcpu = 100", "iops_per_cpu = 100", "did you mean `iops_per_vcpu`?"),
            ("iops_per_vcpu = 100", "iops_per_vcpu = -1", "p.toml:9:17: wrong value"),
            ("iops_per_vcpu = 100", "iops_per_vcpu = \"1MiB/s\"", "a rate such as `50/s`"),
            (
                "iops_per_vcpu = 100",
                "iops_per_vcpu = 100\niops_per_vm = 5",
                "`iops_per_vcpu` contradicts `iops_per_vm`",
            ),
            ("iops_per_vcpu = 100\n", "", "p.toml:4:1: a class without a load"),
            (
                "iops_per_vcpu = 100",
                "iops_per_vcpu = 100\nthroughput_per_vm = \"2MiB/s\"",
                "`transfer_size` beside operations and throughput",
            ),
            ("\"16KiB\"", "\"0\"", "wrong value for `transfer_size`"),
            ("\"80%\"", "\"180%\"", "a share from `0%` to `100%`"),
            ("name = \"files\"", "name = \"databases\"", "a second `databases`"),
            ("name = \"files\"\n", "", "a class lacks `name`"),
            ("os = \"*Server*\"\ncolumn = { Tier = \"bronze\" }\n", "", "says no machines"),
            ("os = \"*Server*\"", "os = 5", "this is no pattern"),
            ("os = \"*Server*\"", "oss = \"*\"", "did you mean `os`?"),
            ("column = { Tier = \"bronze\" }", "column = \"Tier\"", "headings and patterns"),
            ("[default]", "[default]\nvm = \"*\"", "`vm` does not belong here"),
            ("[default]", "[defaults]", "did you mean `default`?"),
            ("[default]", "[[default]]", "`default` is a table"),
            ("[[class]]", "[class]", "not TOML"),
            ("name = \"files\"", "name = files", "this is not TOML"),
        ] {
            let told = mistakes(from, to);
            assert!(told.iter().any(|one| one.contains(said)), "{to}: {told:#?}");
        }
        let empty = parse("", "p.toml").expect_err("no class");
        assert!(empty[0].to_string().contains("the profile has no class"));
        let list = parse("class = 5\n[default]\niops_per_vm = 1\n", "p.toml").expect_err("a list");
        assert!(list[0].to_string().contains("`class` is a list of tables"));
    }
}
