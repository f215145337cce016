//! Where the store is when nobody says so.

use std::ffi::OsString;
use std::path::PathBuf;

/// The store's directory: `$FOURCORNERS_STORE`, else `$XDG_DATA_HOME/fourcorners`, else
/// `$HOME/.local/share/fourcorners`, else `fourcorners-store` in the current directory.
///
/// * `env` — looks up an environment variable; an argument, so that this stays a function of what
///   it is given.
///
/// Empty variables count as unset, and a relative `XDG_DATA_HOME` is ignored (XDG Base Directory
/// Specification 0.8).
pub fn default_root(env: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let path = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = path("FOURCORNERS_STORE") {
        return root;
    }
    if let Some(data) = path("XDG_DATA_HOME").filter(|data| data.is_absolute()) {
        return data.join("fourcorners");
    }
    match path("HOME") {
        Some(home) => home.join(".local/share/fourcorners"),
        None => PathBuf::from("fourcorners-store"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_says_where_the_store_is() {
        for (variables, root) in [
            (&[("FOURCORNERS_STORE", "s"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")][..], "s"),
            (&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], "/x/fourcorners"),
            (&[("XDG_DATA_HOME", "x"), ("HOME", "/h")], "/h/.local/share/fourcorners"),
            (&[("FOURCORNERS_STORE", ""), ("HOME", "/h")], "/h/.local/share/fourcorners"),
            (&[], "fourcorners-store"),
        ] {
            let env = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            };
            assert_eq!(default_root(env), PathBuf::from(root), "{variables:?}");
        }
    }
}
