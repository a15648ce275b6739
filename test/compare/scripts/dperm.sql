-- What a user of dperm writes. The rows stay in the database.
CREATE TEMP TABLE models AS
SELECT dp_logreg_train(:'train', 'label', NULL, epsilon => :'epsilon', domains => :'domains' :options) AS model;
SELECT label, dp_predict_prob(model, t) FROM :test t, models;
