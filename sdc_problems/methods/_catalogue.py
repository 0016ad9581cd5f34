"""Table of the methods of this room; those that search stand in `algorithms/_catalogue.py`."""

from __future__ import annotations

from sdc_problems.methods.registry import Method

_PARTITION = "sdc_problems.methods.partition."

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
        "generalize",
        "values become the labels of a level of their hierarchy",
        "sdc_problems.methods.recoding._generalize:generalize",
        "table",
    ),
    Method(
        "pram",
        "categories move at random by a transition matrix",
        "sdc_problems.methods.perturbation._pram:pram",
        "cells",
        kinds=("ordinal", "nominal"),
    ),
)
