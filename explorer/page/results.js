// SPDX-License-Identifier: MIT
// An answer of the planner, put on the page.

const kShapes = {plan: "Chasqui's plan", binomial: "binomial tree", chain: "chain", flat: "flat tree", leaders: "one leader a node"};
let last = null;

// What stood there before answers another question: it goes.
function showError(text) {
  field("error").textContent = text;
  field("error").hidden = false;
  for (const id of ["claim", "violations", "show", "pictures", "comparison"]) field(id).hidden = true;
}

function say(id, text, mood) {
  field(id).textContent = text;
  field(id).classList.toggle("good", mood === "good");
  field(id).classList.toggle("bad", mood === "bad");
}

function showClaim({shown, claim, verify}) {
  const stream = shown.kind === "stream";
  field("finish-name").textContent = stream ? "Delay of an item" : "Finish";
  say("finish", shown.finish);
  const gap = shown.finish - shown.bound;
  const percent = shown.bound > 0 ? `, ${(100 * gap / shown.bound).toFixed(1)}\u00a0% above it` : "";
  if (!verify.legal && !verify.buffered) say("optimal", "As claimed; the schedule is not legal.");
  else if (gap === 0) say("optimal", "Optimal: equal to the lower bound.", "good");
  else say("optimal", `${gap} more than the bound${percent}.`);
  say("bound", shown.bound);
  say("source", claim ? claim.source : "as the file claims");
  const messages = `${shown.count} messages` + (stream ? " a period" : shown.boards ? `, ${shown.boards} publications and readings` : "");
  const what = shapeShown === "plan" || file ? (claim ? `Construction: ${claim.construction.replace(/\.+$/, "…")}${/\.$/.test(claim.construction) ? " " : ". "}` : "") : `Shown: ${kShapes[shapeShown]}. `;
  field("construction").textContent = `${what}${messages}.`;
  if (verify.legal) say("verdict", "legal", "good");
  else say("verdict", verify.buffered ? "legal with buffers" : "illegal", verify.buffered ? "" : "bad");
  const count = verify.violations.length + verify.omitted;
  say("rules", verify.legal ? `No violation of the ${verify.rules} rules.` : `${count} violation${count === 1 ? "" : "s"} of the ${verify.rules} rules.`);
}

function showPlayed({played}) {
  if (!played) {
    say("played", "–");
    return say("late-note", "Only legal schedules are simulated; the animation shows what the file says.");
  }
  if (played.stuck) {
    say("played", "stuck", "bad");
    return say("late-note", "Somebody waits for what never comes.");
  }
  const late = played.finish - played.planned;
  say("played", played.finish, late > 0 ? "bad" : "");
  const percent = played.planned > 0 && late > 0 ? ` (+${(100 * late / played.planned).toFixed(0)}\u00a0%)` : "";
  const verdict = late > 0 ? `${late} late${percent}.` : late < 0 ? `${-late} early.` : "On time.";
  say("late-note", `${verdict} ${played.note}`);
}

function showViolations({verify}) {
  field("violations").hidden = verify.violations.length === 0;
  const entries = verify.violations.slice(0, 200).map((violation, index) => {
    const entry = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = violation.text;
    button.addEventListener("click", () => {
      document.querySelectorAll(".mark").forEach(mark => mark.classList.toggle("chosen", mark.dataset.number === String(index)));
      const mark = document.querySelector(`figure[data-picture=chart] .mark[data-number="${index}"]`);
      if (mark) mark.scrollIntoView({block: "center", inline: "center"});
    });
    entry.append(button);
    return entry;
  });
  field("violation-list").replaceChildren(...entries);
}

function showComparison({compare, shown}) {
  const cluster = shown.nodes.length > 0;
  field("comparison-name").textContent = cluster ? "Against one leader a node" : "Against trees without a planner";
  field("comparison-hint").hidden = cluster;
  field("comparison").hidden = compare.length < 2;
  if (compare.length < 2) return;
  const longest = Math.max(1, ...compare.map(row => row.played ?? row.finish ?? 0));
  const own = compare[0].played ?? compare[0].finish;
  field("rows").replaceChildren(...compare.map(row => {
    const line = document.createElement("tr");
    if (row.why) {
      line.innerHTML = `<th scope="row">${kShapes[row.shape]}</th><td colspan="5" class="why">none: ${row.why}</td>`;
      return line;
    }
    const time = row.played ?? row.finish;
    const ratio = own > 0 ? (time / own).toFixed(2) + " ×" : "";
    line.innerHTML = `<th scope="row">${kShapes[row.shape]}</th><td>${row.finish}</td><td>${row.played ?? "illegal"}</td>
      <td>${ratio}</td><td class="bar"><span style="width:${(100 * time / longest).toFixed(1)}%"></span></td>
      <td><button type="button" data-shape="${row.shape}" aria-pressed="${row.shape === shapeShown}" aria-label="Draw ${kShapes[row.shape]}">draw</button></td>`;
    return line;
  }));
}

function showAnswer(answer, animation) {
  last = answer;
  field("error").hidden = true;
  for (const id of ["claim", "show", "pictures"]) field(id).hidden = false;
  field("asked").textContent = `${answer.shown.kind}, ${answer.shown.machine}`;
  showClaim(answer);
  showPlayed(answer);
  // A cluster has no tree of messages alone: its chart comes first. A small chart stands under its tree, beside the animation.
  const cluster = answer.shown.nodes.length > 0;
  const chart = pictureOf("chart").closest("figure");
  if (!cluster && answer.shown.P <= 16) pictureOf("tree").closest("figure").after(chart);
  else field(cluster ? "show" : "pictures").prepend(chart);
  field("show").classList.toggle("cluster", cluster);
  for (const name of ["tree", "chart", "table"]) {
    if (!answer.pictures[name]) {
      pictureOf(name).replaceChildren();
      pictureOf(name).closest("figure").hidden = true;
      continue;
    }
    // Too large to draw: one summary is enough.
    pictureOf(name).closest("figure").hidden = name !== "chart" && answer.pictures[name] === answer.pictures.chart;
    showPicture(name, answer.pictures[name]);
  }
  field("of-row").hidden = !(answer.trees >= 2);
  field("of").max = (answer.trees ?? 1) - 1;
  if (answer.trees) document.querySelector("label[for=of]").textContent = answer.tree_of === "item" ? "of item" : answer.tree_of;
  applyTheme();  // the new drawings brought style sheets of their own
  const axes = chartAxes();
  showViolations(answer);
  markViolations(answer.verify.violations, axes);
  showComparison(answer);
  animation.load(answer, axes);
}
