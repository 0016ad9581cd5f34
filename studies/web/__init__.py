"""Page and report of runs: the runs' aggregates as one JSON document, one page, one server on this machine."""
