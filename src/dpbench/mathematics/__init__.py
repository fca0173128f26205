"""Public mathematics over any number of axes: no randomness, no files, no private data kept."""
