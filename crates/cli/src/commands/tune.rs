//! `tune`: runs the search for the least concurrency that reaches a rate.

use commands::outcome::Outcome;
use commands::tune;

use super::run;
use crate::pipeline_args::PipelineArguments;
use crate::terminal::Terminal;
use crate::tune_args::TuneArguments;

pub(crate) fn run(arguments: &TuneArguments, terminal: &Terminal) -> Outcome {
    let plan = |experiment: &_| tune::plan(&arguments.options(), experiment);
    run::perform(&arguments.run, &PipelineArguments::default(), terminal, plan)
}
