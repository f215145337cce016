// What a reader sees first: the verdict, the cards and two charts fit a screen, a phone and the first printed page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { launch, openEverything, openPage, overflow } from "./browser.mjs";

const directory = process.env.REPORT_DIR;
const pictures = process.env.PICTURE_DIR;
assert.ok(directory && pictures, "REPORT_DIR must have the reports; pictures are written to PICTURE_DIR");
const url = (name) => pathToFileURL(path.join(directory, `${name}.html`)).href;
const picture = (name) => path.join(pictures, name);
const screen = { width: 1400, height: 900 };

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

async function pagesPrinted(page, file) {
  const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true, path: file });
  return pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
}

// The lower end of an element in the layout of a page, in A4 pages without their margins.
const pagesHigh = (page, selector) =>
  page.locator(selector).first().evaluate((node) => (node.getBoundingClientRect().bottom + scrollY) / ((297 - 24) * (96 / 25.4)));

describe("first screen", () => {
  for (const name of ["four-corners", "emulated", "bottleneck", "troubled"]) {
    test(`the verdict, the cards and both charts of ${name} are visible at 1400 x 900`, async () => {
      const { context, page, messages } = await openPage(browser, url(name), { viewport: screen });
      for (const part of ["h1", ".verdict", ".card", ".lead svg"]) {
        const all = await page.locator(part).all();
        assert.ok(all.length > 0, part);
        for (const one of all) {
          const box = await one.boundingBox();
          assert.ok(box.y >= 0 && box.y + box.height <= screen.height, `${part} ends at ${box.y + box.height}`);
        }
      }
      const charts = await page.locator(".lead .chart").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
      assert.equal(charts.length, 2);
      assert.equal(charts[0].top, charts[1].top, "side by side");
      await page.screenshot({ path: picture(`${name}-screen.png`) });
      assert.deepEqual(messages, []);
      await context.close();
    });
  }

  test("its numbers are those of the export", async () => {
    const exported = JSON.parse(readFileSync(path.join(directory, "four-corners.json"), "utf8"));
    const { context, page } = await openPage(browser, url("four-corners"), { viewport: screen });
    const cards = await page.locator(".card").allInnerTexts();
    assert.equal(cards.length, exported.summary.curves.length);
    for (const [index, { curve, highest_point }] of exported.summary.curves.entries()) {
      const { name, points } = exported.curves[curve];
      assert.ok(cards[index].includes(name), cards[index]);
      const { data } = exported.load_points[points[highest_point].load_point].merged.total;
      const peaks = [data.achieved_rate_ops_per_sec.value, data.throughput_bytes_per_sec.value / 2 ** 20];
      const shown = Number(cards[index].match(/\n([\d,.]+) (IOPS|MiB\/s)/)[1].replaceAll(",", ""));
      assert.ok(peaks.some((peak) => Math.abs(peak - shown) <= 0.005 * peak), `${shown} of ${peaks}`);
    }
    await context.close();
  });

  test("a link to a folded section unfolds it", async () => {
    const { context, page } = await openPage(browser, url("four-corners"), { viewport: screen });
    assert.equal(await page.locator("details.fold[open]").count(), 0);
    await page.getByRole("link", { name: "warnings" }).first().click();
    await page.waitForFunction(() => document.querySelector("#warnings").closest("details").open);
    await context.close();
  });

  for (const name of ["four-corners", "emulated", "troubled", "several"]) {
    test(`${name} fits 420 pixels, folded and unfolded, in the dark`, async () => {
      const viewport = { width: 420, height: 900 };
      const { context, page } = await openPage(browser, url(name), { viewport, colorScheme: "dark" });
      assert.ok((await overflow(page)) <= 0, "the page scrolls horizontally");
      const cards = await page.locator(".card:visible").evaluateAll((all) => all.map((card) => card.getBoundingClientRect().x));
      assert.equal(new Set(cards).size, Math.min(cards.length, 1), "the cards are stacked");
      await page.screenshot({ path: picture(`${name}-420.png`), fullPage: true });
      await openEverything(page);
      assert.ok((await overflow(page)) <= 0, "the unfolded page scrolls horizontally");
      await context.close();
    });
  }
});

describe("paper", () => {
  for (const name of ["four-corners", "paper", "emulated"]) {
    test(`${name} has at most six pages, the first of which is the first screen`, async () => {
      const { context, page, messages } = await openPage(browser, url(name), { viewport: { width: 690, height: 1032 } });
      const pages = await pagesPrinted(page, picture(`${name}.pdf`));
      assert.ok(pages <= 6, `${pages} pages`);
      await page.emulateMedia({ media: "print" });
      await page.waitForFunction(() => document.querySelectorAll(".lead [data-chart] svg").length === 2);
      assert.ok((await pagesHigh(page, ".screen")) <= 1, "the first screen is higher than a page");
      await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
      assert.ok(await page.locator("#results").isVisible(), "the table is printed");
      assert.ok(await page.locator("#environment").isVisible(), "folded sections are printed");
      assert.deepEqual(messages, []);
      await context.close();
    });
  }

  test("omitted charts are listed in print, and unfolded sections fold again afterwards", async () => {
    const { context, page } = await openPage(browser, url("four-corners"));
    const open = () => page.evaluate(() => document.querySelectorAll("details[open]").length);
    const before = await open();
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({ media: "print" });
    assert.ok((await open()) > before, "sections are unfolded");
    assert.ok(await page.getByText("Not printed").first().isVisible());
    assert.equal(await page.locator(".aside:visible").count(), 0);
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await open(), before);
    await context.close();
  });
});

describe("tooltips", () => {
  // What the chart shows where the pointer is.
  async function tooltip(page, name, [x, y]) {
    const chart = page.locator(`[data-name="${name}"]`);
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    const shown = chart.locator("> div").nth(1);
    await shown.waitFor({ state: "visible" });
    return shown.innerText();
  }

  test("a point has its exact value with unit and interval, and a time has all values with units", async () => {
    const { context, page } = await openPage(browser, url("four-corners"), { viewport: screen });
    // The centre of a symbol below the legend.
    const point = await page.locator('[data-name="overview-throughput"]').evaluate((node) => {
      const chart = node.getBoundingClientRect();
      const boxes = [...node.querySelectorAll("svg path")].map((path) => path.getBoundingClientRect());
      const symbol = boxes.find(({ top, width, height }) => top > chart.top + 70 && width > 4 && width < 14 && height > 4);
      const centre = [symbol.x + symbol.width / 2 - chart.x, symbol.y + symbol.height / 2 - chart.y];
      return [centre[0] / chart.width, centre[1] / chart.height];
    });
    assert.match(await tooltip(page, "overview-throughput", point), /queue depth \d+: [\d.,]+ MiB\/s \(95 % CI [\d.,]+ to [\d.,]+\)/);
    await page.evaluate(() => (location.hash = "time"));
    await page.locator('[data-name="over-time-random-read-8-kib"]').scrollIntoViewIfNeeded();
    const values = await tooltip(page, "over-time-random-read-8-kib", [0.5, 0.2]);
    assert.match(values, /^[\d.]+ s\n/);
    for (const unit of ["IOPS", "MiB/s", "ms"]) assert.ok(values.includes(` ${unit}`), `${unit}: ${values}`);
    await context.close();
  });
});
