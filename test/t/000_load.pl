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

$node->safe_psql('postgres', 'DROP EXTENSION dperm');
$node->stop;

done_testing();
