# Charges to one grant at the same time, and its owner's work meanwhile: a grant
# is read once, when the budget is locked. So as many charges succeed as fit; the
# first of them fixes order and delta, and no other; and what an owner changes
# holds for each charge as a whole, before or after.
use strict;
use warnings;

use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
# a role can have a quarter of the workers
$node->append_conf('postgresql.conf', "max_connections = 50\nmax_worker_processes = 80\nlog_min_messages = warning\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION dperm;
	CREATE ROLE ana; CREATE ROLE ben; CREATE ROLE twin;
	SELECT dp_budget_create(b, 8, 1e-6) FROM unnest('{race,last,sums,lowered,raised,deltas,gone,back,fixed,kept}'::text[]) b;
});

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql); }
sub poll { my ($sql) = @_; $node->poll_query_until('postgres', $sql) or die "never: $sql"; return; }

# A session that waits for more input, and one that ends after its statements.
sub start
{
	my (@sql) = @_;
	my %s = (in => join('', map { "$_;\n" } @sql), out => '', err => '');
	$s{handle} = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') ], '<', \$s{in}, '>', \$s{out}, '2>', \$s{err});
	$s{handle}->pump_nb;
	return \%s;
}
sub say_to { my ($s, $sql) = @_; $s->{in} .= "$sql;\n"; $s->{handle}->pump while length $s->{in}; return; }
sub finish { my ($s) = @_; $s->{handle}->finish; return $s->{err} =~ /ERROR:  (.*)/ ? $1 : 'done'; }
sub charge { my ($role, $budget, $epsilon, $delta) = @_; return start('SET client_min_messages = error', "SET ROLE $role", "SELECT dp_budget_charge('$budget', $epsilon, $delta)"); }

# So many workers wait for a lock, or more. They do so for 3 seconds.
sub waiting { my ($count) = @_; poll("SELECT count(*) >= $count FROM pg_stat_activity WHERE backend_type = 'dperm' AND wait_event_type = 'Lock'"); return; }

# Charges by a role that begin at once: while somebody holds the budget, some get
# as far as the lock. Returns how many succeed.
sub race
{
	my ($count, @charge) = @_;
	my $holder = start('BEGIN', "SELECT FROM dperm.budgets WHERE budget = '$charge[1]' FOR UPDATE");
	poll("SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'idle in transaction'");
	my @racers = map { charge(@charge) } 1 .. $count;
	waiting(6);
	say_to($holder, 'COMMIT');
	finish($holder);
	my @said = map { finish($_) } @racers;
	my @others = grep { $_ ne 'done' && !/^54000: the grant of budget "$charge[1]" to "$charge[0]" has too little epsilon left$/ } @said;
	is("@others", '', "$charge[1]: who is refused is told why");
	return scalar(grep { $_ eq 'done' } @said);
}
sub grant { my ($budget, $role) = @_; return "FROM dperm.grants g JOIN dperm.budgets b ON b.id = g.budget_id WHERE b.budget = '$budget' AND g.grantee = '$role'::regrole"; }
my $sums = 'spent_epsilon, g.spent_delta, g.spent_divergence, g.spent_direct, g.spent_tail';

# ---- the first charges at once

query("SELECT dp_grant('race', 'ana', 1), dp_grant('race', 'twin', 1)");
is(race(12, 'ana', 'race', 0.3, 0), 3, 'of 12 that race for 1.0 with 0.3 each, three win');
is(query("SELECT g.spent_epsilon, g.delta, g.renyi_order = dperm.dperm_budget_order(1, 0.000001) " . grant('race', 'ana')), '0.9|0.000001|t', 'the grant is charged for three, by the order of its limits');
finish(charge('twin', 'race', 0.3, 0)) foreach 1 .. 3;
is(query("SELECT g.$sums, g.renyi_order " . grant('race', 'ana')), query("SELECT g.$sums, g.renyi_order " . grant('race', 'twin')), 'exactly as for three that came one after the other');

# ---- the last of a grant, by divergences and by sums

query("SELECT dp_grant('last', 'ana', 1)");
query(q{SET ROLE ana; DO $$ BEGIN FOR i IN 1..115 LOOP PERFORM dp_budget_charge('last', 0.02); END LOOP; END $$});
# as many as (B) of docs/guarantee.md allows: each has the divergence of randomised response
my $fit = query(q{SELECT floor((1 + (ln(11e-6 / 16) - (a - 1) * ln(a - 1) + a * ln(a)) / (a - 1)) / (ln((exp(a * 0.02) + exp((1 - a) * 0.02)) / (1 + exp(0.02))) / (a - 1)))
	FROM (SELECT dperm.dperm_budget_order(1, 0.000001) AS a) o});
is($fit, 121, '121 charges of 0.02 fit into (1, 1e-6)');
is(race(16, 'ana', 'last', 0.02, 0), $fit - 115, 'so many win as fit after 115');
is(query("SELECT g.spent_epsilon " . grant('last', 'ana')), '2.42', 'they are all counted');
is(finish(charge('ana', 'last', 0.02, 0)), '54000: the grant of budget "last" to "ana" has too little epsilon left', 'there is no other');
query("SELECT dp_grant('sums', 'ana', epsilon => 0.5, delta => 0)");
is(race(10, 'ana', 'sums', 0.125, 0), 4, 'without a delta, as many as epsilons add up to');
is(query("SELECT g.spent_epsilon, g.delta, g.renyi_order IS NULL " . grant('sums', 'ana')), '0.5|0|t', 'and no more');

# ---- the owner changes a grant before a charge has the lock: the charge counts by what is committed then

# Runs what an owner does, and a charge that waits for it; returns what the charge
# says.
sub during
{
	my ($budget, $sql, $end, @charge) = @_;
	my $owner = start('BEGIN', $sql);
	poll("SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'idle in transaction'");
	my $charge = charge('ana', $budget, @charge);
	waiting(1);
	say_to($owner, $end);
	is(finish($owner), 'done', "$budget: $sql; $end");
	return finish($charge);
}
query("SELECT dp_grant('lowered', 'ana', 1), dp_grant('raised', 'ana', 0.25), dp_grant('deltas', 'ana', 1), dp_grant('gone', 'ana', 1), dp_grant('back', 'ana', 1)");
is(during('lowered', "SELECT dp_grant('lowered', 'ana', 0.25)", 'COMMIT', 0.5, 0), '54000: the grant of budget "lowered" to "ana" has too little epsilon left', 'a limit that is lowered meanwhile holds');
is(during('lowered', "SELECT dp_grant('lowered', 'ana', 0.125)", 'ROLLBACK', 0.25, 0), 'done', 'one that is not committed does not');
is(during('raised', "SELECT dp_grant('raised', 'ana', 1)", 'COMMIT', 0.5, 0), 'done', 'nor does one that was raised');
is(query("SELECT g.epsilon, g.renyi_order = dperm.dperm_budget_order(1, 0.000001) " . grant('raised', 'ana')), '1|t', 'the order is that of the new one');
is(during('deltas', "SELECT dp_grant('deltas', 'ana', delta => 1e-7)", 'COMMIT', 0.5, 0), 'done', 'a delta before the first charge');
is(query("SELECT g.delta, g.renyi_order = dperm.dperm_budget_order(1, 0.0000001) " . grant('deltas', 'ana')), '0.0000001|t', 'is the one that it fixes');
is(during('gone', "SELECT dp_revoke('gone', 'ana')", 'COMMIT', 0.5, 0), '42501: permission denied for budget "gone"', 'what is revoked is not charged any more');
is(query("SELECT count(*) " . grant('gone', 'ana')), '0', 'and leaves nothing');
is(during('back', "SELECT dp_revoke('back', 'ana')", 'ROLLBACK', 0.5, 0), 'done', 'unless that is rolled back');
is(during('back', "SELECT dp_revoke('back', 'ana'), dp_grant('back', 'ana')", 'COMMIT', 0.75, 0), '54000: the grant of budget "back" to "ana" has too little epsilon left', 'revoked and granted again, it goes on');
is(during('back', "SELECT dp_revoke('back', 'ana'), dp_grant('back', 'ana', add => 0.25)", 'COMMIT', 0.75, 0), 'done', 'with what is added to it');
is(query("SELECT g.epsilon, g.spent_epsilon, g.revoked " . grant('back', 'ana')), '1.25|1.25|', 'by its sums');

# ---- a charge has the lock, and has written the grant: the owner waits

# The charge waits for the number of its entry, which somebody else has taken and
# rolls back.
sub meanwhile
{
	my ($budget, $sql) = @_;
	my $taker = start('BEGIN', "INSERT INTO dperm.ledger (budget_id, budget, entry, act, actor_name, role) SELECT id, budget, entry + 1, 'alter', owner_name, 'nobody' FROM dperm.budgets WHERE budget = '$budget'");
	poll("SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'idle in transaction'");
	my $charge = charge('ana', $budget, 0.5, 0);
	waiting(1);
	my $owner = start($sql);
	poll("SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND wait_event_type = 'Lock'");
	say_to($taker, 'ROLLBACK');
	finish($taker);
	is(finish($charge), 'done', "$budget: charged");
	return finish($owner);
}
query("SELECT dp_grant('fixed', 'ana', 1), dp_grant('kept', 'ana', 1)");
is(meanwhile('fixed', "SELECT dp_grant('fixed', 'ana', delta => 1e-7)"), '55000: the delta of the grant of budget "fixed" to "ana" is 0.000001, as it was when the grant was first charged', 'a delta comes too late');
is(meanwhile('kept', "SELECT dp_revoke('kept', 'ana')"), 'done', 'what is revoked');
is(query("SELECT g.spent_epsilon, g.revoked IS NOT NULL " . grant('kept', 'ana')), '0.5|t', 'keeps the sums of a charge that came before');
query("SELECT dp_grant('kept', 'ana')");
is(finish(charge('ana', 'kept', 0.6, 0)), '54000: the grant of budget "kept" to "ana" has too little epsilon left', 'and goes on from there');

# ---- all of it is in the ledger

is(query(q{SELECT count(*) FROM dperm.budgets b WHERE (b.spent_epsilon, b.spent_divergence) <> (SELECT coalesce(sum(e.epsilon), 0), coalesce(sum(e.divergence), 0) FROM dperm.ledger e WHERE e.budget_id = b.id AND e.act = 'charge')
	OR b.spent_epsilon <> (SELECT coalesce(sum(g.spent_epsilon), 0) FROM dperm.grants g WHERE g.budget_id = b.id)}), '0', 'budgets, grants and the ledger add up');
$node->stop;
ok(slurp_file($node->logfile) !~ /PANIC:|TRAP:/, 'no crash in the log');
done_testing();
