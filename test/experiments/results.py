"""The results file: one line per finished run, so that an interrupted program goes on where it was."""
import csv
import fcntl
import json
import os
import statistics
from collections import defaultdict

import paper
from database import Failed
from runs import AGAIN, FIELDS, LOSSES, Run

COLUMNS = [*FIELDS, "error", "seconds", "area"]  # the last may be missing


class Results:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "results.csv")
        self.about_path = os.path.join(folder, "about.json")
        self.errors, self.seconds, self.areas = {}, {}, {}
        if os.path.exists(self.path):
            self._read()
        else:
            with open(self.path, "w", encoding="ascii") as file:
                file.write(",".join(COLUMNS) + "\n")

    def _read(self):
        with open(self.path, newline="", encoding="ascii") as file:
            text = file.read()
        if not text.endswith("\n"):  # the program was stopped in the middle of a line
            text = text[:text.rindex("\n") + 1] if "\n" in text else ""
            with open(self.path, "w", encoding="ascii") as file:
                file.write(text)
        for row in csv.DictReader(text.splitlines()[1:], COLUMNS):
            run = Run(*(row[field] for field in FIELDS))
            self._keep(run, float(row["error"]), float(row["seconds"]), float(row["area"]) if row["area"] else None)

    def _keep(self, run, error, seconds, area):
        self.errors[run], self.seconds[run] = error, seconds
        if area is not None:
            self.areas[run] = area

    def lock(self):
        """Two programs would do the same runs. The lock ends with the program."""
        self.locked = open(self.path, "a", encoding="ascii")
        try:
            fcntl.flock(self.locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failed(f"another run writes to {self.folder}") from None

    def about(self, part, **facts):
        """What the results of a part were made with. Those of other data, settings or versions are not mixed in."""
        known = {}
        if os.path.exists(self.about_path):
            with open(self.about_path, encoding="utf-8") as file:
                known = json.load(file)
        mine = known.setdefault(part, {})
        for key in {"made_from", "dperm"} & facts.keys():
            if mine.get(key, facts[key]) != facts[key]:
                raise Failed(f"the results in {self.folder} are of other data, other settings or another version of dperm; "
                             "move them away, or name another folder with --output")
        if facts:
            mine.update(facts)
            with open(self.about_path, "w", encoding="utf-8") as file:
                json.dump(known, file, indent=1)
        return mine

    def add(self, run, error, seconds, area=None):
        """area: under the ROC curve, where it was measured."""
        self._keep(run, error, seconds, area)
        with open(self.path, "a", encoding="ascii") as file:
            file.write(",".join([*run, repr(error), f"{seconds:.3f}", *([] if area is None else [repr(area)])]) + "\n")

    def folds(self, data, loss, method, lambda_, epsilon, size="", again=False, areas=False):
        """Mean error, or area, by fold, of the runs that are kept apart or of all others."""
        by_fold = defaultdict(list)
        for run, error in self._index()[(data, loss, method, lambda_, epsilon, size)]:
            if run.repetition.startswith(AGAIN) == again:
                by_fold[run.fold].append(self.areas[run] if areas else error)
        return {fold: statistics.fmean(errors) for fold, errors in by_fold.items()}

    def _index(self):
        if getattr(self, "_indexed", None) != len(self.errors):
            self._indexed, self._cells = len(self.errors), defaultdict(list)
            for run, error in self.errors.items():
                self._cells[run[:6]].append((run, error))
        return self._cells


def gain(results, data, loss, lambda_, again=False):
    """The error of the sharp analysis minus that of the paper's in the tables, paired by fold."""
    sharp, theirs = (results.folds(data, loss, method, lambda_, paper.EPSILON, again=again)
                     for method in ("sharp", "paper"))
    return difference(sharp, theirs)


def worse(results):
    """Pairs (data, loss, lambda) where the sharp analysis is worse by more than two standard errors."""
    pairs = [(data, loss, lambda_) for data in paper.LAMBDAS for loss in LOSSES for lambda_ in paper.LAMBDAS[data]]
    gains = {pair: gain(results, *pair) for pair in pairs}
    return [pair for pair in pairs if gains[pair] and gains[pair][0] > 2 * gains[pair][1]]


def best(results, lambdas, data, loss, method):
    """The lambda of the smallest error at epsilon = 0.1."""
    return min(lambdas, key=lambda exponent: (mean(results.folds(data, loss, method, exponent, paper.EPSILON)) or [2])[0])


def mean(folds):
    """Mean and standard error over folds. A fold's own mean holds the noise of its repetitions."""
    if len(folds) < 2:
        return None
    values = list(folds.values())
    return statistics.fmean(values), statistics.stdev(values) / len(values) ** 0.5


def difference(a, b):
    """Mean and standard error of a - b, paired by fold."""
    return mean({fold: a[fold] - b[fold] for fold in a if fold in b})
