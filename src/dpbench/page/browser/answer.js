// The first view: advice in a sentence for each task, the leaderboard, and who wins where.

const TASK_WORDS = { 1: "On a line (1-D)", 2: "In the plane (2-D)" };

const MOST_BUDGETS = 2; // of a task: beyond, advice is for one of them
const BETTER = 1.05; // a smaller difference between two algorithms is not worth a word

/** What an algorithm costs over the first or the last of some numbers of records. */
function regretOver(own, scales) {
  const pairs = scales.map((scale) => own.scales.get(scale)).filter(Boolean);
  return Math.exp(pairs.reduce((sum, [log]) => sum + log, 0) / pairs.reduce((sum, [, count]) => sum + count, 0));
}

/** An algorithm that is better than the first choice at one end of the numbers of records, and up to where. */
function betterAtTheEnd(first, rivals, scales) {
  const [end] = scales;
  const best = rivals.reduce((a, b) => (regretOver(b, [end]) < regretOver(a, [end]) ? b : a));
  if (best === first) return null;
  const until = scales.findIndex((scale) => regretOver(best, [scale]) >= regretOver(first, [scale]));
  const where = scales.slice(0, until < 0 ? scales.length : until);
  const [its, firsts] = [best, first].map((own) => regretOver(own, where));
  return firsts < BETTER * its ? null : { best, where, its, firsts };
}

/** Algorithms of some settings by their regret, of private forms alone; those with every setting, if there are any. */
function candidates(form, rows) {
  const all = standings(contests(rows, data.losses[0].column.mean), data.losses[0].column.mean).filter((own) => !notPrivate(own.who, form));
  const complete = all.filter((own) => !own.missing);
  return (complete.length ? complete : all).sort((a, b) => a.regret - b.regret);
}

/** One sentence on what to use for a task at a budget, over all datasets and domains. */
function adviceFor(form, dimensions, budget) {
  const rows = matching({ form, dimensions, budget });
  const found = candidates(form, rows);
  if (found.length < 2) return null;
  const [first] = found;
  const scales = distinct(rows, "scale");
  const over = [["dataset", "dataset"], ["scale", "number of records"], ["domain", "domain size"]]
    .map(([name, word]) => [distinct(rows, name).length, word]).filter(([count]) => count > 1)
    .map(([count, word]) => (word === "number of records" ? `${count} numbers of records` : plural(count, word)));
  const ends = [["up to", betterAtTheEnd(first, found, scales)], ["from", betterAtTheEnd(first, found, [...scales].reverse())]];
  const exceptions = ends.filter(([, other]) => other).map(([word, { best, where, its, firsts }], k) => [
    `${k ? ", and" : ";"} ${word} ${recordsWords(where.at(-1))} `, nameLink(best.who, form), ` is better (${number(its)} times against ${number(firsts)})`,
  ]);
  return [
    "Use ", nameLink(first.who, form), `: its error is ${number(first.regret)} times the lowest on average over ${listed(over) ?? "one setting"}, and ${number(first.worst)} times at worst`,
    ...exceptions.flat(), ".",
  ];
}

/** The same in short, for a budget beside the first. */
function adviceBeside(form, dimensions, budget) {
  const [first, second] = candidates(form, matching({ form, dimensions, budget }));
  return second && element("p", { class: "about" }, `At ${budgetWords(nameOf("budget", budget))} use `, nameLink(first.who, form), `: ${number(first.regret)} times the lowest on average, ${number(first.worst)} times at worst.`);
}

/** Where the card of an algorithm is. */
const cardOf = (who) => ({ view: "catalogue", section: "algorithms", card: data.algorithmOf[who], find: undefined });

/** An algorithm's name with its marker, which leads to its card. */
function nameLink(who, form) {
  const card = cardOf(who);
  return element("a", { class: "name", href: addressWith(card), onclick: (event) => { event.preventDefault(); go(card); } }, swatch(who), labelOf(who, form));
}

/** Whether the page shows the study that comes with DPBench, which the recommender goes by. */
const isTheStudy = () => !data.advice || data.advice.shown;

function advice() {
  const form = Math.max(data.names.form.indexOf("private"), 0);
  const preferred = (budgets) => budgets.find((budget) => PREFERRED.budget.includes(nameOf("budget", budget))) ?? budgets[0];
  const cards = distinct(matching({ form }), "dimensions").map((dimensions) => {
    const budgets = distinct(matching({ form, dimensions }), "budget");
    const budget = preferred(budgets);
    const words = adviceFor(form, dimensions, budget);
    const title = `${TASK_WORDS[dimensions] ?? axesWords(dimensions)}, ${budgetWords(nameOf("budget", budget))}`;
    const beside = budgets.length > MOST_BUDGETS ? [] : budgets.filter((each) => each !== budget);
    return words && element("div", { class: "advice" }, element("h3", {}, title), element("p", {}, ...words), ...beside.map((each) => adviceBeside(form, dimensions, each)));
  }).filter(Boolean);
  if (!cards.length) return null;
  const pure = data.names.form[form] === "private";
  const note = pure ? "Of forms that are private end to end, without knowing the data. Error depends on epsilon times the number of records for nearly all of these: ten times the epsilon is worth ten times the records."
    : "These results hold no private forms; what is marked † was given raw counts or the true number of records, and is not advised.";
  return element("section", { id: "advice", "aria-labelledby": "advice-title" }, element("h2", { id: "advice-title", tabindex: -1 }, isTheStudy() ? "What to use" : "What to use, by the results on this page"), ...cards, element("p", { class: "about" }, note));
}

/** What is said first of somebody's own algorithms. */
function newcomers() {
  const found = ranking();
  const own = found.filter((each) => isOwn(each.who)).slice(0, 3);
  return own.map((each) => {
    const here = view.rows.filter((i) => column.algorithm[i] === each.who);
    const won = tested() ? `is competitive in ${here.filter(competitive).length} of ${plural(here.length, "setting")}` : `has the lowest error in ${each.lowest} of ${plural(each.places, "setting")}`;
    return `${labelOf(each.who)} ${won}; used everywhere its error is ${number(each.regret)} times the lowest, rank ${found.indexOf(each) + 1} of ${found.length}.`;
  }).join(" ");
}

/** Which algorithm wins where: the best one of every dataset and number of records. */
function winners(width) {
  const rows = view.options.dataset.filter((each) => view.dataset === undefined || each === view.dataset);
  const { scale: scales } = view.options;
  const found = new Map(chosenContests().map((contest) => [`${column.dataset[contest.best]} ${column.scale[contest.best]}`, contest]));
  if (!found.size) return { nothing: "No errors for this choice." };
  const table = [];
  const narrow = width < 90 + 75 * scales.length;
  const cells = rows.map((dataset) => scales.map((scale) => {
    const contest = found.get(`${dataset} ${scale}`);
    if (!contest) return null;
    const rivals = contest.here.filter((i) => competitive(i) && i !== contest.best);
    const who = column.algorithm[contest.best];
    const names = rivals.map((i) => labelOf(column.algorithm[i])).join(", ");
    table.push([nameOf("dataset", dataset), nameOf("scale", scale), labelOf(who), view.value[contest.best], names]);
    return {
      text: labelOf(who) + (rivals.length ? (narrow ? "+" : ` +${rivals.length}`) : ""), colour: colourOf(who), opacity: 0.3,
      tip: () => `${settingWords(contest.best)}${tested() ? `\ntie with it statistically: ${names || "none"}` : ""}\nselect to see every algorithm here`,
      act: () => go({ view: "explore", section: "dataset", dataset: nameOf("dataset", dataset), scale: String(nameOf("scale", scale)) }),
    };
  }));
  const chart = cellChart({ width, rows: rows.map((each) => nameOf("dataset", each)), columns: scaleNames(), cells, corner: "records", label: `Best algorithm by dataset and number of records, ${chosenWords()}`, least: narrow ? 46 : 72 });
  return { chart, table: { columns: ["dataset", "records", "best", errorWords(), "also competitive"], rows: table } };
}
