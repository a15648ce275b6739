# What a user of DP-EBM writes: TRAIN.csv TEST.csv DOMAINS.json EPSILON DELTA.
import json
import sys
import pandas
from interpret.privacy import DPExplainableBoostingClassifier

train, test = map(pandas.read_csv, sys.argv[1:3])
domains = json.load(open(sys.argv[3]))
bounds = {name: tuple(domain) for name, domain in domains.items() if not isinstance(domain[0], str)}
for name, (low, high) in bounds.items():
    train[name], test[name] = train[name].clip(low, high), test[name].clip(low, high)
model = DPExplainableBoostingClassifier(
    epsilon=float(sys.argv[4]), delta=float(sys.argv[5]), n_jobs=1, privacy_bounds=bounds,
    feature_names=list(domains), feature_types=["continuous" if name in bounds else "nominal" for name in domains])
model.fit(train[list(domains)], train["label"])
test["probability"] = model.predict_proba(test[list(domains)])[:, 1]
test.to_csv(sys.stdout, columns=["label", "probability"], header=False, index=False)
