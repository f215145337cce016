//! Reads arrival processes: closed loops with their think times, offered rates, and schedules.

use settings::{Node, SourceSpan};
use toml::de::{DeTable, DeValue};

use crate::arrival::{Arrival, Process, ThinkTime};
use crate::keys::{DUTY, Kind, SCHEDULE_TIME, THINK_TIME};
use crate::rate_schedule::{RateSchedule, ScheduleError, Segment, SegmentRate};
use crate::rate_trace;
use crate::reader::Reader;
use crate::value::Value;

/// The forms of a segment.
const SEGMENT_FORMS: [&str; 5] = ["constant", "ramp", "sine", "bursts", "trace"];
const SEGMENT: &str = "{ constant = \"1k/s\", for = \"10s\" }, \
                       { ramp = [\"0/s\", \"1k/s\"], for = \"10s\" }, \
                       { sine = { mean = \"1k/s\", amplitude = \"500/s\", period = \"1m\" } }, \
                       { bursts = { rate = \"2k/s\", period = \"5s\", length = \"1s\" } } or \
                       { trace = \"rates.csv\" }";
const RATE: Kind = Kind::ScheduledRate;

impl Reader<'_, '_> {
    /// The values of a table that describes an arrival process.
    pub(crate) fn arrival_table(&mut self, table: &DeTable<'_>, span: &SourceSpan) -> Vec<Value> {
        if table.get("schedule").is_some() {
            let schedule = self.schedule(table);
            return schedule.map(Value::Arrival).into_iter().collect();
        }
        let kinds = ["closed", "constant", "poisson", "schedule"];
        let Some((name, node)) = self.only_entry(table, span, Kind::Arrival, &kinds) else {
            return Vec::new();
        };
        if name == "closed" {
            let mut found = self.fields(node, Kind::Arrival, &[("think_time", Kind::ThinkTime)]);
            let without = || vec![Value::Arrival(Arrival::Closed { think_time_ns: 0 })];
            return found.pop().flatten().unwrap_or_else(without);
        }
        let open = |value| match value {
            Value::Rate(offered_rate) if name == "constant" => {
                Some(Value::Arrival(Arrival::Constant { offered_rate }))
            }
            Value::Rate(offered_rate) => Some(Value::Arrival(Arrival::Poisson { offered_rate })),
            _ => None,
        };
        self.inner(name, Kind::Rate, node).into_iter().filter_map(open).collect()
    }

    /// The think time of a table that describes a distribution.
    pub(crate) fn think_time_table(
        &mut self,
        table: &DeTable<'_>,
        span: &SourceSpan,
    ) -> Option<Value> {
        let forms = ["exponential", "uniform"];
        let (name, node) = self.only_entry(table, span, Kind::ThinkTime, &forms)?;
        let think_time = match name {
            "exponential" => ThinkTime::Exponential { mean_ns: self.time(name, THINK_TIME, node)? },
            _ => {
                let [min_ns, max_ns] = self.two(name, THINK_TIME, node, duration)?;
                if min_ns > max_ns {
                    self.refuse(
                        node,
                        "the shortest think time exceeds the longest",
                        "two times in order",
                    );
                    return None;
                }
                ThinkTime::Uniform { min_ns, max_ns }
            }
        };
        Some(Value::Arrival(Arrival::Thinking { think_time }))
    }

    /// `{ schedule = [...], process = "poisson" }`
    fn schedule(&mut self, table: &DeTable<'_>) -> Option<Arrival> {
        let before = self.problems.len();
        let names = ["schedule", "process"];
        for (key, _) in table.iter().filter(|(key, _)| !names.contains(&key.get_ref().as_ref())) {
            self.unknown_field(key, names.into_iter(), Kind::Arrival);
        }
        let process = match table.get("process") {
            None => Process::Constant,
            Some(node) => match self.one("process", Kind::Word(&Process::NAMES), node)? {
                Value::Text(word) if word == Process::Poisson.name() => Process::Poisson,
                _ => Process::Constant,
            },
        };
        let node = table.get("schedule")?;
        let DeValue::Array(items) = node.get_ref() else {
            self.refuse(node, "a schedule is a list of segments", SEGMENT);
            return None;
        };
        let mut segments = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let found = self.segments(item);
            let is_last = at + 1 == items.len();
            if !is_last && found.iter().any(|segment| segment.duration_ns.is_none()) {
                self.refuse(item, "a segment before the last one lacks `for`", SEGMENT);
            }
            segments.extend(found);
        }
        if self.problems.len() > before {
            return None;
        }
        match RateSchedule::try_from(segments) {
            Ok(schedule) => Some(Arrival::Scheduled { schedule, process, part: 1.0 }),
            Err(ScheduleError::Empty) => {
                self.refuse(node, "a schedule without segments", SEGMENT);
                None
            }
            Err(wrong) => {
                self.refuse(node, &wrong.to_string(), "a rate above 0 in one of the segments");
                None
            }
        }
    }

    /// The segments of one entry of a schedule; none if it is wrong.
    fn segments(&mut self, node: &Node<'_>) -> Vec<Segment> {
        let DeValue::Table(table) = node.get_ref() else {
            self.refuse(node, "a segment of a schedule is a table", SEGMENT);
            return Vec::new();
        };
        let mut forms = Vec::new();
        for (key, inner) in table.iter() {
            let name = key.get_ref().as_ref();
            match SEGMENT_FORMS.into_iter().find(|form| *form == name) {
                Some(form) => forms.push((form, inner)),
                None if name == "for" => {}
                None => {
                    let span = self.source.span(key.span());
                    let mut wrong = span.diagnostic("unknown key", SEGMENT);
                    let known = SEGMENT_FORMS.into_iter().chain(["for"]);
                    wrong.hint = settings::did_you_mean(name, known);
                    self.problems.push(wrong);
                    return Vec::new();
                }
            }
        }
        let [(form, inner)] = forms[..] else {
            self.refuse(node, "a segment of a schedule has one form", SEGMENT);
            return Vec::new();
        };
        let length = table.get("for");
        if form == "trace" {
            if let Some(length) = length {
                self.refuse(length, "a trace has its own length", "a trace without `for`");
                return Vec::new();
            }
            return self.trace(inner).unwrap_or_default();
        }
        let duration_ns = match length {
            None => None,
            Some(length) => match self.time("for", SCHEDULE_TIME, length) {
                None => return Vec::new(),
                known => known,
            },
        };
        if form == "ramp" && duration_ns.is_none() {
            self.refuse(inner, "a ramp lacks `for`", SEGMENT);
            return Vec::new();
        }
        let rate = self.segment_rate(form, inner);
        rate.map(|rate| Segment { duration_ns, rate }).into_iter().collect()
    }

    fn segment_rate(&mut self, form: &'static str, node: &Node<'_>) -> Option<SegmentRate> {
        match form {
            "constant" => Some(SegmentRate::Constant { rate: self.rate(form, node)? }),
            "ramp" => {
                let [from, to] = self.two(form, RATE, node, rate)?;
                Some(SegmentRate::Ramp { from, to })
            }
            "sine" => self.sine(node),
            _ => self.bursts(node),
        }
    }

    fn sine(&mut self, node: &Node<'_>) -> Option<SegmentRate> {
        let names = ["mean", "amplitude", "period"];
        let table = self.part("sine", node, &names, SEGMENT)?;
        let needed = names.map(|name| self.needed("sine", node, table, name));
        let [Some(mean_node), Some(amplitude_node), Some(period_node)] = needed else {
            return None;
        };
        let mean = self.rate("mean", mean_node)?;
        let amplitude = self.rate("amplitude", amplitude_node)?;
        let period_ns = self.time("period", SCHEDULE_TIME, period_node)?;
        if amplitude > mean {
            let wrong = "the amplitude of a sine exceeds its mean, so its rate would be negative";
            self.refuse(amplitude_node, wrong, &format!("at most {mean}/s"));
            return None;
        }
        Some(SegmentRate::Sine { mean, amplitude, period_ns })
    }

    fn bursts(&mut self, node: &Node<'_>) -> Option<SegmentRate> {
        let names = ["rate", "base", "period", "length", "duty"];
        let table = self.part("bursts", node, &names, SEGMENT)?;
        let needed = ["rate", "period"].map(|name| self.needed("bursts", node, table, name));
        let [Some(rate), Some(period)] = needed else { return None };
        let burst = self.rate("rate", rate)?;
        let base = table.get("base").map_or(Some(0.0), |base| self.rate("base", base))?;
        let period_ns = self.time("period", SCHEDULE_TIME, period)?;
        let burst_ns = match (table.get("length"), table.get("duty")) {
            (Some(length), None) => {
                let burst_ns = self.time("length", SCHEDULE_TIME, length)?;
                if burst_ns >= period_ns {
                    self.refuse(
                        length,
                        "a burst is not shorter than its period",
                        "less than the period",
                    );
                    return None;
                }
                burst_ns
            }
            (None, Some(duty)) => {
                let Value::Share(permille) = self.one("duty", DUTY, duty)? else { return None };
                (u128::from(period_ns) * u128::from(permille) / 1000) as u64
            }
            _ => {
                self.refuse(node, "`bursts` needs either `length` or `duty`", SEGMENT);
                return None;
            }
        };
        Some(SegmentRate::Bursts { base, burst, period_ns, burst_ns })
    }

    /// The segments of a trace file.
    fn trace(&mut self, node: &Node<'_>) -> Option<Vec<Segment>> {
        let Value::Text(path) = self.one("trace", Kind::Text, node)? else { return None };
        let text = match (self.read_file)(&path) {
            Ok(text) => text,
            Err(reason) => {
                let span = self.source.span(node.span());
                let wrong = format!("the trace of rates cannot be read: {reason}");
                let wrong =
                    span.diagnostic(wrong, "a CSV file with a time and a rate in each line");
                self.problems.push(wrong.with_hint("its path is relative to the experiment file"));
                return None;
            }
        };
        rate_trace::segments(&path, &text).map_err(|wrong| self.problems.push(*wrong)).ok()
    }

    /// The table of a part of a schedule, without unknown keys.
    pub(crate) fn part<'t, 'i>(
        &mut self,
        form: &str,
        node: &'t Node<'i>,
        names: &[&'static str],
        allowed: &str,
    ) -> Option<&'t DeTable<'i>> {
        let DeValue::Table(table) = node.get_ref() else {
            self.refuse(node, &format!("`{form}` is not a table"), allowed);
            return None;
        };
        for (key, _) in table.iter() {
            if !names.contains(&key.get_ref().as_ref()) {
                let span = self.source.span(key.span());
                let mut wrong = span.diagnostic("unknown key", names.join(", "));
                wrong.hint = settings::did_you_mean(key.get_ref(), names.iter().copied());
                self.problems.push(wrong);
                return None;
            }
        }
        Some(table)
    }

    fn needed<'t, 'i>(
        &mut self,
        form: &str,
        node: &Node<'_>,
        table: &'t DeTable<'i>,
        name: &str,
    ) -> Option<&'t Node<'i>> {
        let found = table.get(name);
        if found.is_none() {
            self.refuse(node, &format!("`{form}` lacks `{name}`"), SEGMENT);
        }
        found
    }

    /// One value, not a sweep.
    pub(crate) fn one(&mut self, name: &str, kind: Kind, node: &Node<'_>) -> Option<Value> {
        let mut choices = self.expand(name, kind, node);
        if choices.len() > 1 {
            self.refuse(node, &format!("`{name}` takes one value"), &kind.allowed());
            return None;
        }
        choices.pop().map(|choice| choice.value)
    }

    fn rate(&mut self, name: &str, node: &Node<'_>) -> Option<f64> {
        self.one(name, RATE, node).and_then(rate)
    }

    fn time(&mut self, name: &str, kind: Kind, node: &Node<'_>) -> Option<u64> {
        self.one(name, kind, node).and_then(duration)
    }

    /// A list of two values.
    fn two<T>(
        &mut self,
        name: &str,
        kind: Kind,
        node: &Node<'_>,
        of: impl Fn(Value) -> Option<T>,
    ) -> Option<[T; 2]> {
        let items = match node.get_ref() {
            DeValue::Array(items) if items.len() == 2 => items,
            _ => {
                self.refuse(node, &format!("`{name}` needs two values"), &kind.allowed());
                return None;
            }
        };
        let [first, second] = [0, 1].map(|at| self.one(name, kind, &items[at]).and_then(&of));
        Some([first?, second?])
    }

    pub(crate) fn refuse(&mut self, node: &Node<'_>, wrong: &str, allowed: &str) {
        let span = self.source.span(node.span());
        self.problems.push(span.diagnostic(wrong, allowed));
    }
}

fn rate(value: Value) -> Option<f64> {
    match value {
        Value::Rate(rate) => Some(rate),
        _ => None,
    }
}

fn duration(value: Value) -> Option<u64> {
    match value {
        Value::Duration(ns) => Some(ns),
        _ => None,
    }
}
