#!/usr/bin/env python3
"""Writes small files of the shape of the real ones, for test/experiments/smoke.

    test/experiments/generate.py FOLDER
"""
import gzip
import os
import random
import sys

from datasets import ADULT, KDD

CATEGORIES = {
    "workclass": ["Private", "State-gov", "Self-emp-inc", ""], "education": ["HS-grad", "Bachelors", "Masters"],
    "marital_status": ["Never-married", "Divorced"], "occupation": ["Sales", "Tech-support", "Craft-repair"],
    "relationship": ["Husband", "Wife", "Own-child"], "race": ["White", "Black"], "sex": ["Male", "Female"],
    "native_country": ["United-States", "Mexico", ""],
    "protocol_type": ["tcp", "udp", "icmp"], "service": ["http", "smtp", "private"], "flag": ["SF", "S0", "REJ"],
}
# label, how many rows of a hundred
LABELS = {"adult": [("<=50K", 75), (">50K", 25)],
          "kdd": [("smurf", 56), ("neptune", 22), ("normal", 20), ("back", 2)]}


def row(dataset, label, random):
    """Numbers and categories lean to one side with the label."""
    positive = label in (">50K", "normal")
    values = []
    for column in dataset.columns.split()[:-1]:
        if column in CATEGORIES:
            choices = CATEGORIES[column]
            values.append(choices[0] if random.random() < (0.7 if positive else 0.2) else random.choice(choices))
        elif column == "num_outbound_cmds":
            values.append("0")  # as in the real file
        else:
            values.append(str(random.randint(20, 90) if positive else random.randint(0, 60)))
    return ",".join([*values, label])


def write(folder, dataset, rows):
    source = random.Random(2011)
    labels, weights = zip(*LABELS[dataset.name])
    with gzip.open(os.path.join(folder, dataset.files[0][0]), "wt", encoding="ascii") as file:
        file.write(dataset.columns.replace(" ", ",") + "\n")
        for label in source.choices(labels, weights, k=rows):
            file.write(row(dataset, label, source) + "\n")


if __name__ == "__main__":
    write(sys.argv[1], ADULT, 1500)
    write(sys.argv[1], KDD, 3000)
