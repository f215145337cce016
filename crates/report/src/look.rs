//! The colours of results on a terminal: verdicts only, so that colour always means something.

const GREEN_BOLD: &str = "\x1b[1;32m";
const YELLOW_BOLD: &str = "\x1b[1;33m";
const RED_BOLD: &str = "\x1b[1;31m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// What a verdict means to the reader, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// An answer, or an improvement.
    Good,
    /// No certain answer, or one that does not describe the target.
    Warning,
    /// A failure, or a regression.
    Bad,
}

/// Whether results are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Verdicts are coloured.
    pub color: bool,
}

impl Look {
    /// A verdict.
    pub fn verdict(self, tone: Tone, text: &str) -> String {
        let color = match tone {
            Tone::Good => GREEN_BOLD,
            Tone::Warning => YELLOW_BOLD,
            Tone::Bad => RED_BOLD,
        };
        self.paint(color, text)
    }

    /// Text of less importance.
    pub fn dim(self, text: &str) -> String {
        self.paint(DIM, text)
    }

    /// Colours each line separately, because a pager resets the colour at the end of a line.
    fn paint(self, color: &str, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let line = |line: &str| match line.trim_end_matches('\n') {
            "" => line.to_owned(),
            words => format!("{color}{words}{RESET}{}", &line[words.len()..]),
        };
        text.split_inclusive('\n').map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_coloured_separately_and_only_if_requested() {
        let colored = Look { color: true };
        assert_eq!(
            colored.verdict(Tone::Bad, "one\n\ntwo"),
            "\x1b[1;31mone\x1b[0m\n\n\x1b[1;31mtwo\x1b[0m"
        );
        assert_eq!(Look::default().verdict(Tone::Good, "one\n"), "one\n");
    }
}
