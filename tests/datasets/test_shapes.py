from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.datasets import families, shapes
from dpbench.errors import InvalidDomain, UnknownName

LINES = [1, 2, 3, 7, 64, 100, 1024, 4096]
GRIDS = [(1, 1), (1, 2), (3, 1), (2, 2), (5, 9), (1000, 1), (64, 64), (128, 32)]


def check_distribution(name, domain):
    shape = (domain,) if isinstance(domain, int) else domain
    probabilities = shapes.get(name, domain)
    assert probabilities.dtype == np.float64
    assert probabilities.shape == shape
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert np.array_equal(probabilities, shapes.get(name, domain))


@pytest.mark.parametrize("name", shapes.names(1))
@pytest.mark.parametrize("domain", LINES)
def test_every_1d_shape_is_a_distribution(name, domain):
    """A 1-D shape gives the same probabilities, adding up to 1, on every domain."""
    check_distribution(name, domain)


@pytest.mark.parametrize("name", shapes.names(2))
@pytest.mark.parametrize("domain", GRIDS)
def test_every_2d_shape_is_a_distribution(name, domain):
    """A 2-D shape gives the same probabilities, adding up to 1, on every domain."""
    check_distribution(name, domain)


@given(st.sampled_from(shapes.names(2)), st.integers(1, 60), st.integers(1, 60))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_odd_grids(name, rows, columns):
    """A 2-D shape exists on grids of any sides."""
    check_distribution(name, (rows, columns))


@pytest.mark.parametrize("name", shapes.names())
def test_numpy_can_draw_from_every_shape(name):
    """A multinomial draw accepts the probabilities as they are."""
    domain = 4096 if shapes.find(name).ndim == 1 else (64, 64)
    drawn = np.random.default_rng(0).multinomial(10**6, shapes.get(name, domain).ravel())
    assert drawn.sum() == 10**6


def test_names_tell_the_axes():
    """The 1-D and 2-D names are disjoint and together all; each has a line about itself."""
    assert len(shapes.names(1)) >= 12
    assert len(shapes.names(2)) >= 6
    assert shapes.names(1) + shapes.names(2) == shapes.names() == list(shapes.SHAPES)
    assert all(shape.about for shape in shapes.SHAPES.values())


@pytest.mark.parametrize(
    ("name", "percent"),
    [("spikes-50", 50), ("spikes-10", 10), ("spikes-1", 1), ("sparse-2d", 1), ("sparse-2d-10", 10)],
)
def test_sparsity_is_as_named(name, percent):
    """Of a sparse shape, the stated percentage of the cells is occupied."""
    domain = 4096 if shapes.find(name).ndim == 1 else (64, 64)
    assert np.count_nonzero(shapes.get(name, domain)) == np.ceil(4096 * percent / 100)


def test_permuted_power_law_is_a_permutation():
    """The permuted power law has the power law's probabilities in another order."""
    plain, permuted = shapes.get("power-law", 1024), shapes.get("permuted-power-law", 1024)
    assert np.sort(permuted) == pytest.approx(np.sort(plain), rel=1e-12)
    assert abs(np.argmax(permuted)) > 0


def test_shapes_look_as_they_say():
    """Peaks, steps and heavy cells are where the descriptions put them."""
    assert np.argmax(shapes.get("normal-narrow", 4096)) in {1023, 1024}
    assert shapes.get("heavy-zero", 4096)[0] == pytest.approx(0.95)
    assert shapes.get("heavy-zero-2d", (64, 64))[0, 0] == pytest.approx(0.95)
    assert len(np.unique(shapes.get("staircase", 4096))) == 8
    assert len(np.unique(shapes.get("uniform-2d", (8, 8)))) == 1
    bimodal = shapes.get("bimodal", 1024)
    assert bimodal[256] > bimodal[768] > 100 * bimodal[512]
    ridge = shapes.get("ridge", (64, 64))
    assert ridge[10, 10] > 1000 * ridge[10, 30]
    assert np.array_equal(shapes.get("uniform", "16"), np.full(16, 1 / 16))


def test_randomness_never_changes():
    """The cells of the sparse shapes are pinned: trained parameters and stored results depend on them."""
    assert np.flatnonzero(shapes.get("spikes-1", 1024)).tolist() == [
        110,
        204,
        318,
        364,
        403,
        709,
        766,
        823,
        888,
        928,
        986,
    ]
    assert int(np.argmax(shapes.get("permuted-power-law", 4096))) == 3847


@pytest.mark.parametrize("name", ["bimodel", None, ""])
def test_unknown_shape_is_refused(name):
    """A name that no shape has is refused."""
    with pytest.raises(UnknownName):
        shapes.get(name, 16)


@pytest.mark.parametrize(("name", "domain"), [("uniform", (4, 4)), ("ridge", 16), ("ridge", (2, 2, 2)), ("ridge", 0)])
def test_wrong_domain_is_refused(name, domain):
    """A domain of another number of axes, or an empty one, is refused in one line."""
    with pytest.raises(InvalidDomain) as caught:
        shapes.get(name, domain)
    assert "\n" not in str(caught.value)


def test_names_are_forgiving():
    """Case does not count, and '_' is '-'."""
    assert np.array_equal(shapes.get("Power_Law", 8), shapes.get("power-law", 8))


@pytest.mark.parametrize("name", families.instances(1, 2))
@pytest.mark.parametrize("domain", [1, 2, 7, 1000, 4096])
def test_every_instance_of_a_1d_family_is_a_distribution(name, domain):
    check_distribution(name, domain)


@pytest.mark.parametrize("name", families.instances(2, 2))
@pytest.mark.parametrize("domain", [(1, 1), (1, 7), (3, 2), (60, 100), (128, 128)])
def test_every_instance_of_a_2d_family_is_a_distribution(name, domain):
    check_distribution(name, domain)


@pytest.mark.parametrize("name", families.names())
def test_instances_differ(name):
    domain = 512 if families.FAMILIES[name].ndim == 1 else (32, 32)
    assert not np.allclose(shapes.get(f"{name}/0", domain), shapes.get(f"{name}/1", domain))


def test_an_instance_is_found_as_a_shape_is():
    assert shapes.find("Zero_Inflated/007").name == "zero-inflated/7"
    assert shapes.is_shape("heaped/0")
    assert not shapes.is_shape("heaped/00")
    assert not set(families.names()) & set(shapes.names())
    for wrong in ("heaped", "heaped/", "heaped/x", "heaped/-1", "nothing/0", "heaped/1234567", 3):
        with pytest.raises(UnknownName):
            shapes.find(wrong)
