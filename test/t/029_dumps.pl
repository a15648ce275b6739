# What holds in a copy of a database, for each line of the table in
# docs/operations.md: dumps in every form, over a copy that has been used, under
# another owner, without a role; createdb, pg_upgrade, a standby, a restore to a
# point in time, pg_createsubscriber. Registrations are bound to the relations
# and columns that their owner named, closed columns stay closed, budgets and
# grants go on where they were, and nobody trains who could not.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical', has_archiving => 1, extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->start;
$node->backup('base');
my $dir = PostgreSQL::Test::Utils::tempdir;
my $server = $node;
my $database = 'origin';

# Runs statements as a role, and returns what they say: rows, or the error with
# its detail.
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$server->psql($database, "\\set VERBOSITY verbose\nSET client_min_messages = error; SET search_path = learning, public; " . ($role eq 'superuser' ? '' : qq{SET SESSION AUTHORIZATION "$role"; }) . $sql, stdout => \$out, stderr => \$err, on_error_stop => 1);
	my ($error) = $err =~ /(?:ERROR|FATAL):  (.*)/ or return $out;
	return $error . ($err =~ /DETAIL:  (.*)/ ? " ($1)" : '');
}
sub does { my $said = as(@_); die qq{$database: $said} if $said =~ /^[0-9A-Z]{5}: /; return }
sub says { my ($role, $sql, $wanted, $what) = @_; is(as($role, $sql), $wanted, "$database: " . ($what // "$role: $sql")); return }
sub fails { my ($role, $sql, $wanted, $what) = @_; like(as($role, $sql), $wanted, "$database: " . ($what // "$role: $sql")); return }
sub train { my ($relation, $epsilon, $features) = @_; $features //= 'age'; return "SELECT dp_logreg_train('$relation', 'ill', '{$features}', $epsilon)::jsonb ->> 'persons'" }
sub create { ($database) = @_; $node->safe_psql('postgres', "CREATE DATABASE $database"); return }
sub drop_copies { $node->safe_psql('postgres', "DROP DATABASE $_") foreach split /\n/, $node->safe_psql('postgres', "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', 'origin')"); return }
sub dump_of { my ($name, @options) = @_; $node->command_checks_all([ 'pg_dump', '-d', $node->connstr($database), '-f', "$dir/$name", @options ], 0, [qr/^$/], [qr/^$/], "$name: dumped"); return }
sub restore { my ($name, @options) = @_; IPC::Run::run([ 'pg_restore', '--exit-on-error', @options, '-d', $node->connstr($database), "$dir/$name" ], '2>', \my $err); return is($err, '', "$database: restored") }

# ---- a budget keeps the extension

$node->safe_psql('postgres', 'CREATE ROLE hospital; CREATE ROLE clinic; CREATE ROLE ana; CREATE ROLE ben; CREATE ROLE heir; CREATE ROLE gone; CREATE ROLE "Was ""renamed"');
my $kept = "SELECT coalesce(to_regclass('dperm.ledger_is_kept')::text, 'none')";
my $extension = 'CREATE SCHEMA learning; CREATE EXTENSION dperm SCHEMA learning; GRANT USAGE ON SCHEMA learning TO PUBLIC; GRANT EXECUTE ON FUNCTION dp_budget_create TO PUBLIC';
create('origin');
does('superuser', $extension);
does('hospital', "BEGIN; SELECT dp_budget_create('none', 1); ROLLBACK");
says('superuser', "$kept; DROP EXTENSION dperm; DROP SCHEMA learning; SELECT count(*) FROM pg_event_trigger", "none\n0", 'without a budget the extension can be dropped, and leaves no event trigger');
does('superuser', $extension);

# ---- what there is: numbers of columns have gaps, and names have changed

does('superuser', q{
	CREATE SCHEMA h AUTHORIZATION hospital; CREATE SCHEMA c AUTHORIZATION clinic; GRANT USAGE ON SCHEMA h, c TO PUBLIC;
	SET ROLE hospital;
	CREATE TABLE h."Odd ""1" (nothing int, who int, visit int UNIQUE, age int CHECK (age BETWEEN 0 AND 120), weight float8, note text, secret int CHECK (secret BETWEEN 0 AND 9), ill boolean);
	INSERT INTO h."Odd ""1" SELECT 1, i % 50, i, i % 100, i % 40, 'n' || i % 3, i % 10, i % 3 = 0 FROM generate_series(1, 200) i;
	SELECT dp_budget_create('former', 100), dp_protect('h."Odd ""1"', 'former', unit => 'who'); SELECT dp_budget_charge('former', 1);
	SELECT dp_budget_create('patients', 4, 1e-6), dp_budget_create('of gone', 3), dp_budget_create('dropped', 1), dp_budget_drop('dropped');
	SELECT dp_protect('h."Odd ""1"', 'patients', unit => 'who', columns => '{age,weight,note,ill}', domains => '{"weight": [0, 60], "note": ["n1", "n2"]}');
	SELECT dp_grant('patients', 'ana', 1), dp_grant('patients', 'gone', 1), dp_grant('patients', 'Was "renamed', 0.5);
	ALTER TABLE h."Odd ""1" RENAME who TO person; ALTER TABLE h."Odd ""1" RENAME weight TO bmi; ALTER TABLE h."Odd ""1" DROP nothing, DROP note;
	ALTER TABLE h."Odd ""1" ADD note text CHECK (note IN ('n1', 'n2')); ALTER TABLE h."Odd ""1" RENAME TO visits;
	CREATE VIEW h.old AS SELECT age, bmi * 2 AS twice, secret, ill FROM h.visits WHERE age > 20;
	CREATE TABLE h.parts (nothing int, person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean) PARTITION BY RANGE (age);
	CREATE TABLE h.part_1 PARTITION OF h.parts FOR VALUES FROM (0) TO (50); CREATE TABLE h.part_2 PARTITION OF h.parts FOR VALUES FROM (50) TO (200);
	INSERT INTO h.parts SELECT 1, person, age, ill FROM h.visits; ALTER TABLE h.parts DROP nothing;
	-- these depend on a primary key, and are made when all data is there
	CREATE TABLE h.base (id int PRIMARY KEY, person int, age int, ill boolean); INSERT INTO h.base SELECT visit, person, age, ill FROM h.visits;
	CREATE MATERIALIZED VIEW h.late AS SELECT id, person, age, ill FROM h.base GROUP BY id; CREATE VIEW h.later AS SELECT age, ill FROM h.late;
	SELECT dp_protect('h.old', domains => '{"twice": [0, 100]}'), dp_protect('h.parts', 'patients', unit => 'person'), dp_protect('h.late', 'patients', unit => 'person', columns => '{age,ill}', domains => '{"age": [0, 120]}'), dp_protect('h.later');
	CREATE TYPE h.person AS (person int, visit int, age int, ill boolean); CREATE TABLE h.typed OF h.person (CHECK (age BETWEEN 0 AND 120)); SELECT dp_protect('h.typed', 'of gone', unit => 'person');
	-- protections that have ended: of a table, of one that was dropped, and of one that was made again
	CREATE TABLE h.past (person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO h.past SELECT person, age, ill FROM h.visits;
	CREATE TABLE h."Gone ""1" (LIKE h.past INCLUDING ALL); CREATE TABLE h.again (LIKE h.past INCLUDING ALL); CREATE VIEW h.ended AS SELECT age, ill FROM h.past;
	SELECT dp_protect('h.past', 'patients', unit => 'person'), dp_protect('h."Gone ""1"', 'patients', unit => 'person'), dp_protect('h.again', 'patients', unit => 'person'), dp_protect('h.ended');
	-- closed ones: a table that has become a child, one of another owner, a view of that, and one without its unit
	CREATE TABLE h.above (LIKE h.past); CREATE TABLE h.child (LIKE h.past INCLUDING ALL); CREATE TABLE h.given (LIKE h.past INCLUDING ALL); CREATE VIEW h.shown AS SELECT age, ill FROM h.given; CREATE TABLE h.lost (LIKE h.past INCLUDING ALL);
	SELECT dp_protect('h.child', 'patients', unit => 'person'), dp_protect('h.given', 'patients', unit => 'person'), dp_protect('h.shown'), dp_protect('h.lost', 'patients', unit => 'person');
	ALTER TABLE h.child INHERIT h.above; ALTER TABLE h.lost DROP person; ALTER TABLE h.lost ADD person int;
	RESET ROLE; SET ROLE clinic;
	CREATE TABLE c.rows (age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO c.rows SELECT i % 100, i % 3 = 0 FROM generate_series(1, 60) i;
	SELECT dp_budget_create('clinic', 1), dp_protect('c.rows', 'clinic'), dp_grant('clinic', 'ben');
	RESET ROLE;
	ALTER TABLE h.given OWNER TO clinic; SELECT dp_budget_alter('of gone', owner => 'gone'); ALTER ROLE "Was ""renamed" RENAME TO dora; CREATE ROLE "Was ""renamed";
	CREATE TABLE models (name text PRIMARY KEY, model dp_model); GRANT ALL ON models TO ana; CREATE TYPE h.pair AS (age int, bmi float8)});
does('ana', q{INSERT INTO models SELECT 'ana', dp_logreg_train('h.visits', 'ill', '{age,bmi}', 0.25)});
does('ben', "SELECT dp_logreg_train('c.rows', 'ill', '{age}', 0.5)");
does('hospital', "SELECT dp_grant('former', 'ben', 1)");
does('ben', "SELECT dp_budget_charge('former', 0.5)");
does('hospital', "SELECT dp_revoke('former', 'ben')");
does('hospital', q{SELECT dp_unprotect('h.past'); DROP TABLE h."Gone ""1"; DROP TABLE h.again; CREATE TABLE h.again (LIKE h.past INCLUDING ALL); SELECT dp_protect('h.again', 'patients', unit => 'person')});

# all of it, but for OIDs and numbers of columns
my $state = q{
	SELECT id, budget, created, dropped, owner_name, epsilon, delta, unit, since, entry, spent_epsilon, spent_delta, spent_direct FROM dperm.budgets ORDER BY budget;
	SELECT id, budget_id, grantee_name, revoked, epsilon, delta, renyi_order, spent_epsilon, spent_delta, spent_divergence, spent_direct, spent_tail, kept FROM dperm.grants ORDER BY id;
	SELECT budget_id, budget, entry, at, act, actor_name, role, function, relation, features, unit, epsilon, epsilon_left, grant_left, details FROM dperm.ledger ORDER BY budget, entry;
	SELECT budget_id, entry, at, payer_name, grant_id, md5(model::text), metrics, failure, protected, units FROM dperm.releases ORDER BY 1, 2;
	SELECT * FROM dp_protected ORDER BY relation COLLATE "C";
	SELECT id, schema, name, owner_name, budget_id, view_of, unit, all_columns, ended, ended_by FROM dperm.protected ORDER BY id;
	SELECT id, protected, name, listed, domain FROM dperm.protected_columns ORDER BY id;
	SELECT count(*) FROM dperm.protected WHERE ended IS NULL AND view_of NOT IN (SELECT id FROM dperm.protected);
	SELECT name, md5(model::text), dp_decision(model, ROW(50, 20.0)::h.pair) FROM models;
	SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgrelid::regclass::text LIKE 'dperm.%' AND NOT tgisinternal ORDER BY tgrelid::regclass::text COLLATE "C", tgname};
my $before = as('superuser', $state);
$node->safe_psql('origin', "SELECT pg_create_restore_point('before')");
like($before, qr/^h\.visits\|hospital\|patients\|person\|\{age,bmi,ill\}\|\{"bmi": \[0, 60\]\}\|$/m, 'a registration has followed names');
like($before, qr/^h\.$_\|hospital\|patients\|[^|]*\|\|\|(?:the relation has another owner|the table has become a part of another one)?$/m, "registered: $_") foreach 'parts', 'later', 'child', 'given';
like($before, qr/^[^|]+\|[^|]+\|ana\|\|1\|0\.000001\|[0-9.]+\|0\.25\|0\|0\.[0-9]+\|/m, 'a grant has its order and its sums');
like($before, qr/^[^|]+\|[^|]+\|ben\|2[^|]+\|1\|0\|\|0\.5\|0\|0\|0\|0\|0$/m, 'one that was revoked, too');
like($before, qr/^h\.lost\|hospital\|patients\|\|\|\|the unit has been dropped$/m, 'a unit that was dropped');
like($before, qr/^[^|]+\|h\|$_\|hospital\|[^|]+\|\|person\|t\|2[^|]*\|hospital$/m, "a protection that has ended: $_") foreach 'past', 'Gone "1', 'again';

# What has to hold in each copy, which may change names in what it says.
sub holds
{
	my ($was, $is) = @_;
	my $state_is = as('superuser', $state);
	$state_is =~ s/$was/$is/g if $was;
	is($state_is, $before, "$database: all is as it was");
	says('superuser', $kept, 'dperm.ledger_is_kept', 'the ledger is kept');
	fails('ana', train('h.visits', 0.8), qr/^54000: the grant of budget "patients" to "ana" has too little epsilon left/, 'a grant goes on where it was');
	says('ana', train('h.visits', 0.25, 'age,bmi'), 50, 'and is good for the rest');
	fails('ben', "SELECT dp_budget_charge('former', 0.1)", qr/^42501: permission denied for budget "former"/, 'one that was revoked is not one again');
	does('hospital', "SELECT dp_grant('former', 'ben')");
	fails('ben', "SELECT dp_budget_charge('former', 0.6)", qr/^54000: the grant of budget "former" to "ben" has too little epsilon left/, 'and if it is granted again, it goes on, too');
	says('dora', train('h.visits', 0.25), 50, 'so is that of a renamed role');
	says('ana', train('h.parts', 0.25), 50, 'also on partitions');
	says('ana', train('h.old', 0.125, 'age,twice'), 50, 'a view is offered');
	says('ana', train("h.$_", 0.0625), 50, "what came after its registration is charged: $_") foreach 'late', 'later';
	says('hospital', q{SELECT epsilon_spent FROM dp_budgets WHERE budget = 'patients'}, '1.25', 'the account goes on');
	fails('hospital', train('h.visits', 3.5), qr/^54000: budget "patients" has too little epsilon left/, 'also for the owner');
	fails('ben', train('c.rows', 0.6), qr/^54000: budget "clinic" has too little epsilon left/, 'so do budgets of others');
	fails('ana', train('h.visits', 0.1, $_), qr/^42501: column "$_" of protected relation "visits" is not open to training/, "a closed column stays closed: $_") foreach 'secret', 'note';
	fails('ana', train('h.old', 0.1, 'secret'), qr/^42501: column "secret" of protected relation "old" is not open to training/, 'as its table is');
	fails($_, train('h.visits', 0.1), qr/^42501: permission denied/, "no grant, no model: $_") foreach 'ben', 'heir', 'Was ""renamed';
	fails('hospital', train('h.part_1', 0.1), qr/^42501: relation "part_1" reads protected relation "parts"/, 'a partition is not a way around');
	fails('ana', train('h.ended', 0.1), qr/^42501: permission denied/, 'what has ended is not open');
	foreach my $role ('ana', 'hospital', 'superuser')
	{
		fails($role, train('h.child', 0.1), qr/^55000: protected relation "child" has been changed, and is closed/, "a table that has become a child is closed: $role");
		fails($role, train('h.given', 0.1), qr/^55000: protected relation "given" has a different owner than when it was protected|^55000: protected relation "given" has been changed, and is closed \(It has the name of one that was restored/, "a table of another owner is closed: $role");
		fails($role, train('h.shown', 0.1), qr/^55000: protected relation "shown" has been changed, and is closed/, "so is a view of it: $role");
		fails($role, train('h.lost', 0.1), qr/^55000: the unit of protected relation "lost" has been dropped/, "and one without its unit, though a column has its name: $role");
	}
	my $make = 'BEGIN; CREATE TABLE h."Gone ""1" (LIKE h.past INCLUDING ALL);';
	fails('hospital', "$make SELECT dp_protect('$_->[0]', '$_->[1]', unit => '$_->[2]')", qr/^55000: relation "[^"]+( "1)?" has another unit in budget "$_->[1]"/, "a budget keeps its unit: $_->[0], $_->[1]")
		foreach [ 'h.past', 'patients', 'age' ], [ 'h."Gone ""1"', 'patients', 'age' ], [ 'h.visits', 'patients', 'visit' ], [ 'h.visits', 'former', 'visit' ], [ 'h.parts', 'patients', 'age' ], [ 'h.again', 'patients', 'age' ], [ 'h.lost', 'patients', 'person' ];
	says('hospital', "$make SELECT dp_protect('h.past', 'patients', unit => 'person'), dp_protect('h.\"Gone \"\"1\"', 'patients', unit => 'person'), dp_protect('h.again'), dp_protect('h.ended'), dp_protect('h.visits', 'former'), dp_protect('h.visits', 'patients'), dp_protect('h.old'); ROLLBACK", '||||||', 'with that they are protected again');
	fails('ana', 'SELECT count(*) FROM h.visits', qr/^42501/, 'nobody may read who could not');
	fails('superuser', 'DELETE FROM dperm.ledger', qr/^55000/, 'the ledger is append-only');
	fails('superuser', 'DROP EXTENSION dperm', qr/^2BP01: cannot drop extension dperm because other objects depend on it \(view dperm\.ledger_is_kept depends on schema dperm\)/, 'and DROP EXTENSION keeps it');
	return;
}

# whoever only reads keeps nobody from our tables
says('heir', "BEGIN; SELECT count(*) FROM dp_protected; SELECT count(*) FROM dp_budgets; SELECT count(*) FROM dp_ledger; SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'dperm'::regnamespace)", "0\n0\n0\nAccessShareLock", 'views lock nothing');

# ---- dumps

dump_of(@$_) foreach [ 'plain', '--format=plain' ], [ 'inserts', '--format=plain', '--inserts' ], [ 'custom', '--format=custom' ], [ 'directory', '--format=directory', '-j', '2' ];
foreach my $name ('plain', 'inserts')
{
	create($name);
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($name), '-f', "$dir/$name" ], "$name: restored");
	holds();
}
create('custom');
restore('custom');
isnt(as('superuser', "ALTER TABLE models ADD more int; $_"), $node->safe_psql('origin', $_), "custom: numbers are others") foreach "SELECT number FROM dperm.protected_columns WHERE name = 'bmi'", "SELECT unit_number FROM dperm.protected WHERE name = 'parts'";
holds();
foreach my $n (1 .. 5) # it may go wrong some of the time
{
	create("parallel_$n");
	restore('directory', '-j', '4');
	is(as('superuser', $state), $before, "$database: all is as it was");
}
create('parallel');
restore('directory', '-j', '2');
dump_of('second', '--format=custom');
holds();
restore('custom', '--clean', '--if-exists');
holds();
create('second');
restore('second', '-1');
holds();

# columns and registrations are restored at the same time, and nothing comes after them
$database = 'plain';
does('superuser', "CREATE TABLE kept AS TABLE dperm.protected; CREATE TABLE columns_kept AS TABLE dperm.protected_columns; DELETE FROM dperm.protected");
does('superuser', "BEGIN; INSERT INTO dperm.protected_columns TABLE columns_kept; PREPARE TRANSACTION 'columns'");
my $command = IPC::Run::start([ 'psql', '-Xq', '-d', $node->connstr('plain'), '-c', 'INSERT INTO dperm.protected TABLE learning.kept' ]);
$node->poll_query_until('plain', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'") or die 'the registrations do not wait';
does('superuser', "COMMIT PREPARED 'columns'");
$command->finish;
says('hospital', "SELECT columns FROM dp_protected WHERE relation = 'h.visits'; " . train('h.visits', 0.1), "{age,bmi,ill}\n50", 'they are bound all the same');
does('hospital', 'ALTER TABLE h.visits RENAME age TO years');
says('hospital', "SELECT columns FROM dp_protected WHERE relation = 'h.visits'; " . train('h.visits', 0.1, 'years'), "{years,bmi,ill}\n50", 'and follow names');

# over the database that it came from, whose tables have been made again
$database = 'parallel';
does('hospital', 'ALTER TABLE h.visits RENAME person TO p; ALTER TABLE h.visits RENAME visit TO person; DROP TABLE h.parts; CREATE TABLE h.parts (age int, person int, ill boolean)');
restore('second', '--clean', '--if-exists');
holds();

# as a replica, and without triggers
create('replica');
{
	local $ENV{PGOPTIONS} = '-c session_replication_role=replica';
	restore('custom');
}
holds();
create('disabled');
restore('custom', '--section=pre-data');
IPC::Run::run([ 'pg_restore', '--data-only', '--disable-triggers', '-d', $node->connstr('disabled'), "$dir/custom" ], '2>', \my $errors);
is(join("\n", grep { /error: / && !/triggers of extension dperm cannot be disabled/ } split /\n/, $errors), '', 'disabled: only triggers of the extension cannot be disabled');
is(scalar(() = $errors =~ /triggers of extension dperm cannot be disabled/g), 12, 'disabled: of each of its tables');
restore('custom', '--section=post-data');
holds();

# registrations of this database are not taken by OID either
dump_of('disabled', '--format=custom');
does('superuser', 'DROP TABLE h.visits CASCADE; DELETE FROM dperm.protected');
does('hospital', 'CREATE TABLE h.visits (visit int, secret int CHECK (secret BETWEEN 0 AND 9), person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO h.visits SELECT i, i % 10, i % 40, i % 100, i % 3 = 0 FROM generate_series(1, 200) i');
restore('disabled', '--data-only', '-t', 'protected', '-t', 'protected_columns');
says('hospital', train('h.visits', 0.1), 40, 'a table that was made again');
fails('hospital', train('h.visits', 0.1, 'secret'), qr/^42501: column "secret" of protected relation "visits" is not open to training/);
does('hospital', 'ALTER TABLE h.visits RENAME TO other');
says('hospital', train('h.other', 0.1), 40, 'and then has another name');

# PostgreSQL cuts names that are longer in another encoding
$database = 'latin';
$node->safe_psql('postgres', "CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C'");
does('superuser', "$extension; CREATE SCHEMA h AUTHORIZATION hospital; SET client_encoding = 'UTF8'; SET ROLE hospital; SELECT dp_budget_create('long', 100);
	DO \$\$ DECLARE n text := repeat(chr(228), 40); BEGIN
		EXECUTE format('CREATE TABLE h.%1\$I (%2\$I int, age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO h.%1\$I SELECT i %% 40, i, i %% 3 = 0 FROM generate_series(1, 120) i', n, 'u' || n);
		PERFORM dp_protect('h.' || quote_ident(n), 'long', unit => 'u' || n);
	END \$\$");
dump_of('latin', '--format=custom');
create('long');
restore('latin');
says('hospital', "SELECT length(relation), length(unit), closed FROM dp_protected; SELECT dp_logreg_train(relation, 'ill', 'age', 0.1)::jsonb ->> 'persons' FROM dp_protected", "35|32|\n40", 'a long name');

# ---- another owner: what cannot be bound stays closed

create('owned');
restore('custom', '--no-owner');
my $foreign = sub { qr/^55000: protected relation "$_[0]" has been changed, and is closed \(It has the name of one that was restored, or dropped while no event trigger saw it\.\)/ };
fails($_, train('h.visits', 0.1), $_ eq 'ben' ? qr/^42501: permission denied for relation visits/ : $foreign->('visits'), "$_ trains on nothing that was protected") foreach 'ana', 'ben', 'hospital', 'superuser';
fails('superuser', train($_, 0.1), $foreign->(s/.*\.//r), "nor do others: $_") foreach 'c.rows', 'h.parts', 'h.late', 'h.old', 'h.child', 'h.lost', 'h.given', 'h.shown';
fails('superuser', "SELECT * FROM dp_cost('h.visits', 'ill', 'age'::text, 0.1, units => 50)", $foreign->('visits'));
fails('superuser', train('h.part_1', 0.1), qr/^42501: relation "part_1" reads protected relation "parts"/);
says('superuser', "SELECT DISTINCT closed FROM dp_protected; SELECT string_agg(budget || ' ' || trim_scale(epsilon_spent), ', ' ORDER BY budget) FROM dp_budgets", "the relation has another owner\nclinic 0.5, former 1.5, of gone 0, patients 0.25", 'they are listed as closed, and what was spent is known');
does('superuser', 'ALTER TABLE c.rows OWNER TO heir; GRANT USAGE ON SCHEMA c TO heir; GRANT USAGE, CREATE ON SCHEMA h TO hospital');
fails('heir', train('c.rows', 0.1), $foreign->('rows'));
fails('heir', "SELECT dp_unprotect('c.rows')", qr/^55000: relation "rows" has the name of a protected relation of another role/);
says('heir', "SELECT dp_budget_create('of heir', 1); SELECT dp_protect('c.rows', 'of heir'); " . train('c.rows', 0.1) =~ s/persons/rows/r, "\n\n60", 'its owner protects it with a budget of theirs');
says('superuser', "SELECT count(*) FROM dp_ledger WHERE budget = 'clinic' AND role = 'heir'", 0, 'and has nothing to do with that of clinic');
says('superuser', "SELECT owner, budget, closed FROM dp_protected WHERE relation = 'c.rows' ORDER BY owner", "clinic|clinic|the relation has another owner\nheir|of heir|", 'whose registration still waits');
fails($_, train('c.rows', 0.1), qr/^42501: permission denied/, "nor with its grants: $_") foreach 'ben', 'clinic';
does('superuser', q{DO $$ BEGIN FOR i IN 1..200 LOOP UPDATE dperm.protected SET here = 'elsewhere ' || i WHERE name = 'rows' AND owner_name::text = 'clinic'; END LOOP; END $$});
$node->safe_psql('postgres', 'CREATE DATABASE owned_twin TEMPLATE owned');
$database = 'owned_twin';
says('heir', train('c.rows', 0.1) =~ s/persons/rows/r, 60, 'of two registrations, that of the owner counts');
$database = 'owned';
does('superuser', 'REASSIGN OWNED BY heir TO clinic');
fails($_, train('c.rows', 0.1), $_ eq 'ben' ? qr/^42501: permission denied for relation rows/ : qr/^55000: protected relation "rows" has a different owner/, "given to clinic, it is closed: $_") foreach 'ben', 'clinic', 'heir';
says('clinic', "SELECT dp_unprotect('c.rows'); SELECT dp_protect('c.rows', 'clinic'); " . train('c.rows', 0.1) =~ s/persons/rows/r, "\n\n60", 'which protects it again');
fails('ben', train('c.rows', 0.6), qr/^54000: budget "clinic" has too little epsilon left/, 'with what was spent');
says('superuser', "SELECT dp_unprotect('h.visits'); SELECT dp_logreg_train('h.visits', 'ill', 'age', 0.1) IS NOT NULL; SELECT count(*) FROM dp_ledger WHERE budget = 'patients' AND act = 'unprotect' AND role = current_user AND relation = 'h.visits'", "\nt\n1", 'a superuser ends a registration that waits');
does('superuser', 'ALTER TABLE h.parts OWNER TO hospital');
says('hospital', train('h.parts', 0.1), 50, 'one that has got its relation is charged as before');

# ---- roles that are missing, and others that have got their names

sub nothing_for_gone
{
	fails('gone', train('h.visits', 0.1), qr/^42501: permission denied/, 'who gets the name of a role later has not its grant');
	fails('gone', $_, qr/^42501: (permission denied for|must be owner of) budget "of gone"/, 'nor its budget') foreach "SELECT dp_budget_charge('of gone', 0.1)", "SELECT dp_budget_alter('of gone', 10)";
	fails('ana', "SELECT dp_budget_create('of gone', 500)", qr/^42710: budget "of gone" already exists/, 'which is there');
	return;
}
drop_copies();
$node->safe_psql('postgres', 'DROP ROLE gone');
create('without_role');
restore('custom');
holds('pg_dropped:gone', 'gone');
$node->safe_psql('postgres', 'CREATE ROLE gone');
nothing_for_gone();
dump_of('without_role', '--format=custom');
$database = 'origin';
dump_of('dropped_role', '--format=custom');
foreach my $name ('without_role', 'dropped_role')
{
	create("again_$name");
	restore($name);
	nothing_for_gone();
	next if $name ne 'dropped_role';
	holds('pg_dropped:gone', 'gone');
	says('superuser', "SELECT dp_revoke('patients', 'gone'); SELECT dp_budget_alter('of gone', owner => 'hospital')", "\n", 'a superuser gives them to others');
	says('hospital', "SELECT dp_budget_alter('of gone', 10)", '');
}

# ---- createdb: whatever the first command is, what was protected is followed

sub twin { ($database) = @_; $node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE origin; GRANT CREATE ON DATABASE $database TO hospital"); return }
twin('twin');
holds('pg_dropped:gone', 'gone');
my $n = 0;
my $swap = 'RENAME person TO p; ALTER TABLE h.visits RENAME visit TO person; ALTER TABLE h.visits RENAME ill TO sick; ALTER TABLE h.visits RENAME sick TO ill';
foreach my $first (
	[ "ALTER TABLE h.visits $swap; ALTER TABLE h.visits RENAME TO other", 'h.other', 'h.other|p|{age,bmi,ill}' ],
	[ 'ALTER INDEX h.visits RENAME TO other', 'h.other', 'h.other|person|{age,bmi,ill}' ],
	[ 'ALTER SCHEMA h RENAME TO g', 'g.visits', 'g.visits|person|{age,bmi,ill}' ],
	[ 'ALTER TABLE h.visits DROP bmi CASCADE; ALTER TABLE h.visits ADD bmi float8 CHECK (bmi BETWEEN 0 AND 9)', 'h.visits', 'h.visits|person|{age,ill}' ],
	[ 'CREATE TABLE h.more (a int); SELECT 1', 'h.old', 'h.old|person|' ],
	[ q{SELECT dp_protect('h.visits', columns => '{age,ill}')}, 'h.old', 'h.old|person|' ],
	[ q{SELECT dp_protect('h.old')}, 'h.old', 'h.old|person|' ])
{
	my ($sql, $relation, $wanted) = @$first;
	twin('first' . ++$n);
	does('hospital', $sql);
	says('hospital', "SELECT relation, unit, columns FROM dp_protected WHERE relation = '$relation' AND closed IS NULL", $wanted, "first $sql");
	says('ana', train($relation, 0.1) . "; SELECT relation, epsilon FROM dp_ledger WHERE act = 'charge' ORDER BY entry DESC LIMIT 1", "50\n$relation|0.1", 'it is charged');
	fails('ana', train($relation, 0.1, 'bmi'), qr/^42501: column "bmi" of protected relation "visits" is not open/, 'another column of this name is not open') if $wanted !~ /bmi|old/;
}
twin('first_typed');
does('hospital', 'INSERT INTO h.typed SELECT i % 50, i, i % 100, i % 3 = 0 FROM generate_series(1, 200) i; ALTER TYPE h.person RENAME ATTRIBUTE person TO p CASCADE; ALTER TYPE h.person RENAME ATTRIBUTE visit TO person CASCADE');
says('superuser', "SELECT unit FROM dp_protected WHERE relation = 'h.typed'; " . train('h.typed', 0.1), "p\n50", 'the type of a table');
twin('first_drop');
fails('hospital', "SELECT dp_budget_drop('patients')", qr/^2BP01: cannot drop budget "patients" because protected relations charge it/);
does('hospital', 'DROP TABLE h.visits CASCADE; CREATE TABLE h.visits (LIKE h.past INCLUDING ALL)');
fails('ana', train('h.visits', 0.1), qr/^42501: permission denied/, 'a table of the same name and owner is another one');
fails('hospital', "SELECT dp_protect('h.visits', 'patients', unit => 'age')", qr/^55000: relation "visits" has another unit in budget "patients" \(Its unit is column "person"\.\)/);
twin('first_unprotect');
does('hospital', "SELECT dp_unprotect('h.visits')");
says('hospital', "SELECT count(*) FROM dp_protected WHERE relation IN ('h.visits', 'h.old')", 0, 'dp_unprotect ends both');
$database = 'origin';
is(as('superuser', $state) =~ s/pg_dropped:gone/gone/gr, $before, 'the original is as it was');

# ---- commands that no event trigger sees

$database = 'twin';
does('superuser', "SET session_replication_role = replica; ALTER TABLE h.visits RENAME TO other");
says('hospital', "SELECT relation FROM dp_protected WHERE relation = 'h.other'", 'h.other', 'a replica is followed');
my @triggers = split /\n/, as('superuser', "SELECT evtname FROM pg_event_trigger WHERE evtname LIKE 'dperm%'");
my ($off, $on) = $node->pg_version >= 17 ? ('SET event_triggers = off', '') : map { my $how = $_; join '; ', map { "ALTER EVENT TRIGGER $_ $how" } @triggers } 'DISABLE', 'ENABLE ALWAYS';
does('superuser', "ALTER TABLE h.other RENAME TO visits; $off; ALTER TABLE h.visits $swap; ALTER TABLE h.visits DROP bmi CASCADE; ALTER TABLE h.parts RENAME TO pieces; DROP TABLE h.again; CREATE TABLE h.again (LIKE h.past INCLUDING ALL); ALTER TABLE h.again OWNER TO hospital; $on");
fails('hospital', "SELECT dp_protect('h.visits')", qr/^55000: protected relation "visits" has been changed, and is closed/);
my $unseen = '^55000: protected relation "%s" has been changed, and is closed \(It, or one of its columns, was renamed while no event trigger followed it';
fails($_->[0], train("h.$_->[1]", 0.1), qr/@{[ sprintf $unseen, $_->[1] ]}/, "what was renamed unseen is closed: $_->[1]") foreach [ 'ana', 'visits' ], [ 'hospital', 'pieces' ];
does('hospital', 'INSERT INTO h.again TABLE h.past');
fails('hospital', train('h.again', 0.1), $foreign->('again'), 'the successor of a table that was dropped unseen is closed');
does('hospital', "CREATE TABLE h.parts (LIKE h.past INCLUDING ALL); INSERT INTO h.parts TABLE h.past; SELECT dp_protect('h.parts', 'patients', unit => 'person')");
dump_of('stale', '--format=custom');
create('stale');
restore('stale');
says('hospital', "ALTER TABLE h.past ADD more int; SELECT count(*) FROM dp_protected WHERE relation = 'h.parts'; SELECT count(*) FROM dp_protected WHERE relation = 'h.pieces'; " . train('h.parts', 0.1), "2\n0\n50", 'a dump has the names of before');
does('hospital', 'ALTER TABLE h.visits ADD bmi float8 CHECK (bmi BETWEEN 0 AND 9)');
fails('hospital', train('h.visits', 0.1, 'bmi'), qr/^42501: column "bmi" of protected relation "visits" is not open/, 'a column that was dropped unseen stays closed');
$database = 'twin';
does('hospital', "ALTER TABLE h.visits ADD more int; ALTER TABLE h.pieces ADD more int; SELECT dp_protect('h.again')");
says('hospital', "SELECT relation, unit FROM dp_protected WHERE relation ~ 'visits|pieces' ORDER BY relation", "h.pieces|person\nh.visits|p", 'the next command writes down what they are called');
says('hospital', train('h.visits', 0.1) . '; ' . train('h.pieces', 0.1), "50\n50", 'and opens them, by the same unit');

# ---- all of it is dropped

does('superuser', 'CREATE TABLE t (a int); ALTER TABLE t ADD b int; DROP TABLE t; DROP SCHEMA h CASCADE; DROP OWNED BY clinic');
says('superuser', "SELECT name FROM dperm.protected WHERE ended IS NULL ORDER BY 1; SELECT count(*) FROM dperm.protected_columns; SELECT count(*) > 20 FROM dp_ledger", "old\n1\nt", 'what is dropped is no longer registered, but for what was dropped unseen; the ledger stays');
says('superuser', 'DROP TABLE models; DROP VIEW dperm.ledger_is_kept; DROP EXTENSION dperm; CREATE TABLE t (a int); DROP TABLE t; SELECT count(*) FROM pg_event_trigger', 0, 'who drops the view means it');

# ---- pg_upgrade

drop_copies();
$node->stop;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
chdir $dir;
my ($bin) = run_command([ 'pg_config', '--bindir' ]);
command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin, '-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
($server, $database) = ($new, 'origin');
holds('pg_dropped:gone', 'gone');
$new->stop;

# ---- a standby, which is promoted

$node->start;
$node->safe_psql('origin', 'CHECKPOINT');
$node->backup('later');
sub standby
{
	my ($name) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($node, 'later', has_streaming => 1);
	$standby->start;
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	return $server = $standby;
}
my $standby = standby('standby');
says('ana', "SELECT count(*) > 0 FROM dp_cost('h.visits', 'ill', 'age'::text, 0.1, units => 50); SELECT string_agg(column_name, ',') FROM dp_domains('h.visits'); SELECT count(*) > 5 FROM dp_protected; SELECT epsilon_spent, epsilon_left FROM dp_grants; SELECT count(*) FROM dp_releases; SELECT count(*) FROM dp_ledger WHERE act = 'charge' AND release = 'kept'", "t\nage,bmi,ill\nt\n0.25|0.75\n1\n1", 'a standby shows what there is');
fails('ana', train('h.visits', 0.1), qr/^25006/, 'and does not train');
$standby->promote;
holds('pg_dropped:gone', 'gone');
$standby->stop;

# ---- a subscriber, which was a standby

SKIP:
{
	skip 'pg_createsubscriber comes with PostgreSQL 17', 1 if $node->pg_version < 17;
	my $subscriber = standby('subscriber');
	$subscriber->stop;
	command_ok([ 'pg_createsubscriber', '-D', $subscriber->data_dir, '-P', $node->connstr('origin'), '-s', $subscriber->host, '-p', $subscriber->port, '-d', 'origin' ], 'pg_createsubscriber');
	$subscriber->start;
	holds('pg_dropped:gone', 'gone');
	($server, my $spent) = ($node, "SELECT epsilon_spent FROM dp_budgets WHERE budget = 'clinic'");
	says('ben', train('c.rows', 0.25) =~ s/persons/rows/r, 60, 'the publisher is charged');
	does('clinic', 'INSERT INTO c.rows VALUES (1, true)');
	$subscriber->poll_query_until('origin', 'SELECT count(*) = 61 FROM c.rows') or die 'rows did not come';
	says('clinic', $spent, '0.75');
	$server = $subscriber;
	says('clinic', $spent, '0.5', 'and the subscriber is not');
	$subscriber->stop;
}

# ---- a point in time: what was spent since is forgotten

$server = $node;
does('ana', train('h.visits', 0.5));
$node->safe_psql('origin', 'SELECT pg_switch_wal()');
my $past = PostgreSQL::Test::Cluster->new('past');
$past->init_from_backup($node, 'base', has_restoring => 1);
$past->append_conf('postgresql.conf', "recovery_target_name = 'before'\nrecovery_target_action = 'promote'\n");
$past->start;
$past->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery did not end';
$server = $past;
holds();
$past->stop;
$node->stop;
done_testing();
