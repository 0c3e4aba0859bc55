"use strict";
// What a mark says, beside the pointer; the tables have the same for the keyboard and for screen readers.
const tip = document.getElementById("tip");
document.addEventListener("pointerover", (event) => {
  const mark = event.target instanceof Element ? event.target.closest("[data-say]") : null;
  tip.hidden = mark === null;
  if (mark) tip.textContent = mark.getAttribute("data-say");
});
document.addEventListener("pointermove", (event) => {
  if (tip.hidden) return;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(event.pageX + 14, room))}px`;
  tip.style.top = `${event.pageY + 18}px`;
});

// The filter by rule: rows that do not have it go, marks that do not tell of it fade, and what is folded opens.
const filter = document.getElementById("filter");
if (filter) {
  const found = document.getElementById("filtered");
  filter.closest("p").hidden = false;
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    let some = false;
    for (const row of document.querySelectorAll("[data-rule]")) {
      row.hidden = !row.getAttribute("data-rule").toLowerCase().includes(wanted);
      some ||= !row.hidden;
    }
    for (const mark of document.querySelectorAll("#rules [data-say], #episodes [data-say]")) {
      mark.classList.toggle("away", !mark.getAttribute("data-say").toLowerCase().includes(wanted));
    }
    for (const fold of wanted ? document.querySelectorAll("details:has([data-rule])") : []) fold.open = true;
    found.textContent = some ? "" : found.dataset.none;
  });
}
