import { describe, test } from "vitest";
import type { ChatBody } from "../support/openai-stub.js";
import { ANSWER_NOT_KEPT, AS_EVER, holds, LATE_ANSWER, NO_ANSWER, NO_QUOTA, NOT_KEPT, openMatrix } from "./matrix.js";
import { PATIENT_RECALL_MS, type Rig, replyTo } from "./rig.js";
import { seenSince, type TurnOutcome, underTurnFault } from "./turn-faults.js";

const { opened, compare, comparePage } = openMatrix();

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
    const rig = await opened({ recallDeadlineMs: PATIENT_RECALL_MS });
    const { openai, ada } = rig;
    const hers = (body: unknown) => holds(body, `${ada.word} matinees`);
    let from = 0;
    const seen = await underTurnFault(rig, {
      start: () => {
        from = openai.requests.length;
        openai.failChat(fault, hers);
      },
      during: async () => {
        if (fault !== "slow") return;
        await seenSince(rig, from, (body) => hers(body) && holds(body, "messages"));
        openai.release();
      },
    });
    compare("Model, answering", name, expected, seen);
  });

  test.each(MODEL_FAULTS)("model, when it extracts: %s", async (name, fault) => {
    const rig = await opened({ recallDeadlineMs: PATIENT_RECALL_MS });
    const { openai, ada } = rig;
    const extracts = (body: unknown) => (body as ChatBody).response_format !== undefined && holds(body, `${ada.word} matinees`);
    let from = 0;
    const seen = await underTurnFault(rig, {
      start: () => {
        from = openai.requests.length;
        openai.failChat(fault, extracts);
      },
      during: () => seenSince(rig, from, extracts),
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
      NOT_KEPT,
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
      const on = await opened({ recallDeadlineMs: PATIENT_RECALL_MS });
      const seen = await underTurnFault(on, { start: () => start(on), ...(during && { during: () => during(on) }), newSession });
      compare("Disk", name, expected, seen);
    },
  );
});

test("the page about faults says what was seen", comparePage);
