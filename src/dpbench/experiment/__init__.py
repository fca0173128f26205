"""Where datasets, generator, handle and algorithms come together."""
