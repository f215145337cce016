//! Built-in profiles, and their text as a file that a user can edit.

use cloud::load_profile::{self, LoadProfile};
use units::{Bytes, Share, thousands, unknown};

use crate::avs::profile::Profile;
use crate::avs::profile_file;
use crate::avs::statement::Statement;

/// Columns of comments in the file.
const WIDTH: usize = 78;

/// The description of the format in the file.
const FORM: &str = r##"
# A machine belongs to the first [[class]] whose keys all match, otherwise to
# [default]:
#
# [[class]]
# name = "databases"
# vm = ["sql*", "*-ora-??"]     # any of these; `*` any characters, `?` one
# folder = "*/Production/*"     # also resource_pool, datacenter, cluster, host,
# os = "*Windows*"              # os, annotation
# column = { Tier = "gold" }    # another column of vInfo: an attribute, a tag
# iops_per_vm = 500             # or iops_per_vcpu, iops_per_gib (in use)
# throughput_per_vm = "8MiB/s"  # or throughput_per_vcpu, throughput_per_gib
# transfer_size = "16KiB"       # with one of the two
# read = "80%"
#
# Measured loads of Live Optics take precedence.
"##;

/// Names of the built-in profiles.
pub fn names() -> Vec<String> {
    load_profile::all().into_iter().map(|profile| profile.name).collect()
}

/// A built-in profile.
///
/// # Errors
/// The name is unknown; the message has the nearest one, or all names.
pub fn built_in(name: &str) -> Result<(LoadProfile, Profile), String> {
    let Some(row) = load_profile::named(name) else {
        let names = names();
        return Err(unknown(name, &names.iter().map(String::as_str).collect::<Vec<_>>()));
    };
    let mut profile = profile_file::parse(&text(&row), &row.name)
        .expect("a test reads every built-in profile as it is printed");
    for class in profile.classes.iter_mut().chain(&mut profile.default) {
        if let Statement::ClassLoad { built_in, .. } = &mut class.reason.statement {
            *built_in = Some((row.about.clone(), row.arithmetic()));
        }
        class.reason.rows = vec![row.row()];
    }
    Ok((row, profile))
}

/// The text of a built-in profile as a file.
pub fn text(row: &LoadProfile) -> String {
    let mut text = String::new();
    let mut say = |words: String| wrap(&words, &mut text);
    say(format!(
        "A profile for `fourcorners avs --rvtools export.xlsx --profile FILE`: {}.",
        row.about
    ));
    say(format!("Source: {} ({}).", row.origin.source, row.origin.date));
    if let Some(note) = &row.origin.note {
        say(format!("Note: {note}."));
    }
    if !row.unconfirmed.is_empty() {
        let keys: Vec<String> = row.unconfirmed.iter().map(|key| format!("`{key}`")).collect();
        say(format!(
            "Not confirmed by any document: {}. Replace these by your own values.",
            keys.join(", ")
        ));
    }
    text.push('#');
    text.push_str(FORM);
    let key = match row.each {
        load_profile::Each::Machine => "iops_per_vm",
        load_profile::Each::User { .. } => "iops_per_vcpu",
        load_profile::Each::Terabyte => "iops_per_gib",
    };
    let amount = decimal(row.milli_ops()).replace(',', "_");
    text.push_str(&format!(
        "\nname = \"{}\"\n\n[default]\n{key} = {amount}  # {}\n",
        row.name,
        row.arithmetic()
    ));
    if let Some(bytes) = row.transfer_bytes {
        text.push_str(&format!("transfer_size = \"{}\"\n", Bytes::new(bytes)));
    }
    if let Some(read) = row.read_permille.map(Share::from_permille) {
        text.push_str(&format!("read = \"{}\"\n", read.to_string().replace(' ', "")));
    }
    text
}

/// Thousandths as a decimal number: `1,000`, `0.5`.
pub fn decimal(milli: u64) -> String {
    let fraction = format!("{:03}", milli % 1000);
    match fraction.trim_end_matches('0') {
        "" => thousands(milli / 1000),
        fraction => format!("{}.{fraction}", milli / 1000),
    }
}

/// Appends words as wrapped comment lines.
fn wrap(words: &str, text: &mut String) {
    let mut line = String::from("#");
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > 1 {
            text.push_str(&line);
            text.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_survives_printing_and_parsing() {
        for name in names() {
            let (row, profile) = built_in(&name).unwrap();
            let class = profile.default.as_ref().unwrap();
            assert_eq!(class.load.ops.unwrap().milli, row.milli_ops(), "{name}");
            assert_eq!(class.load.read, row.read_permille.map(Share::from_permille), "{name}");
            assert_eq!(class.load.transfer_bytes, row.transfer_bytes, "{name}");
            assert_eq!(class.reason.rows.len(), 1);
            let wide = text(&row).lines().find(|line| line.chars().count() > 80).map(str::to_owned);
            assert_eq!(wide, None, "{name}");
            assert_eq!(text(&row).contains("Not confirmed"), !row.unconfirmed.is_empty());
        }
    }

    #[test]
    fn the_printed_format_description_is_valid() {
        let class: String =
            FORM.lines().skip(3).map(|line| line.trim_start_matches(['#', ' '])).fold(
                String::new(),
                |text, line| match line.starts_with("Measured") || line.starts_with("transfer") {
                    true => text,
                    false => text + line + "\n",
                },
            );
        let profile = profile_file::parse(&class, "form").unwrap();
        assert_eq!(profile.classes[0].conditions.len(), 4);
    }

    #[test]
    fn a_mistyped_name_is_reported_with_the_nearest() {
        let message = built_in("avd-medum").unwrap_err();
        assert!(message.contains("did you mean `avd-medium`?"), "{message}");
        assert!(built_in("elephants").unwrap_err().starts_with("there are avd-light"));
    }

    #[test]
    fn thousandths_are_exact() {
        assert_eq!(decimal(1_000_000), "1,000");
        assert_eq!(decimal(1074), "1.074");
        assert_eq!(decimal(500), "0.5");
    }
}
