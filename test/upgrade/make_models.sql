-- Made models-0.1.0.tsv and predictions-0.1.0.tsv, with dperm 0.1.0: models in text and binary form, and their
-- predictions for some rows of cases.sql. Needs a build of that version:
-- psql -v models=/absolute/models-0.1.0.tsv -v predictions=/absolute/predictions-0.1.0.tsv -f make_models.sql
CREATE EXTENSION dperm VERSION '0.1.0';
\ir cases.sql
CREATE TABLE models (name text PRIMARY KEY, model dp_model);
INSERT INTO models VALUES
	('logreg', dp_logreg_train('cases', 'y', '{age,dose,stage,smoker,seen}', 2)),
	('logreg paper', dp_logreg_train('cases', 'y', '{age,smoker}', 1, lambda => 0.05, analysis => 'paper', intercept => false)),
	('logreg output', dp_logreg_train('cases', 'y', '{age,city}', 3, method => 'output', domains => '{"city": ["Ulm", "Köln"], "age": [18, 90]}')),
	('logreg not private', dp_logreg_train('cases', 'y', NULL, 'Infinity')),
	('logreg text label', dp_logreg_train('cases', 'outcome', '{age,dose}', 5, positive => 'back')),
	('svm huber', dp_svm_train('cases', 'y', '{age,dose,x}', 2, domains => '{"x": {"dimension": 3, "norm": 2}}')),
	('svm smooth hinge', dp_svm_train('cases', 'y', '{age,stage}', 2, loss => 'smooth_hinge', h => 0.1, method => 'output')),
	('gaussian', dp_logreg_train('cases', 'y', '{age,dose,stage}', 4, kernel => 'gaussian', gamma => 2, kernel_features => 20)),
	('laplacian', dp_svm_train('cases', 'y', '{age,dose}', 4, kernel => 'laplacian', kernel_features => 10, kernel_seed => -9)),
	('cauchy', dp_svm_train('cases', 'y', 'x', 4, kernel => 'cauchy', kernel_features => 10, intercept => true)),
	('matern', dp_logreg_train('cases', 'y', 'x', 4, kernel => 'matern', gamma => 0.5, kernel_features => 10)),
	('vector', dp_logreg_train('cases', 'y', 'x', 1, dimension => 3, norm => 1.5)),
	('vector, dimension from rows', dp_logreg_train('cases', 'y', 'x', 1)),
	('tuned', dp_logreg_tune('cases', 'y', '{age,dose}', 5, lambdas => '{0.1,0.01}')),
	('tuned kernel', dp_svm_tune('cases', 'y', '{age,dose}', 5, selection => 'exponential',
		candidates => '[{"lambda": 0.01}, {"lambda": 0.1, "kernel": "gaussian", "kernel_features": 10}]'));
INSERT INTO models SELECT 'aggregate', dp_logreg(y, x, 1) FROM cases;
INSERT INTO models SELECT 'aggregate svm', dp_svm(y, x, 2, 0.1, '{"loss": "smooth_hinge", "norm": 2}') FROM cases;
-- What a table holds is the binary form, byte by byte; the test relies on it.
CREATE CAST (dp_model AS bytea) WITHOUT FUNCTION;
SELECT 1 / (count(*) = 0)::int AS same FROM models WHERE dp_model_send(model) <> model::bytea \g /dev/null
CREATE FUNCTION decision(model dp_model, c cases) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	RETURN dp_decision(model, c);
EXCEPTION WHEN OTHERS THEN -- a model of arrays
	RETURN CASE WHEN cardinality(c.x) = 3 THEN dp_decision(model, c.x) END;
END $$;
COPY (SELECT name, model::text, dp_model_send(model) FROM models ORDER BY name) TO :'models';
COPY (SELECT name, id, decision(model, c), decision(model, c) > 0 FROM models, cases c WHERE id % 40 = 0 OR id > 400 ORDER BY name, id) TO :'predictions';
