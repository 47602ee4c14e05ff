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
    ].filter(Boolean);
    this.table = new PagedTable({ title: "Judgements", columns, noun: "judgement" });
    box.append(this.form(), this.table.box);
    this.refresh();
  }

  verdict(place) {
    const value = this.judgements.get("value", place);
    return typeof value === "number" ? value : this.judgements.said(place);
  }

  opener(place) {
    return this.judgements.opener(place, this.judgements.get("eid", place), () => this.table.items);
  }

  form() {
    const search = searchField("Search in names and replies", (text) => { this.words = text.toLowerCase(); this.refresh(); });
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
    return make("form", { class: "filters", role: "search", "aria-label": "Judgements", onsubmit: (event) => event.preventDefault() }, fields);
  }

  filter(label, values, holds) {
    const options = [["", "all"], ...values.map((value) => [value, value])];
    const change = (value) => { this.wanted[label] = value ? (i) => holds(i, value) : null; this.refresh(); };
    return choice(label, options, "", change).box;
  }

  refresh() {
    const tests = Object.values(this.wanted).filter(Boolean);
    const words = this.words.split(/\s+/).filter(Boolean);
    const found = this.judgements.items.filter((i) => tests.every((test) => test(i))
      && words.every((word) => this.judgements.text(i).includes(word)));
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
    const place = Number(/^#judgement-(\d+)$/.exec(window.location.hash)?.[1] || 0) - 1;
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
    setFragment(`#judgement-${place + 1}`);
    const j = this.judgements;
    const at = this.others.indexOf(place);
    allow(this.before, at > 0);
    allow(this.after, at >= 0 && at < this.others.length - 1);
    this.title.textContent = `${j.who(place)} on ${j.get("eid", place)}`;
    this.body.replaceChildren(this.facts(place), ...this.evidence(place), ...this.reply(place), ...this.asked(place), ...this.labels(place), ...this.more(place), this.link(place));
    this.body.scrollTop = 0;
  }

  link(place) {
    return make("p", { class: "note" }, make("a", { href: `#judgement-${place + 1}` }, "Address of this judgement"));
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
