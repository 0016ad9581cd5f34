"""
Checkpoint and resume
=====================

``sdc run`` stores every generation and ``sdc resume`` goes on after anything. In Python, a study is started,
interrupted and resumed, and ends with the same front as one that was never interrupted.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from sdc_problems import Run

STUDY = """
[data]
name = "people"
records = 500

[problem]
task = "pbg"
objectives = ["k", "glm"]

[algorithm]
name = "NSGA2"
pop_size = 20

[termination]
generations = 20
"""
folder = Path(tempfile.mkdtemp())
(folder / "study.toml").write_text(STUDY, encoding="utf-8")


def sdc(*arguments):
    """Run a command in the folder; returns its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "sdc_problems", *arguments], cwd=folder, capture_output=True
    ).returncode


# %%
# One run to the end, and one that is interrupted by Ctrl-C (SIGINT) as soon as it has stored something, then resumed.

print("whole run:", sdc("run", "study.toml", "--out", "whole", "--no-pictures"))
command = [sys.executable, "-m", "sdc_problems", "run", "study.toml", "--out", "cut", "--no-pictures"]
with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
    while running.poll() is None and not (folder / "cut" / "run.sqlite").exists():
        pass
    running.send_signal(2)
print("interrupted run:", running.returncode)
print("resumed:", sdc("resume", "cut", "--no-pictures"))

# %%
# The fronts are the same, byte for byte.

fig, ax = plt.subplots(layout="constrained")
fronts = {}
for name, marker, size in (("whole", "o", 80), ("cut", "x", 25)):
    with Run(folder / name) as run:
        fronts[name] = run.front().F
        ax.scatter(*run.front().values.T, marker=marker, s=size, label=name)
ax.set(xlabel="smallest class k", ylabel="GLM", xscale="log")
ax.legend(frameon=False)
plt.show()
print("same front:", (fronts["whole"] == fronts["cut"]).all())
