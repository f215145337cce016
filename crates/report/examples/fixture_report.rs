//! Writes the outputs of the test records into a directory, for the browser test and for inspection:
//! `cargo run -p report --example fixture_report -- DIR`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use predict::configuration::Configuration;
use predict::expect::{nearest, predicted};
use report::drawing::theme::Theme;
use report::expect::Expectation;
use report::expect::published::Published;
use report::html;
use report::predict::Comparison;
use report::record::Record;

const TOPOLOGY: &str = include_str!("../../../examples/topologies/vmware.toml");
/// The year from which the age of figures is counted.
const YEAR: u64 = 2026;
/// Published figures for the prediction.
const FIGURES: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("name a directory")?);
    fs::create_dir_all(&directory)?;
    let mut emulated = fixture::four_corners();
    *emulated.plan.target_mut() = fixture::records::emulated_volume();
    for (name, record) in [
        ("four-corners", fixture::four_corners()),
        ("troubled", fixture::troubled()),
        ("emulated", emulated),
        ("bottleneck", fixture::bottleneck()),
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
    several(&directory)?;
    with_published(&directory)?;
    prediction(&directory)
}

/// A prediction with published figures, and what to expect of its first workload.
fn prediction(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let topology = predict::topology_file::parse(TOPOLOGY, "vmware.toml")
        .map_err(|mistakes| mistakes[0].to_string())?;
    let figures = cloud::figure::all();
    let parameters = predict::Parameters::calibrated(&figures);
    let curve = predict::curve(&topology, &parameters)?;
    let configuration = Configuration::of(&topology, &topology.workloads[0]);
    let expectation = Expectation {
        curve: predicted(&configuration, &parameters),
        near: nearest(&configuration, &figures, &parameters, YEAR, FIGURES),
        configuration,
        figures,
        measured: None,
    };
    let expectations = vec![expectation.clone()];
    let expected = report::expect::sheet(&Published { expectations, ..Published::default() });
    fs::write(directory.join("expectation.html"), expected.html()?)?;
    let comparison = Comparison { published: vec![expectation], measured: Vec::new() };
    let sheet = report::predict::sheet(&topology, &curve, &comparison);
    fs::write(directory.join("prediction.html"), sheet.html()?)?;
    Ok(())
}

/// The four corners with published figures.
fn with_published(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let findings = analysis::analyze(&fixture::four_corners());
    let published = fixture::published::published_for(&findings);
    let record = Record { published: Some(&published), ..Record::from(&findings) };
    let path = |ending: &str| directory.join(format!("published.{ending}"));
    fs::write(path("html"), html::render(record)?)?;
    fs::write(path("md"), report::markdown::render(record))?;
    fs::write(path("txt"), report::text::summary(record, 80))?;
    report::json::write(record, &mut File::create(path("json"))?)?;
    Ok(())
}

/// Two records with their comparison on one page, and one record for paper.
fn several(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let (first, mut second) = (fixture::four_corners(), fixture::four_corners());
    second.id.push_str("-again");
    second.started_unix_ms += 3_600_000;
    let sides: Vec<Side> = [&first, &second].into_iter().map(Side::of).collect();
    let comparison = compare(&sides, &Options::default());
    let sections = report::compare::page_sections(&comparison);
    let findings = [analysis::analyze(&first), analysis::analyze(&second)];
    let [first, second] = &findings;
    let page = html::render_all(&[first, second], &sections, Theme::Auto)?;
    fs::write(directory.join("several.html"), page)?;
    fs::write(directory.join("paper.html"), html::render_all(&[first], &[], Theme::Print)?)?;
    Ok(())
}
