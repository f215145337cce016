//! Everything that one examined system shows.
use sim::examination::{Class, EXAMINED, grading, systems, user};
use std::io::Write;
fn main() -> std::io::Result<()> {
    let words: Vec<u64> = std::env::args().skip(1).filter_map(|w| w.parse().ok()).collect();
    let class = Class::ALL[words[0] as usize].0;
    let seed = words[1] + if words.len() > 2 { EXAMINED } else { 0 };
    let system = systems::draw(class, seed);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{system:#?}")?;
    let record = user::measure(&system, seed);
    let findings = analysis::analyze(&record);
    for (i, p) in findings.load_points.iter().enumerate() {
        let t = &p.merged.total;
        writeln!(
            out,
            "{i} {:?} conn {:?} rate {:?} ± {:?} service {:?} runs {} busy {:?}",
            p.parameters,
            p.work.connections,
            p.rate_for_judgement().map(|r| r.0.value.round()),
            p.rate_for_judgement()
                .and_then(|r| r.0.relative())
                .map(|r| (r * 1000.0).round() / 10.0),
            t.data.service.mean_ns.map(|m| (m.value / 1000.0).round()),
            p.runs.len(),
            t.worker_busy_max.map(|b| b.value)
        )?;
    }
    for v in &findings.verdicts {
        writeln!(out, "--- {} evidence-only {} {:?}", v.name, v.is_evidence, v.plateau)?;
        if v.is_evidence {
            continue;
        }
        let g = grading::grade(&system, v, &findings);
        writeln!(out, "{:?} truth {:?} => {:?}\n  {:?}", v.answer, g.truth, g.grade, v.candidates)?;
        for e in &v.evidence {
            writeln!(out, "   {:.2} {:?}", e.strength, e.evidence)?;
        }
        writeln!(out, "next {:?}", v.next)?;
    }
    Ok(())
}
