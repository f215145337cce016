//! Grades verdicts: is the stated cause the true limit of the system?

use std::fmt::Write as _;

use serde_json::Value;

use super::systems::System;

/// A statement with at least this probability counts as confident.
const CONFIDENT: f64 = 0.90;
/// The probability assumed for a statement without one.
const UNQUALIFIED: f64 = 0.99;
/// Bounds of the classes of stated probability.
const STATED: [(f64, f64); 3] = [(0.90, 0.95), (0.95, 0.985), (0.985, 1.01)];

/// The grade of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grade {
    Right,
    NotEnoughData,
    Wrong,
}

impl Grade {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Grade::Right => "right",
            Grade::NotEnoughData => "not enough data",
            Grade::Wrong => "wrong",
        }
    }
}

/// A verdict from the JSON of fourcorners, graded.
#[derive(Clone, Debug)]
pub(crate) struct Graded {
    pub(crate) class: &'static str,
    pub(crate) system: String,
    pub(crate) curve: String,
    /// The stated causes; without a cause, the answer.
    pub(crate) causes: String,
    /// The stated probability.
    pub(crate) probability: Option<f64>,
    pub(crate) grade: Grade,
}

/// Grades a verdict; `None` if the JSON is not a verdict.
pub(crate) fn grade(system: &System, verdict: &Value) -> Option<Graded> {
    let answer = verdict["answer"].as_str()?;
    let named: Vec<&str> = verdict["limits"].as_array()?.iter().filter_map(Value::as_str).collect();
    let is_true = |cause: &str| system.truth.contains(&cause);
    let (grade, probability) = match answer {
        "limited" => {
            let right = named.iter().any(|one| is_true(one));
            (if right { Grade::Right } else { Grade::Wrong }, verdict["probability"].as_f64())
        }
        "not_reached" => {
            let right = is_true("not_reached");
            (if right { Grade::Right } else { Grade::Wrong }, Some(UNQUALIFIED))
        }
        "cached" => (Grade::Wrong, Some(UNQUALIFIED)),
        _ => (Grade::NotEnoughData, None),
    };
    Some(Graded {
        class: system.class,
        system: system.describe(),
        curve: verdict["curve"].as_str().unwrap_or_default().to_owned(),
        causes: if named.is_empty() { answer.to_owned() } else { named.join(" or ") },
        probability,
        grade,
    })
}

/// Numbers of verdicts by grade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) right: usize,
    pub(crate) not_enough_data: usize,
    pub(crate) wrong: usize,
    /// Wrong verdicts with a stated probability of at least 90 %.
    pub(crate) confident_and_wrong: usize,
}

impl Counts {
    pub(crate) fn of<'a>(graded: impl Iterator<Item = &'a Graded>) -> Counts {
        let mut counts = Counts::default();
        for one in graded {
            match one.grade {
                Grade::Right => counts.right += 1,
                Grade::NotEnoughData => counts.not_enough_data += 1,
                Grade::Wrong => counts.wrong += 1,
            }
            let confident = one.probability.is_some_and(|stated| stated >= CONFIDENT);
            counts.confident_and_wrong += usize::from(confident && one.grade == Grade::Wrong);
        }
        counts
    }

    /// The sums of both.
    pub(crate) const fn plus(self, other: Counts) -> Counts {
        Counts {
            right: self.right + other.right,
            not_enough_data: self.not_enough_data + other.not_enough_data,
            wrong: self.wrong + other.wrong,
            confident_and_wrong: self.confident_and_wrong + other.confident_and_wrong,
        }
    }

    pub(crate) const fn verdicts(self) -> usize {
        self.right + self.not_enough_data + self.wrong
    }

    /// Whether both shares of all verdicts are within these bounds.
    pub(crate) fn are_within(self, confident_and_wrong_max: f64, right_min: f64) -> bool {
        let all = self.verdicts() as f64;
        self.confident_and_wrong as f64 <= confident_and_wrong_max * all
            && self.right as f64 >= right_min * all
    }

    /// A sentence with the shares.
    pub(crate) fn text(self) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.verdicts().max(1) as f64;
        format!(
            "right {:.1} %, not enough data {:.1} %, wrong {:.1} %; confident (at least 90 %) and \
             wrong {:.2} %",
            share(self.right),
            share(self.not_enough_data),
            share(self.wrong),
            share(self.confident_and_wrong)
        )
    }
}

/// Two tables in Markdown: by class of system, and by stated probability.
pub(crate) fn tables(graded: &[Graded]) -> String {
    let mut text = "| system | verdicts | right | not enough data | wrong, as |\n\
                    | --- | --: | --: | --: | --- |\n"
        .to_owned();
    let mut classes: Vec<&str> = graded.iter().map(|one| one.class).collect();
    classes.dedup();
    let mut seen: Vec<&str> = Vec::new();
    classes.retain(|class| {
        let is_new = !seen.contains(class);
        seen.push(class);
        is_new
    });
    for class in classes {
        let of_class: Vec<&Graded> = graded.iter().filter(|one| one.class == class).collect();
        row(&mut text, class, &of_class);
    }
    row(&mut text, "all", &graded.iter().collect::<Vec<_>>());
    text.push_str("\n| stated probability | statements | mean stated | right |\n");
    text.push_str("| --- | --: | --: | --: |\n");
    for (least, most) in STATED {
        let statements: Vec<(f64, bool)> = graded
            .iter()
            .filter_map(|one| Some((one.probability?, one.grade == Grade::Right)))
            .filter(|(stated, _)| (least..most).contains(stated))
            .collect();
        if statements.is_empty() {
            continue;
        }
        let count = statements.len() as f64;
        let _ = writeln!(
            text,
            "| {:.1} to {:.1} % | {} | {:.1} % | {:.1} % |",
            100.0 * least,
            100.0 * most.min(1.0),
            statements.len(),
            100.0 * statements.iter().map(|(stated, _)| stated).sum::<f64>() / count,
            100.0 * statements.iter().filter(|(_, right)| *right).count() as f64 / count
        );
    }
    text
}

fn row(text: &mut String, name: &str, verdicts: &[&Graded]) {
    let Counts { right, not_enough_data: open, wrong, .. } = Counts::of(verdicts.iter().copied());
    let stated =
        verdicts.iter().filter(|one| one.grade == Grade::Wrong).map(|one| one.causes.as_str());
    let stated = stated.collect::<Vec<_>>().join("; ");
    let wrong = if wrong == 0 { "-".to_owned() } else { format!("{wrong}: {stated}") };
    let _ = writeln!(text, "| {name} | {} | {right} | {open} | {wrong} |", verdicts.len());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::systems::ALL;
    use super::*;

    #[test]
    fn a_false_cause_is_wrong_and_no_cause_is_not_enough_data() {
        let system = &ALL[0];
        let of = |answer: &str, limits: Value, probability: Value| {
            let verdict = json!({
                "answer": answer, "limits": limits, "probability": probability, "curve": "main",
            });
            grade(system, &verdict).expect("it is a verdict").grade
        };
        assert_eq!(of("limited", json!(["volume_throughput"]), json!(0.99)), Grade::Right);
        assert_eq!(of("limited", json!(["link", "volume_throughput"]), json!(0.96)), Grade::Right);
        assert_eq!(of("limited", json!(["network_flow"]), json!(0.93)), Grade::Wrong);
        assert_eq!(of("not_reached", json!([]), Value::Null), Grade::Wrong);
        assert_eq!(of("undecided", json!([]), Value::Null), Grade::NotEnoughData);
        assert_eq!(of("not_enough_data", json!([]), Value::Null), Grade::NotEnoughData);
        assert!(grade(system, &Value::Null).is_none());
    }
}
