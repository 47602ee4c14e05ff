// Lists of judgements: all (with filters, sorting and saving), those without a score, and disagreements.

const MOST_CHOICES = 20;
const BANDS = 5;

// A column of numbers that are missing in some judgements.
function figureColumn(key, title, figure) {
  const show = (place) => { const value = figure(place); return value === null ? "-" : rounded(value); };
  return { key, title, value: figure, show, right: true, descends: true };
}

// Bands of equal width, for filters of numbers with many distinct values.
function bandsOf(values) {
  const low = Math.min(...values);
  const width = (Math.max(...values) - low) / BANDS;
  return Array.from({ length: BANDS }, (_, n) => {
    const [from, to] = [low + n * width, low + (n + 1) * width];
    const last = n === BANDS - 1;
    return [`${rounded(from)} to ${rounded(to)}`, (value) => value >= from && (value < to || last)];
  });
}

class Explorer {
  constructor(judgements, box) {
    this.judgements = judgements;
    this.filters = [];
    this.table = new PagedTable({ title: "Judgements", columns: this.columns(), noun: "judgement", cards: true, saves: false, onChange: () => this.remember() });
    this.message = make("span", { class: "note", role: "status" });
    judgements.listed = () => this.table.items;
    const copy = action("Copy as CSV", () => navigator.clipboard.writeText(this.csv()).then(
      () => { this.message.textContent = `${plural(this.table.items.length, "row")} copied.`; },
      () => { this.message.textContent = "The browser does not allow copying; save it instead."; }));
    const save = action("Save as CSV", () => this.save());
    box.append(this.form(), this.table.box, make("div", { class: "pager" }, copy, save, this.message));
    this.restore(readAddress().list);
    window.addEventListener("hashchange", () => { const { list } = readAddress(); if (list) this.restore(list); });
  }

  columns() {
    const j = this.judgements;
    const has = (name) => j.names[name].length > 1;
    const named = (key, title, name = key) => has(name) && { key, title, value: (i) => j.get(name, i), show: (i) => j.brief(name, i), minor: true };
    return [
      { key: "cluster", title: "Cluster", value: (i) => j.get("eid", i), show: (i) => this.opener(i) },
      { key: "system", title: "System", value: (i) => (j.shown(i) || [j.who(i)]).join(" before ") },
      named("aspect", "Aspect"),
      named("part", "Part", "unit"),
      named("judge", "Judge"),
      named("protocol", "Protocol"),
      { key: "verdict", title: "Verdict", value: (i) => this.verdict(i), show: (i) => j.said(i), right: true },
      j.columns.labels.some(Boolean) && { ...figureColumn("people", "Humans", (i) => j.people(i)), descends: false },
      this.some("gap") && figureColumn("gap", "Difference to humans", (i) => j.gap(i)),
      has("judge") && this.some("spread") && figureColumn("spread", "Range of judges", (i) => j.spread(i)),
      j.columns.raw.some(Boolean) && { key: "reply", title: "Reply", value: (i) => j.excerpt(i), minor: true, long: true },
    ].filter(Boolean);
  }

  some(figure) {
    return this.judgements.items.some((i) => this.judgements[figure](i) !== null);
  }

  // The filtered judgements in their current order, with full replies.
  csv() {
    const j = this.judgements;
    const names = ["eid", "system", "system_b", "order", "aspect", "protocol", "unit", "judge", "value", "unscored"];
    const labels = (i) => (j.columns.labels[i] || []).map(([who, value]) => `${who}: ${j.word(i, value)}`).join("; ");
    const rows = this.table.items.map((i) => [...names.map((name) => j.get(name, i) ?? ""),
      j.said(i), labels(i), j.people(i), j.gap(i), j.columns.raw[i], j.columns.address[i]]);
    return csvOf([[...names, "verdict", "labels", "people", "gap", "reply", "address"], ...rows]);
  }

  save() {
    saveFile("judgements.csv", new Blob([this.csv()], { type: "text/csv" }));
  }

  verdict(place) {
    const value = this.judgements.get("value", place);
    return typeof value === "number" ? value : this.judgements.said(place);
  }

  opener(place) {
    return this.judgements.opener(place, this.judgements.brief("eid", place), () => this.table.items);
  }

  form() {
    const j = this.judgements;
    const search = searchField("Search in names and replies", () => this.change());
    this.search = search.input;
    const fields = [search.box];
    const add = (key, label, values, holds) => { if (values.length) fields.push(this.filter(key, label, values, holds)); };
    const several = (names) => { const some = [...new Set(names)].filter((name) => name !== null); return some.length > 1 ? some.sort(collator.compare) : []; };
    for (const [key, label, name] of [["judge", "Judge", "judge"], ["aspect", "Aspect", "aspect"], ["protocol", "Protocol", "protocol"], ["cluster", "Cluster", "eid"]]) {
      add(key, label, several(j.names[name]), (i, value) => j.get(name, i) === value);
    }
    const systems = several([...j.names.system, ...j.names.system_b]);
    add("system", "System", systems, (i, value) => j.get("system", i) === value || j.get("system_b", i) === value);
    add("first", "Shown first", several(j.items.map((i) => (j.shown(i) || [null])[0])), (i, value) => j.shown(i)?.[0] === value);
    const reasons = j.names.unscored.filter((reason) => reason !== null);
    add("score", "Score", reasons.length ? ["with a score", "without a score", ...reasons] : [], (i, value) => {
      const reason = j.get("unscored", i);
      if (value === "with a score") return reason === null;
      return value === "without a score" ? reason !== null : reason === value;
    });
    this.verdicts(add);
    for (const [key, label] of [["gap", "Difference to humans"], ["spread", "Range of judges"]]) {
      const largest = Math.max(0, ...new Set(j.items.map((i) => j[key](i))));
      add(key, label, [0.5, 1, 2, 3].filter((step) => largest >= step).map((step) => `${step} or more`), (i, value) => j[key](i) >= Number.parseFloat(value));
    }
    const clear = action("Clear filters", () => { this.restore(""); this.remember(); });
    return make("form", { class: "filters", role: "search", "aria-label": "Judgements", onsubmit: (event) => event.preventDefault() }, fields, make("div", { class: "pager" }, clear));
  }

  verdicts(add) {
    const j = this.judgements;
    const said = [...new Set(j.items.map((i) => j.said(i)))].sort(collator.compare);
    if (said.length < 2) return;
    if (said.length <= MOST_CHOICES) {
      add("verdict", "Verdict", said, (i, value) => j.said(i) === value);
      return;
    }
    const numbers = [...new Set(j.items.map((i) => j.get("value", i)))].filter((value) => typeof value === "number");
    const tests = new Map(numbers.length > 1 ? bandsOf(numbers) : []);
    const words = [...new Set(j.items.filter((i) => typeof j.get("value", i) !== "number").map((i) => j.said(i)))];
    const holds = (i, value) => tests.has(value) ? typeof j.get("value", i) === "number" && tests.get(value)(j.get("value", i)) : j.said(i) === value;
    add("verdict", "Verdict", [...tests.keys(), ...words.sort(collator.compare)], holds);
  }

  filter(key, label, values, holds) {
    const { list, box } = choice(label, [["", "all"], ...values.map((value) => [value, value])], "", () => this.change());
    this.filters.push({ key, label, list, holds });
    return box;
  }

  change() {
    this.refresh();
    this.remember();
  }

  refresh() {
    const tests = this.filters.filter(({ list }) => list.value).map(({ list, holds }) => { const { value } = list; return (i) => holds(i, value); });
    if (this.search.value.trim()) {
      const fits = searchTest(this.search.value);
      tests.push((i) => fits(this.judgements.text(i)));
    }
    // hide columns whose value is fixed by a filter
    this.table.hide(this.filters.filter(({ key, list }) => list.value && ["judge", "aspect", "protocol"].includes(key)).map(({ key }) => key));
    this.table.show(this.judgements.items.filter((i) => tests.every((test) => test(i))), this.judgements.items.length);
  }

  // Writes filters, order and page number to the URL.
  remember() {
    const set = this.filters.filter(({ list }) => list.value).map(({ key, list }) => [key, list.value]);
    const words = this.search.value.trim();
    writeAddress({ list: new URLSearchParams([...(words ? [["q", words]] : []), ...set, ...Object.entries(this.table.order())]).toString() });
  }

  // Applies the filters of a URL, and reports values that do not exist.
  restore(text) {
    const wanted = new URLSearchParams(text);
    address.list = text;
    this.search.value = wanted.get("q") || "";
    const strange = [];
    for (const { key, label, list } of this.filters) {
      list.value = wanted.get(key) || "";
      if (list.selectedIndex < 0) { strange.push(`${label} ${wanted.get(key)}`); list.value = ""; }
    }
    this.message.textContent = strange.length ? `Not on this page, so not filtered by: ${strange.join(", ")}.` : "";
    this.table.orderBy(wanted.get("sort") || "");
    this.refresh();
    this.table.turnTo(Number(wanted.get("page")) || 1);
  }
}

// Judgements without a score, with their reasons.
class Unscored {
  constructor(judgements, box) {
    const items = judgements.items.filter((i) => judgements.get("unscored", i) !== null);
    const more = (i) => judgements.columns.more[i] || {};
    const opener = (i) => judgements.opener(i, judgements.brief("eid", i), () => table.items);
    const columns = [
      { title: "Cluster", value: (i) => judgements.get("eid", i), show: opener },
      { title: "System", value: (i) => judgements.who(i) },
      { title: "Aspect", value: (i) => judgements.get("aspect", i), minor: true },
      { title: "Part", value: (i) => judgements.get("unit", i), minor: true },
      { title: "Judge", value: (i) => judgements.get("judge", i), show: (i) => judgements.brief("judge", i), minor: true },
      { title: "Reason", value: (i) => judgements.get("unscored", i) },
      items.some((i) => more(i).detail) && { title: "Detail", value: (i) => String(more(i).detail || ""), minor: true },
    ].filter(Boolean);
    const table = new PagedTable({ title: "Items without a score", columns, noun: "item without a score", nouns: "items without a score" });
    box.append(table.box);
    table.show(items, items.length);
  }
}

// Largest disagreements of judge and humans, with links to the judgements.
class Disagreements {
  constructor(judgements, box) {
    const found = judgements.data.disagreements;
    const items = found.map((_, n) => n);
    const opener = (n) => judgements.opener(found[n].place, judgements.brief("eid", found[n].place), () => table.items.map((i) => found[i].place));
    const at = (name) => (n) => judgements.get(name, found[n].place);
    const several = (name) => new Set(items.map(at(name))).size > 1;
    const columns = [
      { title: "Cluster", value: at("eid"), show: opener },
      { title: "System", value: (n) => judgements.who(found[n].place) },
      several("aspect") && { title: "Aspect", value: at("aspect"), minor: true },
      several("judge") && { title: "Judge", value: at("judge"), show: (n) => judgements.brief("judge", found[n].place), minor: true },
      { title: "Judge's value", value: (n) => found[n].judged, show: (n) => rounded(found[n].judged), right: true },
      { title: "Humans", value: (n) => found[n].people, show: (n) => rounded(found[n].people), right: true },
      { title: "Gap", value: (n) => Math.abs(found[n].gap), show: (n) => rounded(found[n].gap), right: true },
      items.some((n) => found[n].causes.length) && { title: "Possible causes", value: (n) => found[n].causes.join("; "), minor: true },
    ].filter(Boolean);
    const table = new PagedTable({ title: "Disagreements", columns, noun: "disagreement" });
    box.append(table.box, make("p", { class: "note" }, "On the labels' scale. Of a pair or an item judged several times, one judgement is opened."));
    table.show(items, items.length);
  }
}
