"""Commands that read and write tables, without a study or a run folder."""
