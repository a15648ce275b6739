# What has been spent from a budget stays spent, whatever happens to the session
# or the server afterwards; sessions that race for the rest of it get no more
# than there is; and what cannot be spent raises an error within seconds.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

# Locks are waited for during 3 seconds; machines that run tests are busy.
my $soon = 15;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--no-locale' ]);

# What was not flushed at commit would be lost in a crash.
$node->append_conf('postgresql.conf', "wal_writer_delay = 10s\nlog_min_messages = warning\nrestart_after_crash = on\nmax_connections = 50\nmax_worker_processes = 8\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	SELECT dp_budget_create('long', 100);
	SELECT dp_budget_create('race', 1), dp_budget_create('mixed', 2, 1e-6);
	CREATE ROLE analyst NOLOGIN;
	SELECT dp_grant('long', 'analyst');
	-- the worst that settings of the database and the role can do
	ALTER DATABASE postgres SET synchronous_commit = off;
	ALTER DATABASE postgres SET default_transaction_read_only = on;
	ALTER ROLE CURRENT_USER SET synchronous_commit = off;
	ALTER ROLE CURRENT_USER SET default_transaction_isolation = 'serializable';
	ALTER ROLE CURRENT_USER SET search_path = nowhere, public;
	CREATE FUNCTION wait_here() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(300); END $$;
});

# Spends in a session; returns what it says.
sub charge
{
	my ($sql, %options) = @_;
	my ($out, $err) = ('', '');
	$node->psql($options{database} // 'postgres', "\\set VERBOSITY verbose\n$sql", stdout => \$out, stderr => \$err,
		on_error_stop => 1);
	return $err;
}

# What is spent of a budget: by its account and by the ledger, which must agree,
# entry by entry.
sub spent
{
	my ($budget) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT CASE WHEN a.spent_epsilon = l.epsilon AND a.spent_delta = l.delta AND a.spent_divergence = l.divergence
			AND a.spent_direct = l.direct AND a.spent_tail = l.tail AND l.gaps = 0 THEN a.spent_epsilon::text ELSE 'the ledger does not add up' END
		FROM dperm.budgets a, LATERAL (SELECT coalesce(sum(e.epsilon) FILTER (WHERE act = 'charge'), 0) AS epsilon,
			coalesce(sum(e.delta) FILTER (WHERE act = 'charge'), 0) AS delta, coalesce(sum(divergence), 0) AS divergence, coalesce(sum(tail), 0) AS tail,
			coalesce(sum(direct), 0) AS direct, max(entry) - count(*) AS gaps
			FROM dperm.ledger e WHERE e.budget = a.budget AND entry >= a.since) l
		WHERE a.budget = '$budget'});
}

# Each step spends 1, and is checked at once.
my $expected = 0;
sub stays
{
	my ($what) = @_;
	is(spent('long'), ++$expected, "spent: $what");
}

charge("SELECT dp_budget_charge('long', 1)");
stays('a plain call, in a database that is read-only by default');
charge("BEGIN; SELECT dp_budget_charge('long', 1); ROLLBACK");
stays('ROLLBACK');
charge("BEGIN; SAVEPOINT s; SELECT dp_budget_charge('long', 1); ROLLBACK TO s; COMMIT");
stays('ROLLBACK TO SAVEPOINT');
charge(q{DO $$ BEGIN PERFORM dp_budget_charge('long', 1); RAISE 'no'; EXCEPTION WHEN OTHERS THEN NULL; END $$});
stays('an exception block of PL/pgSQL');
charge("BEGIN READ ONLY; SELECT dp_budget_charge('long', 1); SELECT 1/0; COMMIT");
stays('a failed transaction that is read-only');
charge("SET ROLE analyst; SET synchronous_commit = off; SET lock_timeout = '1ms'; SET statement_timeout = '10s'; SELECT dp_budget_charge('long', 1)");
stays('a role that cannot log in');
like(charge("SET statement_timeout = '2s'; SELECT dp_budget_charge('long', 1); SELECT wait_here()"), qr/statement timeout/, 'timed out');
stays('statement_timeout');

# A session that has spent, and waits.
sub start_waiting
{
	my @sql = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = 'waiting';
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), map { ('-c', $_) } @sql ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	return \%s;
}
my @spend_and_wait = ('BEGIN', "SELECT dp_budget_charge('long', 1)", 'SELECT wait_here()');
sub waits
{
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'waiting' AND wait_event = 'PgSleep'") or die 'it does not wait';
}

foreach my $how ('pg_cancel_backend', 'pg_terminate_backend')
{
	my $s = start_waiting(@spend_and_wait);
	waits();
	$node->safe_psql('postgres', "SELECT $how(pid) FROM pg_stat_activity WHERE application_name = 'waiting'");
	$s->{handle}->finish;
	stays($how);
}

# Crashes: of the session, which takes the server with it, and of the server.
my $s = start_waiting(@spend_and_wait);
waits();
my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE application_name = 'waiting'");
my $before = -s $node->logfile;
kill 9, $pid;
$s->{handle}->finish;
# the server notices it after a while; and a psql that cannot connect does not
# read its input, which IPC::Run may find out while it writes
select(undef, undef, undef, 0.05) until substr(slurp_file($node->logfile), $before) =~ /all server processes terminated; reinitializing/;
1 until eval { $node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') };
stays('kill -9 of the backend');

charge("SET synchronous_commit = off; BEGIN; SELECT dp_budget_charge('long', 1)");
$node->stop('immediate');
$node->start;
stays('immediate stop of the server');

# Sixteen sessions race for 1.0 with 0.3 each: three get it. There are fewer
# background workers than sessions.
my @racers = map {
	my %r = (in => '', out => '', err => '');
	$r{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=verbose', '-c', "SELECT dp_budget_charge('race', 0.3)" ],
		'<', \$r{in}, '>', \$r{out}, '2>', \$r{err});
	\%r
} 1 .. 16;
$_->{handle}->finish foreach @racers;
is(scalar(grep { $_->{err} !~ /ERROR/ } @racers), 3, 'of 16 sessions that race for 1.0 with 0.3 each, three win');
is(scalar(grep { $_->{err} =~ /ERROR:  54000: budget "race" has too little epsilon left\nDETAIL:  The call costs epsilon \S+; a single call can still have epsilon 0\.1\.\nHINT:/ } @racers), 13, 'thirteen are told why not');
is(spent('race'), '0.9', 'the ledger adds up after the race');

# Many, of all kinds, in several sessions.
my @many = map {
	my $k = $_;
	my %r = (in => '', out => '', err => '');
	$r{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
		"DO \$\$ BEGIN FOR i IN 1..30 LOOP PERFORM dp_budget_charge('mixed', 0.0001 * $k + i / 3e6, CASE WHEN i % 3 = 0 THEN 1e-9 / i ELSE 0 END); END LOOP; END \$\$" ],
		'<', \$r{in}, '>', \$r{out}, '2>', \$r{err});
	\%r
} 1 .. 4;
$_->{handle}->finish foreach @many;
is(join('', map { $_->{err} } @many) =~ s/^(NOTICE:  waiting|HINT:  A role).*\n//mgr, '', 'four sessions spend thirty times each');
unlike(spent('mixed'), qr/add up/, 'the ledger adds up: ' . spent('mixed'));
is($node->safe_psql('postgres', "SELECT count(*) FROM dp_ledger WHERE budget = 'mixed' AND act = 'charge'"), '120', 'each of them is in the ledger');

# ---- what cannot be spent

sub refused
{
	my ($what, $sql, $wanted, $budget) = @_;
	my $before = spent($budget // 'long');
	my $start = time();
	my $err = charge($sql);
	cmp_ok(time() - $start, '<', $soon, "$what: within seconds");
	like($err, $wanted, "$what: refused");
	is(spent($budget // 'long'), $before, "$what: nothing is spent");
}
my $write = 'SET default_transaction_read_only = off; SET default_transaction_isolation = "read committed";';
refused('locked by its own transaction', "$write BEGIN; SELECT dp_budget_alter('long', 99); SELECT dp_budget_charge('long', 1)",
	qr/ERROR:  55P03: could not lock the budget or the protected relation in time\nDETAIL:  Nothing has been charged\.\nHINT:  Commit or roll back the transaction/);
refused('its grants are locked', "$write BEGIN; SELECT dp_revoke('long', 'analyst'); SELECT dp_budget_charge('long', 1)", qr/55P03: could not lock/);
refused('the table is locked', "$write BEGIN; LOCK TABLE dperm.ledger; SELECT dp_budget_charge('long', 1)", qr/55P03: could not lock/);
refused('not committed', "$write BEGIN; SELECT dp_budget_create('new', 1); SELECT dp_budget_charge('new', 1)",
	qr/ERROR:  42704: budget "new" does not exist\nHINT:  .*must be committed/);
refused('no grant', "$write CREATE ROLE nobody_knows; SET ROLE nobody_knows; SELECT dp_budget_charge('long', 1)",
	qr/ERROR:  42501: permission denied for budget "long"\nHINT:  .*dp_grant/);
refused('a grant that is not committed', "$write BEGIN; SELECT dp_grant('race', 'nobody_knows', 0.1); SET ROLE nobody_knows; SELECT dp_budget_charge('race', 0.1)",
	qr/42501: permission denied for budget|55P03/, 'race');
refused('infinite', "SELECT dp_budget_charge('long', 'Infinity')", qr/22023: epsilon must be finite/);
refused('no number', "SELECT dp_budget_charge('long', 'NaN')", qr/22023: epsilon must be finite/);
refused('negative', "SELECT dp_budget_charge('long', -1)", qr/22023: epsilon must be between/);
refused('a delta that the budget does not have', "SELECT dp_budget_charge('long', 1, 1e-9)", qr/54000: budget "long" has no delta/);

# The worker as others see it, before it ends.
my $holder = start_waiting($write, 'BEGIN', "SELECT dp_budget_alter('long', 100)", 'SELECT wait_here()');
waits();
my $victim = start_waiting("SELECT dp_budget_charge('long', 1)");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event_type = 'Lock'") or die 'no worker';
like($node->safe_psql('postgres', "SELECT application_name, datname, query FROM pg_stat_activity WHERE backend_type = 'dperm'"),
	qr/^dperm\|postgres\|dp_budget_charge for \S+, PID \d+$/, 'pg_stat_activity shows the worker');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dperm'");
$victim->{handle}->finish;
like($victim->{err}, qr/ERROR:  terminating background worker "dperm" due to administrator command/, 'a worker that dies is an error');
$victim = start_waiting("SELECT dp_budget_charge('long', 1)");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event_type = 'Lock'") or die 'no worker';
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'waiting' AND query ~ 'charge'");
$victim->{handle}->finish;
like($victim->{err}, qr/canceling statement due to user request/, 'waiting can be cancelled');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dperm'"), 'no worker is left');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'waiting'");
$holder->{handle}->finish;
is(spent('long'), $expected, 'nothing of that is spent');

# In any encoding, and any schema.
$node->safe_psql('postgres', "$write CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
$node->safe_psql('latin', $write . q{SET client_encoding = 'UTF8'; CREATE SCHEMA "Äußerst odd"; CREATE EXTENSION dperm SCHEMA "Äußerst odd";
	SELECT "Äußerst odd".dp_budget_create('Größe', 0.5);});
like(charge(qq{SET client_encoding = 'UTF8'; SELECT "Äußerst odd".dp_budget_charge('Größe', 0.4, purpose => 'für Öffentlichkeit');
	SELECT "Äußerst odd".dp_budget_charge('Größe', 0.4)}, database => 'latin'), qr/budget "Größe" has too little epsilon left/, 'names and messages in LATIN1');
is($node->safe_psql('latin', q{SET client_encoding = 'UTF8'; SELECT epsilon, purpose FROM "Äußerst odd".dp_ledger WHERE act = 'charge'}), '0.4|für Öffentlichkeit', 'and the ledger');

# A database where errors end sessions: the worker still says what is wrong.
$node->safe_psql('postgres', "$write CREATE DATABASE strict");
$node->safe_psql('strict', "$write CREATE EXTENSION dperm; SELECT dp_budget_create('small', 1); ALTER DATABASE strict SET exit_on_error = on");
like(charge("SET exit_on_error = off; SELECT dp_budget_charge('small', 2)", database => 'strict'), qr/ERROR:  54000: budget "small" has too little epsilon left/, 'errors that end sessions');

# Errors of the worker are logged once, by the session.
my @logged = slurp_file($node->logfile) =~ /budget "race" has too little epsilon left/g;
is(scalar(@logged), 13, 'refusals are in the log once each');

# ---- a standby, and a server without background workers

$node->safe_psql('postgres', "$write ALTER ROLE CURRENT_USER RESET default_transaction_isolation");
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my ($out, $err) = ('', '');
$standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT dp_budget_charge('long', 1)", stdout => \$out, stderr => \$err);
like($err, qr/ERROR:  25006: cannot charge a budget during recovery\nHINT:  Connect to the primary/, 'a standby cannot spend');
is($standby->safe_psql('postgres', "SELECT epsilon_left FROM dp_budgets WHERE budget = 'long'"), 100 - $expected, 'but shows what is left');
$standby->stop('immediate');

$node->append_conf('postgresql.conf', "max_worker_processes = 0\n");
$node->restart;
refused('no background worker', "SELECT dp_budget_charge('long', 1)", qr/ERROR:  53000: this server has no background workers\nHINT:  Increase max_worker_processes/);
$node->stop;

my @ended = slurp_file($node->logfile) =~ /background worker "dperm" \(PID \d+\) exited with exit code/g;
is(scalar(@ended), 1, 'no worker failed but the one that was terminated');
ok(slurp_file($node->logfile) !~ /PANIC:|TRAP:/, 'no crash in the log but the one that was made');

done_testing();
