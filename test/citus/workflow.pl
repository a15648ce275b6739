# What dperm does on a Citus cluster: passes run on the workers, and all results
# are those of the same rows in a local table.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusCluster;
use Test::More;

my $cluster = CitusCluster->start;
my $node = $cluster->coordinator;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# a table of many columns, and one of every type; the same rows in every kind of
# table
my $wide = join ', ', map { "w$_ float8" } 1 .. 100;
my $widths = join ', ', map { "sin(i * $_)" } 1 .. 100;
sql(qq{
	CREATE TYPE color AS ENUM ('red', 'green', 'blue', 'grey');
	CREATE TABLE local (id bigint PRIMARY KEY, person int, y boolean, e color, c text, p char(4), b boolean, n int, f float8, m numeric(6,4),
	  d date, t timestamp, k int, x float8[], x4 float4[], income text, ye color,
	  ward text CHECK (ward IN ('icu', 'home', 'surgery')));
	INSERT INTO local SELECT i, i / 5, (i * 7 + i / 3) % 3 = 0, (ARRAY['red', 'green', 'blue', 'grey', NULL])[1 + i * 7 % 5]::color,
	  (ARRAY['Köln', 'Paris', 'Rome', NULL])[1 + i % 4], (ARRAY['ab', 'cd', 'ef'])[1 + i % 3], i % 4 = 1, i % 100, sin(i), (i % 17)::numeric / 16,
	  date '2020-01-01' + i % 300, timestamp '2020-01-01' + i * interval '1 hour', i % 3, ARRAY[sin(i), cos(2 * i), sin(i * i)],
	  ARRAY[cos(i), sin(3 * i)]::float4[], (ARRAY['<=50K', '>50K'])[1 + (i * i + i / 11) % 2], (ARRAY['red', 'green', 'blue'])[1 + i * i % 3]::color,
	  CASE WHEN i % 100 < 8 THEN 'home' WHEN i % 100 < 16 THEN 'icu' WHEN i % 4 < 3 THEN 'surgery' END
	  FROM generate_series(1, 4000) i;
	CREATE VIEW local_view AS SELECT y, n, e, id FROM local WHERE n < 60;
	CREATE TABLE local_wide (id bigint PRIMARY KEY, y boolean, $wide);
	INSERT INTO local_wide SELECT i, i % 3 = 0, $widths FROM generate_series(1, 3000) i;
	SET citus.shard_count = 8;
	CREATE TABLE hashed (LIKE local INCLUDING ALL);
	SELECT create_distributed_table('hashed', 'id');
	INSERT INTO hashed SELECT * FROM local;
	CREATE VIEW hashed_view AS SELECT y, n, e, id FROM hashed WHERE n < 60;
	CREATE TABLE by_person (LIKE local INCLUDING DEFAULTS, PRIMARY KEY (person, id));
	SELECT create_distributed_table('by_person', 'person');
	INSERT INTO by_person SELECT * FROM local;
	CREATE TABLE hashed_wide (LIKE local_wide INCLUDING ALL);
	SELECT create_distributed_table('hashed_wide', 'id');
	INSERT INTO hashed_wide SELECT * FROM local_wide;
	CREATE TABLE local_loose AS SELECT id, CASE WHEN person % 7 > 0 THEN person END AS person, CASE WHEN id % 5 = 0 OR person % 11 > 0 THEN y END AS y, e, n, x,
	  md5((id / 3)::text)::uuid AS token, (id / 3)::text AS name FROM local;
	CREATE TABLE loose (LIKE local_loose);
	SELECT create_distributed_table('loose', 'person', colocate_with => 'none');
	INSERT INTO loose SELECT * FROM local_loose WHERE person IS NOT NULL;
	CREATE TABLE by_token (LIKE local_loose);
	SELECT create_distributed_table('by_token', 'token');
	INSERT INTO by_token SELECT * FROM local_loose;
	CREATE TABLE by_name (LIKE local_loose);
	SELECT create_distributed_table('by_name', 'name');
	INSERT INTO by_name SELECT * FROM local_loose;
	CREATE TABLE alone (LIKE local_loose);
	SELECT create_distributed_table('alone', NULL);
	INSERT INTO alone SELECT * FROM local_loose;
	CREATE TABLE reference (LIKE local INCLUDING ALL);
	SELECT create_reference_table('reference');
	INSERT INTO reference SELECT * FROM local;
	CREATE TABLE divided (LIKE local INCLUDING DEFAULTS) PARTITION BY RANGE (id);
	CREATE TABLE divided_low PARTITION OF divided FOR VALUES FROM (0) TO (2000);
	CREATE TABLE divided_high PARTITION OF divided FOR VALUES FROM (2000) TO (100000);
	SELECT create_distributed_table('divided', 'id');
	INSERT INTO divided SELECT * FROM local;
	SET citus.enable_schema_based_sharding = on;
	CREATE SCHEMA tenant;
	CREATE TABLE tenant.people (LIKE local INCLUDING ALL);
	INSERT INTO tenant.people SELECT * FROM local;
	CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS
	  'SELECT max(abs(v - w)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)';
});
isnt($node->safe_psql('postgres', "SELECT enumlabel || oid FROM pg_enum WHERE enumtypid = 'color'::regtype"),
	($cluster->workers)[0]->safe_psql('postgres', "SELECT enumlabel || oid FROM pg_enum WHERE enumtypid = 'color'::regtype"), 'enums have other OIDs on a worker');

my $domains = '{"e": ["blue", "red", "green"], "c": ["Köln", "Paris", "Rome"], "p": ["ab", "cd"], "n": [0, 100], "f": [-1, 1], "m": [0, 1], '
  . '"d": ["2020-01-01", "2021-01-01"], "t": ["2020-01-01", "2020-04-01"], "k": {"categories": [0, 1]}, "x": {"dimension": 3, "norm": 2}, "x4": {"dimension": 2}}';
my $all = "'y', '{e,c,p,b,n,f,m,d,t,k,x,x4}', 'Infinity', lambda => 0.01, domains => '$domains'";
my $those = '"e": ["blue", "red"], "n": [0, 100]';
my $some = "'{$those}'";
my $numbers = "'{\"n\": [0, 100], \"f\": [-1, 1]}'";

# Does a log of the workers have a query that fetches rows, and not only a
# sample of them?
sub fetches
{
	return scalar grep { /FROM (?:ONLY )?\S+\.(?:hashed|divided|by_|people|loose|alone)\S*/ && !/worker_partial_agg|dperm_moments_\w*agg|count\(|LIMIT/ } split /\n/, $_[0];
}

# The weights are the local ones, and passes run where they should.
sub compare
{
	my ($what, $function, $local, $table, $arguments, $pull, $where) = @_;
	my $mark = $cluster->mark;
	cmp_ok(sql("SET dperm.pull_memory = '$pull'; SELECT distance($function('$local', $arguments), $function('$table', $arguments))"),
		'<', 1e-9, "$what: the local weights");
	my $log = $cluster->since($mark);
	is($log =~ /dperm_moments_(?:person_)?agg/ ? 'there' : 'here', $where, "$what: where passes run");
	is(fetches($log), 0, "$what: no more than a sample comes here") if $where eq 'there';
	unlike($log, qr/IS NOT NULL|LIMIT/, "$what: rows of persons come here once, and there is no sample") if $where eq 'here' && $arguments =~ /unit/;
}
my @calls = (
	['all types', 'dp_logreg_train', 'local', $all],
	['svm', 'dp_svm_train', 'local', $all],
	['straight lines', 'dp_logreg_train', 'local', "$all, knots => 1"],
	['a vector', 'dp_logreg_train', 'local', "'y', 'x', 'Infinity', lambda => 0.01, domains => '{\"x\": {\"dimension\": 3}}'"],
	['a text as label', 'dp_logreg_train', 'local', "'income', '{e,n}', 'Infinity', lambda => 0.01, positive => '>50K', domains => $some"],
	['an enum as label', 'dp_logreg_train', 'local', "'ye', '{e,n}', 'Infinity', lambda => 0.01, positive => 'green', domains => $some"],
	['a kernel', 'dp_logreg_train', 'local', "'y', '{e,n}', 'Infinity', lambda => 0.01, domains => $some, kernel => 'gaussian', options => '{\"kernel_features\": 20}'"],
	['output perturbation', 'dp_logreg_train', 'local', "'y', '{e,n}', 'Infinity', lambda => 0.01, options => '{\"method\": \"output\"}', domains => $some"],
	['an enum as classes', 'dp_logreg_train', 'local', "'e', '{n,f}', 'Infinity', lambda => 0.01, domains => $numbers"],
	['some of an enum as classes', 'dp_logreg_train', 'local', "'e', '{n,f}', 'Infinity', lambda => 0.01, domains => '{\"e\": [\"grey\", \"red\", \"blue\"], \"n\": [0, 100], \"f\": [-1, 1]}'"],
	['texts as classes', 'dp_logreg_train', 'local', "'c', '{e,n}', 'Infinity', lambda => 0.01, domains => '{\"c\": [\"Rome\", \"Köln\", \"Oslo\"], $those}'"],
	['numerics as classes', 'dp_logreg_train', 'local', "'m', '{e,n}', 'Infinity', lambda => 0.01, domains => '{\"m\": {\"categories\": [0.5, 0, 1]}, $those}'"],
	['classes of vectors', 'dp_logreg_train', 'local', "'e', 'x', 'Infinity', lambda => 0.01, domains => '{\"e\": [\"grey\", \"red\", \"blue\"], \"x\": {\"dimension\": 3}}'"],
	['an integer as number', 'dp_linreg_train', 'local', "'n', '{c,f}', 'Infinity', lambda => 0.01, domains => '{\"n\": [5, 80], \"c\": [\"Köln\", \"Rome\"], \"f\": [-1, 1]}'"],
	['a numeric as number', 'dp_linreg_train', 'local', "'m', '{e,n}', 'Infinity', lambda => 0.01, domains => '{\"m\": [0.1, 1], $those}'"],
	['a number of vectors', 'dp_linreg_train', 'local', "'f', 'x', 'Infinity', lambda => 0.01, domains => '{\"f\": [-0.5, 2], \"x\": {\"dimension\": 3}}'"]);
for my $call (@calls)
{
	my ($what, $function, $local, $arguments) = @$call;
	compare("hashed: $what", $function, $local, 'hashed', $arguments, 0, 'there');
	compare("hashed, pulled: $what", $function, $local, 'hashed', $arguments, '16MB', 'here');
}
compare('hashed: classes of a constraint', 'dp_logreg_train', 'local', 'hashed', "'ward', '{e,n}', 'Infinity', lambda => 0.01, domains => $some", 0, 'there');
is(sql("SELECT dp_logreg_train('hashed', 'ward', '{e,n}', 1, domains => $some)::jsonb -> 'classes'"), '["icu", "home", "surgery"]', 'hashed: which these are');
compare("$_: all types", 'dp_logreg_train', 'local', $_, $all, 0, 'there') for ('divided', 'tenant.people', 'by_person');
compare("reference: all types", 'dp_logreg_train', 'local', 'reference', $all, 0, 'here');    # the coordinator has a copy of its own
compare('view', 'dp_logreg_train', 'local_view', 'hashed_view', "'y', '{e,n}', 'Infinity', lambda => 0.01, domains => $some", 0, 'there');
my $many = join ',', map { "w$_" } 1 .. 100;
my $ranges = '{' . join(', ', map { "\"w$_\": [-1, 1]" } 1 .. 100) . '}';
compare('100 columns', 'dp_logreg_train', 'local_wide', 'hashed_wide', "'y', '{$many}', 'Infinity', lambda => 0.01, knots => 1, domains => '$ranges'", 0, 'there');

# Persons: passes run where all rows of a person are on one server
my $persons = "'y', '{e,n}', 'Infinity', lambda => 0.01, domains => $some";
compare("hashed: persons", 'dp_logreg_train', 'local', 'hashed', "$persons, unit => 'person'", 0, 'here');
compare("by_person: persons, pulled", 'dp_logreg_train', 'local', 'by_person', "$persons, unit => 'person'", '16MB', 'here');
compare("$_: persons", 'dp_logreg_train', 'local', $_, "$persons, unit => 'person'", 0, 'there') for ('by_person', 'tenant.people');
compare("reference: persons", 'dp_logreg_train', 'local', 'reference', "$persons, unit => 'person'", 0, 'here');
for my $call (@calls)
{
	my ($what, $function, $local, $arguments) = @$call;
	compare("by_person: persons, $what", $function, $local, 'by_person', "$arguments, unit => 'person'", 0, 'there');
}
compare("$_: persons, some of whom have no label", 'dp_logreg_train', 'local_loose', $_, "$persons, unit => 'person'", 0, 'there') for ('loose', 'alone');
compare('by_token: persons by a uuid', 'dp_logreg_train', 'local_loose', 'by_token', "$persons, unit => 'token'", 0, 'there');
compare('by_token: another unit', 'dp_logreg_train', 'local_loose', 'by_token', "$persons, unit => 'person'", 0, 'here');
compare('by_name: persons by a text', 'dp_logreg_train', 'local_loose', 'by_name', "$persons, unit => 'name'", 0, 'here');
for my $table ('local_loose', 'loose', 'alone')
{
	is(sql("SET dperm.pull_memory = 0; SELECT dp_logreg_train('$table', $persons, unit => 'person')::jsonb ->> 'persons'"),
		sql('SELECT count(DISTINCT person) FROM local_loose'), "$table: the number of persons");
}

# Tuning: all rows come here, once, however many they are; portions are drawn
my $tuning = "'y', '{e,n,c}', 'Infinity', domains => '{\"e\": [\"blue\"], \"n\": [0, 100], \"c\": [\"Paris\"]}', candidates => '[{\"lambda\": 1}, {\"lambda\": 0.001}]'";
my ($mark, $status, $out, $error);
for my $table ('hashed', 'by_person', 'divided')
{
	$mark = $cluster->mark;
	is(sql("SET dperm.pull_memory = 0; SELECT dp_logreg_tune('$table', $tuning)::jsonb -> 'tuning' ->> 'rows'"), 4000, "$table: tuning: all rows");
	cmp_ok(fetches($cluster->since($mark)), '>', 0, "$table: tuning: they come here");
}
sql('CREATE VIEW by_person_view AS SELECT id, y, e, n, c, person AS p FROM by_person');
is(sql("SELECT dp_logreg_tune('by_person_view', $tuning)::jsonb -> 'tuning' ->> 'rows'"), 4000, 'also through a view');
for my $call (['by_person', 'person', 'local'], ['tenant.people', 'person', 'local'], ['alone', 'person', 'local_loose'], ['by_token', 'token', 'local_loose'])
{
	my ($table, $unit, $same) = @$call;
	my $arguments = "'$table', 'y', '{e,n}', 'Infinity', domains => $some, candidates => '[{\"lambda\": 1}, {\"lambda\": 0.001}]', unit => '$unit'";

	is(sql("SET dperm.pull_memory = 0; SELECT dp_logreg_tune($arguments)::jsonb -> 'tuning' ->> 'persons'"), sql("SELECT count(DISTINCT $unit) FROM $same"), "$table: tuning over persons");
}

# by labels of every kind: of two candidates, the one that is better by far
for my $call (['dp_logreg_tune', "'ward', '{n}', 'Infinity', domains => $numbers"],
	['dp_linreg_tune', "'person', '{t}', 'Infinity', domains => '{\"person\": [0, 800], \"t\": [\"2020-01-01\", \"2020-07-01\"]}'"])
{
	my ($function, $arguments) = @$call;
	$mark = $cluster->mark;
	is(sql("SET dperm.pull_memory = 0; SELECT $function('hashed', $arguments, candidates => '[{\"lambda\": 100}, {\"lambda\": 0.001}]')::jsonb -> 'lambda_effective'"), '0.001', $function);
}

# Evaluation
sql("CREATE TABLE models AS SELECT dp_logreg_train('local', 'y', '{e,n,c,x}', 1, domains => '{\"e\": [\"blue\"], \"n\": [0, 100], \"c\": [\"Paris\"], \"x\": {\"dimension\": 3, \"norm\": 2}}') AS model");
for my $table ('hashed', 'reference', 'tenant.people', 'divided')
{
	$mark = $cluster->mark;
	is(sql("SELECT e FROM models, dp_evaluate(model, '$table', epsilon => 'Infinity') e"), sql("SELECT e FROM models, dp_evaluate(model, 'local', epsilon => 'Infinity') e"), "$table: evaluation");
	is(sql("SELECT r FROM models, dp_roc(model, '$table', epsilon => 'Infinity') r"), sql("SELECT r FROM models, dp_roc(model, 'local', epsilon => 'Infinity') r"), "$table: ROC");
	is($cluster->since($mark) =~ /dperm_moments_agg/ ? 'there' : 'here', $table eq 'reference' ? 'here' : 'there', "$table: where rows are counted");
}

# A summary: all rows come here, once
for my $call (['hashed', 'local', ''], ['reference', 'local', ''], ['tenant.people', 'local', ''], ['divided', 'local', ''],
	['by_person', 'local', ", unit => 'person'"], ['by_token', 'local_loose', ", unit => 'token'"])
{
	my ($table, $same, $unit) = @$call;
	my $summary = "'Infinity', '{e,n}', domains => $some$unit";
	my $counts = sql("SELECT s FROM dp_summary('$same', $summary) s");
	like($counts, qr/\(e,value,blue,/, "$same: a summary");
	is(sql("SET dperm.pull_memory = 0; SELECT s FROM dp_summary('$table', $summary) s"), $counts, "$table: its summary");
}
sql("CREATE TABLE person_models AS SELECT dp_logreg_train('local', 'y', '{e,n,x}', 1, domains => '{\"e\": [\"blue\"], \"n\": [0, 100], \"x\": {\"dimension\": 3, \"norm\": 2}}') AS model");
for my $call (['by_person', 'person', 'local', 'there'], ['tenant.people', 'person', 'local', 'there'], ['reference', 'person', 'local', 'here'], ['hashed', 'person', 'local', 'here'],
	['loose', 'person', 'local_loose', 'there'], ['alone', 'person', 'local_loose', 'there'], ['by_token', 'token', 'local_loose', 'there'])
{
	my ($table, $unit, $same, $where) = @$call;
	$mark = $cluster->mark;
	for my $function ('dp_evaluate', 'dp_roc')
	{
		is(sql("SELECT e FROM person_models, $function(model, '$table', epsilon => 'Infinity', unit => '$unit') e"),
			sql("SELECT e FROM person_models, $function(model, '$same', epsilon => 'Infinity', unit => '$unit') e"), "$table: $function over persons");
	}
	is($cluster->since($mark) =~ /dperm_moments_person_agg/ ? 'there' : 'here', $where, "$table: where persons are counted");
	is(fetches($cluster->since($mark)), 0, "$table: no row comes here to be counted") if $where eq 'there';
}

# of several classes, and of numbers
sql(qq{
	CREATE TABLE kinds (kind text, model dp_model);
	INSERT INTO kinds SELECT 'classes', dp_logreg_train('local', 'e', '{n,f,x}', 1, domains => '{"n": [0, 100], "f": [-1, 1], "x": {"dimension": 3}, "e": ["grey", "red", "blue"]}');
	INSERT INTO kinds SELECT 'number', dp_linreg_train('local', 'm', '{n,f,x}', 1, domains => '{"n": [0, 100], "f": [-1, 1], "x": {"dimension": 3}, "m": [0.1, 1]}');
});
for my $call (['classes', 'dp_evaluate', ''], ['number', 'dp_evaluate', ''], ['classes', 'dp_roc', ", class => 'red'"])
{
	my ($kind, $function, $more) = @$call;
	for my $table ('hashed', 'reference', 'divided', 'by_person')
	{
		my $options = "epsilon => 'Infinity'$more" . ($table eq 'by_person' ? ", unit => 'person'" : '');
		$mark = $cluster->mark;
		my $found = sql("SELECT e FROM kinds, $function(model, '$table', $options) e WHERE kind = '$kind'");
		is($found, sql("SELECT e FROM kinds, $function(model, 'local', $options) e WHERE kind = '$kind'"), "$table, $kind: $function");
		is($cluster->since($mark) =~ /dperm_moments_(?:person_)?agg/ ? 'there' : 'here', $table eq 'reference' ? 'here' : 'there', "$table, $kind, $function: where rows are counted");
	}
}

# Prediction
for my $table ('hashed', 'reference', 'tenant.people', 'divided')
{
	is(sql("SELECT dp_predict_class(model, h), count(*) FROM $table h, kinds WHERE kind = 'classes' GROUP BY 1 ORDER BY 1"), sql("SELECT dp_predict_class(model, h), count(*) FROM local h, kinds WHERE kind = 'classes' GROUP BY 1 ORDER BY 1"), "$table: classes");
	is(sql("SELECT sum(dp_predict_value(model, h)::numeric(20, 9)) FROM $table h, kinds WHERE kind = 'number'"), sql("SELECT sum(dp_predict_value(model, h)::numeric(20, 9)) FROM local h, kinds WHERE kind = 'number'"), "$table: numbers");
}
my $local = sql('SELECT sum(dp_decision(model, l)::numeric(20, 9)), count(*) FILTER (WHERE dp_predict(model, l)) FROM local l, models');
is(sql("SELECT sum(dp_decision(model, h)::numeric(20, 9)), count(*) FILTER (WHERE dp_predict(model, h)) FROM $_ h, models"), $local, "$_: prediction")
  for ('hashed', 'reference', 'tenant.people', 'divided');
my $model = sql('SELECT model FROM models');
is(sql("SELECT sum(dp_decision('$model', h)::numeric(20, 9)), count(*) FILTER (WHERE dp_predict('$model', h)) FROM hashed h"), $local, 'prediction on the workers');
($status, $out, $error) = $node->psql('postgres', "SELECT dp_predict('$model', r) FROM (SELECT x, c, n, e FROM hashed) r");
like($error, qr/has no column "e".*OFFSET 0/s, 'columns that have lost their names');
is(sql("SELECT sum(dp_decision('$model', h)::numeric(20, 9)), count(*) FILTER (WHERE dp_predict('$model', h)) FROM (SELECT x, c, n, e FROM hashed OFFSET 0) h"), $local, 'prediction over a subquery');

# The aggregates: groups that are on one server are trained there; others are
# refused, and trained from a materialized CTE
sub models
{
	my ($table, $call, $group, $after) = @_;
	return "SELECT $group AS g, $call AS m FROM $table h GROUP BY 1 " . ($after // '') if defined $group;
	return "SELECT 0 AS g, $call AS m FROM $table h";
}
sub same_models
{
	my ($what, $with, $table, @call) = @_;
	is(sql('CREATE TEMP TABLE first AS ' . models('local', @call) . "; CREATE TEMP TABLE second AS $with " . models($table, @call) .
		'; SELECT count(*) > 0 AND count(*) = count(a.m) AND count(*) = count(b.m) AND max(distance(a.m, b.m)) < 1e-9 FROM first a FULL JOIN second b USING (g)'),
		't', "aggregates: $what");
}
for my $table ('reference', 'tenant.people')
{
	same_models("$table", '', $table, "dp_logreg(y, x, 'Infinity', '{\"lambda\": 0.01, \"dimension\": 3, \"norm\": 2}')");
	same_models("$table, numbers", '', $table, "dp_linreg(m, x, 'Infinity', '{\"lambda\": 0.01, \"dimension\": 3, \"bounds\": [0.1, 1]}')");
	same_models("$table, groups", '', $table, "dp_logreg(y, ARRAY[f, n / 100.0], 'Infinity', '{\"lambda\": 0.01}')", 'k');
}
same_models('groups by the distribution column', '', 'by_person', "dp_logreg(y, ARRAY[f, n / 100.0], 'Infinity', '{\"lambda\": 0.01}')", 'person');
my @aggregates = (["dp_logreg(y, x, 'Infinity', '{\"lambda\": 0.01, \"dimension\": 3, \"norm\": 2}')"],
	["dp_svm(y, x, 'Infinity', '{\"lambda\": 0.01, \"dimension\": 3, \"loss\": \"huber\"}')"],
	["dp_logreg(e, x, 'Infinity', '{\"lambda\": 0.01, \"dimension\": 3, \"classes\": [\"grey\", \"red\", \"blue\"]}')"],
	["dp_logreg(y, ARRAY[f, n / 100.0], 'Infinity', '{\"lambda\": 0.01}')", 'k'],
	["dp_logreg(y, ARRAY[f, n / 100.0], 'Infinity', '{\"lambda\": 0.01}')", 'id % 3', 'HAVING count(*) > 100'],
	["dp_logreg(y, ARRAY[f, n / 100.0], 'Infinity', '{\"lambda\": 0.01}' ORDER BY id) FILTER (WHERE k > 0)"]);
for my $table ('hashed', 'by_person', 'divided')
{
	for my $call (@aggregates)
	{
		($status, $out, $error) = $node->psql('postgres', models($table, @$call));
		like($error, qr/must be constants.*MATERIALIZED/s, "aggregates: not over $table, $$call[0]");
		same_models("a CTE of $table, $$call[0]", "WITH r AS MATERIALIZED (SELECT * FROM $table)", 'r', @$call);
	}
}

# what rows hold sets no parameter
for my $parameters ('f', "1, jsonb_build_object('norm', n)", 'k + n')
{
	($status, $out, $error) = $node->psql('postgres', "WITH r AS MATERIALIZED (SELECT * FROM hashed) SELECT k, dp_logreg(y, ARRAY[f], $parameters) FROM r GROUP BY k");
	like($error, qr/epsilon and options of dp_logreg, dp_svm and dp_linreg must be constants/, "aggregates: not with $parameters");
}

$cluster->stop;
done_testing();
