// The report in headless Chromium: browser_test.mjs WRITE_SITE FOLDER. Exit 77 (skipped) when Chromium or
// playwright-core is not there: `npm install --ignore-scripts playwright-core` here, and Debian's chromium.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [, here, writeSite, folder] = process.argv;
const chromiumPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
function playwright() {
  for (const root of [process.env.PLAYWRIGHT_ROOT, dirname(here), process.cwd()].filter(Boolean)) {
    try { return createRequire(join(root, "x.js"))("playwright-core"); } catch { /* the next place */ }
  }
  return null;
}
const library = playwright();
if (!chromiumPath || !library) {
  console.log("SKIPPED: " + (chromiumPath ? "playwright-core (set PLAYWRIGHT_ROOT to a folder with node_modules)" : "chromium") + " is not installed; the report was not looked at in a browser");
  process.exit(77);
}

execFileSync(writeSite, [folder]);
const site = (page, root = "site") => pathToFileURL(join(folder, root, page)).href;
const browser = await library.chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
let failures = 0, passed = 0;

async function open(url, { width = 1280, scheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
  page.complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) page.complaints.push(message.text()); });
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) page.complaints.push("asked for " + request.url()); });
  page.on("requestfailed", (request) => page.complaints.push("missing " + request.url()));
  await page.goto(url);
  return page;
}
async function test(name, body) {
  try { await body(); ++passed; console.log("ok   " + name); } catch (error) { ++failures; console.log("FAIL " + name + "\n" + error.stack); }
}
const column = (page, table, n) => page.locator(`${table} tbody tr td:nth-child(${n})`).allInnerTexts();
const modelled = "#boards section:has-text('MODELLED')";

await test("the board ranks, sorts by each heading, and says the order to screen readers", async () => {
  const page = await open(site("index.html"));
  assert.deepEqual((await column(page, modelled, 2)).slice(0, 3), ["epsilon", "beta", "gamma"]);
  const head = page.locator(`${modelled} th:has-text("Agent")`);
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(await column(page, modelled, 2), ["alpha", "beta", "epsilon", "gamma", "long"]);
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  assert.deepEqual((await column(page, modelled, 2))[0], "long");
  await page.locator(`${modelled} th:has-text("µs/token") button`).click();
  assert.deepEqual((await column(page, modelled, 2)).slice(0, 3), ["epsilon", "beta", "gamma"]);
  assert.deepEqual(page.complaints, []);
});

await test("the board filters by text, kind and rank; modelled and measured stay apart", async () => {
  const page = await open(site("index.html"));
  assert.equal(await page.locator("#boards section").count() >= 2, true);
  await page.fill("#filter", "beta");
  assert.deepEqual(await column(page, modelled, 2), ["beta"]);
  assert.equal(await page.locator("#boards section:has-text('delta')").isVisible(), false);
  assert.match(await page.innerText("#count"), /1 of 6/);
  await page.fill("#filter", "");
  await page.selectOption("#kind", "measured");
  assert.equal(await page.locator(modelled).first().isVisible(), false);
  assert.equal(await page.locator("#boards section:has-text('delta')").isVisible(), true);
  await page.selectOption("#kind", "");
  await page.check("#ranked");
  assert.equal((await column(page, modelled, 2)).includes("epsilon"), false);
  assert.deepEqual(page.complaints, []);
});

await test("a session opens from the board and shows its best, its charts and its terms", async () => {
  const page = await open(site("index.html"));
  await page.click("a:has-text('beta')");
  await page.waitForSelector("#tiles dd");
  assert.match(await page.innerText("#tiles"), /70\.00/);
  assert.match(await page.innerText("#badges"), /MODELLED/);
  assert.match(await page.innerText("#cost"), /\$0\.25/);
  const painted = await page.evaluate(() => {
    const canvas = document.getElementById("progress");
    return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value);
  });
  assert.equal(painted, true);
  assert.equal(await page.title(), "rmsnorm_linear, beta");
  await page.click("nav a");
  await page.waitForSelector("#boards table");
  assert.deepEqual(page.complaints, []);
});

await test("texts from a trace stay texts", async () => {
  const page = await open(site("index.html", "single"));
  assert.equal(await page.title(), "rmsnorm_linear, alpha");
  await page.selectOption("#event-type", "note");
  assert.match(await page.innerText("#events tbody"), /<\/script><script>document\.title/);
  assert.equal(await page.locator("#events img").count(), 0);
  assert.deepEqual(page.complaints, []);
});

await test("attempts filter by decision, and one shows its source, highlighted, as a diff to its parent", async () => {
  const page = await open(site("index.html", "single"));
  await page.selectOption("#attempt-verdict", "keep");
  assert.deepEqual(await column(page, "#attempts", 2), ["c0", "c2"]);
  await page.locator("#attempts button:has-text('c2')").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#source tr.add");
  assert.match(await page.innerText("#source-count"), /2 lines added, 1 removed/);
  assert.match(await page.innerText("#source tr.del"), /int x = 1;/);
  assert.equal(await page.locator("#source .hljs-keyword").count() > 0, true);
  assert.equal(await page.locator("#source b").count(), 0);
  await page.selectOption("#source-against", "");
  await page.waitForFunction(() => document.querySelectorAll("#source tr").length === 6);
  assert.deepEqual(page.complaints, []);
});

await test("the best kernel's source opens by itself when it comes into view, and not before", async () => {
  const page = await open(site("index.html", "single"));
  assert.equal(await page.locator("#source tr").count(), 0);
  assert.equal(await page.locator("script[src='assets/highlight.js']").count(), 0);
  await page.locator("#source").scrollIntoViewIfNeeded();
  await page.waitForSelector("#source tr.add");
  assert.equal(await page.inputValue("#source-of"), "c2");
  assert.equal(await page.inputValue("#source-against"), "c0");
  assert.deepEqual(page.complaints, []);
});

await test("a session of 10,000 events opens in under two seconds and pages through its events", async () => {
  const started = performance.now();
  const page = await open(site("session-long.html"));
  await page.waitForSelector("#terms dl dt");
  const seconds = (performance.now() - started) / 1000;
  console.log("     opened in " + seconds.toFixed(2) + " s");
  assert.equal(seconds < 2, true, "it took " + seconds);
  assert.match(await page.innerText("#events caption"), /10,000 events/);
  assert.equal(await page.locator("#events tbody tr").count(), 200);
  await page.click("#events button:has-text('Show more')");
  assert.equal(await page.locator("#events tbody tr").count(), 1200);
  await page.fill("#event-filter", "c700");
  assert.equal(await page.locator("#events tbody tr").count(), 8);
  assert.deepEqual(page.complaints, []);
});

for (const width of [360, 768, 1920]) {
  for (const scheme of ["light", "dark"]) {
    await test(`no page is wider than a ${scheme} screen of ${width}, and all is labelled`, async () => {
      for (const [name, root] of [["index.html", "site"], ["session-one.html", "site"]]) {
        const page = await open(site(name, root), { width, scheme });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(overflow <= 0, true, name + " is wider by " + overflow);
        const unnamed = await page.evaluate(() => [...document.querySelectorAll("input,select,button,canvas,[role=region]")].filter((node) =>
          !(node.labels && node.labels.length) && !node.textContent.trim() && !node.getAttribute("aria-label") && !node.getAttribute("aria-labelledby")).map((node) => node.outerHTML));
        assert.deepEqual(unnamed.filter((html) => !html.includes("hidden")), []);
        const contrast = await page.evaluate(worstContrast);
        assert.equal(contrast >= 4.5, true, name + ": contrast " + contrast);
        if (process.env.SHOTS) { mkdirSync(process.env.SHOTS, { recursive: true }); await page.screenshot({ path: join(process.env.SHOTS, `${name}-${width}-${scheme}.png`), fullPage: true }); }
        assert.deepEqual(page.complaints, []);
        await page.close();
      }
    });
  }
}

// Of body text and dimmed text against their grounds.
function worstContrast() {
  const style = getComputedStyle(document.documentElement);
  const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const of = (name) => light(style.getPropertyValue("--" + name).trim());
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  return Math.min(...["ink", "dim", "accent", "good", "bad", "warn"].flatMap((ink) => ["bg", "panel", "head"].map((ground) => ratio(of(ink), of(ground)))));
}

await browser.close();
console.log(`${passed} passed, ${failures} failed`);
process.exit(failures ? 1 : 0);
