// SPDX-License-Identifier: MIT
// Chromium, a page of the explorer in it, and what every test needs: waiting for the planner, collecting complaints.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {createRequire} from "node:module";

const {chromium} = createRequire(path.join(process.env.CHASQUI_NODE_MODULES ?? process.cwd(), "x"))("playwright-core");

export async function openBrowser() {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "chasqui-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHASQUI_CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    chromiumSandbox: false,
    acceptDownloads: true,
    viewport: {width: 1280, height: 900},
    colorScheme: "light",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
  });
  context.setDefaultTimeout(300000);
  const close = async () => {
    await context.close();
    fs.rmSync(profile, {recursive: true, force: true});
  };
  return {context, close};
}

export class Explorer {
  constructor(page, url) {
    this.page = page;
    this.url = url;
    this.complaints = [];
    page.on("console", message => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.on("pageerror", error => this.complaints.push(String(error)));
  }

  static async open(context, url, hash = "") {
    const explorer = new Explorer(await context.newPage(), url);
    await explorer.page.bringToFront();
    const response = await explorer.page.goto(url + hash);
    if (response && !response.ok()) throw new Error(`the page came with status ${response.status()}`);
    await explorer.settled();
    return explorer;
  }

  // Until the planner has answered and nothing is being asked.
  async settled(timeout = 300000) {
    await this.page.waitForFunction(() => Number(document.body.dataset.answers) >= 1 &&
      document.getElementById("busy").textContent === "", null, {polling: 100, timeout});
  }

  // Does something and waits for the answer it causes.
  async after(action) {
    const before = await this.page.evaluate(() => Number(document.body.dataset.answers || 0));
    await action();
    await this.page.waitForFunction(n => Number(document.body.dataset.answers) > n, before, {polling: 100});
    await this.settled();
  }

  type(name, value) { return this.after(() => this.page.fill("#" + name, String(value))); }
  slide(name, value) {
    return this.after(() => this.page.locator(`#${name}-slider`).evaluate((slider, v) => {
      slider.value = v;
      slider.dispatchEvent(new Event("input", {bubbles: true}));
    }, value));
  }
  choose(id, value) { return this.after(() => this.page.selectOption("#" + id, value)); }
  check(id, yes = true) { return this.after(() => this.page.setChecked("#" + id, yes)); }
  text(id) { return this.page.textContent("#" + id); }
  async number(id) { return Number(await this.text(id)); }
  count(selector) { return this.page.locator(selector).count(); }
  async error() { return await this.page.isVisible("#error") ? this.text("error") : ""; }

  async load(name, text) {
    await this.after(() => this.page.setInputFiles("#file", {name, mimeType: "application/json", buffer: Buffer.from(text)}));
  }
  async download(selector) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), this.page.click(selector)]);
    return {name: download.suggestedFilename(), text: fs.readFileSync(await download.path(), "utf8")};
  }
}
