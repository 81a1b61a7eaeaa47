// The ranked sites: a table whose columns are the metrics. Choosing a column
// chooses the metric of the whole page.

import { bar, code, h } from "./dom.js";
import { metrics } from "./model.js";
import { bareName, count, percent, shorten, size } from "./text.js";

const columns = [
  { metric: "calls", title: "calls", write: (site, app) => app.about(count(site.calls)) },
  { metric: "bytes", title: "bytes", write: (site, app) => app.about(size(site.bytes)) },
  { metric: "temporary", title: "temp.", write: (site) => (site.temporary > 0 ? percent(site.temporary, site.calls) : "-"), explain: "share of the calls whose block was freed with nothing allocated in between" },
  { metric: "peak", title: "at peak", write: (site, app) => (site.peak > 0 ? app.about(size(site.peak)) : "-") },
  { metric: "leaked", get title() { return metrics.leaked.name.toLowerCase(); }, write: (site, app) => (site.leaked > 0 ? app.about(size(site.leaked)) : "-"), get explain() { return metrics.leaked.fate; } },
  { metric: "waste", title: "waste", write: (site, app) => (site.waste > 0 ? app.about(size(site.waste)) : "-"), explain: "lost to rounding" },
];

const shownColumns = () => columns.filter((column) => Object.hasOwn(metrics, column.metric));

const step = 50;

export function siteTable(app, sites, { limit = step, caption }) {
  const metric = app.state.get("metric");
  const ranked = sites.filter((site) => site[metric] > 0).sort((a, b) => b[metric] - a[metric] || b.calls - a.calls || a.id - b.id);
  const whole = sites.reduce((sum, site) => sum + site[metric], 0);
  const body = h("tbody");
  const table = h("table", { class: "sites" },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {},
      h("th", { class: "share", scope: "col" }, "share"),
      shownColumns().map((column) => h("th", { class: `number of-${column.metric} ${column.metric === metric ? "leading" : ""}`, scope: "col", "aria-sort": column.metric === metric ? "descending" : "none" },
        h("button", { type: "button", class: "sort", title: column.explain, onclick: () => app.state.set({ metric: column.metric }) }, column.title))),
      h("th", { scope: "col" }, "site"))),
    body);
  const more = h("button", { type: "button", class: "more", onclick: () => show(shown + step * 4, true) });
  let shown = 0;
  const show = (until, move) => {
    const from = shown;
    shown = Math.min(until, ranked.length);
    for (const site of ranked.slice(from, shown)) body.append(row(app, site, metric, whole));
    more.hidden = shown >= ranked.length;
    more.textContent = `${count(ranked.length - shown)} more`;
    if (move) body.children[from]?.querySelector("button")?.focus();
  };
  show(limit, false);
  const nothing = ranked.length === 0 && h("p", { class: "quiet" }, "Nothing: no site that the filters let through has any.");
  return h("div", { class: "scroll" }, table, nothing, more);
}

function row(app, site, metric, whole) {
  return h("tr", { class: app.state.get("site") === site.id ? "chosen" : "", data: { site: site.id } },
    h("td", { class: "share" }, bar(site[metric] / whole), h("span", {}, percent(site[metric], whole))),
    shownColumns().map((column) => h("td", { class: `number of-${column.metric} ${column.metric === metric ? "leading" : ""}` }, column.write(site, app))),
    h("td", { class: "site" }, siteLink(app, site.id)));
}

// A site as a button that opens what is known of it.
export function siteLink(app, id, most = 70) {
  const { model } = app;
  const frame = model.head.sites[id].frame;
  const name = model.siteName(id);
  return h("button", { type: "button", class: "link", title: name, onclick: () => app.openSite(id) },
    h("bdi", { class: "code" }, shorten(bareName(name), most)), " ",
    frame >= 0 && !placeText(model, frame).endsWith(name) && h("span", { class: "where" }, placeText(model, frame)));
}

// Where it is: the line if it is known, else the module.
export function placeText(model, frame) {
  const where = model.where(frame);
  const file = model.fileOf(frame);
  return shorten(file ? where : `in ${where || "an unknown module"}`, 60);
}

export function frameLine(app, frame, { most = 90, onclick } = {}) {
  const { model } = app;
  if (frame < 0) return h("span", { class: "quiet" }, "(outermost)");
  const name = model.functionName(model.frames.function[frame]);
  const label = code(shorten(bareName(name), most), name);
  const where = sourceLink(app, frame);
  return h("span", { class: "frame" }, onclick ? h("button", { type: "button", class: "link", title: name, onclick }, label) : label, " ", where);
}

// The line of a frame: a button where its source is in the page.
export function sourceLink(app, frame) {
  const { model } = app;
  const file = model.frames.file[frame];
  const text = placeText(model, frame);
  const full = model.fileOf(frame) || model.strings[model.functions.module[model.frames.function[frame]]];
  if (!app.hasSource(file, model.frames.line[frame])) return h("span", { class: "where", title: full }, text);
  return h("button", { type: "button", class: "link where", title: `${full}: show the source`, onclick: () => app.openSource(file, model.frames.line[frame]) }, text);
}

export function figures(rows) {
  return h("dl", { class: "figures" }, rows.filter(Boolean).map(([name, value, explain]) => [h("dt", { title: explain }, name), h("dd", {}, value)]));
}

