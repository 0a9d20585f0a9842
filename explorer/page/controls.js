// SPDX-License-Identifier: MIT
// The form, and its two mirrors: the question to the planner and the address of the page.

const field = id => document.getElementById(id);
const numbers = new Map();  // name -> {row, slider, input}
const kOfClusters = ["N", "n", "gamma", "publish", "read"];
let collectives = [];
let shapeShown = "plan";
let file = null;  // {name, text}

function buildNumbers() {
  for (const row of document.querySelectorAll(".number")) {
    const {name, label, least, most, slider: reach, value} = row.dataset;
    row.innerHTML = `<label for="${name}">${label}</label>
      <input type="range" id="${name}-slider" aria-label="${label}, slider" min="${least}" max="${reach}" value="${value}" step="1">
      <input type="number" id="${name}" inputmode="numeric" min="${least}" max="${most}" value="${value}" step="1">`;
    const input = row.querySelector("#" + CSS.escape(name));
    const slider = row.querySelector("[type=range]");
    slider.addEventListener("input", () => {
      input.value = slider.value;
      input.removeAttribute("aria-invalid");
      changed();
    });
    input.addEventListener("input", () => {
      const bad = !input.checkValidity() || input.value === "";
      input.setAttribute("aria-invalid", String(bad));
      if (bad) return showError(`${label}: use a whole number from ${least} to ${most}.`);
      slider.value = input.value;
      changed();
    });
    numbers.set(name, {row, slider, input, fallback: value});
  }
}

function setNumber(name, value) {
  const {slider, input} = numbers.get(name);
  input.value = value;
  slider.value = value;
  input.removeAttribute("aria-invalid");
}

const number = name => Number(numbers.get(name).input.value);
const chosen = () => collectives.find(each => each.name === field("collective").value) || collectives[0];

// Shows only what has a meaning for the choices made so far.
function arrange() {
  const collective = chosen();
  const visible = (name, yes) => { numbers.get(name).row.hidden = !yes; };
  const stream = collective.name === "stream";
  field("collective-hint").textContent = collective.summary + ".";
  visible("k", collective.items || stream);
  visible("root", collective.root);
  visible("operands", collective.operands);
  field("order-row").hidden = !collective.order;
  field("exclusive-row").hidden = !collective.exclusive;
  field("algorithm-row").hidden = !collective.algorithm;
  const cluster = field("cluster").checked;
  if (cluster) field("algorithm-row").hidden = true;
  visible("P", !cluster);
  for (const name of kOfClusters) visible(name, cluster);
  field("cluster-hint").hidden = !cluster;
  for (const option of field("algorithm").options) option.disabled = stream && option.dataset.stream === "false";
  const latency = field("latency").value;
  visible("low", latency !== "exact");
  visible("seed", latency === "uniform" || latency === "adversarial");
  visible("group", latency === "two-level");
  visible("late_rank", field("late").checked);
  visible("late_by", field("late").checked);
}

function question() {
  const collective = chosen();
  const asked = {do: file ? "load" : "plan", latency: field("latency").value, event: field("event").checked,
    low: number("low"), seed: number("seed"), group: number("group"), of: Number(field("of").value) || 0};
  if (field("late").checked) Object.assign(asked, {late_rank: number("late_rank"), late_by: number("late_by")});
  if (file) return Object.assign(asked, {name: file.name, text: file.text});
  Object.assign(asked, {collective: collective.name, L: number("L"), o: number("o"), g: number("g"), shape: shapeShown});
  const cluster = field("cluster").checked;
  for (const name of cluster ? kOfClusters : ["P"]) asked[name] = number(name);
  if (collective.items || collective.name === "stream") asked.k = number("k");
  if (collective.root) asked.root = number("root");
  if (collective.operands) asked.operands = number("operands");
  if (collective.order) asked.commutative = !field("ordered").checked;
  if (collective.exclusive) asked.exclusive = field("exclusive").checked;
  if (!cluster && collective.algorithm && field("algorithm").value) asked.algorithm = field("algorithm").value;
  return asked;
}

// The form as it asks for what a file holds: whoever goes back to planning stays with that machine.
function fill(form) {
  field("collective").value = form.collective;
  field("cluster").checked = "N" in form;
  for (const name of numbers.keys()) if (name in form) setNumber(name, form[name]);
  field("ordered").checked = !form.commutative;
  field("exclusive").checked = form.exclusive;
  field("algorithm").value = "";
  arrange();
}

// Everything that is not as it was at the start, and always the machine.
function address() {
  const words = new URLSearchParams();
  words.set("collective", field("collective").value);
  for (const [name, {row, input, fallback}] of numbers) {
    const machine = ["P", "L", "o", "g", ...kOfClusters].includes(name);
    if (!row.hidden && (machine || input.value !== fallback)) words.set(name, input.value);
  }
  if (field("latency").value !== "exact") words.set("latency", field("latency").value);
  for (const box of ["cluster", "ordered", "exclusive", "event", "late"]) if (field(box).checked) words.set(box, "1");
  if (field("algorithm").value) words.set("algorithm", field("algorithm").value);
  if (shapeShown !== "plan") words.set("shape", shapeShown);
  if (Number(field("of").value)) words.set("of", field("of").value);
  return "#" + words;
}

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const choose = (id, value, otherwise) => {
    const known = [...field(id).options].some(option => option.value === value);
    field(id).value = known ? value : otherwise;
  };
  choose("collective", words.get("collective"), "broadcast");
  choose("latency", words.get("latency"), "exact");
  choose("algorithm", words.get("algorithm"), "");
  for (const [name, {input, fallback}] of numbers) {
    const text = words.get(name);
    const value = text !== null && /^\d{1,10}$/.test(text) ? Number(text) : Number(fallback);
    setNumber(name, value >= Number(input.min) && value <= Number(input.max) ? value : fallback);
  }
  for (const box of ["cluster", "ordered", "exclusive", "event", "late"]) field(box).checked = words.get(box) === "1";
  shapeShown = ["binomial", "chain", "flat", "leaders"].includes(words.get("shape")) ? words.get("shape") : "plan";
  field("of").value = /^\d{1,5}$/.test(words.get("of") || "") ? words.get("of") : 0;
}
