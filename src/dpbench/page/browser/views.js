// What the page says of the chosen settings: each view turns rows into a chart and the table behind it.

const lossWords = () => view.loss.error;
const measureWords = () => (view.measure === "mean" ? "mean" : `${data.standards.percentile} of the`);
const errorWords = () => `${measureWords()} ${lossWords()}`;
const datasetName = (i) => nameOf("dataset", column.dataset[i]);
const scaleName = (i) => nameOf("scale", column.scale[i]);
const places = () => grouped(view.rows, (i) => `${column.dataset[i]} ${column.scale[i]}`);
const atScale = () => view.rows.filter((i) => column.scale[i] === view.scale && Number.isFinite(view.value[i]));
const chosenWords = () => {
  const { chosen } = view;
  return `${nameOf("workload", chosen.workload)} on ${nameOf("domain", chosen.domain)}, ${nameOf("budget", chosen.budget)}`;
};

/** Why nothing is said of competitive algorithms, or of regret. */
const untested = () => `Competitive sets and regret need the errors of single trials; these results have them by the loss ${data.losses.filter((loss) => loss.column.member).map((loss) => loss.words).join(", ")}.`;

/** Among how many algorithms, by which test and at which level: among others the same two are tested at another level. */
function familyWords() {
  const numbers = [...places().values()].map((here) => here.filter((i) => Number.isFinite(view.value[i])).length).filter((count) => count > 1);
  if (!numbers.length) return "nothing to compare with";
  const { alpha, tests } = data.standards;
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const { words } = tests[view.measure];
  return least === most ? `among ${most} algorithms; ${words}, level ${alpha}/${most - 1}` : `among n = ${least} to ${most} algorithms; ${words}, level ${alpha}/(n - 1)`;
}

function settingWords(i) {
  const own = view.loss.column;
  const more = own.error ? `\nmean ${number(own.mean[i])} ± ${number(own.error[i], 2)}, ${column.trials[i]} trials, ${data.standards.percentile} ${number(own.percentile[i])} (${number(own.low[i])} to ${number(own.high[i])})` : "";
  return `${algorithmName(column.algorithm[i])} on ${datasetName(i)}, scale ${scaleWords(scaleName(i))}\n${errorWords()} ${number(view.value[i])}${more}${competitive(i) ? "\ncompetitive" : ""}`;
}

/** Which algorithm wins where: the best one of every dataset and scale. */
function winners(width) {
  if (!tested()) return { nothing: untested() };
  const rows = view.options.dataset.filter((each) => view.dataset === undefined || each === view.dataset);
  const found = places();
  const table = [];
  const narrow = width < 90 + 75 * view.options.scale.length;
  const cells = rows.map((dataset) => view.options.scale.map((scale) => {
    const here = found.get(`${dataset} ${scale}`) || [];
    const best = here.find(isBest);
    if (best === undefined) return null;
    const rivals = here.filter((i) => competitive(i) && i !== best);
    const who = column.algorithm[best];
    table.push([nameOf("dataset", dataset), nameOf("scale", scale), algorithmName(who), view.value[best], rivals.map((i) => algorithmName(column.algorithm[i])).join(", ")]);
    return {
      text: algorithmName(who) + (rivals.length ? (narrow ? "+" : ` +${rivals.length}`) : ""), colour: colourOf(who), opacity: 0.3,
      tip: `${settingWords(best)}\ntie with it statistically: ${rivals.map((i) => algorithmName(column.algorithm[i])).join(", ") || "none"}`,
    };
  }));
  const chart = cellChart({ width, rows: rows.map((each) => nameOf("dataset", each)), columns: view.options.scale.map((each) => scaleWords(nameOf("scale", each))), cells, corner: "scale", label: `Best algorithm by dataset and scale, ${chosenWords()}`, least: narrow ? 46 : 72 });
  return { chart, table: { columns: ["dataset", "scale", "best", errorWords(), "also competitive"], rows: table } };
}

/** As the paper's Table 3, among all algorithms of the page: on how many datasets an algorithm is competitive. */
function competitiveTable(width) {
  if (!tested()) return { nothing: untested() };
  const total = view.options.scale.map((scale) => new Set(view.rows.filter((i) => column.scale[i] === scale).map((i) => column.dataset[i])).size);
  const counts = new Map();
  for (const i of view.rows) {
    const who = column.algorithm[i];
    if (!counts.has(who)) counts.set(who, view.options.scale.map(() => 0));
    counts.get(who)[view.options.scale.indexOf(column.scale[i])] += competitive(i);
  }
  const sum = (who) => counts.get(who).reduce((a, b) => a + b, 0);
  const order = [...counts.keys()].sort((a, b) => sum(b) - sum(a) || a - b);
  const ink = colours();
  const cells = order.map((who) => counts.get(who).map((count, k) => ({
    text: count ? String(count) : "–", colour: ink.independent, opacity: count ? 0.12 + 0.55 * (count / total[k]) : 0.03,
    tip: `${algorithmName(who)}: competitive on ${count} of ${total[k]} datasets at scale ${scaleWords(nameOf("scale", view.options.scale[k]))}`,
  })));
  const names = view.options.scale.map((scale) => scaleWords(nameOf("scale", scale)));
  const chart = cellChart({ width, rows: order.map(algorithmName), own: order.map(isOwn), columns: names, cells, corner: "scale", label: `Datasets on which each algorithm is competitive, ${chosenWords()}` });
  const rows = order.map((who) => [algorithmName(who), ...counts.get(who)]);
  return { chart, table: { columns: ["algorithm", ...view.options.scale.map((scale) => `scale ${nameOf("scale", scale)}`)], rows } };
}

/** The paper's Figure 1. */
function errorByScale(width) {
  const table = [];
  const panels = view.options.scale.map((scale) => {
    const here = view.rows.filter((i) => column.scale[i] === scale && Number.isFinite(view.value[i]));
    const rows = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => {
      const mean = average(own.map((i) => view.value[i]));
      const wins = own.filter(competitive).length;
      table.push([algorithmName(who), nameOf("scale", scale), own.length, mean, Math.min(...own.map((i) => view.value[i])), Math.max(...own.map((i) => view.value[i])), wins]);
      return {
        name: algorithmName(who), who, mean, dots: own.map((i) => ({ value: view.value[i], text: settingWords(i), strong: competitive(i) })),
        meanText: `${algorithmName(who)}, scale ${scaleWords(nameOf("scale", scale))}\nmean over ${own.length} datasets ${number(mean)}\ncompetitive on ${wins}`,
      };
    });
    rows.sort((a, b) => a.mean - b.mean);
    const lines = [...rows.filter((row) => isBaseline(row.who)).map((row) => ({ name: row.name, value: row.mean })), ...yardsticks(view.chosen, scale, here)];
    for (const line of yardsticks(view.chosen, scale, here)) table.push([line.name, nameOf("scale", scale), "", line.value, "", "", ""]);
    return { title: `scale ${scaleWords(nameOf("scale", scale))}`, rows, lines };
  }).filter((panel) => panel.rows.length);
  if (!panels.length) return { nothing: "No errors for this choice." };
  const chart = dotChart({ width, panels, unit: lossWords(), label: `Error by algorithm and scale, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "scale", "datasets", `mean over datasets of the ${errorWords()}`, "lowest", "highest", "competitive on"], rows: table } };
}

/** The paper's Figures 2a and 2b: one scale, every dataset. */
function errorByDataset(width) {
  const here = atScale();
  if (!here.length) return { nothing: "No errors for this choice." };
  const sets = distinct(here, "dataset");
  const algorithms = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => ({ who, mean: average(own.map((i) => view.value[i])) })).sort((a, b) => a.mean - b.mean).map((each) => each.who);
  const at = new Map(here.map((i) => [`${column.algorithm[i]} ${column.dataset[i]}`, i]));
  const best = new Map(sets.map((set) => [set, Math.min(...here.filter((i) => column.dataset[i] === set).map((i) => view.value[i]))]));
  const ink = colours();
  const cells = algorithms.map((who) => sets.map((set) => {
    const i = at.get(`${who} ${set}`);
    if (i === undefined) return null;
    const ratio = view.value[i] / best.get(set);
    return { text: ratio < 9.95 ? ratio.toFixed(1) : ratio < 1e4 ? ratio.toFixed(0) : ratio.toExponential(0).replace("e+", "e"), colour: ink.dependent, opacity: Math.min(0.72, 0.04 + 0.3 * Math.log10(ratio)), strong: competitive(i), tip: `${settingWords(i)}\n${number(ratio)} times the lowest there` };
  }));
  const chart = cellChart({ width, rows: algorithms.map(algorithmName), own: algorithms.map(isOwn), columns: sets.map((set) => nameOf("dataset", set)), cells, least: 34, label: `Error by dataset at scale ${nameOf("scale", view.scale)}, ${chosenWords()}` });
  const { column: own } = view.loss;
  const rows = here.map((i) => [algorithmName(column.algorithm[i]), datasetName(i), view.value[i], plain(Math.log10(view.value[i])), plain(own.deviation?.[i]), plain(own.percentile?.[i]), competitive(i) ? "yes" : "no"]);
  return { chart, table: { columns: ["algorithm", "dataset", errorWords(), "log10", "deviation", data.standards.percentile, "competitive"], rows } };
}

/** The paper's Figure 2c: error against the number of cells. */
function errorByDomain(width) {
  const rows = matching({ ...view.chosen, scale: view.scale, dataset: view.dataset }, ["domain"]).filter((i) => Number.isFinite(view.value[i]));
  const domains = distinct(rows, "domain").sort((a, b) => data.sizes[a] - data.sizes[b]);
  if (domains.length < 2) return { nothing: "These results have one domain; run more of them to see what its size does." };
  const table = [];
  const series = [...grouped(rows, (i) => column.algorithm[i])].map(([who, own]) => ({
    name: algorithmName(who), who,
    points: [...grouped(own, (i) => column.domain[i])].sort(([a], [b]) => data.sizes[a] - data.sizes[b]).map(([domain, some]) => {
      const value = average(some.map((i) => view.value[i]));
      table.push([algorithmName(who), nameOf("domain", domain), some.length, value]);
      return { at: domains.indexOf(domain), value, text: `${algorithmName(who)} on ${nameOf("domain", domain)}\nmean over ${some.length} datasets ${number(value)}` };
    }),
  }));
  for (const [domain, some] of grouped(rows, (i) => column.domain[i])) {
    for (const line of yardsticks({ ...view.chosen, domain }, view.scale, some)) {
      table.push([line.name, nameOf("domain", domain), "", line.value]);
      const drawn = series.find((each) => each.name === line.name) ?? series[series.push({ name: line.name, colour: colours().baseline, dash: line.dash, points: [] }) - 1];
      drawn.points.push({ at: domains.indexOf(domain), value: line.value, text: `${line.name} on ${nameOf("domain", domain)}: ${number(line.value)}\n${line.text}` });
      drawn.points.sort((a, b) => a.at - b.at);
    }
  }
  const chart = lineChart({ width, steps: domains.map((domain) => nameOf("domain", domain)), series, unit: lossWords(), below: "domain", label: `Error by domain size at scale ${nameOf("scale", view.scale)}` });
  return { chart, table: { columns: ["algorithm", "domain", "datasets", errorWords()], rows: table } };
}

/** Regret was computed by the library, with its interval; see the method notes. */
function regretLines(scale) {
  const { form, task, workload, domain, budget, seed } = view.chosen;
  const wanted = [form, task, workload, domain, budget, seed, scale];
  return (view.loss.regret ?? []).filter((line) => wanted.every((value, k) => line[k] === value))
    .map(([, , , , , , at, who, value, low, high, settings, missing]) => ({ at, who, value, low, high, settings, missing }));
}

function regretChart(width) {
  const lines = regretLines(-1).sort((a, b) => a.value - b.value);
  if (!lines.length) return { nothing: tested() ? "No regret for this choice." : untested() };
  const rows = lines.map((line) => ({
    name: algorithmName(line.who), who: line.who, mean: line.value, dots: [], ends: line.low === null ? null : [line.low, line.high],
    meanText: `${algorithmName(line.who)}: regret ${number(line.value)}${line.low === null ? "" : ` (95 %: ${number(line.low)} to ${number(line.high)})`} over ${line.settings} settings${line.missing ? `, ${line.missing} missing` : ""}`,
  }));
  const chart = dotChart({ width: Math.min(width, 760), panels: [{ title: "regret over all datasets and scales", rows }], unit: "times the best", label: `Regret, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "regret", "low", "high", "settings", "missing"], rows: lines.map((line) => [algorithmName(line.who), line.value, line.low ?? "", line.high ?? "", line.settings, line.missing]) } };
}

function regretByScale(width) {
  const order = regretLines(-1).sort((a, b) => a.value - b.value).map((line) => line.who);
  const ink = colours();
  const at = view.options.scale.map((scale) => new Map(regretLines(scale).map((line) => [line.who, line])));
  if (!order.length) return { nothing: tested() ? "No regret for this choice." : untested() };
  const cells = order.map((who) => at.map((lines, k) => {
    const line = lines.get(who);
    return line ? { text: number(line.value), colour: ink.dependent, opacity: Math.min(0.72, 0.04 + 0.3 * Math.log10(line.value)), tip: `${algorithmName(who)}, scale ${scaleWords(nameOf("scale", view.options.scale[k]))}: regret ${number(line.value)}` } : null;
  }));
  const chart = cellChart({ width, rows: order.map(algorithmName), own: order.map(isOwn), columns: view.options.scale.map((scale) => scaleWords(nameOf("scale", scale))), cells, corner: "scale", label: `Regret by scale, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", ...view.options.scale.map((scale) => `scale ${nameOf("scale", scale)}`)], rows: order.map((who) => [algorithmName(who), ...at.map((lines) => lines.get(who)?.value ?? "")]) } };
}

/** What an error means for someone publishing a table: the error of a query, in records. */
function inRecords(width) {
  const { perQuery, column: own } = view.loss;
  if (!perQuery) return { nothing: `An error by the loss ${view.loss.words} is no error of a query in records.` };
  const here = view.rows.filter((i) => column.queries[i] > 0 && Number.isFinite(view.value[i]));
  if (!here.length) return { nothing: "The number of queries of this workload is not known." };
  const share = (i, values) => (values ? values[i] * column.queries[i] ** perQuery.power : NaN);
  const at = grouped(here, (i) => `${column.algorithm[i]} ${column.scale[i]}`);
  const whole = (who) => geometric(view.options.scale.filter((scale) => at.has(`${who} ${scale}`)).map((scale) => average(at.get(`${who} ${scale}`).map((i) => share(i, view.value)))));
  const order = [...new Set(here.map((i) => column.algorithm[i]))].sort((a, b) => whole(a) - whole(b));
  const ink = colours();
  const table = [];
  const cells = order.map((who) => view.options.scale.map((each) => {
    const rows = at.get(`${who} ${each}`);
    if (!rows) return null;
    const scale = nameOf("scale", each);
    const [shown, mean, bad] = [view.value, own.mean, own.percentile].map((values) => average(rows.map((i) => share(i, values))));
    table.push([algorithmName(who), scale, rows.length, mean * scale, 100 * mean, plain(bad * scale), plain(100 * bad)]);
    return {
      text: asRecords(shown * scale), colour: ink.dependent, opacity: Math.max(0.03, Math.min(0.72, 0.75 + 0.22 * Math.log10(shown))),
      tip: `${algorithmName(who)}, ${scale.toLocaleString("en")} records, mean over ${rows.length} datasets\n${perQuery.words} of an answer: ${asRecords(mean * scale)} records, ${number(100 * mean, 2)} % of all${Number.isFinite(bad) ? `\nin a bad run (${data.standards.percentile}) ${asRecords(bad * scale)}, ${number(100 * bad, 2)} %` : ""}`,
    };
  }));
  const chart = cellChart({ width, rows: order.map(algorithmName), own: order.map(isOwn), columns: view.options.scale.map((each) => scaleWords(nameOf("scale", each))), cells, corner: "records", label: `Error of an answer in records, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "records", "datasets", "off by, records", "% of all", "in a bad run, records", "% of all in a bad run"], rows: table } };
}

const asRecords = (count) => (count < 9.95 ? count.toFixed(1) : count < 1e6 ? Math.round(Number(count.toPrecision(3))).toLocaleString("en") : `${number(count / 1e6, 3)} M`);

/** Root mean squared bias against the deviation of an answer, in records. */
function biasAndVariance(width) {
  const here = view.rows.filter((i) => column.scale[i] === view.scale && Number.isFinite(column.bias[i] + column.variance[i]));
  if (!here.length) return { nothing: "Bias and variance need several trials on each data vector." };
  const table = [];
  const rows = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => {
    const bias = Math.sqrt(Math.max(average(own.map((i) => column.bias[i])), 0));
    const spread = Math.sqrt(average(own.map((i) => column.variance[i])));
    const share = average(own.map((i) => column.bias[i] / (column.bias[i] + column.variance[i])));
    table.push([algorithmName(who), own.length, bias, spread, share]);
    return { name: algorithmName(who), who, bias, spread, share };
  }).sort((a, b) => b.share - a.share);
  const bars = rows.map((row) => ({ ...row, tip: `${row.name}: ${(100 * row.share).toFixed(1)} % of the squared error is bias, mean over datasets\nbias ${number(row.bias)} records per query, deviation ${number(row.spread)}` }));
  const chart = shareChart({ width: Math.min(width, 900), rows: bars, label: `Bias and variance at scale ${nameOf("scale", view.scale)}` });
  return { chart, table: { columns: ["algorithm", "datasets", "bias in records", "deviation in records", "share of bias"], rows: table } };
}

function timePerTrial(width) {
  const here = view.rows.filter((i) => column.seconds[i] > 0);
  if (!here.length) return { nothing: "No times were kept." };
  const table = [];
  const rows = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => {
    const mean = median(own.map((i) => column.seconds[i] * 1000)); // the first trial of a process also loads code
    table.push([algorithmName(who), own.length, mean]);
    return { name: algorithmName(who), who, mean, dots: own.map((i) => ({ value: column.seconds[i] * 1000, text: `${algorithmName(who)} on ${datasetName(i)}, scale ${scaleWords(scaleName(i))}: ${number(column.seconds[i] * 1000)} ms` })), meanText: `${algorithmName(who)}: ${number(mean)} ms per trial in the median setting` };
  }).sort((a, b) => a.mean - b.mean);
  const chart = dotChart({ width: Math.min(width, 760), panels: [{ title: "milliseconds per trial", rows }], unit: "ms", label: `Time per trial, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "settings", "median milliseconds per trial"], rows: table } };
}

/** Private over published error: the geometric mean over datasets of the ratio of the two. */
function priceOfPrivacy(width) {
  const [published, own] = ["published", "private"].map((form) => data.names.form.indexOf(form));
  if (published < 0 || own < 0) return { nothing: "These results hold one form of each algorithm. Run both, then: dpbench report PUBLISHED --private PRIVATE --out DIR" };
  const chosen = { ...view.chosen, dataset: view.dataset };
  const key = (i) => `${column.algorithm[i]} ${column.dataset[i]} ${column.scale[i]}`;
  const sides = [published, own].map((form) => new Map(matching({ ...chosen, form }).map((i) => [key(i), i])));
  const ratios = new Map();
  for (const [name, i] of sides[0]) {
    const j = sides[1].get(name);
    const ratio = j === undefined ? NaN : view.value[j] / view.value[i];
    if (!(ratio > 0)) continue;
    const cell = `${column.algorithm[i]} ${column.scale[i]}`;
    if (!ratios.has(cell)) ratios.set(cell, []);
    ratios.get(cell).push(ratio);
  }
  const who = [...new Set([...ratios.keys()].map((cell) => Number(cell.split(" ")[0])))];
  if (!who.length) return { nothing: "No algorithm has both forms for this choice." };
  const all = (each) => geometric(view.options.scale.flatMap((scale) => ratios.get(`${each} ${scale}`) || []));
  who.sort((a, b) => all(b) - all(a));
  const ink = colours();
  const cell = (each, values, where) => {
    if (!values?.length) return null;
    const ratio = geometric(values);
    return { text: ratio < 0.1 || ratio >= 100 ? number(ratio, 2) : ratio.toFixed(2), colour: ratio > 1 ? ink.worse : ink.better, opacity: Math.min(0.7, 0.03 + 0.65 * Math.abs(Math.log10(ratio))), tip: `${algorithmName(each)}, ${where}: private error is ${number(ratio)} times the published one (${values.length} datasets)` };
  };
  const cells = who.map((each) => view.options.scale.map((scale) => cell(each, ratios.get(`${each} ${scale}`), `scale ${scaleWords(nameOf("scale", scale))}`)));
  const chart = cellChart({ width, rows: who.map(algorithmName), columns: view.options.scale.map((scale) => scaleWords(nameOf("scale", scale))), cells, corner: "scale", label: `Price of privacy, ${chosenWords()}` });
  const rows = who.flatMap((each) => view.options.scale.filter((scale) => ratios.has(`${each} ${scale}`)).map((scale) => [algorithmName(each), nameOf("scale", scale), ratios.get(`${each} ${scale}`).length, geometric(ratios.get(`${each} ${scale}`))]));
  return { chart, table: { columns: ["algorithm", "scale", "datasets", "private over published error"], rows } };
}

/** A newcomer against each of its rivals: ratios of errors over all settings that both have, as `dpbench compare` gives them. */
function againstRivals(width) {
  const { name, rivals } = data.comparison;
  const rows = rivals.filter((rival) => rival.ratio > 0).map((rival) => ({
    name: rival.name, who: Math.max(data.names.algorithm.indexOf(rival.name), 0), mean: rival.ratio, dots: [], ends: rival.low > 0 ? [rival.low, rival.high] : null,
    meanText: `${name} over ${rival.name}: ${number(rival.ratio)} times the error${rival.low > 0 ? ` (95 %: ${number(rival.low)} to ${number(rival.high)})` : ""}\nsignificantly better in ${rival.better} and worse in ${rival.worse} of ${plural(rival.settings, "setting")}${rival.exact ? `\nexact ratio: ${rival.exact}` : ""}`,
  })).sort((a, b) => a.mean - b.mean);
  if (!rows.length) return { nothing: "No rival has a setting in common with it." };
  const chart = dotChart({ width: Math.min(width, 760), panels: [{ title: `error of ${name} over that of each rival`, rows, lines: [{ name: "equal", value: 1 }] }], unit: "ratio", label: `Error of ${name} over that of each rival` });
  const table = rivals.map((rival) => [rival.name, rival.settings, rival.better, rival.worse, rival.ratio ?? "", rival.low ?? "", rival.high ?? "", rival.exact]);
  return { chart, table: { columns: ["against", "settings", "significantly better", "significantly worse", "error ratio", "low", "high", "exact ratio"], rows: table } };
}
