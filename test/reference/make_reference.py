#!/usr/bin/env python3
"""Writes test/sql/reference.sql: weights by independent solvers, to compare with dperm.

Logistic regression is solved by scikit-learn (newton-cholesky), the two SVM losses, which
scikit-learn does not have, by SciPy's trust-region Newton method followed by plain Newton steps.
Nothing of dperm is used: data, clipping and losses are written anew here. Debian 12:

    apt-get install python3-sklearn
    python3 test/reference/make_reference.py > test/sql/reference.sql

The output is committed, so that the tests need neither Python nor scikit-learn.
"""
import warnings

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

N, D, NORM = 80, 4, 1.5


def rows():
    """Overlapping classes; about a third of the vectors is longer than NORM."""
    rng = np.random.default_rng(2011)
    x = rng.normal(size=(N, D)) * np.array([1.0, 0.5, 0.25, 0.8])
    y = np.where(x @ [1.0, -2.0, 0.5, 0.0] + 0.3 + 0.7 * rng.normal(size=N) > 0, 1, -1)
    return np.round(x, 3), y


def encode(x, intercept):
    """Divide by NORM, clip to the unit ball, add the constant, stay in the ball."""
    x = x / NORM
    x = x / np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
    if intercept:
        x = np.hstack([x, np.ones((len(x), 1))]) / np.sqrt(2)
    return x


def logistic(a, lam):
    fit = LogisticRegression(C=1 / (N * lam), fit_intercept=False, solver="newton-cholesky",
                             tol=1e-15, max_iter=1000)
    y = np.arange(N) % 2 * 2 - 1  # any labels will do: a is y x already
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns when tol is below what it can reach
        return fit.fit(a * y[:, None], y).coef_[0]


def huber(z, h):
    inside = np.abs(1 - z) <= h
    value = np.where(z > 1 + h, 0, np.where(inside, (1 + h - z) ** 2 / (4 * h), 1 - z))
    slope = np.where(z > 1 + h, 0, np.where(inside, -(1 + h - z) / (2 * h), -1))
    return value, slope, np.where(inside, 1 / (2 * h), 0)


def smooth_hinge(z, h):
    u, inside = 1 - z, np.abs(1 - z) <= h
    value = np.where(z > 1 + h, 0, np.where(
        inside, -u ** 4 / (16 * h ** 3) + 3 * u ** 2 / (8 * h) + u / 2 + 3 * h / 16, u))
    slope = np.where(z > 1 + h, 0, np.where(
        inside, u ** 3 / (4 * h ** 3) - 3 * u / (4 * h) - 0.5, -1))
    return value, slope, np.where(inside, -3 * u ** 2 / (4 * h ** 3) + 3 / (4 * h), 0)


def svm(loss, h):
    def solve(a, lam):
        def objective(f):
            return loss(a @ f, h)[0].mean() + lam / 2 * f @ f

        def gradient(f):
            return a.T @ loss(a @ f, h)[1] / N + lam * f

        def hessian(f):
            return (a.T * loss(a @ f, h)[2]) @ a / N + lam * np.eye(len(f))

        f = minimize(objective, np.zeros(a.shape[1]), jac=gradient, hess=hessian,
                     method="trust-exact", options={"gtol": 1e-12, "maxiter": 10000}).x
        for _ in range(5):
            f = f - np.linalg.solve(hessian(f), gradient(f))
        assert np.linalg.norm(gradient(f)) < 1e-14
        return f
    return solve


def main():
    x, y = rows()
    print("-- Weights without noise against independent solvers.")
    print("-- Made by test/reference/make_reference.py; do not edit.")
    print("\\set ECHO errors\n\\pset format unaligned\n\\pset footer off")
    print("CREATE DOMAIN vector_of_4 AS float8[] CHECK (cardinality(VALUE) = 4);")
    print("CREATE TABLE reference_rows (x vector_of_4, y boolean);")
    print("INSERT INTO reference_rows VALUES")
    print(",\n".join("\t('{%s}', %s)" % (",".join("%g" % v for v in r), "true" if s > 0 else "false")
                     for r, s in zip(x, y)) + ";")
    print("CREATE TABLE reference (loss text, h float8, lambda float8, intercept boolean,"
          " weights float8[]);")
    print("INSERT INTO reference VALUES")
    lines = []
    for name, h, solve in [("logistic", 0, logistic), ("huber", 0.5, svm(huber, 0.5)),
                           ("huber", 0.1, svm(huber, 0.1)),
                           ("smooth_hinge", 0.5, svm(smooth_hinge, 0.5)),
                           ("smooth_hinge", 0.2, svm(smooth_hinge, 0.2))]:
        for lam in (1e-4, 1e-2, 1):
            for intercept in (True, False):
                f = solve(encode(x, intercept) * y[:, None], lam)
                lines.append("\t('%s', %g, %g, %s, '{%s}')" % (
                    name, h, lam, "true" if intercept else "false",
                    ",".join("%.15g" % v for v in f)))
    print(",\n".join(lines) + ";")
    print("""
-- dperm's answer, by the table function and by the aggregate
CREATE VIEW answers AS
SELECT r.*, f.how, dp_weights(f.model) AS answer
FROM reference r
CROSS JOIN LATERAL (
	SELECT 'train' AS how,
		CASE WHEN loss = 'logistic' THEN
			dp_logreg_train('reference_rows', 'y', 'x', 'Infinity', lambda => r.lambda,
				domains => '{"x": {"norm": 1.5}}', options => jsonb_build_object('intercept', r.intercept))
		ELSE
			dp_svm_train('reference_rows', 'y', 'x', 'Infinity', lambda => r.lambda,
				domains => '{"x": {"norm": 1.5}}', options => jsonb_build_object('intercept', r.intercept, 'loss', r.loss, 'h', r.h))
		END AS model
	UNION ALL
	SELECT 'aggregate',
		CASE WHEN loss = 'logistic' THEN
			(SELECT dp_logreg(y, x, 'Infinity',
				jsonb_build_object('lambda', r.lambda, 'intercept', r.intercept, 'norm', 1.5)) FROM reference_rows)
		ELSE
			(SELECT dp_svm(y, x, 'Infinity',
				jsonb_build_object('lambda', r.lambda, 'intercept', r.intercept, 'norm', 1.5, 'loss', r.loss,
					'h', r.h)) FROM reference_rows)
		END
) f;
SELECT loss, h, lambda, intercept, how,
	cardinality(answer) = cardinality(weights) AS same_length,
	(SELECT max(abs(a - w)) < 1e-8 FROM unnest(answer, weights) u(a, w)) AS agrees
FROM answers ORDER BY loss, h, lambda, intercept, how;
DROP VIEW answers;
DROP TABLE reference, reference_rows;
DROP DOMAIN vector_of_4;""")


main()
