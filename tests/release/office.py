"""A small office: a table, a spec and a budget in a folder."""

import csv

import numpy as np

SPEC = """\
dataset = "people"
table = "{table}"
epsilon = "{epsilon}"
algorithm = "{algorithm}"
budget = "people.budget.toml"
out = "{out}"
{more}
[columns.age]
low = 0
high = 64
bins = {bins}
missing = "{missing}"
"""
SECOND = """
[columns.income]
low = 0
high = 100
bins = {bins}
"""


def office(folder, *, algorithm="Hb", epsilon="1/2", budget="1", rows=500, axes=1, bins=16, **others):
    """Write all three; returns the path of the spec."""
    rng = np.random.default_rng(7)
    values = {"table": "people.csv", "out": "out", "more": "", "missing": "drop", **others}
    ages, incomes = rng.integers(-3, 70, rows), rng.gamma(2, 15, rows).round(2)
    with (folder / "people.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["age", "income"])
        writer.writerows(zip(ages.tolist(), incomes.tolist(), strict=True))
    if not (folder / "people.budget.toml").exists():
        (folder / "people.budget.toml").write_text(f'dataset = "people"\nepsilon = "{budget}"\n')
    text = SPEC.format(algorithm=algorithm, epsilon=epsilon, bins=bins, **values)
    spec = folder / "spec.toml"
    spec.write_text(text + (SECOND.format(bins=bins) if axes == 2 else ""))
    return spec


def counts_of(folder):
    """The counts of a release."""
    with (folder / "histogram.csv").open(newline="") as stream:
        return np.array([int(row[-1]) for row in list(csv.reader(stream))[1:]])
