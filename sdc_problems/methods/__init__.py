"""How a table is protected: plain functions on arrays and Microdata."""
