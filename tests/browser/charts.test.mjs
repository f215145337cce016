// Marks in charts, in light and dark mode; saving charts; several records on one page. run.sh generates the
// pages in REPORT_DIR.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { fitsPhoneAndPaper, launch, openEverything, openPage } from "./browser.mjs";

const directory = process.env.REPORT_DIR;
assert.ok(directory, "REPORT_DIR must be the directory with the reports");
const file = (name) => path.join(directory, `${name}.html`);
const url = (name) => pathToFileURL(file(name)).href;

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const chartOf = (page, name) => page.locator(`[data-name="${name}"]`);

describe("bottleneck", () => {
  test("intervals are bands, a model is a line, a knee is a ring, in light and in dark", async () => {
    for (const [colorScheme, words] of [["light", "#59616b"], ["dark", "#a3abb4"]]) {
      const { context, page, messages } = await openPage(browser, url("bottleneck"), { colorScheme });
      await openEverything(page);
      const throughput = await chartOf(page, "throughput-by-queue-depth").evaluate((node) => {
        const paths = [...node.querySelectorAll("svg path")];
        const wide = (path) => path.getBBox().width > 100;
        const filled = (path) => !["none", null, "transparent"].includes(path.getAttribute("fill"));
        return {
          bands: paths.filter((path) => wide(path) && filled(path) && path.getAttribute("fill-opacity") === "0.2").length,
          models: paths.filter((path) => wide(path) && path.getAttribute("stroke-dasharray")?.split(",").length === 4)
            .length,
          numbers: node.querySelector("svg text").getAttribute("fill"),
        };
      });
      assert.deepEqual(throughput, { bands: 1, models: 1, numbers: words });
      const rings = await chartOf(page, "overview-latency").evaluate(
        (node) => [...node.querySelectorAll('svg path[stroke="#808080"]')].filter((path) => path.getBBox().width < 5).length,
      );
      assert.ok(rings >= 1, "the knee has a ring");
      assert.deepEqual(messages, []);
      await context.close();
    }
  });

  test("a chart is saved as SVG and as PNG", async () => {
    const { context, page, messages } = await openPage(browser, url("bottleneck"), { acceptDownloads: true });
    const figure = page.locator("figure", { has: chartOf(page, "overview-throughput") });
    for (const [form, beginning] of [["SVG", "<svg"], ["PNG", "\u0089PNG"]]) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        figure.getByRole("button", { name: `Save as ${form}` }).click(),
      ]);
      assert.equal(download.suggestedFilename(), `overview-throughput.${form.toLowerCase()}`);
      const saved = readFileSync(await download.path());
      assert.equal(saved.subarray(0, 4).toString("latin1"), beginning);
      assert.ok(saved.length > 3000, `${form}: ${saved.length} bytes`);
    }
    assert.deepEqual(messages, []);
    await context.close();
  });
});

describe("several records", () => {
  test("each record is folded, and a link to it unfolds it", async () => {
    const { context, page, messages, requests } = await openPage(browser, url("several"));
    assert.ok(statSync(file("several")).size < 4e6, "a report is smaller than 4 MB");
    assert.equal(await page.locator("details.fold[open]").count(), 0);
    await page.evaluate(() => (location.hash = "r2-record"));
    await page.waitForFunction(() => document.querySelectorAll("details.fold[open]").length === 1);
    await page.locator("details.fold[open] [data-chart] svg").first().waitFor();
    await openEverything(page);
    const unnamed = await page.locator("[data-chart]:not([aria-label])").count();
    assert.equal(unnamed, 0, "every chart has a description");
    const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((node) => node.id));
    assert.equal(new Set(ids).size, ids.length, "anchors are unique");
    assert.deepEqual(messages, []);
    assert.deepEqual(requests, []);
    await context.close();
  });

  test("the page fits a phone and paper", () =>
    fitsPhoneAndPaper(browser, url("several")));
});
