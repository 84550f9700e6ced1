-- K: head, keys, values. ARGV: the commit as JSON, then key and value of each put.
local commit, at = cjson.decode(ARGV[1]), now()
local head, fields = {}, call('HGETALL', K.head)
for i = 1, #fields, 2 do head[fields[i]] = fields[i + 1] end
local version, epoch = tonumber(head.version or 0), tonumber(head.epoch or 0)

-- One that is asked for again is answered as the first time.
for slot = 0, 15 do
  local known = head['commit:' .. slot]
  if known and string.sub(known, -#commit.id - 1) == ':' .. commit.id then
    local knownVersion, knownEpoch = string.match(known, '^(%d+):(%d+):')
    return { 'ok', tonumber(knownVersion), tonumber(knownEpoch), at }
  end
end
-- Its hint may be gone.
if commit.deadline and at > commit.deadline then return { 'late', version, epoch, at } end

local function refuse(reason, failed) return { reason, version, epoch, at, unpack(failed or {}) } end
if commit.epoch and commit.epoch ~= epoch then return refuse('epoch') end
local claim = commit.claim
if claim and (head.claim ~= claim.token or tonumber(head.claimedUntil) <= at) then return refuse('claim') end
if commit.version and commit.version ~= version then return refuse('version') end
local failed = {}
for _, check in ipairs(commit.checks) do
  local stored = call('HGET', K.values, check[1])
  local found = stored and tonumber(string.match(stored, '^%d+')) or cjson.null
  if found ~= check[2] then failed[#failed + 1] = check[1] end
end
if #failed > 0 then return refuse('checks', failed) end

version = version + 1
if commit.raisesEpoch then epoch = epoch + 1 end
local stamp = string.format('%.0f', version) .. ':'
local set, unset = {}, {}
local function put(field, value)
  if value then
    set[#set + 1] = field
    set[#set + 1] = type(value) == 'number' and string.format('%.0f', value) or value
  elseif head[field] then
    unset[#unset + 1] = field
  end
end
put('version', version)
put('epoch', epoch)
put('commit:' .. version % 16, stamp .. string.format('%.0f', epoch) .. ':' .. commit.id)
local due = tonumber(head.due)
if commit.dueAt == cjson.null then due = nil elseif commit.dueAt then due = commit.dueAt end
if commit.dueBy then due = math.min(due or commit.dueBy, commit.dueBy) end
put('due', due)
if claim then
  put('claim', claim.leaseMs > 0 and claim.token)
  put('claimedUntil', claim.leaseMs > 0 and at + claim.leaseMs)
end

-- The first write: a server without memory refuses it, and so all.
call('HSET', K.head, unpack(set))
if #unset > 0 then call('HDEL', K.head, unpack(unset)) end
if #commit.deletes > 0 then
  call('HDEL', K.values, unpack(commit.deletes))
  call('ZREM', K.keys, unpack(commit.deletes))
end
local values, keys = {}, {}
for i = 2, #ARGV, 2 do
  values[i - 1], values[i] = ARGV[i], stamp .. ARGV[i + 1]
  keys[i - 1], keys[i] = 0, ARGV[i]
end
if #values > 0 then
  call('HSET', K.values, unpack(values))
  call('ZADD', K.keys, unpack(keys))
end
return { 'ok', version, epoch, at }
