//! Colours of charts on a light background, on a dark one, and on paper.

/// The background that a report is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The reader's system preference on a screen, light on paper.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
    /// Paper: light, everything expanded, laid out for A4.
    Print,
}

impl Theme {
    /// The name in flags and on the page.
    pub const fn name(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Print => "print",
        }
    }

    /// The colours of pictures.
    pub(crate) const fn palette(self) -> &'static Palette {
        match self {
            Theme::Dark => &DARK,
            Theme::Auto | Theme::Light | Theme::Print => &LIGHT,
        }
    }
}

/// Colours on one background.
pub(crate) struct Palette {
    /// Series, in order.
    pub(crate) series: [&'static str; 7],
    pub(crate) text: &'static str,
    /// Axes and their numbers.
    pub(crate) faint: &'static str,
    /// Grid lines.
    pub(crate) line: &'static str,
    /// The background.
    pub(crate) ground: &'static str,
}

impl Palette {
    /// The colour of a series by the index of its name, see [`super::Chart::names`].
    pub(crate) const fn colour(&self, index: usize) -> &'static str {
        self.series[index % self.series.len()]
    }
}

/// Colours on white that readers with any kind of colour vision can distinguish.
///
/// Source: Okabe and Ito, "Color Universal Design", 2008, without yellow, which is invisible on
/// white.
pub(crate) const LIGHT: Palette = Palette {
    series: ["#0072b2", "#d55e00", "#009e73", "#b0578d", "#c98500", "#3a93c4", "#555555"],
    text: "#1a1d21",
    faint: "#59616b",
    line: "#d8dce2",
    ground: "#ffffff",
};

/// The same on a dark background.
pub(crate) const DARK: Palette = Palette {
    series: ["#56b4e9", "#ff8a4c", "#2fc99c", "#e29ac4", "#f0c14b", "#8fd0f5", "#b5b5b5"],
    text: "#e6e9ec",
    faint: "#a3abb4",
    line: "#363c43",
    ground: "#1d2125",
};

/// Steps from few to many, distinguishable in grey and on both backgrounds.
///
/// Source: matplotlib's `viridis` (Smith and van der Walt, CC0), six of its steps.
pub(crate) const HEAT: [&str; 6] =
    ["#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725"];
