import { existsSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { silentLogger } from "../../src/platform/logger.js";
import { CosmosEngine, type CosmosEngineOptions } from "../../src/state/engines/cosmos/cosmos-engine.js";
import type { ChildServer } from "./child-server.js";
import { queryUnits, readUnits, writeUnits } from "./cosmos-prices.js";

const STAND_IN = "@vercel/cosmosdb-server";
const MODULES = join(import.meta.dirname, "..", "..", "node_modules");

/** Whether a stand-in for Cosmos DB and its client lie beside the tests. */
export const HAS_COSMOS = [STAND_IN, "@azure/cosmos"].every((name) => existsSync(join(MODULES, name)));

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface CosmosRequest {
  readonly kind: "read" | "query" | "batch";
  /** Empty where it is of all. */
  readonly partition: string;
  /** Of each of a batch's operations, as it is sent. */
  readonly bytes: readonly number[];
  /** By the documented prices; 0 as long as it is not answered, or where it was refused. */
  units: number;
}

type Item = Readonly<Record<string, unknown>>;

interface SentOperation {
  readonly id?: string;
  readonly resourceBody?: Item;
}

export interface CosmosRefusal {
  readonly status: number;
  readonly message: string;
  /** Default: batches. */
  readonly of?: "everything";
}

/** It is in this process: killed, it breaks off whatever it is asked, and what it holds stays. */
export interface CosmosServer extends ChildServer {
  readonly endpoint: string;
  /** As a process of its own would; closed with the server. */
  open(database: string, options?: Partial<CosmosEngineOptions>): Promise<CosmosEngine>;
  /** Each request that costs units, in their order. */
  readonly requests: CosmosRequest[];
  /** Instead of an answer to each batch, or to everything, with the service's words; null: as it is. */
  refuse(refusal: CosmosRefusal | null): void;
}

/** The stand-in takes any. */
export const COSMOS_KEY = "a2V5";
/** Of one batch. */
const MOST_OPERATIONS = 100;
const TOO_MANY = { status: 400, message: "Batch request has more operations than what is supported." };

/**
 * A stand-in for Cosmos DB, in this process. Its batches go on behind the first operation that fails: the engine's can fail at the first
 * alone. It takes a batch's partition from each operation, where the service has it in the header, and names itself by https, and
 * not by the address that it is asked at.
 */
export async function openCosmosServer({ consistency = "Strong" } = {}): Promise<CosmosServer> {
  const { createHttpServer } = (await import(STAND_IN)) as { createHttpServer(): Server };
  const server = createHttpServer();
  const [answer] = server.listeners("request") as Handler[];
  const aboutAccount = (body: string, { host }: IncomingMessage["headers"]) =>
    body.replace('"Session"', `"${consistency}"`).replaceAll(/https:\/\/[^/"]+/g, `http://${host}`);
  const requests: CosmosServer["requests"] = [];
  const items = new Map<string, Item>();
  let refusal: CosmosRefusal | null = null;
  server.removeAllListeners("request");
  let state: "answering" | "hanging" | "killed" = "answering";
  const waiting: (() => void)[] = [];
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (state === "killed") request.socket.destroy();
    else if (state === "hanging") waiting.push(() => serve(request, response));
    else if (refusal?.of === "everything") refuseWith(refusal, response);
    else serve(request, response);
  });
  const serve: Handler = (request, response) => {
    const end = response.end.bind(response);
    const [partition = ""] = JSON.parse(String(request.headers["x-ms-documentdb-partitionkey"] ?? "[]")) as readonly string[];
    if (request.url === "/") response.end = (body: unknown) => end(aboutAccount(String(body), request.headers));
    if (request.headers["x-ms-cosmos-is-batch-request"] !== "true") {
      const isPlan = request.headers["x-ms-cosmos-is-query-plan-request"] !== undefined;
      if (!isPlan && /\/docs(\/|$)/.test(request.url ?? "")) {
        const asked: CosmosRequest = { kind: request.method === "POST" ? "query" : "read", partition, bytes: [], units: 0 };
        requests.push(asked);
        response.end = (body: unknown) => {
          asked.units = (asked.kind === "query" ? queryUnits : readUnits)(Buffer.byteLength(String(body ?? "")));
          return end(body);
        };
      }
      answer?.(request, response);
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const operations = JSON.parse(Buffer.concat(chunks).toString("utf8")) as SentOperation[];
      const bytes = operations.map((operation) => Buffer.byteLength(JSON.stringify(operation)));
      const asked: CosmosRequest = { kind: "batch", partition, bytes, units: 0 };
      requests.push(asked);
      const refused = refusal ?? (operations.length > MOST_OPERATIONS ? TOO_MANY : null);
      if (refused !== null) return refuseWith(refused, response);
      const { headers, method, url } = request;
      response.end = (answered: unknown) => {
        const outcomes = JSON.parse(String(answered)) as readonly { readonly statusCode: number }[];
        for (const [place, { id, resourceBody }] of operations.entries()) {
          const name = `${url} ${headers["x-ms-documentdb-partitionkey"]} ${resourceBody?.id ?? id}`;
          const item = resourceBody ?? items.get(name) ?? {};
          asked.units += writeUnits(item, outcomes[place]?.statusCode ?? 500);
          items.set(name, item);
        }
        return end(answered);
      };
      const body = JSON.stringify(operations.map((each) => ({ ...each, partitionKey: headers["x-ms-documentdb-partitionkey"] })));
      answer?.(Object.assign(Readable.from([Buffer.from(body)]), { headers, method, url }) as unknown as IncomingMessage, response);
    });
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opened: CosmosEngine[] = [];
  const open: CosmosServer["open"] = async (database, options = {}) => {
    const engine = await CosmosEngine.open({ endpoint, key: COSMOS_KEY, database, startupWaitMs: 0, logger: silentLogger, ...options });
    opened.push(engine);
    return engine;
  };
  const close = async () => {
    for (const engine of opened) await engine.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const kill = async () => {
    state = "killed";
    server.closeAllConnections();
  };
  const hang = () => {
    state = "hanging";
  };
  const goOn = () => {
    state = "answering";
    for (const answerNow of waiting.splice(0)) answerNow();
  };
  const start = async () => goOn();
  const refuse: CosmosServer["refuse"] = (given) => {
    refusal = given;
  };
  return { endpoint, open, requests, kill, hang, goOn, start, refuse, close };
}

function refuseWith({ status, message }: CosmosRefusal, response: ServerResponse): void {
  response.statusCode = status;
  response.end(JSON.stringify({ code: String(status), message }));
}
