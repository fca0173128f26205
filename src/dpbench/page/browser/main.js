// The page: sections, filters, theme, address.

const AGAINST = ["against", "The newcomer against its rivals", [
  { key: "against", title: "Ratio of errors", make: againstRivals, about: () => data.comparison.about },
]];
const SECTIONS = [
  ["wins", "Which algorithm wins where", [
    { key: "winners", title: "Lowest error by dataset and scale", make: winners, about: () => `${chosenWords()}, by ${errorWords()}.${tested() ? ` “+2” (“+” on a narrow screen): two other algorithms tie with it statistically (${familyWords()}).` : ""}` },
    { key: "competitive", title: "Datasets on which each algorithm is competitive", make: competitiveTable, about: () => `Lowest ${errorWords()}, or not significantly above it${tested() ? ` (${familyWords()})` : ""}. The paper's Table 3 counts among the 11 algorithms of its Figure 1, and so does dpbench paper --table 3.` },
  ]],
  ["scale", "Error against scale", [
    { key: "scale", title: "Error of every algorithm, by scale", make: errorByScale, legend: kindLegend, about: () => `The ${errorWords()}; one dot per dataset (large: competitive), the diamond their mean, short dashes the baselines.${yardstickWords()} Lower is better. Select a name to follow it. The paper's Figure 1.` },
  ]],
  ["dataset", "Error by dataset", [
    { key: "dataset", title: "Error over the lowest on the same dataset", make: errorByDataset, about: () => `At scale ${scaleWords(nameOf("scale", view.scale))}, by ${errorWords()}: 1.0 is the best there; framed: competitive${tested() ? ` (${familyWords()})` : ""}. The paper's Figures 2a and 2b.` },
  ]],
  ["records", "Errors in records", [
    { key: "records", title: "By how many records an answer is off", make: inRecords, about: () => `${chosenWords()}: ${view.loss.perQuery?.words ?? "error"} over queries${view.measure === "mean" ? "" : ` in a bad run (${data.standards.percentile})`}, mean over datasets; the stronger the colour, the larger a part of all records. What this error means for someone publishing a table.` },
  ]],
  ["domain", "Error by domain size", [
    { key: "domain", title: "Error against the number of cells", make: errorByDomain, about: () => `The ${errorWords()} at scale ${scaleWords(nameOf("scale", view.scale))}, ${view.dataset === undefined ? "mean over datasets" : nameOf("dataset", view.dataset)}.${yardstickWords()} The paper's Figure 2c.` },
  ]],
  ["regret", "Regret", [
    { key: "regret", title: "What it costs to use one algorithm everywhere", make: regretChart, about: () => `Geometric mean over datasets and scales of the mean ${lossWords()} over the lowest there; the bar is a 95 % interval over datasets. Not narrowed by the dataset filter.` },
    { key: "regret-scale", title: "Regret by scale", make: regretByScale, about: "The same at each scale by itself; 1 would be the best on every dataset." },
  ]],
  ["bias", "Bias against variance", [
    { key: "bias", title: "Where the error comes from", make: biasAndVariance, about: () => `At scale ${scaleWords(nameOf("scale", view.scale))}, of a query's answer: shares of the squared error, mean over datasets, and both in records, corrected for the number of trials. More budget lowers variance; bias need not follow.` },
  ]],
  ["time", "Time per trial", [{ key: "time", title: "Time in the algorithm", make: timePerTrial, about: () => `${chosenWords()}; dots are datasets and scales, the diamond is their median. Time on the machine that made these results.` }]],
  ["price", "The price of privacy", [{ key: "price", title: "Private over published error", make: priceOfPrivacy, about: "Geometric mean over datasets. Above 1: a really private form costs that much; below 1: it is better than what was published. If both forms share their code, any difference from 1 is noise." }]],
];

/** A newcomer's comparison, where the page has one, comes before everything else. */
const shownSections = () => (data.comparison ? [AGAINST, ...SECTIONS] : SECTIONS);

let frames = [];

const barHeight = () => document.getElementById("filters").offsetHeight;

/** What is jumped to stays below the filters, however many rows they take. */
function makeRoom() {
  document.documentElement.style.scrollPaddingTop = `${barHeight() + 12}px`;
  document.getElementById("contents").style.top = `${barHeight() + 16}px`;
}

/** Mark the section that is being read in the contents. */
function followSections() {
  const links = new Map([...document.querySelectorAll("#contents a")].map((link) => [link.hash.slice(1), link]));
  const mark = () => {
    const read = [...document.querySelectorAll("main > section")].filter((each) => each.getBoundingClientRect().top < barHeight() + 80).at(-1)?.id ?? shownSections()[0][0];
    for (const [id, link] of links) if (id === read) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

function facetSelect(name, words, options, current, text) {
  const select = element("select", { id: `filter-${name}`, name }, ...options.map(([value, shown]) => element("option", { value }, shown)));
  select.value = current;
  select.addEventListener("change", () => { change({ [name]: select.value || undefined }); refresh(); document.getElementById(`filter-${name}`)?.focus(); });
  return element("label", { title: text }, words, select);
}

function drawFilters() {
  const { chosen, options } = view;
  const words = { form: "Setting", dimensions: "Dimensions", workload: "Workload", domain: "Domain", budget: "Budget", task: "Task", seed: "Seed" };
  const shown = { form: (name) => FORM_WORDS[name] || name, dimensions: (axes) => `${axes}-D` };
  const facets = FACETS.filter((facet) => options[facet].length > 1).map((facet) => facetSelect(facet, words[facet],
    options[facet].map((value) => [String(nameOf(facet, value)), (shown[facet] || String)(nameOf(facet, value))]), String(nameOf(facet, chosen[facet]))));
  const form = document.getElementById("filters");
  const open = element("button", { type: "button", class: "more", "aria-expanded": form.classList.contains("open") }, "Filters");
  open.addEventListener("click", () => open.setAttribute("aria-expanded", form.classList.toggle("open")));
  const asDefault = Object.keys(state).length === 0;
  form.replaceChildren(open, ...facets,
    facetSelect("measure", "Measure", view.offered.map((measure) => [measure, measure === "mean" ? "mean error" : data.standards.percentile]), view.measure),
    facetSelect("loss", "Loss", data.losses.map((loss) => [loss.label, loss.label === "L2" ? "L2 (the paper's)" : loss.words]), view.loss.label),
    facetSelect("dataset", "Dataset", [["", "all datasets"], ...options.dataset.map((value) => [nameOf("dataset", value), nameOf("dataset", value)])], view.dataset === undefined ? "" : nameOf("dataset", view.dataset)),
    facetSelect("scale", "Scale, where one is shown", options.scale.map((value) => [String(nameOf("scale", value)), scaleWords(nameOf("scale", value))]), String(nameOf("scale", view.scale))),
    element("button", { type: "button", id: "reset", disabled: asDefault, onclick: () => { state = {}; change({}); refresh(); } }, "Reset"));
}

function listed(names) {
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}` : shown[0];
}

/** The answer in words: which algorithm is competitive most often at the ends of the scales, and which is the safest choice. */
function headline() {
  if (!tested()) return untested();
  const most = (scale) => {
    const here = view.rows.filter((i) => column.scale[i] === scale);
    const wins = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => [who, own.filter(competitive).length]).sort((a, b) => b[1] - a[1]);
    const total = new Set(here.map((i) => column.dataset[i])).size;
    const first = wins.filter(([, count]) => count === wins[0][1]).map(([who]) => algorithmName(who));
    return `at scale ${scaleWords(nameOf("scale", scale))} ${listed(first)} ${first.length > 1 ? "are" : "is"} competitive on ${wins[0][1]} of ${total} dataset${total === 1 ? "" : "s"}`;
  };
  const { scale } = view.options;
  const ends = scale.length > 1 ? `${most(scale[0])}; ${most(scale[scale.length - 1])}` : most(scale[0]);
  const lines = regretLines(-1);
  const whole = lines.filter((line) => !line.missing).sort((a, b) => a.value - b.value);
  const [safest] = whole;
  const regret = 2 * whole.length >= lines.length && safest ? ` Used everywhere, ${algorithmName(safest.who)} costs least: ${number(safest.value)} times the best on average.` : "";
  return `${ends[0].toUpperCase()}${ends.slice(1)}.${regret}${newcomers()}`;
}

/** What is said first of somebody's own algorithms. */
function newcomers() {
  const ranked = regretLines(-1).filter((line) => !line.missing).sort((a, b) => a.value - b.value);
  const own = distinct(view.rows, "algorithm").filter(isOwn).slice(0, 3);
  return own.map((who) => {
    const here = view.rows.filter((i) => column.algorithm[i] === who);
    const rank = ranked.findIndex((line) => line.who === who);
    const regret = rank < 0 ? "" : `; used everywhere it costs ${number(ranked[rank].value)} times the best, rank ${rank + 1} of ${ranked.length}`;
    return ` ${algorithmName(who)} is competitive in ${here.filter(competitive).length} of ${here.length} settings${regret}.`;
  }).join("");
}

function build() {
  const main = document.getElementById("main");
  const sections = shownSections().map(([id, title, figures]) => section(id, title, element("div", { class: figures.length > 1 ? "pair" : undefined }, ...figures.map((spec) => { const frame = figureFrame(spec); frames.push(frame); return frame; }))));
  sections.find((each) => each.id === "wins").querySelector("h2").after(element("p", { class: "lead", id: "headline" }));
  const look = explorer();
  frames.push(look);
  main.replaceChildren(...sections, section("explore", "See the noise", look),
    section("algorithms", "Algorithms", element("div", { id: "algorithm-cards" })), section("datasets", "Datasets", element("p", { class: "about" }, "Pictures are of the copy on the machine that made this page, coarsened, or of a draw from a synthetic shape; heights and colours are logarithms of counts."), element("div", { id: "dataset-cards" })),
    section("method", "How to read this", ...method()));
  const all = [...shownSections().map(([id, title]) => [id, title]), ["explore", "See the noise"], ["algorithms", "Algorithms"], ["datasets", "Datasets"], ["method", "How to read this"]];
  document.getElementById("contents").replaceChildren(element("ol", {}, ...all.map(([id, title]) => {
    const link = element("a", { href: `#${id}` }, title);
    link.addEventListener("click", (event) => { event.preventDefault(); jump(id); });
    return element("li", {}, link);
  })));
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); jump("wins"); });
}

function section(id, title, ...content) {
  return element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title`, tabindex: -1 }, title), ...content);
}

function jump(id) {
  document.getElementById(id).scrollIntoView();
  document.getElementById(`${id}-title`).focus({ preventScroll: true });
}

function method() {
  const { alpha, baselines, percentile, tests } = data.standards;
  const origin = Object.entries(data.origin).map(([name, values]) => element("li", {}, `${name}: ${values.map((value) => (typeof value === "object" ? JSON.stringify(value) : value)).join("; ")}`));
  return [
    element("p", { class: "about" }, `Scaled error is a norm (L2, L1 or L-infinity) of the differences between true and noisy answers, divided by the number of queries and by the scale, which is the number of records. Losses of these results: ${data.losses.map((loss) => loss.words).join(", ")}. Competitive by mean: lowest mean error, or not significantly above it by the ${tests.mean.words} at ${alpha}/(n - 1), for n algorithms. By ${percentile}: the same by the ${tests.percentile.words}, which is made for few trials. Settings with a failed unit are not compared. Baselines: ${baselines.join(", ") || "none"}.`),
    data.yardsticks.length ? element("p", { class: "about" }, "The limit is an expected squared error per query that no unbiased strategy with noise of that kind (Laplace, or Gaussian under zCDP) is below, whatever it measures; the best known strategy is the data-independent algorithm of the catalogue with the least expected squared error. Neither needs a run. Errors here are means of norms, so both are drawn at their root mean square, sqrt(expected squared error per query / queries) / scale. By Jensen's inequality an algorithm's mean error is at most its own root mean square.") : null,
    element("p", { class: "about" }, "A table or figure is about one budget: epsilon alone is pure differential privacy with Laplace noise; epsilon with a delta, or a rho, is Gaussian noise accounted in zCDP. Budgets are never mixed, and only those that state the same epsilon and delta promise the same. The unit of privacy is the record."),
    element("p", { class: "about" }, "Two settings: “as the paper did” uses the published forms with the true scale, some of which are not differentially private; “private end to end” uses forms that the audit did not refute and that estimate every fact that they need with part of the budget."),
    element("details", {}, element("summary", {}, "Where these results come from"), element("ul", { class: "facts" }, ...origin)),
  ];
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function drawHead() {
  const { names } = data;
  const trials = column.trials.reduce((sum, value) => sum + value, 0);
  const broken = column.failed.filter((units) => units > 0).length;
  document.getElementById("title").textContent = data.title;
  document.getElementById("facts").textContent = `${plural(names.algorithm.length, "algorithm")} for range queries under differential privacy, ${plural(names.dataset.length, "dataset")}, ${plural(column.algorithm.length, "setting")}, ${trials.toLocaleString("en")} trials.${broken ? ` ${broken} settings with failed units are left out.` : ""}`;
}

function refresh() {
  hideTip();
  resolve();
  drawFilters();
  makeRoom();
  document.getElementById("headline").textContent = headline();
  for (const frame of frames) frame.draw();
}

function drawCards() {
  document.getElementById("algorithm-cards").replaceChildren(algorithmCards());
  document.getElementById("dataset-cards").replaceChildren(datasetCards());
  for (const old of document.querySelectorAll("figure > .legend")) old.replaceWith(kindLegend());
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  themeColours = null;
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  document.getElementById("theme").setAttribute("aria-label", `Use ${theme === "dark" ? "light" : "dark"} colours`);
}

function redraw() {
  refresh();
  drawCards();
}

async function start() {
  setTheme(prefersDark.matches ? "dark" : "light");
  await readData();
  readAddress();
  build();
  drawHead();
  redraw();
  followPointer();
  followSections();
  document.getElementById("theme").addEventListener("click", () => { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); redraw(); });
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  prefersDark.addEventListener("change", (event) => { setTheme(event.matches ? "dark" : "light"); redraw(); });
  addEventListener("hashchange", () => { readAddress(); refresh(); });
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; refresh(); } });
  document.body.dataset.ready = "yes";
}

start();
