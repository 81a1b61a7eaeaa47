-- Builds and walks binary trees of tables, joins and splits strings, and sorts what comes out; ROUNDS times.
--
--   lua5.4 trees.lua ROUNDS
--
-- An interpreter with its own garbage collector: tables of 56 bytes, arrays that double by realloc, strings of all sizes,
-- freed in sweeps through the heap in the order of their birth.
local rounds = tonumber(arg[1])

local function tree(depth)
  if depth == 0 then return { value = 1 } end
  return { left = tree(depth - 1), right = tree(depth - 1), value = depth }
end

local function sum(node)
  if not node.left then return node.value end
  return node.value + sum(node.left) + sum(node.right)
end

local total = 0
for round = 1, rounds do
  total = total + sum(tree(14))
  local words, counts = {}, {}
  for i = 1, 20000 do words[i] = ("word%d"):format((i * 7919) % 10007) .. ("x"):rep(i % 40) end
  local text = table.concat(words, " ")
  for word in text:gmatch("%S+") do counts[word] = (counts[word] or 0) + 1 end
  local keys = {}
  for word in pairs(counts) do keys[#keys + 1] = word end
  table.sort(keys)
  total = total + #keys + #text
end
local expected = rounds * 636934
if total ~= expected then
  io.stderr:write(("trees.lua: %d instead of %d\n"):format(total, expected))
  os.exit(1)
end
