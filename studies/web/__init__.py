"""The explorer page and the report: a run's aggregates as one JSON document, one page, one loopback server."""
