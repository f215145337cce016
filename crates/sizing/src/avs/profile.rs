//! Loads by class: what is assumed of machines that nobody measured.
//!
//! A profile is a list of classes, each with patterns and a load. A machine is of the first class
//! whose patterns all match, else of the last resort (`[default]`) where there is one. The file's
//! form is in [`crate::avs::profile_file`].

use cloud::reason::Reason;
use units::Bytes;

use crate::avs::machine::Machine;

/// Thousandths in one.
const MILLI: u128 = 1000;
/// Bytes in a GiB.
const GIB: u128 = 1 << 30;

/// Classes, the first that matches counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// In order.
    pub classes: Vec<Class>,
    /// Of machines that no class matches.
    pub default: Option<Class>,
    /// Columns of the sheet of machines that classes ask for by their headings.
    pub columns: Vec<String>,
}

/// Machines of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// All of these must match.
    pub wanted: Vec<Wanted>,
    /// What its machines do.
    pub load: ClassLoad,
    /// Why its load is what it is, in words, with the facts where there are any.
    pub reason: Reason,
}

/// What must match: any of the patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What of a machine.
    pub label: Label,
    /// `*` stands for any letters, `?` for one; case makes no difference. A machine without what
    /// they are about matches none.
    pub patterns: Vec<String>,
}

/// What a machine can be told by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Its name.
    Vm,
    /// The folder in the inventory, with its path.
    Folder,
    /// The resource pool.
    ResourcePool,
    /// The data centre.
    Datacenter,
    /// The cluster.
    Cluster,
    /// The host that it runs on.
    Host,
    /// The operating system, as configured or as its tools tell.
    Os,
    /// The annotation.
    Annotation,
    /// Another column of the sheet of machines, by its place in [`Profile::columns`].
    Column(usize),
}

/// What an inventory says of a machine beside its sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The folder, with its path.
    pub folder: Option<String>,
    /// The resource pool.
    pub resource_pool: Option<String>,
    /// The data centre.
    pub datacenter: Option<String>,
    /// The cluster.
    pub cluster: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The operating system, by whoever tells it.
    pub os: Vec<String>,
    /// The annotation.
    pub annotation: Option<String>,
    /// Other columns, in the order of [`Profile::columns`].
    pub columns: Vec<Option<String>>,
}

/// What each machine of a class does. What is `None` is as for all machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassLoad {
    /// Operations per second.
    pub ops: Option<Rate>,
    /// Bytes per second.
    pub bytes: Option<Rate>,
    /// Bytes of one operation.
    pub transfer_bytes: Option<u64>,
    /// The share of reads, in thousandths.
    pub read_permille: Option<u64>,
}

/// So much for each of something that a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Thousandths of operations or bytes per second.
    pub milli: u64,
    /// For each of what.
    pub each: Each,
}

/// What a rate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// The machine.
    Vm,
    /// A virtual processor.
    Vcpu,
    /// A GiB that it holds on datastores, or that it stores in the wanted sense where the
    /// inventory does not say what it holds.
    Gib,
}

/// The class of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassOf {
    /// By its place in the profile.
    Class(usize),
    /// That of machines which no class matches.
    Default,
}

impl Profile {
    /// The class of a machine; `None` where none matches and there is no last resort.
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

    /// All classes in order, the last resort last.
    pub fn all(&self) -> impl Iterator<Item = (ClassOf, &Class)> {
        let classes = self.classes.iter().enumerate();
        let classes = classes.map(|(at, class)| (ClassOf::Class(at), class));
        classes.chain(self.default.iter().map(|class| (ClassOf::Default, class)))
    }
}

impl Class {
    fn matches(&self, machine: &Machine) -> bool {
        !self.wanted.is_empty() && self.wanted.iter().all(|wanted| wanted.matches(machine))
    }
}

impl Wanted {
    fn matches(&self, machine: &Machine) -> bool {
        let labels = &machine.labels;
        let any = |text: &str| self.patterns.iter().any(|pattern| glob(pattern, text));
        // What a machine does not have is of no pattern, not even of `*`.
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

impl Rate {
    /// For a machine of so many processors that holds so much, upwards.
    pub fn of(self, vcpus: u64, holds: Bytes) -> u64 {
        let milli = u128::from(self.milli);
        let rate = match self.each {
            Each::Vm => milli.div_ceil(MILLI),
            Each::Vcpu => (milli * u128::from(vcpus)).div_ceil(MILLI),
            // Thousandths times bytes stay within 128 bits.
            Each::Gib => (milli * u128::from(holds.get())).div_ceil(MILLI * GIB),
        };
        u64::try_from(rate).unwrap_or(u64::MAX)
    }
}

/// Whether a text is of a pattern, as a whole and without regard to case: `*` stands for any
/// letters, `?` for one. Takes the last `*` back where what follows does not fit, which is enough:
/// an earlier one could not do better.
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
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                (at, next) = (taken + 1, place + 1);
            }
        }
    }
    pattern[next..].iter().all(|&letter| letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_texts_whatever_their_case() {
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

    #[test]
    fn rates_are_exact_and_upwards() {
        let rate = |milli, each| Rate { milli, each }.of(4, Bytes::gib(100));
        assert_eq!(rate(50_000, Each::Vm), 50);
        assert_eq!(rate(40_000, Each::Vcpu), 160);
        assert_eq!(rate(1074, Each::Gib), 108);
        assert_eq!(rate(1, Each::Vm), 1);
        assert_eq!(rate(u64::MAX, Each::Vcpu), u64::MAX / 250 + 1);
        assert_eq!(Rate { milli: 500, each: Each::Gib }.of(4, Bytes::ZERO), 0);
    }
}
