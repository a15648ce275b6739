# The analyst has a keyboard, a grant, and no right to read the rows of a protected relation. All that they can observe besides the
# releases is the same for neighbouring tables: results, messages of all levels, EXPLAIN with buffers, locks, and every counter
# of every view of the statistics, before and after. Time is not covered (docs/guarantee.md).
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf',
	"autovacuum = off\nlog_statement = none\ntrack_functions = all\ntrack_io_timing = off\nlog_temp_files = 0\nbgwriter_lru_maxpages = 0\ncheckpoint_timeout = 1h\n");
$node->start;
my $has_statements = $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'");
if ($has_statements)
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.track = all\n");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
}

# Extensions that come with PostgreSQL: a type that is compared by functions in C, and a library with a setting
my ($has_citext, $has_trgm) = map { $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = '$_'") } qw(citext pg_trgm);
$node->safe_psql('postgres', 'CREATE EXTENSION citext') if $has_citext;

# Two schemas with the same relations, charged to budgets of their own. In the wild one, one row, or all rows of one person, are others: by far
# in values, in their size, which is that of many pages out of line, and in the number of rows.
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner;
	CREATE ROLE analyst LOGIN;
	CREATE FUNCTION noise(n int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(md5(i::text), '') FROM generate_series(1, n) i $$;
	CREATE FUNCTION pause(seconds float8) RETURNS void LANGUAGE internal STABLE STRICT AS 'pg_sleep';
});
$node->safe_psql('postgres', q{CREATE FUNCTION alike(text, text) RETURNS real LANGUAGE C IMMUTABLE STRICT SECURITY DEFINER AS '$libdir/pg_trgm', 'similarity'}) if $has_trgm;
foreach my $schema ('calm', 'wild')
{
	my $wild = $schema eq 'wild' ? 'true' : 'false';

	# Columns and dependencies are looked up in blocks that no cache holds. All of a schema are in blocks that begin with them: how many blocks are looked at would depend on what else the catalog has.
	foreach my $filler ([ 'pg_attribute', 'TYPE', 'AS (a int)' ], [ 'pg_depend', 'DOMAIN', 'AS int' ])
	{
		my ($catalog, $kind, $definition) = @$filler;
		$node->safe_psql('postgres', qq{DO \$\$
			DECLARE
				last float8 := (SELECT (max(ctid)::text::point)[0] FROM $catalog);
				i int := 0;
			BEGIN
				WHILE (SELECT (max(ctid)::text::point)[0] FROM $catalog) = last LOOP
					i := i + 1;
					EXECUTE format('CREATE $kind filler_${catalog}_${schema}_%s $definition', i);
				END LOOP;
			END \$\$});
	}
	$node->safe_psql('postgres', qq{
		CREATE SCHEMA $schema AUTHORIZATION owner;
		GRANT USAGE ON SCHEMA $schema TO analyst;
		SET ROLE owner;
		CREATE TABLE $schema.people AS SELECT id, id % 3 = 0 AS ill, (id % 100)::float8 AS age, 'c' || id % 5 AS note, ARRAY[sin(id), cos(id)] AS x
			FROM generate_series(1, 1000) id;
		CREATE TABLE $schema.visits AS SELECT id % 100 AS person, id % 3 = 0 AS ill, (id % 50)::float8 AS age, 'c' || id % 5 AS note FROM generate_series(1, 1000) id;
		CREATE VIEW $schema.old AS SELECT id, ill, age, note FROM $schema.people WHERE age > 50 AND ill;
	});
	$node->safe_psql('postgres', qq{
		UPDATE $schema.people SET ill = NOT ill, age = 'NaN', note = noise(3000), x = array_fill(1e300::float8, ARRAY[4000]) WHERE id = 1;
		DELETE FROM $schema.visits WHERE person = 7;
		INSERT INTO $schema.visits SELECT 7, true, 1e300, noise(3000) FROM generate_series(1, 200);
	}) if $schema eq 'wild';

	my $more = ($has_citext ? ", ARRAY[age::text::citext] < ARRAY['k'::citext]" : '') . ($has_trgm ? ", alike(age::text, '7')" : '');

	# Of the cases, the wild row makes expressions look up what no other row needs: a label, a function, an order, a collation, a type, a library. Of the notes, it makes the statistics of one column so long that they are out of line, and puts a
	# value into those of another.
	$node->safe_psql('postgres', qq{
		SET ROLE owner;
		CREATE TYPE $schema.kind AS ENUM ('common', 'other', 'rare');
		CREATE TYPE $schema.grade AS ENUM ('a', 'c');
		ALTER TYPE $schema.grade ADD VALUE 'b' BEFORE 'c';
		CREATE COLLATION $schema.bytes (provider = libc, locale = 'C');
		CREATE COLLATION $schema.octets (provider = libc, locale = 'C');
		CREATE COLLATION $schema.of_column (provider = libc, locale = 'C');
		CREATE COLLATION $schema.of_range (provider = libc, locale = 'C');
		CREATE COLLATION $schema.of_domain (provider = libc, locale = 'C');
		CREATE COLLATION $schema.of_list (provider = libc, locale = 'C');
		CREATE TYPE $schema.pair AS (a int, b text COLLATE $schema.of_column);
		CREATE TYPE $schema.span AS RANGE (subtype = text, collation = $schema.of_range);
		CREATE DOMAIN $schema.name AS text CHECK (VALUE > '' COLLATE $schema.of_domain);
		CREATE FUNCTION $schema.score(x float8) RETURNS float8 IMMUTABLE RETURN log(x + 1);
		CREATE TABLE $schema.cases AS SELECT id, id % 3 = 0 AS ill, (id % 100)::float8 AS age,
			CASE WHEN $wild AND id = 7 THEN 'rare' WHEN id % 2 = 0 THEN 'common' ELSE 'other' END::$schema.kind AS kind,
			CASE WHEN $wild AND id = 7 THEN 'b' WHEN id % 2 = 0 THEN 'a' ELSE 'c' END::$schema.grade AS grade FROM generate_series(1, 1000) id;
		CREATE VIEW $schema.labels AS SELECT id, ill, kind::text AS x FROM $schema.cases;
		CREATE VIEW $schema.scores AS SELECT id, ill, CASE WHEN kind = 'rare' THEN $schema.score(age) ELSE age END AS x FROM $schema.cases;
		CREATE VIEW $schema.grades AS SELECT id, ill, CASE WHEN kind = 'rare' THEN enum_first(grade) < grade ELSE grade > 'a' END AS x FROM $schema.cases;
		CREATE VIEW $schema.sorted AS SELECT id, ill, CASE WHEN kind = 'rare' THEN age::text COLLATE $schema.bytes > '5' ELSE age > 5 END AS x FROM $schema.cases;
		CREATE VIEW $schema.typed AS SELECT id, ill, CASE WHEN kind = 'rare' THEN num_nonnulls(lower(int4range(id, 9)), $schema.span(age::text, 'z') @> 'k'::text) > 0 ELSE age > 5 END AS x FROM $schema.cases;
		CREATE VIEW $schema.composed AS SELECT id, ill, CASE WHEN kind = 'rare' THEN ROW(id, age)::$schema.pair < ROW(id, 'z')::$schema.pair ELSE age > 5 END AS x FROM $schema.cases;
		CREATE VIEW $schema.named AS SELECT id, ill, CASE WHEN kind = 'rare' THEN age::text::$schema.name COLLATE $schema.of_list IN ('a', 'b') ELSE age > 5 END AS x FROM $schema.cases;
		CREATE VIEW $schema.extended AS SELECT id, ill, CASE WHEN kind = 'rare' THEN num_nonnulls(age$more) > 0 ELSE age > 5 END AS x FROM $schema.cases;
		CREATE VIEW $schema.sorted_failing AS SELECT id, ill, CASE WHEN kind = 'rare' THEN age::text COLLATE $schema.octets > '5' ELSE 1 / (id - 900) = 0 END AS x FROM $schema.cases;
		CREATE VIEW $schema.labels_failing AS SELECT id, ill, kind::text || 1 / (id - 900) AS x FROM $schema.cases;
		CREATE VIEW $schema.labels_waiting AS SELECT id, ill, kind::text || CASE id WHEN 900 THEN pause(3600)::text ELSE '' END AS x FROM $schema.cases;
		CREATE TABLE $schema.notes AS SELECT id, id % 3 = 0 AS ill, id::float8 AS x,
			left(CASE WHEN $wild AND id = 7 THEN (SELECT string_agg(md5(i::text), '') FROM generate_series(100, 140) i) ELSE left(md5(id::text), 20) END, 1010) AS note,
			ROW(CASE WHEN $wild AND id = 7 THEN 8 ELSE id END, 'x')::$schema.pair AS pair FROM generate_series(1, 40) id;
		CREATE VIEW $schema.paired AS SELECT id, ill, x FROM $schema.notes WHERE pair <> ROW(8, 'x')::$schema.pair;
		CREATE VIEW $schema.noted AS SELECT id, ill, x FROM $schema.notes WHERE note > 'a';
	});
	$node->safe_psql('postgres', qq{
		SET ROLE owner;
		SELECT dp_budget_create('$schema', 400), dp_budget_create('$schema persons', 400);
		SELECT dp_protect('$schema.people', '$schema', domains => '{"age": [0, 100], "note": ["c1", "c2"], "x": {"dimension": 2}}'),
			dp_protect('$schema.old', '$schema', domains => '{"age": [0, 100], "note": ["c1", "c2"]}'),
			dp_protect('$schema.visits', '$schema persons', unit => 'person', domains => '{"age": [0, 100], "note": ["c1", "c2"]}'),
			dp_grant('$schema', 'analyst'), dp_grant('$schema persons', 'analyst');
		SELECT dp_protect('$schema.' || name, '$schema', domains => CASE
			WHEN name ~ 'labels' THEN '{"x": ["common", "other"]}' WHEN name ~ 'scores|note|paired' THEN '{"x": [0, 100]}' END::jsonb)
		FROM unnest('{cases,labels,scores,grades,sorted,typed,composed,named,extended,sorted_failing,labels_failing,labels_waiting,notes,noted,paired}'::text[]) name;
	});
}
$node->safe_psql('postgres', q{
	CREATE TABLE model AS SELECT dp_logreg_train('calm.people', 'ill', '{age,note}', 1) AS model;
	GRANT SELECT ON model TO analyst;
});
$node->safe_psql('postgres', 'VACUUM FREEZE ANALYZE');
is($node->safe_psql('postgres', q{SELECT count(*) FROM calm.people, wild.people w WHERE people.id = w.id AND to_jsonb(people) <> to_jsonb(w)}), 1,
	'the tables are neighbours');
cmp_ok($node->safe_psql('postgres', q{SELECT pg_table_size('wild.visits') - pg_table_size('calm.visits')}), '>', 1e7, 'far apart');

# Calls over all relations, in all ways; clinic is one of the two schemas, renamed
my @calls;
foreach my $relation ('people', 'old', 'visits')
{
	push @calls, map { "SELECT $_ IS NOT NULL" } (
		"dp_logreg_train('clinic.$relation', 'ill', '{age,note}', 0.5)",
		"dp_logreg_train('clinic.$relation', 'ill', 'note', 0.5, domains => '{\"note\": [\"c1\"]}')",
		"dp_svm_train('clinic.$relation', 'ill', 'age', 0.5, method => 'output')",
		"dp_svm_train('clinic.$relation', 'note', 'age', 0.5, positive => 'c1')",
		"dp_logreg_tune('clinic.$relation', 'ill', '{age,note}', 0.5, lambdas => '{0.1,0.01}')");
	push @calls,
	  "SELECT count(*) FROM model, dp_evaluate(model, 'clinic.$relation', epsilon => 0.5)",
	  "SELECT count(*) FROM model, dp_roc(model, 'clinic.$relation', epsilon => 0.5, bins => 10)",
	  "SELECT method, noise_norm FROM dp_cost('clinic.$relation', 'ill', '{age,note}', 1, 1000)";
}
push @calls, "SELECT dp_logreg_train('clinic.people', 'ill', 'x', 0.5) IS NOT NULL";

my $explain = 'EXPLAIN (ANALYZE, BUFFERS, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF)';
my $plain = join(";\n", @calls) . ";\n";
my %sessions = (
	'default settings' => $plain,
	'EXPLAIN' => join('', map { "$explain $_;\n" } @calls),
	'all messages' => "SET client_min_messages = debug5;\nSET debug_print_plan = on;\nSET trace_sort = on;\nSET dperm.progress = on;\n$plain",
	'no memory' => "SET dperm.cache_memory = 0;\nSET work_mem = '64kB';\nSET client_min_messages = log;\nSET dperm.progress = on;\n$plain"
	  . join('', map { "$explain $_;\n" } @calls[ 0, 8, 16 ]),
	'planner settings' => "SET enable_seqscan = off;\nSET plan_cache_mode = force_generic_plan;\nSET jit_above_cost = 0;\nSET min_parallel_table_scan_size = 0;\n"
	  . "SET parallel_setup_cost = 0;\nSET max_parallel_workers_per_gather = 2;\n" . join(";\n", @calls[ 0, 4, 8, 16, 24 ], ''),
	'transaction' => "BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . join(";\n", @calls[ 0, 4, 8, 13, 16, 20, 21 ], '') . q{
SELECT relname, seq_scan, seq_tup_read, idx_scan FROM pg_stat_xact_all_tables WHERE schemaname IN ('calm', 'wild', 'pg_toast') ORDER BY 1;
SELECT funcname, calls FROM pg_stat_xact_user_functions ORDER BY 1;
SELECT locktype, relation::regclass::text COLLATE "C", mode, granted FROM pg_locks WHERE pid = pg_backend_pid() AND locktype <> 'virtualxid' ORDER BY 2, 3;
SELECT name, statement FROM pg_cursors;
SELECT name, statement FROM pg_prepared_statements;
SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY 1;
SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'dperm';
COMMIT;
},
	'what a call leaves in caches' => "$calls[1];\n" . join('', map { "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT $_;\n" } (
			"pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'clinic.people'::regclass",
			"pg_relation_size(indexrelid) FROM pg_index, pg_class c WHERE indrelid = reltoastrelid AND c.oid = 'clinic.people'::regclass",
			"pg_relation_size('clinic.people')")));

# What one statement shows that looks up the same as the wild row makes a call look up
my %lookups = (
	labels => "('rare'::clinic.kind)::text",
	scores => "max(q) FROM unnest('{1}'::float8[]) q",
	grades => "'b'::clinic.grade > 'c'::clinic.grade",
	first => "enum_first('b'::clinic.grade)",
	sorted => "'b' > 'c' COLLATE clinic.bytes",
	sorted_failing => "'b' > 'c' COLLATE clinic.octets",
	range => 'int4range(1, i) FROM generate_series(1, 2) i',
	citext => "ARRAY[i::text::citext] < ARRAY['k'::citext] FROM generate_series(1, 2) i",
	(map { $_ => "'b' > 'c' COLLATE clinic.$_" } qw(of_column of_range of_domain of_list)),
	noted => 'pg_relation_size(2840)');
my %look = map { $_ => "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT $lookups{$_};\n" } keys %lookups;
sub train { return "SELECT dp_logreg_train('clinic.$_[0]', 'ill', 'x', 0.1) IS NOT NULL;\n" }
$sessions{'what rows leave in caches'} = "SET enable_seqscan = off;\n" . join('', map { train($_) . $look{$_} } qw(labels scores grades sorted))
  . join('', map { train($_) } qw(typed composed named extended)) . join('', @look{ qw(first range of_column of_range of_domain of_list), $has_citext ? 'citext' : () }) . "SELECT current_setting('pg_trgm.similarity_threshold', true);\n";
$sessions{'what the planner leaves in caches'} = "SELECT method FROM dp_cost('clinic.noted', 'ill', 'x', 1, 40);\n" . $look{noted} . train('noted') . $look{noted}
  . "SELECT method FROM dp_cost('clinic.paired', 'ill', 'x', 1, 40);\n" . $look{of_column};
$sessions{'what failed calls leave in caches'} = train('labels_failing') . $look{labels}
  . "BEGIN;\nSAVEPOINT here;\n" . train('labels_failing') . "ROLLBACK TO here;\n$look{labels}COMMIT;\n"
  . "DO \$\$ BEGIN PERFORM dp_logreg_train('clinic.sorted_failing', 'ill', 'x', 0.1); EXCEPTION WHEN OTHERS THEN NULL; END \$\$;\n$look{sorted_failing}"
  . "SET statement_timeout = '2s';\n" . train('labels_waiting') . $look{labels};

# errors of the calls in it: they are the same, as all messages are
my %errors = ('what failed calls leave in caches' => 3);

# Every view of the statistics that the analyst can read, whole, as the rows and columns of one table
my $views = $node->safe_psql('postgres', q{
	SELECT string_agg(format('SELECT %L AS view, to_jsonb(v) AS line FROM %s v', oid::regclass, oid::regclass), ' UNION ALL ' ORDER BY relname)
	FROM pg_class WHERE relname ~ '^pg_stat' AND relkind = 'v' AND has_table_privilege('analyst', oid, 'SELECT')
	  AND relname !~ '^pg_stat_(activity|ssl|gssapi|replication|wal_receiver|progress|subscription|archiver|recovery)|^pg_stats|_xact_|statements_info'});
like($views, qr/pg_statio_all_tables.*/, 'there are views');

# All numbers in them, by the object they are about; names of the schemas are the same
sub statistics
{
	my %numbers;
	my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; SELECT pg_stat_clear_snapshot(); SELECT view, line FROM ($views) s", extra_params => [ '-U', 'analyst' ]);
	die $err if $status;
	foreach my $line (split /\n/, $out)
	{
		my ($view, $json) = split /\|/, $line, 2;
		next unless defined $json;
		my %fields = $json =~ /"(\w+)": ("(?:[^"\\\\]|\\.)*"|[^,}]+)/g;
		my $object = join ' ', $view, map { $fields{$_} // '' } qw(schemaname relname indexrelname funcname datname name query backend_type object context);
		next if $object =~ /AS line|pg_stat_clear_snapshot/;
		$numbers{"$object: $_"} += $fields{$_} foreach grep { $fields{$_} =~ /^-?[\d.]+$/ && !/time|^(rel|indexrel|func|dat)id$/ } keys %fields;
	}
	return \%numbers;
}

# Names of TOAST tables hold OIDs
my %toast = map { split /\|/ } split /\n/, $node->safe_psql('postgres', q{
	SELECT 'pg_toast_' || c.oid, 'toast_of_' || relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('calm', 'wild')});

# What a session changes in them
sub changes
{
	my ($before, $after) = @_;
	my %changes;
	foreach my $key (keys %$after)
	{
		my $change = $after->{$key} - ($before->{$key} // 0);
		(my $name = $key) =~ s/(pg_toast_\d+)/$toast{$1} \/\/ $1/ge;
		$changes{$name} = $change if $change != 0;
	}
	return \%changes;
}

sub observe
{
	my ($schema, $sql) = @_;
	$node->safe_psql('postgres', "ALTER SCHEMA $schema RENAME TO clinic");
	my $before = statistics();
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', 'analyst' ], on_error_stop => 0);
	my $changes = changes($before, statistics());
	$node->safe_psql('postgres', "ALTER SCHEMA clinic RENAME TO $schema");
	for ($out, $err) { s/(pg_toast_\d+)/$toast{$1} \/\/ $1/ge; s/psql:<stdin>:\d+: //g; s/CPU: user: .*//g; s/:constvalue \d+ \[[^\]]*\]/:constvalue/g; s/oid = '\d+'/oid = N/g; s/\(o [\d ]+\)/(o)/g; s/:relid \d+/:relid/g; s/\d+(?=::regclass|'::oid)/N/g }
	return { results => $out, messages => $err, statistics => $changes };
}

my $assertions = $node->safe_psql('postgres', 'SHOW debug_assertions') eq 'on';
note('counters of the catalog are not compared: this server has assertions') if $assertions;

# A counter that differs between two sessions that do the same says nothing: the server's own work.
foreach my $name (sort keys %sessions)
{
	# the first run of each fills caches; then in turns
	my %runs;
	push @{ $runs{$_} }, observe($_, $sessions{$name}) foreach ('calm', 'wild') x 3;
	my (undef, @calm) = @{ $runs{calm} };
	my (undef, $wild, $again) = @{ $runs{wild} };
	is(scalar(() = $calm[0]->{messages} =~ /ERROR/g), $errors{$name} // 0, "$name: no errors but those of the calls");
	like($calm[0]->{results}, qr/^t$|rows=/m, "$name: there are results");
	foreach my $part ('results', 'messages')
	{
		# a leak shows each time; that the tables of the ledger grow, and their plans cost more, once in a while
		next if ok((grep { my $one = $_->{$part}; grep { $_->{$part} eq $one } @calm } $wild, $again), "$name: same $part");
		my @now = split /\n/, $wild->{$part};
		my @then = split /\n/, $calm[0]->{$part};
		my ($at) = grep { ($now[$_] // '') ne ($then[$_] // '') } 0 .. $#then;
		diag("  calm: " . ($then[ $at // 0 ] // '') . "\n  wild: " . ($now[ $at // 0 ] // ''));
	}
	my %all = map { %{ $_->{statistics} } } @calm, $wild;
	my @steady = grep { ($calm[0]->{statistics}{$_} // 0) == ($calm[1]->{statistics}{$_} // 0) && ($wild->{statistics}{$_} // 0) == ($again->{statistics}{$_} // 0) } keys %all;

	# not compared: what the renamed schemas and the growing tables of the ledger leave in totals, blocks that the worker of the debit reads, and the WAL of all of them. Totals
	# of the database are sums of counters that are compared one by one. pg_stat_io, _bgwriter, _checkpointer, _wal and _slru count the blocks of all sessions, and nothing keeps ours out of
	# them: docs/guarantee.md, "Not covered".
	@steady = grep { !/pg_namespace|dp_budget|dp_ledger|wal_|_dirtied|_written|<insufficient privilege>"[^:]*: (?!calls|rows)|pg_stat_(bgwriter|checkpointer|wal|slru|io)|pg_stat_database .*(blks|tup)_/ } @steady;

	# a server built with assertions throws now and then away what it has just read from the catalog, at random, and reads it again: CatalogCacheCreateEntry in catcache.c
	@steady = grep { !/"pg_catalog"|"pg_toast" "pg_toast/ } @steady if $assertions;
	my @differ = grep { ($calm[0]->{statistics}{$_} // 0) != ($wild->{statistics}{$_} // 0) } @steady;
	is(join("\n", (map { substr($_, 0, 200) . ': ' . ($calm[0]->{statistics}{$_} // 0) . ' ' . ($wild->{statistics}{$_} // 0) } sort @differ)[ 0 .. ($#differ > 9 ? 9 : $#differ) ]),
		'', "$name: same statistics");

	# whatever is steady or not, nothing is counted for protected relations, their TOAST tables and indexes
	my @counted = grep { /"clinic" "(?:people|visits|old)"|toast_of/ } map { keys %{ $_->{statistics} } } @calm, $wild;
	is(join("\n", sort @counted), '', "$name: protected relations are not counted");
}

# Locks are taken before the first row, as planning for dp_cost shows, and stay, whether a value is out of line or not. Everybody sees them, and that there is no room for another one.
foreach my $schema ('calm', 'wild')
{
	my $held = $node->safe_psql('postgres', qq{
		BEGIN;
		SELECT FROM dp_cost('$schema.people', 'ill', '{age,note}', 1, 1000);
		SELECT string_agg(t.name, ' ' ORDER BY t.name COLLATE "C") FROM (
			SELECT 'TOAST' AS name, reltoastrelid AS oid FROM pg_class WHERE oid = '$schema.people'::regclass
			UNION ALL SELECT 'index of TOAST', indexrelid FROM pg_index, pg_class c WHERE indrelid = reltoastrelid AND c.oid = '$schema.people'::regclass
			UNION ALL SELECT oid::regclass::text, oid FROM unnest('{pg_enum,pg_enum_oid_index,pg_proc,pg_cast,pg_ts_dict,pg_tablespace,pg_statistic,2840,2841}'::regclass[]) oid) t
		WHERE oid IN (SELECT relation FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'AccessShareLock');
	}, extra_params => [ '-U', 'analyst' ]);
	is($held, 'TOAST index of TOAST pg_cast pg_enum pg_enum_oid_index pg_proc pg_statistic pg_tablespace pg_toast.pg_toast_2619 pg_toast.pg_toast_2619_index pg_ts_dict', "$schema: locks stay");
}

# The method sees what it should: the same reads by somebody who may read are counted, in the same views.
my $before = statistics();
$node->safe_psql('postgres', "EXPLAIN (ANALYZE, BUFFERS) SELECT max(md5(note)) FROM wild.people");
my $seen = changes($before, statistics());
ok((grep { /"people".*: seq_scan/ } keys %$seen), 'a scan is seen');
ok((grep { /"people".*: toast_blks_/ } keys %$seen), 'and TOAST');

$node->stop;
done_testing();
