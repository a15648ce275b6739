# Whatever one row holds, everything that an ordinary user can observe besides
# the model is the same: results except for the released numbers, messages at
# every level, errors with their SQLSTATE, plans, locks, statistics, lines of
# the log. Time, memory, buffers and scans of large tables are not covered
# (docs/guarantee.md).
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;

# The settings of a server that nobody configured. No autovacuum: it would
# analyse one table and not the next.
$node->append_conf('postgresql.conf',
	"log_statement = none\nlog_line_prefix = '%m [%p] '\nautovacuum = off\nmax_parallel_workers = 4\n");
$node->start;
my $has_statements = $node->safe_psql('postgres',
	"SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'");
if ($has_statements)
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'\n");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
}

my $features = '{a,n,k,d,ts,b,c,p,e,u,i,x,x4}';
my $domains = '{"a": [0, 100], "n": {"range": [0, 10], "scale": "log"}, "k": {"categories": [0, 1, 2]}, "d": ["2000-01-01", "2020-01-01"], '
  . '"ts": ["2000-01-01", "2020-01-01"], "c": ["red", "green"], "p": ["ab", "cd"], "e": ["low", "high"], '
  . '"u": ["00000000-0000-0000-0000-000000000001"], "i": ["10.0.0.1/32", "10.0.0.2/32"], '
  . '"x": {"dimension": 3, "norm": 2}, "x4": {"dimension": 3}}';

# More columns than a function has arguments
my $bits = join(', ', map { "id % $_ = 0 AS bit$_" } 2 .. 90);
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION dperm;
	CREATE TYPE level AS ENUM ('low', 'middle', 'high');
	CREATE TABLE ordinary AS SELECT id,
	    id % 3 = 0 AS y, sin(id) AS y8, cos(id)::numeric AS yn, CASE WHEN id % 3 = 0 THEN 'yes' ELSE 'no' END AS yt,
	    (ARRAY['low', 'middle', 'high'])[1 + id % 3]::level AS ye,
	    ARRAY[sin(id), cos(2 * id), 0.1] AS x, ARRAY[cos(id), 0.5, sin(id)]::float4[] AS x4, (id % 100)::float8 AS a,
	    (id % 10)::numeric AS n, id % 4 AS k, '2001-01-01'::date + 40 * id AS d, '2001-01-01 00:00+00'::timestamptz + id * interval '1000 hours' AS ts,
	    id % 2 = 0 AS b, (ARRAY['red', 'green', 'blue'])[1 + id % 3] AS c, (ARRAY['ab', 'cd'])[1 + id % 2]::char(4) AS p,
	    (ARRAY['low', 'middle', 'high'])[1 + id % 3]::level AS e, ('00000000-0000-0000-0000-00000000000' || id % 3)::uuid AS u,
	    ('10.0.0.' || id % 4)::inet AS i, id % 2 AS g
	  FROM generate_series(1, 150) id;
	CREATE TABLE people (LIKE ordinary, PRIMARY KEY (id));
	CREATE VIEW many AS SELECT *, $bits FROM people;
	CREATE VIEW sorted AS SELECT * FROM people ORDER BY c, x;
	CREATE TABLE models AS SELECT dp_logreg_train('ordinary', 'y', 'x', 1, domains => '{"x": {"dimension": 3}}') AS lone,
	  dp_svm_train('ordinary', 'y', '$features', 1, domains => '$domains') AS wide;
	-- many passes: more rows than a training keeps
	CREATE TABLE easy AS SELECT id, id % 2 = 0 AS y, id % 2 AS k FROM generate_series(1, 52000) id;
	CREATE TABLE hard AS SELECT id, sin(id) > 0 AS y, (id * 7919) % 40 AS k FROM generate_series(1, 52000) id;
	CREATE TABLE large (LIKE easy);
	CREATE ROLE analyst LOGIN;
	GRANT SELECT ON people, sorted, many, models, large TO analyst;
});

# One row each, and what is wrong with it. Every column has its own bad values.
my $labels = 'y = NULL, y8 = NULL, yn = NULL, yt = NULL, ye = NULL';
my $columns = 'x = NULL, x4 = NULL, a = NULL, n = NULL, k = NULL, d = NULL, ts = NULL, b = NULL, c = NULL, p = NULL, e = NULL, u = NULL, i = NULL';
my @hostile = (
	[ 'NULL label' => $labels ],
	[ 'NaN label' => q{y8 = 'NaN', yn = 'NaN', yt = 'NaN'} ],
	[ 'infinite label' => q{y8 = '-Infinity', yn = 'Infinity', yt = ''} ],
	[ 'label out of range' => q{y8 = 5e-324, yn = 1e400, yt = repeat('yes', 100000)} ],
	[ 'NULL vector' => 'x = NULL, x4 = NULL' ],
	[ 'NULL features' => $columns ],
	[ 'nothing but NULL' => "$labels, $columns" ],
	[ 'NULL in a vector' => q{x = '{1,NULL,1}', x4 = '{NULL,NULL,NULL}'} ],
	[ 'NaN' => q{x = '{NaN,0.5,0.5}', x4 = '{0,0,NaN}', a = 'NaN', n = 'NaN'} ],
	[ 'Infinity' => q{x = '{0.5,Infinity,0.5}', x4 = '{Infinity,0,0}', a = 'Infinity', n = 'Infinity', d = 'infinity', ts = 'infinity'} ],
	[ '-Infinity' => q{x = '{0.5,-Infinity,Infinity}', x4 = '{-Infinity,0,0}', a = '-Infinity', n = '-Infinity', d = '-infinity', ts = '-infinity'} ],
	[ '1e308' => q{x = '{1e308,1e308,1e308}', x4 = '{3e38,3e38,3e38}', a = 1e308, n = 1e308, k = 2147483647, d = '5874897-12-31', ts = '294276-12-31'} ],
	[ '-1e308' => q{x = '{-1.7e308,1.7e308,-1.7e308}', x4 = '{-3e38,3e38,-3e38}', a = -1.7e308, n = -1e400, k = -2147483648, d = '4713-01-01 BC', ts = '4713-01-01 BC'} ],
	[ 'denormal' => q{x = '{5e-324,-5e-324,1e-310}', x4 = '{-0,1e-45,-0}', a = 5e-324, n = 1e-400} ],
	[ 'outlier that separates' => q{y = NOT y, y8 = 1, yn = 1, yt = 'yes', x = '{-1000,1000,1000}', x4 = '{-1000,1000,1000}', a = -1000000, n = 1000000} ],
	[ 'shorter vector' => q{x = '{1,1}', x4 = '{1}'} ],
	[ 'longer vector' => q{x = '{1,1,1,1}', x4 = '{1,1,1,1,1,1,1}'} ],
	[ 'wide vector' => q{x = (SELECT array_agg(sin(k)) FROM generate_series(1, 200) k), x4 = (SELECT array_agg(sin(k)::float4) FROM generate_series(1, 50) k)} ],
	[ 'vector out of line' => q{x = array_fill(0.5::float8, ARRAY[4900]), x4 = array_fill(0.5::float4, ARRAY[100000])} ],
	[ 'empty vector' => q{x = '{}', x4 = '{}'} ],
	[ 'two dimensions' => q{x = '{{1,1,1}}', x4 = '{{1},{1},{1}}'} ],
	[ 'other lower bound' => q{x = '[-5:-3]={0.1,0.2,0.3}', x4 = '[0:2]={1,2,3}'} ],
	[ 'not in the domain' => q{c = 'purple', p = 'zz', yt = 'perhaps', k = 77, u = 'ffffffff-ffff-ffff-ffff-ffffffffffff', i = '::1', e = 'middle'} ],
	[ 'huge text' => q{c = repeat('red', 100000), yt = repeat('no', 100000), p = ''} ],
	[ 'text that is code' => q{c = $$'"; \ %s %n $1 {"weights": [1]}$$, p = '%s%n', yt = $$E'\'$$} ]);

my %hostile = map { @$_ } @hostile;

# All calls that read rows of people: SELECT lists first, which are also
# explained
my @models = (
	"dp_logreg_train('people', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}')",
	"dp_logreg_train('people', 'y', 'x4', 1, domains => '{\"x4\": {\"dimension\": 3}}', options => '{\"intercept\": false}')",
	"dp_logreg_train('people', 'y', 'x', 0.1, options => '{\"method\": \"output\"}', domains => '{\"x\": {\"dimension\": 3, \"norm\": 3}}')",
	"dp_logreg_train('people', 'y8', 'x', 1, lambda => 0.01, options => '{\"analysis\": \"paper\"}', domains => '{\"x\": {\"dimension\": 3}}')",
	"dp_logreg_train('people', 'yn', '$features', 1, domains => '$domains')",
	"dp_logreg_train('people', 'y', '$features', 1, lambda => 1e-10, domains => '$domains', options => '{\"analysis\": \"paper\"}')",
	"dp_logreg_train('people', 'yt', '{c,p,e,a}', 2, positive => 'yes', kernel => 'gaussian', gamma => 2, options => '{\"kernel_features\": 10}', domains => '{\"c\": [\"red\"], \"p\": [\"ab\"], \"a\": [0, 1]}')",
	"dp_logreg_train('people', 'ye', 'x', 1, positive => 'high', kernel => 'laplacian', options => '{\"kernel_features\": 10}', domains => '{\"x\": {\"dimension\": 3}}')",
	"dp_logreg_train('people', 'y', NULL::text, 1)",
	"dp_logreg_train('people', 'y', 'x', 'Infinity', lambda => 1e-10, domains => '{\"x\": {\"dimension\": 3}}')",
	"dp_logreg_train('people', 'y', '{a}', 1e-6, domains => '{\"a\": [0, 1]}')",
	"dp_svm_train('people', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}')",
	"dp_svm_train('people', 'yn', 'x4', 1, options => '{\"method\": \"output\", \"loss\": \"smooth_hinge\", \"h\": 0.1}', domains => '{\"x4\": {\"dimension\": 3}}')",
	"dp_svm_train('people', 'y8', '$features', 20, domains => '$domains', options => '{\"analysis\": \"paper\", \"h\": 0.01}')",
	"dp_svm_train('people', 'y', '{a,n,d,ts,b}', 1, kernel => 'cauchy', options => '{\"kernel_features\": 10}', domains => '{\"a\": [0, 1], \"n\": [0, 1], \"d\": [\"2000-01-01\", \"2020-01-01\"], \"ts\": [\"2000-01-01\", \"2020-01-01\"]}')",
	"dp_svm_train('sorted', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}')",
	"dp_logreg_train('many', 'yt', NULL::text, 1, positive => 'yes', domains => '$domains')");
my @aggregates = (
	"dp_logreg(y, x, 1, '{\"dimension\": 3}')",
	"dp_logreg(y8, x4, 1, '{\"lambda\": 0.01, \"dimension\": 3, \"method\": \"output\"}')",
	"dp_logreg(yt, x, 1, '{\"dimension\": 3, \"positive\": \"yes\", \"kernel\": \"gaussian\", \"kernel_features\": 10}')",
	"dp_logreg(y, x::numeric[], 1, '{\"dimension\": 3}')",
	"dp_svm(yn, x, 1, '{\"lambda\": 0.1, \"dimension\": 3, \"norm\": 2, \"analysis\": \"paper\", \"intercept\": false}')",
	"dp_svm(y, dp_encode('{\"a\": [0, 1], \"b\": null, \"c\": [\"red\"], \"n\": [0, 10], \"d\": [\"2000-01-01\", \"2020-01-01\"], \"x4\": {\"dimension\": 3}}'::jsonb, r), 1)");

# Numbers that are released stand between << and >>
my @tables = (
	"SELECT metric, '<<' || coalesce(value::text, '') || '>>' AS value, '<<' || low || '>>' AS low, '<<' || high || '>>' AS high, private FROM models, dp_evaluate(lone, 'people', 1, 'y')",
	"SELECT metric, '<<' || coalesce(value::text, '') || '>>' AS value, '<<' || low || '>>' AS low, '<<' || high || '>>' AS high, private FROM models, dp_evaluate(wide, 'people', 0.1, 'yt', positive => 'yes')",
	"SELECT threshold, '<<' || coalesce(true_positive_rate::text, '') || '>>', '<<' || coalesce(false_positive_rate::text, '') || '>>', '<<' || coalesce(auc::text, '') || '>>' FROM models, dp_roc(wide, 'people', 1, 'yn', bins => 10)",
	"SELECT threshold, '<<' || coalesce(true_positive_rate::text, '') || '>>', '<<' || coalesce(false_positive_rate::text, '') || '>>', '<<' || coalesce(auc::text, '') || '>>' FROM models, dp_roc(lone, 'sorted', 1, 'y8')",
	"SELECT column_name, item, value, '<<' || count || '>>' AS count, '<<' || count_low || '>>' AS low, '<<' || share || '>>' AS share FROM dp_summary('people', 1, '{b,c,e,k}', domains => '$domains')",
	"SELECT rank, column_name, value, '<<' || weight || '>>' FROM dp_coefficients(dp_svm_train('people', 'y', '$features', 1, domains => '$domains')) ORDER BY rank",
	"SELECT pg_column_size(m), length(dperm.dperm_model_send(m)), cardinality(dp_weights(m)), dp_guarantee(m) FROM dp_logreg_train('people', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}') m",
	# predictions on rows without a usable value are NULL, for those who can
	# read the rows
	"SELECT count(coalesce(dp_predict(wide, r), true)), count(coalesce(dp_decision(wide, r), 0)), count(dp_encode(wide, r)), count(coalesce(dp_predict_prob(lone, r), 0)) FROM models, people r",
	"SELECT * FROM dp_domains('people')",
	"SELECT g, dp_logreg(y, x, 1, '{\"dimension\": 3}') FROM people GROUP BY g ORDER BY g",
	# portions are drawn at random, and their sizes with them: every number is
	# released
	map { "SELECT '##' || m || '##' AS model, m::jsonb -> 'tuning' AS tuning FROM $_ m" } (
		"dp_logreg_tune('people', 'y', 'x', 1, candidates => '[{\"lambda\": 0.1}]', domains => '{\"x\": {\"dimension\": 3}}')",
		"dp_svm_tune('people', 'yt', '$features', 1, domains => '$domains', positive => 'yes', candidates => '[{\"lambda\": 1, \"kernel\": \"matern\", \"kernel_features\": 10}]', selection => 'exponential')",
		"dp_logreg_tune('sorted', 'yn', 'x4', 1, candidates => '[{\"lambda\": 0.1}]', domains => '{\"x4\": {\"dimension\": 3}}')"));

# Calls that fail, each for a reason of its own that is not in the rows
my @errors = (
	"SELECT dp_logreg_train('people', 'y', 'x', 0, domains => '{\"x\": {\"dimension\": 3}}')",
	"SELECT dp_logreg_train('people', 'y', 'x', 1, lambda => 1e-300, options => '{\"method\": \"output\"}', domains => '{\"x\": {\"dimension\": 3}}')",
	"SELECT dp_logreg_train('people', 'yt', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}')",
	"SELECT dp_logreg_train('people', 'ye', 'x', 1, positive => 'none', domains => '{\"x\": {\"dimension\": 3}}')",
	"SELECT dp_logreg_train('people', 'y', '{a,x}', 1)",
	"SELECT dp_logreg_train('people', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 5000}}')",
	"SELECT dp_svm_train('people', 'c', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}')",
	"SELECT * FROM models, dp_evaluate(lone, 'people', 1, 'c')",
	"SELECT * FROM dp_summary('people', 1e-6, '{b,c,e}', domains => '$domains')",
	"SELECT * FROM dp_summary('people', 1, '{x}', domains => '$domains')",
	"SELECT dp_logreg(y, c, 1) FROM people",
	"SELECT dp_logreg(y, x, 1) OVER () FROM people",
	"SELECT dp_logreg(y, x, id, '{\"dimension\": 3}') FROM people",
	"SELECT dp_logreg(y, x, 1) FROM people",
	"SELECT dp_logreg_train('people', 'y', 'x', 1)");

my $plain = 'EXPLAIN';
my $verbose = 'EXPLAIN (VERBOSE, COSTS OFF)';
my $analyze = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)';

# What else of the server an ordinary user can look at, within the transaction
# that trains
my $views = q{
SELECT locktype, relation::regclass, page, tuple, objid, mode, granted FROM pg_locks WHERE pid = pg_backend_pid() ORDER BY 1, 2, 6;
SELECT name, statement FROM pg_cursors;
SELECT name, statement FROM pg_prepared_statements;
SELECT state, wait_event, backend_xid, backend_type, query FROM pg_stat_activity WHERE usename = 'analyst' OR backend_type = 'parallel worker';
SELECT name, setting FROM pg_settings WHERE name LIKE 'dperm.%' OR name LIKE 'debug_print%' OR name = 'client_min_messages' ORDER BY 1;
};

# Within the first transaction of a session only: a COMMIT moves the counters of
# all transactions before it to other views, or does so later, which depends on
# the clock.
my $counters = q{
SELECT relname, seq_scan, seq_tup_read, n_tup_ins, n_tup_upd FROM pg_stat_xact_user_tables WHERE relname IN ('people') ORDER BY 1;
SELECT count(*) FROM pg_stat_xact_user_functions;
};

# Everything that psql can show
my $psql = "\\set VERBOSITY verbose\n\\set SHOW_CONTEXT always\n\\pset tuples_only off\n";

# A session in which everything is called, explained and looked at
sub session
{
	my @statements = ((map { "SELECT $_" } @models), (map { "SELECT $_ FROM people r" } @aggregates), @tables, @errors);
	push @statements, map { ("$plain SELECT $_", "$verbose SELECT $_", "$analyze SELECT $_") } @models;
	push @statements, map { ("$verbose SELECT $_ FROM people r", "$analyze SELECT $_ FROM people r") } @aggregates;
	push @statements, map { ("$verbose $_", "$analyze $_") } @tables;
	return $psql . join(";\n", @_, @statements) . ";\n";
}

# The same calls in a transaction
sub in_transaction
{
	my ($level) = @_;
	my $calls = join('', map { "SELECT $_ IS NOT NULL;\n" } @models[ 0, 4, 7, 12, 15, 16 ])
	  . join('', map { "SELECT count(*) FROM ($_) s;\n" } @tables[ 1, 2, -2 ]);
	return "${psql}BEGIN ISOLATION LEVEL $level;\n$calls$views$counters COMMIT;\n$views";
}

# Each setting that an ordinary user may change, one after the other, while
# messages of all levels are shown
sub sweep
{
	my $settings = $node->safe_psql(
		'postgres', q{
		LOAD 'dperm';
		SELECT format('SET %s = %L', name, v) FROM pg_settings, LATERAL unnest(CASE vartype
		    WHEN 'bool' THEN ARRAY[CASE setting WHEN 'on' THEN 'off' ELSE 'on' END]
		    WHEN 'enum' THEN array_remove(enumvals, setting)
		    WHEN 'string' THEN '{}' ELSE ARRAY[min_val] END) v
		WHERE context = 'user' AND name !~ '^transaction_|^client_min_messages$|^exit_on_error$'
		  AND (unit IS NULL OR unit NOT IN ('ms', 's', 'min') OR name LIKE 'dperm.%')
		ORDER BY 1});
	my @settings = (split(/\n/, $settings), "SET search_path = ''", "SET DateStyle = 'SQL, DMY'", "SET TimeZone = 'Pacific/Apia'");
	my $calls = join(";\n",
		"SELECT public.dp_logreg_train('public.sorted', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}') IS NOT NULL",
		"SELECT count(*) FROM public.models, public.dp_roc(wide, 'public.people', 1, 'yn', bins => 10)");
	my $name = sub { $_[0] =~ /^SET (\S+)/; $1 };
	return $psql . "SET client_min_messages = debug5;\n"
	  . join('', map { "\\echo $_\n\\warn $_\n$_;\n$calls;\nRESET " . $name->($_) . ";\n" } @settings);
}

# Hide what is released, and nothing else
sub masked
{
	my ($text) = @_;
	$text =~ s{##(.*?)##}{ my $all = $1; $all =~ s/-?\d+(\.\d+)?(e[-+]?\d+)?/N/g; $all }ge;
	$text =~ s{"weights": \[([^\]]*)\]}{ '"weights": [' . scalar(split(/, /, $1)) . ']' }ge;
	$text =~ s/<<.*?>>/<<>>/g;
	$text =~ s/\b\d+\.\d+ ?s\b/TIME/g;

	# 17 and later: what nodes of the caller's own query keep of the rows that
	# it reads; and which reads the server does ahead, which depends on what is
	# in its buffers
	$text =~ s/Maximum Storage: \d+kB/Maximum Storage: N/g;
	$text =~ s/^psql:[^\n]*DEBUG:  00000: io \d+ [^\n]*\n(?:(?:LINE|LOCATION| +\^)[^\n]*\n)*//mg;
	return $text;
}

# A worker that is started when its leader has finished finds no shared memory
# to work with, and ends with an error of its own that is in the log alone. That
# is a matter of time, on a busy machine. Remove those lines, which a session
# may leave to the next one, and no other: the end of a worker that had no such
# error remains.
my %late;

sub without_late_workers
{
	my ($log) = @_;
	$log =~ s/^\S+ \S+ \S+ \[(\d+)\] ERROR:  could not map dynamic shared memory segment\n/$late{$1} = 1; ''/mge;
	my $end = qr/^\S+ \S+ \S+ \[\d+\] LOG:  background worker "parallel worker" \(PID (\d+)\) exited with exit code 1\n/m;
	$log =~ s/($end)/delete $late{$2} ? '' : $1/ge;
	return $log;
}

# What the analyst and the administrator see of a session: output, messages, new
# lines of the log, statements
sub observe
{
	my ($sql) = @_;
	my $offset = -s $node->logfile;
	$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()') if $has_statements;
	my ($status, $out, $err) =
	  $node->psql('postgres', $sql, extra_params => [ '-U', 'analyst' ], on_error_stop => 0);
	my $log = without_late_workers(substr(slurp_file($node->logfile), $offset));
	$log =~ s/^[-0-9]+ [:.0-9]+ \S+ \[\d+\] //mg;
	my %seen = (
		'exit status' => $status,
		'results' => masked($out),
		'messages' => masked($err),
		'log' => masked($log));
	$seen{pg_stat_statements} = $node->safe_psql('postgres',
		q{SELECT calls, rows, query FROM pg_stat_statements s JOIN pg_roles r ON r.oid = userid WHERE rolname = 'analyst' ORDER BY query COLLATE "C", calls})
	  if $has_statements;
	return %seen;
}

# Put one row in the place of the first ordinary one; the table stays the same
# object.
sub put_row
{
	my ($change) = @_;
	$node->safe_psql(
		'postgres', "
		BEGIN;
		CREATE TEMP TABLE changed AS TABLE ordinary;
		UPDATE changed SET $change WHERE id = 1;
		TRUNCATE people;
		INSERT INTO people SELECT * FROM changed ORDER BY id;
		COMMIT");
}

# The line of a text that a place is on, or a part of it
sub around
{
	my ($text, $at) = @_;
	my $from = rindex($text, "\n", $at - 1) + 1;
	$from = $at - 80 if $from < $at - 80;
	return $text eq '' ? '(nothing)' : substr($text, $from, $at - $from + 80) =~ s/(?<=.)\n.*//sr;
}

# Compare two observations; a difference is shown where it begins.
sub same
{
	my ($got, $want, $what) = @_;
	foreach my $part (sort keys %$want)
	{
		next if ok($got->{$part} eq $want->{$part}, "$what: same $part");
		($got->{$part} ^ $want->{$part}) =~ /^\0*/;
		diag("  before: " . around($want->{$part}, $+[0]) . "\n  now:    " . around($got->{$part}, $+[0]));
	}
}

# Sessions with all calls; with messages of all levels, down to those of the
# server itself
my $parallel = $psql
  . join(";\n",
	'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0',
	'SET max_parallel_workers_per_gather = 2', 'SET client_min_messages = log',
	(map { "SELECT $_" } @models[ 0, 4, 13, 15 ]), (map { "SELECT $_ FROM people r" } @aggregates[ 0, 5 ]),
	@tables[ 0, 2, -2 ]) . ";\n";
my @levels = ('READ COMMITTED', 'SERIALIZABLE');
my %sessions = (
	'default settings' => session(),
	'all messages' => session('SET client_min_messages = debug5'),
	'in parallel' => $parallel,
	(map { $_ => in_transaction($_) } @levels),
	'settings' => sweep());

# Those that take longer are for two rows
my %always = map { $_ => 1 } ('all messages', @levels);
my %thorough = map { $_ => 1 } ('outlier that separates', 'wide vector');

put_row('id = id');
my %ordinary = map { $_ => { observe($sessions{$_}) } } sort keys %sessions;

# The calls do what is meant: all but the last ones succeed, and rows were read.
my $default = $ordinary{'default settings'};
is(scalar(() = $default->{messages} =~ /ERROR: /g), scalar(@errors), 'as many errors as there are mistakes');
is(scalar(() = $default->{results} =~ /"weights": \[\d+\]/g), @models + @aggregates + 2 + 3, 'and all models');
unlike($default->{messages} =~ s{^.*NOTICE:.*(?:noise_share is \S+ with \d+ \w+|columns without a domain are not features: .*|label "y[8n]" has no domain: rows are positive if it is above 0)\n}{}gmr, qr/NOTICE|WARNING|LOG|DEBUG/, 'no other message');
like($ordinary{$_}->{results}, qr/^people\|\d+\|\d+\|0\|0$/m, "rows were read, $_") foreach @levels;

foreach my $case (@hostile)
{
	my ($name, $change) = @$case;
	put_row($change);
	same({ observe($sessions{$_}) }, $ordinary{$_}, "$name, $_")
	  foreach grep { $always{$_} || $thorough{$name} } sort keys %sessions;
}

# How many steps the solver takes depends on the rows, here by far. So do the
# scans, which is documented. Everything else is the same again, though every
# row is different, plans are shown, which could hold weights, and every switch
# of ours is on.
my $categories = join(', ', 0 .. 39);
my $large = "dp_logreg_train('large', 'y', '{k}', 10, lambda => 1e-8, domains => '{\"k\": {\"categories\": [$categories]}}')";
my @ours = split(/\n/, $node->safe_psql(
		'postgres', q{
		LOAD 'dperm';
		SELECT format('SET %s = %L', name, CASE vartype WHEN 'bool' THEN 'on' ELSE enumvals[cardinality(enumvals)] END)
		FROM pg_settings WHERE name LIKE 'dperm.%' AND context = 'user' AND vartype IN ('bool', 'enum')}));
my $steps = $psql . join(";\n", 'SET debug_print_plan = on', 'SET debug_print_parse = on', 'SET debug_print_rewritten = on',
	'SET client_min_messages = debug5', "SELECT $large", 'SET dperm.cache_memory = 0', "SELECT $large", @ours, "$analyze SELECT $large") . ";\n";
my %steps;
foreach my $rows ('easy', 'hard')
{
	$node->safe_psql('postgres', "TRUNCATE large; INSERT INTO large TABLE $rows");
	$steps{$rows} = { observe($steps) };
}
like($steps{easy}->{results}, qr/"weights": \[41\]/, 'trained on many rows');
same($steps{hard}, $steps{easy}, 'other number of steps');

# The size of a row: EXPLAIN shows the memory of hashed groups, and trace_sort
# the memory of a sort in a view.
my %memory = (
	'vector out of line' => "$psql SET enable_sort = off;\n$analyze SELECT g, dp_logreg(y, x, 1, '{\"dimension\": 3}') FROM people GROUP BY g;\n",
	'wide vector' => "$psql SET trace_sort = on;\nSET client_min_messages = log;\nSELECT dp_logreg_train('sorted', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 3}}') IS NOT NULL;\n");
put_row('id = id');
%ordinary = map { $_ => { observe($memory{$_}) } } keys %memory;
foreach my $row (sort keys %memory)
{
	put_row($hostile{$row});
	same({ observe($memory{$row}) }, $ordinary{$row}, "$row, memory");
}

$node->stop;
done_testing();
