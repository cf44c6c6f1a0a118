//! Text inside XML and HTML.

/// Text as XML content or attribute value. Characters that XML 1.0 cannot hold become the replacement character.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_is_escaped_and_illegal_characters_are_replaced() {
        assert_eq!(escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
        assert_eq!(escape("a<b & 'c' > \"d\""), "a&lt;b &amp; &#39;c&#39; &gt; &quot;d&quot;");
        assert_eq!(escape("\u{1}id\u{0}\u{ffff}x\ny"), "\u{fffd}id\u{fffd}\u{fffd}x y");
    }
}
