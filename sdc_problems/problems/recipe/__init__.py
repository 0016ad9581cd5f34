"""Recipes as a problem: the choice of methods and settings for the columns of a file."""

from __future__ import annotations

from sdc_problems.problems.recipe.problem import RecipeProblem

__all__ = ["RecipeProblem"]
