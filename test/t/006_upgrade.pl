# A database that was updated from an older version has the objects of a fresh one, and the models that
# the older version stored predict the same.
use strict;
use warnings;

use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $data = dirname(__FILE__) . '/../upgrade';
my @old = ('0.1.0');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;

# Everything that the catalogs say of an extension's members, one line for each, without OIDs.
my $objects = q{
	CREATE FUNCTION pg_temp.told(classid oid, objid oid) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		told jsonb;
		key text;
		kind text;
	BEGIN
		EXECUTE format('SELECT to_jsonb(c) FROM %s c WHERE oid = %s', classid::regclass, objid) INTO STRICT told;
		-- a node tree holds the place in the script; pg_get_function_arguments below shows what it means
		told := told - 'proargdefaults';
		-- tables and views: what they are made of, not where they are stored or how much is in them
		IF classid = 'pg_class'::regclass THEN
			told := told - '{reltype,relfilenode,reltoastrelid,relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,relminmxid,reltablespace,relrewrite}'::text[]
				|| jsonb_build_object('definition', pg_get_viewdef(objid), 'columns', (SELECT jsonb_agg(to_jsonb(x) ORDER BY attnum) FROM (
					SELECT attnum, attname, format_type(atttypid, atttypmod) AS type, attnotnull, c.collname, pg_get_expr(adbin, adrelid) AS preset
					FROM pg_attribute a LEFT JOIN pg_attrdef d ON adrelid = attrelid AND adnum = attnum LEFT JOIN pg_collation c ON c.oid = attcollation
					WHERE attrelid = objid AND attnum > 0) x),
					'constraints', (SELECT jsonb_agg(pg_get_constraintdef(c.oid) ORDER BY conname) FROM pg_constraint c WHERE conrelid = objid AND contype <> 'n'),
					'triggers', (SELECT jsonb_agg(jsonb_build_array(pg_get_triggerdef(t.oid), tgenabled, obj_description(t.oid, 'pg_trigger')) ORDER BY tgname) FROM pg_trigger t WHERE tgrelid = objid AND NOT tgisinternal));
		END IF;
		-- an OID differs from database to database: write the name instead
		FOR key, kind IN
			SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
			WHERE attrelid = classid AND attnum > 0 AND format_type(atttypid, NULL) IN ('oid', 'oidvector', 'oid[]')
		LOOP
			CONTINUE WHEN NOT told ? key;
			told := told || jsonb_build_object(key, CASE
				WHEN key IN ('oid', 'typarray') THEN NULL
				WHEN key IN ('prorettype', 'proargtypes', 'proallargtypes', 'typelem', 'castsource', 'casttarget', 'provariadic', 'protrftypes', 'oprleft', 'oprright', 'oprresult', 'typbasetype')
				THEN (SELECT string_agg(CASE t[1] WHEN '0' THEN '-' ELSE format_type(t[1]::oid, NULL) END, ', ' ORDER BY n)
					FROM regexp_matches(told ->> key, '[0-9]+', 'g') WITH ORDINALITY s(t, n))
				WHEN key IN ('castfunc', 'evtfoid') THEN (told ->> key)::oid::regprocedure::text
				WHEN key ~ 'owner$' THEN (told ->> key)::oid::regrole::text
				WHEN key ~ 'namespace$' THEN (told ->> key)::oid::regnamespace::text
				WHEN key = 'relam' AND told ->> key <> '0' THEN (SELECT amname FROM pg_am WHERE oid = (told ->> key)::oid)
				WHEN key = 'typrelid' AND told ->> key <> '0' THEN (SELECT relname FROM pg_class WHERE oid = (told ->> key)::oid)
				WHEN key = 'prolang' THEN (SELECT lanname FROM pg_language WHERE oid = (told ->> key)::oid)
				WHEN told ->> key = '0' THEN '-'
				ELSE 'OID in ' || key END);
		END LOOP;
		RETURN told;
	END $$;
	SELECT pg_describe_object(classid, objid, 0), pg_temp.told(classid, objid),
		(SELECT to_jsonb(a) - 'aggfnoid' || jsonb_build_object('aggtranstype', aggtranstype::regtype) FROM pg_aggregate a WHERE classid = 'pg_proc'::regclass AND a.aggfnoid = objid),
		(SELECT pg_get_function_arguments(objid) FROM pg_proc WHERE classid = 'pg_proc'::regclass AND oid = objid AND prokind = 'f'),
		obj_description(objid, classid::regclass::name),
		(SELECT (p.privtype, p.initprivs) FROM pg_init_privs p WHERE p.classoid = classid AND p.objoid = objid)
	FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dperm')
	ORDER BY 1;
	SELECT extname, extversion, extrelocatable, (SELECT array_agg((relation::regclass, condition)::text ORDER BY relation::regclass::text) FROM unnest(extconfig, extcondition) c(relation, condition)), extnamespace::regnamespace, obj_description(oid, 'pg_extension')
	FROM pg_extension WHERE extname = 'dperm'};

# Compares the objects of a database with those of a fresh one, and shows the lines that differ.
my $fresh;
sub same_objects
{
	my ($database, $name) = @_;
	my $found = $node->safe_psql($database, $objects);
	my %found = map { $_ => 1 } split /\n/, $found;
	my %fresh = map { $_ => 1 } split /\n/, $fresh;
	my $ok = is(join("\n", grep { !$fresh{$_} } sort keys %found), '', "$name: no other objects than in a fresh database");
	$ok &= is(join("\n", grep { !$found{$_} } sort keys %fresh), '', "$name: all objects of a fresh database");
	diag('the update script does not make what the install script makes: sql/updates, and the parts that it names') if !$ok;
}

# Loads the models of an older version in each of their forms, and their predictions. What a table of 0.1.0 held
# was the binary form: the cast puts these bytes into a table without a look at them.
sub load_models
{
	my ($database, $version) = @_;
	$node->safe_psql($database, q{
		CREATE CAST (bytea AS dp_model) WITHOUT FUNCTION;
		CREATE TABLE forms (name text, as_text text, as_binary bytea);
		CREATE TABLE predictions (name text, id int, decision float8, positive boolean);});
	my $sql = slurp_file("$data/cases.sql");
	$node->safe_psql($database, $sql);
	foreach my $table ('forms', 'predictions')
	{
		my $file = "$data/" . ($table eq 'forms' ? 'models' : 'predictions') . "-$version.tsv";
		$node->safe_psql($database, "COPY $table FROM stdin;\n" . slurp_file($file) . "\\.\n");
	}
	# binary COPY is the way of dp_model_recv
	my $dir = PostgreSQL::Test::Utils::tempdir;
	$node->safe_psql($database, qq{
		COPY (SELECT name, as_binary FROM forms) TO '$dir/models' WITH (FORMAT binary);
		CREATE TABLE models (form text DEFAULT 'binary', name text, model dp_model);
		COPY models (name, model) FROM '$dir/models' WITH (FORMAT binary);
		INSERT INTO models SELECT 'text', name, as_text::dp_model FROM forms;
		INSERT INTO models SELECT 'stored', name, as_binary::dp_model FROM forms;});
}

# What differs from the stored predictions; nothing should. A row that does not fit gives no prediction.
my $differences = q{
	CREATE FUNCTION pg_temp.decision(model dp_model, c cases) RETURNS float8 LANGUAGE plpgsql AS $$
	BEGIN
		RETURN dp_decision(model, c);
	EXCEPTION WHEN datatype_mismatch THEN -- a model of arrays
		RETURN CASE WHEN cardinality(c.x) = 3 THEN dp_decision(model, c.x) END;
	END $$;
	SELECT form, name, id, was, is_now FROM (
		SELECT form, p.name, id, p.decision AS was, pg_temp.decision(model, c) AS is_now, p.positive
		FROM models JOIN predictions p USING (name) JOIN cases c USING (id)) s
	WHERE (was IS NULL) <> (is_now IS NULL) OR abs(was - is_now) > 1e-12 * greatest(1, abs(was)) OR positive <> (is_now > 0)};

# With the new library and the old objects nothing is trained or evaluated: an error says what to do, whatever the plan.
sub refused_before_update
{
	my ($database, $version) = @_;
	my @calls = ("SELECT dp_logreg(y, ARRAY[age / 120.0], 1) FROM cases", "SELECT dp_svm(y, ARRAY[age / 120.0], 1, 0.1) FROM cases",
		"SELECT dp_logreg(y, ARRAY[age / 120.0], 1, 0.1, '{}') FROM cases WHERE false",
		"SELECT dp_svm(y, ARRAY[age / 120.0], 1, 0.1, '{}') FROM cases GROUP BY id % 2",
		"SELECT dp_logreg(y, ARRAY[age / 120.0], 1) FROM cases GROUP BY ROLLUP (id)");
	foreach my $features ("'age'", "'{age,dose}'", "'{age,dose}'::text[]", "ARRAY['age', 'dose']", 'NULL::text')
	{
		push @calls, map { "SELECT $_('cases', 'y', $features, 1)" } 'dp_logreg_train', 'dp_svm_train', 'dp_logreg_tune', 'dp_svm_tune';
	}
	push @calls, map { "SELECT * FROM $_((SELECT model FROM models LIMIT 1), 'cases', 'y', 1, features => 'x')" } 'dp_evaluate', 'dp_roc';
	my @answers = map { my ($stdout, $stderr) = ('', ''); $node->psql($database, "\\set VERBOSITY verbose\n$_;",
		stdout => \$stdout, stderr => \$stderr); [ $_, $stdout, $stderr ] } @calls;
	my $wanted = qr/ERROR:  55000: extension dperm in this database is older .*\nHINT:  Run ALTER EXTENSION dperm UPDATE\./;
	my @released = grep { $_->[1] ne '' || ($_->[2] !~ $wanted && $_->[0] !~ /ROLLUP/) || $_->[2] !~ /ERROR/ } @answers;
	is(join("\n", map { "@$_" } @released), '', "$version: before the update, " . @calls . ' calls are refused');
}

# What an administrator granted and revoked on functions of 0.1.0 is kept: on one version of a function, on both, on an aggregate;
# and by pg_dump too, which leaves out what an extension came with.
sub keeps_grants
{
	my ($database, $version) = @_;
	my $text = 'text, text, text, float8, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint';
	(my $array = $text) =~ s/text, text, text,/text, text, text[],/;
	my $cost = 'text, text, anycompatible, float8, bigint, float8, text, text, text, boolean, float8, integer, jsonb, text, float8, integer, bigint, text, float8, text, float8, float8, text, text';
	my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
	my $granted = q{SELECT proname, pronargs, (SELECT string_agg(grantee || CASE WHEN is_grantable THEN '*' ELSE '' END, ' ' ORDER BY grantee COLLATE "C")
			FROM (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee, is_grantable
				FROM aclexplode(proacl) a WHERE a.grantee <> proowner) g)
		FROM pg_proc WHERE proacl IS NOT NULL AND proname ~ '^dp_' AND prorettype NOT IN ('event_trigger'::regtype, 'trigger'::regtype) ORDER BY proname COLLATE "C", pronargs};
	my $wanted = qq{dp_aggregate_final|1|\ndp_cost|11|"An ""analyst"\ndp_cost|24|"An ""analyst"\ndp_evaluate|8|grantor*\ndp_logreg_train|21|"An ""analyst" grantor*\ndp_roc|9|"An ""analyst"\ndp_svm|3|\ndp_svm_train|23|"An ""analyst" PUBLIC};
	my $roles = q{"An ""analyst", grantor};

	$node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
	$node->safe_psql($database, qq{
		CREATE EXTENSION dperm VERSION '$version';
		CREATE ROLE "An ""analyst"; CREATE ROLE grantor;
		REVOKE EXECUTE ON FUNCTION dp_logreg_train($text), dp_logreg_train($array) FROM PUBLIC;
		GRANT EXECUTE ON FUNCTION dp_logreg_train($text) TO $roles;
		GRANT EXECUTE ON FUNCTION dp_logreg_train($array) TO grantor WITH GRANT OPTION;
		REVOKE EXECUTE ON FUNCTION dp_svm_train($text, text, float8) FROM PUBLIC;
		GRANT EXECUTE ON FUNCTION dp_svm_train($text, text, float8) TO "An ""analyst";
		REVOKE EXECUTE ON FUNCTION dp_cost FROM PUBLIC;
		GRANT EXECUTE ON FUNCTION dp_cost TO "An ""analyst";
		REVOKE EXECUTE ON FUNCTION dp_evaluate, dp_roc FROM PUBLIC;
		GRANT EXECUTE ON FUNCTION dp_evaluate TO grantor WITH GRANT OPTION;
		GRANT EXECUTE ON FUNCTION dp_roc TO "An ""analyst";
		REVOKE EXECUTE ON FUNCTION dp_fit_final(internal), dp_svm("any", "any", float8) FROM PUBLIC;
		ALTER EXTENSION dperm UPDATE});
	is($node->safe_psql($database, $granted), $wanted, "$version: grants are kept");
	$node->command_ok([ 'pg_dump', '--no-sync', '-f', $dump, '-d', $node->connstr($database) ], "$version: updated, it is dumped");
	$node->safe_psql('postgres', qq{CREATE DATABASE "$database restored"});
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr("$database restored") ], "$version: and restored");
	is($node->safe_psql("$database restored", $granted), $wanted, "$version: with its grants");
	$node->safe_psql('postgres', qq{DROP DATABASE "$database restored"});

	# nothing else refers to the roles
	$node->safe_psql($database, "REVOKE ALL ON FUNCTION dp_logreg_train, dp_svm_train, dp_evaluate, dp_roc FROM $roles;
		REVOKE ALL ON FUNCTION dp_cost(bigint, integer, float8, float8, text, text, text, float8, float8, float8, text),
			dp_cost($cost) FROM $roles;
		DROP ROLE $roles");
	is($node->safe_psql($database, q{SELECT count(*) FROM pg_init_privs i JOIN pg_proc p ON p.oid = objoid WHERE proname ~ '^dp_' AND prorettype NOT IN ('event_trigger'::regtype, 'trigger'::regtype)}), 0, "$version: no trace is left");
}

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION dperm');
$fresh = $node->safe_psql('fresh', $objects);
cmp_ok(scalar(my @lines = split /\n/, $fresh), '>', 50, 'a fresh database has objects');
unlike($fresh, qr/OID in/, 'no object is described by an OID');

foreach my $version (@old)
{
	my $database = "from_$version";
	$node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
	$node->safe_psql($database, "CREATE EXTENSION dperm VERSION '$version'");
	isnt($node->safe_psql($database, $objects), $fresh, "$version: was different");
	load_models($database, $version);
	my $count = $node->safe_psql($database, 'SELECT count(*) FROM models JOIN predictions USING (name) JOIN cases USING (id)');
	cmp_ok($count, '>', 500, "$version: $count predictions to compare");
	is($node->safe_psql($database, $differences), '', "$version: its models predict the same before the update");
	refused_before_update($database, $version);
	# dp_cost reads no rows: it answers, in the columns that it had
	my $cost = $node->safe_psql($database, 'SELECT to_jsonb(c) FROM dp_cost(10000, 5, 1) c');

	$node->safe_psql($database, 'ALTER EXTENSION dperm UPDATE');
	same_objects($database, "$version, updated");
	is($node->safe_psql($database, q{SELECT to_jsonb(c) - '{method,noise,delta,neighbours,weight_error}'::text[] FROM dp_cost(10000, 5, 1) c}), $cost, "$version: the cost is as it was before the update");
	is($node->safe_psql($database, $differences), '', "$version: updated, its models predict the same");
	is($node->safe_psql($database, q{SELECT DISTINCT form, name FROM models WHERE model::text::dp_model::text <> model::text
		OR dp_weights(model) <> (SELECT dp_weights(as_text::dp_model) FROM forms WHERE forms.name = models.name)}),
		'', "$version: its models have the same weights in every form");
	is($node->safe_psql($database, q{SELECT name FROM forms WHERE as_text::dp_model::jsonb - 'guarantee'
			IS DISTINCT FROM as_text::jsonb - 'guarantee' || '{"format": 2, "neighbours": "replace", "unit": "row"}'
				|| CASE WHEN (as_text::jsonb ->> 'private')::boolean THEN '{"noise": "ball"}' ELSE '{}' END::jsonb
			OR as_text::jsonb ->> 'neighbours' IS DISTINCT FROM 'replace-one' OR as_text::jsonb ? 'unit'}),
		'', "$version: its models say the same as before, in the words of format 2");
	is($node->safe_psql($database, q{SELECT dp_logreg_train('cases', 'y', '{age,dose,stage}', 1) IS NOT NULL AND (SELECT dp_svm(y, ARRAY[age / 120.0], 1) IS NOT NULL FROM cases)}),
		't', "$version: updated, it trains");

	# a view that trains depends on a function that goes: the update is refused, and nothing has changed
	$node->safe_psql('postgres', qq{CREATE DATABASE "$database in use"});
	$node->safe_psql("$database in use", qq{CREATE EXTENSION dperm VERSION '$version';
		CREATE VIEW training AS SELECT dp_logreg_train('t', 'y', 'x', 1)});
	my $stderr = '';
	$node->psql("$database in use", 'ALTER EXTENSION dperm UPDATE', stderr => \$stderr);
	like($stderr, qr/DETAIL:  view training depends on function dp_logreg_train/, "$version: a view that trains keeps it from the update");
	$node->safe_psql("$database in use", 'DROP VIEW training; ALTER EXTENSION dperm UPDATE');
	same_objects("$database in use", "$version, updated when the view is gone");

	keeps_grants("$database with grants", $version);

	# into any schema, and moved
	$node->safe_psql('postgres', qq{CREATE DATABASE "$database elsewhere"});
	$node->safe_psql("$database elsewhere", qq{
		CREATE SCHEMA "Odd schema";
		CREATE EXTENSION dperm VERSION '$version' SCHEMA "Odd schema";
		ALTER EXTENSION dperm UPDATE;
		ALTER EXTENSION dperm SET SCHEMA public;});
	same_objects("$database elsewhere", "$version, updated in another schema");
}

# Functions of other types with the names of ours, made before the extension: it is installed and updated all the same.
foreach my $version ('', map { " VERSION '$_'" } @old)
{
	my $database = "crowded$version";
	my @names = split /\n/, $node->safe_psql('fresh', q{SELECT DISTINCT proname FROM pg_proc WHERE proname ~ '^dp_' AND prokind = 'f'});
	$node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
	$node->safe_psql($database, join ';', map { "CREATE FUNCTION $_(int) RETURNS int LANGUAGE sql AS 'SELECT 1'" } @names);
	$node->safe_psql($database, "CREATE EXTENSION dperm$version");
	$node->safe_psql($database, 'ALTER EXTENSION dperm UPDATE') if $version;
	$node->safe_psql($database, 'DROP FUNCTION ' . join ', ', map { "$_(int)" } @names);
	same_objects($database, "$database, in a schema with functions of the same names");
}

# Every version that can be installed can be updated to this one.
is($node->safe_psql('fresh', q{SELECT v.version FROM pg_available_extension_versions v
	WHERE v.name = 'dperm' AND NOT v.installed AND NOT EXISTS (SELECT FROM pg_extension_update_paths('dperm') p
		WHERE p.source = v.version AND p.target = (SELECT extversion FROM pg_extension WHERE extname = 'dperm') AND p.path IS NOT NULL)}),
	'', 'every version has an update path');

$node->stop;
done_testing();
