// Shows the answers of a `Marking` (page.py), and sends the points and comments that a grader enters.
// It inserts only HTML that page.py has sanitised; everything else is set as text.

const PAUSE = 1200; // ms after the last key before a comment is saved
const AHEAD = 5; // answers that are loaded before they are scrolled into view
const SAVE_TIMEOUT = 8000; // ms after which a missing reply is reported
const KEYS = "Digits enter points, a full stop adds a half if halves are possible, Backspace removes them; Enter, ↓ or j: next answer, ↑ or k: previous answer; " +
  "u: next unmarked answer; c: write a comment, Escape: leave it; Shift and a digit: use " +
  "a comment from the list.";

/** An element with these properties and children. */
function make(tag, properties = {}, ...children) {
  const { label, ...others } = properties;
  const element = Object.assign(document.createElement(tag), others);
  if (label) element.setAttribute("aria-label", label);
  element.append(...children);
  return element;
}

const inWords = (points) => `${points} ${points === 1 ? "point" : "points"}`;

function render({ model, el }) {
  const chosen = make("select", { label: "question" });
  const section = make("select", { label: "section" });
  const hidden = make("input", { type: "checkbox" });
  const again = make("button", { type: "button", textContent: "Read again",
    title: "Read answers and marks again, unmarked ones first" });
  const progress = make("span", { className: "to-mark" });
  const list = make("div", { className: "answers" });
  const side = make("div", { className: "side", tabIndex: 0 });
  side.setAttribute("role", "region");
  side.setAttribute("aria-label", "question, points, model answer");
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", "answers");
  const spoken = make("div", { className: "spoken" });
  spoken.setAttribute("role", "status");
  const root = make("div", { className: "marking" },
    make("div", { className: "top" }, chosen, section, progress,
      make("label", {}, hidden, " Hide names"), again),
    make("p", { className: "keys", textContent: KEYS }),
    make("div", { className: "both" }, list, side), spoken);
  el.append(root);

  const cards = new Map(); // id -> { card, text, who, buttons, comment, status, ... }
  let current = null; // the id of the answer that keys mark
  let painted = ""; // the question, and the order of its answers
  const view = () => model.get("view");
  const lineOf = (id) => view().answers.find((line) => line.id === id);

  /** Request the texts of answers that have not been requested yet. */
  function ask(wanted) {
    const ids = wanted.filter((id) => cards.has(id) && !cards.get(id).isRequested);
    for (const id of ids) cards.get(id).isRequested = true;
    if (ids.length) model.send({ do: "text", ids });
  }

  const reading = new IntersectionObserver((entries) =>
    ask(entries.filter((entry) => entry.isIntersecting).map(({ target }) => target.dataset.id)));

  /** Show a message next to an answer, and read it out in a screen reader. */
  function tell(id, words, wrong = false) {
    const card = cards.get(id);
    if (card) {
      card.status.textContent = words;
      card.status.classList.toggle("wrong", wrong);
    }
    spoken.textContent = words;
  }

  /** Send a change to an answer; it counts as saved only after Python has replied. */
  function send(id, content) {
    const card = cards.get(id);
    tell(id, "saving …");
    clearTimeout(card.waiting);
    card.waiting = setTimeout(() => tell(id, "NOT saved: no reply. Is the kernel " +
      "running? Run the cell again; everything shown as “saved” is in the gradebook.", true), SAVE_TIMEOUT);
    model.send({ ...content, id });
  }

  function give(id, points) {
    const card = cards.get(id);
    if (!card.read) return tell(id, "wait until the answer is shown", true);
    saveComment(id);
    send(id, { do: "grade", points });
  }

  /** Save a changed comment; `confirmed` if the grader has seen that a different one was saved. */
  function saveComment(id, confirmed = false) {
    const card = cards.get(id);
    clearTimeout(card.pause);
    if (card.comment.value.trim() === card.saved || (card.stale && !confirmed)) return;
    card.stale = false;
    card.saved = card.comment.value.trim();
    send(id, { do: "comment", text: card.saved });
  }

  function newCard({ id }) {
    const who = make("h4"), status = make("span", { className: "status" });
    const text = make("div", { className: "text" }), buttons = make("div", { className: "buttons" });
    const comment = make("textarea", { rows: 2, placeholder: "Comment for the student (c)" });
    buttons.setAttribute("role", "group");
    const head = make("div", { className: "head" }, who, buttons, status);
    const card = make("article", { tabIndex: -1 }, head, text, comment);
    card.dataset.id = id;
    const made = { card, who, status, text, buttons, comment, saved: "" };
    for (const points of view().points) {
      const button = make("button", { type: "button", textContent: points });
      button.addEventListener("click", () => { go(id, false); give(id, points); });
      buttons.append(button);
    }
    comment.addEventListener("input", () => {
      clearTimeout(made.pause);
      made.pause = setTimeout(() => saveComment(id), PAUSE);
    });
    comment.addEventListener("blur", () => saveComment(id));
    card.addEventListener("focusin", () => { if (current !== id) go(id, false); });
    card.addEventListener("mousedown", () => { if (current !== id) go(id, false); });
    return made;
  }

  function paintCard(line) {
    const made = cards.get(line.id);
    const state = line.waits ? (line.marked ? "graded again since it was marked: please check"
      : "not marked yet") : line.marked ? inWords(line.points) : `${inWords(line.points)}, automatic`;
    made.who.textContent = line.who;
    made.card.setAttribute("aria-label", `${line.who}, ${state}`);
    made.card.classList.toggle("waits", line.waits);
    made.buttons.setAttribute("aria-label", `points of ${line.who}`);
    for (const button of made.buttons.children) {
      const pressed = Number(button.textContent) === line.points && (line.marked || !line.waits);
      button.setAttribute("aria-pressed", String(pressed));
    }
    made.comment.setAttribute("aria-label", `comment on ${line.who}`);
    if (made.state !== state && !made.status.classList.contains("wrong")) made.status.textContent = state;
    made.state = state;
    // Keep a comment that is being typed; otherwise, show one that was saved elsewhere.
    const untouched = made.comment.value.trim() === made.saved;
    if (untouched && made.saved !== line.comment) made.comment.value = line.comment;
    if (untouched) made.saved = line.comment;
  }

  /** Make an answer the current one, which keys mark. */
  function go(id, focus = true) {
    if (!cards.has(id)) return;
    if (current !== null && cards.has(current)) {
      if (current !== id) saveComment(current);
      cards.get(current).card.classList.remove("current");
      cards.get(current).card.removeAttribute("aria-current");
      cards.get(current).card.tabIndex = -1;
    }
    current = id;
    const { card } = cards.get(id);
    card.classList.add("current");
    card.setAttribute("aria-current", "true");
    card.tabIndex = 0;
    const ids = [...cards.keys()], here = ids.indexOf(id);
    ask(ids.slice(here, here + AHEAD));
    if (!focus) return;
    card.focus({ preventScroll: true });
    if (list.scrollHeight > list.clientHeight) {
      const top = card.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + card.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = top - 8;
      }
    } else card.scrollIntoView({ block: "nearest" });
  }

  function paint() {
    const now = view();
    if (!now.answers) return;
    chosen.replaceChildren(...now.questions.map(({ cell, title, notebook, waiting, answers }) =>
      make("option", { value: JSON.stringify(cell), selected: String(cell) === String(now.cell),
        textContent: `${title} (${notebook}): ${waiting} of ${answers} to mark` })));
    section.hidden = !now.sections.length;
    section.replaceChildren(...["", ...now.sections].map((name) => make("option", { value: name,
      selected: name === now.section, textContent: name ? `section ${name}` : "all sections" })));
    hidden.checked = now.anonymous;
    const left = now.answers.filter(({ waits }) => waits).length;
    progress.textContent = left ? `${left} of ${now.answers.length} to mark` : "all marked";

    const order = JSON.stringify([now.cell, now.section, now.anonymous, now.answers.map(({ id }) => id)]);
    if (order !== painted) {
      const focused = list.contains(document.activeElement);
      painted = order;
      reading.disconnect();
      cards.clear();
      for (const line of now.answers) cards.set(line.id, newCard(line));
      list.replaceChildren(...[...cards.values()].map(({ card }) => card));
      if (!now.answers.length) list.textContent = "No answers have been graded yet.";
      for (const { card } of cards.values()) reading.observe(card);
      current = null;
      if (now.answers.length) go(now.answers[0].id, focused);
    }
    for (const line of now.answers) paintCard(line);

    const parts = now.parts.map(([title, html]) => {
      const body = make("div", { className: "text" });
      body.innerHTML = html; // sanitised by page.py, like all HTML here
      return make("section", {}, make("h4", { textContent: title }), body);
    });
    const reused = make("section", {}, make("h4", { textContent: "Comments to use again" }));
    now.comments.forEach((comment, number) => {
      const button = make("button", { type: "button", className: "reuse",
        textContent: `${number + 1}  ${comment}` });
      button.addEventListener("click", () => reuse(number));
      reused.append(button);
    });
    if (!now.comments.length) reused.append("Comments on one answer are offered for the others.");
    const top = side.scrollTop;
    side.replaceChildren(...parts.slice(0, 2), reused, ...parts.slice(2));
    side.scrollTop = top;
  }

  /** Append a comment from the list to the comment on the current answer. */
  function reuse(number) {
    const comment = view().comments[number], made = cards.get(current);
    if (!made || comment === undefined || made.comment.value.includes(comment)) return;
    made.comment.value = [made.comment.value.trim(), comment].filter(Boolean).join("\n");
    saveComment(current);
  }

  function step(by) {
    const ids = [...cards.keys()], next = ids[ids.indexOf(current) + by];
    if (next) go(next);
    else tell(current, by > 0 ? "this is the last answer" : "this is the first answer");
  }

  function toUnmarked() {
    const ids = view().answers.map(({ id }) => id), here = ids.indexOf(current);
    const waits = new Set(view().answers.filter((line) => line.waits).map(({ id }) => id));
    const next = [...ids.slice(here + 1), ...ids.slice(0, here)].find((id) => waits.has(id));
    if (next) go(next);
    else tell(current, "there is no other unmarked answer");
  }

  root.addEventListener("keydown", (event) => {
    const { key, target } = event;
    // A key without Ctrl and the like is meant for this page: JupyterLab would take "d d" for
    // "delete the cell". Ctrl and Enter would run it.
    if (!event.altKey && (!event.ctrlKey || key === "Enter") && !event.metaKey) event.stopPropagation();
    if (event.altKey || event.metaKey || !cards.has(current)) return;
    if (target.tagName === "TEXTAREA") {
      if (key === "Escape" || (key === "Enter" && event.ctrlKey)) {
        saveComment(current, true);
        cards.get(current).card.focus();
        event.preventDefault();
      }
      return;
    }
    if (event.ctrlKey || !list.contains(target)) return;
    const digit = /^Digit([0-9])$/.exec(event.code)?.[1];
    if (event.shiftKey && digit) reuse(Number(digit) - 1);
    else if (/^[0-9]$/.test(key)) give(current, Number(key));
    else if (key === ".") give(current, (lineOf(current).points ?? 0) + 0.5);
    else if (key === "Backspace" || key === "Delete") give(current, null);
    else if (key === "j" || key === "ArrowDown") step(1);
    else if (key === "k" || key === "ArrowUp") step(-1);
    else if (key === "Enter" && target.tagName !== "BUTTON") step(1);
    else if (key === "u") toUnmarked();
    else if (key === "c") cards.get(current).comment.focus();
    else return;
    event.preventDefault();
  });

  chosen.addEventListener("change", () =>
    model.send({ do: "question", cell: JSON.parse(chosen.value) }));
  section.addEventListener("change", () => model.send({ do: "section", name: section.value }));
  hidden.addEventListener("change", () => model.send({ do: "anonymous", on: hidden.checked }));
  again.addEventListener("click", () => model.send({ do: "read" }));

  function hear(content) {
    const made = cards.get(content.id);
    if (content.html !== undefined && made) {
      made.text.innerHTML = content.html; // cleaned by `autograder.reporting.pages.safe_html`
      for (const link of made.text.querySelectorAll("a")) { // so that links do not replace JupyterLab
        Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
      }
      made.read = true;
    } else if (content.message) {
      if (made) clearTimeout(made.waiting);
      if (content.wrong && made) {
        // The comment that was not saved stays in its field until the grader saves it again.
        made.saved = lineOf(content.id).comment;
        made.stale = made.comment.value.trim() !== made.saved;
        if (made.stale) content.message += " (your comment: Ctrl and Enter in it)";
      }
      tell(content.id, content.wrong || !made ? content.message : `saved: ${made.state}`, content.wrong);
    }
  }

  /** Mark the view when its kernel stops, as JupyterLab marks its own widgets. */
  async function followKernel() {
    const whole = await model.widget_manager.get_model(model.get("own_id"));
    el.classList.toggle("jupyter-widgets-disconnected", !whole.comm_live);
  }

  model.on("change:view", paint);
  model.on("msg:custom", hear);
  model.on("comm_live_update", followKernel);
  paint();
  requestAnimationFrame(() => { // the user requested it, unless another assignment was chosen
    if (document.activeElement?.tagName !== "SELECT") root.scrollIntoView({ block: "nearest" });
  });
  return () => {
    reading.disconnect();
    model.off("change:view", paint);
    model.off("msg:custom", hear);
    model.off("comm_live_update", followKernel);
  };
}

export default { render };
