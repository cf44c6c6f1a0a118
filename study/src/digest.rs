//! A short digest of what a run is, so that results of different set-ups are never mixed. Not a cryptographic one.
//!
//! It is taken of canonical bytes: fields in a fixed order, each with its name, its type and its length, written one by one. So it changes when a field's value does, and not with
//! the way in which a type prints itself.

pub(crate) use leafgp_solver::fnv::fnv as fnv1a;

/// A hash as it stands in files: 16 hexadecimal digits.
pub(crate) fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Canonical bytes under construction. Lengths are 8 bytes, numbers too, the lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Canonical {
    bytes: Vec<u8>,
}

impl Canonical {
    /// A field: name, type, content.
    fn field(&mut self, name: &str, kind: u8, content: &[u8]) -> &mut Self {
        for part in [name.as_bytes(), content] {
            self.bytes.extend((part.len() as u64).to_le_bytes());
            self.bytes.extend(part);
            self.bytes.push(kind);
        }
        self
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) -> &mut Self {
        self.field(name, b't', text.as_bytes())
    }

    /// A number by its bits; the two zeros are one.
    pub(crate) fn number(&mut self, name: &str, x: f64) -> &mut Self {
        self.field(name, b'n', &(x + 0.0).to_bits().to_le_bytes())
    }

    pub(crate) fn count(&mut self, name: &str, n: u64) -> &mut Self {
        self.field(name, b'c', &n.to_le_bytes())
    }

    pub(crate) fn flag(&mut self, name: &str, flag: bool) -> &mut Self {
        self.field(name, b'f', &[u8::from(flag)])
    }

    pub(crate) fn group(&mut self, name: &str, fields: &Self) -> &mut Self {
        self.field(name, b'g', &fields.bytes)
    }

    /// Groups in their order.
    pub(crate) fn list(&mut self, name: &str, items: impl IntoIterator<Item = Self>) -> &mut Self {
        let mut all = Self::default();
        for item in items {
            all.group("", &item);
        }
        self.field(name, b'l', &all.bytes)
    }

    pub(crate) fn texts<'t>(&mut self, name: &str, texts: impl IntoIterator<Item = &'t str>) -> &mut Self {
        let mut all = Self::default();
        for text in texts {
            all.text("", text);
        }
        self.field(name, b'l', &all.bytes)
    }

    pub(crate) fn numbers(&mut self, name: &str, numbers: &[f64]) -> &mut Self {
        let mut all = Self::default();
        for &x in numbers {
            all.number("", x);
        }
        self.field(name, b'l', &all.bytes)
    }

    /// The digest of all fields.
    pub(crate) fn digest(&self) -> String {
        hexadecimal(fnv1a(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{Canonical, fnv1a, hexadecimal};

    #[test]
    fn published_values() {
        // Of the reference implementation's test vectors.
        for (text, hash) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            assert_eq!(hexadecimal(fnv1a(text.as_bytes())), hash);
        }
    }

    #[test]
    fn bytes_are_as_documented_and_fields_never_run_together() {
        let mut one = Canonical::default();
        one.text("a", "bc");
        assert_eq!(one.bytes, b"\x01\0\0\0\0\0\0\0at\x02\0\0\0\0\0\0\0bct");
        let mut others = vec![one];
        let mut add = |make: &dyn Fn(&mut Canonical)| {
            let mut other = Canonical::default();
            make(&mut other);
            others.push(other);
        };
        add(&|c| {
            c.text("ab", "c");
        });
        add(&|c| {
            c.text("a", "").text("bc", "");
        });
        add(&|c| {
            c.texts("a", ["b", "c"]);
        });
        add(&|c| {
            c.texts("a", ["bc"]);
        });
        add(&|c| {
            c.number("a", 1.0);
        });
        add(&|c| {
            c.number("a", 1.0).number("a", 1.0);
        });
        add(&|c| {
            c.numbers("a", &[1.0]);
        });
        add(&|c| {
            c.count("a", 1);
        });
        add(&|c| {
            c.count("a", 1.0f64.to_bits());
        });
        add(&|c| {
            c.flag("a", true);
        });
        add(&|c| {
            c.group("a", Canonical::default().text("", "bc"));
        });
        add(&|c| {
            c.list("a", [Canonical::default()]);
        });
        for (i, a) in others.iter().enumerate() {
            assert!(others[i + 1..].iter().all(|b| b.bytes != a.bytes && b.digest() != a.digest()), "{i}");
        }
        let zero = |x| Canonical::default().number("x", x).digest();
        assert_eq!(zero(0.0), zero(-0.0));
    }
}
