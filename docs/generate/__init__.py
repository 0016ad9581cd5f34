"""Pages of the site that come from the code: registries, docstrings and frozen instances."""
