-- `indexes`: by the payload's key. `owner_key`: the payload's key that names whose a point is.
CREATE TABLE {vector_collections} (
  name text COLLATE "C" PRIMARY KEY,
  config jsonb NOT NULL,
  owner_key text,
  indexes jsonb NOT NULL DEFAULT '{}'
);

-- The numbers of words (32-bit hashes) that points hold, and how many hold each; `place` is that of the sparse vector among a
-- collection's, and the word -1 is in each. A sparse vector of pgvector has at most 10^9 places, so that words stand in it by `id`.
CREATE TABLE {vector_terms} (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection text COLLATE "C" NOT NULL REFERENCES {vector_collections} ON DELETE CASCADE,
  place smallint NOT NULL,
  term bigint NOT NULL,
  points integer NOT NULL DEFAULT 0,
  UNIQUE (collection, place, term)
) WITH (fillfactor = 70);

-- `fields`: what of the payload is indexed. All of a row lies in one page, as far as it has room: a search reads the vectors of all
-- of an owner's points.
CREATE TABLE {vector_points} (
  collection text COLLATE "C" NOT NULL REFERENCES {vector_collections} ON DELETE CASCADE,
  key text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  fields jsonb NOT NULL,
  payload text NOT NULL,
  dense [ext].vector,
  sparse [ext].sparsevec[],
  PRIMARY KEY (collection, key)
) WITH (toast_tuple_target = 8160);
ALTER TABLE {vector_points} ALTER dense SET STORAGE MAIN, ALTER sparse SET STORAGE MAIN;
CREATE INDEX vector_points_of_owner ON {vector_points} (collection, owner);

CREATE FUNCTION {vector_weights}(vectors [ext].sparsevec[]) RETURNS TABLE (id integer, weight real)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT split_part(pair, ':', 1)::integer, split_part(pair, ':', 2)::real
  FROM unnest(vectors) AS vector, unnest(string_to_array(btrim(split_part(vector::text, '/', 1), '{}'), ',')) AS pair
$$;

CREATE FUNCTION {vector_count_terms}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  less integer[];
BEGIN
  IF TG_OP <> 'INSERT' THEN
    -- In the order in which writers of points lock them, the word of all first.
    PERFORM 1 FROM {vector_terms} t WHERE t.id IN (SELECT w.id FROM removed r, {vector_weights}(r.sparse) w)
    ORDER BY t.place, t.term FOR UPDATE;
    WITH gone AS (
      SELECT w.id, count(*) AS points FROM removed r, {vector_weights}(r.sparse) w GROUP BY w.id
    ), counted AS (
      UPDATE {vector_terms} t SET points = t.points - gone.points FROM gone WHERE t.id = gone.id RETURNING t.id
    )
    SELECT array_agg(id) INTO less FROM counted;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    WITH come AS (
      SELECT w.id, count(*) AS points FROM added a, {vector_weights}(a.sparse) w GROUP BY w.id
    )
    UPDATE {vector_terms} t SET points = t.points + come.points FROM come WHERE t.id = come.id;
  END IF;
  IF less IS NOT NULL THEN
    DELETE FROM {vector_terms} WHERE id = ANY(less) AND points <= 0;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_added AFTER INSERT ON {vector_points}
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION {vector_count_terms}();
CREATE TRIGGER count_changed AFTER UPDATE ON {vector_points}
  REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION {vector_count_terms}();
CREATE TRIGGER count_removed AFTER DELETE ON {vector_points}
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION {vector_count_terms}();
