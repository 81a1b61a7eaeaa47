// The course of the run, and the range of it that everything is shown of.

import { byId, fill, h } from "./dom.js";
import { momentBefore, momentUntil, rates } from "./model.js";
import { count, percent, seconds, size } from "./text.js";

const height = 92;

export class Timeline {
  constructor(app) {
    this.app = app;
    this.side = app.model.timelines.length - 1;
    this.data = app.model.timelines[this.side];
    const home = byId("timeline");
    // Two runs have no time in common.
    if (!app.hasTimeline()) {
      home.hidden = true;
      return;
    }
    this.chart = h("div", { class: "chart" });
    this.from = this.field("from", "From");
    this.to = this.field("to", "To");
    this.says = h("p", { class: "range-says", role: "status" });
    this.clear = h("button", { type: "button", onclick: () => app.state.set({ range: null }) }, "All of it");
    fill(home,
      h("div", { class: "timeline-head" },
        h("h2", {}, "Timeline"),
        h("span", { class: "legend" }, h("span", { class: "swatch live" }), "live bytes", h("span", { class: "swatch rate" }), "allocations per second"),
        h("form", { class: "range", onsubmit: (event) => event.preventDefault() }, this.phases(), this.from, this.to, this.clear)),
      this.chart, this.says);
    this.draw();
    new ResizeObserver(() => this.resize()).observe(this.chart);
  }

  field(name, label) {
    const input = h("input", { type: "number", min: "0", step: "any", "aria-label": `${label}, seconds`, placeholder: label.toLowerCase(), onchange: () => this.typed() });
    return input;
  }

  phases() {
    const phases = this.app.model.head.profiles[this.side].phases ?? [];
    if (phases.length < 2) return null;
    return phases.map((phase) => h("button", { type: "button", title: `${seconds(phase.from)} to ${seconds(phase.to)}`, onclick: () => this.app.state.set({ range: [phase.from, phase.to] }) }, phase.name));
  }

  typed() {
    const end = this.data.at[this.data.at.length - 1];
    const from = Math.max(0, Number(this.from.value || 0) * 1000);
    const to = this.to.value === "" ? end : Number(this.to.value) * 1000;
    this.app.state.set({ range: from === 0 && to >= end ? null : [Math.min(from, to), Math.max(from, to)] });
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    this.plot?.destroy();
    const perSecond = rates(this.data);
    const axis = { stroke: read("--quiet"), grid: { stroke: read("--line"), width: 1 }, ticks: { show: false }, font: `11px ${read("--sans")}` };
    this.plot = new uPlot({
      width: Math.max(200, this.chart.clientWidth), height,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      select: { show: true },
      scales: { x: { time: false }, bytes: { range: (_, least, most) => [0, Math.max(most, 1)] }, rate: { range: (_, least, most) => [0, Math.max(most, 1)] } },
      axes: [
        { ...axis, size: 22, values: (_, ticks) => ticks.map((s) => (ticks[ticks.length - 1] < 1 ? `${Number((1000 * s).toFixed(2))} ms` : `${Number(s.toFixed(3))} s`)) },
        { ...axis, scale: "bytes", size: 62, space: 28, values: (_, ticks) => ticks.map(size) },
        { ...axis, scale: "rate", side: 1, size: 62, space: 28, grid: { show: false }, values: (_, ticks) => ticks.map(short) },
      ],
      series: [
        {},
        { scale: "bytes", stroke: read("--live"), fill: read("--live-fill"), width: 1.5, points: { show: false } },
        { scale: "rate", stroke: read("--rate"), width: 1, points: { show: false } },
      ],
      hooks: {
        setSelect: [(plot) => this.dragged(plot)],
        setCursor: [(plot) => this.pointed(plot)],
      },
    }, [[0, ...Array.from(this.data.at, (ms) => ms / 1000)], [0, ...this.data.liveBytes], [perSecond[0], ...perSecond]], this.chart);
    this.showRange();
  }

  resize() {
    if (this.plot && this.chart.clientWidth > 0) {
      this.plot.setSize({ width: Math.max(200, this.chart.clientWidth), height });
      this.showRange();
    }
  }

  dragged(plot) {
    if (this.silent || plot.select.width < 3) return;
    const from = plot.posToVal(plot.select.left, "x") * 1000;
    const to = plot.posToVal(plot.select.left + plot.select.width, "x") * 1000;
    this.app.state.set({ range: [Math.max(0, Math.round(from)), Math.round(to)] });
  }

  pointed(plot) {
    const i = (plot.cursor.idx ?? 0) - 1;
    if (i < 0) this.tell();
    else this.says.textContent = `At ${seconds(this.data.at[i])}: ${size(this.data.liveBytes[i])} live in ${count(this.data.liveBlocks[i])} blocks, ${count(this.data.allocations[i])} allocations so far`;
  }

  render() {
    if (!this.plot) return;
    this.showRange();
    this.tell();
  }

  showRange() {
    const range = this.app.state.get("range");
    this.clear.disabled = !range;
    this.from.value = range ? String(range[0] / 1000) : "";
    this.to.value = range ? String(range[1] / 1000) : "";
    this.silent = true;
    if (range) {
      const left = this.plot.valToPos(range[0] / 1000, "x");
      const right = this.plot.valToPos(range[1] / 1000, "x");
      this.plot.setSelect({ left, width: Math.max(2, right - left), top: 0, height: this.plot.over.clientHeight });
    } else {
      this.plot.setSelect({ left: 0, width: 0, top: 0, height: 0 });
    }
    this.silent = false;
    this.tell();
  }

  // What the range means, and what is known of it for sure.
  tell() {
    const range = this.app.state.get("range");
    const { model } = this.app;
    if (!range) {
      this.says.textContent = "Drag over a part of it to see only that part.";
      return;
    }
    const [from, to] = range;
    const allocations = model.allocationsUntil(this.side, to) - model.allocationsBefore(this.side, from);
    const all = model.allocationsUntil(this.side, Infinity);
    const first = momentBefore(this.data.at, from) + 1;
    const end = momentUntil(this.data.at, to) + 1;
    const grown = this.liveBefore(end) - this.liveBefore(first);
    const growth = this.growth(first, end);
    fill(this.says,
      `${seconds(from)} to ${seconds(to)}: ${count(allocations)} allocations (${percent(allocations, all)}), live bytes ${grown >= 0 ? "+" : ""}${size(grown)}. `,
      growth.length > 0 && ["Grew most: ", growth.map(([site, bytes], i) => [i > 0 && ", ", h("button", { type: "button", class: "link", onclick: () => this.app.openSite(site) }, h("bdi", { class: "code" }, this.app.shortName(site))), ` ${bytes > 0 ? "+" : ""}${size(bytes)}`]), ". "],
      h("span", { class: "quiet" }, "Shown are stacks that allocated within it. Those that did so before or after as well count in proportion to the program’s own course (≈): the recording has their first and last time, not each call’s."));
  }

  liveBefore(moment) {
    return moment > 0 ? this.data.liveBytes[moment - 1] : 0;
  }

  growth(first, end) {
    const { change } = this.data;
    const sum = new Map();
    for (let i = 0; i < change.moment.length; i++) {
      if (change.moment[i] >= first && change.moment[i] < end) sum.set(change.site[i], (sum.get(change.site[i]) ?? 0) + change.bytes[i]);
    }
    return [...sum].filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 3);
  }
}

function short(n) {
  if (n >= 1e6) return `${Number((n / 1e6).toFixed(1))} M/s`;
  if (n >= 1e3) return `${Number((n / 1e3).toFixed(1))} k/s`;
  return `${Math.round(n)}/s`;
}
