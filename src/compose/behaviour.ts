import type { Owner } from "../domain/owner.js";
import { HappenedMemories } from "../memories/happened.js";
import { Narrative } from "../memories/narrative.js";
import { isAppError } from "../platform/errors.js";
import type { Answering } from "./agent.js";
import type { Costs } from "./costs.js";
import type { LongTerm } from "./long-term.js";
import type { Stores } from "./stores.js";
import type { ByTenant } from "./tenants.js";
import type { Wiring } from "./wiring.js";

/** What is remembered of a guest without a message that says it. */
export interface Behaviour {
  /** After a turn's write-back. Never throws: what was missed is taken up after the next one. */
  afterTurn(owner: Owner, signal: AbortSignal): Promise<void>;
  /** When a session is archived. Never throws. */
  archived(owner: Owner, signal: AbortSignal): Promise<void>;
  /** After memories were forgotten. Never throws. */
  forgotten(owner: Owner, signal: AbortSignal): Promise<void>;
}

/** Null when long-term memory is off. */
export async function composeBehaviour(
  { clock, logger }: Wiring,
  { store }: Stores,
  answering: ByTenant<Answering>,
  { changes }: Pick<LongTerm, "changes">,
  { tokens }: Costs,
): Promise<Behaviour | null> {
  if (changes === null) return null;
  const { records } = answering.rest.domain;
  const happened =
    records?.happened === undefined
      ? null
      : new HappenedMemories({
          changes,
          happened: (owner, after) => records.happened?.(owner, after) ?? nothing(),
          mayKeep: async (owner, sessionId) => (await store.index.get(owner, sessionId))?.metadata.incognito !== true,
        });
  const narratives = await answering.map(({ models }) => new Narrative({ changes, model: models.summary, logger }));
  const now = () => clock.now();
  const counted = (owner: Owner, work: () => Promise<void>) => tokens.during({ owner, sessionId: null }, work);
  return {
    afterTurn: async (owner, signal) => {
      try {
        await happened?.catchUp(owner, { now: now(), signal });
      } catch (error) {
        // At the end of the process it is left for the next start.
        const isExpected = signal.aborted || isAppError(error, "OWNER_ERASED");
        if (!isExpected) logger.warn({ err: error }, "what a guest did could not be remembered yet");
      }
      await counted(owner, () => narratives.of(owner).afterTurn(owner, { now: now(), signal }));
    },
    archived: (owner, signal) => counted(owner, () => narratives.of(owner).archived(owner, { now: now(), signal })),
    forgotten: (owner, signal) => counted(owner, () => narratives.of(owner).forgotten(owner, { now: now(), signal })),
  };
}

async function* nothing() {}
