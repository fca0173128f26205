"""Standards for measuring error (the paper's E_M): mean, deviation and percentile, each with its uncertainty."""

from dpbench.measuring.measurements import Measurement, Measurements, measure, measure_all
from dpbench.measuring.quantiles import harrell_davis, order_interval, quantile

__all__ = ["Measurement", "Measurements", "harrell_davis", "measure", "measure_all", "order_interval", "quantile"]
