import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JournalRecord, NewRecord } from "../../../src/domain/session.js";
import { titleFrom } from "../../../src/domain/title.js";
import { collected } from "../../../src/platform/collected.js";
import { nodeFileSystem } from "../../../src/platform/file-system.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { FileMemoryService } from "../../../src/state/jsonl/file-memory-service.js";
import { encryptedForTest } from "../../support/encryption.js";
import { ALICE, JournalRecords } from "../../support/journal-records.js";
import { memorySessionStore } from "../../support/memory-stores.js";

/** The definition of a window, by reading everything, written down without a thought for cost. */
function naiveWindow(all: readonly JournalRecord[], wanted: number) {
  const asOf = new Map<number, JournalRecord[]>([[0, []]]);
  let now: JournalRecord[] = [];
  for (const record of all) {
    now = record.type === "rewind" ? (asOf.get(record.body.to_seq) ?? []) : [...now, record];
    asOf.set(record.seq, now);
  }
  const answers = new Map<number, number>();
  now.forEach((record, index) => {
    if (record.type === "message" && record.body.role === "assistant" && record.body.outcome === "completed")
      answers.set(record.turn, index);
  });
  const rounds = [...answers]
    .sort(([, a], [, b]) => a - b)
    .flatMap(([turn, answer]) => {
      const user = now.find((record) => record.type === "message" && record.body.role === "user" && record.turn === turn);
      if (user === undefined) return [];
      const before = now.slice(0, answer).findLastIndex((record) => record.type === "message" && record.turn === turn);
      const steps = now.slice(before, answer).filter((record) => record.type === "step" && record.turn === turn);
      return [{ turn, user: user.id, steps: steps.map(({ id }) => id), assistant: now[answer]?.id }];
    });
  return {
    rounds: wanted === 0 ? [] : rounds.slice(-wanted),
    summary: now.findLast(({ type }) => type === "summary")?.id ?? null,
    lastUserMessage: now.findLast((record) => record.type === "message" && record.body.role === "user")?.id ?? null,
    lastSeq: all.at(-1)?.seq ?? 0,
    lastTurn: Math.max(0, ...all.map(({ turn }) => turn)),
    messages: now.filter(({ type }) => type === "message").length,
    shown: now.filter((record) => record.type === "message" && !(record.body.outcome === "failed" && record.body.content === "")).length,
    title: naiveTitle(all, asOf),
  };
}

/** The first user message, as long as it is the first. */
function naiveTitle(all: readonly JournalRecord[], asOf: ReadonlyMap<number, readonly JournalRecord[]>): string | null {
  const firstAt = (seq: number) => asOf.get(seq)?.find((record) => record.type === "message" && record.body.role === "user");
  let title: string | null = null;
  for (const record of all) {
    const [before, after] = [firstAt(record.seq - 1), firstAt(record.seq)];
    if (before !== undefined && after !== before) title = null;
    if (record.type === "message" && record.body.role === "user") title ??= titleFrom(record.body.content);
  }
  return title;
}

/** What can happen in a session; `which` picks among what there is at that moment. */
const happening = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("round" as const), steps: fc.nat(3), apart: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("broken" as const),
      outcome: fc.constantFrom("failed" as const, "interrupted" as const, null),
      streamed: fc.constantFrom("", "so far"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("retry" as const),
      which: fc.nat(),
      outcome: fc.constantFrom("completed" as const, "failed" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rewind" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "summary" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "patch" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("large" as const), kib: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "reopen" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "rewrite" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "pack" as const }) },
);

test.each(["in clear", "encrypted"])(
  "[window-bounded] the window is what the definition says, whatever happened in the session, on files %s and in memory",
  async (how) => {
    const dir = await mkdtemp(join(tmpdir(), "maitred-window-"));
    const { seals } = await encryptedForTest(new MemoryEngine());
    const open = () =>
      FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger, seals: how === "encrypted" ? seals : null });
    const memory = memorySessionStore();
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(happening, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), async (happenings, wanted) => {
          let files = await open();
          const records = new JournalRecords();
          const id = newId();
          const first = [records.session(ALICE)];
          const model = [...(await files.create(ALICE, id, first))];
          await memory.index.apply(ALICE, id, await memory.journal.create(ALICE, id, first));
          const unanswered: number[] = [];
          let turn = 0;
          const append = async (...added: NewRecord[]) => {
            const before = model.at(-1)?.seq;
            const written = await files.append(ALICE, id, added, before === undefined ? {} : { expectedSeq: before });
            model.push(...written);
            await memory.index.apply(ALICE, id, await memory.journal.append(ALICE, id, added));
          };
          for (const each of happenings) {
            if (each.kind === "round") {
              turn += 1;
              const steps = Array.from({ length: each.steps }, () => records.step(turn));
              await append(records.user(turn));
              if (each.apart) for (const step of steps) await append(step);
              await append(...(each.apart ? [] : steps), records.assistant(turn));
            } else if (each.kind === "broken") {
              turn += 1;
              unanswered.push(turn);
              await append(
                records.user(turn),
                records.step(turn),
                ...(each.outcome === null
                  ? []
                  : [records.assistant(turn, each.outcome, each.outcome === "failed" ? each.streamed : undefined)]),
              );
              // A turn without any answer leaves steps only where the process died; the next attempt begins with a verdict on it.
              if (each.outcome === null) await append(records.assistant(turn, "interrupted"));
            } else if (each.kind === "retry" && unanswered.length > 0) {
              const again = unanswered[each.which % unanswered.length] ?? 0;
              if (each.outcome === "completed") unanswered.splice(unanswered.indexOf(again), 1);
              await append(records.step(again), records.assistant(again, each.outcome));
            } else if (each.kind === "rewind") {
              const target = model[each.which % model.length];
              turn += 1;
              await append(records.rewind(turn, target?.seq ?? 1), records.user(turn, "said again"));
              unanswered.splice(0);
            } else if (each.kind === "summary") await append(records.summary(turn));
            else if (each.kind === "patch") await append(records.patch({ topic: `topic ${turn}`, by: "derived" }));
            else if (each.kind === "large") {
              turn += 1;
              await append(records.user(turn, "l".repeat(each.kib * 1024)), records.assistant(turn));
            } else if (each.kind === "reopen") {
              await files.close();
              files = await open();
            } else if (each.kind === "rewrite") await files.rewrite(ALICE, id, (record) => record);
            else if (each.kind === "pack") await files.compress(ALICE, id);
          }
          const { shown, title, ...expected } = naiveWindow(model, wanted);
          for (const journal of [files, memory.journal]) {
            const window = await journal.window(ALICE, id, { rounds: wanted });
            expect({
              rounds: window.rounds.map(({ turn: of, user, steps, assistant }) => ({
                turn: of,
                user: user.id,
                steps: steps.map((step) => step.id),
                assistant: assistant.id,
              })),
              summary: window.summary?.id ?? null,
              lastUserMessage: window.lastUserMessage?.id ?? null,
              lastSeq: window.lastSeq,
              lastTurn: window.lastTurn,
              messages: (await collected(journal.read(ALICE, id))).filter(({ type }) => type === "message").length,
            }).toEqual(expected);
          }
          const indexed = await memory.index.get(ALICE, id);
          expect(indexed).toMatchObject({ message_count: shown, title });
          const summary = model.find((record) => record.id === expected.summary);
          expect(indexed?.summary ?? null).toBe(summary?.type === "summary" ? summary.body.text : null);
          await files.close();
        }),
        { numRuns: 150 },
      );
    } finally {
      await memory.close();
      await rm(dir, { recursive: true });
    }
  },
);

test("reading from any seq starts there, also in a long journal", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-window-"));
  const files = await FileMemoryService.open({ dir, fileSystem: nodeFileSystem, logger: silentLogger });
  try {
    const records = new JournalRecords();
    const id = newId();
    await files.create(ALICE, id, [records.session(ALICE)]);
    const long = Array.from({ length: 3_000 }, (_, index) => records.user(index + 1, "z".repeat(index % 700)));
    await files.append(ALICE, id, long);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3_010 }), async (fromSeq) => {
        const read = await collected(files.read(ALICE, id, { fromSeq }));
        expect(read.map(({ seq }) => seq)).toEqual(Array.from({ length: Math.max(0, 3_001 - fromSeq + 1) }, (_, index) => fromSeq + index));
      }),
      { numRuns: 30 },
    );
    const window = await files.window(ALICE, id, { rounds: 1 });
    expect(window).toMatchObject({ rounds: [], lastUserMessage: { turn: 3_000 } });
  } finally {
    await files.close();
    await rm(dir, { recursive: true });
  }
});
