import { script } from "../../platform/lua-script.js";

/**
 * What the window of `ARGV[1]` rounds needs: from the first record of the oldest round's turn on, the newest summary and the newest user
 * message, without what a rewind took back; whatever the session holds besides. Answers last seq, last turn, and the records in order.
 */
export const WINDOW = script(
  ["head", "records", "answers", "asked", "summaries", "turns"],
  `
local head = call('HMGET', K.head, 'last_seq', 'last_turn', 'rewinds')
if not head[1] then return {} end
local last = tonumber(head[1])

-- What rewinds took back, from the newest on: first and last seq of each gap.
local gaps, upto = {}, last
local rewinds = cjson.decode(head[3] or '[]')
for at = #rewinds, 1, -1 do
  local seq, to = rewinds[at][1], rewinds[at][2]
  if seq <= upto then
    gaps[#gaps + 1] = { to + 1, seq }
    upto = to
  end
end

local function newest(key, count)
  local found, high = {}, '+inf'
  for at = 1, #gaps + 1 do
    if #found >= count then break end
    local low = gaps[at] and '(' .. gaps[at][2] or '-inf'
    for _, member in ipairs(call('ZREVRANGEBYSCORE', key, high, low, 'LIMIT', 0, count - #found)) do found[#found + 1] = member end
    if gaps[at] then high = '(' .. gaps[at][1] end
  end
  return found
end

local function seqOf(member) return tonumber(string.match(member, '^(%d+)')) end

local start = last + 1
for _, member in ipairs(newest(K.answers, tonumber(ARGV[1]))) do
  local first = call('HGET', K.turns, string.match(member, ':(%d+)$'))
  start = math.min(start, first and tonumber(first) or seqOf(member))
end
local seqs = {}
for _, key in ipairs({ K.asked, K.summaries }) do
  local member = newest(key, 1)[1]
  if member and seqOf(member) < start then seqs[#seqs + 1] = seqOf(member) end
end
table.sort(seqs)
local gap = #gaps
for seq = start, last do
  while gap > 0 and gaps[gap][2] < seq do gap = gap - 1 end
  if gap == 0 or seq < gaps[gap][1] then seqs[#seqs + 1] = seq end
end
local reply = { head[1], head[2] }
for _, seq in ipairs(seqs) do
  local record = call('HGET', K.records, seq)
  if record then reply[#reply + 1] = record end
end
return reply`,
);

/** Applies a rewrite, unless the journal has moved on or was rewritten since it was read. */
export const REWRITE = script(
  ["head", "records", "answers", "asked", "summaries"],
  `local head = call('HMGET', K.head, 'last_seq', 'rewrites')
if head[1] ~= ARGV[1] or (head[2] or '0') ~= ARGV[2] then return 0 end
for _, command in ipairs(cjson.decode(ARGV[3])) do call(command[1], K[command[2]], unpack(command, 3)) end
call('HINCRBY', K.head, 'rewrites', 1)
return 1`,
);

/** Removes a journal. How many messages it had; nil where there is none. */
export const REMOVE_JOURNAL = script(
  ["head", "journals", "records", "answers", "asked", "summaries", "turns"],
  `if call('HDEL', K.journals, ARGV[1]) == 0 and call('EXISTS', K.head) == 0 then return nil end
local messages = tonumber(call('HGET', K.head, 'messages') or '0')
call('UNLINK', K.head, K.records, K.answers, K.asked, K.summaries, K.turns)
return messages`,
);
