//! What `run`, `show` and `compare` do for pipelines: judge conditions, and write files for CI
//! systems.

use std::path::Path;

use analysis::Findings;
use analysis::compare::Comparison;
use analysis::condition::Judged;
use anyhow::anyhow;
use commands::conditions;
use commands::keep::{output_file, refuse_unwritable, write_file};
use commands::outcome::{Exit, Failure};
use report::junit::Suite;
use report::record::Record;
use report::{junit, pipeline};
use workload::plan::Plan;

use crate::pipeline_args::{PipelineArguments, PipelineFiles};
use crate::terminal::Terminal;

impl PipelineArguments {
    /// Refuses files that cannot be written, and conditions on what is not measured.
    pub(crate) fn refuse_unusable(&self, plan: &Plan) -> Result<(), Failure> {
        self.files.refuse_unwritable()?;
        conditions::refuse_unknown_scope(&self.fail_if, plan)
    }

    /// Judges the conditions.
    pub(crate) fn judge(&self, findings: &Findings) -> Vec<Judged> {
        conditions::judge(findings, &self.fail_if)
    }

    /// Prints the answers, and writes the files.
    pub(crate) fn finish(
        &self,
        record: Record<'_>,
        judged: &[Judged],
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        for one in judged {
            let sentence = report::conditions::sentence(record.findings, one);
            terminal.answer(one.answer, &sentence);
        }
        self.files.write(
            || pipeline::record_suite(record, judged, self.strict),
            || pipeline::record_markdown(record, judged),
        )
    }

    /// The exit code that the answers lead to.
    pub(crate) fn exit(&self, judged: &[Judged]) -> Exit {
        conditions::exit(judged, self.strict)
    }
}

impl PipelineFiles {
    /// Refuses files that cannot be written, before anything is measured for them.
    pub(crate) fn refuse_unwritable(&self) -> Result<(), Failure> {
        for path in self.junit.iter().chain(&self.markdown) {
            if output_file::is_stdout(path) {
                let error = anyhow!("--junit and --markdown write a file; stdout has the results");
                return Err(Failure::input(error));
            }
            refuse_unwritable(path)?;
        }
        Ok(())
    }

    /// Writes a comparison.
    ///
    /// * `strict` - an inconclusive load point is a failure
    pub(crate) fn write_comparison(
        &self,
        comparison: &Comparison,
        strict: bool,
    ) -> Result<(), Failure> {
        self.write(
            || pipeline::comparison_suite(comparison, strict),
            || pipeline::comparison_markdown(comparison),
        )
    }

    fn write(
        &self,
        suite: impl FnOnce() -> Suite,
        markdown: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if let Some(path) = self.junit.as_deref() {
            write_file(path, |out| junit::write(&suite(), out))?;
        }
        let text = |path: &Path| write_file(path, |out| out.write_all(markdown().as_bytes()));
        self.markdown.as_deref().map_or(Ok(()), text)
    }
}
