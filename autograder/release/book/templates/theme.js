// Dark or light, before the first paint: the stored choice, or else the system's setting.
"use strict";

const KEY = "book-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;  // some browsers do not store data for pages opened from disk
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
    // the choice applies to this page only
  }
}

setTheme();
system.addEventListener("change", setTheme);
window.addEventListener("storage", setTheme);  // changed on another page
