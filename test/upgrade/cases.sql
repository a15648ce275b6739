-- Rows that the models of 0.1.0 were trained on, and that they predict. Some hold what no domain allows.
CREATE TYPE stage AS ENUM ('early', 'late', 'it''s "other"');
CREATE TABLE cases (
	id int PRIMARY KEY,
	age int CHECK (age BETWEEN 0 AND 120),
	dose numeric CHECK (dose >= 0.5 AND dose <= 40),
	city text,
	stage stage,
	smoker boolean,
	seen date CHECK (seen BETWEEN '2020-01-01' AND '2025-12-31'),
	x float8[],
	y boolean,
	outcome text
);
INSERT INTO cases
	SELECT i, 20 + i * 7 % 80, 1 + i * 13 % 37 + 0.25, (ARRAY['Ulm', 'Köln', 'Bern'])[1 + i % 3],
		(ARRAY['early', 'late', 'it''s "other"'])[1 + i % 5 % 3]::stage, i % 4 = 0, date '2020-01-01' + i * 11 % 2000,
		ARRAY[i % 11 / 16.0, i * 5 % 7 / 8.0, -(i % 3) / 4.0], (i * 7 % 80 + i % 4 * 10) > 55, CASE WHEN i % 3 = 1 THEN 'back' ELSE 'well' END
	FROM generate_series(1, 400) i;
INSERT INTO cases VALUES
	(401, NULL, 3, 'Ulm', 'early', true, '2021-01-01', '{0.5,0.5,0.5}', true, 'back'),
	(402, 50, NULL, 'Ulm', 'early', true, '2021-01-01', '{3,-4,5}', false, NULL),
	(403, 50, 3, 'Atlantis', NULL, NULL, NULL, '{1,2}', true, 'well'),
	(404, 119, 39, NULL, 'late', false, '2025-12-31', '{NaN,0,0}', NULL, 'well');
