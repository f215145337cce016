//! Refused targets and failed fills, with what the user can do about them.

use std::io::Write;

use anyhow::anyhow;
use runner::conduct::ConductError;
use serde::Serialize;
use target::fill::FillError;
use target::nfs::NfsUrlError;
use target::refusal::{Override, Refusal};
use units::Bytes;
use workload::plan::TargetSpec;

use crate::outcome::{Exit, Failure, Refused};

/// The failure that a refused target leads to.
pub fn failure(refusal: Refusal) -> Failure {
    if refusal.is_storage_full() {
        // A manifest that does not fit is the same failure as a data file that does not.
        return Failure::target(anyhow!(refusal.to_string())).with_remedy(refusal.remedy());
    }
    let refused = Refused {
        reason: refusal.to_string(),
        remedy: refusal.remedy(),
        overridden_by: refusal.overridden_by().map(Override::flag),
        exit_code: Exit::BadInput as u8,
    };
    let is_interrupted = refusal.is_interrupted();
    let failure = Failure::input(anyhow::Error::msg(refused.reason.clone()));
    let failure = failure.with_remedy(refused.remedy.clone());
    Failure { refused: Some(Box::new(refused)), is_interrupted, ..failure }
}

/// The failure of a fill that ended early. If the storage is full, the remedy is the command that
/// frees the space that the files of `target` take.
pub fn of_fill(error: FillError, target: &TargetSpec) -> Failure {
    let named = match target {
        TargetSpec::Directory { path } => Some(path),
        TargetSpec::Nfs { url, .. } => Some(url),
        TargetSpec::Emulated { .. } | TargetSpec::Null => None,
    };
    let remedy = match (&error, named) {
        (FillError::NoSpace { taken_bytes, .. }, Some(named)) => Some(format!(
            "`fourcorners clean {}` frees {}; for a smaller working set give `--set file_size=...`",
            quoted(named),
            Bytes::new(*taken_bytes)
        )),
        _ => None,
    };
    Failure { remedy, ..Failure::target(ConductError::Fill(error)) }
}

/// The failure of an invalid URL, with every problem of it.
pub(crate) fn of_url(error: NfsUrlError) -> Failure {
    let problems = error.mistakes.join("\n  - ");
    Failure::input(anyhow!("use target `{}`:\n  - {problems}", error.url))
}

/// Writes a refusal as `--json` prints it, instead of results.
pub fn write_json(refused: &Refused, out: &mut dyn Write) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        refused: &'a Refused,
    }
    serde_json::to_writer_pretty(&mut *out, &Document { refused })?;
    writeln!(out)?;
    out.flush()
}

/// A word, quoted for a POSIX shell if necessary.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    // A shell expands `~` only at the beginning of a word.
    let is_expanded = word.is_empty() || word.starts_with('~');
    if !is_expanded && word.chars().all(|c| plain(c) || c == '~') {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_target_without_space_has_failed_and_another_refusal_is_wrong_input() {
        let exit = |kind: ErrorKind| {
            let path = "/mnt/vol1/fourcorners/.fourcorners".into();
            let failure = failure(Refusal::Io { action: "write", path, source: kind.into() });
            assert!(failure.remedy.is_some(), "{kind:?}");
            (failure.exit, failure.refused.is_some())
        };
        assert_eq!(exit(ErrorKind::StorageFull), (Exit::TargetFailed, false));
        assert_eq!(exit(ErrorKind::QuotaExceeded), (Exit::TargetFailed, false));
        assert_eq!(exit(ErrorKind::PermissionDenied), (Exit::BadInput, true));
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, shell) in [
            ("run", "run"),
            ("--set", "--set"),
            ("queue_depth=1,2", "queue_depth=1,2"),
            ("/mnt/my vol", "'/mnt/my vol'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("last~1", "last~1"),
            ("~/mine", "'~/mine'"),
        ] {
            assert_eq!(quoted(word), shell);
        }
    }
}
