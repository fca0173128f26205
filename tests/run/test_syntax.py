"""Code as text: what counts, what does not, and which names are global."""

import ast
from hashlib import sha256

import pytest

from dpbench.run.code_hash.syntax import piece_of

TRICKY = """
class A:
    def f(self, x=f"{1:.2f}", /, *more, y=None, **rest):
        "doc"
        text = f"a{x!r:>{y}}b" "c" f"{{}}{y=}" "é\\u0378"
        return [*x, y, -1, 1e300, 2j, ...] if (z := y) else {k: v for k, v in rest.items() if k not in more}

    async def g(self):
        async with self as one, two:
            match one:
                case {"a": 1, **others} | [_, *others]:
                    yield lambda q: others[q:-1, ::2]
                case str(name="x") as named:
                    del named
        try:
            raise A from None
        except* (ValueError, OSError) as error:
            print(error)
"""


def piece(text):
    return piece_of(ast.parse(text).body)


def test_the_text_knows_nothing_of_the_version_of_python():
    """Fields that some versions of the syntax tree have and others lack leave no trace: this value is for all."""
    found = piece(TRICKY)
    written = f"{found.text}|{found.chains}|{sorted(found.words)}"
    assert sha256(written.encode()).hexdigest()[:16] == "1b0f0ba0b67f4087"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x):\n    return x", 'def f(x):\n    """Doc."""\n    # why\n    return (x)'),
        ("def f(x):\n    return x", "def f(x: int) -> 'int':\n    return x"),
        ("def f():\n    a = 1\n    return a", "def f():\n    a: int = 1\n\n\n    return a"),
        ("class A:\n    pass", 'class A:\n    """Doc."""\n    ...'),
        ("def f():\n    return g()", "def f():\n    from somewhere import g\n    return g()"),
        ("x = 'a' 'b'", "x = 'ab'"),
        ("def f():\n    if a:\n        pass", "def f():\n    if a:\n        ..."),
    ],
)
def test_what_does_not_count(one, other):
    """Comments, docstrings, layout, annotations, imports: names are told apart by what they mean, elsewhere."""
    texts = [piece(each).text.replace("AnnAssign", "Assign").replace("simple=1", "") for each in (one, other)]
    assert texts[0].replace("targets=[a,]", "target=a") == texts[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(x, y): return x", "def f(x, *, y): return x"),
        ("def f(x, y=1): return x", "def f(x=1, y=1): return x"),
        ("def f(*, x, y=1): return x", "def f(*, x=1, y): return x"),
        ("def f(x, /, y): return x", "def f(x, y): return x"),
        ("x = 1", "x = 1.0"),
        ("x = 'a'", "x = b'a'"),
        ("f(x)[0]", "f(x[0])"),
        ("[a for a in b]", "[a for a in b if a]"),
        ("@f.register\ndef g(x: int): pass", "@f.register\ndef g(x: str): pass"),
    ],
)
def test_what_counts(one, other):
    """Whatever the code does."""
    assert (piece(one).text, piece(one).chains) != (piece(other).text, piece(other).chains)


@pytest.mark.parametrize(
    ("text", "chains"),
    [
        ("def f(a, b=c):\n    d = a\n    return d + e.x.y", {("c",), ("e", "x", "y")}),
        ("def f():\n    return [x for x in x]", {("x",)}),
        ("def f():\n    def g(a): return a + b\n    return g(c)", {("b",), ("c",)}),
        ("def f():\n    global a\n    a = 1\n    return a", {("a",)}),
        ("f = lambda a: a + b", {("b",)}),
        ("def f(a):\n    try:\n        pass\n    except E as error:\n        return error, a", {("E",)}),
        ("def f(g):\n    class A(g):\n        h = k\n        def m(self): return h\n    return A", {("k",), ("h",)}),
        ("def f(v):\n    match v:\n        case K(a=b): return b", {("K",)}),
        ("def f():\n    return a().b.c", {("a",)}),
    ],
)
def test_which_names_are_global(text, chains):
    """Parameters, assignments, comprehensions and nested scopes have their own; a class's are not its methods'."""
    assert set(piece(text).chains) == chains


def test_words_are_attributes_and_what_could_be_some():
    """An attribute of anything, a text that is a name, the attribute of a pattern; not what is asked of a module."""
    found = piece("def f(a):\n    np.sort(a.b.c().d, 'kind', 'two words')\n    match a:\n        case K(e=1): pass")
    assert found.words == {"b", "c", "d", "kind", "e"}


def test_what_is_only_added_to():
    """A table that gets an entry is not read by that."""
    found = piece(
        "def f(kind):\n    TABLE[kind.name] = kind\n    LIST.append(kind)\n    OTHER[1] = READ[2]\n    READ[3] = 4"
    )
    assert found.written == {("TABLE",), ("LIST", "append"), ("OTHER",)}


def test_a_registry_is_not_read_by_the_function_that_adds_to_it():
    """It may look whether a name is taken; a function that keeps what it computed does read it."""
    look = "if name in TABLE or TABLE.get(name):\n        raise ValueError"
    assert piece(f"def f(name, kind):\n    {look}\n    TABLE[name] = kind").written == {("TABLE",), ("TABLE", "get")}
    assert piece("def f(x):\n    if x not in KEPT:\n        KEPT[x] = g(x)\n    return KEPT[x]").written == set()
