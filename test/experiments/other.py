"""diffprivlib's logistic regression on the same folds, where it is installed (pip install diffprivlib)."""


def available():
    try:
        from diffprivlib.models import LogisticRegression  # noqa: F401
    except ImportError:
        return False
    return True


def rows(session, relation):
    labels, vectors = [], []
    for label, x in session.run(f"SELECT label, x FROM {relation}"):
        labels.append(label == "t")
        vectors.append([float(v) for v in x[1:-1].split(",")])
    return labels, vectors


def error(session, run):
    from diffprivlib.models import LogisticRegression
    labels, vectors = rows(session, f"{run.data}_train_{run.fold}")
    # its objective is the sum of the losses plus |w|^2 / 2C
    model = LogisticRegression(epsilon=float(run.epsilon), data_norm=1.0, fit_intercept=False, max_iter=1000,
                               C=1 / (len(labels) * 10 ** float(run.lambda_)))
    model.fit(vectors, labels)
    labels, vectors = rows(session, f"{run.data}_test_{run.fold}")
    return sum(bool(guess) != label for guess, label in zip(model.predict(vectors), labels)) / len(labels)
