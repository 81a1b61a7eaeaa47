// The views beside lines and source: all benchmarks, CPU time, ladder, about.

import { bar, byId, code, fill, h } from "../dom.js";
import { count, counted, size } from "../text.js";
import { allocations, bytes, duration, part } from "./report.js";

export function renderAll(app) {
  const { report } = app;
  const number = (text) => h("td", { class: "number" }, text);
  const columns = report.run ? ["allocations", "bytes", "collections"] : ["allocations/op", "bytes/op", "time/op", "collections/op"];
  fill(byId("all"), h("div", { class: "scroll" }, h("table", { class: "sites" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, report.run ? "process" : "benchmark"), columns.map((name) => h("th", { scope: "col", class: "number" }, name)),
      h("th", { scope: "col", class: "number" }, "CPU in malloc"), h("th", { scope: "col", class: "number" }, "in the collector"))),
    h("tbody", {}, report.subjects.map((subject, i) => h("tr", {},
      h("td", {}, h("button", { type: "button", class: "link", onclick: () => app.state.set({ subject: i, line: -1, view: "lines" }) }, code(report.name(subject))), " ", subject.package && h("span", { class: "where" }, subject.package)),
      report.run
        ? [number(count(subject.allocations)), number(size(subject.bytes)), number(subject.collections === null ? "-" : count(subject.collections))]
        : [number(allocations(subject.allocs_per_op)), number(bytes(subject)), number(duration(subject.ns_per_op)), number(allocations(subject.gc_per_op))],
      number(part(subject.cpu?.malloc_share)), number(part(subject.cpu?.collector_share))))))));
}

const functionsShown = 200;

export function renderCPU(app) {
  const { cpu, no_cpu: nobody } = app.subject();
  if (!cpu) {
    fill(byId("cpu"), h("p", { class: "quiet" }, nobody ? `Nobody looked where the CPU time goes: ${nobody}.` : "It ran for too short a time: with fewer than 25 samples nothing is said."));
    return;
  }
  const functions = [...cpu.functions];
  const by = app.state.get("by");
  if (by === "cumulated_share") functions.sort((a, b) => b.cumulated_share - a.cumulated_share || b.flat_share - a.flat_share);
  const head = (key, name, title) => h("th", { scope: "col", "aria-sort": by === key ? "descending" : "none" },
    h("button", { type: "button", class: "sort", title, onclick: () => app.state.set({ by: key }) }, name));
  fill(byId("cpu"),
    h("p", { class: "trust" }, `${counted(cpu.samples, "sample", "samples")}, ${cpu.rate} for a second of CPU time, ${app.report.run ? `of the run that was counted; ${count(cpu.counting_samples)} more in counting are left out` : "of the run that gives the time, in which nothing is counted"}: ${part(cpu.malloc_share)} in malloc, ${part(cpu.collector_share)} in the collector${cpu.c_share > 0 ? `, ${part(cpu.c_share)} in C` : ""}.`),
    h("div", { class: "scroll" }, h("table", { class: "cpu-table" },
      h("thead", {}, h("tr", {}, head("flat_share", "flat", "in the function itself"), head("cumulated_share", "cumulated", "with what it calls"), h("th", { scope: "col" }, "function"))),
      h("tbody", {}, functions.slice(0, functionsShown).map((f) => h("tr", {},
        h("td", { class: "share" }, bar(f.flat_share), h("span", {}, part(f.flat_share))),
        h("td", { class: "share" }, bar(f.cumulated_share), h("span", {}, part(f.cumulated_share))),
        h("td", {}, code(f.function))))))));
}

export function renderLadder(app) {
  const { ladder, rejected } = app.report.data;
  const first = ladder[0];
  fill(byId("ladder"),
    h("p", { class: "trust" }, "Each step was kept because the tests pass, the changed function does what the old one did, and an operation allocates less."),
    h("div", { class: "scroll" }, h("table", { class: "ladder-table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number" }, "allocations/op"), h("th", { scope: "col" }, ""), h("th", { scope: "col", class: "number" }, "time/op"), h("th", { scope: "col" }, "step"))),
      h("tbody", {}, ladder.map((step) => h("tr", {},
        h("td", { class: "number leading" }, allocations(step.allocs_per_op)),
        h("td", { class: "share" }, bar(first.allocs_per_op > 0 ? step.allocs_per_op / first.allocs_per_op : 0)),
        h("td", { class: "number" }, duration(step.ns_per_op)),
        h("td", { class: "step" }, step.step, step.rule && [" ", h("span", { class: "badge" }, step.rule)],
          step.proven_by && h("div", { class: "quiet" }, `proven by ${step.proven_by}`),
          step.patch && h("details", {}, h("summary", {}, "patch"), patch(step.patch)))))))),
    rejected.length > 0 && h("section", {}, h("h2", {}, "Not kept"), h("ul", { class: "plain" }, rejected.map((no) => h("li", {}, no.step, h("span", { class: "quiet" }, `: ${no.reason}`))))));
}

function patch(text) {
  return h("pre", {}, text.split("\n").map((line) => [
    h("span", { class: /^\+(?!\+\+)/.test(line) ? "patch-more" : /^-(?!--)/.test(line) ? "patch-fewer" : undefined }, line), "\n",
  ]));
}

export const goKeys = [["1 to 6", "the views"], ["n, p", "next, previous benchmark"], ["j, k", "next, previous line"], ["/", "search"], ["t", "light, dark or the system’s colours"], ["Esc", "close the line, then clear the search"]];

export function renderGoAbout(app) {
  const { data } = app.report;
  fill(byId("about"),
    h("section", {}, h("h2", {}, "What was measured"), h("dl", { class: "figures" }, [
      ["Go", data.go_version],
      ["allocations", "every one, counted by its call stack in the runtime; a line is the first frame of a stack in the module that is measured"],
      ["CPU", "what the line calls takes of the CPU time, by samples"],
      ["why", "from what the line calls, the source with its types, and what the compiler says of values that go to the heap"],
    ].map(([word, what]) => [h("dt", {}, word), h("dd", {}, what)]))),
    h("section", {}, h("h2", {}, "Keys"), h("dl", { class: "figures" }, goKeys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]))));
}
