# Tables of models survive pg_dump and pg_restore exactly, in every form.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE origin');
$node->safe_psql(
	'origin', q{
	CREATE SCHEMA learning;
	CREATE EXTENSION dperm SCHEMA learning;
	SET search_path = learning, public;
	CREATE TABLE public.people AS SELECT i % 3 = 0 AS y, ARRAY[sin(i), cos(i)] AS x FROM generate_series(1, 100) i;
	ALTER TABLE public.people ADD CHECK (cardinality(x) = 2);
	CREATE TABLE models (id int PRIMARY KEY, model dp_model, made dp_model[] DEFAULT '{}');
	INSERT INTO models
	  SELECT i, CASE i % 3
	    WHEN 0 THEN dp_logreg_train('people', 'y', 'x', 0.01 * i, options => jsonb_build_object('method', (ARRAY['objective', 'output'])[1 + i % 2]))
	    WHEN 1 THEN dp_svm_train('people', 'y', 'x', i, options => jsonb_build_object('loss', (ARRAY['huber', 'smooth_hinge'])[1 + i % 2]), domains => jsonb_build_object('x', jsonb_build_object('norm', i / 3.0)))
	    ELSE dp_logreg_train('people', 'y', 'x', 'Infinity', lambda => 1.0 / (i * i), options => jsonb_build_object('intercept', i % 2 = 0)) END
	  FROM generate_series(1, 30) i;
	-- a large one, stored out of line, and none
	INSERT INTO models SELECT 31, dp_logreg_train('people', 'y', 'x', 1, kernel => 'gaussian', options => '{"kernel_features": 1000}');
	INSERT INTO models VALUES (32, NULL);
	-- columns whose names and categories need quotes of every kind
	CREATE TYPE public."Stufe ""1""" AS ENUM ('a,b', 'it''s', '{"x": [1]}', 'größer', E'tab\tand\nline', E'\\\\');
	CREATE TABLE public."Odd ""rows""" ("Größe (cm)" numeric CHECK ("Größe (cm)" BETWEEN 0.1 AND 250.5), "it's" boolean, "a""b\\c{}" text,
	  "日本" public."Stufe ""1""", "select" date CHECK ("select" BETWEEN '2000-01-01' AND '2020-12-31'), "x y" real[], "y" boolean);
	INSERT INTO public."Odd ""rows"""
	  SELECT 100 + i, i % 3 = 0, (ARRAY['', '"', E'\\\\', '日', E'\n'])[1 + i % 5],
	    (ARRAY['a,b', 'it''s', '{"x": [1]}', 'größer', E'tab\tand\nline', E'\\\\'])[1 + i % 6]::public."Stufe ""1""",
	    date '2001-01-01' + i, ARRAY[sin(i), cos(i)]::real[], i % 7 < 3
	  FROM generate_series(1, 100) i;
	INSERT INTO models
	  SELECT 33 + k, dp_logreg_train('public."Odd ""rows"""', 'y', NULL, (ARRAY[0.5, 'Infinity'])[1 + k % 2], kernel => (ARRAY['linear', 'gaussian', 'cauchy', 'matern'])[1 + k],
	    options => jsonb_strip_nulls(jsonb_build_object('kernel_features', CASE WHEN k > 0 THEN 10 * k END, 'kernel_seed', CASE WHEN k > 0 THEN -9223372036854775808 + k END)),
	    domains => jsonb_build_object('a"b\\c{}', jsonb_build_array('', '"', E'\\\\', '日', E'\n'), 'x y', '{"dimension": 2, "norm": 1.5}'::jsonb))
	  FROM generate_series(0, 3) k;
	UPDATE models SET made = ARRAY[model, model];
	-- objects that need the extension
	CREATE VIEW scores AS SELECT id, dp_decision(model, '{1,2}'::float8[]) AS score FROM models WHERE id < 31;
	CREATE INDEX scores_at_one ON models (dp_decision(model, '{1,1}'::float8[])) WHERE id < 31;
	CREATE VIEW odd_scores AS SELECT id, sum(dp_decision(model, o)) AS score FROM models, public."Odd ""rows""" o WHERE id > 32 GROUP BY id;
});

my $digest = q{
	SET search_path = learning, public;
	SELECT count(*), md5(string_agg(model::text, '' ORDER BY id)),
	  md5(string_agg(encode(dperm.dperm_model_send(model), 'hex'), '' ORDER BY id)), md5(string_agg(made::text, '' ORDER BY id)),
	  (SELECT md5(string_agg(score::text, ' ' ORDER BY id)) FROM scores), (SELECT md5(string_agg(round(score::numeric, 9)::text, ' ' ORDER BY id)) FROM odd_scores),
	  (SELECT md5(string_agg(c::text, ' ' ORDER BY id, c.rank)) FROM models, dp_coefficients(model) c WHERE model IS NOT NULL) FROM models};
my $expected = $node->safe_psql('origin', $digest);
like($expected, qr/^36(\|[0-9a-f]{32}){6}$/, 'models are there');

my $dir = PostgreSQL::Test::Utils::tempdir;
foreach my $case (
	[ 'plain', '--format=plain' ],
	[ 'inserts', '--format=plain', '--inserts' ],
	[ 'custom', '--format=custom' ],
	[ 'directory', '--format=directory' ])
{
	my ($name, @options) = @$case;
	my $file = "$dir/$name.dump";

	$node->command_ok([ 'pg_dump', '-d', $node->connstr('origin'), @options, '-f', $file ], "$name: dumped");
	$node->safe_psql('postgres', "CREATE DATABASE copy_$name");
	if ($options[0] eq '--format=plain')
	{
		$node->command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("copy_$name"), '-f', $file ],
			"$name: restored");
	}
	else
	{
		$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr("copy_$name"), $file ], "$name: restored");
	}
	is($node->safe_psql("copy_$name", $digest), $expected, "$name: the same models");
	is( $node->safe_psql("copy_$name", "SELECT count(*) FROM learning.dp_logreg_train('public.people', 'y', 'x', 1) m WHERE m IS NOT NULL"),
		'1', "$name: trains again");
	is( $node->safe_psql("copy_$name", q{SELECT count(*) FROM learning.dp_logreg_train('public."Odd ""rows"""', 'y', '{it''s,日本,select,Größe (cm)}', 1) m WHERE m IS NOT NULL}),
		'1', "$name: trains again on odd columns");
}

# Models also outlive a restart and a crash.
$node->restart;
is($node->safe_psql('origin', $digest), $expected, 'the same models after a restart');
$node->stop('immediate');
$node->start;
is($node->safe_psql('origin', $digest), $expected, 'the same models after a crash');

$node->stop;
done_testing();
