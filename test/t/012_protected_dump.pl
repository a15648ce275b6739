# Registrations of protected relations survive dumps of tables with renamed and
# dropped columns, copies of the database, another schema of the extension,
# disabled event triggers, and DROP EXTENSION.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE analyst; CREATE DATABASE origin');

# Numbers of columns have gaps, which a dump does not keep; and names have
# changed.
$node->safe_psql('origin', q{
	CREATE SCHEMA learning;
	CREATE EXTENSION dperm SCHEMA learning;
	GRANT USAGE ON SCHEMA learning TO PUBLIC;
	CREATE SCHEMA clinic AUTHORIZATION owner;
	GRANT USAGE ON SCHEMA clinic TO analyst;
	SET ROLE owner;
	CREATE TABLE clinic.visits (gone int, who int, bmi float8, also_gone text, note text, ill boolean);
	INSERT INTO clinic.visits SELECT 1, i % 50, i % 40, '', 'n' || i % 3, i % 3 = 0 FROM generate_series(1, 200) i;
	SELECT learning.dp_budget_create('former', 100);
	SELECT learning.dp_protect('clinic.visits', 'former', unit => 'who');
	SELECT learning.dp_budget_charge('former', 1);
	SELECT learning.dp_budget_create('patients', 100);
	SELECT learning.dp_protect('clinic.visits', 'patients', unit => 'who', columns => '{bmi,note,ill,also_gone}', domains => '{"bmi": [0, 60], "note": ["n1", "n2"]}');
	SELECT learning.dp_grant('patients', 'analyst');
	ALTER TABLE clinic.visits RENAME who TO person;
	ALTER TABLE clinic.visits RENAME bmi TO weight;
	ALTER TABLE clinic.visits DROP gone, DROP also_gone;
	ALTER TABLE clinic.visits RENAME TO "Odd ""visits";
	CREATE VIEW clinic.heavy AS SELECT person, weight, ill FROM clinic."Odd ""visits" WHERE weight > 20;
	SELECT learning.dp_protect('clinic.heavy', 'patients', unit => 'person', domains => '{"weight": [0, 60]}');
});

# A table with partitions whose unit gets another name, and a view that does not
# show it
$node->safe_psql('origin', q{
	SET ROLE owner;
	CREATE TABLE clinic.calls (gone int, nurse int, who int, age int CHECK (age BETWEEN 0 AND 120), ill boolean) PARTITION BY RANGE (age);
	CREATE TABLE clinic.calls_all PARTITION OF clinic.calls DEFAULT;
	INSERT INTO clinic.calls SELECT 1, i % 3, i % 50, i % 40, i % 3 = 0 FROM generate_series(1, 200) i;
	ALTER TABLE clinic.calls DROP gone;
	CREATE VIEW clinic.seen AS SELECT age, ill FROM clinic.calls;
	SELECT learning.dp_budget_create('calls', 100);
	SELECT learning.dp_protect('clinic.calls', 'calls', unit => 'who'), learning.dp_protect('clinic.seen');
	SELECT learning.dp_budget_charge('calls', 1);
	ALTER TABLE clinic.calls RENAME who TO person;
});
my $seen = q{SET ROLE owner; SELECT learning.dp_logreg_train('clinic.seen', 'ill', 'age', 1)::jsonb ->> 'persons'};
is($node->safe_psql('origin', $seen), 50, 'a view that does not show the unit');
my $registrations = q{SELECT relation, budget, unit, columns, domains FROM learning.dp_protected ORDER BY relation::text COLLATE "C"};
my $expected = $node->safe_psql('origin', $registrations);
is($expected, qq{clinic."Odd ""visits"|patients|person|{weight,note,ill}|{"note": ["n1", "n2"], "weight": [0, 60]}
clinic.calls|calls|person||
clinic.heavy|patients|person||{"weight": [0, 60]}
clinic.seen|calls|person||}, 'registrations have followed');

# An analyst trains there, and with what was registered
sub trains
{
	my ($database, $name) = @_;
	my $trained = q{SET ROLE analyst; SELECT m ->> 'persons', m #>> '{features,0,column}', m #>> '{features,0,high}', m #>> '{features,1,column}'
		FROM to_jsonb(learning.dp_logreg_train('clinic."Odd ""visits"', 'ill', '{weight,note}', 1)::text::jsonb) m;
		SELECT learning.dp_logreg_train('clinic.heavy', 'ill', 'weight', 1)::jsonb ->> 'persons'};
	is($node->safe_psql($database, $trained), qq{50|weight|60|note\n50}, "$name: an analyst trains");
	my $stderr = '';
	$node->psql($database, q{SET ROLE analyst; SELECT * FROM clinic.heavy}, stderr => \$stderr);
	like($stderr, qr/permission denied/, "$name: and cannot read");
}
trains('origin', 'origin');

my $dir = PostgreSQL::Test::Utils::tempdir;
foreach my $case ([ 'plain', '--format=plain' ], [ 'custom', '--format=custom' ])
{
	my ($name, @options) = @$case;
	$node->command_ok([ 'pg_dump', '-d', $node->connstr('origin'), @options, '-f', "$dir/$name" ], "$name: dumped");
	$node->safe_psql('postgres', "CREATE DATABASE copy_$name");
	if ($name eq 'plain')
	{
		$node->command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("copy_$name"), '-f', "$dir/$name" ], "$name: restored");
	}
	else
	{
		$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr("copy_$name"), "$dir/$name" ], "$name: restored");
	}
	is($node->safe_psql("copy_$name", $registrations), $expected, "$name: the same registrations");
	my $number = q{SELECT DISTINCT number FROM dperm.dp_protected_columns WHERE column_name::text LIKE '%"ill" %'};
	isnt($node->safe_psql("copy_$name", $number), $node->safe_psql('origin', $number), "$name: though numbers are others");
	trains("copy_$name", $name);
	is($node->safe_psql("copy_$name", q{SELECT count(*) FROM learning.dp_ledger WHERE act = 'charge' AND budget = 'patients'}), 4, "$name: and is charged");

	# a unit that a budget has been charged with stays, also of a budget that
	# the relation has left
	my $protect = sub { qq{SELECT learning.dp_protect('clinic."Odd ""visits"', '$_[0]', unit => '$_[1]');} };
	my $stderr = '';
	$node->psql("copy_$name", 'SET ROLE owner; ' . $protect->($_, 'note'), stderr => \$stderr),
		like($stderr, qr/ERROR:  relation "Odd "visits" has another unit in budget "$_"/, "$name: budget $_ keeps its unit") foreach 'patients', 'former';
	is($node->safe_psql("copy_$name", q{SET ROLE owner; BEGIN; SELECT learning.dp_unprotect('clinic.heavy'); } . $protect->('patients', 'person') . $protect->('former', 'person') . $protect->('patients', 'person') . q{ SELECT 'kept'; ROLLBACK}),
		"\n\n\n\nkept", "$name: which is the same column");

	# also that of partitions, whatever its column was called, and that of a
	# table that is dropped
	is($node->safe_psql("copy_$name", $seen), 50, "$name: the table of a view is known");
	foreach my $sql (q{SELECT learning.dp_protect('clinic.calls', unit => 'nurse')},
		q{SELECT learning.dp_unprotect('clinic.calls'); SELECT learning.dp_protect('clinic.calls', 'calls', unit => 'nurse')},
		q{DROP TABLE clinic.calls CASCADE; CREATE TABLE clinic.calls (person int, who int); SELECT learning.dp_protect('clinic.calls', 'calls', unit => 'who')})
	{
		$node->psql("copy_$name", "SET ROLE owner; BEGIN; $sql", stderr => \$stderr);
		like($stderr, qr/ERROR:  relation "calls" has another unit in budget "calls"\nDETAIL:  Its unit is column "person"\./, "$name: their units stay: $sql");
	}

	# names may change
	$node->safe_psql("copy_$name", q{ALTER TABLE clinic."Odd ""visits" RENAME weight TO mass; ALTER TABLE clinic."Odd ""visits" RENAME mass TO weight});
	is($node->safe_psql("copy_$name", $registrations), $expected, "$name: renamed there and back");
	trains("copy_$name", "$name, later");
}

# A dump of a restored database, which nobody has touched
$node->command_ok([ 'pg_dump', '-d', $node->connstr('copy_custom'), '--format=custom', '-f', "$dir/second" ], 'a copy of a copy: dumped');
$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('second'), "$dir/second" ], 'restored');
trains('second', 'a copy of a copy');

# A copy by template has the same OIDs, in another database
$node->safe_psql('postgres', 'CREATE DATABASE twin TEMPLATE origin');
trains('twin', 'by template');

# Renamed while event triggers are disabled: numbers count, and nothing has to
# catch up
$node->safe_psql('twin', q{ALTER TABLE clinic."Odd ""visits" RENAME ill TO sick; ALTER TABLE clinic."Odd ""visits" RENAME sick TO ill;
	SET session_replication_role = replica;
	ALTER TABLE clinic."Odd ""visits" RENAME note TO remark;
	ALTER TABLE clinic."Odd ""visits" RENAME weight TO note;
	ALTER TABLE clinic."Odd ""visits" RENAME remark TO weight;});
is($node->safe_psql('twin', q{SET ROLE analyst; SELECT learning.dp_logreg_train('clinic."Odd ""visits"', 'ill', 'note', 1)::jsonb #>> '{features,0,high}'}), 60, 'numbers count');
is($node->safe_psql('twin', q{SELECT domains FROM learning.dp_protected WHERE relation = 'clinic."Odd ""visits"'::regclass}), '{"note": [0, 60], "weight": ["n1", "n2"]}', 'names are those of now');

# Unrelated commands work, and so do those that drop all of it
$node->safe_psql('second', q{CREATE TABLE t (a int); ALTER TABLE t ADD b int; DROP TABLE t; DROP SCHEMA clinic CASCADE});
is($node->safe_psql('second', 'SELECT count(*) FROM dperm.dp_protected_relations WHERE budget IS NOT NULL OR relation <> 0 OR ended IS NULL'), 0, 'what is dropped is no longer registered');
is($node->safe_psql('second', 'SELECT count(*) FROM dperm.dp_protected_columns'), 0, 'nor are its columns');
cmp_ok($node->safe_psql('second', q{SELECT count(*) FROM learning.dp_ledger}), '>', 5, 'the ledger stays');
$node->safe_psql('twin', 'DROP EXTENSION dperm; ALTER TABLE clinic."Odd ""visits" RENAME ill TO sick; DROP TABLE clinic."Odd ""visits" CASCADE');
is($node->safe_psql('twin', q{SELECT count(*) FROM pg_event_trigger}), 0, 'the extension leaves no event trigger');
$node->safe_psql('copy_custom', 'DROP SCHEMA learning CASCADE; DROP SCHEMA clinic CASCADE');
$node->safe_psql('origin', 'DROP OWNED BY owner');
is($node->safe_psql('origin', 'SELECT count(*) FROM dperm.dp_protected_relations WHERE budget IS NOT NULL'), 0, 'DROP OWNED');

$node->stop;
done_testing();
