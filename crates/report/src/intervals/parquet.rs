//! Intervals as Apache Parquet: a column for each of [`COLUMNS`], and two lists for each histogram.
//!
//! Rows of several records share row groups, because a row group for every small record would make
//! the file several times as large and slow to read.

use std::io::{self, Write};
use std::sync::Arc;

use analysis::interval_rows::{IntervalRow, interval_rows};
use metrics::run_record::ExperimentRecord;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{COLUMNS, HISTOGRAMS, Value};

/// Rows and buckets of a row group together, which are kept in memory until it is written.
const ROW_GROUP_VALUES_MAX: usize = 2_000_000;

pub(super) fn write(
    records: &mut dyn Iterator<Item = ExperimentRecord>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut file = IntervalFile::new().map_err(io::Error::other)?;
    for record in records {
        for row in interval_rows(&record) {
            file.add(&row);
        }
        if file.values >= ROW_GROUP_VALUES_MAX {
            file.write_row_group().map_err(io::Error::other)?;
            file.take(out)?;
        }
    }
    out.write_all(&file.finish().map_err(io::Error::other)?)
}

/// A file that is being written.
struct IntervalFile {
    writer: SerializedFileWriter<Vec<u8>>,
    columns: Vec<Buffer>,
    /// Values in the buffers.
    values: usize,
}

/// The values of a column in the current row group.
enum Buffer {
    Text(Levels<ByteArray>),
    Integer(Levels<i64>),
    Number(Levels<f64>),
}

/// Values with their levels, as Parquet encodes optional values and lists.
struct Levels<T> {
    values: Vec<T>,
    /// 1 for a value, 0 for null or an empty list.
    definition: Vec<i16>,
    /// 0 for the first value of a row, 1 for the others.
    repetition: Vec<i16>,
}

impl<T> Levels<T> {
    fn new() -> Levels<T> {
        Levels { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() }
    }

    fn add(&mut self, value: Option<T>) {
        self.definition.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn add_list(&mut self, list: impl Iterator<Item = T>) {
        let before = self.values.len();
        self.values.extend(list);
        let added = self.values.len() - before;
        self.definition.extend((0..added.max(1)).map(|_| i16::from(added > 0)));
        self.repetition.extend((0..added.max(1)).map(|index| i16::from(index > 0)));
    }
}

impl IntervalFile {
    fn new() -> Result<IntervalFile, ParquetError> {
        let schema = Arc::new(parse_message_type(&message_type())?);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("fourcorners {}", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(IntervalFile {
            writer: SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?,
            columns: buffers(),
            values: 0,
        })
    }

    fn add(&mut self, row: &IntervalRow<'_>) {
        let mut buffers = self.columns.iter_mut();
        for column in COLUMNS {
            match (column.value, buffers.next()) {
                (Value::Text(of), Some(Buffer::Text(texts))) => {
                    texts.add(Some(ByteArray::from(of(row).into_owned().into_bytes())));
                }
                (Value::Integer(of), Some(Buffer::Integer(integers))) => {
                    integers.add(of(row).map(signed));
                }
                (Value::Number(of), Some(Buffer::Number(numbers))) => numbers.add(of(row)),
                _ => unreachable!("buffers are made in the order of the columns"),
            }
            self.values += 1;
        }
        for histogram in HISTOGRAMS {
            let times = (histogram.times)(row);
            let (Some(Buffer::Integer(edges)), Some(Buffer::Integer(counts))) =
                (buffers.next(), buffers.next())
            else {
                unreachable!("each histogram has two buffers");
            };
            edges.add_list(times.buckets().map(|(edge, _)| signed(edge)));
            counts.add_list(times.buckets().map(|(_, count)| signed(count)));
            self.values += 2 * times.buckets().count();
        }
    }

    fn write_row_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for buffer in std::mem::replace(&mut self.columns, buffers()) {
            let mut column = group.next_column()?.expect("the schema has a column per buffer");
            match buffer {
                Buffer::Text(all) => write_levels::<ByteArrayType>(column.typed(), &all),
                Buffer::Integer(all) => write_levels::<Int64Type>(column.typed(), &all),
                Buffer::Number(all) => write_levels::<DoubleType>(column.typed(), &all),
            }?;
            column.close()?;
        }
        group.close()?;
        self.values = 0;
        Ok(())
    }

    /// Moves what is complete to `out`. The writer keeps only the positions.
    fn take(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.writer.flush()?;
        out.write_all(&std::mem::take(self.writer.inner_mut()))
    }

    /// Completes the file and returns its last part.
    fn finish(mut self) -> Result<Vec<u8>, ParquetError> {
        if self.values > 0 {
            self.write_row_group()?;
        }
        self.writer.into_inner()
    }
}

fn write_levels<T: DataType>(
    column: &mut parquet::column::writer::ColumnWriterImpl<'_, T>,
    all: &Levels<T::T>,
) -> Result<(), ParquetError> {
    let repetition = (!all.repetition.is_empty()).then_some(all.repetition.as_slice());
    column.write_batch(&all.values, Some(&all.definition), repetition)?;
    Ok(())
}

fn buffers() -> Vec<Buffer> {
    let scalars = COLUMNS.iter().map(|column| match column.value {
        Value::Text(_) => Buffer::Text(Levels::new()),
        Value::Integer(_) => Buffer::Integer(Levels::new()),
        Value::Number(_) => Buffer::Number(Levels::new()),
    });
    let lists = HISTOGRAMS.iter().flat_map(|_| [(); 2]).map(|()| Buffer::Integer(Levels::new()));
    scalars.chain(lists).collect()
}

/// The schema in Parquet's notation.
fn message_type() -> String {
    let mut text = "message intervals {\n".to_owned();
    for column in COLUMNS {
        let (kind, logical) = match column.value {
            Value::Text(_) => ("binary", " (UTF8)"),
            Value::Integer(_) => ("int64", ""),
            Value::Number(_) => ("double", ""),
        };
        text.push_str(&format!("  optional {kind} {}{logical};\n", column.name));
    }
    for name in HISTOGRAMS.iter().flat_map(|one| [one.edges, one.counts]) {
        text.push_str(&format!(
            "  required group {name} (LIST) {{ repeated group list {{ required int64 element; }} \
             }}\n"
        ));
    }
    text + "}\n"
}

/// Parquet's integers are signed; no count or time of an interval exceeds 2^63.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
