# A registration is about the columns that its owner named and the budget that
# they chose, wherever it is restored, in whatever order, and whoever the
# relation has come to belong to.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nlock_timeout = 5s\n");
$node->start;
my $dir = PostgreSQL::Test::Utils::tempdir;
$node->safe_psql('postgres', 'CREATE ROLE hospital; CREATE ROLE ana; CREATE ROLE heir; CREATE DATABASE named; CREATE DATABASE origin');

# a budget that is older than one of the same name
$node->safe_psql('named', "CREATE EXTENSION dperm; CREATE SCHEMA ana AUTHORIZATION ana; SET ROLE ana; CREATE TABLE ana.mine (y boolean); SELECT dp_budget_create('patients', 1)");

# Runs statements as a role, and returns what they say: rows, or the error with
# its hint.
my $database = 'origin';
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql($database, "\\set VERBOSITY verbose\n" . ($role eq 'superuser' ? '' : qq{SET SESSION AUTHORIZATION "$role"; }) . $sql, stdout => \$out, stderr => \$err, on_error_stop => 1);
	my ($error) = $err =~ /(?:ERROR|FATAL):  (.*)/ or return $out;
	return $error . ($err =~ /HINT:  (.*)/ ? " ($1)" : '');
}
sub says { my ($role, $sql, $wanted, $what) = @_; is(as($role, $sql), $wanted, "$database: " . ($what // "$role: $sql")); }
sub fails { my ($role, $sql, $wanted, $what) = @_; like(as($role, $sql), $wanted, "$database: " . ($what // "$role: $sql")); }
sub start { ($database) = @_; $node->safe_psql('postgres', "CREATE DATABASE $database"); }

# What another session does in the middle of a script.
sub meanwhile { my ($role, $sql) = @_; qq{\n\\! psql -XAtq -d "@{[ $node->connstr($database) ]}" -c "SET SESSION AUTHORIZATION $role" -c "$sql"\n} }

# Dumps, and restores those entries of the list that match, with options.
sub dump_of { my ($name, @options) = @_; $node->command_ok([ 'pg_dump', '-d', $node->connstr($database), '--format=directory', '-f', "$dir/$name", @options ], "$name: dumped"); }
sub restore
{
	my ($name, $matching, @options) = @_;
	my @list = grep { !/^;/ && /$matching/ } split /^/, `pg_restore -l $dir/$name`;
	PostgreSQL::Test::Utils::append_to_file("$dir/list", join('', @list));
	IPC::Run::run([ 'pg_restore', @options, '-d', $node->connstr($database), '-L', "$dir/list", "$dir/$name" ], '2>', \my $err);
	unlink "$dir/list";
	return $err;
}

# Numbers of columns are others in a copy of the table, since one has been
# dropped.
my $rows = 'SELECT i % 40, i, i % 100, i % 3 = 0, i % 5 = 0 FROM generate_series(1, 200) i';
my $columns = 'person int, visit int, age int CHECK (age BETWEEN 0 AND 120), ill boolean, secret boolean';
$node->safe_psql('origin', qq{
	CREATE EXTENSION dperm;
	CREATE SCHEMA h AUTHORIZATION hospital; CREATE SCHEMA ana AUTHORIZATION ana; CREATE SCHEMA heir AUTHORIZATION heir; GRANT USAGE ON SCHEMA h, ana, heir TO PUBLIC;
	SET ROLE hospital;
	SELECT dp_budget_create('patients', 100);
	SELECT dp_grant('patients', 'ana');
	DO \$\$ BEGIN FOR i IN 1..10 LOOP
		EXECUTE format('CREATE TABLE h.visits%s (gone int, $columns); ALTER TABLE h.visits%1\$s DROP gone; INSERT INTO h.visits%1\$s ', i) || '$rows';
		PERFORM dp_protect('h.visits' || i, 'patients', unit => 'person', columns => '{age,ill}', domains => '{"age": [0, 100]}');
	END LOOP; END \$\$;
	CREATE VIEW h.seen AS SELECT age, ill, secret FROM h.visits2 WHERE age > 10; SELECT dp_protect('h.seen');
	-- one whose protection has ended
	CREATE TABLE h.past ($columns); SELECT dp_protect('h.past', 'patients', unit => 'person'); SELECT dp_unprotect('h.past')});
my $registered = q{SELECT relation, unit, columns, domains FROM dp_protected ORDER BY relation::text COLLATE "C"};
my $registrations = as('superuser', $registered);
like($registrations, qr/^h\.visits1\|person\|\{age,ill\}\|\{"age": \[0, 100\]\}$/m, 'registered');
sub train { my ($relation, $epsilon, $label, $feature) = @_; sprintf "SELECT coalesce(m ->> 'persons', m ->> 'rows') FROM (SELECT dp_logreg_train('%s', '%s', '%s', %s)::jsonb) t(m)", $relation, $label // 'ill', $feature // 'age', $epsilon // 0.1; }
says('ana', train('h.visits1'), 40);
dump_of('dump');

# ---- the order of a restore

my $n = 0;

sub same
{
	my ($what) = @_;
	says('superuser', $registered, $registrations, "$what: all is as it was");
	says('superuser', 'ALTER TABLE h.visits1 ADD more int; ' . $registered, $registrations, "$what: also after a change");
	says('ana', train("h.$_"), 40, "$what: persons are counted: $_") foreach 'visits1', 'visits2', 'visits10', 'seen';
	fails('ana', train('h.seen', 0.1, 'secret'), qr/^42501: column "secret" of protected relation "seen" is not open to training/, "$what: nor in a view");
	fails('hospital', "SELECT dp_protect('h.past', 'patients', unit => 'visit')", qr/^55000: relation "past" has another unit in budget "patients"/, "$what: the budget has kept the unit of what has ended");
	fails('ana', train('h.past'), qr/^42501: permission denied/, "$what: which is not protected");
	fails('ana', train('h.visits3', 0.1, 'secret'), qr/^42501: column "secret" of protected relation "visits3" is not open to training/, "$what: other columns are not open");
	fails('hospital', "SELECT dp_protect('h.visits1', 'patients', unit => 'visit')", qr/^55000: relation "visits1" has another unit in budget "patients"/, "$what: the budget has kept the unit");
}
start('columns_last');
is(restore('dump', qr/^(?!.*dperm.dp_protected_columns)/), '', 'restored without columns');
fails('ana', train('h.visits1'), qr/^(55000: the unit of protected relation "visits1" has been dropped|42501: column "ill" of)/, 'nobody trains without them');
says('superuser', "ALTER TABLE h.visits$_ ADD extra int", '') foreach 1 .. 10;
is(restore('dump', qr/TABLE DATA dperm dp_protected_columns/), '', 'restored columns');
same('columns come last');
start('columns_first');
is(restore('dump', qr/^(?!.*TABLE DATA)/), '', 'restored definitions');
is(restore('dump', qr/TABLE DATA dperm dp_protected_columns/), '', 'restored columns');
says('superuser', 'ALTER TABLE h.visits1 ADD extra int', '');
is(restore('dump', qr/TABLE DATA(?! dperm dp_protected_columns)/), '', 'restored the rest');
same('columns come first');

# long names, in an encoding in which they are longer: PostgreSQL cuts them
$database = 'latin';
$node->safe_psql('postgres', "CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C'");
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO PUBLIC');
as('hospital', qq{SET client_encoding = 'UTF8'; SELECT dp_budget_create('long', 100); SELECT dp_grant('long', 'ana');
	SELECT format('CREATE TABLE h.%1\$I (%2\$I int, age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO h.%1\$I SELECT i %% 40, i, i %% 3 = 0 FROM generate_series(1, 120) i', n, 'u' || n), 'SELECT dp_protect(' || quote_literal('h.' || quote_ident(n)) || ', ''long'', unit => ' || quote_literal('u' || n) || ')'
	FROM repeat(chr(228), 40) n
	\\gexec
});
says('superuser', "SELECT length(relation::text), length(unit) FROM dp_protected", '44|41', 'registered');
dump_of('latin');
my $trained = "DO \$\$ BEGIN PERFORM dp_logreg_train('h.' || quote_ident(relname), 'ill', 'age', 0.1) FROM pg_class WHERE relnamespace = 'h'::regnamespace AND relkind = 'r'; END \$\$; SELECT epsilon_spent FROM dp_budgets";
foreach my $order ('tables first', 'tables last')
{
	start($order =~ s/ /_/r);
	as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO PUBLIC');
	is(restore('latin', $_), '', "$order: restored") foreach $order eq 'tables first' ? (qr/ TABLE (DATA )?h /, qr/TABLE DATA dperm dp_/) : (qr/TABLE DATA dperm dp_/, qr/ TABLE (DATA )?h /);
	says('superuser', "SELECT length(relation::text), length(unit) FROM dp_protected", '35|32', "$order: it has its relation and its unit");
	says('hospital', $trained, '0.1', "$order: it is charged");
}

# without triggers
start('disabled');
is(restore('dump', qr/^(?!.*TABLE DATA)/), '', 'restored definitions');
is(restore('dump', qr/TABLE DATA/, '--data-only', '--disable-triggers'), '', 'restored data without triggers');
same('without triggers');

# ---- names that no event trigger has seen change

$database = 'origin';
as('hospital', "CREATE TABLE h.renamed ($columns); INSERT INTO h.renamed $rows");
says('hospital', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;' . meanwhile('hospital', "SELECT dp_protect('h.renamed', 'patients', unit => 'person')") .
	'ALTER TABLE h.renamed RENAME person TO p; ALTER TABLE h.renamed RENAME visit TO person; COMMIT', "1\n", 'renamed in a transaction that does not see the registration');
dump_of('renamed');
start('renamed');
is(restore('renamed', ''), '', 'restored');
says('superuser', "SELECT unit FROM dp_protected WHERE relation = 'h.renamed'::regclass", 'p', 'its unit is the same column');
says('ana', train('h.renamed'), 40);
as('hospital', 'ALTER TABLE h.renamed DROP p; ALTER TABLE h.renamed ADD p int');
fails('ana', train('h.renamed'), qr/^55000: the unit of protected relation "renamed" has been dropped/, 'one that is dropped is lost');
dump_of('dropped');
start('dropped');
is(restore('dropped', ''), '', 'restored');
fails('ana', train('h.renamed'), qr/^55000: the unit of protected relation "renamed" has been dropped/, 'also in a copy, where a column has its name');
fails('hospital', "SELECT dp_protect('h.renamed', 'patients', unit => 'p')", qr/^55000: relation "renamed" has another unit in budget "patients"/);

# ---- a relation that has come to belong to somebody else

$database = 'origin';
as('hospital', "CREATE TABLE h.hidden (age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO h.hidden SELECT i % 100, i % 3 = 0 FROM generate_series(1, 200) i");
as('ana', "CREATE TABLE ana.x (age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO ana.x VALUES (1, true), (2, false);
	CREATE VIEW ana.v AS SELECT age, ill FROM ana.x; CREATE TABLE ana.own (LIKE ana.x INCLUDING ALL); INSERT INTO ana.own TABLE ana.x;
	SELECT dp_budget_create('mine', 500); SELECT dp_protect('ana.x', 'mine'), dp_protect('ana.v'), dp_protect('ana.own', 'mine')");
says('ana', train($_, 1), 2) foreach 'ana.v', 'ana.own';
dump_of('given');
my $given = sub { qr/^55000: protected relation "$_[0]" has a different owner than when it was protected \(Its owner has to protect it again with dp_protect, or call dp_unprotect\.\)/ };
as('superuser', 'ALTER VIEW ana.v OWNER TO hospital; ALTER TABLE ana.own OWNER TO hospital');
foreach my $role ('ana', 'hospital', 'superuser', 'heir')
{
	fails($role, train($_, 100), $given->($_ =~ s/.*\.//r), "whoever owns the budget does not train on what others own: $role, $_") foreach 'ana.v', 'ana.own';
	says($role, "SELECT count(*) FROM dp_protected WHERE relation <> 'ana.x'::regclass AND budget = 'mine'", 0, "nor is it listed: $role");
}
fails('ana', "SELECT * FROM dp_cost('ana.own', 'ill', 'age'::text, 0.1, 50)", $given->('own'));
fails('ana', "SELECT dp_protect('ana.own', 'mine')", qr/^42501: must be owner of relation own/);
says('hospital', "SELECT dp_budget_create('rows', 5); SELECT dp_protect('ana.own', 'rows'); " . train('ana.own', 0.1), "\n\n2", 'its new owner protects it, and it is charged to them');
fails('ana', train('ana.own', 0.1), qr/^42501: permission denied/, 'and no longer to others');
says('hospital', "SELECT dp_unprotect('ana.v')", '', 'or ends it');
as('superuser', 'ALTER TABLE ana.own OWNER TO ana');
fails('hospital', train('ana.own', 0.1), $given->('own'), 'the other way round');
as('superuser', 'ALTER TABLE ana.own OWNER TO hospital');
says('hospital', train('ana.own', 0.1), 2, 'back again');
# what the caller's own transaction has done does not count
fails('superuser', "ALTER TABLE ana.own OWNER TO ana; BEGIN; ALTER TABLE ana.own OWNER TO hospital; " . train('ana.own', 0.1), qr/^55(000|P03)/, 'not even within a transaction');
start('reassigned');
is(restore('given', ''), '', 'restored');
says('ana', train('ana.own', 1), 2);
as('superuser', 'REASSIGN OWNED BY ana TO hospital');
fails('ana', train($_, 100), $given->($_ =~ s/.*\.//r), "REASSIGN OWNED: $_") foreach 'ana.v', 'ana.own';

# ---- names that others have come to have

start('adopted');
is(restore('given', qr/^(?!.* TABLE (DATA )?ana own|.*CONSTRAINT ana own)/), '', 'restored without a table of ana');
my $awaited = qr/^55000: relation "own" is protected, and its budget "mine" is missing/;
as('superuser', "CREATE TABLE ana.own (age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO ana.own TABLE h.hidden");
fails('ana', train('ana.own', 100), $awaited, 'a table of a superuser with that name is not open to ana');
as('superuser', 'ALTER TABLE ana.own OWNER TO heir');
fails($_, train('ana.own', 100), $awaited, "nor one of somebody else: $_") foreach 'ana', 'heir';
fails('heir', "SELECT dp_unprotect('ana.own')", qr/^55000: relation "own" has the name of a protected relation of another role \(Rename yours/);
says('heir', "SELECT dp_budget_create('of heir', 1); SELECT dp_protect('ana.own', 'of heir'); " . train('ana.own', 0.1), "\n\n200", 'who protects it with a budget of theirs');
says('superuser', "SELECT count(*) FROM dp_ledger WHERE budget = 'mine' AND role = 'heir'", 0, 'and has nothing to do with that of ana');
as('superuser', 'DROP TABLE ana.own');
is(restore('given', qr/ TABLE (DATA )?ana own/), '', 'restored at last');
fails('heir', train('ana.own', 0.1), qr/^42501: permission denied/);
says('ana', train('ana.own', 0.1) . "; SELECT role, relation, epsilon FROM dp_ledger WHERE budget = 'mine' AND act = 'charge' ORDER BY entry DESC LIMIT 1", "2\nana|ana.own|0.1", 'the table is charged as before');
# the table of a pending registration, made by its owner, keeps it under any
# name
start('pending');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital');
restore('dump', qr/TABLE DATA dperm dp_/);
as('hospital', "CREATE TABLE h.visits1 ($columns); INSERT INTO h.visits1 $rows; ALTER TABLE h.visits1 RENAME TO other");
says('hospital', train('h.other') . "; SELECT relation, epsilon FROM dp_ledger WHERE act = 'charge' ORDER BY entry DESC LIMIT 1", "40\nh.other|0.1", 'a registration that has waited for its table is charged, whatever the table is called');
as('hospital', "CREATE TABLE h.fresh ($columns); INSERT INTO h.fresh $rows; ALTER TABLE h.fresh RENAME TO visits2; ALTER TABLE h.visits2 RENAME TO another");
says('hospital', train('h.another') . "; SELECT relation FROM dp_ledger WHERE act = 'charge' ORDER BY entry DESC LIMIT 1", "40\nh.another", 'so is one that has got its name');
says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NULL", 2);

# a registration that has found its relation follows it, whatever changes names:
# commands on parents, on the type of a table, and on a schema, too
$database = 'origin';
as('superuser', 'CREATE TYPE h.visit AS (person int, visit int, age int, ill boolean, secret boolean)');
as('hospital', "CREATE TABLE h.parent ($columns); CREATE TABLE h.child () INHERITS (h.parent); INSERT INTO h.child $rows; SELECT dp_protect('h.parent', 'patients', unit => 'person', columns => '{age,ill}')");
as('superuser', 'ALTER TYPE h.visit OWNER TO hospital');
dump_of('waits');
foreach my $how (
	[ 'ALTER TABLE h.parent RENAME person TO p; ALTER TABLE h.parent RENAME visit TO person; ALTER TABLE h.parent RENAME ill TO sick; ALTER TABLE h.parent RENAME secret TO ill', 'h.parent', 'h.parent|p|{age,sick}' ],
	[ 'ALTER TABLE h.parent DROP COLUMN ill; ALTER TABLE h.parent RENAME secret TO ill', 'h.parent', 'h.parent|person|{age}' ],
	[ 'ALTER TABLE h.parent DROP COLUMN ill; ALTER TABLE h.parent ADD COLUMN ill boolean', 'h.parent', 'h.parent|person|{age}' ],
	[ 'ALTER INDEX h.parent RENAME TO offspring', 'h.offspring', 'h.offspring|person|{age,ill}' ],
	[ 'ALTER SCHEMA h RENAME TO g', 'g.parent', 'g.parent|person|{age,ill}' ],
	[ 'ALTER TYPE h.visit RENAME ATTRIBUTE person TO p CASCADE; ALTER TYPE h.visit RENAME ATTRIBUTE visit TO person CASCADE', 'h.parent', 'h.parent|p|{age,ill}' ])
{
	my ($sql, $relation, $wanted) = @$how;
	$sql = 'SET search_path = h, public; ' . $sql =~ s/(?<!SCHEMA )\bh\.//gr;
	start('waits' . ++$n);
	as('superuser', "CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO ana; GRANT CREATE ON DATABASE $database TO hospital");
	restore('waits', qr/TABLE DATA dperm dp_/);
	as('hospital', $sql =~ /TYPE/ ? 'CREATE TYPE h.visit AS (person int, visit int, age int, ill boolean, secret boolean); CREATE TABLE h.parent OF h.visit' :
		"CREATE TABLE h.parent ($columns); CREATE TABLE h.child () INHERITS (h.parent)");
	says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NULL", 1, 'it is bound when it is created');
	says('hospital', $sql, '');
	says('superuser', "SELECT relation, unit, columns FROM dp_protected", $wanted, $sql);
	as('hospital', "ALTER TABLE $relation ADD CHECK (age BETWEEN 0 AND 120); INSERT INTO $relation (age) VALUES (1), (2)");
	fails('ana', train($relation, 0.1, 'ill'), qr/^42501: column "ill" of protected relation "parent" is not open to training/, 'another column of that name is not open') if $wanted !~ /ill/;
}

# one that only REASSIGN OWNED has left is bound by the next change of it; a column
# that has got another name by then is not known
start('reassigned_late');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO heir');
restore('dump', qr/TABLE DATA dperm dp_/);
as('heir', "CREATE TABLE h.visits1 ($columns)");
as('superuser', 'REASSIGN OWNED BY heir TO hospital');
fails('hospital', train('h.visits1'), qr/^55000: relation "visits1" is protected, and its budget "patients" is missing/, 'nobody trains on it');
as('hospital', 'ALTER TABLE h.visits1 RENAME person TO p; ALTER TABLE h.visits1 RENAME visit TO person');
fails('hospital', train('h.visits1'), qr/^55000: the unit of protected relation "visits1" has been dropped/, 'nor by another unit');

# whoever alters a relation of theirs that has such a name keeps nobody waiting
start('open');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO PUBLIC');
as('ana', "CREATE TABLE h.visits1 ($columns)");
is(restore('dump', qr/TABLE DATA dperm dp_| TABLE (DATA )?h visits(?!1 )/), '', 'restored without a table');
says('ana', "BEGIN; ALTER TABLE h.visits1 ADD more int; PREPARE TRANSACTION 'altered'", '');
says('hospital', "SELECT dp_protect('h.visits2', 'patients', unit => 'person'); SELECT dp_unprotect('h.visits3')", "\n", 'hospital does not wait');
as('superuser', "ROLLBACK PREPARED 'altered'");

# a view follows its table, whatever that is called when the view comes
start('front');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO PUBLIC');
restore('dump', qr/TABLE DATA dperm dp_/);
says('hospital', "CREATE TABLE h.visits2 ($columns); INSERT INTO h.visits2 $rows; ALTER TABLE h.visits2 RENAME TO other; CREATE VIEW h.seen AS SELECT age, ill, secret FROM h.other; ALTER VIEW h.seen RENAME TO shown", '');
says('ana', train('h.shown') . "; SELECT relation FROM dp_ledger WHERE act = 'charge' ORDER BY entry DESC LIMIT 1", "40\nh.shown", 'a view is charged though its table has another name by now');
says('hospital', "CREATE TABLE h.another (LIKE h.other); SELECT dp_protect('h.another', 'patients', unit => 'person'); CREATE OR REPLACE VIEW h.shown AS SELECT age, ill, secret FROM h.another", '');
fails('ana', train('h.shown'), qr/^55000: protected relation "shown" has been changed, and is closed/, 'and closed with another one');
says('hospital', "SELECT dp_protect('h.shown'); SELECT dp_unprotect('h.another')", "\n", 'until it is offered again');
fails('ana', train('h.shown'), qr/^42501: permission denied/, 'it ends with its table');

# ---- budgets of the same name

$database = 'origin';
as('hospital', "SELECT dp_unprotect('h.visits10')");
dump_of('named');
$database = 'named';
restore('named', qr/^(?!.*(SCHEMA - ana |EXTENSION))/);
says('ana', "SELECT dp_protect('ana.mine', 'patients'); SELECT dp_unprotect('ana.mine'); SELECT dp_budget_drop('patients')", "\n\n", 'ana has one of the same name');
fails('hospital', "SELECT dp_protect('h.visits10', 'patients', unit => 'visit')", qr/^55000: relation "visits10" has another unit in budget "patients"/, 'what a budget keeps does not go with one of its name');

# ---- sessions with an old snapshot

$database = 'origin';
as('ana', "CREATE TABLE ana.lost (y boolean); SELECT dp_budget_create('lost', 1)");
says('ana', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;' . meanwhile('ana', "SELECT dp_protect('ana.lost', 'lost')") . "DROP TABLE ana.lost; COMMIT", "1\n", 'a relation is dropped by a transaction that does not see its registration');
dump_of('lost');
says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE budget = 'lost' AND pending IS NULL AND NOT EXISTS (SELECT FROM pg_class WHERE oid = relation)", 1, 'it is still there');
start('lost');
is(restore('lost', ''), '', 'restored');
says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE budget = 'lost'; SELECT count(*) FROM dperm.dp_protected_columns WHERE column_name::text = ''", "0\n0", 'it is not in a dump');
says('ana', "SELECT dp_budget_drop('lost')", '', 'and holds no budget');
$database = 'origin';

# ---- whoever only reads keeps nobody from our tables

says('heir', "BEGIN; SELECT count(*) >= 0 FROM dp_protected; SELECT count(*) >= 0 FROM dp_budgets; SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation IN (SELECT objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dperm') AND classid = 'pg_class'::regclass)", "t\nt\nAccessShareLock");

$node->stop;
done_testing();
