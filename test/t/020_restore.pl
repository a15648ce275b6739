# A restore gives nobody a budget: whatever others do while it runs, whichever
# roles the cluster has, and in whatever order things are restored, nobody can
# spend on a relation who could not before, no relation loses its protection,
# and what one user has does not prevent the restore of what others have.
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
$node->safe_psql('postgres', 'CREATE DATABASE origin; CREATE ROLE hospital; CREATE ROLE ana; CREATE ROLE ben; CREATE ROLE cleo; CREATE ROLE "Was ""renamed"; CREATE ROLE gone');
$node->safe_psql('origin', q{
	CREATE EXTENSION dperm;
	CREATE SCHEMA h AUTHORIZATION hospital; CREATE SCHEMA ana AUTHORIZATION ana; CREATE SCHEMA ben AUTHORIZATION ben; GRANT USAGE ON SCHEMA h, ana, ben TO PUBLIC;
	SET ROLE hospital;
	CREATE TABLE h.visits (id int PRIMARY KEY, person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean);
	INSERT INTO h.visits SELECT i, i % 50, i % 100, i % 3 = 0 FROM generate_series(1, 200) i;
	SELECT dp_budget_create('patients', 3);
	SELECT dp_protect('h.visits', 'patients', unit => 'person');
	SELECT dp_grant('patients', 'cleo', 1), dp_grant('patients', 'Was "renamed', 1), dp_grant('patients', 'gone', 1);
	SELECT dp_budget_create('second', 1), dp_budget_create('of gone', 3);
	CREATE TABLE h.table_of_gone (age int CHECK (age BETWEEN 0 AND 120), ill boolean);
	SELECT dp_protect('h.table_of_gone', 'of gone');
	-- it depends on a primary key, and is made when all data is there
	CREATE TABLE h.base (LIKE h.visits INCLUDING ALL);
	INSERT INTO h.base TABLE h.visits;
	CREATE MATERIALIZED VIEW h.late AS SELECT id, person, age, ill FROM h.base GROUP BY id;
	CREATE VIEW h.later AS SELECT person, age, ill FROM h.late;
	SELECT dp_protect('h.late', 'patients', unit => 'person', columns => '{age,ill}', domains => '{"age": [0, 120]}'), dp_protect('h.later');
	RESET ROLE;
	SET ROLE ana;
	CREATE TABLE ana.x (person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean);
	SELECT dp_budget_create('ana', 1); SELECT dp_protect('ana.x', 'ana', unit => 'person');
	RESET ROLE;
	SET ROLE ben;
	SELECT dp_budget_create('bens', 1);
	CREATE TABLE ben.a (id int PRIMARY KEY, y boolean, x int CHECK (x BETWEEN 0 AND 1));
	CREATE MATERIALIZED VIEW ben.m AS SELECT id, y, x FROM ben.a GROUP BY id;
	SELECT dp_protect('ben.m', 'bens', unit => 'id')});
$node->safe_psql('origin', q{SET ROLE cleo; SELECT dp_logreg_train('h.visits', 'ill', 'age', 0.25); RESET ROLE;
	UPDATE dperm.dp_budget_accounts SET owner_name = 'gone' WHERE budget = 'of gone';
	ALTER ROLE "Was ""renamed" RENAME TO dora; CREATE ROLE "Was ""renamed"});

# Runs statements as a role, and returns what they say: rows, or the error.
my $database = 'origin';
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql($database, "\\set VERBOSITY verbose\n" . ($role eq 'superuser' ? '' : qq{SET SESSION AUTHORIZATION "$role"; }) . $sql, stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $err =~ /(?:ERROR|FATAL):  (.*)/ ? $1 : $out;
}
sub says { my ($role, $sql, $wanted, $what) = @_; is(as($role, $sql), $wanted, "$database: " . ($what // "$role: $sql")); }
sub fails { my ($role, $sql, $wanted, $what) = @_; like(as($role, $sql), $wanted, "$database: " . ($what // "$role: $sql")); }
sub train { my ($relation, $epsilon) = @_; "SELECT dp_logreg_train('$relation', 'ill', 'age', $epsilon)::jsonb ->> 'persons'" }
my $state = q{SELECT budget, owner, epsilon, spent_epsilon FROM dperm.dp_budget_accounts ORDER BY 1; SELECT budget, grantee, epsilon, spent_epsilon FROM dperm.dp_budget_grants WHERE grantee::text !~ '^([0-9]+|-)$' ORDER BY 1, grantee::text;
	SELECT budget, entry, at, act, role, relation, epsilon FROM dperm.dp_ledger_entries ORDER BY 1, 2; SELECT id, relation, owner, budget, view_of, persons, unit, all_columns FROM dperm.dp_protected_relations ORDER BY relation::text COLLATE "C";
	SELECT relation, column_name, listed, is_unit, domain FROM dperm.dp_protected_columns ORDER BY relation::text COLLATE "C", column_name::text COLLATE "C", 3, 4};
my $registered = q{SELECT relation, budget, unit, columns, domains FROM dp_protected ORDER BY relation::text COLLATE "C"};
my $before = as('superuser', $state);
my $registrations = as('superuser', $registered);
like($before, qr/patients\|dora\|/, 'a role is renamed');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('origin'), '--format=custom', '-f', "$dir/dump" ], 'dumped');

# Restores some of the dump: entries of its list that match.
sub restore
{
	my ($matching, @options) = @_;
	my @list = grep { !/^;/ && /$matching/ } split /^/, `pg_restore -l $dir/dump`;
	PostgreSQL::Test::Utils::append_to_file("$dir/list.$database." . scalar(@list), join('', @list));
	IPC::Run::run([ 'pg_restore', @options, '-d', $node->connstr($database), '-L', "$dir/list.$database." . scalar(@list), "$dir/dump" ], '2>', \my $err);
	unlink "$dir/list.$database." . scalar(@list);
	return $err;
}
sub start { ($database) = @_; $node->safe_psql('postgres', "CREATE DATABASE $database"); }

# What has to hold in each copy.
sub holds
{
	my ($prefix) = @_;
	fails('ana', train('h.visits', 2), qr/^42501: permission denied/, 'ana trains as little as before');
	fails('Was ""renamed', train('h.visits', 0.1), qr/^42501: permission denied/, 'a name that has gone to somebody else is not theirs');
	fails('cleo', train('h.visits', 0.8), qr/^54000: the grant of budget "patients" to "cleo" has too little epsilon left/, 'a grant goes on where it was');
	says('cleo', train('h.visits', 0.25), '50', 'and is good for the rest');
	says('dora', train('h.visits', 0.25), '50', 'so is that of a renamed role');
	says('cleo', train('h.late', 0.125), '50', 'a relation that came after its registration is charged');
	says('cleo', train('h.later', 0.125), '50', 'and one that reads it');
	says('hospital', "SELECT epsilon, epsilon_spent FROM dp_budgets WHERE budget = 'patients'", '3|1', 'the account goes on');
	fails('hospital', train('h.visits', 2.5), qr/^54000: budget "patients" has too little epsilon left/, 'also for the owner');
	fails('ben', "SELECT dp_logreg_train('ben.m', 'y', 'x', 2)", qr/^54000: budget "bens" has too little epsilon left/, 'so do those of others');
}
holds();

# ---- as it should be

start('plain_copy');
is(restore(''), '', 'restored without an error');
says('superuser', $state, $before, 'all is as it was');
says('superuser', $registered, $registrations);
$node->safe_psql('origin', 'SELECT 1');
holds();

# ---- somebody is there before the data: budgets of the same name, relations that are registered already, grants and entries of the ledger

start('squatted');
my $tables = qr/TABLE DATA dperm dp_/;
is(restore(qr/^(?!.*(TABLE DATA|INDEX|CONSTRAINT|MATERIALIZED VIEW|RULE))/), '', 'restored: definitions');
says('ana', "SELECT dp_budget_create('patients', 500); SELECT dp_grant('patients', 'ana'); SELECT dp_protect('ana.x', 'patients', unit => 'person'); BEGIN; SELECT dp_budget_create('bens', 500); PREPARE TRANSACTION 'bens'", "\n\n\n", 'ana is faster');
is(restore(qr/TABLE DATA dperm dp_budget_accounts/), '', 'restored: accounts');
says('hospital', "SELECT dp_grant('second', 'ben')", '', 'a budget is used at once');
as('superuser', "COMMIT PREPARED 'bens'");
is(restore(qr/TABLE DATA(?! dperm dp_budget_accounts)|INDEX|CONSTRAINT|MATERIALIZED VIEW|RULE/), '', 'restored: the rest');
says('superuser', "SELECT count(*) FROM dperm.dp_ledger_entries WHERE budget = 'patients' AND act = 'charge'", 1, 'the ledger has come');
holds();
fails('ana', "SELECT dp_budget_alter('patients', 100)", qr/^42501: must be owner of budget "patients"/, 'the name means the restored one');
fails('ana', train('ana.x', 0.5), qr/^55000: relation "x" is protected, and its budget "\w+" is missing/, 'a relation that is registered twice waits for its owner');
says('ana', "SELECT count(*) FROM dp_ledger WHERE role = 'hospital'", 0, 'the ledger of others is not hers');
# a view of hers over protected rows is not offered for a budget of hers that has
# the same name
as('superuser', 'GRANT SELECT ON h.visits TO ana');
fails('ana', "CREATE VIEW ana.v AS SELECT person, age, ill FROM h.visits; SELECT dp_protect('ana.v', 'patients', unit => 'person')", qr/^0A000: view "v" and its table "visits" have different owners/, 'nor is she charged in their place');
says('ana', "SELECT dp_protect('ana.x', 'ana', unit => 'person'); " . "SELECT count(*) FROM (" . train('ana.x', 0.5) . ") m", "\n1", 'her own relation is hers again');

# ---- in a cluster without some of the roles

as('superuser', 'DROP ROLE gone');
$node->safe_psql('postgres', 'DROP DATABASE squatted; DROP DATABASE plain_copy');
start('without_roles');
is(restore(''), '', 'restored without an error, though a role is missing');
holds();
fails('ana', "SELECT dp_budget_create('of gone', 500)", qr/^42710: budget "of gone" already exists/, 'a budget whose owner is missing is there');
as('superuser', 'CREATE ROLE gone');
fails('gone', "SELECT dp_budget_charge('$_', 0.1)", qr/^42501: permission denied for budget/, "whoever gets the name later is somebody else: $_") foreach 'of gone', 'patients';
as('superuser', 'ALTER TABLE h.visits ADD more int');
says('superuser', "SELECT owner = current_user::regrole FROM dp_budgets WHERE budget = 'of gone'", 't', 'it goes to the owner of the extension');
as('superuser', 'DROP ROLE gone');

# ---- without accounts: nothing that was protected is open, and only owners put that right

start('without_accounts');
is(restore(qr/^(?!.*TABLE DATA dperm dp_budget_accounts)/), '', 'restored without accounts');
my $missing = qr/^55000: relation "\w+" is protected, and its budget "patients" is missing/;
fails($_, train('h.visits', 0.1), $missing, "missing: $_") foreach 'ana', 'cleo', 'hospital', 'superuser';
fails('hospital', $_, $missing) foreach train('h.late', 0.1), train('h.later', 0.1), "SELECT * FROM dp_cost('h.visits', 'ill', 'age'::text, 0.1, 50)";
says('ana', "SELECT dp_budget_create('patients', 500); SELECT dp_grant('patients', 'ana')", "\n");
fails($_, train('h.visits', 0.1), $missing, "another of this name: $_") foreach 'ana', 'cleo', 'hospital';
says('ana', 'SELECT count(*) FROM dp_protected', 0, 'the list of protected relations can be read');
fails('ana', "SELECT dp_protect('h.visits', 'patients', unit => 'person')", qr/^42501: must be owner of relation visits/);
says('hospital', "SELECT dp_budget_create('anew', 1); SELECT dp_protect('h.visits', 'anew', unit => 'person'); SELECT dp_unprotect('h.later'); SELECT relation FROM dp_protected", "\n\n\nh.visits", 'its owner protects it anew, or no longer');
says('hospital', train('h.visits', 0.1), 50);

# ---- a relation that somebody else makes in place of one that was not restored

start('taken');
is(restore(qr/^(?!.*(MATERIALIZED VIEW|RULE))/), '', 'restored without materialized views');
as('superuser', 'GRANT CREATE ON SCHEMA h TO ana; CREATE TABLE public.any (a int); DROP TABLE public.any');
says('superuser', "SELECT count(*) FROM dperm.dp_protected_relations WHERE relation = 0", 2, 'registrations wait for their relations');
as('ana', 'CREATE TABLE h.late (person int, age int, ill boolean)');
fails('ana', train('h.late', 1), $missing, 'what ana makes in place of one is charged to nobody');
as('superuser', 'DROP TABLE h.late');
is(restore(qr/MATERIALIZED VIEW|RULE/), '', 'restored at last');
says('superuser', $registered, $registrations);
holds();

# ---- names are right in a dump even if no event trigger has seen them change

as('superuser', 'SET session_replication_role = replica; ALTER SCHEMA h RENAME TO "H ""2"; ALTER TABLE "H ""2".visits RENAME TO "Visits"');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('taken'), '--format=custom', '-f', "$dir/dump" ], 'dumped with other names');
my $renamed = as('superuser', $registered);
like($renamed, qr/"H ""2"\."Visits"\|patients\|person/, 'renamed');
start('renamed');
is(restore(''), '', 'restored with other names');
says('superuser', $registered, $renamed);

$node->stop;
done_testing();
