// A browser that talks to nobody: the flags turn off what Chromium sends on its own account.
import assert from "node:assert/strict";

import { chromium } from "playwright-core";

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// Opens a page and notes everything that it logs, throws, or asks for beside itself.
export async function openPage(browser, url, contextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...contextOptions });
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url) requests.push(request.url());
  });
  await page.goto(url, { waitUntil: "load" });
  return { context, page, complaints, requests };
}

// Nothing of the page is cut off at the width of a telephone or of paper, and charts are drawn anew for paper. With
// `picture` the printed look is kept in that file: of the whole page, or of what the selector `of` names.
export async function fitsTelephoneAndPaper(browser, url, { picture, of } = {}) {
  const { context, page, complaints } = await openPage(browser, url, { viewport: { width: 390, height: 800 } });
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok((await overflow()) <= 0, "the page scrolls sideways on a telephone");
  await page.setViewportSize({ width: 690, height: 1000 });
  await page.emulateMedia({ media: "print" });
  if ((await page.locator("[data-chart]").count()) > 0) {
    const drawnForPaper = () => document.querySelector("[data-chart] svg")?.getAttribute("width") === "670";
    await page.waitForFunction(drawnForPaper);
  }
  assert.ok((await overflow()) <= 0, "the page is wider than paper");
  if (picture && of) await page.locator(of).screenshot({ path: picture });
  else if (picture) await page.screenshot({ path: picture, fullPage: true });
  assert.deepEqual(complaints, []);
  await context.close();
}
