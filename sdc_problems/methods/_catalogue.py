"""Table of the methods of this room; whole searches stand in `algorithms/_catalogue.py`."""

from __future__ import annotations

from sdc_problems.methods.registry import Method

_PARTITION = "sdc_problems.methods.partition."
_PERTURBATION = "sdc_problems.methods.perturbation."
_RECODING = "sdc_problems.methods.recoding."
_BY_NAME = "sdc_problems.methods._by_name:"

METHODS = (
    Method(
        "mdav",
        "fixed-size groups around the farthest records",
        _PARTITION + "_mdav:mdav",
        "partition",
        guarantee="k",
    ),
    Method(
        "v-mdav",
        "groups of k to 2k − 1 around the farthest records",
        _PARTITION + "_v_mdav:v_mdav",
        "partition",
        kinds=("numeric",),
        guarantee="k",
    ),
    Method(
        "mhm",
        "the best cut of MDAV's path",
        _PARTITION + "_univariate:mhm",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        fixed={"order": "mdav"},
    ),
    Method(
        "mhm-nearest",
        "the best cut of the nearest-point path",
        _PARTITION + "_univariate:mhm",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        fixed={"order": "nearest"},
    ),
    Method(
        "univariate",
        "the optimum of one column",
        _PARTITION + "_univariate:microaggregate_univariate",
        "partition",
        kinds=("numeric",),
        guarantee="k",
    ),
    Method(
        "exhaustive",
        "the optimum of up to 12 records",
        _PARTITION + "_exhaustive:exhaustive",
        "partition",
        kinds=("numeric",),
        guarantee="k",
    ),
    Method(
        "mondrian",
        "regions of at least k records by repeated cuts",
        _BY_NAME + "mondrian_regions",
        "table",
        guarantee="k",
    ),
    Method(
        "precluster",
        "microaggregation or Mondrian inside clusters of records",
        _BY_NAME + "precluster_columns",
        "table",
        guarantee="k",
        search=True,
        example={"clusters": 2},
    ),
    Method(
        "generalize",
        "values become the labels of a level of their hierarchy",
        _RECODING + "_generalize:generalize",
        "table",
        example={"levels": {"age": 1}},
    ),
    Method(
        "recode-level",
        "all columns at one level of their hierarchies",
        _BY_NAME + "recode_level",
        "table",
        example={"level": 1},
    ),
    Method(
        "recode-intervals",
        "numbers become intervals",
        _BY_NAME + "recode_ranges",
        "table",
        kinds=("numeric",),
        example={"bins": 3},
    ),
    Method(
        "recode-map",
        "named categories become one",
        _BY_NAME + "recode_categories",
        "table",
        kinds=("ordinal", "nominal"),
        example={"groups": {"town": [["Olot", "Reus"]]}},
    ),
    Method(
        "recode-rare",
        "the least frequent categories become one",
        _RECODING + "_recode:recode_rare",
        "cells",
        kinds=("ordinal", "nominal"),
        example={"categories": 2},
    ),
    Method(
        "top-code",
        "the highest values become one",
        _BY_NAME + "top_code",
        "table",
        kinds=("numeric", "ordinal"),
        example={"threshold": {"age": 60}},
    ),
    Method(
        "bottom-code",
        "the lowest values become one",
        _BY_NAME + "bottom_code",
        "table",
        kinds=("numeric", "ordinal"),
        example={"threshold": {"age": 25}},
    ),
    Method(
        "rank-swap",
        "values change places with values of near rank",
        _PERTURBATION + "_rank_swap:rank_swap",
        "cells",
        kinds=("numeric", "ordinal"),
        example={"window": 4},
    ),
    Method(
        "swap-records",
        "pairs of records exchange their values",
        _BY_NAME + "swap_columns",
        "table",
        example={"percent": 50},
    ),
    Method(
        "add-noise",
        "numbers move at random by a share of their spread",
        _PERTURBATION + "_noise:add_noise",
        "cells",
        kinds=("numeric",),
        example={"amplitude": 0.5, "structure": "correlated"},
    ),
    Method(
        "rank-shuffle",
        "new records from the old values, correlations nearly kept",
        _PERTURBATION + "_rank_shuffle:rank_shuffle",
        "cells",
        kinds=("numeric",),
    ),
    Method(
        "pram",
        "categories move at random by a transition matrix",
        _PERTURBATION + "_pram:pram",
        "cells",
        kinds=("ordinal", "nominal"),
    ),
)
