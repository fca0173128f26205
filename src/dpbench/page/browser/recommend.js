// `dpbench recommend` in the page: public facts in, one algorithm with its error out. What it goes by came with the page
// (src/dpbench/advice/offline.py); the steps are those of src/dpbench/advice, and a test compares the texts.

/** A number as Python's "g" writes it. */
function general(value, digits) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const power10 = Number(exponent);
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power10 < -4 || power10 >= digits) return `${trimmed(mantissa)}e${power10 < 0 ? "-" : "+"}${String(Math.abs(power10)).padStart(2, "0")}`;
  return trimmed(value.toFixed(Math.max(0, digits - 1 - power10)));
}

/** To a whole number, halves to the even one, as Python does. */
function evenly(value) {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

const inWhole = (value) => whole(evenly(value));
const percent = (share) => `${evenly(100 * share)}%`;
const errorInRecords = (error) => (error >= 100 ? inWhole(error) : general(error, 3));

/** Values at a point, linear between the points that are known and constant beyond: which two, and the part of the second. */
function between(point, points) {
  const last = points.length - 1;
  if (point <= points[0]) return [0, 0];
  if (point >= points[last]) return [last - 1, 1];
  const right = points.findIndex((each) => each > point);
  return [right - 1, (point - points[right - 1]) / (points[right] - points[right - 1])];
}

const interpolated = (point, points, values) => {
  const [left, part] = between(point, points);
  return (1 - part) * values[left] + part * values[left + 1];
};

/** What the study says in so many dimensions. */
class Experience {
  constructor(advice, axes) {
    const plain = advice.experience[axes];
    Object.assign(this, plain, { names: Object.keys(plain.mean), widening: advice.widening[axes], after: advice.after[axes], added: advice.rounding[axes], ...advice.factors });
    const count = new Map();
    for (const family of plain.families) count.set(family, (count.get(family) ?? 0) + 1);
    this.kinds = count.size;
    this.weights = plain.families.map((family) => 1 / (count.get(family) * count.size)); // every family counts once
  }

  near(signal) {
    return [-1, 0, 1].map((step) => signal * this.belief ** step);
  }

  /** Logarithms of the errors of an algorithm, one per dataset. */
  at(errors, side, signal) {
    const [row, down] = between(Math.log10(side), this.sides.map(Math.log10));
    const [col, across] = between(Math.log10(signal), this.signals.map(Math.log10));
    const log = (i, j, k) => Math.log(errors[(i * this.signals.length + j) * this.datasets.length + k]);
    return this.datasets.map((_, k) => {
      const rows = [col, col + 1].map((j) => (1 - down) * log(row, j, k) + down * log(row + 1, j, k));
      return (1 - across) * rows[0] + across * rows[1];
    });
  }

  overFamilies(logs) {
    return logs.reduce((sum, log, k) => sum + log * this.weights[k], 0);
  }

  /** The algorithm with the least score; the one that is best over the whole table unless it is beaten clearly. */
  choose(side, signal, risk) {
    const least = (score) => this.names.map((name) => [score(name), name]).reduce((a, b) => (b[0] < a[0] ? b : a));
    const errors = risk === "p95" ? this.bad : this.mean;
    const overall = (name) => errors[name].reduce((sum, error, k) => sum + Math.log(error) * this.weights[k % this.weights.length], 0);
    const [, leader] = least(overall);
    const [lowest, best] = least((name) => this.score(name, side, signal, risk));
    return this.score(leader, side, signal, risk) - lowest > this.clearly ? best : leader;
  }

  /** By what an algorithm is chosen, the less the better. */
  score(name, side, signal, risk) {
    const errors = (risk === "p95" ? this.bad : this.mean)[name];
    return average(this.near(signal).map((each) => this.overFamilies(this.at(errors, side, each))));
  }

  /** What a release may do to low, high and a bad run, never narrower than without one. */
  released(name, signal) {
    const known = this.after.algorithms[name];
    if (!known) return [1, 1, 1];
    const points = this.after.signals.map(Math.log10);
    const ends = (values) => this.near(signal).map((each) => interpolated(Math.log10(each), points, values.map(Math.log)));
    return [Math.exp(Math.min(...ends(known.low), 0)), Math.exp(Math.max(...ends(known.high), 0)), Math.exp(Math.max(...ends(known.bad_run), 0))];
  }

  rounding(side) {
    return interpolated(Math.log10(side), this.sides.map(Math.log10), this.added);
  }

  /** What to expect of an algorithm, in records, if the number of records is within a factor of three of the guess. */
  range(name, side, signal, epsilon) {
    const [means, bads] = [this.mean[name], this.bad[name]].map((errors) => this.near(signal).map((each) => this.at(errors, side, each)));
    const [wider, [low, high, bad], added] = [this.widening[name], this.released(name, signal), this.rounding(side)];
    const least = Math.min(...means.flat());
    const [most, worst] = [means, bads].map((logs) => Math.max(...logs.flat()));
    return {
      expected: Math.exp(average(means.map((logs) => this.overFamilies(logs)))) / epsilon, low: ((Math.exp(least) / wider[0]) * low) / epsilon,
      high: Math.hypot((Math.exp(most) * wider[1] * high) / epsilon, added), badRun: Math.hypot((Math.exp(worst) * wider[2] * bad) / epsilon, added),
    };
  }
}

/** Why the study cannot tell; empty if it can. */
function beyondTheStudy(known, sides, side, signal, longest) {
  const [least, most] = [known.sides[0], known.sides.at(-1)];
  if (side < least || side > most || Math.max(...sides) > longest * Math.min(...sides)) {
    return `The study has ${sides.length === 2 ? "squares of " : ""}${least} to ${most} cells along an axis, so algorithms that depend on the data are not advised on here`;
  }
  if (signal < known.signals[0] || signal > known.signals.at(-1)) {
    return `The study has epsilon times records from ${inWhole(known.signals[0])} to ${inWhole(known.signals.at(-1))} and not ${general(signal, 3)}, so algorithms that depend on the data are not advised on`;
  }
  return "";
}

/** The text of `dpbench recommend --cells ... --epsilon ... --records ... --risk ...`. */
function recommendation(advice, { cells, epsilon, records, risk = "mean" }) {
  const sides = cells.split("x").map(Number);
  const [axes, signal] = [sides.length, epsilon * records];
  const side = sides.reduce((a, b) => a * b, 1) ** (1 / axes);
  const known = new Experience(advice, axes);
  const fixed = advice.fixed[cells].map((each) => ({ ...each, error: each.error / epsilon }));
  const released = (name) => (advice.released.includes(name) ? known.released(name, signal) : [1, 1, 1]);
  const reason = beyondTheStudy(known, sides, side, signal, advice.factors.longest);
  const best = reason ? null : known.choose(side, signal, risk);
  const learned = best && known.range(best, side, signal, epsilon);
  const alternative = (each, why) => {
    const after = each.error * released(each.algorithm)[1];
    const words = after > advice.factors.nearly * each.error ? ` (${errorInRecords(after)} after a release)` : "";
    return `${why}: ${each.algorithm}, ${errorInRecords(each.error)} records${words}.`;
  };
  const asked = `${axes === 1 ? "all prefixes" : "random ranges"} on ${cells} cells, epsilon ${general(epsilon, 6)}, about ${whole(records)} records (${inWhole(records / known.belief)} to ${inWhole(records * known.belief)})`;
  const amount = (error) => `${errorInRecords(error)} records (${general((100 * error) / records, 2)} %)`;
  const exactly = (names) => {
    const can = names.filter((name) => advice.released.includes(name));
    if (!can.length) return names.length > 1 ? "neither; --exact names one that is" : "it is not; --exact names one that is";
    return names.length > 1 && can.length === names.length ? "both" : can[0];
  };
  const ratherKnown = !learned || fixed.some((each) => each.algorithm === best) || fixed[0].error * Math.exp(advice.factors.clearly) < learned.expected;
  if (ratherKnown) {
    const [first, ...others] = fixed.slice(0, 2);
    const [, high, bad] = released(first.algorithm);
    const added = known.rounding(side);
    const most = Math.hypot(first.error, added) * high;
    const worst = Math.max(Math.hypot(first.bad_run / epsilon, added) * bad, most);
    const overRuns = `${errorInRecords(most)} on average over runs`;
    const interval = most <= advice.factors.nearly * first.error ? `at most ${overRuns}, whatever the data.` : `whatever the data as it comes, and up to ${overRuns} after a release, as far as shapes have shown.`;
    return [
      `${first.algorithm}, for ${asked}.`,
      `Expect a range to be off by about ${amount(first.error)}; ${interval}`,
      `A bad run (1 in 20): up to ${errorInRecords(worst)} records. As it comes, neither depends on the data.`,
      ...others.map((each) => alternative(each, advice.words.next)),
      `Exactly releasable: ${exactly([first, ...others].map((each) => each.algorithm))}.`,
      ...(reason ? [`${reason}.`] : []),
      `The error of ${first.algorithm} is computed, not measured; no data were read, so this costs no privacy.`,
    ].join("\n");
  }
  const [held, unseen] = [advice.held[axes][risk], advice.unseen[axes]?.[risk]];
  const elsewhere = unseen ? `; on generators and public tables that it was not made with, in ${percent(unseen.interval)} and ${percent(unseen.bad_run)}` : "";
  return [
    `${best}, for ${asked}.`,
    `Expect a range to be off by about ${amount(learned.expected)}; between ${errorInRecords(learned.low)} and ${errorInRecords(learned.high)} for 9 of 10 kinds of data.`,
    `A bad run (1 in 20): up to ${errorInRecords(Math.max(learned.badRun, learned.high))} records. On kinds of data left out of the study the interval held in ${percent(held.interval)} of settings, and this bound in ${percent(held.bad_run)}${elsewhere}.`,
    alternative(fixed[0], advice.words.whatever),
    `Exactly releasable: ${exactly([...new Set([best, fixed[0].algorithm])])}.`,
    `From ${known.datasets.length} histograms of ${known.kinds} families; no data were read, so this costs no privacy.`,
  ].join("\n");
}

/** A number as it is typed, with or without commas; NaN for what is none. */
const numberTyped = (text) => (/^\s*[-+]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text.replaceAll(",", "")) : NaN);

/** Why there is no advice, in the words of dpb.recommend; empty where there is some. */
function refusal(epsilonText, epsilon, recordsText, records) {
  const asTyped = (text) => (text.trim() ? `'${text.trim()}'` : "empty");
  if (Number.isNaN(epsilon)) return `epsilon is ${asTyped(epsilonText)}; give a finite number greater than 0, for example 0.1`;
  if (!(epsilon > 0 && Number.isFinite(epsilon))) return `epsilon is ${Number.isInteger(epsilon) ? epsilon.toFixed(1) : epsilon}; give a finite number greater than 0, for example 0.1`;
  if (!Number.isInteger(records)) return `records is ${asTyped(recordsText)}; give a whole number, 1 or more`;
  return records > 0 ? "" : `records is ${records}; give about how many there are, 1 or more`;
}

/** The form, and the text as it is typed; null where the page carries nothing to go by. */
function recommender() {
  if (!data.advice) return null;
  const sizes = Object.keys(data.advice.fixed);
  const facts = { cells: "4096", epsilon: "0.1", records: "100000", risk: "mean", ...Object.fromEntries(["cells", "epsilon", "records", "risk"].filter((each) => state[each] !== undefined).map((each) => [each, state[each]])) };
  const select = (name, options) => element("select", { id: `recommend-${name}`, name }, ...options.map(([value, shown]) => element("option", { value }, shown)));
  const inputs = {
    cells: select("cells", sizes.map((size) => [size, domainWords(size)])),
    epsilon: element("input", { id: "recommend-epsilon", inputmode: "decimal", autocomplete: "off" }),
    records: element("input", { id: "recommend-records", inputmode: "numeric", autocomplete: "off" }),
    risk: select("risk", [["mean", "mean error"], ["p95", "a bad run"]]),
  };
  const text = element("pre", { role: "status", id: "recommendation" });
  const command = element("code", {});
  const same = element("p", { class: "about" }, "The same on the command line, where any size and your own ranges can be given: ", command);
  const tell = () => {
    const [epsilon, records] = ["epsilon", "records"].map((name) => numberTyped(inputs[name].value));
    const [cells, risk] = [inputs.cells.value, inputs.risk.value];
    const refused = refusal(inputs.epsilon.value, epsilon, inputs.records.value, records);
    same.hidden = Boolean(refused);
    if (refused) text.textContent = refused;
    else {
      const [first, ...rest] = recommendation(data.advice, { cells, epsilon, records, risk }).split("\n");
      text.replaceChildren(element("b", {}, first), ["", ...rest].join("\n"));
      command.textContent = `dpbench recommend --cells ${cells} --epsilon ${epsilon} --records ${records}${risk === "mean" ? "" : ` --risk ${risk}`}`;
    }
  };
  const words = { cells: "Cells", epsilon: "Epsilon", records: "Records, about", risk: "Judge by" };
  for (const [name, input] of Object.entries(inputs)) {
    input.value = facts[name];
    input.addEventListener("input", () => { change({ [name]: input.value }, { step: false }); tell(); });
  }
  if (!inputs.cells.value) inputs.cells.value = sizes[0];
  tell();
  return element("section", { id: "recommend", "aria-labelledby": "recommend-title" }, element("h2", { id: "recommend-title", tabindex: -1 }, isTheStudy() ? "For your own table" : "For your own table, by the study of DPBench"),
    element("p", { class: "about" }, isTheStudy() ? "From public facts alone; nothing leaves this page." : "From public facts and the study that comes with DPBench, not from the results on this page, which may favour another algorithm; nothing leaves this page."),
    element("div", { class: "controls" }, ...Object.entries(inputs).map(([name, input]) => element("label", {}, words[name], input))), text, same);
}
