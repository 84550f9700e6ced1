import { studioOver } from "../operations/studio/studio.js";
import { VERSION } from "../platform/version.js";
import type { Readiness } from "../ports/application.js";
import type { Studio } from "../ports/studio.js";
import { EngineOperatorLooks } from "../state/counters/operator-looks.js";
import { EngineHealthHistory } from "../state/health/health-history.js";
import { rebuiltBlocks } from "../turn/rebuilt-blocks.js";
import type { AfterTurn } from "./after-turn.js";
import type { Costs } from "./costs.js";
import type { ComposedEvents } from "./events.js";
import type { LongTerm } from "./long-term.js";
import type { Recording } from "./recording.js";
import type { Stores } from "./stores.js";
import type { UseCases } from "./use-cases.js";
import type { Wiring } from "./wiring.js";

/** How often it is looked whether a part does otherwise than before, in milliseconds. */
const LOOK_MS = 60_000;

export function composeStudio(
  { config, clock, logger, closing }: Wiring,
  { engine, store, ledger, memoryLog }: Stores,
  { longTerm, changes }: LongTerm,
  { upkeep }: AfterTurn,
  {
    recording: { records, turns, conversations: list, plots },
    costs: { prices },
    useCases: { sessions, privacy },
    events: { deliveries },
    readiness,
    model,
  }: {
    readonly recording: Recording;
    readonly costs: Costs;
    readonly useCases: Pick<UseCases, "sessions" | "privacy">;
    readonly events: Pick<ComposedEvents, "deliveries">;
    readonly readiness: () => Promise<Readiness>;
    readonly model: string;
  },
): Studio {
  const healthHistory = new EngineHealthHistory(engine);
  const look = async () => healthHistory.noted(await readiness(), clock.now());
  const looking = setInterval(() => {
    look().catch((error: unknown) => logger.debug({ err: error }, "how the parts do could not be kept"));
  }, LOOK_MS).unref();
  closing(looking, clearInterval);
  return studioOver({
    ledger,
    looks: new EngineOperatorLooks(engine, clock),
    clock,
    logger,
    conversations: { list, store, ledger },
    turns: {
      store,
      records: {
        get: async (...name) => {
          await turns.settled();
          return records.get(...name);
        },
      },
      memories: longTerm,
      ledger,
      blocksFrom: ({ owner, ...sources }) => rebuiltBlocks({ ...sources, prompt: upkeep.of(owner).prompt }),
    },
    guests: {
      list,
      index: store.index,
      known: changes && (async (owner) => (await changes.known(owner)).records),
      log: memoryLog,
      ledger,
      bookings: (owner) => privacy.records(owner),
      bookingReceipts: (owner) => privacy.receipts(owner),
    },
    queues: { index: store.index, sessions, deliveries },
    plots,
    readiness,
    healthHistory,
    info: { content: config.STUDIO_CONTENT, currency: prices?.currency ?? null, version: VERSION, model },
  });
}
