//! Numbers and texts as bytes: LEB128 integers, little-endian floats, length-prefixed text.
//!
//! Reading never panics and never allocates more than the bytes at hand justify: a journal may come
//! from a stranger.

/// Bytes that are not what their frame's kind says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

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

pub(crate) fn put_f64(out: &mut Vec<u8>, number: f64) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u64(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// What is left to be read of a frame's payload.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: payload }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(Malformed("it ends too early"))?;
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
                return Err(Malformed("a number is above 64 bits"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("a number is above 64 bits"))
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.u64()?).map_err(|_| Malformed("a number is above 32 bits"))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, Malformed> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.u8()?;
            let bits = u128::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Malformed("a number is above 128 bits"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("a number is above 128 bits"))
    }

    pub(crate) fn f64(&mut self) -> Result<f64, Malformed> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Malformed("it ends too early"))?;
        self.rest = rest;
        Ok(f64::from_le_bytes(*bytes))
    }

    /// A number of things of at least `bytes_each` bytes that follow.
    pub(crate) fn count(&mut self, bytes_each: usize) -> Result<usize, Malformed> {
        let count = self.u64()?;
        if count > (self.rest.len() / bytes_each) as u64 {
            return Err(Malformed("it announces more than it holds"));
        }
        Ok(count as usize)
    }

    pub(crate) fn text(&mut self) -> Result<String, Malformed> {
        let length = self.count(1)?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| Malformed("a text is not UTF-8"))
    }

    /// Exactly so many bytes.
    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Malformed("it ends too early"))?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// Nothing is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed("it goes on after its end")) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_put_is_read(a: u64, b: u128, c: f64, text: String) {
            let mut out = Vec::new();
            put_u64(&mut out, a);
            put_u128(&mut out, b);
            put_f64(&mut out, c);
            put_text(&mut out, &text);
            let mut cursor = Cursor::new(&out);
            prop_assert_eq!(cursor.u64(), Ok(a));
            prop_assert_eq!(cursor.u128(), Ok(b));
            prop_assert_eq!(cursor.f64().map(f64::to_bits), Ok(c.to_bits()));
            prop_assert_eq!(cursor.text(), Ok(text));
            prop_assert_eq!(cursor.end(), Ok(()));
        }
    }

    #[test]
    fn the_ends_of_the_number_range_are_kept_and_longer_numbers_are_refused() {
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
