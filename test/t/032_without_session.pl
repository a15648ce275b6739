# A call on a protected relation that has been charged does not need its session:
# whatever ends that, the result is kept. Whoever paid, the owners of budget and
# table, and superusers cancel it by its entry in the ledger, and nobody else does.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

plan skip_all => 'the modules are built by make tap' unless $ENV{TEST_MODULES};

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "max_worker_processes = 8\nmax_logical_replication_workers = 0\nmax_parallel_workers = 0\n"
	. "shared_preload_libraries = '$ENV{TEST_MODULES}/instrument$ENV{DLSUFFIX}'\ninstrument.hold = 'plan, charge, row_1, keep'\ninstrument.relation = 'held'\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner LOGIN; CREATE ROLE keeper LOGIN IN ROLE owner; CREATE ROLE ana LOGIN; CREATE ROLE ben LOGIN; CREATE ROLE stranger LOGIN; CREATE ROLE member LOGIN IN ROLE ana;
	CREATE ROLE auditor LOGIN IN ROLE pg_read_all_stats; CREATE ROLE signals LOGIN IN ROLE pg_signal_backend;
	GRANT CREATE ON SCHEMA public TO keeper; GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	SET SESSION AUTHORIZATION owner;
	SELECT dp_budget_create('b', 400), dp_grant('b', 'ana'), dp_grant('b', 'ben');
	SET SESSION AUTHORIZATION keeper;
	CREATE TABLE held AS SELECT i % 3 = 0 AS ill, i % 50 AS age FROM generate_series(1, 200) i;
	CREATE VIEW seen AS SELECT * FROM held;
	SELECT dp_protect('held', 'b', domains => '{"age": [0, 50]}'), dp_protect('seen');
	RESET SESSION AUTHORIZATION;
	REVOKE owner FROM keeper;
	CREATE TABLE made AS SELECT dp_logreg_train('held', 'ill', '{age}', 1) AS model; GRANT SELECT ON made TO ana;
});

my $train = "SELECT dp_logreg_train('held', 'ill', '{age}', 0.01);";
my $evaluate = "SELECT * FROM dp_evaluate((SELECT model FROM made), 'held', epsilon => 0.01);";
my $superuser = $ENV{PGUSER} // scalar getpwuid($<);

# ---- sessions

sub query { return $node->safe_psql('postgres', shift); }
sub poll { my ($sql) = @_; $node->poll_query_until('postgres', $sql) or die "never: $sql"; }

# Starts a session of a role, which waits for more input.
sub start
{
	my ($role, @sql) = @_;
	my %s = (in => join('', map { "$_\n" } "\\set VERBOSITY verbose", 'SET client_min_messages = warning;', @sql), out => '', err => '');
	local $ENV{PGAPPNAME} = "session of $role";
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . " user=$role" ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err}, IPC::Run::timeout(180));
	$s{handle}->pump while length $s{in};
	return \%s;
}
sub finish
{
	my ($s) = @_;
	eval { $s->{handle}->finish; 1 } or eval { $s->{handle}->kill_kill };
	return $s->{err} =~ s/^LOCATION:.*\n//mgr;
}

# Statements of a role from beginning to end; what they say.
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION $role; SET client_min_messages = warning; $sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return $out . ($err =~ s/^psql:\S+ //mgr =~ s/^LOCATION:.*\n?//mgr);
}

my $session = "FROM pg_stat_activity WHERE application_name = 'session of ana'";
my $workers = "FROM pg_stat_activity WHERE backend_type = 'dperm'";

# Keeps calls from going on at a moment: test/modules/instrument.c
my %key = (plan => -1, charge => -2, row_1 => 1, keep => -4);
my $holder;
sub hold
{
	my ($moment) = @_;
	$holder = start($superuser, "SELECT pg_advisory_lock($key{$moment});");
	poll("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ExclusiveLock' AND granted");
	return;
}
sub let_go { finish($holder); return; }
sub start_at_moment
{
	my ($moment, @call) = @_;
	hold($moment);
	my $s = start(@call);
	poll("SELECT count(*) = 1 $workers AND wait_event = 'PgSleep'");
	return $s;
}
sub nobody_left { my ($what) = @_; poll("SELECT count(*) = 0 $workers"); is(query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), 0, "$what: no lock is left"); return; }

# The last entry, and what became of it.
sub last_entry { return query("SELECT max(entry) FROM dp_ledger WHERE budget = 'b'"); }
sub release { return query("SELECT entry, release FROM dp_ledger WHERE budget = 'b' ORDER BY entry DESC LIMIT 1"); }
sub failure { return query("SELECT failure FROM dp_releases WHERE budget = 'b' ORDER BY entry DESC LIMIT 1"); }
my $log = 0;
sub new_in_log { my $all = slurp_file($node->logfile); my $new = substr($all, $log); $log = length $all; return $new; }

# ---- before the charge, the end of the session is that of the call; once it is committed, or about to be, the result is kept

my %ways = (
	cancel => [ [], "SELECT pg_cancel_backend(pid) $session", qr/ERROR:  57014: canceling statement due to user request\n/ ],
	'statement_timeout' => [ ["SET statement_timeout = '3s';"], undef, qr/ERROR:  57014: canceling statement due to statement timeout\n/ ],
	terminate => [ [], "SELECT pg_terminate_backend(pid) $session", qr/FATAL:  57P01: terminating connection due to administrator command\n/ ],
	'client gone' => [ ["SET client_connection_check_interval = '50ms';"], sub { $_[0]->{handle}->kill_kill }, undef ]);
foreach my $moment ('plan', 'charge', 'row_1', 'keep')
{
	foreach my $way (sort keys %ways)
	{
		my ($settings, $end, $error) = @{ $ways{$way} };
		my $what = "$way at $moment";
		my $charged = $moment eq 'row_1' || $moment eq 'keep';
		my $later = $charged || $moment eq 'charge';
		my $before = last_entry();
		my $entry = $before + 1;
		new_in_log();
		my $s = start_at_moment($moment, 'ana', @$settings, $moment eq 'keep' ? $evaluate : $train);
		like(release(), $charged ? qr/^$entry\|running$/ : qr/^$before\|/, "$what: " . ($charged ? 'charged' : 'not charged'));
		my $pid = query("SELECT pid $workers");
		ref $end ? $end->($s) : $end ? query($end) : undef;
		my $said = finish($s);
		poll("SELECT count(*) = 0 $session AND state = 'active'");
		ok($node->poll_query_until('postgres', "SELECT pid, wait_event $workers", "$pid|PgSleep"), "$what: the worker is where it was");
		if ($later)
		{
			my $thing = $moment eq 'keep' ? 'metrics' : 'model';
			my $detail = $charged ? qr/DETAIL:  The call has been charged, as entry $entry of budget "b"; the $thing will be in dp_releases\.\nHINT:  dp_cancel\('b', $entry\) stops it; what was charged stays charged\.\n/ :
				qr/DETAIL:  The call may have been charged, as entry $entry of budget "b": see dp_ledger\.\n/;
			like($said, qr/^$error$detail/, "$what: what is said") if $error;
			is(release(), "$entry|running", "$what: and is running") if $charged;
			let_go();
			nobody_left($what);
			is(release(), "$entry|kept", "$what: the result is kept");
			is(query("SELECT role, function, relation, coalesce(model::jsonb ->> 'rows', jsonb_typeof(metrics)), coalesce(model::jsonb #>> '{ledger,entry}', '$entry'), failure FROM dp_releases WHERE budget = 'b' AND entry = $entry"),
				'ana|' . ($moment eq 'keep' ? 'dp_evaluate|public.held|array' : 'dp_logreg_train|public.held|200') . "|$entry|", "$what: which is that of the call");
		}
		else
		{
			like($said, qr/^$error(?!DETAIL)/, "$what: what is said") if $error;
			let_go();
			nobody_left($what);
			is(last_entry(), $before, "$what: nothing is charged");
		}
		unlike(new_in_log(), $way eq 'cancel' || $way eq 'statement_timeout' ? qr/FATAL|PANIC|TRAP/ : qr/PANIC|TRAP|terminating background worker/, "$what: the log has no worker that was ended");
	}
}

# The transaction of the session makes no difference, and the session goes on,
# even with another call.
foreach my $case (
	[ 'ROLLBACK', [ 'BEGIN;', $train, 'ROLLBACK;' ] ],
	[ 'COMMIT', [ 'BEGIN;', $train, 'COMMIT;' ] ],
	[ 'a savepoint', [ 'BEGIN;', 'SAVEPOINT s;', $train, 'ROLLBACK TO s;', 'COMMIT;' ] ],
	[ 'an exception block', [ "DO \$\$ BEGIN PERFORM dp_logreg_train('held', 'ill', '{age}', 0.01); EXCEPTION WHEN query_canceled THEN NULL; END \$\$;" ] ],
	[ 'a cursor', [ 'BEGIN;', "DECLARE c CURSOR FOR $train", 'FETCH c;', 'ROLLBACK;' ] ],
	[ 'REPEATABLE READ', [ 'BEGIN ISOLATION LEVEL REPEATABLE READ;', $train, 'ROLLBACK;' ] ])
{
	my ($what, $sql) = @$case;
	my $entry = last_entry() + 1;
	my $s = start_at_moment('row_1', 'ana', @$sql, "SELECT 'goes on';", "SELECT dp_budget_charge('b', 0.01);");
	query("SELECT pg_cancel_backend(pid) $session");
	my $said = finish($s);
	like($said, $what eq 'an exception block' ? qr/^$/ : qr/^ERROR:  57014: .*\nDETAIL:  .* as entry $entry of/, "$what: what is said");
	like($s->{out}, qr/^goes on$/m, "$what: the session goes on");
	let_go();
	nobody_left($what);
	is(query("SELECT string_agg(concat(function, ' ', release), ', ' ORDER BY entry) FROM dp_ledger WHERE budget = 'b' AND entry >= $entry"), 'dp_logreg_train kept, dp_budget_charge ', "$what: the result is kept");
}

# What the session is only told to log ends nothing.
foreach my $moment ('plan', 'row_1')
{
	my $s = start_at_moment($moment, 'ana', $train =~ s/;/ IS NOT NULL;/r);
	new_in_log();
	query("SELECT pg_log_backend_memory_contexts(pid) $session");
	my $until = time() + 30;
	my $logged = '';
	$logged .= new_in_log(), sleep(0.05) while $logged !~ /Grand total: / && time() < $until;
	like($logged, qr/LOG:  Grand total: /, "logged at $moment");
	let_go();
	is(finish($s) . $s->{out}, "t\n", "logged at $moment: the call is answered");
	nobody_left("logged at $moment");
}

# ---- who sees that it runs, and who stops it

# A query whose snapshot is older than the release does not take the call for lost.
my $entry = last_entry() + 1;
my $s = start_at_moment('row_1', 'ana', $train);
my $watcher = start('auditor', 'BEGIN ISOLATION LEVEL REPEATABLE READ;', "SELECT release FROM dp_ledger WHERE entry = $entry;");
$watcher->{handle}->pump until $watcher->{out} =~ /\n/;
is(as($_->[0], "SELECT release FROM dp_ledger WHERE entry = $entry"), $_->[1], "$_->[0] sees what becomes of it: $_->[1]") foreach [ 'ana', 'running' ], [ 'member', 'running' ], [ 'owner', 'running' ], [ 'auditor', 'running' ], [ 'ben', '' ], [ 'stranger', '' ];
my $pid = query("SELECT pid $session");
my $worker = query("SELECT pid $workers");
is(as($_, "SELECT query, application_name FROM pg_stat_activity WHERE pid = $worker"), "dp_logreg_train on public.held for ana, PID $pid|dperm", "$_ sees whose worker it is") foreach 'auditor', $superuser;
foreach my $role ('stranger', 'ben', 'ana', 'owner', 'signals')
{
	my $seen = as($role, "SELECT to_jsonb(a) FROM pg_stat_activity a WHERE pid = $worker");
	like($seen, qr/"pid": $worker\b/, "$role sees a process");
	unlike($seen, qr/ana|held|train|\b$pid\b/, "$role does not see whose it is");
	like(as($role, "SELECT pg_cancel_backend($worker)"), qr/ERROR:  42501: /, "$role does not cancel a process that has no role");
}
let_go();
finish($s);
nobody_left('seen');
$watcher->{in} .= "SELECT release FROM dp_ledger WHERE entry = $entry; COMMIT; SELECT release FROM dp_ledger WHERE entry = $entry;\n";
finish($watcher);
is($watcher->{out}, "running\nrunning\nkept\n", 'an old snapshot: it was running then');

foreach my $case (
	[ 'ana', 1 ], [ 'member', 1 ], [ 'owner', 1 ], [ 'keeper', 1 ], [ $superuser, 1 ], [ 'ben', 0 ], [ 'stranger', 0 ], [ 'auditor', 0 ], [ 'signals', 0 ])
{
	my ($role, $may) = @$case;
	foreach my $relation ('held', 'seen')
	{
		my $what = "$role, $relation";
		my $gone = $relation eq 'seen';
		$entry = last_entry() + 1;
		new_in_log();
		$s = start_at_moment('row_1', 'ana', $train =~ s/held/$relation/r);
		if ($gone) { query("SELECT pg_terminate_backend(pid) $session"); finish($s) }

		# whoever administers the budget has it locked
		my $administrator = start($superuser, 'BEGIN;', "SELECT dp_budget_alter('b', add => 0.5);", "SELECT 'locked';");
		$administrator->{handle}->pump until $administrator->{out} =~ /locked/;
		my $said = as($role, "SET statement_timeout = '5s'; BEGIN READ ONLY; SELECT 'cancelled' FROM dp_cancel('b', $entry); COMMIT");
		finish($administrator);
		if ($may)
		{
			like($said, qr/^cancelled\n?$/, "$what: may cancel it");
			poll("SELECT count(*) = 0 $workers");
			like(finish($s), qr/^ERROR:  57014: the call was cancelled\nDETAIL:  The call has been charged/, "$what: what the session is told") unless $gone;
			is(release() . '|' . failure(), "$entry|cancelled|cancelled", "$what: it is cancelled");
			like(as($role, "SELECT dp_cancel('b', $entry)"), qr/^ERROR:  55000: entry $entry of budget "b" is not running\nHINT:  dp_ledger shows its release\.$/, "$what: not again");
			$gone ? new_in_log() : unlike(new_in_log(), qr/FATAL/, "$what: nothing fatal is in the log");
			let_go();
		}
		else
		{
			is($said, as($role, "SELECT dp_cancel('b', 12345)") =~ s/12345/$entry/r, "$what: may not cancel it, nor know of it");
			like($said, qr/^ERROR:  42704: entry $entry of budget "b" is not a call that you may cancel\nHINT:/, "$what: the error");
			is(release(), "$entry|running", "$what: it runs on");
			let_go();
			finish($s);
		}
		nobody_left($what);
		is(release(), $may ? "$entry|cancelled" : "$entry|kept", "$what: what becomes of it");
	}
}

# ---- what else stops a worker

foreach my $case (
	[ 'pg_cancel_backend', "SELECT pg_cancel_backend(pid) $workers", qr/^ERROR:  57014: the call was cancelled\nDETAIL:  The call has been charged/, 'cancelled', qr/FATAL/ ],
	[ 'pg_terminate_backend', "SELECT pg_terminate_backend(pid) $workers", qr/^ERROR:  /, 'lost', qr/PANIC/ ],
	[ 'dperm.call_timeout', undef, qr/^ERROR:  57014: .*dperm\.call_timeout/s, 'cancelled', qr/FATAL/ ])
{
	my ($what, $stop, $error, $release, $unlogged) = @$case;
	foreach my $gone (0, 1)
	{
		query("ALTER DATABASE postgres SET dperm.call_timeout = '3s'") unless $stop;
		new_in_log();
		$entry = last_entry() + 1;
		$s = start_at_moment('row_1', 'ana', $train);
		query("SELECT pg_cancel_backend(pid) $session") if $gone;
		is(release(), "$entry|running", "$what: runs");
		query($stop) if $stop;
		poll("SELECT count(*) = 0 $workers");
		my $said = finish($s);
		like($said, $error, "$what: what the session is told") unless $gone;
		is(release(), "$entry|$release", "$what: $release");
		is(failure(), 'cancelled', "$what: and the reason is kept") if $release eq 'cancelled';
		unlike(new_in_log(), $unlogged, "$what: the log");
		let_go();
		nobody_left($what);
		query('ALTER DATABASE postgres RESET dperm.call_timeout');
	}
}

# Cancels do not keep a worker from writing down that it was cancelled.
hold('row_1');
my $keeps = start($superuser, "SELECT pg_advisory_lock($key{keep});");
poll("SELECT count(*) = 2 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ExclusiveLock' AND granted");
new_in_log();
$entry = last_entry() + 1;
$s = start('ana', $train);
poll("SELECT count(*) = 1 FROM dp_ledger WHERE budget = 'b' AND release = 'running'");
poll("SELECT count(*) = 1 $workers AND wait_event = 'PgSleep'");
is(as('ana', "SELECT count(dp_cancel('b', $entry)), pg_sleep(0.3) FROM generate_series(1, 1)"), '1|', 'cancelled');
is(as('ana', "SELECT count(dp_cancel('b', $entry)) FROM generate_series(1, 5000)"), 5000, 'and again, while that is kept') foreach 1 .. 5;
is(release(), "$entry|running", 'which takes a while');
let_go();
finish($keeps);
like(finish($s), qr/^ERROR:  57014: the call was cancelled\nDETAIL:  The call has been charged/, 'what the session is told');
nobody_left('cancelled while it is kept');
is(release() . '|' . failure(), "$entry|cancelled|cancelled", 'it is kept that it was cancelled');
unlike(new_in_log(), qr/keeping the result of a call/, 'at the first attempt');

# A charge that is on no standby because the wait for one was cancelled is not
# followed by a row.
foreach my $relation ('held', 'seen')
{
	my $sync = sub { query("ALTER SYSTEM SET synchronous_standby_names = '$_[0]'"); query('SELECT pg_reload_conf()'); return };
	my $waits = "$workers AND wait_event = 'SyncRep'";
	$entry = last_entry() + 1;
	$sync->('nobody');
	$s = start('ana', $train =~ s/held/$relation/r);
	poll("SELECT count(*) = 1 $waits");
	query("SET synchronous_commit = local; SELECT pg_cancel_backend(pid) $workers");
	poll("SELECT count(*) = 1 $waits AND EXISTS (SELECT FROM dp_ledger WHERE budget = 'b' AND entry = $entry)");
	$sync->('');
	like(finish($s), qr/^WARNING:  .*\n(?:DETAIL:  .*\n)?ERROR:  57014: the call was cancelled\nDETAIL:  The call has been charged/, "without a standby, $relation: cancelled");
	is(release() . '|' . failure(), "$entry|cancelled|cancelled", "without a standby, $relation: no row is read");
	nobody_left("without a standby, $relation");
}

# A role has a quarter of the workers, and a worker without a session counts until
# it ends.
hold('row_1');
my @calls = map { start('ana', $train) } 1, 2;
poll("SELECT count(*) = 2 $workers AND wait_event = 'PgSleep'");
query("SELECT pg_cancel_backend(pid) $session");
finish($_) foreach @calls;
is(query("SELECT count(*) $workers"), 2, 'two workers without a session');
my $third = start('ana', 'SET client_min_messages = notice;', $train);
my $until = time() + 30;
$third->{handle}->pump_nb, sleep(0.05) while $third->{err} !~ /HINT/ && time() < $until;
like($third->{err}, qr/NOTICE:  00000: waiting: role "ana" has 2 calls on protected relations under way\n/, 'the next one waits');
is(query("SELECT count(*) $workers"), 2, 'and has no worker');
$entry = last_entry();
is(as('ana', "SELECT count(dp_cancel(budget, entry)) FROM dp_ledger WHERE release = 'running' AND entry = $entry"), 1, 'one is cancelled');
poll("SELECT count(*) = 1 FROM dp_ledger WHERE budget = 'b' AND release = 'running' AND entry > $entry");
pass('so there is a place');
let_go();
finish($third);
nobody_left('places');

# ---- a standby, and the end of the server

$entry = last_entry();
$s = start_at_moment('row_1', 'ana', $train);
$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay', $node->lsn('flush'));
my $states = "SELECT string_agg(coalesce(release, 'NULL'), ' ' ORDER BY entry) FROM dp_ledger WHERE budget = 'b' AND act = 'charge' AND (entry > $entry OR release IS DISTINCT FROM 'kept' AND release IS DISTINCT FROM 'cancelled' AND relation IS NOT NULL)";
is(query($states), 'lost lost running', 'on the primary');
is($standby->safe_psql('postgres', $states), 'NULL NULL NULL', 'a standby does not know locks');
my ($out, $err) = ('', '');
$standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT dp_cancel('b', $entry + 1)", stdout => \$out, stderr => \$err);
like($err, qr/ERROR:  25006: calls cannot be cancelled during recovery\nHINT:  Connect to the primary server\./, 'nor does it cancel');
$standby->stop('immediate');

query("SELECT pg_cancel_backend(pid) $session");
finish($s);
$node->stop('fast');
finish($holder);
$node->start;
is(release(), ($entry + 1) . '|lost', 'a shutdown ends a worker');
like(as('ana', $train =~ s/held/seen/r =~ s/;/ IS NOT NULL;/r), qr/^t$/m, 'calls go on');
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal|WARNING:  .*(?:leak|you don't own)/, 'nothing else is in the log');
$node->stop;
done_testing();
