import type { VectorStore } from "../../src/ports/vectors.js";
import { openChromaServer } from "./chroma-server.js";
import type { Need } from "./needing.js";
import { openPgvectorServer } from "./pgvector-server.js";

export interface VectorServer {
  /** What makes the product use it, for what it remembers and for history; for all of its state too where it keeps that. */
  readonly variables: Readonly<Record<string, string>>;
  open(): Promise<VectorStore>;
  /** As a crash does. */
  kill(): Promise<void>;
  /** Again, on the same data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

async function pgvector(): Promise<VectorServer> {
  const server = await openPgvectorServer();
  return { ...server, variables: { DATABASE_URL: server.url, MEM0_PROVIDER: "pgvector" }, open: () => server.open() };
}

async function chroma(): Promise<VectorServer> {
  const server = await openChromaServer();
  return { ...server, variables: { CHROMA_URL: server.url, MEM0_PROVIDER: "chroma" }, open: () => server.open() };
}

/** Servers of vectors that tests start. `program`: what the machine must have for it; `verified`: what a receipt says. */
export const VECTOR_SERVERS = [
  { name: "pgvector", program: "pgvector", verified: true, start: pgvector },
  { name: "Chroma", program: "chroma", verified: false, start: chroma },
] as const satisfies readonly {
  readonly name: string;
  readonly program: Need;
  readonly verified: boolean;
  readonly start: () => Promise<VectorServer>;
}[];
