//! Sentences with `code` in backticks: wrapped for a terminal, as Markdown, and as HTML.
//!
//! Only backticks are markup. Everything else is escaped, because names come from users.

use minijinja::{HtmlEscape, Value};

/// Breaks `text` at spaces so that no line is wider than `width`, unless a single word is. The
/// first line begins with `lead`, the others with `indent`. Code in backticks stays on one line if
/// it fits, so that a command can be copied.
pub(crate) fn wrap(text: &str, lead: &str, indent: &str, width: usize, out: &mut String) {
    let mut line = lead.to_owned();
    let mut is_empty = true;
    for word in unbroken(text, width.saturating_sub(indent.chars().count())) {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            out.push_str(line.trim_end());
            out.push('\n');
            line = indent.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// Units that stay on the line of their number.
const UNITS: [&str; 18] = [
    "%", "ns", "µs", "ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "TiB", "KiB/s", "MiB/s",
    "GiB/s", "ops/s", "IOPS",
];

/// Words, a number with the unit after it as one word, and code in backticks of at most `room` columns
/// as one word.
fn unbroken(text: &str, room: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in text.split_whitespace() {
        match parts.last_mut() {
            Some(number)
                if number.ends_with(|c: char| c.is_ascii_digit())
                    && UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')', '?'])) =>
            {
                number.push(' ');
                number.push_str(word);
            }
            Some(code) if is_open && code.chars().count() + 1 + word.chars().count() <= room => {
                code.push(' ');
                code.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
        is_open ^= word.matches('`').count() % 2 == 1;
    }
    parts
}

/// A part of a sentence.
enum Span<'a> {
    Text(&'a str),
    Code(&'a str),
}

/// The parts of a sentence; a backtick without a partner is text.
fn spans(sentence: &str) -> Vec<Span<'_>> {
    let parts: Vec<&str> = sentence.split('`').collect();
    let is_unpaired = |index: usize| parts.len().is_multiple_of(2) && index + 1 == parts.len();
    let mut spans = Vec::new();
    for (index, &part) in parts.iter().enumerate() {
        match index {
            last if is_unpaired(last) => spans.extend([Span::Text("`"), Span::Text(part)]),
            odd if odd % 2 == 1 => spans.push(Span::Code(part)),
            _ => spans.push(Span::Text(part)),
        }
    }
    spans
}

pub(crate) fn markdown(sentence: &str) -> String {
    let part = |span: Span<'_>| match span {
        Span::Text(text) => markdown_text(text),
        Span::Code(code) => format!("`{}`", one_line(code)),
    };
    spans(sentence).into_iter().map(part).collect()
}

/// Plain text as Markdown: every character that Markdown or HTML could take for markup is escaped.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

pub(crate) fn html(sentence: &str) -> Value {
    let part = |span: Span<'_>| match span {
        Span::Text(text) => HtmlEscape(text).to_string(),
        Span::Code(code) => format!("<code>{}</code>", HtmlEscape(code)),
    };
    Value::from_safe_string(spans(sentence).into_iter().map(part).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_kept_on_a_line_if_it_fits() {
        let wrapped = |text: &str| {
            let mut out = String::new();
            wrap(text, "", "  ", 16, &mut out);
            out
        };
        assert_eq!(wrapped("use it: `--allow all`."), "use it:\n  `--allow all`.\n");
        assert_eq!(wrapped("or `one two three four`"), "or\n  `one two three\n  four`\n");
        assert_eq!(wrapped("an ` alone and more words"), "an ` alone and\n  more words\n");
        assert_eq!(wrapped("one two thre 12 % of"), "one two thre\n  12 % of\n");
        assert_eq!(wrapped("one two (1 128 MiB/s)."), "one two (1\n  128 MiB/s).\n");
        assert_eq!(wrapped("take 5 of 16 sand"), "take 5 of 16\n  sand\n");
    }

    #[test]
    fn text_that_looks_like_markup_is_escaped() {
        assert_eq!(
            markdown_text("<b>a|b</b> *x* _y_ [z](u)"),
            "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\* \\_y\\_ \\[z\\](u)"
        );
        assert_eq!(markdown("say `nconnect=8` and <i>"), "say `nconnect=8` and &lt;i&gt;");
        assert_eq!(markdown("an unpaired ` stays"), "an unpaired \\` stays");
        let page = html("say `<b>` and <i>").to_string();
        assert_eq!(page, "say <code>&lt;b&gt;</code> and &lt;i&gt;");
    }
}
