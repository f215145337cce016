//! The one type of table, and how a terminal ([`terminal`]), Markdown ([`markdown`]) and an HTML
//! page ([`html`]) draw it.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod terminal;

/// Rows of cells below named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the table shows; may be empty.
    pub caption: String,
    /// The columns, the first of which names the rows.
    pub columns: Vec<Column>,
    /// The cells of each row, one for each column.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// What its cells are; a table whose columns have no names has no headings.
    pub name: String,
    /// Their unit; may be empty.
    pub unit: String,
    /// A heading shared with the columns next to it that name the same one; may be empty.
    pub group: String,
    /// The heading in a terminal, as two lines, where name above unit would be too wide.
    pub narrow: Option<[String; 2]>,
    /// What its cells contain.
    pub content: Content,
    /// How soon a section in a narrow terminal leaves the column out: the highest first, 0 never.
    pub dispensable: u8,
}

/// What the cells of a column contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Words, aligned left and broken into lines in the last column.
    Words,
    /// Numbers, aligned right.
    #[default]
    Numbers,
    /// Letters that refer to warnings; a terminal cuts them at its edge.
    Marks,
}

impl Column {
    /// A column of words.
    pub fn words(name: &str) -> Column {
        Column { name: name.to_owned(), content: Content::Words, ..Column::default() }
    }

    /// A column of numbers in `unit`.
    pub fn numbers(name: &str, unit: &str) -> Column {
        Column { name: name.to_owned(), unit: unit.to_owned(), ..Column::default() }
    }

    /// A column of letters that refer to warnings.
    pub(crate) fn marks(name: &str) -> Column {
        Column { name: name.to_owned(), content: Content::Marks, ..Column::default() }
    }

    /// The same column under a heading that it shares with its neighbours.
    pub(crate) fn grouped(self, group: &str) -> Column {
        Column { group: group.to_owned(), ..self }
    }

    /// The same column, left out in a terminal that is too narrow: the highest `rank` first.
    pub(crate) fn dispensable(self, rank: u8) -> Column {
        Column { dispensable: rank, ..self }
    }

    /// The same column with a heading of two lines in a terminal.
    pub(crate) fn narrow(self, upper: &str, lower: &str) -> Column {
        Column { narrow: Some([upper.to_owned(), lower.to_owned()]), ..self }
    }
}

/// Text with its unit, where there is one: `throughput, MiB/s`.
fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() { text.to_owned() } else { format!("{text}, {unit}") }
}

impl Table {
    /// Name and value pairs, without headings.
    pub fn pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Table {
        Table {
            columns: vec![Column::words(""), Column::words("")],
            rows: pairs.into_iter().map(|(name, value)| vec![name, value]).collect(),
            ..Table::default()
        }
    }

    /// The table for a terminal of `width` columns, from the left margin.
    pub fn text(&self, width: usize) -> String {
        let mut out = String::new();
        terminal::write_listing(self, width, &mut out);
        out
    }

    /// Tables with the same columns for a terminal of `width` columns, each after an empty line, with
    /// the same column widths.
    pub fn aligned_text(tables: &[Table], width: usize) -> String {
        let mut out = String::new();
        terminal::write_listings(tables, width, &mut out);
        out
    }

    /// Whether any column has a heading.
    fn has_headings(&self) -> bool {
        self.columns.iter().any(|column| !column.name.is_empty() || column.narrow.is_some())
    }
}
