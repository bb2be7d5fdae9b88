// Arrow keys move between slides; text that does not fit is scaled down.
"use strict";
const slides = [...document.querySelectorAll(".slide")];
const NEXT = ["ArrowRight", "ArrowDown", "PageDown", " "];
const BEFORE = ["ArrowLeft", "ArrowUp", "PageUp"];
const SIDEWAYS = ["ArrowLeft", "ArrowRight"];
const MIN_SCALE = 0.6; // of the font size in the style sheet; smaller text is illegible

function here() {
  const line = Math.min(innerHeight, slides[0].offsetHeight) / 2; // in small windows slides are short
  return slides.findIndex((slide) => slide.getBoundingClientRect().bottom > line);
}

function show(number) {
  const slide = slides[Math.max(0, Math.min(slides.length - 1, number))];
  slide.scrollIntoView({ behavior: "instant" });
  history.replaceState(null, "", `#${slide.id}`);
}

function overflows(box) {
  return box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
}

function fit(slide) {
  const content = slide.querySelector(".content");
  if (!content) return;
  const picture = slide.querySelector(".figure img");
  if (picture) { // a wide picture gets the full width, below the text
    slide.classList.toggle("stacked", picture.naturalWidth > 2.2 * picture.naturalHeight);
  }
  for (const part of content.querySelectorAll(".text, .code")) {
    part.style.fontSize = "";
    const size = parseFloat(getComputedStyle(part).fontSize);
    for (let share = 0.95; overflows(content) && share >= MIN_SCALE; share -= 0.05) {
      part.style.fontSize = `${size * share}px`;
    }
  }
  slide.querySelectorAll(".figure").forEach(offer);
}

// A picture that scrolls can be focused, and the left and right keys move it.
function offer(box) {
  const scrolls = overflows(box);
  box.toggleAttribute("tabindex", scrolls);
  if (scrolls) box.tabIndex = 0;
}

function fitAll() {
  const now = here();
  slides.forEach(fit);
  show(now);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches(".figure[tabindex]") && SIDEWAYS.includes(event.key)) return;
  if (NEXT.includes(event.key)) show(here() + (event.shiftKey ? -1 : 1));
  else if (BEFORE.includes(event.key)) show(here() - 1);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(slides.length - 1);
  else if (event.key.toLowerCase() === "n") document.body.classList.toggle("show-notes");
  else return;
  event.preventDefault();
});
addEventListener("resize", fitAll);
addEventListener("load", () => {
  slides.forEach(fit);
  show(Math.max(0, slides.findIndex((slide) => `#${slide.id}` === location.hash)));
});
