"""What a reader of the page sees, as plain values."""

FIGURES = {
    "winners": "",
    **{
        name: name
        for name in ("scale", "dataset", "records", "domain", "competitive", "regret", "bias", "time", "price")
    },
    "regret-scale": "regret",
    "explorer": "noise",
}
"""The figures of the page and the section of each; the winners stand on the first view."""
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def as_number(text):
    """A number as the page writes it: 1,234 or 1.23·10⁻⁵."""
    mantissa, _, power = text.replace(",", "").partition("·10")
    return float(mantissa) * 10.0 ** int(power.translate(SUPERSCRIPTS) or 0)


def numbers(cells):
    """The same of several."""
    return [as_number(cell) for cell in cells]


def table(browser, key):
    """The data behind a figure of Explore, or of a newcomer, as the page shows it; filters stay as they are.

    Names are without the mark of forms that are not private.
    """
    section = FIGURES.get(key)
    if section and not browser.run(f"Boolean(document.getElementById('figure-{key}'))"):
        browser.run(
            f"""(() => {{ const now = new URLSearchParams(location.hash.slice(1));
              now.set('view', 'explore'); now.set('section', '{section}'); location.hash = now; }})()"""
        )
        browser.wait(f"document.getElementById('figure-{key}')")
    browser.run(f"document.querySelector('#figure-{key} details').open = true")
    browser.wait(f"document.querySelector('#figure-{key} tr')")
    return browser.run(
        f"""[...document.querySelectorAll('#figure-{key} tr')]
          .map((row) => [...row.children].map((cell) => cell.textContent.replaceAll(' †', '')))"""
    )
