#!/usr/bin/env python3
"""Is a model useful where dp_cost says so? Tables drawn at random, and what models of them are worth.

    test/experiments/useful.py DATABASE [FIRST [COUNT]]

draws COUNT (10) tables with consecutive seeds, in a database with the extension, and prints a table in Markdown. The
way is how far the median of some runs gets from the majority class, or the mean, to a model without noise; a model is
useful from one half on. Tables in which there is hardly anything to learn are left out.
"""
import json
import math
import random
import statistics
import sys

from database import Session, literal

RUNS = 11
TESTED = 4000  # rows
LEARNABLE = 0.9  # the error without noise, at most, as a share of that of the majority

# Numbers from 0 to 1: an expression, its mean and its variance.
NUMBERS = [("random()", 1 / 2, 1 / 12), ("(random() + random() + random()) / 3", 1 / 2, 1 / 36), ("power(random(), 3)", 1 / 4, 9 / 112)]

# What a label is, from a score; the share of mistakes, or the error, of a model; the same of the majority, or the mean.
LABELS = {
    "two classes": ("random() < 1 / (1 + exp(-({score})))", "avg((dp_predict(model, t) <> y)::int)", "mode() WITHIN GROUP (ORDER BY y)", None),
    "three classes": ("(ARRAY['a', 'b', 'c'])[CASE WHEN random() < 0.15 THEN 1 + floor(random() * 3)::int ELSE width_bucket(({score}) / {strength}, ARRAY[-0.6, 0.6]::float8[]) + 1 END]",
                      "avg((dp_predict_class(model, t) <> y)::int)", "mode() WITHIN GROUP (ORDER BY y)", ["a", "b", "c"]),
    "number": ("greatest(0, least(100, 50 + 10 * ({score}) + 10 * (random() + random() + random() - 1.5)))",
               "sqrt(avg((dp_predict_value(model, t) - y) ^ 2))", "avg(y)", [0, 100]),
}


class Table:
    """A table, and how it is trained on."""

    def __init__(self, seed):
        draw = random.Random(seed)
        spread = lambda low, high: math.exp(draw.uniform(math.log(low), math.log(high)))  # noqa: E731
        self.name = f"useful_{seed}"
        columns = round(spread(4, 200))
        self.categories, self.flags = draw.randint(0, columns // 3), draw.randint(0, columns // 3)
        self.numbers = columns - self.categories - self.flags
        self.rows = round(spread(500, 100000 if columns < 40 else 20000))
        self.told = draw.choice([columns, columns // 2, columns // 4]) if columns > 7 else columns  # by so many columns
        self.strength, self.base = draw.choice([0.8, 1.2, 2, 3]), draw.choice([0, 0, -0.7, 1, -1.5])  # of the score
        self.bent = draw.random() < 0.4  # does every other number count by its distance from the middle?
        self.wide = draw.choice([1, 1, 1.5, 3])  # domains of numbers are so much wider than they need be
        self.label = draw.choice(["two classes", "two classes", "two classes", "three classes", "number"])
        self.epsilon = float(f"{spread(0.05, 3):.2g}")

    def create(self, session):
        columns, terms, domains = [], [], {}
        for i in range(self.numbers):
            value, mean, variance = NUMBERS[i % 3]
            columns.append(f"{value} AS n{i}")
            domains[f"n{i}"] = [0, self.wide]
            terms.append(f"(abs(n{i} - 0.5) - 0.25) / 0.144" if self.bent and i % 2 == 0 else
                         f"(n{i} - {mean}) / {math.sqrt(variance)} * {(-1) ** (i // 2)}")
        for i in range(self.categories):
            columns.append(f"floor(random() * {4 + i % 5})::int::text AS c{i}")
            domains[f"c{i}"] = [str(j) for j in range(4 + i % 5)]
            terms.append(f"(CASE WHEN c{i} IN ('0', '3') THEN 1 ELSE -1 END)")
        for i in range(self.flags):
            columns.append(f"random() < 0.5 AS f{i}")
            terms.append(f"(f{i}::int * 2 - 1)")
        terms = [terms[i * len(terms) // self.told] for i in range(self.told)]
        score = f"{self.base} + {self.strength / math.sqrt(self.told)} * ({' + '.join(terms)})"
        label, self.error, self.majority, domain = LABELS[self.label]
        if domain:
            domains["y"] = domain
        for name, rows, seed in (self.name, self.rows, 0.1), (f"{self.name}_test", TESTED, 0.2):
            session.run(f"DROP TABLE IF EXISTS {name}; SELECT setseed({seed})")
            session.run(f"CREATE TABLE {name} AS SELECT {label.format(score=score, strength=self.strength)} AS y, t.* "
                        f"FROM (SELECT {', '.join(columns)} FROM generate_series(1, {rows}) OFFSET 0) t")
        self.call = f"'{self.name}', 'y', NULL, %s, domains => {literal(json.dumps(domains))}"
        self.learner = "linreg" if self.label == "number" else "logreg"

    def error_of(self, session, epsilon):
        """The error of a model on the rows for testing."""
        return float(session.value(f"WITH m AS MATERIALIZED (SELECT dp_{self.learner}_train({self.call % epsilon}) AS model) "
                                   f"SELECT {self.error} FROM m, {self.name}_test t"))

    def error_of_majority(self, session):
        wrong = "sqrt(avg((y - m) ^ 2))" if self.label == "number" else "avg((y <> m)::int)"
        return float(session.value(f"SELECT {wrong} FROM {self.name}_test, (SELECT {self.majority} AS m FROM {self.name}) a"))


def main():
    session = Session(sys.argv[1])
    seed, left = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 1), (3, 10)))
    session.run("SET client_min_messages = error")
    print("| seed | label | columns | rows | epsilon | `noise_share` | `verdict` | majority | with noise | without noise | way | right |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    right = count = 0
    while count < left:
        table = Table(seed)
        table.create(session)
        share, verdict = session.run(f"SELECT noise_share, verdict FROM dp_cost({table.call % table.epsilon}, "
                                     f"units => {table.rows}, learner => '{table.learner}')")[0]
        worst, best = table.error_of_majority(session), table.error_of(session, "'Infinity'")
        if best <= LEARNABLE * worst:
            found = statistics.median(table.error_of(session, table.epsilon) for _ in range(RUNS))
            way = (worst - found) / (worst - best)
            agrees = (verdict == "useful") == (way >= 0.5)
            right, count = right + agrees, count + 1
            print(f"| {seed} | {table.label} | {table.numbers + table.categories + table.flags} | {table.rows:,} | {table.epsilon} | {float(share):.2f} "
                  f"| {verdict} | {worst:.3f} | {found:.3f} | {best:.3f} | {100 * way:.0f} % | {'yes' if agrees else 'no'} |".replace("| -", "| −"), flush=True)
        session.run(f"DROP TABLE {table.name}, {table.name}_test")
        seed += 1
    print(f"\n{right} of {count} right")


if __name__ == "__main__":
    main()
