// What is known of one site: figures, facts, callers, stacks, advice.

import { bar, byId, code, fill, h } from "./dom.js";
import { bareName, count, counted, percent, seconds, shorten, size } from "./text.js";
import { adviceFor, adviceCard } from "./overview.js";
import { figures, frameLine, siteLink, sourceLink } from "./table.js";
import { metrics } from "./model.js";

const stacksShown = 20;
const callersShown = 8;

export function renderDetail(app) {
  const panel = byId("detail");
  const id = app.state.get("site");
  panel.hidden = id < 0;
  document.body.classList.toggle("with-detail", id >= 0);
  if (id < 0) return;
  const { model } = app;
  const site = model.sites().find((s) => s.id === id);
  const of = model.head.sites[id];
  const name = model.siteName(id);
  const close = h("button", { type: "button", class: "close", "aria-label": "Close (Esc)", onclick: () => app.closeSite() }, "×");
  const heading = h("h2", { id: "detail-name", tabindex: "-1" }, h("bdi", { class: "code" }, name));
  const place = of.frame >= 0 && h("p", { class: "place" }, sourceLink(app, of.frame), " ", moduleNote(model, of.frame));
  const advice = adviceFor(app, id).map((a) => adviceCard(app, a.advice, a.rank, true));
  fill(panel, close, heading, place,
    site ? [
      h("p", { class: "facts" }, facts(app, site, of).map((fact) => h("span", { class: "fact" }, fact))),
      advice.length > 0 && h("section", {}, h("h3", {}, "What to do"), advice),
      siteFigures(app, site, of),
      partners(app, of),
      callers(app, id),
      lifetimes(of),
      stacks(app, id),
    ] : h("p", { class: "quiet" }, "The filters let nothing of this site through."));
  panel.scrollTop = 0;
}

function moduleNote(model, frame) {
  const f = model.frames.function[frame];
  const path = model.strings[model.functions.module[f]];
  return path && model.fileOf(frame) ? h("span", { class: "where", title: path }, `in ${model.moduleName(f)}`) : null;
}

// What is true of the site, the most telling first.
export function facts(app, site, of) {
  const list = [];
  const share = (part, whole, text) => {
    if (whole > 0 && part >= whole / 2) list.push(`${part >= whole ? "" : percent(part, whole) + " "}${text}`);
    return whole > 0 && part >= whole / 2;
  };
  if (!share(site.temporary, site.calls, "temporary: freed with nothing allocated in between")) {
    share(site.shortLived, site.calls, "short-lived: freed within 32 heap events");
  }
  if (site.calls > 0 && site.releases === 0) list.push(metrics.leaked.fate);
  if (site.calls > 1 && site.sizeMin === site.sizeMax) list.push(`always ${size(site.sizeMax)}`);
  else if (site.calls > 1 && site.sizeMax <= 64) list.push(`never more than ${size(site.sizeMax)}`);
  share(site.byRealloc, site.calls, "passed on to realloc");
  share(site.foreign, site.releases, "freed by another thread");
  if (of.longestRun > 32) list.push(`up to ${count(of.longestRun)} in a row`);
  if (of.threads > 1) list.push(`by ${count(of.threads)} threads`);
  if (site.failed > 0) list.push(`${counted(Math.round(site.failed), "call", "calls")} failed`);
  return list;
}

function siteFigures(app, site, of) {
  const { model } = app;
  const all = (metric) => percent(site[metric], model.total(metric));
  const about = (text) => app.about(text);
  const sizes = site.sizeMin === site.sizeMax ? size(site.sizeMax) : `${size(site.sizeMin)} to ${size(site.sizeMax)}`;
  return h("section", {}, h("h3", {}, "Figures"), figures([
    ["allocations", `${about(count(site.calls))} (${all("calls")})`],
    ["bytes", `${about(size(site.bytes))} (${all("bytes")})`],
    ["sizes", site.calls === 0 ? "-" : site.sizeMin === site.sizeMax ? `${sizes} each` : `${sizes}, ${size(site.bytes / site.calls)} on average`],
    metrics.temporary && ["temporary", `${about(count(site.temporary))} (${percent(site.temporary, site.calls)} of them)`, metrics.temporary.explain],
    metrics.temporary && ["short-lived", `${about(count(site.shortLived))} (${percent(site.shortLived, site.calls)} of them)`, "freed by the thread within its next 32 heap events"],
    metrics.peak && ["at the peak", `${about(size(site.peak))} (${all("peak")})`, metrics.peak.explain],
    [metrics.leaked.fate, `${about(counted(Math.round(site.liveBlocks), "block", "blocks"))}, ${about(size(site.leaked))}`],
    metrics.waste && ["waste", `${about(size(site.waste))} (${percent(site.waste, site.bytes)} of the bytes)`, metrics.waste.explain],
    of.grown > 0 && ["grown by realloc", `${counted(of.grown, "time", "times")}, ${size(of.copied)} copied`],
    site.last >= 0 && ["time", `${seconds(site.first)} to ${seconds(site.last)}`, "of its first and its last allocation, since the recording began"],
    ["stacks", count(site.stacks)],
  ]));
}

function partners(app, of) {
  const line = (title, partner) => partner && h("li", {}, `${title} `,
    partner.site >= 0 ? siteLink(app, partner.site, 50) : [code(shorten(bareName(partner.name) || "(unknown)", 50), partner.name), " ", h("span", { class: "where" }, partner.where)],
    h("span", { class: "quiet" }, `, at least ${percent(partner.share, 1)}`));
  const other = (partner) => partner && (partner.site < 0 || partner.site !== app.state.get("site"));
  const lines = [other(of.bornAfter) && line("allocated right after", of.bornAfter), other(of.freedAfter) && line("freed right after", of.freedAfter), line("freed by", of.freedBy)].filter(Boolean);
  return lines.length > 0 && h("section", {}, h("h3", {}, "Company"), h("ul", { class: "plain" }, lines));
}

function callers(app, id) {
  const metric = app.state.get("metric");
  const all = app.model.callersOf(id, metric).filter((caller) => caller.value > 0);
  if (all.length === 0) return null;
  const whole = all.reduce((sum, caller) => sum + caller.value, 0);
  const rows = all.slice(0, callersShown).map(({ frame, value }) => h("tr", {},
    h("td", { class: "share" }, bar(value / whole), h("span", {}, percent(value, whole))),
    h("td", { class: "number" }, app.value(value, metric)),
    h("td", { class: "site" }, frameLine(app, frame, { most: 60 }))));
  const more = all.length - callersShown;
  return h("section", {}, h("h3", {}, "Callers"),
    h("table", { class: "callers" }, h("thead", { class: "unseen" }, h("tr", {}, h("th", { scope: "col" }, "share"), h("th", { scope: "col" }, metrics[metric].name), h("th", { scope: "col" }, "caller"))), h("tbody", {}, rows)),
    more > 0 && h("p", { class: "quiet" }, `and ${count(more)} more`));
}

// How long blocks lived, in events of the thread, of those that the thread
// itself released.
function lifetimes(of) {
  if (!of.lifetimes) return null;
  const whole = of.lifetimes.reduce((sum, n) => sum + n, 0);
  const rows = of.lifetimes.map((n, i) => n > 0 && h("tr", {},
    h("th", { scope: "row", class: "number" }, i === 0 ? "1" : `${count(2 ** i)} to ${count(2 ** (i + 1) - 1)}`),
    h("td", { class: "share wide" }, bar(n / whole), h("span", {}, percent(n, whole)))));
  return h("details", {}, h("summary", {}, "Lifetimes"),
    h("table", { class: "lifetimes" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "heap events"), h("th", { scope: "col" }, "blocks"))), h("tbody", {}, rows)));
}

function stacks(app, id) {
  const { model } = app;
  const metric = app.state.get("metric");
  const values = model.values(metric);
  const all = model.stacksOf(id, metric);
  const list = h("div");
  const show = (from, until) => {
    for (const stack of all.slice(from, until)) {
      const call = model.head.calls[model.stacks.call[stack]] ?? "";
      const lines = h("ol", { class: "stack" });
      const item = h("details", { ontoggle: () => lines.childElementCount === 0 && fillStack(app, lines, stack) },
        h("summary", {}, h("span", { class: "number" }, app.value(values[stack], metric)), ` ${call} `,
          h("span", { class: "quiet" }, summaryOf(model, stack))), lines);
      list.append(item);
      if (list.childElementCount === 1) item.open = true;
    }
  };
  show(0, stacksShown);
  const more = all.length > stacksShown && h("button", { type: "button", class: "more", onclick: (event) => {
    show(stacksShown, stacksShown + 200);
    event.target.remove();
  } }, `${count(Math.min(200, all.length - stacksShown))} more of ${count(all.length)}`);
  return h("section", {}, h("h3", {}, `Stacks by ${metrics[metric].name.toLowerCase()}`), list, more);
}

function fillStack(app, list, stack) {
  const { model } = app;
  for (const n of model.path(stack)) list.append(h("li", {}, frameLine(app, model.nodes.frame[n], { most: 80 })));
  if (model.stacks.cut[stack]) list.append(h("li", { class: "quiet" }, "(the stack goes on, and could not be unwound)"));
}

function summaryOf(model, stack) {
  const outer = model.path(stack).map((n) => model.frames.function[model.nodes.frame[n]]).filter((f) => !model.isWrapper(f));
  const names = [...new Set(outer.slice(1, 4).map((f) => shorten(bareName(model.functionName(f)), 28)))];
  return names.length > 0 ? `← ${names.join(" ← ")}` : "";
}
