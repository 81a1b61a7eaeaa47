// What the page knows: see internal/report/gocode/html.go.

import { count, shortPath, size } from "../text.js";

export class GoReport {
  constructor(data) {
    if (data.schema !== "mallow.go/1") throw new Error(`data of another version: ${data.schema}`);
    this.data = data;
    this.run = data.processes.length > 0;
    const of = this.run ? data.processes : data.benchmarks;
    this.subjects = data.subjects.map((subject, i) => ({ ...subject, ...of[i], lines: data.lines.slice(subject.first, subject.first + subject.count) }));
    this.subjects.forEach((subject) => subject.lines.forEach((line, i) => (line.id = i)));
    this.notes = new Map();
    for (const note of data.escapes) {
      const key = `${note.file}:${note.line}`;
      this.notes.set(key, [...(this.notes.get(key) ?? []), note]);
    }
    this.sources = new Map(data.sources.map((source) => [source.file, source]));
  }

  name(subject) {
    return this.run ? `${subject.name} ${subject.pid}` : `Benchmark${subject.name}`;
  }

  total(subject) {
    return this.run ? subject.allocations + (subject.c?.allocations ?? 0) : subject.allocs_per_op + (subject.c_allocs_per_op ?? 0);
  }

  hasSource(file, line) {
    return Boolean(this.sources.get(file)?.pieces.some((piece) => line >= piece.first && line < piece.first + piece.text.length));
  }

  matches(line, words) {
    const text = `${line.function} ${line.file} ${line.callee} ${line.type}`.toLowerCase();
    return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }
}

// A figure of one operation: two digits after the point, none where it is whole, "-" where nothing was counted.
export function allocations(n) {
  if (n === null) return "-";
  if (n !== 0 && Math.abs(n) < 0.005) return "<0.01";
  const text = n.toFixed(2);
  return text.endsWith(".00") ? count(Math.round(n)) : count(Math.trunc(n)) + text.slice(text.indexOf("."));
}

export function bytes(subject) {
  return subject.bytes_per_op === null ? "-" : size(subject.bytes_per_op);
}

export function duration(ns) {
  for (const [unit, of] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= of) return `${Number((ns / of).toPrecision(3))} ${unit}`;
  }
  return `${Number(ns.toPrecision(3))} ns`;
}

// A share that some hundred samples tell.
export function part(share) {
  if (share === null || share === undefined) return "-";
  if (share <= 0) return "0 %";
  if (share < 0.005) return "<1 %";
  if (share < 1 && share > 0.995) return ">99 %";
  return `${(100 * share).toFixed(0)} %`;
}

// The package's path is left out: "strings.Repeat", "digest.(*T).Word".
export function shortFunction(name) {
  const plain = name.split("[")[0];
  return name.slice(plain.lastIndexOf("/") + 1);
}

export function place(line) {
  if (!line.file) return "(nowhere)";
  return line.line ? `${shortPath(line.file)}:${line.line}` : shortPath(line.file);
}
