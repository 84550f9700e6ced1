-- K: alarms, announced. ARGV: the partition; its hint as it was seen; as it is to be ('': none); before when it must have been announced.
if tonumber(call('ZSCORE', K.alarms, ARGV[1]) or '') ~= tonumber(ARGV[2]) then return end
if tonumber(call('ZSCORE', K.announced, ARGV[1]) or 0) >= tonumber(ARGV[4]) then return end
if ARGV[3] ~= '' then return call('ZADD', K.alarms, ARGV[3], ARGV[1]) end
call('ZREM', K.alarms, ARGV[1])
call('ZREM', K.announced, ARGV[1])
