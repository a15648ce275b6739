-- dperm: differentially private models inside PostgreSQL. Trusted.
-- The install script is assembled from sql/parts. Parts named internal serve
-- the other parts and the queries of training.

-- complain if script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION dperm" to load this file. \quit

-- Whatever users call is in the schema that they choose, @extschema@; all else
-- is in schema dperm, where nobody else creates anything. Somebody else may own
-- the chosen schema, and have created functions, operators or types there that
-- match our calls better than PostgreSQL's. So it is not on search_path here,
-- every object of ours is named with its schema, and CREATE EXTENSION restores
-- the path at the end. A function whose body is a string sets the path itself.

SET LOCAL search_path = pg_catalog, pg_temp;

-- IF NOT EXISTS would adopt a schema that somebody else owns
DO $$
BEGIN
	IF to_regnamespace('dperm') IS NOT NULL THEN
		RAISE EXCEPTION 'schema "dperm" already exists'
			USING ERRCODE = 'duplicate_schema',
			HINT = 'Extension dperm creates this schema for its tables. Rename or drop the one that is there, and install the extension in another schema.';
	END IF;
END $$;
CREATE SCHEMA dperm;
COMMENT ON SCHEMA dperm IS
	'tables and internal functions of extension dperm';
