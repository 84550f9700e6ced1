import { saveFile } from "../web/controls.js";
import type { TurnRecord } from "./client.js";

/** What a proposal that ended so stands for: it holds, or the guest is asked. Others are expected not to be remembered. */
const KEPT = new Set(["kept", "added", "confirmed", "superseded"]);
const ASKED = new Set(["asked", "waits", "to_confirm"]);

/** A turn as a conversation of an evaluation file: what was kept of it is what is expected. Whoever takes it in has a look at that. */
export function evaluationCase({ session_id, turn, message, proposals, recalled }: TurnRecord): object {
  const expected = (proposals ?? []).filter(
    ({ text, outcome }) => text !== null && outcome !== null && (KEPT.has(outcome) || ASKED.has(outcome)),
  );
  return {
    id: `studio-${session_id ?? "unknown"}-${turn ?? "unknown"}`,
    group: "studio",
    lang: "und",
    messages: [message ?? ""],
    expect: expected.map(({ text, quote, outcome, memory_id }) => {
      const memory = recalled?.find(({ id }) => id !== null && id === memory_id);
      return {
        text,
        quote: quote ?? "",
        category: memory?.category ?? "other",
        hard: memory?.strength === "hard",
        match: [escaped((text ?? "").toLowerCase())],
        turn: 0,
        ask: outcome !== null && ASKED.has(outcome),
      };
    }),
    forbid: [],
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Hands it over as a file of one line. */
export function saveEvaluationCase(record: TurnRecord): void {
  const line = new Blob([`${JSON.stringify(evaluationCase(record))}\n`], { type: "application/x-ndjson" });
  saveFile(line, `turn-${(record.turn ?? "unknown").replaceAll(/[^\w-]/g, "_")}.jsonl`);
}
