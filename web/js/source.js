// Source lines with what is allocated at each: at the line itself, and in all
// that is called from it.

import { byId, fill, h } from "./dom.js";
import { count, percent, shortPath } from "./text.js";
import { metrics } from "./model.js";
import { siteLink } from "./table.js";

export function renderSource(app) {
  const { model, state } = app;
  const home = byId("source");
  const sources = model.head.sources ?? [];
  if (sources.length === 0) {
    fill(home, h("h2", {}, "Source"), h("p", { class: "quiet" }, "No source is in this report: where a program was built with -g and its sources are there when the report is made, they are shown here."));
    return;
  }
  const metric = state.get("metric");
  const costs = costsByFile(model, metric);
  const whole = model.total(metric, model.diff ? 1 : -1);
  const files = sources.map((source) => ({ source, cost: costs.get(source.file)?.total ?? 0 })).sort((a, b) => b.cost - a.cost || a.source.file - b.source.file);
  const chosen = files.find(({ source }) => source.file === state.get("file")) ?? files[0];
  const list = h("ul", { class: "files" }, files.map(({ source, cost }) => h("li", {},
    h("button", { type: "button", class: "link", "aria-current": source === chosen.source ? "true" : undefined, title: model.strings[source.file], onclick: () => app.openSource(source.file, 0) },
      h("span", { class: "number" }, cost > 0 ? percent(cost, whole) : "-"), " ", h("bdi", { class: "code" }, shortPath(model.strings[source.file]))))));
  fill(home, h("div", { class: "split files-and-lines" },
    h("nav", { "aria-label": "Files" }, h("h2", {}, "Files"), h("p", { class: "quiet" }, `${metrics[metric].of} that pass each`), list),
    lines(app, chosen.source, costs.get(chosen.source.file), metric, whole)));
  const line = state.get("line");
  if (line > 0) {
    const row = home.querySelector(`[data-line="${line}"]`);
    row?.scrollIntoView({ block: "center" });
  }
}

function lines(app, source, cost, metric, whole) {
  const { model, state } = app;
  const most = Math.max(1, ...(cost ? [...cost.lines.values()].map((line) => line.total) : [1]));
  const body = h("tbody");
  const last = source.pieces[source.pieces.length - 1];
  let expected = 1;
  const gap = (until) => {
    if (until > expected) body.append(h("tr", { class: "gap" }, h("td", { colspan: "4" }, `${count(until - expected)} lines without allocations`)));
  };
  for (const piece of source.pieces) {
    gap(piece.first);
    piece.text.forEach((text, i) => body.append(lineRow(app, text, piece.first + i, cost?.lines.get(piece.first + i), metric, whole, most, state.get("line"))));
    expected = piece.first + piece.text.length;
  }
  if (last) gap(source.lines + 1);
  return h("section", { class: "lines", "aria-label": "Lines" },
    h("h2", {}, h("bdi", { class: "code" }, model.strings[source.file])),
    source.newer && h("p", { class: "note" }, "The file was changed after the recording began: lines may have moved."),
    h("div", { class: "scroll" }, h("table", { class: "code-table" },
      h("thead", {}, h("tr", {}, h("th", { class: "number", scope: "col", title: "allocated by calls of this line itself: it is their site" }, "itself"), h("th", { class: "number", scope: "col", title: "allocated by it and by all that is called from it" }, "with callees"), h("th", { class: "number", scope: "col" }, "line"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "source")))),
      body)));
}

function lineRow(app, text, number, cost, metric, whole, most, chosen) {
  const code = h("td", { class: "text" });
  code.textContent = text;
  const heat = h("td", { class: "number heat" });
  if (cost) {
    heat.textContent = app.value(cost.total, metric);
    heat.title = percent(cost.total, whole);
    heat.style.setProperty("--heat", String(Math.sqrt(cost.total / most)));
  }
  const self = h("td", { class: "number" });
  if (cost?.self > 0) {
    if (cost.sites.length === 1) self.append(h("button", { type: "button", class: "link", title: "Show the site", onclick: () => app.openSite(cost.sites[0]) }, app.value(cost.self, metric)));
    else self.append(h("details", {}, h("summary", {}, app.value(cost.self, metric)), cost.sites.map((site) => h("div", {}, siteLink(app, site, 40)))));
  }
  return h("tr", { class: number === chosen ? "chosen" : "", data: { line: String(number) } }, self, heat, h("td", { class: "number line" }, String(number)), code);
}

// Of each file and line what its frames allocate, by themselves and with what
// they call. A stack counts once for a line, however often it passes there.
function costsByFile(model, metric) {
  const key = `source ${metric}`;
  const known = model.cache.get(key);
  if (known) return known;
  const wanted = new Set((model.head.sources ?? []).map((source) => source.file));
  const { frames, nodes, stacks } = model;
  // Of two profiles the new one: its lines are those of the file.
  const side = model.diff ? 1 : -1;
  const values = model.values(metric, side);
  const costs = new Map();
  const stamp = new Int32Array(frames.file.length).fill(-1);
  const fileStamp = new Int32Array(model.strings.length).fill(-1);
  const at = (frame) => {
    let file = costs.get(frames.file[frame]);
    if (!file) costs.set(frames.file[frame], (file = { total: 0, lines: new Map() }));
    let line = file.lines.get(frames.line[frame]);
    if (!line) file.lines.set(frames.line[frame], (line = { total: 0, self: 0, sites: [], last: -1 }));
    return { file, line };
  };
  const placeOf = new Array(frames.file.length);
  for (let i = 0; i < model.stackCount; i++) {
    if (values[i] === 0) continue;
    for (let n = stacks.node[i]; n >= 0; n = nodes.parent[n]) {
      const frame = nodes.frame[n];
      if (stamp[frame] === i || !wanted.has(frames.file[frame]) || frames.line[frame] === 0) continue;
      stamp[frame] = i;
      const place = (placeOf[frame] ??= at(frame));
      if (place.line.last !== i) {
        place.line.last = i;
        place.line.total += values[i];
      }
      if (fileStamp[frames.file[frame]] !== i) {
        fileStamp[frames.file[frame]] = i;
        place.file.total += values[i];
      }
    }
  }
  for (const site of model.sites()) {
    const frame = model.head.sites[site.id].frame;
    if (frame < 0 || (side >= 0 && model.head.sites[site.id].side !== side) || !wanted.has(frames.file[frame]) || frames.line[frame] === 0) continue;
    const { line } = (placeOf[frame] ??= at(frame));
    line.self += site[metric];
    line.sites.push(site.id);
  }
  model.cache.set(key, costs);
  return costs;
}

