# Training where the rows are: a foreign table whose server runs the passes
# gives the weights of the same rows in a local table. The two servers have
# nothing in common but their version: objects have other OIDs, enums have their
# labels in another order, and databases may have another encoding.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $near = PostgreSQL::Test::Cluster->new('near');
$near->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$near->start;
my $available = $near->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'");
if (!$available)
{
	$near->stop;
	plan skip_all => 'postgres_fdw is not installed';
}
my $far = PostgreSQL::Test::Cluster->new('far');
$far->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$far->append_conf('postgresql.conf', "log_statement = all\n");
$far->start;

# OIDs that the other server has for something else, or not at all
$far->safe_psql('postgres', qq{
	CREATE TYPE unused AS ENUM ('x', 'y', 'z');
	CREATE FUNCTION spend_oids() RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
	  FOR i IN 1..300 LOOP
	    EXECUTE format('CREATE TYPE spent AS ENUM (%L, %L, %L)', i, 'green', 'blue');
	    DROP TYPE spent;
	  END LOOP;
	END \$\$;
	SELECT spend_oids();
	DROP FUNCTION spend_oids();
});

my $rows = q{
	SELECT i % 3 = 0 AS y, (ARRAY['red', 'green', 'blue', 'grey', NULL])[1 + i * 7 % 5]::color AS e,
	  (ARRAY['low', 'high'])[1 + i % 2]::grade AS g, (ARRAY['Köln', 'Paris', 'Rome', NULL])[1 + i % 4] AS c, (ARRAY['ab', 'cd', 'ef'])[1 + i % 3]::char(4) AS p,
	  i % 4 = 1 AS b, i % 100 AS n, sin(i) AS f, ((i % 17)::numeric / 16)::numeric(6,4) AS m, date '2020-01-01' + i % 300 AS d, timestamp '2020-01-01' + i * interval '1 hour' AS t,
	  i % 3 AS k, ARRAY[sin(i), cos(2 * i), sin(i * i)] AS x, ARRAY[cos(i), sin(3 * i)]::float4[] AS x4,
	  (ARRAY['red', 'green', 'blue'])[1 + i * i % 3]::color AS ye, format('00000000-0000-0000-0000-00000000000%s', i % 7)::uuid AS u, i AS id, i::int2 AS id2, i::int8 AS id8, 'word ' || i AS word, i::text AS digits, md5(i::text)::uuid AS guid,
	  CASE WHEN i % 50 = 7 THEN 'NaN' WHEN i % 50 = 8 THEN NULL ELSE cos(i) END::float8 AS h,
	  coalesce((ARRAY['green', 'blue'])[1 + i % 7], 'red')::color AS rare
	FROM generate_series(1, 2000) i};
my $columns = 'y boolean, e color, g grade, c text, p char(4), b boolean, n integer, f float8, m numeric(6,4), d date, t timestamp, k integer, x float8[], x4 float4[], ye color, u uuid, id integer, id2 smallint, id8 bigint, word text, digits text, guid uuid, h float8, rare color';
my $domains = '{"e": ["blue", "red", "green", "violet"], "g": ["low", "high"], "c": ["Köln", "Paris", "Rome"], "p": ["ab", "cd"], "n": [0, 100], "f": [-1, 1], "m": [0, 1], '
  . '"d": ["2020-01-01", "2021-01-01"], "t": ["2020-01-01", "2020-04-01"], "x": {"dimension": 3, "norm": 2}, "x4": {"dimension": 2}}';

# The enum is a member of an extension: postgres_fdw sends no expression with a
# type that is of none. Its domain is not.
sub make_types
{
	my ($node, $database, @labels) = @_;
	my $labels = join ', ', map { "'$_'" } @labels;
	$node->safe_psql($database, qq{
		CREATE EXTENSION dperm;
		CREATE TYPE color AS ENUM ($labels);
		CREATE TYPE color_base AS ENUM ('high', 'low');
		CREATE DOMAIN grade AS color_base;
		ALTER EXTENSION dperm ADD TYPE color;
		ALTER EXTENSION dperm ADD TYPE color_base;
		ALTER EXTENSION dperm ADD TYPE grade;
	});
}
make_types($near, 'postgres', 'red', 'green', 'blue', 'grey', 'violet');
# one of the labels that are asked for is not there
make_types($far, 'postgres', 'grey', 'blue', 'green', 'red');
$far->safe_psql('postgres', "CREATE TABLE people AS $rows");
$near->safe_psql('postgres', qq{
	CREATE TABLE people AS $rows;
	CREATE EXTENSION postgres_fdw;
});

# Passes run there as a role that can read tables, and has no other privilege
$far->safe_psql('postgres', 'CREATE ROLE plain LOGIN; GRANT pg_read_all_data TO plain');

# A foreign table of a database of the other server
sub connect_to
{
	my ($name, $database, $options) = @_;
	my ($host, $port) = ($far->host, $far->port);
	$near->safe_psql('postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$database', extensions 'dperm'$options);
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name OPTIONS (user 'plain');
		CREATE FOREIGN TABLE ${name}_people ($columns) SERVER $name OPTIONS (table_name 'people');
	});
}
connect_to('far', 'postgres', '');

# How far the weights are from those of the local table; and whether the other
# server runs passes, if that is known
sub compare
{
	my ($what, $source, $function, $arguments, $cache, $pushed) = @_;
	my $before = -s $far->logfile;
	my $distance = $near->safe_psql('postgres', qq{
		SET dperm.cache_memory = '$cache';
		SET dperm.pull_memory = '@{[$cache ? '16MB' : '0']}';
		SELECT max(abs(v - w)) FROM (SELECT $function('people', $arguments) AS a, $function('$source', $arguments) AS b) m,
		  unnest(dp_weights(a), dp_weights(b)) u(v, w);
	});
	my $passes = () = substr(slurp_file($far->logfile), $before) =~ /^\s*SELECT \S*dperm_moments_agg\(/mg;
	cmp_ok($distance, '<', 1e-9, "$what: the local weights");
	is($passes > 0 ? 'there' : 'here', $pushed, "$what: where passes run");
}

my @calls = (
	['all columns', "'y', '{e,g,c,p,b,n,f,m,d,t,x,x4}', 'Infinity', domains => '$domains'"],
	['an enum alone', "'y', 'e', 'Infinity', domains => '{\"e\": [\"blue\", \"red\", \"violet\"]}'"],
	['a domain over an enum', "'y', '{g,n}', 'Infinity', domains => '{\"g\": [\"low\"], \"n\": [0, 100]}'"],
	['an array alone', "'y', 'x', 'Infinity', domains => '{\"x\": {\"dimension\": 3}}'"],
	['a kernel', "'y', '{e,n}', 'Infinity', domains => '{\"e\": [\"blue\", \"red\"], \"n\": [0, 100]}', kernel => 'gaussian', options => '{\"kernel_features\": 20}'"]);
for my $call (@calls)
{
	my ($what, $arguments) = @$call;
	compare("$what, in memory", 'far_people', 'dp_logreg_train', $arguments, '64MB', 'here');
	compare("$what, in passes", 'far_people', 'dp_logreg_train', $arguments, '0', 'there');
}
compare('svm', 'far_people', 'dp_svm_train', $calls[0][1], '0', 'there');

# Labels and columns of all types are read where they are: nothing stable is
# around them
my @read_there = (
	['an enum as label', "'ye', '{e,c,x}', 'Infinity', positive => 'green', domains => '{\"e\": [\"green\", \"grey\"], \"c\": [\"Köln\"], \"x\": {\"dimension\": 3}}'"],
	['a text as label', "'c', '{e,n}', 'Infinity', positive => 'Köln', domains => '{\"e\": [\"green\", \"grey\"], \"n\": [0, 100]}'"],
	['char(n) as label', "'p', '{e,n}', 'Infinity', positive => 'cd', domains => '{\"e\": [\"green\", \"grey\"], \"n\": [0, 100]}'"],
	['an integer as label', "'k', '{e,n}', 'Infinity', domains => '{\"e\": [\"green\", \"grey\"], \"n\": [0, 100]}'"],
	['an integer with a positive value', "'k', '{e,n}', 'Infinity', positive => '2', domains => '{\"e\": [\"green\", \"grey\"], \"n\": [0, 100]}'"],
	['a numeric with a positive value', "'m', '{e,n}', 'Infinity', positive => '0.5', domains => '{\"e\": [\"green\", \"grey\"], \"n\": [0, 100]}'"],
	['a boolean whose false is positive', "'y', '{e,n}', 'Infinity', positive => 'false', domains => '{\"e\": [\"green\", \"grey\"], \"n\": [0, 100]}'"],
	['an array and a label of text', "'c', 'x', 'Infinity', positive => 'Paris', domains => '{\"x\": {\"dimension\": 3}}'"],
	['numbers as categories', "'y', '{e,k}', 'Infinity', domains => '{\"e\": [\"green\", \"grey\"], \"k\": {\"categories\": [0, 1]}}'"],
	['a uuid as categories', "'y', '{u,n}', 'Infinity', domains => '{\"u\": [\"00000000-0000-0000-0000-000000000001\", \"00000000-0000-0000-0000-000000000002\"], \"n\": [0, 100]}'"]);
compare($_->[0], 'far_people', 'dp_logreg_train', $_->[1], '0', 'there') for @read_there;

# Several classes and numbers, too. An enum is compared by its labels there.
my $some = '"g": ["low"], "f": [-1, 1]';
my @kinds = (
	['an enum as classes', "'e', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"e\": [\"grey\", \"red\", \"blue\"], $some}'", 'dp_logreg_train', 'grey'],
	['texts as classes', "'c', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"c\": [\"Rome\", \"Köln\", \"Oslo\"], $some}'", 'dp_logreg_train', 'Köln'],
	['char(n) as classes', "'p', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"p\": [\"ef\", \"ab\", \"cd\"], $some}'", 'dp_logreg_train', 'ab'],
	['integers as classes', "'k', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"k\": {\"categories\": [2, 0, 1]}, $some}'", 'dp_logreg_train', '2'],
	['numerics as classes', "'m', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"m\": {\"categories\": [0.5, 0, 1]}, $some}'", 'dp_logreg_train', '0.5000'],
	['classes of arrays', "'e', 'x', 'Infinity', lambda => 0.01, domains => '{\"e\": [\"grey\", \"red\", \"blue\"], \"x\": {\"dimension\": 3}}'", 'dp_logreg_train', 'red'],
	['an integer as number', "'n', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"n\": [5, 80], $some}'", 'dp_linreg_train'],
	['a numeric as number', "'m', '{g,f}', 'Infinity', lambda => 0.01, domains => '{\"m\": [0.1, 1], $some}'", 'dp_linreg_train'],
	['a number of arrays', "'h', 'x', 'Infinity', lambda => 0.01, domains => '{\"h\": [-0.5, 0.5], \"x\": {\"dimension\": 3}}'", 'dp_linreg_train']);
for my $kind (@kinds)
{
	my ($what, $arguments, $function) = @$kind;
	compare("$what, in memory", 'far_people', $function, $arguments, '64MB', 'here');
	compare("$what, in passes", 'far_people', $function, $arguments, '0', 'there');
}

# Evaluation and ROC curves are one pass each, and nothing else is asked of the
# rows
sub evaluate
{
	my ($what, $train, $function, $trainer, $class) = @_;
	my $before = -s $far->logfile;
	my $options = defined $class ? "epsilon => 'Infinity', class => '$class'" : "epsilon => 'Infinity'";
	my $results = $near->safe_psql('postgres', qq{
		WITH m AS MATERIALIZED (SELECT $trainer('people', $train) AS m)
		SELECT bool_and(a IS NOT DISTINCT FROM b), count(*) FROM (SELECT $function(m, 'people', $options)::text AS a, $function(m, 'far_people', $options)::text AS b FROM m) s
	});
	my $log = substr(slurp_file($far->logfile), $before);
	my $passes = () = $log =~ /^\s*SELECT \S*dperm_moments_agg\(/mg;
	my $scans = () = $log =~ /FROM public\.people/g;
	like($results, qr/^t\|(?:\d|\d\d|121)$/, "$what, $function: the local numbers");
	is("$passes of $scans", '1 of 1', "$what, $function: one pass there");
}
for my $call (@calls, @read_there)
{
	evaluate($call->[0], $call->[1], $_, 'dp_logreg_train') for 'dp_evaluate', 'dp_roc';
}
for my $kind (@kinds)
{
	my ($what, $arguments, $function, $class) = @$kind;
	evaluate($what, $arguments, 'dp_evaluate', $function);
	evaluate($what, $arguments, 'dp_roc', $function, $class) if defined $class;
}

# Columns that have another type there raise an error, not a different model
$near->safe_psql('postgres', "CREATE FOREIGN TABLE other_types (y boolean, e text, n bigint, k bigint, m float8) SERVER far OPTIONS (table_name 'people')");
for my $column ('e', 'n', 'k')
{
	my $domain = $column eq 'e' ? '["red"]' : $column eq 'n' ? '[0, 100]' : '{"categories": [0, 1]}';
	my ($status, $out, $error) = $near->psql('postgres',
		"SET dperm.pull_memory = 0; SELECT dp_logreg_train('other_types', 'y', '$column', 'Infinity', domains => '{\"$column\": $domain}')");
	like($error, qr/the columns of a pass do not match its request/, "$column is of another type there");
}

for my $label ('k', 'm')
{
	my ($status, $out, $error) = $near->psql('postgres',
		"SET dperm.pull_memory = 0; SELECT dp_logreg_train('other_types', '$label', 'y', 'Infinity')");
	like($error, qr/the columns of a pass do not match its request/, "label $label is of another type there");
}

# and so do labels of other kinds; classes and bounds are looked up there
$near->safe_psql('postgres', "CREATE FOREIGN TABLE other_labels (p text, k numeric(3,0), e text, b float8, n bigint, m float8, digits int, f float8) SERVER far OPTIONS (table_name 'people')");
for my $call (["dp_logreg_train('other_labels', 'p', 'f', 1", '"p": ["ab", "cd", "ef"], ', qr/the columns of a pass do not match its request/],
	["dp_logreg_train('other_labels', 'k', 'f', 1", '"k": {"categories": [0, 1, 2]}, ', qr/the columns of a pass do not match its request/],
	["dp_logreg_train('other_labels', 'e', 'f', 1", '"e": ["red", "green", "blue"], ', qr/the columns of a pass do not match its request/],
	["dp_logreg_train('far_people', 'e', 'f', 1", '', qr/invalid input value for enum.*"violet"/],
	["dp_linreg_train('other_labels', 'b', 'f', 1", '"b": [0, 1], ', qr/invalid input syntax for type double precision: "[tf]"/],
	["dp_linreg_train('other_labels', 'digits', 'f', 1", '"digits": [0, 1], ', qr/the label of a regression cannot be of type text/])
{
	my ($status, $out, $error) = $near->psql('postgres', "SET dperm.pull_memory = 0; SELECT $call->[0], domains => '{$call->[1]\"f\": [-1, 1]}')");
	like($error, $call->[2], "$call->[0]: not the label that is there");
}
# numbers of all types are read alike
compare("$_ is of another type there", 'other_labels', 'dp_linreg_train', "'$_', 'f', 'Infinity', lambda => 0.01, domains => '{\"$_\": [0.1, 20], \"f\": [-1, 1]}'", '0', 'there') for 'n', 'm';

# A database of another encoding has the same categories in other bytes
$far->safe_psql('postgres', "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
make_types($far, 'latin', 'blue', 'red', 'grey', 'green');
$far->safe_psql('latin', "SET client_encoding = 'UTF8'; CREATE TABLE people AS $rows");
is($far->safe_psql('latin', "SELECT octet_length(c) FROM people WHERE c LIKE 'K%' LIMIT 1"), 4, 'a letter is one byte in latin1');
connect_to('latin', 'latin', '');
my $ascii = "'y', '{e,c,n}', 'Infinity', domains => '{\"e\": [\"blue\", \"red\"], \"c\": [\"Paris\", \"Rome\"], \"n\": [0, 100]}'";
compare('categories in ASCII', 'latin_people', 'dp_logreg_train', $ascii, '0', 'there');
(my $other = $ascii) =~ s/Rome/Köln/;
compare('categories in UTF8, in memory', 'latin_people', 'dp_logreg_train', $other, '64MB', 'here');
my ($status, $out, $error) = $near->psql('postgres', "SET dperm.pull_memory = 0; SELECT dp_logreg_train('latin_people', $other)");
like($error, qr/a pass compares categories in encoding UTF8, but the rows are in encoding LATIN1/, 'categories in UTF8, in passes');
my $label = "'c', '{e,n}', 'Infinity', positive => 'Paris', domains => '{\"e\": [\"blue\", \"red\"], \"n\": [0, 100]}'";
compare('a positive value in ASCII', 'latin_people', 'dp_logreg_train', $label, '0', 'there');
$label =~ s/Paris/Köln/;
($status, $out, $error) = $near->psql('postgres', "SET dperm.pull_memory = 0; SELECT dp_logreg_train('latin_people', $label)");
like($error, qr/a pass compares categories in encoding UTF8, but the rows are in encoding LATIN1/, 'a positive value in UTF8, in passes');

$label = "'c', 'n', 'Infinity', lambda => 0.01, domains => '{\"c\": [\"Paris\", \"Rome\", \"Oslo\"], \"n\": [0, 100]}'";
compare('classes in ASCII', 'latin_people', 'dp_logreg_train', $label, '0', 'there');
$label =~ s/Oslo/Köln/;
compare('classes in UTF8, in memory', 'latin_people', 'dp_logreg_train', $label, '64MB', 'here');
($status, $out, $error) = $near->psql('postgres', "SET dperm.pull_memory = 0; SELECT dp_logreg_train('latin_people', $label)");
like($error, qr/a pass compares categories in encoding UTF8, but the rows are in encoding LATIN1/, 'classes in UTF8, in passes');

# A server that returns a wrong answer: sums without the requested digest
$far->safe_psql('postgres', 'CREATE DATABASE forger');
make_types($far, 'forger', 'red', 'green', 'blue', 'grey', 'violet');
$far->safe_psql('forger', qq{
	CREATE TABLE people AS $rows;
	ALTER EXTENSION dperm DROP AGGREGATE dperm.dperm_moments_agg(bytea, float8, bytea);
	DROP AGGREGATE dperm.dperm_moments_agg(bytea, float8, bytea);
	CREATE FUNCTION forged(s bytea, r bytea, y float8, columns bytea) RETURNS bytea LANGUAGE sql STABLE AS \$\$
	  SELECT dperm.dperm_moments_step(s, overlay(r PLACING int8send(0) FROM 21), y, columns) \$\$;
	CREATE AGGREGATE dperm.dperm_moments_agg(bytea, float8, bytea) (SFUNC = forged, STYPE = bytea);
	GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dperm TO plain;
});
connect_to('forger', 'forger', '');
my $numbers = "'y', '{n,k}', 1, domains => '{\"n\": [0, 100], \"k\": [0, 3]}'";
for my $call ("dp_logreg_train('forger_people', $numbers)")
{
	my ($status, $out, $error) = $near->psql('postgres', "SET dperm.pull_memory = 0; SELECT $call");
	like($error, qr/a server that has the rows answered another request/, substr($call, 0, 14) . ': an answer that is forged');
}

# Columns that mean something else there
for my $case ([ 'a time zone', 't timestamptz', "'y', 't', 'Infinity', domains => '{\"t\": [\"2020-01-01\", \"2020-04-01\"]}'" ])
{
	$near->safe_psql('postgres', "CREATE FOREIGN TABLE zoned (y boolean, $case->[1]) SERVER far OPTIONS (table_name 'people')");
	my ($status, $out, $error) = $near->psql('postgres', "SET dperm.pull_memory = 0; SELECT dp_logreg_train('zoned', $case->[2])");
	like($error, qr/the columns of a pass do not match its request/, "$case->[0] that is not there");
}
$near->safe_psql('postgres', "CREATE FOREIGN TABLE counted (k boolean, n integer) SERVER far OPTIONS (table_name 'people')");
{
	my ($status, $out, $error) = $near->psql('postgres',
		"SET dperm.pull_memory = 0; SELECT dp_evaluate(dp_logreg_train('people', 'b', 'n', 1, domains => '{\"n\": [0, 100]}'), 'counted', label => 'k', epsilon => 1)");
	like($error, qr/the columns of a pass do not match its request/, 'a label that is a number there');
}

$near->stop;
$far->stop;
done_testing();
