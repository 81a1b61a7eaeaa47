// Keys that work everywhere but in fields.

import { byId } from "./dom.js";
import { metrics } from "./model.js";

export const views = ["overview", "calls", "sizes", "source", "about"];

export function listenToKeys(app) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape") {
      if (field) field.blur();
      app.escape();
      return;
    }
    if (field) return;
    if (act(app, event.key)) event.preventDefault();
  });
}

function act(app, key) {
  const { state } = app;
  const view = views[Number(key) - 1];
  if (view) {
    state.set({ view });
    return true;
  }
  switch (key) {
    case "m":
    case "M": {
      const names = Object.keys(metrics);
      const at = names.indexOf(state.get("metric")) + (key === "m" ? 1 : names.length - 1);
      state.set({ metric: names[at % names.length] });
      return true;
    }
    case "/":
      byId("search").focus();
      byId("search").select();
      return true;
    case "i":
      state.set({ view: "calls", invert: state.get("view") === "calls" ? !state.get("invert") : state.get("invert") });
      return true;
    case "t":
      app.nextTheme();
      return true;
    case "?":
      state.set({ view: "about" });
      return true;
    case "j":
    case "k":
      return nextSite(app, key === "j" ? 1 : -1);
  }
  return false;
}

function nextSite(app, step) {
  const rows = [...document.querySelectorAll("main > :not([hidden]) tr[data-site]")];
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => Number(row.dataset.site) === app.state.get("site"));
  const row = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step))];
  app.state.set({ site: Number(row.dataset.site) });
  row.scrollIntoView({ block: "nearest" });
  return true;
}
