"""What a call on a protected relation takes beyond the same call on an open one."""
import contextlib
import threading
import time

import psycopg2

SESSIONS = (1, 4, 16)
PARALLEL = {"debug_parallel_query", "force_parallel_mode"}
TRAIN = "SELECT dp_logreg_train(%s, 'y', '{x}', epsilon => 0.001) IS NOT NULL"
SETUP = """
    CREATE TABLE open_rows (x float8 CHECK (x BETWEEN 0 AND 1), y boolean);
    INSERT INTO open_rows SELECT i / 1000.0, i > 500 FROM generate_series(1, 1000) i;
    CREATE TABLE protected_rows (LIKE open_rows INCLUDING ALL);
    INSERT INTO protected_rows SELECT * FROM open_rows;
    SELECT dp_budget_create('calls', 500);
    SELECT dp_protect('protected_rows', 'calls')"""


def connect(user=None):
    connection = psycopg2.connect("" if user is None else "user=" + user)
    connection.autocommit = True
    return connection, connection.cursor()


def fastest(cursor, sql, *arguments, count):
    """The fewest milliseconds that a statement took."""
    best = float("inf")
    for _ in range(count):
        start = time.perf_counter()
        cursor.execute(sql, arguments)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def start_of_worker(count):
    """What PostgreSQL takes for SELECT 1 in a parallel worker; this session has not loaded dperm."""
    connection, cursor = connect()
    cursor.execute("SELECT name FROM pg_settings WHERE name = ANY (%s)", (list(PARALLEL),))
    cursor.execute("SET %s = on" % cursor.fetchone()[0])
    best = fastest(cursor, "SELECT 1", count=count)
    connection.close()
    return best


def call_for(user, end, done):
    connection, cursor = connect(user)
    while time.perf_counter() < end:
        cursor.execute(TRAIN, ("protected_rows",))
        done.append(1)
    connection.close()


def rate(sessions, seconds):
    """Calls a second of some sessions together, each of a role of its own."""
    done = []
    start = time.perf_counter()
    threads = [threading.Thread(target=call_for, args=("caller_%d" % i, start + seconds, done)) for i in range(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(done) / (time.perf_counter() - start)


@contextlib.contextmanager
def flushed(session):
    """As a server should run: what is charged is on the disk before a row is read."""
    session.run("ALTER SYSTEM SET fsync = on")
    session.run("SELECT pg_reload_conf()")
    time.sleep(1)
    try:
        yield
    finally:
        session.run("ALTER SYSTEM RESET fsync")
        session.run("SELECT pg_reload_conf()")


def protected(bench):
    """Calls on a protected relation: their price, and how many there can be in a second."""
    preloaded = "dperm" in bench.session.value("SELECT current_setting('shared_preload_libraries')")
    count = 10 if bench.options.quick else 100
    bench.session.run(SETUP)
    for i in range(max(SESSIONS)):
        bench.session.run("CREATE ROLE caller_%d LOGIN" % i)
        bench.session.run("SELECT dp_grant('calls', %s)", ("caller_%d" % i,))
    connection, cursor = connect()
    result = {"preloaded": preloaded, "count": count, "sessions": list(SESSIONS),
              "workers": int(bench.session.value("SELECT current_setting('max_worker_processes')")),
              "worker": start_of_worker(count),
              "open": fastest(cursor, TRAIN, "open_rows", count=count),
              "protected": fastest(cursor, TRAIN, "protected_rows", count=count),
              "charge": fastest(cursor, "SELECT dp_budget_charge('calls', 0.001)", count=count)}
    connection.close()
    bench.check("protected call%s: (protected - open) / start of a parallel worker" % (", preloaded" if preloaded else ""),
                (result["protected"] - result["open"]) / result["worker"], 1.2 if preloaded else 1.4)
    with flushed(bench.session):
        result["rates"] = [rate(sessions, 1 if bench.options.quick else 10) for sessions in SESSIONS]
    exact = bench.session.value("SELECT sum(e.epsilon) = max(b.epsilon_spent) FROM dp_ledger e JOIN dp_budgets b USING (budget) "
                                "WHERE budget = 'calls' AND e.act = 'charge'")
    bench.check("protected calls that the ledger does not add up to", 0 if exact else 1, 0)
    bench.session.run("SELECT dp_unprotect('protected_rows'); SELECT dp_budget_drop('calls'); DROP TABLE open_rows, protected_rows")
    for i in range(max(SESSIONS)):
        bench.session.run("DROP ROLE caller_%d" % i)
    return result
