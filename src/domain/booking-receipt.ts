import { z } from "zod";
import { memorySourceSchema } from "./memory.js";

/**
 * What was checked before something was booked, so that the verdict can be had again from it, by anybody, to the same bytes. Receipts of a
 * user are a chain: each holds the hash of the one before. What holds words can be taken out of one, and the chain still holds.
 */

const stated = z.discriminatedUnion("state", [
  z.object({ state: z.literal("met") }),
  z.object({ state: z.literal("moot") }),
  z.object({ state: z.enum(["broken", "unknown"]), because: z.string() }),
]);
const checkedNeed = z.object({
  memory_id: z.string(),
  /** A limit that need not hold. Absent: it must. */
  strength: z.literal("soft").optional(),
  memory: z.string(),
  who: z.string(),
  need: z.string().nullable(),
  to_confirm: z.boolean(),
  brought_along: z.boolean(),
  source: memorySourceSchema.nullable(),
  comes: z.enum(["yes", "unsaid"]),
  stated,
});
export const WAIVED_HOW = ["override", "mentioned"] as const;

export const receiptBodySchema = z
  .object({
    /** The tool that booked. */
    tool: z.string(),
    /** What was booked, as the guest was shown it. */
    booked: z.string(),
    checked: z.object({
      needs: z.array(checkedNeed),
      along: z.array(z.string()),
      unchecked: z.boolean(),
      memory_off: z.boolean(),
    }),
    /** What follows from what was checked, as JSON with sorted keys. */
    verdict: z.string(),
    /** What the domain had to say beside it. */
    beside: z.array(z.object({ id: z.string(), line: z.string() })),
    /** What was passed over: with `override` on the guest's word, with `mentioned` after it was said. A null id: what could not be read. */
    waived: z.array(z.object({ memory_id: z.string().nullable(), how: z.enum(WAIVED_HOW) })),
  })
  .meta({ id: "BookingReceiptBody" });
export type ReceiptBody = Readonly<z.infer<typeof receiptBodySchema>>;

export const bookingReceiptSchema = z
  .object({
    v: z.literal(1),
    id: z.string(),
    /** From 1, of the user. */
    number: z.number().int().positive(),
    at: z.string(),
    session_id: z.string(),
    turn: z.number().int(),
    /** Hash of the receipt before; null on the first. */
    prev: z.string().nullable(),
    /** Of the body. */
    digest: z.string(),
    /** Of all but the body. */
    hash: z.string(),
    /** Null where it was taken out: something that it told of was forgotten, or its conversation is gone for good. */
    body: receiptBodySchema.nullable(),
  })
  .meta({ id: "BookingReceipt" });
export type BookingReceipt = Readonly<z.infer<typeof bookingReceiptSchema>>;
