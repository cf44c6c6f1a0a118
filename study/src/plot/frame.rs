//! The frame of a chart: title, legend, axes with ticks and labels around the area of the data.

use super::axis::{Axis, Scale, Tick};
use super::document::{
    Anchor, Document, GRID, INK, LABEL_SIZE, Size, Style, TICK_SIZE, TITLE_SIZE, fitted, text_width,
};

/// Space between things in pixels.
const GAP: f64 = 8.0;
const TICK_LENGTH: f64 = 4.0;
/// Most of the width that labels of the vertical axis may take.
const LABEL_SHARE: f64 = 0.3;
const SWATCH: f64 = 22.0;

/// What an axis shows.
#[derive(Clone, Debug)]
pub(super) struct AxisText<'a> {
    pub(super) scale: Scale,
    pub(super) label: &'a str,
}

/// How a series is shown in the legend.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    /// A line with a band behind it.
    Band { colour: &'static str, dash: &'static str },
    /// A line.
    Line { colour: &'static str, dash: &'static str },
    /// A filled circle.
    Dot { fill: &'static str, stroke: &'static str },
    /// A cross.
    Cross { colour: &'static str },
    /// A diamond.
    Diamond { fill: &'static str },
    /// A bright line on a dark ground.
    Contour,
    /// The hatch of [`hatch_pattern`].
    Hatch,
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// Where the data go.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) area: Area,
}

/// Writes title and legend at the top of an area and returns what is left.
pub(super) fn heading(
    document: &mut Document,
    mut area: Area,
    title: &str,
    legend: &[(String, Mark)],
) -> Area {
    if !title.is_empty() {
        let text = fitted(title, TITLE_SIZE * 1.05, area.width());
        let style = Style::new(TITLE_SIZE, Anchor::Start).bold();
        document.text(area.left, area.top + TITLE_SIZE, &text, style);
        area.top += TITLE_SIZE + GAP;
    }
    if legend.is_empty() {
        return area;
    }
    let (mut x, mut y) = (area.left, area.top + TICK_SIZE);
    for (label, mark) in legend {
        let label = fitted(label, TICK_SIZE, area.width() - SWATCH - GAP);
        let width = SWATCH + 6.0 + text_width(&label, TICK_SIZE) + 2.0 * GAP;
        if x > area.left && x + width - GAP > area.right {
            x = area.left;
            y += TICK_SIZE + 5.0;
        }
        swatch(document, x, y - 4.0, mark);
        document.text(x + SWATCH + 6.0, y, &label, Style::new(TICK_SIZE, Anchor::Start));
        x += width;
    }
    area.top = y + GAP;
    area
}

fn swatch(document: &mut Document, x: f64, y: f64, mark: &Mark) {
    let middle = x + SWATCH / 2.0;
    match mark {
        Mark::Band { colour, dash } => {
            let rect = document.element("rect").num("x", x).num("y", y - 5.0).num("width", SWATCH);
            rect.num("height", 10.0).str("fill", colour).str("fill-opacity", "0.2").close();
            swatch(document, x, y, &Mark::Line { colour, dash });
        }
        Mark::Line { colour, dash } => {
            let line = document.element("line").num("x1", x).num("y1", y).num("x2", x + SWATCH).num("y2", y);
            let line = line.str("stroke", colour).str("stroke-width", "2");
            if dash.is_empty() { line.close() } else { line.str("stroke-dasharray", dash).close() }
        }
        Mark::Dot { fill, stroke } => dot(document, (middle, y), 4.0, fill, stroke).close(),
        Mark::Cross { colour } => cross(document, (middle, y), 4.0, colour),
        Mark::Diamond { fill } => diamond(document, (middle, y), 5.0, fill).close(),
        Mark::Contour | Mark::Hatch => {
            let rect =
                document.element("rect").num("x", x + 2.0).num("y", y - 5.0).num("width", SWATCH - 4.0);
            let rect = rect.num("height", 10.0);
            match mark {
                Mark::Hatch => rect.id("fill", "url(#", "hatch", ")").str("stroke", "#888888").close(),
                _ => {
                    rect.str("fill", "#2a788e").close();
                    document.line((x + 2.0, y), (x + SWATCH - 2.0, y), "#ffffff");
                }
            }
        }
    }
}

/// A circle, its element still open for a hover text.
pub(super) fn dot<'a>(
    document: &'a mut Document,
    (x, y): (f64, f64),
    radius: f64,
    fill: &str,
    stroke: &str,
) -> super::document::Element<'a> {
    let circle = document.element("circle").num("cx", x).num("cy", y).num("r", radius);
    let circle = circle.str("fill", fill).str("stroke", stroke);
    // Hollow ones, which are infeasible, are dashed: on a white ground they would look like white ones.
    if fill == "none" { circle.str("stroke-dasharray", "1.6 1.4") } else { circle }
}

/// A diamond, its element still open for a hover text.
pub(super) fn diamond<'a>(
    document: &'a mut Document,
    (x, y): (f64, f64),
    reach: f64,
    fill: &str,
) -> super::document::Element<'a> {
    let mut path = super::document::Path::default();
    path.move_to((x, y - reach))
        .line_to((x + reach, y))
        .line_to((x, y + reach))
        .line_to((x - reach, y))
        .close();
    let element = document.element("path").str("d", path.as_str()).str("fill", fill);
    element.str("stroke", "#ffffff").str("stroke-width", "1.2")
}

/// Defines the hatch for [`Mark::Hatch`] and for fills `url(#...hatch)`.
pub(super) fn hatch_pattern(document: &mut Document) {
    document.element("defs").open();
    let pattern = document.element("pattern").id("id", "", "hatch", "").str("patternUnits", "userSpaceOnUse");
    pattern.num("width", 6.0).num("height", 6.0).str("patternTransform", "rotate(45)").open();
    let ground = document.element("rect").num("width", 6.0).num("height", 6.0);
    ground.str("fill", "#dddddd").str("fill-opacity", "0.8").close();
    document.line((0.0, 0.0), (0.0, 6.0), "#666666");
    document.end();
    document.end();
}

/// A diagonal cross.
pub(super) fn cross(document: &mut Document, (x, y): (f64, f64), reach: f64, colour: &str) {
    let mut path = super::document::Path::default();
    path.move_to((x - reach, y - reach)).line_to((x + reach, y + reach));
    path.move_to((x - reach, y + reach)).line_to((x + reach, y - reach));
    let element = document.element("path").str("d", path.as_str()).str("stroke", colour);
    element.str("stroke-width", "1.5").str("fill", "none").close();
}

impl Frame {
    /// Lays a frame into an area: the labels take their space, the data get the rest. Nothing is drawn yet.
    pub(super) fn new(area: Area, x: &AxisText<'_>, y: &AxisText<'_>) -> Self {
        let label_height = |text: &AxisText<'_>| if text.label.is_empty() { 0.0 } else { LABEL_SIZE + GAP };
        let mut inner = area;
        inner.bottom -= TICK_LENGTH + TICK_SIZE + GAP + label_height(x);
        let upright = |inner: Area| Axis { scale: y.scale.clone(), from: inner.bottom, to: inner.top };
        let widest = upright(inner)
            .ticks(y_spacing())
            .iter()
            .map(|t| text_width(&t.label, TICK_SIZE))
            .fold(0.0, f64::max);
        inner.left += widest.min(LABEL_SHARE * area.width()) + TICK_LENGTH + 4.0 + label_height(y);
        // The last label of the x axis is centred on its tick.
        inner.right -= GAP + 6.0;
        inner.top += 4.0;
        // A tiny area stays an area.
        inner.right = inner.right.max(inner.left + 10.0);
        inner.bottom = inner.bottom.max(inner.top + 10.0);
        let axis = Axis { scale: x.scale.clone(), from: inner.left, to: inner.right };
        Self { x: axis, y: upright(inner), area: inner }
    }

    /// The grid behind the data.
    pub(super) fn draw_grid(&self, document: &mut Document) {
        document.element("g").str("stroke-width", "1").open();
        if !matches!(self.x.scale, Scale::Bands(_)) {
            for tick in self.x_ticks() {
                document.line((tick.at, self.area.top), (tick.at, self.area.bottom), GRID);
            }
        }
        if !matches!(self.y.scale, Scale::Bands(_)) {
            for tick in self.y.ticks(y_spacing()) {
                document.line((self.area.left, tick.at), (self.area.right, tick.at), GRID);
            }
        }
        document.end();
    }

    /// Axes, ticks and labels, over the data.
    pub(super) fn draw_axes(&self, document: &mut Document, x_label: &str, y_label: &str) {
        let area = self.area;
        document.element("g").str("stroke-width", "1").open();
        let outline = document.element("rect").num("x", area.left).num("y", area.top);
        let outline = outline.num("width", area.width()).num("height", area.height());
        outline.str("fill", "none").str("stroke", INK).close();
        for tick in self.x_ticks() {
            document.line((tick.at, area.bottom), (tick.at, area.bottom + TICK_LENGTH), INK);
        }
        for tick in self.y.ticks(y_spacing()) {
            document.line((area.left - TICK_LENGTH, tick.at), (area.left, tick.at), INK);
        }
        document.end();
        let x_ticks = self.x_ticks();
        let share = match self.x.scale {
            Scale::Bands(_) => self.x.length() / x_ticks.len().max(1) as f64 - 4.0,
            _ => f64::INFINITY,
        };
        for tick in &x_ticks {
            let y = area.bottom + TICK_LENGTH + TICK_SIZE + 1.0;
            let label = fitted(&tick.label, TICK_SIZE, share);
            document.text(tick.at, y, &label, Style::new(TICK_SIZE, Anchor::Middle));
        }
        let room = area.left - TICK_LENGTH - 3.0 - if y_label.is_empty() { 0.0 } else { LABEL_SIZE + 4.0 };
        for tick in self.y.ticks(y_spacing()) {
            let label = fitted(&tick.label, TICK_SIZE, room);
            let style = Style::new(TICK_SIZE, Anchor::End);
            document.text(area.left - TICK_LENGTH - 3.0, tick.at + 0.36 * TICK_SIZE, &label, style);
        }
        let x_label = fitted(x_label, LABEL_SIZE, area.width() + 60.0);
        let below = area.bottom + TICK_LENGTH + TICK_SIZE + GAP + LABEL_SIZE;
        let style = Style::new(LABEL_SIZE, Anchor::Middle);
        document.text(0.5 * (area.left + area.right), below, &x_label, style);
        let y_label = fitted(y_label, LABEL_SIZE, area.height() + 60.0);
        let widest = self
            .y
            .ticks(y_spacing())
            .iter()
            .map(|t| text_width(&fitted(&t.label, TICK_SIZE, room), TICK_SIZE))
            .fold(0.0, f64::max);
        let beside = area.left - TICK_LENGTH - 3.0 - widest - GAP;
        document.text(beside, 0.5 * (area.top + area.bottom), &y_label, style.turned(-90.0));
    }

    /// Says in the middle of the area that there is nothing to draw.
    pub(super) fn draw_note(&self, document: &mut Document, note: &str) {
        let (x, y) = (0.5 * (self.area.left + self.area.right), 0.5 * (self.area.top + self.area.bottom));
        document.text(x, y, note, Style::new(LABEL_SIZE, Anchor::Middle));
    }

    fn x_ticks(&self) -> Vec<Tick> {
        // Labels of different lengths need different spacing: few ticks first, more where they fit.
        for spacing in [40.0, 55.0, 75.0, 100.0, 140.0] {
            let ticks = self.x.ticks(spacing);
            let fits = ticks.windows(2).all(|pair| {
                let need =
                    0.5 * (text_width(&pair[0].label, TICK_SIZE) + text_width(&pair[1].label, TICK_SIZE));
                (pair[1].at - pair[0].at).abs() >= need + 6.0
            });
            if fits || matches!(self.x.scale, Scale::Bands(_)) {
                return ticks;
            }
        }
        self.x.ticks(200.0)
    }
}

fn y_spacing() -> f64 {
    3.2 * TICK_SIZE
}

/// The area of a whole document inside its margin.
pub(super) fn whole(size: Size) -> Area {
    Area { left: 10.0, top: 8.0, right: size.width - 8.0, bottom: size.height - 8.0 }
}
