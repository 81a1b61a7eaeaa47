// Sizes of the blocks: bars that open the stacks behind them.

import { byId, fill, h } from "./dom.js";
import { count, percent, size } from "./text.js";
import { comparison } from "./overview.js";
import { siteTable } from "./table.js";
import { metrics } from "./model.js";

// Up to 64 bytes by 8, beyond that in quarters of powers of two.
export function classOf(bytes) {
  if (bytes === 0) return [0, 0];
  if (bytes <= 64) {
    const to = Math.ceil(bytes / 8) * 8;
    return [to - 7, to];
  }
  const power = 2 ** Math.floor(Math.log2(bytes - 1));
  const quarter = bytes > 4096 ? power : power / 4;
  const to = power + Math.ceil((bytes - power) / quarter) * quarter;
  return [to - quarter + 1, to];
}

// The bars of one side, or of all.
export function histogram(model, side = -1) {
  const bars = new Map();
  for (let i = 0; i < model.stackCount; i++) {
    const w = model.weight[i];
    if (w === 0 || (side >= 0 && model.stacks.side[i] !== side)) continue;
    model.eachSize(i, (bytes, calls, sure) => {
      const [from, to] = classOf(bytes);
      let bar = bars.get(to);
      if (!bar) bars.set(to, (bar = { from, to, calls: 0, sure: 0, bytes: 0, stacks: 0 }));
      bar.calls += w * calls;
      if (sure) bar.sure += w * calls;
      bar.bytes += w * calls * bytes;
      bar.stacks++;
    });
  }
  return [...bars.values()].sort((a, b) => a.to - b.to);
}

export function renderSizes(app) {
  const { model, state } = app;
  const chosen = state.get("sizes");
  // The bars are of what the other filters let through.
  const weights = chosen ? model.weight.slice() : null;
  if (chosen) app.applyFilters({ sizes: null });
  const bars = histogram(model, model.diff ? 1 : -1);
  const before = model.diff ? histogram(model, 0) : [];
  if (chosen) {
    model.weight.set(weights);
    model.cache.clear();
  }
  const byBytes = unitOf(state.get("metric")) === "bytes";
  const value = (bar) => (byBytes ? bar.bytes : bar.calls);
  for (const old of before) {
    let bar = bars.find((b) => b.to === old.to);
    if (!bar) bars.push((bar = { ...old, calls: 0, sure: 0, bytes: 0 }));
    bar.old = old;
  }
  bars.sort((a, b) => a.to - b.to);
  const most = Math.max(1, ...bars.map(value), ...before.map(value));
  const whole = bars.reduce((sum, bar) => sum + value(bar), 0);
  const rows = bars.map((bar) => {
    const open = chosen && chosen[0] === bar.from && chosen[1] === bar.to;
    const tracks = [model.diff && barOf(bar.old, value, most, "was"), barOf(bar, value, most, "")];
    return h("tr", { class: open ? "chosen" : "" },
      h("th", { scope: "row", class: "number" }, h("button", { type: "button", class: "link", "aria-pressed": String(Boolean(open)), onclick: () => state.set({ sizes: open ? null : [bar.from, bar.to] }) }, rangeText(bar.from, bar.to))),
      h("td", { class: "histogram" }, h("button", { type: "button", class: "bar-button", tabindex: "-1", "aria-hidden": "true", onclick: () => state.set({ sizes: open ? null : [bar.from, bar.to] }) }, tracks)),
      model.diff ? h("td", { class: "number" }, app.value(bar.old ? value(bar.old) : 0, byBytes ? "bytes" : "calls")) : h("td", { class: "number" }, percent(value(bar), whole)),
      h("td", { class: "number" }, `${bar.sure < bar.calls ? "≈" : ""}${count(bar.calls)}`),
      h("td", { class: "number" }, `${bar.sure < bar.calls ? "≈" : ""}${size(bar.bytes)}`));
  });
  const sites = model.sites();
  fill(byId("sizes"),
    h("div", { class: "split" },
      h("section", { "aria-label": "Sizes" }, h("h2", {}, "Sizes of blocks"),
        h("table", { class: "histogram-table" },
          h("caption", {}, `by ${byBytes ? "bytes" : "calls"}; a bar opens the sites and stacks behind it`),
          h("thead", {}, h("tr", {}, h("th", { class: "number", scope: "col" }, "size"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "bar")), h("th", { class: "number", scope: "col" }, model.diff ? "old" : "share"), h("th", { class: "number", scope: "col" }, model.diff ? "new calls" : "calls"), h("th", { class: "number", scope: "col" }, model.diff ? "new bytes" : "bytes"))),
          h("tbody", {}, rows)),
        h("p", { class: "quiet legend" }, h("span", { class: "swatch live" }), "of known size", h("span", { class: "swatch unsure" }), "of stacks with several sizes, shown at their mean")),
      model.diff ? h("div", {}, comparison(app, sites)) : h("section", { "aria-label": "Sites of these sizes" }, h("h2", {}, chosen ? `Who asks for ${rangeText(chosen[0], chosen[1])}` : "Who asks for them"),
        siteTable(app, sites, { caption: `by ${metrics[state.get("metric")].name.toLowerCase()}` }))));
}

// What is known for sure first, then the rest.
function barOf(bar, value, most, kind) {
  const part = (share, className) => {
    const element = h("span", { class: `bar ${className} ${kind}` });
    element.style.width = `${(100 * value(bar) * share) / most}%`;
    return element;
  };
  const track = h("span", { class: "track", "aria-hidden": "true" });
  if (bar && bar.calls > 0) track.append(part(bar.sure / bar.calls, ""), part(1 - bar.sure / bar.calls, "unsure"));
  return track;
}

function unitOf(metric) {
  return metrics[metric].unit;
}

export function rangeText(from, to) {
  if (to === 0) return "0 B";
  const text = (n) => (n < 10_000 ? `${count(n)} B` : n % 1024 === 0 && n < 1024 * 1024 ? `${count(n / 1024)} KiB` : n % 1048576 === 0 ? `${count(n / 1048576)} MiB` : size(n));
  return to < 10_000 ? `${count(from)}–${text(to)}` : `up to ${text(to)}`;
}
