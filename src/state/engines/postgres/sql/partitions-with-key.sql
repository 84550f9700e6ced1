SELECT head.partition, held.value FROM {partitions} AS head
CROSS JOIN LATERAL (
  SELECT value FROM {entries} AS entry WHERE entry.partition = head.partition AND entry.key = $1 OFFSET 0
) AS held
WHERE head.partition > $2 ORDER BY head.partition LIMIT $3::integer
