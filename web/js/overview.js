// The first screen: what it is, what to do, where.

import { byId, code, fill, h } from "./dom.js";
import { bareName, count, counted, factor, percent, shorten, size } from "./text.js";
import { metrics } from "./model.js";
import { siteLink, siteTable } from "./table.js";

const adviceShown = 5;

export function renderOverview(app) {
  const { model } = app;
  const sites = model.sites();
  fill(byId("overview"),
    tiles(app),
    model.diff ? comparison(app, sites) : h("div", { class: "where-and-what" },
      h("section", { class: "ranked", "aria-label": "Sites" },
        h("h2", {}, "Where"),
        siteTable(app, sites, { caption: `${counted(sites.length, "site", "sites")} by ${metrics[app.state.get("metric")].name.toLowerCase()}` })),
      adviceSection(app)));
}

// The metrics with their totals: the switch of the page.
function tiles(app) {
  const { model } = app;
  const chosen = app.state.get("metric");
  return h("div", { class: "tiles", role: "group", "aria-label": "Metric" }, Object.entries(metrics).map(([metric, m]) => {
    const total = model.total(metric, model.diff ? 1 : -1);
    const before = model.diff ? model.total(metric, 0) : 0;
    return h("button", { type: "button", class: "tile", "aria-pressed": String(metric === chosen), title: m.explain, onclick: () => app.state.set({ metric }) },
      h("span", { class: "tile-name" }, m.name),
      h("span", { class: "tile-value" }, model.diff ? [h("span", { class: "quiet" }, `${app.value(before, metric)} → `), app.value(total, metric)] : app.value(total, metric)),
      h("span", { class: "tile-note" }, model.diff ? factor(before, total, ...(m.unit === "bytes" ? ["more", "less"] : [])) : note(app, metric, total)));
  }));
}

function note(app, metric, total) {
  const { model } = app;
  const calls = model.total("calls");
  switch (metric) {
    case "calls": return app.filtered() ? `of ${count(app.totals("allocations"))}` : app.totals("frees") === null ? "" : `${counted(app.totals("frees"), "free", "frees")}`;
    case "bytes": return calls > 0 ? `${size(total / calls)} on average` : "";
    case "temporary": return `${percent(total, calls)} of the calls`;
    case "peak": return app.filtered() ? "of it at the peak" : model.severalProcesses() ? "sum over the processes" : "live at once";
    case "leaked": {
      let blocks = 0;
      for (const site of model.sites()) blocks += site.liveBlocks;
      return counted(Math.round(blocks), "block", "blocks");
    }
    case "waste": return `${percent(total, model.total("bytes"))} of the bytes`;
  }
  return "";
}

function adviceSection(app) {
  const { advice, stop } = app.model.head;
  const list = h("ol", { class: "advice" });
  const show = (from, until) => advice.slice(from, until).forEach((a, i) => list.append(h("li", {}, adviceCard(app, a, from + i + 1, false))));
  show(0, adviceShown);
  const more = advice.length > adviceShown && h("button", { type: "button", class: "more", onclick: (event) => {
    show(adviceShown, advice.length);
    event.target.remove();
  } }, `${count(advice.length - adviceShown)} more, that save less`);
  return h("section", { class: "todo", "aria-label": "What to do" },
    h("h2", {}, "What to do"),
    advice.length > 0 && list, more,
    stop && h("p", { class: "stop" }, stop),
    advice.length === 0 && !stop && h("p", { class: "quiet" }, "No rule found anything to change."));
}

export function adviceCard(app, advice, rank, short) {
  const [first, ...others] = advice.places;
  const saves = advice.allocations === 0 ? ["no fewer allocations"] : [advice.at_most && "up to ", h("strong", {}, `−${count(advice.allocations)}`), ` ${advice.allocations === 1 ? "allocation" : "allocations"} (${percent(advice.share, 1)})`];
  if (advice.cpu !== null) saves.push(h("span", { title: advice.basis }, `, ${cpuShare(advice.cpu)} of CPU time`));
  return h("article", { class: `card ${advice.little ? "little" : ""}` },
    h("header", {}, h("span", { class: "rank" }, String(rank)), h("span", { class: "saves" }, saves), advice.little && h("span", { class: "badge" }, "little cost")),
    h("h3", {}, advice.title),
    h("p", {}, advice.remedy),
    !short && first && h("p", { class: "places" }, placeLink(app, first), others.length > 0 && [h("span", { class: "quiet" }, " with "), others.slice(0, 4).map((place, i) => [i > 0 && ", ", placeLink(app, place)])]),
    h("details", {}, h("summary", {}, "Why"), h("p", {}, advice.evidence), advice.basis && h("p", { class: "quiet" }, `CPU time: ${advice.basis}.`), h("p", { class: "quiet" }, `rule: ${advice.rule}`)));
}

function cpuShare(share) {
  if (share < 0.001) return "<0.1 %";
  return `about ${share < 0.0995 ? (100 * share).toFixed(1) : (100 * share).toFixed(0)} %`;
}

function placeLink(app, place) {
  if (place.site >= 0) return siteLink(app, place.site, 40);
  const where = place.file ? `${place.file.split("/").slice(-2).join("/")}${place.line > 0 ? `:${place.line}` : ""}` : place.module.split("/").pop();
  return h("span", {}, code(shorten(bareName(place.function) || "(unknown)", 40), place.function), " ", h("span", { class: "where", title: place.file }, where));
}

// The advice that a site takes part in.
export function adviceFor(app, site) {
  return app.model.head.advice
    .map((advice, i) => ({ advice, rank: i + 1 }))
    .filter(({ advice }) => advice.places.some((place) => place.site === site));
}

const statuses = { new: "new", gone: "gone", more: "more", fewer: "fewer", bigger: "bigger but fewer", same: "the same" };

// Two profiles: sites as they were and as they are.
export function comparison(app, sites) {
  const { model } = app;
  const metric = app.state.get("metric");
  const chosen = app.state.get("status");
  const figuresOf = new Map(sites.map((site) => [site.id, site]));
  const valueOf = (list, what) => list.reduce((sum, id) => sum + (figuresOf.get(id)?.[what] ?? 0), 0);
  const rows = model.head.diff.rows.map((row) => {
    const old = valueOf(row.old, metric);
    const now = valueOf(row.new, metric);
    return { ...row, old, now, oldIds: row.old, newIds: row.new, change: now - old, status: statusOf(row, old, now) };
  }).filter((row) => row.old > 0 || row.now > 0);
  const shown = rows.filter((row) => (chosen ? row.status === chosen : row.status !== "same")).sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const greatest = Math.max(1, ...rows.map((row) => Math.max(row.old, row.now)));
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" });
  let at = 0;
  const show = (n) => {
    for (const row of shown.slice(at, at + n)) body.append(comparedRow(app, row, metric, greatest));
    at = Math.min(shown.length, at + n);
    more.hidden = at >= shown.length;
    more.textContent = `${count(shown.length - at)} more`;
  };
  more.addEventListener("click", () => show(200));
  show(50);
  const choices = h("div", { class: "segments", role: "group", "aria-label": "Status" }, ["", ...Object.keys(statuses)].map((status) => {
    const n = status ? rows.filter((row) => row.status === status).length : rows.filter((row) => row.status !== "same").length;
    return (n > 0 || !status) && h("button", { type: "button", "aria-pressed": String(chosen === status), onclick: () => app.state.set({ status }) }, `${status ? statuses[status] : "changed"} ${count(n)}`);
  }));
  return [
    model.head.diff.notes.map((text) => h("p", { class: "note" }, text)),
    h("section", { class: "ranked", "aria-label": "Sites" }, h("h2", {}, "What changed"), choices,
      h("div", { class: "scroll" }, h("table", { class: "sites compared" },
        h("caption", {}, `${counted(shown.length, "site", "sites")} by the change of ${metrics[metric].name.toLowerCase()}`),
        h("thead", {}, h("tr", {}, ["old", "new", "change"].map((title) => h("th", { class: "number", scope: "col" }, title)), h("th", { scope: "col" }, "old and new"), h("th", { scope: "col" }, "status"), h("th", { scope: "col" }, "site"))),
        body), shown.length === 0 && h("p", { class: "quiet" }, "No site changed by this metric."), more)),
  ];
}

function statusOf(row, old, now) {
  if (row.status !== "changed") return row.status;
  if (old === now) return "same";
  return now > old ? "more" : row.bigger ? "bigger" : "fewer";
}

function comparedRow(app, row, metric, greatest) {
  const pair = h("span", { class: "pair", "aria-hidden": "true" });
  for (const [value, kind] of [[row.old, "was"], [row.now, row.now > row.old ? "more" : "fewer"]]) {
    const line = h("span", { class: kind });
    line.style.width = `${(100 * value) / greatest}%`;
    pair.append(line);
  }
  const id = row.newIds[0] ?? row.oldIds[0];
  return h("tr", { class: `is-${row.status}` },
    h("td", { class: "number" }, app.value(row.old, metric)),
    h("td", { class: "number leading" }, app.value(row.now, metric)),
    h("td", { class: "number change" }, `${row.change > 0 ? "+" : row.change < 0 ? "−" : ""}${app.value(Math.abs(row.change), metric)}`),
    h("td", { class: "pairs" }, pair),
    h("td", {}, h("span", { class: "badge" }, statuses[row.status] ?? row.status), " ", h("span", { class: "quiet" }, row.old > 0 && row.now > 0 ? factor(row.old, row.now) : "")),
    h("td", { class: "site" }, siteLink(app, id)));
}

