import itertools

import numpy as np

from chaos.small import study
from dpbench.run.bench import Bench
from dpbench.run.data_vectors import noise_seed
from dpbench.run.seeds import seed_for


def test_a_stream_is_what_its_names_are():
    """The same names give the same numbers for ever; this is what makes a study repeatable elsewhere."""
    drawn = np.random.default_rng(seed_for(0, "data", "MEDCOST", "1024", 1000, 0)).integers(0, 2**32, 3)
    assert drawn.tolist() == [1330154711, 1673942677, 2683048966]


def test_different_names_never_share_a_stream():
    """Neither order, nor type, nor where one name ends and the next begins, can make two streams one."""
    names = [("a", "b"), ("b", "a"), ("ab",), ("a", "b", ""), ("a", 1), ("a", "1"), ("a", 1.0), ("a",), ()]
    states = {tuple(seed_for(seed, *each).generate_state(4)) for seed in (0, 1) for each in names}
    assert len(states) == 2 * len(names)


def test_any_two_settings_of_a_study_have_streams_of_their_own():
    """Dataset, domain, scale, sample, epsilon, workload, algorithm, variant, parameters: each makes other noise."""
    wide = study(
        ["Identity", "Hb", {"name": "Hb", "root": True}, {"name": "Hb", "variant": "published"}],
        domains=["64", "32"],
        epsilons=[0.1, 1.0],
        workloads=["Prefix", "Identity"],
    )
    units, _ = wide.work
    workloads = {(unit.workload, unit.domain): unit.workload.build(unit.domain) for unit in units}
    states = set()
    for unit in units:
        workload = workloads[unit.workload, unit.domain]
        label = unit.algorithm.label
        seed = noise_seed(unit.vector, unit.seed, workload, unit.budget, label, unit.side_information)
        states.add(tuple(seed.generate_state(4)))
    assert len(states) == len(units) == 2 * 2 * 2 * 2 * 2 * 2 * 4


def test_the_data_vector_is_the_same_for_every_algorithm_workload_and_epsilon():
    """It depends on dataset, domain, scale, sample and seed alone."""
    units, _ = study(epsilons=[0.1, 1.0], workloads=["Prefix", "Identity"]).work
    by_vector = {}
    for unit in units:
        bench = Bench()
        bench.run(unit)
        (vector,) = bench._kept["vector"].values()
        by_vector.setdefault(unit.vector, []).append(vector)
    assert len(by_vector) == 8
    for vectors in by_vector.values():
        assert all((vector == vectors[0]).all() for vector in vectors)
    firsts = [vectors[0] for vectors in by_vector.values()]
    assert all((one != other).any() for one, other in itertools.combinations(firsts, 2))
