"""Where units are run: in this process, in worker processes, on a dask cluster."""
