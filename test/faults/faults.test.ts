import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Catalogue } from "../../src/concierge/catalogue.js";
import { ownerHash } from "../../src/domain/owner.js";
import type { ChatBody } from "../support/openai-stub.js";
import { holdTime, QUERY_PREFIX, Rig, replyTo } from "./rig.js";
import { runs, type StoreOutcome, underStoreFault } from "./store-faults.js";
import { type Outcome, page, type Row } from "./table.js";
import { seenSince, type TurnOutcome, underTurnFault } from "./turn-faults.js";

const rows: Row[] = [];
let rig: Rig | undefined;
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });
beforeEach(holdTime);
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  vi.useRealTimers();
});

async function opened(vectors?: "local"): Promise<Rig> {
  rig = await Rig.open(undefined, vectors);
  return rig;
}

/** Into the table first: a row that is not as it should be is shown there as such. */
function compare<O extends Outcome>(part: string, fault: string, expected: O, seen: O): void {
  rows.push({ part, fault, expected, seen });
  expect(seen).toEqual(expected);
}

const holds = (body: unknown, text: string) => JSON.stringify(body ?? null).includes(text);

const LATE = "timeout ×3, degraded ×5";
const STORE_DOWN = {
  answered: "200 ×8",
  memory: "degraded ×8",
  known: "nothing",
  asked: "2 of 7",
  others: "nothing",
  afterwards: "all caught up",
} satisfies StoreOutcome;
const STORE_LATE = { ...STORE_DOWN, memory: LATE } satisfies StoreOutcome;
const EMBEDDER_DOWN = { ...STORE_DOWN, known: "standing preferences" } satisfies StoreOutcome;
const EMBEDDER_LATE = { ...EMBEDDER_DOWN, memory: LATE } satisfies StoreOutcome;

describe("[degradation-honest] [reply-never-waits] [other-users-unaffected] a fault of what recall reads from", () => {
  test.each([
    ["refuses", { type: "refuse" }, STORE_DOWN],
    ["hangs", { type: "hang" }, STORE_LATE],
    ["slow", { type: "slow", ms: 60_000 }, STORE_LATE],
    ["500", { type: "status", status: 500 }, STORE_DOWN],
    ["429", { type: "status", status: 429 }, STORE_DOWN],
    ["malformed answer", { type: "malformed" }, STORE_DOWN],
    ["an answer that is not Qdrant's", { type: "empty" }, STORE_DOWN],
    ["half an answer, then reset", { type: "reset" }, STORE_DOWN],
    // A store that lies is asked on: what it says is checked, and hers is told from others'.
    ["other users' points", { type: "strangers" }, { ...STORE_DOWN, known: "standing preferences", asked: "7 of 7" }],
  ] as const)("Qdrant: %s", async (name, fault, expected) => {
    const { qdrant, ada } = await opened();
    const hers = (body: unknown) => holds(body, ada.owner);
    const seen = await underStoreFault(rig as Rig, {
      start: () => qdrant.fault(fault, ({ body }) => hers(body)),
      // What recalls alone read: those that must hold. Write-backs have their own pace.
      asks: () => qdrant.requests.filter(({ path, body }) => /points\/scroll/.test(path) && hers(body) && holds(body, '"strength"')).length,
    });
    compare("Qdrant", name, expected, seen);
  });

  test.each([
    ["refuses", "refuse", EMBEDDER_DOWN],
    ["hangs", "hang", EMBEDDER_LATE],
    ["slow", "slow", EMBEDDER_LATE],
    ["500", 500, EMBEDDER_DOWN],
    ["429", 429, EMBEDDER_DOWN],
    ["malformed answer", "malformed", EMBEDDER_DOWN],
    ["half an answer, then reset", "half", EMBEDDER_DOWN],
    ["half an answer, then nothing", "stall", EMBEDDER_LATE],
    ["wrong dimension", "wrong-dimension", EMBEDDER_DOWN],
  ] as const)("embedder: %s", async (name, fault, expected) => {
    const { openai, ada } = await opened();
    const hers = (body: unknown) => holds(body, ada.word);
    const seen = await underStoreFault(rig as Rig, {
      start: () => openai.failEmbeddings(fault, hers),
      asks: () =>
        openai.requests.filter(({ path, body }) => path === "/embeddings" && hers(body) && holds(body, `${QUERY_PREFIX}Don't`)).length,
    });
    compare("Embedder", name, expected, seen);
  });
});

const AS_EVER = {
  answered: "200, ok",
  kept: "1 message, 1 answer",
  again: "200 ×2",
  others: "nothing",
  afterwards: "all caught up",
} satisfies TurnOutcome;
const NO_ANSWER = { ...AS_EVER, answered: "502 MODEL_UNAVAILABLE", kept: "1 message, 0 answer" } satisfies TurnOutcome;
const LATE_ANSWER = { ...NO_ANSWER, answered: "504 MODEL_TIMEOUT" } satisfies TurnOutcome;
const NO_QUOTA = { ...NO_ANSWER, answered: "503 MODEL_QUOTA" } satisfies TurnOutcome;
const NOT_KEPT = { ...AS_EVER, answered: "503 STORAGE_UNAVAILABLE", kept: "0 message, 0 answer" } satisfies TurnOutcome;
const ANSWER_NOT_KEPT = { ...NOT_KEPT, kept: "1 message, 0 answer" } satisfies TurnOutcome;

const MODEL_FAULTS = [
  ["refuses", "refuse", NO_ANSWER],
  ["hangs", "hang", LATE_ANSWER],
  ["slow", "slow", AS_EVER],
  ["500", 500, NO_ANSWER],
  ["429", 429, NO_QUOTA],
  ["malformed answer", "malformed", NO_ANSWER],
  ["half an answer, then reset", "half", NO_ANSWER],
  ["half an answer, then nothing", "stall", LATE_ANSWER],
] as const;

describe("[turn-repeatable] [other-users-unaffected] [journal-full-disk] a fault of what a turn can't do without", () => {
  test.each(MODEL_FAULTS)("model: %s", async (name, fault, expected) => {
    const { openai, ada } = await opened();
    const hers = (body: unknown) => holds(body, `${ada.word} matinees`);
    let from = 0;
    const seen = await underTurnFault(rig as Rig, {
      start: () => {
        from = openai.requests.length;
        openai.failChat(fault, hers);
      },
      during: async () => {
        if (fault !== "slow") return;
        await seenSince(rig as Rig, from, (body) => hers(body) && holds(body, "messages"));
        openai.release();
      },
    });
    compare("Model, answering", name, expected, seen);
  });

  test.each(MODEL_FAULTS)("model, when it extracts: %s", async (name, fault) => {
    const { openai, ada } = await opened();
    const extracts = (body: unknown) => (body as ChatBody).response_format !== undefined && holds(body, `${ada.word} matinees`);
    let from = 0;
    const seen = await underTurnFault(rig as Rig, {
      start: () => {
        from = openai.requests.length;
        openai.failChat(fault, extracts);
      },
      during: () => seenSince(rig as Rig, from, extracts),
    });
    compare("Model, extracting", name, AS_EVER, seen);
  });

  const question = (fault: { operation: "write" | "datasync"; errno: "ENOSPC" | "EIO"; afterBytes?: number }) => ({
    start: ({ disk, ada }: Rig) => disk.inject({ ...fault, path: `${ada.sessionId}.jsonl`, times: Number.POSITIVE_INFINITY }),
  });
  /** When the model is asked for what `which` chooses, the disk is full from then on. */
  const fullWhen = (which: (body: ChatBody) => boolean) => ({
    start: ({ openai, disk, ada }: Rig) =>
      openai.chatOtherwise((body) => {
        if (holds(body, `${ada.word} matinees`) && which(body)) {
          openai.chatOtherwise(replyTo);
          disk.inject({ operation: "write", errno: "ENOSPC", path: `${ada.sessionId}.jsonl`, times: Number.POSITIVE_INFINITY });
        }
        return replyTo(body);
      }),
  });

  /** Every look at what is known of Ada, and every note of it. */
  const ledger = (errno: "ENOSPC" | "EIO", operation: "write" | "open") => ({
    start: ({ disk, ada }: Rig) =>
      disk.inject({ operation, errno, path: `${ownerHash(ada.owner)}.jsonl`, times: Number.POSITIVE_INFINITY }),
  });
  /** The same, of a disk that never answers a write from then on. */
  const hangsWhen = (which: (body: ChatBody) => boolean) => ({
    start: ({ openai, slowDisk, ada }: Rig) =>
      openai.chatOtherwise((body) => {
        if (holds(body, `${ada.word} matinees`) && which(body)) {
          openai.chatOtherwise(replyTo);
          slowDisk.slow((path) => path.endsWith(`${ada.sessionId}.jsonl`), "write");
        }
        return replyTo(body);
      }),
  });

  test.each([
    ["full (ENOSPC) at the question", question({ operation: "write", errno: "ENOSPC" }), NOT_KEPT],
    ["full after half of the question's record", question({ operation: "write", errno: "ENOSPC", afterBytes: 40 }), NOT_KEPT],
    ["fails (EIO) to sync the question", question({ operation: "datasync", errno: "EIO" }), NOT_KEPT],
    ["full at the answer", fullWhen((body) => body.tools !== undefined), ANSWER_NOT_KEPT],
    ["full at the write-back's plan", fullWhen((body) => body.response_format !== undefined), AS_EVER],
    [
      "no file can be opened (EMFILE), in a new session",
      {
        newSession: true,
        start: ({ disk }: Rig) => disk.inject({ operation: "open", errno: "EMFILE", times: Number.POSITIVE_INFINITY }),
      },
      // It is the whole process that has no file left: Bob's memory log can't be opened either, and his recall says so.
      { ...NOT_KEPT, others: "200 degraded" },
    ],
    [
      "hangs at the question",
      { start: ({ slowDisk, ada }: Rig) => slowDisk.slow((path) => path.endsWith(`${ada.sessionId}.jsonl`), "write") },
      NOT_KEPT,
    ],
    ["hangs at the answer", hangsWhen((body) => body.tools !== undefined), ANSWER_NOT_KEPT],
    [
      "hangs at the write-back's plan",
      { ...hangsWhen((body) => body.response_format !== undefined), during: ({ slowDisk }: Rig) => slowDisk.arrived() },
      AS_EVER,
    ],
    ["full at the owner's ledger", ledger("ENOSPC", "write"), AS_EVER],
    ["failing (EIO) at the owner's ledger", ledger("EIO", "open"), AS_EVER],
    [
      "slow to sync",
      {
        start: ({ slowDisk, ada }: Rig) => slowDisk.slow((path) => path.endsWith(`${ada.sessionId}.jsonl`)),
        during: async ({ slowDisk }: Rig) => {
          await slowDisk.arrived();
          slowDisk.release();
        },
      },
      AS_EVER,
    ],
  ] as [string, { start(rig: Rig): void; during?(rig: Rig): Promise<void>; newSession?: boolean }, TurnOutcome][])(
    "disk: %s",
    async (name, { start, during, newSession = false }, expected) => {
      const on = await opened();
      const seen = await underTurnFault(on, { start: () => start(on), ...(during && { during: () => during(on) }), newSession });
      compare("Disk", name, expected, seen);
    },
  );
});

/** A lock is on the whole file, so others' writes wait as hers do; what they say is answered as ever. */
const LOCKED = { others: "write-back had to wait" };
const { asked: _, ...UNREAD } = STORE_DOWN;
/** What was said since is in the log and not in the store: a recall without it says so. */
const READS = { memory: "ok, degraded ×7", known: "standing preferences" };
/**
 * SQLite waits for a lock in the rig's own thread, and timers with it: whether a turn is then late or degraded is the machine's speed.
 */
const LOCKED_OUT = { memory: "ok, late or degraded ×7", others: "200 late or degraded ×7" };
const lateOrDegraded = (seen: string) =>
  runs(
    seen.split(", ").flatMap((run) => {
      const [, status = "", times = "1"] = /^(.*?)(?: ×(\d+))?$/.exec(run) ?? [];
      return Array(Number(times)).fill(status.replace(/timeout|degraded/, "late or degraded"));
    }),
  );
const adas = ({ ada }: Rig) => [ada.owner, ada.sessionId];

describe("[degradation-honest] [other-users-unaffected] a fault of the disk beneath a SQLite file", () => {
  test.each([
    ["vectors.db is full (SQLITE_FULL)", "SQLITE_FULL", { ...UNREAD, ...READS }],
    ["vectors.db fails (SQLITE_IOERR)", "SQLITE_IOERR", UNREAD],
    ["vectors.db is locked (SQLITE_BUSY)", "locked", { ...UNREAD, ...READS, ...LOCKED_OUT }],
  ] as const)("%s", async (name, how, expected) => {
    const on = await opened("local");
    const seen = await underStoreFault(on, {
      start: () => {
        if (how === "locked") on.sqlite.lock(join(on.dir, "vectors.db"));
        else on.sqlite.inject({ file: "vectors.db", code: how, holding: adas(on) });
      },
      asks: () => 0,
    });
    const { asked: _, ...outcome } = seen;
    const locked = { ...outcome, memory: lateOrDegraded(outcome.memory), others: lateOrDegraded(outcome.others) };
    compare("Disk beneath SQLite, memory and history", name, expected, how === "locked" ? locked : outcome);
  });

  test.each([
    ["index.db is full (SQLITE_FULL)", "SQLITE_FULL", AS_EVER],
    ["index.db fails (SQLITE_IOERR)", "SQLITE_IOERR", NOT_KEPT],
    ["index.db is locked (SQLITE_BUSY)", "locked", { ...AS_EVER, ...LOCKED }],
  ] as const)("%s", async (name, how, expected) => {
    const on = await opened();
    const seen = await underTurnFault(on, {
      start: () => {
        if (how === "locked") on.sqlite.lock(join(on.dir, "index.db"));
        else on.sqlite.inject({ file: "index.db", code: how, holding: adas(on) });
      },
    });
    compare("Disk beneath SQLite, sessions and bookings", name, expected, seen);
  });

  test.each([
    ["bookings.db is full (SQLITE_FULL), at a quote", "SQLITE_FULL", AS_EVER],
    ["bookings.db fails (SQLITE_IOERR), at a quote", "SQLITE_IOERR", AS_EVER],
    ["bookings.db is locked (SQLITE_BUSY), at a quote", "locked", AS_EVER],
  ] as const)("%s", async (name, how, expected) => {
    const on = await opened();
    const { ada, openai } = on;
    const [event] = new Catalogue().onSale(new Date());
    const observed: unknown[] = [];
    const seen = await underTurnFault(on, {
      start: () => {
        openai.chatOtherwise((body) => {
          if (body.tools === undefined || !holds(body, `${ada.word} matinees`)) return replyTo(body);
          const last = body.messages.at(-1);
          if (last?.role !== "tool") return { calls: [{ name: "book_tickets", arguments: { event_id: event?.id, quantity: 2 } }] };
          observed.push(last.content);
          return { text: "Heard." };
        });
        if (how === "locked") on.sqlite.lock(join(on.dir, "bookings.db"));
        else on.sqlite.inject({ file: "bookings.db", code: how, holding: adas(on) });
      },
    });
    expect(observed[0]).toMatch(/failed|can't/);
    compare("Disk beneath SQLite, sessions and bookings", name, expected, seen);
  });
});

test("the page about faults says what was seen", async () => {
  await expect(page(rows)).toMatchFileSnapshot(join(import.meta.dirname, "../../docs/faults.md"));
});
