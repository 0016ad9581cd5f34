"""Embedded table: a synthetic, census-like population, drawn by code. No row describes a real person.

Every cell comes from the raw 64-bit stream of PCG64, which numpy promises never to change (it promises less for
the distributions of ``Generator``), and each record uses its own slice of that stream: the first 5,000 records of a
larger table are the 5,000-record table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

RECORDS = 5_000
FEWEST = 50  # with fewer records, a quasi-identifier may have only one value
SEED = 20100621

QUASI_IDENTIFIERS = (
    "age", "workclass", "education", "marital_status", "ethnicity", "sex", "birthplace", "income",
)  # fmt: skip
SENSITIVE = ("occupation", "diagnosis")
NUMERIC = ("hours", "wage", "savings")

WORKCLASS = (
    "private company", "self-employed", "self-employed with staff", "central government", "regional government",
    "local government", "unpaid family work",
)  # fmt: skip
# From the least to the most schooling, and the youngest age at which each is usual.
EDUCATION = {
    "no schooling": 0, "grade 1-4": 0, "grade 5-6": 0, "grade 7-8": 0, "grade 9": 0, "grade 10": 0, "grade 11": 0,
    "grade 12": 0, "high school": 18, "apprenticeship": 19, "some college": 19, "technical college": 21, "bachelor": 21,
    "master": 23, "professional degree": 25, "doctorate": 27,
}  # fmt: skip
SCHOOL_YEARS = np.array([0, 4, 6, 8, 9, 10, 11, 12, 12, 13, 13, 14, 16, 18, 19, 21], dtype=np.float64)
MARITAL_STATUS = (
    "never married", "married", "registered partnership", "married, living apart", "separated", "divorced", "widowed",
)  # fmt: skip
ETHNICITY = ("group A", "group B", "group C", "group D", "group E")
SEX = ("female", "male")
# The place of birth: the eight provinces of a country without a name, then other countries; with weights per mille.
PROVINCES = {
    "Capital": 218, "Coast": 131, "Lakeland": 109, "Uplands": 84, "Plains": 97, "Forest": 62, "Border": 71,
    "Islands": 28,
}  # fmt: skip
COUNTRIES = {
    "Poland": 21, "Romania": 15, "Hungary": 6, "Italy": 17, "Spain": 8, "Portugal": 11, "Greece": 5, "France": 9,
    "Germany": 13, "Netherlands": 4, "United Kingdom": 10, "Ireland": 3, "Sweden": 3, "Turkey": 16, "Morocco": 11,
    "Algeria": 5, "Egypt": 2, "Nigeria": 5, "Ghana": 3, "Kenya": 2, "India": 12, "Pakistan": 7, "Iran": 4, "China": 8,
    "Japan": 2, "Vietnam": 6, "Philippines": 7, "United States": 5, "Canada": 2, "Mexico": 3, "Brazil": 6,
    "Colombia": 3, "Peru": 2,
}  # fmt: skip
BIRTHPLACE = (*PROVINCES, *COUNTRIES)
INCOME = ("up to 50k", "over 50k")
OCCUPATION = (
    "managers", "professionals", "health professionals", "technicians", "clerks", "sales", "personal service", "care",
    "protective service", "craft and trades", "machine operators", "transport", "farming", "labourers",
)  # fmt: skip
DIAGNOSIS = (
    "no diagnosis", "hypertension", "diabetes", "asthma", "back pain", "depression", "heart disease", "cancer",
    "arthritis", "migraine", "infection", "injury",
)  # fmt: skip

# Orders of the ordinal columns, least first.
ORDERS = {"education": tuple(EDUCATION), "income": INCOME}

_Floats = npt.NDArray[np.float64]
_Codes = npt.NDArray[np.int64]
_DRAWS = 20  # uniform numbers that one record uses


def _pick(u: _Floats, weights: _Floats) -> _Codes:
    """Return for each record the column of ``weights`` (records or one row × choices) that its draw selects."""
    cumulated = np.cumsum(np.broadcast_to(weights, (len(u), weights.shape[-1])), axis=1)
    chosen = (u[:, None] * cumulated[:, -1:] >= cumulated).sum(axis=1)
    last: _Codes = np.minimum(chosen, weights.shape[-1] - 1)
    return last


def _bump(x: _Floats, centre: float, width: float) -> _Floats:
    return np.exp(-(((x - centre) / width) ** 2))


def _rise(x: _Floats, centre: _Floats | float, width: float) -> _Floats:
    return 1.0 / (1.0 + np.exp((centre - x) / width))


def _draw_age(u: _Floats) -> _Codes:
    ages = np.arange(17, 91)
    pyramid = np.interp(ages, [17, 20, 25, 35, 47, 57, 66, 76, 86, 90], [44, 56, 76, 92, 96, 80, 52, 26, 7, 2])
    return 17 + _pick(u, pyramid)


def _draw_ethnicity(u: _Floats, birthplace: _Codes) -> _Codes:
    near = [60.0, 28.0, 7.0, 3.0, 2.0]
    europe, africa_west_asia = [38.0, 52.0, 4.0, 2.0, 4.0], [3.0, 6.0, 80.0, 4.0, 7.0]
    asia, americas = [2.0, 3.0, 9.0, 80.0, 6.0], [22.0, 24.0, 10.0, 4.0, 40.0]
    by_place = [near] * len(PROVINCES) + [europe] * 13 + [africa_west_asia] * 7 + [asia] * 7 + [americas] * 6
    # The remote provinces differ from the capital.
    for province, row in {
        "Uplands": [86, 9, 2, 1, 2],
        "Islands": [24, 8, 3, 3, 62],
        "Border": [38, 54, 4, 2, 2],
    }.items():
        by_place[list(PROVINCES).index(province)] = [float(w) for w in row]
    return _pick(u, np.array(by_place)[birthplace])


def _draw_education(normal: _Floats, age: _Floats, sex: _Codes, birthplace: _Codes) -> _Codes:
    abroad = birthplace >= len(PROVINCES)
    cohort = 0.45 - 0.022 * np.maximum(age - 38.0, 0.0)  # schooling grew from one generation to the next
    young_women = np.where((sex == 0) & (age < 45), 0.22, 0.0)
    score = normal * np.where(abroad, 1.25, 1.0) + cohort + young_women - 0.25 * abroad
    score += np.where(birthplace == 0, 0.35, 0.0)  # more graduates in the capital
    steps = [-2.75, -2.5, -2.2, -1.75, -1.45, -1.2, -0.98, -0.8, 0.02, 0.28, 0.62, 0.85, 1.58, 2.12, 2.42]
    rank = np.searchsorted(np.array(steps), score, side="right")
    youngest = np.array(list(EDUCATION.values()))
    highest_possible = np.searchsorted(youngest, age, side="right") - 1
    return np.minimum(rank, highest_possible).astype(np.int64)


def _draw_marital_status(u: _Floats, age: _Floats, sex: _Codes, education: _Codes) -> _Codes:
    later = np.where(education >= 12, 2.5, 0.0) + np.where(sex == 1, 1.5, 0.0)
    ever = 0.93 * _rise(age, 29.0 + later, 3.6)
    widowed = ever * np.where(sex == 0, 0.9 * _rise(age, 77.0, 5.5), 0.6 * _rise(age, 83.0, 5.5))
    divorced = ever * (0.04 + 0.13 * _rise(age, 40.0, 5.0)) * np.where(sex == 0, 1.15, 0.85)
    weights = [
        1.0 - ever,
        np.maximum(ever - widowed - divorced, 0.03) * 0.93,
        ever * 0.035,
        ever * 0.014 + 0.004,
        ever * 0.022,
        divorced,
        widowed,
    ]
    return _pick(u, np.stack(weights, axis=1))


def _draw_workclass(u: _Floats, age: _Floats, education: _Codes, abroad: npt.NDArray[np.bool_]) -> _Codes:
    graduate = education >= 12
    n = len(u)
    weights = [
        np.full(n, 70.0),
        4.0 + 6.0 * _rise(age, 42.0, 6.0) + 6.0 * _rise(age, 66.0, 2.0),
        1.0 + 3.5 * _rise(age, 42.0, 6.0) + np.where(graduate, 1.5, 0.0),
        np.where(abroad, 1.0, 3.0) + np.where(graduate, 1.5, 0.0),
        np.where(abroad, 1.5, 3.5) + np.where(graduate, 3.0, 0.0),
        np.where(abroad, 3.0, 6.0) + np.where(graduate, 5.0, 0.0),
        0.25 + 0.9 * _bump(age, 17.0, 4.0) + 0.6 * _rise(age, 72.0, 3.0),
    ]
    return _pick(u, np.stack(weights, axis=1))


# Weight of each occupation for people with no diploma, a diploma or some college, a degree; then the share of women.
_OCCUPATION_BY_LEVEL = np.array(
    [
        [3, 0.3, 0.2, 1.5, 5, 8, 14, 7, 2, 17, 13, 9, 6, 14],
        [9, 4.0, 1.5, 8.0, 16, 13, 8, 7, 4, 14, 6, 5, 2.5, 4],
        [22, 34, 11, 11, 8, 7, 2, 1.5, 1.5, 1.5, 0.6, 0.7, 1, 0.5],
    ]
)
_OCCUPATION_WOMEN = np.array([0.38, 0.52, 0.76, 0.36, 0.74, 0.55, 0.66, 0.88, 0.2, 0.07, 0.27, 0.1, 0.26, 0.33])
_OCCUPATION_PAY = np.array([0.38, 0.3, 0.36, 0.16, -0.06, -0.04, -0.3, -0.26, 0.06, 0.04, -0.03, -0.02, -0.32, -0.24])


def _draw_occupation(u: _Floats, age: _Floats, sex: _Codes, education: _Codes, workclass: _Codes) -> _Codes:
    level = np.searchsorted([8, 12], education, side="right")
    weights = _OCCUPATION_BY_LEVEL[level] * np.where(sex[:, None] == 0, _OCCUPATION_WOMEN, 1.0 - _OCCUPATION_WOMEN)
    weights[:, 0] *= 0.25 + 1.1 * _rise(age, 33.0, 4.0)  # few managers are twenty
    weights[:, 8] *= np.where((workclass >= 3) & (workclass <= 5), 4.5, 0.35)
    weights[:, 12] *= np.where(np.isin(workclass, (1, 2, 6)), 4.0, 0.7)
    return _pick(u, weights)


def _draw_diagnosis(u: _Floats, age: _Floats, sex: _Codes, occupation: _Codes) -> _Codes:
    woman = sex == 0
    manual = np.isin(occupation, (7, 9, 10, 11, 12, 13))
    n = len(u)
    weights = [
        9.0 + 34.0 * _rise(-age, -48.0, 11.0),
        0.8 + 19.0 * _rise(age, 58.0, 8.0),
        0.8 + 8.0 * _rise(age, 57.0, 8.0),
        np.full(n, 4.0) + 1.5 * _bump(age, 17.0, 12.0),
        3.0 + 5.0 * _bump(age, 48.0, 18.0) + np.where(manual, 4.5, 0.0),
        np.where(woman, 6.5, 3.8) * (0.6 + 0.6 * _bump(age, 42.0, 22.0)),
        0.2 + np.where(woman, 6.0, 11.0) * _rise(age, 68.0, 6.0),
        0.4 + 7.0 * _rise(age, 66.0, 8.0),
        0.3 + np.where(woman, 9.0, 5.5) * _rise(age, 62.0, 7.0),
        np.where(woman, 5.0, 1.8) * (0.25 + _bump(age, 35.0, 17.0)),
        np.full(n, 3.6),
        2.4 + 2.6 * _bump(age, 20.0, 12.0) + np.where(manual, 2.4, 0.0) + np.where(woman, 0.0, 0.8),
    ]
    return _pick(u, np.stack(weights, axis=1))


def _draw_hours(
    u: _Floats, normal: _Floats, age: _Floats, sex: _Codes, marital: _Codes, workclass: _Codes, occupation: _Codes
) -> _Codes:
    """Weekly hours: most people have the usual week exactly; the others work part time or long weeks."""
    wife = (sex == 0) & np.isin(marital, (1, 2)) & (age > 28)
    part = 0.08 + 0.34 * _bump(age, 17.0, 4.5) + 0.5 * _rise(age, 66.0, 2.5) + np.where(wife, 0.2, 0.0)
    long_week = 0.13 + np.where(np.isin(occupation, (0, 2, 11, 12)), 0.2, 0.0) + np.where(workclass == 2, 0.3, 0.0)
    long_week *= np.where(sex == 1, 1.2, 0.7)
    mode = _pick(u, np.stack([np.minimum(part, 0.85), np.full(len(u), 0.5), long_week], axis=1))
    worked = np.choose(
        mode, [22.0 + 7.0 * normal, np.where(np.abs(normal) < 0.9, 40.0, 38.5 + 1.8 * normal), 51.0 + 7.0 * normal]
    )
    hours: _Codes = np.clip(np.rint(worked), 4, 90).astype(np.int64)
    return hours


def _in_steps(amount: _Floats, step: int) -> _Codes:
    return (np.rint(amount / step) * step).astype(np.int64)


def draw(records: int = RECORDS, seed: int = SEED) -> pd.DataFrame:
    """Draw the table.

    Parameters
    ----------
    records
        Number of records.
    seed
        Seed of the stream; the same seed gives the same table everywhere.

    Returns
    -------
    pandas.DataFrame
        Thirteen columns: the eight quasi-identifiers, the two sensitive ones, the three numeric ones.
    """
    import pandas as pd
    from scipy.special import ndtri

    raw = np.random.PCG64(seed).random_raw(records * _DRAWS).reshape(records, _DRAWS)
    # The middle of one of 2**53 equal steps: strictly between 0 and 1, so that ndtri stays finite.
    u: _Floats = np.minimum(((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53, 1.0 - 2.0**-53)
    normal: _Floats = ndtri(u[:, 12:])

    age_code = _draw_age(u[:, 0])
    age = age_code.astype(np.float64)
    sex = (u[:, 1] >= 0.5 + 0.09 * _rise(age, 72.0, 5.0)).astype(np.int64)
    # People of working age moved most often.
    migrated = 0.55 + 0.75 * _bump(age, 36.0, 16.0)
    places = np.tile(np.array([*PROVINCES.values(), *COUNTRIES.values()], dtype=np.float64), (records, 1))
    places[:, len(PROVINCES) :] *= migrated[:, None]
    birthplace = _pick(u[:, 2], places)
    ethnicity = _draw_ethnicity(u[:, 3], birthplace)
    education = _draw_education(normal[:, 0], age, sex, birthplace)
    marital = _draw_marital_status(u[:, 4], age, sex, education)
    workclass = _draw_workclass(u[:, 5], age, education, birthplace >= len(PROVINCES))
    occupation = _draw_occupation(u[:, 6], age, sex, education, workclass)
    diagnosis = _draw_diagnosis(u[:, 7], age, sex, occupation)
    hours = _draw_hours(u[:, 8], normal[:, 1], age, sex, marital, workclass, occupation)

    experience = np.clip(age - SCHOOL_YEARS[education] - 6.0, 0.0, 45.0)
    log_wage = (
        9.02 + 0.066 * SCHOOL_YEARS[education] + 0.042 * experience - 0.00068 * experience**2
        + _OCCUPATION_PAY[occupation] + np.where(sex == 1, 0.1, 0.0) + np.where(workclass == 2, 0.25, 0.0)
        + 0.95 * np.log(hours / 40.0) + 0.34 * normal[:, 2]
    )  # fmt: skip
    wage = np.where(workclass == 6, 0, _in_steps(np.exp(log_wage), 10))
    log_savings = (
        7.7 + 0.85 * (log_wage - 10.2) + 0.042 * (age - 40.0) - 0.00042 * (age - 40.0) ** 2
        + np.where(np.isin(marital, (1, 2)), 0.3, 0.0) + 1.15 * normal[:, 3]
    )  # fmt: skip
    savings = _in_steps(np.exp(log_savings), 10)
    couple = np.where(np.isin(marital, (1, 2)), 1.22, 1.0)  # the household's means are counted
    rich = (wage * couple + 0.05 * savings) * np.exp(0.12 * normal[:, 4]) > 50_000

    def named(values: tuple[str, ...], codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        cells: npt.NDArray[Any] = np.array(values, dtype=object)[codes]
        return cells

    return pd.DataFrame(
        {
            "age": age_code,
            "workclass": named(WORKCLASS, workclass),
            "education": named(tuple(EDUCATION), education),
            "marital_status": named(MARITAL_STATUS, marital),
            "ethnicity": named(ETHNICITY, ethnicity),
            "sex": named(SEX, sex),
            "birthplace": named(BIRTHPLACE, birthplace),
            "income": named(INCOME, rich.astype(np.int64)),
            "occupation": named(OCCUPATION, occupation),
            "diagnosis": named(DIAGNOSIS, diagnosis),
            "hours": hours,
            "wage": wage,
            "savings": savings,
        }
    )
