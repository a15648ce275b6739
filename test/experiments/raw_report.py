"""The text about raw columns and its plots, from the results alone."""
import os

import raw
import runs
from page import LOSS, Page, figure, rows, times, wide
from results import difference, mean
from svgplot import line_plot

METHOD = {"simple": "simple rule", "ball": "ball", "shaped": "shape (default)"}
PLAIN = {"simple": "simple rule", "ball": "noise for a ball", "shaped": "dperm by default: noise in the shape of the columns"}


class Report(Page):
    def __init__(self, results, docs):
        super().__init__("raw", results, docs)

    def cell(self, data, loss, method, epsilon):
        return self.results.folds(data, loss, method, "default", runs.epsilon_of(method, epsilon))

    def baseline(self, data, loss):
        return mean(self.cell(data, loss, "non-private", None))

    def table(self, data, loss):
        lines = []
        for epsilon in self.about["epsilons"]:
            cells = {method: self.cell(data, loss, method, epsilon) for method in raw.METHODS}
            lines.append([epsilon, *(figure(mean(cells[method])) for method in raw.METHODS),
                          *(figure(difference(cells["shaped"], cells[method])) for method in ("ball", "simple"))])
        return rows(["epsilon", *(METHOD[method] for method in raw.METHODS), "shape − ball", "shape − simple rule"], lines)

    def plot(self, data, loss, file):
        if not self.baseline(data, loss):
            return  # the run is not finished
        about, title = self.about["data"][data], raw.ALL[data].title
        epsilons = list(map(float, self.about["epsilons"]))
        series = []
        for method in reversed(raw.METHODS):
            points = [(epsilon, mean(self.cell(data, loss, method, epsilon))) for epsilon in self.about["epsilons"]]
            series.append(dict(name=PLAIN[method],
                               points=[(float(epsilon), *found) for epsilon, found in points if found]))
        constant = min(about["positive"], 1 - about["positive"])
        for name, level in (("always the same class", constant), ("no privacy", self.baseline(data, loss)[0])):
            series.append(dict(name=name, dashed=True, points=[(min(epsilons), level), (max(epsilons), level)]))
        line_plot(os.path.join(self.docs, file), f"{LOSS[loss]} on {title}, raw columns: what privacy costs",
                  "epsilon (smaller is more private)", "error on rows that were not trained on", series,
                  log_x=True, log_y=wide(series),
                  note=f"{about['rows']:,} rows, {len(raw.ALL[data].domains)} columns with declared domains, no preprocessing, "
                       f"no search for lambda; {self.about['splits']} random splits into 80 and 20 percent; bars: one standard "
                       "error.")

    def write(self):
        """The plots; returns the text."""
        for data in ("adult", "kdd"):
            self.plot(f"{data}_raw", "logistic", f"experiments-{data}-raw.svg")
            self.plot(f"{data}_raw", "huber", f"experiments-{data}-raw-huber.svg")
        return self.text("raw.md")

    def say_columns(self, data):
        return str(len(raw.ALL[data].domains))

    def say_repetitions(self):
        return times(run.repetition for run in self.runs())

    def say_baseline(self, data, loss):
        return figure(self.baseline(data, loss))

    def less(self):
        return rows(["", *(f"epsilon {epsilon}" for epsilon in self.about["epsilons"])], [
            [f"{raw.ALL[data].title}, {LOSS[loss]}", *(self.percent(data, loss, epsilon) for epsilon in self.about["epsilons"])]
            for data in raw.ALL for loss in runs.LOSSES])

    def percent(self, data, loss, epsilon):
        """How far the error is below that of the simple rule, with the standard error of that."""
        old, new = (self.cell(data, loss, method, epsilon) for method in ("simple", "shaped"))
        if len(old) < 2 or len(new) < 2:
            return "–"
        least = mean(old)[0]
        if not least:
            return "no errors"
        ratio = mean(new)[0] / least
        # of a ratio of means, paired by split
        off = mean({s: (new[s] - ratio * old[s]) / least for s in old if s in new})[1]
        return f"{100 * (1 - ratio):.1f} ± {100 * off:.1f}".replace("-", "−")
