"""Write the section and the picture about parallel workers of docs/benchmarks.md.

    scaling.py RESULTS DOCS [MACHINE]

RESULTS are the lines of test/bench/scaling; MACHINE says where they were measured.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plot"))
from svgplot import line_plot

TITLE = "## All cores"
SECTION = re.compile(r"\n*%s\n.*?(?=\n## |\Z)" % TITLE, re.S)

# measured by hand: it takes a superuser of the system
PAGES = ("Tables of less than 32 MB start no workers. A third of the time with 15 workers, and more with one, is what Linux takes to map and to free the rows, which are in `/dev/shm`, page by page. With large pages there "
         "(`mount -o remount,huge=within_size /dev/shm`), on another machine of this kind on 2026-11-17, with an earlier form of the stored rows, the best of three with 15 workers and 20 GB fell from 314 to 193 ms for 1000k x 105, whose scan took 45 ms, and from "
         "243 to 184 ms for 4M x 20. One worker was then 2.1 and 1.7 times as fast as none, instead of 1.3 and 1.6 times. With `min_dynamic_shared_memory = 4GB` it was 226 and 195 ms.")


def read(path):
    """Lines as (table, cache, workers, times)."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, cache, workers, *times = line.rstrip("\n\t").split("\t")
            yield name, cache, int(workers), [float(t) for t in times]


def section(lines, machine):
    out = [TITLE, "", "Milliseconds by the clock, the best of several runs, with 0 to 15 parallel workers%s: `test/bench/scaling`. "
           "*Scan* is a sum over the same rows by PostgreSQL. The last column is the time of `dp_logreg_train` in scans with as many workers."
           % (", on " + machine if machine else ""), "", PAGES, "", "![Speed-up against workers](benchmarks-cores.svg)", "",
           "| table | `cache_memory` | workers | scan | `dp_logreg_train`, or `dp_predict` | `dp_svm_train` | scans |",
           "|---|---:|---:|---:|---:|---:|---:|"]
    for name, cache, workers, times in lines:
        cells = ["%.3g" % t if t < 100 else "%.0f" % t for t in times] + [""] * (3 - len(times))
        out.append("| %s | %s | %d | %s | %.1f |" % (name, cache, workers, " | ".join(cells), times[1] / times[0]))
    return "\n".join(out) + "\n"


def picture(lines, path):
    """Speed-up of the largest tables, and of their scans."""
    series = []
    names = [n for n in dict.fromkeys(l[0] for l in lines if l[1] == "20GB") if "curves" not in n]
    for name in names:
        chosen = [l for l in lines if l[0] == name and l[1] == "20GB"]
        for i, what in ((1, name), (0, "scan of " + name)):
            series.append(dict(name=what, dashed=i == 0, points=[(l[2] + 1, chosen[0][3][i] / l[3][i]) for l in chosen]))
    line_plot(path, "Speed-up of training against processes", "processes", "times as fast as one", series, log_x=True, log_y=True)


def main(results, docs, machine=""):
    lines = list(read(results))
    path = os.path.join(docs, "benchmarks.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(SECTION, "", text).rstrip("\n") + "\n\n"
    picture(lines, os.path.join(docs, "benchmarks-cores.svg"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + section(lines, machine))


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
