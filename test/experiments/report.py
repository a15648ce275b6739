"""docs/experiments.md and its plots, from the results alone."""
import math
import os

import classes_report
import datasets
import delta_report
import knots_report
import paper
import raw_report
import regression_report
import runs
from database import Failed
from page import LOSS, Page, figure, power, rows, times, wide
from results import gain, mean, worse
from svgplot import line_plot

# Parts of the document that may be of another run than the rest: their report, and what is around their text.
PARTS = {part: (report, f"<!-- {name} -->\n", f"<!-- end of {name} -->\n") for part, report, name in (
    ("knots", knots_report.Report, "curves"), ("classes", classes_report.Report, "classes"),
    ("regression", regression_report.Report, "numbers"),
    ("raw", raw_report.Report, "raw columns"), ("delta", delta_report.Report, "delta and neighbours"))}
METHOD = {"non-private": "non-private", "output": "output", "paper": "objective, `'paper'`",
          "sharp": "objective, `'sharp'`", "diffprivlib": "diffprivlib"}
PLAIN = {"sharp": "objective, sharp", "paper": "objective, paper", "output": "output",
         "diffprivlib": "diffprivlib"}


def rounding(text):
    """Half a unit of the last digit."""
    return 0.5 * 10.0 ** -len(text.split(".")[1])


def deviation(found, reference):
    """By how many standard errors of the difference our error is above the reference. The other side
    reports no standard error; it is taken to be as large as ours. The reference is rounded."""
    off = found[0] - float(reference)
    off -= max(-rounding(reference), min(rounding(reference), off))
    if not off:
        return 0.0
    return off / (2 ** 0.5 * found[1]) if found[1] else math.copysign(math.inf, off)


class Cell:
    """One entry of the paper's tables, and ours."""

    def __init__(self, results, data, loss, method, exponent):
        self.key = (data, loss, method, exponent)
        self.found = mean(results.folds(data, loss, method, exponent, runs.epsilon_of(method, paper.EPSILON)))
        self.paper = paper.error(data, loss, method, exponent)
        self.second = paper.SECOND.get(self.key)
        self.off = deviation(self.found, self.paper) if self.found and self.paper else None
        self.off_second = deviation(self.found, self.second) if self.found and self.second else None

    def mark(self):
        """An arrow where we differ from the paper by more than two standard errors."""
        return "" if self.off is None or abs(self.off) <= 2 else " ↓" if self.off < 0 else " ↑"

    def name(self):
        data, loss, method, exponent = self.key
        return f"{datasets.ALL[data].title}, {LOSS[loss]}, {METHOD[method]}, {power(exponent)}"


class Report(Page):
    """The paper's experiments."""

    def __init__(self, results, best, docs):
        super().__init__("paper", results, docs)
        self.best = best
        self.cells = {(data, loss, method, exponent): Cell(results, data, loss, method, exponent)
                      for data in datasets.ALL for loss in runs.LOSSES for method in ["non-private", *runs.PRIVATE]
                      for exponent in paper.LAMBDAS[data]}

    # ------------------------------------------------------------- tables

    def table(self, data, loss):
        lines = []
        for exponent in paper.LAMBDAS[data]:
            line = [power(exponent)]
            for method in ["non-private", "output", "paper", "sharp"]:
                cell = self.cells[data, loss, method, exponent]
                text = figure(cell.found, cell.mark())
                line.append(f"**{text}**" if exponent == self.best(data, loss, method) else text)
                if method != "sharp":
                    line.append(cell.paper)
            lines.append([*line, figure(gain(self.results, data, loss, exponent))])
        return rows(["lambda", "non-private", "paper", "output", "paper", "objective, `'paper'`", "paper",
                     "objective, `'sharp'`", "`'sharp'` − `'paper'`"], lines)

    def agreement(self):
        compared = [cell for cell in self.cells.values() if cell.off is not None]
        off = [cell for cell in compared if abs(cell.off) > 2]
        second = [cell for cell in self.cells.values() if cell.off_second is not None]
        text = [f"{len(compared) - len(off)} of {len(compared)} entries agree with the paper within two standard errors of "
                "the difference. The others:\n"] if off else [f"All {len(compared)} entries agree with the paper.\n"]
        if off:
            text.append(rows(["entry", "dperm", "paper", "standard errors", "second implementation", "why"], [
                [cell.name(), figure(cell.found), cell.paper, f"{cell.off:+.1f}".replace("-", "−"), cell.second or "",
                 why(cell)] for cell in off]))
        agree = [cell for cell in second if abs(cell.off_second) <= 2]
        text.append(f"\nA second implementation of the paper, written independently of dperm and with the same preprocessing, "
                    f"gave these numbers; {len(agree)} of {len(second)} agree with ours within two standard errors.\n")
        text.append(rows(["entry", "dperm", "second implementation", "paper", "standard errors from the second"], [
            [cell.name(), figure(cell.found), cell.second, cell.paper or "",
             f"{cell.off_second:+.1f}".replace("-", "−")] for cell in second]))
        return "\n".join(text)

    def sharper(self):
        """Where the sharp analysis is better, and whether it is worse anywhere."""
        pairs = {(data, loss, exponent): gain(self.results, data, loss, exponent)
                 for data in datasets.ALL for loss in runs.LOSSES for exponent in paper.LAMBDAS[data]}
        better = [pair for pair, found in pairs.items() if found and found[0] < -2 * found[1]]
        bad = worse(self.results)
        text = [f"Of {len(pairs)} pairs, `'sharp'` is better than `'paper'` by more than two standard errors in {len(better)}, "
                f"worse in {len(bad) or 'none'}. The gain is largest where lambda is small, and where the paper's rule "
                "leaves almost no epsilon for the noise, just before it raises lambda instead (KDDCup99, Huber SVM, "
                f"10<sup>−3.5</sup>: {self.say_error('kdd', 'huber', 'sharp', '-3.5')} instead of "
                f"{self.say_error('kdd', 'huber', 'paper', '-3.5')}). At large lambda both use the same lambda and nearly the "
                "same epsilon for the noise, so differences there should be chance: about 4 of 100 equal pairs lie beyond two "
                "standard errors on the bad side."]
        if bad:
            text += ["", "Pairs that were worse were run again with fresh noise, separately from the tables. A "
                     "difference that is not due to chance shows up again:", "", rows(
                         ["entry", "`'sharp'` − `'paper'`", "standard errors", "again", "standard errors", "runs of each",
                          "lambda used, `'paper'`", "`'sharp'`", "epsilon for the noise, `'paper'`", "`'sharp'`"],
                         [self.worse_row(*pair) for pair in bad])]
        return "\n".join(text)

    def worse_row(self, data, loss, exponent):
        used, row = self.about["calibration"][data][loss][exponent], []
        for again in (False, True):
            found = gain(self.results, data, loss, exponent, again)
            row += [figure(found), f"{found[0] / found[1]:+.1f}".replace("-", "−") if found and found[1] else "–"]
        fresh = sum(run[:4] == (data, loss, "sharp", exponent) and run.repetition.startswith(runs.AGAIN)
                    for run in self.results.errors)
        return [f"{datasets.ALL[data].title}, {LOSS[loss]}, {power(exponent)}", *row, str(fresh),
                *(f"{used[analysis][part]:.3g}" for part in (0, 1) for analysis in ("paper", "sharp"))]

    # -------------------------------------------------------------- plots

    def curve(self, data, loss, method, exponent):
        points = [(epsilon, mean(self.results.folds(data, loss, method, exponent, epsilon)))
                  for epsilon in self.about["epsilons"]]
        return [(float(epsilon), *found) for epsilon, found in points if found]

    def curves(self, data, loss):
        """(name, lambda, points) in the order of the plot."""
        methods = ["sharp", "paper", "output"]
        if loss == "logistic" and self.about["diffprivlib"]:
            methods.append("diffprivlib")
        found = [("dperm by default", "default", self.curve(data, loss, "sharp", "default"))]
        for method in methods:
            exponent = self.best(data, loss, "paper" if method == "diffprivlib" else method)
            found.append((PLAIN[method], exponent, self.curve(data, loss, method, exponent)))
        return found

    def baseline(self, data, loss):
        return self.cells[data, loss, "non-private", self.best(data, loss, "non-private")].found

    def plot_epsilon(self, data, loss, file):
        if not self.baseline(data, loss):
            return  # the run is not finished
        about, title = self.about["data"][data], datasets.ALL[data].title
        epsilons = list(map(float, self.about["epsilons"]))
        series = [dict(name=name, points=points) for name, _, points in self.curves(data, loss)]
        constant = min(about["positive"], 1 - about["positive"])
        for name, level in (("always the same class", constant), ("no privacy", self.baseline(data, loss)[0])):
            series.append(dict(name=name, dashed=True, points=[(min(epsilons), level), (max(epsilons), level)]))
        line_plot(os.path.join(self.docs, file), f"{LOSS[loss]} on {title}: what privacy costs",
                  "epsilon (smaller is more private)", "error on rows that were not trained on", series,
                  log_x=True, log_y=data == "kdd" and wide(series),
                  note=f"{about['rows']:,} rows, {about['dimension']} coordinates, {self.about['folds']}-fold "
                       "cross-validation; bars: one standard error. Objective and output perturbation at the lambda of a "
                       "grid that was best at epsilon = 0.1; dperm by default: sharp, with the default lambda.")

    def epsilon_table(self, data, loss):
        curves = self.curves(data, loss)
        header = ["epsilon", *(f"{name}, lambda {power(exponent)}" if exponent != "default" else name
                               for name, exponent, _ in curves)]
        lines = []
        for epsilon in self.about["epsilons"]:
            line = [epsilon]
            for _, _, points in curves:
                line.append(figure(next((point[1:] for point in points if point[0] == float(epsilon)), None)))
            lines.append(line)
        return rows(header, lines)

    def learning(self, loss, method, epsilon):
        points = [(size, mean(self.results.folds("kdd", loss, method, "tuned", epsilon, size)))
                  for size in self.about["sizes"]]
        return [(int(size), *found) for size, found in points if found]

    def learning_curves(self, loss):
        found = [("non-private", "Infinity", self.learning(loss, "non-private", "Infinity"))]
        for method in ("sharp", "paper", "output"):
            for epsilon in runs.LEARNING_EPSILONS:
                found.append((method, epsilon, self.learning(loss, method, epsilon)))
        return found

    def plot_learning(self, loss, epsilon, file):
        series = [dict(name="no privacy" if method == "non-private" else PLAIN[method], points=points,
                       dashed=method == "non-private")
                  for method, each, points in self.learning_curves(loss) if each in (epsilon, "Infinity")]
        if not any(one["points"] for one in series):
            return  # the run is not finished
        line_plot(os.path.join(self.docs, file), f"{LOSS[loss]} on KDDCup99, tuned privately, epsilon = {epsilon}",
                  f"rows of each of the {runs.PORTIONS} portions", "error on rows that were not trained on",
                  series[1:] + series[:1], log_y=wide(series),
                  note="Lambda is chosen from five values, each trained on a portion of its own, by the last portion; the "
                       "whole costs epsilon. Bars: one standard error over five random orders of the rows.")

    def learning_table(self, loss):
        curves = self.learning_curves(loss)
        header = ["rows per portion", *(METHOD[method] + ("" if epsilon == "Infinity" else f", {epsilon}")
                                        for method, epsilon, _ in curves)]
        return rows(header, [[size, *(figure(next((p[1:] for p in points if p[0] == int(size)), None))
                                      for _, _, points in curves)] for size in self.about["sizes"]])

    # ----------------------------------------------------------- document

    def write(self):
        """The plots; returns the text."""
        for data in datasets.ALL:
            self.plot_epsilon(data, "logistic", f"experiments-{data}-epsilon.svg")
            self.plot_epsilon(data, "huber", f"experiments-{data}-epsilon-huber.svg")
        for loss in runs.LOSSES:
            for epsilon in runs.LEARNING_EPSILONS:
                self.plot_learning(loss, epsilon, learning_file(loss, epsilon))
        return self.text("document.md")

    def say_all(self, data):
        return f"{self.about['data'][data]['all']:,}"

    def say_repetitions(self):
        return times(run.repetition for run in self.results.errors if run.method == "sharp")

    def say_history(self):
        """Whoever looks at results before going on has to say so."""
        history = list(map(str, self.about["history"]))
        return f" The tables were first run with {', then '.join(history[:-1])} repetitions and extended to " \
               f"{history[-1]} after looking at them." if len(history) > 1 else ""

    def say_learning_repetitions(self):
        return times(run.repetition for run in self.results.errors if run.size)

    def say_error(self, data, loss, method, exponent):
        return figure(self.cells[data, loss, method, exponent].found)

    def say_diffprivlib(self):
        return ("It was: its curve is in the plots and tables of logistic regression." if self.about["diffprivlib"] else
                "In the run shown here it was not.")


def learning_file(loss, epsilon):
    kind = "" if loss == "logistic" else "-" + loss
    return f"experiments-kdd-learning{kind}.svg" if epsilon == runs.LEARNING_EPSILONS[0] else \
        f"experiments-kdd-learning{kind}-{epsilon}.svg"


# What is known about entries that differ.
SMALL = {"-10", "-9", "-7", "-5", "-4"}
WHY = [
    (lambda data, loss, method, exponent: (data, loss, method) == ("adult", "logistic", "paper") and exponent in SMALL,
     "not reproducible: 0.8248 is worse than both constant answers (0.25 and 0.75), which noise cannot cause"),
    (lambda data, loss, method, exponent: (data, loss, method) == ("kdd", "logistic", "paper") and exponent in SMALL,
     "not reproducible: 0.2084 is worse than a constant answer (0.20), but neighbouring entries with more noise are far below"),
    (lambda data, loss, method, exponent: data == "kdd" and method == "non-private" and exponent in SMALL,
     "probably the solver: the objective is nearly flat; ours certifies its minimum, and a solver that stops earlier has a larger error"),
    (lambda data, loss, method, exponent: method == "output",
     "probably too few runs: rare bad draws dominate the mean of output perturbation, and without them the standard error is "
     "too small as well"),
]


def why(cell):
    for applies, reason in WHY:
        if cell.off < 0 and applies(*cell.key):
            return reason
    return "may be chance: one entry in twenty is expected to deviate this much" if abs(cell.off) < 3 else "not known"


def divide(text, part, path):
    """A document: before the text of a part, that text, and after it."""
    before, begin, rest = text.partition(PARTS[part][1])
    inner, end, after = rest.partition(PARTS[part][2])
    if not begin or not end:
        raise Failed(f"there are no results of one part of the document, and {path} does not have it either")
    return before + begin, inner, end + after


def write(results, best, docs):
    """Writes the document and the plots. What there are no results of stays as it is in the document."""
    path = os.path.join(docs, "experiments.md")
    os.makedirs(docs, exist_ok=True)
    old = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
    text = Report(results, best, docs).write() if results.about("paper") else old
    for part, (report, _, _) in PARTS.items():
        before, inner, after = divide(text, part, path)
        if results.about(part):
            inner = report(results, docs).write()
        elif results.about("paper"):
            inner = divide(old, part, path)[1]
        text = before + inner + after
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path
