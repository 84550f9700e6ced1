import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import type { ExportedSession } from "../../src/domain/export-format.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { ChatModel, ModelRequest } from "../../src/ports/agent.js";
import { isSummary } from "../../src/ports/context-headings.js";
import { aLife, CANARY, filesWith as filesBelow, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";

/** The whole product on a storage directory of its own: journals, index, Mem0 over the local vectors, history, bookings. */

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");

let dir = "";
let open: Composed[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-privacy-"));
  open = [];
});
afterEach(async () => {
  for (const application of open) await application.close({ drainMs: 0 });
  await rm(dir, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}, model?: ChatModel): Promise<Composed> {
  const application = await compose(
    parseConfig(byWords({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "5000", ...env })),
    model ? { model } : {},
  );
  open.push(application);
  return application;
}

async function stop(application: Composed): Promise<void> {
  await application.close({ drainMs: 5_000 });
  open = open.filter((other) => other !== application);
}

/** A model that calls no tool, and keeps what it was given. */
function listener(): ChatModel & { readonly heard: ModelRequest[] } {
  const heard: ModelRequest[] = [];
  return {
    name: "listener",
    standIn: true,
    heard,
    async *stream(request) {
      heard.push(request);
      yield { type: "text", delta: "I see." };
      yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
    },
  };
}

const filesWith = (text: string) => filesBelow(dir, text);

describe("erasing a user, the whole product over", () => {
  test("leaves no byte of their words in any file, and nobody else's is touched", async () => {
    const application = await start();
    await aLife(application, alice);
    await tell(application, bob, "I prefer opera.");
    expect((await filesWith(CANARY)).length).toBeGreaterThan(2);

    const receipt = await application.privacy.erase(alice, { by: "user" });
    expect(receipt).toMatchObject({ verified: true });
    expect(receipt.erased.sessions).toBe(3);
    expect(receipt.erased.memories).toBeGreaterThan(1);
    expect(receipt.erased.history_entries).toBeGreaterThan(3);
    // While it runs and holds its files open, and after it has stopped.
    expect(await filesWith(CANARY)).toEqual([]);
    expect((await application.memories.list(bob, {})).data).toHaveLength(1);
    await stop(application);
    expect(await filesWith(CANARY)).toEqual([]);
    const again = await start();
    expect((await again.sessions.list(alice, {})).data).toEqual([]);
    expect((await again.sessions.list(bob, {})).data).toHaveLength(1);
  });

  test("that was killed after its intent is finished at the next start", async () => {
    const application = await start();
    await aLife(application, alice);
    await application.parts.ledger.beginErasure(alice, new Date().toISOString());
    await stop(application);
    expect((await filesWith(CANARY)).length).toBeGreaterThan(2);
    const again = await start();
    expect(await again.parts.ledger.receipts(alice)).toMatchObject([{ verified: true }]);
    expect(await filesWith(CANARY)).toEqual([]);
  });

  test("that broke off with half of the stores done is finished at the next start, before anything is caught up", async () => {
    const application = await start();
    await aLife(application, alice);
    application.parts.store.journal.erase = () => Promise.reject(new Error("killed"));
    await expect(application.privacy.erase(alice, { by: "user" })).rejects.toThrow("killed");
    await stop(application);
    expect((await filesWith(CANARY)).length).toBeGreaterThan(0);
    const again = await start();
    expect(await again.parts.ledger.receipts(alice)).toMatchObject([{ verified: true }]);
    expect((await again.history.search(alice, { query: CANARY })).length).toBe(0);
    expect(await filesWith(CANARY)).toEqual([]);
  });

  test("while a turn of theirs is streaming ends the turn, and its words go too", async () => {
    let streaming: () => void = () => {};
    const started = new Promise<void>((resolve) => {
      streaming = resolve;
    });
    const endless: ChatModel = {
      name: "endless",
      standIn: true,
      async *stream(_request, { signal }) {
        yield { type: "text", delta: `${CANARY} ` };
        streaming();
        await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
      },
    };
    const application = await start({}, endless);
    const turn = application.chat.chat({ owner: alice, message: `Tell me about ${CANARY}` });
    const ended = expect(turn).rejects.toMatchObject({ code: "OWNER_ERASED" });
    await started;
    const receipt = await application.privacy.erase(alice, { by: "user" });
    await ended;
    expect(receipt).toMatchObject({ verified: true, erased: { sessions: 1, messages: 1 } });
    expect(await filesWith(CANARY)).toEqual([]);
  });

  test("also reaches the memories of before when long-term memory is switched off", async () => {
    const application = await start();
    await aLife(application, alice);
    await stop(application);
    const off = await start({ MEM0_ENABLED: "false" });
    const receipt = await off.privacy.erase(alice, { by: "user" });
    expect(receipt.verified).toBe(true);
    expect(receipt.erased.memories).toBeGreaterThan(1);
    expect(await filesWith(CANARY)).toEqual([]);
  });
});

test("purging a session leaves no byte of its name in any file while the server runs", async () => {
  const application = await start();
  const { id } = await application.sessions.create(alice, { title: `${CANARY} night`, tags: [CANARY] });
  expect((await filesWith(CANARY)).length).toBeGreaterThan(0);
  await application.sessions.purge(alice, id, { keepMemories: false, by: "user" });
  expect(await filesWith(CANARY)).toEqual([]);
});

interface Exported {
  readonly sessions: readonly ExportedSession[];
  readonly memories: readonly { readonly id: string }[];
  readonly exported_at: string;
}

async function exported(application: Composed, owner: Owner): Promise<Exported> {
  let text = "";
  for await (const piece of application.privacy.export(owner, { by: "user" })) text += piece;
  return JSON.parse(text) as Exported;
}

/** Lists without an order of their own, ordered. Last activity is taken from the messages: renaming a session counts before an export alone. */
function comparable(document: Exported): object {
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => a.id.localeCompare(b.id);
  return {
    ...document,
    exported_at: null,
    sessions: document.sessions.map((session) => ({ ...session, updated_at: null })).toSorted(byId),
    // A narrative is told anew.
    memories: document.memories.filter((memory) => !("type" in memory) || memory.type !== "narrative").toSorted(byId),
  };
}

describe("taking an export back", () => {
  test("export, erase, import, export give the same content, but for the narrative", async () => {
    const application = await start();
    await aLife(application, alice);
    const before = await exported(application, alice);
    await application.privacy.erase(alice, { by: "user" });
    expect((await exported(application, alice)).sessions).toEqual([]);
    const body = async function* () {
      yield Buffer.from(JSON.stringify(before));
    };
    await application.imports.import(alice, body(), { format: "export", extract: false });
    expect(comparable(await exported(application, alice))).toEqual(comparable(before));
    const found = await application.history.search(alice, { query: `${CANARY} dog` });
    expect(found[0]?.content).toContain(CANARY);
  });
});

describe("a long conversation", () => {
  test("with Mem0 off, a fact from round 3 is before the model at round 60, though it left the window long ago", async () => {
    const model = listener();
    const application = await start({ MEM0_ENABLED: "false", SUMMARY_MAX_TOKENS: "300", CONTEXT_MAX_TOKENS: "4000" }, model);
    let session = await tell(application, alice, "Good morning, how are you?");
    for (let round = 2; round <= 60; round += 1) {
      const message =
        round === 3
          ? "My sister Amara is allergic to walnuts, and she arrives on 14 June."
          : `Lovely weather, let us talk on (${"chatting on and on ".repeat(3)}).`;
      session = await tell(application, alice, message, session);
    }
    const last = model.heard.at(-1)?.messages ?? [];
    expect(JSON.stringify(last.filter((message) => !isSummary(message)))).not.toContain("Amara");
    expect(last.find(isSummary)?.content).toContain("Amara is allergic to walnuts");
  });
});
