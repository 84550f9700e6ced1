import type { PartStatus, Readiness } from "./application.js";
import type { CatchingUp } from "./catching-up.js";
import type { ConversationHistory } from "./history.js";
import type { LaggingSessions } from "./lagging-sessions.js";
import type { LongTermMemory } from "./long-term.js";
import type { SessionIndex } from "./session-store.js";

export interface ReadinessParts {
  readonly longTerm: Pick<LongTermMemory, "health">;
  readonly history: Pick<ConversationHistory, "health">;
  readonly index: Pick<SessionIndex, "pendingCounts">;
  readonly lagging: Pick<LaggingSessions, "count">;
  readonly indexCatchUp: Pick<CatchingUp, "state">;
  readonly historyCatchUp: Pick<CatchingUp, "state">;
  readonly model: { readonly name: string; readonly standIn: boolean };
}

type Part = Readiness["parts"][string];

/** Bound of each part's own look, in milliseconds. */
const LOOK_MS = 2_000;

/** How each part does. The whole is `down` only when turns can't be answered; what memory lacks makes it `degraded`. */
export async function readinessOf(parts: ReadinessParts): Promise<Readiness> {
  const [longTerm, history, writeBack] = await Promise.all([
    look(parts.longTerm.health()),
    look(parts.history.health()),
    look(writeBackPart(parts.index)),
  ]);
  const reported: Record<string, Part> = {
    short_term: shortTermPart(parts),
    write_back: writeBack,
    long_term: longTerm,
    history: history.status === "ok" ? catchUpPart(parts.historyCatchUp.state, "the history index") : history,
    model: { status: "ok", ...(parts.model.standIn && { detail: `${parts.model.name}: a stand-in` }) },
  };
  return { status: overall(reported), parts: reported };
}

function overall(parts: Readonly<Record<string, Part>>): PartStatus {
  if (parts.short_term?.status === "down" || parts.write_back?.status === "down") return "down";
  return Object.values(parts).some(({ status }) => status === "degraded" || status === "down") ? "degraded" : "ok";
}

function catchUpPart(state: CatchingUp["state"], what: string): Part {
  if (state === "running") return { status: "degraded", detail: `${what} is catching up with the journals` };
  return state === "failed" ? { status: "degraded", detail: `${what} could not catch up with the journals` } : { status: "ok" };
}

function shortTermPart({ indexCatchUp, lagging: { count } }: ReadinessParts): Part {
  const part = catchUpPart(indexCatchUp.state, "the session index");
  if (part.status !== "ok" || count === 0) return part;
  return { status: "degraded", detail: `the index of ${count} sessions could not follow their journals; it is tried again` };
}

async function writeBackPart(index: ReadinessParts["index"]): Promise<Part> {
  const { pending, failed } = await index.pendingCounts();
  if (failed > 0) return { status: "degraded", detail: `${failed} turns failed and can be retried, ${pending} are pending` };
  return { status: "ok", detail: `${pending} turns are pending` };
}

async function look(part: Promise<Part>): Promise<Part> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Part>((resolve) => {
    timer = setTimeout(resolve, LOOK_MS, { status: "down", detail: "gave no answer in time" });
  });
  try {
    return await Promise.race([part, late]);
  } catch {
    return { status: "down", detail: "could not be looked at" };
  } finally {
    clearTimeout(timer);
  }
}
