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
	END LOOP; END \$\$});
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
	says('ana', train("h.visits$_"), 40, "$what: persons are counted: $_") foreach 1, 2, 10;
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
start('parallel');
is(restore('dump', '', '-j', '4'), '', 'restored by four');
same('in parallel');

# columns first, then the table, then the registration: it has its columns, and
# protecting the table again removes them
start('columns_before_table');
is(restore('dump', qr/EXTENSION|SCHEMA|ACL|TABLE DATA dperm dp_(protected_columns|budget|ledger)/), '', 'restored columns');
is(restore('dump', qr/ TABLE (DATA )?h visits/), '', 'restored tables');
is(restore('dump', qr/TABLE DATA dperm dp_protected_relations/), '', 'restored registrations');
says('superuser', "SELECT count(*) FROM dperm.dp_protected_columns WHERE pending IS NOT NULL", 0, 'columns have found their tables');
says('superuser', $registered, $registrations, 'all is as it was');
says('ana', train('h.visits1'), 40, 'persons are counted');
says('hospital', "SELECT dp_protect('h.visits4', 'patients', unit => 'person', columns => '{visit,ill}', domains => '{\"visit\": [0, 9]}')", '', 'protected anew');
says('ana', "SELECT columns, domains FROM dp_protected WHERE relation = 'h.visits4'::regclass", '{visit,ill}|{"visit": [0, 9]}', 'columns are those that its owner has named now');
fails('ana', train('h.visits4'), qr/^42501: column "age" of protected relation "visits4" is not open to training/, 'others are no longer open');
says('hospital', "SELECT dp_unprotect('h.visits5'); SELECT count(*) FROM dp_protected WHERE relation = 'h.visits5'::regclass", "\n0");
says('superuser', q{SELECT count(*) FROM dperm.dp_protected_columns WHERE column_name::text LIKE '"h"."visits5"%' AND kept_by IS NULL}, 0, 'none is left of what has been ended');
dump_of('anew');
start('anew');
is(restore('anew', ''), '', 'restored');
says('ana', "SELECT columns, domains FROM dp_protected WHERE relation = 'h.visits4'::regclass", '{visit,ill}|{"visit": [0, 9]}', 'so is a copy');
fails('ana', train('h.visits4'), qr/^42501: column "age" of protected relation "visits4" is not open to training/);

# two databases are merged: registrations of two roles have the same name, each
# with its own columns
start('theirs');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h; GRANT ALL ON SCHEMA h TO PUBLIC');
says('ana', "CREATE TABLE h.visits1 ($columns); SELECT dp_budget_create('anas', 500); SELECT dp_protect('h.visits1', 'anas', columns => '{secret,visit}', domains => '{\"visit\": [0, 9]}')", "\n");
dump_of('theirs');
foreach my $order ('hers first', 'hers last')
{
	start($order =~ s/ /_/r);
	as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO PUBLIC');
	my @dumps = $order eq 'hers first' ? ('theirs', 'dump') : ('dump', 'theirs');
	is(restore($_, qr/TABLE DATA dperm dp_/), '', "$order: data of $_") foreach @dumps;
	is(restore('dump', qr/ TABLE (DATA )?h visits/), '', "$order: tables of hospital");
	says('ana', "SELECT unit, columns, domains FROM dp_protected WHERE relation = 'h.visits1'::regclass", 'person|{age,ill}|{"age": [0, 100]}', "$order: columns are those of the owner's registration");
	fails('ana', train('h.visits1', 0.1, 'ill', $_), qr/^42501: column "$_" of protected relation "visits1" is not open to training/, "$order: not those of ana's: $_") foreach 'secret', 'visit';
	says('ana', train('h.visits1'), 40, "$order: it is charged");
}

# an index, a sequence or a type that has the name is not the relation, whenever
# it comes
foreach my $thing ('TABLE h.thing (a int CONSTRAINT visits1 UNIQUE)', 'SEQUENCE h.visits1', 'TYPE h.visits1 AS (a int)')
{
	foreach my $when ('before', 'after')
	{
		start(lc("kind_$when" . ($thing =~ s/ .*//r)));
		as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO PUBLIC');
		as('hospital', "CREATE $thing") if $when eq 'before';
		is(restore('dump', qr/TABLE DATA dperm dp_/), '', 'restored registrations');
		as('hospital', "CREATE $thing") if $when eq 'after';
		says('superuser', 'SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NOT NULL', 10, "$when: CREATE $thing");
		as('hospital', 'DROP ' . ($thing =~ s/^(\w+ [\w.]+).*/$1/r));
		is(restore('dump', qr/ TABLE (DATA )?h visits/), '', 'restored tables');
		says('superuser', $registered, $registrations, 'all is as it was');
		says('ana', train('h.visits1'), 40, 'persons are counted');
	}
}

# a table of somebody else has the name when registrations are restored: they
# wait for the right one, whatever happens to the other
foreach my $what ('ALTER TABLE h.visits1 RENAME TO hers', 'DROP TABLE h.visits1', "SELECT dp_protect('h.visits1', 'anas'); ALTER TABLE h.visits1 RENAME TO hers", 'SELECT dp_unprotect(\'h.visits1\')',
	'ALTER TABLE h.visits1 RENAME age TO years; ALTER TABLE h.visits1 RENAME visit TO age; ALTER TABLE h.visits1 RENAME TO hers', 'ALTER TABLE h.visits1 SET SCHEMA ana')
{
	start('squatted' . ++$n);
	as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO PUBLIC; CREATE SCHEMA ana AUTHORIZATION ana');
	as('ana', "CREATE TABLE h.visits1 ($columns); SELECT dp_budget_create('anas', 500)");
	is(restore('dump', qr/TABLE DATA dperm dp_/), '', 'restored registrations');
	says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NULL; SELECT count(*) FROM dperm.dp_protected_columns WHERE pending IS NULL", "0\n0", "they wait: $what");
	if ($what =~ /dp_protect/)
	{
		my ($rc, $out, $err) = $node->psql($database, "SET SESSION AUTHORIZATION ana; BEGIN; SELECT dp_protect('h.visits1', 'anas'); SELECT unit, columns, domains FROM dp_protected");
		like($err, qr/WARNING:  nothing of the restored registration of relation "visits1" is kept/, 'what waits for another relation is not taken over');
		is($out, "\n||", 'nor is it registered');
	}
	if ($what =~ /unprotect/)
	{
		fails('ana', $what, qr/^55000: relation "visits1" has the name of a protected relation of another role/, "ana does not end what is not hers");
		as('ana', 'DROP TABLE h.visits1');
	}
	else { unlike(as('ana', $what), qr/^[0-9A-Z]{5}: /, $what); }
	says('superuser', "SELECT count(*) FROM dperm.dp_ledger_entries WHERE budget = 'patients' AND role::text = 'ana' AND act <> 'charge'", 0, 'nothing of it is in the ledger of hospital');
	is(restore('dump', qr/ TABLE (DATA )?h visits/), '', 'restored tables');
	says('hospital', "SELECT dp_protect('h.visits2', 'patients')", '', 'what was restored is kept') if $what =~ /dp_protect/;
	says('superuser', "SELECT relation, unit, columns, domains FROM dp_protected WHERE budget = 'patients' ORDER BY relation::text COLLATE \"C\"", $registrations, "all is as it was: $what");
	says('ana', train('h.visits1'), 40, 'it is charged');
	fails('hospital', "SELECT dp_protect('h.visits1', 'patients', unit => 'visit')", qr/^55000: relation "visits1" has another unit in budget "patients"/, 'the budget has kept the unit');
}

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

# somebody gets in between, who can read nothing
start('between');
is(restore('dump', qr/^(?!.*TABLE DATA)/), '', 'restored definitions');
as('ana', "CREATE VIEW ana.inner AS SELECT person FROM h.visits2; SELECT dp_budget_create('hers', 1)");
$n = 0;
foreach my $query ('SELECT person FROM h.visits1', 'SELECT person FROM ana.inner', 'SELECT v.person FROM (SELECT person FROM h.visits1) v', 'WITH v AS (SELECT person FROM h.visits1) SELECT person FROM v',
	'SELECT i AS person FROM generate_series(1, 2) i WHERE EXISTS (SELECT FROM h.visits1)')
{
	foreach my $kind ('MATERIALIZED VIEW', 'VIEW')
	{
		my $view = 'ana.v' . $n++;
		fails('ana', "CREATE $kind $view AS $query" . ($kind eq 'VIEW' ? '' : ' WITH NO DATA') . "; SELECT dp_protect('$view', 'hers')", qr/^(42501: permission denied for relation visits[12] \(The owner of a protected view|0A000|42809)/, "ana protects no $kind of what she cannot read: $query");
	}
}
says('superuser', 'SELECT count(*) FROM dperm.dp_protected_columns', 0, 'nothing is kept of it');
is(restore('dump', qr/TABLE DATA/), '', 'restored data');
same('somebody was there');

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
	SELECT dp_budget_create('mine', 500); SELECT dp_protect('ana.v', 'mine', domains => '{\"age\": [0, 120]}'), dp_protect('ana.own', 'mine')");
says('ana', train($_, 1), 2) foreach 'ana.v', 'ana.own';
as('ana', 'CREATE OR REPLACE VIEW ana.v AS SELECT age, ill FROM h.hidden');
dump_of('given');
my $given = sub { qr/^55000: protected relation "$_[0]" has a different owner than when it was protected \(Its owner has to protect it again with dp_protect, or call dp_unprotect\.\)/ };
as('superuser', 'ALTER VIEW ana.v OWNER TO hospital; ALTER TABLE ana.own OWNER TO hospital');
foreach my $role ('ana', 'hospital', 'superuser', 'heir')
{
	fails($role, train($_, 100), $given->($_ =~ s/.*\.//r), "whoever owns the budget does not train on what others own: $role, $_") foreach 'ana.v', 'ana.own';
	says($role, "SELECT count(*) FROM dp_protected WHERE budget = 'mine'", 0, "nor is it listed: $role");
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
start('no_owner');
is(restore('given', '', '--no-owner'), '', 'restored without owners');
my $elsewhere = sub { qr/^55000: relation "$_[0]" is protected, and its budget "\w+" is missing/ };
fails('ana', train('ana.v', 100), $elsewhere->('v'), 'what belongs to a superuser is not open to ana');
fails('ana', train('h.visits1', 1), $elsewhere->('visits1'));
start('reassigned');
is(restore('given', ''), '', 'restored');
says('ana', train('ana.own', 1), 2);
as('superuser', 'REASSIGN OWNED BY ana TO hospital');
fails('ana', train($_, 100), $given->($_ =~ s/.*\.//r), "REASSIGN OWNED: $_") foreach 'ana.v', 'ana.own';

# whoever a table is given to does not choose, by the names of its columns, what
# is open in the next table of its former owner
start('handed_on');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO PUBLIC');
as('hospital', "CREATE TABLE h.t ($columns); SELECT dp_budget_create('t', 10), dp_grant('t', 'ana'); SELECT dp_protect('h.t', 't', unit => 'person', columns => '{age,ill}')");
as('superuser', 'ALTER TABLE h.t OWNER TO ana');
says('ana', 'ALTER TABLE h.t RENAME secret TO s; ALTER TABLE h.t RENAME ill TO secret', '');
dump_of('handed_on');
start('handed_on_copy');
is(restore('handed_on', ''), '', 'restored');
says('ana', 'DROP TABLE h.t', '');
as('hospital', "CREATE TABLE h.t ($columns); INSERT INTO h.t $rows");
fails('ana', train('h.t', 0.1, 'secret'), qr/^42501: permission denied/, 'a table that hospital has not protected is not open');
says('hospital', "SELECT dp_protect('h.t', 't', unit => 'person', columns => '{age,ill}')", '', 'until they do');
says('ana', train('h.t'), 40);

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
start('named_before');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA ana; GRANT USAGE ON SCHEMA ana TO PUBLIC; CREATE TABLE ana.own (age int CHECK (age BETWEEN 0 AND 120), ill boolean); ALTER TABLE ana.own OWNER TO heir');
restore('given', qr/TABLE DATA dperm dp_/);
fails('ana', train('ana.own', 100), $elsewhere->('own'), 'a table that was there before the registration');

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

# a view of a table that may not be the one of a pending registration: which of
# its columns were closed is not known
start('behind');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO heir');
restore('dump', qr/TABLE DATA dperm dp_/);
says('superuser', "UPDATE dperm.dp_protected_relations SET all_columns = true", '', 'not even if all were open');
as('heir', "CREATE TABLE h.visits1 ($columns); INSERT INTO h.visits1 $rows; GRANT SELECT ON h.visits1 TO hospital");
says('hospital', "CREATE VIEW h.seen AS SELECT person, age, ill, age + 0 AS older FROM h.visits1; SELECT dp_protect('h.seen', 'patients', unit => 'person'); SELECT column_name FROM dp_domains('h.seen')", "\nolder", 'only an expression is open');
fails('hospital', train('h.seen'), qr/^42501: column "\w+" of protected relation "seen" is not open to training/, 'as calls say');

# tables that come by other commands, and one that has got its owner without an
# event: renamed, they stay protected
foreach my $how ("SELECT t.* INTO h.visits1 FROM ($rows) t(person, visit, age, ill, secret)", "CREATE SCHEMA h CREATE TABLE visits1 ($columns)", 'REASSIGN')
{
	start('tag' . ++$n);
	as('superuser', "CREATE EXTENSION dperm; GRANT CREATE ON DATABASE $database TO hospital, heir");
	restore('dump', qr/TABLE DATA dperm dp_/);
	as('hospital', 'CREATE SCHEMA h') unless $how =~ /SCHEMA/;
	if ($how eq 'REASSIGN')
	{
		as('superuser', 'GRANT ALL ON SCHEMA h TO heir');
		as('heir', "CREATE TABLE h.visits1 ($columns)");
		as('superuser', 'REASSIGN OWNED BY heir TO hospital');
	}
	else { as('hospital', $how); }
	says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NULL", $how eq 'REASSIGN' ? 0 : 1, $how);
	as('hospital', 'INSERT INTO h.visits1 ' . $rows) if $how !~ /INTO/;
	says('hospital', 'ALTER TABLE h.visits1 RENAME person TO p; ALTER TABLE h.visits1 RENAME visit TO person; ALTER TABLE h.visits1 RENAME TO visits', '');
	says('superuser', "SELECT relation, unit FROM dp_protected", 'h.visits|p', 'it stays protected, by the same unit');
	says('hospital', 'ALTER TABLE h.visits ADD CHECK (age BETWEEN 0 AND 120); ' . train('h.visits') . "; SELECT relation FROM dp_ledger WHERE act = 'charge' ORDER BY entry DESC LIMIT 1", "40\nh.visits", 'and is charged');
}

# before names change, whatever changes them, what waits for them is resolved:
# for children, for tables of a type, and for a schema, too
$database = 'origin';
as('superuser', 'CREATE TYPE h.visit AS (person int, visit int, age int, ill boolean, secret boolean)');
as('hospital', "CREATE TABLE h.parent ($columns); CREATE TABLE h.child () INHERITS (h.parent); INSERT INTO h.child $rows; SELECT dp_protect('h.child', 'patients', unit => 'person', columns => '{age,ill}')");
as('superuser', 'ALTER TYPE h.visit OWNER TO hospital');
dump_of('waits');
foreach my $how (
	[ 'ALTER TABLE h.parent RENAME person TO p; ALTER TABLE h.parent RENAME visit TO person; ALTER TABLE h.parent RENAME ill TO sick; ALTER TABLE h.parent RENAME secret TO ill', 'h.child', 'h.child|p|{age,sick}' ],
	[ 'ALTER TABLE h.parent DROP COLUMN ill; ALTER TABLE h.parent RENAME secret TO ill', 'h.child', 'h.child|person|{age}' ],
	[ 'ALTER TABLE h.parent DROP COLUMN ill; ALTER TABLE h.parent ADD COLUMN ill boolean', 'h.child', 'h.child|person|{age}' ],
	[ 'ALTER INDEX h.child RENAME TO offspring', 'h.offspring', 'h.offspring|person|{age,ill}' ],
	[ 'ALTER SCHEMA h RENAME TO g', 'g.child', 'g.child|person|{age,ill}' ],
	[ 'ALTER TYPE h.visit RENAME ATTRIBUTE person TO p CASCADE; ALTER TYPE h.visit RENAME ATTRIBUTE visit TO person CASCADE', 'h.child', 'h.child|p|{age,ill}' ])
{
	my ($sql, $relation, $wanted) = @$how;
	foreach my $path ('', 'h, public')
	{
		$sql = "SET search_path = $path; " . $sql =~ s/(?<!SCHEMA )\bh\.//gr if $path;
		start('waits' . ++$n);
		as('superuser', "CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO heir; GRANT USAGE ON SCHEMA h TO ana; GRANT CREATE ON DATABASE $database TO hospital");
		restore('waits', qr/TABLE DATA dperm dp_/);
		as('heir', $sql =~ /TYPE/ ? 'CREATE TYPE h.visit AS (person int, visit int, age int, ill boolean, secret boolean); CREATE TABLE h.child OF h.visit' :
			"CREATE TABLE h.parent ($columns); CREATE TABLE h.child () INHERITS (h.parent)");
		as('superuser', 'REASSIGN OWNED BY heir TO hospital');
		says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NULL", 0, 'no event tells of the owner');
		says('hospital', $sql, '');
		says('superuser', "SELECT relation, unit, columns FROM dp_protected", $wanted, $sql);
		as('hospital', "ALTER TABLE $relation ADD CHECK (age BETWEEN 0 AND 120); INSERT INTO $relation (age) VALUES (1), (2)");
		fails('ana', train($relation, 0.1, 'ill'), qr/^42501: column "ill" of protected relation "child" is not open to training/, 'another column of that name is not open') if $wanted !~ /ill/;
	}
}

# whoever alters a relation of theirs that has such a name keeps nobody waiting
start('open');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT ALL ON SCHEMA h TO PUBLIC');
as('ana', "CREATE TABLE h.visits1 ($columns)");
is(restore('dump', qr/TABLE DATA dperm dp_| TABLE (DATA )?h visits(?!1 )/), '', 'restored without a table');
says('ana', "BEGIN; ALTER TABLE h.visits1 ADD more int; PREPARE TRANSACTION 'altered'", '');
says('hospital', "SELECT dp_protect('h.visits2', 'patients', unit => 'person'); SELECT dp_unprotect('h.visits3')", "\n", 'hospital does not wait');
as('superuser', "ROLLBACK PREPARED 'altered'");

# a table that somebody else has by now is theirs in a copy, too: it waits for
# no other one, and the budget still knows its unit
start('heirs');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h; GRANT ALL ON SCHEMA h TO PUBLIC');
as('hospital', "CREATE TABLE h.t ($columns); INSERT INTO h.t $rows; SELECT dp_budget_create('t', 10); SELECT dp_grant('t', 'ana'); SELECT dp_protect('h.t', 't');
	CREATE TABLE h.u ($columns); INSERT INTO h.u $rows; SELECT dp_budget_create('u', 10); SELECT dp_protect('h.u', 'u', unit => 'person');
	CREATE TABLE h.w ($columns); INSERT INTO h.w $rows; CREATE VIEW h.v AS SELECT * FROM h.w; SELECT dp_budget_create('v', 10); SELECT dp_grant('v', 'ana'); SELECT dp_protect('h.v', 'v', unit => 'person', domains => '{\"age\": [0, 120]}')");
as('ana', train('h.t') . '; ' . train('h.v'));
says('hospital', train('h.u'), 40);
as('superuser', "ALTER TABLE h.t OWNER TO ana; SELECT dp_budget_alter('u', owner => 'heir'); ALTER TABLE h.u OWNER TO heir");
as('heir', "SELECT dp_protect('h.u', 'u', unit => 'person')");
as('superuser', 'CREATE ROLE heiress; ALTER TABLE h.w OWNER TO heiress; REASSIGN OWNED BY heiress TO heir; DROP ROLE heiress; GRANT SELECT ON h.w TO hospital');
dump_of('heirs');
start('heirs_copy');
is(restore('heirs', ''), '', 'restored');
says('superuser', 'SELECT count(*) FROM dperm.dp_protected_relations WHERE pending IS NOT NULL; SELECT count(*) FROM dperm.dp_protected_columns WHERE pending IS NOT NULL', "0\n0", 'nothing waits');
foreach my $copy ('heirs_copy', 'heirs')
{
	$database = $copy;
	fails('ana', train('h.t'), $given->('t'), 'a table of another owner is not used');
	as('ana', 'ALTER TABLE h.t RENAME TO mine');
	as('hospital', "CREATE TABLE h.t ($columns); INSERT INTO h.t $rows");
	fails('ana', train('h.t'), qr/^42501: permission denied/, 'nor does its registration open the next table of this name');
	as('heir', 'ALTER TABLE h.u RENAME TO u2; ALTER TABLE h.w RENAME person TO p; ALTER TABLE h.w RENAME visit TO person');
	fails('heir', "SELECT dp_protect('h.u2', 'u', unit => 'visit')", qr/^55000: relation "u2" has another unit in budget "u"/, 'the budget has kept the unit');
	says('heir', train('h.u2'), 40, 'it is charged');
	says('ana', train('h.v'), 40, 'so is a view of what somebody else has by now');
	fails('hospital', "SELECT dp_protect('h.v', 'v', unit => 'visit', domains => '{\"age\": [0, 120]}')", qr/^55000: relation "v" (has another unit in|shares rows with "w", whose unit in) budget "v"/, 'whose unit is kept');
}

# what is kept of a table behind a view goes with the table, whoever restores it
$database = 'origin';
as('hospital', "CREATE TABLE h.behind ($columns); INSERT INTO h.behind $rows; CREATE VIEW h.front AS SELECT * FROM h.behind; SELECT dp_budget_create('front', 5), dp_grant('front', 'ana'); SELECT dp_protect('h.front', 'front', unit => 'person')");
says('ana', train('h.front'), 40);
dump_of('front');
start('front');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION hospital; GRANT USAGE ON SCHEMA h TO PUBLIC');
restore('front', qr/TABLE DATA dperm dp_/);
as('hospital', "CREATE TABLE h.behind ($columns); INSERT INTO h.behind $rows; CREATE VIEW h.front AS SELECT * FROM h.behind; ALTER TABLE h.behind RENAME TO behind2");
says('ana', train('h.front'), 40, 'a view is charged though the table behind it has another name by now');
fails('hospital', "SELECT dp_protect('h.front', 'front', unit => 'visit')", qr/^55000: relation "front" shares rows with "behind2", whose unit in budget "front" is another one/, 'the unit is kept');
start('passed_on');
as('superuser', 'CREATE EXTENSION dperm; CREATE SCHEMA h AUTHORIZATION heir; GRANT USAGE ON SCHEMA h TO PUBLIC');
restore('front', qr/TABLE DATA dperm dp_/);
as('superuser', "UPDATE dperm.dp_budget_accounts SET owner_name = 'heir' WHERE budget = 'front'");
says('heir', "CREATE TABLE h.behind ($columns); CREATE VIEW h.front AS SELECT * FROM h.behind; SELECT dp_protect('h.front', 'front', unit => 'person'); ALTER TABLE h.behind RENAME TO behind2", '', 'protected by whoever has the budget now');
fails('heir', "SELECT dp_protect('h.front', 'front', unit => 'visit')", qr/^55000: relation "front" shares rows with "behind2", whose unit in budget "front" is another one/, 'the unit is kept of their table');

# ---- an open transaction of somebody who shows rows of a table in a view of theirs

$database = 'origin';
as('hospital', "GRANT SELECT ON h.hidden TO ana");
says('ana', "CREATE VIEW ana.shown AS SELECT age, ill FROM h.hidden; BEGIN; SELECT dp_protect('ana.shown', 'mine'); PREPARE TRANSACTION 'shown'", '');
says('hospital', "SELECT dp_protect('h.hidden', 'rows'); " . train('h.hidden'), "\n200", 'nobody waits for it');
as('superuser', "ROLLBACK PREPARED 'shown'");
says('hospital', "BEGIN; CREATE TABLE h.two (LIKE h.hidden INCLUDING ALL); INSERT INTO h.two TABLE h.hidden; CREATE VIEW h.show AS SELECT age, ill FROM h.two; SELECT dp_protect('h.show', 'rows'); " . train('h.two'), "\n200", 'the table behind is as it was');

# ---- budgets of the same name

as('hospital', "SELECT dp_unprotect('h.visits10')");
dump_of('named');
$database = 'named';
restore('named', qr/^(?!.*(SCHEMA - ana |EXTENSION))/);
says('ana', "SELECT dp_protect('ana.mine', 'patients'); SELECT dp_unprotect('ana.mine'); SELECT dp_budget_drop('patients')", "\n\n", 'ana has one of the same name');
fails('hospital', "SELECT dp_protect('h.visits10', 'patients', unit => 'visit')", qr/^55000: relation "visits10" has another unit in budget "patients"/, 'what a budget keeps does not go with one of its name');

# ---- grants that are restored twice

$database = 'origin';
as('hospital', "SELECT dp_budget_create('twice', 5); SELECT dp_grant('twice', 'ana', 1)");
dump_of('twice');
as('hospital', "SELECT dp_grant('twice', 'ana', 1)");
says('ana', "SELECT dp_budget_charge('twice', 0.5)", '');
as('superuser', "DELETE FROM dperm.dp_budget_grants WHERE budget <> 'twice'"); # a row that is there already is not restored, nor is any other one with it
restore('twice', qr/TABLE DATA dperm dp_budget_grants/, '--data-only');
says('superuser', "SELECT count(*) FROM dperm.dp_budget_grants WHERE budget = 'twice'", 2, 'there are two rows');
fails('ana', "SELECT dp_budget_charge('twice', 0.6)", qr/^54000: the grant of budget "twice" to "ana" has too little epsilon left/, 'a grant that is restored again is the same grant');
says('ana', "SELECT dp_budget_charge('twice', 0.5)", '', 'and has what was left');
fails('ana', "SELECT dp_budget_charge('twice', 0.01)", qr/^54000/);
says('ana', "SELECT epsilon_granted, epsilon_spent, epsilon_left FROM dp_grants WHERE budget = 'twice'", '1|1|0', 'dp_grants shows one grant');
says('hospital', "SELECT dp_grant('twice', 'ana', 2)", '', 'granted anew');
says('superuser', "SELECT epsilon, spent_epsilon FROM dperm.dp_budget_grants WHERE budget = 'twice'", '2|1');

# ---- sessions with an old snapshot

as('ana', "CREATE TABLE ana.z (y boolean); SELECT dp_budget_create('unspent', 1); CREATE VIEW ana.w AS SELECT y FROM ana.z; SELECT dp_protect('ana.w', 'unspent')");
says('ana', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;' . meanwhile('ana', 'DROP VIEW ana.w') . "SELECT dp_protect('ana.z', 'unspent'); COMMIT", "1\n", 'a relation of the budget is dropped meanwhile');
says('superuser', "SELECT c.column_name FROM dperm.dp_protected_columns c JOIN dperm.dp_budget_accounts a ON a.id = c.kept_by WHERE a.budget = 'unspent'", '"ana"."z"."" "ana"');
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
