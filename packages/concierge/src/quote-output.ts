import type { Conflict, Element, JsonObject, ToolResult, Verdict } from "maitred";
import { whyUnchecked } from "maitred/domain";
import type { Quote } from "./booking-rows.js";
import type { CatalogueEvent, Section } from "./catalogue.js";
import { tokenOfQuote } from "./consent.js";
import { longDay } from "./local-time.js";
import { euros } from "./money.js";
import { eventSource } from "./presentation.js";

/** What a quote, and a quote that was stopped, tell the model and the client. */

/** `reminders`: to be said once, before it is booked. */
export function quotedOutput(
  quote: Quote,
  event: CatalogueEvent,
  section: Section,
  verdict: Verdict,
  reminders: readonly string[],
): ToolResult {
  return {
    output: {
      status: "needs_confirmation",
      ...offer(quote, event, section),
      needs_met: [...verdict.met],
      reminders: [...reminders],
      ask: "Say the reminders, and ask the guest whether to book this. Only the guest's own words can confirm it, in their next message.",
    },
    elements: [quoteElement(quote, "needs_confirmation", tokenOfQuote(quote), offer(quote, event, section))],
    sources: [eventSource(event)],
    used: verdict.checked,
  };
}

export function stoppedOutput(
  quote: Quote,
  event: CatalogueEvent,
  section: Section,
  { conflicts, unchecked, memoryOff, checked }: Verdict,
  {
    reminders,
    incognito,
    refused,
  }: { readonly reminders: readonly string[]; readonly incognito: boolean; readonly refused: string | null },
): ToolResult {
  const why = whyUnchecked(incognito, memoryOff);
  const token = quote.stop?.token ?? "";
  const reasons = [...(conflicts.length > 0 ? ["It would break what the guest has said must hold."] : []), ...(unchecked ? [why] : [])];
  return {
    output: {
      status: "stopped",
      ...offer(quote, event, section),
      reason: reasons.join(" "),
      unchecked,
      conflicts: conflicts.map(conflictLine),
      reminders: [...reminders],
      token,
      ...(refused !== null && { refused }),
      ask: askOf(conflicts, unchecked),
    },
    elements: [
      quoteElement(quote, "stopped", token, offer(quote, event, section)),
      ...conflicts.map((conflict) => conflictElement(conflict, token)),
    ],
    sources: [eventSource(event), ...conflicts.map((conflict) => ({ id: conflict.memoryId, title: conflict.memory, type: "memory" }))],
    used: checked,
  };
}

function askOf(conflicts: readonly Conflict[], unchecked: boolean): string {
  return [
    ...(conflicts.length > 0 ? ["Name what stands against it and where it comes from."] : []),
    ...(conflicts.some(({ toConfirm }) => toConfirm) ? ["Ask the guest whether what is marked to_confirm is so."] : []),
    ...(unchecked ? ["Tell the guest that their needs can't be checked, and ask about access and diet of everyone who comes."] : []),
    "Book only if the guest, in a later message, says to book it anyway or that there is nothing to mind: then call again with quote_id",
    "and override; otherwise offer something that fits.",
  ].join(" ");
}

function offer(quote: Quote, event: CatalogueEvent, section: Section): JsonObject {
  return {
    quote_id: quote.id,
    event_id: event.id,
    title: event.title,
    venue: event.venue,
    city: event.city,
    date: event.day,
    day: longDay(event.day),
    time: event.time,
    section: section.name,
    section_step_free: section.stepFree,
    quantity: quote.quantity,
    companions: [...quote.companions],
    price_each: euros(section.priceCents),
    total: euros(quote.totalCents),
    valid_until: quote.expiresAt,
  };
}

/** `token`: for a button that books it, against what stands below where it is `stopped`. */
function quoteElement(quote: Quote, status: "needs_confirmation" | "stopped", token: string, shown: JsonObject): Element {
  const content = JSON.stringify({ status, token, ...shown });
  return { id: `quote:${quote.id}`, type: "booking_quote", name: quote.title, content, display: "inline" };
}

function conflictLine(conflict: Conflict): JsonObject {
  const { source } = conflict;
  return {
    memory_id: conflict.memoryId,
    memory: conflict.memory,
    who: conflict.who,
    because: conflict.because,
    to_confirm: conflict.toConfirm,
    source:
      source === null ? null : { session_id: source.session_id, turn: source.turn, message_id: source.message_id, quote: source.quote },
  };
}

/** `token`: for a button that says "book anyway". */
function conflictElement(conflict: Conflict, token: string): Element {
  return {
    id: `constraint:${conflict.memoryId}`,
    type: "constraint",
    name: conflict.memory,
    content: JSON.stringify({ ...conflictLine(conflict), token }),
    display: "side",
  };
}
