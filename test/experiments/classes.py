"""A label of several classes: the marital status of Adult, and the five groups of KDDCup99, from the other raw columns.

Softmax is the default call of logistic regression. One against the rest is what is left to do without it: a model of each class,
with an equal part of epsilon; the class with the largest probability is predicted.
"""
import json
from dataclasses import replace

import raw
from database import literal

GROUPS = {
    "normal": "normal",
    "dos": "back land neptune pod smurf teardrop",
    "probe": "ipsweep nmap portsweep satan",
    "r2l": "ftp_write guess_passwd imap multihop phf spy warezclient warezmaster",
    "u2r": "buffer_overflow loadmodule perl rootkit",
}
KDD = replace(
    raw.ALL["kdd_raw"], name="kdd_groups", domains=dict(raw.KDD, grouped=" ".join(GROUPS)),
    terms={"grouped": "CASE " + " ".join(f"WHEN label IN ({', '.join(map(literal, names.split()))}) THEN '{group}'"
                                         for group, names in GROUPS.items()) + " END"})

ALL = {"adult_marital": raw.ALL["adult_raw"], "kdd_groups": KDD}
LABELS = {"adult_marital": "marital_status", "kdd_groups": "grouped"}

METHODS = ["softmax", "one against the rest", "diffprivlib"]

# Goals for the error, at most, by epsilon, set before the run: .006 above a simulation.
BARS = {"0.3": 0.193, "1": 0.172, "3": 0.168}


def values(data):
    return ALL[data].domains[LABELS[data]].split()


def features(data):
    """All but the label and, of KDDCup99, the class that it refines."""
    return [column for column in ALL[data].domains if column != LABELS[data]] + (["label"] if data == "adult_marital" else [])


def call(data, split, epsilon, more=""):
    """SQL: the call that trains."""
    return (f"dp_logreg_train('{ALL[data].name}_train_{split}', '{LABELS[data]}', '{{{','.join(features(data))}}}', {epsilon}, "
            f"domains => {literal(ALL[data].declared())}{more})")


def measure(session, run):
    """The share of mistakes on rows that were not trained on, exactly."""
    if run.method == "diffprivlib":
        import peers
        return peers.classes(session, run), None
    label, tested = LABELS[run.data], f"{ALL[run.data].name}_test_{run.fold}"
    if run.method == METHODS[1]:
        parts = values(run.data)
        epsilon = f"'{run.epsilon}'::float8 / {len(parts)}"
        models = " UNION ALL ".join(f"SELECT '{each}' AS value, {call(run.data, run.fold, epsilon, f', positive => {literal(each)}')} AS model"
                                    for each in parts)
        found = "(SELECT value FROM m ORDER BY dp_predict_prob(model, t) DESC LIMIT 1)"
    else:
        models = f"SELECT {call(run.data, run.fold, literal(run.epsilon))} AS model"
        found = "(SELECT dp_predict_class(model, t) FROM m)"
    return float(session.value(f"""
        WITH m AS MATERIALIZED ({models})
        SELECT avg(({found} IS DISTINCT FROM {label})::int)::float8 FROM {tested} AS t""")), None


def describe(session, data):
    """What the document says about a data set."""
    name, label = ALL[data].name, LABELS[data]
    rows, most = session.run(f"SELECT sum(n), max(n) FROM (SELECT count(*) AS n FROM {name} GROUP BY {label}) s")[0]
    model = json.loads(session.value(f"SELECT {call(data, 0, 1)}::jsonb"))
    return dict(rows=int(rows), constant=1 - int(most) / int(rows), dimension=int(model["dimension"]), classes=len(values(data)))
