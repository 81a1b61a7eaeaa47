// What the page does besides showing itself: it opens the step that was
// chosen, tells the point under the pointer, and searches.

const points = JSON.parse(document.getElementById("points").textContent);

function openChosen() {
  const id = location.hash.slice(1);
  const step = id && document.getElementById(id);
  if (step instanceof HTMLDetailsElement) {
    step.open = true;
    step.scrollIntoView({ block: "center" });
  }
}
addEventListener("hashchange", openChosen);
// A second click on the same mark changes no address.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link && link.hash !== undefined && link.hash === location.hash) openChosen();
  const href = link && link.href && link.href.baseVal;
  if (href && href === location.hash) openChosen();
});

for (const chart of document.querySelectorAll("svg[data-series]")) {
  const series = points[Number(chart.dataset.series)];
  const readout = chart.closest("article").querySelector(".readout");
  const cursor = chart.querySelector(".cursor");
  const about = readout.textContent;
  const width = chart.viewBox.baseVal.width;
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const last = series.length - 1;
    const at = Math.max(0, Math.min(last, Math.round(((event.clientX - box.left) / box.width) * last)));
    const x = last > 0 ? (at / last) * width : width / 2;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    chart.classList.add("reading");
    readout.textContent = series[at];
  });
  chart.addEventListener("pointerleave", () => {
    chart.classList.remove("reading");
    readout.textContent = about;
  });
}

const search = document.getElementById("search");
search.hidden = false;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const part of document.querySelectorAll("[data-text]")) {
    const text = part.dataset.text.toLowerCase();
    part.hidden = !words.every((word) => text.includes(word));
  }
  for (const section of document.querySelectorAll("section.benchmark")) {
    section.hidden = !section.querySelector("article:not([hidden])");
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
});
openChosen();
