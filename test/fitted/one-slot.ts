import { createServer, type Server, type ServerResponse } from "node:http";
import { Happenings } from "../support/happenings.js";
import type { ChatBody } from "../support/openai-stub.js";
import { taskOf } from "./task-of.js";

interface Job {
  readonly body: ChatBody;
  readonly response: ServerResponse;
  readonly name: string;
}

export interface OneSlotOptions {
  /** Milliseconds between two tokens. */
  readonly tokenMs: (task: string) => number;
  /** Before its first token, for what it is sent. Default: none. */
  readonly promptMs?: (body: ChatBody) => number;
  /** What an answer's first token waits for. Default: nothing. */
  readonly heldUntil?: (task: string) => Promise<void> | undefined;
}

export interface OneSlot {
  readonly server: Server;
  /** What happened, in order: `turn came`, `turn began`, `reading ended`, `reading left`; `atMs` on the clock of `performance`. */
  readonly happenings: Happenings<{ readonly event: string; readonly atMs: number }>;
  readonly bodies: ChatBody[];
}

/** As a llama.cpp with one slot: one answer at a time, in the order in which they were asked for, token by token. */
export function oneSlot(
  answer: (body: ChatBody) => string,
  { tokenMs, promptMs = () => 0, heldUntil = () => undefined }: OneSlotOptions,
): OneSlot {
  const happenings: OneSlot["happenings"] = new Happenings();
  const bodies: ChatBody[] = [];
  const queue: Job[] = [];
  let busy = false;
  const tell = (event: string) => happenings.tell({ event, atMs: performance.now() });
  const next = async () => {
    const job = busy ? undefined : queue.shift();
    if (job === undefined) return;
    busy = true;
    tell(`${job.name} ${await serve(job)}`);
    busy = false;
    void next();
  };
  const serve = async ({ body, response, name }: Job): Promise<"ended" | "left"> => {
    const left = new Promise<void>((resolve) => response.once("close", resolve));
    const goesOn = async (when: Promise<void> | undefined) => {
      await Promise.race([when, left]);
      return !response.destroyed;
    };
    if (response.destroyed) return "left";
    tell(`${name} began`);
    const text = answer(body);
    const tokens = text.match(/.{1,4}/gsu) ?? [];
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (!(await goesOn(after(promptMs(body)))) || !(await goesOn(heldUntil(name)))) return "left";
    for (const content of tokens.slice(0, body.max_completion_tokens ?? tokens.length)) {
      if (!(await goesOn(after(tokenMs(name))))) return "left";
      response.write(chunk({ content }));
    }
    const usage = { prompt_tokens: 1_000, completion_tokens: tokens.length };
    const reason = tokens.length > (body.max_completion_tokens ?? tokens.length) ? "length" : "stop";
    response.end(`${chunk({}, reason)}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    return "ended";
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece as Buffer);
    if (request.method === "GET") return void response.writeHead(404).end();
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as ChatBody;
    bodies.push(body);
    const name = taskOf(body);
    tell(`${name} came`);
    queue.push({ body, response, name });
    void next();
  });
  return { server, happenings, bodies };
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
