//! Drawn digits, for tests and first steps: the strokes of a seven-segment display, moved, stretched, of changing width and brightness, with noise.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::Images;

const SIDE: usize = 28;

/// Ends of the segments in a box one wide and two high, row downwards: top, upper left, upper right, middle, lower left, lower right, bottom.
const SEGMENTS: [[(f32, f32); 2]; 7] = [
    [(0.0, 0.0), (0.0, 1.0)],
    [(0.0, 0.0), (1.0, 0.0)],
    [(0.0, 1.0), (1.0, 1.0)],
    [(1.0, 0.0), (1.0, 1.0)],
    [(1.0, 0.0), (2.0, 0.0)],
    [(1.0, 1.0), (2.0, 1.0)],
    [(2.0, 0.0), (2.0, 1.0)],
];

/// Segments that are lit, from the top (first bit on the right).
const LIT: [u8; 10] = [
    0b1110111, 0b0100100, 0b1011101, 0b1101101, 0b0101110, 0b1101011, 0b1111011, 0b0100101, 0b1111111,
    0b1101111,
];

/// `n` images of 28 x 28, the digits in turns.
pub fn digits(n: usize, seed: u64) -> Images {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut images = Images { side: SIDE, channels: 1, pixels: Vec::new(), labels: Vec::new() };
    for i in 0..n {
        let label = i % 10;
        let (width, height) = (rng.random_range(7.0..11.0_f32), rng.random_range(7.0..10.0_f32));
        let (top, left) = (rng.random_range(3.0..6.0_f32), rng.random_range(6.0..10.0_f32));
        let (half, slant) = (rng.random_range(0.8..1.7_f32), rng.random_range(-0.2..0.2_f32));
        let bright = rng.random_range(180.0..255.0_f32);
        let place = |(y, x): (f32, f32)| (top + height * y, left + width * x + slant * height * (1.0 - y));
        for row in 0..SIDE {
            for column in 0..SIDE {
                let at = (row as f32, column as f32);
                let lit = (0..7).filter(|s| LIT[label] >> s & 1 == 1);
                let near = lit.map(|s| distance(at, SEGMENTS[s].map(place))).fold(f32::INFINITY, f32::min);
                let stroke = bright * (1.0 - (near - half).clamp(0.0, 1.0));
                images.pixels.push((stroke + rng.random_range(0.0..12.0_f32)).min(255.0) as u8);
            }
        }
        images.labels.push(label as u8);
    }
    images
}

/// From a point to a straight line between two others.
fn distance((y, x): (f32, f32), [(y0, x0), (y1, x1)]: [(f32, f32); 2]) -> f32 {
    let (dy, dx) = (y1 - y0, x1 - x0);
    let along = (((y - y0) * dy + (x - x0) * dx) / (dy * dy + dx * dx)).clamp(0.0, 1.0);
    (y - y0 - along * dy).hypot(x - x0 - along * dx)
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn digits_differ_from_each_other_and_from_one_drawing_to_the_next() {
        let images = digits(200, 1);
        assert_eq!(images, digits(200, 1));
        assert_ne!(images, digits(200, 2));
        let mean = |label: usize| -> Vec<f64> {
            let of = (label..200).step_by(10).map(|i| &images.pixels[i * 784..(i + 1) * 784]);
            of.fold(vec![0.0; 784], |sum, image| {
                sum.iter().zip(image).map(|(s, &p)| s + f64::from(p) / 20.0).collect()
            })
        };
        for a in 0..10 {
            for b in 0..a {
                let apart = mean(a).iter().zip(mean(b)).map(|(x, y)| (x - y).abs()).sum::<f64>() / 784.0;
                assert!(apart > 1.0, "{a} and {b} look the same: {apart}");
            }
        }
    }
}
