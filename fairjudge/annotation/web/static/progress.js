// Brings the figures up to date every few seconds while the page is looked at.
"use strict";

setInterval(async () => {
  if (document.hidden) return;
  try {
    const reply = await fetch("/progress/figures", { cache: "no-store" });
    if (reply.ok) {
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
      document.getElementById("figures").replaceChildren(...fresh.body.childNodes);
    }
  } catch {
    // The server is away; the next round asks again.
  }
}, 5000);
