//! Text as people see it: letters with accents in one form.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The text with composed letters (Unicode's form C): some systems write `ä` as an `a` and a mark, which looks the same.
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

#[cfg(test)]
mod tests {
    use super::composed;

    #[test]
    fn letters_and_their_marks_become_one() {
        assert_eq!(composed("Ha\u{308}rte"), "H\u{e4}rte");
        assert!(matches!(composed("H\u{e4}rte"), std::borrow::Cow::Borrowed(_)));
    }
}
