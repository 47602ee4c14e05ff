// Judgements: their fields, their distances from human labels and other judges, and search.

const EXCERPT = 80;

class Judgements {
  constructor(data) {
    const { n, names, columns } = data.judgements;
    this.data = data;
    this.names = names;
    this.columns = columns;
    this.items = Array.from({ length: n }, (_, place) => place);
    this.known = { said: [], gap: [], spread: [], text: [] };
    this.listed = () => this.items;  // the default list of Previous and Next
    this.view = new JudgementView(this);
  }

  get(name, place) {
    const value = this.columns[name][place];
    return name in this.names ? this.names[name][value] : value;
  }

  // A name for lists, shortened in the middle unless it would equal another one.
  brief(name, place) {
    this.briefs ??= {};
    this.briefs[name] ??= shortNames(this.names[name].filter((one) => one !== null));
    const whole = this.get(name, place);
    return this.briefs[name].get(whole) ?? whole;
  }

  // The result of `compute`, cached per judgement.
  once(name, place, compute) {
    const known = this.known[name];
    if (known[place] === undefined) known[place] = compute(place);
    return known[place];
  }

  isPair(place) {
    return this.get("system_b", place) !== null;
  }

  who(place) {
    const second = this.get("system_b", place);
    return second === null ? this.get("system", place) : `${this.get("system", place)} and ${second}`;
  }

  // The systems of a pair in the order shown, if known.
  shown(place) {
    const order = this.get("order", place);
    const systems = [this.get("system", place), this.get("system_b", place)];
    if (order === null || systems[1] === null) return null;
    return order === "ba" ? systems.reverse() : systems;
  }

  // A value in words; for a pair, the winning system.
  word(place, value) {
    if (value === "a") return this.get("system", place);
    if (value === "b") return this.get("system_b", place);
    return rounded(value);
  }

  said(place) {
    return this.once("said", place, () => {
      const value = this.get("value", place);
      return value === null ? `no score: ${this.get("unscored", place)}` : this.word(place, value);
    });
  }

  // The mean human label; for a pair, the number of annotators per system.
  people(place) {
    const labels = this.columns.labels[place];
    if (!labels) return null;
    const values = labels.map(([, value]) => value);
    if (values.every((value) => typeof value === "number")) return values.reduce((sum, value) => sum + value, 0) / values.length;
    const counts = new Map();
    for (const value of values) counts.set(this.word(place, value), (counts.get(this.word(place, value)) || 0) + 1);
    return [...counts].map(([word, n]) => counts.size > 1 ? `${word} ${n}` : word).join(", ");
  }

  // The judge's value minus the mean human label, if both are on the same scale; for a pair, the share of
  // annotators who disagree.
  gap(place) {
    return this.once("gap", place, () => {
      const labels = this.columns.labels[place];
      const value = this.get("value", place);
      if (!labels || value === null) return null;
      if (this.isPair(place)) return labels.filter(([, other]) => other !== value).length / labels.length;
      const people = this.people(place);
      if (typeof value !== "number" || typeof people !== "number" || (this.get("protocol", place) !== "likert" && people > 1)) return null;
      return Math.abs(value - people);
    });
  }

  // The range of judges' values of an item; 1 if verdicts differ. Missing for a single judge.
  spread(place) {
    return this.once("spread", place, () => {
      const others = this.ofItem(place).filter((other) => this.get("value", other) !== null && this.get("protocol", other) === this.get("protocol", place));
      if (new Set(others.map((other) => this.columns.judge[other])).size < 2) return null;
      const values = others.map((other) => this.get("value", other));
      if (values.some((value) => typeof value !== "number")) return Number(new Set(others.map((other) => this.said(other))).size > 1);
      return Math.max(...values) - Math.min(...values);
    });
  }

  // All judgements of the same summary or pair, by every judge and protocol.
  ofItem(place) {
    if (!this.byItem) {
      this.byItem = new Map();
      for (const other of this.items) {
        const item = this.item(other);
        if (!this.byItem.has(item)) this.byItem.set(item, []);
        this.byItem.get(item).push(other);
      }
    }
    return this.byItem.get(this.item(place));
  }

  item(place) {
    const systems = [this.get("system", place), this.get("system_b", place)].sort();  // the same pair in either order
    return JSON.stringify([this.columns.eid[place], this.columns.aspect[place], this.columns.unit[place], ...systems]);
  }

  // The first words of the reply on one line.
  excerpt(place) {
    const line = (this.columns.raw[place] || "").slice(0, 400).replace(/\s+/g, " ").trim();
    return line.length > EXCERPT ? `${line.slice(0, EXCERPT).trimEnd()}…` : line;
  }

  // The text that is searched, built on first use.
  text(place) {
    return this.once("text", place, () => [this.get("eid", place), this.who(place), this.get("unit", place),
      this.get("judge", place), this.said(place), this.columns.raw[place] || "",
      JSON.stringify(this.columns.more[place]) || ""].join("\n").toLowerCase());
  }

  // A button that opens one judgement; `others` is the list of Previous and Next.
  opener(place, text, others, attributes) {
    const click = () => this.view.open(place, others());
    return make("button", { type: "button", class: "open", "aria-haspopup": "dialog", onclick: click, ...attributes }, text);
  }
}

// Returns the predicate of a search: required words and "phrases"; a leading - excludes.
function searchTest(text) {
  const parts = [...text.toLowerCase().matchAll(/(-?)(?:"([^"]+)"?|(\S+))/g)].map(([, no, phrase, word]) => [no === "", phrase || word]);
  return (written) => parts.every(([wanted, part]) => written.includes(part) === wanted);
}
