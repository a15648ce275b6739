# Protected relations on a Citus cluster: the coordinator keeps the budgets, and no worker is a way around them.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusCluster;
use Test::More;

my $cluster = CitusCluster->start;
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
is(ask($node, 'owen', $train), 1001, 'the owner trains, and is charged');
is(sql("SELECT epsilon_left FROM dp_budgets WHERE granted_to IS NULL LIMIT 1"), '0.5', 'what is left');

# What the caller sets does not reach the workers, and those tell columns, nothing else: nothing there is looked up by name
my $cheap = "SELECT dp_logreg_train('patients', 'y', '{n,f}', 0.01)";
my $mark = $cluster->mark;
my $spent = sql("SELECT epsilon_spent FROM dp_budgets LIMIT 1");
for my $setting ("citus.propagate_set_commands = 'local'", 'citus.max_intermediate_result_size = 3', 'citus.enable_binary_protocol = off')
{
	like(ask($node, 'ana', "SET $setting; $cheap"), qr/ERROR:  setting "citus\.\w+" must not be changed to use a protected relation/, "not with $setting");
}
like(ask($node, 'ana', "BEGIN; SET LOCAL search_path = public, pg_catalog; $cheap; COMMIT"), qr/ERROR:  a protected relation that Citus has distributed cannot be used in a transaction block/, 'not in a transaction block');
for my $block ("SET LOCAL citus.propagate_set_commands = 'local'; SET LOCAL search_path = public, pg_catalog; RESET citus.propagate_set_commands; PERFORM dp_logreg_train('patients', 'y', '{n,f}', 0.01);",
	"BEGIN PERFORM dp_logreg_train('patients', 'y', '{n,f}', 0.01); EXCEPTION WHEN division_by_zero THEN NULL; END;")
{
	like(ask($node, 'ana', "DO \$\$ BEGIN $block END \$\$"), qr/ERROR:  (?:Citus may hand on settings|setting "citus|a protected relation that Citus)/, 'not after settings that Citus hands on, nor within a subtransaction');
}
like(ask($node, 'ana', "CREATE TEMP TABLE held AS SELECT i % 2 = 0 AS y, 50 AS n, sin(i) AS f, i FROM generate_series(1, 200) i;
	SELECT dp_logreg_tune('patients', 'y', '{n,f}', 0.01, candidates => '[{\"lambda\": 1}, {\"lambda\": 0.1}]', holdout => 'held', identity => 'i')"), qr/"holdout"/, 'tuning on a holdout');
sql("ALTER ROLE ana SET citus.enable_binary_protocol = off");
like(ask($node, 'ana', $cheap), qr/ERROR:  setting "citus.enable_binary_protocol" must not be changed/, 'not with a setting of the role');
sql("ALTER ROLE ana RESET ALL");
cmp_ok(sql("SELECT epsilon_spent FROM dp_budgets LIMIT 1") - $spent, '<', 0.0101, 'these cost nothing, but for the tuning');
like(ask($node, 'owen', "SELECT dp_budget_alter('patients', epsilon => 10); SELECT dp_logreg_train('patients', 'n', '{f}', 0.1, positive => '5')::jsonb ->> 'persons'; SELECT count(*) FROM dp_evaluate(dp_logreg_train('patients', 'y', '{n,f}', 0.1), 'patients', epsilon => 0.1)"),
	qr/1001\s+9/, 'a label that is computed, and an evaluation');
my @reads = grep { /FROM \S*patients_\d+/ } split /\n/, $cluster->since($mark);
cmp_ok(scalar @reads, '>=', 3 * 8, 'every shard is read');
is((grep { !/SELECT (?:\w+(?: AS \w+)?(?:, )?)+ FROM public\.patients_\d+ t WHERE true/ } @reads), 0, 'workers tell columns alone') or diag(substr join("\n", @reads), 0, 1000);
like(ask($node, 'owen', "SELECT dp_protect('adults', budget => 'patients')"), qr/ERROR:  "adults" is a view of a table that Citus has distributed/, 'views are not protected there');

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
is(sql("SELECT count(*) FROM dp_ledger WHERE act = 'charge'"), 7, 'seven charges');

$cluster->stop;
done_testing();
