"""The numbers in the page on privacy are those of the shipped study."""

import re
from pathlib import Path

import numpy as np
import pytest

from dpbench.interpreting import regret
from dpbench.paper import Study
from dpbench.paper.error_panel import TASKS, Panel
from dpbench.paper.findings_inputs import advantage
from dpbench.paper.price import prices, truncation, truncation_in_conclusions

PAGE = Path(__file__).parents[2] / "docs" / "private.md"


@pytest.fixture(scope="module")
def text():
    return re.sub(r"\s+", " ", PAGE.read_text())


@pytest.fixture(scope="module")
def study():
    return Study.shipped()


def regrets(part, dimensions):
    panel = part.panel(dimensions)
    found = regret(panel.part(TASKS[dimensions].generator.scales))
    return {panel.names[each.algorithm]: each.regret for each in found}


def test_regrets_on_a_line(text, study):
    """Hb and DAWA change places, EFPA and DPCube too."""
    before, after = regrets(study.published, 1), regrets(study.private, 1)
    assert f"lowest regret ({before['DAWA']:.2f}, Hb {before['Hb']:.2f})" in text
    assert f"Hb {after['Hb']:.2f}, DAWA {after['DAWA']:.2f}" in text
    assert f"its regret goes from {before['EFPA']:.1f} to {after['EFPA']:.0f}" in text
    assert f"from {before['DPCube']:.0f} to {after['DPCube']:.1f} in 1-D" in text


def test_regrets_in_the_plane(text, study):
    """DAWA falls, DPCube comes third."""
    before, after = regrets(study.published, 2), regrets(study.private, 2)
    assert f"Its regret falls from {before['DAWA']:.2f} to {after['DAWA']:.2f}" in text
    assert f"from {before['DPCube']:.0f} to {after['DPCube']:.1f} in 2-D, the third best there" in text
    assert list(after)[2] == "DPCube"


def test_what_privacy_costs(text, study):
    """Geometric means over datasets on 4096 cells."""
    cost = {(each.algorithm, each.scale): each.typical for each in prices(study) if each.dimensions == 1}
    dawa = [cost["DAWA", scale] for scale in study.private.panel(1).scales]
    assert f"a factor of {dawa[0]:.1f} at 10^3 records and {min(dawa[1:]):.2f} to {max(dawa[1:]):.1f} above" in text
    assert f"DAWA's partition ({dawa[0]:.1f} times), MWEM*'s free scale ({cost['MWEM*', 1000]:.1f} times" in text
    assert f"EFPA's exact phases ({cost['EFPA', 1000]:.1f} times)" in text
    assert f"{cost['EFPA', 10**3]:.1f} times as large at 10^3, {cost['EFPA', 10**7]:.0f} times at 10^7" in text
    factors = [advantage(part.panel(1), 1000)[0] for part in (study.published, study.private)]
    assert f"by {factors[0]:.1f} times in the paper's setting and by {factors[1]:.1f} times with privacy" in text


def test_what_truncation_does(text, study):
    """Published DAWA in 2-D with and without it, and what privacy costs against the latter."""
    ratios = [row["ratio of means"] for row in truncation(study).rows]
    assert f"its mean error {min(ratios):.1f} to {max(ratios):.1f} times as large" in text
    cut, whole = truncation_in_conclusions(study).rows
    counts = [[row[f"competitive at {scale:.0e}"] for scale in (10**4, 10**6, 10**8)] for row in (whole, cut)]
    told = [f"{low}, {middle} and {high}" for low, middle, high in counts]
    assert f"a regret of {whole['regret DAWA']:.2f} and is competitive on {told[0]} of nine datasets" in text
    assert f"not on {told[1]}" in text
    untruncated, private = Panel.of(study.published.suite("truncation"), 2, "128x128"), study.private.panel(2)
    price = [
        f"{np.exp(np.mean(np.log(private.each('DAWA', scale) / untruncated.each('DAWA', scale)))):.1f}"
        for scale in private.scales
    ]
    assert price[1] == price[2]
    assert len(set(price[3:])) == 1
    assert f"a factor of {price[0]} at 10^3, {price[1]} at 10^4 and 10^5, and {price[3]} above" in text


def test_how_volatile_dawa_and_hb_are(text, study):
    """Deviation over mean, the median over datasets on 4096 cells."""

    def volatility(part, name, scale):
        panel = part.panel(1)
        numbers = [panel.number(name, dataset, scale) for dataset in panel.wanted]
        return 100 * np.median(panel.measured.deviation[numbers] / panel.measured.mean[numbers])

    own, theirs = (
        [f"{volatility(part, 'DAWA', scale):.0f}" for scale in part.panel(1).scales]
        for part in (study.private, study.published)
    )
    told = [f"{min(each, key=int)} to {max(each, key=int)} %" for each in (own, theirs)]
    assert f"a deviation of {told[0]} of its mean, published {told[1]}" in text
    hb = [f"{volatility(part, 'Hb', 10**5):.0f} %" for part in (study.published, study.private)]
    assert f"deviation {hb[0]} of the mean at 10^5), ours does not ({hb[1]})" in text


def test_what_a_chooser_is_told(text, study):
    """Error over that of Hb, means over datasets."""
    line, plane = study.private.panel(1), study.private.panel(2)
    dawa = sorted(line.average("DAWA", scale) / line.average("Hb", scale) for scale in (10**3, 10**4))
    assert f"({dawa[0]:.2f} to {dawa[1]:.2f} times that of Hb" in text
    assert line.average("DAWA", 10**5) > line.average("Hb", 10**5)
    agrid = [plane.average("AGrid", scale) / plane.average("Hb", scale) for scale in (10**3, 10**4, 10**5)]
    assert f"({min(agrid):.2f} to {max(agrid):.2f} times that of Hb)" in text
    ahead = [plane.average("DAWA", scale) < plane.average("AGrid", scale) for scale in plane.scales]
    assert ahead == [False, False, False, True, True, True]
    assert np.all(plane.each("DAWA", 10**8) < plane.each("Hb", 10**8))
