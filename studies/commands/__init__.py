"""One module per ``sdc`` command; each defines ``command``."""
