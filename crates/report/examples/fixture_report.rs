//! Writes the outputs of the test records into a directory, for the browser test and for looking at
//! them: `cargo run -p report --example fixture_report -- DIR`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::fs::{self, File};
use std::path::PathBuf;

use report::chart::theme::Theme;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("name a directory")?);
    fs::create_dir_all(&directory)?;
    let mut emulated = fixture::four_corners();
    emulated.plan.target = fixture::records::emulated_volume();
    for (name, record) in [
        ("four-corners", fixture::four_corners()),
        ("troubled", fixture::troubled()),
        ("emulated", emulated),
    ] {
        let findings = analysis::analyze(&record);
        let path = |ending: &str| directory.join(format!("{name}.{ending}"));
        fs::write(path("html"), report::html::render(&findings)?)?;
        fs::write(path("md"), report::markdown::render(&findings))?;
        for theme in [Theme::Light, Theme::Dark] {
            let pictures = directory.join(format!("{name}-{}", theme.name()));
            fs::create_dir_all(&pictures)?;
            for picture in report::pictures::pictures(&[&findings], theme) {
                fs::write(pictures.join(format!("{}.svg", picture.name)), picture.svg)?;
            }
        }
        fs::write(path("txt"), report::text::summary(&findings, 80))?;
        report::json::write(&findings, &mut File::create(path("json"))?)?;
        report::csv::write(&findings, &mut File::create(path("csv"))?)?;
        report::hgrm::write(&findings, &mut File::create(path("hgrm"))?)?;
    }
    Ok(())
}
