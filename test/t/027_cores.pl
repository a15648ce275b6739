# Training by several processes fails softly: with fewer workers than planned,
# or none, or too little shared memory, the model is the same. A cancelled,
# terminated or killed training, or one without room for its files, leaves no
# process, no shared memory and no file behind.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

# 100 ms is the goal; machines that run tests are busy.
my $soon = 5;

# Shared memory in files of the data directory, so that nothing else is there
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--wal-segsize=1']);
$node->append_conf('postgresql.conf', qq{
dynamic_shared_memory_type = mmap
max_worker_processes = 8
max_parallel_workers = 8
max_parallel_workers_per_gather = 3
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
autovacuum = off
restart_after_crash = on
max_wal_size = 64MB
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE TABLE people AS SELECT i, i % 3 = 0 AS y, (100 * sin(i))::int2 AS a, (i * 7 % 11)::int2 AS b FROM generate_series(1, 20000) i;
	ALTER TABLE people SET (parallel_workers = 3);
	CREATE FUNCTION slowly(i int) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 AS
	  $$ BEGIN IF i % 10 = 0 THEN PERFORM pg_sleep(0.005); END IF; RETURN true; END $$;
	CREATE VIEW slow AS SELECT y, a, b FROM people WHERE slowly(i);
	CREATE FUNCTION distance(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS
	  $$ SELECT CASE WHEN cardinality(a) = cardinality(b) THEN (SELECT max(abs(v - w)) FROM unnest(a, b) u(v, w)) END $$;
});
my $domains = q{domains => '{"a": [-100, 100], "b": [0, 10]}'};
my $kernel = "kernel => 'gaussian', options => '{\"kernel_features\": 300}'";
my $call = "dp_logreg_train('people', 'y', '{a,b}', 'Infinity', lambda => 0.01, $domains, $kernel)";

# The files of shared memory, without those that the server always has, and
# temporary files.
sub shared_files { return sort map { s{.*/}{}r } glob($node->data_dir . '/pg_dynshmem/*'), glob($node->data_dir . '/base/pgsql_tmp/*') }

# Only these are left, as soon as sessions have ended.
sub only_files
{
	my ($what, @files) = @_;
	my @left;
	for (my $try = 0; $try < 100; $try++)
	{
		@left = shared_files();
		last if "@left" eq "@files";
		sleep(0.1);
	}
	is_deeply(\@left, \@files, "$what: no shared memory is left");
}

my $alone = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; SELECT dp_weights($call)");

# The model with these settings is the same; returns messages.
sub same_model
{
	my ($settings, $what) = @_;
	my ($out, $err);
	$node->psql('postgres', "SET client_min_messages = debug1; $settings; SELECT distance(dp_weights($call), '$alone') < 1e-10",
		stdout => \$out, stderr => \$err, extra_params => ['-q']);
	is($out, 't', "$what: the same model");
	unlike($err, qr/ERROR|WARNING/, "$what: no error, no warning");
	return $err;
}

my @before = shared_files();
my $no_room = qr/not enough shared memory/;
unlike(same_model('', 'three workers'), $no_room, 'three workers: room for rows');
same_model('SET max_parallel_workers = 1', 'one worker of three');
same_model('SET max_parallel_workers = 0', 'no worker of three');
same_model('SET parallel_leader_participation = off', 'workers only');
foreach my $memory ('0', '64kB', '1MB', '10MB', '20MB')
{
	same_model("SET dperm.cache_memory = '$memory'", "$memory of memory");
}
my $parallel = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('debug_parallel_query', 'force_parallel_mode')});
foreach my $value ('on', 'regress')
{
	same_model("SET $parallel = $value", "$parallel = $value");
	same_model("SET $parallel = $value; SET parallel_setup_cost = 1e9", "$parallel = $value, one worker that does all");
}
only_files('all these', @before);

# In a transaction that goes on after an error, and in a cursor
is( $node->safe_psql('postgres', "DO \$\$ BEGIN FOR i IN 1..3 LOOP BEGIN PERFORM $call, 1 / (i - i); EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; PERFORM $call; END \$\$; SELECT 'works on'"),
	'works on', 'a transaction goes on after errors');
only_files('errors', @before);

# A session that trains, then says that it still works
sub start_training
{
	my ($name, $setup, $query) = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = $name;
	my @commands = map { ('-c', $_) } grep { $_ ne '' } ($setup, $query, "SELECT 'works on'");
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), @commands ],
		'<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	return \%s;
}

sub wait_for_workers
{
	my ($what, $activity) = @_;
	$node->poll_query_until('postgres',
		"SELECT count(*) >= 3 FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND query ~ '$activity' AND clock_timestamp() > backend_start + interval '200 ms'")
	  or die "$what does not start";
}

sub nothing_left
{
	my ($what) = @_;
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker' OR application_name ~ '^training'"),
		"$what: no process is left");
	only_files($what, @before);
}

my %training = (
	'load' => [ "SELECT length(dp_logreg_train('slow', 'y', '{a,b}', 1, $domains)::text)", 'dperm_load_agg' ],
	'team' => [ "SELECT length(dp_logreg_train('people', 'y', '{a,b}', 'Infinity', lambda => 1e-8, $domains, kernel => 'gaussian', options => '{\"kernel_features\": 1200}')::text)", 'sums over rows' ]);
my $number = 0;
foreach my $what (sort keys %training)
{
	my ($query, $activity) = @{ $training{$what} };
	foreach my $way ('cancel', 'terminate', 'terminate a worker of')
	{
		my $name = 'training' . ++$number;
		my $s = start_training($name, "SET dperm.cache_memory = '1GB'", $query);
		wait_for_workers($what, $activity);
		my $start = time();
		$node->safe_psql('postgres', $way eq 'cancel' ?
			"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '$name' AND backend_type = 'client backend'" :
			$way eq 'terminate' ?
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '$name' AND backend_type = 'client backend'" :
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1");
		$s->{handle}->finish;
		my $took = time() - $start;

		diag(sprintf("%s %s: %.0f ms", $way, $what, 1000 * $took));
		cmp_ok($took, '<', $soon, "$way $what: it ends soon");
		like($s->{err}, $way eq 'cancel' ? qr/canceling statement due to user request/ : qr/due to administrator command/, "$way $what: it says why");
		is($s->{out}, "works on\n", "$way $what: the session works on") if $way ne 'terminate';
		nothing_left("$way $what");
	}
}

# Who names a segment that others use, and knows how it begins, cannot join it:
# neither one of PostgreSQL, nor one with rows, which users choose.
foreach my $what (sort keys %training)
{
	my ($query, $activity) = @{ $training{$what} };
	my $s = start_training('training' . ++$number, "SET dperm.cache_memory = '1GB'", $query);
	my (%begin, @joined);
	wait_for_workers($what, $activity);
	for (my $try = 0; $try < 100 && keys %begin < 4; $try++)
	{
		sleep(0.05) if $try;
		foreach my $file (grep { /mmap\.\d+$/ } shared_files())
		{
			open(my $in, '<:raw', $node->data_dir . "/pg_dynshmem/$file") or next;
			read($in, $begin{$file}, 24);
		}
	}
	foreach my $file (grep { $begin{$_} !~ /^dpermrow/ } sort keys %begin)
	{
		my ($handle) = $file =~ /(\d+)/;
		foreach my $at (0, 8)
		{
			my $key = unpack('H*', pack('L', $handle) . substr($begin{$file}, $at, 16));
			my ($out, $err);
			$node->psql('postgres', "SET parallel_leader_participation = off; SELECT dperm.dperm_load_agg('\\x$key', NULL, y, a, b) FROM people", stdout => \$out, stderr => \$err);
			push(@joined, $key) if $err !~ /internal to training/;
		}
	}
	cmp_ok(scalar(keys %begin), '>', 3, "$what: there are segments");
	is_deeply(\@joined, [], "$what: segments of others cannot be joined");
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^training' AND backend_type = 'client backend'");
	$s->{handle}->finish;
	nothing_left("segments of others, $what");
}

# Files of all processes together count for temp_file_limit, and those of a
# process alone.
foreach my $workers (0, 3)
{
	my ($out, $err);
	$node->psql('postgres', "SET temp_file_limit = '20MB'; SET dperm.cache_memory = 0; SET max_parallel_workers_per_gather = $workers; SELECT $call", stdout => \$out, stderr => \$err);
	like($err, qr/temporary file size exceeds "?temp_file_limit"? \(20480kB\)/, "$workers workers: files are limited");
	only_files("files are limited, $workers workers", @before);
}

# No room: files of this server cannot grow beyond 16 MB, so that a large segment
# fails, and a large file. One worker loads all rows
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no crash in the log');
$node->stop;
{
	my $pid = fork();
	if ($pid == 0)
	{
		exec('sh', '-c', 'ulimit -f 32768 && exec "$@"', 'sh', 'pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', '--cluster-name=main', 'start');
	}
	waitpid($pid, 0);
	is($?, 0, 'a server without room starts');
	$node->_update_pid(1);
}
@before = shared_files();
my $of_300 = $alone;
$call =~ s/300/420/;
$alone = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; SELECT dp_weights($call)");
like(same_model("SET dperm.cache_memory = '1GB'; SET max_parallel_workers = 1; SET parallel_leader_participation = off", 'no room'), $no_room, 'no room: the rows did not fit');
only_files('no room', @before);
foreach my $workers (0, 3)
{
	my ($out, $err);
	$node->psql('postgres', "SET dperm.cache_memory = 0; SET max_parallel_workers_per_gather = $workers; SELECT $call", stdout => \$out, stderr => \$err);
	like($err, qr/could not write to a temporary file: (?:File too large|No space left on device)/, "$workers workers: no room for files");
	only_files("no room for files, $workers workers", @before);
}
$call =~ s/420/300/;
$alone = $of_300;
$node->stop;

# A killed worker
$node->start;
my $usual = () = shared_files();
foreach my $what (sort keys %training)
{
	my ($query, $activity) = @{ $training{$what} };
	my $s = start_training('training' . ++$number, "SET dperm.cache_memory = '1GB'", $query);
	wait_for_workers($what, $activity);
	my $worker = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1");
	kill 'KILL', $worker;
	$s->{handle}->finish;
	like($s->{err}, qr/crash of another server process|server closed the connection/, "a killed worker of the $what: the server restarts");
	for (my $try = 0; $try < 300 && system_log('psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SELECT 1') != 0; $try++)
	{
		sleep(0.1);
	}
	is(scalar(my @left = shared_files()), $usual, "a killed worker of the $what: no shared memory is left");
}
same_model('', 'after all this');
$node->stop;
done_testing();
