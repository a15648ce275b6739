# Rows that change between the passes of a call: the passes of a cluster share no snapshot. A change in the number of rows is an error;
# any other leaves the weights of the rows that the last pass has read, and every row in its portion.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusCluster;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $cluster = CitusCluster->start;
my $node = $cluster->coordinator;
my @workers = $cluster->workers;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# A label that waits at the second look at one of the rows, for whoever holds a lock on the worker
$_->safe_psql('postgres', 'SET citus.enable_ddl_propagation = off; CREATE SEQUENCE looks') for $node, @workers;
sql(q{
	CREATE FUNCTION paused(id bigint, y boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN
	  IF id = 1 AND nextval('looks') = 2 THEN
	    PERFORM pg_advisory_lock_shared(1);
	    PERFORM pg_advisory_unlock_shared(1);
	  END IF;
	  RETURN y;
	END $$;
	CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS
	  'SELECT max(abs(v - w)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)';
	SET citus.shard_count = 8;
	CREATE TABLE people (id bigint PRIMARY KEY, y boolean, n int, f float8);
	SELECT create_distributed_table('people', 'id');
	CREATE VIEW gated AS SELECT id, paused(id, y) AS y, n, f FROM people;
});
my $arguments = "'y', '{n,f}', 'Infinity', lambda => 0.01, domains => '{\"n\": [0, 100], \"f\": [-1, 1]}'";

# Run a call, and a change of the rows while a pass is under way
sub meanwhile
{
	my ($call, $change, $isolation) = @_;
	sql('TRUNCATE people; INSERT INTO people SELECT i, i % 3 = 0, i % 100, sin(i) FROM generate_series(1, 5000) i');
	$_->safe_psql('postgres', "ALTER SEQUENCE looks RESTART") for @workers;
	my @holders;
	for my $worker (@workers)
	{
		my %s = (in => "SELECT pg_advisory_lock(1);\n", out => '', err => '');
		$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $worker->connstr('postgres') ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
		$s{handle}->pump_nb;
		push @holders, \%s;
		$worker->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND granted") or die;
		$s{handle}->pump_nb;
	}
	my ($out, $err) = ('', '');
	my $handle = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET dperm.pull_memory = 0", '-c', "BEGIN ISOLATION LEVEL $isolation", '-c', $call, '-c', 'COMMIT' ], '<', \'', '>', \$out, '2>', \$err);
	my $waiting = 0;
	for (1 .. 600)
	{
		$handle->pump_nb;
		$waiting = grep { $_->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted") > 0 } @workers;
		last if $waiting || !$handle->pumpable;
		usleep(50_000);
	}
	ok($waiting, 'a pass waits');
	$change->();
	for my $s (@holders)
	{
		$s->{in} .= "SELECT pg_advisory_unlock(1);\n\\q\n";
		$s->{handle}->finish;
	}
	$handle->finish;
	return ($out, $err);
}

# A model of the rows as they are at the end, or the error for a number of rows that is not the same in all passes
sub is_private
{
	my ($what, $out, $err) = @_;
	return pass("$what: an error") if $out eq '' && $err =~ /the number of rows in source changed during training/;
	sql('CREATE TABLE IF NOT EXISTS local (LIKE people); TRUNCATE local; INSERT INTO local SELECT * FROM people');
	cmp_ok(sql("SELECT distance('$out', dp_logreg_train('local', $arguments))"), '<', 1e-9, "$what: the weights of the rows as they are at the end");
}

my $train = "SELECT dp_logreg_train('gated', $arguments)";
is_private('UPDATE', meanwhile($train, sub { sql('UPDATE people SET y = NOT y, f = -f') }, 'READ COMMITTED'));
for my $change ([ 'INSERT', 'INSERT INTO people SELECT i, true, 5, 0 FROM generate_series(5001, 5003) i' ], [ 'DELETE', 'DELETE FROM people WHERE id = 17' ])
{
	my ($out, $err) = meanwhile($train, sub { sql($change->[1]) }, 'READ COMMITTED');
	like($err, qr/the number of rows in source changed during training.*HINT/s, "$change->[0]: an error");
	is($out, '', "$change->[0]: no model");
}
is_private('another row in place of one', meanwhile($train, sub { sql('DELETE FROM people WHERE id = 17; INSERT INTO people VALUES (9999, true, 99, 1)') }, 'READ COMMITTED'));

# A shard that moves takes its rows with it
is_private('a shard moves', meanwhile($train, sub {
	my $shard = sql("SELECT shardid FROM citus_shards WHERE table_name = 'people'::regclass AND nodeport = " . $workers[0]->port . " LIMIT 1");
	sql("SELECT citus_move_shard_placement($shard, '" . $workers[0]->host . "', " . $workers[0]->port . ", '" . $workers[1]->host . "', " . $workers[1]->port . ", 'block_writes')");
}, 'READ COMMITTED'));

# Tuning: sizes of portions are checked in every pass
my $tune = "SELECT dp_logreg_tune('gated', 'y', '{n,f}', 1, identity => 'id', candidates => '[{\"lambda\": 1}, {\"lambda\": 0.01}]', domains => '{\"n\": [0, 100], \"f\": [-1, 1]}')";
my ($out, $err) = meanwhile($tune, sub { sql('INSERT INTO people SELECT i, true, 5, 0 FROM generate_series(5001, 5200) i') }, 'READ COMMITTED');
like($err, qr/the number of rows in source changed during training/, 'tuning, INSERT: an error');
($out, $err) = meanwhile($tune, sub { sql('UPDATE people SET y = NOT y') }, 'READ COMMITTED');
like($out, qr/"tuning"/, 'tuning, UPDATE: every row stays in its portion');

$cluster->stop;
done_testing();
