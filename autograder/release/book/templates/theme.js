// Dark or light, before anything is drawn: what was chosen here once, else what the system says.
"use strict";

const KEY = "book-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;  // some browsers keep nothing for a page that was opened from a folder
  }
}

function setTheme() {
  document.documentElement.dataset.theme = chosen() ?? (system.matches ? "dark" : "light");
}

function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it holds for this page only
  }
}

setTheme();
system.addEventListener("change", setTheme);
window.addEventListener("storage", setTheme);  // chosen on another page
