"""Sources of the tables of ``datasets.load``: drawn at random, found on this machine, downloaded, parsed."""
