-- K: head, keys, values. All at once: what UNLINK takes away is freed behind. The remembered commits stay.
local entries = call('ZCARD', K.keys)
call('HINCRBY', K.head, 'epoch', 1)
call('HINCRBY', K.head, 'version', 1)
call('HDEL', K.head, 'due', 'claim', 'claimedUntil')
call('UNLINK', K.keys, K.values)
return entries
