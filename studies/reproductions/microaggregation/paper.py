"""Figures printed in the two papers on genetic microaggregation."""

from __future__ import annotations

# Solanas et al. (2006), Table I: a(n, k) for k = 3, 4, 5.
REPRESENTATIVES = {
    10: (2, 2, 1),
    20: (6, 6, 5),
    30: (11, 14, 14),
    40: (18, 27, 29),
    50: (26, 45, 56),
    100: (94, 272, 520),
    500: (2134, 26477, 197549),
    1000: (8434, 205037, 2953389),
}

CHANCE = 13.2977212023656e-12  # Example 1: n = 30, k = 3

# Table II: MDAV; smallest SSE of the GA with its mutation rate, crossover rate and population; best average over a pair
# of rates, with the pair.
LARGER = {
    (20, 2): (5.39, (4.29, 0.1, 0.4, 60), (4.61, 0.1, 0.7)),
    (35, 2): (5.01, (3.13, 0.1, 0.1, 90), (3.59, 0.1, 0.5)),
    (50, 2): (5.92, (4.02, 0.1, 0.1, 50), (4.67, 0.1, 0.5)),
    (100, 2): (5.48, (15.37, 0.1, 0.2, 50), (23.78, 0.1, 0.0)),
}

# Table III: average epoch of convergence of the best tests.
EPOCHS = {11: 1384, 20: 3251, 35: 5269, 50: 53405}

# §III-A and Table IV: n = 11; optimum, MDAV, GA, average epoch. MDAV is not printed for d = 2 and 3.
ELEVEN: dict[int, tuple[float, float | None, float, int | None]] = {
    2: (6.83, None, 6.83, None),
    3: (15.20, None, 15.20, None),
    5: (29.36, 39.11, 29.36, 931),
    7: (43.28, 52.47, 43.28, 839),
    10: (68.66, 71.14, 68.66, 705),
}

# Table V: best mutation rates, crossover rates and population sizes.
BEST_VALUES = {
    (11, 2): ("0.1 - 1", "0.3 - 1", "80 - 100"),
    (20, 2): ("0.1 - 0.3", "0.1 - 1", "80 - 100"),
    (35, 2): ("0.1", "0 - 0.3", "90 - 100"),
    (50, 2): ("0.1", "0 - 1", "60 - 100"),
    (100, 2): ("0.1", "0 - 0.8", "70 - 100"),
    (11, 3): ("0.1 - 1", "0.5 - 1", "60 - 100"),
}

# Martínez-Ballesté et al. (2007), Table 2, k = 3: K; MDAV; one-step clusters and SSE; two-step clusters and SSE.
HYBRID = {
    "Scattered": ((12, 4.71, 83, 5.11, 84, 4.28), (18, 4.71, 55, 4.91, 56, 4.33), (27, 4.71, 37, 4.71, 38, 4.58)),
    "Clustered": ((12, 3.57, 83, 2.26, 84, 2.84), (18, 3.57, 55, 1.83, 56, 2.14), (27, 3.57, 37, 1.18, 41, 2.09)),
    "Census": ((12, 799, 90, 865.04, 91, 768), (18, 799, 60, 879.94, 61, 767), (27, 799, 40, 919.88, 41, 789)),
    "EIA": ((12, 217, 341, 414.56, 342, 189), (18, 217, 227, 295.78, 228, 186), (27, 217, 151, 333.26, 152, 197)),
}
