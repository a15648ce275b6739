"""What is measured, part by part. Each function returns what its file in build/bench holds.

A check is one line with a verdict: what, the measured value, the bar, whether it is met.
"""
import statistics
import time

import numpy as np
from threadpoolctl import threadpool_limits

import peers
import tables
from protected import protected
from measure import Cost, Session, blas_library, interleave, memory_above_baseline, touch_memory

LAMBDA = 1e-3
MEMORY_MB = 64  # a streaming training may take this much above the baseline


class Bench:
    """Options, the session that makes tables, and the checks so far."""

    def __init__(self, options):
        self.options = options
        self.session = Session()
        self.has_cache = self.session.has_cache
        self.workers = max(1, peers.cores() - 1)
        self.checks = []
        self.made = {}

    def size(self, n):
        return max(1000, n // 100) if self.options.quick else n

    def modes(self):
        return ["cached", "streaming"] if self.has_cache else ["streaming"]

    def say(self, text):
        print(text, flush=True)

    def check(self, what, value, bar, at_least=False, unit=""):
        """bar None: a figure without a verdict. value None: could not be measured here."""
        passed = None
        if bar is not None and value is not None:
            passed = bool(value >= bar if at_least else value <= bar)
        self.checks.append({"what": what, "value": value, "bar": bar, "at_least": at_least, "unit": unit,
                            "passed": passed})
        measured = "not measured" if value is None else "%.3g%s" % (value, unit)
        wanted = "" if bar is None else "%s %.3g%s" % ("at least" if at_least else "at most", bar, unit)
        verdict = {None: "", True: "PASS", False: "FAIL"}[passed]
        self.say("  %-66s %12s  %-16s %s" % (what, measured, wanted, verdict))

    def vectors(self, n, d):
        """The name of a table of n made-up rows."""
        name = "v_%d_%d" % (n, d)
        if name not in self.made:
            self.say("  (making a table of %d rows, d = %d)" % (n, d))
            tables.make_vectors(self.session, name, n, d)
            self.made[name] = True
        return name

    def adult(self):
        name, n = "adult", self.size(1000000)
        if name not in self.made:
            self.say("  (making %d rows of 14 columns)" % n)
            self.made[name] = tables.make_adult(self.session, name, n, self.options.data)
        return name, n

    def drop(self, *names):
        for name in names:
            self.session.run("DROP TABLE IF EXISTS %s" % name)
            self.made.pop(name, None)

    def open(self, mode, n=0, d=0, workers=0):
        """A session in which a matrix of n x d fits the cache, or a quarter of it does, or none."""
        session = Session(mode, workers, cache_mb=cache_mb(n, d) if mode == "cached" else rows_mb(n, d) // 4)
        # the library, the catalog and the random generator are ready before anything is timed
        session.run("SELECT dp_logreg_train('warm_up', 'y', 'x', epsilon => 1, lambda => 0.1)")
        return session


def rows_mb(n, d):
    """What the rows of vectors take: the numbers and a label."""
    return n * (d + 1) * 8 // 2**20


def cache_mb(n, d):
    """Generous: twice as much."""
    return 64 + 2 * rows_mb(n, d)


def touching(megabytes):
    """What interleave() does before each run: touch this much memory, but at most half of what is free."""
    memory = int(min(megabytes, 0.5 * peers.free_memory()))
    return lambda: touch_memory(memory)


NO_INTERCEPT = ", options => '{\"intercept\": false}'"


def vector(d, label=None):
    """The argument with the domain of a vector, and perhaps that of the label."""
    return ", domains => '{\"x\": {\"dimension\": %d}%s}'" % (d, ", " + label if label else "")


def train_call(table, learner="logreg", epsilon="1", more=""):
    """A training on a table (x, y)."""
    return "dp_%s_train('%s', 'y', 'x', epsilon => '%s', lambda => %g%s)" % (learner, table, epsilon, LAMBDA, more)


def weights_sql(call):
    return "SELECT dp_weights(%s)" % call


def quiet_sql(call):
    """Trains, and does not send the model."""
    return "SELECT %s IS NULL" % call


def train_sql(*arguments, **more):
    return quiet_sql(train_call(*arguments, **more))


def scan_sql(table):
    return "SELECT bench_scan(x) FROM %s" % table


def name_of(n, d):
    return "%s x %d" % ("%dM" % (n // 10**6) if n % 10**6 == 0 else "%dk" % (n // 1000), d)


# ------------------------------------------------------------------------ the parts

def train(bench):
    """Training in multiples of the trivial scan."""
    rows = []
    for full, d, *bars in ((1000000, 105, 6, 10.1), (1000000, 20, 5, 7.4), (200000, 105, 10, 14)):
        n = bench.size(full)
        table, name = bench.vectors(n, d), name_of(n, d)
        sessions, things = {}, {}
        for mode in bench.modes() + (["quarter"] if bench.has_cache else []):
            sessions[mode] = bench.open(mode, n, d)
        scan = sessions["streaming"]
        things["scan"] = lambda: scan.cost(scan_sql(table))
        for mode, session in sessions.items():
            for learner in ("logreg", "svm"):
                things[learner, mode] = lambda s=session, l=learner: s.cost(train_sql(table, l))
        best = interleave(things, bench.options.repeat, before=touching(2 * rows_mb(n, d)))

        # workers: wall clock, since each has CPU time of its own
        bench.session.run("ALTER TABLE %s SET (parallel_workers = %d)" % (table, bench.workers))
        parallel = bench.open("streaming", n, d, bench.workers)
        walls = interleave({"serial": lambda: scan.cost(train_sql(table)),
                            "parallel": lambda: parallel.cost(train_sql(table))}, bench.options.repeat)
        memory = {learner: memory_above_baseline(table, train_sql(table, learner), "streaming")
                  for learner in ("logreg", "svm")}

        unit = best["scan"].cpu
        row = {"rows": n, "d": d, "scan": best["scan"].json(), "memory_mb": memory,
               "streaming_serial": walls["serial"].json(), "streaming_parallel": walls["parallel"].json(),
               "workers": bench.workers}
        for mode in sessions:
            logreg, svm = best["logreg", mode], best["svm", mode]
            row["logreg_" + mode], row["svm_" + mode] = logreg.json(), svm.json()
            if mode == "quarter":
                bench.check("%s, a quarter of it cached: dp_logreg_train / cached" % name, logreg.cpu / best["logreg", "cached"].cpu, 1.3)
                continue
            bench.check("%s, %s: dp_logreg_train / scan" % (name, mode), logreg.cpu / unit, bars[mode == "streaming"])
            bench.check("%s, %s: dp_svm_train / dp_logreg_train" % (name, mode), svm.cpu / logreg.cpu, 1.3)
        bench.check("%s, streaming: memory above the baseline" % name, memory["logreg"], MEMORY_MB, unit=" MB")
        bench.check("%s, streaming: with %d worker(s) / without, wall clock" % (name, bench.workers),
                    walls["parallel"].wall / walls["serial"].wall, 1)
        rows.append(row)
        for session in list(sessions.values()) + [parallel]:
            session.close()
    return {"tables": rows}


def persons(bench):
    """Training for which a person is one, however many rows they have."""
    n, d = bench.size(1000000), 20
    count = n // 10
    table = bench.vectors(n, d)
    if bench.session.value("SELECT to_regproc('dp_budget_charge')") is None:
        bench.say("  this dperm has no persons")
        return None
    bench.say("  (giving the rows to %d persons)" % count)
    bench.session.run("DROP TABLE IF EXISTS persons_rows")
    bench.session.run("CREATE UNLOGGED TABLE persons_rows (person bigint, x float8[], y boolean)")
    bench.session.run("ALTER TABLE persons_rows ALTER x SET STORAGE PLAIN")
    # the rows of a person are apart
    bench.session.run("INSERT INTO persons_rows SELECT (row_number() OVER () * 7919) %% %d, x, y FROM %s" % (count, table))
    tables.settle(bench.session, "persons_rows")
    row = {"rows": n, "d": d, "persons": count}
    for mode in bench.modes():
        session = bench.open(mode, n, d)
        best = interleave({"rows": lambda s=session: s.cost(train_sql("persons_rows", more=vector(d))),
                           "persons": lambda s=session: s.cost(train_sql("persons_rows", more=vector(d) + ", unit => 'person'"))},
                          bench.options.repeat)
        row["rows_" + mode], row["persons_" + mode] = best["rows"].json(), best["persons"].json()
        bench.check("%s, %d persons, %s: with unit / without" % (name_of(n, d), count, mode), best["persons"].cpu / best["rows"].cpu, 2)
        bench.check("%s, %d persons, %s: the same, wall clock" % (name_of(n, d), count, mode), best["persons"].wall / best["rows"].wall, 2)
        session.close()
    bench.drop("persons_rows")
    return row


def kinds(bench):
    """Several classes in multiples of the trivial scan, and numbers against two classes."""
    row = {}
    for kind, full, d in (("classes", 200000, 50), ("numbers", 200000, 105)):
        n = bench.size(full)
        vectors, table = bench.vectors(n, d), "kinds_" + kind
        bench.session.run("DROP TABLE IF EXISTS %s" % table)
        bench.session.run("CREATE UNLOGGED TABLE %s (x float8[], y boolean, class int, number float8)" % table)
        bench.session.run("ALTER TABLE %s ALTER x SET STORAGE PLAIN" % table)
        bench.session.run("""INSERT INTO %s SELECT x, y, width_bucket(atan2(x[1] + x[2], x[3] + x[4]) + random() - 0.5,
            ARRAY[-2.5, -1.9, -1.3, -0.6, 0, 0.6, 1.3, 1.9, 2.5]), 5 * (x[1] - x[2] + x[3]) + random() FROM %s""" % (table, vectors))
        tables.settle(bench.session, table)
        more = vector(d)
        calls = {"logreg": train_call(table, more=more)}
        if kind == "classes":
            calls["classes"] = calls["logreg"].replace("'y'", "'class'").replace(more, vector(d, '"class": {"categories": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}'))
        else:
            # each with its own lambda: by the same one, the loss with less curvature is the easier one
            calls["linreg"] = train_call(table, "linreg", more=vector(d, '"number": [-3, 3]')).replace("'y'", "'number'")
            calls = {name: call.replace(", lambda => %g" % LAMBDA, "") for name, call in calls.items()}
        sessions = {mode: bench.open(mode, n, d) for mode in bench.modes()}
        scan = sessions["streaming"]
        things = {"scan": lambda: scan.cost(scan_sql(table))}
        for mode, session in sessions.items():
            for name, call in calls.items():
                things[name, mode] = lambda s=session, c=call: s.cost(quiet_sql(c))
        best = interleave(things, bench.options.repeat)
        row[kind] = {"rows": n, "d": d, "scan": best["scan"].json()}
        for mode in sessions:
            row[kind].update({"%s_%s" % (name, mode): best[name, mode].json() for name in calls})
            if kind == "classes":
                bench.check("%s, 10 classes, %s: dp_logreg_train / scan" % (name_of(n, d), mode),
                            best["classes", mode].cpu / best["scan"].cpu, 60 if mode == "cached" else None)
            else:
                bench.check("%s, %s: dp_linreg_train / dp_logreg_train" % (name_of(n, d), mode),
                            best["linreg", mode].cpu / best["logreg", mode].cpu, 1.1)  # as fast, up to noise
        for session in sessions.values():
            session.close()
        bench.drop(table)
    return row


def sklearn(bench):
    """Export and scikit-learn."""
    rows = []
    mode = bench.modes()[0]
    for full, d in ((1000000, 105), (1000000, 20), (200000, 105)):
        n = bench.size(full)
        table, name = bench.vectors(n, d), name_of(n, d)
        if peers.memory_for(n, d) > 0.8 * peers.free_memory():
            bench.check("%s: scikit-learn / dperm (not enough memory to export)" % name, None, 10, at_least=True)
            continue
        session, copier = bench.open(mode, n, d), Session()
        kept = {solver: {} for solver in peers.SOLVERS}
        things = {"dperm": lambda: session.cost(train_sql(table))}
        for solver in peers.SOLVERS:
            things[solver] = lambda s=solver: peers.export_and_fit(copier, table, n, d, LAMBDA, s, 1, kept[s])
        best = interleave(things, bench.options.repeat, limit=180, before=touching(peers.memory_for(n, d)))
        fastest = min((s for s in peers.SOLVERS if kept[s]["gradient"] <= peers.ACCURATE), key=lambda s: best[s].cpu)
        all_cores = peers.export_and_fit(copier, table, n, d, LAMBDA, fastest, peers.cores())

        # accuracy, without noise
        own = np.array(session.value(weights_sql(train_call(table, epsilon="Infinity"))))
        matrix, labels = kept[fastest]["matrix"], kept[fastest]["labels"]
        row = {"rows": n, "d": d, "mode": mode, "dperm": best["dperm"].json(), "fastest": fastest,
               "dperm_gradient": peers.gradient_norm(matrix, labels, own, LAMBDA),
               "all_cores": all_cores.json(), "cores": peers.cores(), "solvers": {
                   s: dict(best[s].json(), gradient=kept[s]["gradient"], export=kept[s]["export"],
                           difference=float(np.abs(kept[s]["weights"] - own).max())) for s in peers.SOLVERS}}
        clock = min(best[fastest].wall, all_cores.wall) / best["dperm"].wall
        bench.check("%s: export and %s / dperm, CPU" % (name, fastest),
                    best[fastest].cpu / best["dperm"].cpu, 10, at_least=True)
        bench.check("%s: the same, wall clock, any number of threads" % name, clock, None)
        bench.check("%s: weights, dperm - %s" % (name, fastest), row["solvers"][fastest]["difference"], 1e-6)
        rows.append(row)
        session.close()
        copier.close()
    return {"tables": rows}


ADULT_FEATURES = "'{%s}'" % ",".join(tables.COLUMNS)


def adult_call(learner="logreg", epsilon="1", knots="1"):
    """Straight lines, or curves with as many knots as the rule says: NULL."""
    return "dp_%s_train('adult', 'income', %s, epsilon => '%s', lambda => %g, positive => '>50K', domains => '%s', knots => %s)" % (
        learner, ADULT_FEATURES, epsilon, LAMBDA, tables.DOMAINS, knots)


def dense_call(learner="logreg", epsilon="1", table="adult_dense"):
    dimension = len(tables.NUMBERS) + sum(map(len, tables.CATEGORIES.values())) + 1
    return train_call(table, learner, epsilon, vector(dimension) + NO_INTERCEPT)


def make_dense(bench):
    """The encoded rows of adult, the constant included, as vectors."""
    if "adult_dense" in bench.made:
        return
    bench.say("  (storing the encoded rows)")
    run = bench.session.run
    run("DROP VIEW IF EXISTS adult_encoded")
    run("DROP TABLE IF EXISTS adult_model, adult_dense")
    run("CREATE TABLE adult_model AS SELECT %s AS m" % adult_call())
    run("CREATE UNLOGGED TABLE adult_dense (x float8[], y boolean)")
    run("ALTER TABLE adult_dense ALTER x SET STORAGE PLAIN")
    run("INSERT INTO adult_dense SELECT dp_encode((SELECT m FROM adult_model), a), income = '>50K' FROM adult a")
    tables.settle(bench.session, "adult_dense")
    run("CREATE OR REPLACE VIEW adult_encoded AS SELECT dp_encode((SELECT m FROM adult_model), a) AS x, "
        "income = '>50K' AS y FROM adult a")
    bench.made["adult_dense"] = True


def raw(bench):
    """Raw columns, 14 of them, one-hot to 105 coordinates."""
    table, n = bench.adult()
    make_dense(bench)
    dimension = len(tables.NUMBERS) + sum(map(len, tables.CATEGORIES.values()))
    things, sessions = {}, {}
    for mode in bench.modes():
        session = sessions[mode] = bench.open(mode, n, dimension)
        things["raw", mode] = lambda s=session: s.cost(quiet_sql(adult_call()))
        things["curves", mode] = lambda s=session: s.cost(quiet_sql(adult_call(knots="NULL")))
        things["knots", mode] = lambda s=session: s.cost(quiet_sql(adult_call(knots="8")))
        things["dense", mode] = lambda s=session: s.cost(quiet_sql(dense_call()))
        things["view", mode] = lambda s=session: s.cost(quiet_sql(dense_call(table="adult_encoded")))
    reader = sessions["streaming"]
    things["read"] = lambda: reader.cost(tables.read_all_columns(table))
    best = interleave(things, bench.options.repeat)
    row = {"rows": n, "d": dimension, "source": bench.made["adult"], "read": best["read"].json()}
    for i, mode in enumerate(sessions):
        for way in ("raw", "curves", "knots", "dense", "view"):
            row["%s_%s" % (way, mode)] = best[way, mode].json()
        first = i == 0  # the bars are for the default, where the rows fit
        bench.check("%s: raw columns / a query that reads them" % mode, best["raw", mode].cpu / best["read"].cpu,
                    6 if first else None)
        bench.check("%s: curves by the rule / the query" % mode, best["curves", mode].cpu / best["read"].cpu, 5)
        bench.check("%s: curves by the rule / straight lines" % mode, best["curves", mode].cpu / best["raw", mode].cpu, 1.3)
        bench.check("%s: curves with 8 knots / straight lines" % mode, best["knots", mode].cpu / best["raw", mode].cpu, 1.3)
        bench.check("%s: the columns as vectors / raw columns" % mode, best["view", mode].cpu / best["raw", mode].cpu,
                    3 if first else None, at_least=True)
        bench.check("%s: vectors that were stored / raw columns" % mode, best["dense", mode].cpu / best["raw", mode].cpu,
                    None)
    for session in sessions.values():
        session.close()
    return row


def kernel(bench):
    """Random features."""
    n, d = bench.size(200000), 105
    features = 100 if bench.options.quick else 1000
    table = bench.vectors(n, d)
    more = ", kernel => 'gaussian', gamma => 2, options => '{\"kernel_features\": %d}'" % features
    session = bench.session
    bench.say("  (storing %d random features of each row)" % features)
    session.run("DROP TABLE IF EXISTS few_rows, kernel_model, kernel_features")
    # the features do not depend on the rows: a model of a few has the same
    session.run("CREATE TABLE few_rows (LIKE %s INCLUDING CONSTRAINTS)" % table)
    session.run("INSERT INTO few_rows SELECT * FROM %s LIMIT 2000" % table)
    session.run("CREATE TABLE kernel_model AS SELECT %s AS m" % train_call("few_rows", more=more))
    session.run("CREATE UNLOGGED TABLE kernel_features (x float8[], y boolean)")
    session.run("ALTER TABLE kernel_features ALTER x SET STORAGE PLAIN")
    session.run("INSERT INTO kernel_features SELECT dp_encode((SELECT m FROM kernel_model), x), y FROM %s" % table)
    session.run("ALTER TABLE kernel_features ADD CHECK (cardinality(x) = %d) NOT VALID" % features)
    tables.settle(session, "kernel_features")

    rng = np.random.default_rng(4)
    left, right = rng.normal(size=(n, d)), rng.normal(size=(d, features // 2))
    out = np.empty((n, features // 2))

    def product():
        with threadpool_limits(1):
            start, cpu = time.perf_counter(), time.process_time()
            np.matmul(left, right, out=out)
            return Cost(time.process_time() - cpu, time.perf_counter() - start)

    things, sessions = {"product": product}, {}
    for mode in bench.modes():
        s = sessions[mode] = bench.open(mode, n, features)
        things["kernel", mode] = lambda s=s: s.cost(train_sql(table, more=more))
        things["linear", mode] = lambda s=s: s.cost(train_sql("kernel_features", more=NO_INTERCEPT))
    best = interleave(things, bench.options.repeat, limit=180)
    del left, right, out
    row = {"rows": n, "d": d, "features": features, "product": best["product"].json()}
    for mode in sessions:
        both = best["product"].cpu + best["linear", mode].cpu
        row["kernel_" + mode], row["linear_" + mode] = best["kernel", mode].json(), best["linear", mode].json()
        # in every pass anew when they do not fit
        bench.check("%d features, %s: kernel / (matrix product + linear training)" % (features, mode),
                    best["kernel", mode].cpu / both, 2 if mode == "cached" else None)
    row["memory_mb"] = memory_above_baseline(table, train_sql(table, more=more), "streaming")
    bench.check("%d features, streaming: memory above the baseline" % features, row["memory_mb"], None, unit=" MB")
    for s in sessions.values():
        s.close()
    bench.drop("kernel_model", "kernel_features", "few_rows")
    return row


def predict(bench):
    """Prediction."""
    n, d = bench.size(1000000), 105
    table = bench.vectors(n, d)
    adult, adult_rows = bench.adult()
    setup = bench.session.run
    setup("DROP TABLE IF EXISTS predict_model, predict_adult, predict_curves")
    setup("CREATE TABLE predict_model AS SELECT dp_logreg_train('%s', 'y', 'x', epsilon => 1, lambda => 0.001) AS m" % table)
    setup("CREATE TABLE predict_adult AS SELECT %s AS m" % adult_call())
    setup("CREATE TABLE predict_curves AS SELECT %s AS m" % adult_call(knots="NULL"))
    by_vector = "SELECT count(*) FROM %s WHERE dp_predict((SELECT m FROM predict_model), x)" % table
    by_row = "SELECT count(*) FROM %s a WHERE dp_predict((SELECT m FROM predict_adult), a)" % adult
    by_curves = by_row.replace("predict_adult", "predict_curves")
    for name in (table, adult):
        setup("ALTER TABLE %s SET (parallel_workers = %d)" % (name, bench.workers))
    serial, parallel = bench.open(None), bench.open(None, workers=bench.workers)
    plan = "\n".join(line for line, in _rows(parallel, "EXPLAIN (COSTS OFF) " + by_vector))
    bench.check("dp_predict runs in parallel workers (1: yes)", float("Parallel Seq Scan" in plan), 1, at_least=True)
    things = {}
    for name, session in (("serial", serial), ("parallel", parallel)):
        things["scan", name] = lambda s=session: s.cost(scan_sql(table))
        things["vector", name] = lambda s=session: s.cost(by_vector)
        things["read", name] = lambda s=session: s.cost(tables.read_all_columns(adult))
        things["row", name] = lambda s=session: s.cost(by_row)
        things["curves", name] = lambda s=session: s.cost(by_curves)
    summary = "SELECT count(*) FROM dp_summary('%s', 0.5, domains => '%s')" % (adult, tables.DOMAINS)
    things["summary", "serial"] = lambda: serial.cost(summary)
    best = interleave(things, bench.options.repeat)
    row = {"rows": n, "d": d, "adult_rows": adult_rows, "workers": bench.workers,
           **{"%s_%s" % key: cost.json() for key, cost in best.items()}}
    bench.check("vectors: dp_predict / scan", best["vector", "serial"].cpu / best["scan", "serial"].cpu, 2)
    bench.check("vectors, %d worker(s): dp_predict / scan, wall clock" % bench.workers,
                best["vector", "parallel"].wall / best["scan", "parallel"].wall, 2)
    bench.check("14 raw columns: dp_predict / a query that reads them",
                best["row", "serial"].cpu / best["read", "serial"].cpu, 3)
    bench.check("14 raw columns, %d worker(s): the same, wall clock" % bench.workers,
                best["row", "parallel"].wall / best["read", "parallel"].wall, 3)
    bench.check("14 raw columns: dp_summary / a query that reads them",
                best["summary", "serial"].cpu / best["read", "serial"].cpu, 3)
    bench.check("14 raw columns: curves / straight lines", best["curves", "serial"].cpu / best["row", "serial"].cpu, 1.2)
    serial.close()
    parallel.close()
    bench.drop("predict_model", "predict_adult", "predict_curves")
    return row


def _rows(session, sql):
    session.run(sql)
    return session.cursor.fetchall()


def tuning(bench):
    """How often tuning reads the table."""
    n, d = bench.size(200000), 20
    table = bench.vectors(n, d)
    counts = [2, 4, 8, 16, 32]
    result = {"rows": n, "d": d, "candidates": counts}
    for mode in bench.modes():
        session = bench.open(mode, n, d)
        session.connection.autocommit = False
        scans, seconds = [], []
        for m in counts:
            candidates = "[%s]" % ", ".join('{"lambda": %.6g}' % v for v in np.geomspace(1e-3, 1, m))
            runs = []
            for _ in range(bench.options.repeat):
                before = _scans(session, table)
                cost = session.cost("SELECT dp_logreg_tune('%s', 'y', 'x', epsilon => 1, candidates => '%s') IS NULL"
                                    % (table, candidates))
                runs.append((_scans(session, table) - before, cost.cpu))
                session.connection.commit()
            scans.append(statistics.median_low([run[0] for run in runs]))
            seconds.append(round(min(run[1] for run in runs), 4))
        result["scans_" + mode], result["cpu_" + mode] = scans, seconds
        bench.say("  %s: %s scans for %s candidates" % (mode, scans, counts))
        bench.check("%s: scans with %d candidates / with %d" % (mode, counts[-1], counts[0]),
                    scans[-1] / scans[0], 1.5)
        session.close()
    return result


def _scans(session, table):
    return session.value("SELECT coalesce(sum(seq_scan), 0)::int FROM pg_stat_xact_user_tables WHERE relname = %s",
                         (table,))


def rows_curve(bench):
    """Time against the number of rows."""
    sizes = [1000, 3000, 10000] if bench.options.quick else [
        10000, 30000, 100000, 300000, 1000000, 3000000, 10000000]
    return curve(bench, [(n, 20) for n in sizes], "rows")


def columns_curve(bench):
    """Time against the dimension."""
    dimensions = [10, 30, 100] if bench.options.quick else [10, 20, 50, 100, 200, 500, 1000]
    return curve(bench, [(bench.size(50000), d) for d in dimensions], "d")


def curve(bench, shapes, axis):
    points = []
    solvers = list(peers.SOLVERS)
    madlib = None if bench.options.no_peers else peers.madlib_version(bench.session)
    for n, d in shapes:
        known = "v_%d_%d" % (n, d) in bench.made
        table = bench.vectors(n, d)
        things, sessions = {}, []
        for mode in bench.modes():
            session = bench.open(mode, n, d)
            sessions.append(session)
            things[mode] = lambda s=session: s.cost(train_sql(table))
        scan = sessions[-1]
        things["scan"] = lambda: scan.cost(scan_sql(table))
        best = interleave(things, bench.options.repeat, limit=60)
        others = {}
        if not bench.options.no_peers and peers.memory_for(n, d) < 0.8 * peers.free_memory():
            copier = Session()
            sessions.append(copier)
            kept = {solver: {} for solver in solvers}
            for solver in solvers:
                others[solver] = lambda s=solver: peers.export_and_fit(copier, table, n, d, LAMBDA, s, 1, kept[s])
        if madlib:
            others["madlib"] = lambda: peers.madlib_train(scan, table)
        best.update(interleave(others, bench.options.repeat, limit=30))
        for solver in [s for s in solvers if s in best]:
            if kept[solver]["gradient"] > peers.ACCURATE:
                del best[solver]
                solvers.remove(solver)  # nor is it tried again
        kept = None
        points.append({"rows": n, "d": d, **{name: cost.json() for name, cost in best.items()}})
        bench.say("  %-12s %s" % (name_of(n, d), "  ".join(
            "%s %.3f s" % (name, cost.cpu) for name, cost in best.items())))
        for session in sessions:
            session.close()
        if (n, d) == shapes[-1] and axis == "rows":
            memory = memory_above_baseline(table, train_sql(table), "streaming")
            points[-1]["memory_mb"] = memory
            bench.check("%s, streaming: memory above the baseline" % name_of(n, d), memory, MEMORY_MB, unit=" MB")
        if not known:
            bench.drop(table)

    last = points[-1]
    for mode in bench.modes():
        if axis == "d":
            growth = last[mode]["cpu"] / points[-2][mode]["cpu"]
            bench.check("%s: growth with d as a power of d, from %d to %d" % (mode, points[-2]["d"], last["d"]),
                        float(np.log(growth) / np.log(last["d"] / points[-2]["d"])), 2.2)
            continue
        # in scans: a table that does not fit shared_buffers takes longer to read for each row
        before = points[-3]
        growth = last[mode]["cpu"] / before[mode]["cpu"] * before["scan"]["cpu"] / last["scan"]["cpu"]
        bench.check("%s: scans at %s / at %s" % (mode, name_of(last["rows"], 20), name_of(before["rows"], 20)), growth, 1.3)
    return {"points": points, "madlib": madlib}


def agreement(bench):
    """Without noise, every way to train gives the same weights."""
    n, d = bench.size(200000), 105
    table = bench.vectors(n, d)
    adult, adult_rows = bench.adult()
    make_dense(bench)
    for name in (table, adult, "adult_dense"):
        bench.session.run("ALTER TABLE %s SET (parallel_workers = %d)" % (name, bench.workers))
    result = {"rows": n, "d": d, "adult_rows": adult_rows, "differences": {}}
    for learner in ("logreg", "svm"):
        for what, queries in (("vectors", {"": train_call(table, learner, "Infinity")}),
                              ("Adult", {"raw columns, ": adult_call(learner, "Infinity"),
                                         "stored vectors, ": dense_call(learner, "Infinity")})):
            weights = {}
            for kind, call in queries.items():
                for mode in bench.modes():
                    for workers in (0, bench.workers):
                        session = bench.open(mode, max(n, adult_rows), d, workers)
                        key = kind + mode + (", parallel" if workers else "")
                        weights[key] = np.array(session.value(weights_sql(call)))
                        session.close()
            names = list(weights)
            differences = {name: float(np.abs(weights[name] - weights[names[0]]).max()) for name in names[1:]}
            result["differences"]["%s, %s" % (learner, what)] = {"against": names[0], **differences}
            bench.check("%s, %s: largest difference of a weight among %d modes" % (learner, what, len(names)),
                        max(differences.values()), 1e-8)
    return result


def blas(bench):
    """Training with the BLAS that this server uses."""
    n, d = bench.size(200000), 105
    table, name = bench.vectors(n, d), name_of(n, d)
    sessions = {mode: bench.open(mode, n, d) for mode in bench.modes()}
    scan = sessions["streaming"]
    things = {"scan": lambda: scan.cost(scan_sql(table))}
    for mode, session in sessions.items():
        things[mode] = lambda s=session: s.cost(train_sql(table))
    best = interleave(things, bench.options.repeat)
    result = {"rows": n, "d": d, "library": blas_library(scan.pid), "scan": best["scan"].json()}
    for mode, session in sessions.items():
        result[mode] = best[mode].json()
        bench.check("%s, %s, with %s: dp_logreg_train / scan" % (name, mode, result["library"]),
                    best[mode].cpu / best["scan"].cpu, None)
        session.close()
    return result


PARTS = {"train": train, "persons": persons, "kinds": kinds, "blas": blas, "sklearn": sklearn, "raw": raw, "kernel": kernel, "predict": predict, "tuning": tuning,
         "agreement": agreement, "rows": rows_curve, "columns": columns_curve, "protected": protected}
