--
-- A first look. Trusted.
--

CREATE FUNCTION @extschema@.dp_summary(
	relation text,
	epsilon float8,
	columns text[] DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	unit text DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	delta float8 DEFAULT 0,
	purpose text DEFAULT NULL,
	OUT column_name text,
	OUT item text,
	OUT value text,
	OUT low text,
	OUT high text,
	OUT count float8,
	OUT count_low float8,
	OUT count_high float8,
	OUT share float8,
	OUT private boolean
) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'dperm_run' LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 200;
COMMENT ON FUNCTION @extschema@.dp_summary(text, float8, text[], jsonb, text, text, float8, text) IS
	'private counts of all columns of a relation at one price: of the values of categories and booleans, and of intervals of numbers and times, with their quantiles; counts have 95 percent intervals';

-- What a summary would be: dp_cost without a label

CREATE FUNCTION @extschema@.dp_cost(
	relation text,
	epsilon float8,
	columns text[] DEFAULT NULL,
	domains jsonb DEFAULT NULL,
	unit text DEFAULT NULL,
	neighbours text DEFAULT 'replace',
	delta float8 DEFAULT 0,
	OUT columns_counted integer,
	OUT values_error float8,
	OUT intervals_error float8,
	OUT calls_left bigint,
	OUT budget text,
	OUT epsilon_charged numeric,
	OUT delta_charged numeric,
	OUT epsilon_left numeric,
	OUT epsilon_left_after numeric
) RETURNS record
	AS 'MODULE_PATHNAME', 'dp_cost_summary' LANGUAGE C STABLE PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION @extschema@.dp_cost(text, float8, text[], jsonb, text, text, float8) IS
	'what a summary would show, at no cost: how far 95 percent of its counts of values, and of intervals of numbers, are at most from the truth, and what it takes from the budget; from its arguments and the catalog, without reading any rows';

-- Edges of intervals, as many as there are: near the quantiles of count^(3/4) width^(1/4), so that a value that most rows share does not get all knots

CREATE FUNCTION @extschema@.dp_summary_knots(summary jsonb, knots integer DEFAULT 8) RETURNS jsonb
	LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF knots IS NULL OR knots NOT BETWEEN 2 AND 100 THEN
		RAISE EXCEPTION 'knots must be between 2 and 100' USING ERRCODE = 'invalid_parameter_value',
			HINT = '8, the default, is enough for most trainings.';
	END IF;
	RETURN (WITH lines AS (SELECT l.line ->> 'column_name' AS name, l.n, l.line ->> 'low' AS low, l.line ->> 'high' AS high,
			greatest((l.line ->> 'count')::float8, 0) AS count, l.line ->> 'low' ~ '^-?[0-9.]+(e[-+]?[0-9]+)?$' AS number
		FROM jsonb_array_elements(summary) WITH ORDINALITY l (line, n) WHERE l.line ->> 'item' = 'interval'),
	intervals AS (SELECT l.*, coalesce(lead(l.low) OVER place, l.high) AS next, row_number() OVER place = 1 AS first, lead(l.n) OVER place IS NULL AS last
		FROM lines l WINDOW place AS (PARTITION BY l.name ORDER BY l.n)),
	sizes AS (SELECT i.*, power(i.count, 0.75) * power(w.width, 0.25) AS size
		FROM intervals i, LATERAL (SELECT max(p.place) - min(p.place) AS width FROM (SELECT CASE WHEN i.number THEN e.edge::float8
			WHEN e.edge ~ '^[0-9]+:' THEN extract(epoch FROM e.edge::interval) WHEN e.edge ~ 'T' THEN extract(epoch FROM e.edge::timestamp)
			ELSE extract(epoch FROM e.edge::date) END AS place FROM unnest(ARRAY[i.low, i.next]) e (edge)) p) w),
	sums AS (SELECT s.*, sum(s.size) OVER (PARTITION BY s.name ORDER BY s.n) AS upto, sum(s.size) OVER (PARTITION BY s.name) AS total FROM sizes s),
	edges AS (SELECT s.name, s.number, s.n, s.low AS edge FROM sums s WHERE s.first
		UNION ALL SELECT s.name, s.number, s.n + 1, s.next FROM sums s WHERE s.last
		UNION ALL SELECT s.name, s.number, s.n + e.upper, CASE WHEN e.upper = 1 THEN s.next ELSE s.low END
		FROM generate_series(1, knots - 2) q, sums s, LATERAL (SELECT q * s.total / (knots - 1) AS below) b,
			LATERAL (SELECT (b.below > s.upto - s.size / 2)::integer AS upper) e
		WHERE b.below > s.upto - s.size AND b.below <= s.upto),
	chosen AS (SELECT e.name, min(e.n) AS n, CASE WHEN e.number THEN e.edge::jsonb ELSE to_jsonb(e.edge) END AS edge FROM edges e GROUP BY e.name, e.number, e.edge),
	lists AS (SELECT c.name, jsonb_build_object('knots', jsonb_agg(c.edge ORDER BY c.n)) AS domain FROM chosen c GROUP BY c.name)
	SELECT coalesce(jsonb_object_agg(l.name, l.domain), '{}') FROM lists l);
END $$;
COMMENT ON FUNCTION @extschema@.dp_summary_knots(jsonb, integer) IS
	'domains with knots where the rows of a summary are, for a training: dp_summary_knots((SELECT jsonb_agg(s) FROM dp_summary(...) s)); what is computed from a summary costs nothing more';
