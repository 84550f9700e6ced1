SELECT partition, due_at, '' AS claim FROM {partitions}
WHERE due_at <= $1::bigint AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
ORDER BY due_at, partition LIMIT $2::integer
