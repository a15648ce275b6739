# Protected relations on a Citus cluster: the coordinator keeps the budgets, and
# workers cannot be used to bypass them.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusCluster;
use Test::More;

# with users in the logs, which show who ran what on the workers; and with what
# Citus needs to split a shard
my $cluster = CitusCluster->start(conf => "log_line_prefix = '%m [%p] %q%a user=%u '\nmax_wal_senders = 10\nmax_replication_slots = 10\n", before => 'SET citus.enable_schema_based_sharding = on');
my $node = $cluster->coordinator;
my @workers = $cluster->workers;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# What a role gets from a server: its answer or its error
sub ask
{
	my ($server, $role, $sql) = @_;
	my ($status, $out, $err) = $server->psql('postgres', $sql, connstr => $server->connstr('postgres') . " user=$role");
	return $status == 0 ? $out : $err;
}

# Have a server reject a role, and accept all of them again
my %hba;

sub write_hba
{
	my ($server, $first) = @_;
	my $path = $server->data_dir . '/pg_hba.conf';
	$hba{$path} //= PostgreSQL::Test::Utils::slurp_file($path);
	open my $file, '>', $path or die $!;
	print $file $first . $hba{$path};
	close $file;
	$server->reload;
}

sub reject { my ($server, $role) = @_; write_hba($server, "local all $role reject\nhost all $role all reject\n"); }
sub admit { write_hba($_[0], ''); }

# Some minor releases ask which libraries may decode changes
for my $server ($node, @workers)
{
	next if $server->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries'") == 0;
	$server->append_conf('postgresql.conf', "output_plugin_libraries = 'citus, pgoutput'\n");
	$server->reload;
}

# Where each new schema is distributed, that of the extension is not
is(sql('SELECT (SELECT count(*) FROM pg_dist_schema) + (SELECT count(*) FROM pg_dist_partition)'), 0, 'no schema and no table of the extension is distributed');
like(ask($node, sql('SELECT current_user'), "SELECT citus_schema_distribute('dperm')"), qr/ERROR:  schema dperm, which is owned by an extension, cannot be distributed/, 'nor can it be');
is($_->safe_psql('postgres', "SELECT has_schema_privilege('public', 'dperm', 'USAGE'), has_schema_privilege('public', 'dperm', 'CREATE')"), 't|f', 'nobody creates anything in it on ' . $_->name) for $node, @workers;

sql(q{
	CREATE ROLE owen LOGIN;
	CREATE ROLE ana LOGIN;
	CREATE ROLE reader LOGIN;
	GRANT CREATE ON SCHEMA public TO owen;
});
my $setup = ask($node, 'owen', q{
	SET citus.shard_count = 8;
	CREATE TABLE patients (id bigint PRIMARY KEY, person int, y boolean, n int, f float8);
	SELECT create_distributed_table('patients', 'id');
	INSERT INTO patients SELECT i, i / 5, i % 3 = 0, i % 100, sin(i) FROM generate_series(1, 5000) i;
	GRANT SELECT ON patients TO reader;
	CREATE VIEW adults AS SELECT id, y, n, f FROM patients WHERE n >= 18;
	GRANT SELECT ON adults TO reader;
	SELECT dp_budget_create('patients', epsilon => 3, delta => 1e-6);
	SELECT dp_protect('patients', budget => 'patients', unit => 'person', domains => '{"n": [0, 100], "f": [-1, 1]}', columns => '{y,n,f}');
	SELECT dp_grant('patients', 'ana', epsilon => 2);
});
unlike($setup, qr/ERROR/, 'the owner protects a distributed table');
my $train = "SELECT dp_logreg_train('patients', 'y', '{n,f}', 1)::jsonb ->> 'persons'";
like(ask($node, 'ana', 'SELECT count(*) FROM patients'), qr/permission denied/, 'an analyst cannot read it');
is(ask($node, 'ana', $train), 1001, 'an analyst trains');
like(ask($node, 'ana', "SELECT dp_logreg_tune('patients', 'y', '{n,f}', 0.5, candidates => '[{\"lambda\": 1}, {\"lambda\": 0.1}]')"), qr/"tuning"/, 'an analyst tunes');
is(ask($node, 'ana', 'SELECT epsilon_left FROM dp_budgets'), 0.5, 'both were charged');
like(ask($node, 'ana', $train), qr/ERROR.*budget|grant/, 'no more than was granted');
like(ask($node, 'reader', "SELECT dp_logreg_train('patients', 'y', '{n,f}', 1)"), qr/ERROR/, 'who may read it has no right to spend');
like(ask($node, 'reader', "SELECT dp_logreg_train('adults', 'y', '{n,f}', 1, domains => '{\"n\": [0, 100], \"f\": [-1, 1]}')"), qr/ERROR.*HINT/s, 'not through a view');
like(ask($node, $_, 'SELECT dp_logreg(y, ARRAY[f], 0.1) FROM patients'), qr/ERROR:  dp_logreg, dp_svm and dp_linreg cannot be charged to the budget of protected relation "patients"/, "nor can $_ use an aggregate") for ('reader', 'owen');
like(ask($node, 'reader', 'SELECT n, dp_logreg(y, ARRAY[f], 0.1) FROM adults GROUP BY n'), qr/ERROR:  dp_logreg, dp_svm and dp_linreg cannot be charged to the budget of protected relation "patients"/, 'nor over a view');
is(ask($node, 'owen', $train), 1001, 'the owner trains, and is charged');
is(sql("SELECT epsilon_left FROM dp_budgets WHERE granted_to IS NULL LIMIT 1"), '0.5', 'what is left');

# What the caller sets does not reach the workers, and those tell columns,
# nothing else: nothing there is looked up by name
my $cheap = "SELECT dp_logreg_train('patients', 'y', '{n,f}', 0.01)";
my $mark = $cluster->mark;
my $spent = sql("SELECT epsilon_spent FROM dp_budgets LIMIT 1");
for my $setting ("citus.propagate_set_commands = 'local'", 'citus.max_intermediate_result_size = 3', 'citus.enable_binary_protocol = off', "citus.task_assignment_policy = 'round-robin'", "application_name = 'citus_internal gpid=10000000001'",
	"application_name = 'citus_rebalancer gpid=10000000001'", "application_name = 'citus_run_command gpid=10000000001'")
{
	like(ask($node, 'ana', "SET $setting; $cheap"), qr/^\{"format"/, "with $setting");
}
like(ask($node, 'ana', "BEGIN; SET LOCAL search_path = public, pg_catalog; $cheap; COMMIT"), qr/^\{"format"/, 'in a transaction block');
like(ask($node, 'ana', "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY; $cheap; COMMIT"), qr/^\{"format"/, 'in one that reads only');
for my $block ("SET LOCAL citus.propagate_set_commands = 'local'; SET LOCAL search_path = public, pg_catalog; RESET citus.propagate_set_commands; PERFORM dp_logreg_train('patients', 'y', '{n,f}', 0.01);",
	"BEGIN PERFORM dp_logreg_train('patients', 'y', '{n,f}', 0.01); EXCEPTION WHEN division_by_zero THEN NULL; END;")
{
	is(ask($node, 'ana', "DO \$\$ BEGIN $block END \$\$"), '', 'after settings that Citus hands on, and within a subtransaction');
}
like(ask($node, 'ana', "CREATE FUNCTION pg_temp.train() RETURNS text LANGUAGE sql SET work_mem = '8MB' AS \$f\$ SELECT dp_logreg_train('patients', 'y', '{n,f}', 0.01)::text \$f\$; SELECT pg_temp.train()"), qr/^\{"format"/, 'in a function with a setting');
like(ask($node, 'ana', "SELECT dp_logreg_tune('patients', 'y', '{n,f}', 0.01, candidates => '[{\"lambda\": 1}, {\"lambda\": 0.1}]')"), qr/^\{"format"/, 'tuning');
like(ask($node, 'ana', "SELECT count(*) > 4, bool_and(count_low <= count AND count <= count_high) FROM dp_summary('patients', 0.01)"), qr/^t\|t$/, 'a summary');
sql("ALTER ROLE ana SET citus.enable_binary_protocol = off");
like(ask($node, 'ana', $cheap), qr/^\{"format"/, 'with a setting of the role');
sql("ALTER ROLE ana RESET ALL");
cmp_ok(abs(sql("SELECT epsilon_spent FROM dp_budgets LIMIT 1") - $spent - 15 * 0.01), '<', 1e-6, 'each of these is charged');
like(ask($node, 'owen', "SELECT dp_budget_alter('patients', epsilon => 10); SELECT dp_logreg_train('patients', 'n', '{f}', 0.1, positive => '5')::jsonb ->> 'persons'; SELECT count(*) FROM dp_evaluate(dp_logreg_train('patients', 'y', '{n,f}', 0.1), 'patients', epsilon => 0.1)"),
	qr/1001\s+9/, 'a label that is computed, and an evaluation');
my @reads = grep { /FROM (?:ONLY )?\S*patients_\d+/ } split /\n/, $cluster->since($mark);
cmp_ok(scalar @reads, '>=', 3 * 8, 'every shard is read');
is((grep { !/SELECT (?:\w+(?: AS \w+)?(?:, )?)+ FROM (?:ONLY )?public\.patients_\d+ t WHERE true/ } @reads), 0, 'workers tell columns alone') or diag(substr join("\n", @reads), 0, 1000);

# A view is computed here: workers tell columns of its table, and a row that
# fails is left out
unlike(ask($node, 'owen', "SELECT dp_protect('adults');
	CREATE VIEW turned AS SELECT NOT y AS y, n / 10 AS tens, CASE WHEN f < 0 THEN 'low' ELSE 'high' END AS level FROM patients WHERE n >= 18 AND id > 10;
	SELECT dp_protect('turned', domains => '{\"tens\": [0, 10], \"level\": [\"low\", \"high\"]}');
	CREATE VIEW shares AS SELECT y, 100 / n AS share FROM patients;
	SELECT dp_protect('shares', domains => '{\"share\": [0, 100]}')"), qr/ERROR/, 'views are offered');
$mark = $cluster->mark;
is(ask($node, 'ana', "SELECT dp_logreg_train('$$_[0]', 'y', '$$_[1]', 0.001)::jsonb ->> 'persons'"), 1001, "an analyst trains on $$_[0]: all persons count") for ['adults', '{n,f}'], ['turned', '{tens,level}'], ['shares', '{share}'];
@reads = grep { /FROM (?:ONLY )?\S*patients_\d+/ } split /\n/, $cluster->since($mark);
cmp_ok(scalar @reads, '>=', 3 * 8, 'every shard is read');
is((grep { !/SELECT (?:\w+(?: AS \w+)?(?:, )?)+ FROM (?:ONLY )?public\.patients_\d+ t WHERE true/ } @reads), 0, 'workers tell columns alone') or diag(substr join("\n", @reads), 0, 1000);

for my $worker (@workers)
{
	my $name = $worker->name;
	my $domains = "domains => '{\"n\": [0, 100], \"f\": [-1, 1]}'";
	my $shard = $worker->safe_psql('postgres', "SET citus.override_table_visibility = off; SELECT relname FROM pg_class WHERE relname ~ '^patients_[0-9]+\$' LIMIT 1");
	is($worker->safe_psql('postgres', 'SELECT (SELECT count(*) FROM dp_budgets) + (SELECT count(*) FROM dp_protected) + (SELECT count(*) FROM dp_ledger)'), 0, "$name has no budget");
	for my $role ('owen', 'reader', 'ana')
	{
		for my $table ('patients', $shard)
		{
			like(ask($worker, $role, "SET citus.override_table_visibility = off; SELECT dp_logreg_train('$table', 'y', '{n,f}', 1, $domains)"),
				qr/this server is a worker of a Citus cluster|permission denied/, "$name, $role: no training on $table");
		}
		like(ask($worker, $role, "SELECT dp_budget_create('$role', epsilon => 100)"), qr/this server is a worker of a Citus cluster/, "$name, $role: no budget of their own");
	}
	like(ask($worker, 'owen', "SELECT dp_protect('patients', budget => 'patients')"), qr/this server is a worker of a Citus cluster/, "$name: nothing is protected there");
}
is(sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'"), 24, 'that many charges');

# Citus sends SET to the connections of a transaction, with all that stands
# behind it: a payload that opens the shards, if a connection of the owner or of
# a superuser gets it. The worker has its own connections, and those of the
# analyst's session are the analyst's.
my $payload = q{SET LOCAL work_mem = '8MB'; DO $x$ DECLARE r regclass; BEGIN FOR r IN SELECT oid FROM pg_class WHERE relname ~ '^patients_[0-9]+$' AND pg_try_advisory_xact_lock(1) LOOP EXECUTE format('GRANT SELECT ON %s TO ana', r); END LOOP; END $x$};
my $perform = "PERFORM dp_logreg_train('patients', 'y', '{n,f}', 0.001);";
my $local = "PERFORM set_config('citus.propagate_set_commands', 'local', true);";

sub opened
{
	my $count = 0;
	$count += $_->safe_psql('postgres', "SET citus.override_table_visibility = off; SELECT count(*) FROM pg_class WHERE relname ~ '^patients_[0-9]+\$' AND relacl::text ~ 'ana='") for @workers;
	ask($node, 'owen', 'REVOKE ALL ON patients FROM ana') if $count;
	return $count;
}

# Who ran a payload on the workers, from their logs
sub ran
{
	my %users = map { $_ => 1 } $cluster->since($_[0]) =~ /user=(\w+) .*pg_try_advisory_xact_lock/g;
	return join ' ', sort keys %users;
}

# An attack by the analyst: what it is told, that no shard is open, and that
# nobody else has run it on the workers
sub harmless
{
	my ($attack, $message, $what, $by) = @_;
	my $from = $cluster->mark;
	like(ask($node, 'ana', $attack), $message, $what);
	is(opened(), 0, "$what: no shard is open");
	is(ran($from), $by // '', "$what: no code as another role");
}

my $trained = qr/\{"format"/;
my $done = qr/^(?!.*ERROR)/s;
harmless("DO \$d\$ BEGIN $perform SET LOCAL citus.propagate_set_commands = 'local'; EXECUTE \$e\$$payload\$e\$; END \$d\$", $done, 'SET LOCAL after the read');
harmless("DO \$d\$ BEGIN $perform $local EXECUTE \$e\$$payload\$e\$; END \$d\$", $done, 'SET LOCAL after set_config');
for my $command ('RESET work_mem', 'RESET ALL', 'SET TRANSACTION READ WRITE')
{
	harmless("DO \$d\$ BEGIN $perform $local EXECUTE \$e\$" . $payload =~ s/SET LOCAL work_mem = '8MB'/$command/r . "\$e\$; END \$d\$", $command eq 'RESET ALL' ? qr/^/ : $done, "$command after the read");
}
harmless("DO \$d\$ BEGIN $perform $local BEGIN EXECUTE \$e\$$payload\$e\$; EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL; END; EXECUTE \$e\$$payload\$e\$; END \$d\$", $done, 'also in a subtransaction');
my $later = "CREATE FUNCTION pg_temp.later(text) RETURNS text LANGUAGE plpgsql AS \$f\$ BEGIN $local EXECUTE \$e\$$payload\$e\$; RETURN 'done'; END \$f\$;";
harmless("$later SELECT pg_temp.later(($cheap)::text)", qr/^done$/, 'a function that gets the model');
harmless("SET citus.propagate_set_commands = 'local'; $cheap\\; $payload", $trained, 'one query of several commands');
harmless("CREATE TEMP TABLE later (model text);
	CREATE FUNCTION pg_temp.at_end() RETURNS trigger LANGUAGE plpgsql AS \$f\$ BEGIN $local EXECUTE \$e\$$payload\$e\$; RETURN NULL; END \$f\$;
	CREATE CONSTRAINT TRIGGER at_end AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.at_end();
	INSERT INTO later $cheap;", $done, 'a trigger at the end of the transaction');
harmless("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; SELECT count(*) FROM pg_class; $cheap; $payload; $cheap; COMMIT", qr/$trained.*$trained/s, 'between two calls');

# Run a script with pgbench as the analyst.
sub pipeline
{
	my ($script, $what) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/pipeline.sql';
	my $from = $cluster->mark;
	PostgreSQL::Test::Utils::append_to_file($file, $script);
	$node->command_checks_all([ 'pgbench', '-n', '-t', 1, '-M', 'extended', '-f', $file, '-U', 'ana', 'postgres' ], 0, [qr/processed: 1/], [qr/^/], $what);
	is(opened(), 0, "$what: no shard is open");
	is(ran($from), '', "$what: no code as another role");
}

my $charges = sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'");
pipeline("\\startpipeline\n$cheap;\nDO \$d\$ BEGIN $local EXECUTE \$e\$$payload\$e\$; END \$d\$;\n\\endpipeline\n", 'a pipeline');
is(sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'"), $charges + 1, 'it was charged');

# For Citus, PREPARE TRANSACTION does not end a transaction: its connections,
# and what it hands on, are still there in the next one
pipeline("\\startpipeline\n$cheap;\nBEGIN;\nSELECT set_config('application_name', 'citus_internal gpid=10000000001', false), set_config('citus.propagate_set_commands', 'local', false);\n"
	  . "PREPARE TRANSACTION 'p';\n\\endpipeline\nBEGIN;\nDO \$d\$ BEGIN EXECUTE \$e\$$payload\$e\$; END \$d\$;\nCOMMIT;\n", 'PREPARE TRANSACTION after the read');
harmless("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; $payload; PREPARE TRANSACTION 'q'; $cheap", $trained, 'PREPARE TRANSACTION before the read');
sql("ROLLBACK PREPARED '$_'") for 'p', 'q';
like(ask($node, 'ana', "CREATE PROCEDURE pg_temp.both() LANGUAGE plpgsql AS \$p\$ BEGIN $perform COMMIT; SET LOCAL work_mem = '8MB'; $perform END \$p\$; CALL pg_temp.both(); SELECT 'set'"), qr/set/, 'a procedure with transactions');

# Settings before the read, whether the library is loaded or not
for my $first ('', "DO \$d\$ BEGIN $perform END \$d\$; ")
{
	my $when = $first ? 'the library is loaded before' : 'the library is loaded in the same transaction';
	harmless("${first}DO \$d\$ BEGIN $local EXECUTE \$e\$$payload\$e\$; PERFORM set_config('citus.propagate_set_commands', 'none', true); $perform END \$d\$", $done, "SET LOCAL before the read; $when");
	harmless("${first}DO \$d\$ BEGIN $local EXECUTE \$e\$RESET work_mem; SELECT 1\$e\$; RESET citus.propagate_set_commands; $perform END \$d\$", $done, "RESET before the read; $when");
}
harmless("DO \$d\$ BEGIN BEGIN $local EXECUTE \$e\$$payload\$e\$; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END; $perform END \$d\$", $done, 'also if a subtransaction did so');

my $set = "budget => 'rows', domains => '{\"n\": [0, 100]}', columns => '{y,n}'";

# For some commands Citus has connections of a superuser, to which it hands on
# settings, too. An analyst who may create nothing has no such command
harmless("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; CREATE TEMP TABLE e (a int); SELECT create_distributed_table('e', 'a', colocate_with => 'none', shard_count => 2); $payload; COMMIT", qr/ERROR:  cannot distribute a temporary table/, 'a temporary table');
harmless("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; CREATE TABLE public.e (a int); $payload; COMMIT", qr/ERROR:  permission denied for schema public/, 'another table');

# Nor does a transaction that has connections of the analyst
sql("CREATE SCHEMA anas AUTHORIZATION ana");
like(ask($node, 'ana', "CREATE TABLE anas.own (a int); SELECT create_distributed_table('anas.own', 'a', colocate_with => 'none', shard_count => 2); INSERT INTO anas.own SELECT generate_series(1, 10); SELECT count(*) FROM anas.own"), qr/^10$/m, 'the analyst has a distributed table');
for my $calls ("$cheap; SELECT count(*) FROM anas.own", "SELECT count(*) FROM anas.own; $cheap", "INSERT INTO anas.own VALUES (1); $cheap")
{
	harmless("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; $calls; DO \$d\$ BEGIN EXECUTE \$e\$$payload\$e\$; END \$d\$; COMMIT", qr/WARNING:  permission denied for table patients_\d+\n.*ERROR:  failure on connection/s, "as the analyst alone: $calls", 'ana');
}
ask($node, 'ana', 'DROP TABLE anas.own');
# with an error at the end, messages are shown
my $rule = qr/WARNING:  roles that can create objects can have Citus run commands as a superuser on the workers\nDETAIL:  Roles that can log in to the workers see which locks sessions of the table's owner hold there\.\nHINT:  Analysts must not have CREATE on any schema or on the database, and must not be able to log in to the workers\.\n/;
my $quiet = ask($node, 'owen', "SELECT dp_budget_create('quiet', 1); CREATE TABLE quiet (y boolean, n int); SELECT dp_protect('quiet', " . $set =~ s/'rows'/'quiet'/r . "); DROP TABLE quiet; SELECT 1/0");
like($quiet, $rule, 'a warning');
unlike($quiet, qr/WARNING:  (?!roles)|ERROR:  (?!division)/, 'and no other');

# Where a table is one shard, or here, Citus sends or runs the query as a whole:
# it must name nothing but columns
sql("GRANT CREATE ON DATABASE postgres TO owen");
my $whole = ask($node, 'owen', q{
	SELECT dp_budget_create('whole', epsilon => 500);
	CREATE SCHEMA tenant;
	GRANT USAGE ON SCHEMA tenant TO ana;
	SELECT citus_schema_distribute('tenant');
	CREATE TYPE mood AS ENUM ('good', 'bad');
	CREATE TABLE single (id bigint PRIMARY KEY, b boolean, n int, w text, m mood, d numeric);
	CREATE TABLE wards (LIKE single INCLUDING ALL);
	CREATE TABLE tenant.visits (LIKE single INCLUDING ALL);
	SELECT create_distributed_table('single', NULL, colocate_with => 'none');
	SELECT create_reference_table('wards');
	INSERT INTO single SELECT i, i % 4 = 0, i % 5, 'w' || i % 5, CASE WHEN i % 4 = 0 THEN 'good' ELSE 'bad' END::mood, i % 5 FROM generate_series(1, 1000) i;
	INSERT INTO wards SELECT * FROM single;
	INSERT INTO tenant.visits SELECT * FROM single;
	SELECT dp_protect(t, 'whole', domains => '{"n": [0, 5], "w": ["w0", "w1", "w2"]}', columns => '{b,n,w,m,d}') FROM unnest('{single,wards,tenant.visits}'::text[]) t;
	CREATE VIEW part_of_single AS SELECT NOT b AS b, n + 1 AS n, upper(w) AS w FROM single WHERE d > 0;
	CREATE VIEW tenant.part_of_visits AS SELECT NOT b AS b, n + 1 AS n, upper(w) AS w FROM tenant.visits WHERE d > 0;
	CREATE VIEW part_of_wards AS SELECT NOT b AS b, n + 1 AS n, upper(w) AS w FROM wards WHERE d > 0;
	SELECT dp_protect(v, domains => '{"n": [0, 6], "w": ["W0", "W1", "W2"]}') FROM unnest('{part_of_single,part_of_wards,tenant.part_of_visits}'::text[]) v;
	SELECT dp_grant('whole', 'ana');
	SELECT 1/0;
});
like($whole, qr/ERROR:  division/, 'one shard, a reference table, a distributed schema');
unlike($whole, qr/ERROR:  (?!division)/, 'they are protected');
$mark = $cluster->mark;
for my $table ('single', 'wards', 'tenant.visits')
{
	for my $label ('b', 'b: false', 'n: 2', 'w: w2', 'm: good', 'd: 2')
	{
		my ($column, $positive) = split /: /, $label;
		my $call = "'$table', '$column', '{" . ($column eq 'n' ? 'w' : 'n') . "}', 1" . ($positive ? ", positive => '$positive'" : '');
		my $expected = { 'b' => 250, 'b: false' => 750, 'n: 2' => 200, 'w: w2' => 200, 'm: good' => 250, 'd: 2' => 200 }->{$label};
		is(ask($node, 'owen', "SELECT round(sum(value) / 10) * 10 FROM dp_evaluate(dp_logreg_train($call), '$table', epsilon => 5) WHERE metric IN ('true positives', 'false negatives')"), $expected, "$table, $label: labels are read");
	}
	for my $label ("'n', positive => '2'", "'w', positive => 'w2'")
	{
		my ($column, $positive) = split /, /, $label;
		my $call = "'$table', $column, '{" . ($column eq "'n'" ? 'w' : 'n') . "}', 0.1, $positive";
		like(ask($node, 'ana', "SELECT dp_logreg_train($call); SELECT dp_logreg_tune($call, candidates => '[{\"lambda\": 1}, {\"lambda\": 0.1}]')"), qr/"format".*"format"/s, "an analyst trains and tunes on $table, $label");
	}
	my $view = $table =~ s/(\w+)$/part_of_$1/r;
	is(ask($node, 'ana', "SELECT dp_logreg_train('$view', 'b', '{n,w}', 1)::jsonb ->> 'rows'"), 1000, "an analyst trains on $view: all rows count");
	is(ask($node, 'owen', "SELECT round(sum(value) / 10) * 10 FROM dp_evaluate(dp_logreg_train('$view', 'b', '{n,w}', 1), '$view', epsilon => 5) WHERE metric IN ('true positives', 'false negatives')"), 600, "$view: its labels are computed");
}
@reads = grep { /SELECT.*FROM (?:ONLY )?\S*(?:single|wards|visits)_\d+/ } split /\n/, $cluster->since($mark);
for my $table ('single', 'visits')    # wards are here, where a worker logs nothing
{
	cmp_ok((grep { /FROM (?:ONLY )?\S*${table}_\d+/ } @reads), '>=', 12, "$table is read");
}
is((grep { !/SELECT (?:\w+(?:, )?)+ FROM (?:ONLY )?\w+\.\w+_\d+ t(?: WHERE true)?$/ } @reads), 0, 'by its columns alone') or diag(substr join("\n", @reads), 0, 2000);

# Nor does the analyst make Citus read tables of this server over a connection,
# which sees what others see
ask($node, 'ana', "CREATE TABLE anas.mine (a int); SELECT create_reference_table('anas.mine'); INSERT INTO anas.mine VALUES (1)");
my $wards = "dp_logreg_train('wards', 'b', '{n}', 0.01)";
$charges = sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'");
$mark = $cluster->mark;
is(ask($node, 'ana', "SET citus.enable_local_execution = off; SELECT left($wards\::text, 9)"), '{"format"', 'a setting that would have it so');
like(ask($node, 'ana', "EXPLAIN ANALYZE SELECT $wards"), qr/actual time/, 'EXPLAIN has it so');
my $away = "PERFORM set_config('citus.enable_local_execution', 'off', true); PERFORM count(*) FROM anas.mine;";
is(ask($node, 'ana', "DO \$d\$ BEGIN $away PERFORM $wards; END \$d\$"), '', 'a transaction with such a setting');
is(ask($node, 'ana', "DO \$d\$ BEGIN $away RESET citus.enable_local_execution; PERFORM $wards; END \$d\$"), '', 'and after one');
is(sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'"), $charges + 4, 'each is charged');
is(scalar(() = $cluster->since($mark) =~ /FROM (?:ONLY )?\S*wards_\d+/g), 0, 'and read here');
like(ask($node, 'ana', "DO \$d\$ BEGIN PERFORM count(*) FROM anas.mine; PERFORM $wards; PERFORM $wards; END \$d\$; SELECT 'trained'"), qr/trained/, 'other tables may be read before');
sql("SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true) FROM pg_dist_node WHERE groupid = 0");
like(ask($node, 'owen', "CREATE TABLE strewn (LIKE single INCLUDING ALL); SELECT create_distributed_table('strewn', 'id', colocate_with => 'none', shard_count => 6); INSERT INTO strewn SELECT * FROM single;
	SELECT dp_protect('strewn', 'whole', domains => '{\"n\": [0, 5]}', columns => '{b,n,w}'); SELECT 'done'"), qr/done/, 'a table with shards here, too');
like(ask($node, 'ana', "SELECT count(*) FROM dp_evaluate(dp_logreg_train('strewn', 'w', '{n}', 0.01, positive => 'w1'), 'strewn', epsilon => 0.01)"), qr/^9$/, 'it can be read twice in a transaction');
$charges = sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'");
reject($node, 'owen');
is(ask($node, 'ana', "SELECT left(dp_logreg_train('strewn', 'b', '{n}', 0.01)::text, 9)"), '{"format"', 'also if Citus cannot connect to this server as the owner: it reads what is here itself');
admit($node);
is(sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'"), $charges + 1, 'that is charged once');
ask($node, 'owen', 'DROP TABLE strewn');
sql("SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', false) FROM pg_dist_node WHERE groupid = 0");

# The owner of a schema can replace shards, by views that run with the rights of
# whoever reads them
my $foreign = qr/ERROR:  schema "\w+" of protected table "\w+" belongs to role "ana".*HINT:  It must belong to the table's owner, "owen"/s;
sql("GRANT CREATE, USAGE ON SCHEMA anas TO owen");
like(ask($node, 'owen', "CREATE TABLE anas.placed (LIKE single INCLUDING ALL); SELECT create_reference_table('anas.placed'); SELECT dp_protect('anas.placed', 'whole')"), $foreign, 'a table in the schema of another role is not protected');
like(ask($node, 'owen', "CREATE TABLE anas.local (LIKE single); SELECT dp_protect('anas.local', 'whole', columns => '{b,n}', domains => '{\"n\": [0, 5]}'); SELECT 'done'"), qr/done/, 'unless it is not distributed');
like(ask($node, 'owen', "DROP TABLE anas.placed; SELECT create_reference_table('anas.local'); SELECT dp_logreg_train('anas.local', 'b', '{n}', 1)"), $foreign, 'once it is, it cannot be used');
is(ask($node, 'owen', "SET client_min_messages = error; CREATE VIEW anas.shown AS SELECT b, n FROM public.single; SELECT dp_protect('anas.shown'); SELECT left(dp_logreg_train('anas.shown', 'b', '{n}', 0.01)::text, 9)"), "\n{\"format\"", 'a view is not distributed, and can be in any schema');
sql("ALTER SCHEMA tenant OWNER TO ana");
my $visits = "SELECT left(dp_logreg_train('tenant.visits', 'b', '{n}', 0.01)::text, 9)";
like(ask($node, 'ana', $visits), $foreign, 'nor can one whose schema gets another owner');
sql("ALTER SCHEMA tenant OWNER TO CURRENT_USER; GRANT USAGE ON SCHEMA tenant TO ana, owen");
is(ask($node, 'ana', $visits), '{"format"', 'that of a superuser is fine');
sql("ALTER SCHEMA tenant OWNER TO owen");
my $dba = sql('SELECT current_user');
sql('ALTER DATABASE postgres OWNER TO ana');
like(ask($node, 'ana', $cheap), $foreign, 'a schema of the owner of the database') if sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'public'") eq 'pg_database_owner';
sql("ALTER DATABASE postgres OWNER TO $dba");
like(ask($node, 'owen', "DROP TABLE anas.local; $cheap"), qr/"format"/, 'all is as before');
like(ask($node, 'owen', "CREATE TABLE parted (id bigint, b boolean, n int) PARTITION BY RANGE (id); CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (2000); SELECT create_distributed_table('parted', 'id', colocate_with => 'none', shard_count => 2);
	INSERT INTO parted SELECT id, b, n FROM single; SELECT dp_protect('parted', 'whole', columns => '{b,n}', domains => '{\"n\": [0, 5]}'); SELECT 'done'"), qr/done/, 'a table with a partition');
my $parted = "SELECT left(dp_logreg_train('parted', 'b', '{n}', 0.01)::text, 9)";
is(ask($node, 'ana', $parted), '{"format"', 'it can be used');
sql('ALTER TABLE part OWNER TO ana');
like(ask($node, 'ana', $parted), qr/ERROR:  table "parted" cannot be protected: its part "part" belongs to another role/, 'not if the partition belongs to another role');
sql('ALTER TABLE part OWNER TO owen');
ask($node, 'owen', 'DROP TABLE parted');

# What sessions of the owner count on the workers, everybody sees
my $long = "(SELECT string_agg(md5(j::text), '') FROM generate_series(1, 200) j)";
my $notes = ask($node, 'owen', "CREATE TABLE notes (id bigint PRIMARY KEY, y boolean, a text); SELECT create_distributed_table('notes', 'id', colocate_with => 'none', shard_count => 2);
	INSERT INTO notes SELECT i, i % 3 = 0, CASE WHEN i % 20 = 7 THEN $long ELSE 'short' END FROM generate_series(1, 200) i;
	SELECT dp_protect('notes', 'whole', domains => '{\"a\": [\"short\", \"none\"]}', columns => '{y,a}'); SELECT 1/0");
like($notes, qr/WARNING:  statistics on the workers show how many long values a call on "notes" reads.*HINT:  A superuser should run: ALTER ROLE owen SET track_counts = off\n/s, 'a warning');
sub counted
{
	return join ' ', map { $_->safe_psql('postgres', "SET citus.override_table_visibility = off; SELECT string_agg(s.seq_scan || ',' || s.seq_tup_read || ',' || t.idx_scan || ',' || t.idx_tup_fetch, ' ' ORDER BY c.relname)
		FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid JOIN pg_stat_all_tables t ON t.relid = c.reltoastrelid WHERE c.relname ~ '^notes_[0-9]+\$'") } @workers;
}
sub settled { my $last = ''; for (1 .. 20) { sleep 1; my $now = counted(); return $now if $now eq $last; $last = $now; } return $last; }
my $train_notes = "SELECT left(dp_logreg_train('notes', 'y', '{a}', 0.01)::text, 9)";
my $before = settled();
is(ask($node, 'ana', $train_notes), '{"format"', 'an analyst trains on them');
isnt(settled(), $before, 'as it says');
sql('ALTER ROLE owen SET track_counts = off');
$before = settled();
is(ask($node, 'ana', $train_notes), '{"format"', 'an analyst trains on them');
is(settled(), $before, 'then nothing shows, scans neither');
ask($node, 'owen', 'SET client_min_messages = warning; DROP TABLE notes, single, wards; DROP SCHEMA tenant CASCADE');

# The rights of the owner in the session of another
ask($node, 'owen', "CREATE FUNCTION owen_train() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS \$\$ SELECT left(dp_logreg_train('public.patients', 'y', '{n,f}', 0.001)::text, 9) \$\$");
harmless("BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; DO \$d\$ BEGIN EXECUTE \$e\$" . $payload =~ s/'GRANT/CASE current_user WHEN 'owen' THEN 'GRANT/r =~ s/TO ana'/TO ana' ELSE 'SELECT 1 -- %s' END/r . "\$e\$; END \$d\$; SELECT owen_train(); COMMIT",
	$trained, 'a function with the rights of the owner');
harmless("SET citus.propagate_set_commands = 'local'; SELECT owen_train()\\; $payload", $trained, 'also with a setting');
is(ask($node, 'ana', 'SELECT owen_train()'), '{"format"', 'it can be called by itself');
like(ask($node, 'owen', "BEGIN; SET LOCAL work_mem = '8MB'; $cheap; SET LOCAL work_mem = '9MB'; COMMIT; SELECT 'done'"), qr/done/, 'the owner does as they like');

# A server that the owner cannot connect to: nothing is charged
my $verbose = "\\set VERBOSITY verbose\n";
my $unreachable = qr/ERROR:  08006: could not connect to server \S+:\d+ of the cluster as role "owen".*Nothing has been charged/s;
my $protect = "${verbose}SELECT dp_protect('patients', budget => 'patients', unit => 'person', domains => '{\"n\": [0, 100], \"f\": [-1, 1]}', columns => '{y,n,f}')";
sub out_of_reach
{
	my ($what, @others) = @_;
	my $ledger = sql('SELECT count(*), sum(epsilon) FROM dp_ledger');
	like(ask($node, 'ana', "$verbose$cheap"), $unreachable, "$what: no call");
	like(ask($node, $_, $protect), $unreachable, "$what: not protected by $_") for @others;
	is(sql('SELECT count(*), sum(epsilon) FROM dp_ledger'), $ledger, "$what: nothing is charged");
}
sub in_reach { like(ask($node, 'ana', $cheap), qr/^$trained/, "$_[0]: calls work"); }
$workers[1]->stop;
out_of_reach('a server is down', 'owen', $dba);
$workers[1]->start;
in_reach('it is up again');
kill 'STOP', $workers[0]->{_pid};
out_of_reach('a server does not answer');
kill 'CONT', $workers[0]->{_pid};
in_reach('it answers again');
sql('ALTER ROLE owen NOLOGIN');
out_of_reach('the owner cannot log in', $dba);
sql('ALTER ROLE owen LOGIN');
in_reach('the owner can log in');
reject($workers[1], 'owen');
out_of_reach('a server rejects the owner', 'owen', $dba);
admit($workers[1]);
in_reach('it does not any more');

# The connections that were tried are those that are used: with one for each
# server at a time, there is one
sql("ALTER DATABASE postgres SET citus.max_adaptive_executor_pool_size = 1; ALTER SYSTEM SET log_connections = on; SELECT pg_reload_conf()");
for my $worker (@workers) { $worker->append_conf('postgresql.conf', "log_connections = on\n"); $worker->reload; }
sleep 1;
$mark = $cluster->mark;
in_reach('few connections');
is(scalar(() = $cluster->since($mark) =~ /connection authorized: user=owen/g), 2, 'one connection to each server');
sql("ALTER DATABASE postgres RESET citus.max_adaptive_executor_pool_size");

# What was paid for is kept, also if the transaction is rolled back
ask($node, 'ana', "BEGIN; SELECT dp_logreg_train('patients', 'y', '{n,f}', 0.012); ROLLBACK");
ask($node, 'ana', "BEGIN; SELECT dp_evaluate(dp_logreg_train('patients', 'y', '{n,f}', 0.013), 'patients', epsilon => 0.014); ROLLBACK");
my $kept = "SELECT string_agg(concat_ws(' ', epsilon, release, model::jsonb ->> 'persons', jsonb_array_length(metrics)), ', ' ORDER BY epsilon) FROM dp_ledger JOIN dp_releases USING (budget, entry) WHERE epsilon BETWEEN 0.0115 AND 0.0145";
is(ask($node, $_, $kept), '0.012 kept 1001, 0.013 kept 1001, 0.014 kept 9', "$_ sees what is kept") for 'ana', 'owen';

# Commands by which Citus puts another table in the place of a protected one. If
# that is dropped, its protection ends; the new one is its owner's, and is not
# used without SELECT
my $domains = "domains => '{\"n\": [0, 100]}'";
my $people = "budget => 'people', unit => 'h', $domains, columns => '{y,n}'";
my @linked = ('linked', 'cut_off', 'widowed');
my @others = ('near', 'far', 'third');
my $tables = join ' ', map { "CREATE TABLE $_ (id bigint PRIMARY KEY, h int, y boolean, n int); INSERT INTO $_ SELECT i, i % 10, i % 3 = 0, i % 100 FROM generate_series(1, 1000) i;" } 'spread', @linked, @others;
my $references = join ' ', map { "CREATE TABLE of_$_ (id int PRIMARY KEY); SELECT create_reference_table('of_$_'); INSERT INTO of_$_ SELECT generate_series(0, 9);" } @linked, 'far';
my $keys = join ' ', map { "ALTER TABLE $_ ADD FOREIGN KEY (h) REFERENCES of_$_;" } @linked;
my $made = ask($node, 'owen', "SELECT dp_budget_create('rows', epsilon => 30, delta => 1e-6);
	SELECT dp_budget_create('people', epsilon => 30, delta => 1e-6);
	SELECT dp_grant('people', 'ana'), dp_grant('rows', 'ana');
	CREATE SCHEMA clinic;
	GRANT USAGE ON SCHEMA clinic TO ana;
	$tables
	$references
	$keys
	CREATE TABLE clinic.seen (LIKE spread INCLUDING ALL);
	CREATE TABLE clinic.moved (LIKE spread INCLUDING ALL);
	INSERT INTO clinic.seen TABLE spread;
	INSERT INTO clinic.moved TABLE spread;
	SELECT create_distributed_table('spread', 'id');
	SELECT dp_protect(t, $people) FROM unnest('{spread,linked,cut_off,widowed,clinic.seen,clinic.moved}'::text[]) t;
	SELECT dp_protect(t, $set) FROM unnest('{near,far,third}'::text[]) t;
	CREATE VIEW spread_out AS SELECT y, n FROM spread WHERE n > 10;
	SELECT dp_protect('spread_out');
	SELECT citus_schema_distribute('clinic')");
unlike($made, qr/ERROR/, 'protected: local tables, a distributed one, and those that Citus knows by a foreign key or a schema');
$_->safe_psql('postgres', 'CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler') for $node, @workers;
sub registered { return sql("SELECT string_agg(replace(relation, 'public.', ''), ' ' ORDER BY replace(relation, 'public.', '') COLLATE \"C\") FROM dp_protected WHERE budget = '$_[0]'"); }
sub train_on { return "SELECT left(dp_logreg_train('$_[0]', 'y', '{n}', 0.01)::text, 9)"; }
is(registered('people'), 'clinic.moved clinic.seen cut_off linked spread spread_out widowed', 'all of them');
for my $command ("SELECT alter_distributed_table('spread', shard_count := 4)", "SELECT alter_table_set_access_method('spread', 'heap2')", "SELECT undistribute_table('spread')", "SELECT undistribute_table('linked', cascade_via_foreign_keys => true)", 'ALTER TABLE cut_off DROP CONSTRAINT cut_off_h_fkey',
	'DROP TABLE of_widowed CASCADE', 'ALTER TABLE clinic.moved SET SCHEMA public', "SELECT citus_schema_undistribute('clinic')", 'DO $$ BEGIN DROP TABLE spread CASCADE; CREATE TABLE spread (LIKE cut_off INCLUDING ALL); END $$')
{
	my ($table) = $command =~ /(spread|linked|cut_off|widowed|clinic\.moved|clinic)/;
	my $before = $table eq 'clinic' ? 'clinic.seen' : $table;
	my $after = $table eq 'clinic.moved' ? 'moved' : $before;
	my $dropped = $before =~ /\./ ? $before =~ s/(\w+)\.(\w+)/"$1"."$2"/r : "\"public\".\"$before\"";
	is(ask($node, 'ana', train_on($before)), '{"format"', "$before can be used");
	unlike(ask($node, 'owen', $command), qr/ERROR/, $command);
	unlike(registered('people'), qr/\b$after\b/, "$after is not protected");
	unlike(registered('people'), qr/spread_out/, 'nor a view of it') if $after eq 'spread';
	is(sql("SELECT ended_by, unit, relation FROM dperm.protected WHERE concat('\"', schema, '\".\"', name, '\"') = '$dropped' AND ended > now() - interval '1 minute' AND view_of IS NULL ORDER BY ended DESC LIMIT 1"), 'owen|h|0', 'what was is kept');
	like(ask($node, 'ana', train_on($after)), qr/ERROR:  permission denied for relation/, 'nobody else can use it');
	like(ask($node, 'owen', "SELECT dp_protect('$after', " . $people =~ s/'h'/'id'/r . ")"), qr/ERROR/, 'not with another unit') if $after eq $before;
	unlike(ask($node, 'owen', "SELECT dp_protect('$after', $people)"), qr/ERROR/, 'its owner protects it again');
}
is(ask($node, 'ana', train_on($_)), '{"format"', "$_ can be used again") for 'linked', 'cut_off', 'widowed', 'moved', 'clinic.seen';

# In one transaction it is never without
is(ask($node, 'owen', "SET client_min_messages = error; SELECT create_distributed_table('cut_off', 'id'); BEGIN; SELECT undistribute_table('cut_off'); SELECT dp_protect('cut_off', $people); COMMIT"), "\n\n", 'replaced and protected');
is(ask($node, 'ana', train_on('cut_off')), '{"format"', 'and used');

# Others keep it
unlike(ask($node, 'owen', "CREATE TABLE small (id bigint PRIMARY KEY, y boolean, n int);
	SELECT dp_protect('small', $set);
	SELECT create_reference_table('small')"), qr/ERROR/, 'tables become distributed');
is(registered('rows'), 'far near small third', 'and stay protected');
unlike(ask($node, 'owen', 'SET client_min_messages = warning; DROP SCHEMA clinic CASCADE; DROP TABLE small, spread, linked, cut_off, widowed, moved'), qr/ERROR/, 'the owner drops them');
is(registered('people'), '', 'they are gone');

# If it becomes a shard, its rows are another table's, which is not used before
# its owner protects it in its place
my $shares = qr/ERROR:  relation "\w+" shares rows with protected relation "\w+".*One of them is a shard/s;
my $closed = qr/ERROR:  protected relation "\w+" has been changed, and is closed.*It has become a shard in Citus.*dp_unprotect, and dp_protect for the distributed table/s;
for my $command ('ALTER TABLE far ADD FOREIGN KEY (h) REFERENCES of_far', "SELECT citus_add_local_table_to_metadata('near')")
{
	my ($table) = $command =~ /(near|far)/;
	is(ask($node, 'ana', train_on($table)), '{"format"', "$table can be used");
	unlike(ask($node, 'owen', $command), qr/ERROR/, $command);
	my ($shard) = registered('rows') =~ /\b(${table}_\d+)/;
	ok($shard, 'it is a shard');
	like(ask($node, 'owen', "SELECT dp_logreg_train('$table', 'y', '{n}', 1, $domains)"), $shares, 'its table cannot be used, by its owner either');
	like(ask($node, 'ana', train_on($table)), qr/ERROR:  permission denied for relation $table/, 'nor by others');
	like(ask($node, $_, train_on($shard)), $closed, "nor can $_ use the shard") for 'owen', 'ana';
	like(ask($node, 'owen', "SELECT dp_protect('$table', $set)"), $shares, 'which is still protected');
	unlike(ask($node, 'owen', "SELECT dp_unprotect('$shard'); SELECT dp_protect('$table', $set)"), qr/ERROR/, 'the protection moves to the table');
	is(ask($node, 'ana', train_on($table)), '{"format"', 'which can be used');
}

# If that shard is split, it is dropped a little later, which ends its protection
unlike(ask($node, 'owen', "SELECT create_distributed_table_concurrently('third', 'id')"), qr/ERROR/, 'a local table is distributed while it is used');
like(ask($node, 'ana', train_on('third')), qr/ERROR:  permission denied for relation third/, 'nobody else can use it');
sql('CALL citus_cleanup_orphaned_resources()');
is(registered('rows'), 'far near', 'it is not protected');
is(sql("SELECT count(*) FROM dperm.protected WHERE name ~ 'third_[0-9]+' AND ended IS NOT NULL"), 1, 'what was is kept');
unlike(ask($node, 'owen', "SELECT dp_protect('third', $set)"), qr/ERROR/, 'its owner protects it again');
is(ask($node, 'ana', train_on('third')), '{"format"', 'and it can be used');

# What is a shard here has the rows of its table
my $shard = sql("SELECT shard_name(logicalrelid, shardid) FROM pg_dist_shard WHERE logicalrelid = 'near'::regclass");
like(ask($node, 'owen', "SELECT dp_logreg_train('$shard', 'y', '{n}', 1, $domains)"), $shares, 'no training on a shard');
like(ask($node, 'owen', "SELECT dp_logreg(y, ARRAY[n / 100.0], 1, '{\"lambda\": 1}') FROM $shard"), $shares, 'nor an aggregate over it');
like(ask($node, 'owen', "CREATE VIEW shown AS SELECT * FROM $shard; SELECT dp_logreg_train('shown', 'y', '{n}', 1, $domains)"), $shares, 'nor a view of it');
like(ask($node, 'owen', "DROP VIEW shown; SELECT dp_protect('$shard', $set)"), $shares, 'it is not protected, too');

# A name like that of a shard does not make a table one
sql("CREATE ROLE mal LOGIN; GRANT CREATE ON SCHEMA public TO mal");
$shard = sql("SELECT 'patients_' || min(shardid) FROM pg_dist_shard WHERE logicalrelid = 'patients'::regclass");
ask($node, 'mal', "CREATE TABLE foo (y boolean, n int); SELECT dp_budget_create('mal', 1); SELECT dp_protect('foo', 'mal', domains => '{\"n\": [0, 100]}')");
is(ask($node, 'mal', "ALTER TABLE foo RENAME TO $shard"), '', 'a protected table is renamed like a shard');
like(ask($node, 'ana', "$cheap; SELECT 'trained'"), qr/trained/, 'the table whose shard it would be can still be used');
sql("SET citus.enable_manual_changes_to_shards = on; DROP TABLE $shard");

# Nothing that a call locks is locked when it is over; and analysts need no
# login on workers
ask($node, 'owen', "CREATE TABLE everywhere (y boolean, n int, note text); SELECT create_reference_table('everywhere'); INSERT INTO everywhere SELECT i % 3 = 0, i % 100, 'x' FROM generate_series(1, 200) i;
	SELECT dp_budget_create('everywhere', 5); SELECT dp_grant('everywhere', 'ana'); SELECT dp_protect('everywhere', 'everywhere', domains => '{\"n\": [0, 100]}')");
my $everywhere = "SELECT (dp_logreg_train('everywhere', 'y', '{n}', 0.01)::jsonb ->> 'rows')";
my $values = sql("SET citus.override_table_visibility = off; SELECT reltoastrelid FROM pg_class WHERE relname ~ '^everywhere_[0-9]+\$'");
is(ask($node, 'ana', "$everywhere; SELECT count(*) FROM pg_locks WHERE relation = $values"), "200\n0", 'the long values of a shard are not locked any more');
reject($_, 'ana') for @workers;
like(ask($workers[0], 'ana', 'SELECT 1'), qr/pg_hba\.conf rejects connection/, 'an analyst cannot log in on a worker');
is(ask($node, 'ana', $everywhere), 200, 'and trains on a reference table');
like(ask($node, 'ana', "$cheap; SELECT 'trained'"), qr/trained/, 'and on a distributed one');
unlike(ask($node, 'ana', "SELECT result FROM run_command_on_workers('SELECT count(*) FROM pg_locks')"), qr/^\d+$/m, 'nor does Citus run commands there for an analyst');
ask($node, 'owen', "SELECT dp_unprotect('everywhere')");

# Labels of every kind: with an epsilon this large, the weights are nearly
# those without noise
ask($node, 'owen', "CREATE TYPE place AS ENUM ('home', 'ward', 'icu', 'hospice')");
unlike(ask($node, 'owen', "CREATE TABLE stays (id bigint PRIMARY KEY, place place, days numeric, n int); SELECT create_distributed_table('stays', 'id');
	INSERT INTO stays SELECT i, (ARRAY['icu', 'home', 'hospice', 'ward', NULL])[1 + (i % 100 + i % 7) / 25]::place, i % 100 / 3.0, i % 100 FROM generate_series(1, 5000) i;
	CREATE TABLE same_stays AS SELECT * FROM stays;
	SELECT dp_budget_create('stays', 500); SELECT dp_grant('stays', 'ana', epsilon => 450); SELECT dp_protect('stays', 'stays', domains => '{\"n\": [0, 100], \"days\": [0, 30]}');
	GRANT SELECT ON same_stays TO ana"), qr/ERROR/, 'a table with labels of every kind is protected');
for my $call (['dp_logreg_train', 'place', ''], ['dp_linreg_train', 'days', ', "days": [0, 30]'])
{
	my ($function, $label, $more) = @$call;
	is(ask($node, 'ana', "SELECT max(abs(v - w)) < 0.02 FROM unnest(dp_weights($function('stays', '$label', '{n}', 200, lambda => 0.01, knots => 1)), dp_weights($function('same_stays', '$label', '{n}', 'Infinity', lambda => 0.01, knots => 1, domains => '{\"n\": [0, 100]$more}'))) u(v, w)"),
		't', "$function on a protected table");
	like(ask($node, 'ana', "SELECT count(*) > 3 FROM dp_evaluate($function('stays', '$label', '{n}', 1), 'stays', epsilon => 1)"), qr/^t$/, "$function, and its evaluation");
}
is(ask($node, 'ana', "SELECT epsilon_spent FROM dp_budgets WHERE budget = 'stays' LIMIT 1"), 404, 'these are charged');

# A view of the table gives what one of the same rows here gives
unlike(ask($node, 'owen', join ' ',
	map { "SELECT dp_budget_create('views of $_', 500); SELECT dp_grant('views of $_', 'ana'); SELECT dp_protect('$_', 'views of $_', domains => '{\"n\": [0, 100], \"days\": [0, 30]}'); CREATE VIEW part_of_$_ AS SELECT CASE WHEN n < 60 THEN place END AS place, days * 2 + 1 AS days, n / 2 AS half FROM $_ WHERE days > 9; SELECT dp_protect('part_of_$_', domains => '{\"half\": [0, 50], \"days\": [0, 70]}');" } 'stays', 'same_stays'), qr/ERROR/, 'views of both are offered');
for my $call (['dp_logreg_train', 'place'], ['dp_linreg_train', 'days'])
{
	my ($function, $label) = @$call;
	is(ask($node, 'ana', "SELECT max(abs(v - w)) < 0.02 FROM unnest(" . join(', ', map { "dp_weights($function('part_of_$_', '$label', '{half}', 200, lambda => 0.01, knots => 1))" } 'stays', 'same_stays') . ") u(v, w)"), 't', "$function on a view");
}

# The owner can drop and rename
like(ask($node, 'owen', "CREATE TABLE here (y boolean, n int); SELECT dp_protect('here', $set); CREATE VIEW here_view AS SELECT * FROM here; SELECT dp_protect('here_view'); SELECT 'done'"), qr/done/, 'a protected view of a local table');
is(ask($node, 'owen', 'DROP VIEW here_view'), '', 'the first command of a session, without a schema');
is(ask($node, 'owen', 'ALTER TABLE near RENAME TO near_1; ALTER TABLE near_1 RENAME TO near_2'), '', 'the owner renames a table');
is(registered('rows'), 'far here near_2 third', 'which stays protected');
is(ask($node, 'owen', 'DROP TABLE near_2'), '', 'the owner drops a table');
is(ask($node, 'owen', 'CREATE TEMP TABLE passing (); DROP TABLE passing; DROP TABLE far; DROP TABLE third, here'), '', 'and others');
is(registered('rows'), '', 'nothing is left');

$cluster->stop;
done_testing();
