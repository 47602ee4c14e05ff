// The dialog that shows one judgement.
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
    this.dialog.addEventListener("close", () => writeAddress({ judgement: "" }));
    document.body.append(this.dialog);
    window.addEventListener("hashchange", () => this.follow());
  }

  // Opens the judgement in the URL.
  follow() {
    const { judgement, list } = readAddress();
    if (list && !judgement && this.dialog.open) this.dialog.close();
    const place = judgement ? this.judgements.columns.address.indexOf(judgement) : -1;
    if (place >= 0 && place !== (this.dialog.open ? this.place : -1)) this.open(place, this.judgements.listed());
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
    writeAddress({ judgement: this.judgements.columns.address[place] });
    const j = this.judgements;
    const at = this.others.indexOf(place);
    allow(this.before, at > 0);
    allow(this.after, at >= 0 && at < this.others.length - 1);
    this.title.textContent = `${j.who(place)} on ${j.get("eid", place)}`;
    this.body.replaceChildren(make("div", null, this.facts(place), this.evidence(place), this.reply(place), this.asked(place), this.labels(place), this.beside(place), this.more(place), this.link(place)));
    this.body.scrollTop = 0;
  }

  link(place) {
    return make("p", { class: "note" }, make("a", { href: `#judgement-${this.judgements.columns.address[place]}` }, "Link to this judgement"));
  }

  facts(place) {
    const j = this.judgements;
    const facts = { Verdict: this.verdict(place), Aspect: j.get("aspect", place), Protocol: j.get("protocol", place), Part: j.get("unit", place),
      "Shown first": (j.shown(place) || [null])[0], "Humans": j.people(place), Judge: j.get("judge", place), "Scored by": j.get("scored_by", place), Signature: j.get("signature", place) };
    const pairs = Object.entries(facts).filter(([, value]) => value !== null && value !== "");
    return make("dl", { class: "facts" }, pairs.map(([name, value]) => make("div", null, make("dt", null, name), make("dd", null, rounded(value)))));
  }

  verdict(place) {
    const tie = this.judgements.get("value", place) === "tie";
    return tie ? "tie: neither summary is better" : this.judgements.said(place);
  }

  evidence(place) {
    return evidence(this.judgements.columns.more[place] || {}, this.judgements.data.clusters[this.judgements.get("eid", place)]);
  }

  reply(place) {
    const raw = this.judgements.columns.raw[place];
    const more = this.judgements.columns.more[place] || {};
    if (!raw && EVIDENCE.some((name) => more[name])) return [];
    const none = this.judgements.get("scored_by", place) === "llm" ? "None was stored." : "None: this judge writes no text.";
    const shown = this.judgements.shown(place);
    const letters = raw && shown ? make("p", { class: "note" }, `In this reply A is ${shown[0]}, B is ${shown[1]}, and C is a tie.`) : null;
    return [make("h3", null, "Unedited reply"), letters, raw ? make("pre", { class: "reply" }, raw) : make("p", { class: "note" }, none),
      ...(typeof more.repair === "string" ? [make("h3", null, "Second reply"), make("pre", { class: "reply" }, more.repair)] : [])];
  }

  // The judged unit, if known.
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
    const sentence = kind === "sentence" ? Number(name) : -1;
    const quotes = quotesOf(j.columns.more[place] || {});
    const shown = j.shown(place);
    const systems = shown || [j.get("system", place), j.get("system_b", place)].filter((one) => one !== null);
    const title = (system, at) => shown ? `${at ? "B, shown second" : "A, shown first"}: ${system}` : `Summary by ${system}`;
    const written = systems.map((system, at) => [system, title(system, at), j.data.summaries[eid]?.[system]]).filter(([, , text]) => text !== undefined)
      .map(([system, heading, text]) => [make("h3", null, heading), this.summary(eid, system, text, sentence, quotes)]);
    const articles = this.articles(cluster, kind === "article" ? name : null);
    const columns = written.length > 1 ? written : written.length && articles.length ? [written, articles] : null;
    if (!columns) return [...parts, ...written.flat(), ...articles];
    return [...parts, make("div", { class: "two" }, columns.map((column) => make("div", null, column))), ...(columns === written ? articles : [])];
  }

  // The cluster's articles, folded except the judged one.
  articles(cluster, judged) {
    const known = Object.entries(cluster?.articles || {}).filter(([, [, , text]]) => text);
    if (!known.length) return [];
    return [make("h3", null, plural(known.length, "article")), known.map(([aid, [outlet, title, text]]) =>
      make("details", { class: "article", open: aid === judged }, make("summary", null, outlet === title || !title ? outlet : `${outlet}: ${title}`),
        make("p", { class: "text", tabindex: 0, role: "group", "aria-label": outlet }, text)))];
  }

  // The text with the judged part, or the quotes of the evidence, highlighted.
  summary(eid, system, text, judged, quotes) {
    const sentence = this.judgements.data.sentences[eid]?.[system]?.[judged];
    return make("p", { class: "text" }, marked(text, sentence ? [sentence[0]] : quotes));
  }

  // Judgements of the same item by other judges, protocols and orders, and of other systems on the cluster.
  beside(place) {
    const j = this.judgements;
    const names = ["eid", "aspect", "protocol", "unit", "judge"].map((name) => j.columns[name]);
    const item = j.ofItem(place);
    const systems = j.items.filter((i) => names.every((column) => column[i] === column[place]) && !item.includes(i));
    return [...this.listed("Other judgements of this item", item, place), ...this.listed("Other systems here", [place, ...systems], place)];
  }

  // A table of judgements, opened by their first cells; the open one comes first.
  listed(title, places, open) {
    if (places.length < 2) return [];
    const j = this.judgements;
    const differs = (value) => new Set(places.map(value)).size > 1;
    const columns = [
      ["System", (i) => j.who(i)], ["Judge", (i) => j.get("judge", i)], ["Protocol", (i) => j.get("protocol", i)],
      ["Shown first", (i) => (j.shown(i) || ["-"])[0]], ["Prompt", (i) => j.columns.more[i]?.variant ?? "-"],
      ["Repeat", (i) => j.columns.more[i]?.repeat ?? "-"],
    ].filter(([, value], at) => at === 0 || differs(value));
    columns.push(["Verdict", (i) => j.said(i)]);
    if (places.some((i) => j.columns.labels[i])) columns.push(["Humans", (i) => rounded(j.people(i) ?? "-")]);
    columns.push(["Reply", (i) => j.excerpt(i) || "-"]);
    const opener = (i, text) => i === open ? make("strong", null, text, " (this one)") :
      make("button", { type: "button", class: "open", onclick: () => { this.show(i); this.title.focus(); } }, text);
    const rows = [open, ...places.filter((i) => i !== open)].slice(0, MOST_CHOICES).map((i) => make("tr", null, columns.map(([, value], at) =>
      make(at ? "td" : "th", at ? null : { scope: "row" }, at ? value(i) : opener(i, value(i))))));
    const more = places.length > MOST_CHOICES ? make("p", { class: "note" }, `${MOST_CHOICES} of ${places.length}; the list of all judgements has the others.`) : null;
    return [make("h3", null, title), make("div", { class: "wide", tabindex: 0, role: "group", "aria-label": title },
      make("table", null, make("thead", null, make("tr", null, columns.map(([heading]) => make("th", { scope: "col" }, heading)))), make("tbody", null, rows))), more];
  }

  labels(place) {
    const labels = this.judgements.columns.labels[place];
    if (!labels) return [];
    return [make("h3", null, "What people said"), make("ul", { class: "plain" }, labels.map(([who, value]) => make("li", null, `${who}: ${this.judgements.word(place, value)}`)))];
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
