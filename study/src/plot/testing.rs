//! What the tests of charts share.

/// Parses strictly.
pub(super) fn parse(svg: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"))
}

/// An attribute that must be there.
pub(super) fn attribute<'a>(node: &roxmltree::Node<'a, '_>, name: &str) -> &'a str {
    node.attribute(name).unwrap_or_else(|| panic!("no attribute {name} in {node:?}"))
}
