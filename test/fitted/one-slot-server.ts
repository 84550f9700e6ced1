import { createServer, type ServerResponse } from "node:http";
import { Happenings, onLoopback } from "../support/on-loopback.js";
import type { ChatBody } from "../support/openai-stub.js";
import { taskOf } from "./reading-world.js";

interface Job {
  readonly body: ChatBody;
  readonly response: ServerResponse;
  readonly name: string;
}

export interface OneSlotServer {
  readonly url: string;
  /** What happened, in order: `turn came`, `turn began`, `reading ended`, `reading left`. */
  readonly events: string[];
  readonly bodies: ChatBody[];
  /** Resolves when it has happened so often. */
  happened(event: string, times?: number): Promise<void>;
}

/** As a llama.cpp with one slot: one answer at a time, in the order in which they were asked for, a token every `tokenMs`. */
export async function openOneSlotServer(
  answer: (body: ChatBody) => string,
  { tokenMs }: { readonly tokenMs: (task: string) => number },
): Promise<OneSlotServer> {
  const events = new Happenings<string>();
  const bodies: ChatBody[] = [];
  const queue: Job[] = [];
  let busy = false;
  const tell = (event: string) => events.tell(event);
  const next = async () => {
    const job = busy ? undefined : queue.shift();
    if (job === undefined) return;
    busy = true;
    await serve(job);
    busy = false;
    void next();
  };
  const serve = async ({ body, response, name }: Job) => {
    if (response.destroyed) return;
    tell(`${name} began`);
    const text = answer(body);
    const tokens = text.match(/.{1,4}/gsu) ?? [];
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of tokens.slice(0, body.max_completion_tokens ?? tokens.length)) {
      await new Promise((resolve) => setTimeout(resolve, tokenMs(name)));
      if (response.destroyed) return tell(`${name} left`);
      response.write(chunk({ content }));
    }
    const usage = { prompt_tokens: 1_000, completion_tokens: tokens.length };
    const reason = tokens.length > (body.max_completion_tokens ?? tokens.length) ? "length" : "stop";
    response.end(`${chunk({}, reason)}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    tell(`${name} ended`);
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
  return {
    url: `${await onLoopback(server)}/v1`,
    events: events.all,
    bodies,
    happened: (event, times) => events.until((each) => each === event, times),
  };
}
