// Elements are made here and only here: text always becomes a text node, so
// what a name contains is shown and never read as markup.

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  put(element, children);
  return element;
}

export function put(element, children) {
  for (const child of children.flat(3)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child);
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return put(element, children);
}

export function byId(id) {
  return document.getElementById(id);
}

// A name of code: isolated, so that no mark in it turns the text around it.
export function code(text, full) {
  return h("bdi", { class: "code", title: full && full !== text ? full : undefined }, text);
}

// A share as a bar, for tables. Widths are set as properties: the policy of
// the page forbids style attributes.
export function bar(share, className = "") {
  const inner = h("span", { class: `bar ${className}` });
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span", { class: "track", "aria-hidden": "true" }, inner);
}

// What a screen reader is told.
export function say(text) {
  byId("spoken").textContent = text;
}
