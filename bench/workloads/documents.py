# Builds documents, writes them as JSON, reads them back and indexes them, six times or as often as its argument says.
import json
import random
import sys

random.seed(3)


def document(number):
    return {
        "id": number,
        "name": "user%d" % number,
        "tags": ["t%d" % (number % k) for k in range(1, 8)],
        "pos": {"x": random.random(), "y": random.random()},
        "hist": [[j, str(number * j)] for j in range(5)],
    }


total = 0
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 6):
    documents = [document(number) for number in range(9000)]
    text = json.dumps(documents)
    loaded = json.loads(text)
    index = {}
    for entry in loaded:
        for tag in entry["tags"]:
            index.setdefault(tag, []).append(entry["id"])
    total += sum(len(ids) for ids in index.values()) + len(text)
print(total)
