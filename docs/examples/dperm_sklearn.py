"""A dperm model in scikit-learn: decision_function() is dp_decision, predict_proba() is dp_predict_prob or dp_predict_probs,
predict() is dp_predict, dp_predict_class or, for linear regression, dp_predict_value.

    pipeline = to_sklearn(text)         # SELECT model::text FROM ...
    pipeline.predict(rows)              # a DataFrame or a list of dicts, with values as a driver reads them; char(n) as text
"""
import datetime
import json

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC


def number(value):
    """A number; of a date or time the days since 2000-01-01, in UTC, or since midnight."""
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date(2000, 1, 1), value)
    if getattr(value, "tzinfo", None):
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, datetime.date):
        return (np.datetime64(value) - np.datetime64("2000-01-01")) / np.timedelta64(1, "D")
    return float(value)


def logarithm(value):
    return np.sign(value) * np.log1p(np.abs(value))


def block(feature, value):
    """The coordinates of a value, before the columns share the unit ball; a missing one is all zeros."""
    if feature["type"] == "vector" and "knots" in feature:  # each element as a number
        ranges = np.broadcast_to(feature["range"], (feature["dimension"], 2))
        usable = value is not None and None not in list(value) and len(value) == len(ranges)
        return np.concatenate([block({"type": "number", "low": low, "high": high, "knots": feature["knots"]}, v)
                               for (low, high), v in zip(ranges, value if usable else [None] * len(ranges))])
    if feature.get("scale") == "log":
        value = value if value is None or value != value else logarithm(number(value))
        feature = feature | {"low": logarithm(feature["low"]), "high": logarithm(feature["high"]), "scale": "linear"}
    knots = feature.get("knots", [])
    knots = np.linspace(feature["low"], feature["high"], knots) if isinstance(knots, int) else knots
    size = len(feature.get("values", knots)) or feature.get("dimension", 1)
    low, high = np.broadcast_to(feature.get("range", [feature.get("low", 0), feature.get("high", 1)]), (size, 2)).T
    if feature["type"] == "vector":
        value = np.asarray(value if value is not None and None not in list(value) else [], float)
        if value.shape != (size,) or "norm" in feature and not np.isfinite(value).all():
            return np.zeros(size)
        if "norm" in feature:
            return value / max(feature["norm"], np.linalg.norm(value))
    elif value is None or value != value:
        return np.zeros(size)
    elif feature["type"] == "category":
        text = str(int(value) if isinstance(value, float) and value.is_integer() else value)
        assert text in feature["values"] or text.rstrip() not in feature["values"], f"blanks after {text.rstrip()}: char(n)?"
        return np.array([text == listed for listed in feature["values"]], float)
    else:
        value = number(value)
    if "knots" in feature:
        return np.array([np.interp(value, knots, hat) for hat in np.eye(size)])
    return np.nan_to_num(2 * (np.clip(value, low, high) - low) / (high - low) - 1) / np.sqrt(size)


def encode(rows, features, share):
    rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    return share * np.array([np.concatenate([block(f, row[f.get("column", "x")]) for f in features]) for row in rows])


class Bounded(LinearRegression):
    def predict(self, X):
        return np.clip(super().predict(X), *self.bounds_)


def to_sklearn(text):
    model = json.loads(text)
    assert "kernel" not in model, "a model with a kernel cannot be converted"
    columns = sum(f.get("dimension", 1) if "knots" in f else 1 for f in model["features"])  # curves count one by one
    weights, share = np.atleast_2d(model["weights"]), 1 / np.sqrt(columns + model["intercept"])  # a row for each class
    linear = Bounded() if "bounds" in model else LogisticRegression() if model["loss"] in ("logistic", "softmax") else LinearSVC()
    linear.classes_, linear.coef_ = np.array(model["classes"] if len(weights) > 1 else [False, True]), weights[:, :weights.shape[1] - model["intercept"]]
    linear.intercept_ = share * weights[:, -1] * model["intercept"]
    if "bounds" in model:
        low, high = linear.bounds_ = model["bounds"]
        linear.coef_ = (high - low) / 2 * linear.coef_[0]
        linear.intercept_ = (low + high) / 2 + (high - low) / 2 * linear.intercept_[0]
    return make_pipeline(FunctionTransformer(encode, kw_args={"features": model["features"], "share": share}), linear)
