import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fault, RawAnswer } from "./faults.js";
import type { FormBody } from "./forms.js";

export interface FaultServer {
  readonly url: string;
  /** How often a guest's answer was asked for. */
  asked(): number;
  close(): Promise<void>;
}

const NOTHING_READ = '{"off_record":null,"operations":[]}';

/** A provider that answers guests as the fault says, and reads their messages as one without any. */
export async function openFaultServer(fault: Pick<Fault, "answers" | "tellsWindow">): Promise<FaultServer> {
  let asked = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece as Buffer);
    if (request.method === "GET") {
      const told = fault.tellsWindow !== undefined && request.url === "/v1/models";
      const list = { data: told ? [{ id: "m", max_model_len: fault.tellsWindow }] : [] };
      return void response.writeHead(told ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(list));
    }
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as FormBody;
    const isGuests = request.headers["x-maitred-task"] === "chat";
    if (isGuests) asked += 1;
    const text = isGuests ? "Good evening." : NOTHING_READ;
    send(response, (isGuests ? fault.answers(asked - 1, body) : null) ?? plain(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: () => asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function plain(text: string): RawAnswer {
  const chunk = (delta: object, finish: string | null) => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
  return { pieces: [`data: ${chunk({ content: text }, null)}\n\n`, `data: ${chunk({}, "stop")}\n\n`, "data: [DONE]\n\n"] };
}

const AGAIN_MS = 5;

function send(response: ServerResponse, { status = 200, headers, type = "text/event-stream", pieces, after }: RawAnswer): void {
  response.writeHead(status, { "content-type": type, ...headers });
  for (const piece of pieces) response.write(piece);
  if (after === undefined) response.end();
  else if (after === "cut") response.write("", () => response.destroy());
  else {
    const timer = setInterval(() => response.write(after.again), AGAIN_MS);
    response.on("close", () => clearInterval(timer));
  }
}
