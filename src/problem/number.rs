//! Numbers as text: shortest form that parses back to the same f64.

/// The shortest decimal text that parses back to exactly `x`; plain digits for ordinary magnitudes, an exponent beyond. Negative zero prints
/// as `0`.
///
/// ```
/// use leafgp::problem::format_number;
/// assert_eq!(format_number(0.1 + 0.2), "0.30000000000000004");
/// assert_eq!(format_number(1e-9), "1e-9");
/// assert_eq!(format_number(-0.0), "0");
/// assert_eq!(format_number(3.0), "3");
/// ```
pub fn format_number(x: f64) -> String {
    let magnitude = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if (1e-5..1e16).contains(&magnitude) || !x.is_finite() {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

/// At most so many decimals, without zeros at the end. Negative zero prints as `0`.
///
/// ```
/// use leafgp::problem::format_decimals;
/// assert_eq!([2.50, 100.0, -0.001].map(|x| format_decimals(x, 2)), ["2.5", "100", "0"]);
/// ```
pub fn format_decimals(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Plain digits, of them so many significant ones (more before the decimal point where there are more), without zeros at the end: for numbers that are neither huge nor tiny.
///
/// ```
/// use leafgp::problem::format_significant;
/// assert_eq!([6059.714335, 1234567.0, 0.00123, 0.0].map(|x| format_significant(x, 6)), ["6059.71", "1234567", "0.00123", "0"]);
/// ```
pub fn format_significant(x: f64, digits: i32) -> String {
    let first = if x == 0.0 { 0 } else { x.abs().log10().floor() as i32 };
    format_decimals(x, (digits - 1 - first).clamp(0, 300) as usize)
}

/// Reads a finite number; spaces around it are ignored.
pub fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    // `from_str` also takes "inf", "nan" and "infinity": no measurement is called that.
    let numeric = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'));
    if !numeric {
        return None;
    }
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{format_number, parse_number};
    use proptest::prelude::{ProptestConfig, any, proptest};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn printed_numbers_parse_back_to_themselves(bits in any::<u64>()) {
            let x = f64::from_bits(bits);
            if x.is_finite() {
                let text = format_number(x);
                assert_eq!(parse_number(&text), Some(x), "{text}");
                assert!(text.len() <= 25, "{text}");
            }
        }
    }

    #[test]
    fn only_finite_numbers_are_numbers() {
        for (text, value) in [("1", 1.0), (" 2.50 ", 2.5), ("-.5", -0.5), ("+3e2", 300.0), ("5.", 5.0)] {
            assert_eq!(parse_number(text), Some(value), "{text}");
        }
        for text in ["", " ", "nan", "inf", "-Infinity", "1e999", "0x10", "1,5", "1 000", "--1", "e5", "12a"]
        {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
