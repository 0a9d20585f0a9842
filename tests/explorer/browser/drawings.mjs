// SPDX-License-Identifier: MIT
// Structure checks of the drawings: nothing empty, nothing outside the frame, no node upon another.
import assert from "node:assert/strict";

export async function checkDrawings(explorer, what) {
  for (const name of ["tree", "chart", "table"]) {
    const facts = await explorer.page.evaluate(picture => {
      const svg = document.querySelector(`figure[data-picture=${picture}] .picture svg`);
      if (!svg) return null;
      if (picture !== "chart" && svg.closest("figure").hidden) return "summary";
      const frame = svg.getBoundingClientRect();
      const shapes = [...svg.querySelectorAll("rect:not(.cq-bg), path, line, circle, text")].filter(each => !each.closest("defs"));
      const outside = shapes.filter(each => {
        const box = each.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
      });
      return {width: frame.width, height: frame.height, shapes: shapes.length, nan: svg.outerHTML.includes("nan"),
        outside: outside.slice(0, 3).map(each => each.outerHTML.slice(0, 160)), title: svg.querySelector("title")?.textContent};
    }, name);
    assert.ok(facts, `${what}: no ${name}`);
    if (facts === "summary") continue;
    assert.ok(facts.width > 50 && facts.height > 30, `${what}: ${name} is ${facts.width} x ${facts.height}`);
    assert.ok(facts.shapes >= 3, `${what}: ${name} has only ${facts.shapes} shapes`);
    assert.ok(!facts.nan, `${what}: ${name} contains nan`);
    assert.deepEqual(facts.outside, [], `${what}: ${name} draws outside its frame`);
    assert.ok(facts.title, `${what}: ${name} has no title`);
  }
}

export async function checkTreeNodes(explorer, count) {
  const boxes = await explorer.page.evaluate(() =>
    [...document.querySelectorAll("figure[data-picture=tree] rect.cq-node, figure[data-picture=tree] rect.cq-root")].map(each => {
      const box = each.getBoundingClientRect();
      return [box.left, box.top, box.right, box.bottom];
    }));
  assert.equal(boxes.length, count, "nodes of the tree");
  for (let i = 0; i < boxes.length; ++i) {
    for (let j = 0; j < i; ++j) {
      const [a, b] = [boxes[i], boxes[j]];
      const apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
      assert.ok(apart, `nodes ${i} and ${j} of the tree overlap`);
    }
  }
}

// The light of the background, 0 (black) to 1 (white), off a screenshot-free source: the computed style.
export function brightness(explorer) {
  return explorer.page.evaluate(() => {
    const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    return (r + g + b) / 765;
  });
}
