//! The file of a baseline: its format, version by version.
//!
//! New reads old, old refuses new. The types are separate from those of `analysis`, so that an
//! analysis can change without its baselines.

use analysis::compare::facts::{Fact, Item};
use analysis::compare::figure::Figure;
use analysis::compare::flaws::{Flaw, FlawKind};
use analysis::compare::host_use::HostUse;
use analysis::compare::side::{PointSide, Repeat, Sample, Side, SideCaveat, Subject};
use metrics::interleaved::Interleaved;
use metrics::warning::Warning;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use workload::interleave::ComparedSide;
use workload::op::OpKind;

use super::Baseline;

/// The version that is written.
pub(super) const VERSION: u32 = 1;

/// The field that every version has.
#[derive(Deserialize)]
pub(super) struct VersionOnly {
    pub(super) fourcorners_baseline: u32,
}

#[derive(Serialize, Deserialize)]
pub(super) struct BaselineFile {
    fourcorners_baseline: u32,
    name: String,
    id: String,
    experiment: String,
    target: String,
    started_unix_ms: u64,
    plan_hash: String,
    interleaved: Option<InterleavedFile>,
    caveats: Vec<CaveatFile>,
    facts: Vec<(Named<Item>, String, String)>,
    load_points: Vec<PointFile>,
}

#[derive(Serialize, Deserialize)]
struct InterleavedFile {
    partner: String,
    side: Named<ComparedSide>,
    first: Vec<Named<ComparedSide>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CaveatFile {
    Interrupted,
    Failed(String),
    Aborted,
    FailedOperations(u64),
}

#[derive(Serialize, Deserialize)]
struct PointFile {
    variant: String,
    parameters: Vec<(String, String)>,
    keys: Vec<(String, String)>,
    flaws: Vec<(Named<FlawKind>, Warning)>,
    cached_share: Option<f64>,
    host: Option<HostFile>,
    subjects: Vec<SubjectFile>,
}

#[derive(Serialize, Deserialize)]
struct HostFile {
    steal: f64,
    others: f64,
    resolution: f64,
}

#[derive(Serialize, Deserialize)]
struct SubjectFile {
    stream: Option<String>,
    operations: Named<&'static str>,
    samples: Vec<SampleFile>,
}

#[derive(Serialize, Deserialize)]
struct SampleFile {
    figure: Named<Figure>,
    main: bool,
    without: u32,
    /// Number, start in milliseconds since 1970, and value.
    repeats: Vec<(u32, u64, f64)>,
    batches: Vec<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    changes_by_plan: bool,
}

impl BaselineFile {
    pub(super) fn of(baseline: &Baseline) -> BaselineFile {
        // Without `..`, so that a new field has to be handled here.
        let Side {
            id,
            name,
            target,
            started_unix_ms,
            plan_hash,
            facts,
            interleaved,
            caveats,
            points,
            // Its load points are compared one by one.
            metric: _,
        } = baseline.side.clone();
        let fact = |Fact { item, key, value }: Fact| (Named(item), key, value);
        BaselineFile {
            fourcorners_baseline: VERSION,
            name: baseline.name.clone(),
            id,
            experiment: name,
            target,
            started_unix_ms,
            plan_hash,
            interleaved: interleaved.map(|Interleaved { partner, side, first }| InterleavedFile {
                partner,
                side: Named(side),
                first: first.into_iter().map(Named).collect(),
            }),
            caveats: caveats.into_iter().map(caveat_file).collect(),
            facts: facts.into_iter().map(fact).collect(),
            load_points: points.into_iter().map(point_file).collect(),
        }
    }

    pub(super) fn baseline(self) -> Baseline {
        let fact =
            |(item, key, value): (Named<Item>, String, String)| Fact { item: item.0, key, value };
        let side = Side {
            id: self.id,
            name: self.experiment,
            target: self.target,
            started_unix_ms: self.started_unix_ms,
            plan_hash: self.plan_hash,
            facts: self.facts.into_iter().map(fact).collect(),
            interleaved: self.interleaved.map(|one| Interleaved {
                partner: one.partner,
                side: one.side.0,
                first: one.first.into_iter().map(|side| side.0).collect(),
            }),
            caveats: self.caveats.into_iter().map(caveat).collect(),
            points: self.load_points.into_iter().map(point).collect(),
            metric: None,
        };
        Baseline { name: self.name, side }
    }
}

fn caveat_file(caveat: SideCaveat) -> CaveatFile {
    match caveat {
        SideCaveat::Interrupted => CaveatFile::Interrupted,
        SideCaveat::Failed { reason } => CaveatFile::Failed(reason),
        SideCaveat::Aborted => CaveatFile::Aborted,
        SideCaveat::FailedOperations(count) => CaveatFile::FailedOperations(count),
    }
}

fn caveat(caveat: CaveatFile) -> SideCaveat {
    match caveat {
        CaveatFile::Interrupted => SideCaveat::Interrupted,
        CaveatFile::Failed(reason) => SideCaveat::Failed { reason },
        CaveatFile::Aborted => SideCaveat::Aborted,
        CaveatFile::FailedOperations(count) => SideCaveat::FailedOperations(count),
    }
}

fn point_file(point: PointSide) -> PointFile {
    let PointSide { variant, parameters, keys, subjects, flaws, cached_share, host } = point;
    PointFile {
        variant,
        parameters,
        keys,
        flaws: flaws.into_iter().map(|Flaw { kind, warning }| (Named(kind), warning)).collect(),
        cached_share,
        host: host.map(|HostUse { steal, others, resolution }| HostFile {
            steal,
            others,
            resolution,
        }),
        subjects: subjects.into_iter().map(subject_file).collect(),
    }
}

fn point(point: PointFile) -> PointSide {
    let flaw = |(kind, warning): (Named<FlawKind>, Warning)| Flaw { kind: kind.0, warning };
    PointSide {
        variant: point.variant,
        parameters: point.parameters,
        keys: point.keys,
        subjects: point.subjects.into_iter().map(subject).collect(),
        flaws: point.flaws.into_iter().map(flaw).collect(),
        cached_share: point.cached_share,
        host: point.host.map(|HostFile { steal, others, resolution }| HostUse {
            steal,
            others,
            resolution,
        }),
    }
}

fn subject_file(Subject { stream, operations, samples }: Subject) -> SubjectFile {
    let samples = samples.into_iter().map(sample_file).collect();
    SubjectFile { stream, operations: Named(operations), samples }
}

fn sample_file(
    Sample { figure, main, repeats, without, batches, changes_by_plan }: Sample,
) -> SampleFile {
    SampleFile {
        figure: Named(figure),
        main,
        without,
        repeats: repeats
            .into_iter()
            .map(|Repeat { number, began_unix_ms, value }| (number, began_unix_ms, value))
            .collect(),
        batches,
        changes_by_plan,
    }
}

fn subject(SubjectFile { stream, operations, samples }: SubjectFile) -> Subject {
    let sample = |sample: SampleFile| Sample {
        figure: sample.figure.0,
        main: sample.main,
        repeats: sample
            .repeats
            .into_iter()
            .map(|(number, began_unix_ms, value)| Repeat { number, began_unix_ms, value })
            .collect(),
        without: sample.without,
        batches: sample.batches,
        changes_by_plan: sample.changes_by_plan,
    };
    Subject { stream, operations: operations.0, samples: samples.into_iter().map(sample).collect() }
}

/// A value that is stored by its name.
struct Named<T>(T);

/// Values with names.
trait Names: Copy + 'static {
    fn all() -> Vec<Self>;
    fn name(self) -> String;
}

impl Names for Item {
    fn all() -> Vec<Item> {
        Item::ALL.to_vec()
    }
    fn name(self) -> String {
        Item::name(self).to_owned()
    }
}

impl Names for Figure {
    fn all() -> Vec<Figure> {
        Figure::ALL.to_vec()
    }
    fn name(self) -> String {
        Figure::name(self).to_owned()
    }
}

impl Names for FlawKind {
    fn all() -> Vec<FlawKind> {
        FlawKind::ALL.to_vec()
    }
    fn name(self) -> String {
        FlawKind::name(self).to_owned()
    }
}

impl Names for ComparedSide {
    fn all() -> Vec<ComparedSide> {
        ComparedSide::BOTH.to_vec()
    }
    fn name(self) -> String {
        self.label().to_string()
    }
}

/// Groups of operations: reads and writes together, or one kind.
impl Names for &'static str {
    fn all() -> Vec<&'static str> {
        std::iter::once("data").chain(OpKind::ALL.map(OpKind::name)).collect()
    }
    fn name(self) -> String {
        self.to_owned()
    }
}

impl<T: Names> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0.name())
    }
}

impl<'de, T: Names> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Named<T>, D::Error> {
        let found = String::deserialize(from)?;
        T::all().into_iter().find(|one| one.name() == found).map(Named).ok_or_else(|| {
            let names: Vec<String> = T::all().into_iter().map(T::name).collect();
            D::Error::custom(format!("`{found}` is unknown; there are {}", names.join(", ")))
        })
    }
}
