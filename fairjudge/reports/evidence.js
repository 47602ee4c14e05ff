// Evidence of a judgement: groups of answers, statements and sources, with their verdicts.

const EVIDENCE = ["checklist", "statements", "sources"];
const VERDICTS = ["contradicted", "left out", "absent", "covered in part", "covered", "supported"];

// The verdict on a group of answers in words; unknown words of a judge are kept.
function groupVerdict(entry) {
  if (entry.contradicted) return "contradicted";
  if (typeof entry.verdict === "string") return entry.verdict;
  if (entry.covered === 0.5) return "covered in part";
  return entry.covered ? "covered" : "left out";
}

// Sorts entries by verdict: errors first, unknown verdicts last.
function byVerdict(entries, verdictOf) {
  const found = new Map();
  for (const entry of entries) {
    const word = verdictOf(entry);
    if (!found.has(word)) found.set(word, []);
    found.get(word).push(entry);
  }
  const at = (word) => (VERDICTS.includes(word) ? VERDICTS.indexOf(word) : VERDICTS.length);
  return [...found].sort(([one], [other]) => at(one) - at(other));
}

// Ranges of `quotes` in `text`; overlapping ranges are merged.
function quotedParts(text, quotes) {
  const found = quotes.filter(Boolean).map((quote) => [text.indexOf(quote), quote.length]).filter(([start]) => start >= 0)
    .map(([start, length]) => [start, start + length]).sort((one, other) => one[0] - other[0]);
  const joined = [];
  for (const part of found) {
    const last = joined[joined.length - 1];
    if (last && part[0] <= last[1]) last[1] = Math.max(last[1], part[1]);
    else joined.push(part);
  }
  return joined;
}

function marked(text, quotes) {
  const pieces = [];
  let at = 0;
  for (const [start, end] of quotedParts(text, quotes)) {
    pieces.push(text.slice(at, start), make("mark", null, text.slice(start, end)));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

// The quotes of the summary in a judgement's evidence (quotes of statements are from articles).
function quotesOf(more) {
  return (more.checklist || []).map((entry) => entry.quote).filter(Boolean);
}

function evidence(more, cluster) {
  const outlet = (aid) => ((cluster?.articles || {})[aid] || [aid])[0];
  return [...checklistParts(more.checklist || [], cluster, outlet), ...statementParts(more.statements || [], outlet), ...sourceParts(more.sources || [], outlet)].flat(Infinity);
}

function supportNote(entry) {
  return typeof entry.support === "number" ? make("span", { class: "note" }, ` Local judge's probability: ${rounded(entry.support)}.`) : null;
}

function checklistParts(entries, cluster, outlet) {
  if (!entries.length) return [];
  return [make("h3", null, "Groups of answers, by verdict"), byVerdict(entries, groupVerdict).map(([word, some]) => [
    make("h4", null, `${word} (${some.length} of ${entries.length})`),
    make("ul", { class: "answers" }, some.map((entry) => checklistEntry(entry, word, cluster, outlet)))])];
}

function checklistEntry(entry, word, cluster, outlet) {
  const [q, g] = entry.unit.replace(/^answer:/, "").split(".").map(Number);
  const question = cluster?.questions[q];
  const group = question && question[1][g];
  const credited = new Set(entry.credited || []);
  const own = (aid) => credited.has(aid) ? make("span", { class: "note" }, " (in this outlet's words)") : null;
  const answers = group ? make("ul", { class: "plain" }, group.map(([aid, answer]) =>
    make("li", null, answer, " ", make("span", { class: "outlet" }, outlet(aid)), own(aid)))) : null;
  const names = group || !credited.size ? null : make("p", { class: "note" }, `In the words of ${[...credited].map(outlet).join(", ")}.`);
  return make("li", null, make("p", { class: "answer" }, question ? question[0] : entry.unit), answers, names,
    entry.quote ? make("blockquote", null, make("p", null, entry.quote), make("footer", { class: "note" }, word === "contradicted" ? "The summary contradicts it" : "The summary")) : null,
    supportNote(entry));
}

function statementParts(entries, outlet) {
  if (!entries.length) return [];
  return [make("h3", null, "Statements, by verdict"), byVerdict(entries, (entry) => entry.verdict).map(([word, some]) => [
    make("h4", null, `${word} (${some.length} of ${entries.length})`),
    make("ul", { class: "answers" }, some.map((entry) => make("li", null,
      make("p", { class: "answer" }, entry.statement, make("span", { class: "note" }, ` sentence ${entry.sentence + 1}${entry.grave ? "; severe" : ""}`)),
      entry.quote ? make("blockquote", null, make("p", null, entry.quote), make("footer", { class: "outlet" }, outlet((entry.articles || [])[0] || ""))) : null,
      (entry.articles || []).length > 1 ? make("p", { class: "note" }, `Also: ${entry.articles.slice(1).map(outlet).join(", ")}.`) : null,
      supportNote(entry))))])];
}

function sourceParts(entries, outlet) {
  if (!entries.length) return [];
  return [make("h3", null, "Share of each source's statements that is covered"), make("dl", { class: "facts" },
    [...entries].sort((one, other) => one.covered - other.covered).map((entry) =>
      make("div", null, make("dt", null, outlet(entry.aid)), make("dd", null, rounded(entry.covered)))))];
}
