//! Recognises options of fio and Vdbench among the arguments of `run` and `plan`.
//!
//! For: one message that translates all of them with the user's values, and the complete command.
//! Not for: accepting them; an option with a slightly different meaning would measure something
//! else. The options are in [`table`].

pub mod table;

use std::collections::BTreeSet;

use crate::refusal::quoted;
use table::{Equivalent, ForeignOption, Given, OPTIONS};

/// Commands that take an experiment, and so might be given options of another load generator.
const COMMANDS: [&str; 2] = ["run", "plan"];
/// The largest width of the column with the user's options.
const WRITTEN_WIDTH_MAX: usize = 32;

/// The commands and options of this program.
pub trait OwnArguments {
    /// Whether this word is a command.
    fn is_command(&self, word: &str) -> bool;

    /// The option of `command` in a word; `None` if it has no such option.
    fn option(&self, command: &str, word: &str) -> Option<OwnOption>;
}

/// An option of this program in a word of the command line.
#[derive(Clone, Copy, Debug)]
pub struct OwnOption {
    /// Whether it takes a value.
    pub takes_value: bool,
    /// Whether the word includes the value.
    pub has_value: bool,
}

/// What to write instead of the options of other tools; `None` if there are none.
///
/// * `words` - the arguments of the program
pub fn message(words: &[String], own: &dyn OwnArguments) -> Option<String> {
    let command_line = CommandLine::read(words, own)?;
    if command_line.foreign.is_empty() {
        return None;
    }
    let given = Given::new(
        command_line.foreign.iter().map(|one| (one.option.names[0], one.value.as_deref())),
    );
    let translations: Vec<(&Foreign, Result<Equivalent, String>)> =
        command_line.foreign.iter().map(|one| (one, translated(one, &given))).collect();
    let tools: BTreeSet<&str> =
        translations.iter().map(|(one, _)| one.option.tool.name()).collect();
    let tools: Vec<&str> = tools.into_iter().collect();
    let mut lines: Vec<(&str, String)> = Vec::new();
    for (one, translation) in &translations {
        let equivalent = translation.as_ref().map_or_else(Clone::clone, Equivalent::in_words);
        lines.push((&one.written, equivalent));
    }
    let unknown = "unknown, also to fio and Vdbench";
    lines.extend(command_line.unknown.iter().map(|word| (word.as_str(), unknown.to_owned())));
    let widths = lines.iter().map(|(written, _)| written.chars().count());
    let width = widths.max().unwrap_or(0).min(WRITTEN_WIDTH_MAX);
    let mut out =
        format!("these are options of {}; the options of fourcorners are:\n", tools.join(" and "));
    for (written, equivalent) in lines {
        out.push_str(&format!("  {written:<width$}  {equivalent}\n"));
    }
    let equivalents: Option<Vec<&Equivalent>> =
        translations.iter().map(|(_, translation)| translation.as_ref().ok()).collect();
    if let Some(command) = equivalents.and_then(|all| command_line.translated(&all)) {
        out.push_str(&format!("\nThe complete command:\n  {command}\n"));
    }
    Some(out)
}

/// An option of another tool, as the user wrote it.
struct Foreign {
    option: &'static ForeignOption,
    /// `--bs 8k`
    written: String,
    value: Option<String>,
}

fn translated(one: &Foreign, given: &Given<'_>) -> Result<Equivalent, String> {
    match (&one.value, one.option.takes_value) {
        (None, true) => Err("the value is missing".to_owned()),
        (value, _) => (one.option.translate)(value.as_deref().unwrap_or("1"), given),
    }
}

/// The words of a command line, by kind.
#[derive(Default)]
struct CommandLine {
    /// `run` or `plan`; `run` if the user wrote neither.
    command: String,
    target: Option<String>,
    /// Options of fourcorners, as written.
    own: Vec<String>,
    foreign: Vec<Foreign>,
    /// Options of no tool.
    unknown: Vec<String>,
}

impl CommandLine {
    /// Classifies the words; `None` for commands that run no experiment.
    fn read(words: &[String], own: &dyn OwnArguments) -> Option<CommandLine> {
        let named = words.iter().find(|word| own.is_command(word));
        let name = named.map_or(COMMANDS[0], String::as_str);
        if !COMMANDS.contains(&name) {
            return None;
        }
        let mut line = CommandLine { command: name.to_owned(), ..CommandLine::default() };
        let mut has_command = named.is_none();
        let mut words = words.iter().cloned().peekable();
        while let Some(word) = words.next() {
            if word == "--" {
                line.own.push(word);
                line.own.extend(words);
                break;
            }
            if !has_command && word == name {
                has_command = true;
                continue;
            }
            // `--verify=crc32c` is fio's; `--verify` of fourcorners takes no value.
            if let Some(OwnOption { takes_value, has_value }) = own.option(name, &word)
                && (!has_value || takes_value)
            {
                line.own.push(word);
                let next = (takes_value && !has_value).then(|| words.next()).flatten();
                line.own.extend(next);
                continue;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let is_option = word.starts_with("--");
            // A word without dashes is an option only with a value: `xfersize=8k`.
            let option = OPTIONS.iter().find(|one| one.is_called(name));
            match option.filter(|_| is_option || value.is_some()) {
                Some(option) => {
                    let split = value.is_none() && option.takes_value;
                    let next = |next: &String| !next.starts_with('-');
                    let value = if split { words.next_if(next) } else { value };
                    let written = match (&value, split) {
                        (Some(value), true) => format!("{word} {value}"),
                        _ => word.clone(),
                    };
                    line.foreign.push(Foreign { option, written, value });
                }
                None if word.starts_with('-') => line.unknown.push(word),
                None if line.target.is_none() => line.target = Some(word),
                None => line.unknown.push(word),
            }
        }
        Some(line)
    }

    /// The command with each option replaced by its equivalent.
    fn translated(&self, equivalents: &[&Equivalent]) -> Option<String> {
        if !self.unknown.is_empty() {
            return None;
        }
        let named = equivalents.iter().find_map(|one| match one {
            Equivalent::Target(target) => Some(target),
            _ => None,
        });
        let mut words = vec!["fourcorners".to_owned(), self.command.clone()];
        words.extend(self.target.as_ref().or(named).cloned());
        words.extend(self.own.iter().cloned());
        let mut added: Vec<Vec<String>> = Vec::new();
        for arguments in equivalents.iter().flat_map(|one| one.arguments()) {
            // Two options may have one equivalent, such as `--rw` and `--rwmixread`.
            if !added.contains(&arguments) {
                added.push(arguments);
            }
        }
        words.extend(added.into_iter().flatten());
        Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }
}
