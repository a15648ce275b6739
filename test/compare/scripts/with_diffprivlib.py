# What a user of diffprivlib writes: TRAIN.csv TEST.csv DOMAINS.json EPSILON C. A row of k columns has a norm of at most
# sqrt(k); that and the encoding come from the domains alone.
import json
import sys
import pandas
from diffprivlib.models import LogisticRegression

train, test = map(pandas.read_csv, sys.argv[1:3])
domains = json.load(open(sys.argv[3]))


def encoded(rows):
    columns = []
    for name, domain in domains.items():
        if isinstance(domain[0], str):
            columns.append(pandas.get_dummies(pandas.Categorical(rows[name], domain)))
        else:
            low, high = domain
            columns.append(2 * (rows[name].clip(low, high) - low) / (high - low) - 1)
    return pandas.concat(columns, axis=1).to_numpy(float)


model = LogisticRegression(epsilon=float(sys.argv[4]), data_norm=len(domains) ** 0.5, C=float(sys.argv[5]), max_iter=1000)
model.fit(encoded(train), train["label"])
test["probability"] = model.predict_proba(encoded(test))[:, 1]
test.to_csv(sys.stdout, columns=["label", "probability"], header=False, index=False)
