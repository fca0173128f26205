from dpbench.results.markup import by_scale, html_table, latex_text, markdown_rows, markdown_text


def test_signs_of_latex_and_markdown_are_escaped():
    """What these languages would take for their own."""
    assert latex_text(r"a_b & 50% $x$ \x") == r"a\_b \& 50\% \$x\$ \textbackslash{}x"
    assert markdown_text("MWEM* | <b>") == r"MWEM\* \| \<b\>"


def test_rows_by_scale_keep_the_order_of_names_and_mark_what_is_missing():
    """Scales ascend, names stay in order, a cell that is not there is a dash."""
    cells = {("Hb", 1000): "b", ("Hb", 10): "a", ("DAWA", 1000): "c"}
    assert by_scale(cells) == ([10, 1000], [["Hb", "a", "b"], ["DAWA", "-", "c"]])


def test_markdown_rows_have_a_line_of_alignment():
    """The first column to the left, the others where they are asked for."""
    assert markdown_rows(["x", "y"], [["1", "2"]]) == ["| x | y |", "|---|---|", "| 1 | 2 |"]
    assert markdown_rows(["x", "y"], [], right=True) == ["| x | y |", "|---|---:|"]


def test_texts_of_a_table_in_html_stay_text():
    """Markup in a cell is shown, not obeyed."""
    assert "<td>&lt;b&gt;</td>" in html_table(["a"], [["<b>"]])
