"""Figures printed in chapter 4 of Marés (2013), by data set."""

from __future__ import annotations

# IL and DR as printed.
EA = {"german_credit": ((80.36, 25.63), (38.39, 27.30)), "solar_flare": ((81.18, 26.49), (34.91, 31.41))}
EA_SCORES = {"german_credit": (52.99, 32.84), "solar_flare": (53.83, 33.16)}
GP = {  # frequency-based, uniform, GP by the maximum, GP by the mean
    "german_credit": ((37.88, 31.03), (13.60, 46.12), (30.39, 34.33), (19.11, 34.33)),
    "solar_flare": ((29.26, 36.09), (16.06, 42.68), (37.03, 28.25), (0.03, 52.19)),
}
GP_MEANS = {"german_credit": (34.45, 29.86, 32.36, 26.72), "solar_flare": (32.67, 29.38, 32.64, 26.10)}
DEPTHS = {
    "german_credit": {3: (34.32, 34.52), 4: (30.97, 30.17), 5: (30.39, 34.33)},
    "solar_flare": {3: (38.27, 27.55), 4: (38.08, 27.79), 5: (40.84, 0.09)},
}
# Tables 4.10 (skewed counts, SCH) and 4.11 (more uniform counts, METRO): data utility, weighted average risk.
HOUSING = {
    "skewed": ((8.99, 1.780), (6.41, 2.827), (5.38, 2.338), (6.10, 2.722), (5.84, 4.001)),
    "uniform": ((12.00, 1.780), (8.69, 2.827), (8.27, 2.826), (11.74, 2.549), (8.01, 4.316)),
}
