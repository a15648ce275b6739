# Budgets, grants and the ledger: who may do what, who sees what, what the
# ledger says, and that dumps restore it exactly.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', q{
	CREATE DATABASE origin;
	CREATE ROLE owner; CREATE ROLE "An ""analyst"; CREATE ROLE team; CREATE ROLE member IN ROLE team; CREATE ROLE stranger;
	CREATE ROLE officer IN ROLE pg_read_all_stats; CREATE ROLE heir; CREATE ROLE gone;
	GRANT heir TO owner});
$node->safe_psql('origin', 'CREATE SCHEMA privacy; CREATE EXTENSION dperm SCHEMA privacy; GRANT USAGE ON SCHEMA privacy TO PUBLIC; GRANT CREATE ON SCHEMA public TO stranger;
	GRANT EXECUTE ON FUNCTION privacy.dp_budget_create TO owner, stranger');

# Runs statements as a role, and returns what they say: rows, or the error.
my $database = 'origin';
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql($database, qq{\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION "$role"; SET search_path = privacy; $sql}, stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $err =~ /ERROR:  (.*)/ ? $1 : $out;
}
sub says { my ($role, $sql, $wanted, $what) = @_; is(as($role, $sql), $wanted, $what // "$role: $sql"); }
sub fails { my ($role, $sql, $wanted) = @_; like(as($role, $sql), $wanted, "$role: $sql"); }

# ---- who may do what

fails('heir', "SELECT dp_budget_create('mine', 3)", qr/^42501: permission denied for function dp_budget_create/);
says('owner', "SELECT dp_budget_create('patients', 3, 1e-6)", '');
says('owner', "SELECT dp_budget_create('pure', epsilon => 1, neighbours => 'remove')", '');
fails('stranger', "SELECT dp_budget_create('patients', 3)", qr/^42710: budget "patients" already exists/);
fails('owner', "SELECT dp_budget_create('', 3)", qr/^42602: the name of a budget must have/);
fails('owner', "SELECT dp_budget_create(repeat('x', 64), 3)", qr/^42602:/);
fails('owner', "SELECT dp_budget_create('x', $_)", qr/^22023: epsilon of a budget must be between/) foreach 0, -1, "'NaN'", "'Infinity'", 501;
fails('owner', "SELECT dp_budget_create('x', 1, $_)", qr/^22023: delta of a budget must be/) foreach -1, "'NaN'", 1, 1e-20;
fails('owner', "SELECT dp_budget_create('x', 1, neighbours => 'both')", qr/^22023: unknown neighbours "both"/);
fails('owner', "SELECT dp_budget_create(NULL, 1)", qr/^22004/);
fails('owner', "SELECT dp_budget_create('x', NULL)", qr/^22004: epsilon must not be null/);
fails('stranger', $_, qr/^42501: must be owner of budget "patients"/)
	foreach "SELECT dp_budget_alter('patients', 9)", "SELECT dp_budget_drop('patients')", "SELECT dp_grant('patients', 'stranger')", "SELECT dp_revoke('patients', 'team')";
fails('owner', "SELECT dp_grant('patients', 'nobody_at_all')", qr/^42704: role "nobody_at_all" does not exist/);
fails('owner', "SELECT dp_grant('nothing', 'team')", qr/^42704: budget "nothing" does not exist/);
fails('owner', "SELECT dp_revoke('patients', 'team')", qr/^42704: role "team" has no grant/);
fails('owner', "SELECT dp_budget_alter('patients')", qr/^22023: there is nothing to alter/);
fails('owner', "SELECT dp_budget_alter('patients', owner => 'stranger')", qr/^42501: must be member of role "stranger"/);
fails($_, 'TABLE dperm.budgets', qr/^42501: permission denied for table/) foreach 'owner', 'officer';
fails('owner', "$_ dperm.ledger", qr/^42501: permission denied/) foreach 'DELETE FROM', 'TRUNCATE';
fails('owner', "UPDATE dp_budgets SET epsilon = 9", qr/^(55000: cannot update view|42501)/);

# ---- grants: of one's own, of a role one is a member of, with limits or without

fails($_, "SELECT dp_budget_charge('patients', 0.1)", qr/^42501: permission denied for budget "patients"/) foreach 'stranger', 'member', 'An ""analyst';
says('owner', q{SELECT dp_grant('patients', 'An "analyst', epsilon => 0.3, delta => 4.1e-7)}, '', 'a quarter of its delta is for releases of which nothing else is known');
says('owner', "SELECT dp_grant('patients', 'team', 1); SELECT dp_grant('pure', 'team'); SELECT dp_grant('pure', 'gone')", "\n\n");
says('An ""analyst', "SELECT dp_budget_charge('patients', 0.1)", '', 'an analyst with a grant spends');
says('An ""analyst', "SELECT dp_budget_charge('patients', 0.1, 1e-7)", '', 'with a delta');
fails('An ""analyst', "SELECT dp_budget_charge('patients', 0.05, 1e-8)", qr/^54000: the grant of budget "patients" to "An "analyst" has too little delta left/);
fails('An ""analyst', "SELECT dp_budget_charge('patients', 0.2)", qr/^54000: the grant of budget "patients" to "An "analyst" has too little epsilon left/);
says('An ""analyst', "SELECT dp_budget_charge('patients', 0.1)", '', 'up to the limit exactly');
says('member', "SELECT dp_budget_charge('patients', 0.7)", '', 'a member of a role with a grant spends');
says('team', "SELECT dp_budget_charge('patients', 0.3)", '', 'so does the role itself');
fails('member', "SELECT dp_budget_charge('patients', 1e-6)", qr/^54000: the grant of budget "patients" to "team" has too little epsilon left/);
says('owner', "SELECT dp_grant('patients', 'member', 0.1)", '');
says('member', "SELECT dp_budget_charge('patients', 0.1)", '', 'a grant of their own comes first');
says('owner', "SELECT dp_grant('patients', 'team', 1.5)", '', 'a grant is raised');
says('member', "SELECT dp_budget_charge('patients', 0.2)", '', 'where that one is exhausted, the other is used');
says('owner', q{SELECT dp_revoke('patients', 'An "analyst')}, '');
fails('An ""analyst', "SELECT dp_budget_charge('patients', 0.001)", qr/^42501/);
says('owner', q{SELECT dp_grant('patients', 'An "analyst')}, '', 'granted again');
fails('An ""analyst', "SELECT dp_budget_charge('patients', 0.001)", qr/^54000: the grant of budget "patients" to "An "analyst" has too little epsilon left/);
says('owner', q{SELECT dp_revoke('patients', 'An "analyst')}, '');
fails('owner', "SELECT dp_budget_charge('patients', 3)", qr/^54000: budget "patients" has too little epsilon left/);
says('owner', "SELECT dp_budget_charge('patients', 0.5, purpose => 'statistics for the annual report')", '', 'the owner needs no grant');
says('postgres', "SELECT dp_budget_charge('patients', 0.1)", '', 'nor does a superuser');

# ---- raised, lowered, given away

says('owner', "SELECT dp_budget_alter('patients', epsilon => 1)", '', 'lowered below what is spent');
fails('owner', "SELECT dp_budget_charge('patients', 1e-3)", qr/^54000: budget "patients" has too little epsilon left/);
says('owner', "SELECT dp_budget_alter('patients', epsilon => 5, delta => 1e-5)", '');
fails('owner', "SELECT dp_budget_alter('patients', delta => 0)", qr/^55000: budget "patients" has been charged with a delta/);
says('owner', "SELECT dp_budget_alter('pure', delta => 1e-6); SELECT dp_budget_alter('pure', delta => 0)", "\n", 'before it is charged, a budget can get a delta or lose it');
says('team', "SELECT dp_budget_charge('pure', 0.25)", '');
fails('owner', "SELECT dp_budget_alter('pure', delta => 1e-6)", qr/^55000: budget "pure" has been charged without a delta/);
says('owner', "SELECT dp_budget_alter('patients', owner => 'heir')", '');
says('heir', "SELECT dp_budget_alter('patients', epsilon => 4)", '', 'the new owner owns it');

# ---- who sees what

says('member', 'SELECT budget, role, epsilon_granted, epsilon_spent, epsilon_left FROM dp_grants ORDER BY budget, role::text',
	"patients|member|0.1|0.1|0\npatients|team|1.5|1.2|0.3\npure|team||0.25|0.75", 'what is left for a member');
says('member', 'SELECT budget, granted_to, epsilon_left FROM dp_budgets ORDER BY budget, granted_to::text', "patients|member|0\npatients|team|0.3\npure|team|0.75", 'and the budgets');
says('heir', 'SELECT budget, role, delta_left > 0 FROM dp_grants ORDER BY role::text', "patients|member|f\npatients|team|t", 'the owner sees all grants of the budget, and no others');
says('officer', 'SELECT budget, role, epsilon_spent FROM dp_grants ORDER BY budget, role', "patients|member|0.1\npatients|team|1.2\npure|gone|0\npure|team|0.25", 'who reads all statistics sees all grants');
says('stranger', 'SELECT count(*) FROM dp_grants', '0');
says('stranger', 'SELECT count(*) FROM dp_budgets', '0');
says('heir', 'SELECT budget, owner, granted_to, neighbours, epsilon, epsilon_spent, epsilon_left FROM dp_budgets', 'patients|heir||replace|4|2.2|1.8', 'what is left for the owner');
says('stranger', 'SELECT count(*) FROM dp_ledger', '0');
says('member', 'SELECT DISTINCT role FROM dp_ledger WHERE function IS NOT NULL ORDER BY 1', "member\nteam");
says('member', q{SELECT DISTINCT role, act, coalesce(function, relation, purpose, details, neighbours, unit, epsilon_left::text), epsilon > 0, at IS NOT NULL FROM dp_ledger WHERE role NOT IN ('member', 'team') ORDER BY 1},
	"An \"analyst|charge||t|t\nowner|charge||t|t\npostgres|charge||t|t", 'of others role, time and cost');
says('stranger', "SELECT count(*) FROM dp_ledger WHERE budget = 'patients'", '0', 'who may not spend sees nothing of them');
says('heir', "SELECT count(*) FILTER (WHERE budget = 'patients') > 15, count(*) FILTER (WHERE budget <> 'patients') FROM dp_ledger", 't|0');
says('officer', 'SELECT DISTINCT budget FROM dp_ledger ORDER BY 1', "patients\npure");
says('officer', 'SELECT budget, owner, granted_to, epsilon_left FROM dp_budgets ORDER BY 1', "patients|heir||1.8\npure|owner||0.75", 'and all budgets');
fails('officer', $_, qr/^42501: (must be owner of|permission denied for) budget "patients"/) foreach "SELECT dp_grant('patients', 'officer')", "SELECT dp_budget_charge('patients', 0.1)";
# a function that looks at rows before the view's condition does
says('stranger', q{SET client_min_messages = notice; CREATE FUNCTION public.peek(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE 'seen %', $1; END $$;
	SELECT count(*) FROM dp_ledger WHERE public.peek(budget)}, '0', 'the views are barriers');
says('officer', q{SELECT entry, act, role, function, neighbours, unit, epsilon, delta, epsilon_left, details FROM dp_ledger WHERE budget = 'pure' ORDER BY entry},
	"1|create|owner||remove||1|0||\n2|grant|owner|||||||to team\n3|grant|owner|||||||to gone\n4|alter|owner||||1|0.000001||\n5|alter|owner||||1|0||\n"
	. "6|charge|team|dp_budget_charge|remove||0.25|0|0.75|", 'the ledger tells the story of a budget');

# ---- the ledger is only ever added to, even by a superuser

fails('postgres', "$_", qr/^55000: entries of the ledger cannot be changed or removed/)
	foreach 'DELETE FROM dperm.ledger', 'UPDATE dperm.ledger SET epsilon = 0', 'TRUNCATE dperm.ledger CASCADE', 'TRUNCATE dperm.budgets CASCADE',
	'DELETE FROM dperm.budgets', "SET session_replication_role = replica; DELETE FROM dperm.ledger";

# After a budget is dropped and created again, entries continue; the new owner
# does not see the old ones.
says('owner', "SELECT dp_budget_create('short', 1); SELECT dp_budget_charge('short', 0.5); SELECT dp_budget_drop('short')", "\n\n");
fails('owner', "SELECT dp_budget_charge('short', 0.1)", qr/^42704: budget "short" does not exist/);
says('stranger', "SELECT dp_budget_create('short', 1); SELECT dp_budget_charge('short', 0.125); SELECT entry, act, epsilon FROM dp_ledger ORDER BY entry", "\n\n4|create|1\n5|charge|0.125");
says('owner', "SELECT entry, act, epsilon FROM dp_ledger WHERE budget = 'short' ORDER BY entry", "1|create|1\n2|charge|0.5\n3|drop|", 'who owned it last sees the old ones alone');
says('officer', "SELECT string_agg(act, ' ' ORDER BY entry) FROM dp_ledger WHERE budget = 'short'", 'create charge drop create charge');

# ---- search_path and objects of the caller

says('stranger', q{CREATE FUNCTION public.never(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE OPERATOR public.= (FUNCTION = public.never, LEFTARG = text, RIGHTARG = text);
	CREATE TEMP TABLE budgets (budget text); SET search_path = public, pg_temp, pg_catalog, privacy;
	SELECT privacy.dp_budget_alter('patients', 400)}, '42501: must be owner of budget "patients"', 'operators and tables of the caller are not used');

# ---- dumps

$node->safe_psql('postgres', 'DROP ROLE gone');
my $all = q{SET search_path = privacy; SELECT a::text FROM dperm.budgets a ORDER BY budget, since; SELECT to_jsonb(g) - 'grantee' FROM dperm.grants g ORDER BY id;
	SELECT e::text FROM dperm.ledger e ORDER BY budget, entry; SELECT count(*) FROM dp_ledger};
my $before = $node->safe_psql('origin', $all);
my $dir = PostgreSQL::Test::Utils::tempdir;
foreach my $case ([ 'plain', '--format=plain' ], [ 'custom', '--format=custom' ], [ 'inserts', '--format=plain', '--inserts' ])
{
	my ($name, @options) = @$case;
	$node->command_ok([ 'pg_dump', '-d', $node->connstr('origin'), @options, '-f', "$dir/$name" ], "$name: dumped");
	$node->safe_psql('postgres', "CREATE DATABASE copy_$name");
	$node->command_ok($name eq 'custom' ? [ 'pg_restore', '--exit-on-error', '-d', $node->connstr("copy_$name"), "$dir/$name" ]
		: [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("copy_$name"), '-f', "$dir/$name" ], "$name: restored");
	is($node->safe_psql("copy_$name", $all), $before, "$name: the same budgets, grants and ledger");
	is($node->safe_psql("copy_$name", "SELECT role FROM privacy.dp_grants WHERE role::text ~ 'gone'"), 'pg_dropped:gone', "$name: the grant of a role that was dropped says so");
	my $err = '';
	$node->psql("copy_$name", "BEGIN; CREATE ROLE gone; SET ROLE gone; SELECT privacy.dp_budget_charge('pure', 0.1)", stderr => \$err);
	like($err, qr/permission denied for budget "pure"/, "$name: and is not one of another role of its name");
	$node->psql("copy_$name", "SET SESSION AUTHORIZATION team; SELECT privacy.dp_budget_charge('pure', 0.75); SELECT privacy.dp_budget_charge('pure', 0.1)", stderr => \$err);
	like($err, qr/has too little epsilon left/, "$name: goes on where it was");
	is($node->safe_psql("copy_$name", "SELECT max(entry), sum(epsilon) FILTER (WHERE act = 'charge') FROM privacy.dp_ledger WHERE budget = 'pure'"), '7|1.00', "$name: and so does its ledger");
}
isnt($before, '', 'there was something to dump');
says('owner', "SELECT dp_revoke('pure', 'gone'); SELECT role FROM dp_grants WHERE budget = 'pure'", "\nteam", 'the grant of a role that was dropped can be revoked');

# ---- a role that is dropped has no rights any more, although a session of it goes on

$node->safe_psql('origin', 'CREATE ROLE leaver; GRANT EXECUTE ON FUNCTION privacy.dp_budget_create TO leaver');
my $drop = q{psql -Xq -v ON_ERROR_STOP=1 -d "} . $node->connstr('origin') . q{" -c 'REVOKE EXECUTE ON FUNCTION privacy.dp_budget_create FROM leaver' -c 'DROP ROLE leaver'};
like(as('leaver', "SELECT dp_budget_create('leavers', 5);\n\\! $drop\nSELECT dp_budget_alter('leavers', 9);"),
	qr/^42704: role with OID \d+ has been dropped/, 'dropped: its budget stays as it is');
says('officer', "SELECT act, epsilon FROM dp_ledger WHERE budget = 'leavers'", 'create|5', 'dropped: nothing has changed');
says('postgres', "SELECT dp_budget_drop('leavers')", '', 'dropped: superusers manage the budget');

# ---- a name that is longer in the encoding that it is restored into is that of its budget alone

my ($long, $short) = map { "'x' || repeat(chr(228), $_)" } 40, 31;	# the long one has 81 bytes in UTF8; the first 63 of them are the short one
$node->safe_psql('postgres', "CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C'; CREATE DATABASE wide TEMPLATE template0 ENCODING UTF8 LC_COLLATE 'C' LC_CTYPE 'C'");
$node->safe_psql('latin', qq{CREATE SCHEMA privacy; CREATE EXTENSION dperm SCHEMA privacy; GRANT USAGE ON SCHEMA privacy TO PUBLIC; CREATE SCHEMA h AUTHORIZATION owner; GRANT USAGE ON SCHEMA h TO PUBLIC;
	GRANT EXECUTE ON FUNCTION privacy.dp_budget_create TO owner, stranger;
	SET ROLE owner; SET search_path = privacy; CREATE TABLE h.t (age int CHECK (age BETWEEN 0 AND 120), ill boolean); INSERT INTO h.t SELECT i % 100, i % 3 = 0 FROM generate_series(1, 200) i;
	SELECT dp_budget_create($long, 10), dp_grant($long, 'stranger', 1), dp_protect('h.t', $long)});
$node->command_ok([ 'pg_dump', '-d', $node->connstr('latin'), '--format=custom', '-f', "$dir/latin" ], 'another encoding: dumped');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('wide'), "$dir/latin" ], 'another encoding: restored');
$database = 'wide';
my $train = "SELECT dp_logreg_train('h.t', 'ill', 'age', 0.1)::jsonb ->> 'rows'";
says('stranger', $train, '200', 'a name that is too long for a new budget: an analyst trains');
fails('stranger', "SELECT dp_budget_create($long, 500)", qr/^42602:/);
says('stranger', "SELECT dp_budget_create($short, 500)", '', 'somebody makes a budget of the name that is left if it is cut');
says('stranger', $train, '200', 'nothing changes for analysts');
says('stranger', "SELECT dp_budget_charge($long, 0.5)", '', 'nor for other charges');
fails('stranger', "SELECT dp_budget_charge($long, 5)", qr/^54000: the grant of budget "x(?:\xc3\xa4){40}" to "stranger" has too little epsilon left/);
says('stranger', 'SELECT length(budget), owner, epsilon_spent FROM dp_budgets ORDER BY 1', "32|stranger|0\n41|owner|0.7", 'and each budget is charged for itself');
says('owner', 'SELECT length(budget), count(*) FROM dp_ledger GROUP BY budget', '41|6', 'as the ledger says');
fails('stranger', "BEGIN; SELECT dp_budget_charge($short, 0.5); SELECT dp_budget_drop($short); SELECT dp_budget_create($short, 500); SELECT dp_budget_charge($short, 0.5)",
	qr/^55P03: could not lock the budget/);
says('stranger', "SELECT epsilon_spent FROM dp_budgets WHERE budget = $short", '0.5', 'nor is another budget of the same name charged');
$database = 'origin';

# ---- and gone

$node->psql('origin', 'DROP EXTENSION dperm', stderr => \my $kept);
like($kept, qr/ERROR:  cannot drop extension dperm because other objects depend on it\nDETAIL:  view dperm\.ledger_is_kept depends on schema dperm/, 'DROP EXTENSION keeps the ledger');
$node->safe_psql('origin', 'DROP VIEW dperm.ledger_is_kept; DROP EXTENSION dperm');
is($node->safe_psql('origin', "SELECT count(*) FROM pg_class WHERE relname ~ '^dp_' OR relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'dperm')"), '0', 'DROP EXTENSION leaves nothing behind');
$node->stop;
done_testing();
