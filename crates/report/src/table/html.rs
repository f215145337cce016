//! A table as the macro `show_table` of the page takes it.

use minijinja::{Value, context};

use super::{Column, Content, Table};
use crate::prose;

pub(crate) fn value(table: &Table) -> Value {
    let body = vec![context! { rows => &table.rows }];
    context! {
        caption => prose::html(&table.caption),
        columns => columns(table),
        headings => headings(&table.columns, table.has_headings()),
        bodies => body,
    }
}

/// Tables with the same columns as one, with a heading line for each of them.
pub(crate) fn values(tables: &[Table], caption: &str) -> Option<Value> {
    let mut first = tables.first()?.clone();
    // The tables' first columns may have different names, which their heading lines have.
    first.columns[0].name = "load point".to_owned();
    let body = |table: &Table| {
        context! { name => &table.caption, axis => &table.columns[0].name, rows => &table.rows }
    };
    Some(context! {
        caption => prose::html(caption),
        columns => columns(&first),
        headings => headings(&first.columns, first.has_headings()),
        bodies => tables.iter().map(body).collect::<Vec<_>>(),
    })
}

/// The class of each column's cells.
fn columns(table: &Table) -> Vec<Value> {
    let class = |column: &Column| match column.content {
        Content::Words => "words",
        Content::Numbers => "",
        Content::Marks => "mark",
    };
    table.columns.iter().map(|column| context! { class => class(column) }).collect()
}

/// The lines of headings: two where columns share a heading.
fn headings(columns: &[Column], has_headings: bool) -> Vec<Vec<Value>> {
    if !has_headings {
        return Vec::new();
    }
    let cell = |name: &str, column: &Column, [rows, columns]: [usize; 2], scope: &str| {
        let is_words = column.content == Content::Words;
        context! { name, unit => &column.unit, rows, columns, scope, is_words }
    };
    let is_grouped = |column: &Column| !column.group.is_empty();
    let lines = if columns.iter().any(is_grouped) { 2 } else { 1 };
    let groups = columns.chunk_by(|a, b| is_grouped(a) && a.group == b.group);
    let upper = groups.map(|group| match group {
        [column] if !is_grouped(column) => cell(&column.name, column, [lines, 1], "col"),
        _ => cell(&group[0].group, &group[0], [1, group.len()], "colgroup"),
    });
    let mut headings: Vec<Vec<Value>> = vec![upper.collect()];
    if lines > 1 {
        let name = |column: &Column| Column { unit: String::new(), ..column.clone() };
        let lower = columns.iter().filter(|column| is_grouped(column)).map(name);
        headings.push(lower.map(|column| cell(&column.name, &column, [1, 1], "col")).collect());
    }
    headings
}
