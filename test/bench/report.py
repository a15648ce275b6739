#!/usr/bin/env python3
"""Writes docs/benchmarks.md and its plots from the results of test/bench/run.

    python3 test/bench/report.py build/bench docs

Needs the standard library only.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plot"))

import scaling
from svgplot import line_plot

PARTS = ["train", "persons", "kinds", "blas", "blas_reference", "sklearn", "raw", "kernel", "predict", "tuning", "rows", "columns", "agreement", "protected", "protected_preloaded"]
MODES = ["cached", "quarter", "streaming"]


def table(head, rows):
    """A Markdown table; columns of figures are aligned to the right."""
    figures = [all(re.fullmatch(r"[≤≥]?[-+0-9., e]*(MB)?", str(row[i])) for row in rows) for i in range(len(head))]
    lines = ["| %s |" % " | ".join(map(str, head)), "|%s|" % "|".join("---:" if f else "---" for f in figures)]
    return lines + ["| %s |" % " | ".join(map(str, row)) for row in rows] + [""]


def count(n):
    return "{:,}".format(n)


def seconds(cost, kind="cpu"):
    value = cost[kind]
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value if value >= 0.1 \
        else "%.4f" % value


def times(value):
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value


def ratio(a, b, kind="cpu"):
    return times(a[kind] / b[kind])


def megabytes(value):
    return "not measured" if value is None else "%.0f MB" % value


def modes(result, prefix):
    """The modes that were measured."""
    return [mode for mode in MODES if prefix + mode in result]


# ------------------------------------------------------------------- one function per part

def train(result):
    rows = []
    for t in result["tables"]:
        for mode in modes(t, "logreg_"):
            logreg, svm = t["logreg_" + mode], t["svm_" + mode]
            rows.append(["%s × %d" % (count(t["rows"]), t["d"]), mode, seconds(t["scan"]), seconds(logreg),
                         ratio(logreg, t["scan"]), seconds(svm), ratio(svm, t["scan"])])
    out = ["## Training", "",
           "`dp_logreg_train` and `dp_svm_train` of one vector column with epsilon = 1 and lambda = 0.001, noise and release included, "
           "without parallel workers. *Scan* is one pass of a trivial C aggregate that reads the first element of each "
           "vector; a training can hardly be faster than that. *Cached* means that the rows fit `dperm.cache_memory`, *quarter* that a quarter of them does, "
           "*streaming* that this is 0, so that all rows are in temporary files. Before each run, memory is touched by another process: on a virtual machine, "
           "the first use of memory that the host has reclaimed costs more than anything else.", ""]
    out += table(["rows × d", "", "scan, s", "logistic, s", "scans", "SVM, s", "scans"], rows)
    out += ["Streaming, in wall-clock time, and the memory of the backend at its peak above that of a backend that has scanned the table:", ""]
    out += table(["rows × d", "no workers, s", "%d worker(s), s" % result["tables"][0]["workers"], "speed-up", "memory"],
                 [["%s × %d" % (count(t["rows"]), t["d"]), seconds(t["streaming_serial"], "wall"),
                   seconds(t["streaming_parallel"], "wall"), ratio(t["streaming_serial"], t["streaming_parallel"], "wall"),
                   megabytes(t["memory_mb"]["logreg"])] for t in result["tables"]])
    return out


def blas(parts, machine):
    results = [part["result"] for part in parts]
    at = parts[0]["machine"]
    measured = "" if at == machine else " Measured on %s with PostgreSQL %s." % (at["cpu"], at["postgres"].split()[0])
    rows = [["%s × %d" % (count(r["rows"]), r["d"]), r["library"], mode, seconds(r["scan"]), seconds(r[mode]), ratio(r[mode], r["scan"])]
            for mode in MODES for r in results if mode in r]
    return ["## BLAS", "",
            "`dp_logreg_train` as above with other libraries for linear algebra. Any BLAS gives the same models, except for rounding; the reference BLAS, "
            "Debian's `libblas3`, takes longer. `apt-get install libopenblas0-serial` replaces it.%s" % measured, ""] + \
        table(["rows × d", "BLAS", "", "scan, s", "logistic, s", "scans"], rows)


def sklearn(result):
    rows = []
    for t in result["tables"]:
        rows.append(["%s × %d" % (count(t["rows"]), t["d"]), "dperm", seconds(t["dperm"]), "", "%.0e" % t["dperm_gradient"], ""])
        for solver, cost in t["solvers"].items():
            rows.append(["", solver, seconds(cost), ratio(cost, t["dperm"]), "%.0e" % cost["gradient"],
                         "%.0e" % cost["difference"]])
            rows.append(["", "— its export", seconds(cost["export"]), "", "", ""])
        rows.append(["", "%s, %d threads, wall clock" % (t["fastest"], t["cores"]), seconds(t["all_cores"], "wall"),
                     ratio(t["all_cores"], t["dperm"], "wall"), "", ""])
    return ["## Export and scikit-learn", "",
            "Binary `COPY` to the client, which turns it into a matrix, and `LogisticRegression` with the same objective: "
            "CPU seconds of client and server, one thread. The gradient shows how accurate the result is; the last column is the largest difference "
            "of a weight from dperm's at `epsilon => 'Infinity'`. A solver with a gradient above 1e-8 is shown, but does not count. Before each run, memory is touched as above.", ""] + \
        table(["rows × d", "", "s", "times dperm", "gradient", "weights differ"], rows)


def raw(result):
    rows = [["query that reads the 14 columns", seconds(result["read"]), "1"]]
    for mode in modes(result, "raw_"):
        rows.append(["raw columns, %s" % mode, seconds(result["raw_" + mode]), ratio(result["raw_" + mode], result["read"])])
        for key, what in (("curves_", "curves by the rule"), ("knots_", "curves with 8 knots")):
            if key + mode in result:
                rows.append(["raw columns, %s, %s" % (what, mode), seconds(result[key + mode]), ratio(result[key + mode], result["read"])])
        rows.append(["the columns as vectors, %s" % mode, seconds(result["view_" + mode]),
                     ratio(result["view_" + mode], result["read"])])
        rows.append(["stored vectors, %s" % mode, seconds(result["dense_" + mode]),
                     ratio(result["dense_" + mode], result["read"])])
    return ["## Raw columns", "",
            "%s rows, %s: 6 numbers and 8 categorical columns, %d coordinates and the intercept. *As vectors*: a view computes a dense `float8[]` from "
            "each row with `dp_encode`; *stored vectors* are the same vectors in a table. The query is `SELECT sum(age), max(workclass), ...` over all 14 columns." % (
                count(result["rows"]), result["source"], result["d"]), ""] + \
        table(["", "s", "times the query"], rows)


def kernel(result):
    rows = []
    for mode in modes(result, "kernel_"):
        k, linear = result["kernel_" + mode], result["linear_" + mode]
        both = {"cpu": result["product"]["cpu"] + linear["cpu"]}
        rows.append([mode, seconds(k), seconds(result["product"]), seconds(linear), ratio(k, both)])
    return ["## Kernels", "",
            "%d random features (Gaussian kernel) of %s rows with d = %d. Compared with the matrix product of the feature map, by a BLAS on one "
            "thread, and linear training on a table that contains the features. Streaming takes %s above the "
            "baseline." % (result["features"], count(result["rows"]), result["d"], megabytes(result["memory_mb"])), ""] + \
        table(["", "kernel, s", "product, s", "linear, s", "kernel / (product + linear)"], rows)


def predict(result):
    rows = []
    for title, key, base in (("vector, d = %d" % result["d"], "vector", "scan"), ("row of 14 raw columns", "row", "read"),
                             ("the same, curves by the rule", "curves", "read")):
        if key + "_serial" not in result:
            continue
        for name, kind in (("serial", "cpu"), ("parallel", "wall")):
            a, b = result["%s_%s" % (key, name)], result["%s_%s" % (base, name)]
            rows.append([title, "no" if name == "serial" else result["workers"], seconds(b, kind), seconds(a, kind), ratio(a, b, kind)])
    return ["## Prediction", "",
            "`SELECT count(*) FROM t WHERE dp_predict(model, x)` over %s rows, against the scan; by row, against the query over the 14 columns. With workers: wall-clock "
            "time." % count(result["rows"]), ""] + table(["features", "workers", "scan or query, s", "dp_predict, s", "ratio"], rows)


def tuning(result):
    rows = []
    for mode in modes(result, "scans_"):
        rows.append(["scans of the table, %s" % mode] + result["scans_" + mode])
        rows.append(["CPU seconds, %s" % mode] + ["%.2f" % v for v in result["cpu_" + mode]])
    return ["## Tuning", "", "`dp_logreg_tune` over %s rows, d = %d." % (count(result["rows"]), result["d"]), ""] + \
        table(["candidates"] + result["candidates"], rows)


CURVES = [("cached", "dperm, cached", False), ("streaming", "dperm, streaming", False),
          ("scikit-learn", "export and scikit-learn", False), ("madlib", "MADlib", False), ("scan", "trivial scan", True)]
SOLVERS = ["newton-cholesky", "lbfgs"]


def fastest_solver(point):
    """The scikit-learn solver of a point that took the least."""
    found = [point[s] for s in SOLVERS if s in point]
    return min(found, key=lambda cost: cost["cpu"]) if found else None


def curve(part, result, folder, axis, file, title, x_label, text):
    note = "CPU seconds, client and server together, one core: %s. epsilon = 1, lambda = 0.001. PostgreSQL %s." % (
        part["machine"]["cpu"].split(" (")[0], part["machine"]["postgres"].split()[0])
    points = [{**p, "scikit-learn": fastest_solver(p)} for p in result["points"]]
    lines = [(key, name, dashed) for key, name, dashed in CURVES if any(p.get(key) for p in points)]
    line_plot(os.path.join(folder, file), title, x_label, "seconds",
              [dict(name=name, dashed=dashed, points=[(p[axis], p[key]["cpu"]) for p in points if p.get(key)])
               for key, name, dashed in lines], log_x=True, log_y=True, note=note)
    out = ["## %s" % title, "", text, "", "![%s](%s)" % (title, file), ""]
    return out + table([x_label] + [name + ", s" for _, name, _ in lines],
                       [[count(p[axis])] + [seconds(p[key]) if p.get(key) else "" for key, _, _ in lines] for p in points])


# Linear regression by MADlib 0.3 over 10 million rows: processes, d, seconds by the clock. Hellerstein and others, The MADlib
# Analytics Library, PVLDB 5 (12), 2012.
MADLIB = [(6, 20, 4.688), (24, 20, 1.276), (6, 80, 13.28), (24, 80, 3.363)]


def published(points):
    """The times that MADlib has published, and those of dperm for the same number of rows."""
    rows = [["MADlib 0.3, linear", d, processes, "%.2f" % clock, "%.0f" % (processes * clock)] for processes, d, clock in MADLIB]
    for point in points:
        if point["rows"] == 10_000_000:
            rows += [["dperm, logistic, %s" % mode, point["d"], 1, seconds(point[mode], "wall"), seconds(point[mode])]
                     for mode in ("cached", "streaming") if mode in point]
    return ["### MADlib, as published", "",
            "MADlib trains in the database too, without privacy. Its authors have published the times of *linear* regression over 10,000,000 rows "
            "(Hellerstein and others, *The MADlib Analytics Library*, PVLDB 5, 2012): a Greenplum cluster with Xeon X5670 processors at 2.93 GHz, one process for "
            "each core, all rows in memory. That is one pass, which adds up what dperm calls a Hessian. Logistic regression by MADlib's `irls` takes such a "
            "pass for each iteration; the paper has no times of it. Between the processors lie more than ten years, so take these figures for an order of magnitude.", ""] + \
        table(["method", "d", "processes", "s, clock", "s, all cores"], rows)


def rows_curve(part, result, folder):
    last = result["points"][-1]
    d = last["d"]
    return curve(part, result, folder, "rows", "benchmarks-n.svg", "Training time against table size", "rows (d = %d)" % d,
                 "From %s to %s rows with d = %d. The largest table streams in %s above the baseline." % (
                     count(result["points"][0]["rows"]), count(last["rows"]), d, megabytes(last.get("memory_mb")))) + published(result["points"])


def columns_curve(part, result, folder):
    n = result["points"][0]["rows"]
    return curve(part, result, folder, "d", "benchmarks-d.svg", "Training time against dimension", "d (%s rows)" % count(n),
                 "%s rows with d = %d to %d. Reading grows with d, the Hessian with d²." % (
                     count(n), result["points"][0]["d"], result["points"][-1]["d"]))


def agreement(result):
    rows = []
    for name, differences in result["differences"].items():
        for mode, value in differences.items():
            if mode != "against":
                rows.append([name, mode, differences["against"], "%.1e" % value])
    return ["## Agreement", "", "The largest difference of a weight between ways to train the same model with `epsilon => 'Infinity'`.", ""] + \
        table(["", "mode", "against", "difference"], rows)


def persons(result):
    if result is None:
        return []
    rows = [[mode] + ["%.2f" % result["%s_%s" % (what, mode)][clock] for clock in ("cpu", "wall") for what in ("rows", "persons")]
            for mode in ("cached", "streaming") if "rows_" + mode in result]
    return ["## Persons", "",
            "%s rows, d = %d, of %s persons whose rows are apart: seconds to train for rows, and with `unit`, so that each person weighs as one."
            % (count(result["rows"]), result["d"], count(result["persons"])), ""] + \
        table(["mode", "rows, CPU", "persons, CPU", "rows, clock", "persons, clock"], rows)


def kinds(result):
    lines = ["### Labels of other kinds", "",
             "Ten classes, and a label that is a number, each with a training of two classes on the same rows: seconds of CPU, and the trivial scan. Numbers are trained with the lambda of the default, as two classes beside them: with the same lambda, the loss with less curvature is the easier one.", ""]
    rows = []
    for kind, name in (("classes", "10 classes"), ("numbers", "a number")):
        own, key = result[kind], "classes" if kind == "classes" else "linreg"
        rows += [[name, count(own["rows"]), own["d"], mode, seconds(own["scan"]), seconds(own["logreg_" + mode]), seconds(own[key + "_" + mode])]
                 for mode in modes(own, key + "_")]
    return lines + table(["label", "rows", "d", "mode", "scan", "two classes", "this label"], rows)


def protected(parts):
    rows = [["yes" if r["preloaded"] else "no"] + ["%.1f" % r[what] for what in ("open", "protected", "worker", "charge")]
            + ["%.2f" % ((r["protected"] - r["open"]) / r["worker"])] + ["%.0f" % value for value in r["rates"]]
            for r in (part["result"] for part in parts)]
    r = parts[0]["result"]
    return ["## Protected calls", "",
            "Training on 1,000 rows, in milliseconds of wall-clock time: the best of %d. A call on a protected relation runs in a background worker, which charges the budget first. Its price is "
            "the additional time compared with the same call on an open table, in units of starting a parallel worker (`SELECT 1` with a forced one). This is without fsync, which adds two flushes. "
            "Calls per second are measured with fsync, with sessions that share a budget, each with its own role, and %d background workers." % (r["count"], r["workers"]), ""] + \
        table(["preloaded", "open", "protected", "parallel worker", "`dp_budget_charge`", "price"] + ["calls/s, %d" % n for n in r["sessions"]], rows)


# ---------------------------------------------------------------------------- the document

def bars(parts):
    out = ["## Bars", ""]
    rows = []
    for part in parts.values():
        for check in part["checks"]:
            if check["bar"] is None:
                continue
            value = "not measured" if check["value"] is None else "%.2g%s" % (check["value"], check["unit"]) \
                if check["value"] < 1e-3 else "%s%s" % (times(check["value"]), check["unit"])
            rows.append([check["what"], value, "%s %g%s" % ("≥" if check["at_least"] else "≤", check["bar"], check["unit"]),
                         {True: "met", False: "**missed**", None: ""}[check["passed"]]])
    return out + table(["", "measured", "bar", ""], rows)


def main(results, docs):
    parts = {}
    for name in PARTS:
        path = os.path.join(results, name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                parts[name] = json.load(file)
    if not parts:
        sys.exit("no results in %s: run test/bench/run first" % results)
    m = next(iter(parts.values()))["machine"]
    if any(part["machine"] != m for part in parts.values()):
        print("note: not all parts were measured with the same machine and versions")
    out = ["# Benchmarks", "",
           "<!-- Written by test/bench/report.py from the results of test/bench/run. -->", "",
           "How long training and prediction take, as multiples of the time that no method can avoid: reading the rows. Seconds differ from machine to machine, "
           "the ratios much less. To measure on your machine, in a temporary cluster, run", "",
           "```sh", "make bench", "```", "",
           "This takes about an hour, writes this page, and installs `python3-sklearn` and `python3-psycopg2` from Debian, which nothing else needs.", "",
           "Measured with dperm %s on %s, %s, %d cores, %g GB of memory, PostgreSQL %s with %s of shared buffers, scikit-learn %s, %s. %s seconds unless stated "
           "otherwise, the best of up to %d runs; variants that are compared are measured in turns. Tables are unlogged, frozen and read once beforehand. Vectors are stored `PLAIN`, which makes a difference "
           "only above d = 250." % (
               m["dperm"], max(part["date"] for part in parts.values()), m["cpu"], m["cores"], m["memory_gb"], m["postgres"].split()[0],
               m["shared_buffers"], m["scikit-learn"],
               m["blas"].replace("openblas", "OpenBLAS") or "BLAS", "CPU" if m["clock"] == "CPU" else "Wall-clock",
               max(part["repeat"] for part in parts.values())), ""]
    out += bars(parts)
    writers = {"train": train, "sklearn": sklearn, "raw": raw, "kernel": kernel, "predict": predict, "tuning": tuning,
               "agreement": agreement, "persons": persons, "kinds": kinds}
    for name, part in parts.items():
        if name == "blas":
            out += blas([parts[n] for n in ("blas", "blas_reference") if n in parts], m)
        elif name == "protected":
            out += protected([parts[n] for n in ("protected", "protected_preloaded") if n in parts])
        elif name in ("blas_reference", "protected_preloaded"):
            continue
        elif name in writers:
            out += writers[name](part["result"])
        elif name == "rows":
            out += rows_curve(part, part["result"], docs)
        else:
            out += columns_curve(part, part["result"], docs)
    path = os.path.join(docs, "benchmarks.md")
    cores = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            cores = scaling.SECTION.search(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out).rstrip("\n") + (cores.group().rstrip("\n") if cores else "") + "\n")
    print("%s written" % path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
