// The page of a prediction: its charts show the curve in the colour of the limiting resource, the interval as a band and
// published figures as points, in light and dark mode and on paper. run.sh generates the page in REPORT_DIR.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { fitsPhoneAndPaper, launch, openPage } from "./browser.mjs";

const directory = process.env.REPORT_DIR;
assert.ok(directory, "REPORT_DIR must be the directory with the reports");
const pictures = process.env.PICTURE_DIR ?? mkdtempSync(path.join(tmpdir(), "report-pictures-"));
const url = pathToFileURL(path.join(directory, "prediction.html")).href;

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

// The elements of each chart: bands, lines of the model, words.
const drawn = (page) =>
  page.locator("[data-chart]").evaluateAll((nodes) =>
    nodes.map((node) => {
      const paths = [...node.querySelectorAll("svg path")];
      const wide = (path) => path.getBBox().width > 20;
      return {
        bands: paths.filter((path) => wide(path) && path.getAttribute("fill-opacity") === "0.2").length,
        models: paths.filter((path) => wide(path) && path.getAttribute("stroke-dasharray")?.split(",").length === 4)
          .length,
        words: [...node.querySelectorAll("svg text")].map((text) => text.textContent),
        caption: node.parentElement.querySelector("figcaption").textContent,
        width: node.querySelector("svg").getAttribute("width"),
      };
    }),
  );

describe("prediction", () => {
  test("rate and response time have bands, and each part of a curve names the limiting resource", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const { context, page, messages, requests } = await openPage(browser, url, { colorScheme });
      const charts = await drawn(page);
      assert.equal(charts.length, 2);
      for (const chart of charts) {
        assert.ok(chart.bands >= 1 && chart.models >= 2, `${chart.caption}: ${chart.bands}, ${chart.models}`);
        for (const words of ["few outstanding", "endpoint, ops", "topology's load"]) {
          assert.ok(chart.words.some((text) => text.includes(words)), `${words}: ${chart.words}`);
        }
      }
      assert.ok(charts[0].words.some((text) => text.includes("converted")), "published figures are shown");
      await page.screenshot({ path: path.join(pictures, `prediction-${colorScheme}.png`), fullPage: true });
      assert.deepEqual(messages, []);
      assert.deepEqual(requests, []);
      await context.close();
    }
  });

  test("the page fits a phone and paper", () =>
    fitsPhoneAndPaper(browser, url, { picture: path.join(pictures, "prediction-print.png") }));
});
