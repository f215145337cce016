// A browser without network traffic: the flags turn off Chromium's background requests.
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

// Opens a page and collects its log messages, exceptions, and requests for other resources.
export async function openPage(browser, url, contextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...contextOptions });
  const page = await context.newPage();
  const messages = [];
  const requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) messages.push(message.text());
  });
  page.on("pageerror", (error) => messages.push(String(error)));
  page.on("dialog", (dialog) => {
    messages.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url) requests.push(request.url());
  });
  await page.goto(url, { waitUntil: "load" });
  return { context, page, messages, requests };
}

// How many pixels a page is wider than its window.
export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// Unfolds all sections and waits until their charts are drawn: toggle events are delivered in separate tasks.
export async function openEverything(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  await page.waitForFunction(() =>
    [...document.querySelectorAll("[data-chart]")].every((node) => node.querySelector("svg")),
  );
}

// Checks that the page fits the width of a phone and of paper, and that charts are redrawn for paper. With `picture`, saves
// the print layout to that file: of the whole page, or of the element that the selector `of` matches.
export async function fitsPhoneAndPaper(browser, url, { picture, of } = {}) {
  const { context, page, messages } = await openPage(browser, url, { viewport: { width: 390, height: 800 } });
  assert.ok((await overflow(page)) <= 0, "the page scrolls horizontally on a phone");
  if (of) await openEverything(page);
  await page.setViewportSize({ width: 690, height: 1000 });
  await page.emulateMedia({ media: "print" });
  if ((await page.locator("[data-chart]").count()) > 0) {
    const drawnForPaper = () => ["480", "670"].includes(document.querySelector("[data-chart] svg")?.getAttribute("width"));
    await page.waitForFunction(drawnForPaper);
  }
  assert.ok((await overflow(page)) <= 0, "the page is wider than paper");
  if (picture && of) await page.locator(of).screenshot({ path: picture });
  else if (picture) await page.screenshot({ path: picture, fullPage: true });
  assert.deepEqual(messages, []);
  await context.close();
}
