//! `show`: prints the results of one experiment as `run` did.

use commands::keep::REPORT_NAME;
use commands::outcome::{Failure, Outcome};
use commands::predict::published_comparison::analyzed;
use report::record::Record;

use super::follow_up::{self, height, line, short_path};
use super::output::{self, ResultLayout};
use crate::record_args::ShowArguments;
use crate::terminal::Terminal;

pub(crate) fn run(arguments: &ShowArguments, terminal: &Terminal) -> Outcome {
    let pipeline = &arguments.pipeline;
    let (store, record) = arguments.which.load()?;
    pipeline.refuse_unusable(&record.plan)?;
    let (findings, published) = analyzed(&record, &arguments.published.options());
    let shown = Record { published: published.as_ref(), ..Record::from(&findings) };
    let judged = pipeline.judge(&findings);
    let width = terminal.report_columns();
    let mut footer = vec![line("record", &record.id)];
    let report = store.run_directory(&record.id).map_err(Failure::input)?.join(REPORT_NAME);
    if report.exists() {
        footer.push(line("report", &short_path(&report)));
    }
    footer.extend(follow_up::commands(&arguments.which.store, &record.id, width));
    output::to_stdout(|out| {
        if arguments.json {
            return report::json::write_judged(shown, &judged, out);
        }
        let footer_lines = height(&footer, width);
        let full = arguments.full || arguments.published.is_requested();
        let layout = ResultLayout { full, width, look: terminal.look(), footer_lines };
        writeln!(out, "{}\n{}", output::result(shown, layout), footer.join("\n"))
    })?;
    pipeline.finish(shown, &judged, terminal)?;
    Ok(pipeline.exit(&judged))
}
