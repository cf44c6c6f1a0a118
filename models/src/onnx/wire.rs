//! A count of what a file asks for, before it is decoded: an empty message takes two bytes there and a hundred in memory.

/// Most messages and texts of a file.
const MAX_MESSAGES: usize = 20_000_000;

/// The messages that hold repeated messages or texts.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Value,
    Type,
    TensorType,
    Shape,
}

impl Kind {
    /// The kind of a field of bytes, where it matters.
    fn of_field(self, field: u64) -> Option<Self> {
        Some(match (self, field) {
            (Self::Model, 7) => Self::Graph,
            (Self::Graph, 1) => Self::Node,
            (Self::Graph, 11 | 12) => Self::Value,
            (Self::Node, 5) => Self::Attribute,
            (Self::Value, 2) => Self::Type,
            (Self::Type, 1) => Self::TensorType,
            (Self::TensorType, 2) => Self::Shape,
            _ => return None,
        })
    }
}

/// Counts the messages and texts of the graph; false when there are too many. Damage is left to the decoder.
pub(super) fn is_bounded(bytes: &[u8]) -> bool {
    let mut n_messages = 0;
    let mut stack = vec![(bytes, Kind::Model)];
    while let Some((mut bytes, kind)) = stack.pop() {
        while let Some((field, content)) = next_field(&mut bytes) {
            let Some(content) = content else { continue };
            n_messages += 1;
            if n_messages > MAX_MESSAGES {
                return false;
            }
            if let Some(kind) = kind.of_field(field) {
                stack.push((content, kind));
            }
        }
    }
    true
}

/// The next field's number, and its bytes when it has a length; `None` at the end or at damage.
fn next_field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Option<&'a [u8]>)> {
    let key = varint(bytes)?;
    let content = match key & 7 {
        0 => {
            varint(bytes)?;
            None
        }
        1 => {
            *bytes = bytes.get(8..)?;
            None
        }
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            let content = bytes.get(..length)?;
            *bytes = &bytes[length..];
            Some(content)
        }
        5 => {
            *bytes = bytes.get(4..)?;
            None
        }
        _ => return None,
    };
    Some((key >> 3, content))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{MAX_MESSAGES, is_bounded};

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2];
        let mut length = content.len();
        while length > 127 {
            bytes.push(length as u8 | 128);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.extend_from_slice(content);
        bytes
    }

    #[test]
    fn many_empty_nodes_are_too_many() {
        assert!(is_bounded(&field(7, &field(1, &field(5, &[])).repeat(1000))));
        assert!(!is_bounded(&field(7, &[10, 0].repeat(MAX_MESSAGES + 1))));
        let attributes = [42, 0].repeat(MAX_MESSAGES + 1);
        assert!(!is_bounded(&field(7, &field(1, &attributes))));
        assert!(is_bounded(&[0xff; 100]));
    }
}
