// Figures of errors: by number of records, dataset and domain size, and as records. Each turns the chosen rows into a
// chart and the table behind it.

const atScale = () => view.rows.filter((i) => column.scale[i] === view.scale && Number.isFinite(view.value[i]));
const scaleNames = () => view.options.scale.map((scale) => scaleWords(nameOf("scale", scale)));
const heatOf = (ratio) => ({ colour: colours().heat, opacity: Math.min(0.72, 0.04 + 0.3 * Math.log10(ratio)) });
const LOUD = 4; // lines that are drawn in colour without being asked for

/** The paper's Figure 1; in one order for all panels if the reader wants. */
function errorByScale(width) {
  const table = [];
  const panels = view.options.scale.map((scale) => {
    const here = view.rows.filter((i) => column.scale[i] === scale && Number.isFinite(view.value[i]));
    const rows = [...grouped(here, (i) => column.algorithm[i])].map(([who, own]) => {
      const values = own.map((i) => view.value[i]);
      const mean = average(values);
      const wins = own.filter(competitive).length;
      table.push([labelOf(who), nameOf("scale", scale), own.length, mean, Math.min(...values), Math.max(...values), wins]);
      return {
        name: algorithmName(who), who, mean, dots: own.map((i) => ({ value: view.value[i], text: () => settingWords(i), strong: competitive(i) })),
        meanText: `${labelOf(who)}, ${recordsWords(scale)}\nmean over ${plural(own.length, "dataset")} ${number(mean)}${tested() ? `\ncompetitive on ${wins}` : ""}`,
      };
    });
    const lines = [...rows.filter((row) => isBaseline(row.who)).map((row) => ({ name: row.name, value: row.mean })), ...yardsticks(view.chosen, scale, here)];
    for (const line of yardsticks(view.chosen, scale, here)) table.push([line.name, nameOf("scale", scale), "", line.value, "", "", ""]);
    return { title: recordsWords(scale), rows, lines };
  }).filter((panel) => panel.rows.length);
  if (!panels.length) return { nothing: "No errors for this choice." };
  const overall = new Map([...grouped(panels.flatMap((panel) => panel.rows), (row) => row.who)].map(([who, rows]) => [who, geometric(rows.map((row) => row.mean))]));
  for (const { rows } of panels) rows.sort((a, b) => (state.order === "same" ? overall.get(a.who) - overall.get(b.who) : a.mean - b.mean));
  const chart = dotChart({ width, panels, unit: lossWords(), label: `Error by algorithm and number of records, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "records", "datasets", `mean over datasets of the ${errorWords()}`, "lowest", "highest", "competitive on"], rows: table } };
}

/** One order for all panels, or each its own. */
function orderOfPanels() {
  const select = element("select", { id: "order", name: "order" }, element("option", { value: "" }, "by error in each panel"), element("option", { value: "same" }, "the same in all panels"));
  select.value = state.order === "same" ? "same" : "";
  select.addEventListener("change", () => { change({ order: select.value || undefined }); draw(); document.getElementById("order").focus(); });
  return element("div", { class: "controls" }, element("label", {}, "Order of algorithms", select));
}

/** The paper's Figures 2a and 2b: one number of records, every dataset; of a chosen dataset, errors with their spread. */
function errorByDataset(width) {
  const here = atScale();
  if (!here.length) return { nothing: "No errors for this choice." };
  const sets = distinct(here, "dataset");
  const best = new Map([...grouped(here, (i) => column.dataset[i])].map(([set, own]) => [set, Math.min(...own.map((i) => view.value[i]))]));
  const { column: own } = view.loss;
  const table = here.map((i) => [labelOf(column.algorithm[i]), datasetName(i), view.value[i], plain(Math.log10(view.value[i])), plain(own.deviation?.[i]), plain(own.percentile?.[i]), competitive(i) ? "yes" : "no"]);
  const columns = ["algorithm", "dataset", errorWords(), "log10", "deviation", data.standards.percentile, "competitive"];
  const label = `Error by dataset, ${recordsWords(view.scale)}, ${chosenWords()}`;
  if (sets.length === 1) return { chart: oneDataset(width, here, label), table: { columns, rows: table } };
  const means = new Map([...grouped(here, (i) => column.algorithm[i])].map(([who, rows]) => [who, average(rows.map((i) => view.value[i]))]));
  const order = [...means.keys()].sort((a, b) => means.get(a) - means.get(b));
  const at = new Map(here.map((i) => [`${column.algorithm[i]} ${column.dataset[i]}`, i]));
  const cells = order.map((who) => sets.map((set) => {
    const i = at.get(`${who} ${set}`);
    if (i === undefined) return null;
    const ratio = view.value[i] / best.get(set);
    return { text: number(ratio), ...heatOf(ratio), strong: competitive(i), tip: () => `${settingWords(i)}\n${number(ratio)} times the lowest there` };
  }));
  const chart = cellChart({ width, rows: order.map(algorithmName), whose: order, columns: sets.map((set) => nameOf("dataset", set)), cells, least: 34, label });
  return { chart, table: { columns, rows: table } };
}

/** Every algorithm on one dataset: its error, and two standard errors to each side. */
function oneDataset(width, here, label) {
  const { column: own } = view.loss;
  const rows = here.map((i) => {
    const spread = view.measure === "mean" ? [own.mean[i] - 2 * (own.error?.[i] ?? NaN), own.mean[i] + 2 * (own.error?.[i] ?? NaN)] : [own.low?.[i], own.high?.[i]];
    return {
      name: algorithmName(column.algorithm[i]), who: column.algorithm[i], dots: [{ value: view.value[i], text: () => settingWords(i), strong: true }],
      ends: spread.every((end) => end > 0) ? spread : null,
    };
  }).sort((a, b) => a.dots[0].value - b.dots[0].value);
  const lines = yardsticks(view.chosen, view.scale, here);
  return dotChart({ width: Math.min(width, 860), panels: [{ title: `${datasetName(here[0])}, ${recordsWords(view.scale)}`, rows, lines }], unit: lossWords(), label });
}

/** The paper's Figure 2c: error against the number of cells; in colour the best few and what the reader follows. */
function errorByDomain(width) {
  const rows = matching({ ...view.chosen, scale: view.scale, dataset: view.dataset }, ["domain"]).filter((i) => Number.isFinite(view.value[i]));
  const domains = distinct(rows, "domain").sort((a, b) => data.sizes[a] - data.sizes[b]);
  if (domains.length < 2) return { nothing: "These results have one domain; run more of them to see what its size does." };
  const table = [];
  const series = [...grouped(rows, (i) => column.algorithm[i])].map(([who, own]) => ({
    name: algorithmName(who), who,
    points: [...grouped(own, (i) => column.domain[i])].sort(([a], [b]) => data.sizes[a] - data.sizes[b]).map(([domain, some]) => {
      const value = average(some.map((i) => view.value[i]));
      table.push([labelOf(who), nameOf("domain", domain), some.length, value]);
      return { at: domains.indexOf(domain), value, text: `${labelOf(who)}, ${domainWords(nameOf("domain", domain))}\nmean over ${plural(some.length, "dataset")} ${number(value)}` };
    }),
  }));
  const level = (line) => geometric(line.points.map((point) => point.value));
  const best = [...series].filter((line) => line.points.length === domains.length).sort((a, b) => level(a) - level(b)).slice(0, LOUD);
  for (const line of series) line.loud = view.marked.has(line.name) || isOwn(line.who) || isBaseline(line.who) || (!view.marked.size && best.includes(line));
  for (const [domain, some] of grouped(rows, (i) => column.domain[i])) {
    for (const line of yardsticks({ ...view.chosen, domain }, view.scale, some)) {
      table.push([line.name, nameOf("domain", domain), "", line.value]);
      const drawn = series.find((each) => each.name === line.name) ?? series[series.push({ name: line.name, loud: true, colour: colours().baseline, dash: line.dash, points: [] }) - 1];
      drawn.points.push({ at: domains.indexOf(domain), value: line.value, text: `${line.name}, ${domainWords(nameOf("domain", domain))}: ${number(line.value)}\n${line.text}` });
      drawn.points.sort((a, b) => a.at - b.at);
    }
  }
  const steps = domains.map((domain) => domainWords(nameOf("domain", domain)).replace(" cells", ""));
  const chart = lineChart({ width: Math.min(width, 980), steps, series, unit: lossWords(), below: "cells", label: `Error by domain size, ${recordsWords(view.scale)}` });
  return { chart, table: { columns: ["algorithm", "domain", "datasets", errorWords()], rows: table } };
}

/** What an error means for someone publishing a table: the error of a query, in records. */
function inRecords(width) {
  const { perQuery, column: own } = view.loss;
  if (!perQuery) return { nothing: `An error by the loss ${view.loss.words} is no error of a query in records.` };
  const here = view.rows.filter((i) => column.queries[i] > 0 && Number.isFinite(view.value[i]));
  if (!here.length) return { nothing: "The number of queries of this workload is not known." };
  const share = (i, values) => (values ? values[i] * column.queries[i] ** perQuery.power : NaN);
  const at = grouped(here, (i) => `${column.algorithm[i]} ${column.scale[i]}`);
  const level = new Map(distinct(here, "algorithm").map((who) => [who, geometric(view.options.scale.filter((scale) => at.has(`${who} ${scale}`)).map((scale) => average(at.get(`${who} ${scale}`).map((i) => share(i, view.value)))))]));
  const order = [...level.keys()].sort((a, b) => level.get(a) - level.get(b));
  const table = [];
  const cells = order.map((who) => view.options.scale.map((each) => {
    const rows = at.get(`${who} ${each}`);
    if (!rows) return null;
    const scale = nameOf("scale", each);
    const [shown, mean, bad] = [view.value, own.mean, own.percentile].map((values) => average(rows.map((i) => share(i, values))));
    table.push([labelOf(who), scale, rows.length, mean * scale, 100 * mean, plain(bad * scale), plain(100 * bad)]);
    return {
      text: number(shown * scale), colour: colours().heat, opacity: Math.max(0.03, Math.min(0.72, 0.75 + 0.22 * Math.log10(shown))),
      tip: `${labelOf(who)}, ${whole(scale)} records, mean over ${plural(rows.length, "dataset")}\n${perQuery.words} of an answer: ${number(mean * scale)} records, ${number(100 * mean, 2)} % of all${Number.isFinite(bad) ? `\nin a bad run (${data.standards.percentile}) ${number(bad * scale)}, ${number(100 * bad, 2)} %` : ""}`,
    };
  }));
  const chart = cellChart({ width, rows: order.map(algorithmName), whose: order, columns: scaleNames(), cells, corner: "records", label: `Error of an answer in records, ${chosenWords()}` });
  return { chart, table: { columns: ["algorithm", "records", "datasets", "off by, records", "% of all", "in a bad run, records", "% of all in a bad run"], rows: table } };
}
