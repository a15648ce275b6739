-- dperm: differentially private models inside PostgreSQL.
-- The install script is assembled from sql/parts. Parts named internal serve
-- the other parts and the queries of training.

-- Scripts qualify every operator and function of PostgreSQL with its schema,
-- and use neither IN nor CASE value WHEN: a role that may create objects in the
-- schema of the extension could have created an operator there that matches the
-- types better, and it would run with the rights of the role that installs the
-- extension (test/t/021_squatters.pl).

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION dperm" to load this file. \quit
