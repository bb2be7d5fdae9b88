// Shows a `Message` (message.py) below the button that caused it, and scrolls it into view.
// Everything is set as text.

const SETTLED = 400; // ms until the table above shows what a command has changed

/** An element with these properties and children. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function render({ model, el }) {
  // The status stays in the page, so that screen readers announce each new text in it.
  const status = make("div", { className: "message-text", tabIndex: -1 });
  status.setAttribute("role", "status");
  const bar = make("progress", { ariaLabel: "progress" });
  const count = make("span");
  const stop = make("button", { type: "button", textContent: "Stop" });
  const progress = make("div", { className: "message-row" }, bar, count, stop);
  const choices = make("div", { className: "message-row" });
  const lines = make("pre", { tabIndex: 0, ariaLabel: "output of the command" });
  lines.setAttribute("role", "log");
  lines.setAttribute("aria-live", "off"); // the result is announced, not each line
  const log = make("details", {}, make("summary", { textContent: "Output of the command" }), lines);
  const root = make("div", { className: "message" }, status, progress, choices, log);
  el.append(root);
  let seen = model.get("view").number;

  /** Whether the user has moved on to another part of the page since the click. */
  function isElsewhere() {
    const at = document.activeElement;
    return at && at !== document.body && !root.contains(at) && !at.disabled
      && !at.classList.contains("jp-Notebook");
  }

  const scroll = () => root.scrollIntoView({ block: "nearest" });

  function paint() {
    const { text = "", kind = "", done = null, total = null, note = "", log: output = "",
      open = false, buttons = [], link = null, number = 0 } = model.get("view");
    const hadFocus = root.contains(document.activeElement);
    root.hidden = !text;
    root.dataset.kind = kind;
    if (status.textContent !== text) status.textContent = text;
    const running = kind === "running";
    progress.hidden = !running && done === null;
    stop.hidden = !running;
    count.textContent = note;
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value"); // the total is unknown
    choices.replaceChildren(...buttons.map(([name, words]) => {
      const button = make("button", { type: "button", textContent: words });
      button.addEventListener("click", () => model.send({ do: name }));
      return button;
    }));
    if (link) {
      const [words, port, path] = link;
      choices.append(make("a", { textContent: words, target: "_blank", rel: "noopener",
        href: `${location.protocol}//${location.hostname}:${port}/${path}` }));
    }
    choices.hidden = !choices.children.length;
    log.hidden = !output;
    if (lines.textContent !== output) {
      const atEnd = lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4;
      lines.textContent = output;
      if (atEnd) lines.scrollTop = lines.scrollHeight;
    }
    if (number === seen || !text) {
      if (hadFocus && !root.contains(document.activeElement)) status.focus({ preventScroll: true });
      return;
    }
    seen = number;
    log.open = open;
    if (kind === "running" || kind === "question" || kind === "refused" || !isElsewhere()) {
      // Questions can be answered with the keyboard; the last button changes nothing.
      const part = kind === "question" ? choices.lastElementChild : status;
      part.focus({ preventScroll: true });
      requestAnimationFrame(scroll);
      setTimeout(() => { if (!isElsewhere()) scroll(); }, SETTLED);
    }
  }

  root.addEventListener("keydown", (event) => { // otherwise, JupyterLab interprets keys as commands
    if (!event.altKey && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  stop.addEventListener("click", () => model.send({ do: "stop" }));
  model.on("change:view", paint);
  paint();
  return () => model.off("change:view", paint);
}

export default { render };
