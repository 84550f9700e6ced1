-- K: installation (hash). ARGV: the id and the layout of one that begins ('': only looks). Always a write.
call('HSET', K.installation, 'seenAt', string.format('%.0f', now()))
if ARGV[1] ~= '' and call('HSETNX', K.installation, 'id', ARGV[1]) == 1 then call('HSET', K.installation, 'layout', ARGV[2]) end
return call('HMGET', K.installation, 'id', 'layout')
