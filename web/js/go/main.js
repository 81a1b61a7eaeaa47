// Ties the page of a Go report together.

import { byId, code, fill, h, put } from "../dom.js";
import { readBytes } from "../data.js";
import { State } from "../state.js";
import { nextTheme, setTheme, storedTheme } from "../theme.js";
import { counted, shorten } from "../text.js";
import { GoReport } from "./report.js";
import { renderLine, renderLines } from "./lines.js";
import { renderAnnotated } from "./annotated.js";
import { renderAll, renderCPU, renderGoAbout, renderLadder } from "./views.js";

const renderers = { all: renderAll, lines: renderLines, source: renderAnnotated, cpu: renderCPU, ladder: renderLadder, about: renderGoAbout };
const initially = { view: "lines", subject: 0, line: -1, file: "", at: 0, search: "", by: "flat_share" };

class GoApp {
  constructor(report) {
    this.report = report;
    const { data, subjects } = report;
    this.views = Object.keys(renderers).filter((view) => ({
      all: subjects.length > 1, source: report.sources.size > 0, cpu: subjects.some((subject) => subject.cpu), ladder: data.ladder.length > 0,
    })[view] ?? true);
    const first = this.views.includes("ladder") ? "ladder" : this.views[0];
    this.state = new State({ ...initially, view: first });
  }

  start() {
    this.header();
    const valid = (name, value) => this.valid(name, value);
    this.state.load(location.hash, valid);
    this.state.listen((changed) => this.show(changed));
    for (const event of ["hashchange", "popstate"]) addEventListener(event, () => this.state.load(location.hash, valid));
    document.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }

  valid(name, value) {
    switch (name) {
      case "view": return this.views.includes(value);
      case "subject": return Number.isInteger(value) && value >= 0 && value < this.report.subjects.length;
      case "line":
      case "at": return Number.isInteger(value) && value >= -1;
      case "by": return ["flat_share", "cumulated_share"].includes(value);
      default: return typeof value === "string";
    }
  }

  subject() {
    return this.report.subjects[this.state.get("subject")] ?? { lines: [] };
  }

  header() {
    const { report } = this;
    const { data, subjects } = report;
    fill(byId("title"), h("bdi", {}, shorten(data.title, 70)));
    fill(byId("subtitle"), code(`${data.go_version}, ${counted(subjects.length, report.run ? "process" : "benchmark", report.run ? "processes" : "benchmarks")}`));
    byId("subject-kind").textContent = report.run ? "Process" : "Benchmark";
    byId("tab-all").textContent = report.run ? "Processes" : "Benchmarks";
    const choice = byId("subject");
    put(choice, subjects.map((subject, i) => h("option", { value: String(i) }, report.name(subject))));
    choice.addEventListener("change", () => this.state.set({ subject: Number(choice.value), line: -1 }));
    byId("subject-choice").hidden = subjects.length < 2;
    for (const tab of byId("tabs").children) {
      tab.hidden = !this.views.includes(tab.dataset.view);
      tab.addEventListener("click", () => this.state.set({ view: tab.dataset.view }));
    }
    const search = byId("search");
    search.addEventListener("input", () => this.state.set({ search: search.value, view: "lines" }));
    byId("theme").addEventListener("click", nextTheme);
    setTheme(storedTheme());
  }

  show(changed) {
    const { state } = this;
    const view = state.get("view");
    for (const name of Object.keys(renderers)) byId(name).hidden = name !== view;
    for (const tab of byId("tabs").children) tab.setAttribute("aria-current", tab.dataset.view === view ? "page" : "false");
    document.body.dataset.view = view;
    byId("subject").value = String(state.get("subject"));
    if (byId("search") !== document.activeElement) byId("search").value = state.get("search");
    if (!changed || [...changed].some((name) => name !== "line")) renderers[view](this);
    renderLine(this);
    for (const row of document.querySelectorAll("tr[data-entry]")) row.classList.toggle("chosen", Number(row.dataset.entry) === state.get("line"));
  }

  openLine(line) {
    this.opener = document.activeElement;
    this.state.set({ line });
    byId("detail-name")?.focus({ preventScroll: true });
  }

  closeLine() {
    this.state.set({ line: -1 });
    if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
  }

  openSource(file, at) {
    this.state.set({ view: "source", file, at });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape") {
      field?.blur();
      if (this.state.get("line") >= 0) this.closeLine();
      else this.state.set({ search: "" });
      return;
    }
    if (!field && this.act(event.key)) event.preventDefault();
  }

  act(key) {
    const { state } = this;
    const view = this.views[Number(key) - 1];
    if (view) {
      state.set({ view });
      return true;
    }
    switch (key) {
      case "/":
        byId("search").focus();
        return true;
      case "t":
        nextTheme();
        return true;
      case "j":
      case "k":
        return this.step("line", this.subject().lines.length, key === "j" ? 1 : -1);
      case "n":
      case "p":
        return this.step("subject", this.report.subjects.length, key === "n" ? 1 : -1);
    }
    return false;
  }

  step(name, length, by) {
    const next = Math.max(0, Math.min(length - 1, this.state.get(name) + by));
    if (length === 0) return false;
    this.state.set(name === "subject" ? { subject: next, line: -1 } : { line: next });
    document.querySelector("tr[data-entry].chosen")?.scrollIntoView({ block: "nearest" });
    return true;
  }
}

async function openGoReport() {
  const holder = byId("data");
  const data = JSON.parse(new TextDecoder().decode(await readBytes(holder.textContent)));
  holder.remove();
  new GoApp(new GoReport(data)).start();
  document.body.classList.add("ready");
}

openGoReport().catch((error) => {
  fill(byId("all"), h("p", { class: "note" }, `This report cannot be shown: ${error.message}`));
  byId("all").hidden = false;
  document.body.classList.add("failed");
  throw error;
});
