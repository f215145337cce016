//! Reads the key `replay`: the file of a list, with speed and repetition.

use std::sync::Arc;

use settings::Node;
use toml::de::DeValue;

use crate::keys::Kind;
use crate::reader::Reader;
use crate::replay::{Replay, ReplayList};
use crate::replay_list;
use crate::value::Value;

/// The word for a speed that only the queue depth limits.
const AS_FAST_AS_POSSIBLE: &str = "max";

impl Reader<'_, '_> {
    /// The values of a list's name, or of a table with one.
    pub(crate) fn replays(&mut self, node: &Node<'_>) -> Vec<Value> {
        let DeValue::Table(table) = node.get_ref() else {
            let list = self.list(node);
            let replay = |(name, list): (String, _)| Replay::new(&name, &list, Some(1.0), false);
            return list.map(replay).map(Box::new).map(Value::Replay).into_iter().collect();
        };
        let allowed = Kind::Replay.allowed();
        let names = ["list", "speed", "repeat"];
        if self.part("replay", node, &names, &allowed).is_none() {
            return Vec::new();
        }
        let Some(list) = table.get("list") else {
            self.refuse(node, "`replay` lacks `list`", &allowed);
            return Vec::new();
        };
        let speeds = match table.get("speed") {
            None => vec![Some(1.0)],
            Some(speeds) => self.speeds(speeds),
        };
        let repeat = match table.get("repeat") {
            None => false,
            Some(repeat) => match self.one("repeat", Kind::Flag, repeat) {
                Some(Value::Flag(repeat)) => repeat,
                _ => return Vec::new(),
            },
        };
        let Some((name, list)) = self.list(list) else { return Vec::new() };
        let replay = |speed| Value::Replay(Box::new(Replay::new(&name, &list, speed, repeat)));
        speeds.into_iter().map(replay).collect()
    }

    /// One speed or several; `None` is as fast as possible.
    fn speeds(&mut self, node: &Node<'_>) -> Vec<Option<f64>> {
        let speed = |value| match value {
            Value::Skew(0.0) => Some(None),
            Value::Skew(speed) => Some(Some(speed)),
            _ => None,
        };
        self.inner("speed", Kind::Speed, node).into_iter().filter_map(speed).collect()
    }

    /// The list in a file, with the file's name.
    fn list(&mut self, node: &Node<'_>) -> Option<(String, Arc<ReplayList>)> {
        let Value::Text(path) = self.one("list", Kind::Text, node)? else { return None };
        match (self.read_file)(&path) {
            Ok(text) => {
                let list = replay_list::parse(&path, &text);
                let list = list.map_err(|wrong| self.problems.push(*wrong)).ok()?;
                Some((path, Arc::new(list)))
            }
            Err(reason) => {
                let span = self.source.span(node.span());
                let wrong = format!("the list to replay cannot be read: {reason}");
                let wrong =
                    span.diagnostic(wrong, "a list that `fourcorners observe --replay` wrote");
                self.problems.push(wrong.with_hint("its path is relative to the experiment file"));
                None
            }
        }
    }
}

/// A speed: above 0, or 0 for the word that means as fast as possible.
pub(crate) fn speed(written: &str, is_text: bool) -> Option<f64> {
    match written {
        AS_FAST_AS_POSSIBLE if is_text => Some(0.0),
        // `2x`, as in tables.
        _ => {
            let number = written.strip_suffix('x').filter(|_| is_text).unwrap_or(written);
            number.parse().ok().filter(|speed| *speed > 0.0)
        }
    }
}
