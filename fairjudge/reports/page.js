// Starts whatever the page has a place for.

document.querySelectorAll("table.sortable").forEach(makeSortable);

const block = document.getElementById("data");
if (block) {
  const data = JSON.parse(block.textContent);
  const judgements = new Judgements(data);
  const place = (id, start) => {
    const box = document.getElementById(id);
    if (box) start(box);
  };
  place("explorer", (box) => new Explorer(judgements, box));
  place("without-score", (box) => new Unscored(judgements, box));
  place("uncovered", (box) => new Uncovered(data, box));
  place("questions", (box) => new Questions(judgements, box));
  place("passages", (box) => new Sentences(judgements, box));
}

// A box is a stop for the keyboard only where there is something to scroll.
function settleBoxes() {
  document.querySelectorAll(".wide").forEach((box) => {
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  });
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
