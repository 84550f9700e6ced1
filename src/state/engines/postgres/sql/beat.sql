-- A small commit, and whose tables it went to.
WITH beat AS (
  INSERT INTO {health} (at) VALUES (clock_timestamp()) ON CONFLICT (single) DO UPDATE SET at = excluded.at
)
SELECT installation FROM {layout}
