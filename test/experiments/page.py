"""What the parts of the document are made of."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
LOSS = {"logistic": "Logistic regression", "huber": "Huber SVM"}
UNFINISHED = " Some of its runs are still to be done: – marks what is missing, and a line of a plot that is only a point is one of these."


def number(value):
    return f"{value:.4f}".replace("-", "−")


def figure(found, mark=""):
    """Mean and standard error in a table."""
    return f"{number(found[0])} ± {found[1]:.4f}{mark}" if found else "–"


def power(exponent):
    return f"10<sup>{exponent.replace('-', '−')}</sup>" if exponent.lstrip("-")[0].isdigit() else exponent


def rows(header, lines):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + "---|" * len(header),
                      *("| " + " | ".join(line) + " |" for line in lines)])


def times(repetitions):
    """From numbers that start at 0."""
    count = max((int(each) for each in repetitions if each.isdigit()), default=0) + 1
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def wide(series):
    """Whether a logarithmic axis is of use."""
    values = [point[1] for one in series for point in one["points"] if point[1] > 0]
    return len(values) > 0 and max(values) > 3 * min(values)


class Page:
    """A part of the document: results and a template."""

    def __init__(self, part, results, docs):
        self.results, self.docs = results, docs
        self.about = results.about(part)

    def text(self, template):
        """The template with {{name arguments}} replaced by what the method of that name returns."""
        with open(os.path.join(HERE, template), encoding="utf-8") as file:
            text = self.fill(file.read())
        missing = any(line.startswith("|") and "–" in line for line in text.splitlines())
        return text.replace("<unfinished>", UNFINISHED if missing else "")

    def fill(self, text):
        done = ""
        while "{{" in text:
            before, _, text = text.partition("{{")
            call, _, text = text.partition("}}")
            name, *words = call.split()
            done += before + getattr(self, "say_" + name, getattr(self, name, None))(*words)
        return done + text

    def say_about(self, key):
        return str(self.about.get(key, "–"))

    def say_rows(self, data):
        return f"{self.about['data'][data]['rows']:,}"

    def say_dimension(self, data):
        return str(self.about["data"][data]["dimension"])

    def say_positive(self, data):
        return f"{self.about['data'][data]['positive']:.3f}"

    def runs(self):
        """Of this part."""
        return [run for run in self.results.errors if run.data in self.about["data"]]

    def say_runs(self):
        return f"{len(self.runs()):,}"

    def say_minutes(self):
        return f"{sum(self.results.seconds[run] for run in self.runs()) / 60:.0f}"
