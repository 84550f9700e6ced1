import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ServerProcess } from "../e2e/server-process.js";
import type { InstalledPackage } from "../packaging/install.js";

export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** A replica that doesn't answer at all is as good as gone, after so long. */
const ANSWER_MS = 30_000;

/** Several servers on the same stores, and a client that asks any of them. */
export class Cluster {
  readonly #installed: InstalledPackage;
  readonly #variables: Readonly<Record<string, string>>;
  /** Those that answer, in the order in which they began to. */
  #replicas: { readonly server: ServerProcess; readonly url: string }[] = [];

  constructor(installed: InstalledPackage, variables: Readonly<Record<string, string>>) {
    this.#installed = installed;
    this.#variables = variables;
  }

  async start(): Promise<void> {
    const dir = await mkdtemp(join(tmpdir(), "maitred-replica-"));
    const server = ServerProcess.start(this.#installed, { ...this.#variables, MEMORY_STORAGE_DIR: dir });
    this.#replicas.push({ server, url: await server.url() });
  }

  /** As a machine that loses its power. */
  async kill(): Promise<void> {
    const killed = this.#replicas.shift();
    killed?.server.signal("SIGKILL");
    await killed?.server.ended;
  }

  /** As a machine that sleeps: the one that has run for the longest does nothing until it goes on. */
  suspend(): void {
    this.#replicas[0]?.server.signal("SIGSTOP");
  }

  goOn(): void {
    this.#replicas[0]?.server.signal("SIGCONT");
  }

  /** Stops what still runs, cleanly. What their logs say of errors. */
  async stop(): Promise<string> {
    const replicas = this.#replicas;
    this.#replicas = [];
    for (const { server } of replicas) server.signal("SIGTERM");
    const ended = await Promise.all(replicas.map(({ server }) => server.ended));
    return ended.map(({ stderr }) => stderr).join("\n");
  }

  /** Asks a replica by chance, or the one that was started first or last. Null where none answered. */
  async ask(
    method: string,
    path: string,
    user: string,
    options: { readonly body?: unknown; readonly key?: string; readonly which?: "first" | "last" } = {},
  ): Promise<Answered | null> {
    const places = { first: 0, last: -1 } as const;
    const place = options.which === undefined ? Math.floor(Math.random() * this.#replicas.length) : places[options.which];
    const url = this.#replicas.at(place)?.url;
    const headers = {
      "X-User-Id": user,
      "Content-Type": "application/json",
      ...(options.key !== undefined && { "Idempotency-Key": options.key }),
    };
    const init: RequestInit = { method, headers, signal: AbortSignal.timeout(ANSWER_MS) };
    if (options.body !== undefined) init.body = JSON.stringify(options.body);
    try {
      const response = await fetch(`${url}${path}`, init);
      const text = await response.text();
      return { status: response.status, body: text === "" ? null : JSON.parse(text) };
    } catch {
      return null;
    }
  }

  /** What a replica says, the first that does. @throws when none says 200 in ten tries */
  async read(path: string, user: string): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      const answered = await this.ask("GET", path, user);
      if (answered?.status === 200) return answered.body;
      if (tries === 10) throw new Error(`${path}: ${JSON.stringify(answered)}`);
      await pause(200);
    }
  }
}
