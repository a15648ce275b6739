-- dperm: differentially private classifiers inside PostgreSQL.
-- The install script is made of sql/parts: those called internal are for the others, and for the queries of training.

-- Scripts name the schema of every operator and function of PostgreSQL, and use neither IN nor CASE value WHEN: whoever may create objects in the schema of
-- the extension can have made an operator there that fits the types better, which would run with the rights of whoever installs it (test/t/021_squatters.pl).

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION dperm" to load this file. \quit
