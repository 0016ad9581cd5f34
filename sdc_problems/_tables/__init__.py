"""How cells become typed columns and codes: the workings of ``microdata`` and ``hierarchy``."""
