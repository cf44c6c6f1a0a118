//! Networks learn, and the same seed learns the same.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use leafgp_networks::{CnnPlan, Data, Error, Point, Training, VaePlan, cnn, generated, vae};
use serde_json::{Value, json};

/// A VAE with all layers.
fn vae_point(changes: Value) -> Value {
    let point = json!({
        "log10_lr": -2.3, "latent": 16, "n_conv": 2, "n_fc_enc": 2, "n_deconv": 2, "n_fc_dec": 2,
        "enc_log2_channels1": 2, "enc_stride1": 1, "enc_pad1": 2, "enc_filter1": 5, "enc_act1": "relu",
        "enc_log2_channels2": 3, "enc_stride2": 1, "enc_pad2": 0, "enc_filter2": 3, "enc_act2": "prelu",
        "fc1_nodes64": 1, "fc_act1": "leaky_relu", "fc_act2": "prelu", "fc_act3": "relu", "fc_act4": "leaky_relu",
        "dec_log2_channels1": 3, "dec_stride1": 2, "dec_pad1": 1, "dec_out_pad1": 1, "dec_filter1": 3, "dec_act1": "prelu",
        "dec_log2_channels2": 2, "dec_stride2": 2, "dec_pad2": 1, "dec_out_pad2": 1, "dec_filter2": 3,
    });
    merge(point, changes)
}

/// A CNN with all layers.
fn cnn_point(changes: Value) -> Value {
    let point = json!({
        "log2_batch": 4, "log10_lr": -2.3,
        "conv1": 1, "log2_channels1": 3, "pool1": 1, "filter1": 3, "stride1": 1, "pad1": 1, "conv_act1": "relu",
        "conv2": 1, "log2_channels2": 3, "pool2": 1, "filter2": 3, "stride2": 1, "pad2": 0, "conv_act2": "prelu",
        "conv3": 1, "log2_channels3": 3, "pool3": 0, "filter3": 3, "stride3": 2, "pad3": 1, "conv_act3": "leaky_relu",
        "fc1": 1, "log2_nodes1": 5, "fc_act1": "relu", "fc2": 1, "log2_nodes2": 4, "fc_act2": "prelu",
    });
    merge(point, changes)
}

fn merge(mut point: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        assert!(point.get(name).is_some(), "{name}");
        point[name] = value.clone();
    }
    point
}

fn point(value: &Value) -> Point {
    Point::new(value.as_object().unwrap().clone())
}

fn data(n_train: usize, n_test: usize) -> Data {
    Data::open(Path::new("generated"), Some(n_train), Some(n_test)).unwrap()
}

/// The value and the losses on the way.
fn train_vae(value: &Value, epochs: usize, seed: u64) -> Result<(f64, Vec<f64>), Error> {
    let mut losses = Vec::new();
    let plan = VaePlan::new(&point(value))?;
    let value = vae::evaluate(&plan, &data(256, 64), &Training { epochs, seed }, &mut |_, _, loss| {
        losses.push(loss);
    })?;
    Ok((value, losses))
}

fn train_cnn(value: &Value, epochs: usize, seed: u64) -> Result<(f64, Vec<f64>), Error> {
    let mut losses = Vec::new();
    let plan = CnnPlan::new(&point(value))?;
    let value = cnn::evaluate(&plan, &data(320, 100), &Training { epochs, seed }, &mut |_, _, loss| {
        losses.push(loss);
    })?;
    Ok((value, losses))
}

#[test]
fn the_loss_of_the_autoencoder_falls() {
    // All layers; and the smallest network there is, whose code is the image.
    let none = json!({"n_conv": 0, "n_fc_enc": 0, "n_deconv": 0, "n_fc_dec": 0, "dec_log2_channels1": 4});
    for (changes, share) in [(json!({}), 0.75), (none, 0.9)] {
        let (test, losses) = train_vae(&vae_point(changes), 12, 1).unwrap();
        // 784 ln 2 = 543 is a coin for each pixel; the divergence of a large code comes on top.
        assert!((480.0..760.0).contains(&losses[0]), "{losses:?}");
        let last = losses[losses.len() - 1];
        assert!(last < share * losses[0] && test < share * losses[0], "{test}: {losses:?}");
    }
}

#[test]
fn a_dense_layer_without_nodes_lets_nothing_through() {
    // The best that is left is the mean image, and no code.
    let through = train_vae(&vae_point(json!({})), 12, 1).unwrap().0;
    let (test, losses) = train_vae(&vae_point(json!({"fc1_nodes64": 0})), 12, 1).unwrap();
    assert!(losses.iter().all(|loss| loss.is_finite()) && test.is_finite(), "{losses:?}");
    assert!(test > through - 5.0, "{test} against {through}");
}

#[test]
fn the_convolutional_network_learns_to_tell_digits() {
    let (share, losses) = train_cnn(&cnn_point(json!({})), 8, 1).unwrap();
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    // ln 10 is the loss of a guess.
    assert!((mean(&losses[..3]) - 10.0_f64.ln()).abs() < 0.2, "{losses:?}");
    assert!(mean(&losses[losses.len() - 10..]) < 0.5, "{losses:?}");
    assert!(share > 0.8, "{share}");
}

#[test]
fn the_same_seed_gives_the_same_losses_and_another_one_others() {
    assert_eq!(
        train_vae(&vae_point(json!({})), 2, 3).unwrap(),
        train_vae(&vae_point(json!({})), 2, 3).unwrap()
    );
    assert_ne!(
        train_vae(&vae_point(json!({})), 2, 3).unwrap(),
        train_vae(&vae_point(json!({})), 2, 4).unwrap()
    );
    assert_eq!(
        train_cnn(&cnn_point(json!({})), 1, 3).unwrap(),
        train_cnn(&cnn_point(json!({})), 1, 3).unwrap()
    );
    assert_ne!(
        train_cnn(&cnn_point(json!({})), 1, 3).unwrap(),
        train_cnn(&cnn_point(json!({})), 1, 4).unwrap()
    );
}

#[test]
fn training_that_diverges_has_no_value() {
    let data = data(20, 10);
    let mut plan = VaePlan::new(&point(&vae_point(json!({})))).unwrap();
    plan.learning_rate = 1e6;
    let training = Training { epochs: 20, seed: 1 };
    assert!(matches!(vae::evaluate(&plan, &data, &training, &mut |_, _, _| {}), Err(Error::Diverged(_))));
    let training = Training { epochs: 0, seed: 1 };
    assert!(matches!(vae::evaluate(&plan, &data, &training, &mut |_, _, _| {}), Err(Error::Argument(_))));
}

/// Runs the evaluator: its exit status, standard output and standard error.
fn evaluator(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_leafgp-networks"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_evaluator_prints_the_same_value_whatever_the_number_of_threads() {
    for (network, point) in [("vae", vae_point(json!({}))), ("cnn", cnn_point(json!({})))] {
        let run = |threads: &str| {
            let common = ["--data", "generated", "--images", "160", "--test-images", "50", "--epochs", "1"];
            evaluator(&[&[network, "--threads", threads], &common[..]].concat(), &point.to_string())
        };
        let (code, out, err) = run("1");
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(out.trim().parse::<f64>().unwrap().is_finite());
        assert_eq!(run("3"), (code, out, err));
    }
}

#[test]
fn the_evaluator_says_why_there_is_no_value() {
    let common = ["--data", "generated", "--images", "20", "--epochs", "1"];
    let vae = [&["vae"], &common[..]].concat();
    for (point, code, expected) in [
        (vae_point(json!({"dec_pad2": 0})), 1, "decoder ends at the image size"),
        (vae_point(json!({"latent": 15})), 2, "whole number in [16, 64]"),
        (vae_point(json!({"enc_act1": "tanh"})), 2, "relu"),
        (json!([1]), 2, "object"),
    ] {
        let (got, out, err) = evaluator(&vae, &point.to_string());
        assert_eq!((got, out.as_str()), (Some(code), ""), "{err}");
        assert!(err.contains(expected), "{err}");
    }
    let (code, _, err) = evaluator(&["vae", "--data", "/no/such/folder"], &vae_point(json!({})).to_string());
    assert!(code == Some(2) && err.contains("train-images-idx3-ubyte"), "{err}");
}

#[test]
fn mnist_files_come_back_as_they_were_written_and_broken_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = Data { train: generated::digits(30, 1), test: generated::digits(10, 2) };
    data.write_idx(folder.path()).unwrap();
    assert_eq!(Data::open(folder.path(), None, None).unwrap(), data);
    let part = Data::open(folder.path(), Some(7), Some(100)).unwrap();
    assert_eq!((part.train.len(), part.test.len()), (7, 10));
    assert_eq!(part.train.pixels, data.train.pixels[..7 * 784]);
    let file = folder.path().join("train-images-idx3-ubyte");
    let bytes = std::fs::read(&file).unwrap();
    for (broken, expected) in [
        (bytes[..bytes.len() - 1].to_vec(), "ends before"),
        (bytes[..9].to_vec(), "too short"),
        ([b"PK\x03\x04", &bytes[4..]].concat(), "expected 0x803"),
    ] {
        std::fs::write(&file, broken).unwrap();
        let error = Data::open(folder.path(), None, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn cifar_files_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    // Two images a file, each of one shade; the label is the shade.
    let record = |label: u8| [vec![label], vec![label; 3072]].concat();
    for k in 1..=5_u8 {
        let bytes = [record(2 * k - 2), record(2 * k - 1)].concat();
        std::fs::write(folder.path().join(format!("data_batch_{k}.bin")), bytes).unwrap();
    }
    std::fs::write(folder.path().join("test_batch.bin"), record(4)).unwrap();
    let data = Data::open(folder.path(), None, None).unwrap();
    assert_eq!(data.train.labels, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!((data.train.side, data.train.channels, data.test.labels.as_slice()), (32, 3, &[4][..]));
    assert_eq!(Data::open(folder.path(), Some(3), None).unwrap().train.labels, [0, 1, 2]);
    std::fs::write(folder.path().join("data_batch_2.bin"), [1; 3000]).unwrap();
    assert!(Data::open(folder.path(), None, None).is_err());
}

#[test]
fn digits_of_the_npm_package_are_dealt_out() {
    let folder = tempfile::tempdir().unwrap();
    for digit in 0..10 {
        // Twenty images and a piece of another one; the i-th image is of the shade i / 100.
        let mut greys: Vec<f64> = (0..20).flat_map(|i| vec![f64::from(i) / 100.0; 784]).collect();
        greys.extend([1.0; 5]);
        std::fs::write(folder.path().join(format!("{digit}.json")), json!({ "data": greys }).to_string())
            .unwrap();
    }
    let data = Data::from_npm(folder.path()).unwrap();
    assert_eq!((data.train.len(), data.test.len()), (180, 20));
    assert_eq!(data.test.labels[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    // The third image of each digit is the first to learn from.
    assert_eq!(data.train.pixels[0], (0.02_f64 * 255.0).round() as u8);
    assert_eq!(data.test.pixels[10 * 784], (0.01_f64 * 255.0).round() as u8);
}

#[test]
fn small_grey_images_are_padded_evenly_in_three_equal_channels() {
    let images = generated::digits(3, 1);
    let large = images.fitted(32, 3).unwrap();
    for i in 0..3 {
        for channel in 0..3 {
            for row in 0..32 {
                for column in 0..32 {
                    let inside = (2..30).contains(&row) && (2..30).contains(&column);
                    let expected =
                        if inside { images.pixels[(i * 28 + row - 2) * 28 + column - 2] } else { 0 };
                    assert_eq!(large.pixels[((i * 3 + channel) * 32 + row) * 32 + column], expected);
                }
            }
        }
    }
    assert!(large.fitted(28, 1).is_err());
}
