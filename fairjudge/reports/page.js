// Starts whatever the page has a place for.

document.querySelectorAll("table.sortable").forEach(makeSortable);

// Maps by names that others gave: a system called "constructor" is found only where it was put.
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

// A box is a stop for the keyboard only where there is something to scroll.
function settleBoxes() {
  const boxes = [...document.querySelectorAll(".wide")];
  const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth);  // all measured before any is changed
  boxes.forEach((box, place) => { box.tabIndex = scrolls[place] ? 0 : -1; });
}

window.addEventListener("resize", afterPause(settleBoxes));
document.addEventListener("toggle", settleBoxes, true);
settleBoxes();

// Paper cannot unfold: everything folded is opened while the page is printed.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  unfolded.forEach((one) => { one.open = true; });
});
window.addEventListener("afterprint", () => unfolded.forEach((one) => { one.open = false; }));

// Milliseconds from the start of loading until everything answers.
document.documentElement.dataset.ready = String(Math.round(performance.now()));
