import { freshKey, json, path, query, request } from "./api.js";

/** What the memory panel asks of the server. */

/** Memories that one page of the list holds, and how many pages are read: more than anyone looks through by hand. */
const PAGE = 200;
const MAX_PAGES = 10;
/** Found at most by one search. */
const FOUND = 50;

export const memoryApi = {
  /** All of them, newest first, up to 2,000. */
  async all(filter = {}) {
    const found = [];
    let cursor;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { data, next_cursor: next } = await json("GET", `/v1/memories${query({ ...filter, limit: PAGE, cursor })}`);
      found.push(...data);
      if (next === null) break;
      cursor = next;
    }
    return found;
  },
  search: async (text) => (await json("POST", "/v1/memories/search", { body: { query: text, limit: FOUND } })).data,
  add: (memory) => json("POST", "/v1/memories", { body: memory, headers: { "Idempotency-Key": freshKey() } }),
  change: (id, patch) => json("PATCH", path`/v1/memories/${id}`, { body: patch }),
  /** `last`: the page is being left, and the request must outlive it. */
  forget: (id, { last = false } = {}) => json("DELETE", path`/v1/memories/${id}`, { keepalive: last }),
  forgetAll: async () => (await json("DELETE", "/v1/memories?confirm=true")).forgotten,
  why: (id) => json("GET", path`/v1/memories/${id}/why`),
  history: async (id) => (await json("GET", path`/v1/memories/${id}/history`)).data,
};

/** What the guest may do with all that is kept of them. */
export const dataApi = {
  export: async () => (await request("GET", "/v1/me/export")).blob(),
  import: async (file) => {
    const type = file.name.endsWith(".ndjson") || file.name.endsWith(".jsonl") ? "application/x-ndjson" : "application/json";
    return (await request("POST", "/v1/import", { raw: file, headers: { "Content-Type": type } })).json();
  },
  /** The receipt: an erasure that takes longer than a request goes on, and is waited for again. */
  erase: async () => {
    for (;;) {
      try {
        return await json("DELETE", "/v1/me?confirm=true");
      } catch (error) {
        if (error.code !== "ERASURE_UNDER_WAY") throw error;
      }
    }
  },
};
