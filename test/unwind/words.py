import collections
import json
import re
import sys

rounds = int(sys.argv[1])
words = {"k%d" % i: [i, str(i), {"a": i % 7}] for i in range(2000)}
for _ in range(rounds):
    text = json.dumps(words)
    read = json.loads(text)
    counts = collections.Counter(re.findall(r"k\d\d", text))
print(len(read), len(counts))
