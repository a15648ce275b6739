# Logical replication of all tables: budgets of publisher and subscriber are
# their own, and go on.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical', extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE hospital; CREATE ROLE ana; CREATE DATABASE publisher; CREATE DATABASE subscriber');

sub as
{
	my ($database, $role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql($database, "\\set VERBOSITY verbose\n" . ($role eq 'superuser' ? '' : "SET SESSION AUTHORIZATION $role; ") . $sql, stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $err =~ /ERROR:  (.*)/ ? $1 : $out;
}
sub says { my ($database, $role, $sql, $wanted, $what) = @_; is(as($database, $role, $sql), $wanted, "$database: $what"); }
sub train { return "SELECT dp_logreg_train('visits', 'ill', 'age', $_[0])::jsonb ->> 'rows'"; }
my $spent = 'SELECT spent_epsilon FROM dperm.budgets';
my $rows = 'SELECT i, i % 100, i % 3 = 0 FROM generate_series(1, 200) i';

foreach my $database ('publisher', 'subscriber')
{
	as($database, 'superuser', 'CREATE EXTENSION dperm; GRANT EXECUTE ON FUNCTION dp_budget_create TO PUBLIC; GRANT ALL ON SCHEMA public TO hospital; GRANT USAGE ON SCHEMA public TO PUBLIC');
	as($database, 'hospital', "CREATE TABLE visits (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 120), ill boolean); SELECT dp_budget_create('$database', 10); SELECT dp_grant('$database', 'ana'); SELECT dp_protect('visits', '$database')");
}
as('publisher', 'hospital', "INSERT INTO visits $rows");
as('publisher', 'superuser', "CREATE PUBLICATION everything FOR ALL TABLES; SELECT pg_create_logical_replication_slot(s, 'pgoutput') FROM unnest('{subscriber,copy}'::name[]) s");
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE publisher');
as($_->[0], 'superuser', "CREATE SUBSCRIPTION $_->[0] CONNECTION '" . ($node->connstr('publisher') =~ s/'/''/gr) . "' PUBLICATION everything WITH (create_slot = false, copy_data = $_->[1])") foreach [ 'subscriber', 'true' ], [ 'copy', 'false' ];
$node->poll_query_until('subscriber', "SELECT count(*) = 200 FROM visits") or die 'rows did not come';
$node->poll_query_until('subscriber', "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel") or die 'tables were not synchronised';

# the marker comes after all that was written before it
my $marker = 1000;
sub caught_up
{
	$marker++;
	as('publisher', 'hospital', "INSERT INTO visits VALUES ($marker, 1, true)");
	$node->poll_query_until($_, "SELECT count(*) = 1 FROM visits WHERE id = $marker") or die "$_ is behind" foreach 'subscriber', 'copy';
}

says('subscriber', 'superuser', "SELECT string_agg(budget, ' ') FROM dperm.budgets; SELECT string_agg(DISTINCT budget, ' ') FROM dperm.ledger; SELECT count(*) FROM dperm.grants; SELECT count(*) FROM dperm.protected", "subscriber\nsubscriber\n1\n1", 'it has its own budgets');
isnt(as('subscriber', 'superuser', 'SELECT key FROM dperm.origin'), as('publisher', 'superuser', 'SELECT key FROM dperm.origin'), 'subscriber: and its own key');
says('subscriber', 'ana', train(6), 200, 'ana trains');
says('publisher', 'ana', train(0.5), 200, 'ana trains there, too: a publication for all tables stops nobody');
says('publisher', 'hospital', "SELECT dp_grant('publisher', 'ana', 1); SELECT dp_unprotect('visits'); SELECT dp_protect('visits', 'publisher')", "\n\n", 'nor their owner');
caught_up();
says('subscriber', 'superuser', $spent, '6', 'what is spent here stays');
says('publisher', 'superuser', $spent, '0.5', 'and there');
says('copy', 'superuser', "$spent; SELECT epsilon, spent_epsilon FROM dperm.grants; SELECT count(*) FROM dperm.ledger WHERE act IN ('charge', 'unprotect'); SELECT count(*) FROM dperm.releases", "0\n|0\n0\n0", 'so it is in a copy, which has the same budget');
says('publisher', 'hospital', "SELECT dp_revoke('publisher', 'ana')", '', 'a grant is revoked');
caught_up();
says('copy', 'ana', train(0.25), 202, 'a grant stays in the copy');
is(as('subscriber', 'ana', train(6)), '54000: budget "subscriber" has too little epsilon left', 'subscriber: it stops at the limit');

# every statement that changes or removes a row of ours, in a database with such
# a publication
my $all = 'all of it works';
says('publisher', 'hospital', "SELECT dp_budget_create('other', 5); CREATE TABLE sick (age int CHECK (age BETWEEN 0 AND 120), ill boolean, person int); INSERT INTO sick SELECT i % 100, i % 3 = 0, i FROM generate_series(1, 100) i", '', $all);
says('publisher', 'hospital', "SELECT dp_protect('sick', 'other', unit => 'person', columns => '{age,ill}'); SELECT dp_grant('other', 'ana', 2); SELECT dp_grant('other', 'ana', 3)", "\n\n", $all);
says('publisher', 'ana', "SELECT dp_logreg_train('sick', 'ill', 'age', 1) IS NOT NULL; SELECT dp_release_drop('other', entry) FROM dp_releases WHERE budget = 'other'; SELECT dp_budget_charge('other', 0.5)", "t\n\n", $all);
says('publisher', 'hospital', "SELECT dp_budget_alter('other', 6); ALTER TABLE sick RENAME TO ill_people; ALTER TABLE ill_people RENAME ill TO sick; ALTER TABLE ill_people DROP person", '', $all);
says('publisher', 'hospital', "SELECT dp_revoke('other', 'ana'); SELECT dp_unprotect('ill_people'); DROP TABLE ill_people; SELECT dp_budget_drop('other')", "\n\n", $all);
says('publisher', 'hospital', 'CREATE TABLE other (a int); DROP TABLE other; DROP TABLE visits', '', 'a protected table is dropped');
says('publisher', 'superuser', 'CREATE ROLE short; GRANT ALL ON SCHEMA public TO short', '', 'a role');
says('publisher', 'short', "CREATE TABLE hers (age int CHECK (age BETWEEN 0 AND 120), ill boolean); SELECT dp_budget_create('hers', 1); SELECT dp_protect('hers', 'hers'); SELECT dp_grant('hers', 'ana')", "\n\n", 'with a budget');
says('publisher', 'superuser', "DROP OWNED BY short; DROP ROLE short; SELECT owner_name FROM dperm.budgets WHERE budget = 'hers'; SELECT dp_budget_alter('hers', owner => current_user); SELECT dp_revoke('hers', 'ana'); SELECT dp_budget_create('never', 1); SELECT dp_budget_prune('infinity') >= 1", "pg_dropped:short\n\n\n\nt", 'goes');

# A row that a publication sends is known by a key of plain columns: PostgreSQL
# 18 sends no generated ones.
says('publisher', 'superuser', q{SELECT c.relname, c.relreplident, string_agg(a.attname, ' ' ORDER BY a.attnum) FILTER (WHERE a.attgenerated = '')
	FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass AND extname = 'dperm'
	JOIN pg_class c ON c.oid = d.objid AND d.classid = 'pg_class'::regclass AND relkind = 'r'
	LEFT JOIN pg_index i ON i.indrelid = c.oid AND indisprimary LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
	GROUP BY 1, 2 ORDER BY relname COLLATE "C"},
	join("\n", 'budgets|d|id', 'grants|d|id', 'ledger|d|budget entry', 'origin|d|id', 'protected|d|id', 'protected_columns|d|id', 'releases|d|budget_id entry'), 'keys of our tables');

foreach my $name ('subscriber', 'copy')
{
	as($name, 'superuser', $_) foreach "ALTER SUBSCRIPTION $name DISABLE", "ALTER SUBSCRIPTION $name SET (slot_name = NONE)", "DROP SUBSCRIPTION $name";
}
$node->stop;
done_testing();
