-- For people and their tools; nothing of Maitred reads them. A NUL, which PostgreSQL has none of, is shown as U+FFFD; what is no JSON
-- as text.
CREATE FUNCTION {readable_json}(value text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  RETURN replace(value, '\u0000', '\ufffd')::jsonb;
EXCEPTION WHEN data_exception THEN
  RETURN to_jsonb(value);
END
$body$;

CREATE VIEW {readable_entries} AS
  SELECT {readable_json}(owner.value) #>> '{}' AS owner, entry.partition, entry.key, {readable_json}(entry.value) AS value
  FROM {entries} AS entry LEFT JOIN {entries} AS owner ON owner.partition = entry.partition AND owner.key = 'owner';

CREATE VIEW {sessions} AS
  SELECT owner, substr(key, length('session/') + 1) AS id,
    value #>> '{state,session,title}' AS title, value #>> '{state,session,status}' AS status,
    value #>> '{state,session,created_at}' AS created_at, value #>> '{state,session,updated_at}' AS updated_at,
    value #>> '{state,session,message_count}' AS message_count
  FROM {readable_entries} WHERE starts_with(key, 'session/');

CREATE VIEW {memories} AS
  SELECT owner, substr(key, length('memory-log/') + 1) AS number, value AS change
  FROM {readable_entries} WHERE starts_with(key, 'memory-log/');
