# The extension loads into a stock server: no preload, no restart.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

is($node->safe_psql('postgres', 'SHOW shared_preload_libraries'),
	'', 'nothing is preloaded');

$node->safe_psql('postgres', 'CREATE EXTENSION dperm');
is( $node->safe_psql(
		'postgres',
		"SELECT extversion FROM pg_extension WHERE extname = 'dperm'"),
	'0.3.0',
	'CREATE EXTENSION installs this version');

# The library finds what it loads later where it is itself, whatever dynamic_library_path says: BLAS and a worker. From 18 on
# that setting is where PostgreSQL looks for any library of an extension.
$node->append_conf('postgresql.conf', "dynamic_library_path = '/nonexistent'") if $node->pg_version < 18;
$node->restart;
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT i % 2 = 0 AS y, (i % 10)::float8 AS x FROM generate_series(1, 100) i;
	SELECT dp_budget_create('b', 10);
	SELECT dp_protect('t', 'b', domains => '{"x": [0, 9]}');
});
is( $node->safe_psql(
		'postgres',
		q{SELECT dp_logreg_train('t', 'y', '{x}', 1, kernel => 'gaussian') IS NOT NULL}),
	't',
	'a worker starts, and loads BLAS');

$node->safe_psql('postgres', q{SELECT dp_unprotect('t'); DROP VIEW dperm.ledger_is_kept; DROP EXTENSION dperm});
$node->stop;

done_testing();
