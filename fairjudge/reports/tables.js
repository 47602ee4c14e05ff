// Tables with sortable headings, and long lists with pages.

const PAGE = 25;

function sortHeading(cell, text, onSort) {
  const button = make("button", { type: "button", class: "sort", onclick: onSort }, text);
  cell.replaceChildren(button);
}

function showSorted(cells, chosen, sign) {
  cells.forEach((cell, place) => {
    if (place === chosen) cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  });
}

// The sort key of a rendered cell: its leading number, else its text.
function sortValue(text) {
  const trimmed = text.trim();
  const number = /^[+-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?(?=$|[\s[%])/i.exec(trimmed);
  return number ? Number(number[0].replaceAll(",", "")) : trimmed;
}

function makeSortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 2) return;
  let chosen = -1;
  let sign = 1;
  heads.forEach((head, place) => {
    const text = head.textContent;
    if (!text) return;
    sortHeading(head, text, () => {
      sign = chosen === place ? -sign : head.classList.contains("right") ? -1 : 1;
      chosen = place;
      const rows = [...body.rows].map((row) => [sortValue(row.cells[place].textContent), row]);
      rows.sort((one, other) => compare(one[0], other[0], sign));
      body.append(...rows.map(([, row]) => row));
      showSorted(heads, place, sign);
    });
  });
}

// A paginated list.
//   columns: [{ title, key?, value(item), show(item)?, right?, minor?, long?, descends? }]; show returns text
//   or an element, `key` is the column's name in URLs, `descends` sorts in descending order
// With `saves`, a button saves all pages as CSV.
// With `cards`, the cells of a row are stacked on phones; roles keep it a table.
class PagedTable {
  constructor({ title, columns, noun, nouns, cards = false, saves = true, onChange = () => {} }) {
    this.columns = columns;
    this.noun = noun;
    this.onChange = onChange;
    this.nouns = nouns;
    this.items = [];
    this.all = 0;
    this.page = 0;
    this.chosen = -1;
    this.sign = 1;
    this.hidden = new Set();
    this.status = make("p", { role: "status", class: "note" });
    this.heads = columns.map((column) => make("th", { scope: "col", role: "columnheader", class: this.classOf(column) }));
    this.heads.forEach((head, place) => sortHeading(head, columns[place].title, () => this.sort(place)));
    this.body = make("tbody", { role: "rowgroup" });
    const table = make("table", { class: cards ? "paged cards" : "paged", role: "table", "aria-label": title },
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, this.heads)), this.body);
    const box = make("div", { class: "wide", tabindex: 0, role: "group", "aria-label": title }, table);
    this.before = action("Previous page", () => this.turn(-1));
    this.after = action("Next page", () => this.turn(1));
    this.place = make("span", { role: "status" });
    this.pager = make("div", { class: "pager" }, this.before, this.place, this.after);
    const saved = saves && saveButtons(title, [["CSV", () => saveFile(fileName(title, "csv"), csvBlob(title, this.rows()))]]);
    this.box = make("div", null, this.status, box, this.pager, saved);
  }

  classOf(column) {
    return [column.right && "right", column.minor && "minor", column.long && "excerpt"].filter(Boolean).join(" ") || null;
  }

  // Hides columns from the next `show` on.
  hide(keys) {
    this.hidden = new Set(keys);
    this.heads.forEach((head, place) => { head.hidden = this.hidden.has(this.columns[place].key); });
  }

  show(items, all) {
    this.items = items;
    this.all = all;
    this.page = 0;
    this.arrange();
    this.draw();
  }

  sort(place) {
    this.sign = this.chosen === place ? -this.sign : this.columns[place].descends ? -1 : 1;
    this.chosen = place;
    this.page = 0;
    this.arrange();
    this.draw();
    this.onChange();
  }

  arrange() {
    if (this.chosen < 0) return;
    const value = this.columns[this.chosen].value;
    const keyed = this.items.map((item) => [value(item), item]);
    keyed.sort((one, other) => compare(one[0], other[0], this.sign));
    this.items = keyed.map(([, item]) => item);
    showSorted(this.heads, this.chosen, this.sign);
  }

  turn(step) {
    this.turnTo(this.page + 1 + step);
    this.box.scrollIntoView({ block: "nearest" });
    this.onChange();
  }

  turnTo(page) {
    this.page = page - 1;
    this.draw();
  }

  // The sort order and page number for URLs; empty for the defaults.
  order() {
    const sort = this.chosen < 0 ? null : `${this.sign < 0 ? "-" : ""}${this.columns[this.chosen].key}`;
    return { ...(sort && { sort }), ...(this.page && { page: this.page + 1 }) };
  }

  // Sets the sort order of the next `show`.
  orderBy(sort) {
    this.sign = sort.startsWith("-") ? -1 : 1;
    this.chosen = sort ? this.columns.findIndex((column) => column.key === sort.replace(/^-/, "")) : -1;
    showSorted(this.heads, this.chosen, this.sign);
  }

  draw() {
    const pages = Math.max(1, Math.ceil(this.items.length / PAGE));
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const start = this.page * PAGE;
    const shown = this.items.slice(start, start + PAGE);
    this.body.replaceChildren(...shown.map((item) => this.row(item)));
    const all = plural(this.all, this.noun, this.nouns);
    const found = this.items.length === this.all ? all : `${this.items.length.toLocaleString("en")} of ${all}`;
    this.status.textContent = this.items.length ? found : `None of ${all} fits.`;
    this.place.textContent = `Page ${this.page + 1} of ${pages}`;
    allow(this.before, this.page > 0);
    allow(this.after, this.page < pages - 1);
    this.pager.hidden = pages === 1;
  }

  // The items of all pages, in the order shown.
  rows() {
    const columns = this.columns.filter((column) => !this.hidden.has(column.key));
    return [columns.map((column) => column.title), ...this.items.map((item) => columns.map((column) => column.value(item)))];
  }

  row(item) {
    return make("tr", { role: "row" }, this.columns.map((column, place) => {
      const content = column.show ? column.show(item) : column.value(item);
      const text = content instanceof Node ? content.textContent : content;
      const attributes = { title: typeof text === "string" && text.includes("…") && text !== column.value(item) ? column.value(item) : null, class: this.classOf(column), hidden: this.hidden.has(column.key), "data-title": column.title,
        scope: place ? null : "row", role: place ? "cell" : "rowheader" };
      return make(place ? "td" : "th", attributes, content === null || content === undefined ? "-" : content);
    }));
  }
}
