"""A label that is a number: age, from the other raw columns of Adult, by the default call of linear regression.

adult_age stands for the table adult_raw in the results. The error is the mean absolute error in years, and what other parts
keep as an area is R2.
"""
import json

import raw
from database import literal

ALL = {"adult_age": "adult_raw"}
LABEL = "age"

# Goals for the error, at most, by epsilon, set before the run.
BARS = {"0.1": 8.55, "0.3": 8.15, "1": 7.98, "3": 7.92}


def training(table, epsilon, split):
    """SQL: the call that trains. The domains of the columns have that of the label; income is a column here."""
    return (f"dp_linreg_train('{table}_train_{split}', '{LABEL}', NULL, '{epsilon}', "
            f"domains => {literal(raw.ALL[table].declared())})")


def measure(session, run):
    """The mean absolute error on rows that were not trained on, and R2. Both exactly."""
    if run.method == "diffprivlib":
        import peers
        return peers.number(session, run)
    table = ALL[run.data]
    error, r2 = session.run(f"""
        WITH m AS MATERIALIZED (SELECT {training(table, run.epsilon, run.fold)} AS model),
             s AS MATERIALIZED (SELECT {LABEL} AS y, dp_predict_value(model, t) AS found FROM {table}_test_{run.fold} AS t, m)
        SELECT avg(abs(found - y)), 1 - avg((found - y) ^ 2) / var_pop(y) FROM s""")[0]
    return float(error), float(r2)


def constant(session, table):
    """The mean absolute error of the median, which is the best constant."""
    return float(session.value(f"""
        SELECT avg(abs({LABEL} - (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY {LABEL}) FROM {table}))) FROM {table}"""))


def coordinates(session, table):
    """By the default call with epsilon 1: how many weights there are."""
    return json.loads(session.value(f"SELECT {training(table, 1, 0)}::jsonb -> 'dimension'"))
