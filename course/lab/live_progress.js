// Keeps the start page up to date while it is visible; `course.lab.file_manager` adds it to the page.

(() => {
  const EVERY = 2000; // milliseconds
  const { path, cell } = WHERE;
  const panel = document.currentScript?.closest(".jp-NotebookPanel");
  if (!panel || panel.dataset.follows) return; // once is enough, however often the page is rendered
  panel.dataset.follows = "yes";
  const { baseUrl } = JSON.parse(document.getElementById("jupyter-config-data").textContent);
  const encoded = (of) => of.split("/").map(encodeURIComponent).join("/");
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const page = `${baseUrl}api/contents/${encoded(path)}?type=notebook&content=1`;
  const known = new WeakMap(); // the content with which each visible page was last updated

  async function fresh() {
    const reply = await fetch(page);
    if (!reply.ok) return null;
    const { content } = await reply.json();
    const html = content.cells.find(({ id }) => id === cell)?.outputs[0]?.data["text/html"];
    return html && new DOMParser().parseFromString(html, "text/html").querySelector(".start-page");
  }

  // Make a link open a file in a tab, as JupyterLab does with links in outputs.
  function opensTabs(link) {
    const file = folder + decodeURIComponent(link.getAttribute("href"));
    link.href = `${baseUrl}lab/tree/${encoded(file)}`;
    link.dataset.commandlinkerCommand = "docmanager:open";
    link.dataset.commandlinkerArgs = JSON.stringify({ path: file });
  }

  const studies = (of) => [...of.querySelectorAll("details")];
  const title = (of) => of.querySelector("strong").textContent;
  const next = (of) => studies(of).filter(({ open }) => open).map(title).join();

  function renew(shown, now) {
    if (known.get(shown)?.isEqualNode(now)) return;
    const copy = now.cloneNode(true);
    copy.querySelectorAll("a").forEach(opensTabs);
    // Keep what the reader has collapsed or expanded, unless the next study has changed.
    if (next(known.get(shown) ?? now) === next(now)) {
      const open = new Map(studies(shown).map((each) => [title(each), each.open]));
      studies(copy).forEach((each) => { each.open = open.get(title(each)) ?? each.open; });
    }
    known.set(shown, now);
    shown.replaceChildren(...copy.childNodes);
  }

  async function follow() {
    if (!panel.isConnected) return; // the page was closed
    const inSight = [...panel.querySelectorAll(".start-page")].filter((each) => each.offsetParent);
    if (!document.hidden && inSight.length) {
      // Without the server there is nothing new; JupyterLab reports that itself.
      const now = await fresh().catch(() => null);
      if (now) inSight.forEach((shown) => renew(shown, now));
    }
    window.setTimeout(follow, EVERY);
  }

  follow();
})();
