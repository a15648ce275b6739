--
-- A first look: dp_summary, dp_cost for it, and dp_summary_knots
--
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE TYPE ward AS ENUM ('surgery', 'icu', 'other');
CREATE TABLE looked_at (
	id int,
	person int,
	age int CHECK (age BETWEEN 0 AND 120),
	ward ward,
	ill boolean,
	dose float8 CHECK (dose BETWEEN 0 AND 8),
	seen date CHECK (seen BETWEEN '2024-01-01' AND '2024-01-31'),
	at timestamp CHECK (at BETWEEN '2024-01-01' AND '2024-02-10'),
	note text
);
INSERT INTO looked_at SELECT i, i / 4, 20 + i % 60, (ARRAY['surgery', 'icu', 'icu', NULL])[1 + i % 4]::ward, nullif(i % 5, 4) > 1, i % 8, date '2024-01-01' + i % 31,
  timestamp '2024-01-01' + i % 40 * interval '1 day', 'x' FROM generate_series(0, 3999) i;

-- Without noise, counts are those of SQL
SELECT column_name, item, value, low, high, count, count_low = count AND count_high = count AS exact, share, private
FROM dp_summary('looked_at', 'Infinity') WHERE item <> 'interval' AND column_name <> 'age';
SELECT value, low, high, share FROM dp_summary('looked_at', 'Infinity', '{age}') WHERE item = 'quantile';
SELECT s.column_name, count(*) > 4 AS several, sum(s.count) AS counted, bool_and(s.count = (SELECT count(*) FROM looked_at t WHERE
  CASE s.column_name WHEN 'age' THEN t.age BETWEEN s.low::float8 AND s.high::float8
    WHEN 'dose' THEN t.dose >= s.low::float8 AND (t.dose < s.high::float8 OR s.high = '8')
    WHEN 'seen' THEN t.seen BETWEEN s.low::date AND s.high::date
    ELSE t.at BETWEEN s.low::timestamp - interval '1 s' AND s.high::timestamp + interval '1 s' END)) AS right
FROM dp_summary('looked_at', 'Infinity') s WHERE item = 'interval' AND column_name <> 'at' GROUP BY 1 ORDER BY 1;

-- Values outside of their domain: clipped, or missing
CREATE TABLE outside (a float8, b int, c text, d date, e timestamp, f numeric);
INSERT INTO outside VALUES ('NaN', -5, 'x', 'infinity', '-infinity', 1e300), ('Infinity', 500, 'y', '-infinity', 'infinity', 'NaN'), ('-Infinity', NULL, '', NULL, NULL, -1),
  (NULL, 3, NULL, '2024-05-05', '2024-05-05 12:00', 0);
SELECT column_name, item, value, low, high, count
FROM dp_summary('outside', 'Infinity', domains => '{"a": [0, 1], "b": [0, 7], "c": ["x", "z"], "d": ["2024-01-01", "2024-01-04"], "e": ["2024-01-01", "2024-01-02"], "f": {"range": [0, 1000000], "scale": "log"}}')
WHERE count <> 0 OR item = 'quantile' AND share = 0.5 OR item IN ('value', 'missing');

-- Narrower domains and fewer columns
SELECT column_name, item, value, count FROM dp_summary('looked_at', 'Infinity', '{ward,ill}', '{"ward": ["icu"]}');
SELECT low, high, count FROM dp_summary('looked_at', 'Infinity', ARRAY['age'], '{"age": [30, 33]}') WHERE item = 'interval';

-- Persons: each counts once, divided among the values of their rows
SELECT column_name, item, value, count, share FROM dp_summary('looked_at', 'Infinity', '{ward,ill}', unit => 'person');
CREATE TABLE uneven (person text, c text CHECK (c IN ('a', 'b')));
INSERT INTO uneven VALUES ('p', 'a'), ('p', 'a'), ('p', 'b'), ('q', 'b'), ('r', NULL), ('r', 'a'), (NULL, 'a'), ('s', NULL);
SELECT item, value, round(count::numeric, 4) AS count, share FROM dp_summary('uneven', 'Infinity', '{c}', unit => 'person');
-- With remove, a row without any value counts nowhere
SELECT item, value, round(count::numeric, 4) AS count, share FROM dp_summary('uneven', 'Infinity', '{c}', unit => 'person', neighbours => 'remove');
SELECT item, value, count FROM dp_summary('uneven', 'Infinity', '{c}', neighbours => 'remove');

-- Noise: each count has its own, and 95 of 100 intervals contain the truth. 1,000 summaries of 4 counts
CREATE TABLE truth AS SELECT * FROM dp_summary('looked_at', 'Infinity', '{ward}') WHERE item <> 'interval';
CREATE TABLE runs AS SELECT i, s.* FROM generate_series(1, 1000) i, dp_summary('looked_at', 0.1 + i * 1e-9, '{ward,seen}', delta => CASE WHEN i > 500 THEN 1e-6 ELSE 0 END) s WHERE item IN ('value', 'missing');
SELECT r.i > 500 AS gaussian, avg((t.count BETWEEN r.count_low AND r.count_high)::int) BETWEEN 0.93 AND 0.98 AS covered, abs(avg(r.count - t.count)) < 8 AS unbiased,
  count(DISTINCT r.count) > 100 AS many, stddev(r.count - t.count) / max(r.count_high - r.count) BETWEEN 0.4 AND 0.6 AS spread, bool_and(r.private) AS private
FROM runs r JOIN truth t USING (column_name, item) WHERE r.value IS NOT DISTINCT FROM t.value GROUP BY 1 ORDER BY 1;
SELECT abs(corr(a.count - 1000, b.count - 2000)) < 0.2 AS independent FROM runs a JOIN runs b USING (i) WHERE a.value = 'surgery' AND b.value = 'icu';
DROP TABLE runs, truth;
-- Quantiles: the intervals of nearly all contain the true one
SELECT avg((s.low::float8 <= q.age AND s.high::float8 >= q.age)::int) > 0.93 AS covered, avg(abs(s.value::float8 - q.age)) < 1.5 AS near
FROM generate_series(1, 100) i, dp_summary('looked_at', 1 + i * 1e-9, '{age,ill}') s,
  LATERAL (SELECT percentile_disc(s.share) WITHIN GROUP (ORDER BY age) AS age FROM looked_at) q WHERE s.item = 'quantile';

-- Also where there is little to see: where sums of noisy counts go up and down, most of all in the upper tail
CREATE TABLE tail AS SELECT exp(i / 500.0 * 6)::float8 AS x FROM generate_series(1, 500) i;
SELECT s.share, avg((s.low::float8 <= q.x AND s.high::float8 >= q.x)::int) > 0.95 AS covered, bool_and(s.value::float8 BETWEEN s.low::float8 AND s.high::float8) AS within
FROM generate_series(1, 1000) i, dp_summary('tail', 0.05 + i * 1e-9, domains => '{"x": [0, 1000]}') s,
  LATERAL (SELECT percentile_disc(s.share) WITHIN GROUP (ORDER BY x) AS x FROM tail) q WHERE s.item = 'quantile' GROUP BY 1 ORDER BY 1;
-- A share of no rows is NULL
TRUNCATE tail;
SELECT bool_and(share IS NULL) AS null FROM dp_summary('tail', 1, domains => '{"x": [0, 1000]}') WHERE item <> 'quantile';
DROP TABLE tail;

-- The cost, and that it is what a summary then shows
SELECT columns_counted, values_error, intervals_error, budget FROM dp_cost('looked_at', 0.5);
SELECT item = 'value' AS value, count(DISTINCT round((count_high - count)::numeric, 6)) AS widths, max(count_high - count) AS error FROM dp_summary('looked_at', 0.5) WHERE count IS NOT NULL AND column_name IN ('ward', 'age') AND (item = 'value' OR column_name = 'age') GROUP BY 1 ORDER BY 1;
SELECT r.values_error AS replace, t.values_error AS remove, d.values_error AS delta, d.intervals_error, round(p.values_error) AS persons
FROM dp_cost('looked_at', 0.5) r, dp_cost('looked_at', 0.5, neighbours => 'remove') t, dp_cost('looked_at', 0.5, neighbours => 'remove', delta => 1e-6) d, dp_cost('looked_at', 0.5, unit => 'person') p;

-- Knots: near the quantiles, and a domain for a training
CREATE TABLE looks AS SELECT * FROM dp_summary('looked_at', 'Infinity');
SELECT dp_summary_knots((SELECT jsonb_agg(s) FROM looks s), 5);
SELECT dp_summary_knots((SELECT jsonb_agg(s) FROM looks s WHERE column_name IN ('age', 'ward')), 2), dp_summary_knots('[]'), dp_summary_knots(NULL);
SELECT dp_summary_knots('[{"column_name": "t", "item": "interval", "low": "00:00:00", "high": "12:00:00", "count": 10}, {"column_name": "t", "item": "interval", "low": "12:00:00", "high": "24:00:00", "count": 90}]', 4);
SELECT model IS NOT NULL AS trained FROM dp_logreg_train('looked_at', 'ill', '{age,seen,at,ward}', 1, domains => dp_summary_knots((SELECT jsonb_agg(s) FROM looks s))) m (model);

-- Times: by the type of their column, to the microsecond, in UTC whatever the session's zone is, and to the end of all times
CREATE TABLE times (day date, days date, moment timestamptz, hour time, eon date, era timestamp);
CREATE TABLE ends AS SELECT '{"day": ["2000-01-01", "2000-01-02"], "days": ["1900-01-01", "2024-01-01"], "moment": ["2024-01-01T00:00:00+00:00", "2024-01-02T00:00:00.6+00:00"], "hour": ["00:00:00.6", "08:00:00.3"],
  "eon": ["2000-01-01", "5874897-12-31"], "era": ["4713-01-01T00:00:00 BC", "294276-12-31T23:59:59.999999"]}'::jsonb AS domains;
SET timezone = 'Asia/Tokyo';
SELECT column_name, low, high FROM dp_summary('times', 'Infinity', domains => (SELECT domains FROM ends)) WHERE item = 'interval';
SELECT k.key, (k.value -> 'knots' -> 0, k.value -> 'knots' -> -1) = (d.value -> 0, d.value -> 1) AS same
FROM ends, jsonb_each(dp_summary_knots((SELECT jsonb_agg(s) FROM dp_summary('times', 'Infinity', domains => (SELECT domains FROM ends)) s))) k JOIN LATERAL jsonb_each(domains) d USING (key);
RESET timezone;
DROP TABLE times, ends;

-- Mistakes, before a row is read
CREATE FUNCTION mistake(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text;
BEGIN
  EXECUTE 'SELECT count(*) FROM ' || call;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN format('%s: %s (%s)', SQLSTATE, SQLERRM, hint);
END $$;
SELECT c, mistake(c) FROM (VALUES ($$dp_summary(NULL, 1)$$), ($$dp_summary('looked_at', NULL)$$), ($$dp_summary('looked_at', 0)$$), ($$dp_summary('looked_at', 1e-6)$$), ($$dp_summary('looked_at', 1, '{nobody}')$$),
  ($$dp_summary('looked_at', 1, '{age,age}')$$), ($$dp_summary('looked_at', 1, '{}')$$), ($$dp_summary('looked_at', 1, '{note}')$$), ($$dp_summary('looked_at', 1, neighbours => 'none')$$),
  ($$dp_summary('looked_at', 1, delta => 2)$$), ($$dp_summary('looked_at', 'Infinity', delta => 1e-6)$$), ($$dp_summary('looked_at', 1, unit => 'age', columns => '{age}')$$), ($$dp_summary('looked_at', 1, unit => 'dose')$$),
  ($$dp_summary('looked_at', 1, '{age}', '{"age": "old"}')$$), ($$dp_summary('looked_at', 1, '{dose}', '{"nobody": [0, 1]}')$$), ($$dp_summary('pg_class_oid_index', 1)$$), ($$dp_summary('nothing', 1)$$),
  ($$dp_summary('looked_at', 1, purpose => repeat('x', 2000))$$), ($$dp_cost('looked_at', 1, '{nobody}')$$),
  ($$dp_summary_knots('[]', 1)$$), ($$dp_summary_knots('[]', 2147483647)$$), ($$dp_summary_knots('[]', NULL)$$)) v (c);
CREATE TABLE vectors (x float8[], age int CHECK (age BETWEEN 0 AND 9));
INSERT INTO vectors SELECT ARRAY[1, 2], i % 10 FROM generate_series(1, 10) i;
SELECT mistake($$dp_summary('vectors', 1, '{x}', '{"x": {"dimension": 2}}')$$);
CREATE TABLE vectors_alone AS SELECT x FROM vectors;
SELECT mistake($$dp_summary('vectors_alone', 1, domains => '{"x": {"dimension": 2}}')$$);
DROP TABLE vectors_alone;
SET client_min_messages = notice;
SELECT DISTINCT column_name FROM dp_summary('vectors', 1, domains => '{"x": {"dimension": 2}}');
SELECT DISTINCT column_name FROM dp_summary('vectors', 1);
SET client_min_messages = warning;
TRUNCATE vectors;
SELECT item, value, low, high, count, share FROM dp_summary('vectors', 'Infinity');

-- A protected table, and a view of it: charged, kept, and shown in no other way
CREATE ROLE dperm_look_owner;
CREATE ROLE dperm_look_analyst;
CREATE SCHEMA looking AUTHORIZATION dperm_look_owner;
GRANT USAGE ON SCHEMA looking TO PUBLIC;
CREATE TABLE looking.visits AS SELECT id, person, age, ward, ill FROM looked_at;
CREATE TABLE looking.other AS SELECT * FROM looked_at;
ALTER TABLE looking.visits OWNER TO dperm_look_owner;
SET ROLE dperm_look_owner;
CREATE VIEW looking.seniors AS SELECT age AS years, ward FROM looking.visits WHERE age >= 60;
SELECT dp_budget_create('looks', 10, 1e-4);
SELECT dp_protect('looking.visits', 'looks', unit => 'person', columns => '{age,ward,ill}', domains => '{"age": [0, 120]}');
SELECT dp_protect('looking.seniors', 'looks');
SELECT dp_grant('looks', 'dperm_look_analyst', epsilon => 5, delta => 1e-5);
RESET ROLE;
SET ROLE dperm_look_analyst;
SELECT columns_counted, calls_left, budget, epsilon_charged, delta_charged, epsilon_left, epsilon_left_after FROM dp_cost('looking.visits', 0.5);
SELECT column_name, item, CASE WHEN item = 'value' THEN value END AS value, abs(count - CASE WHEN ward = 'icu' THEN 500 WHEN ward = 'other' THEN 0 WHEN column_name = 'ward' THEN 250 ELSE count END) < 300 AS near, private
FROM dp_summary('looking.visits', 0.5, purpose => 'a first look') s, LATERAL (SELECT s.value AS ward) w WHERE item <> 'interval' AND NOT (item = 'quantile' AND share <> 0.5);
SELECT column_name, item, value, abs(count - CASE value WHEN 'icu' THEN 167 WHEN 'surgery' THEN 83 WHEN 'other' THEN 0 ELSE 83 END) < 300 AS near FROM dp_summary('looking.seniors', 0.5, delta => 1e-6) WHERE item = 'value' OR item = 'missing' AND column_name = 'ward';
SELECT mistake(c) FROM (VALUES ($$dp_summary('looking.visits', 'Infinity')$$), ($$dp_summary('looking.visits', 1, '{id}')$$), ($$dp_summary('looking.visits', 1, '{person}')$$), ($$dp_summary('looking.visits', 1, domains => '{"age": [0, 130]}')$$),
  ($$dp_summary('looking.visits', 1, unit => 'id')$$), ($$dp_summary('looking.visits', 50)$$), ($$dp_summary('looking.other', 1)$$), ($$dp_cost('looking.visits', 1, '{id}')$$)) v (c);
SELECT entry, function, relation, label, features, learner, parameters, purpose, unit, epsilon, delta, release FROM dp_ledger WHERE act = 'charge';
SELECT entry, function, jsonb_array_length(metrics) > 10 AS kept, model, failure FROM dp_releases;
SELECT jsonb_path_query_array(dp_summary_knots(metrics, 2), '$.*.knots') FROM dp_releases;
SELECT regexp_count(dp_report('looks'), '<title>Bars of'), dp_report('looks') LIKE '%entry 6, of looking.seniors%' AS latest;
RESET ROLE;
SELECT function, units FROM dperm.releases r JOIN dperm.ledger USING (budget_id, entry) WHERE function = 'dp_summary';
DROP TABLE looked_at, outside, uneven, looks, vectors;
DROP FUNCTION mistake;
DROP SCHEMA looking CASCADE;
DROP TYPE ward;
SELECT dp_budget_drop('looks');
DROP OWNED BY dperm_look_owner, dperm_look_analyst;
DROP ROLE dperm_look_owner, dperm_look_analyst;
