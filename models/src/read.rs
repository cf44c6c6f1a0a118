//! Model files: which format they are in, and how large they may be.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::options::ReadOptions;
use crate::{catboost, lightgbm, onnx, own, xgboost};

/// Largest model file in bytes (256 MiB); reading takes a few times as much memory.
pub const MAX_BYTES: u64 = 256 << 20;

impl Ensemble {
    /// Reads a model file of any known format.
    ///
    /// # Errors
    /// As [`Ensemble::read`]; a file that cannot be opened, or is larger than [`MAX_BYTES`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, ModelError> {
        let failed = |problem: String| ModelError::File { path: path.display().to_string(), problem };
        let file = std::fs::File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
        Self::read(&bytes, options)
    }

    /// Reads a model from the content of its file: LightGBM text, XGBoost JSON and UBJSON, CatBoost JSON, ONNX, and what
    /// [`Ensemble::write`] writes.
    ///
    /// # Errors
    /// Names the place that is damaged, or the kind of model that cannot be optimised.
    pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<Self, ModelError> {
        if bytes.len() as u64 > MAX_BYTES {
            let problem = format!("the file is larger than {MAX_BYTES} bytes, the largest that is read");
            return Err(ModelError::format("byte 0", problem));
        }
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let start = text.trim_ascii_start();
        let pickle = "a Python pickle";
        match start {
            [] => Err(ModelError::format("byte 0", "the file is empty")),
            [b't', b'r', b'e', b'e', b'\n' | b'\r', ..] => lightgbm::read(text, options),
            [b'{', b'i' | b'U' | b'I' | b'l' | b'L' | b'$' | b'#', ..] => xgboost::read_ubj(bytes, options),
            [b'{', ..] => read_json(text, options),
            [b'[', ..] => Err(ModelError::unsupported(
                "a JSON list (XGBoost's dump_model?)",
                "a dump leaves out base score and objective; save with save_model",
            )),
            [b'b', b'i', b'n', b'f', ..] | [b'b', b's', b'6', b'4', ..] => Err(ModelError::unsupported(
                "XGBoost's old binary format",
                "load it with XGBoost and save it as JSON or UBJ",
            )),
            [b'C', b'B', b'M', b'1', ..] => Err(ModelError::unsupported(
                "CatBoost's binary format",
                "save with save_model(file, format='json', pool=...)",
            )),
            [0x80, 2..=5, ..] => {
                Err(ModelError::unsupported(pickle, "save with the library's own save_model"))
            }
            // The first field of an ONNX model is its version, a small number.
            [0x08, 1..=127, ..] => onnx::read(bytes, options),
            _ => Err(ModelError::format(
                "byte 0",
                "no known model: expected LightGBM text, XGBoost JSON or UBJ, CatBoost JSON or ONNX",
            )),
        }
    }
}

/// The parts by which JSON models are told apart.
#[derive(Debug, serde::Deserialize)]
struct JsonModel {
    learner: Option<xgboost::Learner>,
    features_info: Option<catboost::FeaturesInfo>,
    model_info: Option<catboost::ModelInfo>,
    oblivious_trees: Option<Vec<catboost::ObliviousTree>>,
    trees: Option<Vec<catboost::TreeNode>>,
    scale_and_bias: Option<catboost::ScaleAndBias>,
    tree_info: Option<serde::de::IgnoredAny>,
    leafgp_ensemble: Option<own::Written>,
}

/// XGBoost's JSON may hold `NaN` and `Infinity`, which are no JSON: both become null. Columns of later messages move by a few.
fn without_bare_words(text: &[u8]) -> Cow<'_, [u8]> {
    let mut clean: Vec<u8> = Vec::new();
    let (mut copied, mut at) = (0, 0);
    let mut in_string = false;
    while at < text.len() {
        let rest = &text[at..];
        match rest[0] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'N' | b'I' | b'-' if !in_string => {
                let words: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
                if let Some(word) = words.into_iter().find(|word| rest.starts_with(word)) {
                    clean.extend_from_slice(&text[copied..at]);
                    clean.extend_from_slice(b"null");
                    copied = at + word.len();
                    at = copied;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.extend_from_slice(&text[copied..]);
    Cow::Owned(clean)
}

fn read_json(text: &[u8], options: &ReadOptions) -> Result<Ensemble, ModelError> {
    let text = without_bare_words(text);
    let model: JsonModel = serde_json::from_slice(&text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        let message = error.to_string();
        let problem = message.split(" at line ").next().unwrap_or(&message).to_string();
        ModelError::format(place, problem)
    })?;
    if let Some(written) = model.leafgp_ensemble {
        return own::decode(written, options);
    }
    if let Some(learner) = model.learner {
        return xgboost::decode(learner, options);
    }
    if let Some(features) = model.features_info {
        let parts = catboost::Parts {
            features,
            info: model.model_info,
            oblivious: model.oblivious_trees,
            trees: model.trees,
            scale_and_bias: model.scale_and_bias,
        };
        return catboost::decode(parts, options);
    }
    if model.tree_info.is_some() {
        let reason = "thresholds are rounded in it; save with save_model";
        return Err(ModelError::unsupported("LightGBM's dump_model", reason));
    }
    Err(ModelError::format(
        "line 1",
        "no known JSON model: XGBoost's has \"learner\", CatBoost's \"features_info\"",
    ))
}

#[cfg(test)]
mod tests {
    use super::without_bare_words;

    #[test]
    fn bare_words_become_null_and_texts_stay() {
        let clean = |text: &str| String::from_utf8(without_bare_words(text.as_bytes()).into_owned()).unwrap();
        assert_eq!(clean("[NaN,-1,-Infinity, Infinity]"), "[null,-1,null, null]");
        assert_eq!(
            clean(r#"{"NaN \" NaN":NaN,"b":"\\","c":NaN}"#),
            r#"{"NaN \" NaN":null,"b":"\\","c":null}"#
        );
        assert_eq!(clean("\"NaN"), "\"NaN");
    }
}
