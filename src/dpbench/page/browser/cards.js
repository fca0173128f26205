// Cards of algorithms and datasets.

/** Parts of a budget are tints of one colour: the colours of algorithms mean algorithms. */
const shareColour = (line, k) => (line.kind === "forfeit" ? colours().line : hex((colours().dark ? 0.8 : 0.5) + (colours().dark ? -0.12 : 0.12) * (k % 4), 0.09, 245));

function ledgerPicture(lines) {
  const root = shape("svg", { viewBox: "0 0 300 16", role: "img", "aria-label": lines.map((line) => `${line.why}: ${Math.round(100 * line.share)} %`).join(", ") });
  let left = 0;
  lines.forEach((line, k) => {
    const across = 300 * line.share;
    root.append(tip(shape("rect", { x: left, y: 0, width: Math.max(across - 1, 0.5), height: 16, rx: 2, fill: shareColour(line, k) }), `${line.why}: ${number(100 * line.share)} % of the budget`));
    left += across;
  });
  return root;
}

function ledgerKey(lines) {
  return element("ul", { class: "facts" }, ...lines.map((line, k) => {
    const swatch = shape("svg", { width: 10, height: 10, "aria-hidden": "true" });
    swatch.append(shape("rect", { width: 10, height: 10, rx: 2, fill: shareColour(line, k) }));
    const box = element("span", { class: "swatch" }, swatch);
    return element("li", {}, box, ` ${number(100 * line.share)} % ${line.why}${line.times > 1 ? ` (${line.times} times)` : ""}`);
  }));
}

function accountOf(name) {
  return data.names.form.flatMap((form, k) => Object.entries(data.privacy[k])
    .filter(([label]) => data.algorithmOf[data.names.algorithm.indexOf(label)] === name)
    .map(([label, [settings, accounted, secret]]) => {
      const books = accounted === settings ? "every ledger adds up to its budget" : `the ledger adds up in ${accounted} of ${settings} settings`;
      const door = secret === settings ? "no raw count and no true number of records was seen" : `raw counts or the true number of records were used in ${settings - secret}`;
      return `${label}, ${FORM_WORDS[form]}: ${settings} settings, ${books}, ${door}.`;
    }));
}

function algorithmCard(name) {
  const card = data.cardOf.get(name);
  const account = accountOf(name).map((text) => element("p", { class: "source" }, text));
  const id = `card-${slug(name)}`;
  const chosen = state.card === name ? "card chosen" : "card";
  if (!card) return element("article", { class: chosen, id }, element("h3", {}, name, element("span", { class: "tag" }, "not in the catalogue")), ...account);
  const parameters = Object.entries(card.parameters).map(([key, value]) => `${key} = ${value}`).join(", ");
  const who = data.algorithmOf.indexOf(name);
  const properties = card.properties.map((each) => (card.not_releasable && each.includes(card.not_releasable) ? "cannot be released" : each)); // why not is among the details
  return element("article", { class: chosen, id },
    element("h3", {}, who < 0 ? null : swatch(who), card.name, card.catalogued ? null : element("span", { class: "tag" }, "not in the catalogue"), card.not_private ? element("span", { class: "tag warn" }, "published form not private") : null),
    element("p", {}, card.idea),
    element("p", { class: "source" }, card.paper),
    element("p", {}, ...[card.dimensions, card.notions.join(" and "), ...properties, ...(who >= 0 && isUnbiased(who) ? ["unbiased"] : [])].flatMap((word) => [element("span", { class: "tag" }, word), " "])),
    card.ledger.length ? element("p", {}, `Where the budget goes ${card.ledger_where.replace(/^on ([\dx]+),/, (_, domain) => `on ${domainWords(domain)},`)}`) : null,
    card.ledger.length ? ledgerPicture(card.ledger) : null,
    card.ledger.length ? ledgerKey(card.ledger) : null,
    card.audit ? element("p", { class: card.audit.startsWith("failed") ? "failed" : "source" }, `Audit of the private form: ${card.audit}.`) : null,
    element("details", {}, element("summary", {}, "More"),
      card.about ? element("p", {}, card.about) : null,
      element("p", {}, `Parameters: ${parameters || "none"}.`),
      element("p", {}, `Side information: ${card.side_information.join(", ") || "none"}.`),
      card.not_private ? element("p", {}, `The published form is not private: ${card.not_private}.`) : null,
      card.not_releasable ? element("p", {}, `dpbench release does not draw it exactly: ${card.not_releasable}.`) : null,
      ...account));
}

function algorithmCards() {
  const present = new Set(data.algorithmOf);
  const own = (name) => !data.cardOf.get(name)?.catalogued;
  const ordered = [...[...present].filter(own), ...data.cards.map((card) => card.name).filter((name) => present.has(name) && !own(name))];
  const silent = data.cards.filter((card) => present.has(card.name) && !card.audit).length;
  const note = silent ? element("p", { class: "about" }, `${silent} of these were not audited as their code is now; dpbench report --audit does it.`) : null;
  const cards = ordered.map(algorithmCard);
  const search = element("input", { type: "search", id: "find-card", placeholder: "name, idea or property", autocomplete: "off", value: state.find ?? "" });
  const narrow = () => cards.forEach((card) => { card.hidden = !card.textContent.toLowerCase().includes(search.value.toLowerCase()); });
  search.addEventListener("input", () => { change({ find: search.value || undefined }, { step: false }); narrow(); });
  narrow();
  return section("algorithms", "Algorithms", note, element("div", { class: "controls" }, element("label", {}, "Search", search)), element("div", { class: "cards" }, ...cards));
}

function smallPicture(example) {
  const counts = picture(example.counts);
  const words = `${example.name}: its counts`;
  if (example.shape.length === 2) {
    const root = shape("svg", { viewBox: "0 0 64 40", role: "img", "aria-label": words });
    root.append(shape("image", { x: 12, width: 40, height: 40, href: heatPicture(counts, example.shape, Math.max(...counts, 1)), "image-rendering": "pixelated" }));
    return root;
  }
  const most = Math.max(...counts, 1);
  const root = shape("svg", { viewBox: `0 0 ${counts.length} 120`, preserveAspectRatio: "none", role: "img", "aria-label": words });
  const top = (count) => (120 - 116 * Math.log1p(count) / Math.log1p(most)).toFixed(1);
  const stairs = Array.from(counts, (count, k) => `${k} ${top(count)}L${k + 1} ${top(count)}`).join("L");
  root.append(shape("path", { d: `M0 120L${stairs}L${counts.length} 120Z`, fill: colours().better }));
  return root;
}

function datasetCard(card) {
  const example = data.examples.find((each) => each.name === card.name);
  return element("article", { class: "card" }, element("h3", {}, card.name),
    example ? (picturesAreThere() ? smallPicture(example) : null) : element("p", { class: "source" }, "No local copy when this page was made: no picture."),
    element("p", {}, `${card.about}. Origin: ${card.origin}.`),
    card.domain ? element("p", { class: "source" }, `${domainWords(card.domain)}, ${whole(card.scale)} records, ${card.percent_zero} % of cells empty.`) : null,
    card.domain ? element("p", { class: "source" }, card.paper ? `The paper's table: ${card.paper}.` : "Not in the paper's table.") : null);
}

function datasetCards() {
  const present = new Set(data.names.dataset);
  const described = data.datasets.filter((card) => present.has(card.name));
  const rest = data.names.dataset.filter((name) => !described.some((card) => card.name === name));
  return section("datasets", "Datasets", element("p", { class: "about" }, "Pictures are of the copy on the machine that made this page, coarsened, or of a draw from a synthetic shape; heights and colours are logarithms of counts."),
    element("div", { class: "cards" }, ...described.map(datasetCard),
      ...rest.map((name) => element("article", { class: "card" }, element("h3", {}, name), element("p", { class: "source" }, "Not in the catalogue: a file of whoever ran this.")))));
}
