//! Measured against predicted.

use super::axis::{Scale, short};
use super::document::{Document, Path, Size};
use super::frame::{AxisText, Frame, Mark, dot, heading, whole};
use super::palette::line_colour;
use leafgp::engine::{HeldOut, INTERVAL};

/// A measured value and what was predicted of it by a model that had not seen it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Hover text, usually "row 7".
    pub label: String,
    /// The measured value.
    pub value: f64,
    /// The predicted mean.
    pub mean: f64,
    /// Half of the interval in which the value should lie; not negative.
    pub half_width: f64,
}

impl From<&HeldOut> for Predicted {
    /// With its 95 % interval.
    fn from(held_out: &HeldOut) -> Self {
        Self {
            label: format!("row {}", held_out.row + 1),
            value: held_out.value,
            mean: held_out.mean,
            half_width: INTERVAL * held_out.std,
        }
    }
}

impl Predicted {
    fn is_inside(&self) -> bool {
        (self.value - self.mean).abs() <= self.half_width
    }
}

/// Predictions with their intervals over the measured values, and the diagonal on which both are equal. Values that are not finite are left out.
///
/// ```
/// use leafgp_study::plot::{Predicted, PredictedChart};
///
/// let point = |value: f64, mean: f64| Predicted { label: "row".into(), value, mean, half_width: 0.5 };
/// let chart = PredictedChart {
///     title: "coating".into(),
///     objective: "hardness".into(),
///     points: vec![point(3.0, 3.2), point(4.0, 5.1)],
/// };
/// assert!(chart.svg().contains("1 of 2 outside"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictedChart {
    /// Above the chart; may be empty.
    pub title: String,
    /// The objective's name.
    pub objective: String,
    /// The points.
    pub points: Vec<Predicted>,
}

impl PredictedChart {
    /// Width and height of [`PredictedChart::svg`] in pixels.
    pub const SIZE: Size = Size { width: 520.0, height: 460.0 };

    /// The chart as one self-contained `<svg>` element.
    pub fn svg(&self) -> String {
        self.svg_sized(Self::SIZE)
    }

    /// [`PredictedChart::svg`] in another size.
    pub fn svg_sized(&self, size: Size) -> String {
        let shown: Vec<&Predicted> = self
            .points
            .iter()
            .filter(|p| [p.value, p.mean, p.half_width].iter().all(|x| x.is_finite()))
            .collect();
        let ends = || shown.iter().flat_map(|p| [p.value, p.mean - p.half_width, p.mean + p.half_width]);
        let (low, high) = ends().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let outside = shown.iter().filter(|p| !p.is_inside()).count();
        let mut document = Document::new(size, &self.title);
        let (inside_colour, outside_colour) = (line_colour(0), line_colour(1));
        let mut legend = vec![(
            "inside its interval".to_owned(),
            Mark::Dot { fill: inside_colour, stroke: inside_colour },
        )];
        if outside > 0 {
            let mark = Mark::Dot { fill: outside_colour, stroke: outside_colour };
            legend.push((format!("{outside} of {} outside", shown.len()), mark));
        }
        let area = heading(&mut document, whole(size), &self.title, &legend);
        let scale = Scale::linear_around(low, high, 0.04);
        let x_label = format!("{} measured", self.objective);
        let y_label = format!("{} predicted", self.objective);
        let x = AxisText { scale: scale.clone(), label: &x_label };
        let y = AxisText { scale: scale.clone(), label: &y_label };
        let frame = Frame::new(area, &x, &y);
        frame.draw_grid(&mut document);
        if let (Scale::Linear { lower, upper }, false) = (&scale, shown.is_empty()) {
            let end = |v: f64| (frame.x.position(v), frame.y.position(v));
            let path = Path::through([end(*lower), end(*upper)]);
            let line = document.element("path").str("d", path.as_str()).str("fill", "none");
            let line = line.str("stroke", "#777777").str("stroke-dasharray", "4 3");
            line.titled("predicted as measured");
        }
        for p in &shown {
            let colour = if p.is_inside() { inside_colour } else { outside_colour };
            let x = frame.x.position(p.value);
            let (from, to) =
                (frame.y.position(p.mean - p.half_width), frame.y.position(p.mean + p.half_width));
            let bar = document.element("line").num("x1", x).num("y1", from).num("x2", x).num("y2", to);
            bar.str("stroke", colour).str("stroke-opacity", "0.45").str("stroke-width", "1.5").close();
            let label = format!(
                "{}: measured {}, predicted {} +- {}",
                p.label,
                short(p.value),
                short(p.mean),
                short(p.half_width)
            );
            dot(&mut document, (x, frame.y.position(p.mean)), 3.2, colour, "none").titled(&label);
        }
        if shown.is_empty() {
            frame.draw_note(&mut document, "nothing was predicted yet");
        }
        frame.draw_axes(&mut document, &x_label, &y_label);
        document.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{attribute, parse};
    use super::{Predicted, PredictedChart};

    #[test]
    fn perfect_predictions_lie_on_the_diagonal_and_what_is_outside_its_interval_has_another_colour() {
        let point = |value: f64, mean: f64| Predicted { label: "<r>".into(), value, mean, half_width: 0.5 };
        let chart = PredictedChart {
            title: "t".into(),
            objective: "y & z".into(),
            points: vec![
                point(1.0, 1.0),
                point(2.0, 2.0),
                point(3.0, 3.0),
                point(2.0, 2.6),
                point(f64::NAN, 1.0),
            ],
        };
        let svg = chart.svg();
        let document = parse(&svg);
        let dots: Vec<(f64, f64, &str)> = document
            .descendants()
            .filter(|n| n.has_tag_name("circle") && n.has_children())
            .map(|n| {
                let number = |name| attribute(&n, name).parse::<f64>().unwrap();
                (number("cx"), number("cy"), attribute(&n, "fill"))
            })
            .collect();
        assert_eq!(dots.len(), 4);
        // Equal steps on both axes for the three perfect ones.
        let step = |a: usize, b: usize| (dots[b].0 - dots[a].0, dots[b].1 - dots[a].1);
        let (first, second) = (step(0, 1), step(1, 2));
        assert!(
            (first.0 - second.0).abs() < 0.03
                && (first.1 - second.1).abs() < 0.03
                && first.0 > 0.0
                && first.1 < 0.0
        );
        assert!(dots[..3].iter().all(|d| d.2 == dots[0].2) && dots[3].2 != dots[0].2);
        assert!(
            svg.contains("1 of 4 outside") && svg.contains("y &amp; z measured") && svg.contains("&lt;r&gt;")
        );
    }

    #[test]
    fn nothing_to_show_says_so() {
        let svg = PredictedChart::default().svg();
        parse(&svg);
        assert!(svg.contains("nothing was predicted yet"));
    }
}
