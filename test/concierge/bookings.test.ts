import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Quote } from "../../src/concierge/booking-rows.js";
import { seatsKey } from "../../src/concierge/booking-store.js";
import { Bookings } from "../../src/concierge/bookings.js";
import { openConcierge } from "../../src/concierge/open-concierge.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { JsonValue } from "../../src/domain/session.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { DomainRecords } from "../../src/ports/agent.js";
import { describeBookingStoreContract } from "../contract/booking-store.contract.js";

const NOW = new Date("2026-03-11T10:00:00Z");
const ANN = ownerOf("default", "ann");
const SEATS = { capacity: 10, taken: 4 };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "bookings-"));
});
afterEach(() => rm(dir, { recursive: true }));

function quoteIn(bookings: Bookings, owner: Owner, quantity: number, more: Partial<Quote> = {}): Quote {
  const draft = {
    sessionId: "session",
    turn: 1,
    eventId: "marta-vale-quartet-2026-03-14",
    title: "Marta Vale Quartet",
    venue: "Varanda Azul",
    city: "Lisbon",
    startsAt: "2026-03-14T21:30:00.000Z",
    section: "Bar",
    quantity,
    totalCents: 2200 * quantity,
    companions: [],
    absent: [],
    mentioned: [],
    stop: null,
    waived: [],
  };
  return bookings.addQuote(owner, { ...draft, ...more }, NOW);
}

function book(bookings: Bookings, owner: Owner, quantity: number, callId: string, more: Partial<Quote> = {}) {
  return bookings.book(owner, quoteIn(bookings, owner, quantity, more), { sessionId: "session", turn: 2, callId }, SEATS, NOW);
}

describeBookingStoreContract("SQLite", async () => {
  const path = join(dir, "bookings.db");
  const sellers = [Bookings.open(path), Bookings.open(path)] as const;
  return {
    sellers,
    dispose: async () => {
      for (const each of sellers) each.close();
    },
  };
});

describe("seats", () => {
  test("can't be oversold by several processes at once", async () => {
    const path = join(dir, "bookings.db");
    const bookings = Bookings.open(path);
    const buyers = Array.from({ length: 4 }, (_, buyer) => ({
      buyer,
      quotes: Array.from({ length: 5 }, () => quoteIn(bookings, ownerOf("default", `buyer-${buyer}`), 1)),
    }));
    // Each worker has its own connection, as another process would; they share nothing but the file.
    const source = `
      const { workerData, parentPort } = require("node:worker_threads");
      import("tsx/esm/api").then(async ({ tsImport }) => {
        const { Bookings } = await tsImport(workerData.module, workerData.module);
        const bookings = Bookings.open(workerData.path);
        parentPort.postMessage("ready");
        parentPort.once("message", () => {
          let sold = 0;
          for (const quote of workerData.quotes) {
            const key = { sessionId: "s", turn: 1, callId: quote.id };
            try { bookings.book(workerData.owner, quote, key, workerData.seats, new Date(workerData.now)); sold += 1; }
            catch (error) { if (error.code !== "NOT_FOUND") throw error; }
          }
          bookings.close();
          parentPort.postMessage(sold);
        });
      });`;
    const workers = buyers.map(({ buyer, quotes }) => {
      const workerData = {
        path,
        quotes,
        owner: ownerOf("default", `buyer-${buyer}`),
        seats: SEATS,
        now: NOW.toISOString(),
        module: new URL("../../src/concierge/bookings.ts", import.meta.url).href,
      };
      return new Worker(source, { eval: true, workerData });
    });
    const message = (worker: Worker) =>
      new Promise<unknown>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      });
    await Promise.all(workers.map(message));
    const sold = workers.map(message);
    for (const worker of workers) worker.postMessage("go");
    const counts = (await Promise.all(sold)) as number[];
    await Promise.all(workers.map((worker) => worker.terminate()));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6);
    expect(bookings.sold(["marta-vale-quartet-2026-03-14"]).get(seatsKey("marta-vale-quartet-2026-03-14", "Bar")) ?? 0).toBe(6);
    bookings.close();
  });

  test("a booking outlives the process", () => {
    const path = join(dir, "bookings.db");
    const before = Bookings.open(path);
    const booking = book(before, ANN, 2, "a");
    before.close();
    const after = Bookings.open(path);
    expect(after.list(ANN)).toEqual([booking]);
    after.close();
  });
});

describe("privacy", () => {
  async function bytes(): Promise<string> {
    const files = await Promise.all((await readdir(dir)).map((file) => readFile(join(dir, file))));
    return files.map((file) => `${file.toString("latin1")}${file.toString("utf16le")}`).join("");
  }

  test("after an erasure no byte of the guest is in any file, the seats stay sold, and others keep theirs", async () => {
    const bookings = Bookings.open(join(dir, "bookings.db"));
    const canary = ownerOf("default", "canary-7f3a91");
    const bob = ownerOf("default", "bob");
    for (let i = 0; i < 20; i += 1) quoteIn(bookings, canary, 1, { companions: ["canary-companion"], sessionId: "canary-session" });
    const booking = book(bookings, canary, 2, "canary-call", { companions: ["canary-companion"] });
    book(bookings, bob, 1, "b");
    expect(await bytes()).toContain("canary");
    expect(bookings.erase(canary)).toBe(22);
    const left = await bytes();
    expect(left).not.toContain("canary");
    expect(left).not.toContain(booking.reference);
    expect(bookings.residue(canary)).toBe(0);
    expect(bookings.sold([booking.eventId]).get(seatsKey(booking.eventId, "Bar")) ?? 0).toBe(3);
    expect(bookings.list(bob)).toHaveLength(1);
    bookings.close();
    expect(await bytes()).not.toContain("canary");
  });

  async function collect(records: DomainRecords, owner: Owner): Promise<JsonValue[]> {
    const all: JsonValue[] = [];
    for await (const record of records.export(owner)) all.push(record);
    return all;
  }

  test("export, erase, restore, export gives the same, without selling a seat twice", async () => {
    const bookings = Bookings.open(join(dir, "bookings.db"));
    book(bookings, ANN, 2, "a", { companions: ["mother"] });
    const cancelled = book(bookings, ANN, 1, "b");
    bookings.cancel(ANN, cancelled.id, NOW);
    bookings.close();
    const domain = await openConcierge({
      dir,
      needs: { needs: async () => [] },
      writtenBack: async () => true,
      logger: silentLogger,
    });
    const { records } = domain;
    if (records === undefined) return expect.fail("no records");
    const before = await collect(records, ANN);
    expect(before).toHaveLength(2);
    expect(before[0]).toMatchObject({ starts_at: "2026-03-14T21:30:00.000Z", total_cents: 4400, time: "21:30" });
    // What is told in a receipt: their quotes are none.
    expect(await records.erase(ANN)).toBe(2);
    expect(await collect(records, ANN)).toEqual([]);
    expect(await records.restore(ANN, before)).toBe(2);
    expect(await records.restore(ANN, before)).toBe(0);
    expect(await collect(records, ANN)).toEqual(before);
    expect(await records.leftOut?.(ANN, before), "what is there already is not left out").toEqual([]);
    const ben = ownerOf("test", "ben");
    expect(await records.restore(ben, before)).toBe(0);
    expect(await records.leftOut?.(ben, before)).toEqual(before.map((_, at) => ({ at, detail: expect.stringMatching(/^Booking MD-/) })));
    await domain.close?.();
    const after = Bookings.open(join(dir, "bookings.db"));
    expect(after.sold(["marta-vale-quartet-2026-03-14"]).get(seatsKey("marta-vale-quartet-2026-03-14", "Bar")) ?? 0).toBe(2);
    after.close();
  });

  test("records of another shape are refused whole", async () => {
    const domain = await openConcierge({
      dir: null,
      needs: { needs: async () => [] },
      writtenBack: async () => true,
      logger: silentLogger,
    });
    await expect(domain.records?.restore(ANN, [{ id: "x" }])).rejects.toMatchObject({ code: "INVALID_IMPORT" });
    await domain.close?.();
  });

  test("a directory that can't be used is named at the start", async () => {
    const open = openConcierge({
      dir: join(dir, "missing", "deep"),
      needs: { needs: async () => [] },
      writtenBack: async () => true,
      logger: silentLogger,
    });
    await expect(open).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  });
});
