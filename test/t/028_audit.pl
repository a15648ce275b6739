# Extensions that watch what is executed, and which rights are checked for it:
# test/modules/audit.c, and pgaudit where the server has it. What statistics a
# plan can depend on: test/modules/statistics.c.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the modules are built by make tap' unless $ENV{TEST_MODULES};
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
my $has_pgaudit = $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pgaudit'");
my @watchers = ("'$ENV{TEST_MODULES}/audit$ENV{DLSUFFIX}'", $has_pgaudit ? 'pgaudit' : ());
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE owner; CREATE ROLE analyst;
	CREATE SCHEMA h AUTHORIZATION owner; GRANT USAGE ON SCHEMA h TO analyst;
	GRANT EXECUTE ON FUNCTION dp_budget_create TO owner;
	SET ROLE owner;
	CREATE TABLE h.visits (person int, age float8, ill boolean);
	INSERT INTO h.visits SELECT i / 2, i % 100, i % 3 = 0 FROM generate_series(1, 200) i;
	CREATE VIEW h.halves AS SELECT person, age / 2 AS age, ill FROM h.visits WHERE age < 99;
	SELECT dp_budget_create('rows', 100), dp_grant('rows', 'analyst');
	SELECT dp_protect(r, 'rows', domains => '{"age": [0, 100]}') FROM unnest('{h.visits,h.halves}'::text[]) r});
foreach my $watcher (@watchers)
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = $watcher\n" . ($watcher eq 'pgaudit' ? "pgaudit.log = 'all'\npgaudit.log_relation = on\n" : ''));
	$node->restart;
	foreach my $relation (qw(visits halves))
	{
		my $made = "SELECT model FROM dp_releases WHERE relation LIKE '%$relation' AND model IS NOT NULL LIMIT 1";
		is($node->safe_psql('postgres', "SET ROLE analyst; SELECT dp_logreg_train('h.$relation', 'ill', '{age}', 1)::jsonb ->> 'rows'"), '200', "$watcher, $relation: a model is trained");
		is($node->safe_psql('postgres', "SET ROLE analyst; SELECT count(*) > 0 FROM dp_evaluate(($made), 'h.$relation', epsilon => 1)"), 't', "$watcher, $relation: it is evaluated");
	}
}
is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE release = 'kept') FROM dp_ledger WHERE act = 'charge'"), join('|', (4 * @watchers) x 2), 'all that was paid for is kept');

# Statistics are computed from rows, so plans of protected calls must not depend
# on them.
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$ENV{TEST_MODULES}/statistics$ENV{DLSUFFIX}'\n");
$node->restart;
$node->safe_psql('postgres', 'CREATE STATISTICS h.both (dependencies, mcv) ON age, ill FROM h.visits; ANALYZE h.visits');
sub statistics
{
	my ($sql) = @_;
	my $before = -s $node->logfile;
	$node->safe_psql('postgres', $sql);
	my %seen = map { $_ => 1 } substr(slurp_file($node->logfile), $before) =~ /^statistics of visits: (.*)$/mg;
	return join(' | ', sort keys %seen);
}
is(statistics('SELECT count(*) FROM h.visits WHERE age < 50 AND ill'), '3 columns, 2 extended', 'statistics of a query');
is(statistics("SET ROLE analyst; SELECT dp_logreg_train('h.$_', 'ill', '{age}', 1)"), '0 columns, 0 extended', "none of a call on $_") foreach qw(visits halves);
$node->stop;

done_testing();
