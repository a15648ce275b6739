# How long training takes on a Citus cluster, and what travels: passes on the workers, against all rows brought to the coordinator and
# against the same rows in a local table. ROWS is the number of rows, a million unless it says otherwise; REPEATS the number of
# trainings that the shortest is taken of.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/..";

use CitusCluster;
use Test::More;
use Time::HiRes qw(time);

my $rows = $ENV{ROWS} // 1_000_000;
my $repeats = $ENV{REPEATS} // 3;
my $conf = "shared_buffers = 512MB\nfsync = off\nmax_wal_size = 4GB\nautovacuum = off\nlog_statement = none\nmax_parallel_workers_per_gather = 0\n";

# Bytes that went through the loopback interface since the machine was started
sub bytes
{
	open my $file, '<', '/proc/net/dev' or return 0;
	while (<$file>) { return $1 if /^\s*lo:\s*(\d+)/; }
	return 0;
}

# The shortest of several trainings, and the bytes that one of them moves
sub measure
{
	my ($node, $settings, $call) = @_;
	my ($best, $moved);
	for (1 .. $repeats)
	{
		my $before = bytes();
		my $seconds = $node->safe_psql('postgres', "$settings; SELECT set_config('bench.start', clock_timestamp()::text, false) \\g /dev/null\n"
			  . "SELECT $call IS NOT NULL \\g /dev/null\nSELECT extract(epoch FROM clock_timestamp() - current_setting('bench.start')::timestamptz)");
		my $after = bytes();
		($best, $moved) = ($seconds, $after - $before) if !defined $best || $seconds < $best;
	}
	return ($best, $moved);
}

my @tables = (
	{ name => 'vector20', what => '1 vector of 20', columns => 'x float8[]', dim => 20, values => 'ARRAY(SELECT sin(id * (k * 12.9898 + 0.1)) FROM generate_series(1, 20) k)', call => "'y', 'x', 1, lambda => 0.001, domains => '{\"x\": {\"dimension\": 20, \"norm\": 5}}'" },
	{ name => 'columns20', what => '20 columns', columns => join(', ', map { "c$_ float8" } 1 .. 20), dim => 20, values => join(', ', map { "sin(id * ($_ * 12.9898 + 0.1))" } 1 .. 20),
		call => "'y', '{" . join(',', map { "c$_" } 1 .. 20) . "}', 1, lambda => 0.001, knots => 1, domains => '{" . join(', ', map { "\"c$_\": [-1, 1]" } 1 .. 20) . "}'" },
	{ name => 'vector105', what => '1 vector of 105', columns => 'x float8[]', dim => 105, values => 'ARRAY(SELECT sin(id * (k * 12.9898 + 0.1)) FROM generate_series(1, 105) k)', call => "'y', 'x', 1, lambda => 0.001, domains => '{\"x\": {\"dimension\": 105, \"norm\": 10}}'" });
my $label = 'sin(id * 13.0898) + 0.5 * sin(id * 26.0796) + sin(id * 7.1) > 0';

my @report;
my %alone;
my $cluster = CitusCluster->start(workers => 2, conf => $conf, tcp => 1);
my $node = $cluster->coordinator;
for my $workers (2, 1)
{
	$node->safe_psql('postgres', "SELECT citus_set_node_property('127.0.0.1', " . ($cluster->workers)[1]->port . ", 'shouldhaveshards', false)") if $workers == 1;
	$node->safe_psql('postgres', "SET citus.shard_count = 8; CREATE TABLE ids (id bigint); SELECT create_distributed_table('ids', 'id', colocate_with => 'none'); INSERT INTO ids SELECT generate_series(1, $rows)");
	for my $table (@tables)
	{
		my $name = $table->{name};
		$node->safe_psql('postgres', "SET citus.shard_count = 8; CREATE TABLE $name (id bigint, y boolean, $table->{columns}); SELECT create_distributed_table('$name', 'id', colocate_with => 'ids');
			INSERT INTO $name SELECT id, $label, $table->{values} FROM ids; VACUUM ANALYZE $name");
		$node->safe_psql('postgres', "CREATE TABLE local (id bigint, y boolean, $table->{columns}); INSERT INTO local SELECT id, $label, $table->{values} FROM generate_series(1, $rows) id; VACUUM ANALYZE local")
		  if $workers == 2;
		my $there = "dp_logreg_train('$name', $table->{call})";
		my $one = 'SET citus.max_adaptive_executor_pool_size = 1; SET dperm.pull_memory = 0';
		my ($seconds, $moved) = measure($node, $one, $there);
		if ($workers == 2)
		{
			my ($pulled, $pulled_bytes) = measure($node, "SET dperm.pull_memory = '64GB'; SET dperm.cache_memory = '4GB'", $there);
			my ($all, $all_bytes) = measure($node, 'SET dperm.pull_memory = 0', $there);
			my ($local) = measure($node, "SET dperm.cache_memory = '4GB'", "dp_logreg_train('local', $table->{call})");
			$node->safe_psql('postgres', 'DROP TABLE local');
			push @report, sprintf("| %d x %s | %.1f MB | %.1f MB | %.2f s | %.2f s | %.2f s |", $rows, $table->{what}, $all_bytes / 1e6, $pulled_bytes / 1e6, $all, $pulled, $local);
			$alone{$name} = $seconds;
			cmp_ok($all_bytes, '<', $pulled_bytes, "$name: less travels than if all rows are brought here");
		}
		else
		{
			push @report, sprintf("| %d x %s, one connection for each worker: 1 worker %.2f s, 2 workers %.2f s: %.2f times as fast |", $rows, $table->{what}, $seconds, $alone{$name}, $seconds / $alone{$name});
		}
		$node->safe_psql('postgres', "DROP TABLE $name");
	}
	$node->safe_psql('postgres', 'DROP TABLE ids');
}
$cluster->stop;
diag("| rows | travels: passes there | travels: pulled | passes there | pulled | local |");
diag($_) for @report;
done_testing();
