"""Information loss of protected tables: numeric, categorical and generalised data."""

from __future__ import annotations

from sdc_problems.evaluators.information_loss.categorical import (
    bivariate_difference,
    category_distance,
    chi2_difference,
    chi2_statistic,
    ctbil,
    dbil,
    ebil,
    il_categorical,
)
from sdc_problems.evaluators.information_loss.generalization import (
    average_class_size,
    cm,
    discernibility,
    entropy_loss,
    entropy_loss_percent,
    glm,
    glm_percent,
)
from sdc_problems.evaluators.information_loss.numeric import (
    ILComponents,
    il_components,
    il_sse,
    il_statistics,
    location_and_scale,
    sse,
    sst,
    z_scores,
)
from sdc_problems.evaluators.information_loss.probabilistic import (
    PILComponents,
    pil,
    pil_components,
)
from sdc_problems.evaluators.information_loss.records import record_change, regression_change

__all__ = [
    "ILComponents",
    "PILComponents",
    "average_class_size",
    "bivariate_difference",
    "category_distance",
    "chi2_difference",
    "chi2_statistic",
    "cm",
    "ctbil",
    "dbil",
    "discernibility",
    "ebil",
    "entropy_loss",
    "entropy_loss_percent",
    "glm",
    "glm_percent",
    "il_categorical",
    "il_components",
    "il_sse",
    "il_statistics",
    "location_and_scale",
    "pil",
    "pil_components",
    "record_change",
    "regression_change",
    "sse",
    "sst",
    "z_scores",
]
