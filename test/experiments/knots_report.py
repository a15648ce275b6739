"""The text about curves and its plots, from the results alone."""
import os

import ebm
import knots
import raw
import runs
from page import LOSS, Page, figure, rows, times
from results import difference, mean
from svgplot import line_plot

PROMISE = {"pure": "`'replace'`", "remove": "`'remove'`", "delta": "`'replace'`, delta", "delta-remove": "`'remove'`, delta",
           "non-private": "no privacy"}
# the title of a plot, and of its axis
DRAWN = {"age": ("What age adds", "age in years"), "hours_per_week": ("What hours of work add", "hours of work per week"),
         "capital_gain": ("What a capital gain adds", "capital gain in dollars")}
LINE = {"curves 0.3": "epsilon 0.3", "curves 1": "epsilon 1", "curves Infinity": "no privacy", "straight 1": "straight line, epsilon 1"}


def title(data):
    return raw.ALL[knots.ALL[data]].title


class Report(Page):
    def __init__(self, results, docs):
        super().__init__("knots", results, docs)

    def folds(self, data, loss, method, epsilon, areas=False):
        return self.results.folds(data, loss, method, "default", epsilon, areas=areas)

    def pair(self, data, loss, mode, epsilon, areas=False):
        """Of straight lines and of curves, by split."""
        return [self.folds(data, loss, knots.method(encoding, mode), epsilon, areas) for encoding in knots.ENCODINGS]

    def cells(self):
        return [(data, loss, mode, epsilon) for data in knots.ALL for loss in runs.LOSSES for mode in knots.MODES
                for epsilon in self.about["epsilons"]]

    # ------------------------------------------------------------- tables

    def table(self, data, loss):
        lines = [self.line(data, loss, mode, epsilon) for mode in knots.MODES for epsilon in self.about["epsilons"]]
        lines.append(self.line(data, loss, "non-private", "Infinity"))
        return rows(["neighbours", "epsilon", "knots", "error, straight", "error, curves", "curves − straight", "AUC, straight",
                     "AUC, curves", "curves − straight"], lines)

    def line(self, data, loss, mode, epsilon):
        used = self.about["chosen"].get(knots.cell(data, loss, mode, epsilon), "–")
        line = [PROMISE[mode], "" if epsilon == "Infinity" else epsilon, str(used)]
        for areas in (False, True):
            straight, curves = self.pair(data, loss, mode, epsilon, areas)
            line += [figure(mean(straight)), figure(mean(curves)), figure(difference(curves, straight))]
        return line

    def bars(self):
        lines = []
        for (data, loss, mode, epsilon), (most, least) in knots.BARS.items():
            if epsilon not in self.about["epsilons"]:
                continue
            error, area = (mean(self.pair(data, loss, mode, epsilon, areas)[1]) for areas in (False, True))
            met = "–" if not error else "yes" if error[0] <= most and area[0] >= least else "**no**"
            lines.append([f"{title(data)}, {LOSS[loss].lower()}, {PROMISE[mode]}, epsilon {epsilon}", figure(error),
                          f"{most:.3f}", figure(area), f"{least:.3f}", met])
        return rows(["", "error", "goal, at most", "AUC", "goal, at least", "met"], lines)

    def compared(self):
        """(cell, difference of the errors) where there are results."""
        found = ((cell, difference(*reversed(self.pair(*cell)))) for cell in self.cells())
        return [(cell, off) for cell, off in found if off]

    def say_worse(self):
        found = self.compared()
        better, worse = (sum(sign * off > 2 * deviation for _, (off, deviation) in found) for sign in (-1, 1))
        beyond = [(cell, off) for cell, off in found if off[0] > max(knots.TOLERATED, 2 * off[1])]
        text = (f"Of {len(found)} pairs, curves have the smaller error by more than two standard errors in {better}, the larger "
                f"in {worse}. ")
        if not beyond:
            return text + f"Nowhere is it larger by more than {knots.TOLERATED} and two standard errors."
        return text + (f"It is larger by more than {knots.TOLERATED} and two standard errors in {len(beyond)}, which misses a "
                       "goal: " + "; ".join(f"{title(data)}, {LOSS[loss].lower()}, {PROMISE[mode]}, epsilon {epsilon}: "
                                            f"{figure(off)}" for (data, loss, mode, epsilon), off in beyond) + ".")

    # ------------------------------------------------------------- DP-EBM

    def boosted(self):
        def cell(method, epsilon, areas=False):
            return figure(mean(self.folds("adult_knots", "logistic", method, epsilon, areas)))

        seconds = sorted(seconds for run, seconds in self.results.seconds.items() if run.method in ebm.METHODS)
        if not seconds:
            return "In the run shown here interpret was not installed."
        lines = []
        for epsilon in (each for each in ebm.EPSILONS if each in self.about["epsilons"]):
            line = [epsilon, *(cell(method, epsilon) for method in ebm.METHODS), cell(ebm.METHODS[0], epsilon, True)]
            for mode in ("delta-remove", "delta"):
                line += [cell(knots.method("curves", mode), epsilon, areas) for areas in (False, True)]
            lines.append(line)
        return (f"It ran here with interpret {self.about['interpret']}, once in each split, a median of "
                f"{seconds[len(seconds) // 2]:.0f} seconds each.\n\n" + rows(
                    ["epsilon", "DP-EBM: error", "at the best threshold", "AUC", "dperm, `'remove'`: error", "AUC",
                     "dperm, `'replace'`: error", "AUC"], lines))

    # -------------------------------------------------------------- plots

    def spread(self, drawn, column):
        """Points (position, mean, lowest, highest) over the trainings."""
        curves = self.about["shapes"][knots.shape(*drawn)][column]
        points = []
        for i, (position, _) in enumerate(curves[0]):
            scores = [curve[i][1] for curve in curves]
            points.append((position, sum(scores) / len(scores), min(scores), max(scores)))
        return points

    def plot(self, column, file):
        series = []
        for encoding, epsilon in knots.DRAWN:
            points = self.spread((encoding, epsilon), column)
            line = dict(name=LINE[knots.shape(encoding, epsilon)], points=points, band=True)
            if encoding == "straight":
                line.update(points=[point[:2] for point in points], band=False, dashed=True)
            series.append(line)
        line_plot(os.path.join(self.docs, file), f"{DRAWN[column][0]} to the log-odds of a high income",
                  DRAWN[column][1], "log-odds, relative to the mean over the rows", series,
                  note=f"Logistic regression on Adult, {self.about['splits']} trainings, each with fresh noise and on another "
                       "80 percent of the rows. Lines: their mean, with a marker at each knot. Bands: from the lowest to the "
                       "highest training. All else being equal: the model has the other 13 columns, too.")

    # ----------------------------------------------------------- document

    def write(self):
        """The plots; returns the text."""
        if self.about.get("shapes"):
            for column in knots.COLUMNS:
                self.plot(column, f"experiments-curve-{knots.COLUMNS[column]}.svg")
        return self.text("knots.md")

    def say_repetitions(self):
        return times(run.repetition for run in self.runs() if run.method not in ebm.METHODS)
