-- K: head, keys, values. ARGV: keys and ranges ({ from, to, limit or -1, reverse }) as JSON.
local query = cjson.decode(ARGV[1])
local function values(keys)
  local found = {}
  for from = 1, #keys, 1000 do
    for _, value in ipairs(call('HMGET', K.values, unpack(keys, from, math.min(from + 999, #keys)))) do found[#found + 1] = value end
  end
  return found
end
local head = call('HMGET', K.head, 'version', 'epoch', 'due')
local reply = { now(), head[1], head[2], head[3], values(query.keys) }
for _, range in ipairs(query.ranges) do
  local from, to, keys = '[' .. range[1], '(' .. range[2], nil
  if range[4] then
    keys = call('ZREVRANGEBYLEX', K.keys, to, from, 'LIMIT', 0, range[3])
  else
    keys = call('ZRANGEBYLEX', K.keys, from, to, 'LIMIT', 0, range[3])
  end
  reply[#reply + 1] = keys
  reply[#reply + 1] = values(keys)
end
return reply
