// The page: three views, their sections, filters, theme and address.

const AGAINST = { key: "against", title: "The newcomer against its rivals: ratio of errors", make: againstRivals, legend: false, about: () => data.comparison.about, setting: () => data.comparison.name };
const WINNERS = {
  key: "winners", title: "Lowest error by dataset and number of records", make: winners, legend: false,
  about: () => `${sentence(chosenWords())}, by ${errorWords()}. ${tested() ? `“+2” (“+” on a narrow screen): two other algorithms tie with it statistically (${familyWords()}).` : untested()} Select a cell to see every algorithm there.`,
};
const EXPLORE = [
  ["scale", "Error by number of records", [
    { key: "scale", title: "Error of every algorithm, by number of records", make: errorByScale, legend: ["mean", "lines"], controls: orderOfPanels, about: () => `The ${errorWords()}; one mark per dataset (strong: competitive), the diamond their mean, short dashes the baselines.${yardstickWords()} Lower is better. Select a name to follow it. The paper's Figure 1; it calls the number of records scale.` },
  ]],
  ["dataset", "Error by dataset", [
    { key: "dataset", title: "Errors on the same dataset", make: errorByDataset, legend: () => view.dataset !== undefined && ["lines"], setting: () => wholeSetting({ scale: view.scale }), about: () => `${recordsWords(view.scale)}, by ${errorWords()}${view.dataset === undefined ? `, over the lowest on the same dataset: 1.00 is the best there${tested() ? `; framed: competitive (${familyWords()})` : ""}` : `; bars are ${view.measure === "mean" ? "two standard errors to each side" : "95 % intervals"}`}. The paper's Figures 2a and 2b.` },
  ]],
  ["records", "Errors in records", [
    { key: "records", title: "By how many records an answer is off", make: inRecords, legend: false, about: () => `${sentence(chosenWords())}: ${view.loss.perQuery?.words ?? "error"} over queries${view.measure === "mean" ? "" : ` in a bad run (${data.standards.percentile})`}, mean over datasets; the stronger the colour, the larger a part of all records. What this error means for someone publishing a table.` },
  ]],
  ["domain", "Error by domain size", [
    { key: "domain", title: "Error against the number of cells", make: errorByDomain, legend: ["lines"], setting: () => wholeSetting({ chosen: { ...view.chosen, domain: undefined }, scale: view.scale }), about: () => `The ${errorWords()} with ${recordsWords(view.scale)}, ${view.dataset === undefined ? "mean over datasets" : nameOf("dataset", view.dataset)}. In colour: the best few, baselines, and what you follow; select a grey mark to follow its algorithm.${yardstickWords()} The paper's Figure 2c.` },
  ]],
  ["competitive", "Where each is competitive", [
    { key: "competitive", title: "Datasets on which each algorithm is competitive", make: competitiveTable, legend: false, about: () => `${tested() ? `Lowest ${errorWords()}, or not significantly above it (${familyWords()}).` : `Datasets with the lowest ${errorWords()}. ${untested()}`} The paper's Table 3 counts among the 11 algorithms of its Figure 1, and so does dpbench paper --table 3.` },
  ]],
  ["regret", "Regret", [
    { key: "regret", title: "What it costs to use one algorithm everywhere", make: regretChart, legend: [], about: () => `Geometric mean over datasets and numbers of records of the ${errorWords()} over the lowest there; the bar is a 95 % interval over datasets.` },
    { key: "regret-scale", title: "Regret by number of records", make: regretByScale, legend: false, about: "The same at each number of records by itself; 1 would be the best on every dataset." },
  ]],
  ["bias", "Bias against variance", [
    { key: "bias", title: "Where the error comes from", make: biasAndVariance, legend: false, setting: () => wholeSetting({ scale: view.scale, error: "" }), about: () => `${recordsWords(view.scale)}, of a query's answer: shares of the squared error, mean over datasets, and both in records, corrected for the number of trials. More budget lowers variance; bias need not follow.` },
  ]],
  ["time", "Time", [{ key: "time", title: "Time per trial", make: timePerTrial, legend: [], setting: () => wholeSetting({ error: "" }), about: () => `${sentence(chosenWords())}; marks are datasets and numbers of records, the diamond is their median. On the machine that made these results.` }]],
  ["price", "The price of privacy", [{ key: "price", title: "Private over published error", make: priceOfPrivacy, setting: () => wholeSetting({ form: "private over published forms" }), note: publishedNote, about: "Geometric mean over datasets. Above 1: a really private form costs that much; below 1: it is better than what was published. If both forms share their code, any difference from 1 is noise." }]],
];
const CATALOGUE = [["algorithms", "Algorithms"], ["datasets", "Datasets"], ["method", "How to read this"]];
const VIEWS = { answer: "Answer", explore: "Explore", catalogue: "Catalogue" };

/** Sections of a view, [[id, title]]; the first view has none to choose from. */
const sectionsOf = (name) => ({ explore: [...EXPLORE, ["noise", "See the noise"]], catalogue: CATALOGUE }[name] ?? []);
const currentView = () => (VIEWS[state.view] ? state.view : "answer");
const currentSection = () => { const all = sectionsOf(currentView()); return (all.find(([id]) => id === state.section) ?? all[0])?.[0]; };

const frames = new Map(); // what is drawn in a section, by its id; made when it is first looked at

function framesOf(id) {
  if (!frames.has(id)) frames.set(id, (id === "noise" ? [explorer()] : EXPLORE.find(([each]) => each === id)[2].map(figureFrame)));
  return frames.get(id);
}

function section(id, title, ...content) {
  return element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title`, tabindex: -1 }, title), ...content);
}

let board = null;
let wins = null;
let rivals = null;

/** Go elsewhere on the page, so that "back" returns. */
function go(changes) {
  change(changes);
  draw();
  if (!state.card) scrollTo(0, 0);
  document.querySelector(state.card ? ".chosen h3" : "#main h2")?.focus({ preventScroll: true });
}

function facetSelect(name, words, options, current) {
  const select = element("select", { id: `filter-${name}`, name }, ...options.map(([value, shown]) => element("option", { value }, shown)));
  select.value = current;
  select.addEventListener("change", () => { change({ [name]: select.value || undefined }); draw(); document.getElementById(`filter-${name}`)?.focus(); });
  return element("label", {}, words, select);
}

function drawFilters() {
  const { chosen, options } = view;
  const words = { form: "Setting", dimensions: "Task", workload: "Queries", domain: "Domain", budget: "Budget", task: "Plan", seed: "Seed" };
  const shown = { form: (name) => FORM_WORDS[name] || name, dimensions: (axes) => ({ 1: "line (1-D)", 2: "plane (2-D)" }[axes] ?? axesWords(axes)), workload: (name) => workloadWords(name, chosen.dimensions), domain: domainWords, budget: budgetWords };
  const facets = FACETS.filter((facet) => options[facet].length > 1).map((facet) => facetSelect(facet, words[facet],
    options[facet].map((value) => [String(nameOf(facet, value)), (shown[facet] || String)(nameOf(facet, value))]), String(nameOf(facet, chosen[facet]))));
  const form = document.getElementById("filters");
  const open = element("button", { type: "button", class: "more", "aria-expanded": String(form.classList.contains("open")), "aria-controls": "filters" }, "Filters");
  open.addEventListener("click", () => open.setAttribute("aria-expanded", String(form.classList.toggle("open"))));
  const filters = ["measure", "loss", "dataset", "scale", "mark", ...FACETS];
  const asDefault = !filters.some((name) => state[name] !== undefined);
  const oneScale = currentView() === "explore" && ["dataset", "domain", "bias"].includes(currentSection());
  form.hidden = currentView() === "catalogue" || currentSection() === "noise";
  const records = oneScale ? [facetSelect("scale", "Records", options.scale.map((value) => [String(nameOf("scale", value)), scaleWords(nameOf("scale", value))]), String(nameOf("scale", view.scale)))] : [];
  form.replaceChildren(open, element("span", { class: "summary" }, `${FORM_WORDS[nameOf("form", chosen.form)]}, ${axesWords(chosen.dimensions)}, ${domainWords(nameOf("domain", chosen.domain))}${options.budget.length > 1 ? `, ${budgetWords(nameOf("budget", chosen.budget))}` : ""}`), ...facets,
    facetSelect("measure", "Measure", view.offered.map((measure) => [measure, measure === "mean" ? "mean error" : data.standards.percentile]), view.measure),
    facetSelect("loss", "Loss", view.losses.map((loss) => [loss.label, loss.label === "L2" ? "L2 (the paper's)" : loss.words]), view.loss.label),
    facetSelect("dataset", "Dataset", [["", "all datasets"], ...options.dataset.map((value) => [nameOf("dataset", value), nameOf("dataset", value)])], view.dataset === undefined ? "" : nameOf("dataset", view.dataset)),
    ...records,
    element("button", { type: "button", id: "reset", disabled: asDefault, onclick: () => { change(Object.fromEntries(filters.map((name) => [name, undefined]))); draw(); } }, "Reset"));
}

/** Links that work like links, and change this page without loading it again. */
function stepLink(changes, text, current) {
  return element("a", { href: addressWith(changes), "aria-current": current ? "page" : undefined }, text);
}

function drawContents() {
  const now = currentView();
  document.getElementById("views").replaceChildren(...Object.entries(VIEWS).map(([id, title]) => stepLink({ view: id === "answer" ? undefined : id, section: undefined, card: undefined }, title, id === now)));
  const all = sectionsOf(now);
  const contents = document.getElementById("contents");
  contents.hidden = !all.length;
  document.querySelector(".frame").classList.toggle("alone", !all.length);
  const select = element("select", { id: "section", name: "section" }, ...all.map(([id, title]) => element("option", { value: id }, title)));
  select.value = currentSection();
  select.addEventListener("change", () => { change({ section: select.value, card: undefined }); draw(); document.getElementById("section").focus(); });
  contents.replaceChildren(element("label", { class: "menu" }, "Show", select), element("ol", {}, ...all.map(([id, title]) => element("li", {}, stepLink({ section: id, card: undefined }, title, id === currentSection())))));
}

function method() {
  const { alpha, baselines, percentile, tests } = data.standards;
  const origin = Object.entries(data.origin).map(([name, values]) => element("li", {}, `${name}: ${values.map((value) => (typeof value === "object" ? JSON.stringify(value) : value)).join("; ")}`));
  const say = (...text) => element("p", { class: "about" }, ...text);
  return section("method", "How to read this",
    say("An algorithm is given a table of counts (a histogram over cells) and returns a noisy one. Queries are ranges: how many records lie in these cells? Error compares the noisy answers with the true ones."),
    say(`Scaled error is a norm (L2, L1 or L-infinity) of the differences between true and noisy answers, divided by the number of queries and by the number of records, which the paper calls scale. Losses of these results: ${data.losses.map((loss) => loss.words).join(", ")}. Competitive by mean: lowest mean error, or not significantly above it by the ${tests.mean.words} at ${alpha}/(n - 1), for n algorithms. By ${percentile}: the same by the ${tests.percentile.words}, which is made for few trials. Settings with a failed unit are not compared. Baselines: ${baselines.join(", ") || "none"}.`),
    say("Regret is an algorithm's error over the lowest error of any algorithm in the same setting, as a geometric mean over settings. Its interval is over datasets, drawn with replacement."),
    data.yardsticks.length ? say("The limit is an expected squared error per query that no unbiased strategy with noise of that kind (Laplace, or Gaussian under zCDP) is below, whatever it measures; the best known strategy is the data-independent algorithm of the catalogue with the least expected squared error. Neither needs a run. Errors here are means of norms, so both are drawn at their root mean square, sqrt(expected squared error per query / queries) / records. By Jensen's inequality an algorithm's mean error is at most its own root mean square.") : null,
    say("A table or figure is about one budget: epsilon alone is pure differential privacy with Laplace noise; epsilon with a delta, or a rho, is Gaussian noise accounted in zCDP. Budgets are never mixed, and only those that state the same epsilon and delta promise the same. The unit of privacy is the record."),
    say(`Two settings: “private end to end” uses forms that the audit did not refute and that estimate every fact that they need with part of the budget; “as the paper did” uses the published forms with the true number of records, some of which are not differentially private. Those are marked ${MARK} wherever they appear.`),
    element("details", {}, element("summary", {}, "Where these results come from"), element("ul", { class: "facts" }, ...origin)));
}

function drawHead() {
  const { names } = data;
  const trials = column.trials.reduce((sum, value) => sum + value, 0);
  const failed = column.failed.reduce((count, units) => count + (units > 0), 0);
  document.getElementById("title").textContent = data.title;
  document.getElementById("facts").textContent = `${plural(names.algorithm.length, "algorithm")} for range queries under differential privacy, ${plural(names.dataset.length, "dataset")}, ${plural(column.algorithm.length, "setting")}, ${whole(trials)} trials.${failed ? ` ${failed} settings with failed units are left out.` : ""}`;
}

/** Draw what the address says: one view, and of it one section. */
function draw() {
  hideTip();
  resolve();
  drawContents();
  drawFilters();
  const [now, id] = [currentView(), currentSection()];
  const lead = document.getElementById("lead");
  const main = document.getElementById("main");
  lead.hidden = now !== "answer";
  if (now === "answer") {
    drawLead(lead);
    board ??= leaderboard();
    wins ??= figureFrame(WINNERS);
    if (board.parentElement !== main) main.replaceChildren(board, section("wins", "Which algorithm wins where", wins));
    board.draw();
    wins.draw();
  } else if (now === "explore") {
    const own = framesOf(id);
    if (!own[0].isConnected) main.replaceChildren(section(id, sectionsOf(now).find(([each]) => each === id)[1], ...own));
    for (const frame of own) frame.draw();
  } else {
    main.replaceChildren({ algorithms: algorithmCards, datasets: datasetCards, method }[id]());
    document.getElementById(`card-${slug(state.card ?? "")}`)?.scrollIntoView({ block: "start" });
  }
  document.title = now === "answer" ? data.title : `${id ? sectionsOf(now).find(([each]) => each === id)[1] : VIEWS[now]} – ${data.title}`;
}

/** What does not depend on filters: a newcomer's comparison, advice, the recommender. Drawn once for each theme. */
function drawLead(lead) {
  if (lead.dataset.theme === document.documentElement.dataset.theme) return;
  lead.dataset.theme = document.documentElement.dataset.theme;
  rivals ??= data.comparison ? figureFrame(AGAINST) : null;
  const parts = [advice(), recommender()].filter(Boolean);
  lead.replaceChildren(...(rivals ? [section("against", "The newcomer against its rivals", rivals)] : []), ...(parts.length ? [element("div", { class: "pair" }, ...parts)] : []));
  rivals?.draw();
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  themeColours = null;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  document.getElementById("theme").setAttribute("aria-label", `Use ${theme === "dark" ? "light" : "dark"} colours`);
}

async function start() {
  setTheme(prefersDark.matches ? "dark" : "light");
  await readData();
  readAddress();
  drawHead();
  document.getElementById("loading").remove();
  draw();
  followPointer();
  document.getElementById("theme").addEventListener("click", () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); draw(); });
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); document.querySelector("#main h2").focus(); });
  prefersDark.addEventListener("change", (event) => { setTheme(event.matches ? "dark" : "light"); draw(); });
  addEventListener("popstate", () => { const before = `${currentView()} ${currentSection()}`; readAddress(); draw(); if (before !== `${currentView()} ${currentSection()}` && !state.card) scrollTo(0, 0); });
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; delete document.getElementById("lead").dataset.theme; draw(); } });
  document.body.dataset.ready = "yes";
}

start();
