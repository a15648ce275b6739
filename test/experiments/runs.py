"""What is run: one run trains one model by one SQL call and counts its mistakes by another."""
import itertools
import json
import time
from collections import namedtuple

import classes
import delta
import ebm
import knots
import paper
import peers
import raw
import regression

LOSSES = ["logistic", "huber"]
PRIVATE = ["output", "paper", "sharp"]
# The learning curves: epsilon, and what the tuning chooses from. The paper does not say which five
# values it used.
LEARNING_EPSILONS = ["0.05", "0.01"]
LEARNING_LAMBDAS = {True: ["-3", "-2.5", "-2", "-1.5", "-1"], False: ["-7", "-6", "-5", "-4", "-3"]}
PORTIONS = 1 + len(LEARNING_LAMBDAS[True])

AGAIN = "again "  # starts the number of a repetition that is kept apart

# lambda: a power of ten, "default" or "tuned". size: rows of a portion, "" outside of the learning
# curves. fold: in the learning curves the permutation, with raw columns the split, with wide vectors
# the repetition.
FIELDS = ["data", "loss", "method", "lambda_", "epsilon", "size", "fold", "repetition"]
Run = namedtuple("Run", FIELDS)

OPTIONS = {"non-private": {}, "output": {"method": "output"}, "paper": {"method": "objective", "analysis": "paper"},
           "sharp": {"method": "objective", "analysis": "sharp"}}


def epsilon_of(method, epsilon):
    return "Infinity" if method == "non-private" else epsilon


def repeated(data, losses, cells, count, settings):
    """All folds and repetitions of cells: (method, lambda, epsilon), each count(method, lambda) times."""
    return [Run(data, loss, method, lambda_, epsilon_of(method, epsilon), "", str(fold), str(repetition))
            for loss in losses for method, lambda_, epsilon in cells(loss)
            for repetition in range(count(method, lambda_)) for fold in range(settings.folds)]


def table(data, settings):
    """The paper's tables: every lambda, epsilon = 0.1."""
    def count(method, lambda_):
        if method == "non-private":
            return 1
        if method != "output":
            return settings.repetitions
        # Output perturbation with a small lambda is slow, and returns noise alone: the error is a coin's.
        # Else it is good often and bad sometimes, so that a mean needs more runs.
        return 1 if float(lambda_) <= -4 else 2 * settings.repetitions

    return repeated(data, LOSSES, lambda loss: itertools.product(
        ["non-private", *PRIVATE], paper.LAMBDAS[data], [paper.EPSILON]), count, settings)


def again(pairs, settings):
    """Pairs (data, loss, lambda) where the sharp analysis came out worse than the paper's: both once more, with
    fresh noise, twice as often, apart from the tables. Who repeats only what he dislikes must not mix it in."""
    return [Run(data, loss, method, lambda_, paper.EPSILON, "", str(fold), f"{AGAIN}{repetition}")
            for data, loss, lambda_ in pairs for repetition in range(2 * settings.repetitions)
            for method in ("paper", "sharp") for fold in range(settings.folds)]


def curve(data, best, settings):
    """Error against epsilon: each method at the lambda that was best for it at 0.1, and the default lambda."""
    return repeated(data, LOSSES, lambda loss: itertools.chain(
        ((method, best(data, loss, method), epsilon) for epsilon in settings.epsilons for method in PRIVATE),
        (("sharp", "default", epsilon) for epsilon in settings.epsilons)),
        lambda *_: settings.curve_repetitions, settings)


def compared(data, best, settings):
    """The same for diffprivlib, at the lambda of the same algorithm here."""
    return repeated(data, ["logistic"], lambda loss: (
        ("diffprivlib", best(data, loss, "paper"), epsilon) for epsilon in settings.epsilons),
        lambda *_: settings.curve_repetitions, settings)


def learning(permutation, repetition, settings):
    """Error against the number of rows, with private tuning. Without noise, once."""
    return [Run("kdd", loss, method, "tuned", epsilon_of(method, epsilon), size, str(permutation), str(repetition))
            for loss in LOSSES for epsilon in LEARNING_EPSILONS for method in ["non-private", *PRIVATE]
            if method != "non-private" or (epsilon == LEARNING_EPSILONS[0] and repetition == 0)
            for size in settings.sizes]


def split(data, settings):
    """Raw columns with declared domains, the default lambda, by noise; every split, and without noise once in each."""
    return [Run(data, loss, method, "default", epsilon_of(method, epsilon), "", str(s), str(repetition))
            for loss in LOSSES for repetition in range(settings.raw_repetitions)
            for epsilon in settings.raw_epsilons for method in ["non-private", *raw.METHODS]
            if method != "non-private" or (epsilon == settings.raw_epsilons[0] and repetition == 0)
            for s in range(settings.splits)]


def curved(data, settings):
    """Curves against straight lines, by promise; every split, and without noise once in each."""
    found = [Run(data, loss, knots.method(encoding, mode), "default", epsilon, "", str(s), str(repetition))
             for loss in LOSSES for repetition in range(settings.knots_repetitions)
             for epsilon in settings.knots_epsilons for mode in knots.MODES
             for encoding in knots.ENCODINGS for s in range(settings.splits)]
    return found + [Run(data, loss, knots.method(encoding, "non-private"), "default", "Infinity", "", str(s), "0")
                    for loss in LOSSES for encoding in knots.ENCODINGS for s in range(settings.splits)]


def regressed(data, settings):
    """A label that is a number, the default call; every split, and without noise once in each."""
    return [Run(data, "log_cosh", method, "default", epsilon, "", str(s), str(repetition))
            for repetition in range(settings.regression_repetitions)
            for method, epsilon in [*(("private", epsilon) for epsilon in settings.regression_epsilons), ("non-private", "Infinity")]
            if method != "non-private" or repetition == 0 for s in range(settings.splits)] + [
        Run(data, "log_cosh", "diffprivlib", "default", epsilon, "", str(s), "0")
        for epsilon in settings.regression_epsilons for s in range(min(peers.SPLITS, settings.splits) if peers.package() else 0)]


def classified(data, settings):
    """A label of several classes, by method; every split, and without noise once in each."""
    def cells(method):
        if method == "diffprivlib":
            splits = min(peers.SPLITS, settings.splits) if peers.package() else 0
            return [(epsilon, s, 0) for epsilon in settings.classes_epsilons for s in range(splits)]
        return [(epsilon, s, repetition) for repetition in range(settings.classes_repetitions)
                for epsilon in [*settings.classes_epsilons, "Infinity"] if epsilon != "Infinity" or repetition == 0
                for s in range(settings.splits)]

    return [Run(data, "softmax", method, "default", epsilon, "", str(s), str(repetition))
            for method in classes.METHODS for epsilon, s, repetition in cells(method)]


def boosted(settings):
    """DP-EBM on the same splits of Adult."""
    return [Run("adult_knots", "logistic", method, "default", epsilon, "", str(s), "0")
            for epsilon in ebm.EPSILONS for s in range(settings.splits) for method in ebm.METHODS]


def related(data, settings):
    """Delta and neighbours: every lambda, and the call without one, at epsilon = 0.1."""
    return repeated(data, LOSSES, lambda loss: itertools.chain(
        [("non-private", delta.PLAIN_LAMBDA, None)],
        itertools.product(delta.MODES, [*settings.delta_lambdas, "default"], [paper.EPSILON])),
        lambda method, _: 1 if method == "non-private" else settings.delta_repetitions, settings)


def aimed(best, settings):
    """The entries with an aim once more, at the best lambda, apart from the tables: there the best is partly luck."""
    return [Run(data, loss, mode, best(data, loss, mode), paper.EPSILON, "", str(fold), f"{AGAIN}{repetition}")
            for data, loss, mode in delta.AIMS for repetition in range(4 * settings.delta_repetitions)
            for fold in range(settings.folds)]


def related_curve(data, settings):
    """The call without lambda against epsilon, next to the curves of before."""
    return repeated(data, LOSSES, lambda loss: itertools.chain(
        itertools.product([*delta.MODES, "simple"], ["default"], settings.delta_epsilons),
        (("paper", paper.best(delta.ALL[data], loss), epsilon) for epsilon in settings.delta_epsilons)),
        lambda *_: settings.delta_curve_repetitions, settings)


def wide(settings):
    """Wide vectors, the call without lambda; without noise, once."""
    return [Run("wide", loss, method, "default", epsilon_of(method, epsilon), "", str(draw), "0")
            for draw in range(settings.wide_repetitions) for loss in LOSSES
            for epsilon in settings.wide_epsilons for method in ["non-private", *delta.WIDE_MODES]
            if method != "non-private" or (epsilon == settings.wide_epsilons[0] and draw == 0)]


def calibration(session, data, rows, dimension):
    """The lambda that objective perturbation uses in the tables, and the part of epsilon that is left for its
    noise: by loss, lambda and analysis."""
    def one(loss, exponent, analysis):
        return list(map(float, session.run(
            f"SELECT lambda_effective, epsilon_noise FROM dp_cost('{data}', 'label', 'x', {paper.EPSILON}, "
            f"jsonb_build_object('x', jsonb_build_object('dimension', {dimension})), units => {rows}, lambda => 10 ^ ({exponent}), "
            f"learner => '{delta.LEARNERS[loss]}', options => '{json.dumps({'intercept': False, 'analysis': analysis})}')")[0]))

    return {loss: {exponent: {analysis: one(loss, exponent, analysis) for analysis in ("paper", "sharp")}
                   for exponent in paper.LAMBDAS[data]} for loss in LOSSES}


def cost(run, rows):
    """How long a run takes, roughly, in rows."""
    return 3 * PORTIONS * int(run.size) if run.size else rows[run.data] * (30 if run.method in ebm.METHODS else 1)


def training(run):
    """SQL: the call that trains, and the relation to test on."""
    learner = "dp_logreg" if run.loss == "logistic" else "dp_svm"
    options = f"epsilon => '{run.epsilon}', options => '{json.dumps(dict(OPTIONS[run.method], intercept=False))}'"
    if run.lambda_ == "tuned":
        candidates = LEARNING_LAMBDAS[run.method != "non-private"]
        lambdas = ", ".join(f"jsonb_build_object('lambda', 10 ^ ({exponent}))" for exponent in candidates)
        return (f"{learner}_tune('permuted_{run.size}', 'label', 'x', {options}, "
                f"candidates => jsonb_build_array({lambdas}))", "permuted_test")
    if run.lambda_ != "default":
        options += f", lambda => 10 ^ ({run.lambda_})"
    return f"{learner}_train('{run.data}_train_{run.fold}', 'label', 'x', {options})", f"{run.data}_test_{run.fold}"


def execute(session, run):
    """The share of mistakes on rows that were not trained on, exactly, the seconds it took, and of curves the area under the
    ROC curve. Of numbers, the mean absolute error and R2."""
    start, area = time.monotonic(), None
    if run.data in knots.ALL:
        error, area = (ebm if run.method in ebm.METHODS else knots).measure(session, run)
    elif run.data in regression.ALL:
        error, area = regression.measure(session, run)
    elif run.data in classes.ALL:
        error, area = classes.measure(session, run)
    elif run.method == "diffprivlib":
        import other
        error = other.error(session, run)
    else:
        made = raw if run.data in raw.ALL else delta if run.data in (*delta.ALL, "wide") else None
        call, tested = (made.training if made else training)(run)
        row = "tested" if run.data in raw.ALL else "x"
        memory = f"'{delta.CACHE}'" if run.data == "wide" else "DEFAULT"
        error = float(session.value(f"""
            SET dperm.cache_memory = {memory};
            WITH m AS MATERIALIZED (SELECT {call} AS model)
            SELECT avg((dp_predict(model, {row}) <> label)::int)::float8 FROM {tested} AS tested, m"""))
    return error, time.monotonic() - start, area
