// Shows the SVG of a `ClickBoard` (click_board.py), turns its [data-move] elements into buttons and // sends the moves that are clicked. It works for every game and makes no network requests.

// Right and down are positive.
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const PAGES = { PageDown: 1, PageUp: -1 }; // the same place in another layer
const SIDEWAYS = 2; // cost of distance across the arrow's direction, relative to distance along it
const SLIDER_TIMEOUT = 500; // ms after which a slider's step is sent even if the last one is unanswered
const MARGIN = 60; // pixels between the picture's edge and the element to which it scrolls
const LEGIBLE = 9; // pixels: the smallest legible text
const BELOW = 135; // pixels: the height of the bar, text and buttons of a board
const ASLEEP = "The kernel has stopped. Run this cell to continue.";

function middle(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}

/** The element closest to a point, or undefined if all are infinitely far away. */
function nearest(elements, [x, y], distance = Math.hypot) {
  let best, least = Infinity;
  for (const element of elements) {
    const [toX, toY] = middle(element);
    const far = distance(toX - x, toY - y);
    if (far < least) [best, least] = [element, far];
  }
  return best;
}

/** Distance for an arrow key: infinite for elements that are not in its direction. */
const towards = ([right, down]) => (across, along) => {
  const ahead = across * right + along * down;
  const aside = Math.abs(across * down) + Math.abs(along * right);
  return ahead > 1 ? ahead + SIDEWAYS * aside : Infinity;
};

/** The name of a place, whether it can be clicked now or not. */
const placeOf = (element) => element.dataset.place ?? element.dataset.move;

/** The smallest width at which all text of a picture is legible, 0 if it is not shown. */
function leastWidth(svg) {
  const { width } = svg.getBoundingClientRect();
  const sizes = [...svg.querySelectorAll("text")].map(
    (text) => parseFloat(getComputedStyle(text).fontSize) * (text.getScreenCTM()?.a ?? 0));
  return Math.round(width * LEGIBLE / Math.min(...sizes.filter(Boolean)));
}

/** The width at which a picture and its buttons fill the height of the notebook's window. */
function widthInSight(svg) {
  const seen = svg.closest(".jp-WindowedPanel-outer")?.clientHeight || window.innerHeight;
  return Math.floor(svg.width.baseVal.value * (seen - BELOW) / svg.height.baseVal.value);
}

/** "undo" or "redo" for the usual keyboard shortcuts. */
function undoOrRedo({ key, ctrlKey, metaKey, shiftKey }) {
  if (!ctrlKey && !metaKey) return null;
  const letter = key.toLowerCase();
  return letter === "y" || (letter === "z" && shiftKey) ? "redo" : letter === "z" ? "undo" : null;
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "click-board";
  root.innerHTML = `<div class="busy"></div>
    <div class="picture" tabindex="-1"><div class="drawing"></div><div class="ring"></div></div>
    <div class="status" role="status" aria-live="polite"></div>
    <div class="buttons" role="group" aria-label="actions"></div>
    <div class="options" role="group" aria-label="settings" hidden></div>
    <details hidden><summary></summary><ol tabindex="0" aria-label="moves"></ol></details>`;
  const [picture, drawing, ring, status, buttons, options, list] =
    [".picture", ".drawing", ".ring", ".status", ".buttons", ".options", "details"]
      .map((name) => root.querySelector(name));
  el.append(root);

  let before = {}; // the last state painted
  let sentAt = 0; // when a slider sent the step that is still unanswered, 0 if there is none
  const waiting = new Map(); // the step to send next, by the word that its slider sends
  let current = null; // the place that Tab focuses: its name, and its centre in the picture
  let timer = 0; // of the move that the board sends automatically
  let painted = 0; // the width available to the picture at that time

  const places = () => [...drawing.querySelectorAll("[data-move], [data-place]")];
  const send = (move) => model.send({ move });
  const activeIn = (part) => {
    const active = part.getRootNode().activeElement;
    return part.contains(active) ? active : null;
  };

  /** Send only the latest step of a slider, since dragging makes steps faster than they are drawn. */
  function slide() {
    if (!waiting.size || performance.now() - sentAt < SLIDER_TIMEOUT) return;
    sentAt = performance.now();
    const [[word, step]] = waiting;
    waiting.delete(word);
    send(`${word} ${step}`);
    setTimeout(slide, SLIDER_TIMEOUT);
  }

  /** A slider that sends a word and a number, initially `value`. */
  function sliderOf(word, name, last, value) {
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: last, value });
    slider.dataset.slider = slider.dataset.move = word;
    slider.setAttribute("aria-label", name);
    return slider;
  }

  function setCurrent(element) {
    for (const other of places()) other.setAttribute("tabindex", other === element ? "0" : "-1");
    const [x, y] = middle(element), frame = picture.getBoundingClientRect();
    current = { place: placeOf(element), at: [x - frame.left, y - frame.top] };
  }

  function focusOn(element) {
    if (!element) return;
    setCurrent(element);
    element.focus();
  }

  /** Scroll a picture that is too wide, so that its [data-here] element is visible. */
  function scrollToHere() {
    const here = drawing.querySelector("[data-here]");
    if (!here) return;
    const box = here.getBoundingClientRect(), frame = picture.getBoundingClientRect();
    const right = box.right + MARGIN - frame.right, left = box.left - MARGIN - frame.left;
    picture.scrollLeft += right > 0 ? right : Math.min(left, 0);
  }

  /** Fade an edge of the picture if there is more to scroll to. */
  function fade() {
    const beyond = picture.scrollWidth - picture.clientWidth - picture.scrollLeft;
    picture.classList.toggle("goes-on", beyond > 1);
    picture.classList.toggle("goes-back", picture.scrollLeft > 1);
  }

  /** Insert a picture, shrunk as far as its text allows; returns whether it fits. */
  function place(svg) {
    drawing.innerHTML = svg;
    const whole = drawing.firstElementChild;
    const least = whole ? leastWidth(whole) : 0;
    whole?.style.setProperty("--least", `${least}px`);
    whole?.style.setProperty("--in-sight", `${Math.max(widthInSight(whole), least)}px`);
    return least <= picture.clientWidth;
  }

  function paintPicture({ svg, compact, alt, arrows }) {
    const focused = activeIn(picture);
    if (!place(svg) && compact) place(compact);
    painted = picture.clientWidth;
    drawing.querySelector("svg > title")?.remove(); // it would pop up as a tooltip
    const whole = drawing.querySelector("svg");
    if (whole) {
      whole.setAttribute("role", "group");
      whole.setAttribute("aria-label", alt);
      scrollToHere();
      fade();
    }
    const elements = places();
    for (const element of elements) {
      element.setAttribute("role", element.dataset.move === undefined ? "img" : "button");
      element.setAttribute("aria-label", element.dataset.label ?? element.dataset.move);
      if (element.dataset.pressed) element.setAttribute("aria-pressed", element.dataset.pressed);
    }
    // If it contains nothing to focus, the picture itself takes the focus.
    picture.setAttribute("tabindex", elements.length ? "-1" : "0");
    if (!elements.length) {
      if (focused) picture.focus({ preventScroll: true });
      return;
    }
    const frame = picture.getBoundingClientRect();
    const next = (arrows && elements.find((element) => element.dataset.here))
      || (!current && elements[0])
      || elements.find((element) => placeOf(element) === current.place)
      || nearest(elements, [current.at[0] + frame.left, current.at[1] + frame.top])
      || elements[0];
    setCurrent(next);
    if (focused) next.focus({ preventScroll: true });
  }

  function paintButtons({ buttons: pairs, off = [], step, last }) {
    const focused = activeIn(buttons)?.dataset.move;
    const fresh = pairs.map(([move, label]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.move = move;
      button.textContent = label;
      button.disabled = off.includes(move);
      return button;
    });
    if (last !== undefined) fresh.push(sliderOf("step", "step", last, step));
    buttons.replaceChildren(...fresh);
    if (focused !== undefined) {
      const enabled = fresh.filter((button) => !button.disabled);
      (enabled.find((button) => button.dataset.move === focused) ?? enabled[0])?.focus();
    }
  }

  /** The settings: a slider for each, between its name and its value. */
  function paintOptions({ options: all = [] }) {
    options.hidden = !all.length;
    if (options.children.length !== all.length) {
      options.replaceChildren(...all.map(([name, at, last], number) => {
        const row = document.createElement("div"), called = document.createElement("span");
        called.textContent = name;
        row.append(called, sliderOf(`set ${number}`, name, last, at),
          document.createElement("output"));
        return row;
      }));
    }
    all.forEach(([, at, last, text], number) => {
      const [, slider, value] = options.children[number].children;
      slider.max = last;
      if (!waiting.has(slider.dataset.slider)) slider.value = at;
      slider.setAttribute("aria-valuetext", text);
      value.textContent = text;
    });
  }

  function paintMoves({ moves = [] }) {
    list.hidden = !moves.length;
    list.querySelector("summary").textContent = `Moves: ${moves.length}`;
    list.querySelector("ol").replaceChildren(...moves.map((move) => {
      const item = document.createElement("li");
      item.textContent = move;
      return item;
    }));
  }

  function paint() {
    const now = model.get("content");
    const changed = (...names) =>
      names.some((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]));
    if (changed("svg", "compact", "alt")) paintPicture(now);
    if (changed("status")) status.textContent = now.status;
    if (changed("buttons", "off", "last")) paintButtons(now);
    else if (changed("step") && !waiting.has("step")) {
      buttons.querySelector("input").value = now.step;
    }
    if (changed("options")) paintOptions(now);
    if (changed("moves")) paintMoves(now);
    root.classList.toggle("thinking", Boolean(now.busy));
    clearTimeout(timer);
    if (now.auto) timer = setTimeout(() => send(now.auto[0]), now.auto[1]);
    before = now;
    sentAt = 0;
    slide();
  }

  /** Without a kernel, show the board as a picture with a note. */
  async function updateConnection() {
    const whole = await model.widget_manager.get_model(model.get("own_id"));
    if (whole.comm_live) {
      before = {};
      paint();
      width.observe(picture);
      return;
    }
    clearTimeout(timer);
    width.disconnect(); // repainting would make it clickable again
    root.classList.remove("thinking");
    buttons.replaceChildren();
    options.replaceChildren();
    for (const element of places()) {
      delete element.dataset.move;
      element.setAttribute("role", "img");
    }
    status.textContent = ASLEEP;
  }

  root.addEventListener("click", (event) => {
    const element = event.target.closest("[data-move]");
    if (!element || element.dataset.slider) return;
    if (picture.contains(element)) {
      setCurrent(element);
      element.focus({ preventScroll: true });
    }
    send(element.dataset.move);
  });
  root.addEventListener("input", (event) => {
    if (!event.target.dataset.slider) return;
    waiting.set(event.target.dataset.slider, event.target.value);
    slide();
  });
  // The focus ring is drawn above everything; an outline would be hidden by the next cells.
  drawing.addEventListener("focusin", ({ target }) => {
    if (places().includes(target)) setCurrent(target);
    const box = target.getBoundingClientRect(), frame = picture.getBoundingClientRect();
    Object.assign(ring.style, {
      display: "block", width: `${box.width + 6}px`, height: `${box.height + 6}px`,
      left: `${box.left - frame.left + picture.scrollLeft - 3}px`,
      top: `${box.top - frame.top - 3}px`,
    });
  });
  drawing.addEventListener("focusout", () => { ring.style.display = "none"; });

  /** The target of a key: a neighbour, the same place in another layer, the first or last place. */
  function neighbour(element, key) {
    const all = places();
    if (key === "Home") return all[0];
    if (key === "End") return all.at(-1);
    if (ARROWS[key]) return nearest(all, middle(element), towards(ARROWS[key]));
    const layer = Number(element.dataset.layer);
    const inLayer = (number) => all.filter((other) => Number(other.dataset.layer) === number);
    return inLayer(layer + PAGES[key])[inLayer(layer).indexOf(element)];
  }

  picture.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { key, shiftKey } = event, element = event.target.closest("[role]");
    const follow = shiftKey ? undefined : before.arrows?.[key];
    if (follow) {
      send(follow);
    } else if ((key === "Enter" || key === " ") && element?.dataset.move) {
      send(element.dataset.move);
    } else if (ARROWS[key] || PAGES[key] || key === "Home" || key === "End") {
      const from = places().includes(element) ? element
        : places().find((place) => placeOf(place) === current?.place);
      if (!from) return;
      focusOn(neighbour(from, key));
    } else {
      return;
    }
    event.preventDefault();
  });
  // The board handles keys without modifiers: JupyterLab would delete the cell on "d d". Ctrl+Z undoes // a move here, not an edit of the notebook.
  root.addEventListener("keydown", (event) => {
    const button = undoOrRedo(event) && buttons.querySelector(
      `[data-move="${undoOrRedo(event)}"]:enabled`);
    if (button) {
      send(button.dataset.move);
      event.preventDefault();
    }
    if (button || (!event.ctrlKey && !event.metaKey && !event.altKey)) event.stopPropagation();
  });

  // At another width, another layout may fit; and an element has no width before it is shown.
  const width = new ResizeObserver(() => {
    if (picture.clientWidth !== painted && before.svg) paintPicture(before);
  });
  width.observe(picture);
  picture.addEventListener("scroll", fade);
  const sight = new IntersectionObserver(fade); // changes that happen while it is off screen may go unnoticed
  sight.observe(picture);
  model.on("change:content", paint);
  paint();
  model.on("comm_live_update", updateConnection);
  return () => {
    model.off("change:content", paint);
    model.off("comm_live_update", updateConnection);
    width.disconnect();
    sight.disconnect();
    clearTimeout(timer);
  };
}

export default { render };
