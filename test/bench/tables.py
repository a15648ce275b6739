"""The tables of the benchmark: made-up vectors, and the 14 columns of the Adult data set."""
import gzip
import io
import json
import os

import numpy as np

CHUNK = 20000

# The columns of Adult (US census, 1994): 6 numbers with public bounds, 8 lists of 99 categories,
# 105 coordinates together.
NUMBERS = {"age": [0, 120], "fnlwgt": [0, 1500000], "education_num": [1, 16],
           "capital_gain": [0, 99999], "capital_loss": [0, 5000], "hours_per_week": [0, 99]}
CATEGORIES = {name: words.split() for name, words in {
    "workclass": "Private Self-emp-not-inc Local-gov State-gov Self-emp-inc Federal-gov Without-pay Never-worked",
    "education": "HS-grad Some-college Bachelors Masters Assoc-voc 11th Assoc-acdm 10th 7th-8th Prof-school 9th "
                 "12th Doctorate 5th-6th 1st-4th Preschool",
    "marital_status": "Married-civ-spouse Never-married Divorced Separated Widowed Married-spouse-absent "
                      "Married-AF-spouse",
    "occupation": "Prof-specialty Craft-repair Exec-managerial Adm-clerical Sales Other-service Machine-op-inspct "
                  "Transport-moving Handlers-cleaners Farming-fishing Tech-support Protective-serv Priv-house-serv "
                  "Armed-Forces",
    "relationship": "Husband Not-in-family Own-child Unmarried Wife Other-relative",
    "race": "White Black Asian-Pac-Islander Amer-Indian-Eskimo Other",
    "sex": "Male Female",
    "native_country": "United-States Mexico Philippines Germany Puerto-Rico Canada El-Salvador India Cuba England "
                      "China South Jamaica Italy Dominican-Republic Japan Guatemala Poland Vietnam Columbia Haiti "
                      "Portugal Taiwan Iran Greece Nicaragua Peru Ecuador France Ireland Hong Thailand Cambodia "
                      "Trinadad&Tobago Laos Yugoslavia Outlying-US(Guam-USVI-etc) Honduras Hungary Scotland "
                      "Holand-Netherlands",
}.items()}
COLUMNS = ("age workclass fnlwgt education education_num marital_status occupation relationship race sex "
           "capital_gain capital_loss hours_per_week native_country").split()
DOMAINS = json.dumps({**NUMBERS, **CATEGORIES})


def vectors(seed, n, d):
    """Chunks of rows (x, y): |x| <= 1, labels that a straight line predicts mostly right."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=d)
    truth *= 6 / np.linalg.norm(truth)
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        x = rng.normal(size=(m, d)) * (0.8 / np.sqrt(d)) * rng.uniform(0.3, 1.2, size=(m, 1))
        x /= np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) * 1.0000001)
        y = rng.random(m) < 1 / (1 + np.exp(-2 * (x @ truth)))
        yield x, y


def vector_row(d):
    """One row (x float8[], y boolean) of binary COPY, without NULLs: the same size for all rows."""
    element = np.dtype([("size", ">i4"), ("value", ">f8")])
    return np.dtype([("fields", ">i2"), ("x_size", ">i4"), ("ndim", ">i4"), ("flags", ">i4"), ("type", ">i4"),
                     ("length", ">i4"), ("lower", ">i4"), ("x", element, (d,)), ("y_size", ">i4"), ("y", "u1")])


COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_TRAILER = b"\xff\xff"


class Stream(io.RawIOBase):
    """A file that reads from a generator of bytes."""

    def __init__(self, pieces):
        super().__init__()
        self.pieces, self.left = iter(pieces), b""

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self.left:
            try:
                self.left = memoryview(next(self.pieces))
            except StopIteration:
                return 0
        size = min(len(buffer), len(self.left))
        buffer[:size] = self.left[:size]
        self.left = self.left[size:]
        return size


def copy_in(session, target, pieces, options):
    session.cursor.copy_expert("COPY %s FROM STDIN (%s)" % (target, options),
                               io.BufferedReader(Stream(pieces), 1 << 20), 1 << 16)


def settle(session, table):
    """Frozen, with statistics, read once."""
    session.run("VACUUM (FREEZE, ANALYZE) %s" % table)
    session.run("SELECT count(*) FROM %s" % table)


def make_vectors(session, table, n, d, seed=1):
    """A table (x float8[], y boolean) of n made-up rows."""
    row = np.zeros(CHUNK, vector_row(d))
    row["fields"], row["x_size"], row["ndim"], row["type"], row["length"], row["lower"] = 2, 20 + 12 * d, 1, 701, d, 1
    row["x"]["size"], row["y_size"] = 8, 1

    def pieces():
        yield COPY_HEADER
        for x, y in vectors(seed, n, d):
            row["x"]["value"][:len(x)] = x
            row["y"][:len(y)] = y
            yield row[:len(x)].tobytes()
        yield COPY_TRAILER

    session.run("DROP TABLE IF EXISTS %s" % table)
    session.run("CREATE UNLOGGED TABLE %s (x float8[], y boolean)" % table)
    session.run("ALTER TABLE %s ALTER x SET STORAGE PLAIN" % table)
    copy_in(session, table, pieces(), "FORMAT binary")
    session.run("ALTER TABLE %s ADD CHECK (cardinality(x) = %d) NOT VALID" % (table, d))
    settle(session, table)


def made_up_adult(n):
    """CSV lines with the columns and categories of Adult; the first categories are the commonest."""
    rng = np.random.default_rng(1994)
    effects = {name: rng.normal(size=len(words)) for name, words in CATEGORIES.items()}
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        numbers = {"age": rng.integers(17, 91, m), "fnlwgt": rng.integers(12285, 400000, m),
                   "education_num": rng.integers(1, 17, m),
                   "capital_gain": np.where(rng.random(m) < 0.08, rng.integers(114, 20000, m), 0),
                   "capital_loss": np.where(rng.random(m) < 0.05, rng.integers(155, 3000, m), 0),
                   "hours_per_week": np.clip(rng.normal(40, 12, m), 1, 99).astype(int)}
        score = (numbers["age"] - 40) / 40 + (numbers["education_num"] - 12) / 4
        columns = {name: values.astype(str) for name, values in numbers.items()}
        for name, words in CATEGORIES.items():
            share = 1 / np.arange(1, len(words) + 1) ** 1.5
            code = rng.choice(len(words), m, p=share / share.sum())
            score = score + 0.5 * effects[name][code]
            columns[name] = np.array(words)[code]
        columns["income"] = np.where(score + rng.logistic(size=m) > 1, ">50K", "<=50K")
        yield "\n".join(",".join(line) for line in zip(*(columns[c] for c in COLUMNS + ["income"]))).encode() + b"\n"


def real_adult(folder, n):
    """The lines of adult.csv.gz, again and again."""
    with gzip.open(os.path.join(folder, "adult.csv.gz"), "rb") as file:
        header = file.readline().decode().strip()
        lines = file.read().splitlines(keepends=True)
    if header.split(",") != COLUMNS + ["income"]:
        raise SystemExit("adult.csv.gz has other columns: %s" % header)
    whole = b"".join(lines)
    for start in range(0, n, len(lines)):
        yield whole if n - start >= len(lines) else b"".join(lines[:n - start])


def make_adult(session, table, n, folder):
    """The 14 columns and the label of Adult, n rows. Returns where they are from."""
    session.run("DROP TABLE IF EXISTS %s" % table)
    session.run("CREATE UNLOGGED TABLE %s (%s, income text)" % (table, ", ".join(
        '%s %s' % (c, "integer" if c in NUMBERS else 'text COLLATE "C"') for c in COLUMNS)))
    copy_in(session, table, real_adult(folder, n) if folder else made_up_adult(n), "FORMAT csv")
    settle(session, table)
    return "the Adult data set, repeated" if folder else "synthetic rows with the columns and categories of Adult"


def read_all_columns(table):
    """The query that reads what training reads."""
    return "SELECT %s FROM %s" % (", ".join(
        ("sum(%s)" if c in NUMBERS else "max(%s)") % c for c in COLUMNS), table)

