# The aggregates of a pass, run in parts, not by the executor, as Citus does:
# functions are called without the types of their arguments, which come from a
# record; states are sent by a worker as text or in binary, and combined
# elsewhere. Sums and counts are those of one ordinary aggregate over all rows.
# test/modules/partial.c drives them.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

if (!$ENV{TEST_MODULES})
{
	plan skip_all => 'the modules are built by make tap';
}
my $module = "$ENV{TEST_MODULES}/partial$ENV{DLSUFFIX}";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

# The workers and the coordinator are databases: enums have other OIDs, and
# labels in another order
my @workers = ('worker1', 'worker2');
my %order = (postgres => "'red', 'green', 'blue', 'grey'", worker1 => "'grey', 'blue', 'green', 'red'", worker2 => "'blue', 'red', 'grey', 'green', 'pink'");
$node->safe_psql('postgres', "CREATE DATABASE $_") for @workers;
for my $database ('postgres', @workers)
{
	$node->safe_psql($database, qq{
		CREATE TYPE spare_$database AS ENUM ($order{$database});
		CREATE EXTENSION dperm;
		CREATE TYPE color AS ENUM ($order{$database});
		CREATE FUNCTION partial_step(internal, oid, boolean, record) RETURNS internal AS '$module' LANGUAGE C;
		CREATE FUNCTION partial_text(internal) RETURNS text AS '$module' LANGUAGE C;
		CREATE FUNCTION partial_binary(internal) RETURNS bytea AS '$module' LANGUAGE C;
		CREATE FUNCTION combined_text_step(internal, oid, boolean, text) RETURNS internal AS '$module' LANGUAGE C;
		CREATE FUNCTION combined_binary_step(internal, oid, boolean, bytea) RETURNS internal AS '$module' LANGUAGE C;
		CREATE FUNCTION call_untyped(oid, record) RETURNS bytea AS '$module' LANGUAGE C;
		CREATE AGGREGATE partial_text(oid, boolean, record) (SFUNC = partial_step, STYPE = internal, FINALFUNC = partial_text);
		CREATE AGGREGATE partial_binary(oid, boolean, record) (SFUNC = partial_step, STYPE = internal, FINALFUNC = partial_binary);
		CREATE AGGREGATE combined_text(oid, boolean, text) (SFUNC = combined_text_step, STYPE = internal, FINALFUNC = partial_text);
		CREATE AGGREGATE combined_binary(oid, boolean, bytea) (SFUNC = combined_binary_step, STYPE = internal, FINALFUNC = partial_text);
		CREATE TABLE people AS SELECT i, CASE WHEN i % 11 > 0 THEN i % 3 > 0 END AS y, CASE WHEN i % 13 > 0 THEN i % 100 END AS n, (sin(i) * 2)::numeric AS m, i % 7 > 2 AS b,
		    timestamp '2000-01-02' + i * interval '1 hour' AS t, (ARRAY['ab', 'cd', 'x', NULL])[1 + i % 4] AS c, (ARRAY['red', 'green', 'blue', 'grey', NULL])[1 + i * 7 % 5]::color AS e,
		    CASE WHEN i % 9 > 0 THEN ARRAY[sin(i), cos(2 * i), sin(i * i)] END AS x, ARRAY[cos(i), sin(3 * i)]::float4[] AS x4
		  FROM generate_series(1, 700) i;
		-- an order of 5 and more counts in so many bins less 5; 10000 more are for persons
		CREATE FUNCTION request_of(asked int, readers bigint[], dimension int, encoder bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT decode('64707005', 'hex') || set_byte('\\x0000', 0, least(pass_order, 5)) || '\\x0000' || float8send(0) || '\\x00' || int2send(greatest(pass_order - 5, 0)::int2) || set_byte('\\x00', 0, (asked - pass_order) / 10000)
		    || int8send(CASE WHEN pass_order < 5 THEN 77 ELSE 0 END) || int4send(dimension) || int4send(cardinality(readers)) || int4send(length(encoder))
		    || (SELECT string_agg(float8send(sin(k)), '' ORDER BY k) FROM generate_series(1, dimension) k)
		    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(1e-18 * cos(k)), '' ORDER BY k) FROM generate_series(1, dimension) k) ELSE '' END
		    || (SELECT string_agg(int4send(r::int), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k)) || encoder FROM (VALUES (asked % 10000)) o(pass_order)
		\$\$;
		CREATE FUNCTION label(y boolean) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT CASE WHEN y THEN 1 WHEN NOT y THEN -1 END';
		CREATE FUNCTION texts(VARIADIC t text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT int4send(cardinality(t)) || string_agg(int4send(octet_length(w)) || w::bytea, '' ORDER BY k) FROM unnest(t) WITH ORDINALITY u(w, k)
		\$\$;
		CREATE FUNCTION block(kind int, name text, rest bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT int4send(length(name)) || name::bytea || set_byte('\\x00', 0, kind) || CASE kind WHEN 0 THEN rest || '\\x0000' WHEN 1 THEN rest || '\\x00' WHEN 4 THEN substring(rest FOR 4) || '\\x00' || substring(rest FROM 5) ELSE rest END
		\$\$;
		CREATE FUNCTION columns_request(pass_order int) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT request_of(pass_order, ARRAY[2, 6, 7, 9, 10, 12, 13, 14], 15, int4send(8) || block(0, 'n', float8send(0) || float8send(100))
		    || block(0, 'm', float8send(-1) || float8send(1)) || block(2, 'b', '') || block(1, 't', float8send(0) || float8send(20)) || block(3, 'c', texts('ab', 'cd'))
		    || block(3, 'e', texts('blue', 'red', 'pink')) || block(4, 'x', int4send(3) || float8send(2)) || block(4, 'x4', int4send(2) || float8send(1)) || '\\x0100')
		\$\$;
		CREATE FUNCTION vector_request(pass_order int) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT request_of(pass_order, ARRAY[13], 3, int4send(1) || block(4, '', int4send(3) || float8send(1)) || '\\x0000')
		\$\$;
		-- the words of an answer, behind its request: rows, persons if there are any, the rest
		CREATE FUNCTION words(m bytea) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT array_agg(('x' || encode(substring(m FROM k + 1 FOR 8), 'hex'))::bit(64)::bigint ORDER BY k) FROM (SELECT k FROM generate_series(
		    40 + 8 * ('x' || encode(substring(m FROM 29 FOR 4), 'hex'))::bit(32)::int * CASE get_byte(m, 4) WHEN 4 THEN 2 ELSE 1 END + 4 * ('x' || encode(substring(m FROM 33 FOR 4), 'hex'))::bit(32)::int
		    + ('x' || encode(substring(m FROM 37 FOR 4), 'hex'))::bit(32)::int, length(m) - 8, 8) k) s
		\$\$;
		CREATE FUNCTION counts(m bytea) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS 'SELECT w[1] || w[2 + get_byte(m, 19):] FROM words(m) w';
		CREATE FUNCTION digest(m bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT substring(m FROM 21 FOR 8) || int8send(CASE WHEN get_byte(m, 27) > 0 THEN (words(m))[4 + get_byte(m, 19)] ELSE 0 END)
		\$\$;
		-- how many persons an answer is about
		CREATE FUNCTION persons(m bytea) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT (words(m))[2]';
		-- rows, value and sums of an answer
		CREATE FUNCTION numbers(m bytea) RETURNS float8[] LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT array_agg(CASE WHEN k = 1 THEN w WHEN w = 0 THEN 0 ELSE sign(w) * 2::float8 ^ ((w >> 52 & 2047) - 1023) * (1 + (w & 4503599627370495) * 2::float8 ^ (-52)) END ORDER BY k)
		  FROM unnest(words(m)) WITH ORDINALITY u(w, k) WHERE k = 1 OR k IN (2 + get_byte(m, 19), 3 + get_byte(m, 19)) OR k > 4 + get_byte(m, 19)
		\$\$;
	});
}

# A query on a database
sub ask
{
	my ($database, $query) = @_;
	return $node->safe_psql($database, $query);
}

# The sums or counts of all rows by an ordinary aggregate, and by parts
sub compare
{
	my ($what, $request, $whole, $oid, $arguments) = @_;
	for my $order (1 .. 5, 5 + 7, 5 + 1000)
	{
		# the third has second derivatives in single precision; counts are exact
		my $tolerance = $order >= 5 ? 1e-300 : $order == 3 ? 1e-3 : 1e-12;
		my $numbers = $order >= 5 ? 'counts' : 'numbers';
		for my $told ('true', 'false')
		{
			for my $form ('text', 'binary')
			{
				my @states;
				for my $k (0, 1)
				{
					push @states, ask($workers[$k],
						"SELECT partial_$form($oid, $told, ROW((SELECT $request($order)), label(y), $arguments)) FROM people WHERE i % 2 = $k");
				}
				my $values = join ', ', map { "('$_')" } @states;
				my $type = $form eq 'text' ? 'text' : 'bytea';
				is( ask('postgres', qq{
						SELECT da = db AND (length(replace(encode(da, 'hex'), '0', '')) > 5) = ($order < 5) AND cardinality(a) = cardinality(b) AND a[1] = 700 AND a[1] = b[1] AND (SELECT max(abs(v - w)) < $tolerance FROM unnest(a[2:], b[2:]) u(v, w))
						FROM (SELECT $numbers($whole) AS a, digest($whole) AS da FROM people) whole,
						  (SELECT $numbers(combined_$form($oid, $told, s::$type)::bytea) AS b, digest(combined_$form($oid, $told, s::$type)::bytea) AS db FROM (VALUES $values) v(s)) parts
					} =~ s/\$order/$order/gr),
					't', "$what, order $order, " . ($told eq 'true' ? 'told' : 'not told') . ", $form");
			}
		}
	}
}
sub aggregate { return "'$_[0]'::regprocedure::oid" }
my $columns = "dperm.dperm_row('\\x020607090a0c0d0e', n, m, b, t, c, e, x, x4)";
my $vector = "dperm.dperm_row('\\x0d', x)";
my $oid = aggregate('dperm.dperm_moments_agg(bytea,double precision,bytea)');
compare('columns', 'columns_request', "dperm.dperm_moments_agg((SELECT columns_request(\$order)), label(y), $columns)", $oid, $columns);
compare('an array', 'vector_request', "dperm.dperm_moments_agg((SELECT vector_request(\$order)), label(y), $vector)", $oid, $vector);

# Persons, each of whom has all rows on one server: the weights of their rows
# add up to one, and they are counted in parts of a person. Parts give the same
# result as one ordinary aggregate
ask($_, q{
	CREATE VIEW persons AS SELECT *, count(y) OVER (PARTITION BY p) AS labelled, row_number() OVER (PARTITION BY p) = 1 AS first
	  FROM (SELECT *, i % 2 + 2 * (i * i % 41) AS p FROM people) s}) for ('postgres', @workers);
my $persons = ask('postgres', 'SELECT count(DISTINCT p) FROM persons');
for my $order (1 .. 5, 5 + 7)
{
	my $tolerance = $order >= 5 ? 1e-300 : $order == 3 ? 1e-3 : 1e-12;
	my $numbers = $order >= 5 ? 'counts' : 'numbers';
	my $agg = "dperm.dperm_moments_person_agg((SELECT columns_request(10000 + $order)), label(y), $columns, labelled, first)";
	for my $form ('text', 'binary')
	{
		my $oid = aggregate('dperm.dperm_moments_person_agg(bytea,double precision,bytea,bigint,boolean)');
		my @states = map { ask($workers[$_],
			"SELECT partial_$form($oid, true, ROW((SELECT columns_request(10000 + $order)), label(y), $columns, labelled, first)) FROM persons WHERE i % 2 = $_") } (0, 1);
		my $values = join ', ', map { "('$_')" } @states;
		my $type = $form eq 'text' ? 'text' : 'bytea';
		is(ask('postgres', qq{
				SELECT persons(a) = $persons AND persons(b) = $persons AND ($numbers(a))[1] = 700 AND ($numbers(b))[1] = 700
				  AND (SELECT max(abs(v - w)) < $tolerance FROM unnest(($numbers(a))[2:], ($numbers(b))[2:]) u(v, w))
				FROM (SELECT $agg AS a FROM persons) whole, (SELECT combined_$form($oid, true, s::$type)::bytea AS b FROM (VALUES $values) v(s)) parts}),
			't', "persons, order $order, $form");
	}
}

# The result of a pass over persons, by hand: each row repeated by its weight.
# Every person has m rows with a label; copies of a row for 60/m, over 60
ask('postgres', q{CREATE TABLE few AS SELECT i, p, y, x, count(y) OVER (PARTITION BY p) AS labelled, row_number() OVER (PARTITION BY p ORDER BY i) = 1 AS first
	FROM (SELECT i, CASE WHEN i % 7 > 0 THEN i % 3 > 0 END AS y, x, floor(sqrt(2 * i))::int AS p FROM people WHERE i <= 28) s});
like(ask('postgres', 'SELECT array_agg(DISTINCT labelled) FROM few'), qr/1,2,3,4,5,6/, 'persons with many rows, and with few');
for my $order (1, 2, 4)
{
	is(ask('postgres', qq{SELECT max(abs(v - w / 60)) < 1e-12 AND count(*) > 3 FROM
			(SELECT n[2:] AS a FROM (SELECT numbers(dperm.dperm_moments_person_agg((SELECT vector_request(10000 + $order)), label(y), $vector, labelled, first)) AS n FROM few) s) persons,
			(SELECT n[2:] AS b FROM (SELECT numbers(dperm.dperm_moments_agg((SELECT vector_request($order)), label(y), $vector)) AS n FROM few, generate_series(1, 60 / labelled) WHERE y IS NOT NULL) s) copies,
			unnest(a, b) u(v, w)}), 't', "weights by hand, order $order");
}
is(ask('postgres', "SELECT counts(dperm.dperm_moments_person_agg((SELECT vector_request(10005)), label(y), $vector, labelled, first)) FROM few"),
	ask('postgres', q{SELECT ARRAY[count(*), sum(w) FILTER (WHERE y AND p), sum(w) FILTER (WHERE y AND NOT p), sum(w) FILTER (WHERE NOT y AND p), sum(w) FILTER (WHERE NOT y AND NOT p)]
		FROM (SELECT y, 1048576 / nullif(labelled, 0) AS w, coalesce(sin(1) * x[1] + sin(2) * x[2] + sin(3) * x[3] > 0, false) AS p FROM few) d}),
	'parts of persons by hand');

# A request for persons is for no other aggregate, and the other way round; a
# row belongs to a person with rows
my $of_persons = "(SELECT vector_request(10001)), label(y), $vector";
for my $call (["dperm.dperm_moments_agg($of_persons)", qr/the request is about persons/],
	["dperm.dperm_moments_person_agg((SELECT vector_request(1)), label(y), $vector, labelled, first)", qr/the request is not about persons/],
	(map { ["dperm.dperm_moments_person_agg($of_persons, $_)", qr/the number of rows of a person is out of range/] } '0, first', '-1, first', '9223372036854775807, first', 'NULL, first', 'labelled, NULL'),
	["dperm.dperm_moments_combine(dperm.dperm_moments_person_agg($of_persons, labelled, first), dperm.dperm_moments_agg((SELECT vector_request(1)), label(y), $vector))", qr/cannot combine the states of two different passes/],
	["dperm.dperm_moments_step(dperm.dperm_moments_step(NULL, (SELECT vector_request(10001)), 1, dperm.dperm_row('\\x0d', min(x)), 1::bigint, true), NULL, 1, dperm.dperm_row('\\x0d', min(x)))", qr/the request is about persons/])
{
	my ($status, $out, $error) = $node->psql('postgres', "SELECT $call->[0] FROM few");
	like($error, $call->[1], $call->[0]);
}

# Counts by hand: a vector alone has the sign of its inner product with the
# weights, and one that is not there has none
is(ask('postgres', "SELECT counts(dperm.dperm_moments_agg((SELECT vector_request(5)), label(y), $vector)) FROM people"),
	ask('postgres', q{SELECT ARRAY[count(*), count(*) FILTER (WHERE y AND p), count(*) FILTER (WHERE y AND NOT p), count(*) FILTER (WHERE NOT y AND p), count(*) FILTER (WHERE NOT y AND NOT p)]
		FROM (SELECT y, coalesce(sin(1) * x[1] + sin(2) * x[2] + sin(3) * x[3] > 0, false) AS p FROM people) d}),
	'counts by hand');
is(ask('postgres', "SELECT (SELECT array_agg(v ORDER BY k) FROM unnest(c[2:]) WITH ORDINALITY u(v, k)) FROM (SELECT counts(dperm.dperm_moments_agg((SELECT vector_request(5 + 2)), label(y), $vector)) AS c FROM people) a"),
	ask('postgres', q{SELECT ARRAY[count(*) FILTER (WHERE y AND NOT p), count(*) FILTER (WHERE y AND p), count(*) FILTER (WHERE NOT y AND NOT p), count(*) FILTER (WHERE NOT y AND p)]
		FROM (SELECT y, coalesce(sin(1) * x[1] + sin(2) * x[2] + sin(3) * x[3], 0) >= 0 AS p FROM people) d}),
	'two bins by hand');

# States of different counts do not mix
for my $other ('vector_request(5 + 7)', 'vector_request(1)')
{
	my ($status, $out, $error) = $node->psql('postgres',
		"SELECT dperm.dperm_moments_combine(dperm.dperm_moments_agg((SELECT vector_request(5)), label(y), $vector), dperm.dperm_moments_agg((SELECT $other), label(y), $vector)) FROM people");
	like($error, qr/cannot combine the states of two different passes/, "counts and $other");
}

# Where types are needed and are not known, there is a clear error
my @errors = (
	['dperm_row', "SELECT call_untyped('dperm.dperm_row(bytea,\"any\")'::regprocedure, ROW('\\x02'::bytea, n)) FROM people", qr/could not determine the types of the columns of a row/],
	['dperm_label', "SELECT call_untyped('dperm.dperm_label(\"any\",bytea)'::regprocedure, ROW(b, decode(repeat('00', 26), 'hex'))) FROM people", qr/could not determine the type of a label/]);
for my $call (@errors)
{
	my ($what, $query, $expected) = @$call;
	my ($status, $out, $error) = $node->psql('worker1', $query);
	like($error, $expected, "$what without types");
}

$node->stop;
done_testing();
