"""Study files: what they may say, what they are told when they say something else, and every search they can name."""

from __future__ import annotations

import importlib
import json
import pickle
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymoo.core.algorithm import Algorithm

from sdc_problems import SDCError
from sdc_problems.operators.tree import Grammar
from sdc_problems.studies.searches.catalogue import REFUSED, available_searches
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.study.schema import Study, json_schema, seconds
from sdc_problems.studies.study.validation import shown
from sdc_problems.studies.tasks import available_tasks, find_task

SEARCHES = available_searches()
EXAMPLES = [task.example for task in available_tasks().values()]

STUDY = """
[data]
name = "people"
records = 200
quasi_identifiers = ["age", "hours", "wage"]
[problem]
task = "gomm"
k = 3
[algorithm]
name = "NSGA2"
pop_size = 6
[termination]
generations = 3
"""


def study(text: str = STUDY, **changes: str) -> Study:
    for old, new in changes.items():
        text = text.replace(old, new)
    return Study.from_text(text, folder=Path())


def refused(old: str, new: str, *, build: bool = False) -> str:
    assert old in STUDY

    def attempt() -> None:
        found = Study.from_text(STUDY.replace(old, new), folder=Path())
        if build:
            found.build()

    with pytest.raises(SDCError) as error:
        attempt()
    return str(error.value)


def test_defaults_are_filled_in_and_the_digest_is_theirs() -> None:
    values = study().values()
    assert values["problem"] == {"task": "gomm", "k": 3, "objectives": ["il_sse", "dr_linkage"]}
    assert values["run"] == {"seeds": [1]}
    spelled_out = (
        STUDY.replace("k = 3", 'k = 3\nobjectives = ["il_sse", "dr_linkage"]') + "[run]\nseeds = [1]\nworkers = 7\n"
    )
    assert study(spelled_out).digest() == study().digest()
    assert study(STUDY.replace("k = 3", "k = 4")).digest() != study().digest()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pop_size", "pop_sise", "[algorithm] has no key 'pop_sise'; did you mean 'pop_size'?"),
        ("records", "record", "[data] has no key 'record'; did you mean 'records'?"),
        ("[termination]", "[terminate]", "the study has no key 'terminate'; did you mean 'termination'?"),
        ("k = 3", "k = 3.0", "problem.k: input should be a valid integer, not 3.0"),
        ("k = 3", "k = true", "problem.k: input should be a valid integer, not True"),
        ("k = 3", "", "problem.k is missing"),
        ('name = "NSGA2"', "", "algorithm.name is missing"),
        ('"NSGA2"', '"nsga2"', "algorithm.name 'nsga2' is unknown; did you mean 'NSGA2'?"),
        ('"NSGA2"', '"NSGA-II"', "did you mean 'NSGA2'?"),
        ('"gomm"', '"generalise"', "known: pbg: how far to generalize each attribute; gomm: "),
        (
            "generations = 3",
            "generations = 3\n[run]\nseeds = '3'",
            "run.seeds: give a number of seeds (1 to 10000), or a list of whole numbers from 0, not '3'",
        ),
        ('"NSGA2"', '"CMOPSO"', "generators of its own"),
        ('"NSGA2"', '"PINSGA2"', "asks a person"),
        (
            "generations = 3",
            "",
            "[termination] is empty: give at least one of generations, evaluations, time, stalled",
        ),
        ("generations = 3", "generations = 0", "greater than or equal to 1, not 0"),
        ("generations = 3", 'time = "soon"', "a time is a positive number with s, min, h or d"),
        (
            "generations = 3",
            "generations = 3\n[run]\nseeds = [1, 1]",
            "run.seeds: give at least one seed, and each seed once",
        ),
        ("generations = 3", "generations = 3\n[run]\nworkers = 0", "run.workers"),
        ("generations = 3", "generations = 3\nx = 2026-01-01", "[termination] has no key 'x'"),
        ('name = "people"', 'name = "people"\nfile = "x.csv"', "data: give either name"),
        ('name = "people"', 'name = "adult"', "records is for name"),
        ("records = 200", 'records = 200\nkinds = {age = "nominal"}', "kinds is for a file only"),
        (
            "records = 200",
            "records = 200\n[data.hierarchies]\nage = {intervals = [5], masking = 1}",
            "give exactly one of",
        ),
        ("records = 200", "records = 200\n[data.hierarchies.age]\ninterval = [5]", "[data.hierarchies.age] has no key"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old: str, new: str, says: str) -> None:
    assert says in refused(old, new)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"wage"]', '"wages"]', "did you mean 'wage'?"),
        ("k = 3", 'k = 3\nobjectives = ["il_sse", "risk"]', "unknown objective 'risk'"),
        ("k = 3", 'k = 3\nobjectives = ["il_sse"]', "NSGA2 needs at least two objectives"),
        (
            "k = 3",
            "k = 3\n[require]\nil_sse2 = {max = 1}",
            "unknown [require] objective 'il_sse2'; did you mean 'il_sse'?",
        ),
        ("k = 3", "k = 3\n[archive]\nepsilon = [1.0]", "archive.epsilon has 1 numbers for 2 objectives"),
        (
            "k = 3",
            "k = 3\n[operators]\nmutate = {name = 'x'}",
            "[operators] has no key 'mutate'; did you mean 'mutation'?",
        ),
        ("k = 3", "k = 3\n[operators]\nmutation = {name = 'x'}", "no mutation 'x' for gomm"),
        ("k = 3", "k = 3\n[operators]\ncrossover = {name = 'GroupCrossover', pro = 1}", "did you mean 'prob'?"),
        ("generations = 3", "generations = 3\n[data.hierarchies.ages]\nsuppression = true", "did you mean 'age'?"),
        (
            '"NSGA2"\npop_size = 6',
            '"RNSGA2"\nreference_points = [[1.0]]',
            "each point has 2 numbers (il_sse, dr_linkage), not 1",
        ),
    ],
)
def test_what_does_not_fit_the_data_is_said_before_anything_runs(old: str, new: str, says: str) -> None:
    assert says in refused(old, new, build=True)


def test_long_and_hostile_values_are_shown_tamed() -> None:
    message = refused('"NSGA2"', json.dumps("\u202e\x1b[31m" + "x" * 10_000))
    assert len(message) < 700
    assert message.isprintable()
    assert shown("<b>") == "'<b>'"


def test_times() -> None:
    assert [seconds(t) for t in ("90 s", "15min", "2 h", "0.5 d")] == [90, 900, 7200, 43200]
    for bad in ("", "5", "-5 s", "5 m", "0 s", "1e3 s", "５ s s"):
        with pytest.raises(SDCError):
            seconds(bad)


def test_operators_can_be_exchanged() -> None:
    text = (
        STUDY
        + '[operators]\ncrossover = {name = "CopyCrossover"}\nmutation = {name = "AnyGroupingMutation", prob = 0.9}\n'
    )
    algorithm = study(text).build().plan.algorithm
    assert type(algorithm.mating.crossover).__name__ == "CopyCrossover"
    assert algorithm.mating.mutation.prob.value == 0.9


def test_a_first_population_of_baselines() -> None:
    built = study(STUDY.replace("pop_size", 'start = "baselines"\npop_size')).build()
    sampling = built.plan.algorithm.initialization.sampling
    X = sampling(built.problem, 12, random_state=np.random.default_rng(1)).get("X")
    rows = list(built.problem.baselines().values())
    np.testing.assert_array_equal(X[: len(rows)], rows)
    assert X.dtype == built.problem.dtype


def pymoo_algorithms() -> dict[str, type]:
    import pymoo.algorithms.moo as moo

    found = {}
    for info in pkgutil.iter_modules(moo.__path__):
        module = importlib.import_module(f"pymoo.algorithms.moo.{info.name}")
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Algorithm) and value.__module__ == module.__name__:
                found[name] = value
    return found


def test_every_algorithm_of_pymoo_is_offered_or_refused_with_a_reason() -> None:
    assert set(pymoo_algorithms()) <= {*SEARCHES, *REFUSED}


MULTI = [
    name
    for name, search in SEARCHES.items()
    if search.objectives != "one" and search.tasks is None and name != "ExactFront"
]


def pieces_equal_whole(chosen: Study, workshop: Any, content: Callable[[Path], Any]) -> Any:
    """Run a study in one and in two pieces; the first two generations are the first piece."""
    problem = chosen.build().problem

    def work(folder: Path, **options: Any) -> Any:
        plan = chosen.plan(problem)
        return workshop.work(
            folder, problem=problem, algorithm=plan.algorithm, limits=plan.limits, rounded=plan.rounded, ends=plan.ends,
            **options,
        )  # fmt: skip

    whole, pieces = workshop.create("whole"), workshop.create("pieces")
    ending = work(whole)
    work(pieces, stop_after=2)
    assert work(pieces).replayed == min(2, ending.generations)
    assert content(whole) == content(pieces)
    return ending


# pymoo compiles AGE-MOEA's kernels anew in every process, which takes seconds.
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * n.startswith("AGE")) for n in MULTI])
def test_every_search_of_pymoo_runs_and_resumes_with_the_same_bytes(
    name: str, workshop: Any, content: Callable[[Path], Any]
) -> None:
    section = f'name = "{name}"\n'
    fields = SEARCHES[name].options.model_fields
    section += "pop_size = 8\n" * ("pop_size" in fields and fields["pop_size"].default is not None)
    section += "directions = 8\n" * ("directions" in fields)
    section += "n_neighbors = 3\n" * ("n_neighbors" in fields)
    section += "pop_per_ref_point = 4\n" * ("pop_per_ref_point" in fields)
    section += "reference_points = [[5.0, 100.0], [20.0, 300.0]]\n" * ("reference_points" in fields)
    several = STUDY.replace('name = "NSGA2"\npop_size = 6\n', section)
    chosen = study(several.replace('"gomm"\nk = 3', '"pbg"').replace('"hours", "wage"]', '"education", "sex"]'))
    assert pieces_equal_whole(chosen, workshop, content).generations == 3


OURS = {
    "GOMM": ('task = "gomm"\nk = 3', "pop_size = 8\ncrossovers = 2\nmutations = 1"),
    "PBGEA": ('task = "pbg"', "pop_size = 6\nepsilon = [2.0, 50.0]"),
    "PBGSearch": ('task = "pbg"', "max_evaluations = 60\nbatch_size = 8"),
    "SolanasGA": ('task = "microaggregation"\nk = 3', "pop_size = 8"),
    "HybridMicroaggregation": ('task = "microaggregation"\nk = 3', "epochs = 20"),
    "MemeticMicroaggregation": ('task = "microaggregation"\nk = 3', "move_limit = 1_000_000"),
    "MemeticSocialGraph": ('task = "social"\nk = 3\nobjectives = ["nsil"]', "move_limit = 20_000"),
    "ElitistEA": ('task = "pram"\ncolumns = ["education", "sex"]\nobjectives = ["score_mean"]', ""),
    "SteadyStateGP": ('task = "pram-equations"\ncolumns = ["education", "sex"]\nobjectives = ["score_max"]', ""),
    "CellSearch": ('task = "masking"\nobjectives = ["score_mean"]', "move_limit = 20_000"),
    "ClusteredSearch": (
        'task = "masking"\nobjectives = ["score_mean"]',
        "clusters = 3\nmove_limit = 20_000",
    ),
    "MaskEvolution": ('task = "masking"\nobjectives = ["score_mean"]', "leaders = 3"),
    "GA": ('task = "microaggregation"\nk = 3', "pop_size = 8"),
}


def test_every_search_of_ours_is_tried() -> None:
    assert set(OURS) | set(MULTI) | {"ExactFront"} == set(SEARCHES)


def test_the_exact_front_is_a_run_of_one_generation(workshop: Any, content: Callable[[Path], Any]) -> None:
    text = STUDY.replace('task = "gomm"\nk = 3', 'task = "pbg"').replace('"hours", "wage"]', '"education", "sex"]')
    text = text.replace('"NSGA2"\npop_size = 6', '"ExactFront"').replace("[termination]\ngenerations = 3\n", "")
    chosen = study(text)
    problem = chosen.build().plan.problem
    folder = workshop.create("exact")
    ending = workshop.work(folder, problem=problem, algorithm=chosen.build().plan.algorithm)
    assert ending.generations == 1
    with Run(folder) as run:
        assert sorted(map(tuple, run.front().F.tolist())) == sorted(map(tuple, problem.enumerate_front().F.tolist()))


@pytest.mark.parametrize("name", OURS)
def test_our_searches_run_and_resume_with_the_same_bytes(
    name: str, workshop: Any, content: Callable[[Path], Any]
) -> None:
    problem, options = OURS[name]
    text = STUDY.replace('task = "gomm"\nk = 3', problem).replace('"NSGA2"\npop_size = 6', f'"{name}"\n{options}')
    if name.startswith(("PBG", "ElitistEA", "SteadyStateGP")):
        text = text.replace('"hours", "wage"]', '"education", "sex"]')
    if name == "MemeticSocialGraph":
        text = text.replace('"people"\nrecords = 200', '"crawl"\nrecords = 60')
        text = text.replace('"age", "hours", "wage"', '"topic1", "topic2"')
    chosen = study(text)
    assert pieces_equal_whole(chosen, workshop, content).generations >= 3
    wrong = {"gomm": 'task = "pbg"'}.get(chosen.task, 'task = "gomm"\nk = 3')
    with pytest.raises(SDCError):
        study(text.replace(problem, wrong)).build()


def test_a_search_with_a_budget_of_its_own_needs_no_termination(workshop: Any, content: Callable[[Path], Any]) -> None:
    text = STUDY.replace('task = "gomm"\nk = 3', 'task = "pbg"').replace('"hours", "wage"]', '"education", "sex"]')
    text = text.replace('"NSGA2"\npop_size = 6', '"PBGSearch"\nmax_evaluations = 70\nbatch_size = 8')
    chosen = study(text.replace("[termination]\ngenerations = 3\n", ""))
    ending = pieces_equal_whole(chosen, workshop, content)
    assert ending.reason == "its own budget is spent"
    assert ending.generations > 3


def test_c_taea_does_not_search_forever_for_solutions_that_do_not_exist(workshop: Any) -> None:
    chosen = study(STUDY.replace('name = "NSGA2"\npop_size = 6\n', 'name = "CTAEA"\ndirections = 8\n'))
    plan = chosen.build().plan  # three attributes can be grouped in five ways
    with pytest.raises(SDCError, match=r"needs one for each of its 8 directions"):
        workshop.work(workshop.create("run"), problem=plan.problem, algorithm=plan.algorithm)


def test_the_schema_describes_what_is_accepted() -> None:
    schema = json_schema()
    json.dumps(schema, allow_nan=False)
    tasks = {o["$ref"].removeprefix("#/$defs/problem-") for o in schema["properties"]["problem"]["oneOf"]}
    assert tasks == set(available_tasks())
    names = {o["$ref"].removeprefix("#/$defs/algorithm-") for o in schema["properties"]["algorithm"]["oneOf"]}
    assert names == set(SEARCHES)
    references = {part.split('"')[0] for part in json.dumps(schema).split('"#/$defs/')[1:]}
    assert references <= set(schema["$defs"])
    assert schema["$defs"]["algorithm-NSGA2"]["properties"]["pop_size"]["default"] == 100
    assert schema["$defs"]["problem-gomm"]["required"] == ["task", "k"]


def test_the_deepest_equation_is_the_grammars() -> None:
    """A depth that the schema takes is one that the problem takes, and the other way round."""
    bounds = find_task("pram-equations").options.model_json_schema()["properties"]["depth"]
    Grammar(1, 1, bounds["minimum"])
    Grammar(1, 1, bounds["maximum"])
    for beyond in (bounds["minimum"] - 1, bounds["maximum"] + 1):
        with pytest.raises(SDCError, match="depth must be"):
            Grammar(1, 1, beyond)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_examples_can_be_built(path: Path) -> None:
    chosen, _ = Study.from_file(path)
    assert chosen.build().problem.n_var > 0


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    (tmp_path / "stady.toml").write_text(STUDY)
    with pytest.raises(SDCError, match=r"did you mean 'stady.toml'"):
        Study.from_file(tmp_path / "study.toml")
    (tmp_path / "table.csv").write_text("age,town\n3,Bern\n")
    with pytest.raises(SDCError, match="a table is named in a study file"):
        Study.from_file(tmp_path / "table.csv")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SDCError, match="not UTF-8"):
        Study.from_file(tmp_path / "bytes.toml")
    with pytest.raises(SDCError, match="cannot read"):
        Study.from_file(tmp_path)
    (tmp_path / "deep.toml").write_text("x = " + "[" * 100_000)
    with pytest.raises(SDCError, match="not TOML"):
        Study.from_file(tmp_path / "deep.toml")


def test_a_study_is_pickled_by_the_values_that_were_given() -> None:
    """Defaults must not be given to the other process: some are refused where they are said."""
    given = study(STUDY + "[run]\nseeds = 2\n")
    again = pickle.loads(pickle.dumps(given))
    assert again.values() == given.values()
    assert again.digest() == given.digest()


@pytest.mark.parametrize(("former", "new"), [("crossover_rate", "crossover_prob"), ("mutation_rate", "mutation_prob")])
def test_former_names_of_options_are_answered_with_the_new_ones(former: str, new: str) -> None:
    from sdc_problems.studies.study.validation import Section, validated

    class Options(Section):
        crossover_prob: float = 0.5
        mutation_prob: float = 0.1

    with pytest.raises(SDCError, match=f"algorithm.{former} is now called '{new}'"):
        validated(Options, {former: 0.3}, "algorithm")


def test_a_study_of_an_earlier_version_is_told_of_columns(tmp_path: Path) -> None:
    text = find_task("pram").example.read_text().replace("columns = [", "attributes = [")
    with pytest.raises(SDCError, match=r"problem.attributes is now called 'columns'"):
        Study.from_text(text, folder=tmp_path)
