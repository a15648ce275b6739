"""DP-EBM, the private additive model of the package interpret, on the same splits, where it is installed (pip install interpret)."""
import knots
import raw

METHODS = ["DP-EBM", "DP-EBM best threshold"]  # the second is chosen on the test rows, which is not private and flatters it
DELTA, EPSILONS = 1e-6, ["0.5", "1", "4"]


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
    answer = session.run(f"SELECT label, {', '.join(domains)} FROM {relation}")

    def value(text, domain):
        return text if isinstance(domain, str) else min(max(float(text), domain[0]), domain[1])

    return ([list(map(value, values, domains.values())) for _, *values in answer], [label == "t" for label, *_ in answer])


def area(scores, labels):
    """Under the ROC curve: the share of pairs of both classes that are in order; equal scores count half."""
    at = {}
    for score, label in zip(scores, labels):
        at.setdefault(score, [0, 0])[label] += 1
    below = right = 0
    for _, (negative, positive) in sorted(at.items()):
        right += positive * (below + negative / 2)
        below += negative
    return right / (below * (len(labels) - below))


def least_error(scores, labels):
    """The error at the threshold with the fewest mistakes."""
    wrong = least = len(labels) - sum(labels)  # all are called positive
    by_score = sorted(zip(scores, labels))
    for (score, label), following in zip(by_score, [*by_score[1:], (None, None)]):
        wrong += 1 if label else -1
        if score != following[0]:
            least = min(least, wrong)
    return least / len(labels)


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
    scores = [float(pair[1]) for pair in model.predict_proba(values)]
    wrong = sum(bool(guess) != label for guess, label in zip(model.predict(values), labels))
    return wrong / len(labels) if run.method == METHODS[0] else least_error(scores, labels), area(scores, labels)
