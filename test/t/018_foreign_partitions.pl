# Tables whose partitions are on foreign servers: each pass is one aggregate on
# each partition's server, and the weights are those of the same rows in a local
# table. What the servers are asked is in their logs. Whoever may not read
# partitions, or sees other rows through them, reads the table as before. Rows
# that change while a call runs do not change what it reads.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $near = PostgreSQL::Test::Cluster->new('near');
$near->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$near->start;
my $available = $near->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'file_fdw')");
if ($available < 2)
{
	$near->stop;
	plan skip_all => 'postgres_fdw and file_fdw are not installed';
}
my %far;
for my $name ('one', 'two')
{
	$far{$name} = PostgreSQL::Test::Cluster->new("far_$name");
	$far{$name}->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
	$far{$name}->append_conf('postgresql.conf', "log_statement = all\nlogging_collector = off\n");
	$far{$name}->start;
	$far{$name}->safe_psql('postgres', 'CREATE EXTENSION dperm');
}
$near->safe_psql('postgres', 'CREATE EXTENSION dperm; CREATE EXTENSION postgres_fdw; CREATE EXTENSION file_fdw');

# ---- rows, and where they are

my $wide = join ', ', map { "sin(i * $_) AS w$_" } 1 .. 95;
my $wide_columns = join ', ', map { "w$_ float8" } 1 .. 95;
my $rows = q{SELECT i, i % 5 AS part, i % 2 AS sub, i % 3 = 0 OR i % 7 = 1 AS y, i % 100 AS n, sin(i) AS f, (i % 17)::numeric / 16 AS m, (ARRAY['red', 'green', NULL])[1 + i % 3] AS c,
	i % 4 = 1 AS b, date '2020-01-01' + i % 300 AS d, ARRAY[sin(i), cos(2 * i), sin(i * i)] AS x FROM generate_series(1, 3000) i};
my $columns = 'i integer, part integer, sub integer, y boolean, n integer, f float8, m numeric, c text, b boolean, d date, x float8[]';
my $jumbled = 'x float8[], d date, gone integer, b boolean, y boolean, c text, m numeric, f float8, n integer, sub integer, part integer, i integer';
my $domains = '{"n": [0, 100], "f": [-1, 1], "m": [0, 1], "c": ["red", "green"], "d": ["2020-01-01", "2021-01-01"], "x": {"dimension": 3, "norm": 2}}';

# A server for a database of one of the others
sub connect_to
{
	my ($server, $name, $database, $options) = @_;
	my ($host, $port) = ($far{$name}->host, $far{$name}->port);
	$near->safe_psql('postgres', qq{
		CREATE SERVER $server FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$database'$options);
		CREATE USER MAPPING FOR CURRENT_USER SERVER $server;
	});
}
for my $name ('one', 'two')
{
	$far{$name}->safe_psql('postgres', qq{
		CREATE TABLE people AS SELECT * FROM ($rows) r WHERE part = @{[ $name eq 'one' ? 0 : 1 ]};
		CREATE SCHEMA "Other ""schema";
		CREATE TABLE "Other ""schema"."select" AS SELECT * FROM ($rows) r WHERE part = 3 AND sub = 0;
		CREATE TABLE wide AS SELECT i % 3 = 0 AS y, (ARRAY['a', 'b', 'c', 'd'])[1 + i % 4] AS class, $wide FROM generate_series(1, 600) i WHERE i % 2 = @{[ $name eq 'one' ? 0 : 1 ]};
	});
	connect_to($name, $name, 'postgres', ", extensions 'dperm'" . ", async_capable 'true'");
}
$near->safe_psql('postgres', qq{
	CREATE TABLE everyone AS $rows;
	CREATE TABLE people ($columns, gone integer) PARTITION BY LIST (part);
	ALTER TABLE people DROP COLUMN gone;
	CREATE FOREIGN TABLE people_0 ($jumbled) SERVER one OPTIONS (table_name 'people');
	ALTER FOREIGN TABLE people_0 DROP COLUMN gone;
	ALTER TABLE people ATTACH PARTITION people_0 FOR VALUES IN (0);
	CREATE SCHEMA "Of ""two";
	CREATE FOREIGN TABLE "Of ""two"."from" PARTITION OF people FOR VALUES IN (1) SERVER two OPTIONS (schema_name 'public', table_name 'people');
	CREATE TABLE people_2 ($jumbled, PRIMARY KEY (i));
	ALTER TABLE people_2 DROP COLUMN gone;
	ALTER TABLE people ATTACH PARTITION people_2 FOR VALUES IN (2);
	CREATE TABLE people_3 ($jumbled) PARTITION BY LIST (sub);
	ALTER TABLE people_3 DROP COLUMN gone;
	ALTER TABLE people ATTACH PARTITION people_3 FOR VALUES IN (3);
	CREATE FOREIGN TABLE people_3_0 PARTITION OF people_3 FOR VALUES IN (0) SERVER one OPTIONS (schema_name 'Other "schema', table_name 'select');
	CREATE TABLE people_3_1 PARTITION OF people_3 FOR VALUES IN (1);
	CREATE TABLE people_4 PARTITION OF people DEFAULT;
	CREATE TABLE empty PARTITION OF people FOR VALUES IN (100);
	INSERT INTO people SELECT * FROM everyone WHERE part IN (2, 4) OR part = 3 AND sub = 1;
	CREATE TABLE everyone_wide AS SELECT i % 3 = 0 AS y, (ARRAY['a', 'b', 'c', 'd'])[1 + i % 4] AS class, $wide FROM generate_series(1, 600) i;
	-- the key is not on the servers, and nobody asks for it
	CREATE TABLE wide (part integer, y boolean, class text, $wide_columns) PARTITION BY LIST (part);
	CREATE FOREIGN TABLE wide_one PARTITION OF wide FOR VALUES IN (1) SERVER one OPTIONS (table_name 'wide');
	CREATE FOREIGN TABLE wide_two PARTITION OF wide FOR VALUES IN (2) SERVER two OPTIONS (table_name 'wide');
});
is($near->safe_psql('postgres', 'SELECT count(*) = (SELECT count(*) FROM everyone) AND sum(i) = (SELECT sum(i) FROM everyone) FROM people'), 't', 'all rows are there');

# ---- what servers are asked

# The queries in a text log: for each server the numbers of passes, counts,
# samples and all others that read rows
sub asked
{
	my ($log) = @_;
	my %asked = (pass => 0, count => 0, sample => 0, rows => 0);
	while ($log =~ /DECLARE c\d+ CURSOR FOR\s+SELECT (.*)/g)
	{
		my $query = $1;
		$asked{ $query =~ /^dperm\.dperm_moments_agg\(/ ? 'pass' : $query =~ /^count\(\*\)/ ? 'count' : $query =~ /WHERE.*dperm\.dperm_sample\(/ ? 'sample' : 'rows' }++;
	}
	return \%asked;
}

# Run SQL here; what it says, and what the servers were asked
sub run_here
{
	my ($sql, %options) = @_;
	my %before = map { $_ => -s $far{$_}->logfile } keys %far;
	my ($status, $out, $error) = $near->psql('postgres', $sql, %options);
	return ($out, $error, map { asked(substr(slurp_file($far{$_}->logfile), $before{$_})) } 'one', 'two');
}

# How far the weights are from those of a local table, and where rows were read:
# there in passes, or here
sub compare
{
	my ($what, $local, $source, $arguments, $settings, $where, $function) = @_;
	$function ||= 'dp_logreg_train';
	my ($distance, $error, $one, $two) = run_here(qq{
		$settings;
		SELECT max(abs(v - w)) FROM (SELECT $function('$local', $arguments) AS a, $function('$source', $arguments) AS b) m, unnest(dp_weights(a), dp_weights(b)) u(v, w);
	});
	is($error, '', "$what: no message");
	cmp_ok($distance eq '' ? 'inf' : $distance, '<', 1e-9, "$what: the local weights");
	is(($one->{pass} + $two->{pass} > 0 ? 'there' : '') . ($one->{rows} + $two->{rows} > 0 ? 'here' : ''), $where, "$what: where rows are read");
	return ($one, $two);
}

my $all = "'y', '{n,f,m,c,b,d,x}', 'Infinity', domains => '$domains'";
my @calls = (
	['raw columns', 'everyone', 'people', $all],
	['vectors', 'everyone', 'people', "'y', 'x', 'Infinity', domains => '{\"x\": {\"dimension\": 3}}'"],
	['a kernel', 'everyone', 'people', "'y', '{n,f}', 'Infinity', domains => '{\"n\": [0, 100], \"f\": [-1, 1]}', kernel => 'gaussian', options => '{\"kernel_features\": 20}'"],
	['many columns', 'everyone_wide', 'wide', "'y', '{" . join(',', map { "w$_" } 1 .. 95) . "}', 'Infinity', lambda => 0.01, domains => '{" . join(', ', map { "\"w$_\": [-1, 1]" } 1 .. 95) . "}'"]);
for my $call (@calls)
{
	my ($what, $local, $source, $arguments) = @$call;
	my ($one, $two) = compare("$what, in passes", $local, $source, $arguments, 'SET dperm.pull_memory = 0', 'there');
	is($one->{pass}, ($source eq 'people' ? 2 : 1) * $two->{pass}, "$what: one aggregate for each pass and partition");
	is($two->{count}, 1, "$what: rows are counted once");
	is($two->{sample}, 1, "$what: and sampled once");
	compare("$what, in memory", $local, $source, $arguments, 'SET dperm.pull_memory = DEFAULT', 'here');
	compare("$what, nothing in memory", $local, $source, $arguments, "SET dperm.pull_memory = 0; SET dperm.cache_memory = 0", 'there');
}
# of two numbers one has knots of its own, and those of the other follow from the rows: the order of coordinates is the same everywhere
compare('knots of one column', 'everyone', 'people', "'y', '{n,f,b}', 'Infinity', lambda => 0.01, domains => '{\"n\": [0, 100], \"f\": {\"range\": [-1, 1], \"knots\": 4}}'", 'SET dperm.pull_memory = 0', 'there');
compare('svm', 'everyone', 'people', $all, 'SET dperm.pull_memory = 0', 'there', 'dp_svm_train');
# labels of several classes, and numbers; with many columns, numbers are read
# there, and classes come here
my $numbers = '"n": [0, 100], "f": [-1, 1], "x": {"dimension": 3}';
my $wide_features = join ',', map { "w$_" } 1 .. 94;
my $wide_domains = join ', ', map { "\"w$_\": [-1, 1]" } 1 .. 94;
my $wide_all = "'w95', '{$wide_features}', 'Infinity', lambda => 0.01, domains => '{\"w95\": [-0.5, 1], $wide_domains}'";
for my $settings ('SET dperm.pull_memory = 0', 'SET dperm.pull_memory = 0; SET dperm.cache_memory = 0')
{
	compare('classes', 'everyone', 'people', "'c', '{n,f,x}', 'Infinity', lambda => 0.01, domains => '{\"c\": [\"green\", \"blue\", \"red\"], $numbers}'", $settings, 'there');
	compare('numbers', 'everyone', 'people', "'m', '{n,f,x}', 'Infinity', lambda => 0.01, domains => '{\"m\": [0.1, 1], $numbers}'", $settings, 'there', 'dp_linreg_train');
	compare('numbers, many columns', 'everyone_wide', 'wide', $wide_all, $settings, 'there', 'dp_linreg_train');
	compare('classes, many columns', 'everyone_wide', 'wide', "'class', '{$wide_features}', 'Infinity', lambda => 0.01, domains => '{\"class\": [\"a\", \"b\", \"c\"], $wide_domains}'", $settings, 'there');
}

# one foreign table
$near->safe_psql('postgres', q{
	CREATE TABLE zeroth AS SELECT * FROM everyone WHERE part = 0;
	CREATE TABLE odd_wide AS SELECT * FROM everyone_wide LIMIT 0;
	INSERT INTO odd_wide SELECT y, class, } . join(', ', map { "w$_" } 1 .. 95) . q{ FROM wide_two;
});
compare('one foreign table', 'zeroth', 'people_0', $all, 'SET dperm.pull_memory = 0', 'there');
compare('one foreign table of many columns', 'odd_wide', 'wide_two', $calls[3][3], 'SET dperm.pull_memory = 0', 'there');
compare('one foreign table in memory', 'zeroth', 'people_0', $all, '', 'here');

# persons come here: their rows are read once
compare('persons', 'everyone', 'people', "'y', '{n,x}', 'Infinity', domains => '{\"n\": [0, 100], \"x\": {\"dimension\": 3}}', unit => 'i'", 'SET dperm.pull_memory = 0', 'here');

# a table that is empty as far as the planner knows is not worth a pass there
$far{one}->safe_psql('postgres', 'CREATE TABLE filled (LIKE people)');
$near->safe_psql('postgres', "CREATE FOREIGN TABLE filled ($columns) SERVER one; ANALYZE filled; INSERT INTO filled SELECT * FROM zeroth");
compare('a table that was empty', 'zeroth', 'filled', $all, 'SET dperm.pull_memory = 0', 'here');
$near->safe_psql('postgres', 'ANALYZE filled');
compare('a table that was empty, analyzed', 'zeroth', 'filled', $all, 'SET dperm.pull_memory = 0', 'there');
$near->safe_psql('postgres', "ALTER FOREIGN TABLE filled OPTIONS (use_remote_estimate 'true')");
compare('estimates of the server', 'zeroth', 'filled', $all, 'SET dperm.pull_memory = 0', 'there');

# Without the option rows come here
my $off = join ';', map { "ALTER SERVER $_ OPTIONS (DROP extensions)" } 'one', 'two';
my $on = join ';', map { "ALTER SERVER $_ OPTIONS (ADD extensions 'dperm')" } 'one', 'two';
$near->safe_psql('postgres', $off);
compare("$_->[0], without the option", $_->[1], $_->[2], $_->[3], 'SET dperm.pull_memory = 0', 'here') for @calls;
compare('nothing in memory, without the option', 'everyone', 'people', $all, 'SET dperm.pull_memory = 0; SET dperm.cache_memory = 0', 'here');
compare('one foreign table without the option', 'zeroth', 'people_0', $all, 'SET dperm.pull_memory = 0', 'here');
$near->safe_psql('postgres', $on);
# ... and so they do if one server of several runs no passes
$near->safe_psql('postgres', 'ALTER SERVER two OPTIONS (DROP extensions)');
compare('one server without the option', 'everyone', 'people', $all, 'SET dperm.pull_memory = 0', 'here');
$near->safe_psql('postgres', "ALTER SERVER two OPTIONS (ADD extensions 'postgres_fdw, dperm')");

# Servers work at the same time
{
	my $before = -s $near->logfile;
	$near->safe_psql('postgres', qq{
		LOAD 'auto_explain';
		SET auto_explain.log_min_duration = 0;
		SET auto_explain.log_nested_statements = on;
		SET dperm.pull_memory = 0;
		SELECT dp_logreg_train('people', $all);
	});
	my ($plan) = substr(slurp_file($near->logfile), $before) =~ /(Query Text: WITH w AS MATERIALIZED \(SELECT .*? AS w\) SELECT dperm\.dperm_moments_agg.*?)\n\S/s;
	my $async = () = ($plan || '') =~ /->  Async Foreign Scan/g;
	is($async, 3, 'scans that run at the same time') or diag($plan);
}

# ---- samples

$far{one}->safe_psql('postgres', q{
	CREATE TABLE many AS SELECT i % 3 = 0 AS y, sin(i) AS f, ARRAY[sin(i), cos(i)] AS x FROM generate_series(1, 100000) i;
	CREATE VIEW shown AS SELECT * FROM people;
	CREATE TABLE few AS SELECT i % 3 = 0 AS y, i % 4 = 0 AS b FROM generate_series(1, 100000) i;
});
$near->safe_psql('postgres', q{
	CREATE FOREIGN TABLE many (y boolean, f float8, x float8[]) SERVER one OPTIONS (table_name 'many');
	CREATE FOREIGN TABLE shown (} . $columns . q{) SERVER one OPTIONS (table_name 'shown');
	CREATE FOREIGN TABLE few (y boolean, b boolean) SERVER one OPTIONS (table_name 'few');
	CREATE TABLE local_many AS SELECT * FROM many;
	CREATE TABLE local_few AS SELECT * FROM few;
});
{
	my $before = -s $far{one}->logfile;
	compare('a sample', 'local_many', 'many', "'y', '{f,x}', 'Infinity', domains => '{\"f\": [-1, 1], \"x\": {\"dimension\": 2}}'", 'SET dperm.pull_memory = 0', 'there');
	my ($query) = substr(slurp_file($far{one}->logfile), $before) =~ /(SELECT y, f, x FROM public\.many WHERE .*dperm.dperm_sample.*)/;
	my $sampled = $far{one}->safe_psql('postgres', "SELECT count(*) FROM ($query) s");
	cmp_ok(abs($sampled - 100000 / 6), '<', 1000, 'about one row in six is fetched');
}
for my $try (1 .. 6)
{
	my $before = -s $far{one}->logfile;
	compare("rows that are alike, $try", 'local_few', 'few', "'y', 'b', 'Infinity'", 'SET dperm.pull_memory = 0', 'there');
	my $fetches = () = substr(slurp_file($far{one}->logfile), $before) =~ /FETCH 100 FROM/g;
	cmp_ok($fetches, '<', 440, "rows that are alike, $try: no more than 40000 rows are fetched");
}
compare('a view on the server', 'zeroth', 'shown', $all, 'SET dperm.pull_memory = 0', 'there');

# ---- rights and policies

$near->safe_psql('postgres', q{
	CREATE ROLE reader;
	CREATE USER MAPPING FOR reader SERVER one OPTIONS (user '} . getpwuid($<) . q{', password_required 'false');
	CREATE USER MAPPING FOR reader SERVER two OPTIONS (user '} . getpwuid($<) . q{', password_required 'false');
	GRANT SELECT ON everyone, people TO reader;
});
my $as_reader = 'SET ROLE reader; SET dperm.pull_memory = 0';
compare('a reader of the table alone', 'everyone', 'people', $all, $as_reader, 'here');
$near->safe_psql('postgres', 'GRANT SELECT ON people_0, people_2, people_3, people_3_0, people_3_1, people_4, empty TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA "Of ""two" TO reader');
compare('a reader of a schema that they may not use', 'everyone', 'people', $all, $as_reader, 'here');
$near->safe_psql('postgres', 'GRANT USAGE ON SCHEMA "Of ""two" TO reader');
compare('a reader of all partitions', 'everyone', 'people', $all, $as_reader, 'there');
$near->safe_psql('postgres', 'REVOKE SELECT ON people_3 FROM reader');
compare('a reader of all but one', 'everyone', 'people', $all, $as_reader, 'here');
$near->safe_psql('postgres', 'GRANT SELECT ON people_3 TO reader; REVOKE SELECT ON people FROM reader; GRANT SELECT (y, n, f, m, c, b, d, x) ON people TO reader');
compare('a reader of columns', 'everyone', 'people', $all, $as_reader, 'here');
{
	my ($out, $error) = run_here("$as_reader; SELECT dp_logreg_train('people', 'y', '{i}', 'Infinity', domains => '{\"i\": [0, 3000]}')");
	like($error, qr/permission denied for relation people/, 'a column that they may not read');
	$near->safe_psql('postgres', 'GRANT SELECT ON people TO reader; REVOKE SELECT ON people_0 FROM reader; CREATE ROLE stranger; GRANT SELECT ON people TO stranger');
	($out, $error) = run_here("SET ROLE stranger; SET dperm.pull_memory = 0; SELECT dp_logreg_train('people', $all)");
	like($error, qr/user mapping not found/, 'no user mapping, which reading the table needs');
	$near->safe_psql('postgres', 'GRANT SELECT ON people_0 TO reader');
}

# policies are those of the table that is named
$near->safe_psql('postgres', q{
	ALTER TABLE people_2 ENABLE ROW LEVEL SECURITY;
	CREATE TABLE half AS SELECT * FROM everyone WHERE i % 2 = 0;
	GRANT SELECT ON half TO reader;
});
compare('a policy of a partition', 'everyone', 'people', $all, $as_reader, 'here');
$near->safe_psql('postgres', 'ALTER TABLE people_2 DISABLE ROW LEVEL SECURITY; ALTER TABLE people ENABLE ROW LEVEL SECURITY; CREATE POLICY even ON people USING (i % 2 = 0)');
compare('a policy of the table', 'half', 'people', $all, $as_reader, 'here');
$near->safe_psql('postgres', 'DROP POLICY even ON people; ALTER TABLE people DISABLE ROW LEVEL SECURITY');
compare('no policy', 'everyone', 'people', $all, $as_reader, 'there');

# ---- other kinds of tables

$near->safe_psql('postgres', qq{
	CREATE VIEW people_view AS SELECT * FROM people;
	CREATE TABLE people_parent ($columns);
	INSERT INTO people_parent SELECT * FROM everyone WHERE part <> 0;
	CREATE FOREIGN TABLE people_child () INHERITS (people_parent) SERVER one OPTIONS (table_name 'people');
	CREATE TABLE of_foreign_parent () INHERITS (shown);
	INSERT INTO of_foreign_parent SELECT * FROM everyone WHERE part <> 0;
});
my $file = $near->data_dir . '/rows.csv';
$near->safe_psql('postgres', "COPY (SELECT * FROM everyone WHERE part = 4) TO '$file' (FORMAT csv)");
compare('a view', 'everyone', 'people_view', $all, 'SET dperm.pull_memory = 0', 'here');
compare('a foreign table that inherits', 'everyone', 'people_parent', $all, 'SET dperm.pull_memory = 0', 'here');
compare('a table that inherits from a foreign one', 'everyone', 'shown', $all, 'SET dperm.pull_memory = 0', 'here');
$near->safe_psql('postgres', qq{
	DROP TABLE people_4, of_foreign_parent;
	CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
	CREATE FOREIGN TABLE people_file PARTITION OF people FOR VALUES IN (4) SERVER files OPTIONS (filename '$file', format 'csv');
});
compare('a partition of another wrapper', 'everyone', 'people', $all, 'SET dperm.pull_memory = 0', 'here');
$near->safe_psql('postgres', q{
	CREATE TABLE people_4 (LIKE people);
	INSERT INTO people_4 SELECT * FROM people_file;
	DROP FOREIGN TABLE people_file;
	ALTER TABLE people ATTACH PARTITION people_4 FOR VALUES IN (4);
});

# a column that is computed: foreign servers have its values
$far{one}->safe_psql('postgres', 'CREATE TABLE computed AS SELECT 1 AS k, y, f, -f AS g FROM people');
$near->safe_psql('postgres', q{
	CREATE TABLE computed (k integer, y boolean, f float8, g float8 GENERATED ALWAYS AS (f / 2) STORED) PARTITION BY LIST (k);
	CREATE FOREIGN TABLE computed_1 (k integer, y boolean, f float8 DEFAULT 7, g float8 GENERATED ALWAYS AS (f / 2) STORED) SERVER one OPTIONS (table_name 'computed');
	ALTER TABLE computed ATTACH PARTITION computed_1 FOR VALUES IN (1);
	CREATE TABLE computed_2 PARTITION OF computed FOR VALUES IN (2);
	INSERT INTO computed (k, y, f) SELECT 2, y, f FROM everyone;
	CREATE TABLE local_computed AS SELECT * FROM computed;
});
compare('computed columns', 'local_computed', 'computed', "'y', 'g', 'Infinity', domains => '{\"g\": [-1, 1]}'", 'SET dperm.pull_memory = 0', 'there');

# ---- servers that cannot run passes, but are said to

{
	$far{one}->safe_psql('postgres', 'CREATE DATABASE bare');
	$far{one}->safe_psql('bare', "CREATE TABLE people AS $rows");
	connect_to('bare', 'one', 'bare', ", extensions 'dperm'");
	$near->safe_psql('postgres', "CREATE FOREIGN TABLE bare_people ($columns) SERVER bare OPTIONS (table_name 'people')");
	my ($out, $error) = run_here("SET dperm.pull_memory = 0; SELECT dp_logreg_train('bare_people', $all)");
	like($error, qr/ERROR:  schema "dperm" does not exist\n/, 'without dperm: an error');
	like($error, qr/\nHINT:  The servers that have the rows of "public\.bare_people" need extension dperm, in the same version/, 'with a hint');
	compare('without dperm, in memory', 'everyone', 'bare_people', $all, '', 'here');
}
# ---- tuning and evaluation

{
	# all rows come here, once, however many they are
	my ($out, $error);
	for my $source ('people_0', 'people')
	{
		my $count = $near->safe_psql('postgres', "SELECT count(*) FROM $source");
		($out, $error) = run_here("SET dperm.pull_memory = 0; SELECT dp_logreg_tune('$source', 'y', 'x', 'Infinity', domains => '{\"x\": {\"dimension\": 3}}')::jsonb -> 'tuning' ->> 'rows'");
		is($out, $count, "$source is tuned on all rows");
	}
	($out, $error) = run_here("SELECT (SELECT value FROM dp_evaluate(m, 'people', 'Infinity', 'y') WHERE metric = 'accuracy') = (SELECT value FROM dp_evaluate(m, 'everyone', 'Infinity', 'y') WHERE metric = 'accuracy')
		FROM dp_logreg_train('people', 'y', 'x', 'Infinity', domains => '{\"x\": {\"dimension\": 3}}') m");
	is($out, 't', 'evaluation') or diag($error);
}

# ---- one set of rows

# Queries over the view wait in a pass, the third query, until a lock is free
$far{one}->safe_psql('postgres', q{
	CREATE SEQUENCE calls;
	CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql STABLE AS
	  $$ BEGIN IF nextval('public.calls') = 3 THEN PERFORM pg_advisory_xact_lock_shared(42); END IF; RETURN true; END $$;
	CREATE VIEW paused AS SELECT * FROM people WHERE (SELECT pause());
	CREATE SEQUENCE less START 1;
	CREATE VIEW shrinking AS SELECT * FROM people WHERE i > (SELECT 5 * nextval('less'));
	CREATE SEQUENCE other START 1;
	CREATE VIEW changing AS SELECT i, part, sub, y, n, f / (SELECT nextval('other')) AS f, m, c, b, d, x FROM people;
});
$near->safe_psql('postgres', qq{
	CREATE FOREIGN TABLE paused ($columns) SERVER one OPTIONS (table_name 'paused');
	CREATE TABLE pausing (LIKE people) PARTITION BY LIST (part);
	CREATE FOREIGN TABLE pausing_0 PARTITION OF pausing FOR VALUES IN (0) SERVER one OPTIONS (table_name 'paused');
	CREATE FOREIGN TABLE pausing_1 PARTITION OF pausing FOR VALUES IN (1) SERVER two OPTIONS (table_name 'people');
	CREATE TABLE pausing_2 PARTITION OF pausing FOR VALUES IN (2);
	INSERT INTO pausing SELECT * FROM everyone WHERE part = 2;
	CREATE TABLE pausing_3 (LIKE people);
	INSERT INTO pausing_3 SELECT * FROM everyone WHERE part = 3;
	CREATE FOREIGN TABLE shrinking ($columns) SERVER one OPTIONS (table_name 'shrinking');
	CREATE FOREIGN TABLE changing ($columns) SERVER one OPTIONS (table_name 'changing');
});

# The weights of a call during which other sessions run commands, and those of a
# call after it
sub weights_around
{
	my ($isolation, $source, %commands) = @_;
	my $train = "SELECT dp_weights(dp_logreg_train('$source', $all))";
	my %lock = (in => '', out => '', err => '');
	my %call = (in => '', out => '', err => '');
	my @psql = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1');
	$far{one}->safe_psql('postgres', "SELECT setval('calls', 1, false)");
	$lock{handle} = IPC::Run::start([ @psql, '-d', $far{one}->connstr('postgres') ], '<', \$lock{in}, '>', \$lock{out}, '2>', \$lock{err});
	$lock{in} = "SELECT pg_advisory_lock(42);\n\\echo locked\n";
	IPC::Run::pump($lock{handle}) until $lock{out} =~ /locked/;
	$call{handle} = IPC::Run::start([ @psql, '-d', $near->connstr('postgres'), '-c', 'SET dperm.pull_memory = 0', '-c', "BEGIN ISOLATION LEVEL $isolation", '-c', $train, '-c', 'COMMIT' ],
		'<', \$call{in}, '>', \$call{out}, '2>', \$call{err});
	$far{one}->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") or die 'no pass waits';
	for my $where (sort keys %commands)
	{
		($where eq 'near' ? $near : $far{$where})->safe_psql('postgres', $commands{$where});
	}
	$lock{in} = "SELECT pg_advisory_unlock(42);\n\\q\n";
	IPC::Run::finish($lock{handle});
	IPC::Run::finish($call{handle});
	is($call{err}, '', "$isolation, $source: no error");
	chomp $call{out};
	return ($call{out}, $near->safe_psql('postgres', "SET dperm.pull_memory = 0; $train"));
}

# How far two lists of weights are from each other
sub distance
{
	return $near->safe_psql('postgres', "SELECT max(abs(v - w)) FROM unnest('$_[0]'::float8[], '$_[1]'::float8[]) u(v, w)");
}
my $changed = 0;
for my $isolation ('READ COMMITTED', 'REPEATABLE READ')
{
	for my $source ('paused', 'pausing')
	{
		for my $command ('UPDATE %s SET y = NOT y', 'DELETE FROM %s', 'INSERT INTO %s SELECT * FROM %s')
		{
			# each time, others than before
			my $these = "$command WHERE i % 13 = " . $changed++;
			my $before = $near->safe_psql('postgres', "SET dperm.pull_memory = 0; SELECT dp_weights(dp_logreg_train('$source', $all))");
			my %commands = (one => $these, two => $these, near => $these);
			$commands{near} =~ s/%s/pausing_2/g;
			s/%s/people/g for values %commands;
			my ($during, $after) = weights_around($isolation, $source, %commands);
			my ($what) = $command =~ /^(\w+)/;
			cmp_ok(distance($before, $during), '<', 1e-9, "$isolation, $source, $what: one snapshot");
			cmp_ok(distance($before, $after), '>', 1e-4, "$isolation, $source, $what: which was not that of the next call");
		}
	}
}

# A partition that is attached in the meantime is not part of it; detaching one
# waits
{
	my $before = $near->safe_psql('postgres', "SET dperm.pull_memory = 0; SELECT dp_weights(dp_logreg_train('pausing', $all))");
	my ($during, $after) = weights_around('READ COMMITTED', 'pausing', near => 'ALTER TABLE pausing ATTACH PARTITION pausing_3 FOR VALUES IN (3)');
	cmp_ok(distance($before, $during), '<', 1e-9, 'a partition that is attached');
	cmp_ok(distance($before, $after), '>', 1e-4, 'is there in the next call');
	my ($status, $out, $error);
	($during) = weights_around('READ COMMITTED', 'pausing', near => q{
		SET lock_timeout = '100ms';
		DO $$ BEGIN
		  ALTER TABLE pausing DETACH PARTITION pausing_3;
		  RAISE 'a partition in use was detached';
		EXCEPTION WHEN lock_not_available THEN
		END $$});
	cmp_ok(distance($during, $after), '<', 1e-9, 'a partition that is to be detached');
}

# A server whose rows are not the same in each query
{
	my ($out, $error) = run_here("SET dperm.pull_memory = 0; SELECT dp_logreg_train('shrinking', $all)");
	like($error, qr/the number of rows in source changed during training/, 'a view whose rows become fewer');
	($out, $error) = run_here("SET dperm.pull_memory = 0; SELECT dp_logreg_train('changing', $all)");
	like($error, qr/ERROR:  (?:\w+: )?rows in source changed during training/, 'a view with as many rows that change');
}

$near->stop;
$_->stop for values %far;
done_testing();
