//! Integers as LEB128 bytes, as in the postcard format.
//!
//! Decoding never panics and never allocates more than the input justifies: a journal may be
//! hostile.

/// Why a frame's payload does not match its kind, as the end of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// For kinds of operations that a later version added.
pub(crate) const UNKNOWN_KINDS: &str =
    "this version of fourcorners does not know its operation kinds";

pub(crate) fn put_u64(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(crate) fn put_u128(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The part of a frame's payload that is not yet read.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: payload }
    }

    /// What is not yet read.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed("it ends early"))?;
        self.rest = rest;
        Ok(*first)
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        // Nearly all numbers of a histogram are below 128.
        match self.rest {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_u64(),
        }
    }

    fn long_u64(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Malformed("a number exceeds 64 bits"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("a number exceeds 64 bits"))
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.u64()?).map_err(|_| Malformed("a number exceeds 32 bits"))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, Malformed> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.u8()?;
            let bits = u128::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Malformed("a number exceeds 128 bits"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("a number exceeds 128 bits"))
    }

    pub(crate) fn f64(&mut self) -> Result<f64, Malformed> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Malformed("it ends early"))?;
        self.rest = rest;
        Ok(f64::from_le_bytes(*bytes))
    }

    /// The number of items of at least `bytes_each` bytes that follow.
    pub(crate) fn count(&mut self, bytes_each: usize) -> Result<usize, Malformed> {
        let count = self.u64()?;
        if count > (self.rest.len() / bytes_each) as u64 {
            return Err(Malformed("it is shorter than its counts require"));
        }
        Ok(count as usize)
    }

    pub(crate) fn text(&mut self) -> Result<String, Malformed> {
        let length = self.count(1)?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| Malformed("a text is not UTF-8"))
    }

    /// The next `N` bytes.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Malformed("it ends early"))?;
        self.rest = rest;
        Ok(*bytes)
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.is_at_end() { Ok(()) } else { Err(Malformed("it is longer than its content")) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_are_read_as_written(a: u64, b: u128) {
            let mut out = Vec::new();
            put_u64(&mut out, a);
            put_u128(&mut out, b);
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.u64(), Ok(a));
            prop_assert_eq!(cursor.u128(), Ok(b));
            prop_assert_eq!(cursor.end(), Ok(()));
        }
    }

    #[test]
    fn the_smallest_and_largest_integers_are_read_and_longer_ones_refused() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX] {
            let mut out = Vec::new();
            put_u64(&mut out, number);
            assert_eq!(Cursor::new(&out).u64(), Ok(number));
        }
        let mut out = vec![0xff; 9];
        out.push(0x02);
        assert!(Cursor::new(&out).u64().is_err());
        assert!(Cursor::new(&[0xff; 11]).u64().is_err());
        assert!(Cursor::new(&[0x80]).u64().is_err());
        assert!(Cursor::new(&[0xff; 19]).u128().is_err());
        assert!(Cursor::new(&[5, b'a']).text().is_err());
    }
}
