// The numbers of the page, and the view of them that the address names.

const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array };
const FORM_WORDS = { published: "as the paper did", private: "private end to end" };
const LOSS_WORDS = { l2: "L2 (the paper's)", l1: "L1", linf: "L-infinity" };
const FACETS = ["form", "dimensions", "workload", "domain", "epsilon", "task", "seed"];
const PREFERRED = { domain: ["4096", "128x128"], epsilon: [0.1] };

let data = null;   // what the page was made with
let column = null; // typed arrays, one number a setting
let state = {};    // what the address says
let view = {};     // the same with every choice made

async function readData() {
  data = JSON.parse(document.getElementById("data").textContent);
  const packed = Uint8Array.from(atob(data.packed), (letter) => letter.charCodeAt(0));
  delete data.packed;
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(plain).arrayBuffer();
  data.array = ([kind, place, length]) => new KINDS[kind](buffer, place, length);
  column = Object.fromEntries(Object.entries(data.columns).map(([name, place]) => [name, data.array(place)]));
  column.dimensions = Uint8Array.from(column.domain, (domain) => data.dimensions[domain]);
  data.losses = ["l2", "l1", "linf"];
  data.cardOf = new Map(data.cards.map((card) => [card.name, card]));
  data.ranks = ranks();
}

/** Algorithms by how often they are competitive: the first ones get the colours that are easiest to tell apart. */
function ranks() {
  const wins = new Array(data.names.algorithm.length).fill(0);
  for (let i = 0; i < column.member.length; i++) wins[column.algorithm[i]] += column.member[i] & 1;
  const order = wins.map((_, who) => who).sort((a, b) => isBaseline(a) - isBaseline(b) || wins[b] - wins[a]);
  const rank = [];
  order.forEach((who, place) => { rank[who] = place; });
  return rank;
}

const nameOf = (facet, number) => (facet === "dimensions" ? number : data.names[facet][number]);
const algorithmName = (who) => data.names.algorithm[who];
const isBaseline = (who) => ["Identity", "Uniform"].includes(data.algorithmOf[who]);

/** baseline, independent, dependent, or other: an algorithm that no catalogue holds. */
function kindOf(who) {
  if (isBaseline(who)) return "baseline";
  const card = data.cardOf.get(data.algorithmOf[who]);
  return card?.catalogued ? (card.data_dependent ? "dependent" : "independent") : "other";
}

/** Somebody's own algorithm among those of the catalogue. */
const isOwn = (who) => kindOf(who) === "other" && data.cards.length > 0;

function matching(chosen, except = []) {
  const wanted = Object.entries(chosen).filter(([name, value]) => value !== undefined && !except.includes(name));
  const rows = [];
  const arrays = wanted.map(([name]) => column[name]);
  const values = wanted.map(([, value]) => value);
  for (let i = 0; i < column.mean.length; i++) if (arrays.every((array, k) => array[i] === values[k])) rows.push(i);
  return rows;
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
  for (const facet of FACETS) {
    options[facet] = distinct(matching(chosen), facet);
    chosen[facet] = choice(facet, options[facet]);
  }
  const rows = matching(chosen);
  options.dataset = distinct(rows, "dataset");
  const dataset = options.dataset.find((number) => nameOf("dataset", number) === state.dataset);
  const kept = rows.filter((i) => dataset === undefined || column.dataset[i] === dataset);
  options.scale = distinct(kept, "scale");
  const paper = chosen.dimensions === 1 ? 1e3 : 1e4;
  const asked = options.scale.find((number) => String(nameOf("scale", number)) === state.scale);
  const scale = asked ?? options.scale.find((number) => nameOf("scale", number) === paper) ?? options.scale[0];
  view = {
    chosen, options, rows: kept, dataset, scale,
    measure: state.measure === "p95" ? "p95" : "mean",
    loss: data.losses.includes(state.loss) ? state.loss : "l2",
    marked: new Set((state.mark || "").split("|").filter(Boolean)),
  };
  view.value = column[view.loss === "l2" ? view.measure : `${view.loss}_${view.measure}`];
  view.bits = view.measure === "mean" ? { member: 1, best: 2 } : { member: 4, best: 8 };
}

const competitive = (i) => view.loss === "l2" && (column.member[i] & view.bits.member) !== 0;
const isBest = (i) => view.loss === "l2" && (column.member[i] & view.bits.best) !== 0;

function readAddress() {
  state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** Change the view; undefined forgets a choice. */
function change(changes) {
  state = { ...state, ...changes };
  for (const name of Object.keys(state)) if (state[name] === undefined || state[name] === "") delete state[name];
  history.replaceState(null, "", `#${new URLSearchParams(state)}`);
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
