//! A small SVG writer: elements, attributes, escaped text, coordinates in hundredths of a pixel.
//!
//! Charts are one self-contained `<svg>` element that can stand in a file or inside a page: presentation attributes instead of style sheets (which would leak into the
//! page), generic fonts, no scripts. Two things a general plotting library's backend would not give are needed: hatch patterns and hover texts.

use std::fmt::Write;

use crate::digest::{fnv1a, hexadecimal};
use crate::escape::escape;
use leafgp::problem::format_decimals;

/// Width and height of a chart in pixels (user units of the SVG).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width, at least [`Size::SMALLEST`].
    pub width: f64,
    /// Height, at least [`Size::SMALLEST`].
    pub height: f64,
}

impl Size {
    /// Nothing can be read below this width or height.
    pub const SMALLEST: f64 = 120.0;

    /// A size; what is below [`Size::SMALLEST`] or no number becomes that.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width: width.max(Self::SMALLEST), height: height.max(Self::SMALLEST) }
    }
}

/// Where a text is anchored horizontally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) bold: bool,
    /// Degrees, clockwise, around the anchor.
    pub(super) turn: f64,
}

/// Font sizes in pixels.
pub(super) const TITLE_SIZE: f64 = 15.0;
pub(super) const LABEL_SIZE: f64 = 13.0;
pub(super) const TICK_SIZE: f64 = 11.0;
/// Colours of everything that is not data.
pub(super) const INK: &str = "#222222";
pub(super) const GRID: &str = "#dddddd";

impl Style {
    pub(super) fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, anchor, bold: false, turn: 0.0 }
    }

    pub(super) fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub(super) fn turned(mut self, degrees: f64) -> Self {
        self.turn = degrees;
        self
    }
}

/// An SVG being written.
#[derive(Clone, Debug)]
pub(super) struct Document {
    size: Size,
    title: String,
    body: String,
    open: Vec<&'static str>,
}

impl Document {
    /// Starts a document; `title` is what a screen reader says.
    pub(super) fn new(size: Size, title: &str) -> Self {
        Self { size, title: title.to_owned(), body: String::new(), open: Vec::new() }
    }

    /// Starts an element with attributes; finish it with [`Element::close`] (empty), [`Element::titled`] or [`Element::open`] (a parent of what follows).
    pub(super) fn element(&mut self, name: &'static str) -> Element<'_> {
        self.body.push('<');
        self.body.push_str(name);
        Element { document: self, name }
    }

    /// Ends the innermost open element.
    pub(super) fn end(&mut self) {
        let name = self.open.pop().expect("an element is open");
        let _ = writeln!(self.body, "</{name}>");
    }

    /// A text; nothing for an empty one.
    pub(super) fn text(&mut self, x: f64, y: f64, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let anchor = match style.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let mut element = self.element("text").num("x", x).num("y", y).num("font-size", style.size);
        if style.anchor != Anchor::Start {
            element = element.str("text-anchor", anchor);
        }
        if style.bold {
            element = element.str("font-weight", "bold");
        }
        if style.turn != 0.0 {
            let turn = format!("rotate({} {} {})", number(style.turn), number(x), number(y));
            element = element.str("transform", &turn);
        }
        element.content(text);
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str) {
        self.element("line")
            .num("x1", from.0)
            .num("y1", from.1)
            .num("x2", to.0)
            .num("y2", to.1)
            .str("stroke", stroke)
            .close();
    }

    /// The whole element. Ids written as [`ID`] become unique to this content.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        let (width, height) = (number(self.size.width), number(self.size.height));
        let title = escape(&self.title);
        // Charts with equal ids in one page are equal charts, so it does not matter which of them is referred to.
        let body = self.body.replace(ID, &format!("p{}", hexadecimal(fnv1a(self.body.as_bytes()))));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{title}\" font-family=\"Helvetica, Arial, sans-serif\" fill=\"{INK}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}

/// Stands for the document's own part of an id until [`Document::finish`]; user text cannot hold it, because [`escape`] replaces its first character.
pub(super) const ID: &str = "\u{1}id";

/// An element whose attributes are being written.
#[derive(Debug)]
#[must_use]
pub(super) struct Element<'a> {
    document: &'a mut Document,
    name: &'static str,
}

impl Element<'_> {
    /// A number, in hundredths.
    pub(super) fn num(self, name: &str, value: f64) -> Self {
        let _ = write!(self.document.body, " {name}=\"{}\"", number(value));
        self
    }

    /// A text.
    pub(super) fn str(self, name: &str, value: &str) -> Self {
        let _ = write!(self.document.body, " {name}=\"{}\"", escape(value));
        self
    }

    /// An id or a reference to one, unique to the document: `id("id", "", "hatch", "")`, `id("fill", "url(#", "hatch", ")")`.
    pub(super) fn id(self, attribute: &str, before: &str, id: &str, after: &str) -> Self {
        let _ = write!(self.document.body, " {attribute}=\"{before}{ID}-{id}{after}\"");
        self
    }

    /// Ends the element without content.
    pub(super) fn close(self) {
        self.document.body.push_str("/>\n");
    }

    /// Ends the element with a hover text.
    pub(super) fn titled(self, title: &str) {
        let name = self.name;
        let _ = writeln!(self.document.body, "><title>{}</title></{name}>", escape(title));
    }

    /// Leaves the element open for children.
    pub(super) fn open(self) {
        self.document.body.push_str(">\n");
        self.document.open.push(self.name);
    }

    fn content(self, text: &str) {
        let name = self.name;
        let _ = writeln!(self.document.body, ">{}</{name}>", escape(text));
    }
}

/// The data of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Path(String);

impl Path {
    pub(super) fn move_to(&mut self, (x, y): (f64, f64)) -> &mut Self {
        let _ = write!(self.0, "M{} {}", number(x), number(y));
        self
    }

    pub(super) fn line_to(&mut self, (x, y): (f64, f64)) -> &mut Self {
        let _ = write!(self.0, "L{} {}", number(x), number(y));
        self
    }

    pub(super) fn close(&mut self) -> &mut Self {
        self.0.push('Z');
        self
    }

    /// A rectangle between two opposite corners.
    pub(super) fn rect(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (x, y, right, bottom) = (number(from.0), number(from.1), number(to.0), number(to.1));
        let _ = write!(self.0, "M{x} {y}H{right}V{bottom}H{x}Z");
    }

    /// A line through all points.
    pub(super) fn through(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut path = Self::default();
        for (i, point) in points.into_iter().enumerate() {
            if i == 0 {
                path.move_to(point)
            } else {
                path.line_to(point)
            };
        }
        path
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A coordinate with at most two decimals; what is no number becomes 0, so that the file stays well-formed.
fn number(x: f64) -> String {
    if x.is_finite() { format_decimals(x, 2) } else { "0".to_owned() }
}

/// The width of a text in pixels, estimated: there are no fonts here. Wide scripts count double.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let share = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 'f' | 't' | 'I' | '(' | ')' => {
            0.32
        }
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        'A'..='Z' => 0.7,
        c if (c as u32) >= 0x2e80 => 1.05,
        _ => 0.57,
    };
    size * text.chars().map(share).sum::<f64>()
}

/// A text that fits into a width, its end cut and marked by an ellipsis where it does not.
pub(super) fn fitted(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut cut: Vec<char> = text.chars().collect();
    while !cut.is_empty() {
        cut.pop();
        let shorter: String = cut.iter().collect::<String>().trim_end().to_owned() + "\u{2026}";
        if text_width(&shorter, size) <= width {
            return shorter;
        }
    }
    "\u{2026}".to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Document, Size, Style, fitted, number, text_width};

    #[test]
    fn numbers_are_short_and_never_anything_else() {
        for (x, text) in
            [(1.0, "1"), (0.125, "0.12"), (-0.001, "0"), (120.5, "120.5"), (f64::NAN, "0"), (100.0, "100")]
        {
            assert_eq!(number(x), text, "{x}");
        }
    }

    #[test]
    fn ids_depend_on_the_content_alone() {
        let make = |label: &str| {
            let mut document = Document::new(Size::new(200.0, 100.0), "t");
            document.element("pattern").id("id", "", "hatch", "").close();
            document.element("rect").id("fill", "url(#", "hatch", ")").close();
            document.text(1.0, 2.0, label, Style::new(10.0, Anchor::Start));
            document.finish()
        };
        let id = |svg: &str| svg.split("id=\"p").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let (a, b) = (make("a"), make("b"));
        assert_eq!(a, make("a"));
        assert_ne!(id(&a), id(&b));
        assert!(a.contains(&format!("fill=\"url(#p{})\"", id(&a))), "{a}");
    }

    #[test]
    fn long_text_is_cut_with_an_ellipsis() {
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted("a rather long sentence that does not fit", 10.0, 60.0);
        assert!(cut.ends_with('\u{2026}') && text_width(&cut, 10.0) <= 60.0, "{cut}");
        assert_eq!(fitted("anything", 10.0, 0.0), "\u{2026}");
    }
}
