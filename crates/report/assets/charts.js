// Draws the charts of a report: takes option objects that were made beforehand and hands them to ECharts. It decides
// only when to draw and in which colours; what is drawn is in the options.
(() => {
  "use strict";
  const { options, themes } = JSON.parse(document.getElementById("charts").textContent);
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");
  // Inner width of A4 with the page's margins, in CSS pixels.
  const printWidth = 670;
  let onPaper = false;
  // Each chart that is drawn, with the look it was drawn in.
  const drawn = new Map();

  function wantedLook(node) {
    const paper = onPaper || printing.matches;
    return { dark: darkness.matches && !paper, width: paper ? printWidth : node.clientWidth };
  }

  function draw(node, look) {
    drawn.get(node)?.chart.dispose();
    const theme = look.dark ? themes.dark : themes.light;
    const chart = echarts.init(node, theme, { renderer: "svg", width: look.width });
    chart.setOption(options[node.dataset.chart]);
    // At once, not with the next frame: a page that is being printed has none.
    chart.getZr().flush();
    drawn.set(node, { chart, look });
  }

  // Draws what can be seen and does not look as it should. Harmless to call again, which matters because browsers
  // differ in which events they send around printing.
  function refresh() {
    for (const node of document.querySelectorAll("[data-chart]")) {
      if (node.closest("details:not([open])")) continue;
      const look = wantedLook(node);
      const had = drawn.get(node)?.look;
      if (had?.dark !== look.dark || had?.width !== look.width) draw(node, look);
    }
  }

  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", refresh);
  }
  darkness.addEventListener("change", refresh);
  printing.addEventListener("change", refresh);
  window.addEventListener("resize", refresh);
  window.addEventListener("beforeprint", () => {
    onPaper = true;
    refresh();
  });
  window.addEventListener("afterprint", () => {
    onPaper = false;
    refresh();
  });
  refresh();
})();
