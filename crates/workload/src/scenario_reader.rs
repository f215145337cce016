//! Reads the scenario of users: a list of steps.

use std::time::Duration;

use settings::{Node, did_you_mean};
use toml::de::{DeTable, DeValue};
use units::print_duration;

use crate::arrival::{Arrival, ThinkTime};
use crate::keys::{Kind, OFFSET, SCENARIO_COUNT};
use crate::name_reader::on_names;
use crate::op::OpKind;
use crate::reader::Reader;
use crate::scenario::{SCENARIO_OPERATIONS_MAX, Scenario, ScenarioStep};
use crate::value::Value;

impl Reader<'_, '_> {
    /// `[{ readdirplus = 1 }, { think = "2s" }, { stat = 5, think = "1s" }]`
    pub(crate) fn scenario(&mut self, node: &Node<'_>) -> Option<Scenario> {
        let before = self.problems.len();
        let allowed = Kind::Scenario.allowed();
        let DeValue::Array(items) = node.get_ref() else {
            self.refuse(node, "`scenario` is not a list of steps", &allowed);
            return None;
        };
        let mut steps: Vec<ScenarioStep> = Vec::new();
        let mut end_ns = 0;
        for item in items {
            for step in self.scenario_steps(item, end_ns) {
                end_ns = step.end_mean_ns(end_ns);
                steps.push(step);
            }
        }
        if self.problems.len() > before {
            return None;
        }
        let scenario = Scenario { steps };
        let operations = scenario.kinds().count() as u64;
        let last = items.iter().next_back();
        if let (Some(ScenarioStep::Pause(_) | ScenarioStep::At(_)), Some(last)) =
            (scenario.steps.last(), last)
        {
            let wrong = "the scenario ends with a pause, and no operation follows";
            self.refuse(last, wrong, "an operation as the last step");
        } else if operations == 0 {
            self.refuse(node, "the scenario has no operations", &allowed);
        } else if operations > SCENARIO_OPERATIONS_MAX {
            let span = self.source.span(node.span());
            let wrong = "the scenario has too many operations";
            let allowed = format!("at most {SCENARIO_OPERATIONS_MAX} operations");
            let wrong = span.diagnostic(wrong, allowed).with_found(operations.to_string());
            self.problems.push(wrong.with_hint("use a shorter scenario with a shorter `cycle`"));
        }
        (self.problems.len() == before).then_some(scenario)
    }

    /// `{ stat = 5, at = "60s", think = "1s" }`: at most two steps, the offset first.
    ///
    /// * `earliest_ns` - when the steps before have ended, at the earliest
    fn scenario_steps(&mut self, node: &Node<'_>, earliest_ns: u64) -> Vec<ScenarioStep> {
        let allowed = Kind::Scenario.allowed();
        let DeValue::Table(table) = node.get_ref() else {
            self.refuse(node, "a step of the scenario is not a table", &allowed);
            return Vec::new();
        };
        let before = self.problems.len();
        let think_time = table.get("think").and_then(|node| self.think_time(node));
        let at = table.get("at").and_then(|node| self.offset(node, earliest_ns));
        let mut operations: Option<(OpKind, u16)> = None;
        for (name, count) in kinds_of(table) {
            let Some(kind) = OpKind::named(name.get_ref()).filter(|kind| kind.is_on_names()) else {
                let span = self.source.span(name.span());
                let mut wrong = span.diagnostic("unknown kind of operation", allowed.clone());
                let known = on_names().map(OpKind::name).chain(["think", "at"]);
                wrong.hint = match name.get_ref().as_ref() {
                    "read" => Some("whole files are read by `read_file`".to_owned()),
                    "write" => Some("whole files are written by `write_file`".to_owned()),
                    other => did_you_mean(other, known),
                };
                self.problems.push(wrong);
                continue;
            };
            if operations.is_some() {
                let wrong = "a step of the scenario has several kinds of operations";
                let span = self.source.span(name.span());
                let wrong = span.diagnostic(wrong, "one kind in each step");
                self.problems.push(wrong.with_hint("write one step for each, in their order"));
            }
            if let Some(Value::Count(count)) = self.one(kind.name(), SCENARIO_COUNT, count) {
                operations = Some((kind, count as u16));
            }
        }
        if self.problems.len() > before {
            return Vec::new();
        }
        let rest = match (operations, think_time) {
            (Some((kind, count)), think_time) => {
                Some(ScenarioStep::Operations { kind, count, think_time })
            }
            (None, pause) => pause.map(ScenarioStep::Pause),
        };
        if at.is_none() && rest.is_none() {
            self.refuse(node, "a step of the scenario is empty", &allowed);
        }
        at.map(ScenarioStep::At).into_iter().chain(rest).collect()
    }

    /// An offset in the cycle, in nanoseconds. One that the steps before it pass is refused.
    fn offset(&mut self, node: &Node<'_>, earliest_ns: u64) -> Option<u64> {
        let Value::Duration(ns) = self.one("at", OFFSET, node)? else { return None };
        if ns < earliest_ns {
            let earliest = print_duration(Duration::from_nanos(earliest_ns));
            let wrong =
                "a step of the scenario is at an offset before the end of the steps above it";
            let wrong =
                self.source.span(node.span()).diagnostic(wrong, format!("{earliest} or more"));
            let hint = "raise the offset, put the steps in the order of their offsets, or shorten the \
                        think times before it";
            self.problems.push(wrong.with_hint(hint));
        }
        Some(ns)
    }

    fn think_time(&mut self, node: &Node<'_>) -> Option<ThinkTime> {
        match self.one("think", Kind::ThinkTime, node)? {
            Value::Arrival(Arrival::Closed { think_time_ns: ns }) => {
                Some(ThinkTime::Uniform { min_ns: ns, max_ns: ns })
            }
            Value::Arrival(Arrival::Thinking { think_time }) => Some(think_time),
            _ => None,
        }
    }
}

/// The entries of a step other than its times, in the order of the text.
fn kinds_of<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t toml::Spanned<std::borrow::Cow<'i, str>>, &'t Node<'i>)> {
    let mut kinds: Vec<_> = table
        .iter()
        .filter(|(name, _)| !["think", "at"].contains(&name.get_ref().as_ref()))
        .collect();
    kinds.sort_by_key(|(name, _)| name.span().start);
    kinds
}
