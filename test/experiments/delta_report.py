"""The text about delta and neighbours and its plots, from the results alone."""
import os
from collections import Counter

import datasets
import delta
import paper
import runs
from page import LOSS, Page, figure, number, power, rows, times, wide
from results import best, mean
from svgplot import line_plot

METHOD = {"pure": "epsilon alone", "remove": "epsilon alone, `'remove'`", "delta": "delta = 10<sup>−6</sup>",
          "delta-remove": "delta = 10<sup>−6</sup>, `'remove'`", "simple": "simple rule", "paper": "the paper's algorithm"}
PLAIN = {"pure": "epsilon alone", "remove": "epsilon alone, a row removed", "delta": "delta = 1e-6",
         "delta-remove": "delta = 1e-6, a row removed", "simple": "simple rule for lambda",
         "paper": "the paper's algorithm, best lambda"}
NOISE = {"pure": "the noise of epsilon alone", "Gaussian": "Gaussian noise"}


def title(data):
    return datasets.ALL[delta.ALL[data]].title


class Report(Page):
    def __init__(self, results, docs):
        super().__init__("delta", results, docs)

    def cell(self, data, loss, method, lambda_, epsilon=paper.EPSILON):
        return mean(self.results.folds(data, loss, method, lambda_, epsilon))

    def best(self, data, loss, mode):
        return best(self.results, self.about["lambdas"], data, loss, mode)

    def baseline(self, data, loss):
        return self.cell(data, loss, "non-private", delta.PLAIN_LAMBDA, "Infinity")

    # ------------------------------------------------------------- tables

    def aims(self):
        lines = []
        for (data, loss, mode), (aim, second) in delta.AIMS.items():
            exponent = self.best(data, loss, mode)
            lines.append([f"{title(data)}, {LOSS[loss]}, {METHOD[mode]}", power(exponent),
                          figure(self.cell(data, loss, mode, exponent)),
                          figure(mean(self.results.folds(data, loss, mode, exponent, paper.EPSILON, again=True))), aim, second])
        return rows(["entry", "best lambda", "in the table", "again", "goal, at most", "second implementation"], lines)

    def table(self, data, loss):
        lines = []
        for exponent in [*self.about["lambdas"], "default"]:
            line = [power(exponent) if exponent != "default" else "none: the default call"]
            for mode in delta.MODES:
                text = figure(self.cell(data, loss, mode, exponent))
                line.append(f"**{text}**" if exponent == self.best(data, loss, mode) else text)
            lines.append(line)
        return rows(["lambda", *(METHOD[mode] for mode in delta.MODES)], lines)

    # ------------------------------------------------------------- curves

    def lines(self, data, loss):
        """(method, points) in the order of the plot; a point is (epsilon as text, mean and standard error or None)."""
        return [(method, [(epsilon, self.cell(data, loss, method, paper.best(delta.ALL[data], loss)
                                              if method == "paper" else "default", epsilon))
                          for epsilon in self.about["epsilons"]]) for method in [*reversed(delta.MODES), *delta.OTHERS]]

    def curve_table(self, data, loss):
        lines = self.lines(data, loss)
        return rows(["epsilon", *(METHOD[method] for method, _ in lines)],
                    [[epsilon, *(figure(points[i][1]) for _, points in lines)]
                     for i, epsilon in enumerate(self.about["epsilons"])])

    def plot(self, data, loss, file):
        if not self.baseline(data, loss):
            return  # the run is not finished
        about, epsilons = self.about["data"][data], list(map(float, self.about["epsilons"]))
        series = [dict(name=PLAIN[method], points=[(float(epsilon), *found) for epsilon, found in points if found])
                  for method, points in self.lines(data, loss)]
        constant = min(about["positive"], 1 - about["positive"])
        for name, level in (("always the same class", constant), ("no privacy", self.baseline(data, loss)[0])):
            series.append(dict(name=name, dashed=True, points=[(min(epsilons), level), (max(epsilons), level)]))
        line_plot(os.path.join(self.docs, file), f"{LOSS[loss]} on {title(data)}: delta and neighbours",
                  "epsilon (smaller is more private)", "error on rows that were not trained on", series,
                  log_x=True, log_y=wide(series),
                  note=f"{about['rows']:,} rows, {about['dimension']} coordinates, {self.about['folds']}-fold "
                       "cross-validation; bars: one standard error. No lambda is given but to the paper's algorithm: "
                       "the best one by the paper's table. A row removed is a weaker promise than a row replaced.")

    def say_chosen(self):
        """What a call without a method used in the curves."""
        def of(modes):
            count = Counter(tuple(self.about["chosen"][delta.choice(data, loss, mode, epsilon)]) for data in delta.ALL
                            for loss in runs.LOSSES for mode in modes for epsilon in self.about["epsilons"])
            return ", ".join(f"{method} perturbation with {NOISE[law]} in {found} of {sum(count.values())} cells"
                             for (method, law), found in count.most_common())
        return f"With delta it used {of(['delta', 'delta-remove'])}; without, {of(['pure', 'remove'])}."

    # --------------------------------------------------------------- wide

    def wide_cell(self, loss, mode, epsilon):
        return self.cell("wide", loss, mode, "default", epsilon)

    def wide_baseline(self, loss):
        """Without noise there is one run."""
        found = self.results.folds("wide", loss, "non-private", "default", "Infinity")
        return next(iter(found.values()), None)

    def say_wide_baseline(self, loss):
        found = self.wide_baseline(loss)
        return "–" if found is None else number(found)

    def wide_table(self):
        def chosen(loss, epsilon):
            return ", ".join(self.about["chosen"][delta.choice("wide", loss, "delta", epsilon)])

        return rows(["epsilon", *(f"{LOSS[loss]}, {METHOD[mode]}" for loss in runs.LOSSES for mode in delta.WIDE_MODES),
                     "`'auto'` with delta"],
                    [[epsilon, *(figure(self.wide_cell(loss, mode, epsilon)) for loss in runs.LOSSES
                                 for mode in delta.WIDE_MODES),
                      "; ".join(dict.fromkeys(chosen(loss, epsilon) for loss in runs.LOSSES))]
                     for epsilon in self.about["wide_epsilons"]])

    def plot_wide(self, file):
        if None in map(self.wide_baseline, runs.LOSSES):
            return  # the run is not finished
        epsilons, series = list(map(float, self.about["wide_epsilons"])), []
        for loss in runs.LOSSES:
            for mode in reversed(delta.WIDE_MODES):
                points = [(float(epsilon), self.wide_cell(loss, mode, epsilon)) for epsilon in self.about["wide_epsilons"]]
                series.append(dict(name=f"{LOSS[loss]}, {PLAIN[mode]}",
                                   points=[(epsilon, *found) for epsilon, found in points if found]))
        level = min(map(self.wide_baseline, runs.LOSSES))
        series.append(dict(name="no privacy", dashed=True, points=[(min(epsilons), level), (max(epsilons), level)]))
        line_plot(os.path.join(self.docs, file), f"Vectors of {delta.DIMENSION} elements: what privacy costs",
                  "epsilon (smaller is more private)", "error on rows that were not trained on", series,
                  log_x=True, log_y=wide(series),
                  note=f"{self.say_rows('wide')} made rows to train on, a fifth as many to test on; no lambda is given. "
                       "Bars: one standard error over repetitions of the noise.")

    def say_wide_seconds(self):
        found = sorted(seconds for run, seconds in self.results.seconds.items() if run.data == "wide")
        return f"{found[0]:.0f} to {found[-1]:.0f}" if found else "–"

    def say_wide_minutes(self):
        return f"{sum(seconds for run, seconds in self.results.seconds.items() if run.data == 'wide') / 60:.0f}"

    # ----------------------------------------------------------- document

    def write(self):
        """The plots; returns the text."""
        for name, data in ((source, data) for data, source in delta.ALL.items()):
            self.plot(data, "logistic", f"experiments-{name}-delta.svg")
            self.plot(data, "huber", f"experiments-{name}-delta-huber.svg")
        self.plot_wide("experiments-wide.svg")
        return self.text("delta.md")

    def say_baseline(self, data, loss):
        return figure(self.baseline(data, loss))

    def repeated(self, wanted):
        """How often the runs with a mode were repeated, at epsilon = 0.1 or elsewhere."""
        return times(run.repetition for run in self.runs() if run.data in delta.ALL and run.method in delta.MODES
                     and (run.epsilon == paper.EPSILON) == wanted)

    def say_repetitions(self):
        return self.repeated(True)

    def say_curve_repetitions(self):
        return self.repeated(False)

    def say_wide_draws(self):
        return str(len({run.fold for run in self.runs() if run.data == "wide"}))

    def say_shift(self):
        return str(delta.SHIFT)

    def say_norm(self):
        return str(delta.NORM)

    def say_cache(self):
        return delta.CACHE
