//! Applies the configuration: its values become the defaults of the flags with the same name.

use clap::Command;
use commands::config::{Config, Key};

/// The commands whose flag `--vm` has the configured VM size as its default. In others the flag
/// also requests something: published figures, or the cost of client hosts.
const WITH_VM: &[&str] = &["expect"];

/// The command line with the configured values as defaults.
pub(crate) fn with_defaults(command: Command, config: &Config) -> Command {
    let mut command = command;
    for key in Key::ALL {
        let Some(value) = config.get(key) else { continue };
        // clap requires static text. These few values live as long as the process anyway.
        command = with_default(command, key, value.to_owned().leak());
    }
    command
}

fn with_default(command: Command, key: Key, value: &'static str) -> Command {
    let applies = key != Key::Vm || WITH_VM.contains(&command.get_name());
    let command = command.mut_args(|argument| {
        let is_it = applies && argument.get_long() == Some(key.name());
        // Help texts name the file instead, so they are the same on every host.
        if is_it { argument.default_value(value).hide_default_value(true) } else { argument }
    });
    command.mut_subcommands(|one| with_default(one, key, value))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::args::{self, Arguments};

    fn parsed(words: &[&str]) -> Arguments {
        let config = Config::load(|name| {
            let value = match name {
                "FOURCORNERS_STORE" => "/srv/runs",
                "FOURCORNERS_WIDTH" => "66",
                "FOURCORNERS_VM" => "D32s_v5",
                "FOURCORNERS_REGION" => "westeurope",
                _ => return None,
            };
            Some(OsString::from(value))
        });
        let command = with_defaults(Arguments::command(), &config.expect("valid values"));
        let words = ["fourcorners"].into_iter().chain(words.iter().copied());
        let matches = command.try_get_matches_from(words).expect("valid arguments");
        Arguments::from_arg_matches(&matches).expect("valid arguments")
    }

    #[test]
    fn a_flag_has_precedence_over_a_configured_value() {
        let of_list = |words: &[&str]| {
            let arguments = parsed(words);
            let args::Command::List(list) = arguments.command else { panic!("another command") };
            (list.store.root().display().to_string(), arguments.width)
        };
        assert_eq!(of_list(&["list"]), ("/srv/runs".to_owned(), Some(66)));
        let with_flags = of_list(&["list", "--store", "/x", "--width", "80"]);
        assert_eq!(with_flags, ("/x".to_owned(), Some(80)));
    }

    #[test]
    fn a_configured_vm_size_requests_nothing() {
        let args::Command::Expect(expect) = parsed(&["expect"]).command else {
            panic!("another command")
        };
        assert!(expect.vm.is_some());
        let args::Command::Show(show) = parsed(&["show", "last"]).command else {
            panic!("another command")
        };
        assert!(show.published.vm.is_none());
        let args::Command::Size(size) = parsed(&["size", "--capacity", "4TiB"]).command else {
            panic!("another command")
        };
        assert_eq!((size.vm, size.region.as_deref()), (None, Some("westeurope")));
    }
}
