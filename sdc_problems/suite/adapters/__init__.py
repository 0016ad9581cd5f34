"""Adapters to other frameworks, one module each; ``sdc_problems.adapters`` is their public list."""
