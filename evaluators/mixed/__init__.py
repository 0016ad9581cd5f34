"""Loss and risk of tables with numbers and categories."""
