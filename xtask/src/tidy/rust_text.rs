//! Splits a Rust file into code, contents of strings, and comments.
//!
//! A scanner, not a parser: it knows comments, strings, raw strings, characters, lifetimes and
//! brackets, which is enough for rules to check the right part of a line. Each part has all lines
//! of the file, with blanks for the other parts.

/// The three parts of a file, each as long as the file.
pub(crate) struct RustText {
    /// Everything except comments and the contents of strings.
    pub code: String,
    /// The contents of strings.
    pub strings: String,
    /// Comments, including doc comments.
    pub comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Strings,
    Comments,
}

impl RustText {
    /// Splits a file into its parts.
    pub(crate) fn scan(text: &str) -> RustText {
        let chars: Vec<char> = text.chars().collect();
        let mut parts = Vec::with_capacity(chars.len());
        let mut at = 0;
        while at < chars.len() {
            let (part, length) = piece(&chars[at..], chars[..at].last().copied());
            let (open, close) =
                if part == Part::Strings { quotes(&chars[at..at + length]) } else { (0, 0) };
            parts.extend((0..length).map(|i| {
                let is_quote = i < open || i >= length - close;
                if part == Part::Strings && is_quote { Part::Code } else { part }
            }));
            at += length;
        }
        let only = |wanted: Part| {
            let blanked = chars.iter().zip(&parts);
            blanked.map(|(&c, &part)| if part == wanted || c == '\n' { c } else { ' ' }).collect()
        };
        RustText {
            code: only(Part::Code),
            strings: only(Part::Strings),
            comments: only(Part::Comments),
        }
    }

    /// The code with every item under `#[cfg(test)]` blanked.
    pub(crate) fn code_without_tests(&self) -> String {
        blank(&self.code, &self.test_spans())
    }

    /// The string contents outside items under `#[cfg(test)]`.
    pub(crate) fn strings_without_tests(&self) -> String {
        blank(&self.strings, &self.test_spans())
    }

    /// Names of modules in other files that are declared under `#[cfg(test)]`.
    pub(crate) fn test_modules_elsewhere(&self) -> Vec<String> {
        let code: Vec<char> = self.code.chars().collect();
        let mut names = Vec::new();
        for (start, end) in self.test_spans() {
            let item: String = code[start..end].iter().collect();
            if let Some(name) = item.trim_end().strip_suffix(';')
                && let Some((_, name)) = name.rsplit_once("mod ")
            {
                names.push(name.trim().to_owned());
            }
        }
        names
    }

    /// Spans, in characters, of the items under `#[cfg(test)]`: from the attribute to the item's
    /// closing bracket or semicolon.
    fn test_spans(&self) -> Vec<(usize, usize)> {
        const ATTRIBUTE: &str = "#[cfg(test)]";
        let code: Vec<char> = self.code.chars().collect();
        let attribute: Vec<char> = ATTRIBUTE.chars().collect();
        let mut spans = Vec::new();
        let mut at = 0;
        while at + attribute.len() <= code.len() {
            if code[at..at + attribute.len()] != attribute[..] {
                at += 1;
                continue;
            }
            let mut depth = 0i32;
            let mut end = at + attribute.len();
            while end < code.len() {
                let c = code[end];
                end += 1;
                match c {
                    '{' | '(' | '[' => depth += 1,
                    ')' | ']' => depth -= 1,
                    '}' => {
                        depth -= 1;
                        if depth == 0 {
                            break;
                        }
                    }
                    ';' if depth == 0 => break,
                    _ => {}
                }
            }
            spans.push((at, end));
            at = end;
        }
        spans
    }
}

fn blank(text: &str, spans: &[(usize, usize)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for &(start, end) in spans {
        for c in &mut chars[start..end] {
            if *c != '\n' {
                *c = ' ';
            }
        }
    }
    chars.into_iter().collect()
}

/// The kind and length of the piece that `rest` begins with.
fn piece(rest: &[char], before: Option<char>) -> (Part, usize) {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    match rest {
        ['/', '/', ..] => (Part::Comments, until_line_end(rest)),
        ['/', '*', ..] => (Part::Comments, block_comment(rest)),
        ['"', ..] => (Part::Strings, string(rest, 0)),
        ['b' | 'c', '"', ..] if !in_word => (Part::Strings, string(rest, 1)),
        ['r', '"' | '#', ..] if !in_word => raw_string(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] if !in_word => raw_string(rest, 2),
        ['\'', ..] => (Part::Code, character(rest)),
        _ => (Part::Code, 1),
    }
}

fn until_line_end(rest: &[char]) -> usize {
    rest.iter().position(|&c| c == '\n').unwrap_or(rest.len())
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of a string with escapes whose opening quote is at `quote`.
fn string(rest: &[char], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// A raw string whose hashes or quote begin at `prefix`; a raw identifier (`r#type`) is code.
fn raw_string(rest: &[char], prefix: usize) -> (Part, usize) {
    let hashes = rest[prefix..].iter().take_while(|&&c| c == '#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&'"') {
        return (Part::Code, 1);
    }
    let mut at = open + 1;
    while at < rest.len() {
        let closes =
            rest[at] == '"' && rest[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
        at += 1;
        if closes {
            return (Part::Strings, at + hashes);
        }
    }
    (Part::Strings, rest.len())
}

/// Length of a character literal, or 1 for the tick of a lifetime.
fn character(rest: &[char]) -> usize {
    match rest {
        [_, '\\', _, ..] => {
            let end = rest[3..].iter().position(|&c| c == '\'');
            end.map_or(rest.len(), |found| found + 4)
        }
        [_, _, '\'', ..] => 3,
        _ => 1,
    }
}

/// How many characters open and close a string literal.
fn quotes(literal: &[char]) -> (usize, usize) {
    let open = literal.iter().position(|&c| c == '"').map_or(0, |found| found + 1);
    let close = literal.iter().rev().take_while(|&&c| c == '#').count() + 1;
    (open, close.min(literal.len() - open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_strings_and_comments_are_split() {
        let parts = RustText::scan("let a = \"std::fs // no\"; // unsafe\nlet b = '\"';\n");
        assert_eq!(parts.code.trim_end(), "let a = \"             \";          \nlet b = '\"';");
        assert!(parts.strings.contains("std::fs // no"));
        assert!(parts.comments.contains("// unsafe"));
        assert!(!parts.comments.contains("no"));
    }

    #[test]
    fn raw_strings_lifetimes_and_nested_comments_are_recognised() {
        let text = "r#\"say \"unsafe\" \"#; fn f<'a>(x: &'a str) { /* a /* b */ c */ g('\\'') }";
        let parts = RustText::scan(text);
        assert!(!parts.code.contains("unsafe"));
        assert!(parts.code.contains("fn f<'a>(x: &'a str)"));
        assert!(parts.code.contains("g('\\'')"));
        assert!(parts.comments.contains("/* a /* b */ c */"));
    }

    #[test]
    fn test_modules_are_blanked() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { if x { } } }\nfn c() {}\n";
        let code = RustText::scan(text).code_without_tests();
        assert!(code.contains("fn a()") && code.contains("fn c()"));
        assert!(!code.contains("fn b()"));
        assert_eq!(code.lines().count(), text.lines().count());
    }

    #[test]
    fn a_test_module_in_another_file_is_found() {
        let parts = RustText::scan("#[cfg(test)]\nmod stalls;\nmod other;\n");
        assert_eq!(parts.test_modules_elsewhere(), ["stalls"]);
    }
}
