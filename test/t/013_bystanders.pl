# What one user does, within their rights or in a transaction that is still
# open, does not stop others, nor change what they own. Open transactions are
# prepared ones: they keep their locks, and need no session.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nlock_timeout = 2s\nstatement_timeout = 60s\n");
$node->start;

# What is granted by default, and to whom, is not for the tables of the
# extension.
$node->safe_psql('postgres', q{
	CREATE ROLE owner; CREATE ROLE ben; CREATE ROLE analyst; CREATE ROLE writer IN ROLE pg_write_all_data, pg_read_all_data; CREATE ROLE etl; CREATE ROLE heir;
	CREATE DATABASE origin});
$node->safe_psql('origin', q{
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO etl;
	CREATE EXTENSION dperm;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner, ben, heir;
	GRANT CREATE ON DATABASE origin TO owner, ben, etl;
	SET ROLE ben; CREATE SCHEMA ben; GRANT USAGE ON SCHEMA ben TO PUBLIC; RESET ROLE;
	SET ROLE etl; CREATE SCHEMA etl; RESET ROLE;
	SET ROLE owner; CREATE SCHEMA h; GRANT USAGE ON SCHEMA h TO PUBLIC;
	CREATE TABLE h.visits (person int, age int CHECK (age BETWEEN 0 AND 120), bmi float8, ill boolean);
	INSERT INTO h.visits SELECT i % 50, i % 100, i % 40, i % 3 = 0 FROM generate_series(1, 200) i;
	SELECT dp_budget_create('patients', 100);
	SELECT dp_protect('h.visits', 'patients', columns => '{age,bmi,ill}', domains => '{"bmi": [0, 60]}');
	SELECT dp_grant('patients', 'analyst')});

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
sub says { my ($role, $sql, $wanted, $what) = @_; is(as($role, $sql), $wanted, $what // "$role: $sql"); }
sub fails { my ($role, $sql, $wanted, $what) = @_; like(as($role, $sql), $wanted, $what // "$role: $sql"); }
my $train = "SELECT dp_logreg_train('h.visits', 'ill', '{age,bmi}', 0.01)::jsonb ->> 'rows'";
says('analyst', $train, '200', 'an analyst trains');

# ---- registrations of others

says('ben', q{CREATE TABLE ben.own (y boolean, age int CHECK (age BETWEEN 0 AND 1)); SELECT dp_budget_create('ben', 1); SELECT dp_protect('ben.own', 'ben'); CREATE VIEW ben.v AS SELECT y, age FROM ben.own; SELECT dp_protect('ben.v');
	CREATE OR REPLACE VIEW ben.v AS SELECT y, age FROM ben.own WHERE EXISTS (SELECT FROM h.visits)}, "\n\n", 'a view that comes to read the table of others');
says('analyst', $train, '200', 'it does not stop those who train on the table');
says('owner', "SELECT dp_protect('h.visits', 'patients', columns => '{age,bmi,ill}', domains => '{\"bmi\": [0, 60]}')", '', 'nor its owner');
says('owner', "SELECT dp_protect('h.visits', 'patients', columns => '{age,bmi,ill}', domains => '{\"bmi\": [0, 60]}')", '');
as('superuser', 'GRANT SELECT ON h.visits TO ben');
fails('ben', "SELECT dp_logreg_train('ben.v', 'y', 'age', 0.01)", qr/^0A000: view "v" cannot be offered: it has an expression that is not supported: SUBLINK/, 'it is refused where it is used');
as('superuser', 'REVOKE SELECT ON h.visits FROM ben');
fails('ben', "CREATE VIEW ben.w AS SELECT age, ill FROM h.visits; SELECT dp_protect('ben.w')", qr/^0A000: view "w" and its table "visits" have different owners/, 'a view is offered by the owner of its table');

# a table that its owner has locked
says('ben', "SELECT dp_protect('ben.own', 'ben'); BEGIN; LOCK TABLE ben.own; PREPARE TRANSACTION 'locked'", '');
says('analyst', $train, '200', 'a lock on a registered table does not stop others');
fails('ben', "SELECT dp_logreg_train('ben.own', 'y', 'age', 0.01)", qr/^55P03/, 'it stops those who use that table');
as('superuser', "ROLLBACK PREPARED 'locked'");

as('superuser', 'DROP VIEW ben.v; DROP VIEW IF EXISTS ben.w');

# thousands of registrations: only what the relation itself reaches is looked up
as('superuser', q{INSERT INTO dperm.protected (schema, name, owner_name, budget_id, all_columns) SELECT 'nowhere', i::text, 'ben', b.id, true FROM generate_series(1, 100000) i, dperm.budgets b WHERE b.budget = 'ben';
	UPDATE dperm.protected SET relation = 1000000 + name::text::int, here = dperm.dperm_here() WHERE schema = 'nowhere'; ANALYZE dperm.protected});
is(as('superuser', "SELECT count(*) FROM dperm.protected WHERE here = dperm.dperm_here() AND schema = 'nowhere'"), '100000', 'there are many registrations');
my $walks = sub {
	as('analyst', "$train; SELECT pg_stat_force_next_flush()");
	$node->poll_query_until('origin', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dperm'") or die 'a worker is left';
	return as('superuser', "SELECT seq_scan FROM pg_stat_user_tables WHERE schemaname = 'dperm' AND relname = 'protected'");
};
is($walks->(), $walks->(), 'no call walks all registrations');

# and whoever changes another table neither reads nor locks them
as('superuser', q{INSERT INTO dperm.protected_columns (protected, name, listed) SELECT id, 'a', true FROM dperm.protected WHERE schema = 'nowhere'; ANALYZE dperm.protected_columns;
	CREATE FUNCTION public.walked() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT sum(seq_tup_read)::bigint FROM pg_stat_user_tables WHERE schemaname = 'dperm' $$});
my $changes = 'CREATE TABLE ben.other (a int); CREATE TABLE ben.child () INHERITS (ben.other); ALTER TABLE ben.other ADD b int; ALTER TABLE ben.other RENAME a TO c; ALTER TABLE ben.other DROP b; DROP TABLE ben.other CASCADE';
my $walked = as('superuser', 'SELECT public.walked()');
as('ben', "$changes; SELECT pg_stat_force_next_flush()");
cmp_ok(as('superuser', 'SELECT public.walked()') - $walked, '<', 1000, 'no change of another table walks all registrations');
is(as('ben', "BEGIN; $changes; SELECT DISTINCT l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relnamespace = 'dperm'::regnamespace AND l.pid = pg_backend_pid(); ROLLBACK"), 'AccessShareLock', 'nor keeps them locked');
as('superuser', q{DELETE FROM dperm.protected WHERE schema = 'nowhere'; DROP FUNCTION public.walked()});

# ---- the tables of the extension are written by the extension alone

is(as('superuser', q{SELECT count(*) FILTER (WHERE has_table_privilege('etl', c.oid, 'SELECT')), count(*) > 0 FROM pg_depend d JOIN pg_class c ON c.oid = d.objid
	WHERE d.classid = 'pg_class'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dperm') AND d.deptype = 'e' AND c.relkind = 'r'}), '0|t', 'no default privilege is left');
my @tables = qw(budgets grants ledger releases protected protected_columns);
# generated columns call functions that others cannot: the guards are what is tried here
my $generated = q{SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_proc WHERE pronamespace = 'dperm'::regnamespace AND proname ~ '^dperm_role_'};
as('superuser', "GRANT EXECUTE ON FUNCTION " . as('superuser', $generated) . " TO etl, writer");
fails('etl', "SELECT count(*) FROM dperm.$_", qr/^42501: permission denied for table $_/, "$_: default privileges are revoked") foreach @tables;
as('superuser', 'GRANT ALL ON ' . join(', ', map { "dperm.$_" } @tables) . ' TO etl');
foreach my $table (@tables)
{
	my $column = as('superuser', "SELECT attname FROM pg_attribute WHERE attrelid = 'dperm.$table'::regclass AND attnum = 1");
	foreach my $role ('writer', 'etl')
	{
		fails($role, "BEGIN; $_; ROLLBACK", qr/^(42501: table "$table" can only be changed by extension dperm|42501: permission denied for table|55000: entries of the ledger cannot be changed)/)
			foreach "INSERT INTO dperm.$table DEFAULT VALUES", "UPDATE dperm.$table SET $column = $column", "DELETE FROM dperm.$table", "DELETE FROM dperm.$table WHERE false",
			"COPY dperm.$table FROM stdin;\n\\.\n", ($role eq 'etl' ? "TRUNCATE dperm.$table CASCADE" : ());
	}
	# a trigger would run with the rights of the owner of the table
	says('etl', "CREATE FUNCTION etl.spring() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'sprung by %', current_user; END \$\$", '');
	fails('etl', "CREATE TRIGGER $_ EXECUTE FUNCTION etl.spring()", qr/^42501: tables of extension dperm have no triggers or foreign keys but its own/, "$table: no trigger of somebody else")
		foreach "a BEFORE INSERT OR UPDATE OR DELETE ON dperm.$table FOR EACH STATEMENT", "a AFTER INSERT ON dperm.$table FOR EACH ROW";
	fails('etl', "CREATE TRIGGER a BEFORE INSERT ON dperm.$table FOR EACH ROW EXECUTE FUNCTION dperm.$_()", qr/^42501: permission denied for function (?:dperm\.)?$_/, "$table: nor one of $_")
		foreach 'dperm_table_guard', 'dperm_ledger_guard', 'dperm_replica_guard', 'dperm_bind_inserted';
	# so would one of a table that a foreign key leads to
	my ($columns, $key) = $table =~ /ledger|releases/ ? ('id uuid, entry bigint', "FOREIGN KEY (id, entry) REFERENCES dperm.$table (budget_id, entry)") : ('id uuid', "FOREIGN KEY (id) REFERENCES dperm.$table");
	fails('etl', $_, qr/^42501: tables of extension dperm have no triggers or foreign keys but its own/, "$table: no foreign key of somebody else")
		foreach "CREATE TABLE etl.led ($columns, $key ON DELETE CASCADE)",
		"BEGIN; CREATE TABLE etl.led ($columns); ALTER TABLE etl.led ADD $key ON UPDATE CASCADE; COMMIT";
	# nor within a command that PostgreSQL tells nothing about
	says('etl', "CREATE FUNCTION etl.hidden() RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN CREATE OR REPLACE TRIGGER dperm_table_guard BEFORE INSERT ON dperm.$table FOR EACH STATEMENT EXECUTE FUNCTION etl.spring(); RETURN 1; END \$\$;
		CREATE MATERIALIZED VIEW etl.refreshed AS SELECT etl.hidden() WITH NO DATA", '');
	fails('etl', "REFRESH MATERIALIZED VIEW etl.refreshed", qr/^42501: tables of extension dperm have no triggers or foreign keys but its own/, "$table: none in REFRESH");
	as('superuser', 'DROP MATERIALIZED VIEW etl.refreshed; DROP FUNCTION etl.hidden()');
	as('superuser', 'DROP FUNCTION etl.spring()');
}
as('superuser', 'REVOKE ALL ON ' . join(', ', map { "dperm.$_" } @tables) . ' FROM etl');
as('superuser', "REVOKE EXECUTE ON FUNCTION " . as('superuser', $generated) . " FROM etl, writer");
fails('writer', "BEGIN; UPDATE dp_protected SET budget = 'ben'; ROLLBACK", qr/^(42501|55000)/, 'nor through the views');
fails('writer', "DELETE FROM dp_ledger", qr/^(42501|55000)/);
says('analyst', $train, '200', 'all is as it was');

# ---- the ledger: numbers of entries, whoever acts at the same time

says('owner', "CREATE TABLE h.second (y boolean, age int); SELECT dp_protect('h.second', 'patients'); BEGIN; SELECT dp_unprotect('h.second'); PREPARE TRANSACTION 'ending'", "\n");
fails('owner', "SELECT dp_grant('patients', 'ben')", qr/^55P03/, 'who manages a budget waits for those who do');
as('superuser', "COMMIT PREPARED 'ending'");
says('owner', "SELECT dp_grant('patients', 'ben'); SELECT dp_revoke('patients', 'ben')", "\n");
says('owner', "SELECT dp_budget_create('third', 1); SELECT dp_protect('h.second', 'third'); BEGIN; SELECT dp_protect('h.second', 'patients'); PREPARE TRANSACTION 'moving'", "\n\n");
fails('owner', "SELECT dp_budget_alter('third', 2)", qr/^55P03/, 'also where a relation goes to another budget');
as('superuser', "COMMIT PREPARED 'moving'");

# in a transaction with an old snapshot
my $dblink = $node->psql('origin', 'CREATE EXTENSION dblink') == 0;
SKIP:
{
	skip 'there is no dblink', 3 unless $dblink;
	my $host = $node->host;
	my $port = $node->port;
	my $too_old = qr/^25000: budgets and protected relations cannot be changed in isolation level REPEATABLE READ \(Use READ COMMITTED/;
	my $elsewhere = sub { "SELECT dblink_exec('host=$host port=$port dbname=origin', \$\$ DO \$do\$ BEGIN SET ROLE owner; PERFORM $_[0]; END \$do\$ \$\$)" };
	fails('superuser', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; " . $elsewhere->("dp_grant('patients', 'ben')") . "; SELECT dp_revoke('patients', 'analyst'); ROLLBACK", $too_old, 'entries are counted in the newest state, or not at all');
	fails('superuser', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; " . $elsewhere->("dp_protect('h.second', 'third')") . "; SELECT dp_budget_drop('third')", $too_old, 'and so are protected relations');
	my $connect = sub { "SELECT dblink_connect('$_[0]', 'host=$host port=$port dbname=origin'); SELECT dblink_exec('$_[0]', 'SET ROLE owner; SET lock_timeout = 0')" };
	says('superuser', $connect->('a') . ';' . $connect->('b') . q{; SELECT dblink_exec('a', 'BEGIN'); SELECT * FROM dblink('a', $$ SELECT dp_unprotect('h.second')::text $$) r(r text);
		SELECT dblink_send_query('b', $$ SELECT dp_grant('third', 'ben')::text $$); DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$; SELECT dblink_exec('a', 'COMMIT'); SELECT 'granted' || r FROM dblink_get_result('b') r(r text)},
		"OK\nSET\nOK\nSET\nBEGIN\n\n1\nCOMMIT\ngranted", 'an act that has waited for another is the next entry');
	as('superuser', "SET ROLE owner; SELECT dp_protect('h.second', 'patients'); SELECT dp_revoke('patients', 'ben')");
}
says('superuser', "SELECT budget FROM dperm.ledger GROUP BY budget HAVING max(entry) <> count(*)", '', 'no gaps');

# ---- a row is locked by those alone who may change it

says('owner', "BEGIN; SELECT dp_grant('patients', 'ben'); PREPARE TRANSACTION 'granting'", '');
fails('ben', $_, qr/^42501: must be owner of budget "patients"/)
	foreach "SELECT dp_grant('patients', 'ben')", "SELECT dp_revoke('patients', 'ben')", "SELECT dp_budget_alter('patients', 2)", "SELECT dp_budget_drop('patients')", "SELECT dp_protect('ben.own', 'patients')";
fails('ben', "SELECT dp_budget_charge('patients', 0.1)", qr/^42501: permission denied for budget "patients"/, 'nor does a charge wait, if there is no grant for it');
# nor does it start a background worker, which others need: the error is raised
# in the session itself
$node->psql($database, q{\\set VERBOSITY verbose
	SET SESSION AUTHORIZATION ben; SELECT dp_budget_charge('patients', 0.1)}, stderr => \my $where);
like($where, qr/LOCATION:  dperm_budget_raise_denied/, 'nor does it start a background worker');
as('superuser', "ROLLBACK PREPARED 'granting'");

# ---- messages

fails('owner', "SELECT dp_budget_create(NULL, 1)", qr/^22004: budget must not be null \(It is the name of a budget/);
fails('owner', "SELECT dp_budget_create('x', 1, neighbours => NULL)", qr/^22004: neighbours must not be null \(Use 'replace' or 'remove'/);
fails('owner', "SELECT dp_protect('h.visits', 'nothing')", qr/^42704: budget "nothing" does not exist \(dp_budgets lists budgets; dp_budget_create creates one, for roles that a superuser has granted EXECUTE on it\.\)/);
fails('owner', "SELECT dp_protect('h.nothing', 'patients')", qr/^42P01: relation "h.nothing" does not exist \(Write the name as in FROM/);
fails('owner', "CREATE SEQUENCE h.s; SELECT dp_protect('h.s', 'patients')", qr/^42809: .*\(It must be a table/);
fails('owner', "SELECT dp_logreg_train('h.nothing', 'ill', 'age', 1)", qr/\(Write the name as in FROM/);
fails('owner', "SELECT dp_logreg_train(NULL, 'ill', 'age', 1)", qr/\(relation is a table or view/);
fails('owner', "BEGIN; SELECT dp_budget_create('new', 1); SELECT dp_budget_charge('new', 0.1)", qr/^42704: budget "new" does not exist .*committed before/);

# ---- typed tables

says('owner', q{CREATE TYPE h.visit AS (age int, bmi float8, ill boolean); CREATE TABLE h.typed OF h.visit;
	SELECT dp_protect('h.typed', 'patients', columns => '{age,bmi,ill}', domains => '{"bmi": [0, 60]}');
	ALTER TYPE h.visit RENAME ATTRIBUTE bmi TO mass CASCADE; SELECT columns, domains FROM dp_protected WHERE relation = 'h.typed'}, "\n{age,mass,ill}|{\"mass\": [0, 60]}", 'attributes of a type are renamed');
says('owner', q{ALTER TYPE h.visit DROP ATTRIBUTE mass CASCADE; SELECT columns, domains FROM dp_protected WHERE relation = 'h.typed'}, "{age,ill}|", 'and dropped');

# ---- roles that go

says('heir', "SELECT dp_budget_create('mine', 1); SELECT dp_budget_create('yours', 1)", "\n");
as('superuser', 'DROP OWNED BY heir');
says('superuser', "SELECT owner FROM dp_budgets WHERE budget IN ('mine', 'yours')", "heir\nheir", 'DROP OWNED: a budget is no object of the database');
as('superuser', q{CREATE ROLE gone; GRANT EXECUTE ON FUNCTION dp_budget_create TO gone; SET ROLE gone; SELECT dp_budget_create('left', 1); RESET ROLE; DROP OWNED BY gone; DROP ROLE gone; CREATE TABLE anything (a int); ALTER TABLE anything ADD b int; CREATE ROLE gone});
says('superuser', "SELECT owner FROM dp_budgets WHERE budget = 'left'", 'pg_dropped:gone', 'DROP ROLE: a budget belongs to nobody');
fails('gone', "SELECT dp_budget_alter('left', epsilon => 2)", qr/^42501: must be owner of budget "left"/, 'not to another role of that name');
says('superuser', "SELECT dp_budget_alter('left', owner => 'heir'); SELECT dp_budget_charge('left', 0.5)", "\n", 'a superuser gives it to somebody');
says('heir', "SELECT role = 'gone', act, details FROM dp_ledger WHERE budget = 'left' ORDER BY entry", "t|create|\nf|alter|owner heir\nf|charge|", 'and the ledger says so');
as('superuser', 'DROP ROLE gone');

# ---- after a restore, a change of one table is none of others

my $dir = PostgreSQL::Test::Utils::tempdir;
as('superuser', q{SET ROLE owner; CREATE TABLE h.parent (age int, mass float8, ill boolean); CREATE TABLE h.child () INHERITS (h.parent); SELECT dp_protect('h.parent', 'patients', columns => '{age,mass}', domains => '{"mass": [0, 60]}')});
$node->command_ok([ 'pg_dump', '-d', $node->connstr('origin'), '--format=custom', '-f', "$dir/dump" ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('copy'), "$dir/dump" ], 'restored');
$database = 'copy';
says('ben', "BEGIN; ALTER TABLE ben.own ADD more int; PREPARE TRANSACTION 'altering'", '');
says('owner', q{ALTER TABLE h.visits RENAME bmi TO weight; SELECT columns, domains FROM dp_protected WHERE relation = 'h.visits'}, '{age,weight,ill}|{"weight": [0, 60]}', 'a table of others is altered meanwhile');
as('superuser', "ROLLBACK PREPARED 'altering'");
says('owner', q{ALTER TABLE h.parent RENAME mass TO weight; SELECT columns, domains FROM dp_protected WHERE relation = 'h.parent'}, '{age,weight}|{"weight": [0, 60]}', 'a child is altered with its parent');
says('owner', q{ALTER TABLE h.visits RENAME TO calls; ALTER TABLE h.calls RENAME weight TO kilos; SELECT columns FROM dp_protected WHERE relation = 'h.calls'}, '{age,kilos,ill}');
says('analyst', "SELECT dp_logreg_train('h.calls', 'ill', '{age,kilos}', 0.01)::jsonb ->> 'rows'", '200', 'and an analyst trains');
says('owner', q{SELECT dp_protect('h.typed', 'patients', columns => '{age,ill}'); ALTER TYPE h.visit RENAME ATTRIBUTE age TO years CASCADE; SELECT columns FROM dp_protected WHERE relation = 'h.typed'}, "\n{years,ill}");

# ---- the role that installed the extension need not stay a superuser

$node->safe_psql('postgres', 'CREATE DATABASE demoted; CREATE ROLE admin SUPERUSER; CREATE ROLE gone');
$node->safe_psql('demoted', q{SET ROLE admin; CREATE EXTENSION dperm; GRANT EXECUTE ON FUNCTION dp_budget_create TO owner, gone; RESET ROLE;
	CREATE SCHEMA h AUTHORIZATION owner; GRANT USAGE ON SCHEMA h TO PUBLIC;
	SET ROLE owner; CREATE TABLE h.visits (age int CHECK (age BETWEEN 0 AND 120), bmi float8, ill boolean); INSERT INTO h.visits SELECT i % 100, i % 40, i % 3 = 0 FROM generate_series(1, 200) i;
	SELECT dp_budget_create('patients', 100), dp_grant('patients', 'analyst'); RESET ROLE;
	SET ROLE gone; SELECT dp_budget_create('left', 1); RESET ROLE;
	ALTER ROLE admin NOSUPERUSER; DROP OWNED BY gone; DROP ROLE gone});
$database = 'demoted';
says('superuser', 'CREATE TABLE anything (a int)', '', 'the installer is no superuser any more: a superuser makes a table');
says('superuser', "SELECT owner FROM dp_budgets WHERE budget = 'left'", 'pg_dropped:gone', 'and the budget of a role that is gone is seen');
says('owner', q{SELECT dp_protect('h.visits', 'patients', domains => '{"bmi": [0, 60]}'); ALTER TABLE h.visits ADD more int}, '', 'an owner protects and alters');
says('analyst', $train, '200', 'an analyst trains');
says('admin', 'CREATE TEMP TABLE own (a int); DROP TABLE own', '', 'the installer makes and drops a table');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('demoted'), '-f', "$dir/demoted" ], 'a superuser dumps');
as('superuser', 'REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO analyst, owner');
says('superuser', 'CREATE TABLE h.other (a int); ALTER TABLE h.other ADD b int; ALTER SCHEMA h RENAME TO g; ALTER SCHEMA g RENAME TO h; CREATE TEMP TABLE temporary (a int); DROP TABLE h.other', '', 'the installer cannot use the schema of the functions: commands go on');
says('analyst', $train, '200', 'an analyst trains');
says('owner', "SELECT dp_grant('patients', 'analyst', 50)", '', 'and an owner grants');
says('superuser', 'DROP OWNED BY owner; SELECT count(*) FROM dperm.protected WHERE ended IS NULL', '0', 'DROP OWNED');

# ---- somebody removes the library, and then the extension

$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('bare', q{CREATE EXTENSION dperm; GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	CREATE SCHEMA h AUTHORIZATION owner; GRANT USAGE ON SCHEMA h TO PUBLIC; CREATE SCHEMA ben AUTHORIZATION ben;
	SET ROLE owner; CREATE TABLE h.visits (person int, age int CHECK (age BETWEEN 0 AND 120), bmi float8, ill boolean); CREATE TABLE h.calls (LIKE h.visits); CREATE TABLE h.others (LIKE h.visits);
	CREATE VIEW h.adults AS SELECT age, ill FROM h.visits WHERE age >= 18; CREATE VIEW h.children AS SELECT age, ill FROM h.visits WHERE age < 18;
	SELECT dp_budget_create('patients', 100), dp_grant('patients', 'analyst');
	SELECT dp_protect('h.' || t, 'patients', unit => 'person', columns => '{age,bmi,ill}', domains => '{"bmi": [0, 60]}') FROM unnest('{visits,calls,others}'::text[]) t;
	SELECT dp_protect('h.adults'), dp_protect('h.children')});
# as if the files were gone
$node->safe_psql('bare', q{UPDATE pg_proc SET probin = '$libdir/removed' WHERE probin LIKE '%dperm'});
$node->safe_psql('postgres', 'CREATE DATABASE bare_copy TEMPLATE bare; GRANT CREATE ON DATABASE bare TO ben; GRANT CREATE ON DATABASE bare_copy TO ben');
foreach my $bare ('bare', 'bare_copy')
{
	$database = $bare;
	fails('owner', "SELECT dp_logreg_train('h.visits', 'ill', 'age', 0.01)", qr/^58P01: could not access file/, "$bare: there is no library");
	says('ben', "$changes; CREATE SCHEMA more CREATE TABLE t (a int) CREATE VIEW v AS SELECT a FROM t; ALTER SCHEMA more RENAME TO less; DROP SCHEMA less CASCADE; CREATE MATERIALIZED VIEW ben.m AS SELECT 1 AS a;
		ALTER MATERIALIZED VIEW ben.m RENAME TO n; REFRESH MATERIALIZED VIEW ben.n; CREATE TYPE ben.pair AS (a int, b int); CREATE TABLE ben.typed OF ben.pair; ALTER TYPE ben.pair RENAME ATTRIBUTE a TO c CASCADE; DROP OWNED BY ben", '', "$bare: a bystander's commands");
	says('owner', 'ALTER TABLE h.visits ADD more int; ALTER TABLE h.visits RENAME bmi TO mass; ALTER TABLE h.visits RENAME person TO id; ALTER TABLE h.visits DROP age CASCADE; ALTER TABLE h.visits RENAME TO seen; ALTER TABLE h.calls OWNER TO owner; CREATE TABLE h.visits (a int)', '', "$bare: those on a protected table");
	says('superuser', 'ALTER SCHEMA h RENAME TO g; ALTER TABLE g.others SET SCHEMA public', '', "$bare: and on its schema");
	# names are followed as ever, but in a copy, where nothing is bound any more
	is(as('superuser', q{SELECT p.schema, p.name, p.unit, (SELECT string_agg(k.name, ' ' ORDER BY k.number) FROM dperm.protected_columns k WHERE k.protected = p.id) FROM dperm.protected p ORDER BY 2}),
		"g|calls|person|age bmi ill\npublic|others|person|age bmi ill\ng|seen|id|mass ill", "$bare: names are followed, and views that are dropped with a column are gone") if $bare eq 'bare';
	says('owner', 'DROP TABLE g.seen CASCADE; DROP TABLE IF EXISTS g.visits, g.calls', '', "$bare: protected tables are dropped");
	is(as('superuser', "SELECT p.name FROM dperm.protected p WHERE p.ended IS NULL"), 'others', "$bare: and known as dropped") if $bare eq 'bare';
	fails('superuser', 'DROP EXTENSION dperm', qr/^2BP01: cannot drop extension dperm because other objects depend on it/, "$bare: the ledger is kept");
	says('superuser', 'DROP VIEW dperm.ledger_is_kept; DROP EXTENSION dperm; CREATE TABLE after (a int); DROP TABLE after, public.others', '', "$bare: DROP EXTENSION");
}

$node->stop;
done_testing();
