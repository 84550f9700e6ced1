import type { Memory } from "../../src/domain/memory.js";
import { newId } from "../../src/platform/ids.js";
import { sampleMemory } from "./samples.js";

/** A hard constraint as the store gives it, with its source. */
export function constraint(text: string, category: string, subject = "self", more: Partial<Memory> = {}): Memory {
  return sampleMemory({
    id: newId(),
    text,
    category,
    aspect: "",
    type: "constraint",
    strength: "hard",
    subject,
    confidence: 1,
    source: { session_id: "earlier", turn: 3, message_id: "m-3", quote: `Please note: ${text.toLowerCase()}` },
    ...more,
  });
}
