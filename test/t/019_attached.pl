# What changes while a call is charged. A partition or child that is attached
# then is not read, whatever it is like: its rows may be charged to another
# budget. Nor does it make the call fail, which has been paid for. The call waits
# where it is charged, and where its query is planned. Nor does anything that
# waits for a lock of the caller make it fail, or hang.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the modules are built by make tap' unless $ENV{TEST_MODULES};
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nshared_preload_libraries = '$ENV{TEST_MODULES}/instrument$ENV{DLSUFFIX}'\ninstrument.hold = 'plan'\n");
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
});

my $train = "SELECT dp_logreg_train('whole', 'y', '{x}', 1)::jsonb ->> 'persons'";
sub spent { return $node->safe_psql('postgres', "SELECT epsilon_spent::float8 FROM dp_budgets WHERE budget = 'first'"); }

# Starts something that waits. A worker that charges gives up after 3 seconds, and
# on a slow machine before anybody has seen it: then it is started again.
$node->safe_psql('postgres', q{
	CREATE FUNCTION appears(what text) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE found boolean;
	BEGIN
		FOR i IN 1 .. 1000 LOOP
			EXECUTE 'SELECT count(*) > 0 FROM pg_stat_activity WHERE ' || what INTO found;
			EXIT WHEN found;
			PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01);
		END LOOP;
		RETURN found;
	END $$;
});
sub start
{
	my ($user, $waits, @sql) = @_;
	foreach (1 .. 20)
	{
		my %s = (in => '', out => '', err => '');
		local $ENV{PGAPPNAME} = $user;
		$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ($user eq 'ana' ? ' user=ana' : ''), map { ('-c', $_) } @sql ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err}, IPC::Run::timeout(180));
		return \%s if $node->safe_psql('postgres', "SELECT appears(\$\$$waits\$\$)") eq 't';
		$s{handle}->kill_kill;
	}
	die "it does not wait";
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
		$holder = start('holder', "application_name = 'holder' AND wait_event = 'PgSleep'", 'SELECT pg_advisory_lock(-1)', 'SELECT pg_sleep(300)');
		$s = start('ana', "backend_type = 'dperm' AND wait_event = 'PgSleep'", $train);
	}
	$node->safe_psql('postgres', "SET ROLE owner; ALTER TABLE whole ATTACH PARTITION $table FOR VALUES FROM ($low) TO ($high)");
	$node->safe_psql('postgres', $kind eq 'debit' ? "ROLLBACK PREPARED 'managed'" : "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
	$_->{handle}->finish foreach grep { defined } $s, $holder;
	$node->safe_psql('postgres', "SET ROLE owner; ALTER TABLE whole DETACH PARTITION $table");
	return $s->{out} . $s->{err};
}

is($node->safe_psql('postgres', "SET ROLE ana; $train"), '1000', 'before');
is(attach('other', 'debit'), "1000\n", 'attached when a call is charged: not read');
is(spent(), 2, 'and what was paid for is not lost');
foreach my $table ('other', 'free')
{
	like(attach($table, 'plan'), qr/^ERROR:  relation "whole" was changed while it was used\nDETAIL:  It reads another table now\./, "$table is attached when the query is planned, which is before");
	is(spent(), 2, 'so that nothing is charged');
}
is($node->safe_psql('postgres', "SET ROLE owner; ALTER TABLE whole ATTACH PARTITION free FOR VALUES FROM (10000) TO (20000); SET ROLE ana; $train"), '1500', 'which the next call reads');

# ---- children that the next call must not read, or cannot

$node->safe_psql('postgres', q{
	CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO stranger;
	SET SESSION AUTHORIZATION stranger;
	CREATE FUNCTION strange(float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1';
	SET SESSION AUTHORIZATION owner;
	SELECT dp_budget_create('third', 100), dp_grant('third', 'ana');
	CREATE TABLE parted (person int, house int, y boolean, x float8) PARTITION BY RANGE (person);
	CREATE TABLE parted_all PARTITION OF parted FOR VALUES FROM (0) TO (1000);
	CREATE TABLE plain (person int, house int, y boolean, x float8);
	INSERT INTO parted SELECT i, i, i % 2 = 0, i % 10 FROM generate_series(0, 799) i;
	INSERT INTO plain SELECT * FROM parted;
	CREATE TYPE pair AS (a float8, b float8);
	CREATE FUNCTION twice(float8) RETURNS pair LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN ROW($1, $1); END';
	CREATE FUNCTION once(pair) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1.a; END';
	CREATE VIEW seen AS SELECT person, y, x FROM plain WHERE y IS NOT NULL;
	CREATE FUNCTION inner_one(float8) RETURNS float8 IMMUTABLE SET work_mem = '1MB' RETURN $1;
	CREATE FUNCTION outer_one(float8) RETURNS float8 IMMUTABLE RETURN inner_one($1);
	CREATE VIEW computed AS SELECT person, y, once(twice(x)) AS x FROM plain;
	CREATE VIEW inlined AS SELECT person, y, outer_one(x) AS x FROM plain;
	SELECT dp_protect(r, 'third', unit => 'person', domains => '{"x": [0, 10]}') FROM unnest('{parted,plain,seen,computed,inlined}'::text[]) r;
});

# Waits for the debit of a call, changes something, and returns what the call
# says and what the ledger has of it.
sub during_debit
{
	my ($relation, @sql) = @_;
	$node->safe_psql('postgres', "SET ROLE owner; BEGIN; SELECT dp_budget_alter('third', 101); PREPARE TRANSACTION 'managed'");
	my $s = start('ana', "wait_event_type = 'Lock' AND backend_type <> 'client backend'", "\\set VERBOSITY verbose", 'BEGIN', 'SELECT FROM dp_ledger WHERE false', "SELECT dp_logreg_train('$relation', 'y', '{x}', 1)::jsonb ->> 'persons'");
	foreach (@sql) { ref $_ ? $_->() : $node->safe_psql('postgres', $_) }
	$node->safe_psql('postgres', "ROLLBACK PREPARED 'managed'");
	$s->{handle}->finish;
	return $s->{out} . $s->{err} . $node->safe_psql('postgres', "SELECT release FROM dp_ledger WHERE budget = 'third' ORDER BY entry DESC LIMIT 1");
}

# How a table becomes a child, and stops being one.
my %adds = (
	parted => "ALTER TABLE parted ATTACH PARTITION late FOR VALUES FROM (1000) TO (9000)",
	plain => "ALTER TABLE late INHERIT plain");
foreach my $case (
	[ 'another unit', "SELECT dp_protect('late', 'third', unit => 'house', domains => '{\"x\": [0, 10]}')", qr/whose unit in budget "third" is another one/ ],
	[ 'an index of a stranger', 'CREATE INDEX ON late (strange(x))', qr/function public\.strange\(double precision\) does not belong to the owner/ ],
	[ 'a lock', '', qr/could not lock the budget or the protected relation in time/ ],
	[ 'no event trigger', '', qr/shows rows of "late" that are not registered/ ])
{
	my ($what, $prepare, $next) = @$case;
	foreach my $relation ('parted', 'plain', 'seen')
	{
		my $table = $relation eq 'parted' ? 'parted' : 'plain';
		my $add = "SET ROLE owner; $adds{$table}";
		$add = "ALTER EVENT TRIGGER dperm_registry_alter DISABLE; $adds{$table}; ALTER EVENT TRIGGER dperm_registry_alter ENABLE" if $what eq 'no event trigger';
		$node->safe_psql('postgres', "SET ROLE owner; CREATE TABLE late (person int, house int, y boolean, x float8); INSERT INTO late SELECT 1000 + i, i, true, 9 FROM generate_series(1, 300) i; $prepare");
		is(during_debit($relation, $add, $what eq 'a lock' ? "BEGIN; LOCK TABLE late; PREPARE TRANSACTION 'locked'" : ()), "800\nkept", "$relation: $what");
		my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger');
		my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE ana; SELECT dp_logreg_train('$relation', 'y', '{x}', 1)");
		like($err, $next, 'which the next call sees');
		is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger'), $before, 'before it is charged');
		$node->safe_psql('postgres', "ROLLBACK PREPARED 'locked'") if $what eq 'a lock';
		$node->safe_psql('postgres', 'DROP TABLE late');
	}
}
is(during_debit('plain', 'SET ROLE owner; CREATE INDEX strange ON plain (strange(x))'), "800\nkept", 'the plan is made, and does not depend on a new index');
$node->safe_psql('postgres', 'DROP INDEX strange');

# ---- what makes a call fail that has been charged is a change, not the arguments

my $charged = qr/DETAIL:  .*The call has been charged, by entry \d+ of the ledger\..*\nthe relation has been changed$/s;
like(during_debit('computed', 'ALTER FUNCTION once OWNER TO stranger'), qr/^ERROR:  42501: function public\.once\(public\.pair\) does not belong to the owner of protected relation "computed"\n$charged/, 'a function of another owner');
$node->safe_psql('postgres', 'ALTER FUNCTION once OWNER TO owner');
like(during_debit('computed', 'ALTER FUNCTION once STABLE'), qr/^ERROR:  0A000: function public\.once\(public\.pair\), which protected relation "computed" calls, is not IMMUTABLE\n$charged/, 'a function that is not IMMUTABLE');
$node->safe_psql('postgres', 'ALTER FUNCTION once IMMUTABLE');

# The outer function has been inlined, and calls the inner one no more.
my $outer = 'SET ROLE owner; CREATE OR REPLACE FUNCTION outer_one(float8) RETURNS float8 IMMUTABLE RETURN $1';
like(during_debit('inlined', "$outer; CREATE OR REPLACE FUNCTION inner_one(float8) RETURNS float8 IMMUTABLE SET work_mem = '1MB' BEGIN ATOMIC SELECT max(x) FROM plain; END"),
	qr/^ERROR:  0A000: function public\.inner_one\(double precision\), which protected relation "inlined" calls, reads relation "plain"\n$charged/, 'a function that was inlined');

# A row type is locked like a table, from before the charge to the end.
my $alter;
is(during_debit('computed', sub { $alter = start('alter', "application_name = 'alter' AND wait_event_type = 'Lock'", 'BEGIN; ALTER TYPE pair ADD ATTRIBUTE c int; SELECT pg_sleep(300)') }), "800\nkept", 'a type that is about to be altered');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'alter'");
$alter->{handle}->finish;
is($node->safe_psql('postgres', "SET ROLE ana; SELECT dp_logreg_train('computed', 'y', '{x}', 1)::jsonb ->> 'persons'"), '800', 'in the end');

# ---- a column that is closed somewhere behind the relation, before the charge

$node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION owner;
	CREATE VIEW above AS SELECT person, x, y FROM seen;
	SELECT dp_protect(r, 'third', unit => 'person') FROM unnest('{above,parted_all}'::text[]) r;
});
foreach my $case ([ 'above', 'seen' ], [ 'above', 'plain' ], [ 'parted_all', 'parted' ], [ 'parted', 'parted_all' ])
{
	my ($relation, $other) = @$case;
	my $call = "SELECT dp_logreg_train('$relation', 'y', '{x}', 1)::jsonb ->> 'persons'";
	my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger WHERE act = $$charge$$');
	$node->safe_psql('postgres', "SET ROLE owner; BEGIN; SELECT dp_protect('$other', 'third', columns => '{y}'); PREPARE TRANSACTION 'closing'");
	my $s = start('ana', "wait_event_type = 'Lock' AND backend_type <> 'client backend'", $call);
	$node->safe_psql('postgres', "COMMIT PREPARED 'closing'");
	$s->{handle}->finish;
	like($s->{out} . $s->{err}, qr/^ERROR:  the registration of the protected relation has changed/, "closed in $other during a call on $relation");
	like(($node->psql('postgres', "SET ROLE ana; $call"))[2], qr/column "x" of protected relation "$relation" is not open to training/, 'and closed from then on');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM dp_ledger WHERE act = $$charge$$'), $before, 'neither is charged');
	$node->safe_psql('postgres', "SET ROLE owner; SELECT dp_protect('$other', 'third', columns => '{x,y}', domains => '{\"x\": [0, 10]}')");
	is($node->safe_psql('postgres', "SET ROLE ana; $call"), '800', 'until it is opened');
}

# ---- maintenance of our tables, which waits for the session, which waits for its worker

my $maintains;
sub maintain
{
	my ($command) = @_;
	return sub { $maintains = start('maintain', "application_name = 'maintain' AND wait_event_type = 'Lock'", $command) };
}
foreach my $table (split /\n/, $node->safe_psql('postgres', "SELECT relname FROM pg_class JOIN pg_depend d ON objid = pg_class.oid WHERE deptype = 'e' AND relkind = 'r' ORDER BY 1"))
{
	foreach my $command ('VACUUM FULL', 'REINDEX TABLE')
	{
		is(during_debit('plain', maintain("$command dperm.$table")), "800\nkept", "$command $table");
		$maintains->{handle}->finish;
	}
}
like(during_debit('computed', 'ALTER FUNCTION once STABLE', maintain('VACUUM FULL dperm.dp_ledger_releases')), qr/^ERROR:  0A000: .* is not IMMUTABLE\n.*\nnot kept$/s, 'the reason of a failure is not waited for');
$maintains->{handle}->finish;

$node->stop;
done_testing();
