"""The text about labels of several classes, from the results alone."""
import classes
from page import Page, figure, rows, times
from results import mean


class Report(Page):
    def __init__(self, results, docs):
        super().__init__("classes", results, docs)

    def cell(self, data, method, epsilon):
        return figure(mean(self.results.folds(data, "softmax", method, "default", epsilon)))

    def table(self, data):
        goals = classes.BARS if data == "adult_marital" else {}
        methods = [method for method in classes.METHODS if method != "diffprivlib" or self.about["diffprivlib"]]
        lines = [[epsilon, *(self.cell(data, method, epsilon) for method in methods),
                  *([f"{goals[epsilon]:.3f}" if epsilon in goals else ""] if goals else [])] for epsilon in self.about["epsilons"]]
        empty = [""] * (len(methods) - 2 + bool(goals))
        lines.append(["no privacy", self.cell(data, "softmax", "Infinity"), self.cell(data, "one against the rest", "Infinity"), *empty])
        lines.append(["the most frequent class", f"{self.about['data'][data]['constant']:.4f}", "", *empty])
        return rows(["epsilon", *methods, *(["goal of softmax, at most"] if goals else [])], lines)

    def write(self):
        return self.text("classes.md")

    def say_classes(self, data):
        return str(self.about["data"][data]["classes"])

    def say_repetitions(self):
        return times(run.repetition for run in self.runs())

    def say_peer(self):
        """How many splits diffprivlib was trained on."""
        folds = {run.fold for run in self.runs() if run.method == "diffprivlib"}
        return (f" diffprivlib {self.about['diffprivlib']} has `LogisticRegression`, which is one against the rest, too, with its default C: "
                f"{len(folds)} of the splits." if folds else "")
