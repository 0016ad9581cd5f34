"""Recipes: which method protects which columns of a file, and how."""

from __future__ import annotations

from sdc_problems.problems.recipe.problem import RecipeProblem

__all__ = ["RecipeProblem"]
