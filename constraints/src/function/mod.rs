//! The functions of the expression language, each with all that the engine knows about it in one file: names, value, derivative, interval
//! extension, inverse, estimators, what f64 attains.
//!
//! A new function of one argument is a file here that implements [`Univariate`] (and [`Curve`](curve::Curve), unless it brings its own estimators), its
//! `mod` line and its name in the registry below. The tests run over the registry; `expr/mod.rs` has the table for users, and the
//! generator of random problems (`tests/support`) a list of its own with values written from the definition. What checks proofs shares none of this: a named
//! function also has a variant in `statement.rs`, and `leafgp-solver`'s certificates say on their own what they know of it.

mod abs;
mod ceil;
mod curve;
mod exp;
mod exponential;
mod extreme;
mod floor;
mod log;
mod log10;
mod power;
mod sqrt;
#[cfg(test)]
mod tests;
mod univariate;
pub(crate) mod whole;

use exponential::Exponential;
pub(crate) use extreme::Extreme;
use power::Power;
pub(crate) use univariate::{Line, Univariate};

/// The enumeration of the functions, and the way to the file of each.
macro_rules! registry {
    ($($module:ident::$function:ident)*) => {
        /// One of the functions.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Function {
            $($function($module::$function),)*
            Power(Power),
            Exponential(Exponential),
        }

        /// Those called by name.
        const NAMED: &[Function] = &[$(Function::$function($module::$function)),*];

        impl std::ops::Deref for Function {
            type Target = dyn Univariate;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$function(function) => function,)*
                    Self::Power(function) => function,
                    Self::Exponential(function) => function,
                }
            }
        }
    };
}

registry! {
    abs::Abs
    sqrt::Sqrt
    exp::Exp
    log::Log
    log10::Log10
    floor::Floor
    ceil::Ceil
}

impl Function {
    pub(crate) const SQRT: Self = Self::Sqrt(sqrt::Sqrt);

    /// `x ^ exponent`.
    pub(crate) fn power(exponent: f64) -> Self {
        Self::Power(Power(exponent))
    }

    /// `base ^ x` for a positive base.
    pub(crate) fn exponential(base: f64) -> Self {
        Self::Exponential(Exponential(base))
    }

    /// The exponent of a power.
    pub(crate) fn exponent(&self) -> Option<f64> {
        if let Self::Power(power) = self { power.parameter() } else { None }
    }

    /// The function of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMED.iter().find(|function| function.names().contains(&name)).copied()
    }

    /// All names.
    pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().flat_map(|function| function.names()).copied()
    }

    /// Two numbers that no other function has.
    pub(crate) fn key(&self) -> [u64; 2] {
        let kind = match self {
            Self::Power(_) => 0,
            Self::Exponential(_) => 1,
            _ => 2 + NAMED.iter().take_while(|function| *function != self).count() as u64,
        };
        [kind, self.parameter().unwrap_or(0.0).to_bits()]
    }
}
