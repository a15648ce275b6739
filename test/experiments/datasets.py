"""Adult and KDDCup99: from the published files to vectors in the unit ball, as the paper does it.

A file becomes a table of its columns, and that the table NAME of (id, fold, label, x): one coordinate
per number and one per category, each divided by its maximum, then a constant, then all divided by the
norm of the row. What is random is a hash of the line number, so every method, every repetition and
every restart sees the same rows in the same folds.
"""
import gzip
import os
import zlib
from dataclasses import dataclass

from database import Failed, literal


@dataclass(frozen=True)
class Dataset:
    name: str
    title: str   # as the paper writes it
    files: list  # alternatives; each is a list of files to read one after the other
    where: str   # to download them
    numbers: str
    categories: str
    columns: str  # all of them, in the order of the file
    label: str   # SQL: the row is positive
    keep: str    # SQL: the row is used
    rows: int    # so many of these are drawn for the tables; 0 for all


ADULT = Dataset(
    "adult", "Adult", [["adult.csv.gz"], ["adult.data", "adult.test"]],
    "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/ (adult.data and adult.test)",
    numbers="age fnlwgt education_num capital_gain capital_loss hours_per_week",
    categories="workclass education marital_status occupation relationship race sex native_country",
    columns="age workclass fnlwgt education education_num marital_status occupation relationship race sex "
            "capital_gain capital_loss hours_per_week native_country income",
    label="income = '>50K'",
    keep="num_nulls(workclass, occupation, native_country) = 0", rows=0)

# The paper drew its rows from the full set. The 10 percent file keeps every row of the rare attacks:
# one in ten of these looks like the full set again.
KDD = Dataset(
    "kdd", "KDDCup99", [["kddcup99_10pct.csv.gz"], ["kddcup.data_10_percent.gz"]],
    "https://kdd.ics.uci.edu/databases/kddcup99/kddcup.data_10_percent.gz",
    numbers="duration src_bytes dst_bytes land wrong_fragment urgent hot num_failed_logins logged_in "
            "num_compromised root_shell su_attempted num_root num_file_creations num_shells "
            "num_access_files num_outbound_cmds is_host_login is_guest_login count srv_count serror_rate "
            "srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate "
            "dst_host_count dst_host_srv_count dst_host_same_srv_rate dst_host_diff_srv_rate "
            "dst_host_same_src_port_rate dst_host_srv_diff_host_rate dst_host_serror_rate "
            "dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate",
    categories="protocol_type service flag",
    columns="duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot "
            "num_failed_logins logged_in num_compromised root_shell su_attempted num_root num_file_creations "
            "num_shells num_access_files num_outbound_cmds is_host_login is_guest_login count srv_count "
            "serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate "
            "srv_diff_host_rate dst_host_count dst_host_srv_count dst_host_same_srv_rate "
            "dst_host_diff_srv_rate dst_host_same_src_port_rate dst_host_srv_diff_host_rate "
            "dst_host_serror_rate dst_host_srv_serror_rate dst_host_rerror_rate dst_host_srv_rerror_rate label",
    label="label = 'normal'",
    keep="label IN ('normal', 'smurf', 'neptune', 'satan', 'ipsweep', 'portsweep', 'nmap') "
         "OR chance('thin', id) < 0.1", rows=70000)

VERSION = 2  # raise it when the tables change

ALL = {dataset.name: dataset for dataset in (ADULT, KDD)}


def find(dataset, folder):
    """The paths of the files."""
    for files in dataset.files:
        paths = [os.path.join(folder, file) for file in files]
        if all(map(os.path.exists, paths)):
            return paths
    wanted = " or ".join(" and ".join(files) for files in dataset.files)
    raise Failed(f"no {wanted} in {folder}; to download from {dataset.where}")


def lines(dataset, paths):
    """The rows of the files in one form: no header, comment, space, question mark or last full stop."""
    header = dataset.columns.split()[0]
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="ascii") as file:
            for line in file:
                line = line.strip().rstrip(".").replace(", ", ",").replace("?", "")
                if line and line[0] != "|" and line.split(",")[0] != header:
                    yield line + "\n"


def checksum(paths):
    total = 0
    for path in paths:
        with open(path, "rb") as file:
            total = zlib.crc32(file.read(), total)
    return f"{total:08x}"


def coordinates(session, dataset):
    """SQL terms: a row's coordinates before it is divided by its norm."""
    numbers = dataset.numbers.split()
    maxima = session.run(f"SELECT {', '.join(f'max({c})' for c in numbers)} FROM kept")[0]
    # a column of zeros stays one
    terms = [f"{c} / {m}" if float(m) > 0 else "0" for c, m in zip(numbers, maxima)]
    for column in dataset.categories.split():
        found = session.run(f'SELECT DISTINCT {column} COLLATE "C" FROM kept ORDER BY 1')
        terms += [f"({column} = {literal(category)})::int" for category, in found]
    return terms + ["1"]


def made(session, name):
    """What a table was made from, or nothing."""
    return session.value(f"SELECT coalesce(obj_description(to_regclass('{name}'), 'pg_class'), '')")


def prepare(session):
    session.run("""
        CREATE EXTENSION IF NOT EXISTS dperm;
        -- uniform in [0, 1), the same in every run
        CREATE OR REPLACE FUNCTION chance(purpose text, id bigint) RETURNS float8
        IMMUTABLE PARALLEL SAFE LANGUAGE sql
        AS $$ SELECT ('x' || substr(md5(purpose || ' ' || id), 1, 12))::bit(48)::bigint / 2.0 ^ 48 $$""")


def read(session, dataset, paths):
    """Makes the temporary table raw, the file as it is, and the view kept, the rows that are used."""
    columns = [f"{c} {'float8' if c in dataset.numbers.split() else 'text'}" for c in dataset.columns.split()]
    session.run(f"""
        CREATE TEMP TABLE raw (id bigserial, {', '.join(columns)});
        CREATE TEMP VIEW kept AS SELECT * FROM raw WHERE {dataset.keep}""")
    session.run(f"COPY raw ({', '.join(dataset.columns.split())}) FROM STDIN (FORMAT csv)", lines(dataset, paths))


def load(session, dataset, folder, folds, rows):
    """Makes the table NAME, and NAME_all of the rows that were not drawn too, unless they are there.

    Returns what they were made from."""
    name, paths = dataset.name, find(dataset, folder)
    rows = dataset.rows and (rows or dataset.rows)
    made_from = f"{VERSION} {checksum(paths)} {folds} {rows}"
    if made(session, name) == made_from:
        return made_from
    read(session, dataset, paths)
    terms = coordinates(session, dataset)
    session.run(f"""
        DROP TABLE IF EXISTS {name}, {name}_all CASCADE;
        CREATE UNLOGGED TABLE {name}_all (id bigint, place bigint, label boolean, x float8[] CHECK (cardinality(x) = {len(terms)}));
        ALTER TABLE {name}_all ALTER x SET STORAGE PLAIN;
        INSERT INTO {name}_all
        SELECT id, row_number() OVER (ORDER BY chance('order', id)), {dataset.label},
               ARRAY(SELECT v / norm FROM unnest(v) WITH ORDINALITY u (v, i) ORDER BY i)
        FROM (SELECT *, ARRAY[{', '.join(terms)}]::float8[] AS v FROM kept) r,
             LATERAL (SELECT sqrt(sum(v * v)) AS norm FROM unnest(v) v) n;
        DROP VIEW kept;
        DROP TABLE raw;

        CREATE UNLOGGED TABLE {name} (id bigint, fold int, label boolean, x float8[] CHECK (cardinality(x) = {len(terms)}));
        ALTER TABLE {name} ALTER x SET STORAGE PLAIN;
        INSERT INTO {name} SELECT id, place % {folds}, label, x FROM {name}_all
        WHERE place <= {rows or 'place'} ORDER BY place;
        VACUUM ANALYZE {name}, {name}_all""")
    for fold in range(folds):
        session.run(f"""
            CREATE VIEW {name}_train_{fold} AS SELECT label, x FROM {name} WHERE fold <> {fold};
            CREATE VIEW {name}_test_{fold} AS SELECT label, x FROM {name} WHERE fold = {fold}""")
    session.run(f"COMMENT ON TABLE {name} IS {literal(made_from)}")
    return made_from


def describe(session, name):
    """What the document says about a data set."""
    rows, positive, dimension, every = session.run(f"""
        SELECT count(*), avg(label::int)::float8, max(cardinality(x)), (SELECT count(*) FROM {name}_all)
        FROM {name}""")[0]
    return dict(rows=int(rows), positive=float(positive), dimension=int(dimension), all=int(every))


def permute(session, permutation, sizes, portions):
    """Puts all of KDDCup99 into another order, for one of the learning curves.

    The first rows are for testing; a size is that of one portion, of which there are several."""
    session.run(f"""
        DROP TABLE IF EXISTS permuted CASCADE;
        CREATE UNLOGGED TABLE permuted (LIKE kdd_all INCLUDING CONSTRAINTS);
        ALTER TABLE permuted DROP COLUMN id;
        ALTER TABLE permuted ALTER x SET STORAGE PLAIN;
        INSERT INTO permuted SELECT row_number() OVER (ORDER BY chance('permutation {permutation}', id)), label, x
        FROM kdd_all;
        ALTER TABLE permuted ADD PRIMARY KEY (place);
        VACUUM ANALYZE permuted""")
    rows = int(session.value("SELECT count(*) FROM permuted"))
    tested = min(25000, rows // 10)
    if tested + portions * max(sizes) > rows:
        raise Failed(f"{portions} portions of {max(sizes)} rows and {tested} to test are more than {rows}")
    session.run(f"CREATE VIEW permuted_test AS SELECT * FROM permuted WHERE place <= {tested}")
    for size in sizes:
        session.run(f"CREATE VIEW permuted_{size} AS SELECT * FROM permuted "
                    f"WHERE place > {tested} AND place <= {tested + portions * size}")
