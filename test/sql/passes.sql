--
-- Reading by parallel workers gives the same result as by one process. Passes
-- over the rows of other servers: the state of a pass survives combining, and
-- refuses damage
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- Vectors with another number of elements are zero blocks, here and there
SET dperm.cache_memory = 0;
CREATE TABLE wide AS
  SELECT i, i % 3 = 0 AS y, CASE i % 3 WHEN 0 THEN 'yes' ELSE 'no' END AS answer,
         CASE WHEN i % 50 = 0 THEN ARRAY[1] ELSE (SELECT array_agg(sin(i * k)) FROM generate_series(1, 250) k) END AS x
  FROM generate_series(1, 3000) i;
ALTER TABLE wide SET (parallel_workers = 2);
ANALYZE wide;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;

CREATE FUNCTION distance(a dp_model, b dp_model) RETURNS float8 LANGUAGE sql AS $$
  SELECT CASE WHEN cardinality(dp_weights(a)) = cardinality(dp_weights(b)) THEN
    (SELECT sqrt(sum((v - w) ^ 2)) FROM unnest(dp_weights(a), dp_weights(b)) u(v, w)) END
$$;

-- Training writes its requests itself; here they are by hand: what is computed,
-- the weights, in a careful pass (4) their low parts, how the columns are stored,
-- and the encoder
CREATE FUNCTION request_of(pass_order int, loss int, h float8, weights float8[], readers bigint[], encoder bytea, low float8 DEFAULT 0, bins int DEFAULT 0, seed bigint DEFAULT 0, label int DEFAULT 0,
  classes int DEFAULT 0, weighted int DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT decode('64707005', 'hex') || set_byte('\x0000', 0, pass_order) || int2send(classes::int2) || float8send(h) || set_byte('\x00', 0, label) || int2send(bins::int2) || set_byte('\x00', 0, weighted)
    || int8send(seed) || int4send(cardinality(weights)) || int4send(cardinality(readers)) || int4send(length(encoder))
    || (SELECT string_agg(float8send(w), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k))
    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(w * low), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k)) ELSE '' END
    || coalesce((SELECT string_agg(int4send(r::int), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k)), '') || encoder
$$;
CREATE FUNCTION with_loss(request bytea, loss int) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT set_byte(request, 5, loss)';
-- one vector without a name, as double precision[] (13)
CREATE FUNCTION request(pass_order int, loss int, h float8, weights float8[], intercept int DEFAULT 0,
  reader bigint DEFAULT 13, norm float8 DEFAULT 1, low float8 DEFAULT 0, seed bigint DEFAULT 0) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT with_loss(request_of(pass_order, loss, h, weights, ARRAY[reader],
    int4send(1) || int4send(0) || '\x04' || int4send(cardinality(weights) - intercept) || '\x00' || float8send(norm) || decode('0' || intercept || '00', 'hex'), low, seed => seed), loss)
$$;
-- and how to read an answer, behind its request: word n as an integer
CREATE FUNCTION word(r bytea, m bytea, n int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ('x' || encode(substring(m FROM length(r) + 8 * n + 1 FOR 8), 'hex'))::bit(64)::bigint
$$;
-- or as a double
CREATE FUNCTION number(r bytea, m bytea, n int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN w = 0 THEN 0 ELSE sign(w) * 2 ^ ((w >> 52 & 2047) - 1023) * (1 + (w & 4503599627370495) * 2 ^ (-52)) END FROM word(r, m, n) w
$$;
-- a label, and a row of one vector
CREATE FUNCTION label(y boolean) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CASE WHEN y THEN 1 WHEN NOT y THEN -1 END';
CREATE FUNCTION row_of(x float8[]) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT dperm.dperm_row('\x0d', x) $$;

-- In training too: the workers, who read rows that fit into memory, trip over
-- this view
CREATE FUNCTION by_caller(i int) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF i = 2321 AND pg_backend_pid() <> current_setting('test.caller')::int THEN
    RAISE 'a worker reads the row';
  END IF;
  RETURN true;
END $$;
CREATE VIEW for_caller AS SELECT y, answer, x FROM wide WHERE by_caller(i);
CREATE FUNCTION trained(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
  context text;
BEGIN
  EXECUTE 'SELECT m::jsonb ->> ''rows'' FROM dp_logreg_train(' || arguments || ') m' INTO result;
  RETURN result || ' rows';
EXCEPTION WHEN raise_exception THEN
  GET STACKED DIAGNOSTICS result = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
  RETURN result || CASE WHEN context ~ 'parallel worker' THEN ', in parallel' ELSE '' END;
END $$;
SELECT set_config('test.caller', pg_backend_pid()::text, false) IS NOT NULL AS caller;
SET parallel_leader_participation = off;
SET dperm.cache_memory = '100MB';
SELECT trained($$ 'for_caller', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250}}' $$) AS array,
       trained($$ 'for_caller', 'answer', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250}}', positive => 'yes' $$) AS with_label;
-- but not with workers switched off
SET dperm.cache_memory = 0;
SET max_parallel_workers_per_gather = 0;
SELECT trained($$ 'for_caller', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250}}' $$) AS alone;
SET max_parallel_workers_per_gather = 2;
RESET parallel_leader_participation;

-- Parallel and serial training agree, and training in memory with both
CREATE TABLE fit (how text, model dp_model);
INSERT INTO fit SELECT 'parallel', dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250, "norm": 16}}');
INSERT INTO fit SELECT 'parallel, dperm.dperm_label', dp_logreg_train('wide', 'answer', 'x', 'Infinity', lambda => 0.1, positive => 'yes', domains => '{"x": {"dimension": 250, "norm": 16}}');
SET max_parallel_workers_per_gather = 0;
INSERT INTO fit SELECT 'serial', dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250, "norm": 16}}');
SET max_parallel_workers_per_gather = 2;
SET max_parallel_workers = 0;
INSERT INTO fit SELECT 'planned, not launched', dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250, "norm": 16}}');
RESET max_parallel_workers;
SET parallel_leader_participation = off;
INSERT INTO fit SELECT 'workers alone', dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250, "norm": 16}}');
RESET parallel_leader_participation;
SET dperm.cache_memory = '100MB';
INSERT INTO fit SELECT 'in memory', dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250, "norm": 16}}');
SET dperm.cache_memory = '1MB';
INSERT INTO fit SELECT 'memory for some', dp_logreg_train('wide', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250, "norm": 16}}');
SET dperm.cache_memory = 0;
INSERT INTO fit SELECT 'aggregate', dp_logreg(y, x, 'Infinity', '{"lambda": 0.1, "dimension": 250, "norm": 16}') FROM wide;
SELECT a.how, distance(a.model, b.model) < 1e-10 AS agree, a.model::jsonb -> 'rows' AS rows
  FROM fit a, fit b WHERE b.how = 'serial' ORDER BY a.how COLLATE "C";
SELECT count(*) AS noisy, count(DISTINCT m::text) AS different
  FROM (SELECT dp_svm_train('wide', 'y', 'x', 0.5, domains => '{"x": {"dimension": 250, "norm": 16}}') FROM generate_series(1, 2)) s(m);

-- From here on one process, so that rows come in order
SET max_parallel_workers_per_gather = 0;

-- States: at weights 0 all sums of this loss are whole numbers, so equality is
-- exact
CREATE TABLE small AS SELECT i, i % 3 > 0 AS y, ARRAY[(i % 2) * 0.5, 0.5 - (i % 2) * 0.5]::float8[] AS x FROM generate_series(1, 600) i;
CREATE VIEW answers AS
  SELECT pass_order, r, whole, first, second
  FROM (VALUES (1), (2), (3), (4), (5)) v(pass_order),
  LATERAL (SELECT request(pass_order, CASE WHEN pass_order < 5 THEN 1 ELSE 0 END, CASE WHEN pass_order < 5 THEN 0.5 ELSE 0 END, '{0,0}', seed => CASE WHEN pass_order < 5 THEN 7 ELSE 0 END) AS r) r,
  LATERAL (SELECT dperm.dperm_moments_agg(r, label(y), row_of(x)) AS whole, dperm.dperm_moments_agg(r, label(y), row_of(x)) FILTER (WHERE i <= 550) AS first,
                  dperm.dperm_moments_agg(r, label(y), row_of(x)) FILTER (WHERE i > 550) AS second FROM small) s;
SELECT pass_order, word(r, whole, 0) AS rows, length(r) AS request, length(whole) - length(r) AS answer, dperm.dperm_moments_combine(first, second) = whole AS combined, dperm.dperm_moments_combine(second, first) = whole AS turned,
       dperm.dperm_moments_combine(r, whole) = whole AS with_none, dperm.dperm_moments_combine(first, NULL) IS NULL AS strict
  FROM answers;
-- value, gradient and Hessian of the sum: 600 times 1; -(y x) = (-50, -50); 0
SELECT number(r, whole, 1) AS value, number(r, whole, 4) AS gradient, number(r, whole, 5) AS gradient, number(r, whole, 8) + number(r, whole, 9) + number(r, whole, 10) AS hessian FROM answers WHERE pass_order IN (2, 3);
-- a careful pass has the gradient alone
SELECT number(r, whole, 4) AS gradient, number(r, whole, 5) AS gradient FROM answers WHERE pass_order = 4;
-- a digest depends on the rows, in any order, and on the seed
SELECT word(r, whole, 3) <> 0 AS digest, word(r, whole, 3) = (SELECT word(r, dperm.dperm_moments_agg(r, label(y), row_of(x)), 3) FROM (SELECT y, x FROM small ORDER BY i DESC) s) AS order_is_no_matter,
       word(r, whole, 3) <> (SELECT word(r, dperm.dperm_moments_agg(r, label(y OR i = 3), row_of(x)), 3) FROM small) AS label,
       word(r, whole, 3) <> (SELECT word(r, dperm.dperm_moments_agg(request(1, 1, 0.5, '{0,0}', seed => 8), label(y), row_of(x)), 3) FROM small) AS seed FROM answers WHERE pass_order = 1;
-- a pass that counts has the confusion matrix; also with weights for the first
-- element, and with missing labels
SELECT word(r, whole, 1) AS true_positives, word(r, whole, 3) AS false_positives, word(r, whole, 2) AS false_negatives, word(r, whole, 4) AS true_negatives FROM answers WHERE pass_order = 5;
SELECT word(r, m, 0) AS rows, word(r, m, 1) AS true_positives, word(r, m, 3) AS false_positives, word(r, m, 2) AS false_negatives, word(r, m, 4) AS true_negatives
  FROM (SELECT request(5, 0, 0, '{1,0}') AS r) r, LATERAL (SELECT dperm.dperm_moments_agg(r, label(CASE WHEN i % 5 > 0 THEN y END), row_of(x)) AS m FROM small) a;
SELECT count(*) AS rows, count(*) FILTER (WHERE y AND p) AS true_positives, count(*) FILTER (WHERE NOT y AND p) AS false_positives, count(*) FILTER (WHERE y AND NOT p) AS false_negatives,
    count(*) FILTER (WHERE NOT y AND NOT p) AS true_negatives
  FROM (SELECT CASE WHEN i % 5 > 0 THEN y END AS y, x[1] > 0 AS p FROM small) s;
-- and at weights that are not doubles it is exact far beyond their precision:
-- three rows of 1/2, at z = 1/2 + 2^-61, have slopes of -1 + 2^-61
SELECT number(r, s, 3 + k) AS sum, number(r, s, 5 + k) / 2::float8 ^ (-62) AS low
  FROM (SELECT request(4, 1, 0.5, '{1,0}', low => 2::float8 ^ (-60)) AS r) r, LATERAL (SELECT dperm.dperm_moments_agg(r, 1 + 0 * i, row_of(ARRAY[0.5, 0])) AS s FROM generate_series(1, 3) i) a, generate_series(0, 1) k;
-- what is no label is none: NULL, NaN, and numbers that stand for no class
SELECT bool_and(dperm.dperm_moments_step(NULL, r, l, row_of('{0.5,0.5}')) = dperm.dperm_moments_step(NULL, r, NULL, row_of('{0.5,0.5}'))) AS none
  FROM unnest('{NaN,0,0.5,2,-3,Infinity}'::float8[]) l, generate_series(1, 5) o, LATERAL (SELECT request(o, 0, 0, '{1,1}') AS r) r;

-- Stored, and continued
CREATE TABLE states AS SELECT pass_order, r, first, second, whole FROM answers;
CREATE FUNCTION continued(state bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
  s small;
BEGIN
  FOR s IN SELECT * FROM small WHERE i > 550 ORDER BY i LOOP
    state := dperm.dperm_moments_step(state, NULL, label(s.y), row_of(s.x));
  END LOOP;
  RETURN state;
END $$;
SELECT bool_and(continued(first) = whole) AS continued FROM states;
-- the values that were combined have not changed
SELECT bool_and(a.first = b.first) AS untouched FROM states a JOIN answers b USING (pass_order);

-- What cannot be combined
SELECT outcomes($$ dperm.dperm_moments_combine(request(1, 0, 0, '{0,0}'), request(?)) $$, $$
  2, 0, 0, '{0,0}' | 1, 1, 0.5, '{0,0}' | 1, 0, 0, '{0,0,0}' | 1, 0, 0, '{0,0}', intercept => 1
  1, 0, 0, '{0,0}', norm => 2 | 1, 0, 0, '{0,0}', reader => 14 | 1, 0, 0, '{0,0}', seed => 1 $$);
SELECT outcomes('dperm.dperm_moments_combine(?)', $$
  request(4, 0, 0, '{1,1}'), request(4, 0, 0, '{1,1}', low => 1e-20)
  request(1, 0, 0, '{0}'), request(1, 0, 0, '{1}') $$);
-- a request has no rows of its own: they would be counted once in each worker
SELECT outcomes('?', $$
  dperm.dperm_moments_agg(NULL, label(y), row_of(x)) FROM small
  dperm.dperm_moments_agg(first, label(y), row_of(x)) FROM small, states WHERE pass_order = 1 $$);
SELECT dperm.dperm_moments_agg(request(1, 0, 0, '{0,0}'), label(y), row_of(x)) IS NULL AS no_rows FROM small WHERE false;

-- Categories are codes in a pass, and coordinates behind the numbers in its
-- answer
CREATE TABLE coded AS SELECT i, CASE WHEN i % 11 > 0 THEN i % 3 > 0 END AS y, (ARRAY['a', 'b', 'c', 'other', NULL])[1 + i % 5] AS k, i % 7 > 2 AS b FROM generate_series(1, 500) i;
CREATE FUNCTION row_of(k text, b boolean) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT dperm.dperm_row('\x0a07', k, b) $$;
CREATE VIEW coded_answers AS
  SELECT pass_order, r, whole, first, second
  FROM (VALUES (1), (2), (3)) v(pass_order),
  LATERAL (SELECT request_of(pass_order, 0, 0, '{0,0,0,0}', ARRAY[10, 7], int4send(2) || int4send(1) || 'k' || '\x03' || int4send(3)
    || int4send(1) || 'a' || int4send(1) || 'b' || int4send(1) || 'c' || int4send(1) || 'b' || '\x02' || '\x0000') AS r) r,
  LATERAL (SELECT dperm.dperm_moments_agg(r, label(y), row_of(k, b)) AS whole, dperm.dperm_moments_agg(r, label(y), row_of(k, b)) FILTER (WHERE i <= 123) AS first,
                  dperm.dperm_moments_agg(r, label(y), row_of(k, b)) FILTER (WHERE i > 123) AS second FROM coded) s;
-- By hand: b, and behind it a, b, c of k, each a half of the ball; at weights 0
-- slopes are -1/2 and curvatures 1/4. Rows without a label count
CREATE VIEW by_hand AS SELECT i, CASE WHEN y THEN 1 WHEN NOT y THEN -1 ELSE 0 END AS s,
  ARRAY[CASE WHEN b THEN 1 ELSE -1 END, coalesce((k = 'a')::int, 0), coalesce((k = 'b')::int, 0), coalesce((k = 'c')::int, 0)] AS x FROM coded;
SELECT pass_order, word(r, whole, 0) AS rows, abs(number(r, whole, 1) - 500 * ln(2)) < 1e-9 AS value,
       (SELECT bool_and(abs(number(r, whole, 2 + j) + number(r, whole, 6 + j) + (SELECT sum(s * x[j]) / 2.0 / sqrt(2) FROM by_hand)) < 1e-9) FROM generate_series(1, 4) j) AS gradient,
       pass_order = 1 OR (SELECT bool_and(abs(number(r, whole, 10 + n::int) - (SELECT sum(s * s * x[j] * x[k]) / 4.0 / 2 FROM by_hand)) < CASE pass_order WHEN 2 THEN 1e-9 ELSE 1e-3 END)
                          FROM (SELECT j, k, row_number() OVER (ORDER BY j, k) AS n FROM generate_series(1, 4) j, generate_series(j, 4) k) t) AS hessian
  FROM coded_answers;
SELECT pass_order, word(r, c.m, 0) = word(r, whole, 0) AND length(c.m) = length(whole) AS combined,
       (SELECT max(abs(number(r, c.m, n) - number(r, whole, n))) < CASE WHEN pass_order < 3 THEN 1e-12 ELSE 1e-3 END FROM generate_series(3, CASE pass_order WHEN 1 THEN 6 ELSE 20 END) n WHERE n NOT BETWEEN 7 AND 10) AS same
  FROM coded_answers, LATERAL (SELECT dperm.dperm_moments_combine(first, second) AS m) c;

-- Damage: a request, or a state, is a value that anybody can write
CREATE FUNCTION damage(at int, bytes bytea, s bytea DEFAULT request(1, 0, 0, '{0,0,0}', intercept => 1)) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  s := CASE WHEN at < 0 THEN substring(s FROM 1 FOR length(s) + at) WHEN at >= length(s) THEN s || bytes
            ELSE overlay(s PLACING bytes FROM at + 1) END;
  RETURN 'taken: ' || length(dperm.dperm_moments_step(NULL, s, 1, row_of('{0,0}')));
EXCEPTION WHEN data_corrupted OR invalid_parameter_value THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN SQLERRM || ' ' || detail;
END $$;
SELECT what, damage(at, bytes) FROM (VALUES
  ('nothing', 0, decode('64707005', 'hex')), ('magic', 0, '\x00'), ('version', 3, '\x03'),
  ('no order', 4, '\x00'), ('counting', 4, '\x05'), ('order', 4, '\x06'), ('loss', 5, '\x05'), ('several classes', 5, '\x04'), ('classes', 6, int2send(3::int2)), ('h', 8, float8send(0.5)), ('h without loss', 5, '\x01'), ('NaN h', 8, float8send('NaN')),
  ('label', 16, '\x01'), ('unknown label', 16, '\x03'), ('bins', 17, int2send(1::int2)), ('many bins', 17, '\xffff'), ('persons', 19, '\x01'), ('no flag', 19, '\x02'), ('seed', 20, int8send(1)),
  ('no dimension', 28, int4send(0)), ('dimension', 28, int4send(1)), ('huge dimension', 28, '\x7fffffff'), ('negative dimension', 28, int4send(-1)),
  ('no readers', 32, int4send(0)), ('huge readers', 32, '\x7fffffff'), ('negative readers', 32, int4send(-1)),
  ('no encoder', 36, int4send(0)), ('shorter encoder', 36, int4send(23)), ('longer encoder', 36, int4send(25)), ('huge encoder', 36, '\x7fffffff'),
  ('weight', 40, float8send('NaN')), ('weight', 56, float8send('-Infinity')), ('negative zero', 40, '\x8000000000000000'), ('reader', 64, int4send(10)), ('unknown reader', 64, int4send(99)),
  ('columns', 68, int4send(2)), ('intercept', 90, '\x02'), ('another intercept', 90, '\x00'), ('kernel', 91, '\x01'), ('unknown kernel', 91, '\x09'),
  ('kind', 76, '\x09'), ('name', 72, int4send(1)), ('length', 77, int4send(3)), ('norm', 82, float8send(0)), ('NaN norm', 82, float8send('NaN')),
  ('an answer of no rows', 92, int8send(0)), ('one byte more', 92, '\x00'), ('one byte less', -1, ''), ('one word less', -8, ''), ('header alone', -52, ''), ('nothing at all', -92, '')) v(what, at, bytes);
-- the same of an answer
CREATE FUNCTION damage_state(which int, at int, bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  s states;
BEGIN
  SELECT * INTO s FROM states WHERE pass_order = which;
  RETURN 'taken: ' || length(dperm.dperm_moments_combine(s.first, CASE WHEN at < 0 THEN substring(s.second FROM 1 FOR length(s.second) + at) ELSE overlay(s.second PLACING bytes FROM length(s.r) + at + 1) END));
EXCEPTION WHEN data_corrupted THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN detail;
END $$;
SELECT what, which, damage_state(which, at, bytes) FROM (VALUES ('nothing', 1, 0, ''::bytea), ('no rows', 1, 0, int8send(0)), ('negative rows', 1, 0, int8send(-1)), ('huge rows', 1, 0, int8send((1::bigint << 33) + 1)), ('value', 1, 8, float8send('NaN')), ('value', 1, 16, float8send('Infinity')),
  ('gradient', 1, 32, float8send('-Infinity')), ('low part', 2, 48, float8send('NaN')), ('Hessian', 2, 64, float8send('NaN')), ('shorter', 2, -1, ''), ('by a word', 2, -8, ''), ('longer', 2, 88, '\x00'),
  ('fewer rows than counts', 5, 0, int8send(49)), ('more counts than rows', 5, 8, int8send(51)), ('negative count', 5, 8, int8send(-1)), ('counts, shorter', 5, -8, '')) v(what, which, at, bytes);

DROP VIEW answers, coded_answers, by_hand, for_caller;
DROP FUNCTION continued, damage, damage_state, row_of(float8[]), row_of(text, boolean);
DROP TABLE wide, small, coded, fit, states;
DROP FUNCTION distance, request, request_of, with_loss, word, number, label, by_caller, trained;
