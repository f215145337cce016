//! `config`: the configured values and where each comes from.

use commands::config::{Config, Key, table};
use commands::outcome::{Exit, Outcome};

use super::output::to_stdout;
use crate::program_args::ConfigArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ConfigArguments, terminal: &Terminal) -> Outcome {
    let config = Config::load(|name| std::env::var_os(name))?;
    let settings = config.settings(built_in);
    let file = config.file.as_ref().map(|path| path.display().to_string());
    to_stdout(|out| {
        if arguments.json {
            let document = serde_json::json!({ "file": file, "settings": settings });
            serde_json::to_writer_pretty(&mut *out, &document)?;
            return writeln!(out);
        }
        write!(out, "{}", table(&settings).text(terminal.listing_columns()))?;
        match &config.file {
            Some(path) if path.exists() => writeln!(out, "\nfile: {}", path.display()),
            Some(path) => writeln!(out, "\nfile: {} (does not exist)", path.display()),
            None => Ok(()),
        }
    })?;
    Ok(Exit::Done)
}

/// The value without a configuration.
fn built_in(key: Key) -> String {
    match key {
        Key::Store => store::default_root(|name| std::env::var_os(name)).display().to_string(),
        Key::Color => "auto".to_owned(),
        Key::Width => "that of the terminal, or 80".to_owned(),
        Key::Vm => "none".to_owned(),
        Key::Region => "eastus".to_owned(),
    }
}
