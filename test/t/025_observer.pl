# The observer. Two servers are the same except for what one row of a protected
# table holds. An analyst reads everything that everybody may read, before,
# during and after calls, and compares: all tables and views of the catalog, and
# all functions of PostgreSQL that show something without being told what, or of
# a relation, database, tablespace, function or process. Only what is left out
# is chosen by hand, each by its name and with the reason. Planted leaks show
# that the rest is observed.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the modules are built by make tap' unless $ENV{TEST_MODULES};

# ---- what is not compared

# These do something, fail outside of recovery or for some relations, or know
# nothing but this session, the time or chance. Others are in by rule: see
# sources().
my $acts = join '|', qw(pg_advisory_unlock_all pg_rotate_logfile_old pg_stop_making_pinned_objects pg_export_snapshot pg_stat_clear_snapshot pg_stat_force_next_flush
	pg_current_xact_id txid_current lastval nextval currval pg_event_trigger_\w+ brin_\w+ gin_clean_pending_list pg_sequence_last_value
	pg_get_wal_replay_pause_state pg_is_wal_replay_paused pg_get_replica_identity_index
	pg_restore_relation_stats pg_clear_relation_stats pg_stat_reset\w*),
	qw(random random_normal gen_random_uuid uuidv4 uuidv7 clock_timestamp timeofday now statement_timestamp transaction_timestamp pg_timezone_names);

# docs/guarantee.md, "Not covered": memory and files of all sessions, by block
# and not by table
my $documented = join '|', qw(pg_stat_bgwriter pg_stat_checkpointer pg_stat_wal pg_stat_slru pg_stat_io),
	qw(pg_stat_get_bgwriter_\w+ pg_stat_get_checkpoint\w+ pg_stat_get_buf_\w+ pg_stat_get_wal pg_stat_get_slru pg_stat_get_io pg_stat_get_backend_io pg_stat_get_backend_wal);

# Of columns with the time, a place in the WAL or the number of a transaction,
# and of those with releases, it is compared whether they are NULL.
my $times = join '|', 'timestamp with time zone', 'interval', 'pg_lsn', 'xid', 'xid8', 'pg_snapshot', 'txid_snapshot';

# The same by name, in columns of types that do not tell; and what names a
# server or a process
my $unsteady = join '|', qw(virtualxid virtualtransaction redo_wal_file next_xid next_oid \w*_time
	pg_backend_pid pg_stat_get_backend_pid pg_stat_get_backend_idset txid_current_if_assigned);
my $released = 'model|metrics';    # of dp_releases
my $settings = join '|', qw(port unix_socket_directories cluster_name);

# ---- two servers

my $calm = PostgreSQL::Test::Cluster->new('calm');
$calm->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
my $instrument = "$ENV{TEST_MODULES}/instrument$ENV{DLSUFFIX}";
$calm->append_conf('postgresql.conf', "shared_preload_libraries = '$instrument'\ninstrument.hold = 'row_1,row_100'\ninstrument.mark = 'row_1'\ninstrument.leak = 'row_50'\n"
	. "shared_buffers = 64MB\nautovacuum = off\ntrack_functions = all\nbgwriter_lru_maxpages = 0\ncheckpoint_timeout = 1h\nmax_wal_size = 4GB\nwal_level = minimal\nmax_wal_senders = 0\nlog_statement = none\ntrack_commit_timestamp = on\n");
$calm->start;
if ($calm->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'"))
{
	$calm->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements,$instrument'\npg_stat_statements.track = all\npg_stat_statements.save = off\n");
	$calm->restart;
	$calm->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
}
my $statements = $calm->safe_psql('postgres', "SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'");
my $forgets = $calm->safe_psql('postgres', 'SHOW debug_assertions') eq 'on';

# What the rare row makes expressions look up, and no other row: a value out of
# line, how values of a type are compared, alone or in an array, how they are
# written and read, a collation, a regular expression; and an error, for which
# the row is left out.
my @rarely = (
	'md5(note)',
	'md5(remark)',
	q{grade IN ('b', 'c')},
	q{nullif(grade, 'a'::o.grade)},
	q{note COLLATE "POSIX" > '5'},
	q{ARRAY[note, remark] < ARRAY['5', 'a' COLLATE "C"]},
	q{ARRAY[id::numeric, 1] @> ARRAY[age::numeric]},
	q{ARRAY[id, 7] || id = ARRAY[age]::int[]},
	q{array_position(ARRAY[date '2000-01-01' + id], date '2000-02-20')},
	q{greatest(note, remark, 'z')},
	q{greatest(interval '1 day' * id, interval '1 month')},
	q{least(B'101', id::bit(3))},
	q{(id::text || '.5')::numeric},
	q{('[' || id::text || ', "' || left(note, 3) || '"]')::jsonb -> 1},
	q{string_to_array(note, 'a')},
	q{(left(note, 3) || 'x')::varchar(2)},
	q{note ~ '^[0-9a-f]+(a|b)*$'},
	q{inet '10.0.0.0/8' >> ('10.0.0.' || id::text)::inet},
	q{decode(left(note, 4), 'hex')},
	q{1 / (id - 50)});

# What they cannot have: what is looked up for them is found in the catalog, or
# is code of somebody.
my %refused = (
	'kind::text' => 'function enum_out\(anyenum\)',
	'enum_first(grade) = grade' => 'function enum_first',
	q{enum_range(kind) IS NULL} => 'function enum_range',
	q{grade > 'a'::o.grade} => 'function enum_gt',
	q{note COLLATE o.bytes > '5'} => 'collation "bytes"',
	q{lower(int4range(id, 99)) > 1} => 'function (?:lower\(anyrange|int4range)',
	q{o.span(left(note, 3), 'zzzz') @> 'k'::text} => 'operator @>|function|type',
	q{ROW(id, note)::o.pair < ROW(id, 'z')::o.pair} => 'function|ROWEXPR|type|operator',
	q{ROW(id, note)::o.pair::text} => 'type|ROWEXPR|function',
	q{to_jsonb(ROW(id, note)::o.pair) IS NULL} => 'function to_jsonb',
	q{jsonb_populate_record(NULL::o.pair, '{"a": 1}') IS NULL} => 'row value|function jsonb_populate_record',
	q{(left(note, 3) || 'x')::o.name} => 'COERCETODOMAIN',
	q{to_char(age, '999D99')} => 'function to_char\(double precision,text\)',
	q{o.score(id)} => 'function o\.score\(integer\)',
	q{o.words(note)} => 'function o\.words\(text\)',
	q{o.rarely(id)} => 'function o\.rarely\(integer\)');
my @columns = map { "x$_" } 1 .. @rarely;
my $cases = join ', ', map { "CASE WHEN kind = 'rare' THEN ($rarely[$_]) IS NOT NULL ELSE false END AS x" . ($_ + 1) } 0 .. $#rarely;
$calm->safe_psql('postgres', qq{
	CREATE EXTENSION dperm;
	CREATE ROLE owner; CREATE ROLE analyst LOGIN; } . ($statements ? 'ALTER ROLE analyst SET pg_stat_statements.track = none;' : '') . qq{
	CREATE SCHEMA o AUTHORIZATION owner; GRANT USAGE ON SCHEMA o TO analyst;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	SET ROLE owner;
	CREATE TYPE o.kind AS ENUM ('common', 'other', 'rare');
	CREATE TYPE o.grade AS ENUM ('a', 'c');
	ALTER TYPE o.grade ADD VALUE 'b' BEFORE 'c';
	CREATE COLLATION o.bytes (provider = libc, locale = 'C');
	CREATE COLLATION o.of_column (provider = libc, locale = 'C');
	CREATE COLLATION o.of_range (provider = libc, locale = 'C');
	CREATE TYPE o.unused AS (a int);
	CREATE TYPE o.pair AS (a int, b text COLLATE o.of_column);
	CREATE TYPE o.span AS RANGE (subtype = text, collation = o.of_range);
	CREATE DOMAIN o.name AS text CHECK (VALUE > '');
	CREATE TABLE o.another AS SELECT 1 AS a;
	CREATE FUNCTION o.score(x int) RETURNS float8 IMMUTABLE RETURN log(x + 1);
	CREATE FUNCTION o.words(x text) RETURNS bigint IMMUTABLE BEGIN ATOMIC SELECT count(*) FROM regexp_split_to_table(x, 'a+') w; END;
	CREATE FUNCTION o.rarely(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS \$\$ BEGIN RETURN x / (x - 50); END \$\$;
	CREATE TABLE o.people (id int PRIMARY KEY, ill boolean, age float8, bmi float8, kind o.kind, grade o.grade, note text, spare text, remark text, reserve text, person int);
	CREATE INDEX ON o.people (left(note, 9));
	ALTER TABLE o.people ALTER note SET STORAGE EXTERNAL, ALTER spare SET STORAGE EXTERNAL;
	INSERT INTO o.people SELECT i, i % 3 = 0, i % 100, i % 40, CASE i % 2 WHEN 0 THEN 'common' ELSE 'other' END::o.kind, CASE i % 2 WHEN 0 THEN 'a' ELSE 'c' END::o.grade,
		'c' || i % 5, 'c' || i % 5, 'c' || i, 'c' || i, i / 2 FROM generate_series(1, 99) i WHERE i <> 50;
	CREATE TABLE o.visits (LIKE o.people);
	CREATE TABLE o.child () INHERITS (o.people);
	CREATE VIEW o.cases AS SELECT id, ill, $cases FROM o.people WHERE remark > 'a';
	CREATE VIEW o.persons AS SELECT person, ill, $cases FROM o.visits;
	SELECT dp_budget_create('rows', 500), dp_budget_create('persons', 500), dp_grant('rows', 'analyst'), dp_grant('persons', 'analyst');
	SELECT dp_protect('o.people', 'rows', domains => '{"age": [0, 100], "bmi": [0, 60], "note": ["c1", "c2"]}'), dp_protect('o.cases'), dp_protect('o.visits', 'persons', unit => 'person'), dp_protect('o.persons');
});
foreach my $expression (sort keys %refused)
{
	$calm->psql('postgres', "SET ROLE owner; BEGIN; CREATE VIEW o.refused AS SELECT ill, $expression AS x FROM o.people; SELECT dp_protect('o.refused')", stderr => \my $refusal);
	like($refusal, qr/ERROR:  view "refused" cannot be offered: it .*(?:$refused{$expression})/, "not offered: $expression");
}
$calm->safe_psql('postgres', qq{
	CREATE TABLE model AS SELECT dp_logreg_train('o.cases', 'ill', '{x1,x2}', 1) AS model;
	GRANT SELECT ON model TO analyst;
	CREATE TABLE more (} . join(', ', map { "c$_ int DEFAULT 1" } 1 .. 40) . q{)});
$calm->stop;
$calm->backup_fs_cold('start');
my $wild = PostgreSQL::Test::Cluster->new('wild');
$wild->init_from_backup($calm, 'start');

# The row, of persons with other rows. What is long in one column here is long
# in another one there, and so with NULL: the tables have the same size. One
# pair is so long that it is out of line, the other as long as makes statistics
# so.
my ($long, $longish) = map { "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, $_) i)" } 100, 31;
my %row = (
	calm => qq{50, true, NULL, 1e300, 'common', 'a', 'c1', $long, 'c50', $longish, 25},
	wild => qq{50, false, 'NaN', NULL, 'rare', 'b', $long, 'c1', $longish, 'c50', 10});
foreach my $node ($calm, $wild)
{
	$node->start;
	$node->safe_psql('postgres', "INSERT INTO o.people SELECT $row{$node->name}; INSERT INTO o.people SELECT 100, ill, age, bmi, kind, grade, note, spare, remark, reserve, 50 FROM o.people WHERE id = 1; INSERT INTO o.visits TABLE o.people");
	is($node->safe_psql('postgres', 'SELECT string_agg(id::text, chr(44) ORDER BY ctid) FROM o.people WHERE id IN (1, 50, 100)'), '1,50,100', $node->name . ': the order of rows');
	cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'o.people'::regclass"), '>', 0, $node->name . ': a value is out of line');
	$node->safe_psql('postgres', 'VACUUM ANALYZE');
	$node->safe_psql('postgres', 'VACUUM pg_statistic'); # of the former statistics, more may be left here than there
}

# Statistics of the row have another size here than there, and may just need one
# page more: then both get some more of them.
$_->safe_psql('postgres', "INSERT INTO more VALUES (1), (2)") foreach $calm, $wild;
for my $column (1 .. 40)
{
	my ($here, $there) = map { $_->safe_psql('postgres', q{SELECT pg_relation_size('pg_statistic')}) } $calm, $wild;
	last if $here == $there;
	$_->safe_psql('postgres', "ANALYZE more (c$column)") foreach $calm, $wild;
}
$_->restart foreach $calm, $wild;

# ---- sessions

# A session that stays: of the caller, or of a superuser who holds the worker at
# a row. Both servers are spoken to at the same time.
sub open_session
{
	my ($node, $role, $name) = @_;
	my %s = (in => '', out => '', count => 0);
	local $ENV{PGAPPNAME} = $name;
	local $ENV{PGOPTIONS} = $statements && !$role ? '-c pg_stat_statements.track=none' : '';
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') . ($role ? " user=$role" : '') ], '<', \$s{in}, '>', \$s{out}, '2>&1', IPC::Run::timeout(900));
	return \%s;
}
sub send_to { my ($sql, @sessions) = @_; foreach (@sessions) { $_->{in} .= "$sql;\n\\echo done " . ++$_->{count} . "\n"; $_->{handle}->pump_nb } }
sub answers
{
	my @answers;
	foreach my $s (@_)
	{
		$s->{handle}->pump until $s->{out} =~ /^done $s->{count}\n/m;
		$s->{out} =~ s/^(.*?)^done $s->{count}\n//ms;
		push @answers, $1 =~ s/^NOTICE:  00000: the noise is larger than .* with (?:51 persons|100 rows|33 rows for each candidate)\nHINT:  .*\nLOCATION:  .*\n//mr;	# it is about the number of rows
	}
	return @answers;
}
sub say_to { my ($sql, @sessions) = @_; send_to($sql, @sessions); return answers(@sessions) }
my @callers = map { open_session($_, 'analyst', 'caller') } $calm, $wild;
say_to('SELECT 1', @callers);
my @holders = map { open_session($_, undef, 'holder') } $calm, $wild;
say_to('SELECT 1', @holders);

# ---- what there is to read

# Columns, with their types: name~type
sub sources
{
	my ($node) = @_;
	my $columns = q{string_agg(quote_ident(attname) || '~' || format_type(atttypid, NULL), '^' ORDER BY attnum)};
	my $out = q{coalesce((SELECT string_agg(quote_ident(n) || '~' || format_type(t, NULL), '^' ORDER BY i) FROM unnest(proallargtypes, proargmodes, proargnames) WITH ORDINALITY u (t, m, n, i) WHERE m IN ('o', 'b', 't')), quote_ident(proname) || '~' || format_type(prorettype, NULL))};
	return $node->safe_psql('postgres', qq{
		SELECT CASE relkind WHEN 'v' THEN 'view' ELSE 'table' END, oid::regclass::text, '', (SELECT $columns FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
		FROM pg_class c WHERE relnamespace IN ('pg_catalog'::regnamespace, 'public'::regnamespace) AND relkind IN ('r', 'v') AND has_table_privilege(oid, 'SELECT') AND relname <> 'model'
		UNION ALL
		SELECT 'function', quote_ident(proname), CASE WHEN pronargs = pronargdefaults THEN '' ELSE proargtypes[0]::regtype::text END, $out
		FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND provolatile <> 'i' AND has_function_privilege(oid, 'EXECUTE')
			AND (prorettype = 'record'::regtype OR prorettype NOT IN (SELECT oid FROM pg_type WHERE typtype = 'p')) AND prorettype <> 'void'::regtype
			AND (pronargs = pronargdefaults
				OR pronargs - pronargdefaults = 1 AND (proargtypes[0] = 'regclass'::regtype AND proname ~ '^pg_'
					OR proargtypes[0] IN ('oid'::regtype, 'integer'::regtype) AND proname ~ '^pg_stat_get|_size\$|blocking'))
		ORDER BY 1, 2, 3, 4}, extra_params => [ '-U', 'analyst' ]);
}
my ($there, $here) = map { sources($_) } $calm, $wild;
is($here, $there, 'both servers have the same to read');
my @sources = grep { my ($kind, $name) = split /\|/; $name !~ /^(?:$acts|$documented)$/ } split /\n/, $there;
my %number;
$number{ (split /\|/)[0] }++ foreach @sources;
cmp_ok($number{table} >= 50 && $number{view} >= 60 && $number{function}, '>', 100, "there are $number{table} tables, $number{view} views and $number{function} functions");
cmp_ok(scalar(grep { /^view\|pg_stat_lock\|/ } @sources), '==', $_->safe_psql('postgres', "SELECT count(to_regclass('pg_stat_lock'))"), $_->name . ': waits for locks are among them, where they are counted') foreach $calm, $wild;

# What functions are asked about
my %arguments = (
	'regclass' => 'SELECT oid::regclass AS a, oid::text AS of FROM pg_class',
	'oid' => 'SELECT oid AS a, oid::text AS of FROM (SELECT oid FROM pg_class UNION ALL SELECT oid FROM pg_database UNION ALL SELECT oid FROM pg_proc WHERE oid >= 16384) s',
	'integer' => q{SELECT pid AS a, 'pid=' || pid AS of FROM pg_stat_activity},
	'backend' => q{SELECT i AS a, 'pid=' || pg_stat_get_backend_pid(i) AS of FROM pg_stat_get_backend_idset() i},
	'database' => 'SELECT oid AS a, datname AS of FROM pg_database',
	'tablespace' => "SELECT oid AS a, spcname AS of FROM pg_tablespace WHERE spcname <> 'pg_global'");

# A statement for each, whose lines say where they come from
sub statement
{
	my ($kind, $name, $type, $columns) = split /\|/, $_[0];
	my @values;
	foreach (split /\^/, $columns)
	{
		my ($column, $of) = split /~/;
		next if $column =~ /^"?(?:$unsteady)"?$/ || $name eq 'pg_stat_statements' && $column =~ /_blks_|^wal_/;
		my $value = $of =~ /^(?:$times)$/ || $name eq 'dp_releases' && $column =~ /^(?:$released)$/ ? "CASE WHEN v.$column IS NULL THEN 'NULL' ELSE 'set' END" : "coalesce(v.$column\::text, 'NULL')";
		push @values, "'$column=' || $value";
	}
	return () unless @values;
	my $line = 'translate(' . join(" || ' ' || ", @values) . ", E'\\n', ' ')";
	return "SELECT '$name: ' || count(*) || ' rows ' || md5(string_agg(line, '' ORDER BY line COLLATE \"C\")) FROM (SELECT $line AS line FROM $name v) v" if $kind eq 'table';
	return "SELECT '$name: ' || $line FROM $name v" if $kind eq 'view';
	my ($only) = $columns =~ /\^/ ? () : $columns =~ /^(\S+?)~/;
	my $as = defined $only ? "v($only)" : 'v';
	return "SELECT '$name(): ' || $line FROM $name() $as" if $type eq '';
	my $set = $name =~ /(database|tablespace)_size/ ? $1 : $name =~ /^pg_stat_get_backend_(?!io|wal)/ ? 'backend' : $type;
	my $where = defined $only ? " WHERE v.$only\::text <> '0'" : '';
	return "SELECT '$name(' || a.of || '): ' || $line FROM ($arguments{$set}) a, LATERAL $name(a.a) $as$where";
}

# All in one transaction, so that nothing that the observer does is counted
# before the end; counters first
my $look = PostgreSQL::Test::Utils::tempdir . '/look.sql';
append_to_file($look, "\\set ON_ERROR_ROLLBACK on\nBEGIN;\n" . "SET stats_fetch_consistency = snapshot;\n" . join('', map { "$_;\n" } map { statement($_) } sort { ($b =~ /pg_stat/) <=> ($a =~ /pg_stat/) || $a cmp $b } @sources) . "COMMIT;\n");

# The table of releases, with what belongs to it
my $releases = join '|', split /\n/, (say_to(q{SELECT c.oid FROM pg_class r, pg_class c WHERE r.oid = 'dperm.releases'::regclass AND (c.oid IN (r.oid, r.reltoastrelid) OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN (r.oid, r.reltoastrelid)))}, @holders))[0];

# Waits in one transaction, each statement of which is run at least once, so
# that what is counted for it does not depend on time.
sub wait_for { my ($condition) = @_; say_to("DO \$\$ BEGIN LOOP PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); EXIT WHEN $condition; END LOOP; END \$\$", @holders); return }
sub at_row { my ($row) = @_; return "EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event = 'PgSleep')" . ($row == 1 ? '' : " AND EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND mode = 'ShareLock' AND granted)") }
my $gone = q{NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'dperm')};

# With assertions, catalog caches look up one entry in a thousand again, by
# chance (catcache.c). Then what is counted for catalogs, and in total, says
# nothing.
sub counts_catalogs
{
	my ($line) = @_;
	return $line =~ /^pg_stat_database: / || $line =~ /^pg_stat(?:io)?_(?:xact_)?(?:all|sys)_(?:tables|indexes): relid=(\d+) |^pg_stat_get_\w+\((\d+)\)/ && ($1 // $2) < 16384;
}

# Both servers at the same time; processes by what they are
sub processes { return map { my %of = map { split /\|/, $_, 2 } split /\n/; \%of } say_to("SELECT pid, CASE application_name WHEN '' THEN backend_type ELSE application_name END FROM pg_stat_activity", @holders) }
sub snapshots
{
	my $dir = PostgreSQL::Test::Utils::tempdir;
	my @observers = map {
		local $ENV{PGAPPNAME} = 'observer';
		IPC::Run::start([ 'psql', '-XAtq', '-f', $look, '-d', $_->connstr('postgres') . ' user=analyst' ], '>', "$dir/" . $_->name, '2>', "$dir/errors_" . $_->name)
	} $calm, $wild;
	$_->finish foreach @observers;
	wait_for(q{NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'observer')});
	my @names = processes();
	my @seen;
	foreach my $node ($calm, $wild)
	{
		my $of = shift @names;
		my %lines;
		foreach (split /\n/, slurp_file("$dir/" . $node->name) . slurp_file("$dir/errors_" . $node->name))
		{
			next if /^pg_stat_database: datid=0 / || $forgets && counts_catalogs($_);

			# what was released takes as many bytes as it has digits
			next if /^pg_(?:database|tablespace)_size\(|^pg_stat_get_db_blocks_|^\w+(?:: relid=|\()(?:$releases)\b/;
			s/ blks_(?:read|hit)=\d+//g if /^pg_stat_database: /;
			next if /^(?:pg_settings|pg_show_all_settings\(\)): name=(?:$settings) /;
			s/\bpid=(\d+)/'pid=' . ($of->{$1} \/\/ 'observer')/ge;
			s/\{([\d,]*)\}/'{' . join(',', map { $of->{$_} \/\/ 'observer' } split(m{,}, $1)) . '}'/e if /^pg_\w*blocking_pids/;
			$lines{$_}++;
		}
		push @seen, \%lines;
	}
	return @seen;
}

# Statistics are sent when a session has nothing to do, and not more often than
# once in a while, unless somebody asks for them.
sub settle { return say_to('SELECT pg_stat_force_next_flush()', @_) }

# What one server shows and the other does not
my @differences;
sub compare
{
	my ($when, @idle) = @_;
	settle(@idle, @holders);
	my ($there, $here) = snapshots();
	my @different = map { my $more = ($here->{$_} // 0) - ($there->{$_} // 0); $more == 0 ? () : sprintf('%s %s', $more > 0 ? 'wild' : 'calm', $_) } sort keys %{ { %$there, %$here } };
	push @differences, map { "$when: $_" } splice(@different, 0, 30);
	return grep { /^psql:.*(?:ERROR|FATAL):/ } keys %$here;
}

# A call, looked at when it is at some rows, the last of them behind the rare
# one, and when it is over
sub observe
{
	my ($call, @rows) = @_;
	@differences = ();
	say_to(join(';', map { "SELECT pg_advisory_lock($_)" } @rows), @holders);
	send_to($call, @callers);
	foreach my $row (@rows)
	{
		wait_for(at_row($row));
		compare("at row $row");
		say_to("SELECT pg_advisory_unlock($row)", @holders);
	}
	my @results = answers(@callers);
	wait_for($gone);
	compare('after', @callers);
	return join(' ', @results);
}

my $features = '{' . join(',', @columns) . '}';
my $train = "SELECT dp_logreg_train('o.cases', 'ill', '$features', 0.1) IS NOT NULL";
my %calls = (
	train => $train,
	tune => "SELECT dp_logreg_tune('o.cases', 'ill', '$features', 0.1, candidates => '[{\"lambda\": 0.1}, {\"lambda\": 0.01}]') IS NOT NULL",
	evaluate => "SET client_min_messages = warning; SELECT count(*) > 0 FROM model, dp_evaluate(model, 'o.cases', epsilon => 0.1); RESET client_min_messages",
	# of few columns, so that what is kept is in one piece: into how many it is cut depends on what is released
	summary => "SET client_min_messages = warning; SELECT count(*) > 0 FROM dp_summary('o.cases', 0.1, columns => '{ill,x1}'); RESET client_min_messages",
	'summary of persons' => "SET client_min_messages = warning; SELECT count(*) > 0 FROM dp_summary('o.persons', 0.1, columns => '{ill,x1}'); RESET client_min_messages",
	persons => "SELECT dp_logreg_train('o.persons', 'ill', '$features', 0.1) IS NOT NULL");

# Counters of shared catalogs belong to no database. They can be reset, too, but
# for their sum.
my $reset = 'SELECT pg_stat_reset(); SELECT count(pg_stat_reset_single_table_counters(oid)) FROM pg_class WHERE relisshared';

# The first observation and the first calls fill buffers, in an order that
# depends on time.
say_to($_, @callers) foreach sort values %calls;
compare('first', @callers);
settle(@callers, @holders);
say_to($reset, @holders);
@differences = ();
is(join("\n", compare('before', @callers)), '', 'everything can be read');
is(join("\n", @differences), '', 'before all calls: the same is seen');
foreach my $call (sort keys %calls)
{
	is(observe($calls{$call}, $call eq 'train' ? (1, 100) : 100), "t\n t\n", "$call: the call is answered");
	is(join("\n", @differences), '', "$call: the same is seen");
}

# A call whose session is cancelled behind the rare row, which goes on without it;
# and one that is cancelled there itself
foreach my $case (
	[ 'session', "application_name = 'caller'", qr/ERROR:  57014: canceling statement due to user request\n.*the model will be in dp_releases/s ],
	[ 'call', "backend_type = 'dperm'", qr/ERROR:  57014: the call was cancelled\n/ ])
{
	my ($what, $process, $answer) = @$case;
	say_to('SELECT pg_advisory_lock(100)', @holders);
	send_to($train, @callers);
	wait_for(at_row(100));
	@differences = ();
	say_to("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE $process", @holders);
	my @cancelled = answers(@callers);
	like($cancelled[0], $answer, "cancelled $what: the call is answered");
	is($cancelled[1], $cancelled[0], "cancelled $what: in the same way");
	wait_for($gone) if $what eq 'call';
	compare('cancelled', @callers);
	say_to('SELECT pg_advisory_unlock(100)', @holders);
	wait_for($gone);
	compare('after', @callers);
	is(join("\n", @differences), '', "cancelled $what: the same is seen");
}

# Locks that are given back at once are not seen, but there may be no room for
# one: a superuser takes all that the worker does not hold at its first row, and
# nothing else is needed up to the last one.
say_to('SELECT pg_advisory_lock(1); SELECT pg_advisory_lock(100)', @holders);
send_to($train, @callers);
wait_for(at_row(1));
my $locks = q{SELECT l.relation::regclass, l.mode FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.backend_type = 'dperm' AND l.locktype = 'relation' ORDER BY l.relation::regclass::text COLLATE "C", l.mode};
my @first = say_to($locks, @holders);
my @taken = say_to(q{BEGIN; SELECT set_config('lock_timeout', '100ms', true) \g /dev/null
	DO $$
	DECLARE r record; taken text[];
	BEGIN
		FOR r IN SELECT c.oid::regclass AS name, relkind FROM pg_class c
			WHERE relkind IN ('r', 'c', 'i') AND relnamespace = 'o'::regnamespace OR relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace
				OR c.oid IN (SELECT indexrelid FROM pg_index, pg_class t WHERE indrelid = t.reltoastrelid AND t.relnamespace = 'o'::regnamespace)
			ORDER BY relnamespace = 'pg_catalog'::regnamespace, c.oid LOOP
			BEGIN
				IF r.relkind = 'c' THEN EXECUTE format('ALTER TYPE %s ADD ATTRIBUTE more int', r.name);
				ELSIF r.relkind = 'i' THEN EXECUTE format('REINDEX INDEX %s', r.name);
				ELSE EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', r.name); END IF;
				taken := taken || r.name::text;
			EXCEPTION WHEN lock_not_available THEN NULL; END;
		END LOOP;
		PERFORM set_config('observer.taken', taken::text, true);
	END $$;
	SHOW observer.taken}, @holders);
like($taken[0], qr/\bo\.unused,o\.pair,o\.another\b/, 'there are relations that no row needs');
unlike($taken[0], qr/\bo\.(?:people|child)\b/, 'and others');
is($taken[1], $taken[0], 'the same relations are not locked');
say_to('SELECT pg_advisory_unlock(1)', @holders);
my $there_by_now = at_row(100);
say_to("DO \$\$ BEGIN FOR i IN 1 .. 1500 LOOP PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); EXIT WHEN $there_by_now; END LOOP; END \$\$", @holders);
is(join('', say_to("SELECT $there_by_now", @holders)), "t\nt\n", 'no row needs one of them');

# The locks are those of the table, its child, their TOAST tables, our own table
# and the catalogs that a row, or what is kept, can make a process look at, with
# their indexes; and no row adds one.
my @last = say_to($locks, @holders);
is($last[$_], $first[$_], 'no row adds a lock') foreach 0, 1;
is($first[1], $first[0], 'both servers have the same locks');
my $listed = q{(VALUES ('o.people'), ('o.child'), ('o.cases'), ('dperm.releases'),
	('pg_enum'), ('pg_collation'), ('pg_type'), ('pg_proc'), ('pg_operator'), ('pg_cast'), ('pg_opclass'), ('pg_amop'), ('pg_amproc'), ('pg_namespace'), ('pg_class'), ('pg_attribute'), ('pg_index'), ('pg_am'), ('pg_attrdef'), ('pg_constraint'), ('pg_trigger')) AS n (name)};
my ($wanted) = say_to(qq{WITH t AS (SELECT name::regclass::oid AS oid FROM $listed), w AS (SELECT oid FROM t UNION SELECT reltoastrelid FROM pg_class JOIN t USING (oid) WHERE reltoastrelid <> 0)
	SELECT string_agg(DISTINCT r::regclass::text, ' ' ORDER BY r::regclass::text) FROM (SELECT oid AS r FROM w UNION ALL SELECT indexrelid FROM pg_index JOIN w ON indrelid = w.oid) a}, @holders);
is(join(' ', sort(keys %{ { map { (split /\|/)[0] => 1 } split /\n/, $first[0] } })), join(' ', sort split(/\s+/, $wanted)), 'the locks of a worker');
say_to('SELECT pg_advisory_unlock(100)', @holders);
is(join(' ', answers(@callers)), "t\n t\n", 'nor does what is kept afterwards');
say_to('ROLLBACK', @holders);
settle(@callers, @holders);
say_to($reset, @holders);

# The messages that the caller gets, at every level: one is about the column
# without a domain
my $all = $train =~ s/'\Q$features\E'/NULL::text/r;
my @told = say_to(qq{SET client_min_messages = debug5; EXPLAIN (ANALYZE, BUFFERS, VERBOSE, TIMING OFF, SUMMARY OFF) $all; RESET client_min_messages}, @callers);
like($told[0], qr/NOTICE|INFO/, 'messages');
s/\b\d+\.\d+ ?s\b/TIME/g, s/^.*(?:CommitTransaction|StartTransaction|bind |parse ).*\n(?:LOCATION.*\n)?//mg foreach @told;
is($told[1], $told[0], 'the same messages');

# ---- planted leaks: the process that reads does something for the rare row alone

sub plant
{
	my ($leak) = @_;
	foreach my $node ($calm, $wild)
	{
		$node->append_conf('postgresql.conf', "instrument.sql = '" . ($leak =~ s/'/\\'/gr) . "'\n");
		$node->reload;
	}
	# a session reads it between two statements
	1 until 2 == grep { $_ eq "$leak\n" } say_to('SHOW instrument.sql', @holders);
	return;
}
my $rare = "FROM o.people WHERE id = 50 AND kind = 'rare'";
sub seen
{
	my ($what, @wanted) = @_;
	is(observe($train, 100), "t\n t\n", "$what: the call is answered");
	my @other = grep { my $line = $_; !grep { $line =~ $_ } @wanted } @differences;
	is(join("\n", @other), '', "$what: nothing else is seen");
	foreach my $wanted (@wanted) { ok((grep { $_ =~ $wanted } @differences), "$what is seen: $wanted") }
	return;
}
my ($rarely) = (say_to("SELECT 'o.rarely'::regproc::oid", @holders))[0] =~ /(\d+)/;
sub lock_of { my ($lock) = @_; return map { qr/^at row 100: wild \Q$_\E: locktype=$lock .*pid=dperm / } 'pg_locks', 'pg_lock_status()' }
plant("SELECT pg_advisory_xact_lock_shared(4711) $rare");
seen('a lock', lock_of('advisory .* objid=4711'));
if ($statements)
{
	plant("SELECT set_config('pg_stat_statements.track', CASE WHEN EXISTS (SELECT $rare) THEN 'all' ELSE 'none' END, true); SELECT 4711");
	seen('a statement', qr/^(?:at row 100|after): wild pg_stat_statements: /);
	say_to('SELECT pg_stat_statements_reset() IS NULL', @holders);
}
plant("SELECT set_config('track_functions', 'all', true); SELECT o.rarely(id - 43) $rare");
seen('a counter', qr/^(?:at row 100|after): wild pg_stat_user_functions: funcid=$rarely schemaname=o funcname=rarely calls=[01](?: stats_reset=NULL)?$/, qr/^after: wild pg_stat_get_function_calls\($rarely\): pg_stat_get_function_calls=1$/);
$_->{in} .= "\\q\n" foreach @callers, @holders;
$_->{handle}->finish foreach @callers, @holders;
$_->stop foreach $calm, $wild;
done_testing();
