// Makes words, counts and sorts them: maps, closures, strings and JSON, first interpreted and then compiled, in code
// that has no unwind tables.
'use strict';

function* words(count) {
  let random = 12345;
  for (let i = 0; i < count; ++i) {
    random = (random * 1103515245 + 12345) % 2147483648;
    yield 'w' + (random % 997).toString(36);
  }
}

const counts = new Map();
for (const word of words(20000)) counts.set(word, (counts.get(word) || 0) + 1);
const most = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5);
console.log(JSON.stringify(most), Buffer.alloc(100000).length);
