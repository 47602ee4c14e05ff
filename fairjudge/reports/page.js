// Initialises the views for which the page has an element.

document.querySelectorAll("table.sortable").forEach(makeSortable);

// Copies an object to one without a prototype, so that names such as "constructor" are safe keys.
function byName(map, inner = (value) => value) {
  const bare = Object.create(null);
  for (const [name, value] of Object.entries(map)) bare[name] = inner(value);
  return bare;
}

function readData(text) {
  const data = JSON.parse(text);
  data.clusters = byName(data.clusters, (one) => ({ ...one, articles: byName(one.articles) }));
  data.summaries = byName(data.summaries, (one) => byName(one));
  data.sentences = byName(data.sentences, (one) => byName(one));
  return data;
}

const block = document.getElementById("data");
if (block) {
  const data = readData(block.textContent);
  const judgements = new Judgements(data);
  const place = (id, start) => {
    const box = document.getElementById(id);
    if (box) start(box);
  };
  place("explorer", (box) => new Explorer(judgements, box));
  place("without-score", (box) => new Unscored(judgements, box));
  place("disagreements", (box) => new Disagreements(judgements, box));
  place("uncovered", (box) => new Uncovered(data, box));
  place("questions", (box) => new Questions(judgements, box));
  place("passages", (box) => new Sentences(judgements, box));
  if (address.list) document.getElementById("judgements").scrollIntoView();
  judgements.view.follow();
}

// Unfolds the sections around the figure or table in the URL.
function unfoldTarget() {
  const [target] = [...document.querySelectorAll("figure[id], table[id]")].filter((one) => `#${encodeURIComponent(one.id)}` === window.location.hash);
  if (!target) return;
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
}

window.addEventListener("hashchange", unfoldTarget);
unfoldTarget();

// Makes boxes focusable only if they scroll.
function settleBoxes() {
  const boxes = [...document.querySelectorAll(".wide")];
  const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth);  // measure all before changing any
  boxes.forEach((box, place) => { box.tabIndex = scrolls[place] ? 0 : -1; });
}

window.addEventListener("resize", afterPause(settleBoxes));
document.addEventListener("toggle", settleBoxes, true);
settleBoxes();

// Prints the page as unfolded by the reader, or everything; the style sheet hides the rest.
const root = document.documentElement;
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll(root.dataset.print ? "details:not([open])" : "details.printed:not([open])")];
  unfolded.forEach((one) => { one.open = true; });
});
window.addEventListener("afterprint", () => {
  unfolded.forEach((one) => { one.open = false; });
  delete root.dataset.print;
});
if (document.querySelector("details, .unprinted")) {
  const everything = action("Print everything", () => { root.dataset.print = "all"; window.print(); });
  document.querySelector("header").append(make("p", { class: "controls" }, everything));
}

// Milliseconds from the start of loading until the page is interactive.
root.dataset.ready = String(Math.round(performance.now()));
