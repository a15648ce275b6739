# A Citus cluster of throwaway servers: a coordinator and workers, with dperm on
# all of them.
package CitusCluster;

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

# CitusCluster->start(workers => 2, conf => "...", before => "...", tcp => 1):
# the nodes, coordinator first. before is a command of the session that creates
# the extension. Workers get OIDs that the coordinator does not have. With tcp
# they talk to each other through the loopback interface, which counts bytes.
sub start
{
	my ($class, %options) = @_;
	my @nodes;
	my $host = sub { return $options{tcp} ? '127.0.0.1' : $_[0]->host; };
	for my $name ('coordinator', map { "worker$_" } 1 .. ($options{workers} // 2))
	{
		my $node = PostgreSQL::Test::Cluster->new($name);
		$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'\ncitus.node_conninfo = 'sslmode=prefer'\ncitus.local_hostname = '" . $host->($node) . "'\n"
			  . ($options{tcp} ? "listen_addresses = '127.0.0.1'\n" : '')
			  . "max_prepared_transactions = 20\nlog_statement = all\nwal_level = logical\n" . ($options{conf} // ''));
		$node->start;
		$node->safe_psql('postgres', 'CREATE EXTENSION citus');
		spend_oids($node, 100 * @nodes) if @nodes;
		push @nodes, $node;
	}
	my $coordinator = $nodes[0];
	$coordinator->safe_psql('postgres', "SELECT citus_set_coordinator_host('" . $host->($coordinator) . "', " . $coordinator->port . ")");
	$coordinator->safe_psql('postgres', "SELECT citus_add_node('" . $host->($_) . "', " . $_->port . ")") for @nodes[1 .. $#nodes];
	$coordinator->safe_psql('postgres', ($options{before} // 'SELECT') . '; CREATE EXTENSION dperm');
	$_->safe_psql('postgres', 'SET citus.enable_ddl_propagation = off; GRANT EXECUTE ON FUNCTION dp_budget_create TO PUBLIC') for @nodes;
	return bless { nodes => \@nodes }, $class;
}

# Let a server use up some OIDs, so that types made later have other ones than
# elsewhere.
sub spend_oids
{
	my ($node, $count) = @_;
	$node->safe_psql('postgres', qq{
		SET citus.enable_metadata_sync = off;
		SET citus.enable_ddl_propagation = off;
		DO \$\$ BEGIN
		  FOR i IN 1..$count LOOP
		    EXECUTE format('CREATE TYPE spent AS ENUM (%L, %L)', i, 'green');
		    DROP TYPE spent;
		  END LOOP;
		END \$\$;
	});
}

sub coordinator { return $_[0]->{nodes}[0]; }
sub workers { my $nodes = $_[0]->{nodes}; return @$nodes[1 .. $#$nodes]; }

# The current ends of the workers' logs, and what was logged since.
sub mark { return [ map { -s $_->logfile } $_[0]->workers ]; }

sub since
{
	my ($self, $mark) = @_;
	my @workers = $self->workers;
	return join '', map { substr slurp_file($workers[$_]->logfile), $mark->[$_] } 0 .. $#workers;
}

sub stop { $_->stop for reverse @{ $_[0]->{nodes} }; }

1;
