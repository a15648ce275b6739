"""Runs a user's script of a Python package, and says on stderr how long it took once the package is imported.

    peer.py PACKAGE                       prints its version, or why it cannot be had
    peer.py PACKAGE SCRIPT ARGUMENTS...

Packages that expect a newer scikit-learn than Debian's get what they expect; that is no part of a user's script.
"""
import importlib
import runpy
import sys
import time
import warnings


def import_sklearn():
    return importlib.import_module("sklearn.linear_model") and sys.modules["sklearn"]


def import_diffprivlib():
    """Makes diffprivlib 0.6.6 see the mean of the losses, which it expects: scikit-learn before 1.4 adds them up."""
    import diffprivlib
    import numpy
    from diffprivlib.models import logistic_regression
    inherited = logistic_regression.LinearModelLoss
    one = numpy.ones(2)
    total, _ = inherited(base_loss=logistic_regression.HalfBinomialLoss(), fit_intercept=False).loss_gradient(
        numpy.zeros(1), numpy.ones((2, 1)), one, one)
    if total < 1 or tuple(map(int, diffprivlib.__version__.split(".")[:3])) < (0, 6, 6):
        return diffprivlib

    class MeanLoss(inherited):
        def loss_gradient(self, coef, X, y, sample_weight, *rest):
            return super().loss_gradient(coef, X, y, sample_weight / sample_weight.sum(), *rest)

    logistic_regression.LinearModelLoss = MeanLoss
    return diffprivlib


def import_interpret():
    """Hides a scikit-learn that is too old from interpret, which works without."""
    try:
        importlib.import_module("interpret.privacy")
    except AttributeError:
        for name in [name for name in sys.modules if name.split(".")[0] in ("interpret", "sklearn", "scipy")]:
            del sys.modules[name]
        sys.modules["sklearn"] = sys.modules["scipy"] = None
        importlib.import_module("interpret.privacy")
    return sys.modules["interpret"]


def main(name, *script):
    package = globals()["import_" + name]()
    import pandas  # noqa: F401
    if not script:
        print(package.__version__)
        return
    warnings.simplefilter("ignore")  # of convergence
    sys.argv = list(script)
    start = time.perf_counter()
    runpy.run_path(script[0], run_name="__main__")
    print(time.perf_counter() - start, file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
