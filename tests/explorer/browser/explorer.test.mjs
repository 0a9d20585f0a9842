// SPDX-License-Identifier: MIT
// The explorer in a real browser: every control, every collective, files, links, pictures.
// usage: node explorer.test.mjs PAGE SCREENSHOTS [name-part]
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {Explorer, openBrowser} from "./browser.mjs";
import {brightness, checkDrawings, checkTreeNodes} from "./drawings.mjs";

const [page, screenshots, only = ""] = process.argv.slice(2);
const url = page.startsWith("http") ? page : pathToFileURL(path.resolve(page)).href;
fs.mkdirSync(screenshots, {recursive: true});
const shot = (explorer, name, options = {}) => explorer.page.screenshot({path: path.join(screenshots, name + ".png"), fullPage: true, ...options});
const postal = "#collective=broadcast&P=14&L=3&o=0&g=1&k=14";
const tests = {};

tests["the first page is the paper's example"] = async context => {
  const explorer = await Explorer.open(context, url);
  assert.equal(await explorer.number("finish"), 24);
  assert.equal(await explorer.number("bound"), 24);
  assert.match(await explorer.text("optimal"), /Optimal/);
  assert.equal(await explorer.text("verdict"), "legal");
  assert.match(await explorer.text("source"), /universal tree/);
  await checkDrawings(explorer, "first page");
  await checkTreeNodes(explorer, 8);
  assert.equal(await explorer.count("figure[data-picture=chart] rect.cq-send"), 7 + 1, "sends and the legend");
  assert.equal(await explorer.count("figure[data-picture=chart] rect.cq-receive"), 7 + 1);
  assert.equal(await explorer.count("#scene .rank"), 8);
  const [tree, chart, stage] = await explorer.page.$$eval("figure[data-picture=tree], figure[data-picture=chart], #stage",
    all => all.map(each => each.getBoundingClientRect()).map(({left, right, top}) => ({left, right, top})));
  assert.ok(tree.right <= stage.left && chart.right <= stage.left && chart.top < 700, "tree and chart begin on the first screen, beside the animation");
  await shot(explorer, "desktop");
  return explorer;
};

tests["sliders and typed values"] = async context => {
  const explorer = await Explorer.open(context, url);
  for (const name of ["P", "L", "o", "g", "k", "root"]) {
    const before = await explorer.page.innerHTML("figure[data-picture=chart]");
    await explorer.slide(name, 3);
    assert.equal(await explorer.page.inputValue("#" + name), "3", `${name}: the slider moves the number`);
    assert.notEqual(await explorer.page.innerHTML("figure[data-picture=chart]"), before, `${name}: the slider changes the pictures`);
    if (name === "P") await explorer.slide("P", 12);
    const middle = await explorer.page.innerHTML("figure[data-picture=chart]");
    await explorer.type(name, 5);
    assert.equal(await explorer.page.inputValue(`#${name}-slider`), "5", `${name}: the number moves the slider`);
    assert.notEqual(await explorer.page.innerHTML("figure[data-picture=chart]"), middle, `${name}: the number changes the pictures`);
    if (name === "P") await explorer.type("P", 11);
  }
  await explorer.page.fill("#P", "0");
  assert.match(await explorer.error(), /P, processors: use a whole number from 1/);
  assert.equal(await explorer.page.getAttribute("#P", "aria-invalid"), "true");
  assert.ok(!await explorer.page.isVisible("#claim"), "no verdict of the question before");
  await explorer.type("P", 9);
  assert.equal(await explorer.error(), "");
  await explorer.type("root", 50);
  assert.match(await explorer.error(), /root 50 does not exist: ranks are 0\.\.8/);
  return explorer;
};

tests["every collective"] = async context => {
  const explorer = await Explorer.open(context, url, "#collective=broadcast&P=12&L=4&o=0&g=1");
  const names = await explorer.page.$$eval("#collective option", options => options.map(option => option.value));
  assert.deepEqual(names, ["broadcast", "stream", "scatter", "gather", "allgather", "alltoall", "reduce", "allreduce", "reduce-scatter", "scan", "barrier", "sum"]);
  for (const name of names) {
    if (name !== "broadcast") await explorer.choose("collective", name);
    assert.equal(await explorer.error(), "", name);
    assert.equal(await explorer.text("verdict"), "legal", name);
    await checkDrawings(explorer, name);
    assert.ok(await explorer.number("finish") >= await explorer.number("bound"), name);
  }
  assert.ok(await explorer.page.isVisible("#operands"));
  await explorer.slide("operands", 300);
  await explorer.type("operands", 200);
  await explorer.check("ordered");
  assert.equal(await explorer.error(), "");
  await explorer.choose("collective", "scan");
  await explorer.check("exclusive");
  assert.equal(await explorer.text("verdict"), "legal");
  return explorer;
};

tests["named constructions"] = async context => {
  const explorer = await Explorer.open(context, url, "#collective=broadcast&P=10&L=3&o=0&g=1&k=8");
  const names = await explorer.page.$$eval("#algorithm option", options => options.map(option => option.value).filter(Boolean));
  assert.ok(names.length >= 3);
  let planned = 0;
  for (const name of names) {
    await explorer.choose("algorithm", name);
    const error = await explorer.error();
    if (error) {
      assert.doesNotMatch(error, /stopped/, name);
      continue;
    }
    ++planned;
    assert.match(await explorer.text("verdict"), /^legal/, name);
  }
  assert.ok(planned >= 3, `${planned} constructions could plan`);
  return explorer;
};

tests["latency and lateness"] = async context => {
  const explorer = await Explorer.open(context, url, "#collective=allgather&P=9&L=6&o=1&g=2");
  const planned = await explorer.number("played");
  assert.match(await explorer.text("late-note"), /On time/);
  await explorer.choose("latency", "uniform");
  await explorer.check("event");
  await explorer.slide("seed", 9);
  const charts = new Set();
  for (const seed of [1, 2, 3, 4]) {
    await explorer.type("seed", seed);
    charts.add(await explorer.page.innerHTML("figure[data-picture=chart] svg"));
  }
  assert.equal(charts.size, 4, "every seed has a chart of its own");
  await explorer.slide("low", 2);
  await explorer.choose("latency", "two-level");
  await explorer.type("group", 3);
  assert.equal(await explorer.error(), "");
  await explorer.choose("latency", "adversarial");
  assert.ok(await explorer.number("played") >= 1);
  assert.ok((await explorer.text("late-note")).length > 15);
  await explorer.check("event", false);
  await explorer.choose("latency", "exact");
  await explorer.check("late");
  await explorer.type("late_rank", 2);
  await explorer.type("late_by", 30);
  assert.ok(await explorer.number("played") > planned);
  assert.match(await explorer.text("late-note"), /\d+ late/);
  assert.equal(await explorer.count("#scene .rank.late"), 1);
  await shot(explorer, "lateness");
  return explorer;
};

tests["comparison with plain trees"] = async context => {
  const explorer = await Explorer.open(context, url);
  assert.equal(await explorer.count("#rows tr"), 4);
  assert.deepEqual(await explorer.page.$$eval("#rows tr td:nth-child(2)", cells => cells.map(cell => cell.textContent)), ["24", "30", "70", "34"]);
  for (const [shape, finish] of [["chain", 70], ["binomial", 30], ["flat", 34], ["plan", 24]]) {
    await explorer.after(() => explorer.page.click(`#rows button[data-shape=${shape}]`));
    assert.equal(await explorer.number("finish"), finish);
    assert.equal(await explorer.text("verdict"), "legal");
    assert.equal(await explorer.page.getAttribute(`#rows button[data-shape=${shape}]`, "aria-pressed"), "true");
    await checkTreeNodes(explorer, 8);
  }
  for (const [hash, rows] of [["#collective=sum&P=9&L=5&o=2&g=4&operands=80", 4], ["#collective=stream&P=10&L=3&o=0&g=1&k=8", 4],
    ["#collective=allgather&P=6&L=3&o=0&g=1&k=3", 4], ["#collective=alltoall&P=6&L=3&o=1&g=2&k=2", 4],
    ["#collective=reduce-scatter&P=6&L=3&o=1&g=2", 4], ["#collective=scan&P=9&L=3&o=0&g=1", 3]]) {
    await explorer.after(() => explorer.page.evaluate(h => { location.hash = h; }, hash));
    assert.equal(await explorer.error(), "", hash);
    assert.equal(await explorer.count("#rows tr"), 4, hash);
    const shapes = await explorer.page.$$eval("#rows button", buttons => buttons.map(button => button.dataset.shape));
    assert.equal(shapes.length, rows, hash);
    assert.equal(await explorer.count("#rows td.why"), 4 - rows, "a missing tree says why");
    for (const shape of shapes) {
      await explorer.after(() => explorer.page.click(`#rows button[data-shape=${shape}]`));
      assert.equal(await explorer.error(), "", `${hash} ${shape}`);
      assert.equal(await explorer.text("verdict"), "legal", `${hash} ${shape}`);
      await checkDrawings(explorer, `${hash} ${shape}`);
    }
  }
  await shot(explorer, "comparison");
  return explorer;
};

tests["animation"] = async context => {
  const explorer = await Explorer.open(context, url);
  assert.equal(await explorer.text("clock"), "t = 12 / 24", "the first look shows messages on their way");
  await explorer.page.$eval("#scrub", scrub => { scrub.value = 0; scrub.dispatchEvent(new Event("input")); });
  assert.equal(await explorer.text("clock"), "t = 0 / 24");
  await explorer.page.click("#step");
  assert.equal(await explorer.text("clock"), "t = 1 / 24");
  assert.match(await explorer.text("moment"), /1 sending/);
  await explorer.page.click("#step");
  await explorer.page.click("#step");
  assert.equal(await explorer.count("#scene .dot"), 1);
  await explorer.page.click("#back");
  assert.equal(await explorer.text("clock"), "t = 2 / 24");
  await explorer.page.focus("#scrub");
  await explorer.page.keyboard.press("End");
  assert.match(await explorer.text("moment"), /8 of 8 ranks have received all/);
  const xs = await explorer.page.$eval("figure[data-picture=chart] .playhead", line => Number(line.getAttribute("x1")));
  const bars = await explorer.page.$$eval("figure[data-picture=chart] rect.cq-receive", rects => Math.max(...rects.map(rect => Number(rect.getAttribute("x")) + Number(rect.getAttribute("width")))));
  assert.ok(Math.abs(xs - bars) < 2, `the playhead at the end (${xs}) is where the last bar ends (${bars})`);
  // Frames are drawn by hand from here on, at times that no machine can be too slow for: 24 ticks take four seconds.
  await explorer.page.evaluate(() => {
    const waiting = [];
    window.requestAnimationFrame = draw => waiting.push(draw);
    window.drawAt = now => { for (const draw of waiting.splice(0)) draw(now); return waiting.length; };
  });
  await explorer.page.click("#play");
  for (const [now, clock] of [[1000, 0], [2000, 6], [3500, 15]]) {
    assert.equal(await explorer.page.evaluate(at => window.drawAt(at), now), 1, "it goes on");
    assert.equal(await explorer.text("clock"), `t = ${clock} / 24`);
  }
  await explorer.page.click("#play");
  assert.equal(await explorer.page.evaluate(() => window.drawAt(4000)), 0, "nothing more is drawn");
  assert.equal(await explorer.text("clock"), "t = 15 / 24");
  assert.equal(await explorer.page.getAttribute("#play", "aria-pressed"), "false");
  await shot(explorer, "animation", {fullPage: false});
  return explorer;
};

tests["links"] = async context => {
  const first = await Explorer.open(context, url);
  await first.choose("collective", "allreduce");
  await first.type("P", 13);
  await first.check("late");
  await first.choose("latency", "uniform");
  await first.type("seed", 7);
  const hash = new URL(first.page.url()).hash;
  assert.match(hash, /collective=allreduce/);
  const second = await Explorer.open(context, url, hash);
  for (const id of ["P", "seed", "collective", "latency"]) {
    assert.equal(await second.page.inputValue("#" + id), await first.page.inputValue("#" + id), id);
  }
  assert.ok(await second.page.isChecked("#late"));
  assert.equal(await second.text("played"), await first.text("played"));
  await second.page.click("#copy-link");
  await second.page.waitForFunction(() => document.getElementById("copied").textContent !== "");
  await second.after(() => second.page.evaluate(() => { location.hash = "#collective=scatter&P=5&L=2&o=0&g=1&latency=nonsense&late=<b>"; }));
  assert.equal(await second.page.inputValue("#collective"), "scatter");
  assert.equal(await second.error(), "");
  first.complaints.push(...second.complaints);
  return first;
};

tests["files out and in"] = async context => {
  const explorer = await Explorer.open(context, url);
  const saved = await explorer.download("#save-json");
  assert.equal(saved.name, "broadcast-P8.json");
  const schedule = JSON.parse(saved.text);
  assert.equal(schedule.sends.length, 7);
  for (const name of ["tree", "chart", "table"]) {
    const svg = await explorer.download(`figure[data-picture=${name}] .save`);
    assert.equal(svg.name, `broadcast-P8-${name}.svg`);
    const good = await explorer.page.evaluate(text => !new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror"), svg.text);
    assert.ok(good && !svg.text.includes("playhead"), name);
  }
  await explorer.load("good.json", saved.text);
  assert.equal(await explorer.text("verdict"), "legal");
  assert.equal(await explorer.text("file-name"), "good.json");
  assert.equal(await explorer.count(".mark"), 0);

  schedule.sends[3].t += 1;
  schedule.sends[5].from = schedule.sends[5].to === 6 ? 5 : 6;
  await explorer.load("bad.json", JSON.stringify(schedule));
  assert.equal(await explorer.text("verdict"), "illegal");
  assert.ok(!(await explorer.page.innerHTML("figure[data-picture=chart]")).includes("(optimal)"), "nothing illegal is called optimal");
  const listed = await explorer.count("#violation-list li");
  assert.ok(listed >= 1);
  assert.ok(await explorer.count("figure[data-picture=chart] .mark") >= 1, "marked in the chart");
  assert.ok(await explorer.count("figure[data-picture=tree] .mark") >= 1, "marked in the tree");
  assert.ok(await explorer.count("figure[data-picture=table] .mark") >= 1, "marked in the table");
  await explorer.page.click("#violation-list li:first-child button");
  await shot(explorer, "violations");

  const lost = JSON.parse(saved.text);
  lost.sends.splice(lost.sends.findIndex(send => !lost.sends.some(other => other.from === send.to)), 1);
  await explorer.load("lost.json", JSON.stringify(lost));
  await explorer.page.$eval("#scrub", scrub => {
    scrub.value = scrub.max;
    scrub.dispatchEvent(new Event("input"));
  });
  assert.match(await explorer.text("moment"), /; 7 of 8 ranks/, "who never gets the item is never full");

  await explorer.after(() => explorer.page.click("#unload"));
  assert.equal(await explorer.text("verdict"), "legal");
  assert.ok(await explorer.page.isHidden("#file-state"));

  // What is wrong at no rank in particular is marked nowhere.
  const elsewhere = JSON.parse(saved.text);
  Object.assign(elsewhere.machine, {L: 9, o: 1});
  await explorer.load("elsewhere.json", JSON.stringify(elsewhere));
  assert.equal(await explorer.text("verdict"), "illegal");

  // The form says what the file is of, and planning goes on from there.
  await explorer.type("L", 9);
  const other = await explorer.download("#save-json");
  await explorer.type("L", 6);
  await explorer.load("other.json", other.text);
  for (const name of ["L", "L-slider"]) assert.equal(await explorer.page.inputValue("#" + name), "9", name);
  await explorer.after(() => explorer.page.click("#unload"));
  assert.match(await explorer.text("asked"), /L=9/);
  return explorer;
};

tests["bad files give a message"] = async context => {
  const explorer = await Explorer.open(context, url);
  for (const [name, text, message] of [
    ["empty.json", "", /empty\.json/],
    ["prose.json", "the quick brown fox", /prose\.json/],
    ["half.json", "{\"chasqui\":1, \"machine\":{\"P\":8", /half\.json/],
    ["stranger.json", "{\"chasqui\":1,\"colour\":3}", /stranger\.json.*colour/],
    ["huge.json", JSON.stringify({chasqui: 1, machine: {P: 2000000000, L: 1, o: 0, g: 1}, problem: {kind: "broadcast", root: 0, items: 1}, finish: 0, bound: 0, sends: []}), /too large/],
    ["binary.json", "\u0000\u0001\uffff", /binary\.json/],
  ]) {
    await explorer.load(name, text);
    assert.match(await explorer.error(), message, name);
    assert.doesNotMatch(await explorer.error(), /stopped/, name);
  }
  await shot(explorer, "bad-file", {fullPage: false});
  return explorer;
};

tests["two processors and a thousand"] = async context => {
  const explorer = await Explorer.open(context, url, "#collective=broadcast&P=2&L=6&o=2&g=4");
  assert.equal(await explorer.number("finish"), 10);
  await checkDrawings(explorer, "P = 2");
  await checkTreeNodes(explorer, 2);
  await explorer.type("P", 1);
  assert.equal(await explorer.error(), "");
  assert.equal(await explorer.number("finish"), 0);
  await explorer.type("P", 1000);
  assert.equal(await explorer.number("finish"), 70);
  await checkDrawings(explorer, "P = 1000");
  assert.equal(await explorer.count("figure:visible"), 1, "one summary instead of three");
  assert.equal(await explorer.count("#scene .rank"), 1000);
  await explorer.page.focus("#scrub");
  await explorer.page.keyboard.press("End");
  assert.match(await explorer.text("moment"), /1000 of 1000/);
  await explorer.page.evaluate(() => { const s = document.getElementById("scrub"); s.value = 50; s.dispatchEvent(new Event("input")); });
  await shot(explorer, "thousand");
  await explorer.choose("collective", "allgather");
  assert.match(await explorer.error(), /too many for this page/);
  await explorer.choose("collective", "broadcast");
  await explorer.type("P", 512);
  await checkTreeNodes(explorer, 512);
  assert.equal(await explorer.count("figure:visible"), 3);
  return explorer;
};

tests["keyboard and names"] = async context => {
  const explorer = await Explorer.open(context, url);
  await explorer.page.keyboard.press("Tab");
  assert.equal(await explorer.page.evaluate(() => document.activeElement.textContent), "Skip to the results");
  await explorer.page.keyboard.press("Tab");
  assert.equal(await explorer.page.evaluate(() => document.activeElement.id), "theme");
  await explorer.page.keyboard.press("Tab");
  assert.equal(await explorer.page.evaluate(() => document.activeElement.id), "collective");
  await explorer.page.focus("#P-slider");
  await explorer.after(() => explorer.page.keyboard.press("ArrowRight"));
  assert.equal(await explorer.page.inputValue("#P"), "9");
  await explorer.page.focus("#play");
  await explorer.page.keyboard.press("Space");
  assert.equal(await explorer.page.getAttribute("#play", "aria-pressed"), "true");
  const nameless = await explorer.page.evaluate(() => [...document.querySelectorAll("input, select, button, [role=region], svg[role=img]")]
    .filter(each => !each.closest("[hidden]"))
    .filter(each => !(each.getAttribute("aria-label") || each.labels?.length || each.textContent.trim() || each.querySelector("title")))
    .map(each => each.outerHTML.slice(0, 100)));
  assert.deepEqual(nameless, [], "everything has a name for screen readers");
  const repeated = await explorer.page.evaluate(() => {
    const ids = [...document.querySelectorAll("[id]")].map(each => each.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
  });
  assert.deepEqual(repeated, [], "ids are unique");
  return explorer;
};

tests["clusters"] = async context => {
  const explorer = await Explorer.open(context, url, "#collective=broadcast&P=8&L=10&o=1&g=4");
  assert.ok(!await explorer.page.isVisible("#N"));
  await explorer.check("cluster");
  assert.ok(await explorer.page.isVisible("#N") && !await explorer.page.isVisible("#P"));
  assert.equal(await explorer.number("finish"), 20);
  assert.match(await explorer.text("optimal"), /Optimal/);
  assert.match(await explorer.text("construction"), /5 messages, 18 publications and readings/);
  assert.ok(!await explorer.page.isVisible("figure[data-picture=tree]") && !await explorer.page.isVisible("figure[data-picture=table]"));
  const chart = "#show figure[data-picture=chart]";  // beside the animation
  assert.equal(await explorer.count(`${chart} rect.cq-publish`), 6 + 1, "publications and the legend");
  assert.equal(await explorer.count(`${chart} rect.cq-read`), 12 + 1);
  assert.equal(await explorer.count("#scene .node"), 6);
  assert.equal(await explorer.count("#scene .rank"), 18);
  await explorer.page.locator("#scrub").evaluate(scrub => {
    scrub.value = 0;
    scrub.dispatchEvent(new Event("input"));
  });
  assert.match(await explorer.text("moment"), /1 publishing, 0 reading; 1 of 18 ranks/);
  assert.equal(await explorer.count("#scene .busy-publish"), 1);
  assert.deepEqual(await explorer.page.$$eval("#rows th", rows => rows.map(row => row.textContent)), ["Chasqui's plan", "one leader a node"]);
  const widths = () => explorer.page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok((await widths())[0] <= (await widths())[1], "nothing is wider than the window");
  await shot(explorer, "cluster");
  await explorer.after(() => explorer.page.click("#rows button[data-shape=leaders]"));
  assert.equal(await explorer.number("finish"), 26);
  const again = await Explorer.open(context, explorer.page.url());
  assert.equal(await again.number("finish"), 26, "the address has the cluster");
  for (const name of ["N", "n", "gamma", "publish", "read"]) {
    const before = await explorer.page.innerHTML(chart);
    await explorer.slide(name, name === "gamma" ? 4 : 2);
    assert.notEqual(await explorer.page.innerHTML(chart), before, `${name} changes the chart`);
  }
  await explorer.type("read", 99);
  assert.match(await explorer.error(), /read/);
  await explorer.type("read", 1);
  for (const name of ["scatter", "gather", "allgather", "alltoall", "reduce", "allreduce", "reduce-scatter", "scan", "barrier"]) {
    await explorer.choose("collective", name);
    assert.equal(await explorer.error(), "", name);
    assert.equal(await explorer.text("verdict"), "legal", name);
  }
  await explorer.choose("latency", "adversarial");
  assert.ok(await explorer.number("played") >= await explorer.number("finish"));
  await explorer.page.setViewportSize({width: 390, height: 844});
  assert.ok((await widths())[0] <= (await widths())[1], "nor than a phone");
  await shot(again, "cluster-leaders");
  await again.page.setViewportSize({width: 390, height: 844});
  await shot(again, "cluster-phone");
  explorer.complaints.push(...again.complaints);
  return explorer;
};

tests["phone and dark"] = async context => {
  const explorer = await Explorer.open(context, url, postal);
  const light = await brightness(explorer);
  await explorer.page.emulateMedia({colorScheme: "dark"});
  const dark = await brightness(explorer);
  assert.ok(light > 0.9 && dark < 0.2, `light ${light}, dark ${dark}`);
  await shot(explorer, "dark");
  await explorer.page.setViewportSize({width: 390, height: 844});
  const [wide, view] = await explorer.page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok(wide <= view, `the page is ${wide} wide on a screen of ${view}`);
  assert.ok(!await explorer.page.isVisible("#controls"), "on a phone results come first");
  await shot(explorer, "phone-dark");
  const scale = await explorer.page.$eval("figure[data-picture=tree] svg", svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width);
  assert.ok(scale > 0.8, `the tree is drawn at ${scale} of its size: its title needs no room beside it`);
  const whole = await explorer.page.evaluate(() => {
    const [, , width, height] = document.querySelector("figure[data-picture=table] svg").dataset.whole.split(" ").map(Number);
    const saved = new DOMParser().parseFromString(svgFile("table"), "image/svg+xml").documentElement;
    return [[saved.getAttribute("viewBox"), saved.getAttribute("width"), saved.getAttribute("height")].join(), [`0 0 ${width} ${height}`, width, height].join()];
  });
  assert.equal(whole[0], whole[1], "what is saved is the whole drawing");
  await explorer.page.click("#show-controls");
  assert.ok(await explorer.page.isVisible("#P"), "and controls on demand");
  await explorer.page.click("#show-controls");
  await explorer.page.emulateMedia({colorScheme: "light"});
  await shot(explorer, "phone");
  await explorer.page.goto("about:blank");
  await explorer.page.goto(url + "#collective=broadcast&P=64&L=6&o=2&g=4");
  await explorer.settled();
  const [left, root, right] = await explorer.page.$eval("figure[data-picture=tree] .picture", place => {
    const [box, seen] = [place.querySelector("svg rect title").parentElement, place].map(e => e.getBoundingClientRect());
    return [seen.left, box.left + box.width / 2, seen.right];
  });
  assert.ok(left < root && root < right, `the root of a wide tree is at ${root}, its box from ${left} to ${right}`);
  const title = await explorer.page.$eval("figure[data-picture=tree] .called", line => {
    const [box, seen] = [line, line.parentElement].map(e => e.getBoundingClientRect());
    return [line.textContent, box.height > 0 && box.left >= seen.left && box.right <= seen.right];
  });
  assert.match(title[0], /^broadcast on P=64 .*in a node: time/);
  assert.ok(title[1], "the title of a tree that scrolls is in sight");
  await shot(explorer, "phone-wide-tree");
  return explorer;
};

tests["what is seen of large and small drawings"] = async context => {
  const explorer = await Explorer.open(context, url, "#collective=alltoall&P=6&L=6&o=2&g=4");
  const places = () => explorer.page.$eval("figure[data-picture=tree] .picture", place => {
    const [root, svg, seen] = [place.querySelector("svg rect title").parentElement, place.querySelector("svg"), place].map(e => e.getBoundingClientRect());
    return {root: {x: root.left + root.width / 2, y: root.top + root.height / 2}, svg: svg.width, seen};
  });
  const small = await places();
  assert.ok(small.svg <= small.seen.width, `a small tree and its title fit: ${small.svg} in ${small.seen.width}`);
  assert.doesNotMatch(await explorer.text("construction"), /\.\.\./, "dots that end a construction do not meet the next sentence");
  await explorer.page.goto("about:blank");
  await explorer.page.goto(url + "#collective=broadcast&P=200&L=6&o=2&g=4");
  await explorer.settled();
  const {root, seen} = await places();
  assert.ok(seen.left < root.x && root.x < seen.right && seen.top < root.y && root.y < seen.bottom,
    `the root of a tall tree is at ${root.x}, ${root.y}, its box from ${seen.left}, ${seen.top} to ${seen.right}, ${seen.bottom}`);
  assert.ok(await explorer.page.isVisible("#scene") && await explorer.page.isVisible("#play"));
  await explorer.type("P", 100000);
  assert.ok(!await explorer.page.isVisible("#scene") && !await explorer.page.isVisible("#play"), "no empty box where nothing is played");
  return explorer;
};

tests["colours as chosen"] = async context => {
  const explorer = await Explorer.open(context, url);
  const paper = () => explorer.page.$eval("figure[data-picture=chart] rect.cq-bg", rect => getComputedStyle(rect).fill);
  const [light, white] = [await brightness(explorer), await paper()];
  await explorer.page.selectOption("#theme", "dark");
  assert.ok(light > 0.9 && await brightness(explorer) < 0.2, "the page turns dark");
  const black = await paper();
  assert.notEqual(black, white, "and so do the drawings");
  await explorer.type("P", 9);
  assert.equal(await paper(), black, "new drawings too");
  await shot(explorer, "dark-chosen", {fullPage: false});
  const again = await Explorer.open(context, url);
  assert.ok(await brightness(again) < 0.2, "the choice is remembered");
  await again.page.emulateMedia({colorScheme: "dark"});
  await again.page.selectOption("#theme", "light");
  assert.ok(await brightness(again) > 0.9, "light on a dark system");
  await again.page.selectOption("#theme", "");
  assert.ok(await brightness(again) < 0.2, "as the system says");
  explorer.complaints.push(...again.complaints);
  return explorer;
};

const {context, close} = await openBrowser();
let failed = 0;
try {
  for (const [name, test] of Object.entries(tests)) {
    if (!name.includes(only)) continue;
    const begin = Date.now();
    try {
      const explorer = await test(context);
      assert.deepEqual(explorer.complaints, [], "console errors");
      console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      ++failed;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
    for (const each of context.pages().slice(1)) await each.close();
  }
} finally {
  await close();
}
console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
