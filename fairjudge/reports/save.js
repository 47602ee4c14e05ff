// Saves figures as SVG and PNG, and tables as CSV.

// Cells that a spreadsheet would run as formulas get an apostrophe, except numbers.
function csvOf(rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    const safe = /^[=+\-@\t\r]/.test(text) && !/^[-+]?[\d.,%]*$/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n");
}

function saveFile(name, blob) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function fileName(title, suffix) {
  const words = title.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").slice(0, 60).replace(/^-|-$/g, "");
  return `${words || "fairjudge"}.${suffix}`;
}

// A figure as a standalone document on white; text styles become attributes.
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const texts = [...svg.querySelectorAll("text, tspan")];
  [...copy.querySelectorAll("text, tspan")].forEach((text, place) => {
    const style = getComputedStyle(texts[place]);
    for (const name of ["font-family", "font-size", "font-weight"]) text.setAttribute(name, style.getPropertyValue(name));
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: "white" })) paper.setAttribute(name, value);
  copy.querySelector("title").after(paper);
  return new XMLSerializer().serializeToString(copy);
}

const SCALE = 2;  // pixels of a PNG per pixel of the page

async function pngOf(svg) {
  const url = URL.createObjectURL(new Blob([svgText(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = make("canvas", { width: SCALE * image.width, height: SCALE * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  } finally {
    URL.revokeObjectURL(url);
  }
}

function saveButtons(title, saves) {
  return make("div", { class: "save" }, saves.map(([kind, save]) =>
    make("button", { type: "button", "aria-label": `Save as ${kind}: ${title}`, onclick: save }, `Save as ${kind}`)));
}

function saveFigure(svg) {
  const title = svg.getAttribute("aria-label").split(": ")[0];
  const figure = svg.closest("figure");
  figure.insertBefore(saveButtons(title, [
    ["SVG", () => saveFile(fileName(title, "svg"), new Blob([svgText(svg)], { type: "image/svg+xml" }))],
    ["PNG", async () => saveFile(fileName(title, "png"), await pngOf(svg))],
  ]), figure.querySelector("figcaption"));
}

// The format of `fairjudge --tables csv`: the title is in the first line.
function csvBlob(title, rows) {
  return new Blob([`# ${title}\r\n${csvOf(rows)}\r\n`], { type: "text/csv" });
}

// Saves the rows in the order shown.
function saveTable(table) {
  const title = table.caption.textContent;
  const save = () => {
    const plain = (text) => (/^-?\d{1,3}(,\d{3})+$/.test(text) ? text.replaceAll(",", "") : text);
    const rows = [...table.rows].map((row) => [...row.cells].map((cell) => plain(cell.textContent)));
    saveFile(fileName(title, "csv"), csvBlob(title, rows));
  };
  table.after(saveButtons(title, [["CSV", save]]));
}

document.querySelectorAll("figure svg").forEach(saveFigure);
document.querySelectorAll("table.sortable").forEach(saveTable);
