//! A report without a record, such as that of `size`: the answer and sections as terminal text,
//! Markdown and an HTML page.

use cloud::reason::RowRef;
use minijinja::{Environment, Value, context};

use crate::document::page::{CHARTS_JS, ECHARTS, MACROS, style, with_unique_anchors};
use crate::document::{Block, RenderError, Section, markdown, terminal};
use crate::drawing::echarts::Charts;
use crate::drawing::theme::Theme;
use crate::method;
use crate::prose::{self, markdown_text, wrap};

const TEMPLATE: &str = include_str!("../assets/sheet.html");
/// The style of parts that other pages do not have.
const SHEET_STYLE: &str = include_str!("../assets/sheet.css");

/// Most lines of [`Sheet::short`].
const LINES_MAX: usize = 40;
/// Lines of its end: an empty one, and what `--full` adds.
const LINES_OF_END: usize = 3;

/// A title, the answer, and sections in reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The page's heading.
    pub title: String,
    /// The answer: paragraphs before any section, the first of which begins with the recommendation.
    pub answer: Vec<String>,
    /// What a reader needs to act on it.
    pub sections: Vec<Section>,
    /// Evidence, assumptions and sources: folded on the page, and not in the short text.
    pub folded: Vec<Section>,
}

impl Sheet {
    /// The answer, the first section, and as many others as fit into 40 lines, for a terminal of
    /// `width` columns. The last lines name what is left out.
    pub fn short(&self, width: usize) -> String {
        let mut out = self.answer_text(width);
        let mut left_out = Vec::new();
        for (index, section) in self.sections.iter().enumerate() {
            let text = section_text(section, width);
            let lines = out.lines().count() + text.lines().count();
            match index == 0 || lines + LINES_OF_END <= LINES_MAX {
                true => out.push_str(&text),
                false => left_out.push(section),
            }
        }
        let more: Vec<String> = left_out
            .into_iter()
            .chain(&self.folded)
            .map(|section| in_list(&section.title))
            .collect();
        if !more.is_empty() {
            out.push('\n');
            let mut end = String::new();
            wrap(&format!("`--full` adds: {}.", more.join("; ")), "", "  ", width, &mut end);
            let room = LINES_OF_END - 1;
            match end.lines().count() > room {
                true => wrap("`--full` adds everything else.", "", "  ", width, &mut out),
                false => out.push_str(&end),
            }
        }
        out
    }

    /// Everything, for a terminal of `width` columns, without the title.
    pub fn text(&self, width: usize) -> String {
        let mut out = self.answer_text(width);
        for section in self.sections.iter().chain(&self.folded) {
            out.push_str(&section_text(section, width));
        }
        out.trim_start_matches('\n').to_owned()
    }

    fn answer_text(&self, width: usize) -> String {
        let mut out = String::new();
        for paragraph in &self.answer {
            wrap(paragraph, "", "", width, &mut out);
        }
        out
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", markdown_text(&self.title));
        for paragraph in &self.answer {
            out.push_str(&format!("{}\n\n", prose::markdown(paragraph)));
        }
        for section in self.sections.iter().chain(&self.folded) {
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
        let all: Vec<Section> = self.sections.iter().chain(&self.folded).cloned().collect();
        let is_used = |name: &str| all.iter().any(|s| s.method.contains(&name));
        let method = method::definitions_where(is_used);
        let mut charts = Charts::default();
        let mut sections = with_unique_anchors(&all, &mut charts);
        let folded = sections.split_off(self.sections.len());
        // The scripts are large, so a page without charts does not contain them.
        let drawing = (!charts.is_empty()).then(|| {
            context! {
                charts => Value::from_safe_string(charts.into_script_json()),
                echarts => Value::from_safe_string(ECHARTS.to_owned()),
                charts_js => Value::from_safe_string(CHARTS_JS.to_owned()),
            }
        });
        let answer: Vec<Value> = self.answer.iter().map(|one| prose::html(one)).collect();
        let page = environment.get_template("sheet.html")?.render(context! {
            title => &self.title,
            answer,
            sections,
            folded,
            drawing,
            method,
            style => style(Theme::Auto),
            sheet_style => Value::from_safe_string(SHEET_STYLE.to_owned()),
        })?;
        Ok(page)
    }
}

/// A section in a terminal, after an empty line; nothing if it has only charts.
fn section_text(section: &Section, width: usize) -> String {
    let is_drawn = |block: &Block| matches!(block, Block::Charts(_) | Block::Diagram(_));
    let mut out = String::new();
    if !section.blocks.iter().all(is_drawn) {
        terminal::write(section, width, &mut out);
    }
    out
}

/// A heading inside a list: `Assumptions` as `assumptions`.
fn in_list(title: &str) -> String {
    let mut rest = title.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
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
            answer: vec!["Buy 5 TiB.".to_owned()],
            folded: Vec::new(),
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
    fn the_short_text_has_40_lines_and_names_what_it_leaves_out() {
        let section = |title: &str, lines: usize| Section {
            id: "",
            title: title.to_owned(),
            blocks: vec![Block::List(vec!["point".to_owned(); lines])],
            method: Vec::new(),
        };
        let sheet = Sheet {
            sections: vec![section("Designs", 5), section("Long", 40), section("Mount", 25)],
            folded: vec![section("Assumptions", 1)],
            ..sheet()
        };
        let short = sheet.short(80);
        assert!(short.starts_with("Buy 5 TiB.\n\nDesigns\n") && short.contains("\nMount\n"));
        assert!(short.ends_with("\n\n`--full` adds: long; assumptions.\n"), "{short}");
        assert!(short.lines().count() <= LINES_MAX, "{short}");
        let narrow = sheet.short(20);
        assert!(narrow.lines().count() <= LINES_MAX, "{narrow}");
        assert!(sheet.text(80).contains("\nAssumptions\n  - point\n"));
        let page = sheet.html().unwrap();
        let folded = page.split("<details").nth(1).expect("a folded section");
        assert!(folded.contains("Assumptions") && !folded.contains("Mount"), "{folded}");
    }

    #[test]
    fn a_sheet_has_the_same_text_in_a_terminal_as_markdown_and_as_a_page() {
        let sheet = sheet();
        let arithmetic = "5,120 GiB x 64 KiB/s per GiB = 320 MiB/s";
        let text = sheet.text(80);
        assert!(text.starts_with("Buy 5 TiB.\n\nWhy\n  - 320 MiB/s are required\n"), "{text}");
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
