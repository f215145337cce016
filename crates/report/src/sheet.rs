//! A page of sections alone, without a record: what `size` and other conclusions from facts are
//! shown as. One [`Sheet`] gives the words for a terminal, Markdown and an HTML page.

use cloud::reason::{Reason, RowRef};
use minijinja::{Environment, Value, context};

use crate::chart::echarts::Charts;
use crate::document::page::{CHARTS_JS, ECHARTS, MACROS, STYLE, apart};
use crate::document::{Block, RenderError, Section, markdown, terminal};
use crate::method;

const TEMPLATE: &str = include_str!("../assets/sheet.html");

/// A title and sections in reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The page's heading.
    pub title: String,
    /// What stands below it.
    pub sections: Vec<Section>,
}

impl Sheet {
    /// For a terminal, wrapped to `width` columns; the title is left out.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        for section in &self.sections {
            terminal::write(section, width, &mut out);
        }
        out.trim_start_matches('\n').to_owned()
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", markdown::escaped(&self.title));
        for section in &self.sections {
            markdown::write(section, 2, &mut out);
        }
        out
    }

    /// As an HTML page that needs no network.
    ///
    /// # Errors
    /// Only where the template is wrong.
    pub fn html(&self) -> Result<String, RenderError> {
        let mut environment = Environment::new();
        // The names' ending turns escaping on.
        environment.add_template("sheet.html", TEMPLATE)?;
        environment.add_template("macros.html", MACROS)?;
        let used = |name: &str| self.sections.iter().any(|s| s.method.contains(&name));
        let method = method::definitions_where(used);
        let mut charts = Charts::default();
        let sections = apart(&self.sections, &mut charts);
        // What draws is large, and is there only where something is drawn.
        let drawing = (!charts.is_empty()).then(|| {
            context! {
                charts => Value::from_safe_string(charts.into_script_json()),
                echarts => Value::from_safe_string(ECHARTS.to_owned()),
                charts_js => Value::from_safe_string(CHARTS_JS.to_owned()),
            }
        });
        let page = environment.get_template("sheet.html")?.render(context! {
            title => &self.title,
            sections,
            drawing,
            method,
            style => Value::from_safe_string(STYLE.to_owned()),
        })?;
        Ok(page)
    }
}

/// Reasons as a list: the arithmetic, and behind it the rows of `data/` with source and date.
pub fn reasons(reasons: &[Reason]) -> Block {
    let point = |reason: &Reason| with_rows(&reason.text, &reason.rows);
    Block::List(reasons.iter().map(point).collect())
}

/// A line of arithmetic with the rows of `data/` that it uses.
pub(crate) fn with_rows(text: &str, rows: &[RowRef]) -> String {
    let named = rows
        .iter()
        .map(|row| format!("`{}` {} ({}, {})", row.file, row.row, plain(&row.source), row.date));
    let named: Vec<String> = named.collect();
    match named.is_empty() {
        true => text.to_owned(),
        false => format!("{text} [{}]", named.join("; ")),
    }
}

/// A source may have a backtick, which in a block would begin code.
fn plain(source: &str) -> String {
    source.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use cloud::row::Status;

    use super::*;

    fn sheet() -> Sheet {
        let row = RowRef {
            file: "service_levels.toml",
            row: "service_level premium".to_owned(),
            source: "AD:levels.md".to_owned(),
            date: "2026-01-29".to_owned(),
            status: Status::Current,
        };
        let reason = Reason::from_rows("5,120 GiB x 64 KiB/s per GiB = 320 MiB/s", [row]);
        Sheet {
            title: "Sizing of <this>".to_owned(),
            sections: vec![Section {
                id: "why",
                title: "Why".to_owned(),
                blocks: vec![reasons(&[Reason::asked("320 MiB/s are wanted"), reason])],
                method: vec!["Window"],
            }],
        }
    }

    #[test]
    fn sections_of_a_kind_have_anchors_of_their_own_to_which_links_lead() {
        let mut sheet = sheet();
        sheet.sections.push(sheet.sections[0].clone());
        let page = sheet.html().unwrap();
        for anchor in ["why", "c2-why"] {
            assert_eq!(page.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
            assert_eq!(page.matches(&format!("href=\"#{anchor}\"")).count(), 1, "{anchor}");
        }
    }

    #[test]
    fn a_sheet_says_the_same_in_a_terminal_as_markdown_and_as_a_page() {
        let sheet = sheet();
        let words = "5,120 GiB x 64 KiB/s per GiB = 320 MiB/s";
        let text = sheet.text(80);
        assert!(text.starts_with("Why\n  - 320 MiB/s are wanted\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let page = sheet.html().unwrap().replace("&#x2f;", "/");
        for shown in [&text, &sheet.markdown(), &page] {
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(words), "{shown}");
            assert!(shown.contains("AD:levels.md"), "{shown}");
        }
        assert!(page.contains("<h1>Sizing of &lt;this&gt;</h1>"), "{page}");
        assert!(page.contains("id=\"method-window\"") && !page.contains("id=\"method-floor\""));
        for forbidden in ["http://", "https://", "<script"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
