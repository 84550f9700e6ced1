import { createHash } from "node:crypto";
import type { BookingReceipt, ReceiptBody } from "../domain/booking-receipt.js";
import { canonicalJson } from "../platform/json.js";
import { type Basis, type CheckedNeed, type Verdict, verdictOf } from "./verdict.js";

/** Whom and what was booked, and what the gate said of it. */
export interface Booked {
  readonly tool: string;
  readonly line: string;
  readonly verdict: Verdict;
}

/** What goes ahead although the verdict tells of it: what it would break, and what could not be told and was said. */
export function waivedIn({ conflicts, mentions, unchecked }: Verdict): ReceiptBody["waived"] {
  return [
    ...conflicts.map(({ memoryId }) => ({ memory_id: memoryId, how: "override" as const })),
    ...(unchecked ? [{ memory_id: null, how: "override" as const }] : []),
    ...mentions.filter(({ along }) => along).map(({ id }) => ({ memory_id: id, how: "mentioned" as const })),
  ];
}

export function receiptBody({ tool, line, verdict }: Booked): ReceiptBody {
  const { needs, along, unchecked, memoryOff } = verdict.basis;
  const known = new Set(needs.map(({ memoryId }) => memoryId));
  return {
    tool,
    booked: line,
    checked: {
      needs: needs.map(({ memoryId, strength, needName, toConfirm, broughtAlong, ...each }) => ({
        memory_id: memoryId,
        ...(strength === "soft" && { strength }),
        memory: each.memory,
        who: each.who,
        need: needName,
        to_confirm: toConfirm,
        brought_along: broughtAlong,
        source: each.source,
        comes: each.comes,
        stated: each.stated,
      })),
      along: [...along],
      unchecked,
      memory_off: memoryOff,
    },
    verdict: bytesOf(verdictOf(verdict.basis)),
    beside: verdict.mentions.filter(({ id }) => !known.has(id)).map(({ id, line }) => ({ id, line })),
    waived: waivedIn(verdict),
  };
}

/** A receipt behind the one before, null for the first. */
export function sealedReceipt(
  head: Pick<BookingReceipt, "id" | "at" | "session_id" | "turn">,
  body: ReceiptBody,
  before: Pick<BookingReceipt, "number" | "hash"> | null,
): BookingReceipt {
  return chainedReceipt(head, { digest: hashed(body), body }, before);
}

/** Ids of memories and of sessions by which the same is known to another user. */
export interface OtherIds {
  readonly memory: (id: string) => string;
  readonly session: (id: string) => string;
}

/** A receipt of somebody else, in another chain: what was checked is the same, and what follows from it. */
export function movedReceipt(
  receipt: BookingReceipt,
  id: string,
  ids: OtherIds,
  before: Pick<BookingReceipt, "number" | "hash"> | null,
): BookingReceipt {
  const head = { ...receipt, id, session_id: ids.session(receipt.session_id) };
  if (receipt.body === null) return chainedReceipt(head, { digest: receipt.digest, body: null }, before);
  return sealedReceipt(head, movedBody(receipt.body, ids), before);
}

function movedBody(body: ReceiptBody, ids: OtherIds): ReceiptBody {
  const memory = (id: string) => (isOfBooking(id) ? id : ids.memory(id));
  const needs = body.checked.needs.map(({ source, ...need }) => ({
    ...need,
    memory_id: memory(need.memory_id),
    source: source && { ...source, session_id: ids.session(source.session_id) },
  }));
  const checked = { ...body.checked, needs };
  return {
    ...body,
    checked,
    verdict: bytesOf(verdictOf(checkedIn({ ...body, checked }))),
    beside: body.beside.map((each) => ({ ...each, id: memory(each.id) })),
    waived: body.waived.map((each) => ({ ...each, memory_id: each.memory_id && memory(each.memory_id) })),
  };
}

/** Bookings of before are told of by ids of their own, which are no memories'. */
export function isOfBooking(id: string): boolean {
  return id.startsWith("booking:");
}

function chainedReceipt(
  { id, at, session_id, turn }: Pick<BookingReceipt, "id" | "at" | "session_id" | "turn">,
  { digest, body }: Pick<BookingReceipt, "digest" | "body">,
  before: Pick<BookingReceipt, "number" | "hash"> | null,
): BookingReceipt {
  const number = (before?.number ?? 0) + 1;
  const chained = { v: 1, id, number, at, session_id, turn, prev: before?.hash ?? null, digest } as const;
  return { ...chained, hash: hashed(chained), body };
}

/** What is wrong with receipts of one user, each in words; empty where nothing is. In any order, with gaps where some are left out. */
export function receiptProblems(receipts: readonly BookingReceipt[]): readonly string[] {
  const inOrder = receipts.toSorted((a, b) => a.number - b.number);
  const problems: string[] = [];
  for (const [place, receipt] of inOrder.entries()) {
    const { hash, body, ...chained } = receipt;
    const named = `Receipt ${receipt.number} (${receipt.id})`;
    if (hashed(chained) !== hash) problems.push(`${named}: its hash is not that of what it holds.`);
    if (body !== null && hashed(body) !== receipt.digest) problems.push(`${named}: what was checked is not what it was sealed with.`);
    if (body !== null && bytesOf(verdictOf(checkedIn(body))) !== body.verdict)
      problems.push(`${named}: another verdict follows from what was checked.`);
    const before = inOrder[place - 1];
    if (before?.number === receipt.number) problems.push(`${named}: there are two of this number.`);
    if (before?.number === receipt.number - 1 && receipt.prev !== before.hash)
      problems.push(`${named}: it does not follow the one before.`);
    if ((receipt.number === 1) !== (receipt.prev === null)) problems.push(`${named}: its place in the chain is not what it says.`);
  }
  return problems;
}

function checkedIn({ checked: { needs, along, unchecked, memory_off } }: ReceiptBody): Basis {
  return {
    needs: needs.map(
      ({ memory_id, strength, need, to_confirm, brought_along, ...each }): CheckedNeed => ({
        ...each,
        memoryId: memory_id,
        strength: strength ?? "hard",
        needName: need,
        toConfirm: to_confirm,
        broughtAlong: brought_along,
      }),
    ),
    along,
    unchecked,
    memoryOff: memory_off,
  };
}

function bytesOf({ met, conflicts, mentions, along, unchecked, memoryOff }: Verdict): string {
  return canonicalJson({
    met,
    conflicts: conflicts.map(({ memoryId, need, because, toConfirm }) => ({ memory_id: memoryId, need, because, to_confirm: toConfirm })),
    mentions: mentions.map(({ id, line, along: comes }) => ({ id, line, along: comes })),
    along,
    unchecked,
    memory_off: memoryOff,
  });
}

function hashed(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
