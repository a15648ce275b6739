"""Delta, and rows that are removed: the paper's vectors again, and vectors that are wide.

NAME_delta stands for the table NAME of datasets.py in the results. The table wide of (id, label, x) is
made: each element of a vector is a byte of a hash of the row's number, from -1 to 1, plus or minus SHIFT by the
class. So it is the same everywhere.
"""
import json

import datasets
from database import literal

# What a call adds to the default: epsilon alone, of rows that are replaced.
MODES = {"pure": "", "remove": ", neighbours => 'remove'", "delta": ", delta => 1e-6",
         "delta-remove": ", delta => 1e-6, neighbours => 'remove'"}
WIDE_MODES = ["pure", "delta"]

# To compare with, in the curves: a simple rule for lambda, and the paper's algorithm.
OTHERS = ["simple", "paper"]

# Lambda is 10 to the power of these, in the tables. Without noise there is one.
LAMBDAS = ["-3.5", "-3", "-2.75", "-2.5", "-2.25", "-2"]
PLAIN_LAMBDA = "-7"

ALL = {f"{name}_delta": name for name in datasets.ALL}

# At epsilon = 0.1 and the best lambda: what was aimed at before dperm was run, and what an implementation that
# was written independently of dperm reached.
AIMS = {
    ("adult_delta", "logistic", "delta"): ("0.193", "0.1913"), ("adult_delta", "huber", "delta"): ("0.183", "0.1813"),
    ("kdd_delta", "logistic", "delta"): ("0.0056", "0.0051"), ("kdd_delta", "huber", "delta"): ("0.0056", "0.0051"),
    ("adult_delta", "logistic", "remove"): ("0.198", "0.1959"), ("adult_delta", "huber", "remove"): ("0.186", "0.1842"),
}

VERSION = 1  # raise it when the table changes
DIMENSION, SHIFT = 768, 0.035
NORM = 16  # public: about that of a vector of independent uniform elements, sqrt(DIMENSION / 3)
CACHE = "1GB"  # the default of dperm.cache_memory is too little for 600 MB of rows


def load(session, settings):
    """Makes the table wide, and of its rows the views wide_train and wide_test, unless they are there.

    Returns what it was made from."""
    tested = settings.wide_rows // 5
    made_from = f"{VERSION} {DIMENSION} {SHIFT} {settings.wide_rows}"
    if datasets.made(session, "wide") == made_from:
        return made_from
    session.run(f"""
        DROP TABLE IF EXISTS wide CASCADE;
        CREATE UNLOGGED TABLE wide (id bigint, label boolean, x real[] CHECK (cardinality(x) = {DIMENSION}));
        ALTER TABLE wide ALTER x SET STORAGE PLAIN;
        INSERT INTO wide
        SELECT id, id % 2 = 0, ARRAY(SELECT {SHIFT} * (1 - 2 * (id % 2)) + get_byte(bytes, i) / 127.5::float8 - 1
                                     FROM generate_series(0, {DIMENSION - 1}) i)
        FROM generate_series(1, {settings.wide_rows + tested}) id,
             LATERAL (SELECT string_agg(sha512(convert_to(id || ' ' || k, 'UTF8')), '' ORDER BY k) AS bytes
                      FROM generate_series(1, {DIMENSION // 64}) k) h;
        CREATE VIEW wide_train AS SELECT label, x FROM wide WHERE id <= {settings.wide_rows};
        CREATE VIEW wide_test AS SELECT label, x FROM wide WHERE id > {settings.wide_rows};
        VACUUM ANALYZE wide;
        COMMENT ON TABLE wide IS {literal(made_from)}""")
    return made_from


def choice(data, loss, mode, epsilon):
    """The name of a cell."""
    return f"{data} {loss} {mode} {epsilon}"


LEARNERS = {"logistic": "logreg", "huber": "svm"}


def chosen(session, data, loss, mode, rows, dimension, epsilon):
    """The method that a call without one uses, and the law of its noise."""
    method, delta = session.run(f"SELECT method, delta FROM dp_cost('{ALL.get(data, data)}', 'label', 'x', {epsilon}, "
                                f"jsonb_build_object('x', jsonb_build_object('dimension', {dimension})), units => {rows}, "
                                f"learner => '{LEARNERS[loss]}', options => '{{\"intercept\": false}}'{MODES[mode]})")[0]
    return [method, "Gaussian" if float(delta) else "pure"]


def options(run, trained):
    """SQL: the arguments of the training, after epsilon."""
    given, arguments = {"intercept": False}, ""
    if run.method == "paper":
        given.update(method="objective", analysis="paper")
    elif run.method == "simple":
        given.update(method="objective")
        arguments = (f", lambda => (SELECT 0.1 * max(cardinality(x)) / (count(*) * {run.epsilon}) FROM {trained})")
    elif run.method != "non-private":
        arguments = MODES[run.method]
        if run.lambda_ != "default":
            given.update(method="objective")
    return f", options => '{json.dumps(given)}'" + arguments + (f", lambda => 10 ^ ({run.lambda_})" if run.lambda_ != "default" else "")


def training(run):
    """SQL: the call that trains, and the relation to test on."""
    trained, tested, norm = f"{ALL.get(run.data)}_train_{run.fold}", f"{ALL.get(run.data)}_test_{run.fold}", ""
    if run.data == "wide":
        trained, tested, norm = "wide_train", "wide_test", f", domains => '{{\"x\": {{\"norm\": {NORM}}}}}'"
    learner = "dp_logreg" if run.loss == "logistic" else "dp_svm"
    return (f"{learner}_train('{trained}', 'label', 'x', '{run.epsilon}'{norm}{options(run, trained)})",
            tested)
