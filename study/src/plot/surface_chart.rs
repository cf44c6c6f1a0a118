//! Three heat maps of a [`Surface`]: mean, standard deviation, and the acquisition in the objective's units.

use super::axis::{Axis, Scale, short};
use super::contour::quantile_levels;
use super::document::{Anchor, Document, INK, Path, Size, Style, TICK_SIZE, fitted, text_width};
use super::frame::{Area, AxisText, Frame, Mark, cross, diamond, dot, hatch_pattern, heading, whole};
use super::palette::sequential;
use super::surface::Surface;
use leafgp::history::{Outcome, Row};
use leafgp::problem::{Goal, Problem};

/// Colour steps of a map.
const STEPS: usize = 255;
/// Contour lines of the true function.
const LEVELS: usize = 9;
/// Width of a colour bar.
const BAR: f64 = 10.0;
const SUGGESTED: &str = "#d55e00";

/// What an experiment on a surface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Measured.
    Done,
    /// Measured, and the best.
    Best,
    /// Measured outside the domains or constraints.
    Infeasible,
    /// It failed.
    Failed,
    /// Planned or running.
    Pending,
    /// The next experiment.
    Suggested,
}

/// A marked point on a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedPoint {
    /// What it is.
    pub marker: Marker,
    /// The point, in variable order.
    pub point: Vec<f64>,
    /// Hover text.
    pub label: String,
}

/// Markers for the rows of a history.
pub fn marked_rows(problem: &Problem, rows: &[Row], best: Option<usize>) -> Vec<MarkedPoint> {
    let mark = |(i, row): (usize, &Row)| {
        let marker = match row.outcome {
            Outcome::Pending => Marker::Pending,
            Outcome::Failed => Marker::Failed,
            Outcome::Done(_) if best == Some(i) => Marker::Best,
            Outcome::Done(_) if row.is_eligible() => Marker::Done,
            Outcome::Done(_) => Marker::Infeasible,
        };
        let value =
            row.value().map_or(String::new(), |v| format!(": {} {}", problem.objective().name, short(v)));
        MarkedPoint { marker, point: row.point.clone(), label: format!("row {}{value}", i + 1) }
    };
    rows.iter().enumerate().map(mark).collect()
}

/// The picture of a surface.
///
/// ```
/// use leafgp::history::{Outcome, Row};
/// use leafgp_study::functions;
/// use leafgp_study::plot::{Surface, SurfaceChart};
///
/// let branin = functions::find("branin")?;
/// let points = [[-3.0, 12.0], [0.0, 5.0], [3.0, 2.0], [5.0, 9.0], [9.0, 3.0], [7.0, 14.0], [1.0, 1.0]];
/// let problem = branin.problem()?;
/// let mut rows = Vec::new();
/// for point in points {
///     rows.push(Row::new(&problem, &point, Outcome::Done(branin.evaluate(&point)))?);
/// }
/// let surface = Surface::new(&problem, &rows, 0, 1, &points[2])?;
/// let chart = SurfaceChart { title: "branin".into(), surface: &surface, x: 0, y: 1, points: Vec::new() };
/// assert!(chart.svg().starts_with("<svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SurfaceChart<'a> {
    /// Above the maps; may be empty.
    pub title: String,
    /// The values.
    pub surface: &'a Surface,
    /// Index of the horizontal variable.
    pub x: usize,
    /// Index of the vertical variable.
    pub y: usize,
    /// Experiments and suggestion, projected onto the two variables.
    pub points: Vec<MarkedPoint>,
}

impl SurfaceChart<'_> {
    /// Width and height of [`SurfaceChart::svg`] in pixels.
    pub const SIZE: Size = Size { width: 1140.0, height: 420.0 };

    /// The chart as one self-contained `<svg>` element.
    pub fn svg(&self) -> String {
        self.svg_sized(Self::SIZE)
    }

    /// [`SurfaceChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let surface = self.surface;
        let mut document = Document::new(size, &self.title);
        if surface.infeasible.is_some() {
            hatch_pattern(&mut document);
        }
        let area = heading(&mut document, whole(size), &self.title, &self.legend());
        let better_is_bright = surface.goal != Goal::Maximize;
        // The acquisition in the objective's units and direction.
        let at = surface.goal.sign() * surface.kappa;
        let promised: Vec<f64> = surface.mean.iter().zip(&surface.std).map(|(m, s)| m - at * s).collect();
        let sign = if surface.goal != Goal::Maximize { '\u{2212}' } else { '+' };
        let maps: [(String, &[f64], bool); 3] = [
            (format!("mean of {}", surface.objective), &surface.mean, better_is_bright),
            (format!("standard deviation of {}", surface.objective), &surface.std, false),
            (
                format!("{} promised: mean {sign} {} deviations", surface.objective, surface.kappa),
                &promised,
                better_is_bright,
            ),
        ];
        let caption = if surface.fixed.is_empty() { 0.0 } else { TICK_SIZE + 6.0 };
        let width = area.width() / 3.0;
        for (k, (title, values, reversed)) in maps.iter().enumerate() {
            let left = area.left + k as f64 * width;
            let panel =
                Area { left, right: left + width - 6.0, top: area.top, bottom: area.bottom - caption };
            self.draw_map(&mut document, panel, title, values, *reversed);
        }
        if !surface.fixed.is_empty() {
            let text = fitted(&format!("at {}", surface.fixed), TICK_SIZE, area.width());
            document.text(area.left, area.bottom, &text, Style::new(TICK_SIZE, Anchor::Start));
        }
        document.finish()
    }

    fn legend(&self) -> Vec<(String, Mark)> {
        let has = |marker: Marker| self.points.iter().any(|p| p.marker == marker);
        let mut legend = Vec::new();
        let mut add = |present: bool, text: &str, mark: Mark| {
            if present {
                legend.push((text.to_owned(), mark));
            }
        };
        let projected = if self.surface.fixed.is_empty() { "" } else { " (projected)" };
        add(has(Marker::Done), &format!("measured{projected}"), Mark::Dot { fill: "#ffffff", stroke: INK });
        add(has(Marker::Best), "best so far", Mark::Dot { fill: "#ffffff", stroke: SUGGESTED });
        add(has(Marker::Infeasible), "measured, infeasible", Mark::Dot { fill: "none", stroke: INK });
        add(has(Marker::Failed), "failed", Mark::Cross { colour: INK });
        add(has(Marker::Pending), "pending", Mark::Dot { fill: "#999999", stroke: INK });
        add(has(Marker::Suggested), "next experiment", Mark::Diamond { fill: SUGGESTED });
        add(self.surface.truth.is_some(), "contours of the true function", Mark::Contour);
        add(self.surface.infeasible.is_some(), "infeasible", Mark::Hatch);
        legend
    }

    fn draw_map(
        &self,
        document: &mut Document,
        mut panel: Area,
        title: &str,
        values: &[f64],
        reversed: bool,
    ) {
        let surface = self.surface;
        let text = fitted(title, TICK_SIZE + 1.0, panel.width());
        document.text(
            panel.left,
            panel.top + TICK_SIZE,
            &text,
            Style::new(TICK_SIZE + 1.0, Anchor::Start).bold(),
        );
        panel.top += TICK_SIZE + 6.0;
        let (low, high) = values
            .iter()
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        let range = Scale::linear_around(low, high, 0.0);
        let widest = Axis { scale: range.clone(), from: panel.bottom, to: panel.top }
            .ticks(40.0)
            .iter()
            .map(|t| text_width(&t.label, TICK_SIZE))
            .fold(0.0, f64::max);
        let inner = Area { right: panel.right - BAR - widest - 8.0, ..panel };
        let x = AxisText { scale: surface.x.scale.clone(), label: &surface.x.label };
        let y = AxisText { scale: surface.y.scale.clone(), label: &surface.y.label };
        let frame = Frame::new(inner, &x, &y);
        let bar = Axis { scale: range, from: frame.area.bottom, to: frame.area.top };
        // 0 at the dark end.
        let step = |v: f64| {
            let share = ((bar.position(v) - bar.from) / (bar.to - bar.from)).clamp(0.0, 1.0);
            let share = if reversed { 1.0 - share } else { share };
            (share * STEPS as f64).round() as usize
        };
        self.draw_cells(document, &frame, values, &step);
        self.draw_mask(document, &frame);
        self.draw_truth(document, &frame);
        self.draw_points(document, &frame);
        frame.draw_axes(document, &surface.x.label, &surface.y.label);
        draw_bar(document, &bar, frame.area.right + 8.0, reversed);
    }

    /// One path a colour; neighbours of one colour in a row are one rectangle.
    fn draw_cells(
        &self,
        document: &mut Document,
        frame: &Frame,
        values: &[f64],
        step: &dyn Fn(f64) -> usize,
    ) {
        let (x, y) = (&self.surface.x, &self.surface.y);
        let mut paths = vec![Path::default(); STEPS + 1];
        for j in 0..y.len() {
            let (bottom, top) = (frame.y.position(y.edges[j]), frame.y.position(y.edges[j + 1]));
            let colour = |i: usize| step(values[j * x.len() + i]);
            let mut i = 0;
            while i < x.len() {
                let first = i;
                while i < x.len() && colour(i) == colour(first) {
                    i += 1;
                }
                let (left, right) = (frame.x.position(x.edges[first]), frame.x.position(x.edges[i]));
                paths[colour(first)].rect((left, top), (right, bottom));
            }
        }
        document.element("g").str("shape-rendering", "crispEdges").open();
        for (k, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let fill = sequential(k as f64 / STEPS as f64);
            document.element("path").str("d", path.as_str()).str("fill", &fill).close();
        }
        document.end();
    }

    fn draw_mask(&self, document: &mut Document, frame: &Frame) {
        let Some(mask) = &self.surface.infeasible else { return };
        let n_x = mask.x_edges.len() - 1;
        let mut path = Path::default();
        for j in 0..mask.y_edges.len() - 1 {
            let (bottom, top) = (frame.y.position(mask.y_edges[j]), frame.y.position(mask.y_edges[j + 1]));
            let mut i = 0;
            while i < n_x {
                let first = i;
                while i < n_x && mask.out[j * n_x + i] == mask.out[j * n_x + first] {
                    i += 1;
                }
                if mask.out[j * n_x + first] {
                    let (left, right) =
                        (frame.x.position(mask.x_edges[first]), frame.x.position(mask.x_edges[i]));
                    path.rect((left, top), (right, bottom));
                }
            }
        }
        document
            .element("path")
            .str("d", path.as_str())
            .id("fill", "url(#", "hatch", ")")
            .titled("infeasible");
    }

    fn draw_truth(&self, document: &mut Document, frame: &Frame) {
        let Some(truth) = &self.surface.truth else { return };
        let levels = quantile_levels(&truth.field.values, LEVELS);
        for level in levels {
            let mut path = Path::default();
            for line in truth.field.lines(level) {
                // From nodes of the raster to values, evenly in pixels between nodes.
                let pixel = |axis: &Axis, nodes: &[f64], at: f64| {
                    let low = (at.floor() as usize).min(nodes.len() - 2);
                    let (a, b) = (axis.position(nodes[low]), axis.position(nodes[low + 1]));
                    a + (at - low as f64) * (b - a)
                };
                for (k, &(i, j)) in line.iter().enumerate() {
                    let point = (pixel(&frame.x, &truth.x, i), pixel(&frame.y, &truth.y, j));
                    if k == 0 {
                        path.move_to(point)
                    } else {
                        path.line_to(point)
                    };
                }
            }
            if !path.is_empty() {
                let element = document.element("path").str("d", path.as_str()).str("fill", "none");
                let element = element.str("stroke", "#ffffff").str("stroke-opacity", "0.85");
                element.titled(&format!("true value {}", short(level)));
            }
        }
    }

    fn draw_points(&self, document: &mut Document, frame: &Frame) {
        let area = frame.area;
        // The best and the suggested point on top.
        let order = [
            Marker::Infeasible,
            Marker::Failed,
            Marker::Pending,
            Marker::Done,
            Marker::Best,
            Marker::Suggested,
        ];
        for marker in order {
            for point in self.points.iter().filter(|p| p.marker == marker) {
                let x = frame.x.position(self.surface.x.coordinate(point.point[self.x]));
                let y = frame.y.position(self.surface.y.coordinate(point.point[self.y]));
                let inside = (area.left..=area.right).contains(&x) && (area.top..=area.bottom).contains(&y);
                if !inside {
                    continue;
                }
                let at = (x, y);
                match marker {
                    Marker::Done => dot(document, at, 3.0, "#ffffff", INK).titled(&point.label),
                    Marker::Best => {
                        let ring = dot(document, at, 4.0, "#ffffff", SUGGESTED).str("stroke-width", "2.5");
                        ring.titled(&format!("best, {}", point.label));
                    }
                    Marker::Infeasible => dot(document, at, 3.0, "none", INK).titled(&point.label),
                    Marker::Pending => dot(document, at, 3.0, "#999999", INK).titled(&point.label),
                    Marker::Failed => cross(document, at, 3.5, INK),
                    Marker::Suggested => diamond(document, at, 6.0, SUGGESTED).titled(&point.label),
                }
            }
        }
    }
}

/// A colour bar with its ticks.
fn draw_bar(document: &mut Document, bar: &Axis, left: f64, reversed: bool) {
    const PARTS: usize = 64;
    let height = bar.from - bar.to;
    document.element("g").str("shape-rendering", "crispEdges").open();
    for k in 0..PARTS {
        let share = (k as f64 + 0.5) / PARTS as f64;
        let fill = sequential(if reversed { 1.0 - share } else { share });
        let y = bar.from - (k + 1) as f64 / PARTS as f64 * height;
        let rect = document.element("rect").num("x", left).num("y", y).num("width", BAR);
        rect.num("height", height / PARTS as f64 + 0.5).str("fill", &fill).close();
    }
    document.end();
    for tick in bar.ticks(40.0) {
        document.line((left + BAR, tick.at), (left + BAR + 3.0, tick.at), INK);
        let y = tick.at + 0.36 * TICK_SIZE;
        document.text(left + BAR + 5.0, y, &tick.label, Style::new(TICK_SIZE, Anchor::Start));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::{Marker, SurfaceChart, marked_rows};
    use crate::plot::Surface;
    use leafgp::engine::Optimizer;
    use leafgp::history::{History, Outcome};
    use leafgp::problem::{Problem, Variable};

    fn problem() -> Problem {
        Problem::builder("p")
            .variable(Variable::continuous("a < b", 0.0, 1.0))
            .variable(Variable::categorical("c", ["x & y", "z"]))
            .constraint("c", "`a < b` <= 0.9")
            .build()
            .unwrap()
    }

    #[test]
    fn every_map_covers_its_frame_and_marks_its_rows() {
        let problem = problem();
        let mut history = History::new();
        for i in 0..12 {
            let a = f64::from(i) / 12.0;
            history.push(&problem, &[a, f64::from(i % 2)], Outcome::Done(a + f64::from(i % 2))).unwrap();
        }
        history.push(&problem, &[0.5, 0.0], Outcome::Failed).unwrap();
        history.push(&problem, &[0.6, 0.0], Outcome::Pending).unwrap();
        let optimizer = Optimizer::with_history(problem.clone(), &history).unwrap();
        let surface = Surface::new(&problem, optimizer.observations(), 0, 1, &[0.0, 0.0]).unwrap();
        let points = marked_rows(&problem, &history.rows, Some(0));
        let count = |marker| points.iter().filter(|p| p.marker == marker).count();
        assert_eq!(count(Marker::Best), 1);
        assert_eq!(count(Marker::Done), 10);
        assert_eq!(count(Marker::Infeasible), 1);
        assert_eq!((count(Marker::Failed), count(Marker::Pending)), (1, 1));
        let chart = SurfaceChart { title: "t".into(), surface: &surface, x: 0, y: 1, points };
        let svg = chart.svg();
        assert_eq!(svg, chart.svg());
        let document = parse(&svg);
        // Per map: 12 measured, 1 pending; in the legend best, measured, infeasible, pending.
        assert_eq!(document.descendants().filter(|n| n.has_tag_name("circle")).count(), 3 * 13 + 4);
        let outlines: Vec<f64> = document
            .descendants()
            .filter(|n| n.has_tag_name("rect") && n.attribute("fill") == Some("none"))
            .map(|n| {
                attribute(&n, "width").parse::<f64>().unwrap()
                    * attribute(&n, "height").parse::<f64>().unwrap()
            })
            .collect();
        assert_eq!(outlines.len(), 3);
        let mut covered = [0.0; 3];
        let groups = document.descendants().filter(|n| {
            n.attribute("shape-rendering").is_some() && n.children().any(|c| c.has_tag_name("path"))
        });
        for (k, group) in groups.enumerate() {
            for path in group.children().filter(|c| c.has_tag_name("path")) {
                for rect in attribute(&path, "d").split('M').skip(1) {
                    let numbers: Vec<f64> = rect
                        .split(['H', 'V', 'Z', ' '])
                        .filter(|s| !s.is_empty())
                        .map(|s| s.parse().unwrap())
                        .collect();
                    covered[k] += (numbers[2] - numbers[0]) * (numbers[3] - numbers[1]);
                }
            }
        }
        for (covered, outline) in covered.iter().zip(&outlines) {
            assert!((covered / outline - 1.0).abs() < 1e-3, "{covered} of {outline}");
        }
        assert!(svg.contains("x &amp; y") && svg.contains("a &lt; b"));
        assert!(svg.contains("hatch"));
    }
}
