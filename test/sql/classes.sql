--
-- Labels of several classes: where does a patient go next?
--
\pset format unaligned
\pset footer off
\set ECHO none
SET client_min_messages = warning;
CREATE SCHEMA wards;
SET search_path = wards, public;
CREATE TYPE place AS ENUM ('home', 'ward', 'icu', 'hospice');
CREATE DOMAIN next_place AS place;
CREATE TYPE fate AS ENUM ('well', 'ill');
CREATE TABLE visits (
	id int,
	person int,
	age int CHECK (age BETWEEN 0 AND 100),
	unit text CHECK (unit IN ('A', 'B', 'C')),
	x float8[],
	place place,
	code int CHECK (code IN (1, 2, 3, 4)),
	word text CHECK (word IN ('home', 'ward', 'icu', 'hospice')),
	free text,
	fate fate,
	sick boolean
);
INSERT INTO visits (id, person, age, unit, x, code)
  SELECT i, i % 97, i % 101, (ARRAY['A', 'B', 'C'])[1 + i % 3], ARRAY[sin(i), cos(i)],
    1 + floor(greatest(0, least(3.9, (i % 101) / 33.0 + i % 3 * 0.4 + 1.2 * sin(i * i))))
  FROM generate_series(1, 2000) i;
UPDATE visits SET code = NULL WHERE id % 50 = 7;
UPDATE visits SET place = (enum_range(NULL::place))[code], word = (enum_range(NULL::place))[code], free = (enum_range(NULL::place))[code],
  fate = CASE WHEN code > 2 THEN 'ill' ELSE 'well' END::fate, sick = code > 2;

-- How far the weights of a model are from a minimum: the norm of the gradient
-- of its objective, from the encoded rows and the labels alone. The label is an
-- expression that is the number of the class, or NULL; a person's rows with a
-- class have the weight of one together.
CREATE FUNCTION gradient(model dp_model, label text, person text DEFAULT 'id') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  m jsonb := model::jsonb;
  result float8;
BEGIN
  EXECUTE format($sql$
    WITH rows AS MATERIALIZED (SELECT dp_encode($1, v) AS x, (%1$s) AS y, count(%1$s) OVER (PARTITION BY %2$s) AS labelled, id FROM visits v),
    weights AS MATERIALIZED (SELECT k, ARRAY(SELECT unnest((dp_weights($1))[k:k])) AS w FROM generate_series(1, jsonb_array_length($2->'classes')) k),
    outputs AS (SELECT id, y, x, labelled, k, (SELECT sum(v * u) FROM unnest(x, w) e(v, u)) AS f FROM rows, weights WHERE y IS NOT NULL),
    slopes AS (SELECT x, k, (exp(f) / sum(exp(f)) OVER (PARTITION BY id) - (y = k)::int) / labelled AS s FROM outputs),
    sums AS (SELECT k, j, sum(s * v) / (SELECT count(DISTINCT %2$s) FROM visits) AS g FROM slopes, unnest(x) WITH ORDINALITY e(v, j) GROUP BY k, j)
    SELECT sqrt(sum((g + ($2->>'lambda_effective')::float8 * w[j]) ^ 2)) FROM sums JOIN weights USING (k) $sql$, label, person)
    INTO result USING model, m;
  RETURN result;
END $$;
\set ECHO all

-- Whose value is it? The number of the class, whatever the type; NULL if it is
-- none
CREATE FUNCTION label_class(value anyelement, classes text[]) RETURNS float8 LANGUAGE sql AS $$
  SELECT dperm.dperm_label(value, '\x020000000000' || float8send(0) || float8send(0) || int4send(cardinality(classes))
    || (SELECT string_agg(c::bytea || '\x00', '' ORDER BY k) FROM unnest(classes) WITH ORDINALITY u(c, k)))
$$;
SELECT label_class('b'::text, '{a,b,c}') AS text, label_class('b '::varchar, '{a,b,c}') AS varchar, label_class('b'::char(9), '{a,b,c}') AS bpchar,
  label_class('icu'::place, '{home,icu,ward}') AS enum, label_class('icu'::next_place, '{home,icu,ward}') AS domain, label_class(3::int2, '{1,2,3}') AS int2,
  label_class(-1, '{-1,0,1}') AS int4, label_class(9007199254740992, '{9007199254740991,9007199254740992,9007199254740994}') AS int8;
SELECT label_class(0.1::float4, '{1,0.1,0}') AS float4, label_class('-0'::float8, '{1,0.1,0}') AS zero, label_class('Infinity'::float8, '{1,2,inf}') AS infinite, label_class('NaN'::float8, '{1,2,inf}') AS nan,
  label_class(1e400::numeric, '{1,2,1e400}') AS numeric, label_class(2.00::numeric, '{1,2,1e400}') AS two, label_class('NaN'::numeric, '{1,2,3}') AS nan,
  label_class(NULL::text, '{a,b,c}') AS null, label_class(''::text, '{a,"",c}') AS empty, label_class('B'::text, '{a,b,c}') AS other, label_class(repeat('a', 100000000), '{a,b,c}') AS large;
-- Every one of many classes, in any order
SELECT bool_and(label_class(md5(i::text), many) = i AND label_class(i * 7919, numbers) = i AND label_class(i / 7.0, ratios) = i AND label_class(i / 7::float8, doubles) = i) AS found
  FROM (SELECT array_agg(md5(i::text) ORDER BY i) AS many, array_agg((i * 7919)::text ORDER BY i) AS numbers, array_agg((i / 7.0)::text ORDER BY i) AS ratios, array_agg((i / 7::float8)::text ORDER BY i) AS doubles
    FROM generate_series(1, 128) i) s, generate_series(1, 128) i;

-- The first model, as a user trains it
SELECT m->>'kind' AS kind, m->>'loss' AS loss, m->>'label' AS label, m->'classes' AS classes, m->>'rows' AS rows
  FROM (SELECT dp_logreg_train('visits', 'place', '{age,unit}', 1)::jsonb AS m) s;
CREATE TABLE models AS SELECT 'enum' AS name, dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01) AS model;
SELECT round(avg((dp_predict_class(model, v) = free)::int), 1) AS right FROM models, visits v WHERE free IS NOT NULL;

-- Is it the minimum? Also for every kind of domain, if rows are read again in
-- every pass, for an array, with a kernel, for persons and from a spool
INSERT INTO models SELECT 'argument', dp_logreg_train('visits', 'free', '{age,unit}', 'Infinity', lambda => 0.01, domains => '{"free": ["home", "ward", "icu", "hospice"]}');
INSERT INTO models SELECT 'list', dp_logreg_train('visits', 'word', '{age,unit}', 'Infinity', lambda => 0.01);
INSERT INTO models SELECT 'numbers', dp_logreg_train('visits', 'code', '{age,unit}', 'Infinity', lambda => 0.01);
INSERT INTO models SELECT 'domains', dp_logreg_train('visits', 'free', '{age,unit}', 'Infinity', lambda => 0.01, domains => '{"free": ["home", "ward", "icu", "hospice"]}');
INSERT INTO models SELECT 'straight', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01, knots => 1);
INSERT INTO models SELECT 'array', dp_logreg_train('visits', 'place', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 2}}');
INSERT INTO models SELECT 'kernel', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}');
INSERT INTO models SELECT 'no intercept', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01, options => '{"intercept": false}');
INSERT INTO models SELECT 'rows as persons', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01, unit => 'id');
SET dperm.cache_memory = 0;
INSERT INTO models SELECT 'passes', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01);
INSERT INTO models SELECT 'passes over texts', dp_logreg_train('visits', 'free', '{age,unit}', 'Infinity', lambda => 0.01, domains => '{"free": ["home", "ward", "icu", "hospice"]}');
INSERT INTO models SELECT 'passes over arrays', dp_logreg_train('visits', 'code', 'x', 'Infinity', lambda => 0.01, domains => '{"x": {"dimension": 2}}');
INSERT INTO models SELECT 'passes with a kernel', dp_logreg_train('visits', 'code', '{age,unit}', 'Infinity', lambda => 0.01, kernel => 'gaussian', options => '{"kernel_features": 20}');
INSERT INTO models SELECT 'spool', dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01, unit => 'id');
RESET dperm.cache_memory;
SELECT name, gradient(model, 'code') < 1e-9 AS minimal, cardinality(dp_weights(model)) AS weights FROM models;
-- A wrong minimum would be seen
SELECT gradient(model, '5 - code') > 1e-3 AS told FROM models WHERE name = 'straight';
-- All are the same model, and the weights of all classes add up to zero
SELECT name, max(abs(v - w)) < 1e-8 AS same FROM models a, (SELECT model AS first FROM models WHERE name = 'enum') b, unnest(dp_weights(first), dp_weights(model)) u(v, w)
  WHERE name IN ('argument', 'list', 'numbers', 'domains', 'rows as persons', 'passes', 'passes over texts', 'spool') GROUP BY name ORDER BY name;
SELECT name, max(abs(total)) < 1e-8 AS zero FROM (SELECT name, (j - 1) % (cardinality(dp_weights(model)) / 4) AS j, sum(w) AS total FROM models, unnest(dp_weights(model)) WITH ORDINALITY u(w, j) GROUP BY 1, 2) s GROUP BY name HAVING max(abs(total)) >= 1e-8;

-- Rows whose label is not listed count, and add nothing; the order of classes
-- is that of the list
SELECT gradient(model, $$CASE free WHEN 'icu' THEN 1 WHEN 'home' THEN 2 WHEN 'ward' THEN 3 END$$) < 1e-9 AS minimal, model::jsonb->'classes' AS classes, model::jsonb->>'rows' AS rows
  FROM dp_logreg_train('visits', 'free', '{age,unit}', 'Infinity', lambda => 0.01, domains => '{"free": ["icu", "home", "ward"]}') AS model;
SELECT gradient(model, $$CASE free WHEN 'icu' THEN 1 WHEN 'home' THEN 2 WHEN 'ward' THEN 3 END$$) < 1e-9 AS minimal
  FROM dp_logreg_train('visits', 'place', '{age,unit}', 'Infinity', lambda => 0.01, domains => '{"place": ["icu", "home", "ward"]}') AS model;
SELECT gradient(model, $$CASE WHEN code < 4 THEN code END$$, 'person') < 1e-9 AS minimal, model::jsonb->>'persons' AS persons
  FROM dp_logreg_train('visits', 'code', '{age,unit}', 'Infinity', lambda => 0.01, domains => '{"code": {"categories": ["1", "2", "3"]}}', unit => 'person') AS model;

-- An aggregate is the same, with classes as an option or of the type
SELECT max(abs(v - w)) < 1e-9 AS same, max(abs(u - w)) < 1e-9 AS of_type
  FROM (SELECT dp_logreg(free, x, 'Infinity', '{"lambda": 0.01, "dimension": 2, "classes": ["home", "ward", "icu", "hospice"]}') AS m, dp_logreg(place, x, 'Infinity', '{"lambda": 0.01, "dimension": 2}') AS n FROM visits) a, models b,
    unnest(dp_weights(m), dp_weights(n), dp_weights(model)) e(v, u, w) WHERE name = 'array';

-- Every type of label
CREATE TABLE types AS SELECT age, unit, code::int2 AS int2, code::int4 AS int4, code::int8 AS int8, code::float4 AS float4, code::float8 AS float8, code::numeric AS "numeric",
  code::text AS text, code::varchar(5) AS varchar, code::char(5) AS bpchar FROM visits;
ALTER TABLE types ADD CHECK (float4 IN (1, 2, 3, 4)), ADD CHECK (float8 IN (1, 2, 3, 4)), ADD CHECK ("numeric" IN (1, 2, 3, 4));
SELECT count(DISTINCT w) AS models, count(*) AS labels
  FROM unnest('{int2,int4,int8,float4,float8,numeric,text,varchar,bpchar}'::text[]) label,
    LATERAL (SELECT dp_weights(dp_logreg_train('types', label, '{age,unit}', 'Infinity', lambda => 0.01, domains => CASE WHEN label IN ('float4', 'float8', 'numeric') THEN '{}' ELSE jsonb_build_object(label, '{"categories": ["1", "2", "3", "4"]}'::jsonb) END || '{"age": [0, 100], "unit": ["A", "B", "C"]}')) w) s;

-- What cannot be
SELECT outcomes($$ dp_logreg_train('visits', ?, 'age', 1) $$, $$ 'free' | 'fate' | 'x' $$);
SELECT outcomes($$ dp_logreg_train('visits', 'free', 'age', 1, ?) $$, $$
  domains => '{"free": []}' | domains => '{"free": ["a"]}' | domains => '{"free": ["a", "b"]}' | domains => '{"free": ["a", "b", "a"]}' | domains => '{"free": ["a", "b", null]}' | domains => '{"free": [["a", "b"], ["c", "d"]]}'
  domains => jsonb_build_object('free', ARRAY['a', 'b', repeat('c', 131000)]) | domains => jsonb_build_object('free', ARRAY(SELECT repeat(i::text, 1000) FROM generate_series(100, 200) i)) | domains => jsonb_build_object('free', ARRAY(SELECT i::text FROM generate_series(1, 129) i))
  domains => '{"free": ["a", "b", "c"]}', options => '{"analysis": "paper"}' $$);
SELECT outcomes($$ dp_logreg_train('visits', features => 'unit'::text, epsilon => 1, label => ?) $$, $$
  'place', domains => '{"place": ["home", "ward", "moon"]}' | 'code', domains => '{"code": {"categories": [1, 2, "x"]}}'
  'code', domains => '{"code": {"categories": [1, 2, "02"]}}' | 'sick', domains => '{"sick": ["a", "b", "c"]}' | 'x', domains => '{"x": ["a", "b", "c"]}'
  'place', positive => 'moon' $$);
SELECT dp_logreg_train('visits', 'place', 'x', 1, domains => '{"x": {"dimension": 1300}}');
SELECT dp_logreg_train('visits', 'place', '{age,unit}', 1, kernel => 'gaussian', options => '{"kernel_features": 1300}');
SELECT dp_svm_train('visits', 'place', '{age,unit}', 1);
SELECT dp_svm(free, x, 1, '{"dimension": 2, "classes": ["a", "b", "c"]}') FROM visits;
SELECT dp_linreg(code, x, 1, '{"dimension": 2, "classes": ["a", "b", "c"]}') FROM visits;
SELECT dp_logreg(free, x, 1, '{"dimension": 2, "classes": ["a", "b"]}') FROM visits;
SELECT dp_logreg(free, x, 1, '{"dimension": 2, "classes": "a"}') FROM visits;
SELECT dp_logreg(free, x, 1, '{"dimension": 2, "classes": ["a", "b", 3]}') FROM visits;
SELECT dp_logreg(fate, x, 1, '{"dimension": 2}') FROM visits;
SELECT dp_logreg(place, x, 1, '{"dimension": 1300}') FROM visits;

-- Two values, or a positive one, are two classes as before
SELECT m->'classes' AS classes, m->>'positive' AS positive FROM (SELECT dp_logreg_train('visits', 'place', '{age,unit}', 1, positive => 'icu')::jsonb AS m) s;
SELECT m->'classes' AS classes, m->>'positive' AS positive FROM (SELECT dp_logreg_train('visits', 'age', 'unit', 1, positive => '1')::jsonb AS m) s;

-- Every mechanism, law, relation and unit
SELECT method, delta, neighbours, unit, m->>'method' AS used, (m->>'delta')::float8 AS spent, jsonb_array_length(m->'classes') AS classes, CASE method WHEN 'objective' THEN errors < 0.6 END AS useful
  FROM (VALUES ('objective', 0), ('objective', 1e-6), ('output', 0), ('output', 1e-6)) a(method, delta), unnest('{replace,remove}'::text[]) neighbours, unnest('{NULL,person}'::text[]) unit,
    LATERAL (SELECT dp_logreg_train('visits', 'place', '{age,unit}', 500, options => jsonb_build_object('method', method), delta => delta, neighbours => neighbours, unit => unit) AS model OFFSET 0) t,
    LATERAL (SELECT model::jsonb AS m, (SELECT avg((dp_predict_class(model, v) <> free)::int) FROM visits v) AS errors) s ORDER BY 1, 2, 3, 4;
-- The noise of pure objective perturbation is twice that of two classes, for
-- each class, if slack takes nothing, whatever the number of classes
SELECT classes, round((c.noise_norm / b.noise_norm / sqrt(classes))::numeric, 1) AS ratio
  FROM generate_series(4, 64, 20) classes, dp_cost('visits', 'free', 'age', 1, units => 1000000, lambda => 1, options => '{"method": "objective", "noise": "ball"}', knots => 1, positive => '1') b,
    dp_cost('visits', 'free', 'age', 1, units => 1000000, lambda => 1, options => '{"method": "objective", "noise": "ball"}', knots => 1, domains => jsonb_build_object('free', jsonb_build_object('categories', ARRAY(SELECT i::text FROM generate_series(1, classes) i)))) c;

-- A prior, whose classes hold
SELECT m->'classes' AS classes, m->'prior'->>'private' AS private
  FROM (SELECT dp_logreg_train('visits', 'free', NULL, 1, prior => dp_logreg_train('visits', 'free', '{age,unit}', 1, domains => '{"free": ["icu", "home", "ward"]}'))::jsonb AS m) s;
SELECT dp_logreg_train('visits', 'free', NULL, 1, domains => '{"free": ["icu", "home", "hospice"]}', prior => dp_logreg_train('visits', 'free', '{age,unit}', 1, domains => '{"free": ["icu", "home", "ward"]}'));
SELECT dp_logreg_train('visits', 'free', NULL, 1, positive => 'icu', prior => dp_logreg_train('visits', 'free', '{age,unit}', 1, domains => '{"free": ["icu", "home", "ward"]}'));
SELECT dp_logreg_train('visits', 'free', NULL, 1, prior => dp_logreg_train('visits', 'free', '{age,unit}', 1, positive => 'icu'))::jsonb->>'positive' AS two_classes;
SELECT dp_logreg_train('visits', 'place', NULL, 1, prior => dp_logreg_train('visits', 'place', '{age,unit}', 1, positive => 'icu'))::jsonb->>'positive' AS positive;
-- With a large lambda and no noise, the model is its prior
SELECT max(abs(v - w)) < 1e-3 AS same FROM models, unnest(dp_weights(model), dp_weights(dp_logreg_train('visits', 'place', NULL, 'Infinity', lambda => 10000, prior => model))) u(v, w) WHERE name = 'straight';

-- Tuning, by mistakes
-- the better one nearly always, so two times of three
SELECT mode() WITHIN GROUP (ORDER BY m->'tuning'->>'chosen') AS chosen, min((m->'classes')::text) AS classes
  FROM (SELECT dp_logreg_tune('visits', 'place', '{age,unit}', 100, candidates => '[{"lambda": 0.001}, {"lambda": 1000}]')::jsonb AS m FROM generate_series(1, 3)) s;
SELECT mode() WITHIN GROUP (ORDER BY chosen) AS chosen
  FROM (SELECT dp_logreg_tune('visits', 'free', '{age,unit}', 100, candidates => '[{"lambda": 0.001}, {"lambda": 1000}]', unit => 'id', domains => '{"free": ["home", "ward", "icu", "hospice"]}')::jsonb->'tuning'->>'chosen' AS chosen FROM generate_series(1, 3)) s;
SET dperm.cache_memory = 0;
SELECT mode() WITHIN GROUP (ORDER BY chosen) AS chosen
  FROM (SELECT dp_logreg_tune('visits', 'place', '{age,unit}', 100, candidates => '[{"lambda": 0.001}, {"lambda": 1000}]')::jsonb->'tuning'->>'chosen' AS chosen FROM generate_series(1, 3)) s;
RESET dperm.cache_memory;
SELECT dp_logreg_tune('visits', 'place', '{age,unit}', 100, candidates => '[{"classes": ["a", "b", "c"]}, {"lambda": 1}]');

SELECT dp_logreg_tune('visits', 'free', '{age,unit}', 100, domains => jsonb_build_object('free', jsonb_build_object('categories', ARRAY(SELECT i::text FROM generate_series(1, 101) i)))) IS NOT NULL AS many_classes;

-- What it would cost
SELECT method, noise FROM dp_cost('visits', 'place', '{age,unit}', 1, units => 2000);
SELECT method, noise FROM dp_cost('visits', 'free', '{age,unit}', 1, units => 2000, domains => '{"free": ["home", "ward", "icu"]}');
SELECT dp_cost('visits', 'free', '{age,unit}', 1, units => 2000);
SELECT dp_cost('visits', 'place', '{age,unit}', 1, units => 2000, learner => 'svm', domains => '{"place": ["home", "ward", "icu"]}');
SELECT dp_cost('visits', 'place', '{age,unit}', 1, units => 2000, learner => 'softmax');

-- Rows that several processes load and sum up give the same model
\set ECHO none
CREATE FUNCTION weights(call text, memory text, workers int) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
  result dp_model;
BEGIN
  PERFORM set_config('dperm.cache_memory', memory, true), set_config('max_parallel_workers_per_gather', workers::text, true), set_config('parallel_setup_cost', '0', true),
    set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true);
  EXECUTE 'SELECT ' || call INTO result;
  RETURN dp_weights(result);
END $$;
ALTER TABLE visits SET (parallel_workers = 3);
\set ECHO all
SELECT label, memory, max(abs(v - w)) < 1e-10 AS same
  FROM (VALUES ('place', NULL), ('word', NULL), ('code', NULL), ('free', '{home,ward,icu,hospice}')) l(label, classes), unnest('{0,256MB}'::text[]) memory,
    LATERAL (SELECT format('dp_logreg_train(''visits'', %L, ''{age,unit}'', ''Infinity'', lambda => 0.01, domains => %L)', label, CASE WHEN classes IS NOT NULL THEN jsonb_build_object(label, jsonb_build_object('categories', classes::text[])) END) AS call) c, unnest(weights(call, memory, 0), weights(call, memory, 3)) u(v, w)
  GROUP BY label, memory ORDER BY label, memory;

-- A protected table
\set ECHO none
CREATE ROLE dperm_wards_analyst;
GRANT USAGE ON SCHEMA wards TO dperm_wards_analyst;
SELECT dp_budget_create('wards', 100) \gset
SELECT dp_protect('visits', 'wards', columns => '{age,unit,place,free,x}', unit => 'person', domains => '{"free": ["home", "ward", "icu", "hospice"]}') \gset
SELECT dp_grant('wards', 'dperm_wards_analyst', epsilon => 50) \gset
SET ROLE dperm_wards_analyst;
\set ECHO all
SELECT m->'classes' AS classes, m->>'persons' AS persons, m->'ledger'->>'budget' AS budget FROM (SELECT dp_logreg_train('visits', 'free', '{age,unit}', 1)::jsonb AS m) s;
SELECT m->'classes' AS classes FROM (SELECT dp_logreg_train('visits', 'place', '{age,unit}', 1, domains => '{"place": ["icu", "home", "ward"]}')::jsonb AS m) s;
SELECT dp_logreg_train('visits', 'free', '{age,unit}', 1, domains => '{"free": ["icu", "home", "moon"]}');
SELECT dp_logreg_train('visits', 'place', '{age,unit}', 1, kernel => 'gaussian', options => '{"kernel_features": 1300}');
SELECT dp_logreg_tune('visits', 'place', '{age,unit}', 1, candidates => '[{"lambda": 0.001}, {"lambda": 0.01}]')::jsonb->'tuning'->>'persons' AS persons;
SELECT function, learner, epsilon, parameters#>'{domains,place}' AS classes FROM dp_ledger WHERE act = 'charge' ORDER BY entry;
\set ECHO none
RESET ROLE;
SET client_min_messages = error;
-- classes of a list are named as the column shows them, and fit into it
CREATE TABLE listed (age int CHECK (age BETWEEN 0 AND 100), dose real CHECK (dose IN (0.1, 0.25, 1e10)), code varchar(2) CHECK (code IN ('a', 'b', 'long')), pad char(2) CHECK (pad IN ('a   ', 'b', 'c')));
INSERT INTO listed SELECT 10 * i, (ARRAY[0.1, 0.25, 1e10])[1 + i % 3], 'a', 'a' FROM generate_series(1, 9) i;
SELECT m::jsonb->'classes' AS classes, bool_and(dp_predict_class(m, listed) IN (SELECT dose::text FROM listed)) AS shown FROM listed, dp_logreg_train('listed', 'dose', '{age}', 'Infinity', lambda => 1) m GROUP BY 1;
SELECT dp_logreg_train('listed', 'code', '{age}', 'Infinity', lambda => 1);
SELECT dp_logreg_train('listed', 'pad', '{age}', 'Infinity', lambda => 1)::jsonb->'classes' AS classes;
SELECT dp_unprotect('visits') \gset
DROP SCHEMA wards CASCADE;
SELECT dp_revoke('wards', 'dperm_wards_analyst') \gset
SELECT dp_budget_drop('wards') \gset
DROP ROLE dperm_wards_analyst;
