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
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
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

# ---- a protected table that becomes a child is closed, and so is its root

# What a role is told, without the line of psql.
sub told { my ($role, $sql) = @_; my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET client_min_messages = error; SET ROLE $role; $sql"); return $out . $err =~ s/^psql:<stdin>:\d+: //r }
sub train_on { my ($relation) = @_; return "SELECT dp_logreg_train('$relation', 'y', '{x}', 1)::jsonb ->> 'persons'" }
sub charges { return $node->safe_psql('postgres', "SELECT count(*) FROM dp_ledger WHERE act = 'charge'") }
my $is_closed = qr/^ERROR:  55000: protected relation "\w+" has been changed, and is closed\nDETAIL:  It has become a part of another table\./;
my $is_shared = qr/^ERROR:  55000: table "\w+" shares rows with protected table "\w+"\nHINT:  Call dp_unprotect for one of them/;
my $is_part = qr/^ERROR:  0A000: table "\w+" is a part of another table\nHINT:  Protect the root/;
my $is_read = qr/^ERROR:  42501: relation "\w+" reads protected relation "\w+" and is not protected itself\n/;
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE VIEW few AS SELECT person, y, x FROM other WHERE person > 0;
	SELECT dp_protect('few'), dp_grant('second', 'ana');
	CREATE TABLE mother (person int, y boolean, x float8); CREATE TABLE aunt (LIKE mother);
	INSERT INTO mother SELECT i, true, 1 FROM generate_series(1, 5) i;
});
is(told('ana', train_on($_)), '3000', "$_: before") foreach 'other', 'few';
my $charges = charges();
foreach my $way ([ 'whole', 'ALTER TABLE whole ATTACH PARTITION other FOR VALUES FROM (1000) TO (9000)', 'ALTER TABLE whole DETACH PARTITION other' ],
	[ 'mother', 'ALTER TABLE other INHERIT mother', 'ALTER TABLE other NO INHERIT mother' ])
{
	my ($root, $add, $remove) = @$way;
	$node->safe_psql('postgres', "SET ROLE owner; $add");
	foreach my $role ('ana', 'owner')
	{
		like(told($role, train_on('other')), $is_closed, "$root, $role: it is closed");
		like(told($role, train_on('few')), $is_closed, "$root, $role: so is its view");
	}
	like(told('owner', train_on($root)), $root eq 'whole' ? $is_shared : $is_read, "$root: nor is the root a way to its rows");
	like(told('owner', q{SELECT dp_protect('other', domains => '{"x": [0, 10]}')}), $is_part, "$root: it is protected no more as long as it is a child");
	like(told('owner', "SELECT dp_protect('$root', 'first', unit => 'person')"), $is_shared, "$root: nor is the root");
	is(charges(), $charges, "$root: nothing is charged");
	$node->safe_psql('postgres', "SET ROLE owner; $remove");
	is(told('ana', train_on($_)), '3000', "$root: $_ is as it was, detached") foreach 'other', 'few';
	$charges = charges();
}

# A child is charged with its root, which its owner protects. A child that has
# another parent, and that parent, are no way around it; nor is a partition.
is(told('owner', q{ALTER TABLE other INHERIT mother; SELECT dp_unprotect('other'); SELECT dp_protect('mother', 'second', unit => 'person', domains => '{"x": [0, 10]}')}), "\n", 'the root is protected in its place');
is(told('ana', train_on('mother')), '3005', 'and has its rows');
like(told('owner', train_on($_)), $is_read, "$_ is not trained on, by its owner either") foreach 'other', 'few', 'part';
like(told('owner', "SELECT dp_protect('$_', 'second', unit => 'person')"), $is_part, "$_ is not protected on its own") foreach 'other', 'part';
$node->safe_psql('postgres', 'SET ROLE owner; ALTER TABLE other INHERIT aunt');
like(told('owner', train_on('aunt')), $is_read, 'another parent of a child is not trained on');
like(told('owner', "SELECT dp_protect('aunt', 'second', unit => 'person')"), $is_shared, 'nor protected');
is(told('ana', train_on('mother')), '3005', 'the root goes on');
$node->safe_psql('postgres', 'SET ROLE owner; ALTER TABLE other NO INHERIT aunt; ALTER TABLE other NO INHERIT mother');
is(told('owner', train_on('mother')), '5', 'what is detached is no longer read');
unlike(told('owner', "SELECT dp_unprotect('mother'); DROP TABLE mother, aunt; SELECT dp_protect('other', 'second', unit => 'person', domains => '{\"x\": [0, 10]}'); SELECT dp_protect('few')"), qr/ERROR/, 'and protected on its own');
is(told('ana', train_on('few')), '3000', 'as before');

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
	CREATE TABLE above (LIKE plain);
	INSERT INTO parted SELECT i, i, i % 2 = 0, i % 10 FROM generate_series(0, 799) i;
	INSERT INTO plain SELECT * FROM parted;
	CREATE VIEW seen AS SELECT person, y, x FROM plain WHERE y IS NOT NULL;
	SELECT dp_protect(r, 'third', unit => 'person', domains => '{"x": [0, 10]}') FROM unnest('{parted,plain,seen}'::text[]) r;
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
	[ 'another unit', "SELECT dp_protect('late', 'third', unit => 'house', domains => '{\"x\": [0, 10]}')", qr/ shares rows with protected table "late"/ ],
	[ 'an index of a stranger', 'CREATE INDEX ON late (strange(x))', qr/use function (?:public\.)?strange\(double precision\), which is not PostgreSQL's own/ ],
	[ 'a lock', '', qr/could not lock the budget or the protected relation in time/ ],
	[ 'no event trigger', '', qr/^1100$/ ])
{
	my ($what, $prepare, $next) = @$case;
	foreach my $relation ('parted', 'plain', 'seen')
	{
		my $table = $relation eq 'parted' ? 'parted' : 'plain';
		my $add = "SET ROLE owner; $adds{$table}";
		$add = "ALTER EVENT TRIGGER dperm_after_command DISABLE; $adds{$table}; ALTER EVENT TRIGGER dperm_after_command ENABLE" if $what eq 'no event trigger';
		$node->safe_psql('postgres', "SET ROLE owner; CREATE TABLE late (person int, house int, y boolean, x float8); INSERT INTO late SELECT 1000 + i, i, true, 9 FROM generate_series(1, 300) i; $prepare");
		is(during_debit($relation, $add, $what eq 'a lock' ? "BEGIN; LOCK TABLE late; PREPARE TRANSACTION 'locked'" : ()), "800\nkept", "$relation: $what");
		my $before = charges();
		like(told('ana', train_on($relation)), $next, 'which the next call sees');
		is(charges() - $before, $what eq 'no event trigger' ? 1 : 0, 'before it is charged');
		$node->safe_psql('postgres', "ROLLBACK PREPARED 'locked'") if $what eq 'a lock';
		$node->safe_psql('postgres', 'DROP TABLE late');
	}
}
is(during_debit('plain', 'SET ROLE owner; CREATE INDEX strange ON plain (strange(x))'), "800\nkept", 'the plan is made, and does not depend on a new index');
$node->safe_psql('postgres', 'DROP INDEX strange');

# A table that becomes a child while it is read, or a view that is replaced,
# waits until the call ends; the next one is refused.
my $waiting;
sub wait_with { my ($command) = @_; return sub { $waiting = start('changes', "application_name = 'changes' AND wait_event_type = 'Lock'", "SET ROLE owner; $command") } }
foreach my $relation ('plain', 'seen')
{
	is(during_debit($relation, wait_with('ALTER TABLE plain INHERIT above')), "800\nkept", "$relation: its table becomes a child");
	$waiting->{handle}->finish;
	like(told('ana', train_on($relation)), $is_closed, 'and is closed for the next call');
	$node->safe_psql('postgres', 'ALTER TABLE plain NO INHERIT above');
}
is(during_debit('seen', wait_with('CREATE OR REPLACE VIEW seen AS SELECT person, y, x + 1 AS x FROM plain')), "800\nkept", 'a view that is replaced');
$waiting->{handle}->finish;
$node->safe_psql('postgres', 'SET ROLE owner; CREATE OR REPLACE VIEW seen AS SELECT person, y, x FROM plain WHERE y IS NOT NULL');

# ---- a column that is closed in the table of a view, before the charge

foreach my $relation ('seen', 'plain')
{
	my $call = train_on($relation);
	my $before = charges();
	$node->safe_psql('postgres', "SET ROLE owner; BEGIN; SELECT dp_protect('plain', 'third', columns => '{y}'); PREPARE TRANSACTION 'closing'");
	my $s = start('ana', "wait_event_type = 'Lock' AND backend_type <> 'client backend'", $call);
	$node->safe_psql('postgres', "COMMIT PREPARED 'closing'");
	$s->{handle}->finish;
	my $not_open = qr/^ERROR:  (?:42501: )?column "x" of protected relation "$relation" is not open to training/;
	like($s->{out} . $s->{err}, $not_open, "closed in its table during a call on $relation");
	like(told('ana', $call), $not_open, 'and closed from then on');
	is(charges(), $before, 'neither is charged');
	$node->safe_psql('postgres', "SET ROLE owner; SELECT dp_protect('plain', 'third', columns => '{x,y}', domains => '{\"x\": [0, 10]}')");
	is(told('ana', $call), '800', 'until it is opened');
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
	is(during_debit('plain', maintain("VACUUM FULL dperm.$table")), "800\nkept", "VACUUM FULL $table");
	$maintains->{handle}->finish;

	# no lock stays on the indexes of a table that a call only reads
	my $reindex = "REINDEX TABLE dperm.$table";
	my $waits = $table !~ /^(?:origin|protected|protected_columns)$/;
	is(during_debit('plain', $waits ? maintain($reindex) : sub { $node->safe_psql('postgres', $reindex) }), "800\nkept", $reindex);
	$maintains->{handle}->finish if $waits;
}
$node->append_conf('postgresql.conf', "instrument.fail = 'read'\n");
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('instrument.fail') = 'read'");
like(during_debit('plain', maintain('VACUUM FULL dperm.releases')), qr/^ERROR:  39000: the protected relation could not be read\n.*\n(?:failed|lost)$/s, 'the reason of a failure is not waited for');
$maintains->{handle}->finish;

$node->stop;
done_testing();
