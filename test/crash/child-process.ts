import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { bundle } from "../support/bundle.js";
import type { ChildEvent, Job } from "./job.js";

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

/** The child as a program, from the sources as they are now. Returns the file to run. */
export async function bundleChild(dir: string): Promise<string> {
  await bundle([CHILD], dir);
  return join(dir, "child.js");
}

export interface ChildEnd {
  readonly killed: boolean;
  readonly events: readonly ChildEvent[];
}

/**
 * Runs a child to its end. `onEvent` may kill it. Rejects when it ended by anything but a kill or its own good end.
 */
export async function runChild(
  program: string,
  job: Job,
  onEvent: (event: ChildEvent, kill: () => void) => void = () => {},
): Promise<ChildEnd> {
  const child = spawn(process.execPath, [program, JSON.stringify(job)], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  let complaints = "";
  child.stderr.on("data", (chunk) => {
    complaints += String(chunk);
  });
  const events: ChildEvent[] = [];
  for await (const line of createInterface(child.stdout)) {
    const event = JSON.parse(line) as ChildEvent;
    events.push(event);
    onEvent(event, () => child.kill("SIGKILL"));
  }
  const { code, signal } = await ended;
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The child ended with ${signal ?? code}: ${complaints}`);
  return { killed: signal === "SIGKILL", events };
}
