"""Citation of the suite: BibTeX of the software, the instances and their versions, the tables, the tasks' papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdc_problems.suite._instance import Instance

SUITE_VERSION = 1
"""Version of the suite; it changes if an instance is replaced or added, or a core budget changes."""

YEAR = 2026
AUTHORS = "{The sdc-problems developers}"

PAPERS = {
    "balasch2010": """@thesis{balasch2010,
  author = {Balasch-Masoliver, Jordi},
  title = {Using Genetic Algorithms for Attribute Grouping in Multivariate Microaggregation},
  type = {Final degree project},
  school = {Universitat Politècnica de Catalunya},
  year = {2010}
}""",
    "dewri2010": """@inproceedings{dewri2010,
  author = {Dewri, Rinku and Ray, Indrajit and Ray, Indrakshi and Whitley, Darrell},
  title = {On the Identification of Property Based Generalizations in Microdata Anonymization},
  booktitle = {24th Annual IFIP WG 11.3 Working Conference on Data and Applications Security and Privacy},
  year = {2010},
  url = {https://inria.hal.science/hal-01056667}
}""",
    "hansen2003": """@article{hansen2003,
  author = {Hansen, Stephen Lee and Mukherjee, Sumitra},
  title = {A Polynomial Algorithm for Optimal Univariate Microaggregation},
  journal = {IEEE Transactions on Knowledge and Data Engineering},
  volume = {15},
  number = {4},
  pages = {1043--1044},
  year = {2003}
}""",
    "mares2013": """@phdthesis{mares2013,
  author = {Marés Soler, Jordi},
  title = {Categorical Data Protection on Statistical Datasets and Social Networks},
  school = {Universitat Autònoma de Barcelona},
  year = {2013}
}""",
    "martinez2007": """@inproceedings{martinez2007,
  author = {Martínez-Ballesté, Antoni and Solanas, Agusti and Domingo-Ferrer, Josep and Mateo-Sanz, Josep M.},
  title = {A Genetic Approach to Multivariate Microaggregation for Database Privacy},
  booktitle = {ICDE Workshops},
  year = {2007}
}""",
    "solanas2006": """@inproceedings{solanas2006,
  author = {Solanas, Agusti and Martínez-Ballesté, Antoni and Mateo-Sanz, Josep M. and Domingo-Ferrer, Josep},
  title = {Multivariate Microaggregation Based Genetic Algorithms},
  booktitle = {3rd International IEEE Conference on Intelligent Systems},
  year = {2006}
}""",
}

TASKS = {
    "gomm": ("balasch2010",),
    "microaggregation": ("solanas2006", "martinez2007", "hansen2003"),
    "pbg": ("dewri2010",),
    "pram": ("mares2013",),
    "pram-equations": ("mares2013",),
}
"""Papers that define each task."""


def citation(chosen: Sequence[Instance]) -> str:
    """BibTeX of the software, the suite with its version, the public tables and the papers behind the tasks.

    Parameters
    ----------
    chosen
        The instances that were used.

    Examples
    --------
    >>> from sdc_problems.suite import instance
    >>> print(citation([instance("pbg-people-k-glm")]).splitlines()[0])
    % One line for a paper: 1 instance (pbg-people-k-glm@1) of the suite core@1, sdc-problems ...
    """
    from sdc_problems import __version__
    from sdc_problems._sources.catalogue import SOURCES

    suites = sorted({f"{found.suite}@{SUITE_VERSION}" for found in chosen})
    named = ", ".join(found.id for found in chosen) if len(chosen) <= 5 else ""
    count = f"{len(chosen)} instance{'s' * (len(chosen) != 1)}{f' ({named})' * bool(named)}"
    text = [f"% One line for a paper: {count} of the suite {' and '.join(suites)}, sdc-problems {__version__}."]
    software = [
        ("author", AUTHORS),
        ("title", "{sdc-problems}: statistical disclosure control as multi-objective optimization"),
        ("version", __version__),
        ("year", str(YEAR)),
    ]
    text.append(_entry("software", "sdcproblems", software))
    for name in sorted({found.suite for found in chosen}):
        ids = [found.id for found in chosen if found.suite == name]
        suite = [
            ("author", AUTHORS),
            ("title", f"Benchmark instances of {{sdc-problems}}: {name}"),
            ("version", f"{name}@{SUITE_VERSION}"),
            ("year", str(YEAR)),
            ("note", f"Instances used: {', '.join(ids)}"),
        ]
        text.append(_entry("dataset", f"sdcproblems-{name}", suite))
    tables = dict.fromkeys(str(found.table.get("name")) for found in chosen)
    for name in tables:
        if name in SOURCES:
            text.append(_entry("misc", name, [("title", f"Table {name}"), ("note", SOURCES[name].origin)]))
    keys = dict.fromkeys(key for found in chosen for key in TASKS.get(found.task, ()))
    text += [PAPERS[key] for key in keys]
    return "\n\n".join(text)


def _entry(kind: str, key: str, values: Sequence[tuple[str, str]]) -> str:
    body = ",\n".join(f"  {name} = {{{value.replace('_', chr(92) + '_')}}}" for name, value in values)
    return f"@{kind}{{{key},\n{body}\n}}"
