// Shows the SVG of a `ClickBoard` (click_board.py), makes its [data-move] elements buttons, and
// sends the moves that are clicked. It knows no game and fetches nothing from anywhere.

const STYLE = `
.click-board { max-width: 100%; }
.click-board .picture { outline: none; overflow-x: auto; position: relative; }
.click-board .drawing > svg { display: block; max-width: 100%; height: auto; }
.click-board [data-move] { cursor: pointer; }
.click-board [data-move]:hover { filter: brightness(0.93); }
.click-board [data-move]:hover .place { fill-opacity: 0.14; }
.click-board svg [data-move]:focus { outline: none; }
.click-board .ring { position: absolute; display: none; pointer-events: none;
  box-sizing: border-box; border: 3px solid #b5179e; border-radius: 4px; }
.click-board .status { margin: 6px 0; min-height: 2.8em; line-height: 1.4; font-size: 14px; }
.click-board .buttons { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.click-board button { font: inherit; font-size: 14px; padding: 5px 12px; min-height: 30px;
  color: #222; background: #f4f1ea; border: 1px solid #595959; border-radius: 4px; cursor: pointer; }
.click-board button:focus-visible, .click-board input:focus-visible {
  outline: 3px solid #b5179e; outline-offset: 1px; }
.click-board input { flex: 1 1 200px; max-width: 480px; }
`;

// Right and down are positive.
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const SIDEWAYS = 2; // how much worse a step aside is than a step in the direction of the arrow
const PATIENCE = 500; // ms after which a step of the slider is sent though the last has no answer
const SHRINK = 0.78; // a picture that is too wide gets smaller by that at most, and then scrolls
const MARGIN = 60; // pixels between what the picture scrolls to and its edge

function middle(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}

/** The element with the least distance from a point, or undefined if all are infinitely far. */
function nearest(elements, [x, y], distance = Math.hypot) {
  let best, least = Infinity;
  for (const element of elements) {
    const [toX, toY] = middle(element);
    const far = distance(toX - x, toY - y);
    if (far < least) [best, least] = [element, far];
  }
  return best;
}

/** Distance for an arrow key: what does not lie in its direction is infinitely far. */
const towards = ([right, down]) => (across, along) => {
  const ahead = across * right + along * down;
  const aside = Math.abs(across * down) + Math.abs(along * right);
  return ahead > 1 ? ahead + SIDEWAYS * aside : Infinity;
};

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "click-board";
  root.innerHTML = `<style>${STYLE}</style>
    <div class="picture" tabindex="-1"><div class="drawing"></div><div class="ring"></div></div>
    <div class="status" role="status" aria-live="polite"></div>
    <div class="buttons" role="group" aria-label="actions"></div>`;
  const [picture, drawing, ring, status, buttons] =
    ["picture", "drawing", "ring", "status", "buttons"].map((name) => root.querySelector("." + name));
  el.append(root);

  let before = {}; // what was painted last
  let asked = 0; // when the slider sent the step that has no answer yet, 0 if all have one
  let waiting = null; // the slider's step to be sent next
  let current = null; // the move of the element that Tab comes to, and the middle of its place

  const moves = () => [...drawing.querySelectorAll("[data-move]")];
  const send = (move) => model.send({ move });

  /** Send the slider's step, the latest only: a drag makes steps faster than they can be drawn. */
  function slide() {
    if (waiting === null || performance.now() - asked < PATIENCE) return;
    asked = performance.now();
    send(`step ${waiting}`);
    waiting = null;
    setTimeout(slide, PATIENCE);
  }

  function setCurrent(element) {
    for (const other of moves()) other.setAttribute("tabindex", other === element ? "0" : "-1");
    const [x, y] = middle(element), frame = picture.getBoundingClientRect();
    current = { move: element.dataset.move, place: [x - frame.left, y - frame.top] };
  }

  /** Scroll a picture that is too wide sideways, so that its [data-here] can be seen. */
  function scrollToHere() {
    const here = drawing.querySelector("[data-here]");
    if (!here) return;
    const box = here.getBoundingClientRect(), frame = picture.getBoundingClientRect();
    const right = box.right + MARGIN - frame.right, left = box.left - MARGIN - frame.left;
    picture.scrollLeft += right > 0 ? right : Math.min(left, 0);
  }

  function paintPicture({ svg, alt }) {
    const focused = picture.contains(picture.getRootNode().activeElement);
    drawing.innerHTML = svg;
    drawing.querySelector("svg > title")?.remove(); // it would pop up wherever the mouse rests
    const whole = drawing.querySelector("svg");
    if (whole) {
      whole.setAttribute("role", "group");
      whole.setAttribute("aria-label", alt);
      whole.style.minWidth = `${SHRINK * whole.getAttribute("width")}px`;
      scrollToHere();
    }
    const elements = moves();
    for (const element of elements) {
      element.setAttribute("role", "button");
      element.setAttribute("aria-label", element.dataset.label ?? element.dataset.move);
      if (element.dataset.pressed) element.setAttribute("aria-pressed", element.dataset.pressed);
    }
    if (!elements.length) { // nothing to click for now: the focus waits on the picture
      if (focused) picture.focus({ preventScroll: true });
      return;
    }
    const frame = picture.getBoundingClientRect();
    const next = !current ? elements[0]
      : elements.find((element) => element.dataset.move === current.move)
        ?? nearest(elements, [current.place[0] + frame.left, current.place[1] + frame.top])
        ?? elements[0];
    setCurrent(next);
    if (focused) next.focus({ preventScroll: true });
  }

  function paintButtons({ buttons: pairs, step, last }) {
    const focused = buttons.contains(buttons.getRootNode().activeElement)
      ? buttons.getRootNode().activeElement.dataset.move : null;
    const fresh = pairs.map(([move, label]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.move = move;
      button.textContent = label;
      return button;
    });
    if (last !== undefined) {
      const slider = document.createElement("input");
      Object.assign(slider, { type: "range", min: 0, max: last, value: step });
      slider.dataset.slider = slider.dataset.move = "step";
      slider.setAttribute("aria-label", "step");
      fresh.push(slider);
    }
    buttons.replaceChildren(...fresh);
    if (focused !== null) {
      (fresh.find((button) => button.dataset.move === focused) ?? fresh[0])?.focus();
    }
  }

  function paint() {
    const now = model.get("shown");
    const changed = (...names) =>
      names.some((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]));
    if (changed("svg", "alt")) paintPicture(now);
    if (changed("status")) status.textContent = now.status;
    if (changed("buttons", "last")) paintButtons(now);
    else if (changed("step") && waiting === null) buttons.querySelector("input").value = now.step;
    before = now;
    asked = 0;
    slide();
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
    waiting = event.target.value;
    slide();
  });
  // The ring of the focus is drawn above everything: an outline would lie below the next cells.
  drawing.addEventListener("focusin", ({ target }) => {
    const box = target.getBoundingClientRect(), frame = picture.getBoundingClientRect();
    Object.assign(ring.style, {
      display: "block", width: `${box.width + 6}px`, height: `${box.height + 6}px`,
      left: `${box.left - frame.left + picture.scrollLeft - 3}px`,
      top: `${box.top - frame.top - 3}px`,
    });
  });
  drawing.addEventListener("focusout", () => { ring.style.display = "none"; });
  picture.addEventListener("keydown", (event) => {
    const element = event.target.closest("[data-move]");
    if (!element || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      send(element.dataset.move);
    } else if (ARROWS[event.key]) {
      const next = nearest(moves(), middle(element), towards(ARROWS[event.key]));
      if (next) {
        setCurrent(next);
        next.focus();
      }
    } else {
      return;
    }
    event.preventDefault();
  });
  // A key without Ctrl and the like is meant for the board: JupyterLab would take "d d" for
  // "delete the cell".
  root.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });

  model.on("change:shown", paint);
  paint();
  return () => model.off("change:shown", paint);
}

export default { render };
