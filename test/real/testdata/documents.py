# Builds documents, writes them as JSON, reads them back and indexes them, three times.
import json
import random

random.seed(3)


def document(number):
    return {
        "id": number,
        "name": "user%d" % number,
        "tags": ["t%d" % (number % k) for k in range(1, 8)],
        "position": {"x": random.random(), "y": random.random()},
        "history": [[j, str(number * j)] for j in range(5)],
    }


total = 0
for _ in range(3):
    text = json.dumps([document(number) for number in range(9000)])
    index = {}
    for entry in json.loads(text):
        for tag in entry["tags"]:
            index.setdefault(tag, []).append(entry["id"])
    total += sum(len(ids) for ids in index.values()) + len(text)
print(total)
