//! Colours that people with any colour vision can tell apart.

/// Line colours of Okabe and Ito (Color Universal Design, 2008), the light yellow left out for a white ground, black last.
const LINES: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Dashes change with every round through the colours, and tell lines apart in print.
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// The colour of the `i`-th series.
pub(super) fn line_colour(i: usize) -> &'static str {
    LINES[i % LINES.len()]
}

/// The dash pattern of the `i`-th series; empty for a solid line.
pub(super) fn line_dash(i: usize) -> &'static str {
    DASHES[(2 * (i / LINES.len()) + i) % DASHES.len()]
}

/// Anchors of the viridis scale (Smith and van der Walt, 2015, public domain): lightness grows evenly from dark to bright.
const SEQUENTIAL: [[u8; 3]; 11] = [
    [0x44, 0x01, 0x54],
    [0x48, 0x24, 0x75],
    [0x41, 0x44, 0x87],
    [0x35, 0x5f, 0x8d],
    [0x2a, 0x78, 0x8e],
    [0x21, 0x91, 0x8c],
    [0x22, 0xa8, 0x84],
    [0x44, 0xbf, 0x70],
    [0x7a, 0xd1, 0x51],
    [0xbd, 0xdf, 0x26],
    [0xfd, 0xe7, 0x25],
];

/// The colour of a share in `[0, 1]`, dark to bright; values outside take the end's colour.
pub(super) fn sequential(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (SEQUENTIAL.len() - 1) as f64;
    let low = (at.floor() as usize).min(SEQUENTIAL.len() - 2);
    let t = at - low as f64;
    let mix = |k: usize| {
        let (a, b) = (f64::from(SEQUENTIAL[low][k]), f64::from(SEQUENTIAL[low + 1][k]));
        (a + t * (b - a)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::{line_colour, line_dash, sequential};

    #[test]
    fn the_ends_and_the_middle_of_the_scale() {
        assert_eq!(sequential(0.0), "#440154");
        assert_eq!(sequential(0.5), "#21918c");
        assert_eq!(sequential(1.0), "#fde725");
        assert_eq!(sequential(-3.0), sequential(0.0));
        assert_eq!(sequential(9.0), sequential(1.0));
        // Half way between the first two anchors.
        assert_eq!(sequential(0.05), "#461365");
    }

    #[test]
    fn the_first_two_dozen_series_differ_in_colour_or_dash() {
        let looks: Vec<_> = (0..24).map(|i| (line_colour(i), line_dash(i))).collect();
        for i in 0..looks.len() {
            assert!(!looks[..i].contains(&looks[i]), "series {i} looks like an earlier one");
        }
    }
}
