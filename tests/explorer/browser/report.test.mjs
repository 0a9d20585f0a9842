// SPDX-License-Identifier: MIT
// The report in a real browser: on a desk, on a phone, on paper, light and dark. usage: node report.test.mjs REPORT SCREENSHOTS
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {openBrowser} from "./browser.mjs";

const [report, screenshots] = process.argv.slice(2);
fs.mkdirSync(screenshots, {recursive: true});
const {context, close} = await openBrowser();
try {
  const page = await context.newPage();
  const complaints = [];
  page.on("console", message => complaints.push(message.text()));
  page.on("requestfailed", request => complaints.push(request.url()));
  page.on("request", request => { if (!request.url().startsWith("file:")) complaints.push(`asks for ${request.url()}`); });
  await page.goto(pathToFileURL(path.resolve(report)).href);

  for (const collective of ["broadcast", "reduce", "allreduce", "allgather", "gather", "scatter", "scan", "barrier", "sum", "broadcast-of-8-items", "stream-without-end"]) {
    const facts = await page.evaluate(id => {
      const heading = document.getElementById(id) ?? document.querySelector(`h3[id^="${id}-of-"]`);
      if (!heading) return null;
      const titles = [];
      for (let each = heading.nextElementSibling; each && !/^H[23]$/.test(each.tagName); each = each.nextElementSibling) {
        for (const svg of each.querySelectorAll("svg")) {
          const box = svg.getBoundingClientRect();
          titles.push(`${svg.querySelector("title").textContent} ${box.width > 100 && box.height > 50 ? "" : "EMPTY"}`);
        }
      }
      return {verdict: heading.querySelector(".verdict")?.textContent, titles};
    }, collective);
    assert.ok(facts, `no ${collective}`);
    assert.match(facts.verdict, /optimal|above/, collective);
    assert.ok(facts.titles.length >= (collective === "stream-without-end" ? 2 : 3), `${collective}: ${facts.titles}`);
    assert.ok(!facts.titles.some(title => title.includes("EMPTY")), `${collective}: ${facts.titles}`);
    if (collective !== "stream-without-end") assert.ok(facts.titles.some(title => title.includes("plain trees")), `${collective}: compared with plain trees`);
    assert.ok(facts.titles.some(title => title.startsWith("mpi: ")), `${collective}: the library's plot`);
    if (collective === "stream-without-end") assert.ok(facts.titles.some(title => title.startsWith("mpi: stream, delay")), `${collective}: its delay`);
  }
  const light = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number).reduce((a, b) => a + b) / 765);
  for (const [name, width, colorScheme] of [["desk", 1280, "light"], ["desk-dark", 1280, "dark"], ["phone", 390, "light"], ["phone-dark", 390, "dark"]]) {
    await page.setViewportSize({width, height: 900});
    await page.emulateMedia({colorScheme});
    if (width < 600) {
      const card = await page.evaluate(() => { const cell = document.querySelector(".wordy tr:not(:has([data-of=meaning])) td[data-of]"); return getComputedStyle(cell).display + getComputedStyle(cell, "::before").content; });
      assert.match(card, /^block.*:/, `${name}: sentences are cards`);
      const lines = await page.evaluate(() => { const row = document.querySelector(".wordy tr:has([data-of=meaning])"); return row.getBoundingClientRect().height / parseFloat(getComputedStyle(row).lineHeight); });
      assert.ok(lines < 5.5, `${name}: a parameter and its value share a line: ${lines} lines`);
      await page.reload();
      const roots = await page.evaluate(() => [...document.querySelectorAll(".rooted")].map(box => {
        const seen = box.getBoundingClientRect(), root = box.querySelector(".cq-root").getBoundingClientRect();
        return box.scrollWidth <= box.clientWidth || (root.left >= seen.left && root.right <= seen.right && box.scrollLeft > 0);
      }));
      assert.ok(roots.length > 5 && roots.every(each => each), `${name}: wide trees begin at their root: ${roots}`);
      const titles = await page.evaluate(() => [...document.querySelectorAll(".figures > div:has(> svg.large)")].map(box => {
        const seen = box.getBoundingClientRect(), title = box.querySelector(".called").getBoundingClientRect();
        const inside = getComputedStyle(box.querySelector("svg > text[y='26']")).display;
        return title.height > 0 && title.left >= seen.left && title.right <= seen.right && inside === "none";
      }));
      assert.ok(titles.length > 10 && titles.every(each => each), `${name}: titles stay in sight beside what scrolls: ${titles}`);
    }
    const wide = await page.evaluate(() => document.scrollingElement.scrollWidth);
    assert.ok(wide <= width, `${name}: ${wide} wide on a screen of ${width}`);
    assert.ok(colorScheme === "light" ? await light() > 0.9 : await light() < 0.2, `${name}: colours`);
    await page.screenshot({path: path.join(screenshots, `report-${name}.png`), clip: {x: 0, y: 0, width, height: 4000}, fullPage: true});
  }
  await page.emulateMedia({media: "print", colorScheme: "dark"});
  assert.ok(await light() > 0.9, "paper is white, whatever the screen was");
  const paper = 688;  // A4 between the page's own margins
  await page.setViewportSize({width: paper, height: 1000});
  const beyond = await page.evaluate(edge => [...document.querySelectorAll("table, pre, svg")].filter(each => each.getBoundingClientRect().right > edge + 1).map(each => each.textContent.slice(0, 60)), paper);
  assert.deepEqual(beyond, [], "nothing is cut off on paper");
  const pdf = await page.pdf({path: path.join(screenshots, "report.pdf"), format: "A4"});
  assert.ok(pdf.length > 50_000, `a PDF of ${pdf.length} bytes`);
  assert.deepEqual(complaints, []);
  console.log("ok      the report: desk, phone, paper, light and dark");
} finally {
  await close();
}
