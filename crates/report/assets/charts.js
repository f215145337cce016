// Draws the charts of a report: takes option objects that were made beforehand and hands them to ECharts. It decides
// only when to draw and in which colours; what is drawn is in the options.
(() => {
  "use strict";
  const { options, themes } = JSON.parse(document.getElementById("charts").textContent);
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");
  // Inner width of A4 with the page's margins, in CSS pixels.
  const printWidth = 680;
  const drawn = new Map();

  function draw(node) {
    drawn.get(node)?.dispose();
    const theme = darkness.matches && !printing.matches ? themes.dark : themes.light;
    const width = printing.matches ? printWidth : node.clientWidth;
    const chart = echarts.init(node, theme, { renderer: "svg", width });
    chart.setOption(options[node.dataset.chart]);
    drawn.set(node, chart);
  }

  function drawVisible(root) {
    for (const node of root.querySelectorAll("[data-chart]")) {
      if (!drawn.has(node) && node.clientWidth > 0) draw(node);
    }
  }

  function redraw() {
    for (const node of [...drawn.keys()]) draw(node);
  }

  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => details.open && drawVisible(details));
  }
  darkness.addEventListener("change", redraw);
  printing.addEventListener("change", redraw);
  window.addEventListener("resize", () => {
    if (printing.matches) return;
    for (const [node, chart] of drawn) {
      if (node.clientWidth > 0) chart.resize({ width: node.clientWidth });
    }
  });
  drawVisible(document);
})();
