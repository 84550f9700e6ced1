-- The head is part -1, the keys are part 0, the ranges are parts from 1; one statement sees one state. Planned once per connection:
-- planning takes longer than the read.
CREATE FUNCTION {read}(
  in_partition text, in_keys text[], lows text[], highs text[], limits bigint[], reverses boolean[]
) RETURNS TABLE (
  part integer, place bigint, key text, value text, version bigint, epoch integer, due_at bigint, now_ms bigint
) LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $body$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT -1, NULL::bigint, NULL::text, NULL::text, head.version, head.epoch, head.due_at,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
  FROM (VALUES (in_partition)) AS asked (partition) LEFT JOIN {partitions} AS head ON head.partition = asked.partition
  UNION ALL
  SELECT 0, NULL, key, value, version, NULL, NULL, NULL FROM {entries} WHERE partition = in_partition AND key = ANY (in_keys)
  UNION ALL
  SELECT range.part::integer, found.place, found.key, found.value, found.version, NULL, NULL, NULL
  FROM unnest(lows, highs, limits, reverses) WITH ORDINALITY AS range (low, high, most, reverse, part)
  CROSS JOIN LATERAL (
    (
      SELECT key, value, version, row_number() OVER (ORDER BY key) AS place FROM {entries}
      WHERE NOT range.reverse AND partition = in_partition AND key >= range.low AND key < range.high
      ORDER BY key LIMIT range.most
    )
    UNION ALL
    (
      SELECT key, value, version, row_number() OVER (ORDER BY key DESC) AS place FROM {entries}
      WHERE range.reverse AND partition = in_partition AND key >= range.low AND key < range.high
      ORDER BY key DESC LIMIT range.most
    )
  ) AS found;
END
$body$;
