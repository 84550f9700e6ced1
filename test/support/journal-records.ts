import { ownerOf } from "../../src/domain/owner.js";
import type { NewRecord } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";

/** Records for journals, one second apart, as an orchestrator would write them. */
export class JournalRecords {
  #at = Date.parse("2026-03-01T10:00:00.000Z");

  #envelope(turn: number) {
    this.#at += 1_000;
    return { id: newId(), turn, at: new Date(this.#at).toISOString() };
  }

  session(owner: string, body: { title?: string; external_id?: string; expires_at?: string } = {}): NewRecord {
    return { ...this.#envelope(0), type: "session", body: { owner, ...body } };
  }

  user(turn: number, content = `question ${turn}`, body: object = {}): NewRecord {
    return { ...this.#envelope(turn), type: "message", body: { role: "user", content, ...body } };
  }

  assistant(turn: number, outcome: "completed" | "interrupted" | "failed" = "completed", content = `answer ${turn}`): NewRecord {
    return { ...this.#envelope(turn), type: "message", body: { role: "assistant", content, outcome } };
  }

  step(turn: number, name = "search"): NewRecord {
    const { id, at, ...envelope } = this.#envelope(turn);
    const step = {
      type: "tool_call" as const,
      call_id: id,
      iteration: 0,
      input: {},
      output: {},
      error: null,
      started_at: at,
      duration_ms: 1,
    };
    return { ...envelope, id, at, type: "step", body: { ...step, id, name } };
  }

  summary(toTurn: number, text = `summary to ${toTurn}`): NewRecord {
    return { ...this.#envelope(toTurn), type: "summary", body: { text, from_turn: 1, to_turn: toTurn, by: "test" } };
  }

  rewind(turn: number, toSeq: number): NewRecord {
    return { ...this.#envelope(turn), type: "rewind", body: { to_seq: toSeq, to_offset: 0 } };
  }

  patch(body: Extract<NewRecord, { type: "session_patch" }>["body"]): NewRecord {
    return { ...this.#envelope(0), type: "session_patch", body };
  }

  done(turn: number, status: "stored" | "failed" | "skipped" = "stored", attempts = 1): NewRecord {
    return {
      ...this.#envelope(turn),
      type: "write_back_done",
      body: { status, memory_ids: [], attempts, ...(status === "failed" && { error_code: "LONG_TERM_MEMORY_UNAVAILABLE" }) },
    };
  }

  /** A completed round in one go. */
  round(turn: number, steps = 0): NewRecord[] {
    return [this.user(turn), ...Array.from({ length: steps }, () => this.step(turn)), this.assistant(turn)];
  }
}

export const ALICE = ownerOf("default", "alice");
export const BOB = ownerOf("default", "bob");
