//! Arguments of the commands about the command line itself.

use std::path::PathBuf;

use clap::Args;

/// `leafgp completions`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Example: leafgp completions bash > ~/.local/share/bash-completion/completions/leafgp"
)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `leafgp man`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Example: leafgp man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, made if it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}
