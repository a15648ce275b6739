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
SELECT dperm.dperm_label(true, NULL) AS t, dperm.dperm_label(0, NULL) AS f, dperm.dperm_label(5e-324::float8, NULL) AS t, dperm.dperm_label(-1e400, NULL) AS f,
       dperm.dperm_label('NaN'::float4, NULL) AS "null", dperm.dperm_label('NaN'::numeric, NULL) AS "null", dperm.dperm_label(NULL::int, NULL) AS "null",
       dperm.dperm_label('a'::text, 'a') AS t, dperm.dperm_label('a'::text, 'b') AS f, dperm.dperm_label('unclear'::verdict, 'unclear') AS t,
       dperm.dperm_label(NULL::text, 'a') AS "null", dperm.dperm_label('NaN'::numeric, 'NaN') AS "null";
SELECT enum, dperm.dperm_label(enum, 'unclear'), count(*) FROM cases GROUP BY enum ORDER BY enum;
-- the positive value may change from row to row
SELECT string_agg(coalesce(dperm.dperm_label(t, positive)::text, 'null'), ' ' ORDER BY k) AS of_text, string_agg(dperm.dperm_label(k, positive_number)::text, ' ' ORDER BY k) AS of_number
  FROM (VALUES (1, 'a', 'a', '1'), (2, 'a', 'b', NULL), (3, 'b', 'b', '3'), (4, 'bb', 'b', '3'), (5, NULL, 'b', NULL), (6, 'a', 'a', '-6')) v(k, t, positive, positive_number);
\set VERBOSITY terse
SELECT dperm.dperm_label(t, positive) FROM (VALUES ('a', 'a'), ('a', NULL)) v(t, positive);
\set VERBOSITY default

-- Texts are compared as they are stored, toasted ones too
CREATE DOMAIN vec1 AS float8[] CHECK (cardinality(VALUE) = 1);
CREATE TABLE long_words AS SELECT i % 2 = 0 AS y, ARRAY[i % 2]::vec1 AS x, repeat(CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END, 10000) AS t,
  string_agg(md5((i % 2)::text || k), '' ORDER BY k) AS random_text FROM generate_series(1, 4) i, generate_series(1, 500) k GROUP BY i;
SELECT dp_weights(dp_logreg_train('long_words', 't', 'x', 'Infinity', positive => repeat('a', 10000)))
       = dp_weights(dp_logreg_train('long_words', 'y', 'x', 'Infinity')) AS compressed,
       dp_weights(dp_logreg_train('long_words', 'random_text', 'x', 'Infinity', positive => (SELECT random_text FROM long_words WHERE y LIMIT 1)))
       = dp_weights(dp_logreg_train('long_words', 'y', 'x', 'Infinity')) AS external;

DROP TABLE cases, long_words;
DROP FUNCTION means;
DROP DOMAIN vec1, vec2, flag, grade, diagnosis, word;
DROP TYPE verdict;
