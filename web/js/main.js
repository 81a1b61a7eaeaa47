// Ties the page together: what was chosen, what it means, who shows it.

import { byId, fill, h, put } from "./dom.js";
import { readData } from "./data.js";
import { metrics, Model } from "./model.js";
import { State } from "./state.js";
import { nextTheme, setTheme, storedTheme } from "./theme.js";
import { Icicle } from "./icicle.js";
import { Timeline } from "./timeline.js";
import { renderOverview } from "./overview.js";
import { renderDetail } from "./detail.js";
import { rangeText, renderSizes } from "./sizes.js";
import { renderSource } from "./source.js";
import { notes, renderAbout } from "./about.js";
import { listenToKeys, views } from "./keys.js";
import { bareName, count, counted, seconds, shorten, size } from "./text.js";

const figureChoices = ["metric", "range", "sizes", "through", "libc"];

class App {
  constructor(model) {
    this.model = model;
    this.state = new State({
      view: "overview", metric: model.head.metric || "calls", search: "", range: null, sizes: null, through: [], libc: model.head.all,
      site: -1, file: -1, line: 0, invert: false, status: "",
    });
    this.pending = null;
    this.stale = new Set(views);
  }

  start() {
    this.linesOf = new Map((this.model.head.sources ?? []).map((source) => [source.file, source]));
    this.header();
    this.state.load(location.hash, (name, value) => this.valid(name, value));
    this.applyFilters();
    this.timeline = new Timeline(this);
    this.icicle = new Icicle(this);
    this.state.listen((changed) => this.changed(changed));
    addEventListener("hashchange", () => this.state.load(location.hash, (name, value) => this.valid(name, value)));
    addEventListener("popstate", () => this.state.load(location.hash, (name, value) => this.valid(name, value)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.themeChanged());
    listenToKeys(this);
    this.timeline.render();
    this.show();
  }

  // What an address may ask for.
  valid(name, value) {
    const number = Number.isInteger(value);
    const range = value === null || (Array.isArray(value) && value.length === 2 && value.every((n) => Number.isFinite(n) && n >= 0) && value[0] <= value[1]);
    switch (name) {
      case "view": return views.includes(value);
      case "metric": return Object.hasOwn(metrics, value);
      case "range": return range && this.hasTimeline();
      case "sizes": return range;
      case "through": return Array.isArray(value) && value.length < 20 && value.every((text) => typeof text === "string");
      case "site": return number && value >= -1 && value < this.model.head.sites.length;
      case "file": return number && value >= -1 && value < this.model.strings.length;
      case "line": return number && value >= 0;
      case "libc":
      case "invert": return typeof value === "boolean";
      default: return typeof value === "string";
    }
  }

  hasTimeline() {
    const { timelines } = this.model;
    // A run that one tick of its clock holds has no length.
    return !this.model.diff && (timelines[0].at?.at(-1) ?? 0) > 0;
  }

  header() {
    const { head, diff } = this.model;
    const [first] = head.profiles;
    const last = head.profiles[head.profiles.length - 1];
    const name = diff ? `${first.name} → ${last.name}` : first.name;
    const t = last.totals;
    const command = last.recordings.length === 1 ? last.recordings[0].command : counted(last.recordings.length, "recording", "recordings");
    fill(byId("title"), h("bdi", {}, shorten(name, 60)));
    fill(byId("subtitle"), h("bdi", { class: "code", title: command }, shorten(command, 110)));
    const told = notes(this).filter((note) => note.serious).map((note) => note.text);
    byId("tab-about").append(notes(this).length > 0 ? h("span", { class: "quiet" }, ` ${counted(notes(this).length, "note", "notes")}`) : "");
    fill(byId("notes"), told.length > 0 && h("details", { class: "note" }, h("summary", {}, told.length === 1 ? told[0] : `${told[0]} `, told.length > 1 && h("span", { class: "quiet" }, `and ${counted(told.length - 1, "more note", "more notes")}`)), told.slice(1).map((text) => h("p", {}, text))));
    document.title = diff ? `mallow diff: ${name}` : `mallow: ${name}, ${count(t.allocations)} allocations`;
    const search = byId("search");
    let typing = 0;
    search.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.state.set({ search: search.value }), 120);
    });
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && search.value.trim()) {
        this.addThrough(search.value.trim());
        search.value = "";
        this.state.set({ search: "" });
      }
    });
    for (const tab of byId("tabs").children) tab.addEventListener("click", () => this.state.set({ view: tab.dataset.view }));
    put(byId("metrics"), [Object.entries(metrics).map(([metric, m]) => h("button", { type: "button", title: `${m.explain} (m)`, data: { metric }, onclick: () => this.state.set({ metric }) }, m.name))]);
    byId("tab-source").hidden = (head.sources ?? []).length === 0;
    byId("theme").addEventListener("click", () => this.nextTheme());
    byId("libc").addEventListener("click", () => this.state.set({ libc: !this.state.get("libc") }));
    byId("libc").hidden = head.profiles.every((profile) => profile.libc.allocations === 0);
    setTheme(storedTheme());
  }

  applyFilters(instead = {}) {
    const { state } = this;
    this.model.filter({ range: state.get("range"), sizes: state.get("sizes"), through: state.get("through"), libc: state.get("libc"), ...instead });
  }

  filtered() {
    const { state } = this;
    return Boolean(state.get("range") || state.get("sizes") || state.get("through").length > 0);
  }

  changed(changed) {
    if (["range", "sizes", "through", "libc"].some((name) => changed.has(name))) this.applyFilters();
    if (figureChoices.some((name) => changed.has(name))) this.stale = new Set(views);
    if (changed.has("search") || changed.has("invert")) this.stale.add("calls");
    if (changed.has("status")) this.stale.add("overview").add("sizes");
    if (changed.has("file") || changed.has("line")) this.stale.add("source");
    if (changed.has("range")) this.timeline.render();
    if (changed.has("search") && byId("search") !== document.activeElement) byId("search").value = this.state.get("search");
    this.show(changed);
  }

  show(changed) {
    const { state } = this;
    const view = state.get("view");
    for (const name of views) byId(name).hidden = name !== view;
    for (const tab of byId("tabs").children) tab.setAttribute("aria-current", tab.dataset.view === view ? "page" : "false");
    byId("libc").setAttribute("aria-pressed", String(state.get("libc")));
    document.body.dataset.view = view;
    for (const button of byId("metrics").children) button.setAttribute("aria-pressed", String(button.dataset.metric === state.get("metric")));
    this.chips();
    if (this.stale.has(view)) {
      this.stale.delete(view);
      this.render(view);
    } else if (view === "calls") {
      this.icicle.refresh();
    }
    if (!changed || changed.has("site") || figureChoices.some((name) => changed.has(name))) {
      renderDetail(this);
      for (const row of document.querySelectorAll("tr[data-site]")) row.classList.toggle("chosen", Number(row.dataset.site) === state.get("site"));
    }
  }

  render(view) {
    switch (view) {
      case "overview": return renderOverview(this);
      case "calls": return this.icicle.render();
      case "sizes": return renderSizes(this);
      case "source": return renderSource(this);
      case "about": return renderAbout(this);
    }
  }

  // The filters, each with a button that takes it away.
  chips() {
    const { state } = this;
    const chip = (text, changes) => h("button", { type: "button", class: "chip", title: "Take this filter away", onclick: () => state.set(changes) }, h("bdi", {}, text), h("span", { "aria-hidden": "true" }, " ×"));
    const range = state.get("range");
    const sizes = state.get("sizes");
    const through = state.get("through");
    const list = [
      range && chip(`${seconds(range[0])} to ${seconds(range[1])}`, { range: null }),
      sizes && chip(`blocks of ${rangeText(sizes[0], sizes[1])}`, { sizes: null }),
      ...through.map((text, i) => chip(text.startsWith("=") ? `through ${shorten(bareName(text.slice(1)), 50)}` : `through “${shorten(text, 50)}”`, { through: through.filter((_, k) => k !== i) })),
    ].filter(Boolean);
    fill(byId("chips"), list.length > 0 && [h("span", { class: "quiet" }, "Only "), list, h("span", { class: "quiet" }, this.model.approximate ? " ≈ marks estimates" : "")]);
  }

  addThrough(text) {
    const through = this.state.get("through");
    if (!through.includes(text)) this.state.set({ through: [...through, text] });
  }

  // Closes what is open, one thing at a time.
  escape() {
    const { state } = this;
    if (state.get("site") >= 0) this.closeSite();
    else if (state.get("search")) {
      byId("search").value = "";
      state.set({ search: "" });
    } else state.set({ range: null, sizes: null, through: [] });
  }

  openSite(site) {
    this.opener = document.activeElement;
    this.state.set({ site });
    byId("detail-name")?.focus({ preventScroll: true });
  }

  closeSite() {
    this.state.set({ site: -1 });
    if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
  }

  openSource(file, line) {
    this.state.set({ view: "source", file, line });
  }

  hasSource(file, line) {
    const source = this.linesOf.get(file);
    return Boolean(source?.pieces.some((piece) => line >= piece.first && line < piece.first + piece.text.length));
  }

  shortName(site) {
    return shorten(bareName(this.model.siteName(site)), 30);
  }

  totals(name) {
    const last = this.model.head.profiles[this.model.head.profiles.length - 1];
    if (last.totals[name] === null) return null;
    return last.totals[name] + (this.state.get("libc") ? last.libc[name] ?? 0 : 0);
  }

  // A figure of a metric; ≈ where it is an estimate.
  value(n, metric) {
    return this.about(metrics[metric].unit === "bytes" ? size(n) : count(n));
  }

  about(text) {
    return this.model.approximate ? `≈${text}` : text;
  }

  nextTheme() {
    nextTheme();
    this.themeChanged();
  }

  themeChanged() {
    if (this.timeline.plot) this.timeline.draw();
    this.icicle.draw();
  }
}

async function open() {
  const holder = byId("data");
  const data = await readData(holder.textContent);
  holder.remove();
  const app = new App(new Model(data));
  app.start();
  document.body.classList.add("ready");
}

open().catch((error) => {
  fill(byId("overview"), h("p", { class: "note" }, `This report cannot be shown: ${error.message}`));
  byId("overview").hidden = false;
  document.body.classList.add("failed");
  throw error;
});
