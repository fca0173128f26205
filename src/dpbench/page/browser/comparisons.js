// Figures that set algorithms, forms and costs beside each other.

/** As the paper's Table 3, among all algorithms of the page: on how many datasets an algorithm is competitive. */
function competitiveTable(width) {
  const { scale: scales } = view.options;
  const counts = new Map(distinct(view.rows, "algorithm").map((who) => [who, scales.map(() => 0)]));
  const total = scales.map(() => 0);
  const at = new Map(scales.map((scale, k) => [scale, k]));
  for (const { here, best } of chosenContests()) {
    total[at.get(column.scale[best])] += 1;
    for (const i of here) if (tested() ? competitive(i) : i === best) counts.get(column.algorithm[i])[at.get(column.scale[i])] += 1;
  }
  const sum = (who) => counts.get(who).reduce((a, b) => a + b, 0);
  const order = [...counts.keys()].sort((a, b) => sum(b) - sum(a) || a - b);
  const word = tested() ? "competitive" : "lowest";
  const cells = order.map((who) => counts.get(who).map((count, k) => ({
    text: count ? String(count) : "–", colour: colours().better, opacity: count ? 0.12 + 0.5 * (count / total[k]) : 0.03,
    tip: `${labelOf(who)}: ${word} on ${count} of ${plural(total[k], "dataset")}, ${recordsWords(scales[k])}`,
  })));
  const chart = cellChart({ width, rows: order.map(algorithmName), whose: order, columns: scaleNames(), cells, corner: "records", label: `Datasets on which each algorithm is ${word}, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", ...scales.map((scale) => `${nameOf("scale", scale)} records`)], rows: order.map((who) => [labelOf(who), ...counts.get(who)]) } };
}

/** Regret with its interval over datasets. */
function regretChart(width) {
  const found = ranking();
  if (!found.length) return { nothing: "No regret for this choice." };
  const rows = found.map((own) => ({
    name: algorithmName(own.who), who: own.who, mean: own.regret, dots: [], ends: own.low === null ? null : [own.low, own.high],
    meanText: `${labelOf(own.who)}: regret ${number(own.regret)}${own.low === null ? "" : ` (95 %: ${number(own.low)} to ${number(own.high)})`} over ${plural(own.places, "setting")}${own.missing ? `, ${own.missing} missing` : ""}`,
  }));
  const chart = dotChart({ width: Math.min(width, 860), panels: [{ title: "regret over all datasets and numbers of records", rows }], unit: "times the lowest error", label: `Regret, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "regret", "low", "high", "settings", "missing"], rows: found.map((own) => [labelOf(own.who), own.regret, own.low ?? "", own.high ?? "", own.places, own.missing]) } };
}

function regretByScale(width) {
  const found = ranking();
  if (!found.length) return { nothing: "No regret for this choice." };
  const at = (own, scale) => { const pair = own.scales.get(scale); return pair && Math.exp(pair[0] / pair[1]); };
  const cells = found.map((own) => view.options.scale.map((scale) => {
    const value = at(own, scale);
    return value ? { text: number(value), ...heatOf(value), tip: `${labelOf(own.who)}, ${recordsWords(scale)}: regret ${number(value)}` } : null;
  }));
  const who = found.map((own) => own.who);
  const chart = cellChart({ width, rows: who.map(algorithmName), whose: who, columns: scaleNames(), cells, corner: "records", label: `Regret by number of records, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", ...view.options.scale.map((scale) => `${nameOf("scale", scale)} records`)], rows: found.map((own) => [labelOf(own.who), ...view.options.scale.map((scale) => at(own, scale) ?? "")]) } };
}

/** Root mean squared bias against the deviation of an answer, in records. */
function biasAndVariance(width) {
  const here = view.rows.filter((i) => column.scale[i] === view.scale && Number.isFinite(column.bias[i] + column.variance[i]));
  if (!here.length) return { nothing: "Bias and variance need several trials on each data vector." };
  const table = [];
  const rows = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => {
    const unbiased = isUnbiased(who);
    const bias = Math.sqrt(Math.max(average(own.map((i) => column.bias[i])), 0));
    const spread = Math.sqrt(average(own.map((i) => column.variance[i])));
    const share = average(own.map((i) => column.bias[i] / (column.bias[i] + column.variance[i])));
    table.push([labelOf(who), own.length, unbiased ? "unbiased" : bias, spread, unbiased ? 0 : share]);
    const told = unbiased ? "unbiased by construction: what a few trials show beyond 0 is chance" : `${number(100 * share)} % of the squared error is bias, mean over datasets\nbias ${number(bias)} records per query`;
    return { name: algorithmName(who), who, bias, spread, share, unbiased, tip: `${labelOf(who)}: ${told}\ndeviation ${number(spread)} records` };
  }).sort((a, b) => a.unbiased - b.unbiased || b.share - a.share);
  const chart = shareChart({ width: Math.min(width, 900), rows, label: `Bias and variance, ${recordsWords(view.scale)}` });
  return { chart, table: { columns: ["algorithm", "datasets", "bias in records", "deviation in records", "share of bias"], rows: table } };
}

function timePerTrial(width) {
  const here = view.rows.filter((i) => column.seconds[i] > 0);
  if (!here.length) return { nothing: "No times were kept." };
  const table = [];
  const rows = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => {
    const mean = median(own.map((i) => column.seconds[i] * 1000)); // the first trial of a process also loads code
    table.push([labelOf(who), own.length, mean]);
    return { name: algorithmName(who), who, mean, dots: own.map((i) => ({ value: column.seconds[i] * 1000, text: () => `${labelOf(who)} on ${datasetName(i)}, ${recordsWords(column.scale[i])}: ${number(column.seconds[i] * 1000)} ms` })), meanText: `${labelOf(who)}: ${number(mean)} ms per trial in the median setting` };
  }).sort((a, b) => a.mean - b.mean);
  const chart = dotChart({ width: Math.min(width, 860), panels: [{ title: "milliseconds per trial", rows }], unit: "ms", label: `Time per trial, ${chosenWords()}` });
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
  const all = new Map(who.map((each) => [each, geometric(view.options.scale.flatMap((scale) => ratios.get(`${each} ${scale}`) || []))]));
  who.sort((a, b) => all.get(b) - all.get(a));
  const cell = (each, values, where) => {
    if (!values?.length) return null;
    const ratio = geometric(values);
    return { text: number(ratio), colour: ratio > 1 ? colours().worse : colours().better, opacity: Math.min(0.6, 0.03 + 0.65 * Math.abs(Math.log10(ratio))), tip: `${labelOf(each, published)}, ${where}: private error is ${number(ratio)} times the published one (${plural(values.length, "dataset")})` };
  };
  const cells = who.map((each) => view.options.scale.map((scale) => cell(each, ratios.get(`${each} ${scale}`), recordsWords(scale))));
  const chart = cellChart({ width, rows: who.map(algorithmName), whose: who, form: published, columns: scaleNames(), cells, corner: "records", label: `Price of privacy, ${chosenWords()}` });
  const rows = who.flatMap((each) => view.options.scale.filter((scale) => ratios.has(`${each} ${scale}`)).map((scale) => [labelOf(each, published), nameOf("scale", scale), ratios.get(`${each} ${scale}`).length, geometric(ratios.get(`${each} ${scale}`))]));
  return { chart, table: { columns: ["algorithm", "records", "datasets", "private over published error"], rows } };
}

/** The mark of published forms that are not private, beside which private ones are set. */
function publishedNote() {
  const published = data.names.form.indexOf("published");
  return published >= 0 && distinct(matching({ form: published }), "algorithm").some((who) => notPrivate(who, published)) ? `${MARK} its published form is not private` : "";
}

/** The number of an algorithm of the page; none where it is not among the results. */
const whoseName = (name) => { const who = data.names.algorithm.indexOf(name); return who < 0 ? undefined : who; };

/** A newcomer against each of its rivals: ratios of errors over all settings that both have, as `dpbench compare` gives them. */
function againstRivals(width) {
  const { name, rivals } = data.comparison;
  const rows = rivals.filter((rival) => rival.ratio > 0).map((rival) => ({
    name: rival.name, who: whoseName(rival.name), mean: rival.ratio, dots: [], ends: rival.low > 0 ? [rival.low, rival.high] : null,
    meanText: `${name} over ${rival.name}: ${number(rival.ratio)} times the error${rival.low > 0 ? ` (95 %: ${number(rival.low)} to ${number(rival.high)})` : ""}\nsignificantly better in ${rival.better} and worse in ${rival.worse} of ${plural(rival.settings, "setting")}${rival.exact ? `\nexact ratio: ${rival.exact}` : ""}`,
  })).sort((a, b) => a.mean - b.mean);
  if (!rows.length) return { nothing: "No rival has a setting in common with it." };
  const chart = dotChart({ width: Math.min(width, 860), panels: [{ title: `error of ${name} over that of each rival`, rows, lines: [{ name: "equal", value: 1 }] }], unit: "ratio", label: `Error of ${name} over that of each rival` });
  const table = rivals.map((rival) => [rival.name, rival.settings, rival.better, rival.worse, rival.ratio ?? "", rival.low ?? "", rival.high ?? "", rival.exact]);
  return { chart, table: { columns: ["against", "settings", "significantly better", "significantly worse", "error ratio", "low", "high", "exact ratio"], rows: table } };
}
