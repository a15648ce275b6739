# A role that owns the schema of the functions that users call, or one that
# comes first in search_path, and creates operators, functions and types there
# that match our calls better than PostgreSQL's own: none of them is ever called,
# and nothing of ours depends on one.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE squatter; CREATE ROLE hospital; CREATE ROLE ana; CREATE SCHEMA ext AUTHORIZATION squatter; CREATE SCHEMA first AUTHORIZATION squatter; GRANT USAGE ON SCHEMA ext, first TO PUBLIC');

# Each writes to the log, which ROLLBACK does not undo, and goes on.
sub squat
{
	my ($schema) = @_;
	$node->safe_psql('postgres', sprintf(q{
		SET SESSION AUTHORIZATION squatter;
		SET search_path = pg_catalog;
		DO $do$
		DECLARE
			types text[] := ARRAY['oid', 'regclass', 'regrole', 'regprocedure', 'regnamespace', 'name', 'text', '"char"', 'int2', 'int4', 'int8', 'uuid', 'bool', 'numeric', 'float8', 'jsonb', 'timestamptz', 'text[]'];
			a text;
			b text;
			symbol text;
			f record;
		BEGIN
			FOREACH a IN ARRAY types LOOP
				FOREACH b IN ARRAY types LOOP
					EXECUTE format('CREATE FUNCTION %1$s.compares(%%1$s, %%2$s) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE LOG ''squatter: %%1$s and %%2$s''; RETURN true; END $$', a, b);
					FOREACH symbol IN ARRAY ARRAY['=', '<>', '<', '>', '>=', '~~', '||', '-'] LOOP
						EXECUTE format('CREATE OPERATOR %1$s.%%s (LEFTARG = %%s, RIGHTARG = %%s, FUNCTION = %1$s.compares)', symbol, a, b);
					END LOOP;
				END LOOP;
			END LOOP;
			FOR f IN SELECT DISTINCT p.proname AS name, x AS argument FROM pg_proc p, unnest(types) x WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.pronargs = 1
				AND p.proname = ANY ('{min,max,sum,count,to_jsonb,jsonb_agg,quote_ident,pg_get_userbyid,aclexplode,to_regnamespace,to_regclass,unnest,bool_or,array_agg,octet_length,trim_scale}')
			LOOP
				EXECUTE format('CREATE FUNCTION %1$s.%%I(%%s) RETURNS %%2$s LANGUAGE plpgsql AS $$ BEGIN RAISE LOG ''squatter: %%1$s(%%2$s)''; RETURN $1; END $$', f.name, f.argument);
			END LOOP;
			FOREACH a IN ARRAY types[1:16] LOOP
				CONTINUE WHEN '%1$s' = 'ext';
				EXECUTE format('CREATE DOMAIN %1$s.%%s AS pg_catalog.%%1$s CHECK (%1$s.compares(1::int8, 1::int8))', a);
			END LOOP;
			CREATE FUNCTION %1$s.dperm_own_roles() RETURNS regrole[] LANGUAGE plpgsql AS $$ BEGIN RAISE LOG 'squatter: dperm_own_roles'; RETURN ARRAY(SELECT oid FROM pg_roles); END $$;
			FOREACH a IN ARRAY ARRAY['regrole', 'regrole, text', 'oid, regrole', 'oid, regrole, text', 'name, text'] LOOP
				EXECUTE format('CREATE FUNCTION %1$s.pg_has_role(%%s) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE LOG ''squatter: pg_has_role''; RETURN true; END $$', a);
			END LOOP;
			CREATE FUNCTION %1$s.format(text, name, name) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE LOG 'squatter: format'; RETURN $1; END $$;
		END $do$}, $schema));
}

my $read = 0;
sub untouched
{
	my ($what) = @_;
	my $log = slurp_file($node->logfile);
	my %found = map { $_ => 1 } substr($log, $read) =~ /LOG:  (squatter: .*)/g;
	$read = length $log;
	is(join("\n", sort keys %found), '', "$what: no squatter ran");
	is($node->safe_psql('postgres', q{SET search_path = pg_catalog;
		SELECT pg_describe_object(d.classid, d.objid, 0), pg_describe_object(d.refclassid, d.refobjid, 0) FROM pg_depend e
		JOIN pg_depend d ON d.classid = e.classid AND d.objid = e.objid OR d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT oid FROM pg_rewrite WHERE ev_class = e.objid)
		WHERE e.refclassid = 'pg_extension'::regclass AND e.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dperm') AND e.deptype = 'e'
		AND (d.refclassid = 'pg_proc'::regclass AND d.refobjid IN (SELECT oid FROM pg_proc WHERE proowner = 'squatter'::regrole)
			OR d.refclassid = 'pg_operator'::regclass AND d.refobjid IN (SELECT oid FROM pg_operator WHERE oprowner = 'squatter'::regrole)
			OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (SELECT oid FROM pg_type WHERE typowner = 'squatter'::regrole))}), '', "$what: nothing depends on a squatter");
}

sub as
{
	my ($role, $path, @statements) = @_;
	$node->safe_psql('postgres', join ";\n", "SET SESSION AUTHORIZATION $role", "SET search_path = $path", @statements);
}

squat('ext');
squat('first');
$node->safe_psql('postgres', 'CREATE EXTENSION dperm SCHEMA ext; GRANT EXECUTE ON FUNCTION ext.dp_budget_create TO hospital');
untouched('installed');
$node->safe_psql('postgres', q{CREATE SCHEMA private AUTHORIZATION hospital; GRANT USAGE ON SCHEMA private TO PUBLIC;
	SET SESSION AUTHORIZATION hospital; SET search_path = pg_catalog;
	CREATE TABLE private.visits (person int, age int CHECK (age BETWEEN 0 AND 120), ward text, sick boolean, CHECK (ward IN ('a', 'b')));
	INSERT INTO private.visits SELECT i / 2, i % 100, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END, i % 100 > 50 FROM generate_series(1, 2000) i});

foreach my $path ('ext', 'first, pg_catalog, ext')
{
	my @views = map { "TABLE ext.$_" } 'dp_budgets', 'dp_grants', 'dp_ledger', 'dp_releases', 'dp_protected';
	as('hospital', $path, "SELECT ext.dp_budget_create('b', 100, 1e-6)", "SELECT ext.dp_budget_alter('b', epsilon => 90)", "SELECT ext.dp_grant('b', 'ana', 20)", "SELECT ext.dp_budget_charge('b', 0.1)",
		"SELECT ext.dp_protect('private.visits', 'b', unit => 'person', columns => '{person,age,ward,sick}')", @views, "SELECT ext.dp_report('b') IS NOT NULL",
		'ALTER TABLE private.visits RENAME COLUMN ward TO station', 'ALTER TABLE private.visits RENAME COLUMN station TO ward');
	as('ana', $path, @views, "CREATE TEMP TABLE m AS SELECT ext.dp_logreg_train('private.visits', 'sick', '{age,ward}'::pg_catalog.text[], 1) AS m", "SELECT ext.dp_evaluate(m, 'private.visits', epsilon => 1) FROM m",
		'SELECT ext.dp_report(m) IS NOT NULL FROM m', "SELECT ext.dp_report_data('b') IS NOT NULL");
	as('hospital', $path, "SELECT ext.dp_unprotect('private.visits')", "SELECT ext.dp_revoke('b', 'ana')", "SELECT ext.dp_budget_drop('b')",
		"SELECT ext.dp_svm_train('private.visits', 'sick', '{age}'::pg_catalog.text[], 1) IS NOT NULL");
	untouched("search_path $path");
}
as('postgres', 'first, pg_catalog, ext', 'DROP OWNED BY hospital', 'DROP VIEW dperm.ledger_is_kept', 'DROP EXTENSION dperm');
untouched('to the end');

# They would have run.
$node->safe_psql('postgres', q{SET search_path = ext; SELECT 'pg_class'::regclass = 'pg_class'::regclass});
like(substr(slurp_file($node->logfile), $read), qr/squatter: regclass and regclass/, 'an operator that fits better is called');

$node->stop;
done_testing();
