#!/usr/bin/env python3
"""The benchmark; test/bench/run starts it with a server.

Connects as libpq does (PGHOST and so on), as a superuser, to a server that has dperm installed.
Debian 12: apt-get install python3-psycopg2 python3-sklearn
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import time

sys.dont_write_bytecode = True

try:
    import psycopg2
    import sklearn
    from threadpoolctl import threadpool_info
    from bars import PARTS, Bench
    from measure import turns
except ImportError as error:
    sys.exit("bench.py: %s; on Debian: apt-get install python3-psycopg2 python3-sklearn" % error)

# What is measured again on another server.
VARIANTS = {"reference": "blas", "preloaded": "protected"}


def machine(session):
    """What the figures depend on."""
    cpu = platform.machine()
    try:
        for line in subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout.splitlines():
            if line.startswith("Model name:"):
                cpu = "%s (%s)" % (line.split(":", 1)[1].strip(), platform.machine())
    except (OSError, subprocess.SubprocessError):
        pass
    blas = ["%s %s" % (info["internal_api"], info["version"]) for info in threadpool_info()
            if info["user_api"] == "blas"]
    return {"cpu": cpu, "cores": os.cpu_count(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            "postgres": session.value("SELECT current_setting('server_version')"),
            "shared_buffers": session.value("SELECT current_setting('shared_buffers')"),
            "dperm": session.value("SELECT extversion FROM pg_extension WHERE extname = 'dperm'"),
            "scikit-learn": sklearn.__version__, "blas": ", ".join(blas),
            "python": platform.python_version(), "clock": "CPU" if session.local else "wall"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables: does it work?")
    parser.add_argument("--only", nargs="+", metavar="PART", choices=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--variant", choices=list(VARIANTS), help="a server with the reference BLAS, or with dperm preloaded: only what that changes")
    parser.add_argument("--no-peers", action="store_true", help="neither scikit-learn nor MADlib")
    parser.add_argument("--turns", type=int, metavar="DESCRIPTOR", help="how test/bench/compare runs two of these in turns")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("--data", metavar="FOLDER", help="with adult.csv.gz; by default such rows are made up")
    parser.add_argument("--template", metavar="DATABASE", default="template0",
                        help="database to copy, one that holds MADlib")
    parser.add_argument("--scan", required=True, help="the module of bench_scan.c")
    parser.add_argument("--results", required=True, metavar="FOLDER", help="for a JSON file per part")
    options = parser.parse_args()
    if options.turns is not None:
        turns.begin(options.turns)

    admin = psycopg2.connect(os.environ.get("PGDATABASE") and "" or "dbname=postgres")
    admin.autocommit = True
    cursor = admin.cursor()
    database = "dperm_bench_%d" % os.getpid()
    cursor.execute("CREATE DATABASE %s TEMPLATE %s" % (database, options.template))
    os.environ["PGDATABASE"] = database
    failed = 0
    try:
        setup = psycopg2.connect("")
        setup.autocommit = True
        setup.cursor().execute("""
            CREATE EXTENSION IF NOT EXISTS dperm;
            CREATE FUNCTION bench_scan_step(float8, float8[]) RETURNS float8 AS %s, 'bench_scan_step'
                LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
            CREATE AGGREGATE bench_scan(float8[]) (SFUNC = bench_scan_step, STYPE = float8, INITCOND = 0,
                                                   COMBINEFUNC = float8pl, PARALLEL = SAFE);
            CREATE TABLE warm_up AS SELECT ARRAY[random() / 2, random() / 2] AS x, i %% 2 = 0 AS y
            FROM generate_series(1, 100) i;
            ALTER TABLE warm_up ADD CHECK (cardinality(x) = 2)""", (options.scan,))
        setup.close()
        bench = Bench(options)
        facts = machine(bench.session)
        print("PostgreSQL %(postgres)s, dperm %(dperm)s, scikit-learn %(scikit-learn)s; %(cpu)s, %(cores)d cores" % facts)
        if options.quick:
            print("--quick: the tables are too small for the ratios to mean much")
        if not bench.has_cache:
            print("this dperm has no dperm.cache_memory: nothing is cached")
        for name in [VARIANTS[options.variant]] if options.variant else options.only or PARTS:
            print("\n%s: %s" % (name, PARTS[name].__doc__.splitlines()[0]), flush=True)
            bench.checks = []
            start = time.perf_counter()
            result = PARTS[name](bench)
            seconds = time.perf_counter() - start
            failed += sum(check["passed"] is False for check in bench.checks)
            with open(os.path.join(options.results, "_".join(filter(None, (name, options.variant))) + ".json"), "w", encoding="utf-8") as file:
                json.dump({"part": name, "title": PARTS[name].__doc__, "quick": options.quick, "repeat": options.repeat,
                           "seconds": round(seconds, 1), "date": time.strftime("%Y-%m-%d"), "machine": facts,
                           "checks": bench.checks, "result": result}, file, indent=1)
                file.write("\n")
            print("  (%.0f s)" % seconds, flush=True)
        bench.session.close()
    finally:
        cursor.execute("DROP DATABASE IF EXISTS %s WITH (FORCE)" % database)
    print("\n%d bars missed" % failed if failed else "\nall bars met")
    return 1 if failed and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
