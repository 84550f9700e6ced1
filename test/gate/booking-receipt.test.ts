import { expect, test } from "vitest";
import { type BookingReceipt, bookingReceiptSchema } from "../../src/domain/booking-receipt.js";
import { receiptBody, receiptProblems, sealedReceipt } from "../../src/gate/booking-receipt.js";
import { judge, type NeedCheck } from "../../src/gate/verdict.js";
import { constraint } from "../support/constraints.js";

const NOW = new Date("2026-12-01T09:00:00Z");
const STATED: Readonly<Record<string, NeedCheck>> = {
  a: { state: "met" },
  b: { state: "broken", because: "There are stairs." },
  c: { state: "unknown", because: "It is not stated." },
  d: { state: "moot" },
};
const party = { companions: ["Ida"], absent: [], size: 3, said: ["Ida and I", "🎟 für zwei"], sessionId: "s" };

/** A need as a receipt has it: hard, as one that says nothing of its strength is. */
const STEP_FREE = {
  memory_id: "b",
  memory: "Needs step-free access",
  who: "Ida",
  need: null,
  to_confirm: false,
  brought_along: false,
  source: { session_id: "earlier", turn: 3, message_id: "m-3", quote: "Please note: needs step-free access" },
  comes: "yes",
  stated: { state: "broken", because: "There are stairs." },
};

/** As it was written before needs had a strength. */
const RECEIPT_OF_BEFORE = {
  v: 1,
  id: "r1",
  number: 1,
  at: "2026-12-01T09:00:00.000Z",
  session_id: "s",
  turn: 1,
  prev: null,
  digest: "c82180644a40bd6b8015e48b91f9488e59d886d8d28e10881eb96572be11dcfa",
  hash: "4e4063b0a3671097a570c8005e1aefe35f2d5f7ce65893857036a3815dfb9366",
  body: {
    tool: "book",
    booked: "Jazz, stalls, 2",
    checked: {
      needs: [STEP_FREE],
      along: ["Ida"],
      unchecked: false,
      memory_off: false,
    },
    verdict:
      '{"along":["Ida"],"conflicts":[{"because":"There are stairs.","memory_id":"b","need":"Ida: Needs step-free access",' +
      '"to_confirm":false}],"memory_off":false,"mentions":[],"met":[],"unchecked":false}',
    beside: [],
    waived: [{ memory_id: "b", how: "override" }],
  },
};

function receipt(turn: number, before: BookingReceipt | null): BookingReceipt {
  const known = [
    constraint("Needs no nuts", "dietary", "self", { id: "a" }),
    constraint("Needs step-free access", "accessibility", "companion:Ida", { id: "b" }),
    constraint("Is vegan", "dietary", "self", { id: "c", status: "review" }),
    constraint("Needs a lift", "accessibility", "companion:Ben", { id: "d" }),
  ];
  const candidate = { startsAt: null, check: ({ id }: { readonly id: string }) => STATED[id] ?? ({ state: "met" } as const) };
  const verdict = judge({ known, complete: turn !== 2 }, candidate, party, NOW);
  const told = { ...verdict, mentions: [...verdict.mentions, { id: "booking:1", line: "You have booked this already.", along: false }] };
  const body = receiptBody({ tool: "book", line: "Jazz, stalls, 2", verdict: told });
  return sealedReceipt({ id: `r${turn}`, at: NOW.toISOString(), session_id: "s", turn }, body, before);
}

function chain(count: number): readonly BookingReceipt[] {
  const all: BookingReceipt[] = [];
  for (let turn = 1; turn <= count; turn++) all.push(receipt(turn, all.at(-1) ?? null));
  return all;
}

test("a receipt says what was checked, for whom, by whose words, and what was passed over", () => {
  const [first] = chain(1);
  expect(first?.body).toMatchObject({
    booked: "Jazz, stalls, 2",
    beside: [{ id: "booking:1" }],
    waived: [
      { memory_id: "b", how: "override" },
      { memory_id: "c", how: "mentioned" },
    ],
  });
  expect(first?.body?.checked.needs).toContainEqual(STEP_FREE);
});

test("receipts replay, in any order, some left out, some emptied", () => {
  const all = chain(4);
  expect(receiptProblems(JSON.parse(JSON.stringify(all.toReversed())))).toEqual([]);
  expect(receiptProblems(all.filter(({ number }) => number !== 2))).toEqual([]);
  expect(receiptProblems(all.map((each) => (each.number === 3 ? { ...each, body: null } : each)))).toEqual([]);
});

test("a limit that need not hold is told as one, and replays; a receipt of before, which says of none that it is, does too", () => {
  const limits = [constraint("Budget is 30 euros", "budget", "self", { id: "b", strength: "soft" })];
  const candidate = { startsAt: null, check: () => ({ state: "broken", because: "This is €38." }) as const };
  const verdict = judge({ known: [], limits, complete: true }, candidate, party, NOW);
  expect(verdict).toMatchObject({ conflicts: [], mentions: [{ id: "b", line: "You told me: “Budget is 30 euros”. This is €38." }] });
  const body = receiptBody({ tool: "book", line: "Jazz, stalls, 2", verdict });
  expect(body).toMatchObject({
    checked: { needs: [{ memory_id: "b", strength: "soft" }] },
    beside: [],
    waived: [{ memory_id: "b", how: "mentioned" }],
  });
  const sealed = sealedReceipt({ id: "r", at: NOW.toISOString(), session_id: "s", turn: 1 }, body, null);
  expect(receiptProblems([bookingReceiptSchema.parse(JSON.parse(JSON.stringify(sealed)))])).toEqual([]);
  const asHard = structuredClone(sealed) as { body: { checked: { needs: { strength?: string }[] } } };
  delete asHard.body.checked.needs[0]?.strength;
  expect(receiptProblems([asHard as never])).toContainEqual(expect.stringContaining("another verdict follows"));

  const before = bookingReceiptSchema.parse(RECEIPT_OF_BEFORE);
  expect(receiptProblems([before])).toEqual([]);
  expect(receiptProblems([{ ...before, hash: sealed.hash }])).not.toEqual([]);
});

/** All places of a value that hold no object, as paths. */
function leaves(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

test("whatever is changed in one is found", () => {
  const all = chain(3);
  const places = leaves(all[1]);
  expect(places.length).toBeGreaterThan(40);
  for (const path of places) {
    const changed = structuredClone(all) as BookingReceipt[];
    let inner: Record<string | number, unknown> = changed[1] as never;
    for (const key of path.slice(0, -1)) inner = inner[key] as never;
    const last = path.at(-1) ?? "";
    const was = inner[last];
    inner[last] = typeof was === "number" ? was + 10 : typeof was === "boolean" ? !was : `${was}x`;
    expect(receiptProblems(changed), path.join(".")).not.toEqual([]);
  }
});

test("a verdict that was sealed anew over other facts does not replay, and one in another's place breaks the chain", () => {
  const [first, second, third] = chain(3) as [BookingReceipt, BookingReceipt, BookingReceipt];
  const body = structuredClone(second.body) as NonNullable<BookingReceipt["body"]>;
  const met = {
    ...body,
    checked: { ...body.checked, needs: body.checked.needs.map((each) => ({ ...each, stated: { state: "met" as const } })) },
  };
  const forged = sealedReceipt(second, met, first);
  expect(receiptProblems([first, forged])).toEqual([expect.stringContaining("another verdict follows")]);
  expect(receiptProblems([first, forged, third])).toContainEqual(expect.stringContaining("does not follow the one before"));
  expect(receiptProblems([first, first])).toContainEqual(expect.stringContaining("two of this number"));
});
