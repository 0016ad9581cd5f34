"""
Publishing a file, end to end
=============================

From a CSV to a protected CSV: roles, a question, the method that loses least, the files of the release, and the
verdict.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import sdc_problems
from sdc_problems import Microdata, load

folder = Path(tempfile.mkdtemp())
load("people").data.frame().head(1000).to_csv(folder / "people.csv", index=False)

data = Microdata.from_csv(
    folder / "people.csv",
    quasi_identifiers=["age", "sex", "education", "birthplace"],
    sensitive=["diagnosis"],
)

# %%
# Say what is asked; every method that can promise it is tried, and the one that loses least is written.

costs = {}
for k in (2, 5, 10, 20):
    for candidate in sdc_problems.protect(data, k=k, l=2, keep=["hours"]).choice.candidates:
        costs.setdefault(candidate.method, {})[k] = candidate.glm_percent

fig, ax = plt.subplots(layout="constrained")
for method, by_k in costs.items():
    style = ":" if method == "mdav" else "-"  # publishes values that nobody has: written only if that is allowed
    ax.plot(by_k.keys(), by_k.values(), f"o{style}", ms=4, label=method)
ax.set(xlabel="k, with l = 2", ylabel="detail lost, glm_percent (%)", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# The release: the table, its certificate, and two private files.

done = sdc_problems.protect(data, folder / "protected.csv", k=5, l=2, keep=["hours"])
print(*sorted(path.name for path in folder.iterdir()), sep="\n")
for guarantee in done.guarantees:
    print(guarantee.name, guarantee.found, "promised", guarantee.promised)
print(done.frame.head())
