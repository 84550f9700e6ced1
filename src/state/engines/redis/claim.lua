-- K: head. ARGV: due by; length of the claim, both in milliseconds; its token. 0: only looks.
local head, at = call('HMGET', K.head, 'due', 'claim', 'claimedUntil'), now()
local claimed = head[2] and head[2] ~= ARGV[3] and tonumber(head[3]) > at
local due = head[1] and tonumber(head[1]) <= tonumber(ARGV[1])
if due and not claimed and tonumber(ARGV[2]) > 0 then
  call('HSET', K.head, 'claim', ARGV[3], 'claimedUntil', string.format('%.0f', at + ARGV[2]))
end
return { at, head[1], due and not claimed and 1 or 0 }
