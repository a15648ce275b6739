# Whatever reads a protected relation is charged before its first row: by then the charge is in the ledger for others to see, and
# stays there, whatever happens to the session or the server. The relation is a view with a function that waits.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "wal_writer_delay = 10s\nrestart_after_crash = on\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner; CREATE ROLE ana LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO owner;
	CREATE FUNCTION hold(bigint) RETURNS void LANGUAGE internal STRICT STABLE AS 'pg_advisory_xact_lock_shared_int8';
	SET SESSION AUTHORIZATION owner;
	CREATE TABLE people AS SELECT i AS id, i % 3 = 0 AS ill, i % 50 AS age FROM generate_series(1, 200) i;
	CREATE FUNCTION waits(i int) RETURNS int STABLE RETURN CASE WHEN hold(7) IS NOT NULL THEN i END;
	CREATE VIEW patients AS SELECT ill, waits(age) AS age FROM people;
	SELECT dp_budget_create('patients', 100), dp_budget_create('empty', 0.1);
	SELECT dp_protect('patients', 'patients', domains => '{"age": [0, 50]}');
	SELECT dp_grant('patients', 'ana');
	SELECT dp_protect('people', 'patients', domains => '{"age": [0, 50]}');
	RESET SESSION AUTHORIZATION;
	CREATE TABLE made AS SELECT dp_logreg_train('patients', 'ill', '{age}', 1) AS model; GRANT SELECT ON made TO ana;
});

sub ledger { return $node->safe_psql('postgres', "SELECT sum(epsilon), count(*) FROM dp_ledger WHERE budget = 'patients' AND act = 'charge'"); }
is(ledger(), '1|1', 'a training is charged');

my $train = "SELECT dp_logreg_train('patients', 'ill', '{age}', 1)";
my %calls = (
	'dp_logreg_train' => $train,
	'dp_svm_train' => "SELECT dp_svm_train('patients', 'ill', '{age}', 1)",
	'dp_logreg_tune' => "SELECT dp_logreg_tune('patients', 'ill', '{age}', 1)",
	'dp_evaluate' => "SELECT * FROM dp_evaluate((SELECT model FROM made), 'patients', epsilon => 1)",
	'dp_roc' => "SELECT * FROM dp_roc((SELECT model FROM made), 'patients', epsilon => 1)");

# Starts something that waits.
sub start
{
	my ($name, @sql) = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = $name;
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' user=' . ($name eq 'holder' ? $ENV{USER} // getpwuid($<) : 'ana'), map { ('-c', $_) } @sql ],
		'<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	return \%s;
}

# A session that holds what the function waits for.
my $holder;
sub hold
{
	$holder = start('holder', 'SELECT pg_advisory_lock(7)', 'SELECT pg_sleep(300)');
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'") or die 'nothing is held';
}

# Starts a call, and waits until it is at its first row.
sub at_first_row
{
	my $s = start('analyst', @_);
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'analyst' AND wait_event = 'advisory'")
		or die "not at the first row: $s->{err}";
	return $s;
}
my $expected = 1;
sub charged { my ($what) = @_; $expected++; is(ledger(), "$expected|$expected", $what); }

hold();
foreach my $name (sort keys %calls)
{
	my $s = at_first_row($calls{$name});
	charged("$name: charged before its first row");
	is($node->safe_psql('postgres', "SELECT role, function, relation, unit, neighbours FROM dp_ledger WHERE budget = 'patients' ORDER BY entry DESC LIMIT 1"),
		"ana|$name|public.patients|row|replace", "$name: in the ledger");
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'analyst'");
	$s->{handle}->finish;
	like($s->{err}, qr/canceling statement due to user request/, "$name: cancelled");
	is(ledger(), "$expected|$expected", "$name: nothing is refunded");
}

# a timeout, the end of the session, blocks that catch the error
my $s = at_first_row("SET statement_timeout = '3s'", $train);
$s->{handle}->finish;
like($s->{err}, qr/statement timeout/, 'timed out');
charged('statement_timeout');
$s = at_first_row('BEGIN', 'SAVEPOINT s', $train, 'ROLLBACK TO s', 'ROLLBACK');
charged('in a transaction, seen by others');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'analyst'");
$s->{handle}->finish;
is(ledger(), "$expected|$expected", 'ROLLBACK TO SAVEPOINT and ROLLBACK');
$s = at_first_row("DO \$\$ BEGIN PERFORM dp_logreg_train('patients', 'ill', '{age}', 1); EXCEPTION WHEN query_canceled THEN NULL; END \$\$");
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'analyst'");
$s->{handle}->finish;
is($s->{err}, '', 'the error is caught');
charged('an exception block of PL/pgSQL');
$s = at_first_row($train);
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'analyst'");
$s->{handle}->finish;
charged('pg_terminate_backend');

# crashes
$s = at_first_row('SET synchronous_commit = off', 'BEGIN', $train);
my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE application_name = 'analyst'");
kill 9, $pid;
$_->{handle}->finish foreach $s, $holder;
$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
charged('kill -9 of the backend');
hold();
$s = at_first_row('SET synchronous_commit = off', 'BEGIN', $train);
$node->stop('immediate');
$_->{handle}->finish foreach $s, $holder;
$node->start;
charged('immediate stop of the server');

# What is refused has read nothing: the function was never called.
my $held = start('holder', 'SELECT pg_advisory_lock(7)', 'SELECT pg_sleep(300)');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'") or die;
foreach my $case (
	[ 'exhausted', "SET SESSION AUTHORIZATION ana; SELECT dp_logreg_train('patients', 'ill', '{age}', 200)", qr/54000: budget "patients" is exhausted/ ],
	[ 'protected, not committed', "SET SESSION AUTHORIZATION owner; BEGIN; CREATE TABLE newer AS SELECT ill, age FROM people; SELECT dp_protect('newer', 'patients', domains => '{\"age\": [0, 50]}'); "
		. "SELECT dp_logreg_train('newer', 'ill', '{age}', 1)", qr/55000: rows of relation "newer" have been registered by this transaction\nHINT:  Commit first\./ ],
	[ 'unprotected, not committed', "SET SESSION AUTHORIZATION owner; BEGIN; SELECT dp_unprotect('patients'); $train", qr/ERROR/ ])
{
	my ($what, $sql, $wanted) = @$case;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\nSET statement_timeout = '20s'; $sql", stdout => \$out, stderr => \$err);
	like($err, $wanted, "$what: refused before the first row");
	is(ledger(), "$expected|$expected", "$what: nothing is charged");
}
# A registration that changes between the checks and the charge, which waits for its lock
my $changes = start('holder', 'SET SESSION AUTHORIZATION owner', 'BEGIN', q{SELECT dp_protect('patients', 'patients', domains => '{"age": [0, 40]}')}, "SELECT pg_sleep(1.5), 'changed'", 'COMMIT');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ 'changed' AND wait_event = 'PgSleep' AND pid <> pg_backend_pid()") or die;
my ($answer, $error) = ('', '');
$node->psql('postgres', "\\set VERBOSITY verbose\nSET statement_timeout = '20s'; SET SESSION AUTHORIZATION ana; $train", stdout => \$answer, stderr => \$error);
$changes->{handle}->finish;
like($error, qr/ERROR:  55000: the registration of the protected relation is not committed, or has changed\nHINT:/, 'changed meanwhile: refused');
is(ledger(), "$expected|$expected", 'changed meanwhile: nothing is charged');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
$held->{handle}->finish;
$node->stop;
done_testing();
