"""Tables of both kinds, numbers and categories: what a protected one has lost and gives away."""
