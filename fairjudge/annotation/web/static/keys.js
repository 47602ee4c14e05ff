// Keys for the annotation page. Everything works without this script too, with a mouse or by Tab.
"use strict";

(() => {
  const opened = performance.now();
  const settle = 150; // milliseconds in which a key still means the item before
  const byId = (id) => document.getElementById(id);
  let sent = false;

  // The best passage is brought into view inside its own column; the page itself does not move.
  for (const box of document.querySelectorAll(".scroll")) {
    const mark = box.querySelector("mark.m-best") ?? box.querySelector("mark");
    if (mark) {
      const offset = mark.getBoundingClientRect().top - box.getBoundingClientRect().top;
      if (offset + mark.offsetHeight > box.clientHeight) box.scrollTop = offset - box.clientHeight / 3;
    }
  }

  for (const form of document.querySelectorAll("form")) {
    form.addEventListener("submit", (event) => {
      if (sent) { event.preventDefault(); return; }
      sent = true;
      const seconds = byId("seconds");
      if (seconds) seconds.value = ((performance.now() - opened) / 1000).toFixed(1);
    });
  }
  window.addEventListener("pageshow", () => { sent = false; });

  const column = () => document.activeElement?.closest(".scroll")
    ?? [...document.querySelectorAll(".panes .scroll")].pop();

  const actions = {
    ArrowLeft: () => byId("before")?.click(),
    ArrowRight: () => byId("after")?.click(),
    ArrowUp: () => column()?.scrollBy({ top: -80 }),
    ArrowDown: () => column()?.scrollBy({ top: 80 }),
    u: () => byId("undo")?.querySelector("button")?.click(),
    c: () => byId("note")?.focus(),
    g: () => { const guide = byId("guide"); if (guide) guide.open = !guide.open; },
    s: () => {
      const skip = byId("skip");
      if (!skip) return;
      skip.open = !skip.open;
      (skip.open ? skip.querySelector("input[type=radio]") : skip.querySelector("summary")).focus();
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const skip = byId("skip");
    if (event.key === "Escape") {
      if (skip?.open) { skip.open = false; skip.querySelector("summary").focus(); }
      else if (document.activeElement?.matches("input, textarea")) document.activeElement.blur();
      return;
    }
    if (event.target.matches?.("input, textarea, select") || skip?.open) return;
    const wait = event.repeat || sent || performance.now() - opened < settle;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const button = [...document.querySelectorAll("button[data-key]")]
      .find((one) => one.dataset.key && one.dataset.key === key);
    if (button) {
      event.preventDefault();
      if (!wait) button.click();
    } else if (Object.hasOwn(actions, key)) {
      const scrolls = key === "ArrowUp" || key === "ArrowDown";
      if (scrolls && !column()) return;
      event.preventDefault();
      if (scrolls || !wait) actions[key]();
    }
  });

  document.documentElement.dataset.ready = "";
})();
