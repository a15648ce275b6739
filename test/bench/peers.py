"""The alternatives: export and scikit-learn, MADlib. Same rows, same objective, same accuracy."""
import os
import time
import warnings

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from measure import Cost, cpu_seconds
from tables import COPY_HEADER, vector_row

# scikit-learn stops below this largest element of the gradient. Newton's last step takes it much
# lower; what it reaches is measured and reported.
GOAL = 1e-9
SOLVERS = ["newton-cholesky", "lbfgs"]
# A solver whose gradient stays longer than this is not of the same accuracy, and does not count.
# (lbfgs of Debian 12 gets to about 1e-6: it has a second rule to stop that cannot be set.)
ACCURATE = 1e-8


class _Sink:
    """A file that is written to memory that is there already."""

    def __init__(self, size):
        self.bytes, self.end = bytearray(size), 0

    def write(self, data):
        self.bytes[self.end:self.end + len(data)] = data
        self.end += len(data)


def export(session, table, n, d):
    """The rows as scikit-learn takes them: the matrix that dperm trains on, and the labels."""
    row = vector_row(d)
    sink = _Sink(len(COPY_HEADER) + n * row.itemsize + 2)
    session.cursor.copy_expert("COPY (SELECT x, y FROM %s) TO STDOUT (FORMAT binary)" % table, sink, 1 << 20)
    rows = np.frombuffer(sink.bytes, row, n, len(COPY_HEADER))
    # dperm's vector: the constant shares the unit ball
    matrix = np.empty((n, d + 1))
    np.multiply(rows["x"]["value"], np.sqrt(0.5), out=matrix[:, :d])
    matrix[:, d] = np.sqrt(0.5)
    return matrix, rows["y"] != 0


def fit(matrix, labels, lam, solver):
    """The weights by scikit-learn."""
    n = len(matrix)
    tol = GOAL
    if solver == "lbfgs" and tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 5):
        tol = GOAL * n  # older versions have the sum for the objective, newer ones the mean
    model = LogisticRegression(C=1 / (n * lam), fit_intercept=False, solver=solver, tol=tol, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lbfgs says so when it can get no further
        return model.fit(matrix, labels).coef_[0]


def gradient_norm(matrix, labels, weights, lam):
    """Length of the gradient of what both minimise."""
    sign = np.where(labels, 1.0, -1.0)
    slope = -sign / (1 + np.exp(sign * (matrix @ weights)))
    return float(np.linalg.norm(matrix.T @ slope / len(matrix) + lam * weights))


def export_and_fit(session, table, n, d, lam, solver, threads, keep=None):
    """What export and training cost together, client and server. Fills keep with the result."""
    def clock():
        wall = time.perf_counter()
        return Cost(time.process_time() + cpu_seconds(session.pid) if session.local else wall, wall)

    with threadpool_limits(threads):
        start = clock()
        matrix, labels = export(session, table, n, d)
        copied = clock()
        weights = fit(matrix, labels, lam, solver)
        end = clock()
    if keep is not None:
        keep.update(weights=weights, gradient=gradient_norm(matrix, labels, weights, lam), matrix=matrix,
                    labels=labels, export=(copied - start).json())
    return end - start


def memory_for(n, d):
    """MB that export and scikit-learn take together, about: the COPY data and three matrices."""
    return n * (vector_row(d).itemsize + 3 * 8 * (d + 1)) / 2**20


def free_memory():
    """MB of memory that is free on this machine."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("MemAvailable")) / 1024


def madlib_version(session):
    """None if MADlib is not installed in this database."""
    if session.value("SELECT to_regprocedure('madlib.version()') IS NULL"):
        return None
    return session.value("SELECT madlib.version()").split(",")[0]


def madlib_train(session, table):
    """Logistic regression by MADlib; it has no regulariser, and stops by its own rule."""
    session.run("DROP TABLE IF EXISTS madlib_model, madlib_model_summary")
    return session.cost("SELECT madlib.logregr_train(%s, 'madlib_model', 'y', 'x', NULL, 20, 'irls')", (table,))


def cores():
    return len(os.sched_getaffinity(0))
