"""Curves against straight lines: the raw columns of raw.py with the default call, and with knots => 1.

NAME_knots stands for the table NAME_raw in the results. Next to the error there is the area under the ROC curve (AUC).
"""
import delta
import raw
from database import literal

ALL = {"adult_knots": "adult_raw", "kdd_knots": "kdd_raw"}

# What a call adds to the default.
ENCODINGS = {"straight": ", knots => 1", "curves": ""}
MODES = delta.MODES

# (data, loss, mode, epsilon): goals for the error, at most, and for the AUC, at least, set before the run.
BARS = {
    ("adult_knots", "logistic", "pure", "0.3"): (0.170, 0.882),
    ("adult_knots", "logistic", "pure", "1"): (0.159, 0.897),
    ("adult_knots", "logistic", "pure", "4"): (0.154, 0.903),
    ("adult_knots", "logistic", "delta-remove", "0.5"): (0.152, 0.902),
}
TOLERATED = 0.002  # a larger error than with straight lines, if it is not within two standard errors anyway

# The curves that are drawn, of logistic regression on Adult.
COLUMNS = {"age": "age", "hours_per_week": "hours", "capital_gain": "gain"}  # the names of the plots
DRAWN = [("curves", "0.3"), ("curves", "1"), ("curves", "Infinity"), ("straight", "1")]


def method(encoding, mode):
    """The name of a method in the results."""
    return f"{encoding} {mode}"


def training(table, loss, encoding, mode, epsilon, split):
    """SQL: the call that trains."""
    learner = "dp_logreg" if loss == "logistic" else "dp_svm"
    return (f"{learner}_train('{table}_train_{split}', 'label', NULL, '{epsilon}', "
            f"domains => {literal(raw.ALL[table].declared())}{ENCODINGS[encoding]}{MODES.get(mode, '')})")


def measure(session, run):
    """The share of mistakes on rows that were not trained on, and the AUC. Both exactly."""
    encoding, mode = run.method.split()
    table = ALL[run.data]
    error, area = session.run(f"""
        WITH m AS MATERIALIZED (SELECT {training(table, run.loss, encoding, mode, run.epsilon, run.fold)} AS model),
             s AS MATERIALIZED (SELECT label, dp_predict(model, t) <> label AS wrong, dp_decision(model, t) AS score
                                FROM {table}_test_{run.fold} AS t, m),
             -- the place of a row by score; equal scores share the middle of theirs
             r AS (SELECT label, wrong, rank() OVER (ORDER BY score) + (count(*) OVER (PARTITION BY score) - 1) / 2.0 AS place
                   FROM s),
             c AS (SELECT avg(wrong::int) AS error, sum(place) FILTER (WHERE label) AS places,
                          count(*) FILTER (WHERE label)::numeric AS positive, count(*)::numeric AS rows FROM r)
        SELECT error::float8, ((places - positive * (positive + 1) / 2) / (positive * (rows - positive)))::float8 FROM c""")[0]
    return float(error), float(area)


def cell(data, loss, mode, epsilon):
    """The name of a cell."""
    return f"{data} {loss} {mode} {epsilon}"


def chosen(session, data, loss, mode, epsilon):
    """How many knots a call without them uses; 1 for a straight line."""
    points = int(session.value(f"""
        WITH m AS MATERIALIZED (SELECT {training(ALL[data], loss, 'curves', mode, epsilon, 0)} AS model)
        SELECT count(*) FROM m, dp_curve(model, '{next(iter(raw.ALL[ALL[data]].domains))}')"""))
    return points if points > 2 else 1


def shape(encoding, epsilon):
    """The name of a drawn training."""
    return f"{encoding} {epsilon}"


def shapes(session, encoding, epsilon, splits):
    """The curves of the columns, one training in each split: by column, lists of [position, score].

    Adding a constant to a curve and taking it from the intercept changes nothing. So a curve is shifted: its mean over the
    rows is 0."""
    counts = {column: session.run(f"SELECT {column}, count(*) FROM adult_raw GROUP BY 1") for column in COLUMNS}
    found = {column: [] for column in COLUMNS}
    for split in range(splits):
        points = session.run(f"""
            WITH m AS MATERIALIZED (SELECT {training('adult_raw', 'logistic', encoding, 'pure', epsilon, split)} AS model)
            SELECT name, value, score FROM m, unnest(ARRAY[{', '.join(map(literal, COLUMNS))}]) name,
                   LATERAL dp_curve(model, name) ORDER BY name, scaled""")
        for column in COLUMNS:
            curve = [(float(position), float(score)) for name, position, score in points if name == column]
            rows = sum(int(count) for _, count in counts[column])
            middle = sum(int(count) * at(curve, float(value)) for value, count in counts[column]) / rows
            found[column].append([[position, score - middle] for position, score in curve])
    return found


def at(curve, value):
    """A curve is straight between its points, and constant beyond."""
    value = min(max(value, curve[0][0]), curve[-1][0])
    for (a, low), (b, high) in zip(curve, curve[1:]):
        if value <= b:
            return low + (high - low) * (value - a) / (b - a)
    return curve[-1][1]
