//! Writes a workbook like those of RVTools with generated machines, to try out `fourcorners avs`:
//! `cargo run -p rvtools --example estate -- 2000 estate.xlsx`.

#[path = "../tests/workbooks/mod.rs"]
mod workbooks;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().ok_or("give the number of machines")?.parse()?;
    let path = arguments.next().ok_or("give the file to write")?;
    std::fs::write(path, workbooks::estate(count))?;
    Ok(())
}
