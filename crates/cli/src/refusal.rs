//! A target that is refused: the reason, and what to do about it.

use std::io::Write;

use anyhow::anyhow;
use runner::conduct::ConductError;
use serde::Serialize;
use target::fill::FillError;
use target::refusal::{Override, Overrides, Refusal};
use units::Bytes;
use workload::plan::TargetSpec;

use crate::command_line::quoted;
use crate::exit::{Exit, Failure, Refused};
use crate::run_args::OverrideArguments;
use crate::terminal::what_to_do;

/// Says why, and the remedy on a line of its own.
pub(crate) fn failure(refusal: Refusal) -> Failure {
    let remedy = what_to_do(&refusal.remedy());
    let refused = Refused {
        reason: refusal.to_string(),
        remedy: refusal.remedy(),
        overridden_by: refusal.overridden_by().map(Override::flag),
        exit_code: Exit::BadInput as u8,
    };
    let error = anyhow!("{refusal}{remedy}");
    let is_interrupted = refusal.is_interrupted();
    Failure { refused: Some(Box::new(refused)), is_interrupted, ..Failure::input(error) }
}

/// A fill that ended early. Where the storage is full: with the command that frees what the files
/// of `target` take.
pub(crate) fn unfilled(error: FillError, target: &TargetSpec) -> anyhow::Error {
    let named = match target {
        TargetSpec::Directory { path } => path,
        TargetSpec::Nfs { url, .. } => url,
        TargetSpec::Emulated { .. } | TargetSpec::Null => return ConductError::Fill(error).into(),
    };
    let FillError::NoSpace { taken_bytes, .. } = &error else {
        return ConductError::Fill(error).into();
    };
    let command = format!("fourcorners clean {}", quoted(named));
    let frees = Bytes::new(*taken_bytes);
    let error = ConductError::Fill(error);
    let remedy =
        format!("`{command}` frees {frees}; for a smaller working set give `--set file_size=...`");
    anyhow!("{error}{}", what_to_do(&remedy))
}

/// A refusal as `--json` shows it, in the place of the results.
pub(crate) fn json(refused: &Refused, out: &mut dyn Write) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        refused: &'a Refused,
    }
    serde_json::to_writer_pretty(&mut *out, &Document { refused })?;
    writeln!(out)?;
    out.flush()
}

impl OverrideArguments {
    /// As the target crate takes them.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            create: self.create,
            among_foreign_files: self.among_foreign_files,
            not_a_mount: self.not_a_mount,
            other_filesystem: self.other_filesystem,
            ignore_free_space: self.ignore_free_space,
            refill: self.refill,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use target::refusal::Override;

    #[test]
    fn every_override_of_a_refusal_has_its_flag_on_run_and_plan() {
        for name in ["run", "plan"] {
            let mut command = crate::args::Arguments::command();
            let command = command.find_subcommand_mut(name).expect("the command exists");
            let help = command.render_long_help().to_string();
            for one in Override::ALL {
                assert!(help.contains(one.flag()), "{name} lacks {}", one.flag());
            }
        }
    }
}
