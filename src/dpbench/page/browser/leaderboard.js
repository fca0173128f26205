// The leaderboard: one row per algorithm, sorted by any column, narrowed by a search.

const MECHANISMS = { laplace: "Laplace noise", gaussian: "Gaussian noise", choose: "selection", "choose each": "selection", partition: "sampled partition", "priv tree": "noisy cuts" };

/** By what an algorithm is private: what its ledger pays for, under the notion of the chosen budget. */
function privateBy(who) {
  const card = cardFor(who);
  if (!card) return "not known here";
  const gaussian = /delta|rho/.test(nameOf("budget", view.chosen.budget));
  const kinds = card.ledger.filter((line) => line.kind !== "forfeit").map((line) => (gaussian && line.kind === "laplace" ? "gaussian" : line.kind));
  return [...new Set(kinds.map((kind) => MECHANISMS[kind] ?? kind))].join(", ") || "not known here";
}

/** The year of its publication, or that it is new. */
function yearOf(who) {
  const paper = cardFor(who)?.paper ?? "";
  return /(\d{4})\D*$/.exec(paper)?.[1] ?? (/^new\b/.test(paper) ? "new" : "");
}

/** Every algorithm with all that the columns show. */
function standingsTable() {
  const { loss } = view;
  const bad = loss.column.percentile ? new Map(standings(contests(view.rows, loss.column.percentile), loss.column.percentile).map((own) => [own.who, own.regret])) : new Map();
  const rowsOf = grouped(view.rows, (i) => column.algorithm[i]);
  return ranking().map((own, place) => {
    const rows = rowsOf.get(own.who);
    const times = rows.map((i) => column.seconds[i] * 1000).filter((ms) => ms > 0);
    return {
      ...own, place, name: algorithmName(own.who), won: tested() ? rows.filter(competitive).length : own.lowest, bad: bad.get(own.who) ?? NaN,
      ms: times.length ? median(times) : NaN, by: privateBy(own.who), leaky: notPrivate(own.who), exact: cardFor(own.who)?.not_releasable, year: yearOf(own.who),
    };
  });
}

/** Columns: what they are called, what they mean, what they are sorted by, whether most comes first, how a cell is written. */
const boardColumns = () => [
  { key: "name", title: "Algorithm", about: "Select a name for its card", sort: (own) => own.name.toLowerCase(), cell: nameCell },
  { key: "regret", title: "Regret", about: `Its ${errorWords()} over the lowest in the same setting: geometric mean, and 95 % interval over datasets`, sort: (own) => own.regret + (own.missing ? 1e9 : 0), cell: regretCell },
  { key: "won", title: tested() ? "Competitive in" : "Lowest in", about: tested() ? "Settings in which its error is the lowest, or ties with it statistically" : "Settings in which its error is the lowest", most: true, sort: (own) => -own.won / own.places, cell: (own) => `${whole(own.won)} of ${whole(own.places)}` },
  { key: "worst", title: "Worst case", about: "The largest of its errors over the lowest in the same setting", sort: (own) => own.worst, cell: (own) => number(own.worst) },
  { key: "bad", title: data.standards.percentile[0].toUpperCase() + data.standards.percentile.slice(1), about: `Regret by the ${data.standards.percentile} of errors over trials: what a bad run costs`, sort: (own) => own.bad, cell: (own) => number(own.bad) },
  { key: "ms", title: "Time", about: "Milliseconds per run, in the median setting, on the machine that made these results", sort: (own) => own.ms, cell: (own) => (Number.isFinite(own.ms) ? `${number(own.ms)} ms` : "–") },
  { key: "by", title: "Private by", about: "What its budget pays for", text: true, sort: (own) => (own.leaky ? "~" : own.by), cell: (own) => (own.leaky ? element("span", { class: "tag warn" }, "not private") : own.by) },
  { key: "exact", title: "Releasable", about: "Whether dpbench release can draw its noise exactly", text: true, sort: (own) => (own.exact === "" ? 0 : 1), cell: (own) => (own.exact === undefined ? "–" : element("span", { title: own.exact || undefined }, own.exact ? "no" : "yes")) },
  { key: "year", title: "Year", about: "Of its publication", text: true, sort: (own) => own.year || "~", cell: (own) => own.year || "–" },
];

const nameCell = (own) => element("span", { class: "who" }, nameLink(own.who), isOwn(own.who) ? element("span", { class: "tag" }, "yours") : null);

/** The regret and its interval; an algorithm that lacks settings says how many. */
function regretCell(own) {
  const more = own.missing ? `${own.missing} missing` : own.low === null ? "" : `${number(own.low)} to ${number(own.high)}`;
  return element("span", {}, element("b", {}, number(own.regret)), element("span", { class: "quiet" }, ` ${more}`));
}

function leaderboard() {
  const search = element("input", { type: "search", id: "find", placeholder: "name, idea or paper", autocomplete: "off" });
  const head = element("tr", {});
  const body = element("tbody", {});
  const count = element("p", { class: "about", role: "status", id: "found" });
  const about = element("p", { class: "about" });
  const lead = element("p", { class: "lead", id: "headline" });
  const warning = element("p", { class: "warning" });
  const table = element("table", { class: "board" }, element("thead", {}, head), body);
  const save = element("button", { type: "button" }, "CSV");
  const wide = element("div", { class: "rows wide", tabindex: 0, role: "region", "aria-label": "Leaderboard: table" }, table);
  const hint = sidewaysHint();
  const box = element("section", { id: "leaderboard", "aria-labelledby": "leaderboard-title" },
    element("div", { class: "board-head" }, element("div", {}, element("h2", { id: "leaderboard-title", tabindex: -1 }, "Leaderboard"), lead, about, warning),
      element("div", { class: "controls" }, count, element("label", {}, "Search", search), save)),
    wide, hint);
  let rows = [];
  search.addEventListener("input", () => { change({ find: search.value || undefined }, { step: false }); fill(); });

  function order() {
    const columns = boardColumns();
    const [key, falling] = (state.sort || "regret").startsWith("-") ? [state.sort.slice(1), true] : [state.sort || "regret", false];
    return { columns, by: columns.find((each) => each.key === key) ?? columns[1], falling };
  }

  function heads() {
    const { columns, by, falling } = order();
    head.replaceChildren(...columns.map((each) => {
      const now = each === by ? (falling === Boolean(each.most) ? "ascending" : "descending") : undefined;
      const button = element("button", { type: "button", title: each.about, "data-key": each.key }, each.title, element("span", { "aria-hidden": "true", class: "arrow" }, now ? (now === "ascending" ? "▲" : "▼") : ""));
      button.addEventListener("click", () => {
        change({ sort: each === by && !falling ? `-${each.key}` : each.key === "regret" ? undefined : each.key }, { step: false });
        heads();
        fill();
        head.querySelector(`[data-key="${each.key}"]`).focus();
      });
      return element("th", { scope: "col", "aria-sort": now, class: each.text || each.key === "name" ? "text" : undefined }, button);
    }));
  }

  function fill() {
    const { columns, by, falling } = order();
    const wanted = (state.find || "").toLowerCase();
    const text = (own) => { const card = cardFor(own.who); return `${own.name} ${card?.idea ?? ""} ${card?.paper ?? ""} ${own.by}`.toLowerCase(); };
    const shown = rows.filter((own) => !wanted || text(own).includes(wanted));
    const compare = (a, b) => { const [x, y] = [by.sort(a), by.sort(b)]; return x < y ? -1 : x > y ? 1 : a.place - b.place; };
    shown.sort((a, b) => (falling ? compare(b, a) : compare(a, b)));
    body.replaceChildren(...shown.map((own) => element("tr", { onclick: (event) => { if (!event.target.closest("a") && getSelection().isCollapsed) go(cardOf(own.who)); } }, ...columns.map((each) => element(each.key === "name" ? "th" : "td", { scope: each.key === "name" ? "row" : undefined, class: each.text ? "text" : undefined }, each.cell(own))))));
    count.textContent = wanted ? `${shown.length} of ${plural(rows.length, "algorithm")}` : plural(rows.length, "algorithm");
  }

  box.draw = () => {
    rows = standingsTable();
    lead.textContent = newcomers();
    about.textContent = `${sentence(wholeSetting())}. Regret: error over the lowest in the same setting, on average. ${tested() ? `Competitive: lowest, or a tie (${familyWords()}).` : untested()}`;
    warning.textContent = privacyNote();
    search.value = state.find || "";
    heads();
    fill();
    hint.for(wide);
  };
  save.addEventListener("click", () => {
    const lines = { columns: ["algorithm", "regret", "low", "high", tested() ? "competitive in" : "lowest in", "settings", "missing", "worst case", `regret by ${data.standards.percentile}`, "milliseconds", "private by", "releasable", "year"],
      rows: rows.map((own) => [labelOf(own.who), own.regret, own.low ?? "", own.high ?? "", own.won, own.places, own.missing, own.worst, plain(own.bad), plain(own.ms), own.leaky ? "not private" : own.by, own.exact === undefined ? "" : own.exact ? "no" : "yes", own.year]) };
    download(`${slug(`leaderboard ${wholeSetting()}`)}.csv`, new Blob([csvText(lines)], { type: "text/csv" }));
  });
  return box;
}
