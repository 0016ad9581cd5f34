"""Evaluators: measures of candidates, as pure functions and compiled engines on arrays, without pymoo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if __name__ != "sdc_problems.evaluators":
    raise ImportError(
        "this folder is the package sdc_problems.evaluators: a second import root makes every class exist twice"
    )

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.evaluators.anonymity import class_closeness as class_closeness
    from sdc_problems.evaluators.anonymity import class_sizes as class_sizes
    from sdc_problems.evaluators.anonymity import distinct_l as distinct_l
    from sdc_problems.evaluators.anonymity import entropy_l as entropy_l
    from sdc_problems.evaluators.anonymity import equivalence_classes as equivalence_classes
    from sdc_problems.evaluators.anonymity import k_anonymity as k_anonymity
    from sdc_problems.evaluators.anonymity import recursive_c as recursive_c
    from sdc_problems.evaluators.anonymity import recursive_l as recursive_l
    from sdc_problems.evaluators.anonymity import sensitive_counts as sensitive_counts
    from sdc_problems.evaluators.anonymity import spread_index as spread_index
    from sdc_problems.evaluators.anonymity import spread_k as spread_k
    from sdc_problems.evaluators.anonymity import spread_l as spread_l
    from sdc_problems.evaluators.anonymity import suppress_small_classes as suppress_small_classes
    from sdc_problems.evaluators.anonymity import t_closeness as t_closeness
    from sdc_problems.evaluators.attacks import copies as copies
    from sdc_problems.evaluators.attacks import dr_guarded as dr_guarded
    from sdc_problems.evaluators.attacks import dr_numeric as dr_numeric
    from sdc_problems.evaluators.attacks import guess as guess
    from sdc_problems.evaluators.attacks import mean_interval_disclosure as mean_interval_disclosure
    from sdc_problems.evaluators.attacks import rsrl as rsrl
    from sdc_problems.evaluators.clusterings import clustering_loss as clustering_loss
    from sdc_problems.evaluators.clusterings import jaccard_index as jaccard_index
    from sdc_problems.evaluators.clusterings import pair_agreement as pair_agreement
    from sdc_problems.evaluators.clusterings import rand_index as rand_index
    from sdc_problems.evaluators.clusterings import wallace_index as wallace_index
    from sdc_problems.evaluators.disclosure_risk import classical_score as classical_score
    from sdc_problems.evaluators.disclosure_risk import dr_categorical as dr_categorical
    from sdc_problems.evaluators.disclosure_risk import dr_linkage as dr_linkage
    from sdc_problems.evaluators.disclosure_risk import expectation_ratio as expectation_ratio
    from sdc_problems.evaluators.disclosure_risk import interval_disclosure_rank as interval_disclosure_rank
    from sdc_problems.evaluators.disclosure_risk import interval_disclosure_value as interval_disclosure_value
    from sdc_problems.evaluators.disclosure_risk import mean_expectation_ratio as mean_expectation_ratio
    from sdc_problems.evaluators.disclosure_risk import score_max as score_max
    from sdc_problems.evaluators.disclosure_risk import score_mean as score_mean
    from sdc_problems.evaluators.edits import broken_edits as broken_edits
    from sdc_problems.evaluators.engine import Engine as Engine
    from sdc_problems.evaluators.indicators import additive_epsilon as additive_epsilon
    from sdc_problems.evaluators.indicators import convergence_error as convergence_error
    from sdc_problems.evaluators.indicators import hypervolume as hypervolume
    from sdc_problems.evaluators.indicators import igd_plus as igd_plus
    from sdc_problems.evaluators.indicators import representation_ratio as representation_ratio
    from sdc_problems.evaluators.information_loss.categorical import bivariate_difference as bivariate_difference
    from sdc_problems.evaluators.information_loss.categorical import category_distance as category_distance
    from sdc_problems.evaluators.information_loss.categorical import chi2_difference as chi2_difference
    from sdc_problems.evaluators.information_loss.categorical import ctbil as ctbil
    from sdc_problems.evaluators.information_loss.categorical import dbil as dbil
    from sdc_problems.evaluators.information_loss.categorical import ebil as ebil
    from sdc_problems.evaluators.information_loss.categorical import il_categorical as il_categorical
    from sdc_problems.evaluators.information_loss.generalization import average_class_size as average_class_size
    from sdc_problems.evaluators.information_loss.generalization import cm as cm
    from sdc_problems.evaluators.information_loss.generalization import discernibility as discernibility
    from sdc_problems.evaluators.information_loss.generalization import entropy_loss as entropy_loss
    from sdc_problems.evaluators.information_loss.generalization import entropy_loss_percent as entropy_loss_percent
    from sdc_problems.evaluators.information_loss.generalization import glm as glm
    from sdc_problems.evaluators.information_loss.generalization import glm_percent as glm_percent
    from sdc_problems.evaluators.information_loss.numeric import ILComponents as ILComponents
    from sdc_problems.evaluators.information_loss.numeric import il_components as il_components
    from sdc_problems.evaluators.information_loss.numeric import il_sse as il_sse
    from sdc_problems.evaluators.information_loss.numeric import il_statistics as il_statistics
    from sdc_problems.evaluators.information_loss.numeric import sse as sse
    from sdc_problems.evaluators.information_loss.numeric import z_scores as z_scores
    from sdc_problems.evaluators.information_loss.probabilistic import PILComponents as PILComponents
    from sdc_problems.evaluators.information_loss.probabilistic import pil as pil
    from sdc_problems.evaluators.information_loss.probabilistic import pil_components as pil_components
    from sdc_problems.evaluators.information_loss.records import record_change as record_change
    from sdc_problems.evaluators.information_loss.records import regression_change as regression_change
    from sdc_problems.evaluators.likeness import alpha as alpha
    from sdc_problems.evaluators.likeness import beta_likeness as beta_likeness
    from sdc_problems.evaluators.likeness import delta_disclosure as delta_disclosure
    from sdc_problems.evaluators.linkage._views import Recoding as Recoding
    from sdc_problems.evaluators.linkage.candidates import ManyRangesError as ManyRangesError
    from sdc_problems.evaluators.linkage.candidates import Values as Values
    from sdc_problems.evaluators.linkage.candidates import candidate_counts as candidate_counts
    from sdc_problems.evaluators.linkage.distance import distance_linkage as distance_linkage
    from sdc_problems.evaluators.linkage.distance import link_ties as link_ties
    from sdc_problems.evaluators.linkage.probabilistic import ConvergenceWarning as ConvergenceWarning
    from sdc_problems.evaluators.linkage.probabilistic import ProbabilisticLinkage as ProbabilisticLinkage
    from sdc_problems.evaluators.linkage.probabilistic import match_probabilistically as match_probabilistically
    from sdc_problems.evaluators.linkage.probabilistic import probabilistic_linkage as probabilistic_linkage
    from sdc_problems.evaluators.mixed.measures import dr_mixed as dr_mixed
    from sdc_problems.evaluators.mixed.measures import il_mixed as il_mixed
    from sdc_problems.evaluators.reidentification import household_risk as household_risk
    from sdc_problems.evaluators.reidentification import individual_risk as individual_risk
    from sdc_problems.evaluators.reidentification import population_counts as population_counts
    from sdc_problems.evaluators.uniques import special_uniques as special_uniques
    from sdc_problems.evaluators.wildcards import k_wildcard as k_wildcard
    from sdc_problems.evaluators.wildcards import wildcard_class_sizes as wildcard_class_sizes

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
