// SPDX-License-Identifier: MIT
// A reader of the Trace Event format that shares nothing with the writer: is this a file that Perfetto and chrome://tracing
// can open, and does every message leave before it arrives? usage: node trace_events.mjs FILE [least number of messages]
import assert from "node:assert/strict";
import fs from "node:fs";

const [file, least = "0"] = process.argv.slice(2);
const {traceEvents: events, displayTimeUnit} = JSON.parse(fs.readFileSync(file, "utf8"));
assert.ok(["ns", "ms"].includes(displayTimeUnit), "displayTimeUnit");
assert.ok(Array.isArray(events), "traceEvents is a list");

const number = (event, key) => assert.ok(Number.isFinite(event[key]), `${key} of ${JSON.stringify(event)}`);
const names = new Map();  // track -> name
const slices = new Map();  // track -> slices
const flows = new Map();  // id -> {s, f}
for (const event of events) {
  assert.ok(["M", "X", "s", "f"].includes(event.ph), `ph ${event.ph}`);
  assert.equal(typeof event.name, "string");
  number(event, "pid");
  if (event.ph === "M") {
    if (event.name === "thread_name") names.set(event.tid, event.args.name);
    continue;
  }
  number(event, "tid");
  number(event, "ts");
  if (event.ph === "X") {
    number(event, "dur");
    assert.ok(event.dur > 0, "a slice without length cannot be seen");
    if (!slices.has(event.tid)) slices.set(event.tid, []);
    slices.get(event.tid).push(event);
    continue;
  }
  if (!flows.has(event.id)) flows.set(event.id, {});
  assert.ok(!(event.ph in flows.get(event.id)), `flow ${event.id} has two ends of kind ${event.ph}`);
  flows.get(event.id)[event.ph] = event;
}

const around = event => (slices.get(event.tid) ?? []).find(slice => slice.ts <= event.ts && event.ts <= slice.ts + slice.dur && slice.cat === (event.ph === "s" ? "send" : "receive"));
for (const [id, {s, f}] of flows) {
  assert.ok(s && f, `flow ${id} has one end only`);
  assert.ok(s.ts <= f.ts, `flow ${id} arrives before it leaves`);
  assert.equal(f.bp, "e", "an arrow ends at the slice around it");
  for (const end of [s, f]) {
    const slice = around(end);
    assert.ok(slice, `flow ${id} touches no slice`);
    assert.equal(`rank ${end === s ? slice.args.from : slice.args.to}`, names.get(end.tid).replace(/ (in|out)$/, ""), "the arrow is on its rank's track");
  }
  assert.equal(s.name + s.cat, f.name + f.cat);
}
for (const [track, list] of slices) {
  assert.ok(names.has(track), `track ${track} has no name`);
  list.sort((a, b) => a.ts - b.ts);
  for (let i = 1; i < list.length; ++i) {
    assert.ok(list[i].ts >= list[i - 1].ts + list[i - 1].dur - 1e-6, `slices overlap on ${names.get(track)}: ${JSON.stringify(list.slice(i - 1, i + 1))}`);
  }
}
assert.ok(flows.size >= Number(least), `${flows.size} messages, expected ${least}`);
console.log(`ok: ${flows.size} messages on ${slices.size} tracks`);
