# Calls, registrations and the owner's work at the same time. A call holds a lock
# on the registration from its check until it has been charged and has its
# snapshot: afterwards nobody waits for it who could not wait for a query. Who
# registers a relation takes that lock before the budget's, and none on the
# relation that writers would wait for.
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
$node->append_conf('postgresql.conf', "max_worker_processes = 16\nmax_prepared_transactions = 5\nautovacuum = off\nshared_preload_libraries = '$ENV{TEST_MODULES}/instrument$ENV{DLSUFFIX}'\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE ben LOGIN; CREATE ROLE cleo;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	CREATE SCHEMA h AUTHORIZATION owner; GRANT USAGE ON SCHEMA h TO PUBLIC;
	SET ROLE owner;
	SET client_min_messages = error;
	SELECT dp_budget_create(b, 400), dp_grant(b, 'ana'), dp_grant(b, 'ben') FROM unnest('{first,second}'::text[]) b;
	CREATE TABLE h.visits (id int PRIMARY KEY, person int, ill boolean, age float8, note text);
	INSERT INTO h.visits SELECT i, i / 2, i % 3 = 0, i % 50, repeat('x', i) FROM generate_series(1, 200) i;
	CREATE VIEW h.seen AS SELECT person, ill, age FROM h.visits WHERE age >= 0;
	CREATE TABLE h.source AS SELECT * FROM h.visits;
	CREATE MATERIALIZED VIEW h.stored AS SELECT * FROM h.source; CREATE UNIQUE INDEX ON h.stored (id);
	CREATE TABLE h.parts (person int, ill boolean, age float8) PARTITION BY RANGE (person);
	CREATE TABLE h.low PARTITION OF h.parts FOR VALUES FROM (0) TO (50); CREATE TABLE h.high PARTITION OF h.parts FOR VALUES FROM (50) TO (200);
	CREATE INDEX ON h.parts (person);
	INSERT INTO h.parts SELECT person, ill, age FROM h.visits;
});
my $domains = q{unit => 'person', domains => '{"age": [0, 50]}'};
my $superuser = $ENV{PGUSER} // scalar getpwuid($<);

sub query { return $node->safe_psql('postgres', shift); }
sub poll { my ($sql) = @_; $node->poll_query_until('postgres', $sql) or die "never: $sql"; }

# Statements of a role from beginning to end; what they say, without notices and
# warnings.
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION $role; SET client_min_messages = error; $sql", stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $out . ($err =~ s/^psql:<stdin>:\d+: //r);
}

# Starts a session of a role, which waits for more input.
sub start
{
	my ($role, @sql) = @_;
	my %s = (in => join('', map { "$_\n" } "\\set VERBOSITY verbose", 'SET client_min_messages = error;', @sql), out => '', err => '');
	local $ENV{PGAPPNAME} = "session of $role";
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . " user=$role" ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err}, IPC::Run::timeout(180));
	$s{handle}->pump while length $s{in};
	return \%s;
}

# Ends a session, and returns what it has said.
sub finish
{
	my ($s) = @_;
	$s->{handle}->finish;
	return $s->{out} . $s->{err};
}

# Has calls that begin from now on wait at moments: test/modules/instrument.c
my %keys = (charge => -2, read => -3);
sub hold_at
{
	my (@moments) = @_;
	my $list = join ',', @moments;
	$node->append_conf('postgresql.conf', "instrument.hold = '$list'\n");
	$node->reload;
	poll("SELECT current_setting('instrument.hold') = '$list'");
	return;
}

# Who holds a moment.
sub keep_from
{
	my ($moment) = @_;
	my $s = start($superuser, "SELECT pg_advisory_lock($keys{$moment});");
	poll(qq{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND objsubid = 1 AND objid = ($keys{$moment} + 4294967296)::oid});
	return $s;
}
my $waiting = "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event = 'PgSleep'";

# Locks on registrations: of workers, or that somebody waits for.
my $objects = q{SELECT coalesce(string_agg(objid::regclass || ' ' || mode, ', ' ORDER BY objid::regclass::text), '') FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'object' AND l.classid = 'dperm.protected'::regclass};
sub locks_of_worker { return query("$objects AND a.backend_type = 'dperm' AND l.granted"); }
my $awaited = "$objects AND NOT l.granted";

sub train { my ($relation) = @_; return "SELECT dp_logreg_train('$relation', 'ill', 'age', 0.01)::jsonb ->> 'persons'" }

# The last charge of a relation: who has paid, and what has become of it.
sub last_charge { my ($relation) = @_; return query("SELECT budget, release FROM dp_ledger WHERE act = 'charge' AND relation = '$relation' ORDER BY at DESC LIMIT 1"); }
sub charges { return query("SELECT count(*) FROM dp_ledger WHERE act = 'charge'"); }

# What others do with tables; the index has to be dropped when nobody reads.
my @work = ('INSERT INTO h.visits SELECT max(id) + 1, 1, true, 5 FROM h.visits', 'UPDATE h.visits SET age = 3 WHERE person = 3', 'DELETE FROM h.visits WHERE id > 300', 'INSERT INTO h.parts VALUES (1, true, 1)', 'VACUUM h.visits', 'ANALYZE h.visits', 'CREATE INDEX beside ON h.visits (age)');

# ---- beside a call that has been charged, nobody waits

query("SET ROLE owner; SET client_min_messages = error; SELECT dp_protect(t, 'first', $domains) FROM unnest('{h.visits,h.stored,h.parts}'::text[]) t; SELECT dp_protect('h.seen')");
foreach my $case (
	[ 'h.visits', 'h.visits' ],
	[ 'h.seen', 'h.visits' ],
	[ 'h.stored', 'h.stored', 'h.source' ],
	[ 'h.parts', 'h.parts' ])
{
	my ($relation, $table, $written) = @$case;
	$written //= $table;
	my $id = $written eq 'h.parts' ? 'age' : 'id';
	my $persons = as('owner', "SELECT count(DISTINCT person) FROM $relation");
	hold_at('read');
	my $holder = keep_from('read');
	my $call = start('ana', train($relation) . ';');
	poll($waiting);
	is(last_charge($relation), 'first|running', "$relation: a call is charged, and goes on");
	is(locks_of_worker(), '', "$relation: its lock on the registration is gone");
	hold_at();

	# but not that of any reader
	like(as('owner', "SET lock_timeout = '200ms'; " . ($table eq 'h.stored' ? "REFRESH MATERIALIZED VIEW $table" : "ALTER TABLE $table ADD more int")), qr/^ERROR:  55P03: canceling statement due to lock timeout/, "$relation: it is locked like whatever is read");
	foreach my $beside (
		"INSERT INTO $written (person, ill, age" . ($id eq 'id' ? ", id) SELECT 1, true, 5, max(id) + 1 FROM $written" : ') VALUES (1, true, 5)'),
		"INSERT INTO $written SELECT * FROM $written WHERE $id < 0",
		"UPDATE $written SET age = age + 1 WHERE age < 49", "DELETE FROM $written WHERE $id = 7", "SELECT 1 FROM $written WHERE $id = 8 FOR UPDATE LIMIT 1",
		"CREATE INDEX beside ON $table (age)", "VACUUM $written", "VACUUM $table", "ANALYZE $table", "ALTER TABLE $written ALTER age SET STATISTICS 50",
		($relation eq 'h.stored' ? "REFRESH MATERIALIZED VIEW CONCURRENTLY $table" : ()),
		"SELECT dp_protect('$table', domains => '{\"age\": [0, 60]}')", "SELECT dp_protect('$table', 'second')", "SELECT dp_protect('h.seen')",
		"SELECT dp_grant('first', 'cleo', 1)", "SELECT dp_revoke('first', 'cleo')", "SELECT dp_budget_alter('first', add => 1)", "SELECT dp_budget_charge('first', 0.001)",
		"SELECT dp_unprotect('$table')", "SELECT dp_protect('$table', 'second', $domains)", ($table eq 'h.visits' ? "SELECT dp_protect('h.seen')" : ()))
	{
		unlike(as('owner', "SET lock_timeout = '2s'; SET statement_timeout = '60s'; $beside"), qr/ERROR/, "$relation: beside it: $beside");
	}
	is(as('ben', "SET lock_timeout = '2s'; " . train($relation)), as('owner', "SELECT count(DISTINCT person) FROM $relation"), "$relation: beside it: another call");
	is(last_charge($relation), 'second|kept', "$relation: which the other budget pays");
	poll($waiting);
	finish($holder);
	is(finish($call), "$persons\n", "$relation: the call has seen nothing of that");
	is(query("SELECT release FROM dp_ledger WHERE budget = 'first' AND relation = '$relation' AND act = 'charge' ORDER BY entry DESC LIMIT 1"), 'kept', "$relation: and was paid by the first one");
	query("SET ROLE owner; SET client_min_messages = error; DROP INDEX h.beside; SELECT dp_protect('$table', 'first', $domains)");
}

# ---- before the charge, who changes the registration waits until then

foreach my $case ([ 'h.visits', 'h.visits', 'h.visits ShareLock' ], [ 'h.seen', 'h.visits', 'h.seen ShareLock, h.visits ShareLock' ], [ 'h.seen', 'h.seen', 'h.seen ShareLock, h.visits ShareLock' ], [ 'h.parts', 'h.parts', 'h.parts ShareLock' ])
{
	my ($relation, $changed, $locks) = @$case;
	my $what = "$changed is protected, call on $relation";
	hold_at('charge', 'read');
	my @holders = map { keep_from($_) } 'charge', 'read';
	my $call = start('ana', train($relation) . ';');
	poll($waiting);
	my $charges = charges();
	is(locks_of_worker(), $locks, "$what: the worker holds the registration");
	like(as('owner', "SET lock_timeout = '200ms'; SELECT dp_unprotect('$changed')"), qr/^ERROR:  55P03: canceling statement due to lock timeout/, "$what: who changes it waits");
	my $protects = start('owner', "SELECT dp_protect('$changed', domains => '{\"age\": [0, 55]}');", "SELECT 'protected';");
	poll("SELECT ($awaited) <> ''");
	is(query($awaited), "$changed ExclusiveLock", "$what: for the registration");

	# they do not make others wait
	unlike(as('owner', "SET lock_timeout = '2s'; $_"), qr/ERROR/, "$what: $_") foreach @work;
	is(charges(), $charges, "$what: the call is not charged yet");
	finish($holders[0]);
	$protects->{handle}->pump until $protects->{out} =~ /protected/ || $protects->{err} =~ /ERROR/;
	is(finish($protects), "\nprotected\n", "$what: it is protected");
	is(charges(), $charges + 1, "$what: when the call has been charged");
	ok($node->poll_query_until('postgres', $waiting), "$what: which goes on");
	finish($holders[1]);
	like(finish($call), qr/^\d+\n$/, "$what: and is answered");
	is(last_charge($relation), 'first|kept', "$what: and kept");
	query("DROP INDEX h.beside; SET ROLE owner; SET client_min_messages = error; SELECT dp_protect('$changed', domains => '{\"age\": [0, 50]}')");
	hold_at();
}

# ---- after the charge, no catalog is waited for that says what shares rows with what

foreach my $relation ('h.visits', 'h.seen', 'h.parts')
{
	hold_at('charge');
	my $charge = keep_from('charge');
	my $call = start('ana', train($relation) . ';');
	poll($waiting);
	my $maintenance = start($superuser, 'BEGIN; LOCK TABLE pg_inherits;', "SELECT 'locked';");
	$maintenance->{handle}->pump until $maintenance->{out} =~ /locked/ || $maintenance->{err} =~ /ERROR/;
	finish($charge);
	like(finish($call), qr/^\d+\n$/, "$relation: answered while pg_inherits is locked");
	finish($maintenance);
	is(last_charge($relation), 'first|kept', "$relation: and kept");
	hold_at();
}

# ---- a registration that is not committed

my $too_late = qr/^ERROR:  55P03: could not lock the budget or the protected relation in time\nDETAIL:  Nothing has been charged\.\nHINT:  /;
foreach my $case (
	[ "SELECT dp_protect('h.visits', 'second')", 'h.visits', 'h.seen' ],
	[ "SELECT dp_unprotect('h.visits')", 'h.visits', 'h.seen' ],
	[ "SELECT dp_protect('h.seen', domains => '{\"age\": [0, 40]}')", 'h.seen' ],
	[ "SELECT dp_unprotect('h.seen')", 'h.seen' ])
{
	my ($change, @closed) = @$case;
	my $charges = charges();
	foreach my $relation (@closed)
	{
		my $start = time();
		like(as('owner', "BEGIN; $change; " . train($relation)), qr/^\n?ERROR:  (?:55000: .*"\w+" has been (?:protected|ended) by this transaction\nHINT:  Commit first|42501: relation "seen" reads protected relation "visits" and is not protected itself\n)/, "$change: the same transaction does not train on $relation");
		cmp_ok(time() - $start, '<', 2.5, "$change: it is told at once");
	}
	is(as('owner', "BEGIN; $change; PREPARE TRANSACTION 'open'"), '', "$change: a transaction is open");
	foreach my $relation (@closed)
	{
		my $start = time();
		like(as('ana', train($relation)), $too_late, "$change: a call on $relation of somebody else is refused");
		cmp_ok(time() - $start, '>', 2.5, "$change: it has waited");
		cmp_ok(time() - $start, '<', 15, "$change: but not for long");
	}
	is(charges(), $charges, "$change: nothing is charged");
	unlike(as('owner', "SET lock_timeout = '2s'; $_"), qr/ERROR/, "$change: $_") foreach @work;

	# who waits when it ends goes on
	my $call = start('ana', train($closed[0]) . ';');
	poll("SELECT ($awaited) <> ''");
	query("ROLLBACK PREPARED 'open'");
	like(finish($call), qr/^\d+\n$/, "$change: a call that waits for it goes on");
	is(last_charge($closed[0]), 'first|kept', "$change: as it was");
	query('DROP INDEX h.beside');
}

# ---- what is locked by who registers

foreach my $relation ('h.visits', 'h.seen', 'h.stored', 'h.parts')
{
	my $table = $relation eq 'h.seen' ? 'h.visits' : $relation;
	my $modes = as('owner', "BEGIN; SELECT dp_protect('$relation', domains => '{\"age\": [0, 45]}'); SELECT dp_unprotect('$relation'); SELECT dp_grant('first', 'cleo', 2); SELECT dp_revoke('first', 'cleo'); SELECT dp_budget_alter('first', add => 1); SELECT count(*) FROM dp_domains('$table');
		SELECT 'locks: ' || string_agg(DISTINCT l.mode, ' '), count(DISTINCT c.oid) > 0 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE l.pid = pg_backend_pid() AND (c.relnamespace = 'h'::regnamespace OR c.relnamespace = 'pg_toast'::regnamespace AND c.oid NOT IN (SELECT t.reltoastrelid FROM pg_class t WHERE t.relnamespace <> 'h'::regnamespace)); ROLLBACK");
	like($modes, qr/^locks: AccessShareLock\|t$/m, "$relation: who registers it takes no lock that writers wait for");
}

# ---- two tables change places: both wait for the same budget first

query("SET ROLE owner; SET client_min_messages = error; SELECT dp_protect('h.visits', 'first'), dp_protect('h.parts', 'second')");
my @budgets = map { start($superuser, 'BEGIN;', "SELECT 'locked' FROM dperm.budgets WHERE budget = '$_' FOR UPDATE;") } 'first', 'second';
foreach my $s (@budgets) { $s->{handle}->pump until $s->{out} =~ /locked/ }
my @movers = map { start('owner', "$_;", q{SELECT 'moved';}) } "SELECT dp_protect('h.visits', 'second')", "SELECT dp_protect('h.parts', 'first')";
my $both_wait = "SELECT count(*) = 2 FROM pg_stat_activity WHERE application_name = 'session of owner' AND wait_event_type = 'Lock'";
poll($both_wait);
finish($budgets[1]);
# it is not what they wait for: there is nothing to be seen
sleep(0.5);
is(query($both_wait), 't', 'who changes two budgets waits for the same one first');
finish($budgets[0]);
is(finish($_), "\nmoved\n", 'tables change places') foreach @movers;
is(query("SELECT relation, budget FROM dp_protected WHERE relation IN ('h.parts', 'h.visits') ORDER BY 1"), "h.parts|first\nh.visits|second", 'and have done so');

# ---- calls and registrations at the same time, for some seconds

query(q{SET ROLE owner; SET client_min_messages = error;
	SELECT dp_unprotect(t) FROM unnest('{h.visits,h.stored,h.parts}'::text[]) t;
	SELECT dp_budget_create(b, 400), dp_grant(b, 'ana'), dp_grant(b, 'ben') FROM unnest('{third,fourth}'::text[]) b;
	SELECT dp_protect(t, 'third', unit => 'person', domains => '{"age": [0, 50]}') FROM unnest('{h.visits,h.parts}'::text[]) t; SELECT dp_protect('h.seen');
	RESET ROLE;
	-- whatever goes wrong, and how often
	CREATE TABLE public.trouble (who name, state text, message text); GRANT INSERT ON public.trouble TO PUBLIC;
	CREATE PROCEDURE public.repeat(commands text[], until timestamptz) LANGUAGE plpgsql AS $$
	BEGIN
		WHILE clock_timestamp() < until LOOP
			BEGIN
				EXECUTE commands[1 + floor(random() * cardinality(commands))];
			EXCEPTION WHEN OTHERS THEN INSERT INTO public.trouble VALUES (current_user, SQLSTATE, SQLERRM);
			END;
			COMMIT;
			PERFORM pg_sleep(random() * 0.005);
		END LOOP;
	END $$;
});
my @relations = ('h.visits', 'h.parts', 'h.seen');
my @protects = map { my ($t, $b) = @$_; map { "SELECT dp_protect('$t', '$b', domains => '{\"age\": [0, $_]}')" } 40, 50 } map { my $t = $_; map { [ $t, $_ ] } 'third', 'fourth' } 'h.visits', 'h.parts';
my $until = query("SELECT clock_timestamp() + interval '6 seconds'");
my $repeat = sub { my ($role, @commands) = @_; return start($role, 'CALL public.repeat(ARRAY[' . join(', ', map { "\$c\$$_\$c\$" } @commands) . "], '$until');") };
my @sessions = (
	(map { $repeat->('owner', @protects, "SELECT dp_protect('h.seen')") } 1, 2),
	$repeat->('owner', "SELECT dp_grant('third', 'cleo', 1 + random())", "SELECT dp_budget_alter('fourth', 400 + random())", "SELECT dp_grant('fourth', 'ana', 300 + random())", "INSERT INTO h.parts VALUES (1, true, 1)", 'UPDATE h.visits SET age = age WHERE id = 8'),
	map { my $role = $_; $repeat->($role, map { "SELECT dp_logreg_train('$_', 'ill', 'age', 0.001)" } @relations) } 'ana', 'ben');
is(finish($_), '', 'a session is done') foreach @sessions;
is(query("SELECT DISTINCT who, state, message FROM public.trouble WHERE state <> '55P03' OR who = 'owner'"), '', 'no deadlock, and no other error');
my $given_up = query("SELECT count(*) FROM public.trouble WHERE state = '55P03'");
my $done = query("SELECT count(*) FROM dp_ledger WHERE act = 'charge' AND budget IN ('third', 'fourth')");
cmp_ok($done, '>', 10 * (1 + $given_up), "there were $done calls; $given_up have waited for too long");
is(query("SELECT budget, count(*) > 5, max(entry) - count(*), sum(epsilon) FILTER (WHERE act = 'charge') = (SELECT epsilon_spent FROM dp_budgets b WHERE b.budget = l.budget), sum(epsilon) FILTER (WHERE act = 'charge') = (SELECT sum(epsilon_spent) FROM dp_grants g WHERE g.budget = l.budget), bool_and(release = 'kept')
	FROM dp_ledger l WHERE budget IN ('third', 'fourth') GROUP BY budget ORDER BY 1"), "fourth|t|0|t|t|t\nthird|t|0|t|t|t", 'ledgers have no gaps, and add up');

# Each charge is that of the registration then: the last one before it, of its table
is(query(q{WITH charges AS (SELECT l.*, CASE l.relation WHEN 'h.seen' THEN 'h.visits' ELSE l.relation END AS of, r.model::jsonb #>> '{features,0,high}' AS high
		FROM dp_ledger l JOIN dp_releases r USING (budget, entry) WHERE l.act = 'charge' AND budget IN ('third', 'fourth')),
	registered AS (SELECT c.budget, c.relation, c.high, p.budget AS registered, p.details FROM charges c,
		LATERAL (SELECT p.budget, p.details FROM dp_ledger p WHERE p.act = 'protect' AND p.relation = c.of AND p.at < c.at ORDER BY p.at DESC LIMIT 1) p)
	SELECT count(*) FILTER (WHERE budget <> registered), count(*) FILTER (WHERE details NOT LIKE '%[0, ' || high || ']%'), count(DISTINCT (budget, relation, high)) > 6, count(*) FROM registered}),
	"0|0|t|$done", 'each call has been charged to the budget that its table had then, and has had its domains');
unlike(slurp_file($node->logfile), qr/deadlock detected|TRAP:|PANIC:|terminated by signal/, 'nothing else is in the log');

$node->stop;
done_testing();
