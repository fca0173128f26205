"""Forged releases, each a single edit of an honest one; and honest releases of every algorithm."""

import json
import os
import shutil
from hashlib import sha256

import pytest

import dpbench as dpb
from dpbench.cli import main
from dpbench.errors import InvalidInput
from dpbench.releasable import RELEASED
from dpbench.release import publish, verify
from release.office import office

BUDGET = 'dataset = "people"\nepsilon = "9"\ndelta = "1e-3"\n'


def released(folder, **spec):
    """A release, and its budget file."""
    (folder / "people.budget.toml").write_text(BUDGET)
    path = office(folder, **spec)
    path.write_text(path.read_text() + "\n[ranges.young]\nage = [0, 32]\n")
    return publish(path).folder


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """One release for each kind of forgery: known beforehand, with Gaussian noise, and of calls that depend on rows."""
    kinds = {
        "pure": {"algorithm": "Hb", "rows": 5000},
        "zCDP": {"algorithm": "Hb", "axes": 2, "more": 'delta = "1e-7"\nrecords_per_person = 2'},
        "dependent": {"algorithm": "Cascade", "axes": 2},
    }
    return {kind: released(tmp_path_factory.mktemp(kind), **spec) for kind, spec in kinds.items()}


def faults(folder, **others):
    """What is found, in one text."""
    return "\n".join(f"{words}: {fault}" for words, fault in verify(folder, **others) if fault)


def forged(source, folder, edit, name="certificate.json"):
    """A copy with one file edited, whose new hash the certificate has."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    content = (folder / name).read_text()
    if callable(edit):
        plain = json.loads(content)
        edit(plain)
        changed = json.dumps(plain, indent=1) + "\n"
    else:
        assert edit[0] in content
        changed = content.replace(*edit, 1)
    assert changed != content
    (folder / name).write_text(changed)
    if name != "certificate.json":
        certificate = json.loads((folder / "certificate.json").read_text())
        certificate["files"][name] = sha256((folder / name).read_bytes()).hexdigest()
        (folder / "certificate.json").write_text(json.dumps(certificate, indent=1) + "\n")
    return folder


def put(*path):
    """An edit of a certificate or of error.json: the value at the end of a path."""
    *way, last, value = path

    def edit(plain):
        for step in way:
            plain = plain[step]
        plain[last] = value

    return edit


def drop(*path):
    """An edit that leaves something out."""
    *way, last = path

    def edit(plain):
        for step in way:
            plain = plain[step]
        del plain[last]

    return edit


def cheaper(plain):
    """Twice the noise for the same promise: the call and what was paid for it agree with each other."""
    plain["per_record"]["amount"] = plain["calls"][0]["amount"] = "1/4"
    plain["calls"][0]["noise"] = "Laplace noise of scale 4"


def less_sensitive(plain):
    """Sensitivity and noise agree with each other, and are those of another algorithm."""
    plain["calls"][0] |= {"sensitivity": "1/2", "noise": "Laplace noise of scale 1"}


def split(plain):
    """A second measurement, which adds up."""
    call = plain["calls"][0] | {"amount": "1/4", "noise": "Laplace noise of scale 4"}
    plain["calls"] = [call, call]


def wider(plain):
    """An interval cut short on both sides of the answer."""
    found, answer = plain["intervals"]["ranges"]["everything"], plain["ranges"]["everything"]["answer"]
    found |= {"low": answer - 1, "high": answer + 1, "guaranteed_low": answer - 1, "guaranteed_high": answer + 1}


def _rows(plain):
    """The intervals of error.json."""
    return plain["intervals"]["ranges"]


CERTIFICATES = {
    "a key twice": ("pure", ('"epsilon": ', '"epsilon": "1/100",\n "epsilon": '), "it is damaged"),
    "a format that is true": ("pure", put("certificate", True), "it is damaged"),
    "an amount in other terms": ("pure", put("epsilon", "2/4"), "an amount is not in its lowest terms"),
    "no measurement": ("pure", put("calls", []), "there is no measurement"),
    "only budget given up": (
        "pure",
        put("calls", [{"mechanism": "forfeit", "why": "unused", "amount": "1/2"}]),
        "there is no measurement",
    ),
    "hardly any noise": ("pure", put("calls", 0, "noise", "Laplace noise of scale 0.001"), "ask for 'Laplace noise of"),
    "hardly any Gaussian noise": (
        "zCDP",
        put("calls", 0, "noise", "Gaussian noise of standard deviation 0.001"),
        "ask for 'Gaussian noise of standard deviation",
    ),
    "another algorithm": ("pure", put("algorithm", "name", "HDMM"), "other parameters than"),
    "another algorithm without parameters": (
        "pure",
        put("algorithm", {"name": "Identity", "parameters": {}}),
        "why of call 1 is 'tree, all levels alike', and Identity makes it 'cells'",
    ),
    "another algorithm that depends on rows": (
        "dependent",
        put("algorithm", {"name": "DAWA", "parameters": {"ratio": "0.25", "aggregate": "cost"}}),
        "has other parameters than",
    ),
    "one that cannot be released": ("pure", put("algorithm", "name", "MWEM"), "is no algorithm that can be released"),
    "no algorithm": ("pure", put("algorithm", "name", "magic"), "is no algorithm that can be released"),
    "another parameter": ("pure", put("algorithm", "parameters", "root", "True"), "has other parameters than"),
    "another epsilon": ("pure", put("epsilon", "1/4"), "epsilon 1/4 for 1 records of a person"),
    "a larger epsilon": ("pure", put("epsilon", "1"), "epsilon 1 for 1 records of a person"),
    "another epsilon in the promise": (
        "pure",
        ("pure differential privacy at epsilon 1/2", "pure differential privacy at epsilon 1/100"),
        "its numbers say 'pure differential privacy at epsilon 1/2, for one record",
    ),
    "another person in the promise": ("zCDP", ("up to 2 records", "up to 20 records"), "up to 2 records added"),
    "more records of a person": ("pure", put("records_per_person", 2), "is epsilon 1/4 for each, and not 1/2"),
    "no records of a person": ("pure", put("records_per_person", 0), "records_per_person is 0"),
    "a truth value for records": ("pure", put("records_per_person", True), "records_per_person is True"),
    "other neighbours": ("pure", put("neighbours", "replace one record"), "a release knows 'add or remove one record'"),
    "a delta beside pure privacy": ("pure", put("delta", "1/1000"), "what was paid is in epsilon"),
    "no delta beside Gaussian noise": ("zCDP", put("delta", None), "what was paid is in rho"),
    "a smaller delta": ("zCDP", put("delta", "1/10000000000"), "for 2 records of a person is rho"),
    "another notion": ("pure", put("per_record", {"notion": "zCDP", "unit": "rho", "amount": "1/2"}), "in rho"),
    "another unit": ("pure", put("per_record", "unit", "rho"), "per_record is in 'rho' in place of epsilon"),
    "another amount": ("pure", put("per_record", "amount", "1/3"), "they add up to 1/2 and not to 1/3"),
    "amounts that agree": ("pure", cheaper, "is epsilon 1/2 for each, and not 1/4"),
    "a sensitivity that agrees": ("pure", less_sensitive, "sensitivity of call 1 is '1/2', and Hb makes it '1'"),
    "a second measurement": ("pure", split, "amount of call 1 is '1/4', and Hb makes it '1/2'"),
    "another first question": (
        "dependent",
        put("calls", 0, "why", "cells"),
        "why of call 1 is 'cells', and Cascade makes it 'total'",
    ),
    "a region without calls": ("dependent", put("calls", -1, "regions", []), "has no regions"),
    "Gaussian noise in pure privacy": (
        "dependent",
        put("calls", 1, "mechanism", "gaussian"),
        "Gaussian noise, which has no pure",
    ),
    "another mechanism": ("dependent", put("calls", 1, "mechanism", "gut feeling"), "was asked by 'gut feeling'"),
    "another sampler": ("pure", put("calls", 0, "sampler", "numpy"), "was drawn by another sampler"),
    "a sampler that was not there": (
        "pure",
        put("calls", 0, "sampler", "discrete Laplace of OpenDP, its scale rounded up to a float"),
        "was drawn by another sampler",
    ),
    "something more to a call": ("pure", put("calls", 0, "seed", 1), "has 'seed'"),
    "something less to a call": ("pure", drop("calls", 0, "sensitivity"), "lacks 'sensitivity'"),
    "no post-processing": ("pure", put("post_processing", []), "every release takes top-down, integral"),
    "more post-processing": ("pure", put("post_processing", ["top-down", "integral", "smooth"]), "every release takes"),
    "a promise of time": ("pure", drop("not_promised", 0), "not_promised is another list"),
    "another dataset": ("pure", put("dataset", "others"), "picture.svg has another title than 'others: age (epsilon"),
    "a reason that is none": ("dependent", put("calls", 1, "why", "\x1b[2J"), "a call gives as its reason"),
    "no id": ("pure", put("charge", "the first one"), "charge is 'the first one'"),
    "a version that is none": ("pure", put("versions", "dpbench", "newest"), "'dpbench' has the version 'newest'"),
    "a version less": ("pure", drop("versions", "numpy"), "versions lacks 'numpy'"),
    "something more": ("pure", put("signed", "by me"), "the certificate has 'signed'"),
    "something less": ("pure", drop("promise"), "the certificate lacks 'promise'"),
    "other columns": ("pure", put("columns", 0, "name", "income"), "columns are not those of the certificate"),
    "another rule": ("pure", put("columns", 0, "outside", "forget"), "has cells or rules that no release has"),
    "more cells": ("pure", put("columns", 0, "cells", 17), "it has 16 rows for 17 cells"),
    "a file less": ("pure", drop("files", "error.txt"), "'error.txt' is not in the certificate"),
    "an amount that takes for ever": ("pure", put("per_record", "amount", "1e-999999999"), "it cannot be read"),
    "an amount of many digits": ("pure", put("calls", 0, "amount", "1/" + "9" * 5000), "it cannot be read"),
    "amounts that never add up": (
        "pure",
        put("calls", [{"mechanism": "laplace", "why": "", "amount": f"1/{10**900 + at}"} for at in range(5000)]),
        "it cannot be read",
    ),
}
OUTPUTS = {
    "another count": ("pure", "histogram.csv", ("\n0,4,", "\n0,4,1"), "histogram.parquet has other counts"),
    "another heading": ("pure", "histogram.csv", ("age_low", "income_low"), "histogram.parquet has other columns"),
    "a wide count": ("zCDP", "histogram-wide.csv", ("\n0,", "\n0,1"), "histogram-wide.csv has other counts"),
    "another answer": (
        "pure",
        "error.json",
        put("ranges", "young", "answer", 1),
        "error.json answers 'young' otherwise",
    ),
    "other cells": ("pure", "error.json", put("ranges", "young", "cells", [[0, 3]]), "error.json answers 'young'"),
    "another error": ("pure", "error.json", put("error", 0.001), "the error in error.json is 0.001, and Hb makes it"),
    "no error": ("pure", "error.json", put("error", None), "the error in error.json is None, and Hb makes it"),
    "an interval beside the answer": (
        "pure",
        "error.json",
        put("intervals", "ranges", "young", "high", 0),
        "the interval of 'young' does not hold its answer",
    ),
    "a narrow interval": ("pure", "error.json", wider, "the interval of 'everything' is narrower than the noise"),
    "no interval": ("pure", "error.json", put("intervals", None), "error.json has no intervals, and Hb has"),
    "another level": ("pure", "error.json", put("intervals", "level", 0.99), "error.json has other facts"),
    "a fact more": ("pure", "error.json", put("proved", True), "error.json has other facts"),
    "a name of two lines": (
        "pure",
        "error.json",
        lambda plain: [each.update({"a\nb": each.pop("young")}) for each in (plain["ranges"], _rows(plain))],
        "which is no name",
    ),
    "tried with no sense": ("pure", "error.json", put("published", "low", float("nan")), "was tried cannot have been"),
    "tried the wrong way": ("pure", "error.json", put("published", "low", 1e9), "was tried cannot have been"),
    "a key twice": ("pure", "error.json", ('"error": ', '"error": 0.001,\n "error": '), "it cannot be read"),
    "another heading of the count": ("pure", "histogram.csv", (",count", ",noise"), "has other columns"),
    "a statement of another algorithm": ("pure", "error.json", put("algorithm", "HDMM"), "error.json is about 'HDMM'"),
    "another title": ("zCDP", "picture.svg", (": age by income", ": age"), "picture.svg has another title"),
    "a lucky text": ("pure", "error.txt", ("whatever the data", "and never more"), "error.txt says something else"),
    "another text of an answer": ("dependent", "error.txt", ("young: ", "young: 1"), "error.txt says something else"),
    "a model as a guarantee": ("dependent", "answers.csv", (",no,", ",yes,"), "answers.csv says something else"),
    "another row": ("pure", "answers.csv", ("young,", "young,1"), "answers.csv says something else"),
}


@pytest.mark.parametrize("case", CERTIFICATES)
def test_an_edited_certificate_is_refused(case, honest, tmp_path):
    """One edit, and the fault that it makes is named."""
    kind, edit, words = CERTIFICATES[case]
    assert words in faults(forged(honest[kind], tmp_path / "out", edit))


@pytest.mark.parametrize("case", OUTPUTS)
def test_an_edited_output_is_refused(case, honest, tmp_path):
    """The hash of the edited file is put right; what it says is not what the others say."""
    kind, name, edit, words = OUTPUTS[case]
    assert words in faults(forged(honest[kind], tmp_path / "out", edit, name))


def test_intervals_of_an_algorithm_that_has_none(honest, tmp_path):
    """Intervals that were made up, and intervals that were left out."""
    out = released(tmp_path, algorithm="DAWA")
    ends = ("low", "high", "guaranteed_low", "guaranteed_high")

    def made_up(plain):
        answers = {name: each["answer"] for name, each in plain["ranges"].items()}
        rows = {name: dict.fromkeys(ends, answer) | {"guaranteed": True} for name, answer in answers.items()}
        plain["intervals"] = {"level": 0.9, "ranges": rows}

    assert "DAWA has no intervals, and error.json has" in faults(forged(out, tmp_path / "1", made_up, "error.json"))
    lost = forged(honest["dependent"], tmp_path / "2", put("intervals", None), "error.json")
    assert "error.json has no intervals, and Cascade has" in faults(lost)


def test_nothing_is_waited_for(honest, tmp_path):
    """A pipe or a device in place of a file, or beside them, or in place of the budget file."""
    for number, name in enumerate(("histogram.csv", "error.json", "answers.csv", "more")):
        place = tmp_path / str(number)
        shutil.copytree(honest["pure"], place)
        (place / name).unlink(missing_ok=True)
        os.mkfifo(place / name)
        assert faults(place) == f"every file is the one that was written: {name!r} is no file"
        (place / name).unlink()
        (place / name).symlink_to("/dev/zero")
        assert faults(place) == f"every file is the one that was written: {name!r} is no file"
    os.mkfifo(tmp_path / "budget.toml")
    with pytest.raises(InvalidInput, match="cannot be read; give the one that the spec names"):
        verify(honest["pure"], tmp_path / "budget.toml")


@pytest.mark.parametrize("name", ["=cmd()", "@a", "a\r", "a\nb", "count", "a,b", '"', "ä\u2028", "<&>"])
def test_honest_releases_of_odd_names_verify(name, tmp_path):
    """Names that a spreadsheet would run, that break lines, and those of the count itself."""
    (tmp_path / "budget.toml").write_text(BUDGET)
    columns = {
        name: {"categories": [name, "b"], "outside": "cell", "missing": "cell"},
        "records": {"low": 0, "high": 2, "bins": 2},
        "records_low": {"categories": ["x"]},
    }
    spec = {"dataset": "people", "epsilon": "1", "algorithm": "Identity", "columns": columns}
    spec |= {"budget": str(tmp_path / "budget.toml"), "out": str(tmp_path / "out")}
    if name == "count":
        columns["records"] = {"categories": ["x", "y"]}
    table = {each: ["a", "b", None] for each in columns}
    assert not faults(publish(spec, table).folder)


def test_a_later_version_is_named(honest, tmp_path):
    """What one version asks another may not: then the fault says which to verify with."""
    one = forged(honest["pure"], tmp_path / "out", put("versions", "dpbench", "99.0"))
    assert not faults(one)
    assert "verify it with '99.0', which made it" in faults(forged(one, tmp_path / "two", split))


def test_the_budget_file_is_asked_for_the_charge(honest, tmp_path, capsys):
    """Its id, amounts, algorithm and dataset; a file that cannot be read is no fault of the release."""
    for kind, folder in honest.items():
        assert not faults(folder, budget=folder.parent / "people.budget.toml"), kind
    out = honest["zCDP"]
    text = (out.parent / "people.budget.toml").read_text()
    identity = json.loads((out / "certificate.json").read_text())["charge"]
    budget = tmp_path / "other.toml"
    for edit, words in [
        ((identity, "0123456789abcdef"), f"no charge has the id '{identity}'"),
        (('epsilon = "1/2"', 'epsilon = "1/3"'), "is epsilon 1/3, delta 1e-07, and the certificate says epsilon 1/2"),
        (('delta = "1/10000000"', 'delta = "1/1000000"'), "is epsilon 1/2, delta 1e-06, and the certificate"),
        (('delta = "1/10000000"\n', ""), "is epsilon 1/2, and the certificate says epsilon 1/2, delta 1e-07"),
        (('algorithm = "Hb"', 'algorithm = "Identity"'), "is for 'Identity'"),
        (('dataset = "people"', 'dataset = "others"'), "it is the budget of 'others'"),
    ]:
        assert edit[0] in text
        budget.write_text(text.replace(*edit, 1))
        assert words in faults(out, budget=budget)
    assert main(["release", "--verify", str(out), "--budget", str(budget)]) == 1
    assert "FAIL  the budget file has the charge: it is the budget of 'others'" in capsys.readouterr().out
    assert main(["release", "--verify", str(out), "--budget", str(out.parent / "people.budget.toml")]) == 0
    assert capsys.readouterr().out.count("ok  ") == 10
    with pytest.raises(InvalidInput, match="cannot be read; give the one that the spec names"):
        verify(out, tmp_path / "nowhere.toml")
    assert main(["release", "spec.toml", "--budget", str(budget)]) == 1
    assert "--budget goes with --verify" in capsys.readouterr().err


def honest_faults(folder, name, axes, more):
    """What verification says of an honest release."""
    out = released(folder, algorithm=name, axes=axes, more=more, bins=4, epsilon="3/7")
    return faults(out, budget=folder / "people.budget.toml")


@pytest.mark.parametrize("name", RELEASED)
def test_honest_releases_of_every_algorithm_verify(name, tmp_path):
    """Several records of a person."""
    axes = 1 if dpb.algorithms.get(name).supports(4) else 2
    assert not honest_faults(tmp_path, name, axes, "records_per_person = 3")


@pytest.mark.parametrize("sampler", ["dpbench", "opendp"])
@pytest.mark.parametrize("name", ["HDMM", "Cascade", "QuadTree"])
def test_honest_gaussian_releases_verify(name, sampler, tmp_path):
    """In 2-D, by our sampler and by OpenDP's."""
    if sampler == "opendp":
        pytest.importorskip("opendp")
    assert not honest_faults(tmp_path, name, 2, f'delta = "1e-9"\nsampler = "{sampler}"')


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "records = 500", 'delta = "1e-9"', 'delta = "1e-5"\nrecords_per_person = 7'])
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("name", RELEASED)
def test_all_honest_releases_verify(name, axes, more, tmp_path):
    """Every algorithm, notion and number of axes."""
    algorithm = dpb.algorithms.get(name)
    if not algorithm.supports((4,) * axes) or ("delta" in more and "zCDP" not in algorithm.notions):
        pytest.skip(f"{name} has no such release")
    assert not honest_faults(tmp_path, name, axes, more)
