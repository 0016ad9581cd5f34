"""Commands for studies and their run folders."""
