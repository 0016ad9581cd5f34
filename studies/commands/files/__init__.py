"""Commands that read and write tables: no study, no run folder."""
