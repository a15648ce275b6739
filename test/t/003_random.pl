# Noise is never the same twice: not in two sessions, not in processes that were
# forked from one that had loaded the library, not after a restart. Preloading
# works.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION dperm;
	CREATE TABLE people AS SELECT i % 3 = 0 AS y, ARRAY[sin(i), cos(i)] AS x FROM generate_series(1, 200) i;
	ALTER TABLE people ADD CHECK (cardinality(x) = 2), SET (parallel_workers = 2);
	CREATE TABLE models (id serial, how text, model dp_model);
});

# One model from each learner and method, in a session of its own.
sub train_in_session
{
	my ($how) = @_;
	$node->safe_psql(
		'postgres', qq{
		INSERT INTO models (how, model)
		  SELECT '$how', dp_logreg_train('people', 'y', 'x', 1, lambda => 0.1) UNION ALL
		  SELECT '$how', dp_logreg_train('people', 'y', 'x', 1, lambda => 0.1, options => '{"method": "output"}') UNION ALL
		  SELECT '$how', dp_svm_train('people', 'y', 'x', 1, lambda => 0.1) UNION ALL
		  SELECT '$how', (SELECT dp_logreg(y, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM people) UNION ALL
		  SELECT '$how', (SELECT dp_svm(y, x, 1, '{"lambda": 0.1, "dimension": 2}') FROM people)});
}

train_in_session('fresh') for 1 .. 5;

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dperm'\n");
$node->restart;
is($node->safe_psql('postgres', 'SHOW dperm.cache_memory'), '256MB', 'preloaded: the setting is there before any call');
is($node->safe_psql('postgres', "SELECT count(*) FROM models WHERE dp_weights(model) IS NOT NULL"), '25', 'models outlive a restart');
train_in_session('forked') for 1 .. 5;

$node->append_conf('postgresql.conf', "dperm.cache_memory = '128MB'\n");
$node->restart;
is($node->safe_psql('postgres', 'SHOW dperm.cache_memory'), '128MB', 'preloaded: the setting can be in the file');
train_in_session('forked again') for 1 .. 5;

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\nsession_preload_libraries = 'dperm'\n");
$node->restart;
is($node->safe_psql('postgres', 'SHOW dperm.cache_memory'), '128MB', 'session preload: the setting is there');
train_in_session('session') for 1 .. 5;

# a crash restarts all backends from a fresh postmaster
$node->stop('immediate');
$node->start;
train_in_session('after a crash') for 1 .. 5;

is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT model::text) FROM models'), '125|125', 'no model twice');
is( $node->safe_psql('postgres',
		'SELECT count(*), count(DISTINCT w) FROM models, unnest(dp_weights(model)) w'),
	'375|375', 'no weight twice');
is( $node->safe_psql('postgres', q{
	SELECT count(DISTINCT dp_logreg_train('people', 'y', 'x', 'Infinity', lambda => 0.1)::text) FROM generate_series(1, 5)}),
	'1', 'without noise always the same');

$node->stop;
ok(slurp_file($node->logfile) !~ /PANIC:|TRAP:|terminated by signal/, 'no crash in the log');
done_testing();
