// What the reader chose. It is kept in the part of the address behind #, so
// that going back, reloading and passing the address on work.

export class State {
  constructor(defaults) {
    this.defaults = defaults;
    this.values = { ...this.defaults };
    this.listeners = [];
  }

  get(name) {
    return this.values[name];
  }

  // Takes changes over and tells everybody which. A change of view or of site
  // is a step that the browser's back button takes back.
  set(changes) {
    const changed = new Set();
    for (const [name, value] of Object.entries(changes)) {
      if (JSON.stringify(this.values[name]) !== JSON.stringify(value)) {
        this.values[name] = value;
        changed.add(name);
      }
    }
    if (changed.size === 0) return;
    const step = ["view", "site", "file", "subject", "line"].some((name) => changed.has(name));
    history[step ? "pushState" : "replaceState"](null, "", this.address());
    this.tell(changed);
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell(changed) {
    for (const listener of this.listeners) listener(changed);
  }

  address() {
    const parts = [];
    for (const [name, value] of Object.entries(this.values)) {
      const text = JSON.stringify(value);
      if (text !== JSON.stringify(this.defaults[name])) parts.push(`${name}=${encodeURIComponent(typeof value === "string" ? value : text)}`);
    }
    return "#" + parts.join("&");
  }

  // Takes an address over as far as it makes sense: it may come from anybody.
  load(address, valid) {
    const values = { ...this.defaults };
    for (const part of address.replace(/^#/, "").split("&")) {
      const at = part.indexOf("=");
      const name = part.slice(0, at);
      if (at < 0 || !Object.hasOwn(this.defaults, name)) continue;
      try {
        const text = decodeURIComponent(part.slice(at + 1));
        const value = typeof this.defaults[name] === "string" ? text : JSON.parse(text);
        if (valid(name, value)) values[name] = value;
      } catch {
        // Not one of ours: the default stays.
      }
    }
    const changed = new Set(Object.keys(values).filter((name) => JSON.stringify(values[name]) !== JSON.stringify(this.values[name])));
    this.values = values;
    if (changed.size > 0) this.tell(changed);
  }
}
