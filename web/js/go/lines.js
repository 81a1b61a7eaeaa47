// The lines of a benchmark or of a process, and what is known of one of them.

import { bar, byId, code, fill, h } from "../dom.js";
import { count, counted, percent, size } from "../text.js";
import { allocations, bytes, duration, part, place, shortFunction } from "./report.js";

const linesShown = 100;

export function renderLines(app) {
  const { report, state } = app;
  const subject = app.subject();
  const search = state.get("search");
  const lines = search ? subject.lines.filter((line) => report.matches(line, search)) : subject.lines;
  const shown = lines.slice(0, linesShown);
  fill(byId("lines"), tiles(app, subject),
    subject.trust && h("p", { class: "trust" }, subject.trust),
    unsound(report),
    lines.length === 0
      ? h("p", { class: "quiet" }, search ? "No line matches what is searched for." : subject.uncounted ? "Nothing was counted." : "Nothing allocates.")
      : linesTable(app, subject, shown),
    lines.length > shown.length && h("p", { class: "quiet" }, `${counted(lines.length - shown.length, "more line", "more lines")} with less`));
}

function tiles(app, subject) {
  const { report } = app;
  const tile = (name, value, note) => h("div", { class: "tile" }, h("span", { class: "tile-name" }, name), h("span", { class: "tile-value" }, value), note && h("span", { class: "tile-note" }, note));
  const shares = subject.cpu ? [
    tile("in malloc", part(subject.cpu.malloc_share), "of the CPU time"),
    tile("in the collector", part(subject.cpu.collector_share), "of the CPU time"),
  ] : [];
  if (report.run) {
    return h("div", { class: "tiles" },
      tile("allocations", count(subject.allocations)), tile("bytes", size(subject.bytes)),
      tile("collections", subject.collections === null ? "-" : count(subject.collections)), inC(tile, subject.c && [count(subject.c.allocations), size(subject.c.bytes)]), shares);
  }
  return h("div", { class: "tiles" },
    tile("allocations", allocations(subject.allocs_per_op), "of an operation"), tile("bytes", bytes(subject), "of an operation"),
    tile("time", duration(subject.ns_per_op), "of an operation"), tile("collections", allocations(subject.gc_per_op), "of an operation"),
    inC(tile, subject.c_allocs_per_op !== null && subject.c_allocs_per_op !== undefined && [allocations(subject.c_allocs_per_op), size(subject.c_bytes_per_op)]), shares);
}

function inC(tile, figures) {
  return figures && tile("allocations in C", figures[0], `${figures[1]}, beside those of Go`);
}

function unsound(report) {
  return report.data.unsound.map((at) => h("p", { class: "note unsound" }, h("strong", {}, "Unsound: "), code(place(at), at.file), ` ${at.message}`));
}

function linesTable(app, subject, lines) {
  const { report, state } = app;
  const total = report.total(subject);
  const body = h("tbody");
  for (const line of lines) {
    body.append(h("tr", { class: `${line.id === state.get("line") ? "chosen" : ""} ${line.why ? "with-why" : ""}`, data: { entry: line.id } },
      h("td", { class: "share" }, bar(total > 0 ? line.objects / total : 0), h("span", {}, percent(Math.max(0, line.objects), total))),
      h("td", { class: "number leading" }, report.run ? count(line.objects) : allocations(line.objects)),
      h("td", { class: "number of-bytes" }, size(line.bytes)),
      h("td", { class: "number of-cpu" }, part(line.cpu_share)),
      h("td", { class: "place" }, lineLink(app, line))));
    if (line.why) {
      body.append(h("tr", { class: "reason" }, h("td", { colspan: "4" }), h("td", { class: "why" },
        h("div", {}, line.why), line.remedy && h("div", { class: "remedy" }, `${line.remedy} `, h("span", { class: "badge" }, line.rule)))));
    }
  }
  return h("div", { class: "scroll" }, h("table", { class: "sites lines-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "share"), h("th", { scope: "col", class: "number" }, "allocations"), h("th", { scope: "col", class: "number of-bytes" }, "bytes"),
      h("th", { scope: "col", class: "number of-cpu", title: "of what the line calls" }, "CPU"), h("th", { scope: "col" }, "line, what it calls, why it allocates and what to do"))),
    body));
}

function lineLink(app, line) {
  return h("button", { type: "button", class: "link", title: line.function ?? "", onclick: () => app.openLine(line.id) },
    h("span", { class: "where" }, place(line)), " ", code(shortFunction(line.function ?? "")),
    line.callee && [h("span", { class: "quiet" }, " calls "), code(shortFunction(line.callee))],
    line.type && [h("span", { class: "quiet" }, " makes "), code(line.type)], line.memory === "c" && [" ", h("span", { class: "badge" }, "in C")]);
}

export function renderLine(app) {
  const { report } = app;
  const home = byId("detail");
  const subject = app.subject();
  const line = subject.lines[app.state.get("line")];
  home.hidden = !line;
  document.body.classList.toggle("with-detail", Boolean(line));
  if (!line) return;
  const total = report.total(subject);
  fill(home,
    h("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Esc)", onclick: () => app.closeLine() }, "×"),
    h("h2", { id: "detail-name", tabindex: "-1" }, code(shortFunction(line.function ?? "(unknown function)"), line.function)),
    h("p", {}, sourceButton(app, line)),
    h("p", {}, h("span", { class: "fact" }, `${report.run ? count(line.objects) : allocations(line.objects)} ${report.run ? "allocations" : "allocations/op"}`),
      h("span", { class: "fact" }, percent(Math.max(0, line.objects), total)), h("span", { class: "fact" }, size(line.bytes)),
      line.live > 0 && h("span", { class: "fact" }, `${allocations(line.live)} never freed`),
      line.cpu_share !== null && h("span", { class: "fact" }, `${part(line.cpu_share)} of the CPU time`)),
    (line.callee || line.type) && h("p", {}, line.callee && ["calls ", code(line.callee), " "], line.type && ["makes ", code(line.type)]),
    line.why && h("section", {}, h("h3", {}, "Why"), h("p", {}, line.why)),
    line.remedy && h("section", {}, h("h3", {}, "What to do ", h("span", { class: "badge" }, line.rule)), h("p", {}, line.remedy)),
    line.flow?.length > 0 && h("section", {}, h("h3", {}, "What the compiler says"), flow(line.flow, "wide")),
    h("section", {}, h("h3", {}, counted(line.stacks.length, "stack", "stacks")), line.stacks.map((stack, i) => stackOf(app, stack, i === 0))));
}

export function flow(steps, className = "") {
  return h("ul", { class: `flow ${className}` }, steps.map((step) => h("li", {}, step)));
}

function stackOf(app, stack, open) {
  const { report } = app;
  return h("details", { open },
    h("summary", {}, `${report.run ? count(stack.objects) : allocations(stack.objects)} of ${size(stack.size)} `, stack.type && h("span", { class: "quiet" }, stack.type)),
    h("ol", { class: "stack" }, stack.frames.map((frame) => h("li", {}, code(shortFunction(frame.function ?? "(unknown function)"), frame.function), " ", sourceButton(app, frame)))));
}

export function sourceButton(app, at) {
  if (!app.report.hasSource(at.file, at.line)) return h("span", { class: "where", title: at.file }, place(at));
  return h("button", { type: "button", class: "link where", title: `${at.file}: show the source`, onclick: () => app.openSource(at.file, at.line) }, place(at));
}
