"""The store: what runs leave behind, and all that measuring reads. Append-only Parquet shards and run records."""

from dpbench.store.schema import SCHEMA_VERSION, Row
from dpbench.store.store import Store

__all__ = ["SCHEMA_VERSION", "Row", "Store"]
