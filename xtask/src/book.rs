//! `cargo xtask book`: the guide as a site, by mdBook, with its links checked.
//!
//! `tidy` checks the links between documents in the repository. Here every link of every page must
//! lead to a file of the site, so documents name files outside `docs/` by their path.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::check::run_program;
use crate::tools;

const VERSION: &str = "0.4.52";
/// mdBook writes it for print; its links are those of the pages, relative to each of them.
const PRINT_PAGE: &str = "print.html";

/// The path of mdBook, which is compiled on first use.
///
/// # Errors
/// It cannot be compiled.
pub(crate) fn provide(root: &Path) -> Result<PathBuf> {
    tools::installed(root, "mdbook", VERSION, &["--no-default-features", "--features", "search"])
}

/// Builds the site into `target/book` and checks its links.
///
/// # Errors
/// mdBook fails, a document is missing in `docs/SUMMARY.md`, or a link leads nowhere.
pub(crate) fn run(root: &Path) -> Result<()> {
    let program = provide(root)?;
    let program = program.to_str().context("a path is not UTF-8")?;
    run_program(root, program, &["build"])?;
    let site = root.join("target/book");
    let mut wrong = Vec::new();
    let pages = files_below(&site, "html")?;
    for document in files_below(&root.join("docs"), "md")? {
        let relative = document.strip_prefix(root.join("docs"))?.with_extension("html");
        // The contents, and the first page, which becomes `index.html`.
        let is_special = ["SUMMARY.html", "README.html"].map(Path::new).contains(&&*relative);
        if !is_special && !site.join(&relative).exists() {
            wrong.push(format!("{} is not in docs/SUMMARY.md", document.display()));
        }
    }
    for page in pages.iter().filter(|page| !page.ends_with(PRINT_PAGE)) {
        let text = fs::read_to_string(page).with_context(|| format!("read {}", page.display()))?;
        let folder = page.parent().context("a page is in a folder")?;
        for link in links(&text) {
            let path = folder.join(&link);
            if !path.exists() {
                wrong.push(format!("{}: `{link}` leads nowhere", page.display()));
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => bail!("{}", wrong.join("\n")),
    }
}

/// Local targets of `href` and `src`, without anchors.
fn links(page: &str) -> Vec<String> {
    let starts = ["href=\"", "src=\""];
    let all = starts.iter().flat_map(|start| page.split(start).skip(1));
    let targets = all.filter_map(|rest| rest.split(['"', '#']).next());
    let is_local =
        |link: &&str| !link.is_empty() && !link.contains("://") && !link.starts_with("data:");
    targets.filter(is_local).map(str::to_owned).collect()
}

/// All files with this extension, in folders too.
fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_below(&path, extension)?);
        } else if path.extension().is_some_and(|of| of == extension) {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_other_hosts_and_within_the_page_are_not_files() {
        let page = r##"<a href="a.html#b">a</a> <a href="#c">c</a> <img src="d.png">
            <a href="https://example.org/">e</a>"##;
        assert_eq!(links(page), ["a.html", "d.png"]);
    }
}
