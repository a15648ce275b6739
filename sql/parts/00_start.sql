-- dperm: differentially private classifiers inside PostgreSQL.
-- The install script is made of sql/parts: those called internal are for the others, and for the queries of training.

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION dperm" to load this file. \quit
