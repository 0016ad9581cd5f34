"""Tables as typed columns of codes: the inner parts of ``microdata`` and ``hierarchy``."""
