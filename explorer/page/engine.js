// SPDX-License-Identifier: MIT
// The planner in a worker. Only the latest question matters: one that is overtaken is never asked, one that takes too
// long is stopped together with its worker.

const kPatience = 30000;  // milliseconds

class Engine {
  constructor() {
    this.waiting = null;
    this.current = null;
    this.start();
  }

  start() {
    const source = document.getElementById("engine").textContent + `
      createChasqui().then(planner => {
        onmessage = ({data}) => {
          try {
            postMessage({answer: JSON.parse(planner.ccall("chasqui_answer", "string", ["string"], [JSON.stringify(data)]))});
          } catch (failure) {
            postMessage({answer: {error: "The planner stopped on this question: " + failure}, broken: true});
          }
        };
        postMessage({ready: true});
      }, failure => postMessage({answer: {error: "WebAssembly does not start here: " + failure}}));`;
    this.url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
    this.worker = new Worker(this.url);
    this.ready = false;
    this.worker.onmessage = ({data}) => {
      if (data.ready) {
        this.ready = true;
        URL.revokeObjectURL(this.url);
        this.next();
      } else {
        this.finish(data.answer, data.broken);
      }
    };
    this.worker.onerror = event => this.finish({error: "The planner stopped: " + event.message}, true);
  }

  // Resolves to the answer, or to null when a newer question took its place.
  ask(question) {
    return new Promise(resolve => {
      if (this.waiting) this.waiting.resolve(null);
      this.waiting = {question, resolve};
      this.next();
    });
  }

  next() {
    if (!this.ready || this.current || !this.waiting) return;
    this.current = this.waiting;
    this.waiting = null;
    this.timer = setTimeout(() => {
      this.finish({error: `No answer after ${kPatience / 1000} seconds: use a smaller P or k, or the chasqui command.`}, true);
    }, kPatience);
    this.worker.postMessage(this.current.question);
  }

  finish(answer, broken) {
    clearTimeout(this.timer);
    const asked = this.current;
    this.current = null;
    if (broken) {
      this.worker.terminate();
      this.start();
    }
    if (asked) asked.resolve(answer);
    else if (answer && answer.error) showError(answer.error);
    this.next();
  }
}
