"""Objectives of recipes: loss and risk of tables with numbers and categories."""

from __future__ import annotations

from dataclasses import replace

from sdc_problems.objective import Objective, by_name
from sdc_problems.problems._masking_objectives import DBRL_PROTECTED, PERCENT, PIL
from sdc_problems.problems.pram._objectives import CATALOGUE as OF_CATEGORIES

IL_MIXED = Objective(
    "il_mixed", "information loss", "min", PERCENT, "%",
    concerns="loss",
    meaning=(
        "Mean over the protected columns of the loss of their kind: how improbable the statistics of the numbers have"
        " become (pil), and what tables, distances and uncertainty say of the categories (il_categorical)."
    ),
    formula="(numeric columns * pil + other columns * il_categorical) / columns",
)  # fmt: skip

DR_MIXED = Objective(
    "dr_mixed", "disclosure risk", "min", PERCENT, "%",
    concerns="risk",
    meaning=(
        "Half the percent of the cells near the original (id_rank), and half the percent of the records that an"
        " intruder finds again who takes the nearest released one (dbrl_protected)."
    ),
    formula="(id_rank + dbrl_protected) / 2",
)  # fmt: skip

ID_RANK = replace(
    OF_CATEGORIES["id_rank"],
    formerly=(),
    meaning=(
        "Percent of the cells whose released value has nearly the rank of the original one; in a nominal column, that"
        " are unchanged."
    ),
)  # fmt: skip


def recipe_objectives(n: int, *, numbers: bool, categories: bool) -> dict[str, Objective]:
    """Objectives of a table of n records with numbers, categories or both."""
    of_categories = [replace(OF_CATEGORIES[name], formerly=()) for name in ("il_categorical", "ctbil", "dbil", "ebil")]
    k = Objective(
        "k", "smallest class", "max", (1.0, float(max(n, 2))), "records",
        concerns="risk",
        meaning=(
            "Number of records in the smallest group that looks alike in the protected columns. With k = 5 every record"
            " hides among at least four others."
        ),
        formula="min over records of its class size",
    )  # fmt: skip
    own = (PIL,) * numbers + tuple(of_categories) * categories
    return by_name(IL_MIXED, DR_MIXED, *own, ID_RANK, DBRL_PROTECTED, k)
