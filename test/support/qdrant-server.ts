import { vi } from "vitest";
import type { VectorStore } from "../../src/ports/vectors.js";
import { openQdrant } from "../../src/vectors/qdrant/qdrant.js";
import { openQdrantHttp } from "./qdrant-http.js";

const url = process.env.QDRANT_URL === "" ? undefined : process.env.QDRANT_URL;
const apiKey = process.env.QDRANT_API_KEY;

// A server may be far away, and the longest of the tests make over a thousand calls one after the other.
if (url !== undefined) vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** What contract tests name the server below. */
export const QDRANT_SERVER = url === undefined ? "the real Qdrant client over HTTP to LocalQdrant" : "a Qdrant server (QDRANT_URL)";

/** The real client: to the server that QDRANT_URL names, where one is named; else over loopback HTTP to LocalQdrant. Tests use collections of their own and remove them. */
export async function openQdrantServer(): Promise<VectorStore> {
  if (url !== undefined) return openQdrant({ url, ...(apiKey === undefined ? {} : { apiKey }), timeoutMs: 30_000 });
  const http = await openQdrantHttp();
  const store = await openQdrant({ url: http.url, timeoutMs: 10_000 });
  return {
    ...store,
    close: async () => {
      await store.close();
      await http.close();
    },
  };
}
