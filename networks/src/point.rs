//! A point of a search space as the optimiser sends it: one JSON object, `{name: value}`.

use serde_json::{Map, Value};

use crate::{Activation, Error};

/// A point's values by name.
#[derive(Clone, Debug)]
pub struct Point(Map<String, Value>);

impl Point {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// [`Error::Point`] for anything else.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        match serde_json::from_str(text) {
            Ok(Value::Object(values)) => Ok(Self(values)),
            Ok(other) => Err(Error::Point(format!("expected an object with the variables, got {other}"))),
            Err(error) => Err(Error::Point(format!("expected a JSON object: {error}"))),
        }
    }

    /// From an object that was read already.
    pub fn new(values: Map<String, Value>) -> Self {
        Self(values)
    }

    fn value(&self, name: &str) -> Result<&Value, Error> {
        self.0.get(name).ok_or_else(|| Error::Point(format!("{name:?} is missing")))
    }

    /// A real within the bounds.
    pub(crate) fn real(&self, name: &str, low: f64, high: f64) -> Result<f64, Error> {
        let value = self.value(name)?;
        match value.as_f64() {
            Some(x) if (low..=high).contains(&x) => Ok(x),
            _ => Err(Error::Point(format!("{name:?} is {value}, expected a number in [{low}, {high}]"))),
        }
    }

    /// A whole number within the bounds; `true` and `false` count as 1 and 0.
    pub(crate) fn whole(&self, name: &str, low: i64, high: i64) -> Result<i64, Error> {
        let value = self.value(name)?;
        let number = value.as_bool().map(f64::from).or_else(|| value.as_f64());
        match number {
            Some(x) if x.fract() == 0.0 && (low as f64..=high as f64).contains(&x) => Ok(x as i64),
            _ => {
                Err(Error::Point(format!("{name:?} is {value}, expected a whole number in [{low}, {high}]")))
            }
        }
    }

    /// A variable of two values.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, Error> {
        Ok(self.whole(name, 0, 1)? == 1)
    }

    /// The activation function of a layer.
    pub(crate) fn activation(&self, name: &str) -> Result<Activation, Error> {
        let value = self.value(name)?;
        value.as_str().and_then(Activation::from_name).ok_or_else(|| {
            Error::Point(format!("{name:?} is {value}, expected \"relu\", \"prelu\" or \"leaky_relu\""))
        })
    }
}
