# Whoever owns the schema of the extension can rename it at any moment, and
# create tables of their own under our names. No statement of ours, which runs
# with the rights of the owner of the extension, a superuser, may end up there:
# not even one that has waited for a lock in the meantime.
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
$node->safe_psql('postgres', q{CREATE ROLE dbo LOGIN; CREATE ROLE ana; CREATE DATABASE shop OWNER dbo});
$node->safe_psql('shop', q{
	SET ROLE dbo; CREATE SCHEMA ext; CREATE SCHEMA lab; RESET ROLE;
	CREATE EXTENSION dperm SCHEMA ext;
	SET ROLE dbo;
	SET search_path = lab, ext;
	CREATE TABLE lab.people AS SELECT i % 3 = 0 AS ill, i % 50 AS age FROM generate_series(1, 100) i;
	SELECT dp_budget_create('b', 100);
	SELECT dp_protect('lab.people', 'b', domains => '{"age": [0, 50]}');
	CREATE TABLE lab.loot (line text);
	GRANT ALL ON lab.loot TO PUBLIC});

# What our tables look like is no secret.
my @tables = qw(dp_budget_accounts dp_budget_grants dp_ledger_entries dp_ledger_releases dp_protected_relations dp_protected_columns);
$node->safe_psql('shop', "CREATE TABLE lab.$_ (LIKE ext.$_ INCLUDING ALL); ALTER TABLE lab.$_ OWNER TO dbo") foreach @tables;

# Runs something as the owner of the database, in a session of its own.
sub start
{
	my ($sql) = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = 'victim';
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('shop') . ' user=dbo', '-c', $sql ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	return \%s;
}

# Tables with our names and columns, and triggers that note as whom they run.
my $swap = 'SET ROLE dbo; BEGIN; ALTER SCHEMA ext RENAME TO away; CREATE SCHEMA ext;
	CREATE FUNCTION ext.evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO lab.loot VALUES (TG_TABLE_NAME || $q$ as $q$ || current_user); RETURN NULL; END $$;'
	. join('', map { "CREATE TABLE ext.$_ (LIKE lab.$_ INCLUDING ALL);
	CREATE TRIGGER evil BEFORE INSERT OR UPDATE OR DELETE ON ext.$_ FOR EACH STATEMENT EXECUTE FUNCTION ext.evil();" } @tables) . 'COMMIT';
my $back = 'SET ROLE dbo; DROP SCHEMA ext CASCADE; ALTER SCHEMA away RENAME TO ext';

# A session that manages the budget waits for another that does; then the schema
# is a different one.
my %acts = (
	'dp_grant' => "SELECT ext.dp_grant('b', 'ana')",
	'dp_revoke' => "SELECT ext.dp_revoke('b', 'ana')",
	'dp_budget_alter' => "SELECT ext.dp_budget_alter('b', 3)",
	'dp_protect' => "SELECT ext.dp_protect('lab.people', 'b')",
	'dp_unprotect' => "SELECT ext.dp_unprotect('lab.people')",
	'dp_budget_drop' => "SELECT ext.dp_budget_drop('b')");
foreach my $act (sort keys %acts)
{
	$node->safe_psql('shop', "SET ROLE dbo; SET search_path = ext; BEGIN; SELECT dp_budget_alter('b', 50); PREPARE TRANSACTION 'waiting'");
	my $victim = start($acts{$act});
	$node->poll_query_until('shop', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'victim' AND wait_event_type = 'Lock'") or die "$act does not wait";
	$node->safe_psql('shop', $swap);
	$node->safe_psql('shop', "COMMIT PREPARED 'waiting'");
	$victim->{handle}->finish;
	like($victim->{err}, qr/ERROR:  (42501: table "dp_\w+" does not belong to extension dperm|2BP01: cannot drop budget "b")/, "$act: says what has happened");
	is($node->safe_psql('shop', 'SELECT line FROM lab.loot'), '', "$act: no trigger has run");
	$node->safe_psql('shop', "$back; TRUNCATE lab.loot");
}

# The background worker that charges it writes to our tables, whatever their
# schema is called by then. It waits for 3 seconds: on a slow machine it has
# given up.
$node->safe_psql('shop', "SET ROLE dbo; SET search_path = ext; BEGIN; SELECT dp_budget_alter('b', 50); PREPARE TRANSACTION 'waiting'");
my $victim = start("SELECT ext.dp_budget_charge('b', 1)");
$node->poll_query_until('shop', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event_type = 'Lock'") or die 'the worker does not wait';
$node->safe_psql('shop', $swap);
$node->safe_psql('shop', "COMMIT PREPARED 'waiting'");
$victim->{handle}->finish;
like($victim->{err}, qr/^$|ERROR:  55P03/, 'a charge: is done');
my $charges = $victim->{err} eq '' ? 2 : 1;
is($node->safe_psql('shop', 'SELECT line FROM lab.loot'), '', 'a charge: no trigger has run');
$node->safe_psql('shop', $back);

# Afterwards everything is as before.
is($node->safe_psql('shop', "SET ROLE dbo; SET search_path = ext; SELECT count(*) FROM (SELECT dp_budget_charge('b', 1)) c; SELECT epsilon, epsilon_spent FROM dp_budgets"), "1\n50|$charges", 'the budget is charged');
is($node->safe_psql('shop', 'SELECT budget FROM ext.dp_ledger_entries GROUP BY budget HAVING max(entry) <> count(*)'), '', 'the ledger has no gaps');

done_testing();
