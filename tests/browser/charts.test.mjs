// Marks in charts, in light and dark mode; saving charts; several records on one page; printing. run.sh generates the
// pages in REPORT_DIR.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { fitsPhoneAndPaper, launch, openPage } from "./browser.mjs";

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

// The chart of the figure that contains these words.
const chartOf = (page, words) => page.locator("figure", { hasText: words }).first().locator("[data-chart]");

describe("bottleneck", () => {
  test("intervals are bands, a model is a line, a knee is a ring, in light and in dark", async () => {
    for (const [colorScheme, words] of [["light", "#59616b"], ["dark", "#a3abb4"]]) {
      const { context, page, messages } = await openPage(browser, url("bottleneck"), { colorScheme });
      const throughput = await chartOf(page, "Throughput in MiB/s by queue depth").evaluate((node) => {
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
      const rings = await chartOf(page, "Ring: the knee").evaluate(
        (node) => [...node.querySelectorAll('svg path[stroke="#808080"]')].filter((path) => path.getBBox().width < 5).length,
      );
      assert.ok(rings >= 1, "the knee has a ring");
      assert.deepEqual(messages, []);
      await context.close();
    }
  });

  test("a chart is saved as SVG and as PNG", async () => {
    const { context, page, messages } = await openPage(browser, url("bottleneck"), { acceptDownloads: true });
    const figure = page.locator("figure", { hasText: "Throughput in MiB/s by queue depth" }).first();
    for (const [form, beginning] of [["SVG", "<svg"], ["PNG", "\u0089PNG"]]) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        figure.getByRole("button", { name: `Save as ${form}` }).click(),
      ]);
      assert.equal(download.suggestedFilename(), `throughput-by-queue-depth.${form.toLowerCase()}`);
      const saved = readFileSync(await download.path());
      assert.equal(saved.subarray(0, 4).toString("latin1"), beginning);
      assert.ok(saved.length > 3000, `${form}: ${saved.length} bytes`);
    }
    assert.deepEqual(messages, []);
    await context.close();
  });
});

describe("several records", () => {
  test("each record has its evidence collapsed, and a link into it expands it", async () => {
    const { context, page, messages, requests } = await openPage(browser, url("several"));
    assert.ok(statSync(file("several")).size < 4e6, "a report is smaller than 4 MB");
    assert.equal(await page.locator("details.evidence[open]").count(), 0);
    const links = page.getByRole("navigation", { name: "Sections of B" }).getByRole("link", { name: "Curves" });
    await links.focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("details.evidence[open]").length === 1);
    const drawn = page.locator("section[aria-labelledby=r2-curves] [data-chart] svg");
    await drawn.first().waitFor();
    await page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) details.open = true;
    });
    await page.waitForFunction(() =>
      [...document.querySelectorAll("[data-chart]")].every((node) => node.querySelector("svg")),
    );
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

describe("paper", () => {
  test("sixty runs are printed on few pages", async () => {
    for (const name of ["paper", "four-corners"]) {
      const { context, page, messages } = await openPage(browser, url(name));
      const pdf = await page.pdf({ preferCSSPageSize: true });
      const pages = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
      assert.ok(pages <= 21, `${name}: ${pages} pages`);
      assert.deepEqual(messages, []);
      await context.close();
    }
  });

  test("omitted sections are listed in print, and expanded ones collapse again afterwards", async () => {
    const { context, page } = await openPage(browser, url("four-corners"));
    const open = () => page.evaluate(() => document.querySelectorAll("details[open]").length);
    const before = await open();
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.ok((await open()) > before, "the table of runs is expanded");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await open(), before);
    await page.emulateMedia({ media: "print" });
    assert.ok(await page.getByText("Not printed").first().isVisible());
    assert.equal(await page.locator(".aside:visible").count(), 0);
    await context.close();
  });
});
