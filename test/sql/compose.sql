--
-- dp_compose: what several releases cost together
--
-- A model's part is a function of public parameters, so results are the same in
-- every run.
\set ECHO none
\pset format unaligned
\pset footer off
CREATE TABLE composed (id integer PRIMARY KEY, label boolean, x double precision[]);
INSERT INTO composed SELECT i, i % 3 = 0, ARRAY[cos(i), sin(i)] FROM generate_series(1, 3000) AS i;
CREATE TABLE models (id integer, kind text, model dp_model);
CREATE FUNCTION made(epsilon float8, method text, delta float8, neighbours text) RETURNS dp_model LANGUAGE sql AS
	$$ SELECT dp_logreg_train('composed', 'label', 'x', $1, lambda => 0.01, options => jsonb_build_object('method', $2), domains => '{"x": {"dimension": 2}}', delta => $3, neighbours => $4) $$;
INSERT INTO models SELECT i, 'pure', made(0.1, 'objective', 0, 'replace') FROM generate_series(1, 2) AS i;
INSERT INTO models SELECT i, 'output', made(0.5, 'output', 1e-6, 'replace') FROM generate_series(3, 4) AS i;
INSERT INTO models SELECT i, 'objective', made(0.5, 'objective', 1e-6, 'replace') FROM generate_series(5, 6) AS i;
INSERT INTO models SELECT 7, 'removed', made(0.5, 'objective', 1e-6, 'remove');
INSERT INTO models SELECT 8, 'exact', made('Infinity', 'objective', 0, 'replace');
\set ECHO all

-- sums
SELECT outcomes('dp_compose(?) FROM models WHERE kind = ''pure''', 'model | model, 0 | model, NULL');
SELECT outcomes('dp_compose(?::jsonb) FROM generate_series(1, 50)', $$
  '{"epsilon": 0.1}' | '{"epsilon": 0.1, "delta": 1e-7, "neighbours": "remove", "unit": "row"}' $$);
-- models with noise of any size
SELECT kind, count(*), bool_and((c ->> 'epsilon')::float8 BETWEEN 0 AND 1) AS composed
  FROM (SELECT kind, dp_compose(jsonb_set(model::jsonb, '{noise_scale}', scale), 1e-4) AS c
          FROM (SELECT kind, model FROM models WHERE id IN (1, 3, 5, 7) UNION ALL SELECT 'pure output', made(0.5, 'output', 0, 'replace')) m, unnest('{1e-300,1e-100,1e100,1e180,1e300}'::jsonb[]) scale
         GROUP BY kind, scale) d GROUP BY kind ORDER BY kind;
SELECT dp_compose(model) FROM models WHERE id IN (1, 3);
SELECT kind, dp_compose(model) FROM models WHERE kind <> 'exact' GROUP BY kind ORDER BY kind;

-- fifty pure releases of 0.1 at delta 1e-6: optimal composition has 3.17, sums
-- have 5
SELECT dp_compose('{"epsilon": 0.1}'::jsonb, 1e-6) FROM generate_series(1, 50);
-- few: sums are better, and spend no delta
SELECT dp_compose('{"epsilon": 0.1}'::jsonb, 1e-6) FROM generate_series(1, 3);
-- those of which only epsilon and delta are known are added
SELECT dp_compose(claim::jsonb, 1e-6) FROM (SELECT '{"epsilon": 0.1}' FROM generate_series(1, 50)
	UNION ALL SELECT '{"epsilon": 0.2, "delta": 1e-7}') AS c (claim);

-- many models: the same one fifty times counts fifty times
SELECT m.kind, round((c->>'epsilon')::numeric, 3) AS epsilon, c->'delta' AS delta, c->'releases' AS releases, c->'by' AS by, c->'neighbours' AS neighbours
FROM (SELECT kind, dp_compose(model, 1e-6) AS c FROM models, generate_series(1, 50) WHERE kind <> 'exact' GROUP BY kind) AS m ORDER BY kind;
-- models and claims together: a model as jsonb keeps its curve
SELECT round((c->>'epsilon')::numeric, 3) AS epsilon, c - 'epsilon' - 'order' AS rest FROM (
	SELECT dp_compose(claim, 1e-5) AS c FROM (
		SELECT model::jsonb FROM models, generate_series(1, 20) WHERE id <= 6
		UNION ALL SELECT '{"epsilon": 0.05}' FROM generate_series(1, 20)
		UNION ALL SELECT '{"epsilon": 0.05, "delta": 1e-6}') AS a (claim)) AS b;

-- sums are never exceeded
SELECT bool_and((c->>'epsilon')::float8 <= (s->>'epsilon')::float8) AS never_above_sums
FROM (SELECT dp_compose(model, 1e-4) AS c, dp_compose(model) AS s FROM models WHERE kind NOT IN ('exact', 'removed') GROUP BY id) AS a;

-- one that was chosen on private rows is known by its claim alone
INSERT INTO models SELECT 9, 'tuned', dp_logreg_tune('composed', 'label', 'x', 0.5, domains => '{"x": {"dimension": 2}}', options => '{"method": "objective"}', delta => 1e-6, candidates => '[{"lambda": 0.01}, {"lambda": 0.1}]');
SELECT outcomes('dp_compose(model, ?) FROM models, generate_series(1, 50) WHERE kind = ''tuned''', '1e-4 | 1e-6');

-- NULLs are ignored
SELECT outcomes('dp_compose(CASE WHEN id < 3 THEN ? END, 1e-6) FROM models',
  $$ model | '{"epsilon": 0.25}'::jsonb $$);

-- order does not matter
CREATE TABLE claims AS SELECT i, CASE WHEN i % 5 = 0 THEN format('{"epsilon": %s, "delta": 1e-9}', 0.001 * (i % 17 + 1))
	ELSE format('{"epsilon": %s}', 0.01 * (i % 23 + 1)) END::jsonb AS claim FROM generate_series(1, 2000) AS i;
ANALYZE claims;
SELECT dp_compose(claim, 1e-5 ORDER BY i) = dp_compose(claim, 1e-5 ORDER BY i DESC) AND
	dp_compose(claim, 1e-5 ORDER BY i) = dp_compose(claim, 1e-5 ORDER BY hashint4(i)) AS same FROM claims;

-- as a window function: what has been spent so far
SELECT i, dp_compose(claim) OVER (ORDER BY i)->'epsilon' AS epsilon FROM claims WHERE i <= 4;

-- errors
SELECT outcomes('dp_compose(model, ?) FROM models', $$ -0.1 | 1 | 'NaN' | 1e-16 | id * 1e-6 $$);
SELECT outcomes('dp_compose(model, 1e-6) FROM models WHERE kind IN (?)',
  $$ 'objective', 'removed' | 'pure', 'exact' $$);
SELECT outcomes('dp_compose(?', $$
  NULL::dp_model, 2) FROM models | NULL::jsonb, 1e-6) FROM models | model) FROM models WHERE false
  model) FROM models WHERE false GROUP BY kind $$);
SELECT outcomes('dp_compose(?::jsonb)', $$
  '{"epsilon": 0.1, "neighbours": "add"}' | '{"epsilon": 0.1, "unit": "household"}'
  '{"epsilon": 0.1, "unit": 1}' | '{"epsilon": 0.1, "lambda": 1}' | '{"delta": 0.1}'
  '{"epsilon": "much"}' | '{"epsilon": "Infinity"}' | '{"epsilon": 0}' | '{"epsilon": -1}'
  '{"epsilon": {"a": 1}}' | '{"epsilon": 1, "delta": 1}' | '{"epsilon": 1, "delta": -1e-9}'
  '[0.1]' | '0.1' | 'null' | '{"format": 1}' $$);
SELECT left(result, 5) AS out_of_range FROM outcome($$ SELECT dp_compose('{"epsilon": 1, "delta": 1e-400}'::jsonb) $$);
SELECT outcomes('dp_compose(?) FROM generate_series(1, 3)', $$
  '{"epsilon": 0.1, "delta": 1e-6}'::jsonb, 1e-6 | '{"epsilon": 1e308}'::jsonb
  '{"epsilon": 1e9}'::jsonb | '{"epsilon": 0.1, "delta": 0.6}'::jsonb
  jsonb_build_object('epsilon', 0.1, 'neighbours', ('{replace,remove,remove}'::text[])[generate_series]) $$);

-- marks
SELECT p.oid::regprocedure, p.prokind, p.provolatile, p.proparallel, p.proisstrict FROM pg_proc AS p
WHERE p.proname ~ '^dp(erm)?_compose' ORDER BY p.oid::regprocedure::text COLLATE "C";
-- internal functions cannot be called by others
SELECT outcomes('?', $$ dperm.dperm_compose_final(NULL) $$);

DROP FUNCTION made;
DROP TABLE composed, models, claims;
