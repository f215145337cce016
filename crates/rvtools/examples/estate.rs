//! Writes a workbook as RVTools writes them, with as many made-up machines as wanted, to try out
//! `fourcorners avs`: `cargo run -p rvtools --example estate -- 2000 estate.xlsx`.

#[path = "../tests/workbooks/mod.rs"]
mod workbooks;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().ok_or("how many machines?")?.parse()?;
    let path = arguments.next().ok_or("into which file?")?;
    std::fs::write(path, workbooks::estate(count))?;
    Ok(())
}
