// Search, zoom for pictures, and keyboard access to boxes that scroll sideways. Pages are complete
// without this script.
"use strict";

const MAX_RESULTS = 30;
const CONTEXT = 60;      // characters before and after a match
const AFTER = 120;

const form = document.getElementById("search");
const field = document.getElementById("words");
const results = document.getElementById("results");
const searchStatus = document.getElementById("search-status");
const hits = document.getElementById("hits");
let loading = null;

// Scripts instead of data, because a page opened from disk cannot fetch files.
function script(name) {
  return new Promise((done, fail) => {
    const element = document.createElement("script");
    element.src = name;
    element.onload = done;
    element.onerror = () => fail(new Error(`${name} is missing from the folder of this page`));
    document.head.append(element);
  });
}

// A word matches itself, words that start with it and, if it is long, words at a small edit distance:
// this tolerates typing errors, and "quiescence" matches "quiescent".
function load() {
  loading ??= Promise.all([script("minisearch.js"), script("search-index.js")]).then(() => {
    const engine = new MiniSearch({
      fields: ["title", "text"], storeFields: ["page", "chapter", "title", "text"],
      searchOptions: { boost: { title: 4 }, prefix: true, combineWith: "AND",
                       fuzzy: (word) => (word.length > 5 ? 0.2 : false) } });
    engine.addAll(window.bookIndex.map((section, id) => ({ id, ...section })));
    return engine;
  });
  return loading;
}

// Whether one of the typed words matches only approximately.
const onlyAlike = (all) => all.length && all[0].queryTerms.some(
  (word) => !all.some((hit) => hit.terms.some((term) => term.startsWith(word))));

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// The text around the first match in a section, with all matches marked.
function around(text, words) {
  const any = new RegExp("(?<![\\p{L}\\p{N}])(" + words.map(escaped).join("|") + ")", "iu");
  const at = Math.max(0, text.search(any));
  const from = Math.max(0, text.lastIndexOf(" ", at - CONTEXT) + 1);
  const to = at + AFTER < text.length ? text.lastIndexOf(" ", at + AFTER) : text.length;
  const line = document.createElement("span");
  line.className = "around";
  const part = (from ? "\u2026 " : "") + text.slice(from, to) + (to < text.length ? " \u2026" : "");
  part.split(new RegExp(any, "giu")).forEach((piece, n) => {
    const node = n % 2 ? document.createElement("mark") : document.createElement("span");
    node.textContent = piece;
    line.append(node);
  });
  return line;
}

function show(hit) {
  const link = document.createElement("a");
  const title = document.createElement("strong");
  title.textContent = hit.title;
  link.href = hit.page;
  link.append(title);
  if (hit.chapter !== hit.title) {
    const chapter = document.createElement("span");
    chapter.className = "chapter";
    chapter.textContent = hit.chapter;
    link.append(chapter);
  }
  // Mark the typed part of a longer word, or the whole word for an approximate match.
  const words = hit.terms.flatMap((term) => hit.queryTerms.filter((word) => term.startsWith(word))
    .concat(term)).sort((a, b) => a.length - b.length);
  link.append(around(hit.text, words));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

async function look() {
  const query = field.value;
  const words = query.trim();
  if (!words) {
    results.hidden = true;
    return;
  }
  try {
    const engine = await load();
    if (query !== field.value) return;  // the query has changed
    const all = engine.search(words);
    const number = all.length === 1 ? "1 section" : `${all.length} sections`;
    const what = onlyAlike(all) ? `Nothing found for ${words}, but ${number} with words like it` : number;
    searchStatus.textContent = all.length > MAX_RESULTS ? `${what}, the first ${MAX_RESULTS} of them:`
      : all.length ? `${what}:` : `Nothing found for ${words}. Try a shorter word.`;
    hits.replaceChildren(...all.slice(0, MAX_RESULTS).map(show));
  } catch (error) {
    searchStatus.textContent = `The search failed: ${error.message}.`;
    hits.replaceChildren();
  }
  results.hidden = false;
}

function close() {
  results.hidden = true;
}

// Dark or light: the system's setting (theme.js) until the reader chooses.
const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => chooseTheme(
  document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

form.hidden = false;
field.addEventListener("input", look);
field.addEventListener("focus", () => { load().catch(() => {}); });
form.addEventListener("submit", (event) => {
  event.preventDefault();
  hits.querySelector("a")?.click();
});
results.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
document.addEventListener("click", (event) => {
  if (!results.contains(event.target) && !form.contains(event.target)) close();
});
document.addEventListener("keydown", (event) => {
  const typing = /^(input|textarea|select)$/i.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "Escape" && !results.hidden) {
    event.preventDefault();  // keep the query
    close();
    field.focus();
  } else if (event.key === "ArrowDown" && results.hidden && event.target === field) {
    look();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !results.hidden) {
    const stops = [field, ...hits.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement);
    const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
    if (at >= 0 && next) {
      event.preventDefault();
      next.focus();
    }
  }
});

// Scroll long contents to the entry of this page, without scrolling the page.
const contents = document.getElementById("contents");
const line = contents.querySelector("[aria-current]");
if (line && line.offsetTop > contents.clientHeight / 2) {
  contents.scrollTop = line.offsetTop - contents.clientHeight / 3;
}

// Only boxes that scroll sideways can be focused by keyboard.
function reach() {
  for (const box of document.querySelectorAll("main .wide, main .output, main .pane, main pre")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    box.toggleAttribute("tabindex", scrolls);
    if (scrolls) box.tabIndex = 0;
    if (box.classList.contains("output")) continue;  // it already has a role and a name
    box.toggleAttribute("role", scrolls);
    box.toggleAttribute("aria-label", scrolls);
    if (scrolls) {
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "scrolls sideways");
    }
  }
}

// A picture that is larger than the available width gets buttons to zoom in, zoom out and fit. On a
// phone it is scaled down or scrolls at first.
const STEP = 1.25;  // factor of one zoom step
const MAX_SCALE = 3;  // relative to the original size
const zooms = [];

class Zoom {
  constructor(image) {
    this.image = image;
    this.box = document.createElement("div");  // scrolls, unlike the buttons
    this.box.className = "pane";
    this.first = image.getAttribute("style") ?? "";  // the original style
    this.group = document.createElement("div");
    this.group.className = "zoom";
    this.group.setAttribute("role", "group");
    this.group.setAttribute("aria-label", "size of the picture");
    this.size = document.createElement("output");
    this.smaller = this.button("\u2212", "Smaller picture", () => this.to(this.scale / STEP));
    this.larger = this.button("+", "Larger picture", () => this.to(this.scale * STEP));
    this.whole = this.button("Fit", "Fit the picture to the page", () => this.to(0));
    this.group.append(this.smaller, this.size, this.larger, this.whole);
    image.before(this.group, this.box);
    this.box.append(image);
    for (const part of [this.box, this.group]) part.addEventListener("keydown", (event) => this.key(event));
  }

  button(text, name, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", name);
    button.title = name;
    button.addEventListener("click", act);
    return button;
  }

  get scale() { return this.image.getBoundingClientRect().width / this.image.naturalWidth; }

  // The scale at which the whole width is visible.
  get fit() {
    return Math.min(1, this.box.clientWidth / this.image.naturalWidth);
  }

  // Keep the centre in place.
  to(scale) {
    const { box, image } = this, before = this.scale;
    const middle = box.scrollLeft + box.clientWidth / 2;
    const now = Math.min(Math.max(scale, this.fit), MAX_SCALE);
    image.style.cssText = `width: ${now * image.naturalWidth}px; min-width: 0; max-width: none`;
    box.scrollLeft = middle * now / before - box.clientWidth / 2;
    this.tell();
    reach();
  }

  tell() {
    this.size.textContent = `${Math.round(100 * this.scale)} %`;
    for (const [button, off] of [[this.smaller, this.scale <= this.fit + 0.001],
                                 [this.whole, this.scale <= this.fit + 0.001],
                                 [this.larger, this.scale >= MAX_SCALE - 0.001]]) {
      button.setAttribute("aria-disabled", off);  // not `disabled`, so that it keeps the focus
    }
  }

  // After a change of the window's width, restore the original size.
  renew() {
    this.image.style.cssText = this.first;
    this.group.hidden = !(this.image.naturalWidth && this.fit < 1);
    if (!this.group.hidden) this.tell();
  }

  key(event) {
    if (this.group.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const { scale: now } = this;
    const scale = { "+": now * STEP, "=": now * STEP, "-": now / STEP, 0: 0 }[event.key];
    if (scale === undefined) return;
    event.preventDefault();
    this.to(scale);
  }
}

let wide = 0;  // width of the window at the last update

function measure() {
  if (wide !== window.innerWidth) for (const zoom of zooms) zoom.renew();
  wide = window.innerWidth;
  reach();
}

window.addEventListener("load", () => {
  for (const image of document.querySelectorAll("main .output img")) zooms.push(new Zoom(image));
  measure();
});
window.addEventListener("resize", measure);
document.addEventListener("toggle", () => {
  for (const zoom of zooms) if (!zoom.size.textContent) zoom.renew();  // its size was unknown
  reach();
}, true);
