"""Tables as typed columns of codes: the internals of ``microdata`` and ``hierarchy``."""
