-- All or nothing, as the transaction of one statement. Every write of a partition holds its row. What is null is not checked, not changed.
CREATE FUNCTION {commit}(
  in_partition text, in_id text, in_epoch integer, in_version bigint,
  in_claim text, in_lease_ms bigint, raises_epoch boolean,
  check_keys text[], check_versions bigint[],
  put_keys text[], put_values text[], delete_keys text[],
  sets_due boolean, in_due_at bigint, in_due_by bigint,
  OUT refused text, OUT keys text[], OUT version bigint, OUT epoch integer
) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  head {partitions};
  answered text;
  now_ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
  SELECT * INTO head FROM {partitions} WHERE partition = in_partition FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO {partitions} (partition) VALUES (in_partition) ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT head FROM {partitions} WHERE partition = in_partition FOR UPDATE;
  END IF;

  SELECT line INTO answered FROM unnest(head.recent) AS line WHERE starts_with(line, in_id || ' ');
  IF FOUND THEN
    version := split_part(answered, ' ', 2);
    epoch := split_part(answered, ' ', 3);
    RETURN;
  END IF;

  IF in_epoch <> head.epoch THEN
    refused := 'epoch';
  ELSIF in_claim IS NOT NULL AND (head.claim IS DISTINCT FROM in_claim OR head.claimed_until <= clock_timestamp()) THEN
    refused := 'claim';
  ELSIF in_version <> head.version THEN
    refused := 'version';
  ELSIF check_keys IS NOT NULL THEN
    SELECT array_agg(wanted.key ORDER BY wanted.place) INTO keys
      FROM unnest(check_keys, check_versions) WITH ORDINALITY AS wanted (key, version, place)
      LEFT JOIN {entries} AS found ON found.partition = in_partition AND found.key = wanted.key
      WHERE found.version IS DISTINCT FROM wanted.version;
    IF keys IS NOT NULL THEN
      refused := 'checks';
    END IF;
  END IF;
  IF refused IS NOT NULL THEN
    version := head.version;
    epoch := head.epoch;
    -- A partition that nobody wrote stays one.
    DELETE FROM {partitions} WHERE head.version = 0 AND partition = in_partition;
    RETURN;
  END IF;

  version := head.version + 1;
  epoch := head.epoch + raises_epoch::integer;
  IF delete_keys IS NOT NULL THEN
    DELETE FROM {entries} WHERE partition = in_partition AND key = ANY (delete_keys);
  END IF;
  IF put_keys IS NOT NULL THEN
    INSERT INTO {entries} (partition, key, value, version)
      SELECT in_partition, put.key, put.value, head.version + 1 FROM unnest(put_keys, put_values) AS put (key, value)
      ON CONFLICT (partition, key) DO UPDATE SET value = excluded.value, version = excluded.version;
  END IF;
  UPDATE {partitions} SET
    version = head.version + 1,
    epoch = head.epoch + raises_epoch::integer,
    due_at = least(CASE WHEN sets_due THEN in_due_at ELSE head.due_at END, in_due_by),
    claim = CASE WHEN in_claim IS NULL OR in_lease_ms > 0 THEN head.claim END,
    claimed_until = CASE
      WHEN in_claim IS NULL THEN head.claimed_until
      WHEN in_lease_ms > 0 THEN clock_timestamp() + in_lease_ms * interval '1 millisecond'
    END,
    recent = array_prepend(
      concat_ws(' ', in_id, head.version + 1, head.epoch + raises_epoch::integer, now_ms),
      head.recent[1:CASE WHEN split_part(head.recent[16], ' ', 4)::bigint > now_ms - 10000 THEN 127 ELSE 15 END]
    )
    WHERE partition = in_partition;
END
$body$;
