"""The text about labels that are numbers, from the results alone."""
import regression
from page import Page, rows, times
from results import mean


def shown(found, digits):
    return f"{found[0]:.{digits}f} ± {found[1]:.{digits}f}" if found else "–"


class Report(Page):
    def __init__(self, results, docs):
        super().__init__("regression", results, docs)

    def cell(self, data, method, epsilon, areas=False):
        return mean(self.results.folds(data, "log_cosh", method, "default", epsilon, areas=areas))

    def line(self, data, method, epsilon):
        return [shown(self.cell(data, method, epsilon), 2), shown(self.cell(data, method, epsilon, areas=True), 3)]

    def table(self, data):
        peer = bool(self.about["diffprivlib"])
        lines = [[epsilon, *self.line(data, "private", epsilon), f"{regression.BARS[epsilon]:.2f}" if epsilon in regression.BARS else "",
                  *([shown(self.cell(data, "diffprivlib", epsilon), 2)] if peer else [])] for epsilon in self.about["epsilons"]]
        lines.append(["no privacy", *self.line(data, "non-private", "Infinity"), "", *[""] * peer])
        lines.append(["the median of all rows", f"{self.about['data'][data]['constant']:.2f}", "", "", *[""] * peer])
        return rows(["epsilon", "mean absolute error, years", "R²", "goal, at most", *["diffprivlib, years"] * peer], lines)

    def say_peer(self):
        return (f" diffprivlib {self.about['diffprivlib']} is its `LinearRegression` with the same bounds, its predictions clipped to those of the label, in 5 of the splits." if self.about["diffprivlib"]
                else "")

    def write(self):
        return self.text("regression.md")

    def say_repetitions(self):
        return times(run.repetition for run in self.runs())

    def say_seconds(self):
        return f"{sum(self.results.seconds[run] for run in self.runs()):.0f}"
