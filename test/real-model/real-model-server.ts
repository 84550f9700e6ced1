import { type ChildProcess, spawn } from "node:child_process";
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { Happenings } from "../support/happenings.js";
import { LLAMA_TOOLS } from "../support/needing.js";
import { onLoopback } from "../support/on-loopback.js";

/** One answer that was asked for. */
export interface Asked {
  /** As `X-Maitred-Task` names it. */
  readonly task: string;
  /** Null while it is being answered; `left`: whoever asked went away. */
  status: number | "left" | null;
  /** Why it ended, as the server says; null until it does. */
  finish: string | null;
}

export interface RealModel {
  /** With `/v1`. */
  readonly url: string;
  readonly asked: Asked[];
  /** Resolves when an answer of the task has been asked for so often. */
  askedFor(task: string, times?: number): Promise<void>;
}

/** A llama.cpp server of SmolLM2-135M-Instruct, one answer at a time, in a process of its own that ends with the test. */
export async function openRealModel(contextTokens: number): Promise<RealModel> {
  const script = join(import.meta.dirname, "llama_server.py");
  const child = spawn(join(LLAMA_TOOLS, "bin", "python"), [script, String(contextTokens)], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => ended(child));
  return openRecorder(await addressOf(child));
}

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout !== null) for await (const line of createInterface({ input: stdout })) if (line.startsWith("http://")) return line;
  throw new Error("The llama.cpp server did not start.");
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exit;
}

/** Passes everything on, and notes which answers were asked for and how they ended. */
async function openRecorder(target: string): Promise<RealModel> {
  const asked = new Happenings<Asked>();
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    const answer: Asked = { task: String(incoming.headers["x-maitred-task"]), status: null, finish: null };
    if (incoming.method === "POST") asked.tell(answer);
    const options = { method: incoming.method ?? "GET", headers: incoming.headers };
    const outgoing = forward(new URL(incoming.url ?? "/", target), options, (from) => {
      response.writeHead(from.statusCode ?? 502, from.headers);
      const said: Buffer[] = [];
      from.on("data", (chunk: Buffer) => said.push(chunk));
      from.on("end", () => {
        answer.status = from.statusCode ?? 502;
        answer.finish = /"finish_reason":"(\w+)"/.exec(Buffer.concat(said).toString("utf8"))?.[1] ?? null;
      });
      from.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => {
      answer.status ??= "left";
      outgoing.destroy();
    });
    incoming.pipe(outgoing);
  });
  return {
    url: `${await onLoopback(server)}/v1`,
    asked: asked.all,
    askedFor: (task, times) => asked.until((each) => each.task === task, times),
  };
}
