// Draws the charts of a report: takes option objects that were made beforehand and hands them to ECharts. It decides
// only when to draw and in which colours; what is drawn is in the options.
(() => {
  "use strict";
  const { options, themes } = JSON.parse(document.getElementById("charts").textContent);
  // "auto", "light", "dark" or "print": what the report was asked to look like.
  const asked = document.documentElement.dataset.theme;
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");
  // Inner width of A4 with the page's margins, in CSS pixels, and the heights of charts there (report.css has the same).
  const printWidth = 670;
  const printHeight = (node) =>
    node.classList.contains("tall") ? 430 : 270 + (parseInt(node.style.getPropertyValue("--higher"), 10) || 0);
  let onPaper = asked === "print";
  // Each chart that is drawn, with the look it was drawn in.
  const drawn = new Map();

  // The interval of 95 % around a point or a bar: x, y, low, high, which of how many bars side by side.
  function interval(params, api) {
    const [x, low, high, which, count] = [0, 2, 3, 4, 5].map((place) => api.value(place));
    const top = api.coord([x, high]);
    // Below what a logarithmic axis has, it is cut off by the frame.
    const foot = api.coord([x, low > 0 ? low : api.value(1) * 1e-6]);
    if (foot[1] - top[1] < 3) return null;
    const aside = count > 0 ? api.barLayout({ count, barMaxWidth: 56 })[which].offsetCenter : 0;
    const at = top[0] + aside;
    const stroke = count > 0 ? textColour(params) : api.visual("color");
    const style = { stroke, lineWidth: 1.5, fill: null };
    const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
    const cap = 5;
    return {
      type: "group",
      children: [
        line(at, top[1], at, foot[1]),
        line(at - cap, top[1], at + cap, top[1]),
        line(at - cap, foot[1], at + cap, foot[1]),
      ],
    };
  }

  // The intervals of a line as one shape, drawn with its first point: x, y, low, high of each.
  function band(params, api) {
    if (params.context.drawn) return null;
    params.context.drawn = true;
    const places = [...Array(params.dataInsideLength).keys()];
    const edge = (dimension) =>
      places.map((place) => {
        const value = api.value(dimension, place);
        // Below what a logarithmic axis has, it is cut off by the frame.
        return api.coord([api.value(0, place), value > 0 ? value : api.value(1, place) * 1e-6]);
      });
    const points = [...edge(3), ...edge(2).reverse()];
    return { type: "polygon", shape: { points }, style: { fill: api.visual("color"), opacity: 0.2 } };
  }

  function textColour() {
    return getComputedStyle(document.body).color;
  }

  // What JSON cannot carry: the functions that series name.
  function completed(option, look) {
    // A legend of many rows has no room on a telephone: there it is leafed through.
    if (option.legend) option.legend.type = look.width < 480 ? "scroll" : "plain";
    // Nobody slides on paper.
    if (option.dataZoom) option.dataZoom[0].show = !look.paper;
    for (const series of option.series) {
      if (series.renderItem === "interval") series.renderItem = interval;
      if (series.renderItem === "band") series.renderItem = band;
    }
    return option;
  }

  function wantedLook(node) {
    const paper = onPaper || printing.matches;
    const dark = asked === "dark" || (asked === "auto" && darkness.matches);
    if (paper) return { paper, dark: false, width: printWidth, height: printHeight(node) };
    return { paper, dark, width: node.clientWidth, height: node.clientHeight };
  }

  function draw(node, look) {
    drawn.get(node)?.chart.dispose();
    const theme = look.dark ? themes.dark : themes.light;
    const chart = echarts.init(node, theme, { renderer: "svg", width: look.width, height: look.height });
    chart.setOption(completed(options[node.dataset.chart], look));
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
      if (had?.dark !== look.dark || had?.width !== look.width || had?.height !== look.height) draw(node, look);
    }
  }

  function download(url, name) {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  }

  // The chart as it stands here, as a picture; PNG at twice its size, on the page's ground.
  function save(node, form) {
    const chart = drawn.get(node).chart;
    const ground = getComputedStyle(document.body).backgroundColor;
    const svg = chart.getDataURL({ type: "svg", backgroundColor: ground });
    const name = `${node.dataset.name}.${form}`;
    if (form === "svg") {
      download(svg, name);
      return;
    }
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = chart.getWidth() * 2;
      canvas.height = chart.getHeight() * 2;
      const context = canvas.getContext("2d");
      context.fillStyle = ground;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      download(canvas.toDataURL("image/png"), name);
    };
    image.src = svg;
  }

  for (const button of document.querySelectorAll("[data-save]")) {
    const node = button.closest("figure").querySelector("[data-chart]");
    button.addEventListener("click", () => save(node, button.dataset.save));
  }
  // What is folded on the screen and stands open on paper.
  const folded = [];
  function unfold() {
    for (const details of document.querySelectorAll("details[data-paper]:not([open])")) {
      details.open = true;
      folded.push(details);
    }
  }
  if (asked === "print") unfold();
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", refresh);
  }
  darkness.addEventListener("change", refresh);
  printing.addEventListener("change", refresh);
  window.addEventListener("resize", refresh);
  window.addEventListener("beforeprint", () => {
    onPaper = true;
    unfold();
    refresh();
  });
  window.addEventListener("afterprint", () => {
    onPaper = asked === "print";
    if (!onPaper) for (const details of folded.splice(0)) details.open = false;
    refresh();
  });
  refresh();
})();
