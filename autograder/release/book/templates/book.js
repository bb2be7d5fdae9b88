// Search, and boxes that scroll sideways for those who use the keyboard. Pages are whole without it.
"use strict";

const MOST = 30;    // results that are shown
const BEFORE = 60;  // letters of a section before the word that was found, and after it
const AFTER = 120;

const form = document.getElementById("search");
const field = document.getElementById("words");
const results = document.getElementById("results");
const found = document.getElementById("found");
const hits = document.getElementById("hits");
let loading = null;

// The index is a script, because a page that was opened from a folder may not fetch a file.
function load() {
  loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = "search-index.js";
    script.onload = () => done(window.bookIndex);
    script.onerror = () => fail(new Error("search-index.js is missing from the folder of this page"));
    document.head.append(script);
  });
  return loading;
}

// A word is found where another one begins with it, whatever its case.
const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const pattern = (word, flags) => new RegExp("(?<![\\p{L}\\p{N}])" + escaped(word), flags + "iu");

function search(index, words) {
  const patterns = words.map((word) => pattern(word, ""));
  return index
    .map((section, place) => {
      const title = patterns.filter((p) => p.test(section.title)).length;
      const times = patterns.map((word) => section.text.match(new RegExp(word, "giu"))?.length ?? 0);
      const all = patterns.every((p, n) => times[n] || p.test(section.title));
      return { section, place, all, rank: 100 * title + Math.min(...times, 99) };
    })
    .filter((hit) => hit.all)
    .sort((a, b) => b.rank - a.rank || a.place - b.place);
}

// The text around the first word, the words marked.
function around(text, words) {
  const at = Math.max(0, text.search(pattern(words[0], "")));
  const from = Math.max(0, text.lastIndexOf(" ", at - BEFORE) + 1);
  const to = at + AFTER < text.length ? text.lastIndexOf(" ", at + AFTER) : text.length;
  const line = document.createElement("span");
  line.className = "around";
  const part = (from ? "\u2026 " : "") + text.slice(from, to) + (to < text.length ? " \u2026" : "");
  const any = new RegExp("((?<![\\p{L}\\p{N}])(?:" + words.map(escaped).join("|") + "))", "giu");
  part.split(any).forEach((piece, n) => {
    const node = n % 2 ? document.createElement("mark") : document.createElement("span");
    node.textContent = piece;
    line.append(node);
  });
  return line;
}

function show(hit, words) {
  const link = document.createElement("a");
  const title = document.createElement("strong");
  title.textContent = hit.section.title;
  link.href = hit.section.page;
  link.append(title);
  if (hit.section.chapter !== hit.section.title) {
    const chapter = document.createElement("span");
    chapter.className = "chapter";
    chapter.textContent = hit.section.chapter;
    link.append(chapter);
  }
  link.append(around(hit.section.text, words));
  const item = document.createElement("li");
  item.append(link);
  return item;
}

async function look() {
  const asked = field.value;
  const words = asked.trim().split(/\s+/).filter(Boolean);
  if (!words.length) {
    results.hidden = true;
    return;
  }
  try {
    const index = await load();
    if (asked !== field.value) return;  // more was typed meanwhile
    const all = search(index, words);
    const number = all.length === 1 ? "1 section" : `${all.length} sections`;
    found.textContent = all.length > MOST ? `${number}, the first ${MOST} of them:`
      : all.length ? `${number}:` : `Nothing found for ${words.join(" ")}. Try a shorter word.`;
    hits.replaceChildren(...all.slice(0, MOST).map((hit) => show(hit, words)));
  } catch (error) {
    found.textContent = `The search failed: ${error.message}.`;
    hits.replaceChildren();
  }
  results.hidden = false;
}

function close() {
  results.hidden = true;
}

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
    event.preventDefault();  // the words stay, in case they are wanted again
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

// What scrolls sideways can be reached by the keyboard, and nothing else is a stop on the way.
function reach() {
  for (const box of document.querySelectorAll("main .wide, main .output, main pre")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    box.toggleAttribute("tabindex", scrolls);
    if (scrolls) box.tabIndex = 0;
    if (box.classList.contains("output")) continue;  // it has its role and its name anyway
    box.toggleAttribute("role", scrolls);
    box.toggleAttribute("aria-label", scrolls);
    if (scrolls) {
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "scrolls sideways");
    }
  }
}
window.addEventListener("load", reach);
window.addEventListener("resize", reach);
document.addEventListener("toggle", reach, true);
