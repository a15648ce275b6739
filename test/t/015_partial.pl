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
		CREATE FUNCTION request_of(asked int, readers bigint[], dimension int, encoder bytea) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT translate(encode(decode('6470706173730003', 'hex') || int8send(least(pass_order, 5)) || int8send(0) || float8send(0) || int8send(dimension) || int8send(cardinality(readers))
		    || int8send(length(encoder)) || int8send(0) || float8send(0) || float8send(0) || int8send(greatest(pass_order - 5, 0) + (asked - pass_order) / 10000 * 65536) || int8send(0) || int8send(CASE WHEN pass_order < 5 THEN 77 ELSE 0 END) || int8send(0) || (SELECT string_agg(float8send(sin(k)), '' ORDER BY k) FROM generate_series(1, dimension) k)
		    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(1e-18 * cos(k)), '' ORDER BY k) FROM generate_series(1, dimension) k) ELSE '' END
		    || (SELECT string_agg(int8send(r), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k))
		    || encoder || decode(repeat('00', -length(encoder) & 7), 'hex'), 'base64'), E'\\n', '')::dperm.dperm_moments FROM (VALUES (asked % 10000)) o(pass_order)
		\$\$;
		CREATE FUNCTION texts(VARIADIC t text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT int4send(cardinality(t)) || string_agg(int4send(octet_length(w)) || w::bytea, '' ORDER BY k) FROM unnest(t) WITH ORDINALITY u(w, k)
		\$\$;
		CREATE FUNCTION block(kind int, name text, rest bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT set_byte('\\x00', 0, kind) || int4send(length(name)) || name::bytea || rest || CASE WHEN kind < 2 THEN '\\x00'::bytea || int4send(1) || int4send(0) ELSE '' END
		\$\$;
		CREATE FUNCTION columns_request(pass_order int) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT request_of(pass_order, ARRAY[2, 6, 7, 9, 10, 12, 13, 14], 15, int4send(8) || '\\x0100' || block(0, 'n', float8send(0) || float8send(100))
		    || block(0, 'm', float8send(-1) || float8send(1)) || block(2, 'b', '') || block(1, 't', float8send(0) || float8send(20)) || block(3, 'c', texts('ab', 'cd'))
		    || block(3, 'e', texts('blue', 'red', 'pink')) || block(4, 'x', int4send(3) || float8send(2)) || block(4, 'x4', int4send(2) || float8send(1)))
		\$\$;
		CREATE FUNCTION vector_request(pass_order int) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT request_of(pass_order, ARRAY[13], 3, int4send(1) || '\\x0000' || block(4, '', int4send(3) || float8send(1)))
		\$\$;
		-- rows and counts of an answer
		CREATE FUNCTION counts(m dperm.dperm_moments) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS \$\$
		  WITH words AS (SELECT k, ('x' || encode(substring(dperm.dperm_moments_send(m) FROM 8 * k + 1 FOR 8), 'hex'))::bit(64)::bigint AS w
		    FROM generate_series(0, length(dperm.dperm_moments_send(m)) / 8 - 1) k)
		  SELECT array_agg(w ORDER BY k) FROM words WHERE k = 7 OR k BETWEEN 14 + (SELECT w FROM words WHERE k = 4)
		    AND (SELECT max(k) FROM words) - (SELECT w FROM words WHERE k = 5) - (SELECT (w + 7) / 8 FROM words WHERE k = 6)
		\$\$;
		CREATE FUNCTION digest(m dperm.dperm_moments) RETURNS bytea LANGUAGE sql IMMUTABLE AS 'SELECT substring(dperm.dperm_moments_send(m) FROM 8 * 12 + 1 FOR 16)';
		-- how many persons an answer is about
		CREATE FUNCTION persons(m dperm.dperm_moments) RETURNS bigint LANGUAGE sql IMMUTABLE AS \$\$
		  SELECT (('x' || encode(substring(dperm.dperm_moments_send(m) FROM 8 * 10 + 1 FOR 8), 'hex'))::bit(64)::bigint >> 16) - 1
		\$\$;
		-- rows, value, weights and sums of an answer: all words before those about readers and encoder, but for seed and digest
		CREATE FUNCTION numbers(m dperm.dperm_moments) RETURNS float8[] LANGUAGE sql IMMUTABLE AS \$\$
		  WITH words AS (SELECT k, ('x' || encode(substring(dperm.dperm_moments_send(m) FROM 8 * k + 1 FOR 8), 'hex'))::bit(64)::bigint AS w
		    FROM generate_series(0, length(dperm.dperm_moments_send(m)) / 8 - 1) k)
		  SELECT array_agg(CASE WHEN k = 7 THEN w WHEN w = 0 THEN 0 ELSE sign(w) * 2::float8 ^ ((w >> 52 & 2047) - 1023) * (1 + (w & 4503599627370495) * 2::float8 ^ (-52)) END ORDER BY k)
		  FROM words WHERE k NOT IN (12, 13) AND k BETWEEN 7 AND (SELECT max(k) FROM words) - (SELECT w FROM words WHERE k = 5) - (SELECT (w + 7) / 8 FROM words WHERE k = 6)
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
						"SELECT partial_$form($oid, $told, ROW((SELECT $request($order)), y, $arguments)) FROM people WHERE i % 2 = $k");
				}
				my $values = join ', ', map { "('$_')" } @states;
				my $type = $form eq 'text' ? 'text' : 'bytea';
				is( ask('postgres', qq{
						SELECT da = db AND (length(replace(encode(da, 'hex'), '0', '')) > 5) = ($order < 5) AND cardinality(a) = cardinality(b) AND a[1] = 700 AND a[1] = b[1] AND (SELECT max(abs(v - w)) < $tolerance FROM unnest(a[2:], b[2:]) u(v, w))
						FROM (SELECT $numbers($whole) AS a, digest($whole) AS da FROM people) whole,
						  (SELECT $numbers(combined_$form($oid, $told, s::$type)::dperm.dperm_moments) AS b, digest(combined_$form($oid, $told, s::$type)::dperm.dperm_moments) AS db FROM (VALUES $values) v(s)) parts
					} =~ s/\$order/$order/gr),
					't', "$what, order $order, " . ($told eq 'true' ? 'told' : 'not told') . ", $form");
			}
		}
	}
}
sub aggregate { return "'$_[0]'::regprocedure::oid" }
compare('columns as a row', 'columns_request', 'dperm.dperm_moments_agg((SELECT columns_request($order)), y, n, m, b, t, c, e, x, x4)',
	aggregate('dperm.dperm_moments_row_agg(dperm.dperm_moments,boolean,bytea)'), 'dperm.dperm_row(n, m, b, t, c, e, x, x4)');
compare('columns as a record', 'columns_request', 'dperm.dperm_moments_agg((SELECT columns_request($order)), y, n, m, b, t, c, e, x, x4)',
	aggregate('dperm.dperm_moments_agg(dperm.dperm_moments,boolean,record)'), 'ROW(n, m, b, t, c, e, x, x4)');
compare('an array', 'vector_request', 'dperm.dperm_moments_vector_agg((SELECT vector_request($order)), y, x)',
	aggregate('dperm.dperm_moments_vector_agg(dperm.dperm_moments,boolean,double precision[])'), 'x');

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
	my $agg = "dperm.dperm_moments_person_agg((SELECT columns_request(10000 + $order)), y, dperm.dperm_row(n, m, b, t, c, e, x, x4), labelled, first)";
	for my $form ('text', 'binary')
	{
		my $oid = aggregate('dperm.dperm_moments_person_agg(dperm.dperm_moments,boolean,bytea,bigint,boolean)');
		my @states = map { ask($workers[$_],
			"SELECT partial_$form($oid, true, ROW((SELECT columns_request(10000 + $order)), y, dperm.dperm_row(n, m, b, t, c, e, x, x4), labelled, first)) FROM persons WHERE i % 2 = $_") } (0, 1);
		my $values = join ', ', map { "('$_')" } @states;
		my $type = $form eq 'text' ? 'text' : 'bytea';
		is(ask('postgres', qq{
				SELECT persons(a) = $persons AND persons(b) = $persons AND ($numbers(a))[1] = 700 AND ($numbers(b))[1] = 700
				  AND (SELECT max(abs(v - w)) < $tolerance FROM unnest(($numbers(a))[case when $order < 5 then 5 else 2 end:], ($numbers(b))[case when $order < 5 then 5 else 2 end:]) u(v, w))
				FROM (SELECT $agg AS a FROM persons) whole, (SELECT combined_$form($oid, true, s::$type)::dperm.dperm_moments AS b FROM (VALUES $values) v(s)) parts}),
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
			(SELECT n[2:3] || n[9:] AS a FROM (SELECT numbers(dperm.dperm_moments_person_agg((SELECT vector_request(10000 + $order)), y, dperm.dperm_row(x), labelled, first)) AS n FROM few) s) persons,
			(SELECT n[2:3] || n[9:] AS b FROM (SELECT numbers(dperm.dperm_moments_row_agg((SELECT vector_request($order)), y, dperm.dperm_row(x))) AS n FROM few, generate_series(1, 60 / labelled) WHERE y IS NOT NULL) s) copies,
			unnest(a, b) u(v, w)}), 't', "weights by hand, order $order");
}
is(ask('postgres', 'SELECT counts(dperm.dperm_moments_person_agg((SELECT vector_request(10005)), y, dperm.dperm_row(x), labelled, first)) FROM few'),
	ask('postgres', q{SELECT ARRAY[count(*), sum(w) FILTER (WHERE y AND p), sum(w) FILTER (WHERE y AND NOT p), sum(w) FILTER (WHERE NOT y AND p), sum(w) FILTER (WHERE NOT y AND NOT p)]
		FROM (SELECT y, 1048576 / nullif(labelled, 0) AS w, coalesce(sin(1) * x[1] + sin(2) * x[2] + sin(3) * x[3] > 0, false) AS p FROM few) d}),
	'parts of persons by hand');

# A request for persons is for no other aggregate, and the other way round; a
# row belongs to a person with rows
for my $call (['dperm.dperm_moments_row_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x))', qr/the request is about persons/],
	['dperm.dperm_moments_vector_agg((SELECT vector_request(10001)), y, x)', qr/the request is about persons/],
	['dperm.dperm_moments_agg((SELECT vector_request(10001)), y, x)', qr/the request is about persons/],
	['dperm.dperm_moments_agg((SELECT vector_request(10001)), y, ROW(x))', qr/the request is about persons/],
	['dperm.dperm_moments_person_agg((SELECT vector_request(1)), y, dperm.dperm_row(x), labelled, first)', qr/the request is not about persons/],
	['dperm.dperm_moments_person_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x), 0, first)', qr/the number of rows of a person is out of range/],
	['dperm.dperm_moments_person_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x), -1, first)', qr/the number of rows of a person is out of range/],
	['dperm.dperm_moments_person_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x), 9223372036854775807, first)', qr/the number of rows of a person is out of range/],
	['dperm.dperm_moments_person_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x), NULL, first)', qr/the number of rows of a person is out of range/],
	['dperm.dperm_moments_person_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x), labelled, NULL)', qr/the number of rows of a person is out of range/],
	['dperm.dperm_moments_combine(dperm.dperm_moments_person_agg((SELECT vector_request(10001)), y, dperm.dperm_row(x), labelled, first), dperm.dperm_moments_row_agg((SELECT vector_request(1)), y, dperm.dperm_row(x)))',
		qr/cannot combine the states of two different passes/],
	['dperm.dperm_moments_step(dperm.dperm_moments_step(NULL, (SELECT vector_request(10001)), true, dperm.dperm_row(min(x)), 1::bigint, true), NULL, true, dperm.dperm_row(min(x)))', qr/the request is about persons/])
{
	my ($status, $out, $error) = $node->psql('postgres', "SELECT $call->[0] FROM few");
	like($error, $call->[1], $call->[0]);
}

# Counts by hand: a vector alone has the sign of its inner product with the
# weights, and one that is not there has none
is(ask('postgres', 'SELECT counts(dperm.dperm_moments_vector_agg((SELECT vector_request(5)), y, x)) FROM people'),
	ask('postgres', q{SELECT ARRAY[count(*), count(*) FILTER (WHERE y AND p), count(*) FILTER (WHERE y AND NOT p), count(*) FILTER (WHERE NOT y AND p), count(*) FILTER (WHERE NOT y AND NOT p)]
		FROM (SELECT y, coalesce(sin(1) * x[1] + sin(2) * x[2] + sin(3) * x[3] > 0, false) AS p FROM people) d}),
	'counts by hand');
is(ask('postgres', 'SELECT (SELECT array_agg(v ORDER BY k) FROM unnest(c[2:]) WITH ORDINALITY u(v, k)) FROM (SELECT counts(dperm.dperm_moments_vector_agg((SELECT vector_request(5 + 2)), y, x)) AS c FROM people) a'),
	ask('postgres', q{SELECT ARRAY[count(*) FILTER (WHERE y AND NOT p), count(*) FILTER (WHERE y AND p), count(*) FILTER (WHERE NOT y AND NOT p), count(*) FILTER (WHERE NOT y AND p)]
		FROM (SELECT y, coalesce(sin(1) * x[1] + sin(2) * x[2] + sin(3) * x[3], 0) >= 0 AS p FROM people) d}),
	'two bins by hand');

# States of different counts do not mix
for my $other ('vector_request(5 + 7)', 'vector_request(1)')
{
	my ($status, $out, $error) = $node->psql('postgres',
		"SELECT dperm.dperm_moments_combine(dperm.dperm_moments_vector_agg((SELECT vector_request(5)), y, x), dperm.dperm_moments_vector_agg((SELECT $other), y, x)) FROM people");
	like($error, qr/cannot combine the states of two different passes/, "counts and $other");
}

# Where types are needed and are not known, there is a clear error
my @errors = (
	['dperm_moments_agg', "SELECT partial_text('dperm.dperm_moments_agg(dperm.dperm_moments,boolean,\"any\")'::regprocedure, true, ROW((SELECT columns_request(1)), y, n, m, b, t, c, e, x, x4)) FROM people",
		qr/could not determine the types of the columns of a pass/],
	['dperm_row', "SELECT call_untyped('dperm.dperm_row(\"any\")'::regprocedure, ROW(n, e)) FROM people", qr/could not determine the types of the columns of a row/],
	['dperm_text', "SELECT call_untyped('dperm.dperm_text(\"any\")'::regprocedure, ROW(e)) FROM people", qr/could not determine the types of the columns of a row/],
	['dperm_label', "SELECT call_untyped('dperm.dperm_label(\"any\",text)'::regprocedure, ROW(e, 'red'::text)) FROM people", qr/could not determine the type of a label/]);
for my $call (@errors)
{
	my ($what, $query, $expected) = @$call;
	my ($status, $out, $error) = $node->psql('worker1', $query);
	like($error, $expected, "$what without types");
}

$node->stop;
done_testing();
