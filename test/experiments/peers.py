"""diffprivlib on raw columns, where it is installed (pip install diffprivlib): the encoding comes from the domains alone."""
import os
import sys

import classes as several
import raw
import regression

SPLITS = 5  # it is slow


def package():
    """diffprivlib, as test/compare imports it; or nothing."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare"))
    try:
        import numpy  # noqa: F401
        import peer
        return peer.import_diffprivlib()
    except ImportError:
        return None
    finally:
        sys.path.pop(0)


def version():
    found = package()
    return found.__version__ if found else None


def encoded(session, relation, domains, label):
    """Numbers in [-1, 1], a coordinate for each category; and the labels."""
    import numpy
    answer = session.run(f"SELECT {label}, {', '.join(domains)} FROM {relation}")

    def coordinates(text, domain):
        if isinstance(domain, str):
            return [float(text == category) for category in domain.split()]
        return [2 * (min(max(float(text), domain[0]), domain[1]) - domain[0]) / (domain[1] - domain[0]) - 1]

    return (numpy.array([sum(map(coordinates, values, domains.values()), []) for _, *values in answer]),
            numpy.array([label for label, *_ in answer]))


def drawn(session, run, table, label):
    """What to train on, and what to test on; of booleans, both values are categories."""
    domains = {column: domain for column, domain in table.domains.items() if column != label}
    if label in raw.ADULT:
        domains["label"] = "f t"
    return domains, *(encoded(session, f"{table.name}_{part}_{run.fold}", domains, label) for part in ("train", "test"))


def classes(session, run):
    """The share of mistakes. A row of k columns has a norm of at most sqrt(k)."""
    model = package().models.LogisticRegression
    domains, trained, (x, y) = drawn(session, run, several.ALL[run.data], several.LABELS[run.data])
    found = model(epsilon=float(run.epsilon), data_norm=len(domains) ** 0.5, max_iter=1000).fit(*trained).predict(x)
    return float((found != y).mean())


def number(session, run):
    """The mean absolute error, and R2. Predictions are clipped to the bounds of the label: some are far beyond."""
    low, high = raw.ALL[regression.ALL[run.data]].domains[regression.LABEL]
    model = package().models.LinearRegression
    domains, (x, y), tested = drawn(session, run, raw.ALL[regression.ALL[run.data]], regression.LABEL)
    least = [bound for domain in domains.values() for bound in ([0] * len(domain.split()) if isinstance(domain, str) else [-1])]
    found = model(epsilon=float(run.epsilon), bounds_X=(least, [1] * len(least)), bounds_y=(low, high)).fit(x, y.astype(float))
    found, y = found.predict(tested[0]).clip(low, high), tested[1].astype(float)
    return float(abs(found - y).mean()), float(1 - ((found - y) ** 2).mean() / y.var())
