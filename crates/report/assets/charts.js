// Draws the charts of a report with ECharts. The options are in the page; this script decides when a chart is drawn,
// and in which theme and size.
(() => {
  "use strict";
  const { options, themes } = JSON.parse(document.getElementById("chart-data").textContent);
  // "auto", "light", "dark" or "print".
  const theme = document.documentElement.dataset.theme;
  const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
  const printing = window.matchMedia("print");
  // The size of a chart on an A4 page in CSS pixels, in the proportions of print.css. Charts side by side are drawn larger
  // and scaled down, so that their labels fit.
  function paperSize(node) {
    const higher = parseInt(node.style.getPropertyValue("--higher"), 10) || 0;
    const tall = node.classList.contains("tall");
    const wide = node.closest(".lead, .across") && !node.closest(".time");
    if (wide) return tall ? { width: 860, height: 375 } : { width: 670, height: 305 + higher };
    return { width: 480, height: tall ? 385 : 290 + higher };
  }
  let onPaper = theme === "print";
  // The chart of each node, with the look (theme and size) in which it was drawn.
  const drawn = new Map();

  // The 95 % confidence interval of a point or a bar: x, y, low, high, index and number of bars side by side.
  function interval(params, api) {
    const [x, low, high, index, count] = [0, 2, 3, 4, 5].map((dimension) => api.value(dimension));
    const top = api.coord([x, high]);
    // A lower end that a logarithmic axis does not have is below the frame, which clips it.
    const foot = api.coord([x, low > 0 ? low : api.value(1) * 1e-6]);
    if (foot[1] - top[1] < 3) return null;
    const aside = count > 0 ? api.barLayout({ count, barMaxWidth: 56 })[index].offsetCenter : 0;
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

  // The confidence intervals of a line as one shape, drawn with its first point: x, y, low, high of each.
  function band(params, api) {
    if (params.context.drawn) return null;
    params.context.drawn = true;
    const indices = [...Array(params.dataInsideLength).keys()];
    const edge = (dimension) =>
      indices.map((index) => {
        const value = api.value(dimension, index);
        return api.coord([api.value(0, index), value > 0 ? value : api.value(1, index) * 1e-6]);
      });
    const points = [...edge(3), ...edge(2).reverse()];
    return { type: "polygon", shape: { points }, style: { fill: api.visual("color"), opacity: 0.2 } };
  }

  // The spread of repeats: x, minimum, quartiles and maximum, index and number of boxes side by side.
  function quartiles(params, api) {
    const [x, index, count] = [0, 6, 7].map((dimension) => api.value(dimension));
    const [low, first, median, third, high] = [1, 2, 3, 4, 5].map((dimension) => api.coord([x, api.value(dimension)]));
    const { offsetCenter, width } = api.barLayout({ count, barMaxWidth: 28 })[index];
    const [at, half] = [low[0] + offsetCenter, width / 2];
    const stroke = api.visual("color");
    const line = (x1, y1, x2, y2, lineWidth) => ({
      type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth, fill: null },
    });
    return {
      type: "group",
      children: [
        line(at, high[1], at, third[1], 1.5),
        line(at, first[1], at, low[1], 1.5),
        {
          type: "rect",
          shape: { x: at - half, y: third[1], width, height: first[1] - third[1] },
          style: { stroke, lineWidth: 1.5, fill: stroke, fillOpacity: 0.2 },
        },
        line(at - half, median[1], at + half, median[1], 3),
      ],
    };
  }

  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  // All values at one time: `12.5 s`, then `data: 16,384 IOPS` and so on.
  function valuesAt({ series, yAxis }, params) {
    const number = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 });
    const line = ({ marker, seriesName, seriesIndex, value }) => {
      const { unit, yAxisIndex } = series[seriesIndex];
      // An axis of one word is named after its unit.
      const { name } = yAxis[yAxisIndex];
      const words = unit || (name.includes(" ") ? "" : name);
      return `${marker}${escaped(seriesName)}: ${number(value[1])} ${escaped(words)}`;
    };
    const shown = params.filter(({ value }) => Number.isFinite(value[1]));
    return [`${number(params[0].value[0])} s`, ...shown.map(line)].join("<br>");
  }

  function textColour() {
    return getComputedStyle(document.body).color;
  }

  // Adds what depends on the look, and the functions that JSON cannot contain.
  function completed(option, look) {
    const palette = (look.dark ? themes.dark : themes.light).color;
    // Small multiples have fewer columns on a narrow screen.
    if (option.narrow && look.width < 600) option = { ...option, ...option.narrow };
    // Numbers on an axis in thousands or millions: 16k.
    for (const axis of [...option.xAxis, ...option.yAxis]) {
      if (!axis.magnitude) continue;
      const [divisor, suffix] = axis.magnitude;
      axis.axisLabel.formatter = (value) =>
        value === 0 ? "0" : (value / divisor).toLocaleString("en", { maximumSignificantDigits: 4 }) + suffix;
    }
    // A narrow screen has no room for a legend of many rows.
    if (option.legend) option.legend.type = look.width < 480 ? "scroll" : "plain";
    if (option.tooltip.trigger === "axis") option.tooltip.formatter = (params) => valuesAt(option, params);
    // Paper has no slider.
    if (option.dataZoom) option.dataZoom[0].show = !look.paper;
    for (const series of option.series) {
      if (series.renderItem === "interval") series.renderItem = interval;
      if (series.renderItem === "band") series.renderItem = band;
      if (series.renderItem === "quartiles") series.renderItem = quartiles;
      // A workload has the same colour in every chart.
      if (series.colour !== undefined) series.color = palette[series.colour % palette.length];
    }
    return option;
  }

  function requiredLook(node) {
    const paper = onPaper || printing.matches;
    const dark = theme === "dark" || (theme === "auto" && darkScheme.matches);
    if (paper) return { paper, dark: false, ...paperSize(node) };
    return { paper, dark, width: node.clientWidth, height: node.clientHeight };
  }

  function draw(node, look) {
    drawn.get(node)?.chart.dispose();
    const palette = look.dark ? themes.dark : themes.light;
    const chart = echarts.init(node, palette, { renderer: "svg", width: look.width, height: look.height });
    chart.setOption(completed(options[node.dataset.chart], look));
    // Draw now: a page that is being printed has no next frame.
    chart.getZr().flush();
    node.querySelector("svg").setAttribute("viewBox", `0 0 ${look.width} ${look.height}`);
    drawn.set(node, { chart, look });
  }

  // Draws visible charts whose look has changed. It may be called any number of times, because browsers send different
  // events before and after printing.
  function refresh() {
    for (const node of document.querySelectorAll("[data-chart]")) {
      if (node.closest("details:not([open])")) continue;
      const look = requiredLook(node);
      const last = drawn.get(node)?.look;
      if (last?.dark !== look.dark || last?.width !== look.width || last?.height !== look.height) draw(node, look);
    }
  }

  function download(url, name) {
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
  }

  // Saves the chart as shown, on the page's background; PNG at twice its size.
  function save(node, form) {
    const chart = drawn.get(node).chart;
    const background = getComputedStyle(document.body).backgroundColor;
    const svg = chart.getDataURL({ type: "svg", backgroundColor: background });
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
      context.fillStyle = background;
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
  // Opens the folded section that a link leads to.
  function openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target?.scrollIntoView();
  }
  // Details that are closed on the screen and open on paper.
  const folded = [];
  function unfold() {
    for (const details of document.querySelectorAll("details[data-paper]:not([open])")) {
      details.open = true;
      folded.push(details);
    }
  }
  if (theme === "print") unfold();
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", refresh);
  }
  darkScheme.addEventListener("change", refresh);
  printing.addEventListener("change", refresh);
  window.addEventListener("resize", refresh);
  window.addEventListener("hashchange", openTarget);
  window.addEventListener("beforeprint", () => {
    onPaper = true;
    unfold();
    refresh();
  });
  window.addEventListener("afterprint", () => {
    onPaper = theme === "print";
    if (!onPaper) for (const details of folded.splice(0)) details.open = false;
    refresh();
  });
  openTarget();
  refresh();
})();
