//! Loads by class, for machines without measured loads.
//!
//! A profile is a list of classes, each with patterns and a load. A machine belongs to the first
//! class whose patterns all match, otherwise to `[default]`, if present.
//! [`crate::avs::profile_file`] describes the file format.

use crate::avs::class_load::ClassLoad;
use crate::avs::machine::{Label, Machine};
use crate::avs::statement::Reason;

/// Classes; the first match applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// In order.
    pub classes: Vec<Class>,
    /// The class of machines that no other matches.
    pub default: Option<Class>,
    /// Headings of the inventory columns that classes match.
    pub columns: Vec<String>,
}

/// A class of machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Conditions; all must match.
    pub conditions: Vec<Condition>,
    /// The load of each machine.
    pub load: ClassLoad,
    /// The load with its source.
    pub reason: Reason,
}

/// A condition: any of the patterns must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The label to match.
    pub label: Label,
    /// Case-insensitive patterns: `*` matches any characters, `?` one. A machine without the label
    /// matches none.
    pub patterns: Vec<String>,
}

/// The class of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassOf {
    /// By its index in the profile.
    Class(usize),
    /// The default class.
    Default,
}

impl Profile {
    /// The class of a machine; `None` if none matches and there is no default.
    pub fn class_of(&self, machine: &Machine) -> Option<ClassOf> {
        let matching = self.classes.iter().position(|class| class.matches(machine));
        let class = matching.map(ClassOf::Class);
        class.or_else(|| self.default.is_some().then_some(ClassOf::Default))
    }

    /// The class itself.
    pub fn class(&self, of: ClassOf) -> Option<&Class> {
        match of {
            ClassOf::Class(at) => self.classes.get(at),
            ClassOf::Default => self.default.as_ref(),
        }
    }

    /// All classes in order, the default last.
    pub fn all(&self) -> impl Iterator<Item = (ClassOf, &Class)> {
        let classes = self.classes.iter().enumerate();
        let classes = classes.map(|(at, class)| (ClassOf::Class(at), class));
        classes.chain(self.default.iter().map(|class| (ClassOf::Default, class)))
    }
}

impl Class {
    fn matches(&self, machine: &Machine) -> bool {
        !self.conditions.is_empty()
            && self.conditions.iter().all(|condition| condition.matches(machine))
    }
}

impl Condition {
    fn matches(&self, machine: &Machine) -> bool {
        let labels = &machine.labels;
        let any = |text: &str| self.patterns.iter().any(|pattern| glob(pattern, text));
        // A missing label matches no pattern, not even `*`.
        let one = |label: &Option<String>| label.as_deref().is_some_and(any);
        match self.label {
            Label::Vm => any(&machine.name),
            Label::Folder => one(&labels.folder),
            Label::ResourcePool => one(&labels.resource_pool),
            Label::Datacenter => one(&labels.datacenter),
            Label::Cluster => one(&labels.cluster),
            Label::Host => one(&labels.host),
            Label::Os => labels.os.iter().any(|os| any(os)),
            Label::Annotation => one(&labels.annotation),
            Label::Column(at) => one(labels.columns.get(at).unwrap_or(&None)),
        }
    }
}

/// Whether a pattern matches the whole text, case-insensitive: `*` matches any characters, `?` one.
/// Backtracks only to the last `*`, because backtracking to an earlier one never helps.
pub fn glob(pattern: &str, text: &str) -> bool {
    let letters = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (pattern, text) = (letters(pattern), letters(text));
    let (mut at, mut next) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(next) {
            Some('*') => {
                star = Some((next, at));
                next += 1;
            }
            Some(&letter) if letter == '?' || letter == text[at] => (at, next) = (at + 1, next + 1),
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, next) = (taken + 1, star_at + 1);
            }
        }
    }
    pattern[next..].iter().all(|&letter| letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_whole_text_case_insensitively() {
        for (pattern, text, matches) in [
            ("sql*", "SQL-01", true),
            ("sql*", "mysql", false),
            ("*sql*", "my-SQL-01", true),
            ("web??", "web01", true),
            ("web??", "web1", false),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxbx", false),
            ("", "", true),
            ("*", "", true),
            ("", "a", false),
            ("/*/Prod/*", "/dc/Prod/db", true),
            ("?", "*", true),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} {text}");
        }
        assert!(!glob(&"*a".repeat(2000), &"a".repeat(1999)));
    }
}
