"""DP-EBM, the private additive model of the package interpret, on the same splits, where it is installed (pip install interpret)."""
import knots
import raw

METHOD, DELTA, EPSILONS = "DP-EBM", 1e-6, ["0.5", "1", "4"]


def version():
    """Of the package, or nothing."""
    try:
        import interpret
        from interpret.privacy import DPExplainableBoostingClassifier  # noqa: F401
    except ImportError:
        return None
    return interpret.__version__


def rows(session, relation, domains):
    """Numbers within their bounds, categories as they are; and the labels."""
    import numpy
    answer = session.run(f"SELECT label, {', '.join(domains)} FROM {relation}")
    values = numpy.empty((len(answer), len(domains)), dtype=object)
    for i, domain in enumerate(domains.values()):
        column = [row[1 + i] for row in answer]
        values[:, i] = column if isinstance(domain, str) else numpy.clip(numpy.array(column, dtype=float), *domain)
    return values, numpy.array([row[0] == "t" for row in answer])


def area(scores, labels):
    """Under the ROC curve; equal scores count half."""
    import numpy
    _, place, count = numpy.unique(scores, return_inverse=True, return_counts=True)
    rank = (numpy.cumsum(count) - (count - 1) / 2)[place]
    positive = int(labels.sum())
    return float((rank[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


def measure(session, run):
    """Error and area under the ROC curve of a model with the defaults of the package, but for what is public."""
    from interpret.privacy import DPExplainableBoostingClassifier
    table = knots.ALL[run.data]
    domains = raw.ALL[table].domains
    model = DPExplainableBoostingClassifier(
        epsilon=float(run.epsilon), delta=DELTA, n_jobs=1, feature_names=list(domains),
        feature_types=["nominal" if isinstance(domain, str) else "continuous" for domain in domains.values()],
        privacy_bounds={name: tuple(domain) for name, domain in domains.items() if not isinstance(domain, str)})
    model.fit(*rows(session, f"{table}_train_{run.fold}", domains))
    values, labels = rows(session, f"{table}_test_{run.fold}", domains)
    wrong = model.predict(values).astype(bool) != labels
    return float(wrong.mean()), area(model.predict_proba(values)[:, 1], labels)
