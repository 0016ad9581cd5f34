"""Sources of the tables of ``datasets.load``: drawn, found, downloaded, parsed."""
