"""Public files that ``datasets.load`` knows: columns, roles, origin, and the digest that each must have.

The digest is that of the parsed, canonical table (``_parsers.Table.digest``), whether a person has put the file in
place, an earlier call has cached it, or it comes from the publisher in its own format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sdc_problems._sources.parsers import (
    Parser,
    parse_adult_test,
    parse_blank_separated,
    parse_comma_separated,
    parse_solar_flare,
)

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True)
class Source:
    """One public file."""

    name: str
    title: str
    rows: int
    columns: tuple[str, ...]
    digest: str
    origin: str
    quasi_identifiers: tuple[str, ...]
    numeric: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()  # columns that are left out
    incomplete: bool = False  # whether it has missing values; records with one are dropped
    complete: int = 0  # number of records after that
    hierarchies: str = ""  # folder of package data
    file: str = ""  # the canonical file's name; <name>.csv unless given
    raw: tuple[str, ...] = ()  # the publisher's files, without a header
    url: str = ""  # the publisher's folder of those files; empty: no stable address, a person must get them
    parse: Parser = parse_comma_separated
    by_hand: str = ""  # where a person gets the file
    edges: tuple[str, str, int, int] | None = None  # a graph's edge file: name, digest, edges, first vertex number

    @property
    def csv(self) -> str:
        """Name of the canonical file."""
        return self.file or f"{self.name}.csv"

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the canonical files: the table and, for a graph, its edges."""
        return (self.csv, self.edges[0]) if self.edges else (self.csv,)


_ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
_ADULT_QI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "income")
_ADULT_NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_ADULT_ORIGIN = (
    "Becker, B. and Kohavi, R. (1996), Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20, CC BY 4.0: "
    "records of the US Census Bureau's 1994 survey"
)
_CENSUS = (
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "PEARNVAL", "FICA",
    "WSALVAL", "ERNVAL",
)  # fmt: skip
_TARRAGONA = (
    "FIXED.ASSETS", "CURRENT.ASSETS", "TREASURY", "UNCOMMITTED.FUNDS", "PAID.UP.CAPITAL", "SHORT.TERM.DEBT", "SALES",
    "LABOR.COSTS", "DEPRECIATION", "OPERATING.PROFIT", "FINANCIAL.OUTCOME", "GROSS.PROFIT", "NET.PROFIT",
)  # fmt: skip
_EIA_AMOUNTS = (
    "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "OTHREVENUE", "OTHRSALES",
    "TOTREVENUE", "TOTSALES",
)  # fmt: skip
_GERMAN = (
    "checking_status", "duration", "credit_history", "purpose", "credit_amount", "savings_status", "employment",
    "installment_rate", "personal_status_sex", "other_parties", "residence_since", "property", "age",
    "other_payment_plans", "housing", "existing_credits", "job", "num_dependents", "telephone", "foreign_worker",
    "class",
)  # fmt: skip
_GERMAN_NUMERIC = (
    "duration", "credit_amount", "installment_rate", "residence_since", "age", "existing_credits", "num_dependents",
)  # fmt: skip
_FLARE = (
    "class_zurich", "largest_spot_size", "spot_distribution", "activity", "evolution", "prev_24h_activity",
    "historically_complex", "became_complex", "area", "area_largest_spot", "c_class", "m_class", "x_class",
)  # fmt: skip
_WATER = (
    "Q-E", "ZN-E", "PH-E", "DBO-E", "DQO-E", "SS-E", "SSV-E", "SED-E", "COND-E", "PH-P", "DBO-P", "SS-P", "SSV-P",
    "SED-P", "COND-P", "PH-D", "DBO-D", "DQO-D", "SS-D", "SSV-D", "SED-D", "COND-D", "PH-S", "DBO-S", "DQO-S", "SS-S",
    "SSV-S", "SED-S", "COND-S", "RD-DBO-P", "RD-SS-P", "RD-SED-P", "RD-DBO-S", "RD-DQO-S", "RD-DBO-G", "RD-DQO-G",
    "RD-SS-G", "RD-SED-G",
)  # fmt: skip
_PIMA = ("pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age")
_CALTECH = ("student_fac", "gender", "major_index", "second_major", "dorm", "year", "high_school")
_LAZEGA = ("status", "gender", "office", "seniority", "age", "practice", "law_school")

_CASC = (
    "one of the reference files of the CASC project (Brand, R., Domingo-Ferrer, J. and Mateo-Sanz, J. M. (2002), "
    "Reference data sets to test and compare SDC methods for protection of numerical microdata)"
)


def _from_r(frame: str, file: str) -> str:
    return (
        "the R package sdcMicro (on CRAN) carries it: install.packages('sdcMicro'); "
        f"data({frame}, package = 'sdcMicro'); write.csv({frame}, '{file}', row.names = FALSE); it is also at https://research.cbs.nl/casc/"
    )


_SOURCES = (
    Source(
        name="adult",
        title="US census 1994, training part",
        rows=32_561,
        columns=_ADULT,
        digest="3265486fa5881372845757c2e6feef8e6dd2f9676fb8b3ec6bc66e72230f2925",
        origin=_ADULT_ORIGIN,
        quasi_identifiers=_ADULT_QI,
        numeric=_ADULT_NUMERIC,
        sensitive=("occupation",),
        incomplete=True,
        complete=30_162,
        hierarchies="adult",
        raw=("adult.data",),
        url=f"{_UCI}/adult",
    ),
    Source(
        name="adult_test",
        title="US census 1994, test part",
        rows=16_281,
        columns=_ADULT,
        digest="f6699acc2989b3faa57858fe48f63e1ed27f1d246df7462ab01796e946a4448b",
        origin=_ADULT_ORIGIN,
        quasi_identifiers=_ADULT_QI,
        numeric=_ADULT_NUMERIC,
        sensitive=("occupation",),
        incomplete=True,
        complete=15_060,
        hierarchies="adult",
        raw=("adult.test",),
        url=f"{_UCI}/adult",
        parse=parse_adult_test,
    ),
    Source(
        name="census",
        title="US Current Population Survey 1995, amounts of money",
        rows=1_080,
        columns=_CENSUS,
        digest="c047bec13d87544284f750bc21fa3b866c081fdb05df9e6c24b9dcc20a6ff3df",
        origin=f"US Census Bureau, Data Extraction System; {_CASC}",
        quasi_identifiers=_CENSUS,
        numeric=_CENSUS,
        by_hand=_from_r("CASCrefmicrodata", "census.csv"),
    ),
    Source(
        name="tarragona",
        title="Companies of the Tarragona area 1995, balance sheets",
        rows=834,
        columns=_TARRAGONA,
        digest="cc02cdf954381fe7b2e3302ed1dd12d26f957014421ac420f6fcf5d301a64e86",
        origin=f"834 companies of the Tarragona area, 1995; {_CASC}",
        quasi_identifiers=_TARRAGONA,
        numeric=_TARRAGONA,
        by_hand=_from_r("Tarragona", "tarragona.csv"),
    ),
    Source(
        name="eia",
        title="US electric utilities 1996, revenue and sales",
        rows=4_092,
        columns=("UTILITYID", "UTILNAME", "STATE", "YEAR", "MONTH", *_EIA_AMOUNTS),
        digest="d8378e7314d923433a0cfe668ca8817d414b996ea329cbd4f688e9d7159279a5",
        origin=(
            f"US Energy Information Administration; {_CASC}. The quasi-identifiers are the eleven columns that the "
            "microaggregation literature uses, the utility's number among them"
        ),
        quasi_identifiers=("UTILITYID", *_EIA_AMOUNTS),
        numeric=("UTILITYID", "YEAR", "MONTH", *_EIA_AMOUNTS),
        identifiers=("UTILNAME",),
        by_hand=_from_r("EIA", "eia.csv"),
    ),
    Source(
        name="german_credit",
        title="German credit applicants",
        rows=1_000,
        columns=_GERMAN,
        digest="b96b6af434926b20b672b7b15b2f930080b46c9d182d1210f5598a53b596e563",
        origin=(
            "Hofmann, H. (1994), Statlog (German Credit Data), UCI Machine Learning Repository, doi:10.24432/C5NC77, "
            "CC BY 4.0. The quasi-identifiers are the three ordinal attributes that the PRAM literature protects, in "
            "the order of their codes (A14: no account; A65: unknown or none)"
        ),
        quasi_identifiers=("checking_status", "savings_status", "employment"),
        numeric=_GERMAN_NUMERIC,
        sensitive=("class",),
        orders={
            "checking_status": ("A11", "A12", "A13", "A14"),
            "savings_status": ("A61", "A62", "A63", "A64", "A65"),
            "employment": ("A71", "A72", "A73", "A74", "A75"),
        },
        raw=("german.data",),
        url=f"{_UCI}/statlog/german",
        parse=parse_blank_separated,
    ),
    Source(
        name="solar_flare",
        title="Active regions of the sun",
        rows=1_389,
        columns=_FLARE,
        digest="2b92f059f2c8e3e39ede14626495eb7fe820fcd4917ed9d5308c6f639a06e7c6",
        origin=(
            "Solar Flare (1989), UCI Machine Learning Repository, doi:10.24432/C5530G, CC BY 4.0, both parts. The "
            "quasi-identifiers are the three nominal attributes that the PRAM literature protects"
        ),
        quasi_identifiers=("class_zurich", "largest_spot_size", "spot_distribution"),
        numeric=("c_class", "m_class", "x_class"),
        raw=("flare.data1", "flare.data2"),
        url=f"{_UCI}/solar-flare",
        parse=parse_solar_flare,
    ),
    Source(
        name="water_treatment",
        title="An urban waste water treatment plant, day by day",
        rows=527,
        columns=("date", *_WATER),
        digest="d439f9ca67272152e55bf09d7b255d69a15f6debaad4aace7469857e45842123",
        origin=(
            "Poch, M. (1993), Water Treatment Plant, UCI Machine Learning Repository, doi:10.24432/C5FS4C, CC BY 4.0"
        ),
        quasi_identifiers=_WATER,
        numeric=_WATER,
        dropped=("date",),
        incomplete=True,
        complete=380,
        raw=("water-treatment.data",),
        url=f"{_UCI}/water-treatment",
    ),
    Source(
        name="pima_diabetes",
        title="Diabetes among Pima women",
        rows=768,
        columns=(*_PIMA, "class"),
        digest="a92bed18943864c08ee7ca51d834a3e832020b010b21195caeb94780f33fb2db",
        origin=(
            "US National Institute of Diabetes and Digestive and Kidney Diseases; Smith, J. W. et al. (1988). Zeros in "
            "glucose, pressure, triceps, insulin and mass stand for missing values and are left as they are"
        ),
        quasi_identifiers=_PIMA,
        numeric=_PIMA,
        sensitive=("class",),
        raw=("pima-indians-diabetes.data",),
        by_hand=(
            "UCI has withdrawn it; copies of its file pima-indians-diabetes.data (768 lines without a header, 0 or 1 "
            "at the end) are on many teaching sites and are accepted under that name"
        ),
    ),
    Source(
        name="caltech36",
        title="Social network of a university (vertices and friendships)",
        rows=769,
        columns=("id", *_CALTECH),
        digest="89aa1de388dc548ccb88f55da8e3fdbd5ccb7016af7fa74c22c9c93ce75ee63c",
        origin=(
            "Traud, A. L., Mucha, P. J. and Porter, M. A. (2012), Social structure of Facebook networks, Physica A. "
            "The Facebook100 network Caltech36 of September 2005. 0 marks a missing attribute and is left as it is"
        ),
        quasi_identifiers=_CALTECH,
        identifiers=("id",),
        file="graph_caltech36_nodes.csv",
        by_hand=(
            "Facebook100 is in public network repositories as Caltech36.mat; write its attributes and its edges (each "
            "once, smaller vertex first, sorted; vertices from 0) as CSV"
        ),
        edges=(
            "graph_caltech36_edges.csv",
            "ec5d494adcb9e52b9a15fff0e9b073413b365a7b9d310e78337bd73675b3af55",
            16_656,
            0,
        ),
    ),
    Source(
        name="lazega",
        title="Lawyers of a firm (vertices and co-work)",
        rows=71,
        columns=("id", *_LAZEGA),
        digest="093017f7b8c9d19fa5f86338d69fccac71805193fbc7ce76a301a6e5a613d720",
        origin=(
            "Lazega, E. (2001), The Collegial Phenomenon, Oxford University Press: partners and associates of a firm, "
            "and who works with whom"
        ),
        quasi_identifiers=_LAZEGA,
        numeric=("seniority", "age"),
        identifiers=("id",),
        file="graph_lazega_nodes.csv",
        by_hand=(
            "the Lazega lawyers data come with the pages of the SIENA software (ELattr.dat, ELwork.dat); write the "
            "attributes and the arcs of the symmetrized co-work network (sorted; vertices from 1) as CSV"
        ),
        edges=(
            "graph_lazega_cowork_edges.csv",
            "4ad371055fa6d7fdffa89433914f09898ca61f323b1782acd7a5611b867e7544",
            756,
            1,
        ),
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _SOURCES}
