// Views of one cluster at a time: questions with answers by outlet, and summaries with sources.

const COVERED_FROM = 0.5;

function outletsOf(cluster, group) {
  const outlets = group.map(([aid]) => (cluster.articles[aid] || [aid])[0]);
  return [...new Set(outlets)];
}

// The wordings of one answer, with their outlets.
function answerList(cluster, group) {
  return make("ul", { class: "plain" }, group.map(([aid, answer]) =>
    make("li", null, answer, " ", make("span", { class: "outlet" }, (cluster.articles[aid] || [aid])[0]))));
}

// Navigation through clusters: a select element, Previous and Next.
class Stepper {
  constructor(label, names, show) {
    this.names = names;
    this.show = show;
    const options = names.map((name) => [name, name]);
    const { list, box } = choice(label, options, names[0], () => this.go(names.indexOf(list.value)));
    this.list = list;
    this.before = action("Previous", () => this.go(this.place - 1));
    this.after = action("Next", () => this.go(this.place + 1));
    this.where = make("span", { class: "note", role: "status" });
    this.parts = [box, make("div", { class: "pager" }, this.before, this.after, this.where)];
  }

  go(place) {
    this.place = place;
    this.list.value = this.names[place];
    allow(this.before, place > 0);
    allow(this.after, place < this.names.length - 1);
    this.where.textContent = `${place + 1} of ${this.names.length}`;
    this.show(this.names[place]);
  }
}

// Maps cluster and unit to the indices of judgements of parts.
function byUnit(judgements, kind) {
  const found = new Map();
  for (const place of judgements.items) {
    if (judgements.get("system_b", place) !== null) continue;
    const listed = (judgements.columns.more[place]?.checklist || []).map((entry) => entry.unit);
    const own = [judgements.get("unit", place), ...listed].filter((unit) => unit.startsWith(kind));
    if (!own.length) continue;
    const eid = judgements.get("eid", place);
    if (!found.has(eid)) found.set(eid, new Map());
    const units = found.get(eid);
    for (const unit of own) {
      if (!units.has(unit)) units.set(unit, []);
      units.get(unit).push(place);
    }
  }
  return found;
}

// A checklist's entry on one group of answers; undefined for other judgements.
function entryOf(judgements, place, unit) {
  return (judgements.columns.more[place]?.checklist || []).find((entry) => entry.unit === unit);
}

// A share from 0 to 1; null without a score.
function share(judgements, place, unit) {
  const entry = entryOf(judgements, place, unit);
  if (entry) return entry.covered;
  const value = judgements.get("value", place);
  if (typeof value !== "number") return null;
  return judgements.get("protocol", place) === "likert" ? (value - 1) / 4 : value;
}

// A button with a verdict (word and sign) that opens the reply.
function verdictButton(judgements, place, words, others, name, unit) {
  const level = share(judgements, place, unit);
  const entry = entryOf(judgements, place, unit);
  const state = level === null ? "none" : level >= COVERED_FROM ? "yes" : "no";
  const [sign, word] = { none: ["?", "no score"], yes: ["●", words[0]], no: ["○", words[1]] }[state];
  const value = judgements.get("value", place);
  const exact = typeof value === "number" && judgements.get("protocol", place) === "likert" ? ` (${rounded(value)})` : "";
  const said = entry ? groupVerdict(entry) : `${word}${exact}`;
  const label = [make("span", { "aria-hidden": "true" }, `${sign} `), name ? `${name}: ` : "", said];
  return judgements.opener(place, label, others, { class: `open verdict ${state}` });
}

class Questions {
  constructor(judgements, box) {
    this.judgements = judgements;
    this.clusters = judgements.data.clusters;
    this.judged = byUnit(judgements, "answer:");
    this.leftOutOnly = false;
    const names = Object.keys(this.clusters).filter((eid) => this.clusters[eid].questions.length);
    names.sort((one, other) => this.judged.has(other) - this.judged.has(one));
    this.body = make("div", { class: "questions" });
    this.stepper = new Stepper("Cluster", names, () => this.draw());
    const id = newId("only");
    const only = make("input", { type: "checkbox", id, onchange: () => { this.leftOutOnly = only.checked; this.draw(); } });
    const tick = this.judged.size ? make("div", { class: "field tick" }, only, make("label", { for: id }, "Only answers that a summary leaves out")) : null;
    if (!this.judged.size && judgements.items.length) {
      box.append(make("p", { class: "note" }, "No judgement is of a single answer, so which ones are covered is not known: judge with --preset granular."));
    }
    box.append(make("div", { class: "filters" }, this.stepper.parts, tick), this.body);
    this.stepper.go(0);
  }

  draw() {
    const eid = this.stepper.names[this.stepper.place];
    const cluster = this.clusters[eid];
    const units = this.judged.get(eid) || new Map();
    const all = [...new Set([...units.values()].flat())];
    const drawn = cluster.questions.map(([question, groups], q) => {
      const items = groups.map((group, g) => this.group(cluster, group, `answer:${q}.${g}`, units.get(`answer:${q}.${g}`) || [], () => all)).filter(Boolean);
      return items.length ? make("section", { class: "question" }, make("h4", null, question), make("ul", { class: "answers" }, items)) : null;
    }).filter(Boolean);
    this.body.replaceChildren(...(drawn.length ? drawn : [make("p", { class: "note" }, "Every answer of this cluster is covered by every summary.")]));
  }

  group(cluster, group, unit, places, others) {
    const j = this.judgements;
    if (this.leftOutOnly && !places.some((place) => { const level = share(j, place, unit); return level !== null && level < COVERED_FROM; })) return null;
    const outlets = outletsOf(cluster, group);
    const several = j.names.judge.length > 1;
    const verdicts = places.map((place) => make("li", null,
      verdictButton(j, place, ["covered", "left out"], others, several ? `${j.get("system", place)}, ${j.get("judge", place)}` : j.get("system", place), unit)));
    return make("li", null, make("p", { class: "answer" }, group.length ? group[0][1] : "(no wording)"),
      make("p", { class: "outlets" }, make("span", { class: "note" }, "Outlets: "), outlets.map((outlet, place) => [place ? ", " : "", make("span", { class: "outlet" }, outlet)])),
      group.length > 1 ? make("details", null, make("summary", null, `All ${group.length} wordings`), answerList(cluster, group)) : null,
      verdicts.length ? make("ul", { class: "verdicts" }, verdicts) : null);
  }
}

class Sentences {
  constructor(judgements, box) {
    this.judgements = judgements;
    this.sentences = judgements.data.sentences;
    this.judged = byUnit(judgements, "sentence:");
    this.system = "";
    const names = Object.keys(this.sentences);
    const systems = [...new Set(names.flatMap((eid) => Object.keys(this.sentences[eid])))].sort(collator.compare);
    this.body = make("div", { class: "passages" });
    this.stepper = new Stepper("Cluster", names, () => this.draw());
    const { box: field, list } = choice("System", systems.map((name) => [name, name]), systems[0], (value) => { this.system = value; this.draw(); });
    this.system = list.value;
    box.append(make("div", { class: "filters" }, this.stepper.parts, systems.length > 1 ? field : null), this.body);
    this.stepper.go(0);
  }

  draw() {
    const eid = this.stepper.names[this.stepper.place];
    const sentences = this.sentences[eid][this.system];
    if (!sentences) {
      this.body.replaceChildren(make("p", { class: "note" }, `${this.system} has no summary of this cluster.`));
      return;
    }
    const units = this.judged.get(eid) || new Map();
    const of = (place) => this.judgements.get("system", place) === this.system;
    const all = [...units.values()].flat().filter(of);
    this.body.replaceChildren(make("ol", { class: "sentences" }, sentences.map((sentence, i) =>
      this.sentence(eid, sentence, (units.get(`sentence:${i}`) || []).filter(of), () => all))));
  }

  sentence(eid, [text, aid, passage], places, others) {
    const cluster = this.judgements.data.clusters[eid] || { articles: byName({}) };
    const several = new Set(places.map((place) => `${this.judgements.get("judge", place)} ${this.judgements.get("aspect", place)}`)).size > 1;
    const name = (place) => several ? `${this.judgements.get("aspect", place)}, ${this.judgements.get("judge", place)}` : this.judgements.get("aspect", place);
    const source = passage === undefined ? make("p", { class: "note" }, "No passage of the articles shares a word with it.")
      : make("blockquote", null, make("p", null, passage), make("footer", { class: "outlet" }, (cluster.articles[aid] || [aid])[0]));
    return make("li", null, make("p", { class: "answer" }, text),
      places.length ? make("ul", { class: "verdicts" }, places.map((place) => make("li", null, verdictButton(this.judgements, place, ["supported", "not supported"], others, name(place))))) : null,
      source);
  }
}

const LEFT_OUT = "left out";

class Uncovered {
  constructor(data, box) {
    this.all = data.uncovered;
    this.words = "";
    this.wanted = {};
    const several = new Set(this.all.map((one) => one.judge)).size > 1;
    const columns = [
      { title: "Answer", value: (one) => one.answer },
      { title: "Question", value: (one) => one.question },
      { title: "Omitted by", value: (one) => one.system },
      { title: "Outlets", value: (one) => one.outlets.join(", "), show: (one) => this.voices(one) },
      { title: "Coverage", value: (one) => one.how },
      { title: "Cluster", value: (one) => one.eid },
      several && { title: "Judge", value: (one) => one.judge, minor: true },
    ].filter(Boolean);
    this.table = new PagedTable({ title: "Omitted answers", columns, noun: "group of answers", nouns: "groups of answers", cards: true });
    const search = searchField("Search in answers and questions", (text) => { this.words = text.toLowerCase(); this.refresh(); });
    const filters = [
      this.filter("How", (one) => [one.how], this.all.some((one) => one.how === LEFT_OUT) ? LEFT_OUT : ""),
      this.filter("System", (one) => [one.system]),
      this.filter("Outlet", (one) => one.outlets),
      this.filter("Cluster", (one) => [one.eid]),
    ];
    box.append(make("form", { class: "filters", role: "search", "aria-label": "Omitted answers", onsubmit: (event) => event.preventDefault() }, search.box, filters), this.table.box);
    this.refresh();
  }

  // Each outlet with its own wording.
  voices(one) {
    if (one.voices.length < 2) return one.outlets.join(", ");
    return make("ul", { class: "plain" }, one.voices.map(([name, answer]) => make("li", null, make("span", { class: "outlet" }, name), `: ${answer}`)));
  }

  filter(label, values, chosen = "") {
    const known = [...new Set(this.all.flatMap(values))].sort(collator.compare);
    if (known.length < 2) return null;
    const test = (value) => (value ? (one) => values(one).includes(value) : null);
    this.wanted[label] = test(chosen);
    const change = (value) => { this.wanted[label] = test(value); this.refresh(); };
    return choice(label, [["", "all"], ...known.map((value) => [value, value])], chosen, change).box;
  }

  refresh() {
    const tests = Object.values(this.wanted).filter(Boolean);
    const words = this.words.split(/\s+/).filter(Boolean);
    const text = (one) => [one.answer, one.question, one.system, one.eid, ...one.outlets].join("\n").toLowerCase();
    this.table.show(this.all.filter((one) => tests.every((test) => test(one)) && words.every((word) => text(one).includes(word))), this.all.length);
  }
}
