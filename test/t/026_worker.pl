# A call on a protected relation runs in a background worker, which charges it
# before it reads its first row, and keeps what was paid for.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

plan skip_all => 'the modules are built by make tap' unless $ENV{TEST_MODULES};

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "wal_level = replica\nmax_worker_processes = 4\nmax_logical_replication_workers = 0\nmax_connections = 40\nrestart_after_crash = on\ntemp_file_limit = '1MB'\nwal_writer_delay = 10s\n"
	. "shared_preload_libraries = '$ENV{TEST_MODULES}/instrument$ENV{DLSUFFIX}'\ninstrument.hold = 'row_1'\ninstrument.relation = 'held'\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE ben LOGIN; CREATE ROLE cleo LOGIN; CREATE ROLE dora LOGIN; CREATE ROLE emil LOGIN; CREATE ROLE stranger LOGIN;
	CREATE ROLE auditor LOGIN IN ROLE pg_read_all_stats;
	REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT CREATE ON SCHEMA public TO owner; CREATE SCHEMA AUTHORIZATION ana; CREATE SCHEMA AUTHORIZATION stranger; GRANT USAGE ON SCHEMA stranger TO owner;
	CREATE FUNCTION definer(command text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN EXECUTE command; END $$;
	CREATE FUNCTION with_role() RETURNS int LANGUAGE sql SET role = 'ana' AS 'SELECT 1';
	CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	SET SESSION AUTHORIZATION owner;
	CREATE TABLE people AS SELECT i AS id, i % 3 = 0 AS ill, i % 50 AS age, 'canary' || i AS note FROM generate_series(1, 200) i;
	-- calls on it wait at their first row while somebody holds a lock: test/modules/instrument.c
	CREATE TABLE held AS SELECT ill, age FROM people;
	SELECT dp_budget_create('b', 500), dp_budget_create('small', 1);
	SELECT dp_protect('people', 'b', domains => '{"age": [0, 50]}'), dp_protect('held', 'b', domains => '{"age": [0, 50]}');
	SELECT dp_grant('b', r) FROM unnest('{ana,ben,cleo,dora,emil}'::text[]) r;
	CREATE TABLE little (age int CHECK (age BETWEEN 0 AND 50), ill boolean); INSERT INTO little VALUES (1, true), (2, false);
	SELECT dp_protect('little', 'b');
	CREATE TABLE scarce (age int CHECK (age BETWEEN 0 AND 50), ill boolean);
	SELECT dp_protect('scarce', 'small'), dp_grant('small', 'ana');
});
$node->safe_psql('postgres', q{SET ROLE ana; CREATE TABLE made AS SELECT dp_logreg_train('people', 'ill', '{age}', 1) AS model});

my $train = "SELECT dp_logreg_train('held', 'ill', '{age}', 0.01)";
my $open = "SELECT dp_logreg_train('people', 'ill', '{age}', 0.01)::jsonb ->> 'rows'";

my $superuser = $ENV{PGUSER} // scalar getpwuid($<);

# ---- sessions

# Starts a session of a role, which waits for more input.
sub start
{
	my ($role, @sql) = @_;
	my %s = (in => join('', map { "$_\n" } "\\set VERBOSITY verbose", @sql), out => '', err => '');
	local $ENV{PGAPPNAME} = "session of $role";
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . " user=$role" ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	$s{handle}->pump while length $s{in};
	return \%s;
}

# The output of a session, without the notice about too little epsilon, which
# test/sql/ledger.sql tests.
sub heard { return $_[0] =~ s/^(?:psql:\S+ )?NOTICE:  00000: the noise is larger than .*\n?(?:HINT:  .*\n?)?(?:LOCATION:  .*\n?)?//mgr; }

# Ends a session.
sub finish
{
	my ($s) = @_;
	eval { $s->{handle}->finish; 1 } or eval { $s->{handle}->kill_kill };
	return heard($s->{err});
}

sub query { return $node->safe_psql('postgres', shift); }

# A server that recovers from a crash refuses psql, perhaps before it has been
# given the query: that is a broken pipe.
sub poll
{
	my ($sql) = @_;
	foreach my $try (1 .. 100)
	{
		my $met = eval { $node->poll_query_until('postgres', $sql) };
		return if $met;
		die $@ || "never: $sql" if $@ !~ /Broken pipe/;
		sleep(0.1);
	}
	die "no connection: $sql";
}

# Statements of a role from beginning to end; what they say, and the errors.
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION $role; $sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, heard($err));
}

# A session that holds what calls wait for.
my $holder;
sub hold
{
	$holder = start($superuser, 'SELECT pg_advisory_lock(1);');
	poll("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND objsubid = 1 AND mode = 'ExclusiveLock' AND granted");
}
sub let_go { finish($holder); }

my $workers = "FROM pg_stat_activity WHERE backend_type = 'dperm'";
my $reading = "SELECT count(*) = %d $workers AND wait_event = 'PgSleep'";

# Starts a call, and waits until it reads.
sub start_reading
{
	my $s = start(@_);
	poll(sprintf($reading, 1));
	return $s;
}

# The last entry of the ledger, in which numbers have no gaps, and whose sum is
# what was spent.
my $entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
sub ledger
{
	return query("SELECT CASE WHEN max(entry) = count(*) AND sum(epsilon) FILTER (WHERE act = 'charge') = (SELECT epsilon_spent FROM dp_budgets WHERE budget = 'b')
		THEN max(entry) || ' ' || coalesce((array_agg(release ORDER BY entry DESC))[1], '') ELSE 'does not add up' END FROM dp_ledger WHERE budget = 'b'");
}
sub failure { return query("SELECT failure FROM dp_releases WHERE budget = 'b' ORDER BY entry DESC LIMIT 1"); }
sub charged { my ($what, $release) = @_; $entries++; is(ledger(), "$entries $release", "$what: one entry, $release"); }
sub not_charged { my ($what) = @_; my $now = ledger(); like($now, qr/^$entries /, "$what: nothing is charged"); }

# Nothing is left of a call.
sub nothing_left
{
	my ($what) = @_;
	my $start = time();
	poll("SELECT count(*) = 0 $workers");
	cmp_ok(time() - $start, '<', 5, "$what: no worker trains on");
	poll("SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND objsubid > 2");
}

# ---- whatever ends a session whose call reads: that was charged before its first row, and what was paid for is kept

my $told = qr/DETAIL:  The call has been charged, as entry \d+ of budget "b"; the (?:model|metrics|result) will be in dp_releases\.\nHINT:  dp_cancel\('b', \d+\) stops it; what was charged stays charged\./;

my $session = "FROM pg_stat_activity WHERE application_name = 'session of ana'";
my %calls = (
	'dp_svm_train' => "SELECT dp_svm_train('held', 'ill', '{age}', 0.01)",
	'dp_logreg_tune' => "SELECT dp_logreg_tune('held', 'ill', '{age}', 0.01)",
	'dp_svm_tune' => "SELECT dp_svm_tune('held', 'ill', '{age}', 0.01)",
	'dp_evaluate' => "SELECT * FROM dp_evaluate((SELECT model FROM made), 'held', epsilon => 0.01)",
	'dp_roc' => "SELECT * FROM dp_roc((SELECT model FROM made), 'held', epsilon => 0.01)",
	'dp_summary' => "SELECT * FROM dp_summary('held', 0.01)");
my $cancel = "SELECT pg_cancel_backend(pid) $session";
foreach my $case (
	(map { [ "$_ is cancelled", [ "$calls{$_};" ], $cancel, qr/ERROR:  57014: canceling statement due to user request\n$told/, 'kept' ] } sort keys %calls),
	[ 'statement_timeout', [ "SET statement_timeout = '3s';", "$train;" ], undef, qr/57014: canceling statement due to statement timeout\n$told/, 'kept' ],
	[ 'an exception block', [ "DO \$\$ BEGIN PERFORM dp_logreg_train('held', 'ill', '{age}', 0.01); EXCEPTION WHEN query_canceled THEN NULL; END \$\$;" ], $cancel, qr/^$/, 'kept' ],
	[ 'a savepoint', [ 'BEGIN;', 'SAVEPOINT s;', "$train;", 'ROLLBACK TO s;', 'SELECT 1/0;' ], $cancel, qr/57014.*$told.*22012/s, 'kept' ],
	[ 'pg_terminate_backend of the session', [ "$train;" ], "SELECT pg_terminate_backend(pid) $session", qr/57P01: terminating connection due to administrator command\n$told/, 'kept' ],
	[ 'pg_terminate_backend of the worker', [ "$train;" ], "SELECT pg_terminate_backend(pid) $workers",
		qr/ERROR:  XX000: the background worker of the call ended without an answer\nDETAIL:  The call has been charged, as entry \d+ of budget "b"\.\nHINT:/, 'lost' ],
	[ 'pg_cancel_backend of the worker', [ "$train;" ], "SELECT pg_cancel_backend(pid) $workers",
		qr/ERROR:  57014: the call was cancelled\nDETAIL:  The call has been charged, as entry \d+ of budget "b"\./, 'cancelled' ],
	[ 'a client that is gone', [ "SET client_connection_check_interval = '100ms';", "$train;" ], sub { $_[0]->{handle}->kill_kill }, qr/^$/, 'kept' ])
{
	my ($what, $sql, $end, $error, $release) = @$case;
	hold();
	my $s = start_reading('ana', @$sql);
	is(ledger(), ($entries + 1) . ' running', "$what: charged before the first row");
	ref $end ? $end->($s) : $end ? query($end) : undef;
	like(finish($s), $error, "$what: error");
	if ($release eq 'kept')
	{
		poll("SELECT count(*) = 0 $session");
		is(ledger(), ($entries + 1) . ' running', "$what: it goes on");
		let_go();
	}
	nothing_left($what);
	let_go() unless $release eq 'kept';
	charged($what, $release);
}

# A client that has disconnected unnoticed: what it has paid for is kept.
hold();
my $lost = start_reading('ana', "$train;");
$lost->{handle}->kill_kill;
let_go();
nothing_left('lost connection');
charged('lost connection', 'kept');

# Timeouts of idle sessions do not end a call; and when they end the session,
# what it has paid for is kept.
hold();
my $idle = start_reading('ana', "SET idle_in_transaction_session_timeout = '100ms'; SET idle_session_timeout = '100ms';", 'BEGIN;', "$train;");
poll("SELECT count(*) = 1 $session AND clock_timestamp() > query_start + interval '200 ms'");
is(query("SELECT count(*) $workers"), 1, 'idle timeouts: the call goes on');
let_go();
poll("SELECT count(*) = 0 $session");
finish($idle);
nothing_left('idle timeouts');
charged('idle timeouts', 'kept');

# ---- what was paid for is kept, for who paid and for the owner of the budget

my @kept = (
	[ 'ROLLBACK', "BEGIN; $open; ROLLBACK", qr/^$/ ],
	[ 'ROLLBACK TO SAVEPOINT', "BEGIN; SAVEPOINT s; $open; ROLLBACK TO s; COMMIT", qr/^$/ ],
	[ 'an error later', "BEGIN; $open; SELECT 1/0", qr/22012/ ],
	[ 'a duplicate key', "CREATE TEMP TABLE m (i int PRIMARY KEY, model text); INSERT INTO m VALUES (1, ''); INSERT INTO m SELECT 1, dp_logreg_train('people', 'ill', '{age}', 0.01)::text", qr/23505/ ],
	[ 'REPEATABLE READ', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM made; $open; COMMIT", qr/^$/ ],
	[ 'SERIALIZABLE', "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM made; $open; COMMIT", qr/^$/ ],
	[ 'READ ONLY', "BEGIN READ ONLY; $open; COMMIT", qr/^$/ ],
	[ 'a cursor', "BEGIN; DECLARE c CURSOR FOR $open; FETCH c; COMMIT", qr/^$/ ],
	[ 'a prepared statement', "PREPARE p AS $open; EXECUTE p", qr/^$/ ],
	[ 'a function with an exception block', "CREATE TEMP TABLE r (n text); DO \$\$ BEGIN INSERT INTO r $open; EXCEPTION WHEN OTHERS THEN RAISE; END \$\$", qr/^$/ ],
	[ 'settings of the session', "SET lock_timeout = 1; SET work_mem = '64kB'; SET default_transaction_read_only = on; SET search_path = public; SET row_security = off; SET role = ana; $open", qr/^$/ ]);
foreach my $case (@kept)
{
	my ($what, $sql, $error) = @$case;
	my ($out, $err) = as('ana', $sql);
	like($err, $error, "$what: as expected");
	charged($what, 'kept');
}
as('ana', "SELECT * FROM dp_evaluate((SELECT model FROM made), 'people', epsilon => 0.01)");
charged('dp_evaluate', 'kept');
query("ALTER DATABASE postgres SET work_mem = '64kB'");
is((as('ana', "SELECT count(*) FROM dp_roc((SELECT model FROM made), 'people', epsilon => 0.01, bins => 1000)"))[0], 1001, 'rows that do not fit into memory');
charged('dp_roc', 'kept');
is((as('ana', "CREATE TABLE ana.long AS SELECT 'x' AS note, i AS age FROM generate_series(1, 9) i; SET work_mem = '64MB'; SELECT count(*) FROM dp_evaluate((SELECT dp_logreg_train('ana.long', 'note', '{age}', 1, domains => '{\"age\": [0, 50]}' || jsonb_build_object('note', jsonb_build_object('categories', array_agg(rpad(i::text, 1300, 'x'))))) FROM generate_series(1, 100) i), 'people', epsilon => 0.01)"))[0],
	10303, 'rows that do not fit into temp_file_limit');
charged('dp_evaluate', 'kept');
query('ALTER DATABASE postgres RESET work_mem');
my $sees = "SELECT count(*), count(r.model), count(r.metrics) FROM dp_ledger l LEFT JOIN dp_releases r USING (budget, entry) WHERE budget = 'b' AND l.role = 'ana' AND l.release = 'kept'";
my $all = (as('ana', $sees))[0];
like($all, qr/^\d\d\|\d\d\|6$/, 'who paid sees it');
is((as('owner', $sees))[0], $all, 'so does the owner of the budget');
is((as('auditor', $sees))[0], ($all =~ s/\|.*/|0|0/r), 'an auditor sees entries alone');
is((as($_, $sees))[0], '0|0|0', "$_ sees nothing") foreach 'ben', 'stranger';
is((as('ana', "SELECT count(*) FROM dp_releases WHERE coalesce(model::jsonb #>> '{tuning,rows}', model::jsonb ->> 'rows') = '200'"))[0], $all =~ s/.*\|(.*)\|.*/$1/r, 'models are models');
like((as($_, 'TABLE dperm.releases'))[1], qr/42501: permission denied/, "$_ cannot read the table behind it") foreach 'owner', 'ana';
like((as($superuser, $_))[1], qr/ERROR/, "the ledger is append-only: $_") foreach 'DELETE FROM dperm.releases', 'UPDATE dperm.releases SET failure = NULL', 'TRUNCATE dperm.releases';

# ---- errors before the charge are said in full, and nothing is charged

foreach my $case (
	[ 'ana', "SELECT dp_logreg_train('people', 'ill', '{nothing}', 1)", qr/ERROR:  42703: column "nothing" of relation "people" does not exist\nHINT:  Names in features/ ],
	[ 'ana', "SELECT dp_logreg_train('people', 'ill', '{age}', 'Infinity')", qr/ERROR:  22023: epsilon must be finite when a budget is charged\nHINT:/ ],
	[ 'ana', "SELECT dp_logreg_train('people', 'ill', '{age}', 1, domains => '{\"age\": [0, 90]}')", qr/ERROR:  22023: the \w+ of column "age" is not within that of protected relation "people"\nHINT:/ ],
	[ 'ana', "SELECT dp_logreg_train('people', 'ill', string_to_array(repeat('x1,', 100000), ','), 1)", qr/ERROR:  42703: column "x1"/ ],
	[ 'ana', "SELECT dp_logreg_train('people', repeat('x', 20000000), '{age}', 1)", qr/ERROR:  42703: column "xxx/ ],
	[ 'ana', "SELECT dp_logreg_train('people', 'ill', '{age}', 1, domains => (repeat('[', 2000) || repeat(']', 2000))::jsonb)", qr/ERROR:  22023: / ],
	[ 'ana', "SELECT dp_logreg_train('people', 'ill', '{age}', 1, unit => 'id')", qr/ERROR:  22023: the unit of protected relation "people" is a row\nHINT:  Omit unit/ ],
	[ 'stranger', $open, qr/ERROR:  42501: permission denied for relation people\nHINT:/ ],
	[ 'ana', "SELECT dp_logreg_train('scarce', 'ill', '{age}', 2)", qr/ERROR:  54000: budget "small" has too little epsilon left\nDETAIL:  .*\nHINT:/ ],
	[ 'ana', "SELECT dp_budget_charge('small', 2)", qr/ERROR:  54000: budget "small" has too little epsilon left\nDETAIL:  .*\nHINT:/ ],
	[ 'owner', "BEGIN; SELECT dp_unprotect('people'); $open", qr/ERROR:  55000: the protection of relation "people" has been ended by this transaction\nHINT:  Commit first/ ],
	[ 'owner', "BEGIN; CREATE TABLE newer AS SELECT ill, age FROM people; SELECT dp_protect('newer', 'b', domains => '{\"age\": [0, 50]}'); SELECT dp_logreg_train('newer', 'ill', '{age}', 1)",
		qr/ERROR:  55000: .* by this transaction\nHINT:  Commit first/ ],
	[ 'owner', "BEGIN; ALTER TABLE people ADD more int; $open", qr/ERROR:  55P03: could not lock the budget or the protected relation in time\nDETAIL:  Nothing has been charged\.\nHINT:/ ])
{
	my ($role, $sql, $error) = @$case;
	my $what = substr("$role: $sql", 0, 120);
	like(substr((as($role, $sql))[1], 0, 2000), $error, $what);
	not_charged($what);
}

# ---- a row for which an expression fails is left out; nothing of it shows

query(q{SET SESSION AUTHORIZATION owner;
	CREATE FUNCTION fails(a int, b int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN a / (b - 13); END $$; CREATE OPERATOR public./// (LEFTARG = int, RIGHTARG = int, FUNCTION = fails);
	CREATE DOMAIN picky AS int CHECK (VALUE <> 13);
	CREATE FUNCTION raises(code text, note text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret %', note USING ERRCODE = code, HINT = note, DETAIL = note; END $$;
	CREATE FUNCTION says(i int, note text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'secret %', note; RAISE INFO 'secret %', note; RAISE LOG 'secret %', note; RETURN i; END $$;
	CREATE FUNCTION recurses(note text) RETURNS int IMMUTABLE RETURN 1; CREATE OR REPLACE FUNCTION recurses(note text) RETURNS int IMMUTABLE RETURN recurses(note || 'x') + 1;
	CREATE FUNCTION sorts(note text) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM (SELECT i FROM generate_series(1, 300000) i ORDER BY md5(i::text || note)) s); END $$;
	CREATE FUNCTION calls_again(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.dp_logreg_train('public.people', 'ill', '{age}', 1); RETURN i; END $$;
	CREATE FUNCTION charges(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.dp_budget_charge('b', 1); RETURN i; END $$});
foreach my $case (
	[ 'division by zero', 'CASE WHEN id = 13 THEN 1 / (age - 13) ELSE age END' ],
	[ 'a number that is none', 'CASE WHEN id = 13 THEN note::int ELSE age END' ],
	[ 'a regular expression', "CASE WHEN note ~ (CASE WHEN id = 13 THEN note || '[' ELSE 'x' END) THEN 1 ELSE age END" ],
	[ 'a text that is too long', "CASE WHEN id = 13 THEN length(repeat(note, 1000000000)) ELSE age END" ],
	[ 'stack depth', "CASE WHEN id = 13 THEN length(((repeat('[', 1000000) || note)::jsonb)::text) ELSE age END" ],
	[ 'WHERE', 'age', 'WHERE 1 / (id - 13) > -2' ])
{
	my ($what, $expression, $where) = (@$case, '');
	query(qq{SET SESSION AUTHORIZATION owner; DROP VIEW IF EXISTS tried; CREATE VIEW tried AS SELECT ill, ($expression)::int AS age FROM people $where; SELECT dp_protect('tried', domains => '{"age": [0, 50]}')});
	$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
	my ($out, $err) = as('ana', "SELECT dp_logreg_train('tried', 'ill', '{age}', 0.01)::jsonb ->> 'rows'");
	is("$out|$err", '200|', "$what: nothing of a row");
	charged($what, 'kept');
}
ok(slurp_file($node->logfile) !~ /secret canary|canary\d/, 'nor is it in the log');
ok(slurp_file($node->logfile) =~ /a$_/, "which says what happened: $_") foreach map { "n expression of protected relation \\d+ failed: SQLSTATE $_" } '22012, raised by int4div', '54001, raised by check_stack_depth';

# What runs code of the owner is not offered.
foreach my $case (
	[ 'stack depth', 'CASE WHEN id = 13 THEN recurses(note) ELSE age END', 'calls function recurses' ],
	[ 'temp_file_limit', 'CASE WHEN id = 13 THEN sorts(note) ELSE age END', 'calls function sorts' ],
	[ 'an exception', "CASE WHEN id = 13 THEN raises('P0001', note) ELSE age END", 'calls function raises' ],
	[ 'an error that cancels', "CASE WHEN id = 13 THEN raises('57014', note) ELSE age END", 'calls function raises' ],
	[ 'an error within an operator', 'CASE WHEN id = 13 THEN age OPERATOR(public.///) id ELSE age END', 'has operator ///' ],
	[ 'an error within a constraint', 'CASE WHEN id = 13 THEN (age::picky)::int ELSE age END', 'has an expression that is not supported: COERCETODOMAIN' ],
	[ 'messages', 'says(age, note)', 'calls function says' ],
	[ 'a call within a call', 'CASE WHEN id = 13 THEN calls_again(age) ELSE age END', 'calls function calls_again' ],
	[ 'a charge within a call', 'CASE WHEN id = 13 THEN charges(age) ELSE age END', 'calls function charges' ],
	[ 'a charge for every row', 'charges(age)', 'calls function charges' ],
	[ 'settings', "CASE WHEN current_setting('TimeZone') = 'Europe/Paris' THEN 1 / (id - id) ELSE age END", 'calls function current_setting' ])
{
	my ($what, $expression, $has) = @$case;
	$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
	like((as('owner', qq{CREATE VIEW refused AS SELECT ill, ($expression)::int AS age FROM people; SELECT dp_protect('refused', domains => '{"age": [0, 50]}')}))[1], qr/ERROR:  0A000: view "refused" cannot be offered: it \Q$has\E/, "$what: refused");
	like((as('ana', "SELECT dp_logreg_train('refused', 'ill', '{age}', 0.01)"))[1], qr/ERROR:  42501: /, "$what: nobody trains on it");
	not_charged($what);
	query('DROP VIEW refused');
}

# A unit that is computed when it is read could fail.
SKIP:
{
	skip 'no virtual columns', 1 if query('SHOW server_version_num') < 180000;
	like((as('owner', q{CREATE TABLE virtual (id int, ill boolean, person int GENERATED ALWAYS AS (1 / id) VIRTUAL); SELECT dp_protect('virtual', 'b', unit => 'person')}))[1], qr/ERROR:  0A000: column "person" of table "virtual" cannot be the unit/, 'a virtual unit');
}

# What depends on the number of rows alone is said in full.
like((as('ana', "SELECT dp_logreg_tune('little', 'ill', '{age}', 0.01)"))[1], qr/ERROR:  22023: a portion of the rows is empty\nDETAIL:  The call has been charged, as entry \d+ of budget "b"\.\nHINT:  There are too few rows for this many candidates/, 'too few rows');
charged('too few rows', 'failed');
is(failure(), 'the arguments do not fit the number of rows', 'too few rows: why');

# ---- whatever runs in the worker is the owner, and nobody else; and writes nothing

# Has the worker call a function as it is, when it hands over row 13.
sub have_call
{
	my ($function) = @_;
	$node->append_conf('postgresql.conf', "instrument.sql = 'SELECT $function'\ninstrument.leak = '" . ($function ? 'row_13' : '') . "'\ninstrument.plain = on\n");
	$node->reload;
	poll("SELECT current_setting('instrument.sql') = 'SELECT $function'");
	return;
}

query(q{SET SESSION AUTHORIZATION owner;
	CREATE TABLE attempt (command text, refusal text); INSERT INTO attempt VALUES ('', '');
	CREATE FUNCTION attempts() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE a public.attempt;
	BEGIN
	  SELECT * INTO a FROM public.attempt;
	  BEGIN EXECUTE a.command; EXCEPTION WHEN OTHERS THEN
	    IF SQLERRM !~ a.refusal THEN RAISE EXCEPTION 'another error' USING ERRCODE = '58030'; END IF;
	    IF current_user <> 'owner' OR session_user <> 'owner' OR pg_has_role('ana', 'USAGE')
	    THEN RAISE EXCEPTION 'somebody else' USING ERRCODE = '57014'; END IF;
	    RETURN;
	  END;
	  RAISE 'not refused';
	END $$;
	CREATE TABLE written (i int); CREATE SEQUENCE counted});
have_call('public.attempts()');
my $restricted = 'within security-restricted operation|within security-definer function';
$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
foreach my $case (
	(map { [ $_, $restricted ] } 'SET ROLE ana', 'SET ROLE NONE', 'RESET ROLE', 'RESET SESSION AUTHORIZATION', 'SET SESSION AUTHORIZATION DEFAULT', 'SET LOCAL SESSION AUTHORIZATION ana',
		"SELECT set_config('role', 'ana', false)", "SELECT set_config('session_authorization', 'ana', true)", "SELECT public.definer('RESET SESSION AUTHORIZATION')", "SELECT public.definer('SET ROLE ana')",
		'SELECT public.with_role()', 'DO $a$ BEGIN RESET SESSION AUTHORIZATION; END $a$', 'PREPARE p AS SELECT 1', 'DECLARE c CURSOR WITH HOLD FOR SELECT 1'),
	[ 'COMMIT', 'transaction commands|EXECUTE of transaction' ],
	[ 'CALL public.commits()', 'invalid transaction termination' ],
	[ 'SET TRANSACTION READ WRITE', 'read-write mode' ],
	[ "SET transaction_read_only = off", 'read-write mode' ],
	[ "SELECT public.definer('SET transaction_read_only = off')", 'read-write mode' ],
	[ 'SET log_min_messages = debug1', 'permission denied' ],
	[ 'SET track_counts = on', 'permission denied' ],
	[ 'INSERT INTO public.written VALUES (1)', 'read-only transaction' ],
	[ "SELECT public.definer('INSERT INTO public.written VALUES (1)')", 'read-only transaction' ],
	[ "SELECT public.definer('CREATE TABLE public.x ()')", 'read-only transaction|security-restricted' ],
	[ 'CREATE TEMP TABLE x ()', 'security-restricted|read-only' ],
	[ "SELECT nextval('public.counted')", 'read-only transaction' ],
	[ 'SELECT FROM public.written FOR UPDATE', 'read-only transaction' ],
	[ "COPY public.people TO PROGRAM 'cat'", 'permission denied|must be superuser' ],
	[ "SELECT public.definer('ALTER SYSTEM SET work_mem = 64')", 'cannot run inside|cannot be executed|read-only' ],
	[ 'LISTEN x', "background process|$restricted" ],
	[ "UPDATE pg_settings SET setting = 'ana' WHERE name = 'role'", "read-only transaction|$restricted" ],
	[ "SELECT public.dp_unprotect('public.people')", 'read-only transaction|cannot execute|cannot be changed in isolation level' ],
	[ "SELECT public.dp_grant('b', 'stranger')", 'read-only transaction|cannot execute|cannot be changed in isolation level' ],
	[ "SELECT public.dp_logreg_train('public.people', 'ill', '{age}', 1)", 'while another one is read' ],
	[ "SELECT public.dp_logreg_tune('public.people', 'ill', '{age}', 1)", 'while another one is read' ],
	[ "SELECT * FROM public.dp_evaluate((SELECT model FROM ana.made), 'public.people', epsilon => 1)", 'while another one is read|permission denied' ])
{
	my ($command, $refusal) = @$case;
	query(qq{UPDATE attempt SET command = \$a1\$$command\$a1\$, refusal = '$refusal'});
	my ($out, $err) = as('ana', "SELECT dp_logreg_train('held', 'ill', '{age}', 0.01)::jsonb ->> 'rows'");
	is("$out$err", 200, "the owner's function is refused: $command");
	charged($command, 'kept');
}

have_call('');

# ---- what changes while the worker waits for its lock

my $until_it_waits = 'DO $$ BEGIN /* changed */ FOR i IN 1 .. 250 LOOP PERFORM pg_sleep(0.02); EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE NOT granted); END LOOP; END $$;';
foreach my $case (
	[ 'dropped, and another one made', 'DROP TABLE moving; CREATE TABLE moving (age int CHECK (age BETWEEN 0 AND 50), ill boolean)', qr/42P01: the protected relation was dropped while it was used/ ],
	[ 'renamed, and another one made', "ALTER TABLE moving RENAME TO moved; CREATE TABLE moving (age int CHECK (age BETWEEN 0 AND 50), ill boolean)", qr/^5$/ ],
	[ 'protected with another budget', "LOCK TABLE moving; SELECT dp_unprotect('moving'); SELECT dp_protect('moving', 'small')", qr/^5$/, 'small' ],
	[ 'unprotected', "LOCK TABLE moving; SELECT dp_unprotect('moving')", qr/ERROR:  (55000|42501)/ ],
	[ 'only that', "SELECT dp_protect('moving', 'small')", qr/^5$/, 'small' ],
	[ 'of another owner', 'ALTER TABLE moving OWNER TO emil', qr/ERROR:  55000: protected relation "moving" has a different owner than when it was protected/ ])
{
	my ($what, $change, $answer, $payer) = @$case;
	query(q{DROP TABLE IF EXISTS moving, moved; SET ROLE owner; CREATE TABLE moving (age int CHECK (age BETWEEN 0 AND 50), ill boolean);
		INSERT INTO moving SELECT i, i % 2 = 0 FROM generate_series(1, 5) i; SELECT dp_protect('moving', 'b'), dp_grant('small', 'ana')});
	query('GRANT CREATE ON SCHEMA public TO emil; GRANT emil TO owner');
	my $changer = start('owner', 'BEGIN;', "$change;", $until_it_waits, 'COMMIT;');
	poll("SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ 'changed' AND pid <> pg_backend_pid()");
	$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
	my $small = query("SELECT epsilon_spent FROM dp_budgets WHERE budget = 'small'");
	my ($out, $err) = as('ana', "SELECT dp_logreg_train('moving', 'ill', '{age}', 0.01)::jsonb ->> 'rows'");
	unlike(finish($changer), qr/ERROR/, "$what: changed");
	like("$out$err", $answer, "$what: the answer");
	is(query("SELECT count(*) FROM dp_ledger WHERE budget = 'b' AND act = 'charge' AND entry > $entries"), $err eq '' && !$payer ? 1 : 0, "$what: charged for an answer alone");
	is(query("SELECT trim_scale(epsilon_spent - $small) FROM dp_budgets WHERE budget = 'small'"), $payer ? '0.01' : '0', "$what: to the budget that it has then");
	nothing_left($what);
}
query('REVOKE CREATE ON SCHEMA public FROM emil');

# ---- a view has the domains of the table behind it, at the moment of the charge

query(q{DROP TABLE IF EXISTS moving, moved; SET ROLE owner; CREATE TABLE moving (age int CHECK (age BETWEEN 0 AND 50), ill boolean); CREATE VIEW moving_view AS SELECT * FROM moving;
	INSERT INTO moving SELECT i, i % 2 = 0 FROM generate_series(1, 5) i; SELECT dp_protect('moving', 'b'), dp_protect('moving_view')});
foreach my $case (
	[ 'protected', q{SELECT dp_protect('moving', 'b', domains => '{"age": [0, 20]}')}, 20 ],
	[ 'protected again', q{SELECT dp_protect('moving', 'b', domains => '{"age": [0, 30]}')}, 30 ],
	[ 'unprotected', q{SELECT dp_unprotect('moving')}, qr/ERROR:  55000: relation "moving_view" was changed while it was used\nDETAIL:  It has become protected, or is no longer protected\./, qr/ERROR:  42501: permission denied for relation moving_view/ ])
{
	my ($what, $change, $answer, $next) = @$case;
	my $trained = q{SELECT dp_logreg_train('moving_view', 'ill', '{age}', 0.01)::jsonb #>> '{features,0,high}'};
	my $changer = start('owner', 'BEGIN;', "$change;", $until_it_waits, 'COMMIT;');
	poll("SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ 'changed' AND pid <> pg_backend_pid()");
	$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
	my ($out, $err) = as('ana', $trained);
	unlike(finish($changer), qr/ERROR/, "behind a view, $what: changed");
	like("$out$err", ref $answer ? $answer : qr/^$answer$/, "behind a view, $what: the answer");
	is(query("SELECT count(*) FROM dp_ledger WHERE budget = 'b' AND act = 'charge' AND entry > $entries"), ref $answer ? 0 : 1, "behind a view, $what: charged for an answer alone");
	like(join('', as('ana', $trained)), $next // qr/^$answer$/, "behind a view, $what: the next call has it, too");
	nothing_left("behind a view, $what");
}

# ---- slots: a role has a quarter of them, which is one; others wait until they are cancelled or there is one

$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
hold();
my @busy = map { start($_, "$train;") } 'ana', 'ben', 'cleo', 'dora';
poll(sprintf($reading, 4));
my $second = start('ana', "$open;");
my $fifth = start('emil', "$open;");
foreach my $case ([ $second, qr/NOTICE:  00000: waiting: role "ana" has 1 calls on protected relations under way\nHINT:  A role can have a quarter of max_worker_processes/ ],
	[ $fifth, qr/NOTICE:  00000: waiting: no background worker is free\nHINT:  Increase max_worker_processes/ ])
{
	my ($s, $notice) = @$case;
	my $until = time() + 30;
	$s->{handle}->pump_nb, sleep(0.05) while $s->{err} !~ /HINT/ && time() < $until;
	like($s->{err}, $notice, 'a call that waits says for what');
}
is(query("SELECT count(*) $workers"), 4, 'there are four workers');
query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'session of emil'");
like(finish($fifth), qr/57014: canceling statement/, 'and can be cancelled');
is(query("SELECT count(DISTINCT (classid, objid)) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = x'6470'::int"), 4, 'which gives its place back');
$fifth = start('emil', "$open;");
query("SELECT dp_cancel(budget, entry) FROM dp_ledger WHERE role = 'dora' AND release = 'running'");
finish($fifth);
is($fifth->{out}, "200\n", 'a slot that becomes free is used');
let_go();
finish($_) foreach @busy, $second;
is($second->{out}, "200\n", 'and a place');
nothing_left('slots');
is(query("SELECT count(*) FROM dp_ledger WHERE budget = 'b' AND entry > $entries AND release = 'kept'"), 5, 'slots: what was finished is kept');
$entries += 6;
not_charged('slots: but what was cancelled');
is((as('ana', "BEGIN; $open; SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))[0], "200\n0", 'a call gives its place back at once, not with the transaction');
$entries++;

# ---- interrupts at any moment

my $hasty = start('ana', map { ("SET statement_timeout = " . 3 * $_ . ";", "$open;") } 1 .. 60);
finish($hasty);
nothing_left('interrupts');
my $after = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
like(ledger(), qr/^\d+ kept$/, 'interrupts: every charge has its entry (' . ($after - $entries) . ' of 60)');
my @answers = $hasty->{out} =~ /^200$/mg;
cmp_ok($after - $entries, '>=', scalar(@answers), 'interrupts: what was answered is charged');
is(query("SELECT count(*) FROM dp_ledger WHERE budget = 'b' AND entry > $entries AND release = 'kept'"), $after - $entries, 'interrupts: what was charged is kept');
unlike($hasty->{err}, qr/ERROR:  (?!57014)/, 'interrupts: no other error');
$entries = $after;

# ---- DROP DATABASE, and crashes

query('CREATE DATABASE other');
$node->safe_psql('other', q{CREATE EXTENSION dperm; CREATE TABLE held AS SELECT i % 2 = 0 AS ill, i AS age FROM generate_series(1, 10) i; SELECT dp_budget_create('b', 1), dp_protect('held', 'b', domains => '{"age": [0, 50]}')});
my $other_holder = start($superuser, "\\c other", 'SELECT pg_advisory_lock(1);');
poll("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted");
my $doomed = start($superuser, "\\c other", "$train;");
poll(sprintf($reading, 1));
query('DROP DATABASE other WITH (FORCE)');
finish($other_holder);
like(finish($doomed), qr/57P01|server closed the connection/, 'DROP DATABASE ends the session');
nothing_left('DROP DATABASE');

foreach my $case (
	[ 'kill -9 of the session', sub { kill 9, query("SELECT pid $session") } ],
	[ 'kill -9 of the worker', sub { kill 9, query("SELECT pid $workers") } ],
	[ 'immediate stop of the server', sub { $node->stop('immediate') } ])
{
	my ($what, $crash) = @$case;
	hold();
	my $s = start_reading('ana', 'SET synchronous_commit = off;', 'BEGIN;', "$train;");
	$crash->();
	finish($s);

	# a server that is started would inherit the pipe of the holder; one that
	# has not noticed yet would let the worker go on without it
	finish($holder), $node->start if $what =~ /stop/;
	nothing_left($what);
	poll('SELECT NOT pg_is_in_recovery()');
	finish($holder) if $what !~ /stop/;
	charged($what, 'lost');
}
is((as('ana', $open))[0], 200, 'calls go on');
my $log = slurp_file($node->logfile);
ok($log !~ /PANIC:|TRAP:|terminated by signal (?!9)/, 'no crash in the log but those that were made');
ok($log !~ /WARNING:  .*(leak|snapshot|you don't own)/, 'nothing leaks');

# ---- what an attacker found

# A release is that of the role who paid, whatever its name looks like.
query(q{CREATE ROLE "Ana X" LOGIN; CREATE ROLE """Ana X""" LOGIN IN ROLE pg_read_all_stats; SET ROLE owner; SELECT dp_grant('b', 'Ana X')});
like((as('"Ana X"', "$open; SELECT model IS NOT NULL FROM dp_releases WHERE role = 'Ana X'"))[0], qr/^200\nt$/m, 'who paid sees the release');
is((as('"""Ana X"""', "SELECT count(*), count(r.model) FROM dp_ledger l LEFT JOIN dp_releases r USING (budget, entry) WHERE l.role = 'Ana X'"))[0], '1|0', 'and nobody with a similar name');

# Code of the caller that registers something to be done at the end of its
# session
query(q{
	CREATE FUNCTION at_exit() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
		IF current_setting('my.done', true) IS DISTINCT FROM 'yes' THEN PERFORM set_config('my.done', 'yes', false); PERFORM pg_backup_start('z', true); END IF;
	END $$;
	CREATE FUNCTION exits(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM at_exit(); RETURN i; END $$;
	CREATE TABLE spare AS SELECT i AS id, i % 3 = 0 AS ill, i % 50 AS age FROM generate_series(1, 200) i;
});
my $started = query('SELECT pg_postmaster_start_time(), count(*) FROM pg_stat_activity WHERE backend_type = $$checkpointer$$ GROUP BY 1');
my ($tuned, $tuning_error) = as('ana', "SELECT dp_logreg_tune('people', 'ill', '{age}', 0.01, candidates => '[{\"lambda\": 0.1}, {\"lambda\": 0.01}]', purpose => exits(1)::text)::jsonb -> 'tuning' ->> 'rows'; $open");
is($tuned, "200\n200", 'a caller with something to do at the end of the session');
unlike(slurp_file($node->logfile), qr/signal 11/, 'and the server stays');

# What is public ends with the subtransaction that catches a public error; and
# nothing trains within a worker.
query(q{
	SET SESSION AUTHORIZATION owner;
	CREATE FUNCTION chatty(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
		BEGIN PERFORM public.dp_logreg(true, ARRAY[1::float8], 1::float8, '{"lambda": 1e-300, "method": "output"}'::jsonb); EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN PERFORM public.dp_logreg_train('public.spare', 'ill', 'age'::text, 1); EXCEPTION WHEN OTHERS THEN NULL; END;
		RAISE INFO 'canary %', i;
		RETURN i;
	END $$;
});
have_call('public.chatty(1)');
my (undef, $chat) = as('ana', "SELECT dp_logreg_train('held', 'ill', '{age}', 0.01) IS NOT NULL");
unlike($chat, qr/canary/, 'no message after a public error that was caught');

# What is set and written in the worker is undone.
query(q{
	SET SESSION AUTHORIZATION owner;
	CREATE FUNCTION sets(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('default_transaction_read_only', 'on', false), set_config('quote_all_identifiers', 'on', false); RETURN i; END $$;
	CREATE FUNCTION writes(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN BEGIN PERFORM set_config('transaction_read_only', 'off', true), lo_create(0); EXCEPTION WHEN OTHERS THEN NULL; END; PERFORM set_config('transaction_read_only', 'on', true); RETURN i; END $$;
});
foreach my $function ('sets', 'writes')
{
	have_call("public.$function(1)");
	is((as('ana', "SELECT dp_logreg_train('held', 'ill', '{age}', 0.01)::jsonb ->> 'rows'; SELECT l.release, r.model IS NOT NULL FROM dp_ledger l LEFT JOIN dp_releases r USING (budget, entry) WHERE l.relation = 'public.held' AND l.role = 'ana' ORDER BY entry DESC LIMIT 1"))[0], "200\nkept|t", "what functions do ends with the rows: $function");
}
have_call('');
is(query('SELECT count(*) FROM pg_largeobject_metadata'), '0', 'they have written nothing');

# A worker keeps its slot when its session has been cancelled.
query(q{
	SET SESSION AUTHORIZATION owner;
	CREATE VIEW slowly AS SELECT ill, age + (0 * (}
	. join(' + ', map { "mod(repeat((9 - 0 * age)::text, 60000)::numeric ^ 2, 7 + $_)" } 1 .. 60) . q{))::int AS age FROM people;
	SELECT dp_protect('slowly', domains => '{"age": [0, 50]}');
});
my $most = 0;
for (1 .. 3)
{
	as('dora', "SET statement_timeout = '400ms'; SELECT dp_logreg_train('slowly', 'ill', '{age}', 0.01)");
	my $now = query(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'dperm'});
	$most = $now if $now > $most;
}
is($most, 1, 'a role has its quarter of the workers, also of those whose sessions are gone');
query("SELECT pg_cancel_backend(pid) $workers");
poll(q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dperm'});

# What the catalog rules out is detected before the charge.
query(q{
	CREATE ROLE reader; GRANT reader TO owner;
	CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing; GRANT USAGE ON FOREIGN SERVER nowhere TO owner;
	SET SESSION AUTHORIZATION owner;
	CREATE MATERIALIZED VIEW unfilled AS SELECT id, ill, age FROM people;
	CREATE TABLE behind AS SELECT ill, age FROM people; CREATE VIEW before_it AS SELECT ill, age FROM behind;
	CREATE TABLE worded AS SELECT CASE WHEN ill THEN 'yes' ELSE 'no' END AS ill, age FROM people;
	CREATE FOREIGN TABLE far (ill boolean, age int) SERVER nowhere;
	SELECT dp_budget_create('stored', 1), dp_grant('stored', 'ana'), dp_protect('unfilled', 'stored', unit => 'id', domains => '{"age": [0, 50]}');
	SELECT dp_protect(t, 'b', domains => '{"age": [0, 50]}') FROM unnest('{behind,before_it,worded,far}'::text[]) t;
	REFRESH MATERIALIZED VIEW unfilled WITH NO DATA;
	REVOKE SELECT ON behind FROM owner;
});
query("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ana");
$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
foreach my $relation ('unfilled', 'before_it', 'far')
{
	like((as('ana', "SELECT dp_logreg_train('$relation', 'ill', '{age}', 0.01)"))[1],
		$relation eq 'before_it' ? qr/ERROR:  42501: permission denied for table behind/ : qr/ERROR:  39000: the protected relation could not be read\nDETAIL:  Nothing has been charged\./, "$relation: cannot be read");
	not_charged($relation);
}
is(query("SELECT count(*) FROM dp_ledger WHERE budget = 'stored' AND act = 'charge'"), 0, 'unfilled: nothing is charged');
is((as('ana', "SELECT dp_logreg_train('worded', 'ill', '{age}', 0.01, positive => 'yes')::jsonb ->> 'rows'"))[0], 200, 'an owner needs no function of ours');
charged('an owner needs no function of ours', 'kept');
query("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC");

# So is what is wrong with a value or a setting.
query('GRANT SELECT ON spare TO ana');
foreach my $case (
	[ "dp_logreg_train('people', 'ill', '{age}', 0.01, positive => repeat(' ', 3000000) || 'true')", qr/22023: positive is longer than/ ])
{
	like((as('ana', "SELECT $case->[0]"))[1], $case->[1], substr($case->[0], 0, 100));
	not_charged(substr($case->[0], 0, 100));
}
my $parallel = query(q{SELECT name FROM pg_settings WHERE name IN ('debug_parallel_query', 'force_parallel_mode')});
query(q{SET ROLE ana; CREATE FUNCTION ana.wraps(i int) RETURNS void PARALLEL SAFE LANGUAGE plpgsql AS $$ BEGIN PERFORM public.dp_budget_charge('b', 0.001); END $$});
like((as('ana', "SET $parallel = on; SELECT count(ana.wraps(age)) FROM spare"))[1], qr/ERROR:  25000: cannot charge a budget during a parallel operation/, 'a call that says it may run in parallel');
not_charged('in parallel');
is((as('ana', q{SET timezone = '<} . 'A' x 200 . q{>5'; } . $open))[0], 200, 'a long time zone');
charged('a long time zone', 'kept');

# No lock of a relation that the caller may not read outlives what only looks at
# it.
foreach my $call ("SELECT count(*) FROM dp_cost('people', 'ill', '{age}', epsilon => 0.01, units => 100)",
	"SELECT count(dp_logreg_tune('people', 'ill', '{age}', 0.01, candidates => '[{\"lambda\": 0.1}, {\"lambda\": 0.01}]'))")
{
	like((as('ana', "BEGIN; $call; SELECT string_agg(relation::regclass::text, ' ') FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN ('people'::regclass, 'held'::regclass)"))[0], qr/^\d\n?$/, "no lock is left: $call");
}
charged('tuned', 'kept');

# What the analyst puts in the way of what a view calls is not found.
query(q{
	CREATE SCHEMA ward AUTHORIZATION owner; GRANT USAGE ON SCHEMA ward TO ana; GRANT CREATE ON DATABASE postgres TO ana;
	SET SESSION AUTHORIZATION owner;
	CREATE VIEW ward.codes AS SELECT ill, age + ((CASE WHEN id = 13 THEN ARRAY[NULL, 5] ELSE ARRAY[5] END) @> ARRAY[5])::int AS age FROM people;
	SELECT dp_protect('ward.codes', domains => '{"age": [0, 51]}')});
my $coded = "SELECT dp_logreg_train('ward.codes', 'ill', '{age}', 0.01)::jsonb ->> 'rows'";
$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
is((as('ana', $coded))[0], 200, 'a call that nobody meddles with');
charged('a call that nobody meddles with', 'kept');
SKIP:
{
	skip 'no intarray', 2 unless query("SELECT count(*) FROM pg_available_extensions WHERE name = 'intarray'");
	as('ana', 'CREATE EXTENSION intarray SCHEMA pg_catalog');
	is((as('ana', $coded))[0], 200, 'an extension of the analyst');
	charged('an extension of the analyst', 'kept');
	query('DROP EXTENSION intarray');
}

# A superuser changes a grant in the meantime.
my $changer = start($superuser, 'BEGIN;', "UPDATE dperm.grants SET epsilon = 400 WHERE grantee = 'dora'::regrole;", $until_it_waits, 'COMMIT;');
poll("SELECT count(*) = 1 FROM pg_stat_activity WHERE query ~ 'changed' AND pid <> pg_backend_pid()");
is((as('dora', $open))[0], 200, 'a charge waits for the grant');
finish($changer);
is(query("SELECT epsilon, spent_epsilon > 0 FROM dperm.grants WHERE grantee = 'dora'::regrole"), '400|t', 'and takes it as it is then');

# The session user and the current user have a place each, and nobody waits with
# one in hand.
query(q{CREATE FUNCTION as_ana() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$ SELECT dp_logreg_train('people', 'ill', '{age}', 0.001)::jsonb ->> 'rows' $$; ALTER FUNCTION as_ana OWNER TO ana;
	CREATE FUNCTION as_ben() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$ SELECT dp_logreg_train('people', 'ill', '{age}', 0.001)::jsonb ->> 'rows' $$; ALTER FUNCTION as_ben OWNER TO ben});
my @crossed = map { start($_ % 2 ? ('ana', ('SELECT as_ben();') x 5) : ('ben', ('SELECT as_ana();') x 5)) } 1 .. 6;
finish($_) foreach @crossed;
is(join('', map { $_->{out} } @crossed), "200\n" x 30, 'calls of two roles for each other');

# Who protects the relation again, while others are being charged, waits until
# they have begun to read: no call is lost.
my @callers = map { start($_, qq{DO \$\$ BEGIN /* calls */ FOR i IN 1 .. 60 LOOP
	PERFORM dp_logreg_train('people', 'ill', '{age}', 0.0001);
	END LOOP; RAISE WARNING 'all done'; END \$\$;}) } 'ana', 'ben';
my $again = start('owner', q{CREATE PROCEDURE protects() LANGUAGE plpgsql AS $$ BEGIN WHILE EXISTS (SELECT FROM pg_stat_activity WHERE query ~ '/[*] calls' AND state = 'active') LOOP
	PERFORM dp_protect('people', 'b', domains => '{"age": [0, 50]}'); COMMIT; PERFORM pg_sleep(random() * 0.01); END LOOP; END $$; CALL protects();});
like(finish($_), qr/WARNING:  01000: all done$/m, 'registrations and charges at the same time') foreach @callers;
unlike(finish($again), qr/ERROR/, 'who protects the relation again');

# A dropped role spends nothing.
query(q{CREATE ROLE gone LOGIN; SET ROLE owner; SELECT dp_grant('b', 'gone')});
my $gone = start('gone', 'SELECT pg_backend_pid();');
$gone->{handle}->pump until $gone->{out} =~ /\n/;
query('DROP ROLE gone');
$gone->{in} .= "$open;\n";
like(finish($gone), qr/ERROR:  42704: role with OID \d+ has been dropped|ERROR:  42501/, 'a role that was dropped');

# The administrator can limit how long a call takes.
query("ALTER DATABASE postgres SET dperm.call_timeout = '2s'");
hold();
like((as('ben', $train))[1], qr/ERROR:  57014: .*dperm\.call_timeout.*The call has been charged/s, 'dperm.call_timeout');
let_go();
query("ALTER DATABASE postgres RESET dperm.call_timeout");

# What the worker says has the encoding of the database, whatever the clients
# of it have.
query("ALTER DATABASE postgres SET client_encoding = 'LATIN1'");
like((as('ben', q{DO $$ BEGIN PERFORM dp_logreg_train('people', 'ill', ARRAY[U&'\6570 \00F6'], 0.01); EXCEPTION WHEN undefined_column THEN RAISE WARNING 'said: %', sqlerrm = U&'column "\6570 \00F6" of relation "people" does not exist'; END $$}))[1],
	qr/said: t/, 'an error with letters that clients do not have');
query('ALTER DATABASE postgres RESET client_encoding');

# What was paid for cannot be written to the ledger: because somebody fills the
# lock table of the server while a call reads, or because of a disk. It is tried
# again, and who paid has it in any case, with a warning that nobody else can
# turn off.
my $file = $node->data_dir . '/' . query("SELECT pg_relation_filepath('dperm.releases')");
my $tries = "SELECT count(*) = 1 $workers AND wait_event_type = 'Extension'";
my $unkept = qr/WARNING:  01000: the result of the call could not be kept in the ledger\n/;
query("ALTER DATABASE postgres SET client_min_messages = 'error'");
foreach my $case (
	[ 'for a moment', sub { chmod 0, $file }, sub { poll($tries); chmod 0600, $file }, qr/^$/, qr/ kept$/ ],
	[ 'for longer', sub { chmod 0, $file }, undef, $unkept, qr/ lost$/ ],
	[ 'and the worker is cancelled', sub { chmod 0, $file }, sub { poll($tries); query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dperm'") }, $unkept, qr/ lost$/ ],
	[ 'for want of locks', sub { start('stranger', 'SELECT pg_backend_pid();', q{DO $$ DECLARE i int := 0; full boolean := false; BEGIN LOOP BEGIN i := i + 1; PERFORM pg_advisory_lock(1, i); EXCEPTION WHEN out_of_memory THEN IF NOT full THEN RAISE INFO 'full'; END IF; full := true; END; END LOOP; END $$;}) }, undef, qr/^$|$unkept/, qr/ (?:kept|lost)$/ ])
{
	my ($what, $spoil, $mend, $warning, $release) = @$case;
	$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
	hold();
	local $ENV{PGOPTIONS} = '-c client_min_messages=notice';
	my $s = start_reading('ana', "SELECT 'model ' || (dp_logreg_train('held', 'ill', '{age}', 0.01)::jsonb ->> 'rows');");
	my $spoils = $spoil->();
	if (ref $spoils) { $spoils->{handle}->pump until $spoils->{out} =~ /\n/; $spoils->{handle}->pump until $spoils->{err} =~ /full/ }
	let_go();
	$mend->() if $mend;
	like(finish($s), $warning, "not written $what: what is said");
	is($s->{out}, "model 200\n", "not written $what: the model is there");
	if (ref $spoils) { kill 'TERM', $spoils->{out}; finish($spoils) }
	chmod 0600, $file;
	$entries++;
	like(ledger(), qr/^$entries$release/, "not written $what: charged once");
	nothing_left("not written $what");
}
query('ALTER DATABASE postgres RESET client_min_messages');

# A call that fails at any of its moments says nothing of it, and is charged if it
# has come to read. When it is charged, no row has been read, and errors are said
# in full.
my $unread = qr/ERROR:  39000: the protected relation could not be read\n/;
foreach my $case (
	[ 'plan', $unread, 0 ],
	[ 'charge', qr/ERROR:  P0001: secret canary\n/, 0 ],
	[ 'read', $unread, 'failed' ],
	[ 'row_1', $unread, 'failed' ],
	[ 'row_200', $unread, 'failed' ],
	[ 'keep', $unkept, 'lost' ])
{
	my ($moment, $error, $release) = @$case;
	$entries = query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'");
	$node->append_conf('postgresql.conf', "instrument.fail = '$moment'\n");
	$node->reload;
	poll("SELECT current_setting('instrument.fail') = '$moment'");
	my $before = -s $node->logfile;
	my ($out, $err) = as('ana', "SET client_min_messages = debug5; SELECT 'model ' || (dp_logreg_train('held', 'ill', '{age}', 0.01)::jsonb ->> 'rows')");
	like($err, $error, "fails at $moment: what is said");
	unlike($err . $out . substr(slurp_file($node->logfile), $before), qr/canary/, "fails at $moment: nothing else") unless $moment eq 'charge';
	is($out, $moment eq 'keep' ? 'model 200' : '', "fails at $moment: a model");
	$release ? charged("fails at $moment", $release) : not_charged("fails at $moment");
	is(failure(), 'the relation could not be read', "fails at $moment: why") if $release eq 'failed';
	nothing_left("fails at $moment");
}
$node->append_conf('postgresql.conf', "instrument.fail = ''\n");
$node->reload;
poll("SELECT current_setting('instrument.fail') = ''");

# Who paid has the entry, whatever the role is called by now.
query(q{CREATE ROLE ren LOGIN; SET ROLE owner; SELECT dp_grant('b', 'ren')});
as('ren', $open);
query('ALTER ROLE ren RENAME TO ren2; CREATE ROLE ren LOGIN');
is((as($_->[0], 'SELECT count(*), count(r.model) FROM dp_ledger l LEFT JOIN dp_releases r USING (budget, entry) WHERE l.function IS NOT NULL'))[0], $_->[1], "renamed: $_->[0]") foreach [ 'ren2', '1|1' ], [ 'ren', '0|0' ];

$node->stop;
done_testing();
