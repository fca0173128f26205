// The numbers of the page, and the view of them that the address names.

const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array };
const MEASURES = ["mean", "percentile"];
const FACETS = ["form", "dimensions", "workload", "domain", "budget", "task", "seed"];
const PREFERRED = { form: ["private"], domain: ["4096", "128x128"], budget: ["epsilon 0.1"] };

let data = null;   // what the page was made with
let column = null; // typed arrays, one number per setting; those of a loss are in data.losses
let state = {};    // what the address says
let view = {};     // the same with every choice made

async function readData() {
  data = JSON.parse(document.getElementById("data").textContent);
  const buffer = await unpacked(data.packed);
  delete data.packed;
  const arrays = (places) => Object.fromEntries(Object.entries(places).map(([name, place]) => [name, arrayAt(buffer, place)]));
  column = arrays(data.columns);
  for (const loss of data.losses) loss.column = arrays(loss.columns);
  column.dimensions = Uint8Array.from(column.domain, (domain) => data.dimensions[domain]);
  data.cardOf = new Map(data.cards.map((card) => [card.name, card]));
}

const arrayAt = (buffer, [kind, place, length]) => new KINDS[kind](buffer, place, length);

async function unpacked(text) {
  const plain = atob(text);
  const bytes = new Uint8Array(plain.length);
  for (let k = 0; k < plain.length; k++) bytes[k] = plain.charCodeAt(k);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

let pictures = null; // histograms: unpacked when they are first looked at

/** Whether histograms are there; where they are not yet, they are fetched out of the page, which is then drawn again. */
function picturesAreThere() {
  if (pictures === null) {
    pictures = "on their way";
    unpacked(data.pictures).then((buffer) => { pictures = buffer; delete data.pictures; draw(); });
  }
  return pictures !== "on their way";
}

const picture = (place) => arrayAt(pictures, place);

const nameOf = (facet, number) => (facet === "dimensions" ? number : data.names[facet][number]);
const algorithmName = (who) => data.names.algorithm[who];
const cardFor = (who) => data.cardOf.get(data.algorithmOf[who]);
const baselineRank = (who) => data.standards.baselines.findIndex((name) => name === data.algorithmOf[who] || name === algorithmName(who));
const isBaseline = (who) => baselineRank(who) >= 0;

/** baseline, independent, dependent, or other: an algorithm that no catalogue holds. */
function kindOf(who) {
  if (isBaseline(who)) return "baseline";
  const card = cardFor(who);
  return card?.catalogued ? (card.data_dependent ? "dependent" : "independent") : "other";
}

/** Somebody's own algorithm among those of the catalogue. */
const isOwn = (who) => kindOf(who) === "other" && data.cards.length > 0;

/** Whether an algorithm saw raw counts or the true number of records in any setting of a form. */
function notPrivate(who, form = view.chosen.form) {
  const numbers = data.privacy[form]?.[algorithmName(who)];
  return numbers !== undefined && numbers[2] < numbers[0];
}

/** Unbiased by construction: a data-independent algorithm of the catalogue is linear in noise of mean 0. */
function isUnbiased(who) {
  const card = cardFor(who);
  return Boolean(card?.catalogued) && !card.data_dependent;
}

function matching(chosen, except = []) {
  const wanted = Object.entries(chosen).filter(([name, value]) => value !== undefined && !except.includes(name));
  let rows = null;
  for (const [name, value] of wanted) {
    const array = column[name];
    if (rows) rows = rows.filter((i) => array[i] === value);
    else {
      rows = [];
      for (let i = 0; i < array.length; i++) if (array[i] === value) rows.push(i);
    }
  }
  return rows ?? Array.from(column.algorithm, (_, i) => i);
}

const distinct = (rows, name) => [...new Set(rows.map((i) => column[name][i]))].sort((a, b) => a - b);

function choice(facet, options) {
  const asked = options.find((number) => String(nameOf(facet, number)) === state[facet]);
  if (asked !== undefined) return asked;
  const wanted = options.find((number) => (PREFERRED[facet] || []).includes(nameOf(facet, number)));
  return wanted ?? (facet === "domain" ? options[options.length - 1] : options[0]);
}

/** Make every choice that the address leaves open; later facets offer what earlier ones leave. */
function resolve() {
  const chosen = {};
  const options = {};
  let rows = matching({});
  for (const facet of FACETS) {
    const only = facet !== "dimensions" && data.names[facet].length === 1;
    options[facet] = only ? [0] : distinct(rows, facet);
    chosen[facet] = choice(facet, options[facet]);
    if (options[facet].length > 1) rows = rows.filter((i) => column[facet][i] === chosen[facet]);
  }
  options.dataset = distinct(rows, "dataset");
  const dataset = options.dataset.find((number) => nameOf("dataset", number) === state.dataset);
  const kept = dataset === undefined ? rows : rows.filter((i) => column.dataset[i] === dataset);
  options.scale = distinct(kept, "scale");
  const paper = chosen.dimensions === 1 ? 1e3 : 1e4;
  const asked = options.scale.find((number) => String(nameOf("scale", number)) === state.scale);
  const scale = asked ?? options.scale.find((number) => nameOf("scale", number) === paper) ?? options.scale[0];
  const known = (values) => values !== undefined && kept.some((i) => Number.isFinite(values[i]));
  const losses = data.losses.filter((each) => known(each.column.mean)); // a form may have been measured by fewer than another
  const loss = losses.find((each) => each.label === state.loss) ?? losses[0] ?? data.losses[0];
  const offered = MEASURES.filter((each) => known(loss.column[each]));
  view = {
    chosen, options, rows: kept, all: rows, dataset, scale, losses, loss, offered,
    measure: [state.measure, data.standards.measure].find((each) => offered.includes(each)) ?? "mean",
    marked: new Set((state.mark || "").split("|").filter(Boolean)),
  };
  view.value = loss.column[view.measure];
  view.bits = view.measure === "mean" ? { member: 1, best: 2 } : { member: 4, best: 8 };
}

/** Whether algorithms were tested by the chosen loss and measure: percentiles only where single trials were kept. */
const tested = () => view.loss.column.member !== undefined && (view.measure === "mean" || view.loss.column.low !== undefined);
const competitive = (i) => tested() && (view.loss.column.member[i] & view.bits.member) !== 0;

/**
 * The limit and the best known strategy where they are known, as lines of errors at a scale. Both are root mean squares,
 * so they stand beside mean L2 errors and nothing else.
 */
function yardsticks(chosen, scale, rows) {
  const queries = rows.reduce((most, i) => Math.max(most, column.queries[i]), 0);
  const found = view.loss.label === "L2" && view.measure === "mean" && queries > 0
    && data.yardsticks.find(({ at }) => data.table.every((name, k) => at[k] === chosen[name]));
  if (!found) return [];
  const scaled = (error) => Math.sqrt(error / queries) / nameOf("scale", scale);
  return [
    { name: "limit", value: scaled(found.limit), dash: "none", text: `no unbiased strategy with ${found.noise} noise has a smaller root mean square` },
    { name: "best known", value: scaled(found.best), dash: "8 3", text: `${found.algorithm}, root mean square: the least expected error of a data-independent algorithm` },
  ];
}

function readAddress() {
  state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The address of this view with some things changed; undefined forgets a choice. */
function addressWith(changes) {
  const next = Object.entries({ ...state, ...changes }).filter(([, value]) => value !== undefined && value !== "");
  return `#${new URLSearchParams(next)}`;
}

/** Change the view. A step that "back" should undo is a new entry of the history; what follows the hand is not. */
function change(changes, { step = true } = {}) {
  const address = addressWith(changes);
  if (step && address !== (location.hash || "#")) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  readAddress();
}

const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
};
const geometric = (values) => Math.exp(average(values.map(Math.log)));

function grouped(rows, key) {
  const groups = new Map();
  for (const i of rows) {
    const name = key(i);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(i);
  }
  return groups;
}
