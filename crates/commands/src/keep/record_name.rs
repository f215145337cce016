//! How records are named in commands that are printed for the user.

use store::{Listed, Store};

/// An ID is cut to this length at least, which is date and time.
const PREFIX_MIN: usize = 15;

/// The shortest name of a record that stays clear: its label, `last` if it is the newest, or the
/// beginning of its ID.
pub fn short_name(store: &Store, id: &str) -> String {
    let label = store.annotation(id).ok().and_then(|annotation| annotation.label);
    if let Some(label) = label {
        return label.to_string();
    }
    if store.resolve("last").is_ok_and(|newest| newest == id) {
        return "last".to_owned();
    }
    let ends = (PREFIX_MIN..id.len()).filter(|end| id.is_char_boundary(*end));
    let prefixes = ends.map(|end| &id[..end]);
    // Without the hyphen at the end of a part.
    let mut whole_parts = prefixes.filter(|prefix| id[prefix.len()..].starts_with('-'));
    let is_clear = |prefix: &&str| store.resolve(prefix).is_ok_and(|found| found == id);
    whole_parts.find(is_clear).unwrap_or(id).to_owned()
}

/// The newest record of the same experiment that is older than this one, by its short name.
pub fn previous(store: &Store, id: &str) -> Option<String> {
    let listed = store.list().ok()?;
    let this = listed.iter().find(|one| one.id == id)?;
    let is_same = |one: &&Listed| {
        one.id != id && one.name == this.name && one.started_unix_ms <= this.started_unix_ms
    };
    let previous = listed.iter().filter(is_same).max_by_key(|one| one.started_unix_ms)?;
    Some(match store.resolve("last~1") {
        Ok(before_last) if before_last == previous.id => "last~1".to_owned(),
        _ => short_name(store, &previous.id),
    })
}
