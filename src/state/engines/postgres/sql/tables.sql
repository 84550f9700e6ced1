-- `due_at` in milliseconds since the epoch. `recent`: of the last commits `<id> <version> <epoch> <milliseconds since the epoch>`, the
-- newest first: 16, and of a partition that took 16 within ten seconds 128, as whoever asks again there comes after many others.
CREATE TABLE {partitions} (
  partition text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL DEFAULT 0,
  epoch integer NOT NULL DEFAULT 0,
  due_at bigint,
  claim text,
  claimed_until timestamptz,
  recent text[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 70);

CREATE INDEX partitions_due ON {partitions} (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE {entries} (
  partition text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (partition, key)
);

-- One row, which every look at the health writes.
CREATE TABLE {health} (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  at timestamptz NOT NULL
);
