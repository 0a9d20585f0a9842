// SPDX-License-Identifier: MIT
// The schedule as it is played: ranks on a circle (many: on a disc), messages on their way between them. A rank fills up
// as it receives what it will receive. The ranks of a node stand together, on a disc of their own.

const kMostRanks = 4096;
const kWidth = 640;
const kHeight = 420;

class Animation {
  constructor() {
    this.scene = document.getElementById("scene");
    this.scrub = document.getElementById("scrub");
    this.playing = false;
    this.time = 0;
    this.end = 0;
    document.getElementById("play").addEventListener("click", () => this.toggle());
    document.getElementById("step").addEventListener("click", () => this.jump(Math.floor(this.time) + 1));
    document.getElementById("back").addEventListener("click", () => this.jump(Math.ceil(this.time) - 1));
    this.scrub.addEventListener("input", () => this.jump(Number(this.scrub.value)));
  }

  load(answer, axes) {
    this.pause();
    this.axes = axes;
    this.P = answer.shown.P;
    this.end = Math.max(0, answer.end);
    this.messages = answer.messages.map(([from, to, begin, departs, arrives, available]) => ({from, to, begin, departs, arrives, available}))
      .filter(m => m.from >= 0 && m.to >= 0 && m.from < this.P && m.to < this.P)
      .sort((a, b) => a.begin - b.begin);
    this.boards = answer.boards.map(([rank, doing, begin, end]) => ({rank, doing, begin, end})).sort((a, b) => a.begin - b.begin);
    this.expected = new Map();
    for (const m of this.messages) this.expected.set(m.to, (this.expected.get(m.to) || 0) + 1);
    for (const b of this.boards) if (b.doing === "read") this.expected.set(b.rank, (this.expected.get(b.rank) || 0) + 1);
    // Whoever is promised more than it gets waits for something that never comes (rule 7).
    const lacking = new Set(answer.verify.violations.filter(v => v.rule === 7 && v.rank >= 0).map(v => v.rank));
    for (const rank of lacking) this.expected.set(rank, (this.expected.get(rank) || 0) + 1);
    this.nodes = answer.shown.nodes;
    document.getElementById("board-hint").hidden = this.nodes.length === 0;
    this.nodeOf = [];
    this.nodes.forEach((first, node) => {
      for (let rank = first; rank < (this.nodes[node + 1] ?? this.P); ++rank) this.nodeOf.push(node);
    });
    this.scrub.max = this.end;
    this.step = Math.max(1, this.end / 2000);
    this.late = question().late_rank ?? -1;
    this.build(answer);
    // The first look shows messages on their way, not an empty ring.
    this.jump(this.begun ? Math.min(this.time, this.end) : Math.floor(this.end / 2));
    this.begun = true;
  }

  // Where a node is, and how large: on a circle, many on a disc.
  disc(node) {
    const N = this.nodes.length;
    if (N === 1) return [kWidth / 2, kHeight / 2, 150];
    if (N <= 24) {
      const angle = 2 * Math.PI * node / N - Math.PI / 2;
      return [kWidth / 2 + 235 * Math.cos(angle), kHeight / 2 + 155 * Math.sin(angle), Math.min(50, 480 / N)];
    }
    const radius = Math.sqrt((node + 0.5) / N);
    return [kWidth / 2 + 295 * radius * Math.cos(node * 2.399963), kHeight / 2 + 190 * radius * Math.sin(node * 2.399963), 195 / Math.sqrt(N)];
  }

  place(rank) {
    if (this.nodes.length > 0) {
      const node = this.nodeOf[rank];
      const [x, y, size] = this.disc(node);
      const n = (this.nodes[node + 1] ?? this.P) - this.nodes[node];
      const lane = rank - this.nodes[node];
      if (n === 1) return [x, y];
      const angle = 2 * Math.PI * lane / n - Math.PI / 2;
      return [x + 0.66 * size * Math.cos(angle), y + 0.66 * size * Math.sin(angle)];
    }
    if (this.P <= 72) {
      const angle = 2 * Math.PI * rank / this.P - Math.PI / 2;
      return [kWidth / 2 + 250 * Math.cos(angle), kHeight / 2 + 172 * Math.sin(angle)];
    }
    const radius = Math.sqrt((rank + 0.5) / this.P);
    const angle = rank * 2.399963;
    return [kWidth / 2 + 300 * radius * Math.cos(angle), kHeight / 2 + 195 * radius * Math.sin(angle)];
  }

  build(answer) {
    this.scene.replaceChildren();
    this.ranks = [];
    this.drawn = answer.animated && this.P <= kMostRanks;
    this.scene.toggleAttribute("hidden", !this.drawn);
    document.querySelector("#stage .transport").hidden = this.messages.length === 0 && this.boards.length === 0;
    if (!this.drawn) return;
    this.flights = shape("g", {class: "flights"});
    let radius = this.P <= 24 ? 15 : this.P <= 72 ? 9 : Math.max(1.6, 150 / Math.sqrt(this.P) / 2);
    if (this.nodes.length > 0) {
      const most = Math.max(...this.nodes.map((first, node) => (this.nodes[node + 1] ?? this.P) - first));
      const size = this.disc(0)[2];
      radius = Math.max(1.4, Math.min(radius, size * (most === 1 ? 0.66 : 1.7 / Math.max(most, 4))));
      this.nodes.forEach((first, node) => {
        const [x, y, r] = this.disc(node);
        this.scene.append(shape("circle", {class: "node", cx: x, cy: y, r}, `node ${node}`));
      });
    }
    this.scene.append(this.flights);
    for (let rank = 0; rank < this.P; ++rank) {
      const [x, y] = this.place(rank);
      const ring = shape("circle", {class: rank === this.late ? "rank late" : "rank", cx: x, cy: y, r: radius}, `rank ${rank}`);
      const level = shape("circle", {class: "level", cx: x, cy: y, r: 0});
      this.scene.append(ring, level);
      if (this.P <= 40 && (this.nodes.length === 0 || radius >= 8)) {
        const inside = this.nodes.length > 0;
        // Outside its ring, on the line from the middle: names are wider than high.
        const [right, down] = [x - kWidth / 2, y - kHeight / 2];
        const across = Math.hypot(right, down) || 1;
        const away = inside ? 0 : (radius + 12 + 9 * Math.abs(right) / across) / across;
        const name = shape("text", {class: inside ? "name inside" : "name", x: x + right * away, y: y + down * away});
        name.textContent = `P${rank}`;
        this.scene.append(name);
      }
      this.ranks.push({ring, level, x, y, radius});
    }
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this.time >= this.end) this.time = 0;
    this.playing = true;
    this.before = null;
    this.label();
    requestAnimationFrame(now => this.frame(now));
  }

  pause() {
    this.playing = false;
    this.label();
  }

  label() {
    const button = document.getElementById("play");
    button.textContent = this.playing ? "Pause" : "Play";
    button.setAttribute("aria-pressed", String(this.playing));
    document.getElementById("moment").setAttribute("aria-live", this.playing ? "off" : "polite");
  }

  // The whole schedule takes 4 to 15 seconds.
  frame(now) {
    if (!this.playing) return;
    const seconds = Math.min(15, Math.max(4, this.end / 6));
    if (this.before !== null) this.time += (now - this.before) / 1000 * this.end / seconds;
    this.before = now;
    if (this.time >= this.end) {
      this.time = this.end;
      this.pause();
    }
    this.draw();
    if (this.playing) requestAnimationFrame(next => this.frame(next));
  }

  jump(time) {
    this.pause();
    this.time = Math.min(this.end, Math.max(0, time));
    this.draw();
  }

  draw() {
    const now = this.time;
    const shown = Math.floor(now);
    this.scrub.value = shown;
    this.scrub.setAttribute("aria-valuetext", `time ${shown} of ${this.end}`);
    document.getElementById("clock").textContent = `t = ${shown} / ${this.end}`;
    movePlayhead(this.axes, now);
    const received = new Map();
    const sending = new Set();
    const receiving = new Set();
    const lines = [];
    let flying = 0;
    for (const m of this.messages) {
      if (m.begin > now) break;
      if (m.available <= now) received.set(m.to, (received.get(m.to) || 0) + 1);
      else if (m.arrives <= now) receiving.add(m.to);
      if (now < m.departs) sending.add(m.from);
      else if (now < m.arrives) {
        ++flying;
        if (this.drawn && flying <= 2000) lines.push(...this.flight(m, (now - m.departs) / (m.arrives - m.departs)));
      }
    }
    const publishing = new Set();
    const reading = new Set();
    for (const b of this.boards) {
      if (b.begin > now) break;
      if (b.doing === "read" && b.end <= now) received.set(b.rank, (received.get(b.rank) || 0) + 1);
      else if (now < b.end) (b.doing === "read" ? reading : publishing).add(b.rank);
    }
    let complete = 0;
    for (let rank = 0; rank < this.P; ++rank) {
      const all = this.expected.get(rank) || 0;
      const share = all === 0 ? 1 : (received.get(rank) || 0) / all;
      if (share === 1) ++complete;
      const node = this.ranks[rank];
      if (!node) continue;
      node.level.setAttribute("r", share * Math.max(1, node.radius - 2));
      node.ring.classList.toggle("busy-send", sending.has(rank));
      node.ring.classList.toggle("busy-receive", receiving.has(rank));
      node.ring.classList.toggle("busy-publish", publishing.has(rank));
      node.ring.classList.toggle("busy-read", reading.has(rank));
    }
    if (this.drawn) this.flights.replaceChildren(...lines);
    document.getElementById("moment").textContent = this.messages.length === 0 && this.boards.length === 0 && this.end > 0
      ? "Too many messages to play here; the summary has their times."
      : this.drawn || this.P <= kMostRanks
      ? `At ${shown}: ${flying} in flight, ${sending.size} sending, ${receiving.size} receiving${this.nodes.length > 0 ? `, ${publishing.size} publishing, ${reading.size} reading` : ""}; ${complete} of ${this.P} ranks have received all they will.`
      : `Too many ranks to draw; ${complete} of ${this.P} have received all they will at ${shown}.`;
  }

  flight(m, share) {
    const [x1, y1] = this.place(m.from);
    const [x2, y2] = this.place(m.to);
    const x = x1 + (x2 - x1) * share;
    const y = y1 + (y2 - y1) * share;
    return [shape("line", {class: "flight", x1, y1, x2: x, y2: y}), shape("circle", {class: "dot", cx: x, cy: y, r: this.P <= 72 ? 5 : 2.5})];
  }
}
