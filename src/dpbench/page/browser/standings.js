// How algorithms stand against each other in some settings: ratios to the lowest error in the same place.

const RESAMPLES = 1000;

/** Settings that differ in the algorithm alone. */
function placesOf(rows) {
  const names = ["domain", "budget", "seed", "workload", "task", "dataset", "scale"].filter((name) => data.names[name].length > 1);
  const [arrays, sizes] = [names.map((name) => column[name]), names.map((name) => data.names[name].length)];
  return grouped(rows, (i) => {
    let code = 0;
    for (let k = 0; k < arrays.length; k++) code = code * sizes[k] + arrays[k][i];
    return code;
  });
}

/** By place: the settings with a number, and the lowest of them. */
function contests(rows, value) {
  return [...placesOf(rows).values()].map((here) => here.filter((i) => value[i] > 0)).filter((here) => here.length)
    .map((here) => ({ here, best: here.reduce((best, i) => (value[i] < value[best] ? i : best)) }));
}

/** Those of the chosen settings, worked out once for every choice. */
const chosenContests = () => (view.contests ??= contests(view.rows, view.value));

/**
 * Of every algorithm: regret (geometric mean of its error over the lowest), the worst ratio, in how many places it has
 * the lowest error, where it is missing, and its mean logarithms by dataset.
 */
function standings(places, value) {
  const found = new Map();
  const standing = (who) => {
    if (!found.has(who)) found.set(who, { who, sum: 0, places: 0, worst: 0, lowest: 0, sets: new Map(), scales: new Map() });
    return found.get(who);
  };
  const add = (map, key, log) => {
    const pair = map.get(key);
    if (pair) { pair[0] += log; pair[1] += 1; } else map.set(key, [log, 1]);
  };
  for (const { here, best } of places) {
    for (const i of here) {
      const own = standing(column.algorithm[i]);
      const ratio = value[i] / value[best];
      const log = Math.log(ratio);
      own.sum += log;
      own.places += 1;
      own.worst = Math.max(own.worst, ratio);
      own.lowest += i === best ? 1 : 0;
      add(own.sets, column.dataset[i], log);
      add(own.scales, column.scale[i], log);
    }
  }
  return [...found.values()].map((own) => ({ ...own, total: places.length, missing: places.length - own.places, regret: Math.exp(own.sum / own.places) }));
}

/** A small generator of chance with a seed: the same page always shows the same interval. */
function chance(seed) {
  let at = seed;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), at | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** How often each of so many datasets is drawn, for every resample; as the library does it. */
function resampled(count) {
  const next = chance(1);
  return Array.from({ length: RESAMPLES }, () => {
    const times = new Uint16Array(count);
    for (let k = 0; k < count; k++) times[Math.floor(next() * count)] += 1;
    return times;
  });
}

/** 95 % intervals of regrets over datasets, which are drawn with replacement; none for one dataset. */
function withIntervals(found) {
  const sets = [...new Set(found.flatMap((own) => [...own.sets.keys()]))];
  if (sets.length < 2) return found.map((own) => ({ ...own, low: null, high: null }));
  const draws = resampled(sets.length);
  return found.map((own) => {
    const pairs = sets.map((set) => own.sets.get(set) ?? [0, 0]);
    const means = draws.map((times) => {
      let [sum, weight] = [0, 0];
      for (let k = 0; k < pairs.length; k++) { sum += times[k] * pairs[k][0]; weight += times[k] * pairs[k][1]; }
      return weight ? sum / weight : NaN;
    }).filter(Number.isFinite).sort((a, b) => a - b);
    const at = (share) => Math.exp(means[Math.min(means.length - 1, Math.round(share * (means.length - 1)))]);
    return { ...own, low: at(0.025), high: at(0.975) };
  });
}

/** Regret was computed by the library, with its interval, by mean error; see the method notes. */
function regretLines(scale) {
  const { form, task, workload, domain, budget, seed } = view.chosen;
  const wanted = [form, task, workload, domain, budget, seed, scale];
  return (view.loss.regret ?? []).filter((line) => wanted.every((value, k) => line[k] === value))
    .map(([, , , , , , at, who, value, low, high, settings, missing]) => ({ at, who, value, low, high, settings, missing }));
}

/** The standings of the chosen settings, lowest regret first; intervals are the library's where it gives them. */
const ranking = () => (view.ranking ??= ranked());

function ranked() {
  const known = view.measure === "mean" && view.dataset === undefined ? new Map(regretLines(-1).map((line) => [line.who, line])) : new Map();
  const found = standings(chosenContests(), view.value);
  const wide = known.size ? found.map((own) => ({ ...own, low: known.get(own.who)?.low ?? null, high: known.get(own.who)?.high ?? null })) : withIntervals(found);
  return wide.sort((a, b) => (a.missing > 0) - (b.missing > 0) || a.regret - b.regret);
}
