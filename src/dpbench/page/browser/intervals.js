// Intervals around the answers of a Cascade estimate, read off tables that its noisy answers leave possible. The steps are
// those of src/dpbench/mathematics/posterior_bars.py on a line, and a test compares the ends.

/** Sorted values at a share, as numpy's method "hazen" takes it. */
function hazen(sorted, share) {
  const at = Math.min(Math.max(share * sorted.length - 0.5, 0), sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
}

/** Running sums of every drawn table, one after the other: a range is then a difference. */
function runningSums({ draws, many }) {
  const counts = picture(draws);
  const cells = counts.length / many;
  const sums = new Float64Array(many * (cells + 1));
  for (let draw = 0; draw < many; draw++) {
    for (let k = 0; k < cells; k++) sums[draw * (cells + 1) + k + 1] = sums[draw * (cells + 1) + k] + counts[draw * cells + k];
  }
  return { sums, cells, many };
}

/** Low and high of the true answer over cells from low to high, ends included; answer is that of the estimate. */
function intervalOf({ level, kappa, floor }, { sums, cells, many }, low, high, answer) {
  const answers = Float64Array.from({ length: many }, (_, draw) => sums[draw * (cells + 1) + high + 1] - sums[draw * (cells + 1) + low]).sort();
  const middle = hazen(answers, 0.5);
  const [from, to] = [(1 - level) / 2, (1 + level) / 2].map((share) => hazen(answers, share));
  const least = Math.max(Math.floor(middle - Math.max(kappa * (middle - from), floor)), 0);
  const most = Math.ceil(middle + Math.max(kappa * (to - middle), floor));
  return [Math.min(least < (middle - least) / 2 ? 0 : least, Math.floor(answer)), Math.max(most, Math.ceil(answer))];
}
