"""Numbers in printed text that differ between two runs on the same counts."""

from dpbench.audit.printed_text import varying_numbers, without


def test_the_number_that_varies_is_left_out_and_no_other():
    """By the line that it is in and its place there."""
    one, other = "0.251 s: 4 cells\n4 cells", "0.253 s: 4 cells\n4 cells"
    varying = varying_numbers(one, other)
    assert without(one, varying) == without(other, varying) == "# s: 4 cells\n4 cells"
    assert without("7.5 s: 5 cells\n4 cells", varying) != without(one, varying)
    assert without(one, set()) == one


def test_texts_of_another_form_have_nothing_in_common():
    """Another word, or another number of lines: no number explains that."""
    assert varying_numbers("1 s", "2 s") == {("# s", 0)}
    assert varying_numbers("1 s", "2 ms") == set()
    assert varying_numbers("1 s", "1 s\n2 s") == set()
