WITH picked AS MATERIALIZED (
  SELECT partition FROM {partitions}
  WHERE due_at <= $1::bigint AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
  ORDER BY due_at, partition LIMIT $2::integer FOR UPDATE SKIP LOCKED
)
UPDATE {partitions} AS head
SET claim = gen_random_uuid()::text, claimed_until = clock_timestamp() + $3::bigint * interval '1 millisecond'
FROM picked WHERE head.partition = picked.partition
RETURNING head.partition, head.due_at, head.claim
