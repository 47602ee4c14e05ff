// Creates elements from text only, so that data is never interpreted as markup.

function make(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else made.setAttribute(name, String(value));
  }
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

// Sets the fragment of the page's URL; a page in a notebook's frame has no URL.
function setFragment(text) {
  try {
    window.history.replaceState(null, "", text || window.location.pathname + window.location.search);
  } catch {
    // Ignore pages without a URL.
  }
}

// The fragment of the URL has the open judgement and the filters of the list:
// #judgement-ADDRESS, #judgements?verdict=tie&sort=-gap&page=2, or both, #judgement-ADDRESS?verdict=tie
const address = { judgement: "", list: "" };

function readAddress() {
  const parts = /^#judgement(?:-([\w-]+)|s)(?:\?(.*))?$/.exec(window.location.hash) || [];
  return { judgement: parts[1] || "", list: parts[2] || "" };
}

function writeAddress(changes) {
  Object.assign(address, changes);
  const name = address.judgement ? `#judgement-${address.judgement}` : address.list ? "#judgements" : "";
  setFragment(address.list ? `${name}?${address.list}` : name);
}

let lastId = 0;

function newId(stem) {
  lastId += 1;
  return `${stem}-${lastId}`;
}

// A labelled select element; `options` are [value, text] pairs.
function choice(label, options, chosen, onChange) {
  const id = newId("choice");
  const list = make("select", { id, onchange: () => onChange(list.value) },
    options.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
  return { list, box: make("div", { class: "field" }, make("label", { for: id }, label), list) };
}

// Returns a function that calls `action` after a pause in typing.
function afterPause(action) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, 120);
  };
}

function searchField(label, onInput) {
  const id = newId("search");
  const input = make("input", { id, type: "search", autocomplete: "off", oninput: afterPause(() => onInput(input.value)) });
  return { input, box: make("div", { class: "field wide-field" }, make("label", { for: id }, label), input) };
}

// Enables or disables a button with aria-disabled, so that it keeps the focus (`disabled` would lose it).
function allow(button, allowed) {
  button.setAttribute("aria-disabled", String(!allowed));
}

function action(text, act) {
  const button = make("button", { type: "button", onclick: () => { if (button.getAttribute("aria-disabled") !== "true") act(); } }, text);
  return button;
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

// Compares values: numbers before texts, missing values last in both directions.
function compare(one, other, sign) {
  const none = (value) => value === null || value === undefined || value === "" || value === "-";
  if (none(one) || none(other)) return none(one) - none(other);
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  if (typeof one === "number") return -1;
  if (typeof other === "number") return 1;
  return sign * collator.compare(one, other);
}

const LONGEST_NAME = 26;

// Maps long names to forms shortened in the middle, unless two of these forms are equal.
function shortNames(names) {
  const short = new Map();
  for (const name of names) {
    const letters = Array.from(name);
    if (letters.length > LONGEST_NAME) short.set(name, `${letters.slice(0, 12).join("")}…${letters.slice(-12).join("")}`);
  }
  const shown = [...short.values()];
  return new Map([...short].filter(([, text]) => shown.indexOf(text) === shown.lastIndexOf(text)));
}

function plural(n, one, many) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many || `${one}s`}`;
}

function rounded(value) {
  return typeof value === "number" && !Number.isInteger(value) ? value.toFixed(2) : String(value);
}
