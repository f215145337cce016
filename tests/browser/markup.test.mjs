// Every generated page is valid HTML and has no accessibility fault that axe finds: folded and unfolded, in light and dark,
// on a screen and on a phone.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";

import { HtmlValidate } from "html-validate";

import { launch, openEverything, openPage } from "./browser.mjs";

const directory = process.env.REPORT_DIR;
assert.ok(directory, "REPORT_DIR must be the directory with the reports");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const validator = new HtmlValidate({
  extends: ["html-validate:recommended"],
  rules: {
    // A custom property carries a number from Rust to the style sheet.
    "no-inline-style": ["error", { allowedProperties: ["--higher", "--columns"] }],
    // The title names the target and the experiment, which may be long.
    "long-title": "off",
    // Templates leave spaces at the ends of lines.
    "no-trailing-whitespace": "off",
  },
});

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

async function axeFaults(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"] }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160))}`);
}

const pages = readdirSync(directory).filter((name) => name.endsWith(".html"));
assert.ok(pages.length >= 6, `${pages}`);
for (const name of pages) {
  describe(name, () => {
    test("is valid HTML", async () => {
      const report = await validator.validateFile(path.join(directory, name));
      const faults = report.results.flatMap((result) => result.messages);
      assert.deepEqual(faults.map(({ ruleId, line, message }) => `${line}: ${ruleId}: ${message}`), []);
    });

    test("has no fault that axe finds", async () => {
      const url = pathToFileURL(path.join(directory, name)).href;
      const wide = { width: 1400, height: 900 };
      for (const [colorScheme, viewport] of [["light", wide], ["dark", { width: 420, height: 900 }]]) {
        const { context, page } = await openPage(browser, url, { colorScheme, viewport, bypassCSP: true });
        if (colorScheme === "light") assert.deepEqual(await axeFaults(page), [], "folded");
        await openEverything(page);
        assert.deepEqual(await axeFaults(page), [], `${colorScheme}, ${viewport.width} pixels wide`);
        await context.close();
      }
    });
  });
}
