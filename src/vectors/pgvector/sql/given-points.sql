-- Points by $2 key, $3 owner, $4 fields, $5 payload, $6 dense vector; the words of their sparse vectors, of which there are $11, by $7 the
-- point's key, $8 the vector's place, $9 word, $10 weight. Words are locked in order, so that writers wait for each other in a row; one
-- that is known costs no number.
WITH given AS (
  SELECT * FROM unnest($2::text[], $3::text[], $4::jsonb[], $5::text[], $6::text[]) AS g(key, owner, fields, payload, dense)
), weights AS (
  SELECT * FROM unnest($7::text[], $8::smallint[], $9::bigint[], $10::real[]) AS w(key, place, term, weight)
), wanted AS (
  SELECT DISTINCT place, term FROM weights
), known AS (
  SELECT t.id, t.place, t.term FROM {vector_terms} t JOIN wanted w ON w.place = t.place AND w.term = t.term
  WHERE t.collection = $1 ORDER BY t.place, t.term FOR UPDATE OF t
), made AS (
  INSERT INTO {vector_terms} AS t (collection, place, term)
  SELECT $1, w.place, w.term FROM wanted w
  WHERE NOT EXISTS (SELECT FROM known k WHERE k.place = w.place AND k.term = w.term) ORDER BY w.place, w.term
  ON CONFLICT (collection, place, term) DO UPDATE SET points = t.points RETURNING t.id, t.place, t.term
), vectors AS MATERIALIZED (
  SELECT w.key, w.place, ('{' || string_agg(t.id || ':' || w.weight, ',') || '}/1000000000')::[ext].sparsevec AS vector
  FROM weights w JOIN (SELECT * FROM known UNION ALL SELECT * FROM made) t ON t.place = w.place AND t.term = w.term
  GROUP BY w.key, w.place
), sparse AS (
  SELECT g.key, array_agg(v.vector ORDER BY p.place) AS vectors
  FROM given g CROSS JOIN generate_series(1, $11::integer) AS p(place) LEFT JOIN vectors v ON v.key = g.key AND v.place = p.place
  GROUP BY g.key
), points AS (
  SELECT g.key, g.owner, g.fields, g.payload, g.dense::[ext].vector AS dense, s.vectors AS sparse
  FROM given g LEFT JOIN sparse s ON s.key = g.key
)
