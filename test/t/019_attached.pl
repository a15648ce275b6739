# A partition that is attached during a call is not read: its rows may be
# charged to another budget. The call waits where it is charged, and where it
# runs code of the analyst, in a holdout.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner; CREATE ROLE ana LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO owner, ana;
	SET SESSION AUTHORIZATION owner;
	CREATE TABLE whole (person int, y boolean, x float8) PARTITION BY RANGE (person);
	CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (1000);
	CREATE TABLE other (person int, y boolean, x float8);
	CREATE TABLE free (person int, y boolean, x float8);
	INSERT INTO whole SELECT i % 1000, i % 2 = 0, i % 10 FROM generate_series(1, 3000) i;
	INSERT INTO other SELECT 1000 + i, true, 9 FROM generate_series(1, 3000) i;
	INSERT INTO free SELECT 10000 + i, true, 9 FROM generate_series(1, 500) i;
	SELECT dp_budget_create(b, 100) FROM unnest('{first,second}'::text[]) b;
	SELECT dp_protect('whole', 'first', unit => 'person', domains => '{"x": [0, 10]}');
	SELECT dp_protect('other', 'second', unit => 'person', domains => '{"x": [0, 10]}');
	SELECT dp_grant('first', 'ana');
	SET SESSION AUTHORIZATION ana;
	CREATE TABLE known AS SELECT i AS id, i % 2 = 0 AS y, (i % 10)::float8 AS x FROM generate_series(1, 300) i;
	ALTER TABLE known ADD PRIMARY KEY (id);
	CREATE FUNCTION waits(float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN $1; END $$;
	CREATE VIEW slow AS SELECT id, y, waits(x) AS x FROM known;
});

my $train = "SELECT dp_logreg_train('whole', 'y', '{x}', 1)::jsonb ->> 'persons'";
my $tune = "SELECT dp_logreg_tune('whole', 'y', '{x}', 1, lambdas => '{0.01,0.1}', holdout => 'slow', identity => 'id')::jsonb ->> 'persons'";
sub spent { return $node->safe_psql('postgres', "SELECT epsilon_spent::float8 FROM dp_budgets WHERE budget = 'first'"); }

# Starts something that waits.
sub start
{
	my ($user, $waits, @sql) = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = $user;
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ($user eq 'ana' ? ' user=ana' : ''), map { ('-c', $_) } @sql ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE $waits") or die "it does not wait: $s{err}";
	return \%s;
}

# While a call waits, a table is attached; then it goes on.
sub attach
{
	my ($table, $kind) = @_;
	my ($low, $high) = $table eq 'other' ? (1000, 9000) : (10000, 20000);
	my ($s, $holder);
	if ($kind eq 'debit')
	{
		$node->safe_psql('postgres', "SET ROLE owner; BEGIN; SELECT dp_budget_alter('first', 101); PREPARE TRANSACTION 'managed'");
		$s = start('ana', "wait_event_type = 'Lock' AND backend_type <> 'client backend'", $train);
	}
	else
	{
		$holder = start('holder', "application_name = 'holder' AND wait_event = 'PgSleep'", 'SELECT pg_advisory_lock(7)', 'SELECT pg_sleep(300)');
		$s = start('ana', "application_name = 'ana' AND wait_event = 'advisory'", $tune);
	}
	$node->safe_psql('postgres', "SET ROLE owner; ALTER TABLE whole ATTACH PARTITION $table FOR VALUES FROM ($low) TO ($high)");
	$node->safe_psql('postgres', $kind eq 'debit' ? "ROLLBACK PREPARED 'managed'" : "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
	$_->{handle}->finish foreach grep { defined } $s, $holder;
	$node->safe_psql('postgres', "SET ROLE owner; ALTER TABLE whole DETACH PARTITION $table");
	return $s->{out} . $s->{err};
}
is($node->safe_psql('postgres', "SET ROLE ana; $train"), '1000', 'before');
like(attach('other', 'debit'), qr/^ERROR:  relation "whole" shares rows with "other", which is charged to another budget/, 'attached when a call is charged');
is(spent(), 2, 'which it has been');
like(attach('other', 'holdout'), qr/^ERROR:  relation "whole" shares rows with "other", which is charged to another budget/, 'attached when code of the analyst runs, which is before');
is(spent(), 2, 'so that nothing is charged');
is(attach('free', 'holdout'), "1500\n", 'a table that charges no budget is read, too');
is($node->safe_psql('postgres', "SET ROLE owner; ALTER TABLE whole ATTACH PARTITION free FOR VALUES FROM (10000) TO (20000); SET ROLE ana; $train"), '1500', 'which the next call reads');

$node->stop;
done_testing();
