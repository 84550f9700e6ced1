import type { Owner } from "../../domain/owner.js";
import type { LineOpener } from "../../platform/jsonl-log.js";

/** What a line says, sealed at its place. */
export type LineSealer = (text: string, place: string) => string;

/** How the lines of journals in files are sealed: under the keys of whose they are, each in its session. */
export interface JournalSeals {
  /** For one who writes, and reads what was written. `seal` null: what is written is not sealed any more. */
  sealer(owner: Owner, sessionId: string): Promise<{ readonly seal: LineSealer | null; readonly opens: LineOpener }>;
  /** For one who reads. `keys`: as a sealed line names them. */
  opener(keys: string, sessionId: string): Promise<LineOpener>;
}
