//! Universal Binary JSON as a serde format: what XGBoost writes into `.ubj` files, and the rest of the format.

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Deepest nesting of lists and objects.
const MAX_DEPTH: usize = 64;

/// What is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UbjError(String);

impl serde::de::Error for UbjError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// A reader that stands before a value.
#[derive(Debug)]
pub(crate) struct Ubj<'de> {
    bytes: &'de [u8],
    at: usize,
    depth: usize,
    /// Type of the next value where its list or object gives it once for all.
    marker: Option<u8>,
}

impl<'de> Ubj<'de> {
    pub(crate) fn new(bytes: &'de [u8]) -> Self {
        Self { bytes, at: 0, depth: 0, marker: None }
    }

    /// Number of bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, n: usize) -> Result<&'de [u8], UbjError> {
        let rest = &self.bytes[self.at..];
        if n > rest.len() {
            return Err(UbjError(format!("the file ends where {n} more bytes are expected")));
        }
        self.at += n;
        Ok(&rest[..n])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], UbjError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8, UbjError> {
        Ok(self.array::<1>()?[0])
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The type of the next value; no-ops are skipped.
    fn next_marker(&mut self) -> Result<u8, UbjError> {
        if let Some(marker) = self.marker.take() {
            return Ok(marker);
        }
        loop {
            match self.byte()? {
                b'N' => {}
                marker => return Ok(marker),
            }
        }
    }

    fn integer(&mut self, marker: u8) -> Result<i64, UbjError> {
        Ok(match marker {
            b'i' => i64::from(i8::from_be_bytes(self.array()?)),
            b'U' => i64::from(self.byte()?),
            b'I' => i64::from(i16::from_be_bytes(self.array()?)),
            b'l' => i64::from(i32::from_be_bytes(self.array()?)),
            b'L' => i64::from_be_bytes(self.array()?),
            other => return Err(UbjError(format!("{} where a length is expected", name(other)))),
        })
    }

    fn length(&mut self) -> Result<usize, UbjError> {
        let marker = self.byte()?;
        let length = self.integer(marker)?;
        usize::try_from(length).map_err(|_| UbjError(format!("the length {length}")))
    }

    fn text(&mut self) -> Result<&'de str, UbjError> {
        let n = self.length()?;
        std::str::from_utf8(self.take(n)?).map_err(|_| UbjError("a text that is not UTF-8".into()))
    }

    /// The head of a list or object: type and number of its values, where given.
    fn open(&mut self) -> Result<Container<'_, 'de>, UbjError> {
        if self.depth == MAX_DEPTH {
            return Err(UbjError(format!("more than {MAX_DEPTH} lists and objects inside each other")));
        }
        let mut marker = None;
        if self.peek() == Some(b'$') {
            self.at += 1;
            let kind = self.byte()?;
            // Values without bytes could be as many as the count likes.
            if !b"iUIlLdDSHC[{".contains(&kind) {
                return Err(UbjError(format!("a container of {}", name(kind))));
            }
            marker = Some(kind);
            if self.peek() != Some(b'#') {
                return Err(UbjError("a typed container without a count".into()));
            }
        }
        let mut count = None;
        if self.peek() == Some(b'#') {
            self.at += 1;
            let n = self.length()?;
            if n > self.bytes.len() - self.at {
                return Err(UbjError(format!(
                    "{n} values are announced in {} bytes",
                    self.bytes.len() - self.at
                )));
            }
            count = Some(n);
        }
        self.depth += 1;
        Ok(Container { reader: self, marker, count })
    }
}

/// A list or object that is being read.
struct Container<'a, 'de> {
    reader: &'a mut Ubj<'de>,
    marker: Option<u8>,
    count: Option<usize>,
}

impl Container<'_, '_> {
    /// Whether another value (or key) follows; reads the end mark.
    fn has_next(&mut self, end: u8) -> Result<bool, UbjError> {
        match &mut self.count {
            Some(0) => Ok(false),
            Some(count) => {
                *count -= 1;
                Ok(true)
            }
            None => {
                while self.reader.peek() == Some(b'N') {
                    self.reader.at += 1;
                }
                match self.reader.peek() {
                    None => Err(UbjError("the file ends within a list or object".into())),
                    Some(byte) if byte == end => {
                        self.reader.at += 1;
                        self.count = Some(0);
                        Ok(false)
                    }
                    Some(_) => Ok(true),
                }
            }
        }
    }

    /// Skips what the visitor left, so that the reader stands behind the container.
    fn close(&mut self, end: u8) -> Result<(), UbjError> {
        if self.has_next(end)? {
            return Err(UbjError("a list or object is longer than expected".into()));
        }
        self.reader.depth -= 1;
        Ok(())
    }
}

impl<'de> SeqAccess<'de> for Container<'_, 'de> {
    type Error = UbjError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, UbjError> {
        if !self.has_next(b']')? {
            return Ok(None);
        }
        self.reader.marker = self.marker;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        self.count
    }
}

impl<'de> MapAccess<'de> for Container<'_, 'de> {
    type Error = UbjError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, UbjError> {
        if !self.has_next(b'}')? {
            return Ok(None);
        }
        // Keys have no type mark.
        let key = self.reader.text()?;
        seed.deserialize(serde::de::value::BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, UbjError> {
        self.reader.marker = self.marker;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> Deserializer<'de> for &mut Ubj<'de> {
    type Error = UbjError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, UbjError> {
        match self.next_marker()? {
            b'Z' => visitor.visit_unit(),
            b'T' => visitor.visit_bool(true),
            b'F' => visitor.visit_bool(false),
            b'd' => visitor.visit_f32(f32::from_be_bytes(self.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(self.array()?)),
            b'C' => visitor.visit_char(char::from(self.byte()?)),
            b'S' | b'H' => visitor.visit_borrowed_str(self.text()?),
            b'[' => {
                let mut list = self.open()?;
                let value = visitor.visit_seq(&mut list)?;
                list.close(b']')?;
                Ok(value)
            }
            b'{' => {
                let mut object = self.open()?;
                let value = visitor.visit_map(&mut object)?;
                object.close(b'}')?;
                Ok(value)
            }
            marker @ (b'i' | b'U' | b'I' | b'l' | b'L') => visitor.visit_i64(self.integer(marker)?),
            other => Err(UbjError::custom(format!("{} where a value is expected", name(other)))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, UbjError> {
        match self.marker.or(self.peek()) {
            Some(b'Z') => self.deserialize_any(visitor),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, UbjError> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

/// A byte as messages show it.
fn name(byte: u8) -> String {
    if byte.is_ascii_graphic() { format!("{:?}", char::from(byte)) } else { format!("byte {byte}") }
}

#[cfg(test)]
mod tests {
    use super::Ubj;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, String> {
        let mut reader = Ubj::new(bytes);
        let value = T::deserialize(&mut reader).map_err(|error| error.to_string())?;
        if reader.position() == bytes.len() { Ok(value) } else { Err("trailing bytes".into()) }
    }

    #[test]
    fn containers_with_and_without_type_and_count() {
        assert_eq!(read::<Vec<f32>>(b"[d\x3f\x80\x00\x00NU\x02]").unwrap(), [1.0, 2.0]);
        assert_eq!(read::<Vec<i64>>(b"[#U\x02i\xffI\x01\x00").unwrap(), [-1, 256]);
        assert_eq!(read::<Vec<i64>>(b"[$l#L\0\0\0\0\0\0\0\x02\0\0\0\x07\xff\xff\xff\xff").unwrap(), [7, -1]);
        assert_eq!(read::<Vec<Vec<u8>>>(b"[$[#i\x02$U#i\x01\x09#i\0").unwrap(), [vec![9], vec![]]);
        let map: BTreeMap<String, Option<bool>> = read(b"{i\x01aTU\x01bZ}").unwrap();
        assert_eq!(map, BTreeMap::from([("a".into(), Some(true)), ("b".into(), None)]));
        let counted: BTreeMap<String, String> = read(b"{#i\x01i\x01kSi\x02hi").unwrap();
        assert_eq!(counted["k"], "hi");
    }

    #[test]
    fn damage_is_an_error_and_asks_for_no_memory() {
        let cases: [(&[u8], &str); 8] = [
            (b"[d\x3f", "ends where 4"),
            (b"[i\x01", "ends within"),
            (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "announced in 0 bytes"),
            (b"[#L\xff\xff\xff\xff\xff\xff\xff\xff", "the length -1"),
            (b"[$T#U\xff", "a container of 'T'"),
            (b"[$dd", "without a count"),
            (b"[?]", "'?' where a value"),
            (b"[Si\x01\xff]", "invalid type"),
        ];
        for (bytes, expected) in cases {
            let error = read::<Vec<f64>>(bytes).unwrap_err();
            assert!(
                error.contains(expected) || error.contains("UTF-8"),
                "{error:?} should contain {expected:?}"
            );
        }
        let deep = vec![b'['; 1_000_000];
        assert!(read::<serde::de::IgnoredAny>(&deep).unwrap_err().contains("inside each other"));
    }
}
