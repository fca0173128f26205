"""What the page shows beside results: cards of algorithms and datasets, and noisy histograms of public data.

The one part of reporting that runs algorithms, on public data only; :mod:`dpbench.page` itself never does.
"""

from dpbench.gallery.algorithm_facts import algorithm_cards
from dpbench.gallery.histograms import dataset_cards, examples
from dpbench.gallery.make import gallery_for, make_page

__all__ = ["algorithm_cards", "dataset_cards", "examples", "gallery_for", "make_page"]
