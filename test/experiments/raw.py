"""Raw columns with declared domains: what a user trains on, next to the paper's vectors.

The table NAME of (id, tested, the columns, label) has the columns as they are in the file. Their domains are
declared here, from the documentation of the data and from what a column means: values outside of a range
count as its nearest end. Bit s of tested says whether a row is for testing in split s,
which is a hash of the line number and s. XOR and rings are made, for kernels.
"""
import json
import zlib
from dataclasses import dataclass, field

import datasets
from database import literal

ADULT = {
    "age": [17, 90], "fnlwgt": [0, 1000000], "education_num": [1, 16], "capital_gain": [0, 99999],
    "capital_loss": [0, 5000], "hours_per_week": [1, 99],
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
                 "1st-4th 10th Doctorate 5th-6th Preschool",
    "marital_status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
                      "Married-AF-spouse",
    "occupation": "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
                  "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
                  "Priv-house-serv Protective-serv Armed-Forces",
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native_country": "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India "
                      "Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico "
                      "Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary "
                      "Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong "
                      "Holand-Netherlands",
}

# An hour, kilobytes, counts of rare things, and counters of nine and eight bits: what is beyond is large.
KDD = {
    "duration": [0, 3600], "src_bytes": [0, 10000], "dst_bytes": [0, 10000],
    **{flag: [0, 1] for flag in "land logged_in root_shell su_attempted is_host_login is_guest_login".split()},
    **{rare: [0, 10] for rare in "wrong_fragment urgent hot num_failed_logins num_compromised num_root num_file_creations "
                                 "num_shells num_access_files num_outbound_cmds".split()},
    "count": [0, 511], "srv_count": [0, 511], "dst_host_count": [0, 255], "dst_host_srv_count": [0, 255],
    **{rate: [0, 1] for rate in datasets.KDD.numbers.split() if rate.endswith("_rate")},
    "protocol_type": "tcp udp icmp",
    "service": "IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i "
               "efs exec finger ftp ftp_data gopher harvest hostnames http http_2784 http_443 http_8001 imap4 "
               "iso_tsap klogin kshell ldap link login mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp "
               "nntp ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje shell smtp sql_net ssh "
               "sunrpc supdup systat telnet tftp_u tim_i time urh_i urp_i uucp uucp_path vmnet whois",
    "flag": "OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH",
}

VERSION = 1  # raise it when the tables change

METHODS = ["simple", "ball", "shaped"]


@dataclass(frozen=True)
class Raw:
    name: str
    title: str
    source: datasets.Dataset  # or None: it is made
    domains: dict
    columns: str = ""  # SQL: of a row that is made from its number, id, and the label
    options: str = ""  # SQL: arguments of the training
    features: int = 0  # of the kernel
    terms: dict = field(default_factory=dict)  # SQL: columns that are not in the file

    def dimension(self):
        """Of the vector that is trained."""
        return self.features or 1 + sum(len(domain.split()) if isinstance(domain, str) else 1
                                        for domain in self.domains.values())

    def declared(self):
        """The argument `domains`."""
        return json.dumps({column: domain.split() if isinstance(domain, str) else domain
                           for column, domain in self.domains.items()})


KERNEL = dict(domains={"a": [-1, 1], "b": [-1, 1]}, features=200, options=", kernel => 'gaussian', gamma => 8")

ALL = {raw.name: raw for raw in (
    Raw("adult_raw", "Adult", datasets.ADULT, ADULT),
    Raw("kdd_raw", "KDDCup99", datasets.KDD, KDD),
    Raw("xor", "XOR", None, **KERNEL, columns="""
        SELECT a, b, (a > 0) <> (b > 0) AS label
        FROM (SELECT 2 * chance('a', id) - 1 AS a, 2 * chance('b', id) - 1 AS b) r"""),
    Raw("rings", "Rings", None, **KERNEL, columns="""
        SELECT r * cos(f) AS a, r * sin(f) AS b, id % 2 = 0 AS label
        FROM (SELECT 0.3 + 0.5 * (id % 2) + 0.2 * chance('r', id) - 0.1 AS r, 2 * pi() * chance('f', id) AS f) r"""))}


def load(session, raw, settings):
    """Makes the table NAME, and for each split s the views NAME_train_s and NAME_test_s, unless they are there.

    Returns what they were made from."""
    name = raw.name
    paths = datasets.find(raw.source, settings.folder) if raw.source else []
    rows = raw.source.rows and (settings.rows or raw.source.rows) if raw.source else settings.made_rows
    made_from = (f"{VERSION} {datasets.VERSION} {datasets.checksum(paths)} {zlib.crc32(repr(raw).encode()):08x} "
                 f"{rows} {settings.splits}")
    if datasets.made(session, name) == made_from:
        return made_from
    columns = ", ".join(raw.domains)
    if raw.source:
        datasets.read(session, raw.source, paths)
        session.run(f"""
            CREATE TEMP TABLE drawn AS
            SELECT id, {', '.join(f'{raw.terms.get(each, each)} AS {each}' for each in raw.domains)}, {raw.source.label} AS label FROM kept ORDER BY chance('order', id) LIMIT {rows or 'ALL'};
            DROP VIEW kept;
            DROP TABLE raw""")
    else:
        session.run(f"CREATE TEMP TABLE drawn AS SELECT id, r.* FROM generate_series(1, {rows}) id, LATERAL ({raw.columns}) r")
    session.run(f"""
        DROP TABLE IF EXISTS {name} CASCADE;
        CREATE UNLOGGED TABLE {name} AS
        SELECT * FROM drawn JOIN (
            SELECT id, bit_or((place <= (SELECT count(*) FROM drawn) / 5)::int::bigint << s) AS tested
            FROM (SELECT id, s, row_number() OVER (PARTITION BY s ORDER BY chance('split ' || s, id)) AS place
                  FROM drawn, generate_series(0, {settings.splits - 1}) s) p
            GROUP BY id) t USING (id);
        DROP TABLE drawn;
        VACUUM ANALYZE {name}""")
    for s in range(settings.splits):
        session.run(f"""
            CREATE VIEW {name}_train_{s} AS SELECT {columns}, label FROM {name} WHERE tested >> {s} & 1 = 0;
            CREATE VIEW {name}_test_{s} AS SELECT {columns}, label FROM {name} WHERE tested >> {s} & 1 = 1""")
    session.run(f"COMMENT ON TABLE {name} IS {literal(made_from)}")
    return made_from


def describe(session, name):
    """What the document says about a data set."""
    rows, positive = session.run(f"SELECT count(*), avg(label::int)::float8 FROM {name}")[0]
    return dict(rows=int(rows), positive=float(positive), dimension=ALL[name].dimension())


def training(run):
    """SQL: the call that trains, and the relation to test on."""
    raw, trained = ALL[run.data], f"{run.data}_train_{run.fold}"
    learner = "dp_logreg" if run.loss == "logistic" else "dp_svm"
    options = raw.options or ", knots => 1"  # curves are another part
    if run.method == "ball":
        options += ", options => '{\"noise\": \"ball\"}'"
    elif run.method == "simple":  # no criterion
        options += (", options => '{\"method\": \"objective\", \"noise\": \"ball\"}', "
                    f"lambda => (SELECT 0.1 * {raw.dimension()} / (count(*) * {run.epsilon}) FROM {trained})")
    return (f"{learner}_train('{trained}', 'label', NULL, '{run.epsilon}', domains => {literal(raw.declared())}{options})",
            f"{run.data}_test_{run.fold}")
