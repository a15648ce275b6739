--
-- Labels: every type that can be one, with and without a positive value
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE TYPE verdict AS ENUM ('benign', 'unclear', 'malignant');
CREATE DOMAIN flag AS boolean;
CREATE DOMAIN grade AS integer CHECK (VALUE BETWEEN -9 AND 9);
CREATE DOMAIN diagnosis AS verdict;
CREATE DOMAIN word AS varchar(10);
CREATE DOMAIN vec2 AS float8[] CHECK (cardinality(VALUE) = 2);
CREATE TABLE cases AS
  SELECT y, ARRAY[sin(i), cos(i)]::vec2 AS x,
    y::flag AS flag,
    CASE WHEN y THEN 7 ELSE 0 END::int2 AS int2,
    CASE WHEN y THEN 7 ELSE -7 END::int4 AS int4,
    CASE WHEN y THEN 1::int8 << 40 ELSE 0 END AS int8,
    CASE WHEN y THEN 0.1 ELSE '-Infinity' END::float4 AS float4,
    CASE WHEN y THEN 0.1 ELSE -0.1 END::float8 AS float8,
    CASE WHEN y THEN 0.10 ELSE 0.00 END::numeric AS "numeric",
    CASE WHEN y THEN 7 ELSE -7 END::grade AS grade,
    CASE WHEN y THEN 'yes' ELSE 'no' END::text AS text,
    CASE WHEN y THEN 'yes' ELSE 'yes ' END::varchar AS "varchar",
    CASE WHEN y THEN 'yes' ELSE 'no' END::char(9) AS bpchar,
    CASE WHEN y THEN 'yes' ELSE 'no' END::word AS word,
    (ARRAY['malignant', 'benign', 'unclear'])[CASE WHEN y THEN 1 ELSE 2 + i % 2 END]::verdict AS enum,
    (ARRAY['malignant', 'benign', 'unclear'])[CASE WHEN y THEN 1 ELSE 2 + i % 2 END]::diagnosis AS diagnosis,
    date '2000-01-01' + i AS date, 'x'::name AS name, 'y'::"char" AS "char", '{}'::jsonb AS jsonb, i::oid AS oid,
    i::money AS money, ARRAY[y] AS list
  FROM generate_series(1, 30) i, LATERAL (SELECT i % 7 < 3 AS y) s;

-- Does this label mean the same as y (or as NOT y), in a table, in passes and
-- in an aggregate?
CREATE FUNCTION means(label text, positive text, want boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  w float8[];
  a float8[];
  b float8[];
  c float8[];
BEGIN
  EXECUTE format('SELECT dp_weights(dp_logreg(%s, x, ''Infinity'', ''{"lambda": 0.1}'')) FROM cases', CASE WHEN want THEN 'y' ELSE 'NOT y' END) INTO w;
  b := dp_weights(dp_logreg_train('cases', label, 'x', 'Infinity', lambda => 0.1, positive => positive));
  SET LOCAL dperm.cache_memory = 0;
  c := dp_weights(dp_logreg_train('cases', label, 'x', 'Infinity', lambda => 0.1, positive => positive));
  RESET dperm.cache_memory;
  EXECUTE format('SELECT dp_weights(dp_logreg(%I, x, ''Infinity'', $1)) FROM cases', label) INTO a
    USING jsonb_build_object('lambda', 0.1) || CASE WHEN positive IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('positive', positive) END;
  RETURN (SELECT bool_and(abs(p - q) < 1e-9 AND abs(p - r) < 1e-9 AND abs(p - s) < 1e-9) FROM unnest(w, b, a, c) u(p, q, r, s));
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS label = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN label <> '' THEN E'\n  hint: ' || label ELSE '' END;
END $$;

-- Without a positive value: true, or above zero
SELECT label, means(label, NULL, true)
  FROM unnest('{y,flag,int2,int4,int8,float4,float8,numeric,grade}'::text[]) label;

-- With one: what equals it
SELECT label, positive, means(label, positive, true)
  FROM (VALUES ('y', 'true'), ('y', 't'), ('y', 'on'), ('flag', '1'), ('int2', '7'), ('int4', ' 7 '), ('int8', '1099511627776'),
    ('float4', '0.1'), ('float8', '0.1'), ('float8', '1e-1'), ('numeric', '0.1'), ('numeric', '0.1000'), ('grade', '7'),
    ('text', 'yes'), ('varchar', 'yes'), ('bpchar', 'yes'), ('bpchar', 'yes  '), ('word', 'yes'),
    ('enum', 'malignant'), ('diagnosis', 'malignant')) v(label, positive);
SELECT label, positive, means(label, positive, false)
  FROM (VALUES ('y', 'false'), ('y', 'no'), ('flag', 'f'), ('int2', '0'), ('int4', '-7'), ('int8', '0'), ('float4', '-Infinity'),
    ('float8', '-0.1'), ('numeric', '0'), ('grade', '-7'), ('text', 'no'), ('varchar', 'yes '), ('bpchar', 'no'), ('word', 'no')) v(label, positive);

-- A positive value that no row has makes all rows negative: an error would be a
-- leak
SELECT label, bool_or(dp_predict(dp_logreg_train('cases', label, 'x', 'Infinity', lambda => 0.01, positive => positive), x)) AS any_positive
  FROM cases, (VALUES ('text', 'YES'), ('text', 'yes '), ('text', ''), ('int4', '5'), ('numeric', '1e400'),
    ('float8', 'Infinity'), ('enum', 'unclear')) v(label, positive)
  WHERE NOT y OR label <> 'enum' GROUP BY label, positive ORDER BY 1;

-- A positive value that the type does not know, and types that need one
SELECT label, positive, means(label, positive, true)
  FROM (VALUES ('y', 'maybe'), ('y', ''), ('int4', 'yes'), ('int4', ''), ('int4', '7.0'), ('int2', '70000'), ('float8', 'x'), ('float4', '1e400'),
    ('numeric', 'x'), ('enum', 'Malignant'), ('enum', ''), ('diagnosis', 'none'), ('grade', 'x'), ('text', NULL), ('varchar', NULL), ('bpchar', NULL),
    ('word', NULL)) v(label, positive);

-- Types that cannot be a label
SELECT label, means(label, positive, true)
  FROM unnest('{date,name,char,jsonb,oid,money,list}'::text[]) label, unnest('{NULL,x}'::text[]) positive;

-- dperm_label shows how a label is read
CREATE FUNCTION label(value anyelement, positive text) RETURNS boolean LANGUAGE sql AS $$
  SELECT dperm.dperm_label(value, decode(repeat('00', 22), 'hex') || int4send((positive IS NOT NULL)::int) || coalesce(positive::bytea || '\x00', '')) > 0
$$;
SELECT label(true, NULL) AS t, label(0, NULL) AS f, label(5e-324::float8, NULL) AS t, label(-1e400, NULL) AS f,
       label('NaN'::float4, NULL) AS "null", label('NaN'::numeric, NULL) AS "null", label(NULL::int, NULL) AS "null",
       label('a'::text, 'a') AS t, label('a'::text, 'b') AS f, label('unclear'::verdict, 'unclear') AS t,
       label(NULL::text, 'a') AS "null", label('NaN'::numeric, 'NaN') AS "null";
SELECT enum, label(enum, 'unclear'), count(*) FROM cases GROUP BY enum ORDER BY enum;
-- the positive value may change from row to row
SELECT string_agg(coalesce(label(t, positive)::text, 'null'), ' ' ORDER BY k) AS of_text, string_agg(label(k, positive_number)::text, ' ' ORDER BY k) AS of_number
  FROM (VALUES (1, 'a', 'a', '1'), (2, 'a', 'b', NULL), (3, 'b', 'b', '3'), (4, 'bb', 'b', '3'), (5, NULL, 'b', NULL), (6, 'a', 'a', '-6')) v(k, t, positive, positive_number);
\set VERBOSITY terse
SELECT label(t, positive) FROM (VALUES ('a', 'a'), ('a', NULL)) v(t, positive);
\set VERBOSITY default

-- Texts are compared as they are stored, toasted ones too
CREATE DOMAIN vec1 AS float8[] CHECK (cardinality(VALUE) = 1);
CREATE TABLE long_words AS SELECT i % 2 = 0 AS y, ARRAY[i % 2]::vec1 AS x, repeat(CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END, 10000) AS t,
  string_agg(md5((i % 2)::text || k), '' ORDER BY k) AS random_text FROM generate_series(1, 4) i, generate_series(1, 500) k GROUP BY i;
SELECT dp_weights(dp_logreg_train('long_words', 't', 'x', 'Infinity', positive => repeat('a', 10000)))
       = dp_weights(dp_logreg_train('long_words', 'y', 'x', 'Infinity')) AS compressed,
       dp_weights(dp_logreg_train('long_words', 'random_text', 'x', 'Infinity', positive => (SELECT random_text FROM long_words WHERE y LIMIT 1)))
       = dp_weights(dp_logreg_train('long_words', 'y', 'x', 'Infinity')) AS external;

-- Two classes that a type or a domain lists have names: the model predicts them.
-- They are as the column shows them, the class is that of dp_predict and the
-- probabilities are that of dp_predict_prob
CREATE TYPE answer AS ENUM ('no', 'yes');
CREATE TABLE named AS
  SELECT x, y AS b, y::flag AS flag, (ARRAY['no', 'yes'])[1 + y::int]::answer AS e, (ARRAY['no', 'yes'])[1 + y::int] AS t, (ARRAY['no', 'yes'])[1 + y::int]::char(5) AS padded,
    (ARRAY['no', 'yes'])[1 + y::int] AS free, y::int AS listed, y::int::int2 AS ranged, y::int * 2 - 1 AS side, (y::int * 1.5)::numeric(3,1) AS share, (y::int * 0.1)::float4 AS dose,
    (ARRAY['a', 'b'])[1 + y::int] AS grade, y::int AS loose
  FROM (SELECT i / 100.0 AS x, i % 7 < i / 15 AS y FROM generate_series(1, 100) i) s;
ALTER TABLE named ADD CHECK (x BETWEEN 0 AND 1), ADD CHECK (t IN ('no', 'yes')), ADD CHECK (padded IN ('yes', 'no')), ADD CHECK (listed IN (1, 0)), ADD CHECK (ranged BETWEEN 0 AND 1),
  ADD CHECK (side IN (-1, 1)), ADD CHECK (share IN (0, 1.5)), ADD CHECK (dose IN (0, 0.1)), ADD CHECK (grade IN ('a', 'b', 'c'));
CREATE FUNCTION names(label text, positive text, domains text DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  m dp_model;
  result text;
BEGIN
  m := dp_logreg_train('named', label, 'x', 'Infinity', lambda => 0.001, positive => positive, domains => domains::jsonb);
  IF m::text::dp_model::text <> m::text THEN
    RETURN 'the forms differ';
  END IF;
  EXECUTE format($q$ SELECT concat_ws(' ', $1::jsonb->'classes', $1::jsonb->>'positive',
      'right:', round(avg((dp_predict_class($1, n)::%2$s = %1$I)::int), 1), 'classes:', count(DISTINCT dp_predict_class($1, n)),
      'as dp_predict:', bool_and((dp_predict_class($1, n) = $1::jsonb->'classes'->>1) = dp_predict($1, n)),
      'as dp_predict_prob:', bool_and(p.names = ARRAY[$1::jsonb->'classes'->>0, $1::jsonb->'classes'->>1] AND p.values[2] = dp_predict_prob($1, n) AND abs(p.values[1] + p.values[2] - 1) < 1e-15))
    FROM named n, LATERAL (SELECT array_agg(class) AS names, array_agg(probability) AS values FROM dp_predict_probs($1, n)) p $q$,
    label, (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'named'::regclass AND attname = label)) INTO result USING m;
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS label = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN label <> '' THEN E'\n  hint: ' || label ELSE '' END;
END $$;
SELECT label, positive, names(label, positive)
  FROM (VALUES ('b', NULL), ('b', 'no'), ('flag', NULL), ('e', 'yes'), ('e', 'no'), ('t', 'yes'), ('t', 'no'), ('padded', 'yes   '), ('listed', NULL), ('listed', '0'), ('ranged', NULL), ('ranged', ' 1'),
    ('side', NULL), ('side', '-1'), ('share', '1.50'), ('dose', '0.1')) v(label, positive);
SELECT domains, positive, names('free', positive, domains) FROM (VALUES ('{"free": ["yes", "no"]}', 'yes'), ('{"free": ["no", "yes"]}', 'yes'), ('{"free": ["no", "yes"]}', 'no'), ('{"free": ["no", "yes", "maybe"]}', 'yes'), ('{"free": ["no", "maybe"]}', 'yes')) v(domains, positive);
-- Only the positive name is known, or none
SELECT label, positive, names(label, positive) FROM (VALUES ('free', 'yes'), ('grade', 'b'), ('loose', '1'), ('loose', NULL)) v(label, positive);
-- A list of two takes no class away: another value is not positive
SELECT dp_weights(dp_logreg_train('named', 'grade', 'x', 'Infinity', positive => 'b')) = dp_weights(dp_logreg_train('named', 'grade', 'x', 'Infinity', positive => 'b', domains => '{"grade": ["c", "b"]}')) AS same;
-- A support vector machine has names, but no probabilities; an aggregate has those of its type; tuning and a prior keep them
SELECT m::jsonb->'classes' AS classes, bool_and((dp_predict_class(m, n) = 'yes') = dp_predict(m, n)) AS as_dp_predict FROM named n, dp_svm_train('named', 't', 'x', 'Infinity', lambda => 0.001, positive => 'yes') m GROUP BY 1;
SELECT dp_predict_probs(dp_svm_train('named', 't', 'x', 'Infinity', positive => 'yes'), n) FROM named n LIMIT 1;
SELECT dp_logreg(b, ARRAY[x], 1, '{"dimension": 1}')::jsonb->'classes' AS boolean, dp_logreg(e, ARRAY[x], 1, '{"dimension": 1, "positive": "no"}')::jsonb->'classes' AS enum,
  dp_logreg(free, ARRAY[x], 1, '{"dimension": 1, "positive": "no"}')::jsonb->'classes' AS text, dp_svm(listed, ARRAY[x], 1, '{"dimension": 1}')::jsonb->'classes' AS number FROM named;
SELECT dp_logreg_tune('named', 't', 'x', 50, positive => 'yes', candidates => '[{"lambda": 0.01}, {"lambda": 0.1}]')::jsonb->'classes' AS tuned,
  dp_logreg_train('named', 't', NULL, 50, prior => dp_logreg_train('named', 't', 'x', 50, positive => 'no'))::jsonb->'classes' AS prior;
-- A model without names, as one of an older version, stays readable
SELECT m::jsonb ? 'classes' AS named, dp_predict(m, n) IS NOT NULL AS predicts FROM named n, (SELECT (dp_logreg_train('named', 'b', 'x', 'Infinity')::jsonb - 'classes')::dp_model AS m OFFSET 0) s LIMIT 1;
SELECT dp_predict_class((dp_logreg_train('named', 'b', 'x', 'Infinity')::jsonb - 'classes')::dp_model, n) FROM named n LIMIT 1;
SELECT (dp_logreg_train('named', 'b', 'x', 'Infinity')::jsonb || '{"classes": ["a", "b", "c"]}')::dp_model;
-- Evaluation, by the same names
SELECT metric, round(value::numeric, 2) AS value FROM dp_evaluate(dp_logreg_train('named', 't', 'x', 'Infinity', lambda => 0.001, positive => 'yes'), 'named', epsilon => 'Infinity') WHERE metric IN ('true positives', 'false positives');
-- A protected table: the names are those that are registered, or of an argument that may not contradict them
SELECT dp_budget_create('names', 100) AS budget \gset
CREATE TABLE kept AS SELECT * FROM named;
SELECT dp_protect('kept', 'names', columns => '{x,b,t,free,grade,loose}', domains => '{"x": [0, 1], "t": ["no", "yes"], "grade": ["a", "b", "c"]}') \gset
CREATE FUNCTION kept(label text, positive text, domains text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN coalesce(dp_logreg_train('kept', label, 'x', 1, positive => positive, domains => domains::jsonb)::jsonb->>'classes', 'no names');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS label = PG_EXCEPTION_HINT;
  RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN label <> '' THEN E'\n  hint: ' || label ELSE '' END;
END $$;
SELECT label, positive, domains, kept(label, positive, domains)
  FROM (VALUES ('b', NULL, NULL), ('t', 'yes', NULL), ('t', 'yes', '{"t": ["yes", "no"]}'), ('t', 'yes', '{"t": ["yes", "other"]}'), ('free', 'yes', NULL), ('free', 'yes', '{"free": ["yes", "no"]}'), ('grade', 'b', NULL),
    ('grade', 'b', '{"grade": ["a", "b"]}'), ('grade', 'b', '{"grade": ["b", "d"]}'), ('loose', '1', NULL), ('loose', '1', '{"loose": [0, 1]}')) v(label, positive, domains);
SELECT count(*) AS charges FROM dp_ledger WHERE budget = 'names' AND act = 'charge';
SELECT dp_unprotect('kept') \gset
SELECT dp_budget_drop('names') \gset
DROP TABLE kept;
DROP FUNCTION names, kept;
DROP TABLE named;
DROP TYPE answer;

DROP TABLE cases, long_words;
DROP FUNCTION means, label;
DROP DOMAIN vec1, vec2, flag, grade, diagnosis, word;
DROP TYPE verdict;
