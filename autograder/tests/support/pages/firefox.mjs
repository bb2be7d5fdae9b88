// What people click in Firefox: a book's page, the live course, boards in Lab; tells it as JSON.
// Its argument: {"puppeteer": module, "program": Firefox, "limit": ms, "site": address of a page
// with the live course behind it, "live": path of its notebook, "board": cell to add to it,
// "lab": address, "notebook": path, "clicks": [[how a cell begins, move], ...], "pictures": folder}.
const given = JSON.parse(process.argv[2]);
const { default: puppeteer } = await import(given.puppeteer);
const browser = await puppeteer.launch({
  browser: "firefox", executablePath: given.program, headless: true,
  defaultViewport: { width: 1200, height: 820 },
});
const page = await browser.newPage();
page.setDefaultTimeout(given.limit);
const errors = [], elsewhere = [], told = { version: await browser.version(), errors, elsewhere };
page.on("dialog", (dialog) => dialog.accept()); // of a notebook that is left unsaved
page.on("pageerror", (error) => errors.push(String(error)));
page.on("request", (request) => {
  const { protocol, hostname } = new URL(request.url());
  if (protocol.startsWith("http") && hostname !== "127.0.0.1") elsewhere.push(request.url());
});

/** Wait until a notebook is the current tab and its kernel idle. */
async function ready(path) {
  await page.waitForFunction((wanted) => {
    const now = window.jupyterapp?.shell.currentWidget;
    return now?.context?.path === wanted
      && now.sessionContext?.session?.kernel?.status === "idle";
  }, {}, path);
}

/** Run all cells of the current notebook; the errors that they end with are told. */
async function runAll() {
  await page.evaluate(() => jupyterapp.commands.execute("notebook:run-all-cells").then(() => 0));
  errors.push(...await page.evaluate(() => {
    const { cells } = jupyterapp.shell.currentWidget.content.model.sharedModel;
    return cells.flatMap((cell) => cell.toJSON().outputs ?? [])
      .filter((output) => output.output_type === "error").map((output) => output.evalue);
  }));
}

/** Click on the part of a cell's board that sends a move; gives its line of text as that changes.
 */
async function click(begin, move) {
  const cell = await page.evaluate((text) => {
    const book = jupyterapp.shell.currentWidget.content;
    const number = book.widgets.findIndex((one) => one.model.sharedModel.source.startsWith(text));
    book.activeCellIndex = number;
    return book.scrollToItem(number, "start").then(() => number);
  }, begin);
  const board = await page.waitForSelector(
    `.jp-NotebookPanel:not(.lm-mod-hidden) [data-windowed-list-index='${cell}'] .click-board`);
  const status = await board.waitForSelector(".status");
  const before = await status.evaluate((line) => line.innerText);
  await (await board.waitForSelector(`[data-move='${move}']`)).click();
  await page.waitForFunction((line, was) => line.innerText !== was, {}, status, before);
  await page.screenshot({ path: `${given.pictures}/firefox-${begin.split(/\W/)[0]}.png` });
  return status.evaluate((line) => line.innerText);
}

try {
  await page.goto(given.site);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.click("#theme");
  told.themes = [before, await theme()];
  await page.screenshot({ path: `${given.pictures}/firefox-book.png` });
  await (await page.waitForSelector("::-p-text(Run this notebook)")).click();
  await ready(given.live);
  await page.evaluate((source) => jupyterapp.shell.currentWidget.content.model.sharedModel
    .addCell({ cell_type: "code", source }), given.board);
  await runAll();
  told.live = await click(given.board, "4");
  await page.goto(given.lab);
  await ready(given.notebook);
  await runAll();
  told.boards = [];
  for (const [begin, move] of given.clicks) told.boards.push(await click(begin, move));
  console.log(JSON.stringify(told));
} finally {
  await browser.close();
}
