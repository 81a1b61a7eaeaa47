// What was recorded, and how far the figures can be trusted.

import { byId, code, fill, h } from "./dom.js";
import { count, counted, percent, size } from "./text.js";
import { figures } from "./table.js";
import { metrics } from "./model.js";

export function renderAbout(app) {
  const { model } = app;
  fill(byId("about"),
    h("div", { class: "all-notes" }, notes(app).map((note) => h("p", { class: "note" }, note.text))),
    model.head.profiles.map((profile, i) => h("section", {},
      h("h2", {}, model.diff ? (i === 0 ? "Old: " : "New: ") : "", code(profile.name)),
      profile.recordings.map((recording) => figures([
        ["recording", code(recording.path)],
        recording.command && ["command", code(recording.command)],
        recording.started && ["started", recording.started],
        recording.seconds > 0 && ["took", `${recording.seconds.toFixed(2)} s` + (recording.cpu === null ? "" : `, ${recording.cpu.toFixed(2)} s of CPU time`)],
        recording.exit && ["ended with", recording.exit],
      ])),
      totalsTable(profile),
      units(profile),
      regions(profile),
      processes(profile))),
    h("section", {}, h("h2", {}, "Keys"), keys(),
      h("h2", {}, "Words"), words()));
}

// What a reader must know before believing the figures.
export function notes(app) {
  const { model } = app;
  const list = [];
  const tell = (text) => list.push({ text, serious: true });
  const { thinned } = model.head;
  if (thinned.stacks > 0 || thinned.nodes > 0) {
    tell(`Thinned, so that a browser can open it: ${counted(thinned.stacks, "stack", "stacks")} and ${counted(thinned.nodes, "frame", "frames")} with the least of every metric were merged with their callers. The figures of sites, and all sums, are whole.`);
  }
  for (const profile of model.head.profiles) {
    const whose = model.diff ? `${profile.name}: ` : "";
    const calls = profile.totals.allocations + profile.libc.allocations;
    if (profile.only?.length > 0) tell(`${whose}Only ${profile.only.join(", ")}.`);
    if (profile.sampling) tell(`${whose}Estimated from ${count(profile.sampling.samples)} samples, one in ${size(profile.sampling.meanBytes)} on average: allocations ± ${percent(profile.sampling.allocations, calls)} (standard error).`);
    if (profile.running > 0) tell(`${whose}${counted(profile.running, "process", "processes")} still ran when this was written: what lives is not leaked.`);
    if (profile.stopped > 0) tell(`${whose}${counted(profile.stopped, "process", "processes")} went on when recording was stopped: what lives is not leaked.`);
    if (profile.incomplete) tell(`${whose}Not everything was recorded.`);
    if (profile.truncated > 0) tell(`${whose}${count(profile.truncated)} allocations (${percent(profile.truncated, calls)}) have a stack that could not be unwound to its start.`);
    if (profile.unplaced > 0) tell(`${whose}${count(profile.unplaced)} allocations have no stack.`);
    if (profile.peakError > 0 && !profile.noPeak) tell(`${whose}The peak is exact to ${size(profile.peakError)}.`);
    for (const warning of profile.warnings) list.push({ text: `${whose}${warning}`, serious: /damaged|lost|missing|changed/.test(warning) });
  }
  return list;
}

function totalsTable(profile) {
  const rows = [
    ["allocations", (t) => count(t.allocations)],
    ...Object.keys(profile.totals.kinds).filter((kind) => profile.totals.kinds[kind] + profile.libc.kinds[kind] > 0).map((kind) => [`  ${kind}`, (t) => count(t.kinds[kind])]),
    ["frees", (t) => (t.frees === null ? "-" : count(t.frees))],
    ["free(NULL)", (t) => count(t.freeNulls)],
    ["failed", (t) => (profile.noFailed ? "-" : count(t.failed))],
    ["bytes", (t) => size(t.bytes)],
    ["peak", (t) => (profile.noPeak ? "-" : size(t.peak))],
    [metrics.leaked.fate, (t) => `${counted(t.liveBlocks, "block", "blocks")}, ${size(t.liveBytes)}`],
    ["temporary", (t) => (profile.sumsOnly ? "-" : count(t.temporary))],
  ];
  return h("div", { class: "scroll" }, h("table", { class: "plain-table" }, h("thead", {}, h("tr", {}, h("td"), h("th", { scope: "col", class: "number" }, "program and libraries"), h("th", { scope: "col", class: "number" }, "libc on its own account"))),
    h("tbody", {}, rows.map(([name, of]) => h("tr", {}, h("th", { scope: "row", class: name.startsWith(" ") ? "inner" : "" }, name.trim()), h("td", { class: "number" }, of(profile.totals)), h("td", { class: "number" }, of(profile.libc)))))));
}

function listTable(title, head, rows) {
  if (!rows || rows.length === 0) return null;
  return [h("h3", {}, title), h("div", { class: "scroll" }, h("table", { class: "plain-table" }, h("thead", {}, h("tr", {}, head.map((name, i) => h("th", { scope: "col", class: i > 0 ? "number" : "" }, name)))), h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: "number" }, cell))))))))];
}

function units(profile) {
  return listTable("Units of work", ["unit", "count", "allocations each", "bytes each"], profile.units?.map((unit) => [code(unit.name), count(unit.count), unit.allocations.toFixed(2), size(unit.bytes)]));
}

function regions(profile) {
  return listTable("Regions", ["region", "entries", "allocations", "bytes", "frees", "growth"], profile.regions?.map((region) => [code(region.name), count(region.entries), count(region.allocations), size(region.bytes), region.frees === null ? "-" : count(region.frees), region.growth === null ? "-" : size(region.growth)]));
}

function processes(profile) {
  if (!profile.processes || profile.processes.length < 2) return null;
  const depth = (process) => {
    let d = 0;
    for (let p = process; p.parent >= 0 && d < 12; p = profile.processes[p.parent]) d++;
    return d;
  };
  return listTable("Processes", ["process", "allocations", "bytes", "peak", "live", "end"], profile.processes.map((process) => {
    const name = h("span", {}, process.begun === "exec" ? "⇒ " : "", code(process.name));
    name.style.paddingLeft = `${depth(process)}em`;
    return [name, count(process.allocations), size(process.bytes), profile.noPeak ? "-" : size(process.peak), size(process.liveBytes), process.exit || "-"];
  }));
}

export const keyList = [
  ["1 to 5", "overview, call tree, sizes, source, about"], ["m, M", "next, previous metric"], ["/", "search"],
  ["Enter in the search", "only stacks that pass what is found"], ["i", "invert the call tree"], ["arrows, Enter, Backspace", "move and zoom in the call tree"],
  ["j, k", "next, previous site"], ["t", "light, dark or the system’s colours"], ["Esc", "close the site, then clear the filters"],
];

function keys() {
  return h("dl", { class: "figures" }, keyList.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]));
}

function words() {
  return h("dl", { class: "figures" }, [
    ["site", "the first frame of a stack that is no wrapper, such as operator new, std::string or xmalloc"],
    ["temporary", "freed with nothing else allocated by the thread in between"],
    ["peak", "what was live when the process had most"],
    [metrics.leaked.name.toLowerCase(), metrics.leaked.explain],
    ["waste", "what blocks have beyond the size that was asked for"],
    ["≈", "an estimate: a filter lets a part of some stacks through, see the timeline and the sizes"],
  ].map(([word, what]) => [h("dt", {}, word), h("dd", {}, what)]));
}
