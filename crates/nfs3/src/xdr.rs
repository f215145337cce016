//! XDR: a reader that borrows from received bytes, and a writer into a reusable buffer.
//!
//! Every received length is checked against the available bytes and the RFC's maximum before it is
//! used. Payloads (the data of READ and WRITE) need not be copied: a message can be written up to
//! the payload's length, and the payload sent after it, followed by its [`padding`].
//!
//! Source: RFC 4506. The form of the reader (borrowed opaques, `finish`) is common for decoders of
//! untrusted input.

/// Maximum length of `opaque<>` and `string<>` without a maximum in the RFC. The record limits it.
pub const UNBOUNDED: usize = u32::MAX as usize;

/// Why bytes cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XdrError {
    /// The bytes end within a value.
    #[error("the message ends within {0}")]
    Truncated(&'static str),
    /// A length above the RFC's maximum.
    #[error("{what} has {length} bytes or items, more than the {max} allowed")]
    TooLong {
        /// The value with this length.
        what: &'static str,
        /// The length on the wire.
        length: u32,
        /// The RFC's maximum.
        max: usize,
    },
    /// A number that is not defined for the enumeration or union.
    #[error("{what} has no value {value}")]
    NoSuchValue {
        /// The enumeration.
        what: &'static str,
        /// The number on the wire.
        value: u32,
    },
    /// Bytes after the end of the message.
    #[error("{0} bytes follow the end of the message")]
    TrailingBytes(usize),
}

/// A value with an XDR form.
///
/// Decoding borrows from the message. Encoding a decoded value gives the same bytes, except for
/// padding that was not zero.
pub trait Xdr<'a>: Sized {
    /// Reads one value.
    ///
    /// # Errors
    /// The bytes are invalid. The reader's position is then undefined.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, XdrError>;

    /// Appends the value.
    fn encode(&self, writer: &mut Writer<'_>);
}

/// Decodes a value that must consist of all `bytes`.
///
/// # Errors
/// The bytes are invalid, or bytes follow the value.
pub fn decode_whole<'a, T: Xdr<'a>>(bytes: &'a [u8]) -> Result<T, XdrError> {
    let mut reader = Reader::new(bytes);
    let value = T::decode(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Encodes a value into a new buffer.
#[cfg(test)]
pub(crate) fn encoded<'a, T: Xdr<'a>>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut Writer::new(&mut bytes));
    bytes
}

/// The zero bytes that follow an opaque of `length` bytes.
///
//= https://www.rfc-editor.org/rfc/rfc4506#section-4.10
//# If n is not a multiple of four, then the n bytes are followed by enough (0 to 3) residual zero
//# bytes, r, to make the total byte count a multiple of four.
#[must_use]
pub fn padding(length: usize) -> &'static [u8] {
    &[0; 3][..length.wrapping_neg() % 4]
}

/// Reads XDR values from the front of a message.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// The bytes that are not yet read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Ends the message.
    ///
    /// # Errors
    /// Bytes remain.
    pub fn finish(self) -> Result<(), XdrError> {
        match self.rest.len() {
            0 => Ok(()),
            remaining => Err(XdrError::TrailingBytes(remaining)),
        }
    }

    /// `unsigned int`.
    ///
    /// # Errors
    /// The bytes end.
    pub fn u32(&mut self) -> Result<u32, XdrError> {
        Ok(u32::from_be_bytes(self.array("an unsigned integer")?))
    }

    /// `unsigned hyper`.
    ///
    /// # Errors
    /// The bytes end.
    pub fn u64(&mut self) -> Result<u64, XdrError> {
        Ok(u64::from_be_bytes(self.array("an unsigned hyper integer")?))
    }

    /// `bool`.
    ///
    /// # Errors
    /// The bytes end, or the number is neither 0 nor 1.
    pub fn bool(&mut self) -> Result<bool, XdrError> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(XdrError::NoSuchValue { what: "bool", value }),
        }
    }

    /// `opaque[N]` for an N that is a multiple of four.
    ///
    /// # Errors
    /// The bytes end.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], XdrError> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(XdrError::Truncated(what))?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// `opaque<max>` or `string<max>`, borrowed, without its padding.
    ///
    /// # Errors
    /// The length exceeds `max`, or the bytes end before the end of the padding.
    pub fn opaque(&mut self, what: &'static str, max: usize) -> Result<&'a [u8], XdrError> {
        let length = self.count(what, max)?;
        let data = self.rest.get(..length).ok_or(XdrError::Truncated(what))?;
        let end = length + padding(length).len();
        self.rest = self.rest.get(end..).ok_or(XdrError::Truncated(what))?;
        Ok(data)
    }

    /// The length of an opaque or an array.
    ///
    /// # Errors
    /// It exceeds `max`, or the bytes end.
    pub fn count(&mut self, what: &'static str, max: usize) -> Result<usize, XdrError> {
        let length = self.u32()?;
        match usize::try_from(length) {
            Ok(count) if count <= max => Ok(count),
            _ => Err(XdrError::TooLong { what, length, max }),
        }
    }

    /// A list in the form of `struct item *next`: `true` before each item, and `false` at the end.
    ///
    /// # Errors
    /// Those of an item.
    pub fn list<T: Xdr<'a>>(&mut self) -> Result<Vec<T>, XdrError> {
        let mut items = Vec::new();
        while self.bool()? {
            items.push(T::decode(self)?);
        }
        Ok(items)
    }
}

/// Appends XDR values to a buffer.
#[derive(Debug)]
pub struct Writer<'b> {
    bytes: &'b mut Vec<u8>,
}

impl<'b> Writer<'b> {
    /// A writer that appends to `bytes`.
    #[must_use]
    pub fn new(bytes: &'b mut Vec<u8>) -> Writer<'b> {
        Writer { bytes }
    }

    /// `unsigned int`.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// Several `unsigned int` with one append.
    pub fn words<const N: usize>(&mut self, words: [u32; N]) {
        self.bytes.extend_from_slice(words.map(u32::to_be_bytes).as_flattened());
    }

    /// `unsigned hyper`.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    /// `bool`.
    pub fn bool(&mut self, value: bool) {
        self.u32(u32::from(value));
    }

    /// `opaque[N]` for an N that is a multiple of four.
    pub fn array(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len().is_multiple_of(4), "a fixed opaque without padding");
        self.bytes.extend_from_slice(bytes);
    }

    /// `opaque<max>` or `string<max>`.
    ///
    /// # Panics
    /// If the length exceeds `max`. A decoder has checked all received values.
    pub fn opaque(&mut self, bytes: &[u8], max: usize) {
        self.count(bytes.len(), max);
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(padding(bytes.len()));
    }

    /// The length of an opaque or an array.
    ///
    /// # Panics
    /// If it exceeds `max`.
    pub fn count(&mut self, count: usize, max: usize) {
        assert!(count <= max, "{count} exceeds the protocol's maximum of {max}");
        self.u32(u32::try_from(count).expect("maxima of the protocol fit 32 bits"));
    }

    /// A list, see [`Reader::list`].
    pub fn list<'a, T: Xdr<'a>>(&mut self, items: &[T]) {
        for item in items {
            self.bool(true);
            item.encode(self);
        }
        self.bool(false);
    }
}

impl Xdr<'_> for () {
    fn decode(_: &mut Reader<'_>) -> Result<(), XdrError> {
        Ok(())
    }

    fn encode(&self, _: &mut Writer<'_>) {}
}

impl Xdr<'_> for u32 {
    fn decode(reader: &mut Reader<'_>) -> Result<u32, XdrError> {
        reader.u32()
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(*self);
    }
}

impl Xdr<'_> for u64 {
    fn decode(reader: &mut Reader<'_>) -> Result<u64, XdrError> {
        reader.u64()
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.u64(*self);
    }
}

impl Xdr<'_> for bool {
    fn decode(reader: &mut Reader<'_>) -> Result<bool, XdrError> {
        reader.bool()
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.bool(*self);
    }
}

/// A verifier: eight bytes that only the server interprets.
impl Xdr<'_> for [u8; 8] {
    fn decode(reader: &mut Reader<'_>) -> Result<[u8; 8], XdrError> {
        reader.array("a verifier")
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.array(self);
    }
}

/// `union switch (bool present) { case TRUE: T; case FALSE: void; }`.
impl<'a, T: Xdr<'a>> Xdr<'a> for Option<T> {
    fn decode(reader: &mut Reader<'a>) -> Result<Option<T>, XdrError> {
        Ok(if reader.bool()? { Some(T::decode(reader)?) } else { None })
    }

    fn encode(&self, writer: &mut Writer<'_>) {
        writer.bool(self.is_some());
        if let Some(value) = self {
            value.encode(writer);
        }
    }
}

/// Defines a struct that is encoded as its fields in order.
macro_rules! xdr_struct {
    ($($(#[$meta:meta])* pub struct $name:ident $(<$life:lifetime>)? {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$meta])*
        pub struct $name $(<$life>)? {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        $crate::xdr::xdr_struct!(@codec $name $(<$life>)? { $($field: $type,)* });
    )*};
    (@codec $name:ident { $($field:ident: $type:ty,)* }) => {
        impl $crate::xdr::Xdr<'_> for $name {
            fn decode(
                reader: &mut $crate::xdr::Reader<'_>,
            ) -> Result<Self, $crate::xdr::XdrError> {
                Ok($name { $($field: <$type as $crate::xdr::Xdr<'_>>::decode(reader)?,)* })
            }

            fn encode(&self, writer: &mut $crate::xdr::Writer<'_>) {
                $(self.$field.encode(writer);)*
            }
        }
    };
    (@codec $name:ident <$life:lifetime> { $($field:ident: $type:ty,)* }) => {
        impl<$life> $crate::xdr::Xdr<$life> for $name<$life> {
            fn decode(
                reader: &mut $crate::xdr::Reader<$life>,
            ) -> Result<Self, $crate::xdr::XdrError> {
                Ok($name { $($field: <$type as $crate::xdr::Xdr<$life>>::decode(reader)?,)* })
            }

            fn encode(&self, writer: &mut $crate::xdr::Writer<'_>) {
                $(self.$field.encode(writer);)*
            }
        }
    };
}

/// Defines an enumeration with its encoding. Other numbers are refused.
macro_rules! xdr_enum {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $value:literal,)*
    }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$variant_meta])* $variant = $value,)*
        }

        impl $name {
            /// The name in the RFC.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => stringify!($variant),)*
                }
            }
        }

        impl $crate::xdr::Xdr<'_> for $name {
            fn decode(
                reader: &mut $crate::xdr::Reader<'_>,
            ) -> Result<Self, $crate::xdr::XdrError> {
                match reader.u32()? {
                    $($value => Ok($name::$variant),)*
                    value => Err($crate::xdr::XdrError::NoSuchValue {
                        what: stringify!($name),
                        value,
                    }),
                }
            }

            fn encode(&self, writer: &mut $crate::xdr::Writer<'_>) {
                writer.u32(*self as u32);
            }
        }
    };
}

pub(crate) use {xdr_enum, xdr_struct};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opaque_is_borrowed_and_its_padding_is_skipped() {
        let bytes = [0, 0, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0, 0, 0, 0, 7];
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.opaque("a name", 255), Ok(&b"hello"[..]));
        assert_eq!(reader.u32(), Ok(7));
        assert_eq!(reader.finish(), Ok(()));
        let mut written = Vec::new();
        Writer::new(&mut written).opaque(b"hello", 255);
        assert_eq!(written, bytes[..12]);
    }

    #[test]
    fn a_length_beyond_the_maximum_or_the_bytes_is_refused() {
        let huge = [0xff; 4];
        let too_long = XdrError::TooLong { what: "a handle", length: u32::MAX, max: 64 };
        assert_eq!(Reader::new(&huge).opaque("a handle", 64), Err(too_long));
        let missing = Err(XdrError::Truncated("data"));
        assert_eq!(Reader::new(&huge).opaque("data", UNBOUNDED), missing);
        let no_padding = [0, 0, 0, 1, b'a'];
        assert_eq!(Reader::new(&no_padding).opaque("data", 8), missing);
    }

    #[test]
    fn trailing_bytes_and_other_booleans_are_refused() {
        assert_eq!(decode_whole::<u32>(&[0; 5]), Err(XdrError::TrailingBytes(1)));
        let two = XdrError::NoSuchValue { what: "bool", value: 2 };
        assert_eq!(decode_whole::<bool>(&[0, 0, 0, 2]), Err(two));
    }

    #[test]
    fn an_optional_value_and_a_hyper_have_the_bytes_of_the_rfc() {
        let bytes = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0];
        assert_eq!(encoded(&Some(256u64)), bytes);
        assert_eq!(decode_whole::<Option<u64>>(&bytes), Ok(Some(256)));
        assert_eq!(encoded(&None::<u64>), [0; 4]);
    }

    #[test]
    fn padding_fills_to_a_multiple_of_four() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(|n| padding(n).len()), [0, 3, 2, 1, 0, 3]);
    }
}
