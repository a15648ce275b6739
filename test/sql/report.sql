--
-- dp_report and dp_report_data: pages from releases and public facts
--
\set ECHO errors
\pset format unaligned
\pset footer off
CREATE SCHEMA reports;
SET search_path = reports, public;
SET timezone = 'UTC';
CREATE TABLE patients (id int PRIMARY KEY, age int CHECK (age BETWEEN 0 AND 120), ward text CHECK (ward IN ('north', 'south')),
    smoker boolean, at time CHECK (at BETWEEN '08:00' AND '20:00'), born date CHECK (born BETWEEN '1920-01-01' AND '2020-12-31'), ill boolean);
INSERT INTO patients SELECT i, i % 100, (ARRAY['north', 'south'])[1 + i % 2], i % 3 = 0, '08:00', '1950-01-01', i % 100 > 50 FROM generate_series(1, 2000) i;
CREATE TABLE models (name text, model dp_model);
INSERT INTO models SELECT 'curves', dp_logreg_train('patients', 'ill', '{age,ward,smoker,at,born}', 1, knots => 4);
INSERT INTO models SELECT 'lines', dp_svm_train('patients', 'ill', '{age,ward,smoker}', 1, delta => 1e-6, options => '{"method": "output"}', knots => 1, neighbours => 'remove');
INSERT INTO models SELECT 'persons', dp_logreg_train('patients', 'ill', NULL, 1, unit => 'id', prior => (SELECT dp_logreg_train('patients', 'ill', '{age,ward}', 'Infinity')));
INSERT INTO models SELECT 'exact', dp_logreg_train('patients', 'ill', '{age}', 'Infinity');
INSERT INTO models SELECT 'kernel', dp_logreg_train('patients', 'ill', '{age}', 20, kernel => 'gaussian');
INSERT INTO models SELECT 'vector', dp_logreg(ill, ARRAY[age / 120.0, 0.1], 1.0) FROM patients;
INSERT INTO models SELECT 'exactly tuned', dp_logreg_tune('patients', 'ill', NULL, 'Infinity', candidates => '[{}, {"lambda": 0.1}]', prior => (SELECT model FROM models WHERE name = 'exact'));
INSERT INTO models SELECT 'tuned', dp_logreg_tune('patients', 'ill', '{age}', 1, candidates => '[{}, {"lambda": 0.1}]');

-- A page is XML: every element that is opened is closed, in order. The stack of
-- open elements is empty at the end; NULL: it is
CREATE FUNCTION open_elements(page text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	stack text[] := '{}';
	tag text[];
BEGIN
	FOR tag IN SELECT regexp_matches(page, '<(/?)([a-zA-Z0-9]+)((?: [a-zA-Z0-9:-]+="[^"<]*")*)(/?)>', 'g') LOOP
		IF tag[4] = '/' THEN CONTINUE; END IF;
		IF tag[1] = '' THEN stack := stack || tag[2];
		ELSIF stack[cardinality(stack)] = tag[2] THEN stack := stack[1:cardinality(stack) - 1];
		ELSE RETURN tag[2] || ' closes ' || coalesce(stack[cardinality(stack)], 'nothing');
		END IF;
	END LOOP;
	RETURN array_to_string(nullif(stack, '{}'), ' ');
END $$;
-- what is left without markup has no < or >, and & only in references to characters
CREATE FUNCTION stray(page text) RETURNS text LANGUAGE sql AS $$
	SELECT substring(regexp_replace(regexp_replace(page, '<!DOCTYPE html>|<style>.*</style>|</?[a-zA-Z0-9]+(?: [a-zA-Z0-9:-]+="[^"<]*")*/?>', '', 'g'), '&#[0-9]+;', '', 'g') FROM '.{0,20}[<>&].{0,20}') $$;
CREATE FUNCTION faults(page text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws('; ', open_elements(page), stray(page), 'an element ' || (SELECT string_agg(DISTINCT e[1], ' ') FROM regexp_matches(page, '<([a-zA-Z0-9]+)', 'g') e
			WHERE e[1] <> ALL ('{html,head,meta,title,style,body,main,header,nav,section,h1,h2,h3,p,ul,li,a,dl,div,dt,dd,table,caption,thead,tbody,tr,th,td,pre,code,sup,figure,svg,desc,text,line,polyline,polygon,circle,rect}')),
		'a link without its place: ' || (SELECT string_agg(l[1], ' ') FROM regexp_matches(page, '<a href="([^"]*)"', 'g') l WHERE page !~ ('<h2 id="' || substring(l[1] FROM '^#(\w+)$') || '"') IS NOT FALSE), 'not ASCII: ' || substring(page FROM '[^\n -~]'),
		'an attribute ' || (regexp_match(replace(page, '<a href="#', '<a id="#'), '<[a-zA-Z0-9]+(?: [a-zA-Z0-9:-]+="[^"]*")* (on\w+|src|href|style)='))[1],
		'not a number: ' || substring(page FROM '(?i)="[^"]*\m(?:nan|inf(?:inity)?)\M')) $$;

SELECT name, faults(p) AS faults, dp_report(model) = p AS same, p LIKE '<!DOCTYPE html>%<html lang="en">%<title>%</title>%</html>' || chr(10) AS page,
       (SELECT count(*) FROM regexp_matches(p, '<svg role="img" aria-label="[^"]+"', 'g')) AS pictures, (SELECT count(*) FROM regexp_matches(p, '<title>[^<]+</title>\n<desc>[^<]+</desc>', 'g')) AS described,
       p LIKE '%NOT PRIVATE%' AS not_private
  FROM models, dp_report(model) p ORDER BY name;
SELECT name, heading[1] FROM models, regexp_matches(dp_report(model), '<h1>([^<]*)</h1>', 'g') heading WHERE name IN ('vector', 'curves') ORDER BY name;
SELECT string_agg(h[1], ', ') AS sections FROM models, regexp_matches(dp_report(model), '<h2 id="\w+">([^<]*)</h2>', 'g') h WHERE name = 'persons';

-- The digest is what SQL says; the guarantee is there word for word
SELECT name, dp_report(model) LIKE '%' || left(encode(sha256(convert_to(model::text, 'UTF8')), 'hex'), 16) || '%' AS digest,
       strpos(replace(dp_report(model), '&#39;', ''''), dp_guarantee(model)) > 0 AS guarantee FROM models ORDER BY name;

-- What an attacker can find out: by hand for epsilon 1 and delta 1e-6
SELECT name, string_agg(t[1] || ' ' || t[2], ', ') AS alarms,
       string_agg((ceil(1000 * least(exp(1) * w + d, 1 - exp(-1) * (1 - w - d)) - 1e-9) / 10)::numeric(4, 1)::text, ', ') AS expected
  FROM models, regexp_matches(dp_report(model), '<th scope="row">(\d+ %)</th><td>([0-9.<>wbr/]+ %)</td>', 'g') t, LATERAL (SELECT rtrim(t[1], ' %')::float8 / 100 AS w, (model::jsonb ->> 'delta')::float8 AS d) v
 WHERE name IN ('curves', 'lines') GROUP BY name ORDER BY name;

-- What is said belongs to the model: neighbours, unit, tuning, kernel, prior, noise
SELECT name, p LIKE '%two ideas of what one row holds%' AS other, p LIKE '%two ideas of one row: that it holds certain values, or is empty%' AS empty, p LIKE '%for somebody with k rows%' AS several_rows, p LIKE '%Nor does delta hold for them%' AS delta, p LIKE '%The unit column%' AS unit_column,
       p LIKE '%SipHash%' AS portions, p LIKE '%BLAS rounds%' AS blas, p LIKE '%<h3>It holds if</h3>%' AS assumptions, (SELECT count(*) FROM regexp_matches(p, 'the prior, of reports.patients', 'g')) AS prior
  FROM models, dp_report(model) p ORDER BY name;
SELECT name, d #>> '{dp_variant,unprotected_quantities}' AS unprotected, d #> '{privacy_loss,privacy_unit}' IS NULL AS no_unit, d #> '{implementation,justification}' IS NULL AS no_proof, d #>> '{accounting,composition}' AS composition
  FROM models, LATERAL (SELECT dp_report_data(model) -> 'deployment') r (d) WHERE name IN ('exact', 'persons') ORDER BY name;
SELECT d #>> '{dp_variant,data_domain}' AS domain, d #>> '{implementation,preprocessing_and_hyperparameter_tuning}' AS choices
  FROM models, LATERAL (SELECT dp_report_data(model) -> 'deployment') r (d) WHERE name LIKE '%tuned' ORDER BY name;

-- Pictures: points are where dp_curve has them, on one scale. How far off, in pixels
CREATE FUNCTION off(model dp_model, name text) RETURNS text LANGUAGE sql AS $$
	WITH curve AS (SELECT row_number() OVER (ORDER BY c.scaled) AS n, c.score, (c.scaled - min(c.scaled) OVER ()) / (max(c.scaled) OVER () - min(c.scaled) OVER ()) AS share FROM dp_curve(model, name) c),
	     picture AS (SELECT split_part(substring(p FROM position('aria-label="Curve of ' || name || '"' IN p)), '</svg>', 1) AS svg FROM dp_report(model) p),
	     edge AS (SELECT (regexp_match(svg, 'y="26.0" text-anchor="end">([0-9.]+)<'))[1]::float8 AS y FROM picture),
	     point AS (SELECT row_number() OVER () AS n, c[1]::float8 AS x, c[2]::float8 AS y FROM picture, regexp_matches(svg, '<circle [^>]*cx="([0-9.]+)" cy="([0-9.]+)"', 'g') c)
	SELECT count(*) || ' knots' || CASE WHEN max(abs(22 + 130 * (1 - (score / edge.y + 1) / 2) - point.y)) <= 0.051 AND max(abs(44 + 264 * share - point.x)) <= 0.051 THEN '' ELSE ', wrong' END FROM curve JOIN point USING (n), edge $$;
CREATE TABLE vectors AS SELECT array_fill(i % 10 / 10.0::float8, ARRAY[50]) AS x, i % 10 > 4 AS label FROM generate_series(1, 500) i;
ALTER TABLE vectors ADD CHECK (cardinality(x) = 50);
INSERT INTO models SELECT 'vector of curves', dp_logreg_train('vectors', 'label', 'x', 20, domains => '{"x": {"range": [0, 1], "knots": 3}}');
INSERT INTO models SELECT 'log', dp_logreg_train('patients', 'ill', '{age}', 1, '{"age": {"range": [0, 120], "scale": "log"}}', knots => 5);
SELECT m.name, v.column_name, off(m.model, v.column_name) FROM models m, (VALUES ('curves', 'age'), ('curves', 'born'), ('vector of curves', 'x[1]'), ('vector of curves', 'x[2]'), ('vector of curves', 'x[40]'), ('log', 'age')) v (name, column_name) WHERE m.name = v.name ORDER BY 1, 2;

-- Titles and purposes
SELECT p LIKE '%<title>A title</title>%<h1>A title</h1>%Purpose: a purpose%Curator: a curator%' AS said
  FROM models, dp_report(model, title => 'A title', purpose => 'a purpose', curator => 'a curator') p WHERE name = 'lines';
SELECT outcomes('?', 'dp_report(NULL::dp_model) | dp_report(NULL::text) | dp_report_data(NULL::dp_model) | dp_report_data(NULL::text)');

-- An evaluation: rows of dp_evaluate, of dp_roc, or of both
CREATE TABLE evaluated AS
SELECT (SELECT jsonb_agg(e) FROM dp_evaluate(model, 'patients', epsilon => 1) e) AS metrics, (SELECT jsonb_agg(r) FROM dp_roc(model, 'patients', epsilon => 1) r) AS roc FROM models WHERE name = 'curves';
SELECT what, faults(p) AS faults, p LIKE '%Confusion matrix%' AS matrix, p LIKE '%ROC curve</h3>%' AS roc, p LIKE '%figures are exact%' AS exact
  FROM models, evaluated, LATERAL (VALUES ('metrics', metrics), ('roc', roc), ('exact roc', (SELECT jsonb_agg(r) FROM dp_roc(model, 'patients', epsilon => 'Infinity') r)), ('both', roc || metrics), ('other metrics', '[{"metric": "<b>", "value": 1e400, "private": false}]'),
       ('odd points', '[{"true_positive_rate": 1e308, "false_positive_rate": -1e308}, {"true_positive_rate": "Infinity", "false_positive_rate": "NaN"}, {"true_positive_rate": 7, "false_positive_rate": 0}]')) v (what, e),
       dp_report(model, e) p WHERE name = 'curves';
SELECT outcomes('dp_report((SELECT model FROM reports.models WHERE name = ''lines''), ?)', '''{}'' | ''[]'' | ''1'' | ''[1]'' | ''[{"metric": null}]'' | ''[{"metric": "accuracy"}, {}]''');

-- Hostile models: text that is markup, invisible, or directs the reader; numbers
-- of any size; many columns and categories
CREATE FUNCTION evil() RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT '</title></svg><script>alert(1)</script>" onload=''x'' &amp; ' || U&'\202E\2066\200B\0007\001B\00A0\FEFF\+01F600\+0E0041 \00E9\2028' || ']]>--><!--' $$;
CREATE TABLE hostile AS
SELECT 'names' AS what, (model::jsonb || jsonb_build_object('source', evil(), 'label', evil(), 'positive', evil(), 'ledger', jsonb_build_object('budget', left(evil(), 60), 'entry', 7))
	|| jsonb_build_object('features', jsonb_set(jsonb_set(model::jsonb -> 'features', '{0,column}', to_jsonb(evil())), '{1,values,0}', to_jsonb(evil()))))::dp_model AS model FROM models WHERE name = 'curves'
UNION ALL
SELECT 'prior', (model::jsonb || jsonb_build_object('prior', model::jsonb -> 'prior' || jsonb_build_object('source', evil())))::dp_model FROM models WHERE name = 'persons'
UNION ALL
SELECT 'weights', (model::jsonb || jsonb_build_object('weights', (SELECT jsonb_agg(CASE i % 3 WHEN 0 THEN 1e308 WHEN 1 THEN -1.7e308 ELSE 5e-324 END) FROM generate_series(1, (model::jsonb ->> 'dimension')::int) i)))::dp_model FROM models WHERE name = 'curves'
UNION ALL
SELECT 'zeros', (model::jsonb || jsonb_build_object('weights', (SELECT jsonb_agg(0) FROM generate_series(1, (model::jsonb ->> 'dimension')::int) i)))::dp_model FROM models WHERE name = 'exact'
UNION ALL
SELECT 'bounds', jsonb_set(jsonb_set(model::jsonb, '{features,0,low}', '-1e300'), '{features,0,high}', '1e300')::dp_model FROM models WHERE name = 'lines'
UNION ALL
SELECT 'times', jsonb_set(jsonb_set(jsonb_set(model::jsonb, '{features,4,low}', '-1e300'), '{features,4,high}', '1e300'), '{features,3,high}', '1e9')::dp_model FROM models WHERE name = 'curves'
UNION ALL
SELECT name, model FROM models WHERE name = 'vector of curves'
UNION ALL
SELECT 'wide', dp_logreg(i % 2 = 0, array_fill(0.01, ARRAY[900]), 1.0) FROM generate_series(1, 50) i;
SELECT what, faults(p) AS faults, length(p) < 300000 AS bounded, p ~* '</?(script|title></svg)' AS script, p LIKE '%\\u202E\\u2066\\u200B\\u0007\\u001B%' AS visible,
       (SELECT count(*) FROM regexp_matches(p, '<svg ', 'g')) AS drawn, substring(p FROM 'Shown: [^<]*') AS cut
  FROM hostile, dp_report(model, title => evil(), purpose => evil(), curator => evil()) p ORDER BY what;
SELECT what, dp_report_data(model, evil(), evil(), evil()) #>> '{deployment,basic,name}' = evil() AS as_it_is FROM hostile ORDER BY what;
SELECT faults(p) AS faults, (SELECT count(*) FROM regexp_matches(p, '<svg ', 'g')) AS drawn, array_agg(c[1]) AS cuts, p LIKE '%c1 (the largest 24 of 60)%' AS categories
  FROM (SELECT model::jsonb AS m FROM models WHERE name = 'exact') s,
       LATERAL (SELECT m || jsonb_build_object('features', (SELECT jsonb_agg(CASE WHEN i = 1 THEN jsonb_build_object('column', 'c1', 'type', 'category', 'values', (SELECT jsonb_agg('v' || k) FROM generate_series(1, 60) k)) ELSE jsonb_build_object('column', 'c' || i, 'type', 'boolean') END ORDER BY i) FROM generate_series(1, 120) i),
           'dimension', 180, 'weights', (SELECT jsonb_agg(i) FROM generate_series(1, 180) i))) n (j), dp_report(j::dp_model) p, regexp_matches(p, '(Shown: [^<]*)', 'g') c GROUP BY p;

-- The record has the fields of the registry, and no others
SELECT name, d ->> 'url_slug' AS slug, d #>> '{deployment,dp_variant,variant_name}' AS variant, d #>> '{deployment,privacy_loss,privacy_unit}' AS unit, d #> '{deployment,privacy_loss,privacy_parameters}' AS parameters
  FROM models, dp_report_data(model) d ORDER BY name;
SELECT part, string_agg(field, ' ' ORDER BY field COLLATE "C") AS fields FROM models, jsonb_each(dp_report_data(model) -> 'deployment') p (part, content), jsonb_object_keys(content) field WHERE name = 'curves' GROUP BY part ORDER BY part COLLATE "C";
SELECT dp_report_data(model, 'Who is ill?', 'planning', 'a hospital') #> '{deployment,basic}' ->> 'name' AS name, dp_report_data(model, curator => 'a hospital') #> '{deployment,basic,data_curators}' AS curators,
       dp_report_data(model, purpose => 'planning') #>> '{deployment,basic,intended_use}' AS intended_use FROM models WHERE name = 'curves';

-- Budgets. Everybody sees what the views show them
CREATE ROLE report_owner;
CREATE ROLE report_ana;
CREATE ROLE report_ben;
CREATE ROLE report_eve;
CREATE ROLE "report <b>&""'";
GRANT USAGE ON SCHEMA reports TO PUBLIC;
GRANT CREATE ON SCHEMA reports TO report_owner;
ALTER TABLE patients OWNER TO report_owner;
SET ROLE report_owner;
SELECT dp_budget_create('<i>b</i>', 5);
SELECT dp_protect('patients', '<i>b</i>', unit => 'id');
SELECT dp_grant('<i>b</i>', r::name, 2) FROM unnest(ARRAY['report_ana', 'report_ben', 'report <b>&"''']) r;
SELECT faults(dp_report('<i>b</i>')) AS faults, dp_report('<i>b</i>') LIKE '%Nothing was charged%' AS nothing;
RESET ROLE;
SET SESSION AUTHORIZATION report_ana;
CREATE TEMPORARY TABLE paid AS SELECT dp_logreg_train('patients', 'ill', '{age,ward}', 1, purpose => 'purpose of ana <script>') AS model;
SELECT count(*) FROM paid, dp_evaluate(model, 'patients', epsilon => 0.25);
SELECT faults(p) AS faults, p LIKE '%purpose of ana &#60;script&#62;%' AS purpose, p LIKE '%is exactly this one%' AS kept, p LIKE '%From the ledger%Confusion matrix%' AS evaluation, p LIKE '%Evaluations whose model names this entry%0.25%' AS charged,
       dp_report_data(model) #>> '{deployment,basic,intended_use}' AS intended_use FROM paid, dp_report(model) p;
-- a model that names an entry that is not its own
SELECT p LIKE '%What was released for it is NOT this model%' AS forged, dp_report_data(m) #>> '{deployment,accounting,composition}' AS composition, dp_report_data(m) #>> '{deployment,deployment_model,actors}' LIKE 'Whoever called dperm can read the rows%' AS curator
  FROM paid, LATERAL (SELECT jsonb_set(model::jsonb, '{weights,0}', '0.5')::dp_model) f (m), dp_report(m) p;
SELECT dp_report_data(model) #>> '{deployment,accounting,composition}' AS composition FROM paid;
-- and one that names the entry of an evaluation, or one that there is not
SELECT l.act, l.function, d #>> '{accounting,composition}' AS composition, left(d #>> '{deployment_model,actors}', 20) AS actors, d #>> '{basic,intended_use}' AS intended_use
  FROM paid, LATERAL (SELECT (paid.model::jsonb #>> '{ledger,entry}')::int + 1 UNION ALL SELECT 9999) n (entry) LEFT JOIN dp_ledger l ON l.budget = '<i>b</i>' AND l.entry = n.entry,
       LATERAL (SELECT dp_report_data(jsonb_set(paid.model::jsonb, '{ledger,entry}', to_jsonb(n.entry))::dp_model) -> 'deployment') r (d) ORDER BY n.entry;
RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION "report <b>&""'";
SELECT dp_budget_charge('<i>b</i>', 0.5, purpose => '<u>theirs</u>');
RESET SESSION AUTHORIZATION;
SELECT role, faults(p) AS faults, p LIKE '%purpose of ana%' AS anas_purpose, p LIKE '%&#60;u&#62;theirs%' AS their_purpose, p LIKE '%report_ana%' AS ana, p LIKE '%Charges by role%' AS charges, p LIKE '%1.75%' AS sum
  FROM unnest('{report_owner,report_ana,report_ben}'::text[]) role, LATERAL (SELECT set_config('role', role, true)) s (was), LATERAL (SELECT replace(dp_report('<i>b</i>'), '<wbr/>', '') WHERE was IS NOT NULL) r (p);
RESET ROLE;
SET ROLE report_eve;
SELECT dp_report('<i>b</i>');
SELECT dp_report_data('<i>b</i>');
SELECT dp_report('no such budget');
-- what eve gets of a model that names an entry she may not see
RESET ROLE;
SELECT model::text AS stolen FROM paid \gset
SET ROLE report_eve;
SELECT p LIKE '%not visible to this role%' AS hidden, p LIKE '%purpose of ana%' AS leaked, replace(p, '<wbr/>', '') LIKE '%report_ana%' AS who FROM dp_report(:'stolen'::dp_model) p;
RESET ROLE;
-- the latest entries, and sums over all
SET ROLE report_owner;
SELECT dp_budget_create('long', 400);
SELECT count(dp_budget_charge('long', 0.5)) FROM generate_series(1, 120);
SELECT faults(p) AS faults, (regexp_match(p, 'Shown: \d+ of \d+ entries'))[1] AS cut, p LIKE '%<td>120</td><td>60.0</td>%' AS sum FROM dp_report('long') p;
-- no relation has said yet whether it counts rows or persons
SELECT p LIKE '%any one row, or all rows of any one person, which is not known yet,%' AS open, p LIKE '%dp_budget_charge was told of%' AS word_of_others, p LIKE '%never raised above these%' AS limits,
       dp_report_data('long') #> '{deployment,privacy_loss,privacy_unit_details}' IS NULL AS no_neighbours FROM dp_report('long') p;
SELECT d #>> '{deployment,basic,data_product_type}' AS type, d #> '{deployment,privacy_loss,privacy_parameters}' AS parameters, d #>> '{deployment,deployment_model,release_type}' AS releases FROM dp_report_data('<i>b</i>') d;
-- limits that were lowered below what was spent: the guarantee is that of the largest ones, for everybody
SELECT dp_budget_create('lowered', 100, 1e-6);
SELECT dp_budget_alter('lowered', epsilon => 5, delta => 0);
SELECT dp_budget_charge('lowered', 4.25);
SELECT dp_grant('lowered', 'report_ana', 0.5);
CREATE FUNCTION stated() RETURNS text LANGUAGE sql AS $$ SELECT concat_ws('; ', substring(dp_report('lowered') FROM 'Here it is [^<]*<sup>[^<]*</sup> = [0-9.]*'), dp_report_data('lowered') #> '{deployment,privacy_loss,privacy_parameters}') $$;
SELECT stated();
SET ROLE report_ana;
SELECT stated();
SET ROLE report_owner;
SELECT dp_budget_alter('lowered', epsilon => 1);
SELECT stated();
SET ROLE report_ana;
SELECT stated();
SET ROLE report_owner;
SELECT dp_budget_drop('lowered');
-- a budget outlives its owner
RESET ROLE;
CREATE ROLE report_leaver;
SET ROLE report_leaver;
SELECT dp_budget_create('left', 5);
RESET ROLE;
DROP OWNED BY report_leaver;
DROP ROLE report_leaver;
SELECT dp_budget_charge('left', 4.25);
SELECT dp_budget_alter('left', epsilon => 1);
SELECT act, epsilon FROM dp_ledger WHERE budget = 'left' ORDER BY entry;
SELECT dp_report_data('left') #> '{deployment,privacy_loss,privacy_parameters}' AS parameters;
SELECT dp_budget_drop('left');
SET ROLE report_owner;
-- another budget of the same name
SELECT dp_budget_create('lowered', 2);
SELECT dp_budget_charge('lowered', 0.5);
SELECT stated(), dp_report('lowered') LIKE '%4.25%' AS former, dp_report_data('lowered') #>> '{deployment,accounting,composition}' AS composition, substring(dp_report('lowered') FROM 'AND entry [^;]*;[0-9]*= \d+') AS checked;
SELECT dp_budget_drop('lowered');
SELECT dp_report_data('lowered') #>> '{deployment,accounting,composition}' AS composition;
-- a budget that was dropped still has its ledger
SELECT dp_budget_drop('long');
SELECT faults(p) AS faults, p LIKE '%was dropped%' AS dropped FROM dp_report('long') p;
RESET ROLE;

-- Everybody may write an evaluation: each member and element is replaced, or left out. It becomes a page, or is refused
CREATE FUNCTION mangled(facts jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$
	WITH RECURSIVE part (path, value) AS (
		SELECT '{}'::text[], facts
		UNION ALL
		SELECT path || inner_part.key, inner_part.value FROM part, LATERAL (
			SELECT key, m.value FROM jsonb_each(CASE WHEN jsonb_typeof(part.value) = 'object' THEN part.value END) m
			UNION ALL
			SELECT (n - 1)::text, e FROM jsonb_array_elements(CASE WHEN jsonb_typeof(part.value) = 'array' THEN part.value END) WITH ORDINALITY a (e, n) WHERE n <= 2) inner_part)
	SELECT CASE WHEN path = '{}' THEN other ELSE jsonb_set(facts, path, other) END FROM part, unnest('{"null",true,-5,1e400,"\"x\"",[],"{}","[{}]","[5]"}'::jsonb[]) other
	UNION ALL
	SELECT facts #- path FROM part WHERE path <> '{}' $$;
CREATE FUNCTION outcome(call text, model dp_model, facts jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT ' || call INTO result USING model, facts;
	RETURN coalesce(nullif(CASE WHEN result ~ '^<' THEN faults(result) END, ''), 'done');
EXCEPTION WHEN data_exception THEN
	RETURN CASE WHEN call ~ '^dp_' THEN SQLSTATE ELSE 'refused' END;
END $$;
CREATE TABLE facts AS
SELECT 'dp_report($1, $2)' AS call, metrics #- '{9}' AS facts FROM evaluated
UNION ALL
SELECT 'dp_report($1, $2)', jsonb_path_query_array(roc, '$[0 to 3]') FROM evaluated;
GRANT SELECT ON facts, paid TO report_eve;
SET ROLE report_eve;
SELECT call, outcome(call, model, m) AS outcome, count(*) > 50 AS many FROM paid, facts, mangled(facts) m GROUP BY 1, 2 ORDER BY call COLLATE "C", 2;
RESET ROLE;

-- Settings of the session change nothing
CREATE FUNCTION same_under(setting text, value text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	shown text[] := ARRAY(SELECT v FROM reports.models, LATERAL (VALUES (public.dp_report(model)), (public.dp_report_data(model)::text)) p (v) WHERE name = 'curves' ORDER BY v) || public.dp_report('<i>b</i>');
BEGIN
	PERFORM set_config(setting, value, true);
	RETURN shown = ARRAY(SELECT v FROM reports.models, LATERAL (VALUES (public.dp_report(model)), (public.dp_report_data(model)::text)) p (v) WHERE name = 'curves' ORDER BY v) || public.dp_report('<i>b</i>');
END $$;
GRANT SELECT ON models TO report_owner;
SET ROLE report_owner;
SELECT setting, same_under(setting, value) AS same FROM (VALUES ('DateStyle', 'German'), ('extra_float_digits', '-8'), ('quote_all_identifiers', 'on'), ('TimeZone', 'Pacific/Kiritimati'), ('lc_numeric', (SELECT coalesce(max(collcollate) FILTER (WHERE collcollate ~ '^(de|fr)_.*utf8$'), 'C') FROM pg_collation)),
	('IntervalStyle', 'sql_standard'), ('bytea_output', 'escape'), ('search_path', 'pg_temp, pg_catalog'), ('array_nulls', 'off')) v (setting, value);
RESET ROLE;

-- Two models side by side
SELECT faults(p) AS faults, p LIKE '%<th scope="row">epsilon</th><td>1</td><td>NOT PRIVATE</td>%' AS epsilon, p LIKE '%<th scope="row">accuracy</th><td>0.9 (0.8 to 0.95)</td><td></td>%' AS evaluated
  FROM dp_report(ARRAY(SELECT model FROM models WHERE name IN ('curves', 'exact') ORDER BY name), '[[{"metric": "accuracy", "value": 0.9, "low": 0.8, "high": 0.95}], null]') p;
SELECT outcomes('dp_report(?)', 'ARRAY[]::dp_model[] | (SELECT ARRAY[model] FROM reports.models LIMIT 1) | NULL::dp_model[] | (SELECT ARRAY[model, NULL] FROM reports.models LIMIT 1) | (SELECT ARRAY[model, model] FROM reports.models LIMIT 1), ''[[]]''');

-- What is reached without a model
SELECT e.value, substring(p FROM 'always the [a-z ]*</dt><dd>[^<]*') AS baseline FROM models, (VALUES ('[{"metric": "true positives", "value": 30}, {"metric": "false negatives", "value": 10}, {"metric": "false positives", "value": 20}, {"metric": "true negatives", "value": 40}, {"metric": "accuracy", "value": 0.7}]'::jsonb),
	('[{"metric": "root mean square error", "value": 3}, {"metric": "r2", "value": 0.75}]')) e (value), dp_report(model, e.value) p WHERE name = 'lines';

-- The functions do what they are marked as: nothing is written, and no row is read
BEGIN READ ONLY;
SELECT dp_report(model) IS NOT NULL AS page, dp_report_data(model) IS NOT NULL AS record FROM models WHERE name = 'lines';
COMMIT;
SELECT proname, provolatile, prosecdef, pronargs FROM pg_proc WHERE proname IN ('dp_report', 'dp_report_data') ORDER BY 1, 4;

SELECT dp_unprotect('patients');
SELECT dp_budget_drop('<i>b</i>');
SET client_min_messages = warning;
DROP SCHEMA reports CASCADE;
DROP OWNED BY report_owner, report_ana, report_ben, report_eve, "report <b>&""'";
DROP ROLE report_owner, report_ana, report_ben, report_eve, "report <b>&""'";
