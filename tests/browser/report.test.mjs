// A report, opened from disk in a real browser: it works without network, shows the numbers of the JSON export, draws
// every chart, and prints. run.sh generates NAME.html and NAME.json in REPORT_DIR for each name below.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { fitsPhoneAndPaper, launch, openEverything, openPage } from "./browser.mjs";

const directory = process.env.REPORT_DIR;
assert.ok(directory, "REPORT_DIR must be the directory with the reports");
const pictures = process.env.PICTURE_DIR ?? mkdtempSync(path.join(tmpdir(), "report-pictures-"));

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

// The number in a cell, or null if it has none.
function numberIn(cell) {
  const text = cell.replaceAll(",", "").replace("%", "").trim();
  return ["", "-", "n/a"].includes(text) ? null : Number(text);
}

// Compares a printed number with the exported one, to half a unit of the last printed digit.
function assertPrinted(cell, value, what) {
  // A half-width above half of its value is printed without a number.
  if (cell.includes("%") && value > 50) {
    assert.equal(cell, ">50 %", `${what}: exported ${value}`);
    return;
  }
  const printed = numberIn(cell);
  if (value === null || value === undefined) {
    assert.equal(printed, null, `${what}: printed "${cell}", exported nothing`);
    return;
  }
  assert.notEqual(printed, null, `${what}: printed "${cell}", exported ${value}`);
  assert.ok(Number.isFinite(printed), `${what}: "${cell}" is not a number`);
  const decimals = cell.replace(/[^0-9.]/g, "").split(".")[1]?.length ?? 0;
  const digits = cell.replace(/[^0-9]/g, "").replace(/^0+/, "").length;
  const required = cell.includes("%") ? 1 : 3;
  assert.ok(Math.abs(value) < 0.005 || digits >= required, `${what}: "${cell}" has too few digits`);
  const tolerance = 0.5000001 * 10 ** -decimals;
  assert.ok(Math.abs(printed - value) <= tolerance, `${what}: printed ${printed}, exported ${value}`);
}

function percentile(operation, name, nsPerUnit) {
  const value = operation.response_time.percentiles.find((p) => p.name === name).value_ns;
  return value === null ? null : value / nsPerUnit;
}

// The rows of the results in their order, from the export alone: for each curve all streams together, then each of
// several streams; for each load point reads and writes together, then each of several kinds of operation.
function expectedRows(document) {
  return document.curves.flatMap((curve) => {
    const points = curve.points.map((point) => ({ loadPoint: point.load_point, ...document.load_points[point.load_point] }));
    const several = points.some((point) => point.merged.streams.length > 1);
    const streams = several ? points[0].merged.streams.map((_, index) => (point) => point.merged.streams[index]) : [];
    return [(point) => point.merged.total, ...streams].flatMap((of) =>
      points.filter(of).flatMap((point) => {
        const stream = of(point);
        const kinds = stream.kinds.length > 1 ? stream.kinds : [];
        const all = stream.offered_rate_ops_per_sec !== null && stream.all_kinds ? [stream.all_kinds] : [];
        const operations = [stream.data, ...kinds, ...all].map((one) => one.operation);
        return operations.map((operation) => ({ loadPoint: point.loadPoint, stream: stream.name, operation }));
      }),
    );
  });
}

// The expected cells of a row, computed from the export.
function expectedCells(document, row, nsPerUnit) {
  const summary = document.load_points[row.loadPoint].merged;
  const total = summary.total.name === row.stream;
  const stream = total ? summary.total : summary.streams.find((s) => s.name === row.stream);
  const whole = row.operation === "data";
  const kinds = [...stream.kinds, ...(stream.all_kinds ? [stream.all_kinds] : [])];
  const operation = whole ? stream.data : kinds.find((k) => k.operation === row.operation);
  const rate = operation.achieved_rate_ops_per_sec;
  const relative = rate?.uncertainty != null && rate.value !== 0 ? (rate.uncertainty / rate.value) * 100 : null;
  const mean = operation.response_time.mean_ns;
  const cpu = summary.process_cpu_ns_per_op;
  return {
    "achieved rate": rate?.value ?? null,
    uncertainty: relative,
    // An operation that moves no data, such as an fsync, has no throughput to print.
    throughput: operation.throughput_bytes_per_sec?.value ? operation.throughput_bytes_per_sec.value / 2 ** 20 : null,
    mean: mean ? mean.value / nsPerUnit : null,
    p50: percentile(operation, "p50", nsPerUnit),
    p99: percentile(operation, "p99", nsPerUnit),
    "p99.9": percentile(operation, "p99.9", nsPerUnit),
    outstanding: whole ? (stream.outstanding_mean_ops?.value ?? null) : null,
    cpu: whole && total ? (cpu ? cpu.value / 1e3 : null) : null,
  };
}

for (const name of ["four-corners", "troubled"]) {
  describe(name, () => {
    const file = path.join(directory, `${name}.html`);
    const url = pathToFileURL(file).href;
    const exported = JSON.parse(readFileSync(path.join(directory, `${name}.json`), "utf8"));

    test("opens without errors and without network requests", async () => {
      const { context, page, messages, requests } = await openPage(browser, url);
      await openEverything(page);
      assert.deepEqual(messages, []);
      assert.deepEqual(requests, []);
      assert.ok(statSync(file).size < 4e6, "a report is smaller than 4 MB");
      assert.equal(await page.locator("h1").count(), 1);
      assert.ok((await page.locator("header").textContent()).includes(exported.name));
      await context.close();
    });

    test("every cell of the results equals the export", async () => {
      const { context, page } = await openPage(browser, url);
      const cells = await page
        .locator("#results tbody tr:has(td)")
        .evaluateAll((found) =>
          found.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
        );
      const unit = await page.locator("#results thead th[scope=colgroup] .unit").textContent();
      const nsPerUnit = { µs: 1e3, ms: 1e6, s: 1e9 }[unit];
      const rows = expectedRows(exported).map((row, index) => ({ ...row, cells: cells[index] }));
      assert.equal(cells.length, rows.length);
      for (const row of rows) {
        const expected = expectedCells(exported, row, nsPerUnit);
        for (const [index, [what, value]] of Object.entries(expected).entries()) {
          assertPrinted(row.cells[index], value, `${row.stream}, ${row.operation}, ${what}`);
        }
        if (row.operation !== "data") continue;
        const codes = exported.load_points[row.loadPoint].warnings;
        const marks = exported.warnings.filter((w) => codes.includes(w.code)).map((w) => w.mark);
        for (const mark of row.cells.at(-1)) assert.ok(marks.includes(mark), `mark ${mark}`);
      }
      const shown = new Set(rows.map((row) => row.loadPoint));
      assert.equal(shown.size, exported.load_points.length, "every load point has a row");
      await context.close();
    });

    test("every warning and the command are on the page", async () => {
      const { context, page } = await openPage(browser, url);
      await openEverything(page);
      const text = await page.locator("main").innerText();
      // Backticks become code, and further lines a list.
      const assertShown = (words) => {
        for (const line of words.replaceAll("`", "").split("\n")) assert.ok(text.includes(line.trim()), line);
      };
      for (const warning of exported.warnings) {
        assertShown(warning.remedy);
        for (const sighting of warning.sightings) assertShown(sighting.found);
      }
      for (const note of exported.notes) assertShown(note);
      for (const entry of exported.environment) assert.ok(text.includes(entry.value), entry.name);
      assert.ok(text.includes(exported.repeat_command));
      await context.close();
    });

    test("every chart has lines and a description", async () => {
      const { context, page } = await openPage(browser, url);
      await openEverything(page);
      const charts = await page.locator("[data-chart]").evaluateAll((nodes) =>
        nodes.map((node) => ({
          label: node.getAttribute("aria-label"),
          caption: node.parentElement.querySelector("figcaption").textContent,
          // Lines are paths without a fill; axes and symbols exist even without data.
          lines: [...node.querySelectorAll("svg path")].filter((p) => {
            const box = p.getBBox();
            return p.getAttribute("fill") === "none" && box.width > 20;
          }).length,
          symbols: node.querySelectorAll("svg path").length,
        })),
      );
      assert.ok(charts.length >= 5);
      for (const chart of charts) {
        assert.ok(chart.lines > 0 || chart.symbols > 3, `nothing drawn: ${chart.caption}`);
        assert.ok(chart.label?.length > 20, `no description: ${chart.caption}`);
        assert.ok(chart.caption.length > 20);
      }
      await context.close();
    });

    test("follows the light and dark preference and prints in light", async () => {
      const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      for (const [colorScheme, expected] of [["light", "rgb(255, 255, 255)"], ["dark", "rgb(20, 23, 26)"]]) {
        const { context, page } = await openPage(browser, url, { colorScheme });
        assert.equal(await background(page), expected);
        await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}.png`), fullPage: true });
        await page.emulateMedia({ media: "print" });
        assert.equal(await background(page), "rgb(255, 255, 255)");
        assert.ok(!(await page.locator("nav").isVisible()), "the navigation is not printed");
        await context.close();
      }
      const { context, page, messages } = await openPage(browser, url);
      const pdf = await page.pdf({ path: path.join(pictures, `${name}.pdf`), preferCSSPageSize: true });
      assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
      assert.deepEqual(messages, []);
      await context.close();
    });

    test("the page fits a phone and paper", () =>
      fitsPhoneAndPaper(browser, url, { picture: path.join(pictures, `${name}-print.png`) }));

    test("can be used with the keyboard and by screen readers", async () => {
      const { context, page } = await openPage(browser, url);
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
      const closed = page.locator("details:not([open]) > summary").first();
      await closed.focus();
      await page.keyboard.press("Enter");
      assert.ok(await page.evaluate(() => document.activeElement.parentElement.open));
      assert.equal(await page.locator("html").getAttribute("lang"), "en");
      const nameless = await page.locator("table th:not([scope])").count();
      assert.equal(nameless, 0, "every table heading has a scope");
      await context.close();
    });
  });
}

describe("emulated", () => {
  test("the volume's limit and delays are lines in the charts", async () => {
    const exported = JSON.parse(readFileSync(path.join(directory, "emulated.json"), "utf8"));
    const { context, page } = await openPage(browser, pathToFileURL(path.join(directory, "emulated.html")).href);
    const limit = exported.emulated_volume.throughput_limit_bytes_per_sec / 2 ** 20;
    await openEverything(page);
    // Horizontal dashed lines, the words at them, and the caption.
    const shown = (name) =>
      page.locator("figure", { has: page.locator(`[data-name="${name}"]`) }).evaluate((figure) => ({
        caption: figure.querySelector("figcaption").textContent,
        words: [...figure.querySelectorAll("svg text")].map((text) => text.textContent).join(),
        lines: [...figure.querySelectorAll("svg path[stroke-dasharray]")].filter((line) => {
          const box = line.getBBox();
          return box.width > 100 && box.height < 1;
        }).length,
      }));
    const throughput = await shown("overview-throughput");
    assert.ok(throughput.caption.includes(`throughput limit, ${limit} MiB/s`), throughput.caption);
    assert.ok(throughput.words.includes(`configured limit, ${limit} MiB/s`), throughput.words);
    assert.equal(throughput.lines, 1);
    const times = await shown("response-time-by-queue-depth");
    assert.ok(times.caption.includes("configured delays"), times.caption);
    assert.ok(times.words.includes("read delay") && times.words.includes("write delay"), times.words);
    assert.equal(times.lines, 2);
    await context.close();
  });
});

describe("published", () => {
  const exported = JSON.parse(readFileSync(path.join(directory, "published.json"), "utf8"));
  const url = pathToFileURL(path.join(directory, "published.html")).href;

  test("a link leads to the figures, and each row has the shares of the export", async () => {
    const { context, page, messages } = await openPage(browser, url);
    await page.getByText("Comparison with published figures").click();
    const section = page.locator("details", { has: page.locator("#published") });
    assert.ok(await section.isVisible());
    const rows = await section.locator("tbody tr").evaluateAll((found) =>
      found.map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    const figures = exported.published.expectations.flatMap((one) => one.figures);
    assert.equal(rows.length, figures.length);
    const assertShare = (cell, share, what) => {
      if (share === null) return assert.equal(cell, "-", what);
      const [printed, unit] = [Number.parseFloat(cell), 100 * share < 9.95 ? 0.05 : 0.5];
      assert.ok(Math.abs(printed - 100 * share) <= unit * 1.000001, `${what}: ${cell}, ${share}`);
    };
    for (const [index, figure] of figures.entries()) {
      const [id, , reached, , unexplained] = rows[index];
      assert.equal(id, figure.id);
      assertShare(reached, figure.measured_over_published, `${id}, of the figure`);
      assertShare(unexplained, figure.unexplained, `${id}, unexplained`);
    }
    assert.deepEqual(messages, []);
    await context.close();
  });

  test("its tables fit a phone and paper", () =>
    fitsPhoneAndPaper(browser, url, {
      picture: path.join(pictures, "published.png"),
      of: "details:has(#published)",
    }));
});
