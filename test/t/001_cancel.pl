# A training that is cancelled, timed out or terminated stops at once and leaves
# nothing behind: no backend, no worker, no lock, no file; and the session can
# go on.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

# One second is the goal; machines that run tests are busy.
my $soon = 5;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "max_parallel_workers = 4\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION dperm;
	-- minutes of linear algebra
	CREATE TABLE wide AS SELECT i % 1000 AS p, i % 3 = 0 AS y, (SELECT array_agg(sin(i * k)) FROM generate_series(1, 400) k) AS x
	  FROM generate_series(1, 3000) i;
	-- minutes of reading
	CREATE VIEW long AS SELECT i % 100000 AS p, i % 3 = 0 AS y, ARRAY[sin(i), cos(i)] AS x
	  FROM (SELECT generate_series(1, 2000000000) AS i) s;
	-- minutes of waiting, in parallel workers
	CREATE TABLE slow_rows AS SELECT i, i % 3 = 0 AS y, ARRAY[sin(i)] AS x FROM generate_series(1, 100000) i;
	ALTER TABLE slow_rows SET (parallel_workers = 2);
	CREATE FUNCTION slowly(i int) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE COST 100000 AS
	  $$ BEGIN IF current_setting('test.leader') <> pg_backend_pid()::text THEN PERFORM pg_sleep(0.01); END IF; RETURN true; END $$;
	CREATE VIEW slow AS SELECT y, x FROM slow_rows WHERE slowly(i);
});

my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
  . 'SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; '
  . "SET parallel_leader_participation = off; SET dperm.cache_memory = 0; DO \$\$ BEGIN PERFORM set_config('test.leader', pg_backend_pid()::text, false); END \$\$";
my %training = (
	'solver of dp_logreg_train' =>
	  [ '', "SELECT dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 1e-6, domains => '{\"x\": {\"dimension\": 4900}}')" ],
	'passes of dp_svm_train' =>
	  [ '', "SELECT dp_svm_train('long', 'y', 'x', 0.1, domains => '{\"x\": {\"dimension\": 2}}')" ],
	'rows of dp_logreg' =>
	  [ "SET dperm.cache_memory = '4GB'", "SELECT dp_logreg(y, NULL::float8[], 0.1, '{\"lambda\": 0.1, \"dimension\": 1}') FROM long" ],
	'solver of dp_logreg' =>
	  [ '', "SELECT dp_logreg(y, x, 'Infinity', '{\"lambda\": 1e-6, \"dimension\": 4900}') FROM wide" ],
	'rows of persons on their way to a file' =>
	  [ 'SET dperm.cache_memory = 0', "SELECT dp_logreg_train('long', 'y', 'x', 0.1, domains => '{\"x\": {\"dimension\": 2}}', unit => 'p')" ],
	'solver over a file' =>
	  [ 'SET dperm.cache_memory = 0', "SELECT dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 1e-6, domains => '{\"x\": {\"dimension\": 4900}}', unit => 'p')" ],
	'parallel workers' =>
	  [ $parallel, "SELECT dp_logreg_train('slow', 'y', 'x', 0.1, domains => '{\"x\": {\"dimension\": 1}}')" ]);

# Start a session that trains, then says that it still works.
sub start_training
{
	my ($name, $setup, $query) = @_;
	my %s = (in => '', out => '', err => '');
	local $ENV{PGAPPNAME} = $name;
	my @commands = map { ('-c', $_) } grep { $_ ne '' } ($setup, $query, "SELECT 'works on'");
	$s{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), @commands ],
		'<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	return \%s;
}

# Wait until all its processes are at work, and have been for a while.
sub wait_for_training
{
	my ($name, $processes) = @_;
	$node->poll_query_until('postgres',
		"SELECT count(*) >= $processes FROM pg_stat_activity
		 WHERE (application_name = '$name' OR backend_type = 'parallel worker') AND state = 'active' AND query ~ 'dp(erm)?_'
		   AND clock_timestamp() > query_start + interval '300 ms'")
	  or die "$name does not start";
}

sub nothing_left
{
	my ($what) = @_;
	ok( $node->poll_query_until('postgres',
			"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name ~ '^training' OR backend_type = 'parallel worker'"),
		"$what: no process is left");
	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = relation WHERE relname IN ('wide', 'long', 'slow', 'slow_rows')"),
		'0', "$what: no lock is left");
	my @files = glob($node->data_dir . '/base/pgsql_tmp/*');
	is(scalar(@files), 0, "$what: no file is left");
}

my $number = 0;
foreach my $what (sort keys %training)
{
	my ($setup, $query) = @{ $training{$what} };
	my $processes = $what eq 'parallel workers' ? 3 : 1;

	# a cancel request
	my $name = 'training' . ++$number;
	my $s = start_training($name, $setup, $query);
	wait_for_training($name, $processes);
	if ($what =~ /file/)
	{
		my @files = glob($node->data_dir . '/base/pgsql_tmp/*');
		cmp_ok(scalar(@files), '>', 0, "$what: there is a file");
	}
	my $start = time();
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '$name' AND backend_type = 'client backend'");
	$s->{handle}->finish;
	cmp_ok(time() - $start, '<', $soon, "$what: cancelled soon");
	like($s->{err}, qr/canceling statement due to user request/, "$what: cancelled");
	is($s->{out}, "works on\n", "$what: the session works on");

	# a timeout
	$name = 'training' . ++$number;
	$start = time();
	$s = start_training($name, "SET statement_timeout = '1s'" . ($setup ? "; $setup" : ''), $query);
	$s->{handle}->finish;
	cmp_ok(time() - $start, '<', 1 + $soon, "$what: timed out soon");
	like($s->{err}, qr/canceling statement due to statement timeout/, "$what: timed out");
	is($s->{out}, "works on\n", "$what: the session works on");

	# termination
	$name = 'training' . ++$number;
	$s = start_training($name, $setup, $query);
	wait_for_training($name, $processes);
	$start = time();
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '$name' AND backend_type = 'client backend'");
	$s->{handle}->finish;
	cmp_ok(time() - $start, '<', $soon, "$what: terminated soon");
	like($s->{err}, qr/terminating connection due to administrator command/, "$what: terminated");

	nothing_left($what);
}

is( $node->safe_psql('postgres', "SELECT dp_logreg_train('slow_rows', 'y', 'x', 1, domains => '{\"x\": {\"dimension\": 1}}')::jsonb -> 'rows'"),
	'100000', 'training works after all this');
$node->stop;

ok(slurp_file($node->logfile) !~ /PANIC:|TRAP:|terminated by signal/, 'no crash in the log');

done_testing();
