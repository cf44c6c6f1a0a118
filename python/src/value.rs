//! Values of Python as JSON and TOML, and back.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::failure::Failure;

/// One value that is no list and no table.
enum Scalar {
    None,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

/// Reads a scalar of Python or numpy; `None` for anything else.
fn scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let scalar = if value.is_none() {
        Scalar::None
    } else if let Ok(truth) = value.cast::<PyBool>() {
        Scalar::Boolean(truth.is_true())
    } else if value.is_instance_of::<PyInt>() {
        Scalar::Integer(whole(value)?)
    } else if value.is_instance_of::<PyFloat>() {
        Scalar::Float(value.extract()?)
    } else if let Ok(text) = value.cast::<PyString>() {
        Scalar::Text(text.extract()?)
    } else if is_numpy_scalar(value) {
        return match value.call_method0("item")? {
            item if item.get_type().is(value.get_type()) => Ok(None),
            item => scalar(&item),
        };
    } else {
        return Ok(None);
    };
    Ok(Some(scalar))
}

fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> bool {
    let dimensions = value.getattr("ndim").and_then(|n| n.extract::<usize>());
    dimensions.is_ok_and(|n| n == 0) && value.hasattr("item").unwrap_or(false)
}

fn whole(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            return Failure::point(format!("{value} is too large; expected a whole number below 2^63"))
                .into();
        }
        error
    })
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().qualname().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// The entries of a mapping whose keys are text.
fn entries<'py>(mapping: &Bound<'py, PyMapping>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let entry = |item: Bound<'py, PyAny>| {
        let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
        let name = key.extract().map_err(|_| {
            let found = type_name(&key);
            PyErr::from(Failure::point(format!(
                "the key {key} is a {found}; expected text, the name of a variable"
            )))
        })?;
        Ok((name, value))
    };
    mapping.items()?.iter().map(entry).collect()
}

fn items<'py>(value: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    value.cast::<PyTuple>().ok().map(|tuple| tuple.iter().collect())
}

/// A point `{name: value}` as JSON.
///
/// # Errors
/// No mapping; keys that are no text; values that are neither numbers, truth values nor text, or not finite.
pub(crate) fn point_to_json(point: &Bound<'_, PyAny>) -> PyResult<Map<String, Value>> {
    let Ok(mapping) = point.cast::<PyMapping>() else {
        let message =
            format!("the point is a {}; expected a dict of a value for each variable", type_name(point));
        return Err(Failure::point(message).into());
    };
    let value = |(name, value): (String, Bound<'_, PyAny>)| {
        let refuse = |found: String| {
            PyErr::from(Failure::point(format!(
                "{name:?} is {found}; expected a finite number, or a level as text"
            )))
        };
        let json = match scalar(&value)? {
            Some(Scalar::Boolean(truth)) => Value::Bool(truth),
            Some(Scalar::Integer(whole)) => Value::from(whole),
            Some(Scalar::Float(x)) => {
                Value::Number(Number::from_f64(x).ok_or_else(|| refuse(x.to_string()))?)
            }
            Some(Scalar::Text(text)) => Value::String(text),
            Some(Scalar::None) => return Err(refuse("None".to_owned())),
            None => return Err(refuse(format!("a {}", type_name(&value)))),
        };
        Ok((name, json))
    };
    entries(mapping)?.into_iter().map(value).collect()
}

/// A value of a problem's description as TOML: tables, lists and scalars; entries of tables that are `None` are left out.
pub(crate) fn to_toml(value: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if let Some(scalar) = scalar(value)? {
        return match scalar {
            Scalar::Boolean(truth) => Ok(toml::Value::Boolean(truth)),
            Scalar::Integer(whole) => Ok(toml::Value::Integer(whole)),
            Scalar::Float(x) => Ok(toml::Value::Float(x)),
            Scalar::Text(text) => Ok(toml::Value::String(text)),
            Scalar::None => {
                Err(Failure::new("ProblemError", "a list holds None; expected numbers or text").into())
            }
        };
    }
    if let Some(items) = items(value) {
        return Ok(toml::Value::Array(items.iter().map(to_toml).collect::<PyResult<_>>()?));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut table = toml::Table::new();
        for (name, value) in entries(mapping)? {
            if !value.is_none() {
                table.insert(name, to_toml(&value)?);
            }
        }
        return Ok(toml::Value::Table(table));
    }
    // numpy arrays, ranges and the like.
    if let Ok(list) = value.call_method0("tolist")
        && list.is_instance_of::<PyList>()
    {
        return to_toml(&list);
    }
    if let Ok(list) = PyList::new(value.py(), value.try_iter().into_iter().flatten().flatten())
        && !list.is_empty()
    {
        return to_toml(&list);
    }
    let message = format!("found a {}; expected numbers, text, lists or dicts", type_name(value));
    Err(Failure::new("ProblemError", message).into())
}

/// TOML as Python.
pub(crate) fn from_toml<'py>(py: Python<'py>, value: &toml::Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        toml::Value::String(text) => PyString::new(py, text).into_any(),
        toml::Value::Integer(whole) => whole.into_pyobject(py)?.into_any(),
        toml::Value::Float(x) => PyFloat::new(py, *x).into_any(),
        toml::Value::Boolean(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        toml::Value::Datetime(date) => PyString::new(py, &date.to_string()).into_any(),
        toml::Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| from_toml(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        toml::Value::Table(table) => {
            let dict = PyDict::new(py);
            for (name, value) in table {
                dict.set_item(name, from_toml(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// JSON as Python.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), _, _) => whole.into_pyobject(py)?.into_any(),
            (_, Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (_, _, x) => PyFloat::new(py, x.unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| from_json(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, from_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
