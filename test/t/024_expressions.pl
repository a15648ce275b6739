# A session keeps compiled regular expressions, and at the end of the stack there is no room to compile one: there an analyst can ask whether it has been compiled. Rows leave none behind.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm; CREATE ROLE owner; CREATE ROLE ana; GRANT CREATE ON DATABASE postgres TO owner, ana;
	SET ROLE owner; CREATE SCHEMA o; GRANT USAGE ON SCHEMA o TO ana;
	SELECT dp_budget_create('o', 100), dp_grant('o', 'ana')});
foreach my $which ('calm', 'wild')
{
	$node->safe_psql('postgres', qq{
		SET ROLE owner;
		CREATE TABLE o.$which AS SELECT i AS id, i % 3 = 0 AS y, 'note ' || i AS t, CASE WHEN '$which' = 'wild' AND i = 7 THEN 'rare' ELSE 'x' END AS kind FROM generate_series(1, 20) i;
		CREATE VIEW o.branch_$which AS SELECT id, y, CASE WHEN kind = 'rare' THEN t ~ '^note [0-9]+(a|b)*\$' ELSE false END AS f FROM o.$which;
		CREATE VIEW o.pattern_$which AS SELECT id, y, 'note 1' ~ kind AS f FROM o.$which;
		CREATE VIEW o.failing_$which AS SELECT id, y, CASE WHEN 'note 1' ~ kind THEN true ELSE 1 / (8 - id) > 0 END AS f FROM o.$which;
		SELECT dp_protect('o.' || v || '_$which', 'o') FROM unnest('{branch,pattern,failing}'::text[]) v});
}

# the deepest call at which a pattern that has been used matches; is another one known there? Frames of nested statements are small, and are not checked.
my ($if, $end) = ('IF n = 0 THEN ' x 40, ' END IF;' x 40);
$node->safe_psql('postgres', qq{
	SET ROLE ana; CREATE SCHEMA a;
	CREATE FUNCTION a.dig(n int, pattern text) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN IF n = 0 THEN $if RETURN 'zz' ~ pattern; $end END IF; RETURN a.dig(n - 1, pattern); END \$\$;
	CREATE FUNCTION a.known(pattern text) RETURNS boolean LANGUAGE plpgsql AS \$\$
	DECLARE low int := 1; high int := 20000; middle int;
	BEGIN
		PERFORM a.dig(3, 'zzz');
		WHILE high - low > 1 LOOP
			middle := (low + high) / 2;
			BEGIN PERFORM a.dig(middle, 'zzz'); low := middle; EXCEPTION WHEN OTHERS THEN high := middle; END;
		END LOOP;
		BEGIN PERFORM a.dig(low, pattern); RETURN true; EXCEPTION WHEN OTHERS THEN RETURN false; END;
	END \$\$});
sub known
{
	my ($first, $pattern) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "SET SESSION AUTHORIZATION ana;\n$first;\nSELECT 'known: ' || a.known('$pattern')", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out =~ /known: (\w+)/ ? $1 : $err, $err);
}
my $branch = '^note [0-9]+(a|b)*$';

# how much of the stack each step takes depends on versions and compilers
plan(skip_all => 'whether an expression has been compiled cannot be seen here')
  if (known("SELECT 'x' ~ '$branch'", $branch))[0] ne 'true' || (known('SELECT 1', $branch))[0] ne 'false';
foreach my $which ('calm', 'wild')
{
	foreach my $call (
		[ "SELECT dp_logreg_train('o.branch_$which', 'y', 'f', 0.01) IS NOT NULL", $branch, '' ],
		[ "SELECT dp_logreg_train('o.pattern_$which', 'y', 'f', 0.01) IS NOT NULL", 'rare', '' ],
		[ "SELECT dp_logreg_train('o.failing_$which', 'y', 'f', 0.01) IS NOT NULL", 'rare', 'has failed' ],
		[ "BEGIN; SAVEPOINT s; SELECT dp_logreg_train('o.failing_$which', 'y', 'f', 0.01) IS NOT NULL; ROLLBACK TO s", 'rare', 'has failed' ],
		[ "SELECT method FROM dp_cost('o.pattern_$which', 'y', 'f', 0.01, 20)", 'rare', '' ])
	{
		my ($known, $err) = known($call->[0], $call->[1]);
		is($known, 'false', "$call->[0]: no trace of $call->[1]");
		like($err, qr/$call->[2]/, 'as it should');
	}
}

# from any depth of the stack
$node->safe_psql('postgres', q{SET ROLE ana; CREATE FUNCTION a.deep(n int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN IF n = 0 THEN RETURN dp_logreg_train('o.pattern_wild', 'y', 'f', 0.001) IS NOT NULL; END IF; RETURN a.deep(n - 1); END $$});
my ($known, $err) = known('DO $$ DECLARE done int := 0; BEGIN FOR i IN 1 .. 60 LOOP BEGIN PERFORM a.deep(i * 25); done := done + 1; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; RAISE NOTICE \'done %\', done; END $$', 'rare');
is($known, 'false', 'calls from deep in the stack leave no trace');
like($err, qr/done [1-9]/, 'some of them are done');

$node->stop;
done_testing();
