// Source lines with what each allocates, and below them what the compiler says
// of values that go to the heap there.

import { byId, fill, h } from "../dom.js";
import { count, counted, percent, shortPath, size } from "../text.js";
import { flow } from "./lines.js";
import { allocations } from "./report.js";

export function renderAnnotated(app) {
  const { report, state } = app;
  const home = byId("source");
  const costs = costsOf(app.subject());
  const total = report.total(app.subject());
  const files = [...report.sources.values()].map((source) => ({ source, cost: costs.get(source.file)?.total ?? 0 })).sort((a, b) => b.cost - a.cost || (a.source.file < b.source.file ? -1 : 1));
  const chosen = files.find(({ source }) => source.file === state.get("file")) ?? files[0];
  if (!chosen) {
    fill(home, h("p", { class: "quiet" }, "No source is in this report."));
    return;
  }
  fill(home, h("div", { class: "split files-and-lines" },
    h("nav", { "aria-label": "Files" }, h("h2", {}, "Files"), h("ul", { class: "files" }, files.map(({ source, cost }) => h("li", {},
      h("button", { type: "button", class: "link", "aria-current": source === chosen.source ? "true" : undefined, title: source.file, onclick: () => app.openSource(source.file, 0) },
        h("span", { class: "number" }, cost > 0 ? percent(cost, total) : "-"), " ", h("bdi", { class: "code" }, shortPath(source.file))))))),
    annotated(app, chosen.source, costs.get(chosen.source.file))));
  const at = state.get("at");
  if (at > 0) home.querySelector(`[data-line="${at}"]`)?.scrollIntoView({ block: "center" });
}

function annotated(app, source, cost) {
  const { report, state } = app;
  const body = h("tbody");
  let expected = 1;
  const gap = (until) => {
    if (until > expected) body.append(h("tr", { class: "gap" }, h("td", { colspan: "4" }, counted(until - expected, "line", "lines"))));
  };
  for (const piece of source.pieces) {
    gap(piece.first);
    piece.text.forEach((text, i) => {
      const number = piece.first + i;
      body.append(annotatedRow(report, text, number, cost?.lines.get(number), cost?.most ?? 1, number === state.get("at")));
      for (const note of report.notes.get(`${source.file}:${number}`) ?? []) body.append(escapeRow(note));
    });
    expected = piece.first + piece.text.length;
  }
  gap(source.lines + 1);
  return h("section", { class: "lines", "aria-label": "Lines of source" },
    h("h2", {}, h("bdi", { class: "code" }, source.file)),
    h("div", { class: "scroll" }, h("table", { class: "code-table" },
      h("thead", {}, h("tr", {}, h("th", { class: "number", scope: "col" }, "allocations"), h("th", { class: "number", scope: "col" }, "bytes"), h("th", { class: "number", scope: "col" }, "line"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "source")))),
      body)));
}

function annotatedRow(report, text, number, cost, most, chosen) {
  const heat = h("td", { class: "number heat" });
  if (cost) {
    heat.textContent = report.run ? count(cost.objects) : allocations(cost.objects);
    heat.style.setProperty("--heat", String(Math.sqrt(Math.max(0, cost.objects) / most)));
  }
  return h("tr", { class: chosen ? "chosen" : "", data: { line: String(number) } },
    heat, h("td", { class: "number" }, cost ? size(cost.bytes) : ""), h("td", { class: "number line" }, String(number)), h("td", { class: "text" }, text));
}

function escapeRow(note) {
  return h("tr", { class: "escape" }, h("td", { colspan: "3" }), h("td", {},
    note.flow.length > 0 ? h("details", {}, h("summary", {}, note.why), flow(note.flow)) : note.why));
}

// What each line of each file allocates itself, by file.
function costsOf(subject) {
  const files = new Map();
  for (const line of subject.lines) {
    let file = files.get(line.file);
    if (!file) files.set(line.file, (file = { total: 0, most: 0, lines: new Map() }));
    const of = file.lines.get(line.line) ?? { objects: 0, bytes: 0 };
    of.objects += line.objects;
    of.bytes += line.bytes;
    file.lines.set(line.line, of);
    file.total += line.objects;
    file.most = Math.max(file.most, of.objects);
  }
  return files;
}
