// What the page knows, and what of it the filters let through.

import { counted } from "./text.js";

export const metrics = {
  calls: { name: "Count", unit: "count", of: "allocations", explain: "Calls that returned a block." },
  bytes: { name: "Bytes", unit: "bytes", of: "bytes requested", explain: "Bytes asked for, over the whole run." },
  temporary: { name: "Temporary", unit: "count", of: "temporary blocks", explain: "Blocks freed with nothing else allocated by the thread in between." },
  peak: { name: "Peak", unit: "bytes", of: "bytes at the peak", explain: "Bytes that were live when the process had most." },
  leaked: { name: "Leaked", unit: "bytes", of: "bytes never freed", fate: "never freed", explain: "Bytes of blocks that were never freed: still reachable or not, mallow does not tell." },
  waste: { name: "Waste", unit: "bytes", of: "bytes lost to rounding", explain: "What the blocks have beyond what was asked for, over the whole run." },
};

// Times are those of a clock that ticks every few milliseconds, so that many
// moments may have one time, and what they tell lies after that tick. A range
// that begins at such a time has all of them but the first, one that ends there
// has all.

// The last moment that a range from ms on does not have; -1 where it has all.
export function momentBefore(at, ms) {
  if (ms <= 0) return -1;
  const i = search(at.length, (k) => at[k] < ms);
  return at[i] === ms ? i : i - 1;
}

// The last moment that a range up to ms has; -1 where it has none.
export function momentUntil(at, ms) {
  return search(at.length, (k) => at[k] <= ms) - 1;
}

// How many of the first n indices have what no index behind them has.
function search(n, has) {
  let low = 0;
  while (low < n) {
    const middle = (low + n) >> 1;
    if (has(middle)) low = middle + 1;
    else n = middle;
  }
  return low;
}

// Allocations per second up to the time of each moment, since the last other
// time. No time is known before a first one of 0: it has the rate that follows.
export function rates({ at, allocations }) {
  const rates = new Array(at.length).fill(0);
  let before = { at: 0, n: 0 };
  let filled = 0;
  for (let last = 0; last < at.length; last++) {
    if (at[last] === at[last + 1]) continue;
    const ms = at[last] - before.at;
    if (ms > 0) {
      rates.fill(((allocations[last] - before.n) * 1000) / ms, filled, last + 1);
      filled = last + 1;
    }
    before = { at: at[last], n: allocations[last] };
  }
  return rates;
}

const columnOf = { calls: "calls", bytes: "bytes", temporary: "temporary", peak: "peak", leaked: "liveBytes", waste: "waste" };

// Of a program that goes on it is not known what it will not free.
function notEnded(profiles) {
  if (profiles.some((profile) => profile.sumsOnly)) {
    return { name: "In use", of: "bytes in use", fate: "in use", explain: "Bytes of blocks that lived when the profile was made." };
  }
  if (profiles.some((profile) => profile.running + profile.stopped > 0)) {
    return { name: "Live", of: "bytes not freed yet", fate: "not freed yet", explain: "Bytes of blocks that had not been freed when recording was stopped, or when this was written." };
  }
  return {};
}

export class Model {
  constructor({ head, columns }) {
    this.head = head;
    this.strings = head.strings;
    if (head.profiles.some((profile) => profile.noPeak)) delete metrics.peak;
    if (head.profiles.some((profile) => profile.sumsOnly)) delete metrics.temporary;
    if (head.profiles.some((profile) => profile.noWaste)) delete metrics.waste;
    Object.assign(metrics.leaked, notEnded(head.profiles));
    this.diff = head.profiles.length > 1;
    this.functions = { name: columns["function.name"], module: columns["function.module"], wrapper: columns["function.wrapper"] };
    this.frames = {
      function: Int32Array.from(columns["frame.function"]),
      file: Int32Array.from(columns["frame.file"]),
      line: Int32Array.from(columns["frame.line"]),
    };
    const back = columns["node.parent"];
    this.nodes = { parent: new Int32Array(back.length), frame: Int32Array.from(columns["node.frame"]) };
    for (let i = 0; i < back.length; i++) this.nodes.parent[i] = i - back[i];
    this.stacks = {};
    for (const [name, column] of Object.entries(columns)) {
      if (name.startsWith("stack.")) this.stacks[name.slice(6)] = column;
    }
    for (const name of ["node", "site", "side", "origin", "call"]) this.stacks[name] = Int32Array.from(this.stacks[name]);
    this.stackCount = this.stacks.node.length;
    this.timelines = head.profiles.map((_, i) => {
      const timeline = { change: {} };
      for (const [name, column] of Object.entries(columns)) {
        if (name.startsWith(`timeline${i}.change.`)) timeline.change[name.slice(17)] = column;
        else if (name.startsWith(`timeline${i}.`)) timeline[name.slice(10)] = column;
      }
      return timeline;
    });
    this.weight = new Float64Array(this.stackCount).fill(1);
    this.approximate = false;
    this.cache = new Map();
    this.names = new Map();
  }

  // Each has a peak of its own, at its own time: theirs add up to no moment.
  severalProcesses() {
    return this.head.profiles[this.head.profiles.length - 1].processes?.length > 1;
  }

  functionName(f) {
    const name = this.strings[this.functions.name[f]];
    if (name) return name;
    const module = this.strings[this.functions.module[f]];
    return module ? module.slice(module.lastIndexOf("/") + 1) : "(unknown function)";
  }

  moduleName(f) {
    const path = this.strings[this.functions.module[f]];
    return path.slice(path.lastIndexOf("/") + 1);
  }

  fileOf(frame) {
    return this.strings[this.frames.file[frame]];
  }

  // Where a frame is, in few letters.
  where(frame) {
    if (frame < 0) return "";
    const file = this.fileOf(frame);
    const line = this.frames.line[frame];
    if (!file) return this.moduleName(this.frames.function[frame]);
    const parts = file.split("/").filter(Boolean);
    const short = parts.slice(-2).join("/");
    return line > 0 ? `${short}:${line}` : short;
  }

  siteName(site) {
    const frame = this.head.sites[site].frame;
    return frame < 0 ? "(stack not recorded)" : this.functionName(this.frames.function[frame]);
  }

  // The filters give every stack a weight from 0 to 1; what is neither is an
  // estimate.
  filter(filters) {
    const { weight, stacks } = this;
    weight.fill(1);
    if (!filters.libc) {
      for (let i = 0; i < weight.length; i++) if (stacks.origin[i] === 2) weight[i] = 0;
    }
    if (filters.range) this.filterRange(filters.range);
    if (filters.sizes) this.filterSizes(filters.sizes);
    for (const text of filters.through) this.filterThrough(text);
    this.approximate = weight.some((w) => w > 0 && w < 1);
    this.cache.clear();
  }

  // What of a stack's calls fell into a range of time is known if all did or
  // none. Of others it is taken to be as large as of all calls that the
  // program made between the stack's first and last.
  filterRange([from, to]) {
    const { weight, stacks } = this;
    for (let i = 0; i < weight.length; i++) {
      if (weight[i] === 0) continue;
      const first = stacks.first[i] - 1;
      const last = stacks.last[i] - 1;
      if (first < 0 || last < from || first > to) weight[i] = 0;
      else if (first < from || last > to) weight[i] *= this.shareOfCalls(stacks.side[i], first, last, from, to);
    }
  }

  shareOfCalls(side, first, last, from, to) {
    const all = this.allocationsUntil(side, last) - this.allocationsBefore(side, first);
    const inside = this.allocationsUntil(side, Math.min(last, to)) - this.allocationsBefore(side, Math.max(first, from));
    if (all > 0) return Math.min(1, inside / all);
    return (Math.min(last, to) - Math.max(first, from)) / Math.max(1, last - first);
  }

  // Allocations of the program before a time, between moments in proportion.
  allocationsBefore(side, ms) {
    const { at, allocations } = this.timelines[side];
    const i = momentBefore(at, ms);
    const before = i < 0 ? { at: 0, n: 0 } : { at: at[i], n: allocations[i] };
    const width = i + 1 < at.length ? at[i + 1] - before.at : 0;
    return width > 0 ? before.n + ((allocations[i + 1] - before.n) * (ms - before.at)) / width : before.n;
  }

  // The same, with all that has this very time.
  allocationsUntil(side, ms) {
    const { at, allocations } = this.timelines[side];
    const i = momentUntil(at, ms);
    return i >= 0 && at[i] === ms ? allocations[i] : this.allocationsBefore(side, ms);
  }

  filterSizes([from, to]) {
    const { weight, stacks } = this;
    for (let i = 0; i < weight.length; i++) {
      if (weight[i] === 0 || stacks.calls[i] === 0) {
        weight[i] = 0;
        continue;
      }
      let inside = 0;
      this.eachSize(i, (size, calls) => {
        if (size >= from && size <= to) inside += calls;
      });
      weight[i] *= Math.min(1, inside / stacks.calls[i]);
    }
  }

  // The sizes of a stack's blocks: if they differ it is known how many have
  // the commonest for sure; of the others, the mean.
  eachSize(i, visit) {
    const { calls, bytes, sizeMin, sizeMore, common, commonCalls } = this.stacks;
    if (calls[i] === 0) return;
    if (sizeMore[i] === 0) {
      visit(sizeMin[i], calls[i], true);
      return;
    }
    const known = Math.min(commonCalls[i], calls[i]);
    if (known > 0) visit(common[i], known, true);
    const rest = calls[i] - known;
    if (rest > 0) {
      const mean = (bytes[i] - known * common[i]) / rest;
      visit(Math.max(sizeMin[i], Math.min(sizeMin[i] + sizeMore[i], Math.round(mean))), rest, false);
    }
  }

  filterThrough(text) {
    const passes = this.passing(text);
    const { weight, stacks } = this;
    for (let i = 0; i < weight.length; i++) {
      if (stacks.node[i] < 0 || !passes[stacks.node[i]]) weight[i] = 0;
    }
  }

  // Which nodes are inside of a frame that the text is found in.
  passing(text) {
    const hit = this.matching(text);
    const { parent, frame } = this.nodes;
    const passes = new Uint8Array(parent.length);
    for (let i = 0; i < parent.length; i++) {
      passes[i] = hit[this.frames.function[frame[i]]] || (parent[i] >= 0 && passes[parent[i]]) ? 1 : 0;
    }
    return passes;
  }

  // Which functions a text is found in: =NAME is the whole name.
  matching(text) {
    const known = this.names.get(text);
    if (known) return known;
    const wanted = text.toLowerCase();
    const hit = new Uint8Array(this.functions.name.length);
    const files = new Map();
    for (let i = 0; i < this.frames.function.length; i++) {
      const file = this.frames.file[i];
      if (!files.has(file)) files.set(file, this.strings[file].toLowerCase().includes(wanted));
      if (files.get(file) && !text.startsWith("=")) hit[this.frames.function[i]] = 1;
    }
    for (let f = 0; f < hit.length; f++) {
      const name = this.functionName(f);
      if (text.startsWith("=") ? name === text.slice(1) : name.toLowerCase().includes(wanted)) hit[f] = 1;
    }
    if (this.names.size > 50) this.names.clear();
    this.names.set(text, hit);
    return hit;
  }

  // The metric of every stack, filtered; of one side, or of all.
  values(metric, side = -1) {
    const key = `${metric} ${side}`;
    let values = this.cache.get(key);
    if (values) return values;
    const column = this.stacks[columnOf[metric]];
    values = new Float64Array(this.stackCount);
    for (let i = 0; i < values.length; i++) {
      if (side < 0 || this.stacks.side[i] === side) values[i] = column[i] * this.weight[i];
    }
    this.cache.set(key, values);
    return values;
  }

  total(metric, side = -1) {
    let sum = 0;
    for (const value of this.values(metric, side)) sum += value;
    return sum;
  }

  // The figures of every site, filtered.
  sites() {
    const known = this.cache.get("sites");
    if (known) return known;
    const { stacks, weight } = this;
    const sites = this.head.sites.map((_, id) => ({
      id, calls: 0, bytes: 0, temporary: 0, shortLived: 0, liveBlocks: 0, leaked: 0, peak: 0, waste: 0, releases: 0,
      byRealloc: 0, foreign: 0, failed: 0, sizeMin: Infinity, sizeMax: 0, stacks: 0, first: Infinity, last: -1, libc: 0,
    }));
    for (let i = 0; i < this.stackCount; i++) {
      const w = weight[i];
      if (w === 0) continue;
      const site = sites[stacks.site[i]];
      site.stacks++;
      site.calls += w * stacks.calls[i];
      site.bytes += w * stacks.bytes[i];
      site.temporary += w * stacks.temporary[i];
      site.shortLived += w * stacks.shortLived[i];
      site.liveBlocks += w * stacks.liveBlocks[i];
      site.leaked += w * stacks.liveBytes[i];
      site.peak += w * stacks.peak[i];
      site.waste += w * stacks.waste[i];
      site.releases += w * stacks.releases[i];
      site.byRealloc += w * stacks.byRealloc[i];
      site.foreign += w * stacks.foreign[i];
      site.failed += w * stacks.failed[i];
      if (stacks.origin[i] === 2) site.libc += w * stacks.calls[i];
      if (stacks.calls[i] > 0) {
        site.sizeMin = Math.min(site.sizeMin, stacks.sizeMin[i]);
        site.sizeMax = Math.max(site.sizeMax, stacks.sizeMin[i] + stacks.sizeMore[i]);
      }
      if (stacks.first[i] > 0) {
        site.first = Math.min(site.first, stacks.first[i] - 1);
        site.last = Math.max(site.last, stacks.last[i] - 1);
      }
    }
    const present = sites.filter((site) => site.stacks > 0);
    this.cache.set("sites", present);
    return present;
  }

  // The stacks of a site that the filters let through, the greatest first.
  stacksOf(site, metric) {
    const values = this.values(metric);
    const found = [];
    for (let i = 0; i < this.stackCount; i++) {
      if (this.stacks.site[i] === site && this.weight[i] > 0) found.push(i);
    }
    return found.sort((a, b) => values[b] - values[a] || this.stacks.calls[b] - this.stacks.calls[a] || a - b);
  }

  // The nodes of a stack, innermost first.
  path(stack) {
    const path = [];
    for (let n = this.stacks.node[stack]; n >= 0; n = this.nodes.parent[n]) path.push(n);
    return path;
  }

  // The node at which the stack's site is: the first whose frame is the
  // site's; the innermost where none is, as in stacks that were merged.
  siteNode(stack) {
    const frame = this.head.sites[this.stacks.site[stack]].frame;
    for (let n = this.stacks.node[stack]; n >= 0; n = this.nodes.parent[n]) {
      if (this.nodes.frame[n] === frame) return n;
    }
    return this.stacks.node[stack];
  }

  isWrapper(f) {
    return this.functions.wrapper[f] === 1;
  }

  // Who calls a site: the next frame outwards that is no wrapper.
  callersOf(site, metric) {
    const values = this.values(metric);
    const byFrame = new Map();
    for (let i = 0; i < this.stackCount; i++) {
      if (this.stacks.site[i] !== site || this.weight[i] === 0) continue;
      let n = this.siteNode(i);
      do n = n < 0 ? -1 : this.nodes.parent[n];
      while (n >= 0 && this.isWrapper(this.frames.function[this.nodes.frame[n]]));
      const frame = n < 0 ? -1 : this.nodes.frame[n];
      byFrame.set(frame, (byFrame.get(frame) ?? 0) + values[i]);
    }
    return [...byFrame].map(([frame, value]) => ({ frame, value })).sort((a, b) => b.value - a.value || a.frame - b.frame);
  }

  // What the filters let through, in words.
  describe() {
    let stacks = 0;
    for (const w of this.weight) if (w > 0) stacks++;
    return counted(stacks, "stack", "stacks");
  }
}
