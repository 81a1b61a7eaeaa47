// Light, dark or the system's colours.

import { byId } from "./dom.js";

export function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme];
  try {
    localStorage.setItem("mallow-theme", theme);
  } catch {
    // Some browsers keep nothing for files: the choice then lasts as long as the page.
  }
}

export function nextTheme() {
  const order = ["auto", "light", "dark"];
  setTheme(order[(order.indexOf(document.documentElement.dataset.theme) + 1) % order.length]);
}

export function storedTheme() {
  try {
    const theme = localStorage.getItem("mallow-theme");
    return ["light", "dark"].includes(theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}
