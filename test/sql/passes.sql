--
-- Passes over the rows: run by parallel workers, with the same result as by one
-- process; the state of a pass survives text, binary, combining, and refuses
-- damage
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;

-- Nothing is kept in memory, so that training takes passes; vectors with
-- another number of elements are zero blocks, here and there
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

-- Training writes its requests itself; here they are by hand: 12 words, the
-- weights, in a careful pass (4) their low parts, how the columns are stored,
-- and the encoder, padded to a word
CREATE FUNCTION request_of(pass_order int, loss int, h float8, weights float8[], readers bigint[], encoder bytea, low float8 DEFAULT 0) RETURNS dperm.dperm_moments
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(encode(decode('6470706173730003', 'hex') || int8send(pass_order) || int8send(loss) || float8send(h)
    || int8send(cardinality(weights)) || int8send(cardinality(readers)) || int8send(length(encoder))
    || int8send(0) || float8send(0) || float8send(0) || int8send(0) || int8send(0) || int8send(0) || int8send(0)
    || (SELECT string_agg(float8send(w), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k))
    || CASE pass_order WHEN 4 THEN (SELECT string_agg(float8send(w * low), '' ORDER BY k) FROM unnest(weights) WITH ORDINALITY u(w, k)) ELSE '' END
    || (SELECT string_agg(int8send(r), '' ORDER BY k) FROM unnest(readers) WITH ORDINALITY u(r, k))
    || encoder || decode(repeat('00', -length(encoder) & 7), 'hex'), 'base64'), E'\n', '')::dperm.dperm_moments
$$;
-- one vector without a name, as double precision[] (13), real[] is 14
CREATE FUNCTION request(pass_order int, loss int, h float8, weights float8[], intercept int DEFAULT 0,
  reader bigint DEFAULT 13, norm float8 DEFAULT 1, low float8 DEFAULT 0) RETURNS dperm.dperm_moments
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT request_of(pass_order, loss, h, weights, ARRAY[reader],
    int4send(1) || int4send(0) || '\x04' || int4send(cardinality(weights) - intercept) || '\x00' || float8send(norm) || decode('0' || intercept || '00', 'hex'), low)
$$;
-- and how to read an answer: word n as an integer
CREATE FUNCTION word(m dperm.dperm_moments, n int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ('x' || encode(substring(dperm.dperm_moments_send(m) FROM 8 * n + 1 FOR 8), 'hex'))::bit(64)::bigint
$$;
-- or as a double
CREATE FUNCTION number(m dperm.dperm_moments, n int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN w = 0 THEN 0 ELSE sign(w) * 2 ^ ((w >> 52 & 2047) - 1023) * (1 + (w & 4503599627370495) * 2 ^ (-52)) END FROM word(m, n) w
$$;

-- A column that is read by its output, as a record and as an argument in turns:
-- each is read as its own type
CREATE FUNCTION request_of_category(category bytea, encoding int) RETURNS dperm.dperm_moments LANGUAGE sql IMMUTABLE AS $$
  SELECT request_of(1, 0, 0, '{0}', ARRAY[17 | (encoding::bigint << 16)], int4send(1) || int4send(1) || 'c' || '\x03' || int4send(1) || int4send(length(category)) || category || '\x0000')
$$;
SELECT number(dperm.dperm_moments_step(dperm.dperm_moments_step(dperm.dperm_moments_step(NULL::dperm.dperm_moments, q, true, ROW(4702111234474983745::int8)), NULL, true, 'a'::text), NULL, true, ROW(4702111234474983745::int8)), 8) AS loss
  FROM request_of_category('a', 0) q;
-- Texts of a request are in the encoding that it names
SELECT outcomes('request_of_category(?) IS NOT NULL', $$ 'a', 0 | '\xc3a9', 7 | '\xc3a9', 0 | '\xc3', 7 | '\xff', 0 | '\xff', 9 $$);

-- The query of a pass is run by parallel workers
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Aggregate|Gather|Scan on wide' THEN
      RETURN NEXT line;
    END IF;
  END LOOP;
END $$;
SELECT plan($$ WITH w AS MATERIALIZED (SELECT request(2, 0, 0, '{0,0}') AS w)
  SELECT dperm.dperm_moments_agg((SELECT w FROM w), y, x) FROM wide AS t $$);
SELECT plan($$ WITH w AS MATERIALIZED (SELECT request(2, 0, 0, '{0,0}') AS w)
  SELECT dperm.dperm_moments_agg((SELECT w FROM w), dperm.dperm_label(answer, 'yes'), x::float4[]) FROM wide AS t $$);
SELECT plan($$ WITH w AS MATERIALIZED (SELECT request(2, 0, 0, '{0,0}') AS w)
  SELECT dperm.dperm_moments_agg((SELECT w FROM w), y, i, answer, x) FROM wide AS t $$);
SELECT plan($$ WITH w AS MATERIALIZED (SELECT request(2, 0, 0, '{0,0}') AS w)
  SELECT dperm.dperm_moments_agg((SELECT w FROM w), y, ROW(i, answer, x)) FROM wide AS t $$);

-- In training too: the first read is the caller's own, and the passes are the
-- workers', who trip over this view
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
SELECT trained($$ 'for_caller', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250}}' $$) AS array,
       trained($$ 'for_caller', 'answer', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250}}', positive => 'yes' $$) AS with_label;
-- and so do all rows that are kept in memory; but not with workers switched off
SET dperm.cache_memory = '100MB';
SELECT trained($$ 'for_caller', 'y', 'x', 'Infinity', lambda => 0.1, domains => '{"x": {"dimension": 250}}' $$) AS in_memory;
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
  SELECT pass_order, whole, first, second
  FROM (VALUES (1), (2), (3), (4), (5)) v(pass_order),
  LATERAL (SELECT request(pass_order, CASE WHEN pass_order < 5 THEN 1 ELSE 0 END, CASE WHEN pass_order < 5 THEN 0.5 ELSE 0 END, '{0,0}') AS r) r,
  LATERAL (SELECT dperm.dperm_moments_agg(r, y, x) AS whole, dperm.dperm_moments_agg(r, y, x) FILTER (WHERE i <= 550) AS first,
                  dperm.dperm_moments_agg(r, y, x) FILTER (WHERE i > 550) AS second FROM small) s;
SELECT pass_order, word(whole, 7) AS rows, length(dperm.dperm_moments_send(whole)) AS bytes,
       dperm.dperm_moments_send(dperm.dperm_moments_combine(first, second)) = dperm.dperm_moments_send(whole) AS combined,
       dperm.dperm_moments_send(whole::text::dperm.dperm_moments) = dperm.dperm_moments_send(whole) AS text_round_trip,
       dperm.dperm_moments_send(dperm.dperm_moments_combine(first::text::dperm.dperm_moments, second::text::dperm.dperm_moments)) = dperm.dperm_moments_send(whole) AS both,
       dperm.dperm_moments_combine(first, NULL) IS NULL AS strict
  FROM answers;
-- value, gradient and Hessian of the sum: 600 times 1; -(y x) = (-50, -50); 0
SELECT encode(substring(s FROM 8 * 8 + 1 FOR 8), 'hex') = encode(float8send(600), 'hex') AS value,
       encode(substring(s FROM 8 * 16 + 1 FOR 16), 'hex') = encode(float8send(-50) || float8send(-50), 'hex') AS gradient,
       encode(substring(s FROM 8 * 20 + 1 FOR 24), 'hex') = encode(float8send(0) || float8send(0) || float8send(0), 'hex') AS hessian
  FROM answers, LATERAL (SELECT dperm.dperm_moments_send(whole) AS s) l WHERE pass_order IN (2, 3);
-- a careful pass has the gradient alone, behind the low parts of its weights
SELECT encode(substring(s FROM 8 * 18 + 1 FOR 16), 'hex') = encode(float8send(-50) || float8send(-50), 'hex') AS gradient
  FROM answers, LATERAL (SELECT dperm.dperm_moments_send(whole) AS s) l WHERE pass_order = 4;
-- a pass that counts has the confusion matrix; also with weights for the first
-- element, and with missing labels
SELECT word(whole, 16) AS true_positives, word(whole, 18) AS false_positives, word(whole, 17) AS false_negatives, word(whole, 19) AS true_negatives FROM answers WHERE pass_order = 5;
SELECT word(m, 7) AS rows, word(m, 16) AS true_positives, word(m, 18) AS false_positives, word(m, 17) AS false_negatives, word(m, 19) AS true_negatives
  FROM (SELECT dperm.dperm_moments_agg(request(5, 0, 0, '{1,0}'), CASE WHEN i % 5 > 0 THEN y END, x) AS m FROM small) a;
SELECT count(*) AS rows, count(*) FILTER (WHERE y AND p) AS true_positives, count(*) FILTER (WHERE NOT y AND p) AS false_positives, count(*) FILTER (WHERE y AND NOT p) AS false_negatives,
    count(*) FILTER (WHERE NOT y AND NOT p) AS true_negatives
  FROM (SELECT CASE WHEN i % 5 > 0 THEN y END AS y, x[1] > 0 AS p FROM small) s;
-- and at weights that are not doubles it is exact far beyond their precision:
-- three rows of 1/2, at z = 1/2 + 2^-61, have slopes of -1 + 2^-61
SELECT number(s, 18 + k) AS sum, number(s, 20 + k) / 2::float8 ^ (-62) AS low
  FROM (SELECT dperm.dperm_moments_agg(request(4, 1, 0.5, '{1,0}', low => 2::float8 ^ (-60)), true, ARRAY[0.5, 0]::float8[]) AS s FROM generate_series(1, 3)) a, generate_series(0, 1) k;

-- Stored, read back in binary, and continued
CREATE TABLE states AS SELECT pass_order, first, second, whole FROM answers;
SELECT current_setting('data_directory') || '/dperm_passes_test.bin' AS file \gset
COPY states TO :'file' (FORMAT binary);
CREATE TABLE states_again (LIKE states);
COPY states_again FROM :'file' (FORMAT binary);
SELECT bool_and(dperm.dperm_moments_send(a.whole) = dperm.dperm_moments_send(b.whole)) AS binary_round_trip,
       bool_and(dperm.dperm_moments_send(dperm.dperm_moments_combine(b.first, b.second)) = dperm.dperm_moments_send(a.whole)) AS combined
  FROM states a JOIN states_again b USING (pass_order);
CREATE FUNCTION continued(state dperm.dperm_moments) RETURNS dperm.dperm_moments LANGUAGE plpgsql AS $$
DECLARE
  r small;
BEGIN
  FOR r IN SELECT * FROM small WHERE i > 550 ORDER BY i LOOP
    state := dperm.dperm_moments_step(state, NULL, r.y, r.x);
  END LOOP;
  RETURN state;
END $$;
SELECT bool_and(dperm.dperm_moments_send(continued(first)) = dperm.dperm_moments_send(whole)) AS continued FROM states_again;
-- the values that were combined have not changed
SELECT bool_and(dperm.dperm_moments_send(a.first) = dperm.dperm_moments_send(b.first)) AS untouched FROM states a JOIN states_again b USING (pass_order);

-- What cannot be combined
SELECT outcomes($$ dperm.dperm_moments_combine(request(1, 0, 0, '{0,0}'), request(?)) $$, $$
  2, 0, 0, '{0,0}' | 1, 1, 0.5, '{0,0}' | 1, 0, 0, '{0,0,0}' | 1, 0, 0, '{0,0}', intercept => 1
  1, 0, 0, '{0,0}', norm => 2 | 1, 0, 0, '{0,0}', reader => 14 $$);
SELECT outcomes('dperm.dperm_moments_combine(?)', $$
  request(4, 0, 0, '{1,1}'), request(4, 0, 0, '{1,1}', low => 1e-20)
  request(1, 0, 0, '{0}'), request(1, 0, 0, '{1}') $$);
-- a request has no rows of its own: they would be counted once in each worker
SELECT outcomes('?', $$
  dperm.dperm_moments_agg(NULL, y, x) FROM small
  dperm.dperm_moments_agg(first, y, x) FROM small, states WHERE pass_order = 1 $$);
SELECT dperm.dperm_moments_agg(request(1, 0, 0, '{0,0}'), y, x) IS NULL AS no_rows FROM small WHERE false;

-- Categories are codes in a pass, and coordinates behind the numbers in its
-- answer
CREATE TABLE coded AS SELECT i, CASE WHEN i % 11 > 0 THEN i % 3 > 0 END AS y, (ARRAY['a', 'b', 'c', 'other', NULL])[1 + i % 5] AS k, i % 7 > 2 AS b FROM generate_series(1, 500) i;
CREATE VIEW coded_answers AS
  SELECT pass_order, r, whole, first, second
  FROM (VALUES (1), (2), (3)) v(pass_order),
  LATERAL (SELECT request_of(pass_order, 0, 0, '{0,0,0,0}', ARRAY[10, 7], int4send(2) || int4send(1) || 'k' || '\x03' || int4send(3)
    || int4send(1) || 'a' || int4send(1) || 'b' || int4send(1) || 'c' || int4send(1) || 'b' || '\x02' || '\x0000') AS r) r,
  LATERAL (SELECT dperm.dperm_moments_agg(r, y, k, b) AS whole, dperm.dperm_moments_agg(r, y, k, b) FILTER (WHERE i <= 123) AS first,
                  dperm.dperm_moments_agg(r, y, k, b) FILTER (WHERE i > 123) AS second FROM coded) s;
-- By hand: b, and behind it a, b, c of k, each a half of the ball; at weights 0
-- slopes are -1/2 and curvatures 1/4. Rows without a label count
CREATE VIEW by_hand AS SELECT i, CASE WHEN y THEN 1 WHEN NOT y THEN -1 ELSE 0 END AS s,
  ARRAY[CASE WHEN b THEN 1 ELSE -1 END, coalesce((k = 'a')::int, 0), coalesce((k = 'b')::int, 0), coalesce((k = 'c')::int, 0)] AS x FROM coded;
SELECT pass_order, word(whole, 7) AS rows, abs(number(whole, 8) - 500 * ln(2)) < 1e-9 AS value,
       (SELECT bool_and(abs(number(whole, 17 + j) + number(whole, 21 + j) + (SELECT sum(s * x[j]) / 2.0 / sqrt(2) FROM by_hand)) < 1e-9) FROM generate_series(1, 4) j) AS gradient,
       pass_order = 1 OR (SELECT bool_and(abs(number(whole, 25 + n::int) - (SELECT sum(s * s * x[j] * x[k]) / 4.0 / 2 FROM by_hand)) < CASE pass_order WHEN 2 THEN 1e-9 ELSE 1e-3 END)
                          FROM (SELECT j, k, row_number() OVER (ORDER BY j, k) AS n FROM generate_series(1, 4) j, generate_series(j, 4) k) t) AS hessian
  FROM coded_answers;
SELECT pass_order, c.m IS NOT NULL AND word(c.m, 7) = word(whole, 7) AND length(dperm.dperm_moments_send(c.m)) = length(dperm.dperm_moments_send(whole)) AS combined,
       (SELECT max(abs(number(c.m, n) - number(whole, n))) < CASE WHEN pass_order < 3 THEN 1e-12 ELSE 1e-3 END FROM generate_series(18, CASE pass_order WHEN 1 THEN 21 ELSE 35 END) n WHERE n NOT BETWEEN 22 AND 25) AS same,
       dperm.dperm_moments_send(whole::text::dperm.dperm_moments) = dperm.dperm_moments_send(whole) AS text_round_trip
  FROM coded_answers, LATERAL (SELECT dperm.dperm_moments_combine(first, second) AS m) c;

-- A request is a value that anybody can write: columns of other types than it
-- says are refused
SELECT outcomes($$ dperm.dperm_moments_agg(request(1, 0, 0, '{0,0}'), y, ?) FROM small $$, 'x::float4[]');
CREATE VIEW of_columns AS
  SELECT request_of(2, 1, 0.5, '{0,0}', ARRAY[2, 10], int4send(2) || int4send(1) || 'a' || '\x00' || float8send(0) || float8send(600) || '\x0000'
    || int4send(1) || 'b' || '\x03' || int4send(1) || int4send(3) || 'yes' || '\x0000') AS r;
SELECT word(dperm.dperm_moments_agg(r, y, i, 'yes'::text), 7) AS arguments, word(dperm.dperm_moments_agg(r, y, ROW(i, 'yes'::text)), 7) AS record FROM small, of_columns;
SELECT outcomes('dperm.dperm_moments_agg(r, y, ?) FROM small, of_columns', $$
  i::int8, 'yes'::text | i, i | 'yes'::text, i | i, 'yes'::char(3) | i, 'yes'::text, i | i
  ROW(i, i) | ROW(i) | ROW()
  CASE WHEN i < 300 THEN ROW(i, 'yes'::text) ELSE ROW('yes'::text, i) END | NULL::record $$);

-- Damage
SELECT outcomes('?::dperm.dperm_moments', $$ '' | 'not base64!' | 'AAAA' | repeat('A', 160) $$);
CREATE FUNCTION damage(at int, bytes bytea, m dperm.dperm_moments DEFAULT request(1, 0, 0, '{0,0,0}', intercept => 1)) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  s bytea := dperm.dperm_moments_send(m);
BEGIN
  s := CASE WHEN at < 0 THEN substring(s FROM 1 FOR length(s) + at) WHEN at >= length(s) THEN s || bytes
            ELSE overlay(s PLACING bytes FROM at + 1) END;
  RETURN 'taken: ' || length(dperm.dperm_moments_send(translate(encode(s, 'base64'), E'\n', '')::dperm.dperm_moments));
EXCEPTION WHEN invalid_text_representation THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN detail;
END $$;
SELECT what, damage((8 * at)::int, bytes) FROM (VALUES
  ('nothing', 0, decode('6470706173730003', 'hex')), ('magic', 0, int8send(1)), ('version', 0, decode('6470706173730002', 'hex')),
  ('no order', 1, int8send(0)), ('counting', 1, int8send(5)), ('order', 1, int8send(7)), ('product', 1, int8send(6)), ('loss', 2, int8send(5)), ('several classes', 2, int8send(4)), ('classes', 2, int8send(768)), ('h', 3, float8send(0.5)), ('h without loss', 2, int8send(1)),
  ('no dimension', 4, int8send(0)), ('dimension', 4, int8send(1)), ('huge dimension', 4, int8send(4611686018427387904)), ('negative dimension', 4, int8send(-1)),
  ('no readers', 5, int8send(0)), ('huge readers', 5, int8send(-1)),
  ('no encoder', 6, int8send(0)), ('shorter encoder', 6, int8send(23)), ('longer encoder', 6, int8send(25)), ('huge encoder', 6, int8send(-1)),
  ('rows', 7, int8send(1)), ('negative rows', 7, int8send(-1)), ('huge rows', 7, int8send(9223372036854775807)),
  ('value', 8, float8send('NaN')), ('value', 9, float8send('Infinity')), ('bins', 10, int8send(1)), ('huge bins', 10, int8send(-1)), ('empty positive value', 11, int8send(1)), ('positive value', 11, int8send(2)), ('huge positive value', 11, int8send(16777215)), ('encoding of nothing', 11, int8send(16777216)), ('type of labels', 11, int8send(4294967296 * 10000)),
  ('seed', 12, int8send(1)), ('digest without a seed', 13, int8send(1)),
  ('weight', 14, float8send('NaN')), ('weight', 16, float8send('-Infinity')), ('reader', 17, int8send(10)), ('unknown reader', 17, int8send(99)),
  ('columns', 18, int4send(2)), ('intercept', 20.75, '\x02'), ('another intercept', 20.75, '\x00'), ('kernel', 20.875, '\x01'), ('unknown kernel', 20.875, '\x09'),
  ('kind', 19, '\x09'), ('name', 18.5, int4send(1)), ('length', 19.125, int4send(3)), ('norm', 19.75, float8send(0)), ('NaN norm', 19.75, float8send('NaN')),
  ('one word more', 21, int8send(0)), ('one byte more', 21, '\x00'), ('one byte less', -0.125, ''), ('one word less', -1, ''), ('header alone', -7, '')) v(what, at, bytes);
CREATE FUNCTION receive(m bytea, file text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', m, file);
  EXECUTE format('COPY received FROM %L (FORMAT binary)', file);
  RETURN 'taken';
EXCEPTION WHEN invalid_binary_representation THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN detail;
END $$;
CREATE TABLE received (m dperm.dperm_moments);
SELECT receive(dperm.dperm_moments_send(m), :'file') AS whole, receive('', :'file') AS empty, receive('\x00', :'file') AS byte,
       receive(dperm.dperm_moments_send(m) || '\x00', :'file') AS longer, receive(substring(dperm.dperm_moments_send(m) FROM 1 FOR 136), :'file') AS shorter,
       receive(overlay(dperm.dperm_moments_send(m) PLACING '\x00' FROM 1), :'file') AS magic
  FROM (SELECT request(2, 1, 0.5, '{0,0,0,0}', intercept => 1)) v(m);
\set remove 'rm -f ' :file
COPY (SELECT 1 WHERE false) TO PROGRAM :'remove';

DROP VIEW answers, coded_answers, by_hand, of_columns, for_caller;
DROP FUNCTION continued, request_of_category;
DROP TABLE wide, small, coded, fit, states, states_again, received;
DROP FUNCTION distance, request, request_of, word, number, plan, by_caller, trained, damage, receive;
