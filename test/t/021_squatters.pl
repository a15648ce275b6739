# Operators, functions and types that somebody created before the extension, in
# its schema or in one that comes first in search_path, and that match our
# scripts and queries better than PostgreSQL's own: none of them is ever called,
# and nothing of ours depends on one.
use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = dirname(__FILE__) . '/../..';

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE squatter; CREATE ROLE hospital; CREATE ROLE ana; CREATE ROLE ben; CREATE ROLE gone');

# ---- what there is to stand in for

# The statements of our scripts, and what the sources in C have in quotes.
my $scripts = join "\n", map { slurp_file($_) } glob("$root/sql/parts/*.sql");
my $literals = join "\n", map { slurp_file($_) =~ /"((?:[^"\\\n]|\\.)*)"/g } glob("$root/src/{entry,train,query,protect,budget,relation,column,base}/*.c");
my %seen;
my @called = grep { !$seen{$_}++ } "$scripts\n$literals" =~ /\b([a-z][a-z0-9_]*)\(/g;

# Comparisons, and operators that compute; those that are named with their
# schema must be among them.
my @compare = ('=', '<>', '<', '>', '<=', '>=', '~', '~~');
my @compute = ('-', '+', '||');
my %symbols = map { $_ => 1 } @compare, @compute;
my @missing = grep { !$symbols{$_} } "$scripts\n$literals" =~ /OPERATOR\(pg_catalog\.(\S+?)\)/g;
is("@missing", '', 'every operator of ours is squatted');
my @types = ('oid', 'regclass', 'regrole', 'regtype', 'regproc', 'regprocedure', 'regnamespace', 'name', 'text', 'varchar', 'bpchar', '"char"', 'int2', 'int4', 'int8',
	'uuid', 'bool', 'xid', 'tid', 'numeric', 'float4', 'float8', 'jsonb', 'bytea', 'timestamptz', 'aclitem', 'text[]', 'name[]', 'oid[]', 'uuid[]', 'aclitem[]',
	'int2vector', 'oidvector');

# Functions of ours that expressions of our scripts call. Squatters take any
# number of arguments, or others.
my %ours = (dperm_budget_left => 'numeric, numeric, float8, numeric, numeric, numeric, numeric, numeric', dperm_may_spend => 'text, regclass',
	dperm_report_budget => 'text, text, text, text, jsonb', dperm_report_budget_data => 'text, text, text, text, jsonb');

# What creates all of them in a schema. Each writes to the log, which ROLLBACK
# does not undo, and goes on.
sub squat
{
	my ($database, $schema, $domains) = @_;
	my $list = sub { join ', ', map { my $e = $_; $e =~ s/'/''/g; "'$e'" } @_ };
	my $sql = sprintf(q{
		SET SESSION AUTHORIZATION squatter;
		SET search_path = pg_catalog;
		DO $do$
		DECLARE
			types text[] := ARRAY[%s];
			a text;
			b text;
			symbol text;
			f record;
		BEGIN
			FOREACH a IN ARRAY types LOOP
				FOREACH b IN ARRAY types LOOP
					EXECUTE format('CREATE FUNCTION %2$s.compares(%%1$s, %%2$s) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE LOG ''squatter: comparison of %%1$s and %%2$s''; RETURN true; END $$;
						CREATE FUNCTION %2$s.computes(%%1$s, %%2$s) RETURNS %%1$s LANGUAGE plpgsql AS $$ BEGIN RAISE LOG ''squatter: operator of %%1$s and %%2$s''; RETURN $1; END $$', a, b);
					FOREACH symbol IN ARRAY ARRAY[%3$s] LOOP
						EXECUTE format('CREATE OPERATOR %2$s.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = %2$s.compares)', symbol, a, b);
					END LOOP;
					FOREACH symbol IN ARRAY ARRAY[%4$s] LOOP
						EXECUTE format('CREATE OPERATOR %2$s.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = %2$s.computes)', symbol, a, b);
					END LOOP;
				END LOOP;
			END LOOP;
			-- functions: of any types for up to two arguments, else as they are
			FOR f IN
				SELECT DISTINCT p.proname AS name, s.arguments, CASE WHEN p.prorettype::regtype::text = ANY (types) THEN p.prorettype::regtype::text ELSE 'text' END AS result
				FROM (SELECT DISTINCT ON (proname, pronargs) * FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY (ARRAY[%5$s]) ORDER BY proname, pronargs, oid) p,
					LATERAL (SELECT x AS arguments FROM unnest(types) x WHERE p.pronargs = 1 OR p.provariadic <> 0
						UNION ALL SELECT x || ', ' || y FROM unnest(types) x, unnest(types) y WHERE p.pronargs = 2
						UNION ALL SELECT (SELECT coalesce(string_agg(format_type(t, NULL), ', ' ORDER BY n), '') FROM unnest(p.proargtypes) WITH ORDINALITY u(t, n)) WHERE p.pronargs NOT IN (1, 2)
							AND p.prokind = 'f' AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) u(t) JOIN pg_type y ON y.oid = u.t AND y.typtype = 'p')) s
			LOOP
				EXECUTE format('CREATE FUNCTION %2$s.%%I(%%s) RETURNS %%s LANGUAGE plpgsql AS $$ BEGIN RAISE LOG ''squatter: function %%s(%%s)''; RETURN NULL; END $$',
					f.name, f.arguments, f.result, f.name, f.arguments);
			END LOOP;
		END $do$;
	}, $list->(@types), $schema, $list->(@compare), $list->(@compute), $list->(@called));
	while (my ($name, $arguments) = each %ours)
	{
		my $body = "LANGUAGE plpgsql AS \$\$ BEGIN RAISE LOG 'squatter: function $name'; RETURN NULL; END \$\$";
		$sql .= "CREATE FUNCTION $schema.$name(VARIADIC anyarray) RETURNS numeric $body;
			CREATE FUNCTION $schema.$name(" . join(', ', map { 'text' } split /,/, $arguments) . ") RETURNS boolean $body;\n";
	}
	# types: a domain, whose constraint is looked at when a value gets the type
	if ($domains)
	{
		$sql .= "CREATE FUNCTION $schema.converts() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RAISE LOG 'squatter: conversion'; RETURN true; END \$\$;\n";
		$sql .= join "\n", map { "CREATE DOMAIN $schema.$_ AS pg_catalog.$_ CHECK ($schema.converts());" } grep { !/\[/ } @types;
	}
	$node->safe_psql($database, $sql);
}

# ---- who was there

# What squatters have written since the last check.
my $read = 0;
sub traces
{
	my $log = slurp_file($node->logfile);
	my $new = substr($log, $read);
	my %found;
	$read = length $log;
	$found{$1}++ while $new =~ /LOG:  (squatter: .*)/g;
	return join "\n", sort keys %found;
}

# Whatever of the database depends on a function, an operator or a type that is
# neither PostgreSQL's nor ours, but for squatters themselves.
my $dependent = q{
	SET search_path = pg_catalog;
	WITH foreign_objects AS (
		SELECT 'pg_proc'::regclass::oid AS class, oid FROM pg_proc WHERE pronamespace <> 'pg_catalog'::regnamespace
		UNION ALL SELECT 'pg_operator'::regclass::oid, oid FROM pg_operator WHERE oprnamespace <> 'pg_catalog'::regnamespace
		UNION ALL SELECT 'pg_type'::regclass::oid, oid FROM pg_type WHERE typtype = 'd' AND typnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
		-- the information schema is PostgreSQL's, too
		EXCEPT SELECT 'pg_proc'::regclass::oid, oid FROM pg_proc WHERE pronamespace = 'information_schema'::regnamespace
		EXCEPT SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e')
	SELECT pg_describe_object(d.classid, d.objid, d.objsubid), pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
	FROM pg_depend d JOIN foreign_objects f ON d.refclassid = f.class AND d.refobjid = f.oid
	WHERE (d.classid, d.objid) NOT IN (SELECT class, oid FROM foreign_objects) AND d.deptype <> 'i'
		AND NOT (d.classid = 'pg_constraint'::regclass AND EXISTS (SELECT FROM pg_constraint c WHERE c.oid = d.objid AND c.contypid <> 0))
	ORDER BY 1, 2};

sub untouched
{
	my ($database, $what) = @_;
	is(traces(), '', "$what: no squatter ran");
	is($node->safe_psql($database, $dependent), '', "$what: nothing depends on a squatter");
}

# Runs statements in a session of a role, and fails with them.
sub as
{
	my ($database, $role, $path, @statements) = @_;
	$node->safe_psql($database, join ";\n", "SET SESSION AUTHORIZATION $role", "SET search_path = $path", @statements);
}

# Everything that reads our views, and most of what calls our functions: as an
# owner, an analyst, and a superuser.
sub use_all
{
	my ($database, $what, $path) = @_;
	my @views = map { "TABLE public.$_" } 'dp_budgets', 'dp_grants', 'dp_ledger', 'dp_protected';
	my @reports = ("SELECT public.dp_report('%s') IS NOT NULL", "SELECT public.dp_report_data('%s') IS NOT NULL");
	my $tuned = q{public.dp_logreg_tune('private.visits', 'sick', '{age}'::pg_catalog.text[], 1, candidates => '[{"lambda": 0.1}, {"lambda": 1}]'::pg_catalog.jsonb%s)};

	foreach my $role ('hospital', 'postgres')
	{
		my $b = "$what: $role";
		as($database, $role, $path,
			"SELECT public.dp_budget_create('$b', 100, 1e-6)", "SELECT public.dp_budget_alter('$b', epsilon => 90)", "SELECT public.dp_budget_create('short $b', 1)",
			"SELECT public.dp_budget_drop('short $b')", "SELECT public.dp_grant('$b', 'ana', 20)", "SELECT public.dp_grant('$b', 'gone', 1)", "SELECT public.dp_grant('$b', 'ben')",
			"SELECT public.dp_revoke('$b', 'ben')", "SELECT public.dp_budget_charge('$b', 0.1, purpose => 'a report')",
			"SELECT public.dp_protect('private.visits', '$b', unit => 'person', columns => '{person,age,ward,sick}', domains => '{\"ward\": [\"a\", \"b\"]}')", @views,
			"SELECT public.dp_domains('private.visits')", (map { sprintf $_, $b } @reports),
			"SELECT public.dp_cost('private.visits', 'sick', '{age}'::pg_catalog.text[], 1, 1000)", sprintf("SELECT $tuned IS NOT NULL", ", unit => 'person'"),
			'ALTER TABLE private.visits RENAME COLUMN ward TO station', 'ALTER TABLE private.visits RENAME COLUMN station TO ward',
			'CREATE VIEW private.shown AS SELECT * FROM private.visits', 'DROP VIEW private.shown');
		as($database, 'ana', $path, @views, "SELECT public.dp_budget_charge('$b', 0.1)",
			"CREATE TEMP TABLE m AS SELECT public.dp_logreg_train('private.visits', 'sick', '{age,ward}'::pg_catalog.text[], 1) AS m",
			"SELECT public.dp_evaluate(m, 'private.visits', epsilon => 1) FROM m", 'SELECT public.dp_guarantee(m), public.dp_coefficients(m) FROM m', 'SELECT public.dp_compose(m, 1e-6) FROM m',
			"SELECT public.dp_roc(m, 'private.visits', epsilon => 1) FROM m", sprintf("SELECT $tuned IS NOT NULL", ''), @views,
			(map { sprintf $_, $b } @reports), 'SELECT public.dp_report(m, title => $$t$$) IS NOT NULL, public.dp_report_data(m) IS NOT NULL FROM m')
			if $role eq 'hospital';
		as($database, $role, $path, @views, "SELECT public.dp_unprotect('private.visits')", @views,
			"SELECT public.dp_svm_train('private.visits', 'sick', '{age}'::pg_catalog.text[], 1) IS NOT NULL",
			"SELECT public.dp_svm(sick, ARRAY[age::pg_catalog.float8], 1) IS NOT NULL FROM private.visits");
	}
	untouched($database, $what);
}

sub make_rows
{
	my ($database) = @_;
	$node->safe_psql($database, q{
		CREATE SCHEMA private AUTHORIZATION hospital; GRANT USAGE ON SCHEMA private TO PUBLIC;
		SET SESSION AUTHORIZATION hospital; SET search_path = pg_catalog;
		CREATE TABLE private.visits (person int, age int CHECK (age BETWEEN 0 AND 120), ward text, sick boolean, CHECK (ward IN ('a', 'b')));
		INSERT INTO private.visits SELECT i / 2, i % 100, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END, i % 100 > 50 FROM generate_series(1, 2000) i});
}

# ---- installed beside them, and used

my $internal = q{SET search_path = pg_catalog; SELECT count(*) FILTER (WHERE has_table_privilege('ben', oid, 'SELECT')), count(*) FROM pg_class
	WHERE relname IN ('dp_budget_accounts', 'dp_budget_grants', 'dp_ledger_entries', 'dp_protected_relations', 'dp_protected_columns')};
$node->safe_psql('postgres', 'CREATE DATABASE installed');
# default privileges, which the script takes back
$node->safe_psql('installed', q{GRANT CREATE ON SCHEMA public TO squatter, hospital;
	ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO ben, PUBLIC});
squat('installed', 'public');
cmp_ok($node->safe_psql('installed', q{SELECT count(*) FROM pg_catalog.pg_operator
	WHERE oprnamespace OPERATOR(pg_catalog.=) 'public'::pg_catalog.regnamespace::pg_catalog.oid}), '>', 10000, 'many operators');
is(traces(), '', 'no squatter ran before');
$node->safe_psql('installed', 'CREATE EXTENSION dperm');
untouched('installed', 'installed');
is($node->safe_psql('installed', $internal), '0|5', "the internal tables are nobody's, whatever the default privileges");
make_rows('installed');
use_all('installed', 'in use', 'public');

# A function that takes what ours takes, and more by default, is not preferred
# to ours: the install script fails.
$node->safe_psql('postgres', 'CREATE DATABASE ambiguous');
while (my ($name, $arguments) = each %ours)
{
	my $stderr = '';
	$node->safe_psql('ambiguous', "CREATE FUNCTION public.$name($arguments, more int DEFAULT 1) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RAISE LOG 'squatter: $name'; RETURN true; END \$\$");
	$node->psql('ambiguous', 'CREATE EXTENSION dperm', stderr => \$stderr);
	like($stderr, qr/ERROR:  function $name\(.*\) is not unique/, "$name: one with defaults is refused");
	$node->safe_psql('ambiguous', "DROP FUNCTION public.$name");
}
untouched('ambiguous', 'with defaults');

# ---- whoever calls, with a search_path of another's making: of operators and types that shadow PostgreSQL's own, too

$node->safe_psql('installed', 'CREATE SCHEMA first AUTHORIZATION squatter; GRANT USAGE ON SCHEMA first TO PUBLIC');
squat('installed', 'first', 1);
use_all('installed', 'with another search_path', 'first, pg_catalog, public');
as('installed', 'postgres', 'first, pg_catalog, public', 'DROP OWNED BY hospital', 'TABLE public.dp_budgets', 'DROP EXTENSION dperm');
untouched('installed', 'with another search_path, to the end');

# They would have run: a plain = in these schemas calls one.
$node->safe_psql('installed', q{SET search_path = public; SELECT 'pg_class'::regclass = 'pg_class'::regclass});
is(traces(), 'squatter: comparison of regclass and regclass', 'an operator that fits better is called');
$node->safe_psql('installed', q{SET search_path = first, pg_catalog; SELECT 1 + 1, '1'::text, count(1)});
is(traces(), "squatter: conversion\nsquatter: function count(int4)\nsquatter: operator of int4 and int4", 'and so is what comes first');

$node->stop;
done_testing();
