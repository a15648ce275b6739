# What the rows hold does not leak into the log, nor into a notice.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "log_min_messages = warning\nlog_statement = none\nlog_min_duration_statement = -1\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION dperm;
	CREATE TABLE hostile AS SELECT y, x, 'secret-' || i AS t, i
	  FROM (VALUES (true, '{0.125,0.25}'::float8[]), (false, '{1e308,-1e308}'), (true, '{NaN,1}'), (NULL, '{1,1}'), (false, NULL),
	    (true, '{1,2,3}'), (false, '{}'), (true, '{{1,2}}'), (false, '{NULL,1}'), (true, '{Infinity,1}'), (false, '{5e-324,0}')) v(y, x),
	    generate_series(1, 40) i;
	ALTER TABLE hostile ADD CHECK (cardinality(x) = 2) NOT VALID});

my $train = q{
	SELECT 'model' FROM (
	  SELECT dp_logreg_train('hostile', 'y', 'x', 0.1) UNION ALL
	  SELECT dp_logreg_train('hostile', 'y', 'x', 'Infinity', lambda => 1e-10) UNION ALL
	  SELECT dp_logreg_train('hostile', 't', 'x', 1e-6, positive => 'secret-7', options => '{"method": "output"}') UNION ALL
	  SELECT dp_svm_train('hostile', 'y', 'x', 1, options => '{"loss": "smooth_hinge"}') UNION ALL
	  SELECT dp_logreg_train('hostile', 'y', 'x', 1, kernel => 'gaussian', options => '{"kernel_features": 2000}') UNION ALL
	  SELECT dp_logreg(y, x, 1, '{"dimension": 2}') FROM hostile UNION ALL
	  SELECT dp_svm(t, x, 1, '{"lambda": 0.1, "positive": "secret-7", "dimension": 2}') FROM hostile) s(m) WHERE m IS NOT NULL};

# $train at some level of logging: what the client and the log get
sub train_at
{
	my ($client, $server) = @_;
	$node->append_conf('postgresql.conf', "log_min_messages = $server\n");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT current_setting('log_min_messages') = '$server'");
	my $offset = -s $node->logfile;
	my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = $client; $train");
	is($status, 0, "$client, $server: no error");
	is($out, join("\n", ('model') x 7), "$client, $server: seven models");
	# that there is much noise for so few rows depends on their number alone
	return map { join("\n", grep { !/NOTICE:  the noise is larger than|HINT:  Use a larger epsilon, more rows/ } split(/\n/, $_)) } $err, substr(slurp_file($node->logfile), $offset);
}

my ($err, $log) = train_at('notice', 'warning');
is($err, '', 'default: no notice');
is($log, '', 'default: nothing in the log');

($err, $log) = train_at('debug1', 'debug1');
foreach my $text ($err, $log)
{
	$text = join("\n", grep { !/checkpoint|autovacuum|statistics|building index|drop auto-cascades/i } split(/\n/, $text));
	is($text, '', 'debug1: nothing');
}

# At the most verbose level the server shows what it does; values of rows are
# not in it, except for the text of the query itself.
($err, $log) = train_at('debug5', 'debug5');
foreach my $text ($err, $log)
{
	# where the server looks for libraries
	$text = join("\n", grep { !/find_in_(dynamic_lib)?path/ } split(/\n/, $text));
	unlike($text, qr/secret-(?!7\b)|0\.125|1e\+?308|NaN/, 'debug5: no value of a row');
	unlike($text, qr/\bdperm\b(?!\.dperm_)|iteration|newton|gradient|clipped|skipped/i, 'debug5: nothing from the solver');
}

# The plan of a pass on another server holds the weights, before any noise. Whoever
# trains may have plans printed, but not those of our queries, which read a relation t.
my $plans = "SET client_min_messages = log; SET debug_print_plan = on; SET debug_print_rewritten = on; SET debug_print_parse = on; SET dperm.cache_memory = 0";
my ($status, $out, $message) = $node->psql('postgres', "$plans; SELECT dp_logreg_train('hostile', 'y', 'x', 1, kernel => 'gaussian', options => '{\"kernel_features\": 2000}')::jsonb -> 'rows'");
is($out, '440', 'trained while plans are shown');
like($message, qr/:consttype \d/, 'the plan of the call is shown');
unlike($message, qr/:aliasname t\b/, 'that of its query is not');
unlike(slurp_file($node->logfile), qr/:aliasname t\b/, 'nor in the log');
($status, $out, $message) = $node->psql('postgres', "$plans; SELECT dp_logreg_train('hostile', 'y', 'x', 1) IS NOT NULL; SELECT count(*) FROM hostile AS t");
like($message, qr/:aliasname t\b/, 'such a query shows itself so');
like($message, qr/AGGREF/, 'the setting is afterwards as it was');

# An error of ours shows the argument that was wrong, and no row.
($status, $out, $message) = $node->psql('postgres', "SELECT dp_logreg_train('hostile', 't', 'x', 1)");
isnt($status, 0, 'an error');
unlike($message, qr/secret|0\.125/, 'no value of a row in it');

$node->stop;
done_testing();
