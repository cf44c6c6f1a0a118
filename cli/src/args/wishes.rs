//! What suggestions must be like, as it is typed.

use std::path::PathBuf;

use clap::Args;

/// What suggestions must be like.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WishArgs {
    /// Suggest only with this value of a variable; may be given several times. All rows train the model.
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) fix: Vec<(String, String)>,
    /// Choose among the rows of a table (CSV with a column for each variable): each is evaluated, those that are taken or not feasible are left out.
    #[arg(long, value_name = "CANDIDATES.csv")]
    pub(crate) among: Option<PathBuf>,
    /// One value of a variable in all suggestions; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub(crate) same: Vec<String>,
}

/// `NAME=VALUE`; the value is what follows the last `=`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.rsplit_once('=').ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
