//! Lines with bands: medians and quartiles over a common quantity.

use super::axis::{Scale, short};
use super::document::{Document, Path, Size};
use super::frame::{AxisText, Frame, Mark, heading, whole};
use super::palette::{line_colour, line_dash};

/// A line and the band around it: usually the median over seeds between first and third quartile. The five vectors run in parallel; where their lengths
/// differ, the shortest counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// The legend's text.
    pub label: String,
    /// Where the values are, ascending.
    pub x: Vec<f64>,
    /// Lower edge of the band.
    pub lower: Vec<f64>,
    /// The line.
    pub median: Vec<f64>,
    /// Upper edge of the band.
    pub upper: Vec<f64>,
}

/// A chart of [`Band`]s.
///
/// Values that are not finite leave gaps; on a logarithmic axis also values that are not positive (a band's lower edge then reaches the bottom).
///
/// ```
/// use leafgp_study::plot::{Band, BandChart};
///
/// let band = Band {
///     label: "leaf-gp".into(),
///     x: vec![1.0, 2.0, 3.0],
///     lower: vec![2.0, 1.0, 0.4],
///     median: vec![3.0, 1.5, 0.5],
///     upper: vec![4.0, 2.5, 0.9],
/// };
/// let chart = BandChart {
///     title: "Branin".into(),
///     x_label: "iteration".into(),
///     y_label: "best so far".into(),
///     bands: vec![band],
///     log_y: true,
/// };
/// assert!(chart.svg().starts_with("<svg"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BandChart {
    /// Above the chart; may be empty.
    pub title: String,
    /// Below the horizontal axis; may be empty.
    pub x_label: String,
    /// Beside the vertical axis; may be empty.
    pub y_label: String,
    /// The series, in the order of colours and legend.
    pub bands: Vec<Band>,
    /// Logarithmic vertical axis.
    pub log_y: bool,
}

impl BandChart {
    /// Width and height of [`BandChart::svg`] in pixels.
    pub const SIZE: Size = Size { width: 640.0, height: 420.0 };

    /// The chart as one self-contained `<svg>` element. The same chart gives the same bytes.
    pub fn svg(&self) -> String {
        self.svg_sized(Self::SIZE)
    }

    /// [`BandChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let mut document = Document::new(size, &self.title);
        let legend: Vec<(String, Mark)> = self
            .bands
            .iter()
            .enumerate()
            .map(|(i, band)| (band.label.clone(), Mark::Band { colour: line_colour(i), dash: line_dash(i) }))
            .collect();
        let area = heading(&mut document, whole(size), &self.title, &legend);
        let (x_range, y_range) = self.ranges();
        let x = AxisText { scale: Scale::linear_around(x_range.0, x_range.1, 0.0), label: &self.x_label };
        let y_scale = if self.log_y { Scale::log_around } else { Scale::linear_around };
        let y = AxisText { scale: y_scale(y_range.0, y_range.1, 0.04), label: &self.y_label };
        let frame = Frame::new(area, &x, &y);
        frame.draw_grid(&mut document);
        for (i, band) in self.bands.iter().enumerate() {
            self.draw_area(&mut document, &frame, band, line_colour(i));
        }
        for (i, band) in self.bands.iter().enumerate() {
            self.draw_line(&mut document, &frame, band, line_colour(i), line_dash(i));
        }
        if x_range.0 > x_range.1 {
            frame.draw_note(&mut document, "no data");
        }
        frame.draw_axes(&mut document, &self.x_label, &self.y_label);
        document.finish()
    }

    /// Whether a value can be drawn.
    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log_y || value > 0.0)
    }

    /// Ranges of what is drawn; an empty chart has inverted infinite ones.
    fn ranges(&self) -> ((f64, f64), (f64, f64)) {
        let empty = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut x_range, mut y_range) = (empty, empty);
        let take = |range: &mut (f64, f64), value: f64| *range = (range.0.min(value), range.1.max(value));
        for band in &self.bands {
            for (((&x, &lower), &median), &upper) in
                band.x.iter().zip(&band.lower).zip(&band.median).zip(&band.upper)
            {
                for value in [lower, median, upper] {
                    if x.is_finite() && self.shows(value) {
                        take(&mut x_range, x);
                        take(&mut y_range, value);
                    }
                }
            }
        }
        (x_range, y_range)
    }

    fn draw_area(&self, document: &mut Document, frame: &Frame, band: &Band, colour: &str) {
        let mut path = Path::default();
        let points = || band.x.iter().zip(band.lower.iter().zip(&band.upper)).take(band.median.len());
        let usable = |(x, (lower, upper)): &(&f64, (&f64, &f64))| {
            let lower_shows = self.shows(**lower) || (self.log_y && lower.is_finite());
            x.is_finite() && lower_shows && self.shows(**upper)
        };
        let all: Vec<_> = points().collect();
        for run in all.split(|point| !usable(point)) {
            let edge = |x: f64, value: f64| {
                let y = frame.y.position(value);
                (frame.x.position(x), y.clamp(frame.area.top, frame.area.bottom))
            };
            match run {
                [] => {}
                // One point between gaps: a line from edge to edge.
                [(x, (lower, upper))] => {
                    let (from, to) = (edge(**x, **lower), edge(**x, **upper));
                    path.move_to((from.0 - 1.0, from.1)).line_to((from.0 + 1.0, from.1));
                    path.line_to((to.0 + 1.0, to.1)).line_to((to.0 - 1.0, to.1)).close();
                }
                _ => {
                    let there = run.iter().map(|(x, (_, upper))| edge(**x, **upper));
                    let back = run.iter().rev().map(|(x, (lower, _))| edge(**x, **lower));
                    for (i, point) in there.chain(back).enumerate() {
                        if i == 0 {
                            path.move_to(point)
                        } else {
                            path.line_to(point)
                        };
                    }
                    path.close();
                }
            }
        }
        if !path.is_empty() {
            let element = document.element("path").str("d", path.as_str()).str("fill", colour);
            element.str("fill-opacity", "0.2").titled(&band.label);
        }
    }

    fn draw_line(&self, document: &mut Document, frame: &Frame, band: &Band, colour: &str, dash: &str) {
        let all: Vec<(f64, f64)> = band.x.iter().copied().zip(band.median.iter().copied()).collect();
        let at = |&(x, value): &(f64, f64)| (frame.x.position(x), frame.y.position(value));
        for run in all.split(|&(x, value)| !(x.is_finite() && self.shows(value))) {
            if let [point] = run {
                super::frame::dot(document, at(point), 2.5, colour, "none").titled(&band.label);
            } else if let Some(last) = run.last() {
                let path = Path::through(run.iter().map(at));
                let element = document.element("path").str("d", path.as_str()).str("fill", "none");
                let element = element.str("stroke", colour).str("stroke-width", "2");
                let element = element.str("stroke-linejoin", "round");
                let element = if dash.is_empty() { element } else { element.str("stroke-dasharray", dash) };
                element.titled(&format!("{}: {} at {}", band.label, short(last.1), short(last.0)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::{Band, BandChart};
    use approx::assert_relative_eq;

    fn band(x: &[f64], median: &[f64]) -> Band {
        Band {
            label: "a <b> & \"c\"".into(),
            x: x.to_vec(),
            lower: median.iter().map(|m| m - 1.0).collect(),
            median: median.to_vec(),
            upper: median.iter().map(|m| m + 1.0).collect(),
        }
    }

    fn chart(bands: Vec<Band>) -> BandChart {
        BandChart {
            title: "t < u".into(),
            x_label: "x & y".into(),
            y_label: "value".into(),
            bands,
            log_y: false,
        }
    }

    /// The stroked paths' `d`.
    fn lines(svg: &str) -> Vec<String> {
        let document = parse(svg);
        document
            .descendants()
            .filter(|n| n.has_tag_name("path") && n.attribute("stroke-width") == Some("2"))
            .map(|n| attribute(&n, "d").to_owned())
            .collect()
    }

    #[test]
    fn the_line_runs_from_corner_to_corner_of_the_frame() {
        // The values 0 to 10 with bands of +-1: the axis runs from -1 - 4% to 11 + 4%, that is -1.48 to 11.48.
        let svg = chart(vec![band(&[0.0, 5.0, 10.0], &[0.0, 5.0, 10.0])]).svg();
        let document = parse(&svg);
        let outline = document
            .descendants()
            .find(|n| n.has_tag_name("rect") && n.attribute("fill") == Some("none"))
            .unwrap();
        let [left, top, width, height] =
            ["x", "y", "width", "height"].map(|name| attribute(&outline, name).parse::<f64>().unwrap());
        let points: Vec<(f64, f64)> = lines(&svg)[0][1..]
            .split('L')
            .map(|p| p.split_once(' ').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        for (point, (x, y)) in points.iter().zip([(0.0, 0.0), (5.0, 5.0), (10.0, 10.0)]) {
            assert_relative_eq!(point.0, left + width * x / 10.0, epsilon = 0.011);
            assert_relative_eq!(point.1, top + height * (11.48 - y) / 12.96, epsilon = 0.011);
        }
        let title = document.root_element().attribute("aria-label");
        assert_eq!(title, Some("t < u"));
        assert!(document.descendants().any(|n| n.text() == Some("a <b> & \"c\"")));
    }

    #[test]
    fn what_is_not_finite_is_a_gap() {
        let y = [1.0, f64::NAN, 3.0, 4.0, f64::INFINITY, 5.0, 6.0];
        let svg = chart(vec![band(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &y)]).svg();
        // 1 | 3 4 | 5 6: a dot and two lines.
        assert_eq!(lines(&svg).len(), 2, "{svg}");
        assert_eq!(parse(&svg).descendants().filter(|n| n.has_tag_name("circle")).count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn a_log_axis_leaves_out_what_is_not_positive() {
        let mut chart = chart(vec![band(&[1.0, 2.0, 3.0, 4.0], &[100.0, 10.0, -1.0, 0.5])]);
        chart.log_y = true;
        let svg = chart.svg();
        assert_eq!(lines(&svg).len(), 1);
        assert_eq!(parse(&svg).descendants().filter(|n| n.has_tag_name("circle")).count(), 1);
    }

    #[test]
    fn empty_charts_and_extreme_numbers_stay_well_formed() {
        for bands in [
            vec![],
            vec![Band::default()],
            vec![band(&[f64::NAN], &[1.0])],
            vec![band(&[0.0, 1.0], &[1e308, -1e308])],
            vec![band(&[2.0, 2.0], &[5.0, 5.0])],
            vec![band(&[0.0, 1.0, 2.0], &[1e-300])],
        ] {
            for log_y in [false, true] {
                let mut chart = chart(bands.clone());
                chart.log_y = log_y;
                let svg = chart.svg();
                parse(&svg);
                assert_eq!(svg, chart.svg());
                assert!(!svg.contains("NaN"), "{svg}");
            }
        }
    }
}
