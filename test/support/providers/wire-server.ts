import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { problemsOf, type Wire, type WireAnswer, type WireSaid } from "./wire.js";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
  readonly said: WireSaid;
  /** Resolves when the client has gone away before the answer was complete. */
  readonly aborted: Promise<void>;
}

/** A provider on loopback that speaks one wire, scripted and strict: what it did not expect, or would refuse, is noted and answered with 400. */
export class WireServer {
  readonly requests: Received[] = [];
  readonly problems: string[] = [];
  readonly #answers: WireAnswer[] = [];
  readonly #otherwise = new Map<string, WireAnswer>();
  readonly #wire: Wire;
  readonly #server: Server;
  #arrivals: (() => void)[] = [];

  private constructor(wire: Wire, server: Server) {
    this.#wire = wire;
    this.#server = server;
  }

  static async open(wire: Wire): Promise<WireServer> {
    let self: WireServer | undefined;
    const server = createServer((request, response) => void self?.serve(request, response).catch(() => response.destroy()));
    self = new WireServer(wire, server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return self;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  answer(...answers: readonly WireAnswer[]): this {
    this.#answers.push(...answers);
    return this;
  }

  /** Answers every request of a task that has no part in the script. */
  answerTask(task: "extraction" | "summary" | "title", answer: WireAnswer): this {
    this.#otherwise.set(task, answer);
    return this;
  }

  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** @throws when a request was not as expected, or an answer was never asked for */
  assertDone(): void {
    if (this.problems.length > 0) throw new Error(this.problems.join("\n"));
    if (this.#answers.length > 0) throw new Error(`${this.#answers.length} answers were never asked for.`);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8") || "null") as never;
    const path = request.url ?? "";
    if (request.method === "GET") return void response.writeHead(404).end();
    const aborted = new Promise<void>((resolve) => response.on("close", () => void (response.writableFinished || resolve())));
    const said = this.#wire.read(body, path);
    this.requests.push({ path, headers: request.headers, body, said, aborted });
    for (const arrived of this.#arrivals.splice(0)) arrived();
    const answer = this.#otherwise.get(String(request.headers["x-maitred-task"])) ?? this.#answers.shift();
    const problems = [...problemsOf(said, this.#wire.maxIdChars), ...(answer === undefined ? ["a request that was not expected"] : [])];
    if (request.headers["x-maitred-task"] === undefined) problems.push("no task is named");
    this.problems.push(...problems);
    if (problems.length > 0 || answer === undefined) return send(response, 400, this.#wire.error(400, problems.join("; ")));
    const { fault } = answer;
    if (fault === "hang") return;
    if (typeof fault === "object") return send(response, fault.status, this.#wire.error(fault.status, fault.words ?? "no"), fault.headers);
    if (!said.streaming) return send(response, 200, this.#wire.whole(answer));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events = this.#wire.stream(answer);
    if (fault === "half") response.write(`${events.slice(0, Math.ceil(events.length / 2)).join("\n\n")}\n\n`, () => response.destroy());
    else response.end(`${events.join("\n\n")}\n\n`);
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
