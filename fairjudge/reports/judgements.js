// Judgements: looked through by filter and search, each opened down to the reply as it came.

class Judgements {
  constructor(data) {
    const { n, names, columns } = data.judgements;
    this.data = data;
    this.names = names;
    this.columns = columns;
    this.items = Array.from({ length: n }, (_, place) => place);
    this.view = new JudgementView(this);
  }

  get(name, place) {
    const value = this.columns[name][place];
    return name in this.names ? this.names[name][value] : value;
  }

  who(place) {
    const second = this.get("system_b", place);
    return second === null ? this.get("system", place) : `${this.get("system", place)} and ${second}`;
  }

  // The value in words: of a pair, the system that won.
  said(place) {
    const value = this.get("value", place);
    if (value === null) return `no score: ${this.get("unscored", place)}`;
    if (value === "tie") return "tie";
    if (value === "a") return this.get("system", place);
    if (value === "b") return this.get("system_b", place);
    return rounded(value);
  }

  people(place) {
    const labels = this.columns.labels[place];
    if (!labels) return null;
    const numbers = labels.map(([, value]) => value).filter((value) => typeof value === "number");
    if (numbers.length < labels.length) return labels.map(([, value]) => value).join(", ");
    return numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  }

  // The judge's value less people's, where both are numbers on one scale; of a pair 1 where they differ.
  gap(place) {
    const people = this.people(place);
    const value = this.get("value", place);
    if (people === null || value === null) return null;
    if (typeof value !== "number") return typeof people === "string" && !people.includes(",") ? Number(people !== value) : null;
    if (typeof people !== "number" || (this.get("protocol", place) !== "likert" && people > 1)) return null;
    return Math.abs(value - people);
  }

  // By how much the judges of one item differ; of a verdict 1 where they do. Nothing for one judge alone.
  spread(place) {
    this.byItem ||= this.grouped();
    const values = this.byItem.get(this.item(place)).filter((other) => this.get("value", other) !== null);
    if (new Set(values.map((other) => this.get("judge", other))).size < 2) return null;
    const all = values.map((other) => this.get("value", other));
    if (all.some((value) => typeof value !== "number")) return Number(new Set(all).size > 1);
    return Math.max(...all) - Math.min(...all);
  }

  item(place) {
    return ["eid", "system", "system_b", "aspect", "protocol", "unit"].map((name) => this.columns[name][place]).join(" ");
  }

  grouped() {
    const found = new Map();
    for (const place of this.items) {
      const item = this.item(place);
      if (!found.has(item)) found.set(item, []);
      found.get(item).push(place);
    }
    return found;
  }

  // The first words of the reply on one line.
  excerpt(place) {
    const line = (this.columns.raw[place] || "").slice(0, 400).replace(/\s+/g, " ").trim();
    return line.length > EXCERPT ? `${line.slice(0, EXCERPT).trimEnd()}…` : line;
  }

  // All that a search looks at, put together when it is first asked for.
  text(place) {
    this.texts ||= [];
    this.texts[place] ??= [this.get("eid", place), this.who(place), this.get("unit", place),
      this.get("judge", place), this.said(place), this.columns.raw[place] || "",
      JSON.stringify(this.columns.more[place]) || ""].join("\n").toLowerCase();
    return this.texts[place];
  }

  // A button that opens one judgement; `others` is what Previous and Next go through.
  opener(place, text, others, attributes) {
    const click = () => this.view.open(place, others());
    return make("button", { type: "button", class: "open", "aria-haspopup": "dialog", onclick: click, ...attributes }, text);
  }
}

const MOST_CHOICES = 20;
const EXCERPT = 80;

// A test of a search: words and "whole phrases" that must occur, those after - that must not.
function searchTest(text) {
  const parts = [...text.toLowerCase().matchAll(/(-?)(?:"([^"]+)"|(\S+))/g)].map(([, no, phrase, word]) => [no === "", phrase || word]);
  return (found) => parts.every(([wanted, part]) => found.includes(part) === wanted);
}

function csvOf(rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    const safe = /^[=+@\t\r]|^-(?!\d)/.test(text) ? `'${text}` : text;  // a spreadsheet would run it
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n");
}

class Explorer {
  constructor(judgements, box) {
    this.judgements = judgements;
    this.words = "";
    this.wanted = {};
    const has = (name) => judgements.names[name].length > 1;
    const columns = [
      { title: "Cluster", value: (i) => judgements.get("eid", i), show: (i) => this.opener(i) },
      { title: "System", value: (i) => judgements.who(i) },
      has("aspect") && { title: "Aspect", value: (i) => judgements.get("aspect", i), minor: true },
      has("unit") && { title: "Part", value: (i) => judgements.get("unit", i), minor: true },
      has("judge") && { title: "Judge", value: (i) => judgements.get("judge", i), minor: true },
      has("protocol") && { title: "Protocol", value: (i) => judgements.get("protocol", i), minor: true },
      { title: "Verdict", value: (i) => this.verdict(i), show: (i) => judgements.said(i), right: true },
      judgements.columns.labels.some(Boolean) && { title: "People", value: (i) => judgements.people(i),
        show: (i) => { const said = judgements.people(i); return said === null ? "-" : rounded(said); }, right: true },
      this.some((i) => judgements.gap(i)) && { title: "Gap to people", value: (i) => judgements.gap(i),
        show: (i) => { const gap = judgements.gap(i); return gap === null ? "-" : rounded(gap); }, right: true },
      has("judge") && this.some((i) => judgements.spread(i)) && { title: "Judges differ by", value: (i) => judgements.spread(i),
        show: (i) => { const spread = judgements.spread(i); return spread === null ? "-" : rounded(spread); }, right: true },
      judgements.columns.raw.some(Boolean) && { title: "Reply", value: (i) => judgements.excerpt(i), minor: true },
    ].filter(Boolean);
    this.table = new PagedTable({ title: "Judgements", columns, noun: "judgement" });
    const copied = make("span", { class: "note", role: "status" });
    const copy = action("Copy as CSV", () => navigator.clipboard.writeText(this.csv()).then(
      () => { copied.textContent = `${plural(this.table.items.length, "row")} copied.`; },
      () => { copied.textContent = "The browser refuses; save it instead."; }));
    const save = action("Save as CSV", () => this.save());
    box.append(this.form(), this.table.box, make("div", { class: "pager" }, copy, save, copied));
    this.refresh();
  }

  some(figure) {
    return this.judgements.items.some((i) => figure(i) !== null);
  }

  // What is filtered, in the order shown, with the whole reply.
  csv() {
    const j = this.judgements;
    const names = ["eid", "system", "system_b", "order", "aspect", "protocol", "unit", "judge", "value", "unscored"];
    const rows = this.table.items.map((i) => [...names.map((name) => j.get(name, i) ?? j.columns[name]?.[i] ?? ""),
      j.people(i), j.gap(i), j.columns.raw[i], j.columns.address[i]]);
    return csvOf([[...names, "people", "gap", "reply", "address"], ...rows]);
  }

  save() {
    const url = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    make("a", { href: url, download: "judgements.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  verdict(place) {
    const value = this.judgements.get("value", place);
    return typeof value === "number" ? value : this.judgements.said(place);
  }

  opener(place) {
    return this.judgements.opener(place, this.judgements.get("eid", place), () => this.table.items);
  }

  form() {
    const search = searchField("Search in names and replies", (text) => { this.words = text; this.refresh(); });
    const fields = [search.box];
    const simple = { judge: "Judge", aspect: "Aspect", protocol: "Protocol", eid: "Cluster" };
    for (const [name, label] of Object.entries(simple)) {
      const values = this.judgements.names[name];
      if (values.length < 2) continue;
      fields.push(this.filter(label, [...values].sort(collator.compare), (i, value) => this.judgements.get(name, i) === value));
    }
    const systems = [...new Set([...this.judgements.names.system, ...this.judgements.names.system_b])].filter((name) => name !== null);
    if (systems.length > 1) {
      fields.push(this.filter("System", systems.sort(collator.compare),
        (i, value) => this.judgements.get("system", i) === value || this.judgements.get("system_b", i) === value));
    }
    const reasons = this.judgements.names.unscored.filter((reason) => reason !== null);
    const states = ["with a score", ...(reasons.length ? ["without a score"] : []), ...reasons];
    if (reasons.length) {
      fields.push(this.filter("Score", states, (i, value) => {
        const reason = this.judgements.get("unscored", i);
        if (value === "with a score") return reason === null;
        return value === "without a score" ? reason !== null : reason === value;
      }));
    }
    const said = [...new Set(this.judgements.items.map((i) => this.judgements.said(i)))].sort(collator.compare);
    if (said.length > 1 && said.length <= MOST_CHOICES) {
      fields.push(this.filter("Verdict", said, (i, value) => this.judgements.said(i) === value));
    }
    for (const [label, figure] of [["Gap to people", (i) => this.judgements.gap(i)], ["Judges differ by", (i) => this.judgements.spread(i)]]) {
      const found = [...new Set(this.judgements.items.map(figure))].filter((value) => value !== null);
      const steps = [0.5, 1, 2, 3].filter((step) => found.some((value) => value >= step));
      if (!steps.length) continue;
      fields.push(this.filter(label, steps.map((step) => `${step} or more`), (i, value) => figure(i) >= Number.parseFloat(value)));
    }
    return make("form", { class: "filters", role: "search", "aria-label": "Judgements", onsubmit: (event) => event.preventDefault() }, fields);
  }

  filter(label, values, holds) {
    const options = [["", "all"], ...values.map((value) => [value, value])];
    const change = (value) => { this.wanted[label] = value ? (i) => holds(i, value) : null; this.refresh(); };
    return choice(label, options, "", change).box;
  }

  refresh() {
    const tests = Object.values(this.wanted).filter(Boolean);
    const fits = searchTest(this.words);
    const found = this.judgements.items.filter((i) => tests.every((test) => test(i)) && fits(this.judgements.text(i)));
    this.table.show(found, this.judgements.items.length);
  }
}

// What has no score, each with its reason.
class Unscored {
  constructor(judgements, box) {
    const items = judgements.items.filter((i) => judgements.get("unscored", i) !== null);
    const more = (i) => judgements.columns.more[i] || {};
    const opener = (i) => judgements.opener(i, judgements.get("eid", i), () => table.items);
    const columns = [
      { title: "Cluster", value: (i) => judgements.get("eid", i), show: opener },
      { title: "System", value: (i) => judgements.who(i) },
      { title: "Aspect", value: (i) => judgements.get("aspect", i), minor: true },
      { title: "Part", value: (i) => judgements.get("unit", i), minor: true },
      { title: "Judge", value: (i) => judgements.get("judge", i), minor: true },
      { title: "Reason", value: (i) => judgements.get("unscored", i) },
      items.some((i) => more(i).detail) && { title: "Detail", value: (i) => String(more(i).detail || ""), minor: true },
    ].filter(Boolean);
    const table = new PagedTable({ title: "Items without a score", columns, noun: "item without a score", nouns: "items without a score" });
    box.append(table.box);
    table.show(items, items.length);
  }
}

// Where judge and people differ most, each a way to its judgement.
class Disagreements {
  constructor(judgements, box) {
    const found = judgements.data.disagreements;
    const items = found.map((_, n) => n);
    const opener = (n) => judgements.opener(found[n].place, judgements.get("eid", found[n].place), () => table.items.map((i) => found[i].place));
    const at = (name) => (n) => judgements.get(name, found[n].place);
    const several = (name) => new Set(items.map(at(name))).size > 1;
    const columns = [
      { title: "Cluster", value: at("eid"), show: opener },
      { title: "System", value: (n) => judgements.who(found[n].place) },
      several("aspect") && { title: "Aspect", value: at("aspect"), minor: true },
      several("judge") && { title: "Judge", value: at("judge"), minor: true },
      { title: "Judge's value", value: (n) => found[n].judged, show: (n) => rounded(found[n].judged), right: true },
      { title: "People", value: (n) => found[n].people, show: (n) => rounded(found[n].people), right: true },
      { title: "Gap", value: (n) => Math.abs(found[n].gap), show: (n) => rounded(found[n].gap), right: true },
      items.some((n) => found[n].causes.length) && { title: "What is known of it", value: (n) => found[n].causes.join("; "), minor: true },
    ].filter(Boolean);
    const table = new PagedTable({ title: "Disagreements", columns, noun: "disagreement" });
    box.append(table.box, make("p", { class: "note" }, "On the labels' scale. Of a pair or an item judged several times, one judgement is opened."));
    table.show(items, items.length);
  }
}

// The window in which one judgement stands.
class JudgementView {
  constructor(judgements) {
    this.judgements = judgements;
    this.others = [];
    const titleId = newId("title");
    this.title = make("h2", { id: titleId, tabindex: -1 });
    this.body = make("div", { class: "dialog-body", tabindex: 0, role: "group", "aria-label": "Judgement" });
    this.before = action("Previous", () => this.step(-1));
    this.after = action("Next", () => this.step(1));
    const close = action("Close", () => this.dialog.close());
    this.dialog = make("dialog", { "aria-labelledby": titleId, onkeydown: (event) => this.key(event) },
      make("div", { class: "dialog-head" }, this.title, make("div", { class: "pager" }, this.before, this.after, close)), this.body);
    this.dialog.addEventListener("close", () => setFragment(""));
    document.body.append(this.dialog);
    window.addEventListener("hashchange", () => this.follow());
  }

  // Opens what the page's address names.
  follow() {
    const place = this.judgements.columns.address.indexOf(/^#judgement-([\w-]+)$/.exec(window.location.hash)?.[1] ?? "");
    if (place >= 0 && place < this.judgements.items.length && place !== (this.dialog.open ? this.place : -1)) this.open(place, this.judgements.items);
  }

  open(place, others) {
    this.others = others;
    this.show(place);
    if (!this.dialog.open) this.dialog.showModal();
    this.title.focus();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
    else return;
    event.preventDefault();
  }

  step(by) {
    const next = this.others[this.others.indexOf(this.place) + by];
    if (next === undefined) return;
    this.show(next);
    this.title.focus();
  }

  show(place) {
    this.place = place;
    setFragment(`#judgement-${this.judgements.columns.address[place]}`);
    const j = this.judgements;
    const at = this.others.indexOf(place);
    allow(this.before, at > 0);
    allow(this.after, at >= 0 && at < this.others.length - 1);
    this.title.textContent = `${j.who(place)} on ${j.get("eid", place)}`;
    this.body.replaceChildren(this.facts(place), ...this.evidence(place), ...this.reply(place), ...this.asked(place), ...this.labels(place), ...this.beside(place), ...this.more(place), this.link(place));
    this.body.scrollTop = 0;
  }

  link(place) {
    return make("p", { class: "note" }, make("a", { href: `#judgement-${this.judgements.columns.address[place]}` }, "Address of this judgement"));
  }

  facts(place) {
    const j = this.judgements;
    const order = j.get("order", place);
    const shown = order === null ? null : order === "ba" ? j.get("system_b", place) : j.get("system", place);
    const facts = { Verdict: j.said(place), Aspect: j.get("aspect", place), Protocol: j.get("protocol", place), Part: j.get("unit", place),
      "Shown first": shown, Judge: j.get("judge", place), "Scored by": j.get("scored_by", place), Signature: j.get("signature", place) };
    const pairs = Object.entries(facts).filter(([, value]) => value !== null && value !== "");
    return make("dl", { class: "facts" }, pairs.map(([name, value]) => make("div", null, make("dt", null, name), make("dd", null, value))));
  }

  evidence(place) {
    return evidence(this.judgements.columns.more[place] || {}, this.judgements.data.clusters[this.judgements.get("eid", place)]);
  }

  reply(place) {
    const raw = this.judgements.columns.raw[place];
    const more = this.judgements.columns.more[place] || {};
    if (!raw && EVIDENCE.some((name) => more[name])) return [];
    const none = this.judgements.get("scored_by", place) === "llm" ? "None was kept." : "None: this judge writes no text.";
    return [make("h3", null, "Reply as it came"), raw ? make("pre", { class: "reply" }, raw) : make("p", { class: "note" }, none),
      ...(typeof more.repair === "string" ? [make("h3", null, "Second reply"), make("pre", { class: "reply" }, more.repair)] : [])];
  }

  // What the judge was asked about, as far as it is known.
  asked(place) {
    const j = this.judgements;
    const eid = j.get("eid", place);
    const [kind, name] = j.get("unit", place).split(/:(.*)/s);
    const cluster = j.data.clusters[eid];
    const parts = [];
    if (kind === "answer" && cluster) {
      const [q, g] = name.split(".").map(Number);
      const question = cluster.questions[q];
      if (question && question[1][g]) parts.push(make("h3", null, "Answer"), make("p", null, make("strong", null, question[0])), answerList(cluster, question[1][g]));
    }
    if (kind === "article" && cluster && cluster.articles[name]) {
      const [outlet, title] = cluster.articles[name];
      parts.push(make("h3", null, "Article"), make("p", null, outlet === title ? outlet : `${outlet}: ${title}`));
    }
    const systems = [j.get("system", place), j.get("system_b", place)].filter((one) => one !== null);
    const written = [];
    for (const system of systems) {
      const text = j.data.summaries[eid]?.[system];
      if (text !== undefined) written.push(make("h3", null, `Summary by ${system}`), this.summary(eid, system, text, kind === "sentence" ? Number(name) : -1, quotesOf(j.columns.more[place] || {})));
    }
    const articles = this.articles(cluster, kind === "article" ? name : null);
    if (written.length && articles.length) return [...parts, make("div", { class: "two" }, make("div", null, written), make("div", null, articles))];
    return [...parts, ...written, ...articles];
  }

  // The cluster's articles, folded but for the one that the judgement is about.
  articles(cluster, judged) {
    const known = Object.entries(cluster?.articles || {}).filter(([, [, , text]]) => text);
    if (!known.length) return [];
    return [make("h3", null, plural(known.length, "article")), known.map(([aid, [outlet, title, text]]) =>
      make("details", { class: "article", open: aid === judged }, make("summary", null, outlet === title || !title ? outlet : `${outlet}: ${title}`),
        make("p", { class: "text", tabindex: 0, role: "group", "aria-label": outlet }, text)))];
  }

  // The text with what was judged, or what evidence quotes of it, marked.
  summary(eid, system, text, judged, quotes) {
    const sentence = this.judgements.data.sentences[eid]?.[system]?.[judged];
    return make("p", { class: "text" }, marked(text, sentence ? [sentence[0]] : quotes));
  }

  // The same item by other judges and in the other order; the same cluster's other systems.
  beside(place) {
    const j = this.judgements;
    const of = (name) => j.columns[name][place];
    const same = (...names) => j.items.filter((i) => i !== place && names.every((name) => j.columns[name][i] === of(name)));
    const item = same("eid", "system", "system_b", "aspect", "unit");
    const systems = same("eid", "aspect", "protocol", "unit", "judge").filter((i) => !item.includes(i));
    const told = (i) => [j.who(i), j.get("judge", i), j.get("protocol", i), j.get("order", i)].filter(Boolean).join(", ");
    const list = (title, places) => places.length ? [make("h3", null, title), make("ul", { class: "plain" },
      places.slice(0, MOST_CHOICES).map((i) => make("li", null, make("button", { type: "button", class: "open", onclick: () => { this.show(i); this.title.focus(); } }, told(i)), `: ${j.said(i)}`)),
      places.length > MOST_CHOICES ? make("li", { class: "note" }, `and ${places.length - MOST_CHOICES} more`) : null)] : [];
    return [...list("The same item, judged otherwise", item), ...list("Other systems here", systems)];
  }

  labels(place) {
    const labels = this.judgements.columns.labels[place];
    if (!labels) return [];
    const said = (value) => value === "a" ? this.judgements.get("system", place) : value === "b" ? this.judgements.get("system_b", place) : rounded(value);
    return [make("h3", null, "What people said"), make("ul", { class: "plain" }, labels.map(([who, value]) => make("li", null, `${who}: ${said(value)}`)))];
  }

  more(place) {
    const { repair, ...rest } = this.judgements.columns.more[place] || {};
    EVIDENCE.forEach((name) => delete rest[name]);
    if (!Object.keys(rest).length) return [];
    const shown = (value) => typeof value === "string" ? value : JSON.stringify(value);
    return [make("h3", null, "Also recorded"), make("dl", { class: "facts" }, Object.entries(rest).map(([name, value]) =>
      make("div", null, make("dt", null, name), make("dd", null, shown(value)))))];
  }
}
