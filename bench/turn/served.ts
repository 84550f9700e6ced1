import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.js";

/** Tells its parent what the process has used, when asked, and ends with it. Threads read it too, which have no parent to tell. */
const TELLS_USAGE = `data:text/javascript,${encodeURIComponent(
  `process.on("message", () => process.send({
    cpu: process.cpuUsage(), rss: process.memoryUsage.rss(), written: process.resourceUsage().fsWrite * 512 }));
  process.once("disconnect", () => process.exit(1));
  process.channel?.unref();`,
)}`;
const STARTS_MS = 60_000;

export interface Usage {
  readonly cpu: NodeJS.CpuUsage;
  readonly rss: number;
  /** To the disk, in bytes. */
  readonly written: number;
}

/** A turn as its client sees it; milliseconds. */
export interface SeenTurn {
  readonly sessionId: string;
  readonly firstTokenMs: number;
}

/** What is run as a server. */
export interface Program {
  readonly path: string;
  readonly execArgv: readonly string[];
}

/** The built server of a checkout. @throws where it is not built */
export function builtServer(checkout: string): Program {
  const path = join(checkout, "dist", "main.js");
  if (!existsSync(path)) throw new Error(`${checkout} is not built: run \`node scripts/build.mjs\` there.`);
  return { path, execArgv: [] };
}

/** As little as a server can be: see bare.ts. */
export const BARE_SERVER: Program = { path: fileURLToPath(new URL("./bare.ts", import.meta.url)), execArgv: ["--import", "tsx"] };

/** A server, on files, driven over HTTP. */
export class Served {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#process = child;
  }

  static async open({ path, execArgv }: Program, storage: string, variables: Readonly<Record<string, string>>): Promise<Served> {
    await mkdir(storage, { recursive: true });
    const port = String(await freePort());
    const { PATH = "", HOME = "" } = process.env;
    const env = { PATH, HOME, PORT: port, MEMORY_STORAGE_DIR: storage, RECALL_DEADLINE_MS: "5000", LOG_LEVEL: "error", ...variables };
    const child = fork(path, [], {
      cwd: dirname(path),
      env,
      execArgv: [...execArgv, "--import", TELLS_USAGE],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const served = new Served(`http://127.0.0.1:${port}`, child);
    for (const until = performance.now() + STARTS_MS; !(await served.#isReady()); ) {
      if (performance.now() > until || child.exitCode !== null) throw new Error(`${path} does not start.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return served;
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** `word`: what the process is told beside it, for whoever listens there. */
  async usage(word = "usage"): Promise<Usage> {
    const told = once(this.#process, "message");
    this.#process.send(word);
    return (await told)[0] as Usage;
  }

  /** One streamed turn. @throws for one that failed */
  async turn(user: string, message: string, sessionId: string | undefined): Promise<SeenTurn> {
    const started = performance.now();
    const response = await this.#ask(user, "/v1/chat", {
      message,
      stream: true,
      ...(sessionId !== undefined && { session_id: sessionId }),
    });
    let text = "";
    let firstTokenMs = Number.NaN;
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (Number.isNaN(firstTokenMs) && text.includes("event: token")) firstTokenMs = performance.now() - started;
    }
    const session = /"session_id":"([^"]+)"/.exec(text)?.[1];
    if (session === undefined || !text.includes("event: message")) throw new Error(`A turn failed: ${text}`);
    return { sessionId: session, firstTokenMs };
  }

  /** Waits until all turns of the session are written back. */
  async written(user: string, sessionId: string): Promise<void> {
    for (;;) {
      const answer = await this.#ask(user, `/v1/sessions/${sessionId}/flush`, {});
      const { pending_turns: pending } = (await answer.json()) as { pending_turns: number };
      if (pending === 0) return;
    }
  }

  async remember(user: string, text: string, aspect: string): Promise<void> {
    await (await this.#ask(user, "/v1/memories", { text, category: "other", aspect })).text();
  }

  /** Rounds of a conversation elsewhere, as history. */
  async history(user: string, lines: readonly object[]): Promise<void> {
    const body = lines.map((line) => JSON.stringify(line)).join("\n");
    await (await this.#send(user, "/v1/import", body, "application/x-ndjson")).text();
  }

  async close(): Promise<void> {
    this.#process.kill("SIGTERM");
    if (this.#process.exitCode === null) await once(this.#process, "exit");
  }

  #ask(user: string, path: string, body: object): Promise<Response> {
    return this.#send(user, path, JSON.stringify(body), "application/json");
  }

  async #send(user: string, path: string, body: string, type: string): Promise<Response> {
    const headers = { "Content-Type": type, "X-User-Id": user };
    const response = await fetch(`${this.url}${path}`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }
}
