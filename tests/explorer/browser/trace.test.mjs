// SPDX-License-Identifier: MIT
// A timeline of a real run in a viewer that somebody else wrote: speedscope, which reads the Trace Event format.
// usage: node trace.test.mjs FOLDER-OF-SPEEDSCOPE TRACE RANKS SCREENSHOT
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import {openBrowser} from "./browser.mjs";

const [folder, trace, ranks, screenshot] = process.argv.slice(2);
const types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"};
const server = http.createServer((question, answer) => {
  const file = path.join(folder, path.basename(new URL(question.url, "http://x").pathname) || "index.html");
  if (!fs.existsSync(file)) return answer.writeHead(404).end();
  answer.writeHead(200, {"content-type": types[path.extname(file)] ?? "application/octet-stream"}).end(fs.readFileSync(file));
});
await new Promise(ready => server.listen(0, "127.0.0.1", ready));
const {context, close} = await openBrowser();
try {
  const page = await context.newPage();
  const complaints = [], said = [];
  page.on("console", message => (message.type() === "error" ? complaints : said).push(message.text()));
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("dialog", dialog => { complaints.push(dialog.message()); dialog.dismiss(); });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.setInputFiles("input[type=file]", trace);
  const title = JSON.parse(fs.readFileSync(trace, "utf8")).otherData.title;
  await page.waitForFunction(words => document.body.innerText.includes(words), title, {polling: 100});
  const shown = await page.evaluate(() => document.body.innerText);
  assert.ok(said.includes("Importing as Trace Event Format profile"), said.join("; "));
  assert.match(shown, new RegExp(`rank 0 \\(tid 0\\) \\(1/${ranks}\\)`), "a track for every rank");
  assert.deepEqual(complaints, []);
  await page.waitForTimeout(500);
  await page.screenshot({path: screenshot});
  console.log(`ok      speedscope shows "${title}"`);
} finally {
  await close();
  server.close();
}
