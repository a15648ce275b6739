"""What it takes to charge a budget."""
import threading
import time

import psycopg2

CHARGE = "SELECT dp_budget_charge(%s, 0.001)"
SESSIONS = 4


def percentile(times, share):
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


def charge(budget, count, times):
    """Charges in a row, each a statement of its own; how long each took, in milliseconds."""
    connection = psycopg2.connect("")
    connection.autocommit = True
    cursor = connection.cursor()
    for _ in range(count):
        start = time.perf_counter()
        cursor.execute(CHARGE, (budget,))
        times.append((time.perf_counter() - start) * 1e3)
    connection.close()


def fsync_of_server():
    """As a new session has it."""
    connection = psycopg2.connect("")
    cursor = connection.cursor()
    cursor.execute("SHOW fsync")
    value = cursor.fetchone()[0]
    connection.close()
    return value


def debits(bench):
    """Charges to a budget, in a row and from several sessions, each flushed to the disk."""
    if bench.session.value("SELECT to_regproc('dp_budget_charge')") is None:
        bench.say("  this dperm has no budgets")
        return None
    if fsync_of_server() == "on":
        return measure(bench)
    bench.session.run("ALTER SYSTEM SET fsync = on")
    bench.session.run("SELECT pg_reload_conf()")
    try:
        while fsync_of_server() != "on":
            time.sleep(0.1)
        return measure(bench)
    finally:
        bench.session.run("ALTER SYSTEM RESET fsync")
        bench.session.run("SELECT pg_reload_conf()")


def measure(bench):
    count = 200 if bench.options.quick else 10000
    result = {"count": count, "sessions": SESSIONS, "fsync": fsync_of_server()}
    for kind, delta in (("sums", 0), ("filter", 1e-6)):
        times = []
        # without a delta 10,000 charges of 0.001 fit; with one, both rules are evaluated for each of them
        bench.session.run("SELECT dp_budget_create(%s, 200, %s)", (kind, delta))
        charge(kind, count, times)
        tenth = max(count // 10, 1)
        result[kind] = {"median": percentile(times, 0.5), "p99": percentile(times, 0.99), "mean": sum(times) / count,
                        "per_second": 1e3 * count / sum(times), "growth": sum(times[-tenth:]) / sum(times[:tenth])}
        bench.check("charges to a budget, %s: median" % kind, result[kind]["median"], 10, unit=" ms")
        bench.check("charges to a budget, %s: the last tenth of %d / the first" % (kind, count), result[kind]["growth"], 1.5)
    each = count // SESSIONS
    bench.session.run("SELECT dp_budget_create('shared', 200)")
    threads = [threading.Thread(target=charge, args=("shared", each, [])) for _ in range(SESSIONS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result["together"] = each * SESSIONS / (time.perf_counter() - start)
    bench.check("charges to one budget from %d sessions, a second" % SESSIONS, result["together"], None)
    spent = bench.session.value("SELECT count(*) = %s AND sum(e.epsilon) = max(a.spent_epsilon) FROM dp_ledger_entries e "
                                "JOIN dp_budget_accounts a USING (budget) WHERE budget = 'shared' AND act = 'charge' AND entry > a.since", (each * SESSIONS,))
    bench.check("charges that the ledger does not add up to", 0 if spent else 1, 0)
    return result
