import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VectorStore } from "../../src/ports/vectors.js";
import { type ChromaOptions, openChroma } from "../../src/vectors/chroma/chroma.js";
import { type ChildServer, openChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";
import { CHROMA_TOOLS } from "./needing.js";

export interface ChromaServer extends ChildServer {
  readonly url: string;
  /** Where its files are. */
  readonly dir: string;
  open(options?: Partial<ChromaOptions>): Promise<VectorStore>;
}

/** The program of Chroma's server and of its maintenance. */
export const CHROMA = join(CHROMA_TOOLS, "bin", "chroma");

/** A Chroma of the test's own, with its data in a temporary directory. */
export async function openChromaServer(): Promise<ChromaServer> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-chroma-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await openChildServer({
    program: CHROMA,
    args: ["run", "--host", "127.0.0.1", "--port", String(port), "--path", dir],
    dir,
    spawning: { env: { ...process.env, ANONYMIZED_TELEMETRY: "False" } },
    stopSignal: "SIGTERM",
    answers: () =>
      fetch(`${url}/api/v2/heartbeat`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  return { ...server, url, dir, open: (options = {}) => openChroma({ url, timeoutMs: 20_000, cacheBytes: 2 ** 28, ...options }) };
}
