// SPDX-License-Identifier: MIT
// The drawings come from the planner as SVG. Here they are put on the page, and marked: violations, and the moment of
// the animation. Where things are is read off the drawing's own axes.

const kSvg = "http://www.w3.org/2000/svg";

function shape(name, attributes, title) {
  const element = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (title) {
    const text = document.createElementNS(kSvg, "title");
    text.textContent = title;
    element.append(text);
  }
  return element;
}

function pictureOf(name) {
  return document.querySelector(`figure[data-picture=${name}] .picture`);
}

function showPicture(name, text) {
  const place = pictureOf(name);
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const svg = document.importNode(parsed, true);
  place.replaceChildren(called(svg), svg);
  svg.dataset.whole = svg.getAttribute("viewBox");
  frame(svg);
  // A marker's id must be unique in the page.
  const head = svg.querySelector("marker");
  if (head) {
    head.id = `cq-head-${name}`;
    for (const line of svg.querySelectorAll("[marker-end]")) line.setAttribute("marker-end", `url(#${head.id})`);
  }
  if (name === "tree") scrollToRoot(place);
}

const phone = matchMedia("(max-width: 760px)");
phone.addEventListener("change", () => document.querySelectorAll(".picture svg").forEach(frame));

// How much of a drawing is shown: all of it. On a phone, where its title stands above it, only what is drawn: the title may be twice as wide.
function frame(svg) {
  let [left, top, right, bottom] = svg.dataset.whole.split(" ").map(Number);
  if (phone.matches) {
    const boxes = [...svg.children].filter(part => part.getBBox && !part.matches("defs, .cq-bg")).map(part => part.getBBox());
    const seen = boxes.filter(box => box.width > 0 || box.height > 0);
    if (seen.length > 0) {
      top = seen.reduce((least, box) => Math.min(least, box.y), bottom) - 8;
      right = Math.min(right, seen.reduce((most, box) => Math.max(most, box.x + box.width), 0) + 8);
    }
  }
  svg.setAttribute("viewBox", [left, top, right, bottom - top].join(" "));
  svg.setAttribute("width", right);
  svg.setAttribute("height", bottom - top);
  svg.style.setProperty("--least", `${0.55 * right}px`);  // what still can be read
}

// On a phone the title and the legend stay in sight while the drawing scrolls under them.
function called(svg) {
  const words = [...svg.querySelectorAll("text[x='24']:is([y='26'], [y='44'], [y='46'])")].map(text => text.textContent);
  const line = document.createElement("p");
  line.className = "called";
  line.append(words[0] ?? "");
  if (words[1]) line.append(Object.assign(document.createElement("span"), {textContent: words[1]}));
  return line;
}

// A tree that is larger than its box opens with its root in sight, which is drawn first: on top, or at the left where there are many ranks.
function scrollToRoot(place) {
  const title = place.querySelector("svg rect title");
  if (!title) return;
  const root = title.parentElement.getBoundingClientRect();
  const seen = place.getBoundingClientRect();
  if (root.left < seen.left || root.right > seen.right) place.scrollLeft += root.left + root.width / 2 - seen.left - seen.width / 2;
  if (root.top < seen.top || root.bottom > seen.bottom) place.scrollTop += root.top + root.height / 2 - seen.top - seen.height / 2;
}

// The chart's axes: time to x, rank to y. Null for a summary.
function chartAxes() {
  const svg = pictureOf("chart").querySelector("svg");
  if (!svg) return null;
  const rows = new Map();
  const marks = [];
  for (const text of svg.querySelectorAll("text.cq-dim")) {
    const words = text.textContent;
    if (/^P\d+$/.test(words)) rows.set(Number(words.slice(1)), Number(text.getAttribute("y")) - 3.8);
    else if (/^-?\d+$/.test(words) && text.getAttribute("text-anchor") === "middle") {
      marks.push([Number(words), Number(text.getAttribute("x"))]);
    }
  }
  if (rows.size === 0 || marks.length < 2) return null;
  const [t0, x0] = marks[0];
  const [t1, x1] = marks.find(([t]) => t !== t0) || [];
  if (t1 === undefined) return null;
  const ys = [...rows.values()];
  return {
    svg,
    x: time => x0 + (time - t0) * (x1 - x0) / (t1 - t0),
    y: rank => rows.get(rank),
    top: Math.min(...ys) - 16,
    bottom: Math.max(...ys) + 16,
  };
}

function movePlayhead(axes, time) {
  if (!axes) return;
  let line = axes.svg.querySelector(".playhead");
  if (!line) {
    line = shape("line", {class: "playhead", y1: axes.top, y2: axes.bottom});
    axes.svg.append(line);
  }
  const x = axes.x(time);
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

// Rings where rules are broken: at rank and time in the chart, around the rank in the tree and the table.
function markViolations(violations, axes) {
  const group = shape("g", {class: "marks"});
  violations.forEach((violation, number) => {
    if (!axes) return;
    if (violation.send) {
      const [from, to, begin, end] = violation.send;
      if (axes.y(from) !== undefined && axes.y(to) !== undefined) {
        group.append(shape("line", {class: "markline", "data-number": number, x1: axes.x(begin), y1: axes.y(from), x2: axes.x(end), y2: axes.y(to)}, violation.text));
      }
    }
    if (axes.y(violation.rank) !== undefined) {
      group.append(shape("circle", {class: "mark", "data-number": number, cx: axes.x(violation.time), cy: axes.y(violation.rank), r: 11}, violation.text));
    }
  });
  if (axes) axes.svg.append(group);
  markRanks("tree", violations, rect => {
    const title = rect.querySelector("title");
    const found = title && /^rank (\d+):/.exec(title.textContent);
    return found ? Number(found[1]) : null;
  });
  markRanks("table", violations, rect => {
    const title = rect.querySelector("title");
    const found = title && /^P(\d+) at/.exec(title.textContent);
    return found ? Number(found[1]) : null;
  });
}

function markRanks(name, violations, rankOf) {
  const svg = pictureOf(name).querySelector("svg");
  if (!svg) return;
  const marked = new Map(violations.map((violation, number) => [violation.rank, {violation, number}]));
  const group = shape("g", {class: "marks"});
  for (const rect of svg.querySelectorAll("rect")) {
    const found = marked.get(rankOf(rect));
    if (!found) continue;
    const value = key => Number(rect.getAttribute(key));
    group.append(shape("rect", {class: "mark", "data-number": found.number, x: value("x") - 3, y: value("y") - 3,
      width: value("width") + 6, height: value("height") + 6, rx: value("rx") + 3}, found.violation.text));
  }
  svg.append(group);
}

function saveText(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The drawing as a file: without the playhead, with marks in a colour of their own.
function svgFile(name) {
  const copy = pictureOf(name).querySelector("svg").cloneNode(true);
  copy.querySelectorAll(".playhead").forEach(line => line.remove());
  const [, , width, height] = copy.dataset.whole.split(" ");
  for (const [key, value] of Object.entries({viewBox: copy.dataset.whole, width, height})) copy.setAttribute(key, value);
  copy.removeAttribute("data-whole");
  copy.removeAttribute("style");
  copy.querySelectorAll(".mark, .markline").forEach(mark => {
    mark.setAttribute("style", "fill:none;stroke:#cf222e;stroke-width:3");
  });
  return new XMLSerializer().serializeToString(copy);
}
