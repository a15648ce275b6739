# What must hold after a database has been copied: by a dump, plain, custom or
# parallel, over an existing copy, with another owner, without a role, by
# createdb, and by pg_upgrade. Only what users call and see is used here.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
my $dir = PostgreSQL::Test::Utils::tempdir;
$node->safe_psql('postgres', 'CREATE ROLE hospital; CREATE ROLE clinic; CREATE ROLE ana; CREATE ROLE ben; CREATE ROLE gone; CREATE DATABASE origin');
$node->safe_psql('origin', q{
	CREATE EXTENSION dperm;
	CREATE SCHEMA h AUTHORIZATION hospital; CREATE SCHEMA c AUTHORIZATION clinic; GRANT USAGE ON SCHEMA h, c TO PUBLIC;
	SET ROLE hospital;
	CREATE TABLE h.visits (person int, age int CHECK (age BETWEEN 0 AND 120), bmi float8, secret int CHECK (secret BETWEEN 0 AND 9), ill boolean);
	INSERT INTO h.visits SELECT i % 50, i % 100, i % 40, i % 10, i % 3 = 0 FROM generate_series(1, 200) i;
	CREATE TABLE h.parts (person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean) PARTITION BY RANGE (age);
	CREATE TABLE h.part_1 PARTITION OF h.parts FOR VALUES FROM (0) TO (50); CREATE TABLE h.part_2 PARTITION OF h.parts FOR VALUES FROM (50) TO (200);
	INSERT INTO h.parts SELECT person, age, ill FROM h.visits;
	SELECT dp_budget_create('patients', 4, 1e-6);
	SELECT dp_protect('h.visits', 'patients', unit => 'person', columns => '{age,bmi,ill}', domains => '{"bmi": [0, 60]}'), dp_protect('h.parts', 'patients', unit => 'person');
	SELECT dp_grant('patients', 'ana', 1), dp_grant('patients', 'gone', 1);
	CREATE VIEW h.old AS SELECT age, bmi * 2 AS twice, secret, ill FROM h.visits WHERE age > 20;
	SELECT dp_protect('h.old', domains => '{"twice": [0, 100]}');
	SET ROLE clinic;
	CREATE TABLE c.rows (age int CHECK (age BETWEEN 0 AND 120), ill boolean);
	INSERT INTO c.rows SELECT i % 100, i % 3 = 0 FROM generate_series(1, 60) i;
	SELECT dp_budget_create('clinic', 1), dp_protect('c.rows', 'clinic'), dp_grant('clinic', 'ben');
	-- protections that have ended: of a table that is there, of one that was dropped, and of a view
	SET ROLE hospital;
	CREATE TABLE h.past (person int, age int CHECK (age BETWEEN 0 AND 120), ill boolean);
	INSERT INTO h.past SELECT person, age, ill FROM h.visits;
	CREATE TABLE h."Gone ""1" (LIKE h.past INCLUDING ALL);
	CREATE VIEW h.ended AS SELECT age, ill FROM h.past;
	SELECT dp_protect('h.past', 'patients', unit => 'person'), dp_protect('h."Gone ""1"', 'patients', unit => 'person'), dp_protect('h.ended');
	-- closed ones: a table that has become a child, one of another owner, and a view of that
	CREATE TABLE h.above (LIKE h.past); CREATE TABLE h.child (LIKE h.past INCLUDING ALL); CREATE TABLE h.given (LIKE h.past INCLUDING ALL); CREATE VIEW h.shown AS SELECT age, ill FROM h.given;
	SELECT dp_protect('h.child', 'patients', unit => 'person'), dp_protect('h.given', 'patients', unit => 'person'), dp_protect('h.shown');
	ALTER TABLE h.child INHERIT h.above;
	RESET ROLE;
	ALTER TABLE h.given OWNER TO clinic;
	CREATE TABLE models (name text PRIMARY KEY, model dp_model); GRANT ALL ON models TO ana;
	SET ROLE ana; INSERT INTO models SELECT 'ana', dp_logreg_train('h.visits', 'ill', '{age,bmi}', 0.25);
	SET ROLE ben; SELECT dp_logreg_train('c.rows', 'ill', '{age}', 0.5);
	SET ROLE hospital; SELECT dp_unprotect('h.past'); DROP TABLE h."Gone ""1"});

# Runs statements as a role, and returns what they say: rows, or the error.
my $server = $node;
my $database = 'origin';
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$server->psql($database, "\\set VERBOSITY verbose\nSET client_min_messages = error; " . ($role eq 'superuser' ? '' : qq{SET SESSION AUTHORIZATION "$role"; }) . $sql, stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $err =~ /(?:ERROR|FATAL):  (.*)/ ? $1 : $out;
}
sub says { my ($role, $sql, $wanted, $what) = @_; is(as($role, $sql), $wanted, "$database: $what"); return }
sub fails { my ($role, $sql, $wanted, $what) = @_; like(as($role, $sql), $wanted, "$database: $what"); return }
sub train { my ($relation, $features, $epsilon) = @_; return "SELECT dp_logreg_train('$relation', 'ill', '{$features}', $epsilon) IS NOT NULL" }

# What everybody may know of the budgets: limits, what was spent, grants, the
# ledger with its releases, registrations, and what the models say.
my $state = q{SELECT budget, owner, epsilon, delta, epsilon_spent FROM dp_budgets ORDER BY 1;
	SELECT budget, entry, at, act, role, function, relation, features, unit, epsilon, epsilon_left, release, md5(model::text) FROM dp_ledger ORDER BY 1, 2;
	SELECT relation, budget, unit, columns, domains FROM dp_protected ORDER BY relation::text COLLATE "C";
	SELECT r.relation_name, r.owner, r.budget, a.budget AS of, t.relation_name AS view_of, r.persons, r.unit, r.all_columns, r.ended, r.ended_by, r.dropped_name FROM dperm.dp_protected_relations r
		LEFT JOIN dperm.dp_protected_relations t ON t.id = r.view_of LEFT JOIN dperm.dp_budget_accounts a ON a.id = r.budget_id ORDER BY r.relation_name::text COLLATE "C", r.ended;
	SELECT r.relation_name, c.column_name, c.relation = r.relation AS bound, c.listed, c.is_unit, c.domain FROM dperm.dp_protected_columns c JOIN dperm.dp_protected_relations r ON r.id = c.registered_by ORDER BY c.column_name::text COLLATE "C", 4, 5;
	SELECT name, md5(model::text), dp_decision(model, ROW(50, 20.0)::h.pair) FROM models};
$node->safe_psql('origin', 'CREATE TYPE h.pair AS (age int, bmi float8)');
my $before = as('superuser', $state);
like($before, qr/^clinic\|clinic\|1\|0\|0\.5\npatients\|hospital\|4\|0\.000001\|0\.25\n/, 'what there is');
like($before, qr/^"h"\."old" "hospital"\|hospital\|patients\|patients\|"h"\."visits" "hospital"\|t\|\|t\|\|\|$/m, 'a view that is offered has its table');
like($before, qr/^"h"\."past" "hospital"\|hospital\|\|patients\|\|t\|person\|t\|2[^|]*\|hospital\|$/m, 'a protection that has ended');
like($before, qr/^\|hospital\|\|patients\|\|t\|person\|t\|2[^|]*\|hospital\|"h"\."Gone ""1"$/m, 'and that of a table that was dropped');

# What has to hold in each copy
sub holds
{
	says('superuser', $state, $before, 'all is as it was');
	fails('ana', train('h.visits', 'age', 0.8), qr/^54000: the grant of budget "patients" to "ana" has too little epsilon left/, 'a grant goes on where it was');
	says('ana', train('h.visits', 'age,bmi', 0.25), 't', 'and is good for the rest');
	says('ana', train('h.parts', 'age', 0.25), 't', 'also on partitions');
	says('hospital', q{SELECT epsilon_spent FROM dp_budgets WHERE budget = 'patients'}, '0.75', 'the account goes on');
	fails('hospital', train('h.visits', 'age', 3.5), qr/^54000: budget "patients" has too little epsilon left/, 'also for the owner');
	fails('ana', train('h.visits', 'secret', 0.1), qr/^42501: column "secret" of protected relation "visits" is not open to training/, 'a closed column stays closed');
	fails('ben', train('h.visits', 'age', 0.1), qr/^42501: permission denied/, 'no grant, no model');
	fails('hospital', train('h.part_1', 'age', 0.1), qr/^42501: relation "part_1" reads protected relation "parts"/, 'a partition is not a way around');
	says('ana', train('h.old', 'age,twice', 0.125), 't', 'a view is offered');
	fails('ana', train('h.old', 'secret', 0.125), qr/^42501: column "secret" of protected relation "old" is not open to training/, 'as its table is');
	fails('hospital', "BEGIN; CREATE TABLE h.\"Gone \"\"1\" (LIKE h.past INCLUDING ALL); SELECT dp_protect('$_', 'patients', unit => 'age')", qr/^55000: relation "[^"]+( "1)?" has another unit in budget "patients"/, "a budget keeps the unit of what has ended: $_")
		foreach 'h.past', 'h."Gone ""1"';
	says('hospital', "BEGIN; CREATE TABLE h.\"Gone \"\"1\" (LIKE h.past INCLUDING ALL); SELECT dp_protect('h.past', 'patients', unit => 'person'), dp_protect('h.\"Gone \"\"1\"', 'patients', unit => 'person'), dp_protect('h.ended'); ROLLBACK", '||', 'with that they are protected again');
	fails('ana', train('h.ended', 'age', 0.1), qr/^42501: permission denied/, 'what has ended is not open');
	fails($_, train('h.child', 'age', 0.1), qr/^55000: protected relation "child" has been changed, and is closed/, "a table that has become a child is closed: $_") foreach 'ana', 'hospital';
	fails($_, train('h.given', 'age', 0.1), qr/^55000: protected relation "given" has a different owner than when it was protected/, "a table of another owner is closed: $_") foreach 'ana', 'hospital', 'clinic';
	fails('ana', train('h.shown', 'age', 0.1), qr/^55000: protected relation "shown" has been changed, and is closed/, 'so is a view of it');
	fails('ben', train('c.rows', 'age', 0.6), qr/^54000: budget "clinic" has too little epsilon left/, 'so do budgets of others');
	fails('ana', 'SELECT count(*) FROM h.visits', qr/^42501/, 'nobody may read who could not');
	fails('superuser', 'DELETE FROM dperm.dp_ledger_entries', qr/^(42501|55000)/, 'the ledger is append-only');
	return;
}

# ---- dumps

$node->command_ok([ 'pg_dump', '-d', $node->connstr('origin'), "--format=$_->[0]", @{ $_->[1] }, '-f', "$dir/$_->[0]" ], "dumped: $_->[0]") foreach [ 'plain', [] ], [ 'custom', [] ], [ 'directory', [ '-j', '2' ] ];
sub copy { ($database) = @_; $node->safe_psql('postgres', "CREATE DATABASE $database"); return }
sub restore { my ($form, @options) = @_; IPC::Run::run([ 'pg_restore', @options, '-d', $node->connstr($database), "$dir/$form" ], '2>', \my $err); return $err }

copy('plain');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('plain'), '-f', "$dir/plain" ], 'plain: restored');
holds();
copy('custom');
is(restore('custom', '--exit-on-error'), '', 'custom: restored');
holds();
copy('parallel');
is(restore('directory', '-j', '2'), '', 'parallel: restored');
holds();

# whichever of our tables, and of the others, comes first
copy('reversed');
my @entries = grep { !/^;/ } split /^/, `pg_restore -l $dir/custom`;
append_to_file("$dir/list", join('', (grep { !/TABLE DATA|CONSTRAINT|INDEX|ACL/ } @entries), (reverse grep { /TABLE DATA/ } @entries), (grep { /CONSTRAINT|INDEX|ACL/ } @entries)));
is(restore('custom', '--exit-on-error', '-L', "$dir/list"), '', 'in reverse order: restored');
holds();

$database = 'parallel';
is(restore('custom', '--clean', '--if-exists', '--exit-on-error'), '', 'over a copy that has been used: restored');
holds();

# ---- createdb: what was spent in the copy is not spent in the original

$database = 'twin';
$node->command_ok([ 'createdb', '-p', $node->port, '-h', $node->host, '-T', 'origin', 'twin' ], 'twin: created');
holds();
$database = 'origin';
says('superuser', $state, $before, 'the original is as it was');

# ---- another owner: what cannot be bound stays closed

copy('owned');
is(restore('custom', '--no-owner'), '', 'without owners: restored');
fails($_, train('h.visits', 'age', 0.1), qr/^(55000|42501)/, "without owners: $_ trains on nothing that was protected") foreach 'ana', 'ben', 'hospital', 'superuser';
fails('superuser', train($_, 'age', 0.1), qr/^(55000|42501)/, "without owners: nor do others: $_") foreach 'c.rows', 'h.parts', 'h.old', 'h.child', 'h.given', 'h.shown';
like(as('superuser', q{SELECT string_agg(budget || ' ' || epsilon_spent, ', ' ORDER BY budget) FROM dp_budgets}), qr/^clinic 0\.50*, patients 0\.250*$/, 'without owners: what was spent is known');

# ---- a role that is missing

$database = 'origin';
as('superuser', 'DROP OWNED BY gone');
$node->safe_psql('postgres', "DROP DATABASE $_") foreach qw(plain custom parallel reversed owned twin);
$node->safe_psql('postgres', 'DROP ROLE gone');
copy('without_role');
is(restore('custom'), '', 'without a role: restored');
holds();
$node->safe_psql('postgres', 'CREATE ROLE gone');
fails('gone', train('h.visits', 'age', 0.1), qr/^42501: permission denied/, 'who gets its name later has not its grant');

# ---- pg_upgrade

$node->safe_psql('postgres', 'DROP DATABASE without_role');
$node->stop;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
chdir $dir;
my ($bin) = run_command([ 'pg_config', '--bindir' ]);
$node->command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin, '-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
$new->start;
$server = $new;
$database = 'origin';
holds();
$new->stop;
done_testing();
