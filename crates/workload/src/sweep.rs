//! Ranges of values: `1..32 x2` (doubling), `10..100 step 10`, also downwards (`100%..0% step 10%`).
//! The last value is included only if it is reached exactly.

use crate::value::Value;

/// The maximum number of values; equal to the maximum number of runs of a plan.
pub(crate) const MOST: usize = 10_000;

/// The values of a range; `parse` reads its ends and its step.
///
/// # Errors
/// How to correct the range.
pub(crate) fn expand(
    text: &str,
    parse: impl Fn(&str) -> Option<Value>,
) -> Result<Vec<Value>, String> {
    let (first, rest) = text.split_once("..").unwrap_or((text, ""));
    let rest = rest.trim();
    let (last, by) = match rest.split_once(" step ") {
        Some((last, step)) => {
            let step = parse(step).ok_or_else(|| format!("`{}` is not a step", step.trim()))?;
            (last, By::Step(amount(&step)))
        }
        None => {
            let (last, factor) = rest
                .rsplit_once(char::is_whitespace)
                .filter(|(_, factor)| factor.starts_with(['x', 'X', '*']))
                .ok_or("add a factor or a step: `x2` or `step 10`")?;
            let factor = factor[1..].parse::<u32>().ok().filter(|factor| *factor >= 2);
            let factor = factor.ok_or("the factor must be a whole number from 2")?;
            (last, By::Factor(f64::from(factor)))
        }
    };
    let end = |text: &str| parse(text).ok_or_else(|| format!("`{}` is not a value", text.trim()));
    let (first, last) = (end(first)?, end(last)?);
    let amounts = steps(amount(&first), amount(&last), by)?;
    Ok(amounts.into_iter().map(|amount| same_kind(&first, amount)).collect())
}

enum By {
    Factor(f64),
    Step(f64),
}

fn steps(first: f64, last: f64, by: By) -> Result<Vec<f64>, String> {
    let up = last >= first;
    // Keeps the last value of 0.1..0.3 step 0.1 despite rounding.
    let slack = (last - first).abs().max(last.abs()) * 1e-9;
    let inside = |value: f64| if up { value <= last + slack } else { value >= last - slack };
    let mut values = Vec::new();
    let mut value = first;
    while inside(value) {
        if values.len() >= MOST {
            return Err(format!("a range has at most {MOST} values"));
        }
        values.push(value);
        let next = match by {
            By::Step(step) => first + values.len() as f64 * if up { step } else { -step },
            By::Factor(factor) if up => value * factor,
            By::Factor(factor) => value / factor,
        };
        if next == value {
            return Err("the range never reaches its end".to_owned());
        }
        value = next;
    }
    Ok(values)
}

fn amount(value: &Value) -> f64 {
    match *value {
        Value::Duration(n) | Value::Bytes(n) | Value::Count(n) => n as f64,
        Value::Share(permille) => f64::from(permille),
        Value::Rate(number) | Value::Skew(number) => number,
        _ => 0.0,
    }
}

fn same_kind(model: &Value, amount: f64) -> Value {
    let whole = amount.round() as u64;
    match model {
        Value::Duration(_) => Value::Duration(whole),
        Value::Bytes(_) => Value::Bytes(whole),
        Value::Count(_) => Value::Count(whole),
        Value::Share(_) => Value::Share(whole.min(1000) as u16),
        Value::Rate(_) => Value::Rate(rounded(amount)),
        _ => Value::Skew(rounded(amount)),
    }
}

/// Rounds to nine decimals, so that 0.1 + 0.2 is shown as 0.3.
fn rounded(amount: f64) -> f64 {
    (amount * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Result<Vec<u64>, String> {
        let parse = |text: &str| text.trim().parse().ok().map(Value::Count);
        let values = expand(text, parse)?;
        Ok(values.iter().map(|value| amount(value) as u64).collect())
    }

    #[test]
    fn ranges_go_up_and_down_by_steps_and_factors() {
        assert_eq!(counts("1..32 x2").unwrap(), [1, 2, 4, 8, 16, 32]);
        assert_eq!(counts("1..48 x2").unwrap(), [1, 2, 4, 8, 16, 32]);
        assert_eq!(counts("10..100 step 30").unwrap(), [10, 40, 70, 100]);
        assert_eq!(counts("100..0 step 50").unwrap(), [100, 50, 0]);
        assert_eq!(counts("32..4 x2").unwrap(), [32, 16, 8, 4]);
        assert_eq!(counts("7..7 x2").unwrap(), [7]);
    }

    #[test]
    fn an_invalid_range_is_refused_with_the_reason() {
        for (text, why) in [
            ("1..32", "add a factor or a step"),
            ("1..32 x1", "from 2"),
            ("0..32 x2", "never reaches"),
            ("1..9 step 0", "never reaches"),
            ("1..1000000 step 1", "at most 10000 values"),
            ("a..9 step 1", "`a` is not"),
        ] {
            let found = counts(text).unwrap_err();
            assert!(found.contains(why), "{text}: {found}");
        }
    }

    #[test]
    fn fractions_reach_their_end() {
        let parse = |text: &str| text.trim().parse().ok().map(Value::Skew);
        let values = expand("0.1..0.5 step 0.1", parse).unwrap();
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["0.1", "0.2", "0.3", "0.4", "0.5"]);
    }
}
