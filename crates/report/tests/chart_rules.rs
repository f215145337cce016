//! Rules of every chart: axes, lines, limits, colours and labels.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::fixture;
use crate::fixture::loads;
use analysis::{Findings, analyze};
use report::drawing::theme::Theme;
use report::pictures::{Picture, pictures};

fn drawn(record: &metrics::run_record::ExperimentRecord) -> Vec<Picture> {
    of_findings(&analyze(record))
}

fn of_findings(findings: &Findings) -> Vec<Picture> {
    pictures(&[findings], Theme::Light)
}

fn named<'a>(drawn: &'a [Picture], name: &str) -> &'a Picture {
    let names: Vec<&str> = drawn.iter().map(|picture| picture.name.as_str()).collect();
    drawn.iter().find(|picture| picture.name == name).unwrap_or_else(|| panic!("{name}: {names:?}"))
}

/// An attribute of an element.
fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let from = element.find(&format!(" {name}=\""))? + name.len() + 3;
    element[from..].split('"').next()
}

fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).unwrap().parse().unwrap()
}

/// Texts that are not rotated, with the left edge, the baseline and the size.
fn texts(svg: &str) -> Vec<(String, f64, f64, f64)> {
    let elements = svg.lines().filter(|line| line.starts_with("<text x="));
    let text = |line: &str| {
        let words = line[line.find('>').unwrap() + 1..].trim_end_matches("</text>").to_owned();
        let (x, y, size) = (number(line, "x"), number(line, "y"), number(line, "font-size"));
        let wide = width(&words, size);
        let left = match attribute(line, "text-anchor").unwrap() {
            "middle" => x - wide / 2.0,
            "end" => x - wide,
            _ => x,
        };
        (words, left, y, size)
    };
    elements.map(text).collect()
}

/// A lower bound of the width of a text.
fn width(words: &str, size: f64) -> f64 {
    0.5 * size * words.chars().count() as f64
}

/// The points of the lines of measurements: thick ones without dashes.
fn lines(svg: &str) -> Vec<Vec<(f64, f64)>> {
    let is_line = |line: &&str| {
        line.starts_with("<path d=\"M")
            && line.contains("stroke-width=\"2.5\"")
            && line.contains("stroke-linejoin")
            && !line.contains("dasharray")
    };
    let points = |line: &str| -> Vec<(f64, f64)> {
        let d = attribute(line, "d").unwrap().trim_start_matches('M');
        let pair = |pair: &str| {
            let (x, y) = pair.split_once(' ').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        d.split(['L', 'M']).map(pair).collect()
    };
    svg.lines().filter(is_line).map(points).collect()
}

#[test]
fn no_two_texts_of_a_chart_overlap() {
    let mut all = drawn(&loads::limited());
    all.extend(drawn(&loads::range()));
    all.extend(drawn(&loads::declining()));
    all.extend(drawn(&loads::repeated(6)));
    all.extend(drawn(&fixture::four_corners()));
    for picture in all {
        let texts = texts(&picture.svg);
        for (index, (words, left, y, size)) in texts.iter().enumerate() {
            let right = left + width(words, *size);
            for (other, other_left, other_y, other_size) in &texts[..index] {
                let other_right = other_left + width(other, *other_size);
                let apart = right <= *other_left
                    || other_right <= *left
                    || (y - other_y).abs() >= size.min(*other_size) * 0.9;
                assert!(apart, "{}: {words:?} on {other:?}", picture.name);
            }
        }
    }
}

#[test]
fn a_line_against_throughput_never_turns_back_and_the_decline_is_separate_points() {
    let all = drawn(&loads::declining());
    for name in ["overview-latency", "response-time-by-rate-along-queue-depth"] {
        let picture = named(&all, name);
        let lines = lines(&picture.svg);
        // Queue depths 1, 2, 4 and 8; 16 and 32 are past the peak.
        assert_eq!(lines.len(), 1, "{name}");
        assert_eq!(lines[0].len(), 4, "{name}");
        assert!(lines[0].windows(2).all(|pair| pair[0].0 < pair[1].0), "{name}: {lines:?}");
        assert!(picture.caption.contains("fell although the load rose"), "{}", picture.caption);
    }
}

#[test]
fn p99_is_thinner_than_the_mean_and_neither_is_dashed() {
    let all = drawn(&loads::limited());
    let latency = &named(&all, "overview-latency").svg;
    let curves = |width: &str| {
        let is_curve = |line: &&str| {
            line.contains("stroke-linejoin") && line.contains(&format!("stroke-width=\"{width}\""))
        };
        latency.lines().filter(is_curve).map(str::to_owned).collect::<Vec<_>>()
    };
    let (means, p99s) = (curves("2.5"), curves("1.25"));
    assert_eq!((means.len(), p99s.len()), (4, 4));
    for (mean, p99) in means.iter().zip(&p99s) {
        assert!(!mean.contains("dash") && !p99.contains("dash"));
        assert_eq!(attribute(mean, "stroke"), attribute(p99, "stroke"));
    }
}

#[test]
fn a_sweep_is_one_series_in_every_legend() {
    for picture in drawn(&loads::limited()) {
        let in_legend = |name: &str| picture.svg.matches(&format!(">{name}</text>")).count();
        for corner in ["random read 8 KiB", "sequential write 64 KiB"] {
            assert!(in_legend(corner) <= 1, "{}", picture.name);
        }
        assert!(!picture.svg.contains(">queue depth 4</text>"), "{}", picture.name);
    }
}

/// The colour and the symbol of a name in the legend.
fn look(svg: &str, name: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = svg.lines().collect();
    let text = lines.iter().position(|line| line.ends_with(&format!(">{name}</text>")))?;
    let symbol = lines[text - 1];
    let colour = attribute(symbol, "fill").filter(|colour| colour.starts_with('#'))?;
    Some((colour.to_owned(), attribute(symbol, "d").unwrap_or_default().to_owned()))
}

#[test]
fn a_workload_has_the_same_colour_and_symbol_in_every_chart() {
    let all = drawn(&loads::limited());
    let mut looks = Vec::new();
    for corner in [
        "random read 8 KiB",
        "random write 8 KiB",
        "sequential read 64 KiB",
        "sequential write 64 KiB",
    ] {
        let of_corner: Vec<_> =
            ["overview-throughput", "overview-latency", "throughput-by-queue-depth"]
                .iter()
                .map(|name| look(&named(&all, name).svg, corner).unwrap())
                .collect();
        assert!(of_corner.windows(2).all(|pair| pair[0] == pair[1]), "{of_corner:?}");
        looks.push(of_corner[0].clone());
    }
    for (index, (colour, symbol)) in looks.iter().enumerate() {
        assert!(looks[..index].iter().all(|other| other.0 != *colour && other.1 != *symbol));
    }
    // A chart over time of one workload has the workload's colour.
    let over_time = all.iter().find(|one| one.name.contains("sequential-write-64-kib")).unwrap();
    assert!(over_time.svg.contains(&looks[3].0), "{}", over_time.name);
}

#[test]
fn the_end_of_a_rising_curve_is_no_limit() {
    let rising = drawn(&loads::repeated(3));
    let picture = named(&rising, "overview-throughput");
    assert!(!picture.svg.contains("limit") && !picture.svg.contains("saturation"));
    assert!(!picture.svg.contains("stroke-dasharray"), "no dashed line");
    let limited = drawn(&loads::limited());
    for name in ["overview-throughput", "overview-latency", "throughput-by-queue-depth"] {
        let picture = named(&limited, name);
        assert!(picture.svg.contains(">configured limit, 128 MiB/s</text>"), "{name}");
    }
    // In operations, the limit is at another rate for each transfer size.
    let by_rate = named(&limited, "response-time-by-rate-along-queue-depth");
    assert!(!by_rate.svg.contains("limit,"), "{}", by_rate.name);
}

#[test]
fn reads_are_left_and_writes_right_in_every_chart_of_a_mix() {
    let all = drawn(&loads::range());
    let mixes = all.iter().filter(|one| one.svg.contains(">read/write mix, %</text>"));
    let mixes: Vec<&Picture> = mixes.collect();
    assert!(mixes.len() >= 4, "overview, rate, throughput and latency: {}", mixes.len());
    for picture in mixes {
        let texts = texts(&picture.svg);
        let left = |name: &str| texts.iter().find(|text| text.0 == name).unwrap().1;
        assert!(left("100/0") < left("50/50") && left("50/50") < left("0/100"), "{}", picture.name);
        assert!(picture.svg.contains("h10M") || picture.svg.contains("fill-opacity=\"0.2\""));
    }
}

#[test]
fn the_table_of_a_mix_begins_with_reads_like_its_charts() {
    let tables = report::results::tables(&analyze(&loads::range()));
    let shares = tables[0].rows.iter().map(|row| row[0].as_str());
    let shares: Vec<&str> = shares.filter(|label| label.ends_with('%')).collect();
    assert_eq!(shares, ["100 %", "75 %", "50 %", "25 %", "0 %"]);
}

#[test]
fn small_multiples_have_the_four_corners_on_the_same_axes() {
    let all = drawn(&loads::limited());
    let picture = named(&all, "workloads-by-queue-depth");
    let texts = texts(&picture.svg);
    let titles: Vec<&str> = texts
        .iter()
        .map(|text| text.0.as_str())
        .filter(|text| text.starts_with("random") || text.starts_with("sequential"))
        .collect();
    assert_eq!(
        titles,
        [
            "random read 8 KiB",
            "random write 8 KiB",
            "sequential read 64 KiB",
            "sequential write 64 KiB"
        ]
    );
    // The numbers of the common y axes are written once for each row, those of x in each panel.
    let count = |name: &str| texts.iter().filter(|text| text.0 == name).count();
    assert_eq!((count("150"), count("32")), (1, 8));
    // The same throughput has the same height in each panel.
    let ends: Vec<f64> =
        lines(&picture.svg)[..4].iter().map(|line| line.last().unwrap().1).collect();
    assert!(ends.iter().all(|y| (y - ends[0]).abs() < 1.0), "{ends:?}");
}

#[test]
fn five_repeats_are_a_box_and_fewer_are_points() {
    let few = named(&drawn(&loads::repeated(4)), "repeats-by-queue-depth").svg.clone();
    let many = named(&drawn(&loads::repeated(6)), "repeats-by-queue-depth").svg.clone();
    let boxes = |svg: &str| svg.matches("stroke-width=\"3\"").count();
    assert_eq!((boxes(&few), boxes(&many)), (0, 2));
    let spread = analyze(&loads::repeated(5)).load_points[0].repeat_spread().unwrap();
    let five = spread.quartiles_percent.unwrap();
    // 1,000 to 1,040 around their mean of 1,020.
    for (found, known) in five.iter().zip([-20.0, -10.0, 0.0, 10.0, 20.0]) {
        assert!((found - known / 10.2).abs() < 1e-6, "{five:?}");
    }
    let single = analyze(&fixture::bottleneck());
    assert_eq!(single.load_points[0].repeat_spread(), None);
}

#[test]
fn axes_have_units_by_magnitude_and_begin_at_the_data() {
    let corners = drawn(&fixture::four_corners());
    let by_rate = &named(&corners, "response-time-by-rate-along-queue-depth").svg;
    assert!(by_rate.contains(">rate, IOPS</text>") && by_rate.contains(">20k</text>"), "{by_rate}");
    let throughput = &named(&corners, "overview-throughput").svg;
    assert!(throughput.contains(">throughput, MiB/s</text>"));
    // Depths 1, 4, 16, 32 and 64 were measured, 2 and 8 were not.
    let texts = texts(throughput);
    let is_tick = |name: &str| texts.iter().any(|text| text.0 == name && text.3 == 13.0);
    assert!(is_tick("1") && is_tick("4") && is_tick("64"));
    assert!(!is_tick("2") && !is_tick("8") && !is_tick("128"));
}

#[test]
fn no_picture_has_a_coordinate_that_is_not_a_number() {
    let mut all = drawn(&fixture::troubled());
    all.extend(drawn(&loads::range()));
    for picture in all {
        assert!(!picture.svg.contains("NaN") && !picture.svg.contains("inf"), "{}", picture.name);
    }
}
