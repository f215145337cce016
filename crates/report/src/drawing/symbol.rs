//! The symbols of points, which distinguish series where colours do not: in grey, or for readers who
//! cannot tell two colours apart.

/// A symbol, around the point 0, 0.
pub(crate) struct Symbol {
    /// Its name in ECharts, or its path.
    pub(crate) echarts: &'static str,
    /// The path in a picture, about 10 pixels high.
    pub(crate) path: &'static str,
}

/// Six shapes. With seven colours, 42 series differ in colour or shape.
const SYMBOLS: [Symbol; 6] = [
    Symbol { echarts: "circle", path: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z" },
    Symbol { echarts: "rect", path: "M-4 -4h8v8h-8z" },
    Symbol { echarts: "triangle", path: "M0 -5l5 9h-10z" },
    Symbol { echarts: "diamond", path: "M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z" },
    Symbol { echarts: "path://M-5 -4h10l-5 9z", path: "M-5 -4h10l-5 9z" },
    Symbol {
        echarts: "path://M-2 -5h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
        path: "M-2 -5h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
    },
];

/// The symbol of a series by the index of its name, see [`super::Chart::names`].
pub(crate) fn symbol(index: usize) -> &'static Symbol {
    &SYMBOLS[index % SYMBOLS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::theme::LIGHT;

    #[test]
    fn colour_and_symbol_together_distinguish_as_many_series_as_a_chart_has() {
        let looks = (0..42).map(|index| (LIGHT.series[index % 7], symbol(index).path));
        let looks: std::collections::BTreeSet<_> = looks.collect();
        assert_eq!(looks.len(), 42);
    }
}
