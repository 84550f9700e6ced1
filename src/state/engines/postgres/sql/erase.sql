-- A page of an erasure; the first one (`in_till` null) ends all that was begun before. What is written after it stays.
CREATE FUNCTION {erase}(in_partition text, in_till bigint, most integer, OUT deleted integer, OUT till bigint) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
BEGIN
  IF in_till IS NULL THEN
    INSERT INTO {partitions} AS head (partition, version, epoch) VALUES (in_partition, 1, 1)
      ON CONFLICT (partition) DO UPDATE
        SET version = head.version + 1, epoch = head.epoch + 1, due_at = NULL, claim = NULL, claimed_until = NULL
      RETURNING version INTO till;
  ELSE
    SELECT in_till INTO till FROM {partitions} WHERE partition = in_partition FOR UPDATE;
  END IF;
  DELETE FROM {entries} WHERE partition = in_partition AND key IN (
    SELECT key FROM {entries} WHERE partition = in_partition AND version <= till LIMIT most
  );
  GET DIAGNOSTICS deleted = ROW_COUNT;
END
$body$;
