//! Lines of a text of any size, with their positions.

use std::io::BufRead;

use crate::error::{Error, Position, PositionUnit};

/// A longer line is cut; strace prints 32 bytes of a buffer unless `-s` is given.
const LINE_MAX: usize = 1 << 20;

/// Reads lines into one buffer.
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    next: Position,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        let next = Position { unit: PositionUnit::Line, number: 1, byte: 0 };
        Lines { input, line: Vec::new(), next }
    }

    /// The next line without its end, with its position; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(Position, String)>, Error> {
        let at = self.next;
        self.line.clear();
        let mut taken = 0;
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(Error::Read { at, source }),
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let room = LINE_MAX - self.line.len();
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            taken += used as u64;
            if end.is_some() || used == 0 {
                break;
            }
        }
        if taken == 0 {
            return Ok(None);
        }
        self.next.number += 1;
        self.next.byte += taken;
        Ok(Some((at, String::from_utf8_lossy(&self.line).trim_end().to_owned())))
    }

    /// Lines read so far.
    pub(crate) fn count(&self) -> u64 {
        self.next.number - 1
    }

    /// Bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.next.byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_offsets_and_the_last_needs_no_end() {
        let mut lines = Lines::new(&b"ab\r\n\nlast"[..]);
        let mut all = Vec::new();
        while let Some((at, text)) = lines.next().unwrap() {
            all.push((at.number, at.byte, text));
        }
        let expected = [(1, 0, "ab".to_owned()), (2, 4, String::new()), (3, 5, "last".to_owned())];
        assert_eq!(all, expected);
        assert_eq!((lines.count(), lines.bytes()), (3, 9));
    }

    #[test]
    fn an_endless_line_takes_bounded_memory() {
        let text = vec![b'x'; 3 * LINE_MAX];
        let mut lines = Lines::new(&text[..]);
        assert_eq!(lines.next().unwrap().unwrap().1.len(), LINE_MAX);
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.bytes(), 3 * LINE_MAX as u64);
    }
}
