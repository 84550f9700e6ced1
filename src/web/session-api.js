import { json, path, query } from "./api.js";

/** What the list of conversations asks of the server. */

const FOUND = 30;

export const sessionApi = {
  list: (params) => json("GET", `/v1/sessions${query(params)}`),
  get: (id) => json("GET", path`/v1/sessions/${id}`),
  /** A new one, once for the key of its first turn. */
  begin: (key) => json("POST", "/v1/sessions", { body: {}, headers: { "Idempotency-Key": `${key} begin` } }),
  change: (id, patch) => json("PATCH", path`/v1/sessions/${id}`, { body: patch }),
  remove: (id) => json("DELETE", path`/v1/sessions/${id}`),
  restore: (id) => json("POST", path`/v1/sessions/${id}/restore`),
  purge: (id, { keepMemories }) => json("DELETE", `${path`/v1/sessions/${id}`}?purge=true&keep_memories=${keepMemories}`),
  /** What was said, best first. */
  said: async (text) => (await json("POST", "/v1/history/search", { body: { query: text, limit: FOUND } })).data,
  bookings: async () => (await json("GET", "/v1/me/bookings")).data,
};
