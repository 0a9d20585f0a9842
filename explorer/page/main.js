// SPDX-License-Identifier: MIT
// Joins form, planner and results.

const engine = new Engine();
let animation = null;

async function update() {
  field("busy").textContent = "Planning…";
  const answer = await engine.ask(question());
  if (answer === null) return;
  field("busy").textContent = "";
  document.body.dataset.answers = Number(document.body.dataset.answers || 0) + 1;
  if (answer.error) return showError(answer.error);
  if (file && answer.form) fill(answer.form);
  showAnswer(answer, animation);
}

function changed() {
  arrange();
  if (!file) history.replaceState(null, "", address());
  update();
}

function unload() {
  file = null;
  field("file").value = "";
  field("file-state").hidden = true;
}

async function load(chosenFile) {
  if (!chosenFile) return;
  if (chosenFile.size > 30e6) return showError(`${chosenFile.name}: larger than 30 MB, too large for this page.`);
  file = {name: chosenFile.name, text: await chosenFile.text()};
  field("file-name").textContent = file.name;
  field("file-state").hidden = false;
  shapeShown = "plan";
  update();
}

function listen() {
  for (const id of ["collective", "cluster", "latency", "algorithm", "ordered", "exclusive", "event", "late", "of"]) {
    field(id).addEventListener("input", () => {
      if (id === "cluster") unload();
      if (id === "collective" || id === "cluster") {
        shapeShown = "plan";
        field("of").value = 0;
        field("algorithm").value = "";
      }
      changed();
    });
  }
  field("show-controls").addEventListener("click", () => {
    const open = field("controls").classList.toggle("open");
    field("show-controls").setAttribute("aria-expanded", String(open));
  });
  field("controls").addEventListener("submit", event => event.preventDefault());
  // A change of machine or collective leaves the loaded file.
  for (const name of ["P", ...kOfClusters, "L", "o", "g", "k", "root", "operands"]) numbers.get(name).row.addEventListener("input", unload, true);
  field("collective").addEventListener("input", unload, true);
  field("rows").addEventListener("click", event => {
    const button = event.target.closest("button[data-shape]");
    if (!button) return;
    shapeShown = button.dataset.shape;
    changed();
  });
  field("file").addEventListener("change", () => load(field("file").files[0]));
  field("unload").addEventListener("click", () => {
    unload();
    changed();
  });
  document.body.addEventListener("dragover", event => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.body.addEventListener("dragleave", () => document.body.classList.remove("dragging"));
  document.body.addEventListener("drop", event => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    load(event.dataTransfer.files[0]);
  });
  field("save-json").addEventListener("click", () => last && saveText(last.schedule, `${last.shown.kind}-P${last.shown.P}.json`, "application/json"));
  field("copy-link").addEventListener("click", async () => {
    const link = location.href.split("#")[0] + address();
    try {
      await navigator.clipboard.writeText(link);
      field("copied").textContent = "Copied.";
    } catch {
      field("copied").textContent = link;
    }
  });
  for (const button of document.querySelectorAll("figure .save")) {
    const name = button.closest("figure").dataset.picture;
    button.setAttribute("aria-label", `Save the ${name} as SVG`);
    button.addEventListener("click", () => last && saveText(svgFile(name), `${last.shown.kind}-P${last.shown.P}-${name}.svg`, "image/svg+xml"));
  }
  window.addEventListener("hashchange", () => {
    unload();
    readAddress();
    arrange();
    update();
  });
}

async function begin() {
  buildNumbers();
  startTheme();
  animation = new Animation();
  const about = await engine.ask({do: "about"});
  if (about.error) return showError(about.error);
  collectives = about.collectives;
  field("version").textContent = about.version;
  field("collective").append(...collectives.map(({name}) => new Option(name, name)));
  field("algorithm").append(...about.algorithms.map(({name, summary, stream}) => {
    const option = new Option(name, name);
    option.title = summary;
    option.dataset.stream = stream;
    return option;
  }));
  readAddress();
  listen();
  arrange();
  update();
}

begin();
