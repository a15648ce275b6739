# A fuzzer of views: random expressions over all functions, operators and casts
# of PostgreSQL. dp_protect refuses a view with such an expression, or the
# expression has the same values in the worker as in a session, and the worker
# takes no lock for it that it did not hold before its first row. The catalogs
# that it does not hold are locked against it meanwhile.
#
# VIEW_FUZZ_SECONDS: how long, 12 if not given. VIEW_FUZZ_SEED: which ones.
# VIEW_FUZZ_TRY: one to begin with.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the modules are built by make tap' unless $ENV{TEST_MODULES};

my $seconds = $ENV{VIEW_FUZZ_SECONDS} // 12;
my $seed = $ENV{VIEW_FUZZ_SEED} // int(rand(1e9));
srand($seed);
diag("VIEW_FUZZ_SEED=$seed");

my $rows = 16;
my $batch = 12;    # expressions in a view

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "autovacuum = off\nmax_locks_per_transaction = 500\nstatement_timeout = '60s'\n"
	. "shared_preload_libraries = '$ENV{TEST_MODULES}/instrument$ENV{DLSUFFIX}'\ninstrument.hold = 'row_1,row_$rows'\ninstrument.mark = 'row_1'\n");
$node->start;

# ---- values

# Values of a type, as literals. Of the first types the table has columns.
my %values = (
	bool => [ 't', 'f' ],
	int2 => [ 0, 1, -1, 7, 32767, -32768 ],
	int4 => [ 0, 1, 2, -1, 7, 100, 2147483647, -2147483648 ],
	int8 => [ 0, 1, -1, 12, 1000, '9223372036854775807' ],
	float4 => [ 0, 1.5, -2.25, 'NaN', 'Infinity', '1e30' ],
	float8 => [ 0, '-0', 0.1, 1.5, -2.25, 'NaN', '-Infinity', '1e300', '1e-300' ],
	numeric => [ 0, 1.5, -123.456, 'NaN', '1e20', '0.001', 12 ],
	money => [ '1.50', '-2', '0' ],
	'"char"' => [ 'a', 'B', '' ],
	name => [ 'utf8', 'a', 'UTC' ],
	text => [ '', 'a', 'Ab c', "\x{c3}\x{a4}\x{e2}\x{82}\x{ac}", '123', '-4.5', '2020-02-29', '{"a": [1, 2]}', '{1,2}', 'a%_b', '\\x41', 'day', 'hex', 'UTC', 'NFC', '(a|b)+', 'true', 'a:1 b:2A', '<a>1</a>' ],
	bpchar => [ 'a', 'ab  ', '' ],
	varchar => [ 'a', 'Zz', '17', '' ],
	bytea => [ '\\x', '\\x00ff', '\\x6162' ],
	'bit' => [ '101', '0', '11111111' ],
	varbit => [ '1', '0101', '' ],
	uuid => [ '00000000-0000-0000-0000-000000000000', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' ],
	date => [ '2020-02-29', '1999-12-31', 'infinity', '0001-01-01 BC' ],
	'time' => [ '00:00', '23:59:59.999', '12:34' ],
	timetz => [ '00:00+00', '12:34-05' ],
	timestamp => [ '2020-02-29 12:00', 'infinity', '1970-01-01 00:00' ],
	timestamptz => [ '2020-02-29 12:00+00', '-infinity', '2021-07-01 00:00+02' ],
	interval => [ '1 month 2 days 03:04:05', '-1 year', '0', '90 minutes' ],
	json => [ '{"a": [1, {"b": null}]}', '[1, "x", true]', '3', '{}' ],
	jsonb => [ '{"a": [1, {"b": null}]}', '[1, "x", true]', '3', '"2020-01-01"', '{}' ],
	jsonpath => [ '$', '$.a[*] ? (@ > 0)', '$[*].datetime()', 'lax $.a' ],
	tsvector => [ 'a:1 b:2A c:3', '' ],
	tsquery => [ 'a & b', '!c | a', 'a <-> b' ],
	point => [ '(0,0)', '(1,2)', '(-1,1e10)' ],
	lseg => [ '[(0,0),(1,1)]', '[(0,1),(1,0)]' ],
	box => [ '(0,0),(1,1)', '(0.5,0.5),(2,2)' ],
	path => [ '((0,0),(1,0),(1,1))', '[(0,0),(5,5)]' ],
	polygon => [ '((0,0),(1,0),(1,1))', '((0,0),(4,0),(4,4),(0,4))' ],
	line => [ '{1,-1,0}', '{0,1,2}' ],
	circle => [ '<(0,0),1>', '<(1,1),2>' ],
	inet => [ '10.0.0.1/8', '::1', '192.168.1.0/24' ],
	cidr => [ '10.0.0.0/8', '::/0' ],
	macaddr => [ '08:00:2b:01:02:03' ],
	macaddr8 => [ '08:00:2b:01:02:03:04:05' ],
	'kind' => [ 'r', 's' ]);
my @stored = sort keys %values;
# Of these there are only constants
my %others = (
	oid => [ 1, 2206, 3748 ], regclass => ['pg_class'], regtype => ['int4'], regproc => ['now'], regnamespace => ['pg_catalog'], regrole => ['owner'], regconfig => ['simple'], regdictionary => ['simple'], regprocedure => ['now()'],
	regcollation => ['"C"'], regoperator => ['+(int4,int4)'], xml => [], int4range => ['[1,5)'], numrange => ['[1,5)'], tsrange => ['[2020-01-01,2021-01-01)'], daterange => ['empty'], int4multirange => ['{[1,5)}'], xid => [3],
	xid8 => [3], cid => [1], tid => ['(0,1)'], pg_lsn => ['0/10'], oidvector => ['1 2'], int2vector => ['1 2'], refcursor => ['c'], pg_snapshot => ['1:1:'], txid_snapshot => ['1:1:'], 'cstring' => [], share => [0.5]);
my @all = (@stored, sort keys %others);

sub pick { return $_[ rand @_ ]; }
sub literal { my ($text, $type) = @_; $text =~ s/'/''/g; return "'$text'::$type"; }
sub column { my ($type) = @_; (my $name = $type) =~ s/\W//g; return "c_$name"; }

# An expression of a type: a column, a constant, or a call
my (%makers, @calls);
sub value
{
	my ($type, $depth) = @_;
	if ($depth > 0 && $makers{$type} && rand() < 0.5)
	{
		my $made = call(pick(@{ $makers{$type} }), $depth - 1);
		return $made if defined $made;
	}
	if ($depth > 0 && rand() < 0.12)
	{
		my @of = map { value($type, $depth - 1) } 1 .. 3;
		return pick("coalesce($of[0], $of[1])", "nullif($of[0], $of[1])", "greatest($of[0], $of[1])", "least($of[0], $of[1], $of[2])", "CASE $of[0] WHEN $of[1] THEN $of[2] ELSE $of[1] END",
			"CASE WHEN $of[0] IS DISTINCT FROM $of[1] THEN $of[1] END", "CASE WHEN $of[0] IN ($of[1], $of[2]) THEN $of[1] ELSE $of[2] END", "(ARRAY[$of[0], $of[1]])[1 + (c_int4 IS NULL)::int]");
	}
	if ($type =~ /^(.*)\[\]$/)
	{
		my $element = $1;
		return column($element) . '_array' if $values{$element} && rand() < 0.6;
		return 'ARRAY[' . join(', ', map { value($element, 0) } 0 .. rand 3) . "]::$element\[]";
	}
	return column($type) if $values{$type} && rand() < 0.7;
	my @literals = @{ $values{$type} // $others{$type} // [] };
	return @literals && rand() < 0.95 ? literal(pick(@literals), $type) : "NULL::$type";
}

# Arguments for declared types; undef for what cannot be written
sub arguments
{
	my ($depth, @types) = @_;
	my $any = pick(rand() < 0.9 ? @stored : @all);
	my $range = pick(qw(int4range numrange tsrange));
	my @written;
	foreach my $type (@types)
	{
		return undef if $type =~ /^(?:internal|trigger|event_trigger|language_handler|.*_handler|void|pg_ddl_command|record\[\]|cstring\[\])$/;
		push @written, $type =~ /^any(?:element|nonarray|compatible|compatiblenonarray)$/ ? value($any, $depth)
			: $type =~ /^any(?:array|compatiblearray)$/ ? value("$any\[]", $depth)
			: $type eq 'anyenum' ? value('kind', $depth)
			: $type =~ /^any(?:range|compatiblerange)$/ ? value($range, 0)
			: $type =~ /^any/ ? ($type eq '"any"' ? value(pick(@stored), $depth) : 'NULL')
			: $type eq '"any"' ? value(pick(@stored), $depth)
			: $type eq 'record' ? 'ROW(c_int4, c_text)'
			: value($type, $depth);
	}
	return \@written;
}

# A call of a function, an operator or a cast
sub call
{
	my ($what, $depth) = @_;
	my ($kind, $name, @types) = @$what;
	my $arguments = arguments($depth, @types) or return undef;
	my @a = @$arguments;
	return 'pg_catalog.' . $name . '(' . join(', ', @a) . ')' if $kind eq 'function';
	return "($a[0] OPERATOR(pg_catalog.$name) $a[1])" if $kind eq 'operator' && @a == 2;
	return "(OPERATOR(pg_catalog.$name) $a[0])" if $kind eq 'operator';
	return "($a[0])::$name";
}

# ---- the table

sub query { return $node->safe_psql('postgres', shift); }
my @columns = map { column($_) . " $_" } @stored;
push @columns, map { column($_) . "_array $_\[]" } @stored;
my @inserts;
foreach (1 .. $rows)
{
	my @row = map { rand() < 0.12 ? 'NULL' : literal(pick(@{ $values{$_} }), $_) } @stored;
	push @row, map { my $type = $_; rand() < 0.12 ? 'NULL' : 'ARRAY[' . join(', ', map { rand() < 0.1 ? 'NULL' : literal(pick(@{ $values{$type} }), $type) } 1 .. rand 4) . "]::$type\[]" } @stored;
	push @inserts, "($_, 0.5, " . join(', ', @row) . ')';
}
query(q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner LOGIN;
	GRANT CREATE ON SCHEMA public TO owner;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	CREATE DOMAIN share AS float8 CHECK (VALUE <= 1);
	SET ROLE owner;
	SET client_min_messages = error;
	CREATE TYPE kind AS ENUM ('r', 's');
	CREATE TABLE base (id int, x float8 CHECK (x BETWEEN 0 AND 1), } . join(', ', @columns) . q{);
	INSERT INTO base VALUES } . join(', ', @inserts) . q{;
	SELECT dp_budget_create('fuzz', 500), dp_protect('base', 'fuzz');
	CREATE TABLE plain AS SELECT i % 2 / 1.0::float8 AS x, i % 2 = 1 AS y FROM generate_series(1, 100) i;
	CREATE TABLE model AS SELECT dp_logreg_train('plain', 'y', 'x', 5, domains => '{"x": [0, 1]}') AS model;

	-- is a view with an expression refused, and of what type is it?
	CREATE FUNCTION try(expression text, OUT outcome text, OUT type regtype) LANGUAGE plpgsql AS $$
	BEGIN
		BEGIN
			EXECUTE format('CREATE VIEW probe AS SELECT id, x, %s AS e FROM base', expression);
		EXCEPTION WHEN OTHERS THEN
			outcome := 'invalid: ' || SQLERRM;
			RETURN;
		END;
		PERFORM dp_protect('probe', 'fuzz');
		SELECT 'offered', atttypid INTO outcome, type FROM pg_attribute WHERE attrelid = 'probe'::regclass AND attname = 'e';
		RAISE EXCEPTION USING ERRCODE = 'RB000';
	EXCEPTION
		WHEN SQLSTATE 'RB000' THEN NULL;
		WHEN feature_not_supported THEN
			outcome := 'refused';
		WHEN OTHERS THEN
			outcome := SQLSTATE || ' ' || SQLERRM;
	END $$;

	-- the values that a session computes, in column s, and f for rows that fail; the number of these, or of
	-- all rows if the values cannot be compared
	CREATE FUNCTION compute(t text, k int, expression text) RETURNS int LANGUAGE plpgsql SET statement_timeout = 0 AS $$
	DECLARE
		failed int := 0;
		i int;
	BEGIN
		BEGIN
			EXECUTE format('UPDATE %I SET s%s = %s', t, k, expression);
		EXCEPTION WHEN OTHERS THEN
			FOR i IN SELECT id FROM base LOOP
				BEGIN
					EXECUTE format('UPDATE %I SET s%s = %s WHERE id = %s', t, k, expression, i);
				EXCEPTION WHEN OTHERS THEN
					failed := failed + 1;
					EXECUTE format('UPDATE %I SET f%s = true WHERE id = %s', t, k, i);
				END;
			END LOOP;
		END;
		EXECUTE format('SELECT count(*) FROM %I WHERE CASE WHEN NOT f%s THEN %s IS DISTINCT FROM s%s END', t, k, expression, k);
		RETURN failed;
	EXCEPTION WHEN OTHERS THEN
		RETURN (SELECT count(*) FROM base);
	END $$;
	RESET ROLE;

	-- locks of a worker, but for those of the instrument
	CREATE FUNCTION locks_of(worker int) RETURNS text[] LANGUAGE sql AS $$
		SELECT coalesce(array_agg(DISTINCT concat_ws(' ', locktype, CASE WHEN database IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())) THEN coalesce(relation::regclass::text, relation::text) END, classid, objid, mode)), '{}')
		FROM pg_locks WHERE pid = worker AND NOT (locktype = 'advisory' AND objsubid = 1) $$;

	-- Let the worker that waits for its first row go on to its last one, and no
	-- further: what has it locked, or wanted to lock?
	CREATE FUNCTION observe() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		worker int;
		before text[];
		catalog regclass;
		result text := '';
	BEGIN
		FOR i IN 1 .. 2000 LOOP
			PERFORM pg_stat_clear_snapshot(), pg_sleep(0.002);
			SELECT pid INTO worker FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event = 'PgSleep';
			EXIT WHEN worker IS NOT NULL;
		END LOOP;
		IF worker IS NULL THEN
			RETURN 'there is no worker';
		END IF;
		before := locks_of(worker);
		FOR catalog IN SELECT oid FROM pg_class c WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r'
			AND NOT EXISTS (SELECT FROM pg_locks WHERE relation = c.oid AND pid = worker) ORDER BY oid LOOP
			EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', catalog);
		END LOOP;
		PERFORM pg_advisory_unlock(1);
		FOR i IN 1 .. 2000 LOOP
			PERFORM pg_stat_clear_snapshot(), pg_sleep(0.002);
			SELECT string_agg(DISTINCT 'it wants ' || coalesce(relation::regclass::text, locktype), ', ') INTO result FROM pg_locks WHERE pid = worker AND NOT granted;
			EXIT WHEN result IS NOT NULL OR NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = worker)
				OR EXISTS (SELECT FROM pg_locks WHERE pid = worker AND locktype = 'advisory' AND objsubid = 1) AND EXISTS (SELECT FROM pg_stat_activity WHERE pid = worker AND wait_event = 'PgSleep');
		END LOOP;
		IF result IS NULL THEN
			SELECT string_agg('it took ' || l, ', ') INTO result FROM unnest(locks_of(worker)) l WHERE l <> ALL (before);
		END IF;
		PERFORM pg_advisory_unlock(} . $rows . q{);
		RETURN coalesce(result, 'nothing');
	END $$;
});

# ---- what to call

foreach (split /\n/, query(q{
	SELECT 'function', quote_ident(proname), prorettype::regtype, array_to_string(proargtypes::regtype[], '~') FROM pg_proc
	WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND pronargs <= 7 AND oid < 16384 AND pronargs > 0
	UNION ALL SELECT 'operator', oprname, oprresult::regtype, concat_ws('~', nullif(oprleft, 0)::regtype, oprright::regtype) FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace
	UNION ALL SELECT 'cast', casttarget::regtype::text, casttarget::regtype, castsource::regtype::text FROM pg_cast WHERE oid < 16384
	UNION ALL SELECT 'cast', t, t::regtype, 'text' FROM unnest('{int4,float8,numeric,date,timestamp,timestamptz,jsonb,json,inet,point,bytea,kind,uuid,bool,text[],int4[],regclass,tsvector,tsquery,interval,share,varchar(2),numeric(5),bit(3)}'::text[]) t
	UNION ALL SELECT 'cast', 'text', 'text', t FROM unnest('{int4,float8,numeric,date,timestamp,timestamptz,jsonb,json,inet,point,bytea,kind,uuid,bool,text[],int4[],oid,tsvector,tsquery,interval,money}'::text[]) t
	UNION ALL SELECT 'function', quote_ident(proname), prorettype::regtype, '' FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND pronargs = 0 AND oid < 16384
	}))
{
	my ($kind, $name, $result, $types) = split /\|(?!\|)(?<!\|\|)/ if !/^operator/;
	($kind, $name, $result, $types) = /^(operator)\|(.+?)\|([^|]+)\|([^|]*)$/ if /^operator/;
	# the names of types as they are above
	my %short = ('boolean' => 'bool', 'smallint' => 'int2', 'integer' => 'int4', 'bigint' => 'int8', 'real' => 'float4', 'double precision' => 'float8', 'character' => 'bpchar', 'character varying' => 'varchar', 'bit varying' => 'varbit',
		'time without time zone' => 'time', 'time with time zone' => 'timetz', 'timestamp without time zone' => 'timestamp', 'timestamp with time zone' => 'timestamptz');
	my @types = map { my $array = s/\[\]$//; ($short{$_} // $_) . ($array ? '[]' : '') } split /~/, $types // '';
	$result = $short{$result} // $result;
	my $call = [ $kind, $name, @types ];
	push @calls, $call;
	push @{ $makers{$result} }, $call;
}
cmp_ok(scalar @calls, '>', 3000, 'there are functions, operators and casts: ' . @calls);

# ---- sessions

sub open_session
{
	my ($role) = @_;
	my %s = (in => '', out => '', count => 0);
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ($role ? " user=$role" : '') ], '<', \$s{in}, '>', \$s{out}, '2>&1', IPC::Run::timeout(3600));
	return \%s;
}
sub send_to { my ($s, $sql) = @_; $s->{in} .= "$sql;\n\\echo done " . ++$s->{count} . "\n"; $s->{handle}->pump_nb; }
sub answer
{
	my ($s) = @_;
	$s->{handle}->pump until $s->{out} =~ /^done $s->{count}\n/m;
	$s->{out} =~ s/^(.*?)^done $s->{count}\n//ms;
	return $1 =~ s/\s+$//r;
}
sub ask { my ($s, $sql) = @_; send_to($s, $sql); return answer($s); }
my $caller = open_session('owner');
ask($caller, "SET client_min_messages = error; SET statement_timeout = '60s'");
my $observer = open_session();
ask($observer, 'SET client_min_messages = error');

# How a value of a type is compared: as the bytes that are sent, as text, or as
# it is
my %sent = map { split /\|/ } split /\n/, query(q{SELECT t.oid::regtype, typsend FROM pg_type t JOIN pg_proc p ON p.oid = typsend WHERE provolatile = 'i' AND t.oid < 16384});
sub comparable
{
	my ($expression, $type) = @_;
	return ("pg_catalog.$sent{$type}($expression)", 'bytea') if $sent{$type};
	return ("($expression)::text COLLATE \"C\"", 'text') if $type =~ /^(?:text|name|character|character varying)$/;
	return ($expression, $type =~ s/^character\[/bpchar[/r =~ s/^bit\[/"bit"[/r);	# these have a length otherwise
}

# Views over a table with what a session has computed: the numbers of rows whose
# label is true and false, and what the observer saw. If alone, rows that fail
# are left out; else they are as in the session.
my $number = 0;
sub judge
{
	my ($alone, @expressions) = @_;
	my $name = 'v' . ++$number;
	my @compared = map { [ comparable(@$_) ] } @expressions;
	ask($caller, "CREATE TABLE t$name AS SELECT *" . join('', map { ", NULL::$compared[$_][1] AS s$_, false AS f$_" } 0 .. $#compared) . ' FROM base');
	my @failed = map { ask($caller, "SELECT compute('t$name', $_, \$e\$$compared[$_][0]\$e\$)") } 0 .. $#compared;
	return map { { failed => $_ } } @failed if !$alone && grep { $_ ne '0' } @failed;
	my $label = join ' AND ', map { "$compared[$_][0] IS NOT DISTINCT FROM s$_" } 0 .. $#compared;
	my $made = ask($caller, "SELECT dp_budget_create('b$name', 500); CREATE VIEW $name AS SELECT id, x, $label AS ok FROM t$name; SELECT dp_protect('t$name', 'b$name'), dp_protect('$name', 'b$name')");
	return { failed => $failed[0], problem => "cannot be offered with its comparison: $made" } if $made =~ /ERROR/;
	ask($observer, "SELECT pg_advisory_lock(1), pg_advisory_lock($rows)");
	send_to($caller, "SELECT string_agg(value::text, ' ' ORDER BY metric) FROM (SELECT CASE WHEN metric IN ('true positives', 'false negatives') THEN 'a' ELSE 'b' END AS metric, sum(value) AS value FROM model, dp_evaluate(model, '$name', 200, 'ok') WHERE metric LIKE '%tives' GROUP BY 1) m");
	my $seen = ask($observer, 'SELECT observe()');
	ask($observer, 'SELECT pg_advisory_unlock_all()');
	my $counts = answer($caller);
	ask($caller, "SELECT dp_unprotect('$name'), dp_unprotect('t$name'); DROP TABLE t$name CASCADE");
	my $right = $rows - ($alone ? $failed[0] : 0);
	my @problems;
	push @problems, "rows are $counts, not $right 0" if $counts ne "$right 0";
	push @problems, $seen if $seen ne 'nothing';
	return { failed => $failed[0], problem => join('; ', @problems) };
}

# ---- go

my (%outcomes, @strange, @wrong, @waiting, %seen);
my ($compared, $partly) = (0, 0);

sub judge_batch
{
	my @expressions = @_;
	my @results = judge(0, @expressions);
	if (@results == @expressions && @expressions > 1)
	{
		# some fail for some rows: each of these by itself, the others again
		my @whole = map { $expressions[$_] } grep { $results[$_]{failed} eq '0' } 0 .. $#results;
		foreach (grep { $results[$_]{failed} =~ /^[1-9]/ && $results[$_]{failed} < $rows } 0 .. $#results)
		{
			my ($result) = judge(1, $expressions[$_]);
			push @wrong, "$expressions[$_][0]: $result->{problem}" if $result->{problem};
			$partly++;
		}
		judge_batch(@whole) if @whole;
		return;
	}
	$compared += @expressions;
	return if !$results[0]{problem};
	if (@expressions == 1)
	{
		push @wrong, "$expressions[0][0]: $results[0]{problem}";
		return;
	}
	judge_batch($_) foreach @expressions;
}

my $end = time + $seconds;
my $enough = 5 * $seconds;	# which takes longer on a busy machine
my $goes_on = sub { my ($end) = @_; return time < $end || time < $end + 300 && (($outcomes{refused} // 0) <= $enough || $compared <= $enough) };
while ($goes_on->($end))
{
	my @tried = grep { defined && !$seen{$_}++ } $ENV{VIEW_FUZZ_TRY};
	foreach (1 .. 40)
	{
		my $expression = call(pick(@calls), pick(0, 0, 1, 1, 2));
		push @tried, $expression if defined $expression && !$seen{$expression}++;
	}
	my @outcomes = split /\n/, ask($caller, 'SELECT coalesce(type::text, chr(45)), outcome FROM unnest(ARRAY[' . join(', ', map { "\$e\$$_\$e\$" } @tried) . ']) WITH ORDINALITY u (e, i), try(e) ORDER BY i');
	die "outcomes: @outcomes" if @outcomes != @tried;
	foreach (0 .. $#tried)
	{
		my ($type, $outcome) = split /\|/, $outcomes[$_], 2;
		my $kind = $outcome =~ /^(offered|refused|invalid)/ ? $1 : 'strange';
		$outcomes{$kind}++;
		push @strange, "$tried[$_]: $outcome" if $kind eq 'strange';
		push @waiting, [ $tried[$_], $type ] if $kind eq 'offered';
	}
	judge_batch(splice @waiting, 0, $batch) while @waiting >= $batch && $goes_on->($end + 5);
}
diag(join ', ', (map { "$outcomes{$_} $_" } sort keys %outcomes), "$compared compared, $partly with rows that fail");
cmp_ok($outcomes{refused}, '>', $enough, 'expressions are refused');
cmp_ok($compared, '>', $enough, 'expressions are compared');
is(join("\n", @strange), '', 'no other error is raised');
is(join("\n", @wrong), '', 'what is offered has the same values in the worker, and takes no lock');
$_->{in} .= "\\q\n", $_->{handle}->finish foreach $caller, $observer;
$node->stop;
done_testing();
