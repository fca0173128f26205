"""The only place where datasets, generator, handle and algorithms meet: plans, units of work, executors, seeds."""
