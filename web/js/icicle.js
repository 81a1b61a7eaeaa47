// The call tree as an icicle: the outermost frames on top, each as wide as what
// is allocated inside of it. Only the rows in sight are drawn.

import { byId, fill, h, say } from "./dom.js";
import { bareName, factor, percent, shorten } from "./text.js";
import { metrics } from "./model.js";
import { CallTree, layOut } from "./tree.js";

const rowHeight = 21;
const labelWidth = 34;

export class Icicle {
  constructor(app) {
    this.app = app;
    this.way = []; // from the root to the focus, by function
    this.tree = null;
    this.hovered = null;
    this.selected = null;
    this.build();
  }

  build() {
    const { app } = this;
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Call tree. Arrow keys move, Enter zooms in, Backspace zooms out.", "aria-describedby": "icicle-status" });
    this.spacer = h("div", { class: "icicle-spacer" });
    this.scroller = h("div", { class: "icicle-scroll" }, h("div", { class: "icicle-stick" }, this.canvas), this.spacer);
    this.status = h("div", { id: "icicle-status", class: "icicle-status" });
    this.invertButton = h("button", { type: "button", title: "Sites on top, their callers below (i)", onclick: () => app.state.set({ invert: !app.state.get("invert") }) }, "Invert");
    this.outButton = h("button", { type: "button", title: "Zoom out (Backspace)", onclick: () => this.zoomOut() }, "Zoom out");
    this.resetButton = h("button", { type: "button", title: "Show everything", onclick: () => this.zoomTo([]) }, "Reset");
    this.found = h("span", { class: "quiet", role: "status" });
    fill(byId("calls"),
      h("div", { class: "toolbar" }, this.invertButton, this.outButton, this.resetButton, this.found, this.legend()),
      this.scroller, this.status);
    this.canvas.addEventListener("mousemove", (event) => this.hover(this.at(event)));
    this.canvas.addEventListener("mouseleave", () => this.hover(null));
    this.canvas.addEventListener("click", (event) => this.click(this.at(event)));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.draw());
    this.canvas.addEventListener("blur", () => this.draw());
    this.scroller.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.refresh()).observe(this.scroller);
  }

  legend() {
    if (!this.app.model.diff) return null;
    return h("span", { class: "legend" }, h("span", { class: "swatch fewer" }), "fewer than before", h("span", { class: "swatch same" }), "as before", h("span", { class: "swatch more" }), "more than before");
  }

  // Called when anything changed that the figures depend on.
  render() {
    const { state, model } = this.app;
    const invert = state.get("invert");
    const same = this.tree?.invert === invert;
    const selected = same && this.selected ? CallTree.way(this.selected) : [];
    if (!same) this.way = [];
    this.tree = new CallTree(model, state.get("metric"), invert);
    this.invertButton.setAttribute("aria-pressed", String(invert));
    this.selected = this.tree.follow(selected);
    this.hovered = null;
    this.search(state.get("search"));
    this.refresh();
  }

  search(text) {
    const { model } = this.app;
    this.text = text;
    this.hit = text ? model.matching(text) : null;
    this.found.textContent = "";
    if (!text) return;
    const passes = model.passing(text);
    const values = model.values(this.app.state.get("metric"), model.diff ? 1 : -1);
    let inside = 0;
    let whole = 0;
    for (let i = 0; i < values.length; i++) {
      whole += values[i];
      const n = model.stacks.node[i];
      if (n >= 0 && passes[n]) inside += values[i];
    }
    this.found.textContent = `${percent(inside, whole)} of the ${metrics[this.app.state.get("metric")].of} pass “${text}”`;
  }

  refresh() {
    const width = Math.floor(this.scroller.clientWidth);
    if (!this.tree || width === 0) return;
    this.width = width;
    this.focus = this.tree.follow(this.way);
    this.way = CallTree.way(this.focus);
    this.outButton.disabled = this.resetButton.disabled = this.way.length === 0;
    const { boxes, rows } = layOut(this.tree, this.focus, width);
    this.boxes = boxes;
    this.rows = [];
    for (const box of boxes) (this.rows[box.row] ??= []).push(box);
    for (const row of this.rows) row?.sort((a, b) => a.x - b.x);
    const room = this.scroller.clientHeight;
    this.spacer.style.height = `${Math.max(0, rows * rowHeight - room)}px`;
    if (!this.selected || !this.boxOf(this.selected)) this.selected = this.focus;
    this.draw();
    this.show(this.hovered ?? this.selected);
  }

  boxOf(node) {
    return this.boxes.find((box) => box.node === node);
  }

  draw() {
    if (!this.rows) return;
    const ratio = window.devicePixelRatio || 1;
    const room = this.scroller.clientHeight;
    const { canvas } = this;
    if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(room * ratio)) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(room * ratio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${room}px`;
    }
    const g = canvas.getContext("2d");
    const look = this.look();
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = look.ground;
    g.fillRect(0, 0, this.width, room);
    g.font = `12px ${look.font}`;
    g.textBaseline = "middle";
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / rowHeight));
    const last = Math.min(this.rows.length - 1, Math.ceil((top + room) / rowHeight));
    for (let row = first; row <= last; row++) {
      for (const box of this.rows[row] ?? []) this.drawBox(g, box, row * rowHeight - top, look);
    }
  }

  drawBox(g, box, y, look) {
    const width = Math.max(1, box.width - (box.width > 3 ? 1 : 0));
    const height = rowHeight - 1;
    if (!box.node) {
      g.fillStyle = look.rest;
      g.fillRect(box.x, y + height / 2 - 1, width, 2);
      return;
    }
    const colour = this.colour(box, look);
    g.fillStyle = colour.fill;
    g.fillRect(box.x, y, width, height);
    const marked = box.node === this.hovered || (box.node === this.selected && document.activeElement === this.canvas);
    if (marked) {
      g.strokeStyle = look.ink;
      g.lineWidth = 2;
      g.strokeRect(box.x + 1, y + 1, Math.max(0, width - 2), height - 2);
    }
    if (width < labelWidth) return;
    g.fillStyle = colour.ink;
    const letters = Math.floor((width - 10) / look.letter);
    const label = this.labelOf(box.node);
    g.fillText(letters < 4 ? "" : shorten(box.node.f >= 0 ? bareName(label) : label, letters), box.x + 5, y + height / 2 + 0.5);
  }

  labelOf(node) {
    const { model, state } = this.app;
    if (node.f >= 0) return model.functionName(node.f);
    return `all ${metrics[state.get("metric")].of}: ${this.valueText(node)}`;
  }

  valueText(node) {
    const metric = this.app.state.get("metric");
    if (!this.app.model.diff) return this.app.value(node.values[0], metric);
    return `${this.app.value(node.values[0], metric)} → ${this.app.value(node.values[1], metric)}`;
  }

  // What a theme looks like, read from the style sheet once per theme.
  look() {
    const theme = document.documentElement.dataset.theme + String(matchMedia("(prefers-color-scheme: dark)").matches);
    if (this.lookOf?.theme === theme) return this.lookOf;
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    const g = this.canvas.getContext("2d");
    const font = read("--mono");
    g.font = `12px ${font}`;
    const dark = read("--dark") === "1";
    this.lookOf = {
      theme, font, dark, ground: read("--ground"), ink: read("--ink"), rest: read("--line-strong"), faint: read("--tile"), quiet: read("--quiet"),
      root: read("--line"), hit: read("--hit"), hitInk: read("--hit-ink"), more: read("--more-rgb").split(" ").map(Number), fewer: read("--fewer-rgb").split(" ").map(Number), same: read("--same-rgb").split(" ").map(Number),
      letter: g.measureText("abcdefghij").width / 10,
    };
    return this.lookOf;
  }

  // By module, so that one sees whose code it is; what a search did not find
  // steps back.
  colour({ node, around }, look) {
    const { model } = this.app;
    if (this.hit && (node.f < 0 || !this.hit[node.f])) return { fill: look.faint, ink: look.quiet };
    if (this.hit) return { fill: look.hit, ink: look.hitInk };
    if (model.diff) return this.colourOfChange(node, look);
    if (node.f < 0) return { fill: look.root, ink: look.ink };
    const hue = hueOf(model.functions.module[node.f]);
    const shade = (node.f * 7) % 5;
    const [saturation, lightness] = look.dark ? [30, 27 + shade * 1.6] : [48, 87 - shade * 1.8];
    return { fill: `hsl(${hue + ((node.f * 13) % 41) - 20} ${around ? saturation / 2 : saturation}% ${lightness}%)`, ink: look.ink };
  }

  colourOfChange(node, look) {
    const [old, now] = node.values;
    const change = (now - old) / Math.max(old, now, 1);
    const strength = Math.sign(change) * Math.sqrt(Math.abs(change));
    const end = strength > 0 ? look.more : look.fewer;
    const mix = look.same.map((same, i) => Math.round(same + (end[i] - same) * Math.abs(strength)));
    const light = (mix[0] * 299 + mix[1] * 587 + mix[2] * 114) / 1000 > 140;
    return { fill: `rgb(${mix.join(" ")})`, ink: light ? "#1b1d20" : "#fff" };
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top + this.scroller.scrollTop;
    return (this.rows?.[Math.floor(y / rowHeight)] ?? []).find((b) => x >= b.x && x < b.x + Math.max(b.width, 1)) ?? null;
  }

  hover(box) {
    const node = box?.node ?? box?.inside ?? null;
    if (node === this.hovered) return;
    this.hovered = node;
    this.canvas.style.cursor = box?.node ? "pointer" : "default";
    this.draw();
    this.show(node ?? this.selected);
  }

  click(box) {
    const node = box?.node ?? box?.inside;
    if (!node) return;
    this.select(node);
    this.zoomTo(CallTree.way(node));
  }

  select(node) {
    this.selected = node;
    this.show(node);
  }

  zoomTo(way) {
    this.way = way;
    this.selected = null;
    this.refresh();
    const y = Math.max(0, this.focus.depth - 2) * rowHeight;
    if (this.focus.depth * rowHeight < this.scroller.scrollTop || y > this.scroller.scrollTop + this.scroller.clientHeight - 3 * rowHeight) this.scroller.scrollTop = y;
    if (way.length === 0) this.scroller.scrollTop = 0;
  }

  zoomOut() {
    if (this.way.length > 0) this.zoomTo(this.way.slice(0, -1));
  }

  key(event) {
    const moves = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
    if (event.key in moves) {
      this.move(moves[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.selected) this.zoomTo(CallTree.way(this.selected));
    } else if (event.key === "Backspace") {
      this.zoomOut();
    } else if (event.key === "Home") {
      this.zoomTo([]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  move(direction) {
    const from = this.selected ?? this.focus;
    const siblings = from.parent ? this.tree.childrenOf(from.parent) : [from];
    const at = siblings.indexOf(from);
    const shown = (node) => (node && this.boxOf(node) ? node : null);
    const to = { up: from.parent, down: this.tree.childrenOf(from)[0], left: siblings[at - 1], right: siblings[at + 1] }[direction];
    if (!shown(to)) return;
    this.selected = to;
    this.hovered = null;
    const y = to.depth * rowHeight;
    if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
    if (y + rowHeight > this.scroller.scrollTop + this.scroller.clientHeight) this.scroller.scrollTop = y + rowHeight - this.scroller.clientHeight;
    this.draw();
    this.show(to);
    say(`${this.labelOf(to)}, ${this.valueText(to)}`);
  }

  // The line below the tree: all of the name, and what can be done with it.
  show(node) {
    if (!node || this.shown === node) return;
    this.shown = node;
    const { app } = this;
    const { model, state } = app;
    const inside = this.tree.childrenOf(node).reduce((sum, child) => sum + child.values[child.values.length - 1], 0);
    const value = node.values[node.values.length - 1];
    const self = Math.max(0, value - inside);
    const whole = this.tree.root.values[this.tree.root.values.length - 1];
    const title = node.f < 0 ? `All ${metrics[state.get("metric")].of}` : model.functionName(node.f);
    const figures = [h("strong", {}, this.valueText(node)), model.diff ? ` ${factor(node.values[0], node.values[1])}` : ` ${percent(value, whole)}`,
      node.parent?.parent && !model.diff ? ` · ${percent(value, node.parent.value)} of its ${this.tree.invert ? "callee" : "caller"}` : "",
      self > 0 && !this.tree.invert && node.f >= 0 ? ` · ${app.value(self, state.get("metric"))} itself` : ""];
    fill(this.status,
      h("p", { class: "icicle-name" }, h("bdi", { class: "code" }, title), node.f >= 0 && h("span", { class: "where" }, ` in ${model.moduleName(node.f) || "an unknown module"}`)),
      h("p", {}, h("span", {}, figures),
        node.f >= 0 && h("button", { type: "button", title: "Only stacks that pass this function", onclick: () => app.addThrough(`=${model.functionName(node.f)}`) }, "Only through it")));
  }
}

// Neighbouring numbers of modules get hues far apart.
function hueOf(module) {
  return Math.round((210 + module * 137.508) % 360);
}

