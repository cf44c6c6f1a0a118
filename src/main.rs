//! The `leafgp` command.

fn main() -> std::process::ExitCode {
    leafgp::cli::main()
}
