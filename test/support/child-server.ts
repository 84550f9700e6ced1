import { type SpawnOptions, spawn } from "node:child_process";
import { rm } from "node:fs/promises";

/** A server of the test's own in a process of its own, with its data in a directory of its own. */
export interface ChildServer {
  /** As a crash does. */
  kill(): Promise<void>;
  /** Answers nothing any more, with its connections open, until it goes on. */
  hang(): void;
  goOn(): void;
  /** Again, on the same data and port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface ChildServerOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly dir: string;
  readonly spawning?: Pick<SpawnOptions, "uid" | "gid" | "env">;
  /** That ends it without waiting for its clients. */
  readonly stopSignal: NodeJS.Signals;
  readonly answers: () => Promise<boolean>;
}

const MAX_LOOKS = 300;
const LOOK_AGAIN_MS = 100;

/** Resolves when it answers. */
export async function openChildServer({ program, args, dir, spawning, stopSignal, answers }: ChildServerOptions): Promise<ChildServer> {
  let running: ReturnType<typeof spawn> | null = null;
  const start = async () => {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      // One that was killed leaves processes behind, which keep its memory for a moment, and the next from starting.
      if (running === null || running.exitCode !== null) running = spawn(program, args, { ...spawning, stdio: "ignore" });
      if (await answers()) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
    throw new Error(`${program} did not start.`);
  };
  const stop = async (signal: NodeJS.Signals) => {
    const server = running;
    running = null;
    if (server === null || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await ended;
  };
  await start();
  return {
    start,
    kill: () => stop("SIGKILL"),
    hang: () => void running?.kill("SIGSTOP"),
    goOn: () => void running?.kill("SIGCONT"),
    async close() {
      await stop(stopSignal);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
