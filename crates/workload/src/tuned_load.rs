//! The load of an experiment for a tuning, which decides when operations are due and how many are
//! outstanding.
//!
//! For: the settings that a tuning replaces, and those that contradict it. Not for: the search
//! (`reach`, `analysis::tune`).

use settings::{Diagnostic, SourceSpan};

use crate::written::{Experiment, Setting};

/// Settings of [run] that the search decides.
const OF_RUN: [&str; 5] = ["arrival", "repeats", "repeats_max", "until", "order"];
/// Settings of streams that the search decides.
const OF_STREAMS: [&str; 2] = ["arrival", "weight"];

impl Experiment {
    /// This experiment as the load of a tuning: without its own rates, searches, metric and
    /// requirements, which are those of other load points.
    ///
    /// # Errors
    /// It has several streams or targets, or a stream whose load does not depend on queue depth.
    pub fn for_tuning(mut self) -> Result<Experiment, Vec<Diagnostic>> {
        let problems = self.problems_of_tuning();
        if !problems.is_empty() {
            return Err(problems);
        }
        self.search.clear();
        self.metric.clear();
        self.requirements.clear();
        self.run.retain(|setting| !OF_RUN.contains(&setting.key.name));
        for settings in self.settings_of_streams() {
            settings.retain(|setting| !OF_STREAMS.contains(&setting.key.name));
            let depths = settings.iter_mut().filter(|setting| setting.key.name == "queue_depth");
            depths.for_each(|setting| setting.choices.truncate(1));
        }
        Ok(self)
    }

    fn settings_of_streams(&mut self) -> impl Iterator<Item = &mut Vec<Setting>> {
        let of_streams = self.streams.iter_mut().map(|stream| &mut stream.settings);
        of_streams.chain(self.variants.iter_mut().map(|variant| &mut variant.settings))
    }

    fn problems_of_tuning(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut refuse_second = |second: Option<&SourceSpan>, what: &str, count: usize| {
            let Some(span) = second else { return };
            let wrong = format!("`tune` measures one {what}");
            let wrong = span.diagnostic(wrong, format!("one {what}"));
            problems.push(wrong.with_found(format!("{count} {what}s")));
        };
        let second = self.streams.get(1).map(|stream| &stream.span);
        refuse_second(second, "stream", self.streams.len());
        let second = self.targets.get(1).map(|target| &target.span);
        refuse_second(second, "target", self.targets.len());
        let of_streams = self.streams.iter().flat_map(|stream| &stream.settings);
        let of_variants = self.variants.iter().flat_map(|variant| &variant.settings);
        let of_command_line = self.overrides.iter().map(|one| &one.setting);
        let written = of_streams.chain(of_variants).chain(of_command_line.clone());
        for setting in written {
            problems.extend(refused(setting));
        }
        let arrivals = of_command_line.filter(|setting| setting.key.name == "arrival");
        problems.extend(arrivals.map(|setting| {
            let wrong = "`tune` decides when operations are due";
            setting.span.diagnostic(wrong, "no `arrival`").with_hint("leave it out")
        }));
        problems
    }
}

/// A setting of a stream whose load does not depend on queue depth.
fn refused(setting: &Setting) -> Option<Diagnostic> {
    let (wrong, hint) = match setting.key.name {
        "users" => (
            "`tune` finds a queue depth, and users have none",
            "use `run` with `method = \"users\"` in [search], which finds their number",
        ),
        "replay" => (
            "`tune` finds a queue depth, and a replay has the load of its trace",
            "use `run` and sweep `speed`, or measure the profile that `observe` writes",
        ),
        "start" | "end" => {
            ("the stream of `tune` is active from the start of a run to its end", "leave it out")
        }
        _ => return None,
    };
    let allowed = format!("a stream without `{}`", setting.key.name);
    Some(setting.span.diagnostic(wrong, allowed).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use crate::experiment::parse;
    use crate::plan::{Step, TargetSpec};
    use crate::resolve::{ResolveOptions, resolve};

    #[test]
    fn a_tuning_keeps_the_operations_of_an_experiment_and_drops_its_load() {
        let text = "name = \"builds\"
require = [\"p99 < 5ms\"]
[run]
arrival = { constant = \"450/s\" }
repeats = 3
until = \"2%\"
[metric]
name = \"builds\"
values = [1, 2]
[stream.objects]
names = { files = 4000 }
mix = { stat = \"100%\" }
weight = 2
queue_depth = [4, 16]
";
        let experiment = parse(text, "builds.toml").expect("it is an experiment");
        let experiment = experiment.for_tuning().expect("it has one stream");
        let plan = resolve(&experiment, "builds.toml", TargetSpec::Null, &ResolveOptions::LOCAL)
            .expect("it has no problems");
        let [Step::Fixed(run)] = &plan.steps[..] else { panic!("{:?}", plan.steps) };
        assert!(run.parameters.is_empty(), "{:?}", run.parameters);
        assert!(plan.requirements.is_empty() && plan.metric.is_none());
        let [stream] = &run.streams[..] else { panic!("{:?}", run.streams) };
        assert_eq!(stream.offered_rate(&run.phases), None, "closed");
        assert_eq!(stream.names.as_ref().map(|load| load.tree.files), Some(4000));
    }

    #[test]
    fn what_a_tuning_cannot_decide_is_reported_with_its_line() {
        let text = "name = \"two\"
[stream.first]
read = \"100%\"
transfer_size = \"8k\"
pattern = \"random\"
files = 1
file_size = \"1MiB\"
queue_depth = 1
start = \"1s\"
[stream.second]
names = { files = 4000 }
users = 4
cycle = \"1s\"
scenario = [{ stat = 4 }]
";
        let experiment = parse(text, "two.toml").expect("it is an experiment");
        let problems = experiment.for_tuning().expect_err("it cannot be tuned");
        let lines: Vec<(u32, &str)> =
            problems.iter().map(|problem| (problem.line, problem.message.as_str())).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], (10, "`tune` measures one stream"));
        assert_eq!(lines[1].0, 9, "{lines:?}");
        assert_eq!(lines[2].0, 12, "{lines:?}");
    }
}
