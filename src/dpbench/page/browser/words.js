// Numbers, settings and names in words: the one place that says how they are written.

const FORM_WORDS = { published: "as the paper did, some not private", private: "private end to end" };
const MARK = "†"; // after a name: this form is not private
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const SHAPES = { 1: ["range", "ranges"], 2: ["rectangle", "rectangles"] };

const power = (exponent) => "10" + [...String(exponent)].map((sign) => SUPERSCRIPTS[sign]).join("");

const formats = new Map(); // one for each number of digits: making them is slow

function written(digits) {
  if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en", { minimumSignificantDigits: digits, maximumSignificantDigits: digits }));
  return formats.get(digits);
}

/** A measured number: as many significant digits as are asked for, whatever its size. */
function number(value, digits = 3) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 9.995e-4 && size < 1e7) return written(digits).format(value);
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${mantissa}·${power(Number(exponent))}`;
}

const wholeFormat = new Intl.NumberFormat("en");
const whole = (value) => wholeFormat.format(value);
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
const plain = (value) => (Number.isFinite(value) ? value : "");

/** A number of records: a power of ten, or digit by digit. */
function scaleWords(scale) {
  const exponent = Math.round(Math.log10(scale));
  return scale === 10 ** exponent && exponent > 2 ? power(exponent) : whole(scale);
}

/** Names with "and" before the last; of many, the first ones. */
function listed(names, most = 4) {
  const shown = names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} more`] : names;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}` : shown[0];
}

/** "2,000 random rectangles" for RandomRange(queries=2000). */
function workloadWords(name, axes) {
  const [, kind, inside = ""] = /^(\w+)(?:\((.*)\))?$/.exec(name) ?? [, name];
  const given = Object.fromEntries(inside.split(",").map((part) => part.trim().split("=")).filter((pair) => pair.length === 2));
  const { queries, ...rest } = given;
  const [one, many] = SHAPES[axes] ?? ["box", "boxes"];
  const count = queries ? `${whole(Number(queries))} ` : "";
  const words = {
    Prefix: axes === 1 ? "all prefixes" : `all ${many} from the origin`, AllRange: `all ${many}`, Identity: "every cell by itself",
    RandomRange: `${count}random ${many}`, RandomSmall: `${count}small random ${many}`, Ranges: `${many} of a file`,
  }[kind];
  if (!words) return name;
  const others = Object.entries(rest).map(([key, value]) => `, ${key} ${value}`).join("");
  return (queries === "1" ? words.replace(many, one) : words) + others;
}

/** "epsilon 0.1, delta 10⁻⁹" for a budget that was written with 1e-09. */
const budgetWords = (name) => name.replace(/\b(\d+(?:\.\d+)?)e([+-]?)0*(\d+)\b/g, (_, mantissa, sign, digits) => `${mantissa === "1" ? "" : `${mantissa}·`}${power(`${sign === "-" ? "-" : ""}${digits}`)}`);
const domainWords = (name) => (name.includes("x") ? `${name.replaceAll("x", " x ")} cells` : `${whole(Number(name))} cells`);
const axesWords = (axes) => `${axes}-D`;

const lossWords = () => view.loss.error;
const measureWords = () => (view.measure === "mean" ? "mean" : `${data.standards.percentile} of the`);
const errorWords = () => `${measureWords()} ${lossWords()}`;
const datasetName = (i) => nameOf("dataset", column.dataset[i]);
const scaleName = (i) => nameOf("scale", column.scale[i]);
const recordsWords = (scale) => `${scaleWords(nameOf("scale", scale))} records`;

const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** What is asked, of which table, at which budget; without a domain where a figure shows several. */
function chosenWords({ workload, domain, budget, dimensions } = view.chosen) {
  const parts = [workloadWords(nameOf("workload", workload), dimensions), domain === undefined ? "" : domainWords(nameOf("domain", domain)), budgetWords(nameOf("budget", budget))];
  return parts.filter(Boolean).join(", ");
}

const chosenForm = () => (data.names.form.length > 1 || nameOf("form", view.chosen.form) === "private" ? FORM_WORDS[nameOf("form", view.chosen.form)] : "");

/** The whole setting, for a figure that is taken away; with the number of records where it shows one of them. */
function wholeSetting({ form = chosenForm(), chosen = view.chosen, scale, error = errorWords() } = {}) {
  const asked = `${axesWords(chosen.dimensions)}, ${chosenWords(chosen)}${scale === undefined ? "" : `, ${recordsWords(scale)}`}`;
  return [form, asked, error, view.dataset === undefined ? "" : nameOf("dataset", view.dataset)].filter(Boolean).join("; ");
}

/** What an algorithm is called in a chart or a table: with a mark where the form at hand is not private. */
const labelOf = (who, form) => algorithmName(who) + (notPrivate(who, form) ? ` ${MARK}` : "");

/** Among how many algorithms, by which test and at which level: among others the same two are tested at another level. */
function familyWords() {
  const numbers = chosenContests().map(({ here }) => here.length).filter((count) => count > 1);
  if (!numbers.length) return "nothing to compare with";
  const { alpha, tests } = data.standards;
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const { words } = tests[view.measure];
  return least === most ? `among ${most} algorithms; ${words}, level ${alpha}/${most - 1}` : `among n = ${least} to ${most} algorithms; ${words}, level ${alpha}/(n - 1)`;
}

/** Why nothing is said of ties: where single trials were not kept, nothing can be tested. */
const untested = () => `Ties are not tested by this loss and measure: these results keep the errors of single trials by ${data.losses.filter((loss) => loss.column.low).map((loss) => loss.words).join(", ")} alone.`;

function settingWords(i) {
  const own = view.loss.column;
  const more = own.error ? `\nmean ${number(own.mean[i])} ± ${number(own.error[i], 2)}, ${column.trials[i]} trials, ${data.standards.percentile} ${number(own.percentile[i])} (${number(own.low[i])} to ${number(own.high[i])})` : "";
  const leaky = notPrivate(column.algorithm[i]) ? "\nthis form is not private" : "";
  return `${labelOf(column.algorithm[i])} on ${datasetName(i)}, ${recordsWords(column.scale[i])}\n${errorWords()} ${number(view.value[i])}${more}${competitive(i) ? "\ncompetitive" : ""}${leaky}`;
}

const yardstickWords = () => (yardsticks(view.chosen, view.scale, view.rows).length
  ? " Solid line: the limit, below which no unbiased strategy with this noise has its root mean square; biased and data-dependent algorithms may lie below, by what structure in the data is worth. Long dashes: the best known strategy."
  : "");

/** Part of a file's name; a power of ten keeps its exponent. */
const slug = (text) => text.toLowerCase().replace(/10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, digits) => `1e${[...digits].map((digit) => Object.keys(SUPERSCRIPTS).find((plain) => SUPERSCRIPTS[plain] === digit)).join("")}`)
  .replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 200);
