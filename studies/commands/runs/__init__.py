"""Commands about studies and their run folders."""
