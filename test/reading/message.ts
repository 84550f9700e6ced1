import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { CheckedReading } from "../../src/memories/checked-operation.js";
import { check } from "../../src/memories/checks/check.js";
import type { Need } from "../../src/ports/agent.js";
import { type MessageToRead, type ProposedOperation, proposedOperationSchema } from "../../src/ports/extraction.js";

export const NEEDS: readonly Need[] = [
  { name: "no_nuts", description: "nothing with nuts" },
  { name: "step_free", description: "no steps on the way", spellings: ["wheelchair", "level access"] },
];

/** A message of a guest, Wednesday 11 March 2026, 11:00 in Berlin. */
export function messageOf(text: string, more: Partial<MessageToRead> = {}): MessageToRead {
  return {
    owner: ownerOf("default", "guest"),
    session_id: "0190a0a0-0000-7000-8000-000000000001",
    turn: 3,
    message_id: "0190a0a0-0000-7000-8000-000000000002",
    text,
    stated_at: new Date("2026-03-11T10:00:00Z"),
    time_zone: "Europe/Berlin",
    context: [],
    known: [],
    ...more,
  };
}

export type Proposal = Partial<ProposedOperation> & Pick<ProposedOperation, "quote">;

export function proposed(proposal: Proposal): ProposedOperation {
  return proposedOperationSchema.parse({ op: "add", text: proposal.op === undefined ? proposal.quote : "", ...proposal });
}

/** A hard one that says so. */
export function need(proposal: Proposal): Proposal {
  return { strength: "hard", need: "other", category: "dietary", ...proposal };
}

export function checked(text: string, proposals: readonly Proposal[], more: Partial<MessageToRead> = {}): CheckedReading {
  const reading = { operations: proposals.map(proposed), off_record: null, unreadable: 0 };
  return check(messageOf(text, more), reading, { reader: "scripted", categories: CONCIERGE_CATEGORIES, needs: NEEDS });
}

/** What came of the only proposal. */
export function outcome(text: string, proposal: Proposal, more: Partial<MessageToRead> = {}): string {
  const { operations, dropped } = checked(text, [proposal], more);
  const [operation] = operations;
  return operation === undefined
    ? `dropped: ${Object.keys(dropped).join()}`
    : operation.waits === null
      ? "taken"
      : `waits: ${operation.waits}`;
}
