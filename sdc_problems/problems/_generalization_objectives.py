"""Objectives of a generalization: anonymity of the classes of equal records, and what generalizing them loses."""

from __future__ import annotations

from sdc_problems.objective import Objective, by_name


def generalization_objectives(n_records: int, n_attributes: int, n_sensitive: int) -> dict[str, Objective]:
    """Objectives of a table with the given numbers of records, quasi-identifiers and distinct sensitive values."""
    n, m = float(n_records), float(max(n_sensitive, 2))
    return by_name(
        Objective(
            "k", "smallest class (k)", "max", (1.0, n), "records",
            concerns="risk",
            meaning=(
                "Number of records in the smallest class, a class being the records that look alike in the released"
                " quasi-identifiers."
            ),
            formula="min over classes of |class|, suppressed records left out",
            source="Samarati (2001); Dewri et al. (2010), section 3",
        ),
        Objective(
            "l", "fewest sensitive values in a class (ℓ)", "max", (1.0, m),
            concerns="risk",
            meaning="Number of different sensitive values in the class of look-alike records that has the fewest.",
            formula="min over classes of the number of distinct sensitive values",
            source="Machanavajjhala et al. (2006)",
        ),
        Objective(
            "entropy_l", "entropy ℓ-diversity", "max", (1.0, m),
            concerns="risk",
            meaning=(
                "Number of equally frequent sensitive values that would be as uncertain as those of the class of"
                " look-alike records that is least mixed."
            ),
            formula="min over classes of exp(-sum over sensitive values s of p_s * ln p_s)",
            source="Machanavajjhala et al. (2006)",
        ),
        Objective(
            "t", "t-closeness", "min", (0.0, 1.0),
            concerns="risk",
            meaning=(
                "Largest distance, from 0 to 1, of the shares of sensitive values in a class of look-alike records from"
                " those in the whole table."
            ),
            formula="max over classes of 1/2 * sum over sensitive values s of |p_s - q_s|",
            source="Li et al. (2007)",
        ),
        Objective(
            "spread_k", "class size summed over records (S_k)", "max", (0.0, n**2),
            concerns="risk",
            meaning="Sum, over the records that are left, of the number of records that look alike.",
            formula="sum over classes of |class|^2",
            source="Dewri et al. (2010), section 7",
        ),
        Objective(
            "spread_l", "sensitive value count summed over records (S_ℓ)", "max", (0.0, n**2),
            concerns="risk",
            meaning=(
                "Sum, over the records that are left, of the number of records of their class that have the same"
                " sensitive value."
            ),
            formula="sum over classes and sensitive values s of (records of the class with s)^2",
            source="Dewri et al. (2010), section 7",
        ),
        Objective(
            "glm", "general loss metric (GLM)", "min", (0.0, n * n_attributes),
            concerns="loss",
            meaning=(
                "Sum, over the cells of the quasi-identifiers, of the share of the other values of its domain that the"
                " released value may stand for: 0 if it is the value itself, 1 if it is suppressed."
            ),
            formula=(
                "sum over cells of (leaves under the value - 1) / (leaves of the domain - 1); 1 where suppressed; 0 in"
                " an attribute of one value"
            ),
            source="Iyengar (2002); Dewri et al. (2010), section 7",
        ),
        Objective(
            "glm_percent", "general loss metric in percent", "min", (0.0, 100.0), "%",
            concerns="loss",
            meaning=(
                "Percent of the other values of its domain that a released value may stand for, the mean over the cells"
                " of the quasi-identifiers: 0 if all are the values themselves, 100 if all are suppressed."
            ),
            formula="100 * glm / (records * quasi-identifiers)",
            source="Iyengar (2002)",
        ),
        Objective(
            "cm", "classification error (CM)", "min", (0.0, n), "records",
            concerns="loss",
            meaning=(
                "Number of records that are suppressed, or whose label is not the most frequent one in their class of"
                " look-alike records."
            ),
            formula="suppressed records + sum over classes of (|class| - largest count of one label)",
            source="Iyengar (2002); Dewri et al. (2010), section 7",
        ),
        Objective(
            "discernibility", "discernibility", "min", (0.0, n**2),
            concerns="loss",
            meaning=(
                "Sum, over all records, of the number of records each is mixed up with: those that look alike, or the"
                " whole table for a suppressed one."
            ),
            formula="sum over classes of |class|^2 + records * suppressed records",
            source="Bayardo and Agrawal (2005)",
        ),
        Objective(
            "suppressed", "suppressed records", "min", (0.0, n), "records",
            concerns="loss",
            meaning="Number of records that are suppressed because too few look alike.",
            formula="records in classes smaller than the threshold (suppression=budget: the largest allowed)",
            source="Dewri et al. (2010), section 6",
        ),
    )  # fmt: skip
