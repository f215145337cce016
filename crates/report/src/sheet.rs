//! A report without a record, such as that of `size`: sections as terminal text, Markdown and an
//! HTML page.

use cloud::reason::RowRef;
use minijinja::{Environment, Value, context};

use crate::document::page::{CHARTS_JS, ECHARTS, MACROS, STYLE, with_unique_anchors};
use crate::document::{Block, RenderError, Section, markdown, terminal};
use crate::drawing::echarts::Charts;
use crate::method;
use crate::prose::markdown_text;

const TEMPLATE: &str = include_str!("../assets/sheet.html");

/// A title and sections in reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The page's heading.
    pub title: String,
    /// The sections below it.
    pub sections: Vec<Section>,
}

impl Sheet {
    /// For a terminal, wrapped to `width` columns, without the title.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        for section in &self.sections {
            terminal::write(section, width, &mut out);
        }
        out.trim_start_matches('\n').to_owned()
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", markdown_text(&self.title));
        for section in &self.sections {
            markdown::write(section, 2, &mut out);
        }
        out
    }

    /// As an HTML page that needs no network.
    ///
    /// # Errors
    /// Only if the template has a bug.
    pub fn html(&self) -> Result<String, RenderError> {
        let mut environment = Environment::new();
        // Escaping is on for names that end in `.html`.
        environment.add_template("sheet.html", TEMPLATE)?;
        environment.add_template("macros.html", MACROS)?;
        let is_used = |name: &str| self.sections.iter().any(|s| s.method.contains(&name));
        let method = method::definitions_where(is_used);
        let mut charts = Charts::default();
        let sections = with_unique_anchors(&self.sections, &mut charts);
        // The scripts are large, so a page without charts does not contain them.
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

/// One step of a derivation, so that a reader can follow a number to a row of `data/*.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The calculation with units: `972,800 KiB/s / 64 KiB/s per GiB = 15,200 GiB`.
    pub text: String,
    /// The rows used; none if it follows from the request.
    pub rows: Vec<RowRef>,
}

/// Reasons as a list: the arithmetic, followed by the rows of `data/` with source and date.
pub fn reasons(reasons: &[Reason]) -> Block {
    let point = |reason: &Reason| with_rows(&reason.text, &reason.rows);
    Block::List(reasons.iter().map(point).collect())
}

/// A line of arithmetic with the rows of `data/` that it uses.
pub(crate) fn with_rows(text: &str, rows: &[RowRef]) -> String {
    let reference = |row: &RowRef| {
        // A backtick in a source would begin code.
        let source = row.source.replace('`', "'");
        format!("`{}` {} ({source}, {})", row.file, row.row, row.date)
    };
    let references: Vec<String> = rows.iter().map(reference).collect();
    match references.is_empty() {
        true => text.to_owned(),
        false => format!("{text} [{}]", references.join("; ")),
    }
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
        let reason = |text: &str, rows| Reason { text: text.to_owned(), rows };
        let arithmetic = reason("5,120 GiB x 64 KiB/s per GiB = 320 MiB/s", vec![row]);
        Sheet {
            title: "Sizing of <this>".to_owned(),
            sections: vec![Section {
                id: "why",
                title: "Why".to_owned(),
                blocks: vec![reasons(&[reason("320 MiB/s are required", Vec::new()), arithmetic])],
                method: vec!["Window"],
            }],
        }
    }

    #[test]
    fn sections_with_the_same_id_have_different_anchors() {
        let mut sheet = sheet();
        sheet.sections.push(sheet.sections[0].clone());
        let page = sheet.html().unwrap();
        for anchor in ["why", "c2-why"] {
            assert_eq!(page.matches(&format!("id=\"{anchor}\"")).count(), 1, "{anchor}");
            assert_eq!(page.matches(&format!("href=\"#{anchor}\"")).count(), 1, "{anchor}");
        }
    }

    #[test]
    fn a_sheet_has_the_same_text_in_a_terminal_as_markdown_and_as_a_page() {
        let sheet = sheet();
        let arithmetic = "5,120 GiB x 64 KiB/s per GiB = 320 MiB/s";
        let text = sheet.text(80);
        assert!(text.starts_with("Why\n  - 320 MiB/s are required\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let page = sheet.html().unwrap().replace("&#x2f;", "/");
        for shown in [&text, &sheet.markdown(), &page] {
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(arithmetic), "{shown}");
            assert!(shown.contains("AD:levels.md"), "{shown}");
        }
        assert!(page.contains("<h1>Sizing of &lt;this&gt;</h1>"), "{page}");
        assert!(page.contains("id=\"method-window\"") && !page.contains("id=\"method-knees\""));
        for forbidden in ["http://", "https://", "<script"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
