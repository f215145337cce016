//! JSON whose changes show in a diff: an object has a line for each field, and a list of lists or
//! objects has a line for each element. A list of numbers is one line.

use std::io::{Result, Write};

use serde_json::ser::Formatter;

/// Writes JSON in lines.
#[derive(Default)]
pub(super) struct Lines {
    /// The lists and objects around the current position, the innermost last.
    open: Vec<Open>,
}

struct Open {
    is_list: bool,
    /// Its elements or fields have separate lines.
    has_lines: bool,
}

impl Lines {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> Result<()> {
        write!(out, "\n{}", "  ".repeat(self.open.len()))
    }

    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, is_list: bool) -> Result<()> {
        if let Some(around) = self.open.last_mut().filter(|around| around.is_list) {
            around.has_lines = true;
            self.line(out)?;
        }
        self.open.push(Open { is_list, has_lines: false });
        out.write_all(if is_list { b"[" } else { b"{" })
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        let ended = self.open.pop().expect("what ends has begun");
        if ended.has_lines {
            self.line(out)?;
        }
        out.write_all(if ended.is_list { b"]" } else { b"}" })
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.begin(out, true)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.end(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.begin(out, false)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.end(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if let Some(object) = self.open.last_mut() {
            object.has_lines = true;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        out.write_all(b": ")
    }
}
