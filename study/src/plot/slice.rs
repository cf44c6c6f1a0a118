//! What a model says along one variable, the others fixed.

use super::axis::{Scale, short};
use super::document::{Document, Path, Size};
use super::frame::{AxisText, Frame, Mark, diamond, dot, hatch_pattern, heading, whole};
use super::palette::line_colour;

/// The values along a slice.
#[derive(Clone, Debug, PartialEq)]
pub enum SliceAxis {
    /// A number.
    Linear,
    /// A positive number on a logarithmic axis.
    Log,
    /// Few values or levels by name; values along the slice are indices.
    Labels(Vec<String>),
}

/// Mean and interval of a model along one variable. The vectors run in parallel.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceChart {
    /// Above the chart; may be empty.
    pub title: String,
    /// The variable, with its unit.
    pub variable: String,
    /// The objective's name.
    pub objective: String,
    /// How the variable is laid out.
    pub axis: SliceAxis,
    /// Where the model was asked, ascending.
    pub x: Vec<f64>,
    /// The predicted mean.
    pub mean: Vec<f64>,
    /// Half of the interval around it.
    pub half_width: Vec<f64>,
    /// Whether the setting is allowed.
    pub feasible: Vec<bool>,
    /// The setting through which the slice goes, and the value measured there.
    pub best: Option<(f64, f64)>,
    /// Range of the vertical axis, for charts that are to be compared; `None` for what this one needs.
    pub range: Option<(f64, f64)>,
}

impl SliceChart {
    /// Width and height of [`SliceChart::svg`] in pixels.
    pub const SIZE: Size = Size { width: 420.0, height: 280.0 };

    /// The smallest and largest value that it shows; inverted infinities when there is none.
    pub fn values(&self) -> (f64, f64) {
        let ends = self.mean.iter().zip(&self.half_width).flat_map(|(m, h)| [m - h, m + h]);
        let all = ends.chain(self.best.map(|(_, value)| value));
        all.filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
    }

    /// The chart as one self-contained `<svg>` element.
    pub fn svg(&self) -> String {
        self.svg_sized(Self::SIZE)
    }

    /// [`SliceChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let mut document = Document::new(size, &self.title);
        let closed = self.feasible.iter().any(|&allowed| !allowed);
        if closed {
            hatch_pattern(&mut document);
        }
        let mut legend = Vec::new();
        if self.best.is_some() {
            legend.push(("best so far".to_owned(), Mark::Diamond { fill: line_colour(1) }));
        }
        if closed {
            legend.push(("not allowed".to_owned(), Mark::Hatch));
        }
        let area = heading(&mut document, whole(size), &self.title, &legend);
        let (low, high) = self.range.unwrap_or_else(|| self.values());
        let (from, to) = (
            self.x.first().copied().unwrap_or(f64::INFINITY),
            self.x.last().copied().unwrap_or(f64::NEG_INFINITY),
        );
        let scale = match &self.axis {
            SliceAxis::Linear => Scale::linear_around(from, to, 0.0),
            SliceAxis::Log => Scale::log_around(from, to, 0.0),
            SliceAxis::Labels(labels) => Scale::Bands(labels.clone()),
        };
        let x = AxisText { scale, label: &self.variable };
        let y = AxisText { scale: Scale::linear_around(low, high, 0.04), label: &self.objective };
        let frame = Frame::new(area, &x, &y);
        frame.draw_grid(&mut document);
        self.draw_closed(&mut document, &frame);
        match self.axis {
            SliceAxis::Labels(_) => self.draw_points(&mut document, &frame),
            SliceAxis::Linear | SliceAxis::Log => self.draw_band(&mut document, &frame),
        }
        if let Some((x, value)) = self.best {
            let at = (frame.x.position(x), frame.y.position(value));
            diamond(&mut document, at, 6.0, line_colour(1)).titled(&format!("measured: {}", short(value)));
        }
        if self.x.is_empty() {
            frame.draw_note(&mut document, "no model yet");
        }
        frame.draw_axes(&mut document, &self.variable, &self.objective);
        document.finish()
    }

    /// Hatched columns where settings are not allowed, each half way to its neighbours.
    fn draw_closed(&self, document: &mut Document, frame: &Frame) {
        let area = frame.area;
        let n = self.x.len();
        let edge = |k: usize| match &self.axis {
            SliceAxis::Labels(_) => frame.x.position(k as f64 - 0.5),
            _ if k == 0 => area.left,
            _ if k == n => area.right,
            _ => 0.5 * (frame.x.position(self.x[k - 1]) + frame.x.position(self.x[k])),
        };
        let mut k = 0;
        while k < n {
            let start = k;
            while k < n && !self.feasible[k] {
                k += 1;
            }
            if k > start {
                let rect = document.element("rect").num("x", edge(start)).num("y", area.top);
                let rect = rect.num("width", edge(k) - edge(start)).num("height", area.height());
                rect.id("fill", "url(#", "hatch", ")").str("fill-opacity", "0.6").titled("not allowed");
            }
            k += 1;
        }
    }

    fn draw_band(&self, document: &mut Document, frame: &Frame) {
        let at = |x: f64, y: f64| {
            (frame.x.position(x), frame.y.position(y).clamp(frame.area.top, frame.area.bottom))
        };
        let all = || self.x.iter().zip(self.mean.iter().zip(&self.half_width));
        let there = all().map(|(&x, (m, h))| at(x, m + h));
        let back: Vec<(f64, f64)> = all().map(|(&x, (m, h))| at(x, m - h)).collect();
        let mut path = Path::through(there.chain(back.into_iter().rev()));
        if path.is_empty() {
            return;
        }
        path.close();
        let area = document.element("path").str("d", path.as_str()).str("fill", line_colour(0));
        area.str("fill-opacity", "0.2").titled("95 % interval of the model");
        let line = Path::through(all().map(|(&x, (&m, _))| at(x, m)));
        let line = document.element("path").str("d", line.as_str()).str("fill", "none");
        line.str("stroke", line_colour(0)).str("stroke-width", "2").titled("predicted");
    }

    fn draw_points(&self, document: &mut Document, frame: &Frame) {
        for (&x, (&mean, &half)) in self.x.iter().zip(self.mean.iter().zip(&self.half_width)) {
            let across = frame.x.position(x);
            let (from, to) = (frame.y.position(mean - half), frame.y.position(mean + half));
            let bar =
                document.element("line").num("x1", across).num("y1", from).num("x2", across).num("y2", to);
            bar.str("stroke", line_colour(0)).str("stroke-opacity", "0.4").str("stroke-width", "5").close();
            let label = format!("predicted {} +- {}", short(mean), short(half));
            dot(document, (across, frame.y.position(mean)), 4.0, line_colour(0), "none").titled(&label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::{SliceAxis, SliceChart};

    fn chart(axis: SliceAxis, x: &[f64], feasible: &[bool]) -> SliceChart {
        SliceChart {
            title: "t".into(),
            variable: "<flow> [l/h]".into(),
            objective: "y".into(),
            axis,
            x: x.to_vec(),
            mean: x.iter().map(|x| 2.0 * x).collect(),
            half_width: vec![0.5; x.len()],
            feasible: feasible.to_vec(),
            best: x.first().map(|&x| (x, 1.0)),
            range: None,
        }
    }

    #[test]
    fn closed_settings_are_one_hatched_column_each_run() {
        let feasible = [true, false, false, true, false];
        let svg = chart(SliceAxis::Linear, &[1.0, 2.0, 3.0, 4.0, 5.0], &feasible).svg();
        let document = parse(&svg);
        let widths: Vec<f64> = document
            .descendants()
            .filter(|n| n.has_tag_name("rect") && n.descendants().any(|c| c.text() == Some("not allowed")))
            .map(|n| attribute(&n, "width").parse().unwrap())
            .collect();
        // Two columns and a half one at the end.
        assert_eq!(widths.len(), 2);
        assert!((widths[0] / widths[1] - 4.0).abs() < 0.01, "{widths:?}");
        assert!(svg.contains("&lt;flow&gt;"));
    }

    #[test]
    fn labels_are_points_and_an_empty_slice_says_so() {
        let labels = SliceAxis::Labels(vec!["a".into(), "b".into()]);
        let svg = chart(labels, &[0.0, 1.0], &[true, false]).svg();
        assert_eq!(parse(&svg).descendants().filter(|n| n.has_tag_name("circle")).count(), 2);
        let svg = chart(SliceAxis::Log, &[], &[]).svg();
        parse(&svg);
        assert!(svg.contains("no model yet"));
    }
}
