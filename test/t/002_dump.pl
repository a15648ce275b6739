# Tables of models survive pg_dump and pg_restore exactly, in every form.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE origin');
$node->safe_psql(
	'origin', q{
	CREATE SCHEMA learning;
	CREATE EXTENSION dperm SCHEMA learning;
	SET search_path = learning, public;
	CREATE TABLE public.people AS SELECT i % 3 = 0 AS y, ARRAY[sin(i), cos(i)] AS x FROM generate_series(1, 100) i;
	CREATE TABLE models (id int PRIMARY KEY, model dp_model, made dp_model[] DEFAULT '{}');
	INSERT INTO models
	  SELECT i, CASE i % 3
	    WHEN 0 THEN dp_logreg_train('people', 'y', 'x', 0.01 * i, method => (ARRAY['objective', 'output'])[1 + i % 2])
	    WHEN 1 THEN dp_svm_train('people', 'y', 'x', i, loss => (ARRAY['huber', 'smooth_hinge'])[1 + i % 2], norm => i / 3.0)
	    ELSE dp_logreg_train('people', 'y', 'x', 'Infinity', 1.0 / (i * i), intercept => i % 2 = 0) END
	  FROM generate_series(1, 30) i;
	-- a large one, stored out of line, and none
	INSERT INTO models SELECT 31, dp_logreg_train('people', 'y', 'x', 1, dimension => 1000);
	INSERT INTO models VALUES (32, NULL);
	UPDATE models SET made = ARRAY[model, model];
	-- objects that need the extension
	CREATE VIEW scores AS SELECT id, dp_decision(model, '{1,2}'::float8[]) AS score FROM models WHERE id < 31;
	CREATE INDEX scores_at_one ON models (dp_decision(model, '{1,1}'::float8[])) WHERE id < 31;
	CREATE TABLE states AS SELECT 'ZHBwYXNzAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAj/wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAgAAAAAAAAAA'::dp_moments AS state;
});

my $digest = q{
	SET search_path = learning, public;
	SELECT count(*), md5(string_agg(model::text, '' ORDER BY id)),
	  md5(string_agg(encode(dp_model_send(model), 'hex'), '' ORDER BY id)), md5(string_agg(made::text, '' ORDER BY id)),
	  (SELECT md5(string_agg(score::text, ' ' ORDER BY id)) FROM scores), (SELECT state::text FROM states) FROM models};
my $expected = $node->safe_psql('origin', $digest);
like($expected, qr/^32\|/, 'models are there');

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
}

# Models also outlive a restart and a crash.
$node->restart;
is($node->safe_psql('origin', $digest), $expected, 'the same models after a restart');
$node->stop('immediate');
$node->start;
is($node->safe_psql('origin', $digest), $expected, 'the same models after a crash');

$node->stop;
done_testing();
