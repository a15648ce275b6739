# An error can quote the row that was being read, as COPY does in its context,
# or a value of it. The caller does not see it, and it is not in the server log.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "log_statement = none\nlog_min_messages = debug1\n");
$node->start;
# From PostgreSQL 19 on, a kind of process can have a level of its own
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 190000)
{
	$node->append_conf('postgresql.conf', "log_min_messages = 'debug1, bgworker:debug5'\nlog_line_prefix = '%b: '\n");
	$node->restart;
}
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner; CREATE ROLE ana LOGIN;
	GRANT CREATE, USAGE ON SCHEMA public TO owner;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	SET ROLE owner;
	SELECT dp_budget_create('patients', 100, 1e-6), dp_grant('patients', 'ana');
	CREATE TABLE codes AS SELECT i AS age, i % 3 = 0 AS ill, CASE i WHEN 7 THEN 'secret ' || 'words' ELSE i::text END AS code FROM generate_series(1, 100) i;
	CREATE VIEW numbers AS SELECT age, ill, code::int AS code FROM codes;
	SELECT dp_protect('codes', 'patients', domains => '{"age": [0, 120]}'), dp_protect('numbers', 'patients', domains => '{"age": [0, 120], "code": [0, 100]}');
	CREATE FUNCTION train_for_all() RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = public AS
		$$ SELECT dp_logreg_train('numbers', 'ill', 'code', 0.1) IS NOT NULL $$});

# Runs statements as a role, at any level of messages.
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\n\\set SHOW_CONTEXT always\nSET SESSION AUTHORIZATION $role;\n$sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, $err);
}
my @calls = ([ 'ana', "dp_logreg_train('numbers', 'ill', 'code', 0.1)" ], [ 'ana', 'train_for_all()' ], [ 'owner', "dp_logreg_train('numbers', 'ill', 'code', 0.1)" ]);

# a file is read by COPY, whose errors have the line in their context
if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'"))
{
	my $file = PostgreSQL::Test::Utils::tempdir . '/wrong.csv';
	append_to_file($file, "41,true,fine\nsecret words,false,fine\n");
	$node->safe_psql('postgres', qq{
		CREATE EXTENSION file_fdw;
		CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
		CREATE FOREIGN TABLE wrong (age int, ill boolean, note text) SERVER files OPTIONS (filename '$file', format 'csv');
		ALTER TABLE wrong OWNER TO owner;
		GRANT pg_read_server_files TO owner;
		SET ROLE owner;
		SELECT dp_protect('wrong', 'patients', domains => '{"age": [0, 120]}')});
	push @calls, [ 'ana', "dp_logreg_train('wrong', 'ill', '{age}', 0.1)" ];
}
foreach my $call (@calls)
{
	my ($out, $err) = as($call->[0], "SET client_min_messages = debug5;\nSELECT $call->[1] IS NOT NULL");
	if ($call->[1] =~ /wrong/)
	{
		like($err, qr/ERROR:  39000: the protected relation could not be read\nDETAIL:  The call has been charged, as entry \d+ of budget "patients"\./, 'a file: what has happened');
		is($node->safe_psql('postgres', 'SELECT release, failure FROM dp_ledger JOIN dp_releases USING (budget, entry) ORDER BY entry DESC LIMIT 1'), 'failed|the relation could not be read', 'a file: the ledger has it');
	}
	else { is($out, 't', "$call->[0], $call->[1]: the row is left out") }
	unlike($err, qr/secret|wrong, line|in\w*put syntax/, "$call->[0], $call->[1]: no row");
}
my $log = slurp_file($node->logfile);
unlike($log, qr/secret words/, 'the log does not have it');
unlike($log, qr/^dperm\b.*: DEBUG:  CommitTransaction.* xid.subid.cid: [1-9]/m, 'nor what the process does');
like($log, qr/failed: SQLSTATE 22P02, raised by \w+ in numutils\.c/, 'but where it comes from');

# Nor does the encoding that the analyst chooses decide whether an expression
# fails: functions that depend on it are not IMMUTABLE.
my (undef, $refused) = as('owner', q{CREATE VIEW hashes AS SELECT age, sha256(textsend(code)) IS NOT NULL AS ill FROM codes; SELECT dp_protect('hashes')});
like($refused, qr/ERROR:  0A000: view "hashes" cannot be offered: it calls function textsend\(text\)\n/, 'nothing depends on the encoding of a session');

$node->stop;
done_testing();
