# An error can quote the row that was being read, as COPY does in its context. An analyst, who cannot read the row, sees nothing of it: not when the row is at
# fault, not when they cancel the call or let it time out, not even when they end their own session.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
plan skip_all => 'there is no file_fdw' if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'") eq '0';

# A domain whose constraint waits, so that a call stays at the row that it quotes.
my $dir = PostgreSQL::Test::Utils::tempdir;
append_to_file("$dir/waits.csv", "41,true,secret words\n42,false,secret words\n");
append_to_file("$dir/wrong.csv", "41,true,fine\nsecret words,false,fine\n");
$node->safe_psql('postgres', qq{
	CREATE EXTENSION dperm;
	CREATE EXTENSION file_fdw;
	CREATE ROLE owner; CREATE ROLE ana LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO owner;
	CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
	CREATE FUNCTION hold(bigint) RETURNS void LANGUAGE internal STRICT STABLE AS 'pg_advisory_xact_lock_shared_int8';
	SET ROLE owner;
	CREATE FUNCTION waits() RETURNS boolean STABLE RETURN hold(7) IS NOT NULL;
	CREATE DOMAIN note AS text CHECK (waits());
	SELECT dp_budget_create('patients', 100, 1e-6);
	SELECT dp_grant('patients', 'ana');
	RESET ROLE;
	CREATE FOREIGN TABLE waiting (age int, ill boolean, note note) SERVER files OPTIONS (filename '$dir/waits.csv', format 'csv');
	CREATE FOREIGN TABLE wrong (age int, ill boolean, note text) SERVER files OPTIONS (filename '$dir/wrong.csv', format 'csv');
	ALTER TABLE waiting OWNER TO owner;
	ALTER TABLE wrong OWNER TO owner;
	SET ROLE owner;
	SELECT dp_protect(t, 'patients', domains => '{"age": [0, 120], "note": ["a", "b"]}') FROM unnest('{waiting,wrong}'::text[]) t});

# Starts something in a session of a role.
sub start
{
	my ($role, @sql) = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = "the $role";
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-v', 'SHOW_CONTEXT=always', '-d', $node->connstr('postgres') . ($role eq 'ana' ? ' user=ana' : ''), map { ('-c', $_) } @sql ],
		'<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	return \%s;
}

# Does something to calls that are at the first row, and looks at what they say.
my $train = "SELECT dp_logreg_train('waiting', 'ill', '{age,note}', 0.1)";
sub says
{
	my ($what, $wanted, $sql, $then) = @_;
	my $s = start('ana', @$sql);
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'the ana' AND wait_event = 'advisory'") or die "not at the first row: $s->{err}";
	$node->safe_psql('postgres', "SELECT $then(pid) FROM pg_stat_activity WHERE application_name = 'the ana'") if $then;
	$s->{handle}->finish;
	like($s->{err}, $wanted, "$what: what has happened");
	unlike($s->{err}, qr/secret|waiting, line/, "$what: no row");
	return;
}
my $holder = start('holder', 'SELECT pg_advisory_lock(7)', 'SELECT pg_sleep(600)');
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'the holder' AND wait_event = 'PgSleep'") or die 'nothing is held';

says('a cancel', qr/ERROR:  57014: canceling statement due to user request/, [$train], 'pg_cancel_backend');
says('a time-out', qr/ERROR:  57014: canceling statement due to statement timeout/, [ "SET statement_timeout = '3s'", $train ]);
says('a time-out for locks', qr/ERROR:  \w+: /, [ "SET lock_timeout = '3s'", $train ]);
says('the end of the session', qr/FATAL:  57P01: terminating connection due to administrator command/, [$train], 'pg_terminate_backend');
$node->safe_psql('postgres', 'ALTER ROLE ana SET log_min_messages = panic');
says('the end of the session, not logged', qr/FATAL:  57P01/, [$train], 'pg_terminate_backend');
$node->safe_psql('postgres', 'ALTER ROLE ana RESET log_min_messages');
says('the end of the session, with exit_on_error', qr/FATAL:  57014: canceling statement due to user request|ERROR:  57014/, [ 'SET exit_on_error = on', $train ], 'pg_cancel_backend');
says('a time-out of the transaction', qr/FATAL:  25P04/, [ "SET transaction_timeout = '3s'", $train ])
	if $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = 'transaction_timeout'") eq '1';

# The log of the server does not have it either, but for errors of the owner.
unlike(slurp_file($node->logfile), qr/secret/, 'the log');

my $s = start('ana', "SELECT dp_logreg_train('wrong', 'ill', '{age}', 0.1)");
$s->{handle}->finish;
like($s->{err}, qr/ERROR:  39000: an expression of protected relation "wrong" has failed/, 'a row that cannot be read: what has happened');
unlike($s->{err}, qr/secret|wrong, line/, 'a row that cannot be read: no row');
$s = start('owner', 'SET ROLE owner', "SELECT dp_logreg_train('wrong', 'ill', '{age}', 0.1)");
$s->{handle}->finish;
like($s->{err}, qr/secret/, 'the owner sees it');

# A function of the owner's that runs with their rights shows errors of rows no more than the call itself.
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE TABLE codes AS SELECT i AS age, i % 3 = 0 AS ill, CASE i WHEN 7 THEN 'secret words' ELSE i::text END AS code FROM generate_series(1, 100) i;
	CREATE VIEW numbers AS SELECT age, ill, code::int AS code FROM codes;
	SELECT dp_protect('codes', 'patients', domains => '{"age": [0, 120]}'), dp_protect('numbers', 'patients', domains => '{"age": [0, 120], "code": [0, 100]}');
	CREATE FUNCTION train_for_all() RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = public AS
		$$ SELECT dp_logreg_train('numbers', 'ill', 'code', 0.1) IS NOT NULL $$});
foreach my $call ("dp_logreg_train('numbers', 'ill', 'code', 0.1)", 'train_for_all()')
{
	$s = start('ana', "SELECT $call");
	$s->{handle}->finish;
	like($s->{err}, qr/ERROR:  39000: an expression of protected relation "numbers" has failed/, "$call: the error is replaced");
	unlike($s->{err}, qr/secret/, "$call: no row");
}

# Nor does the encoding that the analyst chooses decide whether an expression fails.
$node->safe_psql('postgres', qq{
	SET client_encoding = 'UTF8';
	SET ROLE owner;
	CREATE TABLE names AS SELECT i AS age, i % 3 = 0 AS ill, CASE i WHEN 7 THEN '\xc5\x81ukasz' ELSE 'n' || i END AS name FROM generate_series(1, 100) i;
	CREATE VIEW hashes AS SELECT age, sha256(textsend(name)) IS NOT NULL AS ill FROM names;
	SELECT dp_protect('names', 'patients', domains => '{"age": [0, 120]}'), dp_protect('hashes', 'patients', domains => '{"age": [0, 120]}')});
foreach my $encoding ('UTF8', 'LATIN1')
{
	$s = start('ana', "SET client_encoding = '$encoding'", "SELECT dp_logreg_train('hashes', 'ill', 'age', 0.1) IS NOT NULL", 'SHOW client_encoding');
	$s->{handle}->finish;
	is($s->{out}, "t\n$encoding\n", "$encoding: a row that cannot be converted does not matter") or diag($s->{err});
}

$holder->{handle}->kill_kill;
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'the holder'");
done_testing();
