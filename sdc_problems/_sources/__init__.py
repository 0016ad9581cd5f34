"""Where the tables of ``datasets.load`` come from: drawn, found, downloaded, parsed."""
