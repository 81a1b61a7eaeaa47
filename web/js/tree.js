// The call tree by function, in either direction, opened as far as somebody
// looks: a recording has a million nodes, of which a screen shows a thousand.

export class CallTree {
  // invert: the sites are outermost, and their callers inside of them.
  constructor(model, metric, invert) {
    this.model = model;
    this.invert = invert;
    this.sides = model.diff ? [0, 1] : [-1];
    this.values = this.sides.map((side) => model.values(metric, side));
    this.root = invert ? this.invertedRoot() : this.uprightRoot();
  }

  uprightRoot() {
    const { nodes, stacks, stackCount } = this.model;
    const count = nodes.parent.length;
    this.total = this.sides.map(() => new Float64Array(count));
    const sums = this.sides.map(() => 0);
    for (let side = 0; side < this.sides.length; side++) {
      const total = this.total[side];
      const values = this.values[side];
      for (let i = 0; i < stackCount; i++) {
        sums[side] += values[i];
        if (stacks.node[i] >= 0) total[stacks.node[i]] += values[i];
      }
      for (let n = count - 1; n >= 0; n--) {
        if (nodes.parent[n] >= 0) total[nodes.parent[n]] += total[n];
      }
    }
    return this.node(-1, null, sums, { nodes: [-1] });
  }

  invertedRoot() {
    const { stacks, stackCount } = this.model;
    const at = [];
    const of = [];
    const sums = this.sides.map(() => 0);
    for (let i = 0; i < stackCount; i++) {
      let any = 0;
      for (let side = 0; side < this.sides.length; side++) {
        sums[side] += this.values[side][i];
        any += this.values[side][i];
      }
      if (any > 0 && stacks.node[i] >= 0) {
        at.push(this.model.siteNode(i));
        of.push(i);
      }
    }
    return this.node(-1, null, sums, { at, of });
  }

  // values are by side; what is shown as wide as the greater one.
  node(f, parent, values, members) {
    return {
      f, parent, values, members, children: null,
      depth: parent ? parent.depth + 1 : 0,
      value: Math.max(...values),
    };
  }

  // The children of a node, the greatest first.
  childrenOf(node) {
    if (node.children) return node.children;
    const groups = new Map();
    if (this.invert) this.expandInverted(node, groups);
    else this.expand(node, groups);
    node.children = [...groups]
      .map(([f, group]) => this.node(f, node, group.values, group.members))
      .filter((child) => child.value > 0)
      .sort((a, b) => b.value - a.value || a.f - b.f);
    return node.children;
  }

  expand(node, groups) {
    const { frames, nodes } = this.model;
    const [start, list] = this.lists();
    for (const n of node.members.nodes) {
      for (let k = start[n + 1]; k < start[n + 2]; k++) {
        const child = list[k];
        let any = 0;
        for (const total of this.total) any += total[child];
        if (any === 0) continue;
        const f = frames.function[nodes.frame[child]];
        let group = groups.get(f);
        if (!group) groups.set(f, (group = { values: this.sides.map(() => 0), members: { nodes: [] } }));
        group.members.nodes.push(child);
        for (let side = 0; side < this.sides.length; side++) group.values[side] += this.total[side][child];
      }
    }
  }

  expandInverted(node, groups) {
    const { frames, nodes } = this.model;
    const { at, of } = node.members;
    for (let i = 0; i < at.length; i++) {
      const n = node.parent ? nodes.parent[at[i]] : at[i];
      if (n < 0) continue;
      const f = frames.function[nodes.frame[n]];
      let group = groups.get(f);
      if (!group) groups.set(f, (group = { values: this.sides.map(() => 0), members: { at: [], of: [] } }));
      group.members.at.push(n);
      group.members.of.push(of[i]);
      for (let side = 0; side < this.sides.length; side++) group.values[side] += this.values[side][of[i]];
    }
  }

  // The children of every node of the recording, those of none first, as parts
  // of one list.
  lists() {
    const { model } = this;
    if (model.childLists) return model.childLists;
    const { parent } = model.nodes;
    const start = new Int32Array(parent.length + 3);
    for (let i = 0; i < parent.length; i++) start[parent[i] + 3]++;
    for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
    const list = new Int32Array(parent.length);
    const next = start.slice();
    for (let i = 0; i < parent.length; i++) list[next[parent[i] + 2]++] = i;
    // The children of n are from start[n + 2 - 1] on.
    model.childLists = [start.subarray(1), list];
    return model.childLists;
  }

  // The functions from the root to a node, for finding it again in a tree of
  // other figures.
  static way(node) {
    const way = [];
    for (; node.parent; node = node.parent) way.unshift(node.f);
    return way;
  }

  // The node at the end of a way, or as far along it as there is one.
  follow(way) {
    let node = this.root;
    for (const f of way) {
      const child = this.childrenOf(node).find((c) => c.f === f);
      if (!child) break;
      node = child;
    }
    return node;
  }
}

// Lays out the part of a tree that a width of pixels can show, the node in
// focus over the whole width, those around it above. What is narrower than
// least is left out, and reported as one stretch.
export function layOut(tree, focus, width, least = 2) {
  const boxes = [];
  const around = [];
  for (let node = focus.parent; node; node = node.parent) around.unshift(node);
  for (const node of around) boxes.push({ node, x: 0, width, row: node.depth, around: true });
  const open = [{ node: focus, x: 0, width }];
  let rows = focus.depth + 1;
  while (open.length > 0) {
    const box = open.pop();
    box.row = box.node.depth;
    boxes.push(box);
    rows = Math.max(rows, box.row + 1);
    if (box.width < least) continue;
    const children = tree.childrenOf(box.node);
    // What has more on one side and less on the other needs more than the sum.
    const inside = children.reduce((sum, child) => sum + child.value, 0);
    const scale = box.width / Math.max(box.node.value, inside);
    let x = box.x;
    for (let i = 0; i < children.length; i++) {
      const childWidth = children[i].value * scale;
      if (childWidth < least) {
        let rest = 0;
        for (let k = i; k < children.length; k++) rest += children[k].value;
        boxes.push({ node: null, inside: box.node, number: children.length - i, x, width: rest * scale, row: box.row + 1 });
        rows = Math.max(rows, box.row + 2);
        break;
      }
      open.push({ node: children[i], x, width: childWidth });
      x += childWidth;
    }
  }
  return { boxes, rows };
}
