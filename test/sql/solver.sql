--
-- Tables that are hard for the solver: every training on them succeeds,
-- wherever its rows are. They are from test/corpus/solver, with the label in
-- the sign; on most of them Newton's method alone needs a thousand passes or
-- more
--
\set ECHO errors
\pset format unaligned
\pset footer off
SET client_min_messages = warning;
CREATE TABLE hard (name text, loss text, h float8, lambda float8, y boolean, x float8[]);
CREATE PROCEDURE add_rows(name text, loss text, h float8, lambda float8, VARIADIC rows text[]) LANGUAGE sql AS $$
  INSERT INTO hard SELECT name, loss, h, lambda, true, r::float8[] FROM unnest(rows) r
$$;
CALL add_rows('smooth_hinge_streamed_21x5', 'smooth_hinge', 0.012148360585760881, 4.2970039478312894e-10,
  '{-0.000139978940064065,0.018903708733765363,-0.010596794291711559,-0.7372622583712115,0.675258987746276}',
  '{0.00040704287671513667,-0.006202576757294916,-0.0017106859095725525,-0.7208925904811224,0.6930168171832496}',
  '{-0.0002802339191759587,0.006064186569316764,0.003204325493453346,0.7207836379810018,-0.6931261260587479}',
  '{0.00032259817426841605,-0.0060732051905816485,-0.0032707090765399962,-0.7182598494271575,0.6957406868008689}',
  '{0.0036778801098015746,-0.013056097852601384,0.006815377020742337,0.8245731999222858,-0.4728122069370854}',
  '{0.003057889493866011,-0.011206795297667346,-0.004336261842628366,-0.0899758780522459,-0.9958667557715535}',
  '{0.00017011314725663286,-0.0022669748518486833,-0.0005345235489822586,-0.37314352869635226,0.7791458933632085}',
  '{0.0005344240348117228,-0.0026664477265243474,0.0013012520829441378,-0.04331243841109489,-0.7803775548005163}',
  '{0.0019928971125887716,-0.0036843678733253856,0.004944683964379062,-0.5016896302655245,0.78035427472081}',
  '{0.0018612880340761412,0.011239768535169508,-0.005677259494192458,0.646398633699144,-0.7628936874064729}',
  '{9.826838886319017e-07,-0.007050243717152981,-0.011604178688250113,0.8810765390620219,-0.47277206278346745}',
  '{1.517145354635917e-05,-0.007040884842249925,-0.011557117068015212,0.8814797423966988,-0.47202788317830396}',
  '{1.5167601461992132e-05,-0.007025928993064005,-0.01156340807806572,0.8814795238686095,-0.4720283600417646}',
  '{1.2916098666590528e-05,-0.007085974058097031,-0.011597534134053001,0.8805635374919635,-0.4737331975326103}',
  '{0.005587012669906536,0.006759142375559397,0.009200839239740272,-0.7769794171533312,-0.6293973938993125}',
  '{0.0006377298619839409,0.007309833942240508,0.006180578132489529,0.00518126453081741,0.7803434598366086}',
  '{0.0006363616364418661,0.007294223438289117,0.006167436408163607,0.0049418297434913605,0.7803436165381007}',
  '{0.0005206328606358572,-0.0027002794558725987,0.0012711068788409177,-0.04332983546051627,-0.7803550464879285}',
  '{0.0005342398669681883,-0.0026664643445030857,0.0013011754029457461,-0.043311039442455804,-0.7803760138824041}',
  '{0.0009731980867909707,-0.0016914367186374826,-0.011279022108953592,-0.991385616169351,-0.1304742719393087}',
  '{0.008403459085381761,-0.030377133892359905,0.08201245215507828,-0.08370941802187751,0.9926093403932059}');
CALL add_rows('huber_streamed_11x5', 'huber', 0.01, 3.0466627830535603e-10,
  '{-0.18062576507667208,-0.12302121968464436,-0.5811149427861867,0.38896282679167393,-0.49367374692550103}',
  '{0.2564114382128234,-0.15463142082470843,-0.19035343813558991,-0.23970508884772287,0.828857663257129}',
  '{-0.6740041416031504,0.14730550510175913,0.4169500958571706,0.20029199280542467,-0.35107184345434206}',
  '{0.6162650045269762,0.16422787271501646,0.7281108552759372,-0.03821360334596279,0.2142024334567404}',
  '{0.19087227736870188,-0.14551137297946,-0.17347880519145073,-0.35985788054653056,0.41327894224961326}',
  '{-0.6174736098479144,-0.2221010180054442,0.5076333834533109,0.45989626041683074,-0.2884076714853426}',
  '{-0.19459004675345418,0.0453527368998033,-0.14336127173241367,0.9363261347780335,-0.2506231269671359}',
  '{-0.552482453418414,-0.16465183836065647,0.3969826276988255,0.43583016470424424,-0.368240930823864}',
  '{-0.6887224223276339,0.04066438574104642,-0.5490301698248461,0.17204858500125453,0.17970650945382582}',
  '{0.6833286670139211,-0.04034947099857505,0.5449876572658297,-0.17092188241130934,-0.16512849718672593}',
  '{0.7191065032549537,-0.06085084397170944,-0.4532310318320511,0.3068795293292889,0.2983517441030961}');
CALL add_rows('logistic_memory_4x4', 'logistic', 0, 1e-10,
  '{0.0012271057190637786,1.2783522606931423e-05,-1.1973762137772279e-05,0.0008523633102145066}',
  '{0.6821990321027768,-0.5092593574618582,-0.009790567714848963,0.5245603227631599}',
  '{-0.07923615270982654,-0.0012035141552198196,0.0011163530562763925,-0.07049470151801283}',
  '{-0.0008501988417486515,0.23690405122306551,-0.0023656467122291766,-0.008565844697184034}');
-- and one whose weights are larger than doubles can certify: margins of one by
-- weights of ten thousands
CALL add_rows('large', 'huber', 0.1, 1e-10, '{0.00001,0.8}', '{0.00001,-0.8}', '{0.00002,0.3}');
CREATE TABLE names AS SELECT name, loss, h, lambda, cardinality(x) AS k, count(*) AS n FROM hard GROUP BY 1, 2, 3, 4, 5;
SELECT name, loss, n, k FROM names ORDER BY name COLLATE "C";

-- One model in each mode: in memory, compact in memory and in passes, by
-- workers, as an aggregate
CREATE FUNCTION train(t names, mode text, epsilon float8, way text) RETURNS dp_model LANGUAGE plpgsql AS $$
DECLARE
  result dp_model;
BEGIN
  PERFORM set_config('dperm.cache_memory', CASE mode WHEN 'memory' THEN '256MB' ELSE '0' END, true),
          set_config('max_parallel_workers_per_gather', CASE mode WHEN 'workers' THEN '2' ELSE '0' END, true),
          set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true), set_config('min_parallel_table_scan_size', '0', true);
  EXECUTE format('CREATE OR REPLACE TEMP VIEW one AS SELECT y, x FROM hard WHERE name = %L', t.name);
  IF mode = 'aggregate' AND t.loss = 'logistic' THEN
    EXECUTE 'SELECT dp_logreg(y, x, $1, $2) FROM one' INTO result USING epsilon,
      jsonb_build_object('lambda', t.lambda, 'dimension', t.k, 'intercept', false, 'method', way);
  ELSIF mode = 'aggregate' THEN
    EXECUTE 'SELECT dp_svm(y, x, $1, $2) FROM one' INTO result USING epsilon,
      jsonb_build_object('lambda', t.lambda, 'dimension', t.k, 'intercept', false, 'method', way, 'loss', t.loss, 'h', t.h);
  ELSIF t.loss = 'logistic' THEN
    result := dp_logreg_train('one', 'y', 'x', epsilon, lambda => t.lambda, options => jsonb_strip_nulls(jsonb_build_object('method', way, 'intercept', false)), domains => jsonb_build_object('x', jsonb_build_object('dimension', t.k)));
  ELSE
    result := dp_svm_train('one', 'y', 'x', epsilon, lambda => t.lambda, options => jsonb_strip_nulls(jsonb_build_object('method', way, 'intercept', false, 'loss', t.loss, 'h', t.h)), domains => jsonb_build_object('x', jsonb_build_object('dimension', t.k)));
  END IF;
  RETURN result;
END $$;
-- without noise the weights agree, as far as the bound on the gradient says
CREATE TABLE models AS
  SELECT t.name, t.lambda, mode, train(t, mode, 'Infinity', 'output') AS model
  FROM names t, unnest('{memory,passes,workers,aggregate}'::text[]) mode WHERE mode <> 'workers' OR n < 5;
SELECT a.name, count(*) AS pairs, max(sqrt((SELECT sum((v - w)^2) FROM unnest(dp_weights(a.model), dp_weights(b.model)) u(v, w)))) * a.lambda < 1e-8 AS agree
  FROM models a JOIN models b USING (name) GROUP BY a.name, a.lambda ORDER BY a.name COLLATE "C";
-- with noise every call returns a model
SELECT name, count(train(t, mode, epsilon, way)) AS models
  FROM names t, unnest('{memory,passes,workers,aggregate}'::text[]) mode, unnest('{0.1,10}'::float8[]) epsilon, unnest('{objective,output}'::text[]) way
  WHERE mode <> 'workers' OR n < 5 GROUP BY name ORDER BY name COLLATE "C";

DROP VIEW one;
DROP TABLE hard, names, models CASCADE;
DROP PROCEDURE add_rows;
