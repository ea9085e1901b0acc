// The attention page in a tab: opening and closing it, what is chosen, and the numbers that it shows.
import assert from "node:assert/strict";
import { resolve } from "node:path";

/** A function that opens a page in a tab of the browser. */
export const driver = (browser) => async (path, hash = "", width = 1280) => {
  const page = await browser.page();
  await page.send("Emulation.setScrollbarsHidden", { hidden: true });
  await page.send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
  await page.send("Page.navigate", { url: `file://${resolve(path)}${hash}` });
  await page.until('document.readyState === "complete" && document.getElementById("main")?.childElementCount > 0');
  page.path = path;
  page.tabs = await page.evaluate('[...document.querySelectorAll("[role=tab]")].map((tab) => tab.id.slice(4))');
  return page;
};

export async function done(page) {
  assert.deepEqual(page.complaints, [], page.path);
  assert.deepEqual(page.requests.filter((url) => !url.startsWith("data:") &&
    !url.startsWith(`file://${resolve(page.path)}`) &&
    url !== "about:blank"), [], "nothing is asked for");
  await page.browser.send("Target.closeTarget", { targetId: page.target });
}

export const active = (page) => page.evaluate(`document.activeElement.id ||
  document.activeElement.getAttribute("aria-label") || document.activeElement.textContent`);
export const inView = (selector) => `document.querySelector(${JSON.stringify(`#view ${selector}`)})`;
export const go = (page, tab) => page.evaluate(`document.getElementById("tab-${tab}").click()`);
export const setHash = (page, hash) => page.evaluate(`new Promise((done) => {
  if (location.hash === ${JSON.stringify(hash)}) return done();
  addEventListener("hashchange", () => setTimeout(done), { once: true });
  location.hash = ${JSON.stringify(hash)};
})`);
export const hashOf = async (page) =>
  Object.fromEntries(new URLSearchParams((await page.evaluate("location.hash")).slice(1)));
export const panel = (page) => page.evaluate(`(() => {
  const all = document.querySelector(".panel button");
  if (!all.hidden) all.click();
  return { title: document.querySelector(".panel h2").textContent,
    note: document.querySelector(".panel .note").textContent,
    rows: [...document.querySelectorAll(".panel tbody tr")].map((tr) => ({ row: Number(tr.dataset.row),
      value: Number(tr.dataset.value), text: tr.lastChild.textContent, name: tr.children[1].textContent })) };
})()`);
export const shades = (page, list = ".tokens") =>
  page.evaluate(`[...document.querySelectorAll("#view ${list}")].map((box) =>
  [...box.querySelectorAll("[role=option]")].map((node) => ({ row: Number(node.dataset.row),
    value: node.dataset.value === "" ? null : Number(node.dataset.value), label: node.getAttribute("aria-label"),
    shade: getComputedStyle(node).backgroundColor })))`);
