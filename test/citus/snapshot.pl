# Rows that change between the passes of a call: the passes of a cluster share
# no snapshot. A change of the rows that are trained on raises an error, whether
# or not it changes their number; other changes do not matter.
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

# A label that waits at the third look at one of the rows, for whoever holds a
# lock on the worker: the sample takes two, and the first pass is the third And
# a policy that does so at its third look, which is in the first pass: persons
# are counted with all conditions, and there are no passes over persons in a
# view
$_->safe_psql('postgres', 'SET citus.enable_ddl_propagation = off; CREATE SEQUENCE looks') for $node, @workers;
sql(q{
	CREATE FUNCTION paused(id bigint, y boolean) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN
	  IF id = 1 AND nextval('looks') = 3 THEN
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
	CREATE VIEW gated_kinds AS SELECT CASE WHEN paused(id, true) THEN n END AS days, CASE WHEN paused(id, true) THEN (ARRAY['a', 'b', 'c'])[1 + n % 3] END AS ward, f FROM people;
	CREATE FUNCTION visible(id bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN
	  IF id = 1 AND nextval('looks') = 3 THEN
	    PERFORM pg_advisory_lock_shared(1);
	    PERFORM pg_advisory_unlock_shared(1);
	  END IF;
	  RETURN true;
	END $$;
	CREATE TABLE visits (id bigint, person int, y boolean, n int, f float8);
	SELECT create_distributed_table('visits', 'person', colocate_with => 'none');
	CREATE ROLE reader LOGIN;
	GRANT SELECT ON visits TO reader;
	ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
	CREATE POLICY gate ON visits USING (visible(id));
});
$_->safe_psql('postgres', 'SET citus.enable_ddl_propagation = off; GRANT USAGE ON SEQUENCE looks TO reader') for $node, @workers;
my $arguments = "'y', '{n,f}', 'Infinity', lambda => 0.01, domains => '{\"n\": [0, 100], \"f\": [-1, 1]}'";

# Run a call, and a change of the rows while a pass is under way
sub meanwhile
{
	my ($call, $change, $isolation, $role) = @_;
	sql('TRUNCATE people; INSERT INTO people SELECT i, i % 3 = 0, i % 100, sin(i) FROM generate_series(1, 5000) i;
		TRUNCATE visits; INSERT INTO visits SELECT i, i / 5, i % 3 = 0, i % 100, sin(i) FROM generate_series(1, 5000) i');
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
	my $handle = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET dperm.pull_memory = 0", '-c', 'SET ROLE ' . ($role // 'none'), '-c', "BEGIN ISOLATION LEVEL $isolation", '-c', $call, '-c', 'COMMIT' ], '<', \'', '>', \$out, '2>', \$err);
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

# The error for rows that are not the same in all passes
sub is_refused
{
	my ($what, $out, $err) = @_;
	like($err, qr/(?:the number of )?rows in source changed during training\s+HINT/, "$what: an error");
	is($out, '', "$what: no model");
}

# A model of the rows
sub is_model
{
	my ($what, $out, $err, $table, $more) = @_;
	$table //= 'people';
	$more //= '';
	sql("DROP TABLE IF EXISTS local; CREATE TABLE local (LIKE $table); INSERT INTO local SELECT * FROM $table");
	cmp_ok(sql("SELECT distance('$out', dp_logreg_train('local', $arguments$more))"), '<', 1e-9, "$what: the weights of the rows as they are at the end");
}

# One or the other: a shard may not have been read yet when its rows changed
sub is_one_set
{
	my ($what, $out, $err) = @_;
	return $out eq '' ? is_refused(@_) : is_model(@_);
}

my $train = "SELECT dp_logreg_train('gated', $arguments)";
is_refused('UPDATE', meanwhile($train, sub { sql('UPDATE people SET y = NOT y, f = -f') }, 'READ COMMITTED'));
is_one_set('UPDATE of one row', meanwhile($train, sub { sql('UPDATE people SET f = 0.5 WHERE id = 4711') }, 'READ COMMITTED'));
is_refused('INSERT', meanwhile($train, sub { sql('INSERT INTO people SELECT i, true, 5, 0 FROM generate_series(5001, 5003) i') }, 'READ COMMITTED'));
is_refused('DELETE', meanwhile($train, sub { sql('DELETE FROM people WHERE id = 17') }, 'READ COMMITTED'));
is_model('an UPDATE that changes nothing', meanwhile($train, sub { sql('UPDATE people SET y = y, n = n') }, 'READ COMMITTED'));
is_one_set('another row in place of one', meanwhile($train, sub { sql('DELETE FROM people WHERE id = 17; INSERT INTO people VALUES (9999, true, 99, 1)') }, 'READ COMMITTED'));

# Labels of every kind are part of what is compared
for my $call ("dp_logreg_train('gated_kinds', 'ward', '{f}', 1, domains => '{\"ward\": [\"a\", \"b\", \"c\"]", "dp_linreg_train('gated_kinds', 'days', '{f}', 1, domains => '{\"days\": [0, 100]")
{
	my $kind = "SELECT $call, \"f\": [-1, 1]}')";
	is_refused("$call, UPDATE of labels", meanwhile($kind, sub { sql('UPDATE people SET n = 99 - n') }, 'READ COMMITTED'));
	like((meanwhile($kind, sub { sql('UPDATE people SET n = n, y = NOT y') }, 'READ COMMITTED'))[0], qr/"weights"/, "$call, an UPDATE of other columns");
}

# A shard that moves takes its rows with it
is_model('a shard moves', meanwhile($train, sub {
	my $shard = sql("SELECT shardid FROM citus_shards WHERE table_name = 'people'::regclass AND nodeport = " . $workers[0]->port . " LIMIT 1");
	sql("SELECT citus_move_shard_placement($shard, '" . $workers[0]->host . "', " . $workers[0]->port . ", '" . $workers[1]->host . "', " . $workers[1]->port . ", 'block_writes')");
}, 'READ COMMITTED'));

# A kernel is applied to rows in groups; their digest does not depend on the
# group
my $kernel = "SELECT dp_logreg_train('gated', $arguments, kernel => 'gaussian', options => '{\"kernel_features\": 10}')";
is_refused('a kernel, UPDATE of labels', meanwhile($kernel, sub { sql('UPDATE people SET y = NOT y') }, 'READ COMMITTED'));
like((meanwhile($kernel, sub { sql('UPDATE people SET y = y') }, 'READ COMMITTED'))[0], qr/"weights"/, 'a kernel, an UPDATE that changes nothing');

# Persons: their number is checked in every pass, and so are their rows and
# weights
my $persons = "SELECT dp_logreg_train('visits', $arguments, unit => 'person')";
is_refused('a new person', meanwhile($persons, sub { sql('INSERT INTO visits VALUES (5001, 5001, true, 5, 0)') }, 'READ COMMITTED', 'reader'));
is_refused('a person who leaves', meanwhile($persons, sub { sql('DELETE FROM visits WHERE person = 17') }, 'READ COMMITTED', 'reader'));
is_refused('other labels of persons', meanwhile($persons, sub { sql('UPDATE visits SET y = CASE WHEN id % 7 > 0 THEN NOT y END') }, 'READ COMMITTED', 'reader'));
for my $change ([ 'another person in place of one', 'DELETE FROM visits WHERE person = 17; INSERT INTO visits VALUES (9999, 9999, true, 99, 1)' ],
	[ 'more rows of a person', 'INSERT INTO visits SELECT 5000 + i, 17, true, 99, 1 FROM generate_series(1, 3000) i' ], [ 'persons, an UPDATE that changes nothing', 'UPDATE visits SET y = y' ])
{
	is_one_set($change->[0], meanwhile($persons, sub { sql($change->[1]) }, 'READ COMMITTED', 'reader'), 'visits', ", unit => 'person'");
}

# Tuning reads the rows once
my $tune = "SELECT dp_logreg_tune('gated', 'y', '{n,f}', 1, candidates => '[{\"lambda\": 1}, {\"lambda\": 0.01}]', domains => '{\"n\": [0, 100], \"f\": [-1, 1]}')";
like(sql("SET dperm.pull_memory = 0; $tune"), qr/"tuning": \{[^\}]*"rows": 5\d00/, 'tuning: rows are read once, and come here');

$cluster->stop;
done_testing();
